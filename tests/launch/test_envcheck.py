"""The check of environments: what is told of each, and what is not."""

import json
import os
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config import RULES, rank_table
from npu_config.core.diagnostics import Place, Report, Severity
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.launch.environment.check import (
    check_environment,
    check_host,
    check_job,
    is_one_edit,
)
from npu_config.launch.environment.job import chief_job, table_job
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell.check import may_matter
from npu_config.rank_table.building import build
from tests import golden
from tests.cli.conftest import npu

__all__ = ["npu"]

TABLE = build(["node_0", "node_1"], 2, "10.20.0.2")
WITH_TABLE = {
    "JOB_ID": "job", "RANK_TABLE_FILE": "/t.json", "RANK_ID": "3", "RANK_SIZE": "4",
    "ASCEND_DEVICE_ID": "1",
}  # fmt: skip
CHIEF = {
    "JOB_ID": "job", "CM_CHIEF_IP": "10.0.0.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0",
    "CM_WORKER_SIZE": "16", "CM_WORKER_IP": "10.0.0.2", "ASCEND_DEVICE_ID": "3",
}  # fmt: skip

# environment, product, (rule, severity) of every finding
CASES = [
    ({}, None, []),
    ({"PATH": "/bin", "HOME": "/home/user", "LANG": "C", "HCCL_DETERMINISTIC": "true"}, None, []),
    (WITH_TABLE, None, []),
    (CHIEF, "atlas_a2", []),
    (CHIEF, None, []),
    # values
    ({"ASCEND_DEVICE_ID": "-1"}, None, [("NPU670", "error")]),
    ({"ENABLE_HF32_EXECUTION": "on"}, "atlas_a2", [("NPU670", "error")]),
    ({"FUSION_TENSOR_SIZE": "-1"}, None, [("NPU670", "warning")]),
    ({"PRECISION_TOOL_OVERFLOW": "true"}, None, [("NPU670", "warning")]),
    ({"ENABLE_FORCE_V2_CONTROL": "true"}, None, [("NPU670", "warning")]),
    ({"HCCL_ALGO": "ring"}, None, [("NPU670", "error")]),
    ({"HCCL_OP_EXPANSION_MODE": "HOST"}, "ascend_950", [("NPU670", "error")]),
    ({"HCCL_OP_EXPANSION_MODE": "CCU_MS"}, "atlas_a2", [("NPU670", "warning")]),
    ({"HCCL_OP_EXPANSION_MODE": "CCU_MS"}, None, []),
    ({"HCCL_OP_EXPANSION_MODE": "ANY"}, "atlas_training", []),
    ({"CM_CHIEF_PORT": "70000", **{k: v for k, v in CHIEF.items() if k != "CM_CHIEF_PORT"}},
     None, [("NPU670", "error")]),
    # rank table and CM_ variables
    ({**WITH_TABLE, "CM_CHIEF_IP": "10.0.0.1"}, None, [("NPU671", "error")]),
    ({"RANK_SIZE": "1", "CM_WORKER_SIZE": "1"}, None, [("NPU671", "error")]),
    ({"RANK_TABLE_FILE": "/t.json", "JOB_ID": "j"}, None, [("NPU672", "error")]),
    ({"RANK_TABLE_FILE": "/t.json", "RANK_SIZE": "1", "POD_NAME": "p"}, None, []),
    ({"RANK_TABLE_FILE": "/t.json", "RANK_SIZE": "1", "RANK_ID": "0"}, None, []),
    ({"RANK_SIZE": "8", "RANK_ID": "0", "JOB_ID": "j"}, None, [("NPU672", "error")]),
    ({"RANK_SIZE": "1"}, None, []),
    ({"RANK_SIZE": "1", "RANK_TABLE_FILE": ""}, None, []),
    ({"RANK_TABLE_FILE": "", "JOB_ID": "j"}, None, []),
    ({"RANK_TABLE_FILE": "", "RANK_SIZE": "2", "RANK_ID": "0", "JOB_ID": "j"}, None,
     [("NPU670", "error")]),
    ({"CM_CHIEF_IP": "10.0.0.1"}, None, [("NPU673", "error")]),
    ({**CHIEF, "CM_WORKER_SIZE": "0"}, None, [("NPU673", "warning")]),
    ({k: v for k, v in CHIEF.items() if k != "ASCEND_DEVICE_ID"}, None, [("NPU673", "warning")]),
    (CHIEF, "atlas_a3", [("NPU674", "error")]),
    (CHIEF, "atlas_inference", [("NPU674", "error")]),
    # ranks
    ({**WITH_TABLE, "RANK_ID": "4"}, None, [("NPU676", "error")]),
    ({**WITH_TABLE, "RANK_ID": "p" * 127}, None, []),
    ({**WITH_TABLE, "RANK_ID": "p" * 128}, None, [("NPU670", "error")]),
    ({**WITH_TABLE, "RANK_SIZE": "0"}, None, [("NPU670", "error")]),
    # job id
    ({"JOB_ID": "my job"}, None, [("NPU677", "warning")]),
    ({"JOB_ID": "007"}, None, [("NPU677", "warning")]),
    ({"JOB_ID": "a" * 129}, None, [("NPU677", "error")]),
    ({k: v for k, v in WITH_TABLE.items() if k != "JOB_ID"}, None, [("NPU678", "error")]),
    ({k: v for k, v in CHIEF.items() if k != "JOB_ID"}, None, [("NPU678", "error")]),
    # old and foreign names
    ({"DEVICE_ID": "1"}, None, [("NPU679", "info")]),
    ({"DEVICE_ID": "1", "ASCEND_DEVICE_ID": "1"}, None, [("NPU679", "info")]),
    ({"ENABLE_HF32_EXECUTION": "1"}, "atlas_training", [("NPU680", "warning")]),
    ({"JOB_ID": "job"}, "atlas_300i_duo", []),
    ({"NPU_LOOP_SIZE": "10", "NPU_DEBUG": "x"}, None, [("NPU684", "info")] * 2),
    ({"RANK_TABEL_FILE": "/t"}, None, [("NPU687", "warning")]),
    ({"HCCL_WHITELIST_FILES": "/t"}, None, [("NPU687", "warning")]),
    ({"rank_size": "1"}, None, [("NPU687", "warning")]),
    ({"RANK_IDS": "0", "RANK_ID": "0"}, None, []),
    ({"NODE_RANK": "0", "DEVICE_IP": "10.0.0.1", "JOBID": "1", "WORLD_SIZE": "2"}, None, []),
    # interplay
    ({"PROFILING_OPTIONS": "{}"}, None, [("NPU681", "warning")]),
    ({"DUMP_GRAPH_LEVEL": "2"}, None, [("NPU681", "warning")]),
    ({"STEP_NOW": "0"}, None, [("NPU681", "warning")]),
    ({"STEP_NOW": "0", "TOTAL_STEP": "100"}, None, []),
    ({"LOSS_NOW": "1", "TARGET_LOSS": "0.1"}, None, []),
    ({"HCCL_WHITELIST_DISABLE": "0"}, None, [("NPU681", "error")]),
    ({"HCCL_WHITELIST_DISABLE": "0", "HCCL_WHITELIST_FILE": "/w"}, None, []),
    ({"HCCL_WHITELIST_FILE": "/w"}, None, [("NPU682", "info")]),
    ({"HCCL_IF_IP": "10.0.0.1", "HCCL_SOCKET_IFNAME": "eth"}, None, [("NPU682", "info")]),
    ({"PROFILING_MODE": "false", "PROFILING_OPTIONS": "{}"}, None, [("NPU682", "info")]),
    ({"PRECISION_TOOL_OVERFLOW": "True", "PRECISION_TOOL_DUMP": "True"}, None,
     [("NPU682", "info")]),
    ({"RESTORE_FROM": "/m", "LOCAL_CHECKPOINT_DIR": "/c"}, None, [("NPU682", "info")]),
    ({"RESTORE_FROM": "/m", "LOCAL_CHECKPOINT_DIR": ""}, None, []),
    ({**WITH_TABLE, "POD_NAME": "p"}, None, [("NPU682", "info")]),
    ({"HCCL_INTRA_PCIE_ENABLE": "1", "HCCL_INTRA_ROCE_ENABLE": "1"}, None, [("NPU683", "error")]),
    ({"HCCL_INTRA_PCIE_ENABLE": "0"}, None, [("NPU683", "error")]),
    ({"HCCL_INTRA_ROCE_ENABLE": "0"}, "atlas_a2", [("NPU683", "error")]),
    ({"HCCL_INTRA_ROCE_ENABLE": "0"}, "atlas_a3", []),
    ({"HCCL_INTRA_PCIE_ENABLE": "1"}, None, []),
    ({"HCCL_INTRA_ROCE_ENABLE": "1"}, None, []),
    ({"HCCL_INTRA_PCIE_ENABLE": "0", "HCCL_INTRA_ROCE_ENABLE": "0"}, None, []),
    ({"TF_CONFIG": "{'cluster': {}}"}, None, [("NPU685", "error")]),
    ({"TF_CONFIG": "[]"}, None, [("NPU685", "error")]),
    ({"TF_CONFIG": '{"cluster": [], "task": {}}'}, None, [("NPU685", "error")]),
    ({"TF_CONFIG": '{"cluster": {}, "task": {"type": "worker", "index": 0}}'}, None, []),
    ({"TF_CONFIG": '{"cluster": {}, "task": {"type": "ps", "index": 0}}'}, None,
     [("NPU685", "info")]),
    ({"HCCL_EXEC_TIMEOUT": "20000"}, "atlas_training", [("NPU686", "error")]),
    ({"HCCL_EXEC_TIMEOUT": "0"}, "atlas_300i_duo", [("NPU686", "error")]),
    ({"HCCL_EXEC_TIMEOUT": "600"}, "atlas_training", [("NPU686", "warning")]),
    ({"HCCL_EXEC_TIMEOUT": "612"}, "atlas_training", []),
    ({"HCCL_EXEC_TIMEOUT": "600"}, None, []),
    ({"HCCL_EXEC_TIMEOUT": "2147483648"}, None, [("NPU686", "error")]),
    ({"HCCL_EXEC_TIMEOUT": "0"}, "atlas_a2", []),
    ({"HCCL_EXEC_TIMEOUT": "1836", "HCCL_OP_EXPANSION_MODE": "AIV"}, "atlas_a3",
     [("NPU686", "warning")]),
    ({"HCCL_EXEC_TIMEOUT": "0.05", "HCCL_OP_EXPANSION_MODE": "AIV"}, "atlas_a3", []),
    ({"HCCL_EXEC_TIMEOUT": "soon"}, None, [("NPU670", "error")]),
    ({"GE_USE_STATIC_MEMORY": "2"}, None, [("NPU688", "info")]),
    ({"NPU_COLLECT_PATH": "/c"}, None, [("NPU688", "info")]),
    ({"NPU_COLLECT_PATH": "/c", "ASCEND_WORK_PATH": "/w"}, None,
     [("NPU682", "info"), ("NPU688", "info")]),
    ({"AOE_MODE": "2"}, None, [("NPU688", "info")]),
    ({"PROFILING_MODE": "true"}, None, [("NPU688", "info")]),
    ({"PROFILING_MODE": "dynamic"}, None, []),
    ({"PROFILING_MODE": "True"}, None, [("NPU670", "warning")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "product", "expected"), CASES, ids=lambda value: str(value)[:60]
)
def test_findings(environ, product, expected):
    """Exactly these findings are told of an environment."""
    report = check_environment(environ, Target(product=product))
    assert sorted(expected) == sorted((d.rule, d.severity.value) for d in report)


@pytest.mark.parametrize(
    ("environ", "follows", "help"),
    [
        ({"RANK_SIZE": "16", "CM_WORKER_SIZE": "16"}, "raises ValueError", "unset RANK_SIZE"),
        ({**WITH_TABLE, "CM_WORKER_SIZE": "4"}, "raises ValueError", "unset CM_WORKER_SIZE"),
        ({**WITH_TABLE, "CM_CHIEF_IP": "10.0.0.1"}, "uses neither", "unset CM_CHIEF_IP"),
        ({**CHIEF, "RANK_TABLE_FILE": "/t.json"}, "uses neither", "unset RANK_TABLE_FILE"),
        ({**CHIEF, "RANK_ID": "3"}, "documentation forbids this", "unset RANK_ID"),
        ({"RANK_SIZE": "1", "CM_CHIEF_IP": "10.0.0.1"}, "read the CM_", "unset RANK_SIZE"),
        (
            {"RANK_TABLE_FILE": "/t", "CM_WORKER_SIZE": "1"},
            "read the rank table",
            "unset CM_WORKER_",
        ),
    ],
)
def test_what_follows_of_both_kinds_of_jobs(environ, follows, help):
    """What the fact says follows; those variables go that make no job by themselves."""
    (found,) = [d for d in check_environment(environ) if d.rule == "NPU671"]
    assert follows in found.message
    assert found.help.startswith(help)


def test_every_rule_has_a_case():
    """Each rule about environments is told in a case here or in the tests below."""
    elsewhere = {"NPU675", "NPU689", "NPU690", "NPU691", "NPU692"}
    applied = {rule.id for rule in RULES if "NPU670" <= rule.id <= "NPU699"}
    assert applied == {rule for _, _, told in CASES for rule, _ in told} | elsewhere


def test_content_of_profiling_options():
    """The text is judged as profiling options are."""
    environ = {"PROFILING_MODE": "dynamic", "PROFILING_OPTIONS": '{"aicpu": "yes"} // x'}
    messages = [diagnostic.message for diagnostic in check_environment(environ)]
    assert len(messages) == 2
    assert all(message.startswith("PROFILING_OPTIONS: ") for message in messages)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"RANK_SIZE": "8"}, ["error"]),
        ({"RANK_ID": "4"}, ["error"]),
        ({"ASCEND_DEVICE_ID": "0"}, ["warning"]),
        ({"RANK_ID": "x"}, ["error"]),
        ({"HCCL_SOCKET_FAMILY": "AF_INET6"}, ["info"]),
        ({"HCCL_SOCKET_FAMILY": "AF_INET"}, []),
    ],
)
def test_against_the_table(change, expected):
    """RANK_ID, RANK_SIZE and ASCEND_DEVICE_ID are compared with the rank table."""
    report = check_environment({**WITH_TABLE, **change}, table=TABLE)
    assert expected == [diagnostic.severity.value for diagnostic in report]


