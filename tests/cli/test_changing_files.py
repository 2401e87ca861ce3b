"""Files that another process writes to, or takes away, while a command looks at them."""

import importlib
import os
import shutil
import sys

import pytest

from npu_config.text import source
from tests.cli.test_exits import folder

__all__ = ["folder"]

CALLS = {
    "check": "check {} good.yaml",
    "check of a script": "check {} good.yaml --as script",
    "check of a folder": "check .",
    "check --fix": "check --fix {} good.yaml",
    "compat": "compat {}",
    "diff": "diff {} good.yaml",
    "doctor": "doctor {}",
    "env --check": "env --check {}",
    "format": "format {}",
    "generate": "generate {} --to json",
    "migrate": "migrate {}",
    "migrate --write": "migrate --write {}",
    "mixlist check": "mixlist check {}",
    "ranktable check": "ranktable check {}",
    "ranktable show": "ranktable show {}",
}
SCRIPTS = ("check of a script", "migrate", "migrate --write")
SIDE_FILES = ("env --check", "format", "mixlist check", "ranktable check", "ranktable show")
HALF = "version: 1\nprecision_mode: allow_"
WHOLE = "version: 1\nprecision_mode: allow_mix_precision\n"


@pytest.fixture
def writing(folder, monkeypatch):
    """Writes to a file of the folder each time that a command begins to read it."""
    contents = {}
    real = source.state_of
    seen = []
    importlib.import_module("npu_config.judging.batch")  # which has the function, too

    def state_of(stream):
        state = real(stream)
        path = os.path.abspath(getattr(stream, "name", ""))
        if path in contents:
            seen.append(path)
            if len(seen) % 2 and contents[path]:  # between the first look and the reading
                with open(path, "w") as other:
                    other.write(contents[path].pop(0))
        return state

    monkeypatch.setattr(source, "state_of", state_of)
    for name, module in list(sys.modules.items()):
        if name.startswith("npu_config.") and getattr(module, "state_of", None) is real:
            monkeypatch.setattr(module, "state_of", state_of)

    def plan(name, *texts):
        contents[str(folder / name)] = list(texts)

    return plan


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_file_that_never_rests(npu, folder, writing, name):
    """It is said to change, by each command, and is not judged; nothing is written."""
    file_name = "train.py" if name in SCRIPTS else "npu.yaml"
    path = folder / ("side.json" if name in SIDE_FILES else file_name)
    path.write_text(HALF)
    writing(path.name, *["{} # {}\n".format(HALF, "x" * n) for n in range(20)])
    result = npu(*CALLS[name].format(path.name).split())
    said = result.out + result.err
    if name == "check of a folder":
        said += npu("check", ".", "--show-skipped").err
    else:
        assert result.code == 1
    assert "the file changed while it was read; it is not checked" in said
    assert "allow_ " not in said
    assert path.read_text().startswith(HALF)


@pytest.mark.parametrize("name", ["npu.yaml", "train.py"])
def test_a_file_that_is_written_once(npu, folder, writing, name):
    """It is read again: what is reported is of the content that is there in the end."""
    (folder / name).write_text("precision_modee: x\n" if name == "npu.yaml" else "print 'x'\n")
    writing(name, WHOLE if name == "npu.yaml" else "print('x')\n")
    result = npu("check", name)
    assert (result.code, result.out) == (0, "no problem found in 1 file\n")


@pytest.mark.parametrize("name", ["npu.yaml", "train.py", "start.sh", "inner"])
def test_a_file_that_is_gone_when_it_is_read(npu, folder, monkeypatch, name):
    """It is said, and the others are looked at."""
    path = folder / "tree" / name
    path.parent.mkdir()
    if name == "inner":
        path.mkdir()
        (path / "npu.yaml").write_text(WHOLE)
    else:
        path.write_text(WHOLE)
    (folder / "tree" / "zz.yaml").write_text("version: 1\nprecision_modee: x\n")
    from npu_config.cli import _session

    real = _session.candidates

    def candidates(*arguments):
        found = list(real(*arguments))
        shutil.rmtree(str(path)) if path.is_dir() else path.unlink()
        return found

    monkeypatch.setattr(_session, "candidates", candidates)
    result = npu("check", "tree")
    assert (result.code, "NPU101" in result.out, "NPU700" in result.out) == (1, True, False)


def test_a_file_that_became_another_kind(npu, folder, monkeypatch):
    """A directory, a pipe or a link to itself in its place is a finding."""
    from npu_config.cli import _session

    real = _session.candidates
    kinds = {
        "a directory": os.mkdir,
        "a pipe": os.mkfifo,
        "a link": lambda path: os.symlink(os.path.basename(path), path),
    }
    for make in kinds.values():
        path = folder / "npu.yaml"
        path.write_text(WHOLE)

        def candidates(*arguments, path=path, make=make):
            found = list(real(*arguments))
            path.unlink()
            make(str(path))
            return found

        with monkeypatch.context() as patch:
            patch.setattr(_session, "candidates", candidates)
            result = npu("check", "npu.yaml", "good.yaml", "--fix")
        assert (result.code, "NPU701" in result.out) == (1, True)
        (os.rmdir if path.is_dir() else os.unlink)(str(path))
