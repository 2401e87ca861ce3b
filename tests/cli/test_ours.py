"""What is ours in a folder: wrong configurations are found, files of other programs are left."""

import json

import pytest

from npu_config.readers import is_ours
from npu_config.readers.evidence import COMMON, EVIDENCE, signs

WRONG = {
    "misspelt.yaml": b"presicion_mode: allow_mix_precision\n",
    "three.yaml": b"hccl_timeot: 1800\nenable_dmp: true\niteration_per_loop: 10\n",
    "mark.yaml": b"\xef\xbb\xbfversion: 1\npresicion_mode: x\n",
    "utf-16.yaml": "version: 1\nprecision_mode: x\n".encode("utf-16"),
    "utf-16-le.yaml": "precision_mode: x\n".encode("utf-16-le"),
    "gbk.yaml": "# \u914d\u7f6e\nversion: 1\nhccl_timeout: x\n".encode("gbk"),
    "crlf.yaml": b"# c\r\n---\r\nversion: 1\r\nhccl_timeout: x\r\n",
    "cr.yaml": b"version: 1\rhccl_timeout: x\r",
    "indented.yaml": b"  version: 1\n  hccl_timeout: x\n",
    "flow.yml": b"{version: 1, hccl_timeout: x}\n",
    "dashes.yaml": b"Precision-Mode: allow_mix_precision\n",
    "upper.yaml": b"HCCL_TIMEOUT: 5\nENABLE-DUMP: true\n",
    "camel.yaml": b"precisionMode: allow_mix_precision\n",
    "group.yaml": b"dump:\n  enable_dump: x\n",
    "no-mapping.yaml": b"version: 1\ndump: true\n",
    "no-blank.yaml": b"precision_mode:allow_mix\n",
    "wide-colon.yaml": "precision_mode\uff1aallow_mix_precision\n".encode(),
    "equals.yaml": b"precision_mode = x\n",
    "one-foreign.yaml": b"version: 1\nprecision_mode: x\nhccl_timeout: 5\nmy_note: hello\n",
    "broken.yaml": b"version: 1\nprecision_mode: [x\nhccl_timeout: 5\n",
    "tab.yaml": b"version: 1\ndump:\n\tenable_dump: true\n",
    "documents.yaml": b"---\nversion: 1\nhccl_timeout: 5\n---\na: 1\n",
    "target.yaml": b"version: 2\ntarget:\n  product: atlas_a2\n",
    "header.yaml": b"verison: 1\nprecision_mode: x\n",
    "modeline.yaml": b"# yaml-language-server: $schema=npu-config.schema.json\nmodle: 5\n",
    "job.npu_config.yaml": b"precision_mode: x\nlearning_rate: 1\nbatch: 3\n",
    "table.toml": b"# c\nversion = 1\n[timeouts]\nhccl_timeot = 5\n",
    "dotted.toml": b"dump.enable_dmp = true\n",
    "mark.toml": b"\xef\xbb\xbfprecision_mod = 'x'\n",
    "misspelt.json": b'{"presicion_mode": "x"}',
    "comments.json": b'{\n // c\n "version": 1, "timeouts": {"hccl_timeot": 5},}',
    "dense.json": b'{"version":1,"hccl_timeout":"x"}',
    "schema.json": b'{"$schema": "./npu-config.schema.json", "modle": 1}',
}