@pytest.mark.parametrize(
    ("address", "family", "version"),
    [
        ("10.20.0.2", "AF_INET6", "IPv4"),
        ("10.20.0.2", "AF_INET", None),
        ("fd00::2", "AF_INET", "IPv6"),
        ("fd00::2", "AF_INET6", None),
    ],
)
def test_the_addresses_of_the_table(address, family, version):
    """A family of addresses that the rank table does not have does nothing."""
    table = build(["node_0", "node_1"], 2, address)
    environ = {**WITH_TABLE, "HCCL_SOCKET_FAMILY": family}
    messages = [each.message for each in check_environment(environ, table=table)]
    words = 'HCCL_SOCKET_FAMILY="{}" has no effect: the addresses of the rank table are {}'
    assert messages == ([] if version is None else [words.format(family, version)])


@golden.claims(Path(__file__).parent, "environments.txt")
def test_every_word(path, case):
    """What is said of an environment, and what to do: partners, numbers, both kinds of jobs."""
    product, _, words = case["claim"].partition(":")
    environ = dict(word.split("=", 1) for word in shlex.split(words))
    target = ANY_TARGET if product == "any" else Target(product=product)
    lines = []
    for each in check_environment(environ, target):
        lines.append("{}: {} [{}]".format(each.severity.value, each.message, each.rule))
        lines += ["    help: " + each.help] if each.help else []
    golden.hold(path, case, "".join(line + "\n" for line in lines))


