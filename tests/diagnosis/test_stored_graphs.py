"""The stored graphs, read without TensorFlow, in every form they may come in."""

from pathlib import Path

import attr
import pytest
from google.protobuf import text_format

from npu_config import NpuConfig, NpuConfigError
from npu_config.diagnosis.graph import diagnose, float16_nodes
from npu_config.proto.schema import graph_message

GRAPHS = sorted((Path(__file__).parents[1] / "data" / "graphs").glob("*.pbtxt"))
INNOCENT = ("_ok_", "_only_", "_v2_", "_static", "_in_model_")


def expected_case(path):
    """What the name of a stored graph says: its case, or None."""
    name = "{}_".format(path.stem)
    if any(mark in name for mark in INNOCENT) and "static_hashtable" not in name:
        return None
    return int(name[len("case")])


def message(path):
    """A stored graph as a GraphDef of the stub."""
    return text_format.Parse(path.read_text(), graph_message("GraphDef")())


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_every_graph_is_what_its_name_says(path):
    """One finding of the case in the name, or, for the look-alikes, none at all."""
    diagnosis = diagnose(path)
    case = expected_case(path)
    assert [finding.case for finding in diagnosis.findings] == ([] if case is None else [case])
    for diagnostic in diagnosis:
        assert diagnostic.path == str(path)
        assert diagnostic.severity.value in ("warning", "error")
        assert diagnostic.help


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_text_binary_and_meta_graph_say_the_same(path, tmp_path):
    """The form of the file does not matter, nor does its suffix."""
    graph_def = message(path)
    meta = graph_message("MetaGraphDef")()
    meta.graph_def.CopyFrom(graph_def)
    other = b"\x0a\x08\x2a\x061.15.5\x22\x12\x0a\x09variables\x12\x05\x12\x03\x0a\x01v"
    data = other + meta.SerializeToString()
    text = 'meta_info_def { tensorflow_version: "1.15.5" }\ncollection_def {\n  key: "variables"\n'
    text += '  value { bytes_list { value: "v" } }\n}\n' + text_format.MessageToString(meta)
    saved_model = b"\x08\x01\x12" + varint(len(data)) + data
    (tmp_path / "graph.pb").write_bytes(graph_def.SerializeToString())
    (tmp_path / "model.ckpt-7.meta").write_bytes(data)
    (tmp_path / "meta.pbtxt").write_text(text)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(saved_model)
    expected = facts(diagnose(graph_def))
    for source in (
        str(tmp_path / "graph.pb"),
        tmp_path / "model.ckpt-7.meta",
        tmp_path / "model.ckpt-7",
        tmp_path / "meta.pbtxt",
        tmp_path / "saved",
        meta,
    ):
        assert facts(diagnose(source)) == expected


def facts(diagnosis):
    """Findings without their place."""
    return [(f.case, f.nodes, f.diagnostic.message, f.change) for f in diagnosis.findings]


