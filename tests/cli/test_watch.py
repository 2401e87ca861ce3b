"""``check --watch``."""

import functools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from npu_config.cli import _session
from npu_config.cli._session import Remembered

ROOT = Path(__file__).parents[2]


class Watching:
    """A check that goes on, and what it prints."""

    def __init__(self, folder, *words):
        here = str(ROOT) if (ROOT / "npu_config").exists() else ""
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "npu_config", "check", "--watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=str(folder),
            env={**os.environ, "PYTHONPATH": here},
            # a shell starts what runs in the background with SIGINT ignored
            preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        self.said, self.arrived = "", threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in iter(self.process.stdout.readline, b""):
            with self.arrived:
                self.said += line.decode("utf-8")
                self.arrived.notify()

    def round(self):
        """What is said up to the end of a check."""
        with self.arrived:
            assert self.arrived.wait_for(
                lambda: "watching for changes; press Ctrl-C to stop\n" in self.said, 200
            )
            said, _, self.said = self.said.partition(
                "watching for changes; press Ctrl-C to stop\n"
            )
            return said

    def end(self):
        """The exit code after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def test_watch(tmp_path):
    """Again when a file, or the settings of its project, are changed, made or removed; the last
    exit code in the end.
    """
    script = "from npu_config import NpuConfigBuilder\nNpuConfigBuilder().set(hccl_timeout=5)\n"
    (tmp_path / "npu.yaml").write_text("version: 1\nhcl_timeout: 5\n")
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "part").mkdir()
    for name in ("one", "two"):
        text = "version: 1\nprecision_mode_v2: mixed_bfloat16\n"
        (tmp_path / "part" / (name + ".yaml")).write_text(text)
    watching = Watching(tmp_path, ".")
    try:
        assert "1 error in 4 files" in watching.round()
        (tmp_path / "npu.yaml").write_text("version: 1\nhccl_timeout: 5\n")
        assert "no problem found in 4 files" in watching.round()
        (tmp_path / "other.yaml").write_text("version: 1\niterations_per_loop: 0\n")
        assert "other.yaml:2:22: error" in watching.round()
        (tmp_path / "other.yaml").unlink()
        assert "no problem found" in watching.round()
        settings = tmp_path / "part" / "pyproject.toml"  # one that was not there before
        settings.write_text('[tool.npu-config]\ntarget = "atlas_training"\n')
        said = watching.round()
        assert "part/one.yaml:2:20: error" in said
        assert "part/two.yaml:2:20: error" in said
        settings.write_text('[tool.npu-config]\ntarget = "atlas_a2"\n')
        assert "no problem found" in watching.round()
        (tmp_path / "npu.yaml").write_text("version: 1\nhcl_timeout: 5\n")
        assert "1 error" in watching.round()
        assert watching.end() == 1
    finally:
        watching.process.kill()


def test_only_what_changed(tmp_path):
    """A file is checked again when it changes, or one that its check looked at."""
    from npu_config.text.source import unsaved_content

    for name in ("a", "b", "of_a"):
        (tmp_path / name).write_text("1")
    checked, remembered = [], Remembered()

    def check(name):
        checked.append(name)
        if name == "a":
            unsaved_content(str(tmp_path / "of_a"))
        return len(checked)

    def ask():
        del checked[:]
        for name in ("a", "b"):
            remembered.answer(str(tmp_path / name), lambda each=name: check(each))
        return list(checked)

    assert ask() == ["a", "b"]
    assert ask() == []
    (tmp_path / "of_a").write_text("22")
    assert ask() == ["a"]
    (tmp_path / "b").unlink()
    assert ask() == ["b"]
    remembered.use("other settings")
    assert ask() == ["a", "b"]


def interrupted(*_):
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def test_interrupted_in_the_first_check():
    """Nothing was found out: that is no all-clear."""
    with pytest.raises(KeyboardInterrupt):
        _session.watch(interrupted, list)


def test_the_working_directory_is_removed(tmp_path, monkeypatch, capsys):
    """That is said once; when it is there again what is in it is checked."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    codes = iter((1, 0))

    def back():
        here.mkdir()
        (here / "npu.yaml").write_text("version: 1\n")

    happenings = iter([here.rmdir, lambda: None, back, interrupted])
    monkeypatch.setattr(_session.time, "sleep", lambda _: next(happenings)())
    assert _session.watch(lambda _: next(codes), lambda: os.listdir(os.curdir)) == 0
    said = capsys.readouterr().err
    assert said.count("{}: No such file or directory\n".format(here)) == 1
    assert said.count("watching") == 2


@pytest.mark.parametrize(
    "more", [["--format", "json"], ["--fix"], ["--diff"], ["--write-baseline", "x"], ["-"]]
)
def test_what_does_not_go_together(npu, good, more):
    """2: what is written or read once is not watched."""
    found = npu("check", "--watch", good, *more)
    assert (found.code, "--watch shows findings as text" in found.err) == (2, True)
