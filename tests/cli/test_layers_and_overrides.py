"""``extends`` and ``--set`` through the command."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

import npu_config as api
from npu_config.readers import read
from npu_config.writers import render
from tests.strategies import configs

BASE = """\
version: 1
target:
  product: atlas_a2
dump:
  enable_dump: true
  dump_path: /home/test/output
  dump_step: "0|5"
hccl_timeout: 1800
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A base and a job on top of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "job.yaml").write_text("version: 1\nextends: base.yaml\nop_wait_timeout: 60\n")
    return tmp_path


def test_generate_writes_one_file(npu, folder):
    """The flat result is the same configuration."""
    done = npu("generate", "job.yaml", "--to", "yaml", "-o", "flat.yaml")
    assert (done.code, done.err) == (0, "")
    assert "extends" not in (folder / "flat.yaml").read_text()
    assert npu("diff", "job.yaml", "flat.yaml").code == 0


@pytest.mark.parametrize("suffix", ["yaml", "toml", "json"])
def test_generate_keeps_layers(npu, folder, suffix):
    """The new file extends the same files, from where it lies, and holds what differs."""
    (folder / "jobs").mkdir()
    out = "jobs/new." + suffix
    call = ["generate", "job.yaml", "--keep-layers", "--set", "hccl_timeout=9", "-o", out]
    assert npu(*call).code == 0
    reading = read(out)
    assert [base.name for base in reading.bases] == ["../base.yaml"]
    assert sorted(set(reading.settings[0].entries) - set(reading.below.entries)) == [
        "op_wait_timeout"
    ]
    assert npu("diff", "job.yaml", out).out.splitlines()[2:] == [
        "-hccl_timeout: 1800",
        "+hccl_timeout: 9",
    ]


def test_what_was_taken_away_stays_away(npu, folder):
    """As null; TOML has none, and says so."""
    call = ["generate", "base.yaml", "--keep-layers", "--set", "hccl_timeout=null", "--to"]
    assert json.loads(npu(*call, "json").out) == {
        "version": 1,
        "extends": "base.yaml",
        "timeouts": {"hccl_timeout": None},
    }
    refused = npu(*call, "toml")
    assert (refused.code, "which TOML cannot express" in refused.err) == (1, True)
    assert npu(*call, "pbtxt").code == 2


def test_layers_of_any_configurations(npu, tmp_path):
    """From one configuration to another: what --keep-layers writes says the same."""

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
    @given(configs(max_size=5), configs(max_size=5))
    def check(base, other):
        (tmp_path / "base.json").write_text(render(base, "json"))
        overrides = []
        for name in set(base) - set(other):
            overrides += ["--set", name + "=null"]
        for name, value in other.to_dict().items():
            text = json.dumps(value) if isinstance(value, bool) else str(value)
            overrides += ["--set", "{}={}".format(name, text)]
        out = tmp_path / "new.json"
        call = ["generate", tmp_path / "base.json", "--keep-layers", *overrides, "-o", out]
        if npu(*call, "--force").code == 0:
            flat = npu("generate", tmp_path / "base.json", *overrides, "--to", "json").out
            assert json.loads(npu("generate", out, "--to", "json").out) == json.loads(flat)

    check()


def test_fixes_stay_in_the_files_that_are_named(npu, folder):
    """A fix in a base has the path of the base, and is done when the base is named."""
    (folder / "base.yaml").write_text("version: 1\nhcl_timeout: 1800\n")
    (folder / "job.yaml").write_text("version: 1\nextends: base.yaml\nop_wait_timeot: 60\n")
    found = json.loads(npu("check", "--format", "json", "job.yaml").out)["diagnostics"]
    assert [(each["path"], each["fix"]["edits"][0]["line"]) for each in found] == [
        ("base.yaml", 2),
        ("job.yaml", 3),
    ]
    assert npu("check", "--fix", "job.yaml").code == 1
    assert "hcl_timeout" in (folder / "base.yaml").read_text()
    assert "op_wait_timeout: 60" in (folder / "job.yaml").read_text()
    assert npu("check", "--fix", "job.yaml", "base.yaml").code == 0
    assert "hccl_timeout: 1800" in (folder / "base.yaml").read_text()


def test_set_replaces_values_everywhere(npu, folder):
    """In configurations, ConfigProtos and scripts; what is wrong has no file."""
    (folder / "train.py").write_text(
        "from npu_config import NpuConfigBuilder\n"
        "NpuConfigBuilder().set(hccl_timeout=1800).build()\n"
    )
    npu("generate", "job.yaml", "--to", "pbtxt", "-o", "job.pbtxt")
    for name in ("job.yaml", "job.pbtxt", "train.py"):
        assert npu("check", name).code == 0
        call = ["check", name, "--format", "json", "--set", "hccl_timeout=-1"]
        found = json.loads(npu(*call).out)["diagnostics"]
        errors = [each for each in found if each["severity"] == "error"]
        assert [(each["path"], each["rule"]) for each in errors] == [("<--set>", "NPU105")]
        written = npu("generate", name, "--to", "json", "--set", "hccl_timeout=7")
        assert json.loads(written.out)["timeouts"]["hccl_timeout"] == 7
    assert npu("diff", "job.yaml", "job.yaml", "--set", "hccl_timeout=7").out.splitlines()[2:] == [
        "-hccl_timeout: 1800",
        "+hccl_timeout: 7",
    ]


def test_every_wrong_override_is_a_wrong_call(npu, folder):
    """All of them are said at once."""
    call = ["--set", "a", "--set", "=b", "--set", "hcl_timeout=5"]
    for command in (["check", "job.yaml"], ["generate", "job.yaml", "--to", "json"]):
        done = npu(*command, *call)
        assert done.code == 2
        for words in ("neither NAME=VALUE", "has no name", 'did you mean "hccl_timeout"?'):
            assert words in done.err


def test_code_says_where_its_values_come_from(npu, folder):
    """The builder calls make the same configuration; so do the lines of a ConfigProto."""
    call = ["generate", "job.yaml", "--set", "hccl_timeout=7", "--to"]
    calls = npu(*call, "builder").out
    assert "    .set(hccl_timeout=7)  # --set hccl_timeout=7" in calls.splitlines()
    assert '    .set(dump_step="0|5")  # base.yaml:7 (base file)' in calls.splitlines()
    assert "    .set(op_wait_timeout=60)  # job.yaml:3" in calls.splitlines()
    names = {}
    exec(calls, names)
    assert names["config"] == api.NpuConfig.load("job.yaml", overrides=["hccl_timeout=7"])
    lines = npu(*call, "python").out.splitlines()
    assert 'custom_op.parameter_map["op_wait_timeout"].i = 60  # job.yaml:3' in lines
