"""A value that stands in another field than that of its option."""

import pytest

import npu_config as npu

PROTO = """\
graph_options {{ rewrite_options {{ custom_optimizers {{
name: "NpuOptimizer"
parameter_map {{ key: "{}" value {{ {} }} }}
}} }} }}
"""


def misplaced(folder, option, value):
    """The finding about a value in another field."""
    path = folder / "config.pbtxt"
    path.write_text(PROTO.format(option, value))
    (found,) = [each for each in npu.check(str(path)) if each.rule == "NPU102"]
    return found


@pytest.mark.parametrize(
    ("text", "meant"), [("true", True), ("1", True), ("False", False), ("0", False)]
)
def test_the_text_of_a_switch(tmp_path, text, meant):
    """The help and the fix put what the text means into the field of the switch."""
    found = misplaced(tmp_path, "enable_data_pre_proc", 's: "{}"'.format(text))
    assert found.help == 'write parameter_map["enable_data_pre_proc"].b = {}'.format(meant)
    assert [each.text for each in found.fix.edits] == ["b: " + str(meant).lower()]


@pytest.mark.parametrize(
    ("option", "given", "fix"),
    [
        ("jit_compile", "b: true", 's: "true"'),
        ("dump_step", "i: 3", 's: "3"'),
        ("hccl_timeout", 's: "1836"', "i: 1836"),
        ("graph_run_mode", "b: true", "i: 1"),
    ],
)
def test_a_value_of_another_type(tmp_path, option, given, fix):
    """The fix keeps the value, written as the field of the option has it."""
    assert [each.text for each in misplaced(tmp_path, option, given).fix.edits] == [fix]


@pytest.mark.parametrize(
    ("option", "given"),
    [("hccl_timeout", "b: true"), ("dump_data", "i: 1"), ("debug_dir", "i: 1")],
)
def test_a_value_that_means_nothing_there(tmp_path, option, given):
    """No fix makes a value up: the user is told the field to write."""
    found = misplaced(tmp_path, option, given)
    assert found.fix is None
    assert 'write parameter_map["{}"].'.format(option) in found.help
    assert "..." in found.help
