"""A value that stands in another field than that of its option."""

import pytest

import npu_config as npu

PROTO = """\
graph_options {{ rewrite_options {{ custom_optimizers {{
name: "NpuOptimizer"
parameter_map {{ key: "enable_data_pre_proc" value {{ s: "{}" }} }}
}} }} }}
"""


@pytest.mark.parametrize(
    ("text", "meant"), [("true", True), ("1", True), ("False", False), ("0", False)]
)
def test_the_text_of_a_switch(tmp_path, text, meant):
    """The help and the fix put what the text means into the field of the switch."""
    path = tmp_path / "config.pbtxt"
    path.write_text(PROTO.format(text))
    (found,) = [each for each in npu.check(str(path)) if each.rule == "NPU102"]
    assert found.help == 'write parameter_map["enable_data_pre_proc"].b = {}'.format(meant)
    assert [each.text for each in found.fix.edits] == ["b: " + str(meant).lower()]
