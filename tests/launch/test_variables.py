"""The catalogue of variables: the facts, and values that each takes or refuses."""

from pathlib import Path

import pytest
import yaml

from npu_config.core.versions import Product
from npu_config.launch.environment.variables import (
    CM_NAMES,
    RANK_TABLE_NAMES,
    TENSORFLOW_2_NAMES,
    VARIABLES,
)

FACTS = {
    entry["name"]: entry
    for entry in yaml.safe_load(
        (Path(__file__).parent / "data" / "env.yaml").read_text(encoding="utf-8")
    )
}

TAKEN = {
    "JOB_ID": ["resnet_50-a", "1", "10", "a" * 128],
    "ASCEND_DEVICE_ID": ["0", "7", "15"],
    "CM_CHIEF_PORT": ["0", "65520"],
    "CM_WORKER_SIZE": ["0", "1", "32768"],
    "CM_CHIEF_IP": ["10.0.0.1", "fd00::1"],
    "RANK_SIZE": ["1", "65536"],
    "AOE_MODE": ["1", "2", "4"],
    "STEP_NOW": ["0", "4294967295"],
    "LOSS_NOW": ["0", "-1.5", "1e-3", ".5"],
    "ENABLE_HF32_EXECUTION": ["0", "1", "00", "01", "10", "11"],
    "ENABLE_FORCE_V2_CONTROL": ["1", "0", "", "off", "anything"],
    "GE_USE_STATIC_MEMORY": ["0", "1", "2", "3", "4"],
    "ASCEND_MAX_OP_CACHE_SIZE": ["-1", "0", "500"],
    "ASCEND_REMAIN_CACHE_SIZE_RATIO": ["1", "100"],
    "HCCL_CONNECT_TIMEOUT": ["120", "7200"],
    "HCCL_SOCKET_FAMILY": ["AF_INET", "AF_INET6"],
    "HCCL_NPU_SOCKET_PORT_RANGE": ["auto", "61000-61050", "61000,61050-61100,61200-61210", "1"],
    "HCCL_SOCKET_IFNAME": ["eth", "eth,enp", "^eth", "=eth0,endvnic", "^=eth0,enp0"],
    "HCCL_IF_BASE_PORT": ["1024", "65520"],
    "HCCL_BUFFSIZE": ["1", "200"],
    "HCCL_ALGO": [
        "level0:NA;level1:ring",
        "level0:NA;level1:H-D_R;level2:NHR",
        "level0:NA;level1:NHR_V1",
        "allreduce=level0:NA;level1:ring/allgather=level0:NA;level1:H-D_R",
    ],
    "DUMP_GE_GRAPH": ["0", "1", "3"],
    "PROFILING_MODE": ["true", "false", "dynamic", "FALSE"],
    "DUMP_GRAPH_LEVEL": ["1", "4", "PreRunBegin|AfterMergeGraph"],
    "TE_PARALLEL_COMPILER": ["1", "32"],
    "FUSION_TENSOR_SIZE": ["0", "524288000"],
    "PRECISION_TOOL_DUMP": ["True", "no"],
    "PRINT_MODEL": ["1", "0", "true", "false"],
}

REFUSED = {
    "JOB_ID": ["", "my job", "jöb", "007", "a" * 129],
    "ASCEND_DEVICE_ID": ["", "-1", "0x1", "one", "1.0", " 1", "9" * 30],
    "CM_CHIEF_PORT": ["-1", "65521", "http"],
    "CM_WORKER_SIZE": ["32769", "-1"],
    "CM_CHIEF_IP": ["", "node-1", "10.0.0.256", "10.0.0.01", "fd00::1%eth0"],
    "RANK_SIZE": ["0", "-1", "2147483648"],
    "AOE_MODE": ["3", "0", ""],
    "STEP_NOW": ["4294967296", "-1", "1.5"],
    "LOSS_NOW": ["", "nan", "0,1"],
    "ENABLE_HF32_EXECUTION": ["2", "true", "", "000"],
    "ENABLE_FORCE_V2_CONTROL": ["true", "True", "on", " 1"],
    "GE_USE_STATIC_MEMORY": ["5", ""],
    "ASCEND_MAX_OP_CACHE_SIZE": ["-2", "500MB"],
    "ASCEND_REMAIN_CACHE_SIZE_RATIO": ["0", "101"],
    "HCCL_CONNECT_TIMEOUT": ["119", "7201"],
    "HCCL_SOCKET_FAMILY": ["af_inet", "IPv4"],
    "HCCL_NPU_SOCKET_PORT_RANGE": [
        "", "AUTO", "0", "65536", "5-3", "1-5,4-9", "1,1", "1,", "1-2-3",
    ],
    "HCCL_SOCKET_IFNAME": ["", "eth,", "e th", "==eth0", "^"],
    "HCCL_IF_BASE_PORT": ["1023", "65521"],
    "HCCL_BUFFSIZE": ["0"],
    "HCCL_ALGO": [
        "ring", "level1:fast", "level3:ring", "level0:ring", "level0:NA;level0:NA",
        "sum=level0:NA;level1:ring", "",
    ],
    "DUMP_GE_GRAPH": ["4", "true", ""],
    "PROFILING_MODE": ["True", "TRUE", "1", ""],
    "DUMP_GRAPH_LEVEL": ["0", "5", "a||b", ""],
    "TE_PARALLEL_COMPILER": ["0", "33"],
    "FUSION_TENSOR_SIZE": ["-1", "many"],
    "PRECISION_TOOL_DUMP": ["true", "1"],
    "PRINT_MODEL": ["yes", "True"],
    "TF_CONFIG": ["", "{", "[]", "{'a': 1}", "[" * 100000],
}  # fmt: skip


