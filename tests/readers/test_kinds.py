"""Which kind a file is: by content, then by name; files of other kinds are named once."""

import pytest

from npu_config.proto.schema import graph_message
from npu_config.readers import read, read_if_ours

GRAPH = graph_message("GraphDef")()
GRAPH.node.add(name="a", op="Const")


@pytest.mark.parametrize(
    ("name", "content", "what", "help"),
    [
        (
            "graph.pbtxt",
            'node {\n  name: "a"\n  op: "Const"\n}\n',
            "a graph",
            "diagnose graph.pbtxt",
        ),
        ("frozen.pb", GRAPH.SerializeToString(), "a graph", "diagnose frozen.pb"),
        ("m.ckpt-1.meta", b"\x0a\x02\x2a\x00", "a graph", "diagnose m.ckpt-1.meta"),
        ("m.ckpt-2.meta", b"\x0a\x02nn\x12\x05Const", "a graph", "diagnose m.ckpt-2.meta"),
        ("train.log", "global_step/sec: 1\nloss_scale: 1\n", "the log", "loss-scale train.log"),
        (
            "fusion_result.json",
            '[{"session_and_graph_id_0_0": {"graph_fusion": {"A": {"match_times": "1"}}}}]',
            "a fusion_result.json",
            "fusion-result fusion_result.json",
        ),
        (
            "result.json",
            '[{"session_and_graph_id_0_0": {"graph_fusion": {}, "ub_fusion": {}}}]',
            "a fusion_result.json",
            "fusion-result result.json",
        ),
        ("fusion_result_1.json", "[]", "a fusion_result.json", "npu-config fusion-result"),
        (
            "acl.json",
            '{"dump": {"dump_list": [], "dump_path": "/"}}',
            "an acl.json",
            "enable_dump",
        ),
        ("p.json", '{"profiler": {"switch": "on", "output": "p"}}', "an acl.json", "enable_dump"),
        (
            "rank0.ENV",
            "# of rank 0\nRANK_ID=0\n",
            "a file of environment",
            "env --check rank0.ENV",
        ),
        ("job.yaml", "apiVersion: v1\nkind: Job\n", "a Kubernetes manifest", "kubectl apply"),
        ("c.yml", "services:\n  a:\n    image: x\n", "a Docker Compose file", "env --check"),
        (
            "global_table.json",
            '{"status": "completed", "server_group_list": [{"server_list": []}]}',
            "the global table",
            "rank_table.json",
        ),
        ("two words.log", "global_step/sec: 1\nloss_scale: 1\n", "the log", "'two words.log'"),
        ("Makefile", "train:\n\tpython3 train.py\n", "a makefile", "launch scripts"),
        ("op_summary_0.csv", "Op Name,OP Type\n", "an operator table", "op-summary"),
        ("events.out.tfevents.1.host", b"\x18\0\0", "a TensorFlow event file", "loss-scale"),
    ],
)
def test_files_of_other_kinds(name, content, what, help):
    """One finding that names the kind and the command; nothing in a directory."""
    found = read(name, content=content)
    assert [d.rule for d in found.judge()] == ["NPU780"]
    assert what in found.diagnostics[0].message
    assert help in found.diagnostics[0].help
    data = content.encode() if isinstance(content, str) else content
    assert read_if_ours(name, content=data) is None


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("rank_table_8p.json", "{}", "rank-table"),
        ("hccl_8p.json", '{"version": "1.0"}', "rank-table"),
        ("jobstart_hccl.json", '{"status": "initializing"}', "rank-table"),
        ("a.json", '{"Status": "completed", "Server_list": []}', "rank-table"),
        ("a.json", '{"status": "completed", "version": "1.1", "node_list": []}', "rank-table"),
        ("a.json", '{"Switch": {"GraphFusion": {}}, "a": 1, "b": 2}', "fusion_switch"),
        ("a.json", '{"Sub": {}, "Switch": {"isGray": false}, "Mul": {}}', "json"),
        ("ops_info_v2.json", "{}", "mixlist"),
        ("fusion_switch_off.cfg", "", "fusion_switch"),
        ("aipp.aippconfig", "", "insert_op"),
        ("insert.config", "aipp_op { aipp_mode: static }", "insert_op"),
        ("types.txt", "conv::InputDtype:float16,OutputDtype:float16\n", "customize_dtypes"),
        ("a.txt", "#!/usr/bin/env python3\n", "script"),
        ("b", "\n\n# c\nimport os\n", "script"),
        ("c", "precision_mode = 'x'\n", "toml"),
        ("d", "---\nprecision_mode: x\n", "yaml"),
    ],
)
def test_kinds(name, content, kind):
    """The content says what a file is; where it is silent, the name."""
    assert kind == read(name, content=content).kind


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("version: 1\npresicion_mode: x\n", "NPU101"),
        ("version: 2\ntarget:\n  product: atlas_a2\n", "NPU707"),
        ("dump:\n  enable_dump: true\n  dump_mode: ALL\n", "NPU104"),
        ("precision_mode: nonsense\nenable_dump: true\n", "NPU104"),
    ],
)
def test_wrong_configurations_in_directories(content, rule):
    """What is meant to be a configuration is checked though nobody named it."""
    found = read_if_ours("a.yaml", content=content.encode())
    assert found is not None
    assert rule in {diagnostic.rule for diagnostic in found.judge()}