FOREIGN = {
    "model.yaml": b"version: 1\nmodel:\n  input_shape: [1, 3, 224, 224]\n  enable_dump: true\n",
    "openapi.yaml": b"openapi: 3.0.0\ninfo:\n  version: 1\npaths: {}\ncomponents:\n  schemas:\n"
    b"    M:\n      properties:\n        input_shape: {type: array}\n        dump_path: {}\n",
    "train.yaml": b"train:\n  jit_compile: true\n  dump_path: ./out\nlr: 0.1\n",
    "config.yaml": b"jit_compile: True\ndevice: npu\nseed: 1\n",
    "flat.yaml": b"version: 1\nname: x\nlr: 0.1\ndump_path: ./out\njit_compile: True\n",
    "hydra.yaml": b"deterministic: true\n",
    "compose.yml": b"version: '3'\nservices:\n  w:\n    build: .\n    network_mode: host\n",
    "plugin.yaml": b"version: 1.2.3\nname: x\nprofiling:\n  mode: on\n",
    "job.yaml": b"apiVersion: v1\nkind: Job\nversion: 1\nhccl_timeout: 5\n",
    "pyproject.toml": b'[project]\nversion = "1"\n[tool.x]\nprecision_mode = "x"\n',
    "trainer.toml": b"[train]\njit_compile = true\nprecision_mode = 'fp16'\nlr = 0.1\n",
    "package.json": b'{"name": "x", "version": "1.0.0", "config": {"precision_mode": 1}}',
    "acl.json": b'{"dump": {"dump_path": "out", "dump_mode": "all", "dump_debug": "on"}}',
    "tool.json": b'{"task": "statistics", "dump_path": "/d", "rank": [], "level": "L1"}',
    "big.json": json.dumps({str(n): {"input_shape": n} for n in range(60000)}).encode(),
    "changeInfo_3.json": b'{"server_list": [{"server_id": "a"}], "server_count": "1"}',
    "some.yaml": b"some_config: true\n",
    "nccl.yaml": b"nccl_timeout: 600\nversion: 1\n",
    "list.yaml": b"- precision_mode: x\n",
}


def summary(npu, *arguments):
    """The findings and the counts of a check."""
    return json.loads(npu("check", "--format", "json", *arguments).out)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_configuration_in_a_folder_is_found(npu, tmp_path, name):
    """The errors are those of the same file when it is named."""
    path = tmp_path / name
    path.write_bytes(WRONG[name])
    found = [summary(npu, each)["diagnostics"] for each in (tmp_path, path)]
    assert found[0] == found[1]
    assert "error" in {each["severity"] for each in found[0]}


def test_files_of_other_programs_are_left_in_a_folder(npu, tmp_path):
    """They draw nothing, and --fix writes into none; also when a hook names them."""
    (tmp_path / "mine.yaml").write_bytes(b"version: 1\n# npu\nhccl_timeout: 1800\n")
    for name, content in FOREIGN.items():
        (tmp_path / name).write_bytes(content)
    for arguments in (
        [tmp_path],
        ["--if-ours", *sorted(tmp_path.iterdir())],
        ["--fix", tmp_path],
    ):
        assert summary(npu, *arguments)["diagnostics"] == []
    assert {name: (tmp_path / name).read_bytes() for name in FOREIGN} == FOREIGN


@pytest.mark.parametrize("name", FOREIGN)
def test_fix_never_writes_into_a_foreign_file(npu, tmp_path, name):
    """Not even when the file is named, unless it may be ours by all of its keys."""
    path = tmp_path / name
    path.write_bytes(FOREIGN[name])
    npu("check", "--fix", path)
    if name != "hydra.yaml":
        assert FOREIGN[name] == path.read_bytes()


def test_a_named_file_of_another_program_is_one_finding(npu, tmp_path):
    """It is not judged key by key, and --as does."""
    path = tmp_path / "openapi.yaml"
    path.write_bytes(FOREIGN["openapi.yaml"])
    assert [each["rule"] for each in summary(npu, path)["diagnostics"]] == ["NPU7011"]
    assert len(summary(npu, "--as", "yaml", path)["diagnostics"]) > 1


def test_what_is_nearly_ours_is_said(npu, tmp_path):
    """Options among too many other keys, or under a key that is no group."""
    (tmp_path / "mixed.yaml").write_bytes(b"hccl_timeout: 1\nlr: 0.1\nbatch: 2\n")
    (tmp_path / "under.yaml").write_bytes(
        b"version: 1\nsession:\n  hccl_timeout: 1\n  enable_dump: true\n"
    )
    (tmp_path / "slips.yaml").write_bytes(b"npu:\n  hccl_timeot: 1\n  enable_dmp: true\n")
    (tmp_path / "npu_config.yaml").write_bytes(b"modle: x\n")
    (tmp_path / "other.yaml").write_bytes(FOREIGN["train.yaml"])
    said = [
        line for line in npu("check", tmp_path).err.splitlines() if line.startswith("skipped ")
    ]
    assert [line.split(": ")[0].split("/")[-1] for line in said] == [
        "mixed.yaml",
        "npu_config.yaml",
        "slips.yaml",
        "under.yaml",
    ]
    assert ('"npu"' in said[2], '"session"' in said[3]) == (True, True)


