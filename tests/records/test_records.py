"""Records of jobs: written whole or not at all, read as the same configuration, compared."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import npu_config as npu
from npu_config.readers import read
from npu_config.records import writing
from npu_config.records.compare import compare, job_of
from npu_config.records.document import content_of, render
from tests import golden
from tests.strategies import configs

KEYS = [
    *("version", "tool", "time", "target", "adapter", "tensorflow", "rank", "options"),
    *("defaults", "origins", "environment", "side_files", "rank_table", "script", "end"),
]
MANY = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=golden.tries(40)
)


@pytest.fixture(autouse=True)
def _own_records(monkeypatch):
    """What this process recorded belongs to one test; nothing watches the end of pytest."""
    monkeypatch.setattr(writing, "_WRITTEN", {})
    monkeypatch.setattr(writing, "_watch_the_end", lambda: None)


def written(path):
    """The parts of a record."""
    return json.loads(Path(path).read_text())


def built():
    """A configuration of several origins, with a side file."""
    return (
        npu.NpuConfigBuilder(npu.Target("atlas_a2"))
        .mixed_precision("allow_mix_precision", black_list=["Add"], mixlist_path="x.json")
        .iteration_offload(10)
        .set(hccl_timeout=1800)
        .build()
    )


def test_what_a_record_holds(tmp_path, monkeypatch):
    """The keys in their order; of the environment the variables of the catalogue only."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no")
    monkeypatch.setenv("HCCL_CONNECT_TIMEOUT", "300")
    table, script = tmp_path / "rank_table.json", tmp_path / "train.py"
    table.write_text("{}")
    script.write_text("pass\n")
    monkeypatch.setenv("RANK_TABLE_FILE", str(table))
    path = npu.record(built(), tmp_path / "ckpt", script)
    assert path == str(tmp_path / "ckpt" / "npu_config.json")
    found = written(path)
    assert list(found) == KEYS
    assert found["environment"]["HCCL_CONNECT_TIMEOUT"] == "300"
    assert "AWS_SECRET_ACCESS_KEY" not in found["environment"]
    assert found["options"]["iterations_per_loop"] == 10
    assert "iterations_per_loop" not in found["defaults"]
    assert found["defaults"]["op_wait_timeout"] == 120
    assert found["side_files"]["x.json"]["text"].startswith("{")
    assert found["rank_table"]["path"] == str(table)
    assert found["script"]["path"] == str(script)
    assert (found["rank"], found["end"]) == (0, None)
    kinds = {name: (each["kind"], each["by"]) for name, each in found["origins"].items()}
    assert kinds == {
        "precision_mode": ("builder", "mixed_precision()"),
        "modify_mixlist": ("builder", "mixed_precision()"),
        "iterations_per_loop": ("builder", "iteration_offload()"),
        "enable_data_pre_proc": ("implied", "iteration_offload()"),
        "hccl_timeout": ("builder", None),
    }
    assert {each["path"] for each in found["origins"].values()} == {__file__}


def test_a_record_is_the_same_configuration(tmp_path):
    """Whatever the configuration is; nothing differs from itself, one option exactly."""

    @MANY
    @given(configs(max_size=6))
    def check(config):
        for name, changed in (("a", config), ("b", config)):
            (tmp_path / (name + ".json")).write_text(render(content_of(changed)))
        loaded = npu.NpuConfig.load(tmp_path / "a.json")
        assert loaded == config
        assert loaded.origins == config.origins
        jobs = [job_of(str(tmp_path / name)) for name in ("a.json", "b.json")]
        assert compare(*jobs).differences == ()
        document = content_of(config)
        document["options"]["hccl_timeout"] = document["options"].get("hccl_timeout", 680) + 680
        document["defaults"].pop("hccl_timeout", None)
        (tmp_path / "b.json").write_text(render(document))
        (only,) = compare(jobs[0], job_of(str(tmp_path / "b.json"))).differences
        assert (only.part, only.name) == ("options", "hccl_timeout")

    check()


def test_side_files_of_the_builder_come_back(tmp_path):
    """With their content."""
    config = built()
    assert npu.NpuConfig.load(npu.record(config, tmp_path)) == config


def test_a_proto_is_recorded(tmp_path):
    """Its options are what the session has, unknown ones too."""
    proto = npu.NpuConfig.from_dict({"hccl_timeout": 1800}).to_config_proto()
    entry = proto.graph_options.rewrite_options.custom_optimizers[0]
    entry.parameter_map["no_such_option"].i = 4
    found = written(npu.record(proto, tmp_path))
    assert found["options"] == {"hccl_timeout": 1800, "no_such_option": 4}
    assert {each["kind"] for each in found["origins"].values()} == {"script"}
    with pytest.raises(TypeError, match="expected a NpuConfig or a ConfigProto, got int"):
        npu.record(3, tmp_path)