@pytest.mark.parametrize(
    "content",
    [
        "version: '3'\nservices:\n  w:\n    build:\n      target: p\n    network_mode: host\n",
        "version: 1\nformatters:\n  simple:\n    format: x\nhandlers: {}\nroot:\n  level: DEBUG\n",
        "version: 2\nupdates:\n  - package-ecosystem: pip\n    open_pull_requests_limit: 5\n",
        "jit_compile: true\n",
    ],
)
def test_configurations_of_others(content):
    """Docker, logging and bots have a version, too; they are passed over."""
    assert read_if_ours("a.yaml", content=content.encode()) is None


def test_templates():
    """A placeholder that a script fills in is one note, at its place."""
    text = '{"server_count": "1",\n "server_list": {instance_list}, "status": "completed"}'
    found = read("hccl.json", content=text).judge()
    assert [(d.rule, d.line, d.column) for d in found] == [("NPU781", 2, 17)]
    assert "NPU781" not in {d.rule for d in read("hccl.json", content='{"a": "{x}",}').judge()}


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_schema_key(name):
    """Editors find the JSON Schema by this key."""
    content = (
        '{"$schema": "https://x/y.json", "version": 1, "precision_mode": "allow_fp32_to_fp16"}'
    )
    assert [d for d in read(name, content=content).judge() if d.severity.value != "info"] == []


@pytest.mark.parametrize(
    ("name", "first", "rules"),
    [
        ("job.sbatch", "#!/bin/bash", ["NPU670"]),
        ("job.slurm", "# no first line", ["NPU670"]),
        ("launch", "#!/usr/bin/env bash", ["NPU670"]),
        ("launch", "#!/bin/sh -e", ["NPU670"]),
        ("x.csh", "#!/bin/csh -f", ["NPU620"]),
        ("launch", "#!/usr/bin/perl", ["NPU708"]),
    ],
)
def test_launch_scripts(name, first, rules):
    """A launch script is known by its suffix, else by its first line."""
    content = first + "\nexport ASCEND_DEVICE_ID=-1\npython3 train.py\n"
    assert rules == [d.rule for d in read(name, content=content).judge()]


def test_launch_scripts_in_a_directory():
    """There the suffix or the first line decides, and whether the script is about NPUs."""
    for name, ours in (("a.sbatch", True), ("a.slurm", True), ("launch", True), ("a.csh", False)):
        found = read_if_ours(name, content=b"#!/bin/bash\nexport ASCEND_DEVICE_ID=0\n")
        assert ours == (found is not None)
    assert read_if_ours("a.sbatch", content=b"#!/bin/bash\nsrun hostname\n") is None