def test_packages_are_not_walked(npu, tmp_path):
    """node_modules, site-packages and environments of any name are left out unless named."""
    for folder in ("node_modules/x", "lib/site-packages/x", "tf115"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "npu.yaml").write_bytes(WRONG["misspelt.yaml"])
    (tmp_path / "tf115" / "pyvenv.cfg").write_bytes(b"home = /usr\n")
    assert summary(npu, tmp_path)["summary"]["errors"] == 0
    assert npu("check", "--show-skipped", tmp_path).err.count("installed packages") == 3
    for folder in ("node_modules", "lib/site-packages", "tf115"):
        assert summary(npu, tmp_path / folder)["summary"]["errors"] == 1


def test_the_package_itself_draws_nothing(npu):
    """A walk of site-packages finds nothing in the data of npu_config."""
    from pathlib import Path

    import npu_config

    package = Path(npu_config.__file__).parent
    data = [path for path in package.rglob("*") if path.suffix in (".yaml", ".json", ".toml")]
    assert data
    assert all(not is_ours(str(path), path.read_bytes()) for path in data)


def test_every_line_of_evidence_is_needed():
    """Each decides for some file by itself."""
    texts = {
        "a.yaml": "# yaml-language-server: $schema=npu_config.schema.json\na: 1\n",
        "npu-config.yaml": "hccl_timeout: 1\na: 1\nb: 1\n",
        "b.yaml": "version: 1\nhccl_timeout: 1\nenable_dump: 1\na: 1\n",
        "c.yaml": "version: 1\njit_compile: 1\n",
        "d.yaml": "hccl_timeout: 1\n",
    }
    found = [signs(text, "yaml", name).evidence for name, text in texts.items()]
    assert list(EVIDENCE) == found


@pytest.mark.parametrize("name", sorted(COMMON))
def test_a_common_name_alone_is_no_evidence(name):
    """Two of them are, and one behind a version."""
    text = "{}: x\n".format(name).encode()
    assert not is_ours("a.yaml", text)
    assert is_ours("a.yaml", b"version: 1\n" + text)
    assert is_ours("a.yaml", text, named=True)


CLAIM = '[tool.npu-config]\nconfigurations = ["conf/"]\n'


@pytest.mark.parametrize("options", [(), ("--if-ours",)])
def test_the_project_names_its_configurations(npu, tmp_path, monkeypatch, options):
    """What pyproject.toml lists is checked whatever is in it, in a walk and by the hook."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "conf").mkdir()
    names = {
        "conf/a.yaml": "jit_compile: yess\n",
        "conf/b.toml": 'debug_dir = 5\nowner = "x"\n',
        "conf/notes.txt": "precision_mode\n",
        "conf/tool.py": "import os\n",
        "other.yaml": "jit_compile: yess\n",
    }
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    words = [*options, *(names if options else ["."])]
    for table, expected in ("", set()), (CLAIM, {"conf/a.yaml", "conf/b.toml"}):
        (tmp_path / "pyproject.toml").write_text(table)
        found = {each["path"] for each in summary(npu, *words)["diagnostics"]}
        assert found - {"."} == expected


def test_programs_without_a_suffix_are_found(npu, tmp_path):
    """The first line says that one is a launch script or a script; others are left alone."""
    rank = "export RANK_SIZE=2\nexport RANK_ID=2\npython3 train.py\n"
    line = "from npu_bridge.npu_init import *\nNPURunConfig(precision_mode='x')\n"
    names = {
        "launch": "#!/usr/bin/env bash\n" + rank,
        "train": "#!/usr/bin/env python3\n" + line,
        "LICENSE": "precision_mode: x\n",
        "tool": "#!/bin/sh\nmake all\n",
        "notes": rank,
    }
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    for words in [tmp_path], ["--if-ours", *(tmp_path / name for name in names)]:
        found = {each["path"].split("/")[-1] for each in summary(npu, *words)["diagnostics"]}
        assert found == {"launch", "train"}


def test_where_options_stand_under_a_key_of_the_user(npu, tmp_path):
    """The finding names the options that are to be moved."""
    (tmp_path / "a.yaml").write_bytes(b"npu:\n  hccl_timeout: 1\n  x: 1\n")
    (found,) = [
        e for e in summary(npu, tmp_path / "a.yaml")["diagnostics"] if e["rule"] == "NPU706"
    ]
    assert found["help"] == 'move "hccl_timeout" to the top level'
