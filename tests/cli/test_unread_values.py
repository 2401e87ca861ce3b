"""A wrong value of an option that nothing reads: the same warning at every door."""

import json

import pytest

from npu_config.catalogue import OPTIONS

WRONG = {
    "dump_mode": "ALL",
    "dump_step": "20-10",
    "dump_path": "",
    "dump_debug_mode": "ALL",
    "dynamic_graph_execute_mode": "lazy",
    "dynamic_inputs_shape_range": "image:[1]",
    "work_path": "",
    "distribute_config": "",
}
"""A wrong value for each option that is read under a switch; profiling_options is any text."""

SWITCHED_ON = {
    "enable_dump": True,
    "enable_dump_debug": True,
    "dynamic_input": True,
    "aoe_mode": "2",
}

PBTXT = """\
graph_options {{ rewrite_options {{ custom_optimizers {{
  name: "NpuOptimizer"
  {}
}} }} }}
"""
SCRIPT = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
{}
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
with tf.Session(config=config) as sess:
    sess.run(tf.constant(1))
"""


def field(value):
    """The field of AttrValue."""
    return "b" if isinstance(value, bool) else "s"


def files(options):
    """A configuration in each form: the name of a file to its text."""
    return {
        "npu.yaml": "version: 1\n"
        + "".join("{}: {}\n".format(name, json.dumps(value)) for name, value in options.items()),
        "npu.toml": "version = 1\n"
        + "".join("{} = {}\n".format(name, json.dumps(value)) for name, value in options.items()),
        "npu.json": json.dumps({"version": 1, **options}),
        "npu.pbtxt": PBTXT.format(
            "\n  ".join(
                'parameter_map {{ key: "{}" value {{ {}: {} }} }}'.format(
                    name, field(value), json.dumps(value)
                )
                for name, value in options.items()
            )
        ),
        "train.py": SCRIPT.format(
            "\n".join(
                'custom_op.parameter_map["{}"].{} = {}'.format(
                    name,
                    field(value),
                    value if isinstance(value, bool) else "tf.compat.as_bytes({!r})".format(value),
                )
                for name, value in options.items()
            )
        ),
        "build.py": "import npu_config as npu\n\nconfig = npu.NpuConfigBuilder().set({}).build()\n"
        "config.to_config_proto()\n".format(
            ", ".join("{}={!r}".format(name, value) for name, value in options.items())
        ),
    }


def found_at_every_door(npu, tmp_path, options, name):
    """Rule, severity and consequence of what is said about an option, by the file it is in."""
    said = {}
    for file, text in files(options).items():
        path = tmp_path / file
        path.write_text(text)
        findings = json.loads(npu("check", path, "--format", "json").out)["diagnostics"]
        said[file] = [
            (each["rule"], each["severity"], each["consequence"])
            for each in findings
            if each["option"] == name
        ]
    return said


def test_every_option_that_is_read_under_a_switch_is_here():
    """Of the options that are looked at under a switch only a JSON text has no wrong values."""
    assert set(WRONG) | {"profiling_options"} == {n for n, o in OPTIONS.items() if o.read_when}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_unread(npu, tmp_path, name):
    """Without its switch a wrong value is one warning, which says that it is not read."""
    said = found_at_every_door(npu, tmp_path, {name: WRONG[name]}, name)
    switches = OPTIONS[name].read_when
    (finding,) = said["npu.yaml"]
    assert said == {file: [finding] for file in said}
    assert finding[0] in ("NPU104", "NPU106")
    assert finding[1] == "warning"
    assert finding[2] == "the option is ignored while {} off".format(
        " and ".join('"{}"'.format(switch) for switch in switches)
        + (" is" if len(switches) == 1 else " are")
    )


@pytest.mark.parametrize("name", sorted(WRONG))
def test_read(npu, tmp_path, name):
    """With its switch it is an error everywhere, and the runtime's answer is said."""
    switch = OPTIONS[name].read_when[0]
    options = {switch: SWITCHED_ON[switch], name: WRONG[name]}
    said = found_at_every_door(npu, tmp_path, options, name)
    assert {(file, rule, severity) for file, all_ in said.items() for rule, severity, _ in all_
            if rule in ("NPU104", "NPU106")} == {
        (file, said["npu.yaml"][0][0], "error") for file in said
    }  # fmt: skip
    assert not any("it is ignored" in (end or "") for all_ in said.values() for *_, end in all_)


def test_a_value_of_another_product_that_nothing_reads(npu, tmp_path):
    """A legal value of another product is said to have no effect, and nothing else."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\ndump_debug_mode: aicore_overflow\n")
    result = npu("check", path, "--target", "atlas_a2", "--format", "json")
    assert [(d["rule"], d["severity"]) for d in json.loads(result.out)["diagnostics"]] == [
        ("NPU304", "warning")
    ]


def test_what_cannot_be_written_is_refused(npu, tmp_path):
    """A list that stands for text has no text when it is wrong: an error, read or not."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\ndump_step: [0, [5, 2]]\n")
    (found,) = json.loads(npu("check", path, "--format", "json").out)["diagnostics"]
    assert (found["rule"], found["severity"]) == ("NPU106", "error")