def pods(count, **more):
    """A table of template 2: a pod for each device, ``tf-0``, ``tf-1``, ..."""
    instances = [
        {
            "pod_name": "tf-{}".format(number),
            "server_id": "node_{}".format(number // 8),
            "devices": [
                {"device_id": str(number % 8), "device_ip": "10.20.0.{}".format(number + 2)}
            ],
        }
        for number in range(count)
    ]
    group = {"group_name": "hccl_world_group", "instance_count": str(count)}
    group.update(device_count=str(count), instance_list=instances)
    document = {"status": "completed", "group_count": "1", "group_list": [group], **more}
    return rank_table.parse(json.dumps(document)).model


@pytest.mark.parametrize(
    ("rank", "count", "expected"),
    [
        ("tf-1", 4, None),
        ("tf-4", 4, 'RANK_ID="tf-4", but the pods of the rank table are tf-0, tf-1, tf-2, tf-3'),
        ("tf", 1, 'RANK_ID="tf", but the pods of the rank table are tf-0'),
        ("x", 9, "pods of the rank table are " + ", ".join(map("tf-{}".format, range(8)))),
        ("3", 4, None),
        ("4", 4, "RANK_ID is 4, but the ranks of the rank table are 0 to 3"),
    ],
)
def test_against_a_table_of_pods(rank, count, expected):
    """A RANK_ID that is a text is the name of a pod; a number is a rank, whatever its device."""
    environ = {**WITH_TABLE, "RANK_ID": rank, "RANK_SIZE": str(count), "ASCEND_DEVICE_ID": "0"}
    found = [each.message for each in check_environment(environ, table=pods(count))]
    assert len(found) == (expected is not None)
    assert all(each.endswith(expected) for each in found)


def test_what_is_built_is_right():
    """The environments of jobs are right for their product, and fit together."""
    table = build(["a", "b"], 2, "10.20.0.2", "atlas_training")
    for job, product in (
        (table_job(table, "/t.json", "job"), "atlas_training"),
        (chief_job(["10.0.0.1", "10.0.0.2"], "job", devices=2), "atlas_a2"),
    ):
        environs = {str(one.rank_id): job.variables(one) for one in job.processes}
        assert list(check_job(environs, Target(product=product))) == []


@pytest.mark.parametrize(
    ("base", "change", "variable"),
    [
        (WITH_TABLE, {"RANK_ID": "2", "JOB_ID": "other"}, "JOB_ID"),
        (WITH_TABLE, {"RANK_ID": "2", "RANK_SIZE": "5"}, "RANK_SIZE"),
        (WITH_TABLE, {}, "RANK_ID"),
        (CHIEF, {"CM_CHIEF_PORT": "6001", "ASCEND_DEVICE_ID": "4"}, "CM_CHIEF_PORT"),
        (CHIEF, {}, "ASCEND_DEVICE_ID"),
    ],
)
def test_processes_against_each_other(base, change, variable):
    """What must be the same, or different, in all processes of a job is compared."""
    places = {"b": {variable: Place("b.env", 3, 1)}}
    (found,) = check_job({"a": base, "b": {**base, **change}}, places=places)
    assert (found.rule, found.path, found.line) == ("NPU675", "b.env", 3)
    assert found.message.startswith(variable)


def test_chief_of_two_servers():
    """The same device on another server is another device."""
    other = {**CHIEF, "CM_WORKER_IP": "10.0.0.3"}
    assert list(check_job({"a": CHIEF, "b": other})) == []
    assert list(check_job({})) == []


def test_host(tmp_path):
    """On the host the files are read and compared, and directories and cores looked at."""
    table, whitelist = tmp_path / "t.json", tmp_path / "w.json"
    rank_table.save(TABLE, table)
    whitelist.write_text('{"host_ip": ["10.0.0"]}')
    environ = {
        **WITH_TABLE,
        "RANK_TABLE_FILE": str(table),
        "RANK_SIZE": "8",
        "HCCL_WHITELIST_DISABLE": "0",
        "HCCL_WHITELIST_FILE": str(whitelist),
        "ASCEND_OPP_PATH": str(tmp_path / "none"),
        "ASCEND_CACHE_PATH": str(table),
        "ASCEND_WORK_PATH": str(tmp_path / "made later"),
        "MAX_COMPILE_CORE_NUMBER": "9",
        "TE_PARALLEL_COMPILER": "7",
    }
    report = check_host(environ, cpu_count=8)
    assert sorted(diagnostic.rule for diagnostic in report) == [
        "NPU676",
        "NPU689",
        "NPU689",
        "NPU689",
        "NPU689",
        "NPU766",
    ]
    fine = {**WITH_TABLE, "RANK_TABLE_FILE": str(table), "ASCEND_WORK_PATH": str(tmp_path)}
    assert list(check_host(fine, cpu_count=8)) == []


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("ASCEND_OPP_PATH", "none", "is not a directory"),
        ("ASCEND_OPP_PATH", "a file", "is not a directory"),
        ("ASCEND_OPP_PATH", "a directory", None),
        ("ASCEND_WORK_PATH", "none", None),
        ("ASCEND_WORK_PATH", "a file", "is a file, but must be a directory"),
        ("ASCEND_WORK_PATH", "a directory", None),
        ("ASCEND_CACHE_PATH", "none", None),
        ("ASCEND_CACHE_PATH", "a file", "is a file, but must be a directory"),
        ("ASCEND_CACHE_PATH", "a directory", None),
    ],
)
def test_directories_of_the_host(npu, tmp_path, monkeypatch, name, place, said):
    """A directory variable may name a directory, or what is made later, and never a file."""
    (tmp_path / "a file").write_text("")
    (tmp_path / "a directory").mkdir()
    for other in VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, str(tmp_path / place))
    result = npu("env", "--check")
    found = [line for line in result.out.splitlines() if "NPU689" in line]
    assert [said in line for line in found] == ([True] if said else []), result
    assert result.code == int(said is not None)


