"""Side files that a directory holds are found by what is in them."""

import pytest

from npu_config.readers import read_if_ours
from npu_config.sidefiles import MARKS
from npu_config.sidefiles.op_precision import MODES


@pytest.mark.parametrize("mode", [*MODES, "enable_hi_float_32_execution", "norm_class"])
def test_op_precision_without_headers(mode):
    """Every mode is a mark: the headers are optional, and lines before any are types."""
    reading = read_if_ours("ops.ini", content="Conv2D={}\n".format(mode).encode())
    assert reading is not None
    assert reading.kind == "op_precision"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("aoe", '{"tune_ops_type": ["Conv2D"], "tune_optimization_level": "O2"}'),
        (
            "job_start",
            '{"device_info": {"Index": 0}, "rank_table_file": "r.json", "rank_size": 8}',
        ),
        (None, '{"rank_table_file": "r.json", "image": "trainer", "replicas": 8}'),
    ],
)
def test_keys_of_one_kind(kind, text):
    """A key that only one kind of file has is a mark; what another program calls so is not."""
    reading = read_if_ours("settings.json", content=text.encode())
    assert (reading and reading.kind) == kind


def test_marks_are_in_lower_case():
    """They are searched for in the lower case of a file, so that its case makes no difference."""
    assert [mark.lower() for mark in MARKS] == list(MARKS)
    reading = read_if_ours("fusion.json", content=b'{"Switch": {"GraphFusion": {"ALL": "on"}}}')
    assert reading is not None
    assert reading.kind == "fusion_switch"
