"""Side files that a directory holds are found by what is in them."""

import pytest

from npu_config.readers import read_if_ours
from npu_config.sidefiles.op_precision import MODES


@pytest.mark.parametrize("mode", [*MODES, "enable_hi_float_32_execution", "norm_class"])
def test_op_precision_without_headers(mode):
    """Every mode is a mark: the headers are optional, and lines before any are types."""
    reading = read_if_ours("ops.ini", content="Conv2D={}\n".format(mode).encode())
    assert reading is not None
    assert reading.kind == "op_precision"
