"""One wrong thing, each door in a process of its own: every one of them says it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import forks
from tests.judging.test_doors import ROOT, result

BUILDER = "import npu_config\nnpu_config.NpuConfigBuilder().set(hccl_timeout=5)\n"
MISSPELT = "version: 1\nhcl_timeout: 5\n"
LOADS = "import npu_config as npu\nconfig = npu.NpuConfig.load({!r})\n"
OPTION = 'from npu_config import NpuConfigBuilder\nNpuConfigBuilder().set(dump_mode="both")\n'
CASES = {
    "an option in YAML": ({"npu.yaml": MISSPELT}, "npu.yaml", "NPU101"),
    "a value in TOML": ({"npu.toml": "version = 1\nhccl_timeout = -5\n"}, "npu.toml", "NPU105"),
    "an option in a script": ({"train.py": OPTION}, "train.py", "NPU104"),
    "the project of a configuration": (
        {
            "npu.yaml": "version: 1\nhccl_timeout: 5\n",
            "pyproject.toml": '[tool.npu-config]\ntarget = "atlas_a9"\n',
        },
        "npu.yaml",
        "NPU833",
    ),
    "a rule of the project of a script": (
        {
            "jobs/train.py": BUILDER,
            "pyproject.toml": '[tool.npu-config]\nignore = ["NPU99"]\n',
        },
        "jobs/train.py",
        "NPU833",
    ),
    "a file that is loaded from here": (
        {"jobs/train.py": LOADS.format("conf/x.yaml"), "conf/x.yaml": MISSPELT},
        "jobs/train.py",
        "NPU101",
    ),
    "a file that is loaded from beside": (
        {"jobs/train.py": LOADS.format("x.yaml"), "jobs/x.yaml": "version: 1\ndump_mode: both\n"},
        "jobs/train.py",
        "NPU104",
    ),
}  # fmt: skip


DOORS = {
    "check": ["check", "--format", "json", "{}"],
    "walk": ["check", "--format", "json", "."],
    "hook": ["check", "--if-ours", "--format", "json", "{}"],
    "doctor": ["doctor", "--findings", "found.json", "{}"],
    "generate": ["generate", "--to", "yaml", "--findings", "found.json", "{}"],
    "run": ["run", "--dry-run", "--format", "json", "{}"],
}
"""What is asked of a file, by the door."""

PROCESS = """\
import contextlib, io, json, os, sys
from npu_config.__main__ import main

said = []
for folder, words in json.load(sys.stdin):
    os.chdir(folder)
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(written):
        if words[0] == "library":
            import npu_config as npu

            json.dump([each.rule for each in npu.check(words[1])], written)
        else:
            main(words)
    written.flush()
    said.append(written.buffer.getvalue().decode("utf-8"))