def test_host_with_a_wrong_table(tmp_path):
    """A rank table that is missing or wrong is told as such."""
    missing = {**WITH_TABLE, "RANK_TABLE_FILE": str(tmp_path / "none.json")}
    assert [diagnostic.rule for diagnostic in check_host(missing)] == ["NPU715"]
    (tmp_path / "t.json").write_text('{"server_list": []} // x')
    wrong = check_host({**WITH_TABLE, "RANK_TABLE_FILE": str(tmp_path / "t.json")})
    assert {"NPU643", "NPU646", "NPU786"} == {diagnostic.rule for diagnostic in wrong}


def test_this_environment():
    """The environment of the tests does not raise."""
    assert isinstance(check_host(os.environ), Report)


@given(
    st.dictionaries(
        st.sampled_from(sorted(VARIABLES)) | st.text(max_size=10),
        st.text(max_size=20) | st.sampled_from(["0", "1", "8", "-1", "10.0.0.1", "{}", "true"]),
        max_size=8,
    ),
    st.none() | st.sampled_from(list(Product)),
)
def test_any_environment(environ, product):
    """No environment raises, with a table or without."""
    for table in (None, TABLE):
        report = check_environment(environ, Target(product=product), table)
        assert all(diagnostic.severity in Severity for diagnostic in report)


