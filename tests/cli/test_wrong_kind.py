"""A configuration or a script that is given to a command for other files is called what it is."""

import pytest

import npu_config

YAML = "version: 1\nhccl_timeout: 5\n"
TABLE = (
    '{"version": "1.0", "server_count": "1", "status": "completed", "server_list": [{"server_id": '
    '"10.0.0.1", "device": [{"device_id": "0", "device_ip": "10.1.0.1", "rank_id": "0"}]}]}'
)


MESSAGE = (
    "npu.yaml is a YAML file, which this command does not accept; run: npu-config check npu.yaml"
)


@pytest.mark.parametrize("command", ["run", "run --dry-run", "migrate"])
def test_a_configuration(npu, tmp_path, monkeypatch, command):
    """It is a wrong call, and the message names ``check``; run as Python it would even pass."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "npu.yaml").write_text(YAML)
    found = npu(*command.split(), "npu.yaml")
    assert (found.code, found.out) == (2, "")
    assert found.err.endswith(MESSAGE + "\n")


@pytest.mark.parametrize(
    "command",
    [
        "ranktable check",
        "mixlist check",
        "env --check",
    ],
)
def test_a_configuration_is_no_side_file(npu, tmp_path, monkeypatch, command):
    """It is a finding that names ``check``; the files beside it are judged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "npu.yaml").write_text(YAML)
    (tmp_path / "broken.json").write_text("[")
    found = npu(*command.split(), "npu.yaml", "broken.json")
    assert found.code == 1
    assert "npu.yaml: error: " + MESSAGE.replace("npu.yaml", "this", 1) in found.out + found.err
    assert "broken.json:1:" in found.out + found.err


def test_a_script_is_no_list(npu, tmp_path, monkeypatch):
    """Nor is it a rank table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import npu_config\n")
    for command in ("mixlist check", "ranktable check", "env --check"):
        found = npu(*command.split(), "train.py")
        assert found.code == 1
        assert found.out.startswith("train.py: error: this is a Python script, which")


@pytest.mark.parametrize("line", ["export RANK_SIZE 16", "RANK_SIZE: 8", "cd /home"])
def test_a_wrong_line_makes_no_configuration_of_variables(npu, tmp_path, monkeypatch, line):
    """A file that is called ``.env`` is one of variables, and ``env --check`` reports the line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.env").write_text("RANK_ID=0\n{}\n".format(line))
    found = npu("check", "job.env")
    assert "run: npu-config env --check job.env" in found.out
    assert "NPU101" not in found.out
    assert "job.env:2:" in npu("env", "--check", "job.env").out


def test_no_graph(npu, tmp_path, monkeypatch):
    """The answer says what ``diagnose`` takes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "npu.yaml").write_text(YAML)
    found = npu("diagnose", "npu.yaml")
    assert found.code == 1
    assert found.out.startswith("npu.yaml: error: the file does not hold a graph")
    assert "help: pass a graph.pbtxt" in found.out


def test_a_folder_is_the_record_in_it(npu, tmp_path, monkeypatch):
    """For generate as for show; one without a record is said before a missing --to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job").mkdir()
    for command in ("generate", "show"):
        found = npu(command, "job")
        assert found.code == 1
        assert "holds no record of a job; pass a configuration or a script" in found.err
    npu_config.record(npu_config.NpuConfig({"hccl_timeout": 5}), "job")
    assert "hccl_timeout: 5" in npu("generate", "job", "--to", "yaml").out


def test_a_launch_script_is_no_file_of_variables(npu, tmp_path, monkeypatch):
    """Its variables are judged; that ``check`` reads the rest is said."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text("export RANK_SIZE=0\npython3 train.py\n")
    found = npu("env", "--check", "run.sh")
    assert found.code == 1
    assert "NPU670" in found.out
    assert "npu-config check run.sh reads all of it" in found.err
    (tmp_path / "env.sh").write_text("export RANK_SIZE=0\n")
    assert "launch script" not in npu("env", "--check", "env.sh").err


def test_doctor_of_a_rank_table(npu, tmp_path, monkeypatch):
    """There is no option in it, so none of them is called valid."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rank_table.json").write_text(TABLE)
    line = npu("doctor", "rank_table.json").out.splitlines()[0]
    assert line.startswith("cannot be checked here configuration-valid")
    (tmp_path / "empty.yaml").write_text("version: 1\n")
    assert npu("doctor", "empty.yaml").out.startswith("passed")


@pytest.mark.parametrize(
    ("name", "start", "is_one"),
    [
        ("job.env", "", True),
        (".env", "", True),
        ("set_env", "#!/bin/bash\n", False),
        ("a.toml", "", False),
    ],
)
def test_variables_are_no_configuration(npu, tmp_path, monkeypatch, name, start, is_one):
    """A file of variables draws one finding, which names the command that checks it."""
    monkeypatch.chdir(tmp_path)
    text = start + "# of rank 0\nexport HCCL_CONNECT_TIMEOUT=99999\nRANK_SIZE=abc\n"
    (tmp_path / name).write_text(text)
    found = npu("check", name)
    assert found.code == 1
    assert ("NPU780" in found.out and "npu-config env --check " + name in found.out) == is_one
    assert npu("env", "--check", name).code == 1
