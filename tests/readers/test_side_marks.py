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


def test_marks_are_in_lower_case():
    """They are searched for in the lower case of a file, so that its case makes no difference."""
    assert [mark.lower() for mark in MARKS] == list(MARKS)
    reading = read_if_ours("fusion.json", content=b'{"Switch": {"GraphFusion": {"ALL": "on"}}}')
    assert reading is not None
    assert reading.kind == "fusion_switch"