def test_names(tmp_path, monkeypatch):
    """Other ranks, further configurations of a process and earlier jobs have their own names."""
    first = npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 5}), tmp_path)
    assert npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 5}), tmp_path) == first
    npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 6}), tmp_path)
    monkeypatch.setenv("RANK_ID", "3")
    monkeypatch.setattr(writing, "_WRITTEN", {})
    npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 5}), tmp_path)
    monkeypatch.delenv("RANK_ID")
    assert sorted(os.listdir(str(tmp_path))) == [
        "npu_config.json",
        "npu_config.rank3.json",
        "npu_config.session2.json",
    ]
    earlier = Path(first).read_text()
    for _ in range(2):
        monkeypatch.setattr(writing, "_WRITTEN", {})
        npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 7}), tmp_path)
    aside = sorted(set(os.listdir(str(tmp_path))) - {"npu_config.json", "npu_config.rank3.json"})
    assert len(aside) == 3
    assert earlier in [(tmp_path / name).read_text() for name in aside]
    assert written(first)["options"] == {"hccl_timeout": 7}


def test_what_is_there_is_kept(tmp_path):
    """A configuration of the same name is never overwritten."""
    (tmp_path / "npu_config.json").write_text('{"version": 1, "hccl_timeout": 5}')
    with pytest.raises(FileExistsError, match="is not a record"):
        npu.record(built(), tmp_path)
    assert (tmp_path / "npu_config.json").read_text() == '{"version": 1, "hccl_timeout": 5}'
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        npu.record(built(), tmp_path / "file")


def test_nothing_is_left_of_a_record_that_cannot_be_written(tmp_path, monkeypatch):
    """A full disk: the error has the name, and no file is there."""
    from npu_config.text import files

    def full(self, content, durable=True):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.Draft, "fill", full)
    with pytest.raises(OSError, match="No space left"):
        npu.record(built(), tmp_path)
    assert os.listdir(str(tmp_path)) == []


SCRIPT = """
import sys
import npu_config as npu
npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 5}), sys.argv[1])
exec(sys.argv[2])
"""


def test_the_end_is_added(tmp_path):
    """With the code of sys.exit and of an exception; nothing where the process was killed."""
    (tmp_path / "job.py").write_text(SCRIPT)
    ends = {
        "pass": 0,
        "sys.exit(3)": 3,
        "sys.exit('no')": 1,
        "1 / 0": 1,
        "raise KeyboardInterrupt": 130,
        "import os; os._exit(0)": None,
    }
    started = [
        subprocess.Popen(
            [sys.executable, "job.py", "out{}".format(number), code],
            cwd=str(tmp_path),
            env={**os.environ, "PYTHONPATH": str(Path(npu.__file__).parents[1])},
            stderr=subprocess.DEVNULL,
        )
        for number, code in enumerate(ends)
    ]
    for process in started:
        process.wait(60)
    found = [
        written(tmp_path / "out{}/npu_config.json".format(n))["end"] for n in range(len(ends))
    ]
    assert [end and end["exit"] for end in found] == list(ends.values())


def test_two_jobs_and_one_folder(tmp_path, monkeypatch):
    """The record of each is whole; the end of one is never added to that of the other."""
    first = npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 5}), tmp_path)
    mine = dict(writing._WRITTEN)
    monkeypatch.setattr(writing, "_WRITTEN", {})
    npu.record(npu.NpuConfig.from_dict({"hccl_timeout": 6}), tmp_path)
    monkeypatch.setattr(writing, "_WRITTEN", mine)
    writing.add_end()
    assert written(first)["options"] == {"hccl_timeout": 6}
    assert written(first)["end"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '{"version": 2, "tool": "npu_config 9"}',
            "has version 2; the installed npu_config",
        ),
        ('{"version": 1, "tool": "npu_config 1"}', 'has no "options"'),
        (
            '{"version": 1, "tool": "npu_config 1", "options": []}',
            '"options" of the record does not have',
        ),
        ('{"version": 1, "tool": "npu_config 1", "opti', "has no closing quote"),
        (
            '{"version": 1, "tool": "npu_config 1", "options": {"hccl_timeout": []}}',
            "is neither a number",
        ),
    ],
)
def test_records_that_cannot_be_read(tmp_path, text, words):
    """Newer, damaged, cut: a finding with a place, never a traceback."""
    path = tmp_path / "npu_config.json"
    path.write_text(text)
    reading = read(path)
    assert reading.kind == "record"
    errors = [each for each in reading.diagnostics if each.severity is npu.Severity.ERROR]
    assert errors
    assert any(words in each.message for each in errors)
    assert all(each.path == str(path) for each in errors)
    with pytest.raises(npu.NpuConfigError):
        npu.NpuConfig.load(path)