def varint(number):
    """The wire form of a length."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def stored(name):
    """The path of a stored graph."""
    return next(path for path in GRAPHS if path.stem == name)


def test_nodes_place_and_change_of_case_1():
    """The table, the dataset node and the look-up are named; the fix can be applied."""
    diagnosis = diagnose(stored("case1_contrib_hashtable_map"))
    (finding,) = diagnosis.case(1)
    assert finding.nodes == ("hash_table", "MapDataset", "hash_table_Lookup/LookupTableFindV2")
    assert (
        'name: "hash_table"'
        in stored("case1_contrib_hashtable_map")
        .read_text()
        .splitlines()[finding.diagnostic.line - 1]
    )
    config = diagnosis.apply(NpuConfig.from_dict({"enable_data_pre_proc": True}))
    assert config["mix_compile_mode"] is True
    assert not diagnose(stored("case1_contrib_hashtable_map"), config)


def test_conflicts_of_mixed_computing_are_named():
    """Iteration offload and dynamic profiles exclude mixed computing."""
    path = stored("case1_contrib_hashtable_map")
    config = {"iterations_per_loop": 10, "input_shape": "a:-1", "dynamic_dims": "1;2"}
    diagnosis = diagnose(path, config)
    (finding,) = diagnosis.case(1)
    assert "iterations_per_loop is 10, but mixed computing requires 1" in diagnosis.conflicts
    assert any("dynamic_dims" in text for text in finding.change.conflicts)
    assert all(text in finding.diagnostic.help for text in finding.change.conflicts)
    offloaded = NpuConfig.from_dict({"iterations_per_loop": 10, "enable_data_pre_proc": True})
    with pytest.raises(NpuConfigError):
        diagnose(path, offloaded).apply(offloaded)


def test_batch_normalization_conflicts_with_mixed_computing():
    """The fifth output of a training FusedBatchNormV3 is unsupported there."""
    graph_def = message(stored("case1_contrib_hashtable_map"))
    graph_def.node.add(name="bn", op="FusedBatchNormV3").attr["is_training"].b = True
    (finding,) = diagnose(graph_def).case(1)
    assert any('"bn"' in text for text in finding.change.conflicts)
    graph_def.node[-1].attr["is_training"].b = False
    (finding,) = diagnose(graph_def).case(1)
    assert finding.change.conflicts == ()


def test_two_ways_of_case_3_and_their_limits():
    """The script's way and the environment's; reference variables leave only the first."""
    (finding,) = diagnose(stored("case3_while_v1_dynamic")).case(3)
    assert finding.change.environment == {"ENABLE_FORCE_V2_CONTROL": "1"}
    assert "tf.enable_control_flow_v2()" in finding.change.script
    assert "cannot convert reference variables" in finding.diagnostic.help
    (finding,) = diagnose(stored("case3_ref_switch")).case(3)
    assert finding.change.environment == {}
    graph_def = message(stored("case3_ref_switch"))
    for node in graph_def.node:
        if node.name == "cond/Assign/value":
            node.op = "Placeholder"
            del node.attr["_output_shapes"]
            node.attr["shape"].shape.dim.add(size=-1)
    (finding,) = diagnose(graph_def).case(3)
    assert finding.diagnostic.rule == "NPU482"
    assert finding.change.environment == {}
    assert "cannot convert the reference control flow" in finding.diagnostic.help


def test_lowering_is_a_conflict_and_a_finding_of_its_own():
    """lower_functional_ops undoes control flow v2."""
    config = {"lower_functional_ops": True}
    (finding,) = diagnose(stored("case3_v2_dynamic"), config).findings
    assert (finding.case, finding.diagnostic.rule) == (3, "NPU484")
    assert finding.change.options == {"lower_functional_ops": False}
    (finding,) = diagnose(stored("case3_while_v1_dynamic"), config).findings
    assert "lower_functional_ops" in finding.change.conflicts[0]
    assert not diagnose(stored("case3_v2_dynamic"), {"lower_functional_ops": False})


def test_a_float16_sum_is_information():
    """Case 4 from the type of the operation; on the host it does not count."""
    graph_def = graph_message("GraphDef")()
    node = graph_def.node.add(name="s", op="Sum")
    node.attr["T"].type = 19
    (finding,) = diagnose(graph_def).findings
    assert (finding.case, finding.diagnostic.severity.value) == (4, "info")
    assert float16_nodes(graph_def) == {"s"}
    node.attr["T"].type = 1
    assert not diagnose(graph_def)


def test_a_wrong_configuration_type():
    """What is no configuration is refused by name."""
    with pytest.raises(TypeError, match="not list"):
        diagnose(stored("case3_v2_dynamic"), ["mix_compile_mode"])
    with pytest.raises(TypeError, match="not from int"):
        diagnose(3)


def test_a_config_proto_is_a_configuration():
    """The options of the NpuOptimizer entry count."""
    proto = NpuConfig.from_dict({"mix_compile_mode": True}).to_config_proto()
    assert not diagnose(stored("case1_contrib_hashtable_map"), proto)


def test_findings_are_values():
    """Findings compare and copy as frozen values do."""
    first = diagnose(stored("case3_while_v1_dynamic")).findings
    assert first == diagnose(stored("case3_while_v1_dynamic")).findings
    with pytest.raises(attr.exceptions.FrozenInstanceError):
        first[0].case = 1


def loss_scaled(order=False, grouped=True, count=2):
    """A graph in which ``count`` optimizers read the overflow flag of the device."""
    graph_def = graph_message("GraphDef")()
    for index in range(count):
        graph_def.node.add(name="grad{}".format(index), op="Mul")
        status = graph_def.node.add(name="status{}".format(index), op="NpuGetFloatStatusV2")
        status.input.append("^grad{}".format(index))
        if order and index:
            graph_def.node[-2].input.append("^clear{}".format(index - 1))
        finite = graph_def.node.add(name="finite{}".format(index), op="Equal")
        finite.input.append(status.name)
        clear = graph_def.node.add(name="clear{}".format(index), op="NpuClearFloatStatusV2")
        clear.input.append("^" + status.name)
        for kind in ("w", "b"):
            apply = graph_def.node.add(
                name="apply_{}{}".format(kind, index), op="ResourceApplyGradientDescent"
            )
            apply.input.extend([finite.name, "^" + clear.name])
    if grouped:
        group = graph_def.node.add(name="train", op="NoOp")
        group.input.extend(
            "^apply_{}{}".format(kind, index) for index in range(count) for kind in "wb"
        )
    return graph_def


def test_two_optimizers_in_one_run_share_the_overflow_flag():
    """Grouped and in no order they take each other's overflow."""
    (finding,) = diagnose(loss_scaled()).findings
    assert (finding.diagnostic.rule, finding.nodes) == ("NPU490", ("status0", "status1"))