def test_names():
    """Every variable of the facts is declared, and no other."""
    assert set(FACTS) == set(VARIABLES)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_facts(name):
    """Default, unit, products, readers, page and rules are those of the facts."""
    fact, variable = FACTS[name], VARIABLES[name]
    products = None if variable.products is None else {p.value for p in variable.products}
    assert (None if fact["products"] == "all" else set(fact["products"])) == products
    assert (None if fact["default"] is None else str(fact["default"])) == variable.default
    assert fact["unit"] == variable.unit
    assert tuple(fact["read_by"]) == variable.read_by
    assert fact["documented"] == variable.page
    assert set(fact["rules"]) <= set(variable.facts)


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_declarations(name):
    """Every variable says what it is for and what it takes; its default is legal."""
    variable = VARIABLES[name]
    assert variable.meaning
    assert variable.kind.describe()
    if (variable.default or "").replace("-", "").isdigit() or variable.default == "AF_INET":
        assert variable.kind.problem_of(variable.default) is None


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in TAKEN for text in TAKEN[name]]
)
def test_taken(name, text):
    """Legal values."""
    assert VARIABLES[name].kind.problem_of(text) is None


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in REFUSED for text in REFUSED[name]]
)
def test_refused(name, text):
    """Values that are not of the kind, each with a reason."""
    assert VARIABLES[name].kind.problem_of(text)


LEAST = {
    "RANK_ID": 0, "RANK_SIZE": 1, "CM_CHIEF_PORT": 0, "CM_WORKER_SIZE": 0,
    "HCCL_CONNECT_TIMEOUT": 120, "HCCL_IF_BASE_PORT": 1024, "HCCL_BUFFSIZE": 1,
    "ASCEND_MAX_OP_CACHE_SIZE": -1, "ASCEND_REMAIN_CACHE_SIZE_RATIO": 1,
    "TE_PARALLEL_COMPILER": 1, "MAX_COMPILE_CORE_NUMBER": 1, "FUSION_TENSOR_SIZE": 0,
    "NPU_LOOP_SIZE": 1,
}  # fmt: skip
MOST = {
    "CM_CHIEF_PORT": 65520, "CM_WORKER_SIZE": 32768, "HCCL_CONNECT_TIMEOUT": 7200,
    "HCCL_IF_BASE_PORT": 65520, "ASCEND_REMAIN_CACHE_SIZE_RATIO": 100, "TE_PARALLEL_COMPILER": 32,
}  # fmt: skip


@pytest.mark.parametrize(("limits", "step"), [(LEAST, -1), (MOST, 1)])
def test_ends_of_ranges(limits, step):
    """The last number of a range is taken, the one behind it is not."""
    for name, last in limits.items():
        kind = VARIABLES[name].kind
        assert kind.problem_of(str(last)) is None, name
        assert kind.problem_of(str(last + step)), name


def test_groups():
    """The groups of names are names of variables."""
    assert {*CM_NAMES, *RANK_TABLE_NAMES} | TENSORFLOW_2_NAMES <= set(VARIABLES)


def test_duo_is_an_inference_product():
    """What is for inference products is for the 300I Duo."""
    assert VARIABLES["JOB_ID"].is_for(Product.ATLAS_300I_DUO)
    assert not VARIABLES["CM_CHIEF_IP"].is_for(Product.ATLAS_300I_DUO)