JOBS = [
    ({"JOB_ID": "a"}, {"JOB_ID": "b"}, ['JOB_ID="b", but JOB_ID="a" in first']),
    ({"JOB_ID": "a"}, {}, ['JOB_ID is not set, but JOB_ID="a" in first']),
    ({}, {"JOB_ID": "b"}, ['JOB_ID="b", but JOB_ID is not set in first']),
    ({"CM_CHIEF_IP": "10.0.0.1"}, {"CM_CHIEF_IP": "10.0.0.2"},
     ['CM_CHIEF_IP="10.0.0.2", but CM_CHIEF_IP="10.0.0.1" in first']),
    ({"CM_WORKER_IP": "10.0.0.1"}, {"CM_WORKER_IP": "10.0.0.2"}, []),
    ({"RANK_ID": "1"}, {"RANK_ID": "1"}, ['RANK_ID="1", the same as in first']),
    ({"RANK_ID": "1"}, {"RANK_ID": "2"}, []),
    ({"RANK_ID": "pod-1"}, {"RANK_ID": "pod-1"}, []),
    ({"CM_WORKER_IP": "10.0.0.1"}, {"CM_WORKER_IP": "10.0.0.1"},
     ['ASCEND_DEVICE_ID="0", the same as in first']),
    ({"CM_WORKER_IP": "10.0.0.1", "ASCEND_DEVICE_ID": "1"},
     {"CM_WORKER_IP": "10.0.0.1", "ASCEND_DEVICE_ID": "1"},
     ['ASCEND_DEVICE_ID="1", the same as in first']),
    ({"CM_WORKER_IP": "10.0.0.1", "ASCEND_DEVICE_ID": "1"},
     {"CM_WORKER_IP": "10.0.0.2", "ASCEND_DEVICE_ID": "1"}, []),
    ({"CM_WORKER_IP": "10.0.0.1", "ASCEND_DEVICE_ID": "1"},
     {"CM_WORKER_IP": "10.0.0.1", "ASCEND_DEVICE_ID": "2"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "expected"), JOBS)
def test_two_processes_of_a_job(first, second, expected):
    """What must be alike and is not, and what every process needs for itself."""
    report = check_job({"first": first, "second": second})
    found = [str(each.message) for each in report if each.rule == "NPU675"]
    assert expected == [message.partition(";")[0] for message in found]


def test_a_rank_and_the_device_of_the_table():
    """The device that the table gives the rank is used, whatever is exported."""
    found = check_environment({**WITH_TABLE, "ASCEND_DEVICE_ID": "0"}, table=TABLE)
    assert [(each.rule, each.severity.value, each.message, each.help) for each in found] == [
        (
            "NPU676",
            "warning",
            (
                "ASCEND_DEVICE_ID is 0, but rank 3 has device 1 in the rank table, and HCCL uses "
                "the rank table"
            ),
            "export ASCEND_DEVICE_ID=1, unless a container numbers devices differently",
        )
    ]


@pytest.mark.parametrize(
    ("name", "is_near"),
    [
        *[("RANK_ID", True), ("rank_id", True), ("RANK_IDX", True), ("RANK_I", True)],
        *[("ANK_ID", True), ("XRANK_ID", True), ("RANK_XD", True), ("XANK_ID", True)],
        *[("RANK_IX", True), ("RNAK_ID", True), ("ARNK_ID", True), ("RANK_DI", True)],
        *[("RANKID", True), ("RANK__ID", True), ("RANK_XI", False), ("RNKA_ID", False)],
        *[("RANK_IDXY", False), ("RANK_", False), ("XANK_IX", False), ("NARK_ID", False)],
        *[("Rank_I", False), ("", False)],
    ],
)
def test_one_slip(name, is_near):
    """A letter that is missing, added, another one, or swapped with its neighbour."""
    assert is_near == is_one_edit(name, "RANK_ID")


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        *[("export HCCL_CONNECT_TIMEOUT=1", True), ("export CM_WORKER_SIZE=1", True)],
        *[("source /usr/local/Ascend/env.sh", True), ("npu-smi info", True), ("input=1", False)],
        *[
            ("export RANK_SIZE=8", True),
            ("export WORLD_SIZE=8", False),
            ("python3 train.py", False),
            ("", False),
        ],
    ],
)
def test_what_is_about_npus(text, matters):
    """A word that only scripts for NPUs have, or the name of one of their variables."""
    assert matters == may_matter(text.encode("utf-8"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("j" * 128 + "j", "JOB_ID has 129 characters; legal"),
        ("é" * 128, "recommended"),
    ],
)
def test_names_of_jobs(name, expected):
    """GE refuses one that is too long; other strange ones are only not recommended."""
    (found,) = [each for each in check_environment({"JOB_ID": name}) if "JOB_ID" in each.message]
    assert expected in found.message