@pytest.mark.parametrize(
    "arguments",
    [{"count": 1}, {"order": True}, {"grouped": False}],
    ids=["one", "ordered", "separate-runs"],
)
def test_innocent_uses_of_the_overflow_flag(arguments):
    """One optimizer, an order between two, or two that run on their own."""
    assert not diagnose(loss_scaled(**arguments))


@pytest.mark.parametrize("counts", [True, False], ids=["counted", "initialised"])
def test_a_step_that_is_set_beside_a_loss_scale_optimizer(counts):
    """An assignment of what is made from the step counts it; one of a constant begins with it."""
    graph_def = loss_scaled(1)
    for name, op, *inputs in (
        ("gradients/Mul", "Mul"),
        ("global_step", "VariableV2"),
        ("zero", "Const"),
        ("global_step/Assign", "Assign", "global_step", "zero"),
        ("sum", "AddV2", "global_step", "zero"),
        *([("set", "Assign", "global_step", "sum")] if counts else []),
    ):
        graph_def.node.add(name=name, op=op).input.extend(inputs)
    found = [(each.diagnostic.rule, each.nodes) for each in diagnose(graph_def).findings]
    assert found == ([("NPU2005", ("set",))] if counts else [])


def test_a_function_that_passes_state_to_a_dataset():
    """A table that reaches the pipeline as the argument of a function is found."""
    text = """
    node { name: "table" op: "HashTableV2" }
    node { name: "v" op: "VarHandleOp" }
    node { name: "call" op: "PartitionedCall" input: "v" input: "table"
      attr { key: "f" value { func { name: "make" } } } }
    library { function {
      signature { name: "make" input_arg { name: "a" } input_arg { name: "b" } }
      node_def { name: "ds" op: "RangeDataset" }
      node_def { name: "map" op: "MapDataset" input: "ds:handle:0" input: "b"
        attr { key: "f" value { func { name: "look" } } } }
      node_def { name: "read" op: "ReadVariableOp" input: "a" }
    } function {
      signature { name: "look" input_arg { name: "x" } input_arg { name: "t" } }
      node_def { name: "find" op: "LookupTableFindV2" input: "t" input: "x" input: "x" }
    } }
    """
    graph_def = text_format.Parse(text, graph_message("GraphDef")())
    (finding,) = diagnose(graph_def).findings
    assert (finding.case, finding.nodes) == (1, ("table", "map", "find"))


def test_control_flow_inside_a_function_of_the_model():
    """v1 control flow that a function hides is found; in a dataset's function it is not."""
    text = """
    node {{ name: "x" op: "Placeholder"
      attr {{ key: "shape" value {{ shape {{ dim {{ size: -1 }} }} }} }} }}
    node {{ name: "call" op: "{op}" input: "x"
      attr {{ key: "f" value {{ func {{ name: "f" }} }} }} }}
    node {{ name: "after" op: "Identity" input: "call" }}
    library {{ function {{
      signature {{ name: "f" input_arg {{ name: "a" }} }}
      node_def {{ name: "s" op: "Switch" input: "a" input: "a" }}
      node_def {{ name: "m" op: "Merge" input: "s:output_true:0" input: "s:output_false:0" }}
    }} }}
    """
    read = graph_message("GraphDef")
    (finding,) = diagnose(text_format.Parse(text.format(op="PartitionedCall"), read())).findings
    assert (finding.case, finding.diagnostic.rule) == (3, "NPU482")
    assert 'in the function of "call"' in finding.diagnostic.message
    assert not diagnose(text_format.Parse(text.format(op="MapDataset"), read()))