json.dump(said, sys.stdout)
"""
"""One door of several folders, one after another."""


def ask(door, cases, folders):
    """The rules that a door reports of the file of each case, in a process of its own."""
    calls = []
    for case in cases:
        name = CASES[case][1]
        words = ["library", name]
        if door in DOORS:
            words = [word.format(name) for word in DOORS[door]]
        calls.append([str(folders[case]), words])
    environ = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    output = subprocess.check_output(
        [sys.executable, "-c", PROCESS], input=json.dumps(calls).encode("utf-8"), env=environ
    )
    for case, said in zip(cases, json.loads(output.decode("utf-8"))):
        if door in ("doctor", "generate"):
            said = (folders[case] / "found.json").read_text(encoding="utf-8")
            (folders[case] / "found.json").unlink()
        document = json.loads(said)
        if door != "library":
            found = document["findings" if door == "run" else "diagnostics"]
            document = [each["rule"] for each in found]
        yield case, document


def test_every_door_says_it(tmp_path):
    """The same rule, whichever command is asked, and by the library.

    Each case comes first in a process once: what an earlier one loads cannot help it.
    """
    folders = {}
    for number, (case, (files, _, _)) in enumerate(sorted(CASES.items())):
        folders[case] = tmp_path / str(number)
        (folders[case] / ".git").mkdir(parents=True)
        for path, text in files.items():
            (folders[case] / path).parent.mkdir(exist_ok=True)
            (folders[case] / path).write_text(text)
    order = sorted(CASES)
    silent = {}
    for number, door in enumerate([*DOORS, "library"]):
        asked = order[number:] + order[:number]
        if door == "run":
            asked = [case for case in asked if CASES[case][1].endswith(".py")]
        for case, found in ask(door, asked, folders):
            if CASES[case][2] not in found:
                silent[case, door] = found
    assert silent == {}


def test_a_loaded_file_that_is_not_there(tmp_path):
    """A note says that its options are not checked, at the call."""
    (tmp_path / "train.py").write_text(LOADS.format("conf/none.yaml"))
    found = result("check", "--notes", "train.py", cwd=tmp_path)
    assert found.returncode == 0
    text = found.stdout.decode("utf-8")
    assert 'train.py:2:10: info: "conf/none.yaml" was not found in the current directory' in text
    assert "the options of this file are not checked [NPU784" in text


def test_the_target_that_a_file_is_loaded_for(tmp_path, monkeypatch):
    """``load(path, target)`` replaces the target of the file; one that is not known: any."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text("version: 1\nprecision_mode_v2: mixed_bfloat16\n")
    for argument, expected in (
        ('npu.Target(product="atlas_training")', {"NPU108"}),
        ('npu.Target(product="atlas_a2")', set()),
        ("npu.Target(product=input())", set()),
    ):
        text = 'import npu_config as npu\nconfig = npu.NpuConfig.load("x.yaml", {})\n'
        (tmp_path / "train.py").write_text(text.format(argument))
        document = json.loads(forks.ended(["check", "--format", "json", "train.py"], {}).out)
        assert expected == {each["rule"] for each in document["diagnostics"]}


def test_the_fix_of_another_file(tmp_path, monkeypatch):
    """``--fix`` of a configuration leaves it alone where the fault is in a file that it names.

    The fault is said once when both are named, and mended in its own file.
    """
    monkeypatch.chdir(tmp_path)
    config = "version: 1\nprecision_mode: allow_mix_precision\nmodify_mixlist: ops_info.json\n"
    (tmp_path / "npu.yaml").write_text(config)
    (tmp_path / "ops_info.json").write_text('{"black-list": {"to_add": ["Add"]}}')
    check = ["check", "--on-host"]
    found = forks.ended([*check, "--fix", "npu.yaml"], {})
    assert (tmp_path / "npu.yaml").read_text() == config
    assert "can be fixed" not in found.out
    found = forks.ended([*check, "--format", "json", "npu.yaml", "ops_info.json"], {})
    rules = [each["rule"] for each in json.loads(found.out)["diagnostics"]]
    assert rules.count("NPU720") == 1
    forks.ended([*check, "--fix", "npu.yaml", "ops_info.json"], {})
    assert (tmp_path / "npu.yaml").read_text() == config
    assert '"to-add"' in (tmp_path / "ops_info.json").read_text()


def test_doctor_of_standard_input(tmp_path):
    """``doctor -`` examines what is piped to it, as ``check -`` does."""
    beside = Path(sys.executable).parent / "npu-config"
    call = [str(beside)] if beside.exists() else [sys.executable, "-m", "npu_config"]
    environ = {**os.environ, "PYTHONPATH": "" if beside.exists() else str(ROOT.parent)}
    found = subprocess.run(
        [*call, "doctor", "-"],
        input=b"version: 1\nhcl_timeout: 5\n",
        stdout=-1,
        cwd=str(tmp_path),
        env=environ,
    )
    assert (found.returncode, b"the first at <stdin>:2:1: " in found.stdout) == (1, True)
