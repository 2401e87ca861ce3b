"""One wrong thing, each door in a process of its own: every one of them says it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.judging.test_doors import ROOT, result

LIBRARY = (
    "import json, sys, npu_config as npu\nprint(json.dumps([d.rule for d in npu.check({!r})]))"
)
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


def rules(name, cwd):
    """Door to the rules that it reports of a file, for those doors that take such a file."""
    said = {}
    for door, words in (
        ("check", ["check", "--format", "json", name]),
        ("walk", ["check", "--format", "json", "."]),
        ("hook", ["check", "--if-ours", "--format", "json", name]),
    ):
        document = json.loads(result(*words, cwd=cwd).stdout.decode("utf-8"))
        said[door] = [each["rule"] for each in document["diagnostics"]]
    for door in (["doctor"], ["generate", "--to", "yaml"]):
        result(*door, "--findings", "found.json", name, cwd=cwd)
        document = json.loads((cwd / "found.json").read_text(encoding="utf-8"))
        said[door[0]] = [each["rule"] for each in document["diagnostics"]]
        (cwd / "found.json").unlink()
    if name.endswith(".py"):
        seen = result("run", "--dry-run", "--format", "json", name, cwd=cwd).stdout
        said["run"] = [each["rule"] for each in json.loads(seen.decode("utf-8"))["findings"]]
    call = [sys.executable, "-c", LIBRARY.format(name)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    said["library"] = json.loads(subprocess.check_output(call, cwd=str(cwd), env=environ).decode())
    return said


@pytest.mark.parametrize("case", sorted(CASES))
def test_every_door_says_it(tmp_path, case):
    """The same rule, whichever command is asked, and by the library."""
    files, name, rule = CASES[case]
    (tmp_path / ".git").mkdir()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    said = rules(name, tmp_path)
    silent = {door: found for door, found in said.items() if rule not in found}
    assert silent == {}


def test_a_loaded_file_that_is_not_there(tmp_path):
    """A note says that its options are not checked, at the call."""
    (tmp_path / "train.py").write_text(LOADS.format("conf/none.yaml"))
    found = result("check", "--notes", "train.py", cwd=tmp_path)
    assert found.returncode == 0
    text = found.stdout.decode("utf-8")
    assert 'train.py:2:10: info: "conf/none.yaml" is found neither' in text
    assert "its options are not checked [NPU784" in text


def test_the_target_that_a_file_is_loaded_for(tmp_path):
    """``load(path, target)`` replaces the target of the file; one that is not known: any."""
    (tmp_path / "x.yaml").write_text("version: 1\nprecision_mode_v2: mixed_bfloat16\n")
    for argument, expected in (
        ('npu.Target(product="atlas_training")', {"NPU108"}),
        ('npu.Target(product="atlas_a2")', set()),
        ("npu.Target(product=input())", set()),
    ):
        text = 'import npu_config as npu\nconfig = npu.NpuConfig.load("x.yaml", {})\n'
        (tmp_path / "train.py").write_text(text.format(argument))
        found = result("check", "--format", "json", "train.py", cwd=tmp_path).stdout
        document = json.loads(found.decode("utf-8"))
        assert expected == {each["rule"] for each in document["diagnostics"]}


def test_the_fix_of_another_file(tmp_path):
    """``--fix`` of a configuration leaves it alone where the fault is in a file that it names.

    The fault is said once when both are named, and mended in its own file.
    """
    config = "version: 1\nprecision_mode: allow_mix_precision\nmodify_mixlist: ops_info.json\n"
    (tmp_path / "npu.yaml").write_text(config)
    (tmp_path / "ops_info.json").write_text('{"black-list": {"to_add": ["Add"]}}')
    found = result("check", "--on-host", "--fix", "npu.yaml", cwd=tmp_path)
    assert (tmp_path / "npu.yaml").read_text() == config
    assert b"can be fixed" not in found.stdout
    found = result(
        "check", "--on-host", "--format", "json", "npu.yaml", "ops_info.json", cwd=tmp_path
    )
    rules = [each["rule"] for each in json.loads(found.stdout.decode())["diagnostics"]]
    assert rules.count("NPU720") == 1
    result("check", "--on-host", "--fix", "npu.yaml", "ops_info.json", cwd=tmp_path)
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
