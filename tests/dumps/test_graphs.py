"""Graphs of the engine: which file is taken, what is kept of an operator, what it stands for."""

import json

import pytest

from npu_config import NpuConfigError
from npu_config.dumps import read_ge_graph
from npu_config.dumps.graph import GeGraph, GeOp, GeOutput, graph_file


@pytest.fixture
def read(tmp_path):
    """Reads a graph of one operator ``a``, given the rest of it."""

    def call(op, name="a"):
        path = tmp_path / "ge_proto_00001_Build.txt"
        path.write_text('graph {{ name: "net" op {{ name: "a" type: "T" {} }} }}'.format(op))
        return read_ge_graph(path).find(name)

    return call


def attribute(name, kind, value):
    """An attribute as a graph has it."""
    return 'attr {{ key: "{}" value {{ {}: {} }} }} '.format(name, kind, value)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("", {}),
        ("id: 7", {"id": 7}),
        ("stream_id: 3", {"stream": 3}),
        ('input: "b:1"', {"inputs": (("b", 1),)}),
        ('input: "b:0" input: "c:-1" input: "d:2"', {"inputs": (("b", 0), ("d", 2))}),
        ('input: "" input: "b:0"', {"inputs": (("b", 0),)}),
        ('input: "b" input: "c:x"', {"inputs": (None, None)}),
        ('input: "b:9999999999"', {"inputs": (("b", 9999999999),)}),
        ('input: "b:99999999999"', {"inputs": (None,)}),
        ('input: "b:c:1"', {"inputs": (("b:c", 1),)}),
        (attribute("pass_name", "list", '{ s: "P" s: "Q" s: "" }'), {"passes": ("P", "Q")}),
        (attribute("_datadump_original_op_names", "list", '{ s: "p" }'),
         {"original_names": ("p",)}),
        (attribute("_datadump_original_op_names", "list", "{ }"), {"original_names": ()}),
        (attribute("_datadump_is_multiop", "b", "true"), {"is_inner": True}),
        (attribute("_datadump_is_multiop", "b", "false"), {}),
        (attribute("_no_task", "b", "true"), {"has_task": False}),
        (attribute("_no_task", "b", "false"), {}),
        ('output_desc { layout: "ND" }', {"outputs": (GeOutput("ND", None, None, None),)}),
        (
            'output_desc {{ layout: "NC1HWC0" {}{}{} }}'.format(
                attribute("origin_format", "s", '"NHWC"'),
                attribute("_datadump_origin_name", "s", '"p/q"'),
                attribute("_datadump_origin_output_index", "i", "2"),
            ),
            {"outputs": (GeOutput("NC1HWC0", "NHWC", "p/q", 2),)},
        ),
        (
            "output_desc {{ {}{}{} }}".format(
                attribute("origin_format", "s", '"NHWC"'),
                attribute("_datadump_origin_format", "s", '"NCHW"'),
                attribute("_datadump_origin_output_index", "i", "-1"),
            ),
            {"outputs": (GeOutput("", "NCHW", None, None),)},
        ),
    ],
)  # fmt: skip
def test_operators(read, op, expected):
    """Each part of an operator, and what holds where the graph does not say."""
    fields = {"id": 0, "stream": 0, "inputs": (), "outputs": (), "original_names": None}
    assert GeOp("a", "T", **{**fields, **expected}) == read(op)


def said(name=None, index=None):
    """What a graph says of an output."""
    return (GeOutput("ND", None, name, index),)


@pytest.mark.parametrize(
    ("ops", "asked", "expected"),
    [
        ([], ("a", 0), None),
        ([("a", "Add", (), (), None)], ("a", 2), ("a", 2)),
        ([("a", "Add", (), (), ("p",))], ("a", 2), ("p", 2)),
        ([("a", "Add", (), (), ("p", "q"))], ("a", 0), None),
        ([("a", "Add", (), (), ())], ("a", 0), None),
        ([("a", "Add", (), said("p"), None)], ("a", 2), ("p", 2)),
        ([("a", "Add", (), said("p", 1), ("x", "y"))], ("a", 2), ("p", 1)),
        ([("a", "Add", (), said("p", 1) + said("q", 3), None)], ("a", 1), ("q", 3)),
        ([("a", "Add", (), said("p", 1) + said("q", 3), None)], ("a", 2), ("p", 1)),
        ([("a", "Cast", (("b", 1),), (), ()), ("b", "Add", (), (), ("p",))], ("a", 0), ("p", 1)),
        ([("a", "TransData", (("b", 1),), (), ("x",)), ("b", "Add", (), (), None)], ("a", 0),
         ("b", 1)),
        ([("a", "Cast", (("b", 0),), said("p"), ()), ("b", "Add", (), (), None)], ("a", 0),
         ("p", 0)),
        ([("a", "Cast", (None,), (), ("p",))], ("a", 0), ("p", 0)),
        ([("a", "Cast", (), (), None)], ("a", 0), ("a", 0)),
        ([("a", "Relu", (("b", 1),), (), ()), ("b", "Add", (), (), None)], ("a", 0), None),
        ([("a", "Cast", (("b", 0),), (), ())], ("a", 0), None),
        ([("a", "Cast", (("a", 0),), (), ())], ("a", 0), None),
    ],
)  # fmt: skip
def test_what_an_output_stands_for(ops, asked, expected):
    """What the output says, then its operator's names; conversions stand for their input."""
    made = [
        GeOp(name, kind, number, 0, inputs, outputs, names)
        for number, (name, kind, inputs, outputs, names) in enumerate(ops)
    ]
    assert expected == GeGraph("net", made).origin(*asked)


def test_the_order_of_operators():
    """By id; of one name the first counts."""
    ops = [GeOp(name, kind, id, 0, (), (), None) for name, kind, id in
           (("b", "B", 2), ("a", "A2", 3), ("a", "A1", 1))]  # fmt: skip
    graph = GeGraph("net", ops)
    assert [op.id for op in graph] == [1, 2, 3]
    assert (graph.find("a").type, graph.find("c")) == ("A1", None)


@pytest.mark.parametrize(
    ("names", "model", "taken"),
    [
        ("1_Build.txt 2_Build.txt 10_Build.txt", None, "10_Build.txt"),
        ("1_Build.txt 2_PreRunAfterBuild.txt", None, "1_Build.txt"),
        ("1_graph_3_Build.txt 1_x.txt", None, "1_graph_3_Build.txt"),
        ("1_Build.json 1_Build.txt", None, "1_Build.txt"),
        ("2_Build.json 1_Build.txt", None, "2_Build.json"),
        ("1_Build.txt:p 2_Build.txt:q", "p", "1_Build.txt"),
        ("1_Build.txt:p 2_Build.txt:q", "q", "2_Build.txt"),
        ("1_Build.txt:p 2_Build.txt:q", "r", "2_Build.txt"),
        ("1_Build.txt:p/x 2_Build.txt:q", "p_x", "1_Build.txt"),
        ("1_Build.json:p 2_Build.txt:q", "p", "1_Build.json"),
        ("1_Build.txt:p 2_Build.txt:p", "p", "2_Build.txt"),
        ("1_Build.txt:p 2_Build.txt/", "p", "1_Build.txt"),
        ("1_Build.txt:q 2_Build.txt/", "p", "2_Build.txt"),
    ],
)
def test_which_file_of_a_folder(tmp_path, names, model, taken):
    """The last of the stage Build, of the model where one has its name; text before JSON.

    One that cannot be read, such as a folder, has the name of no model.
    """
    for each in names.split():
        if each.endswith("/"):
            (tmp_path / ("ge_proto_" + each)).mkdir()
            continue
        name, _, graph = each.partition(":")
        text = (
            '{{"graph": [{{"name": "{}"}}]}}'
            if name.endswith("json")
            else 'graph {{ name: "{}" }}'
        )
        (tmp_path / ("ge_proto_" + name)).write_text(text.format(graph))
    assert graph_file(tmp_path, model) == str(tmp_path / ("ge_proto_" + taken))
    path = tmp_path / "anything.txt"
    assert graph_file(path, model) == str(path)


def test_a_name_far_behind(tmp_path):
    """The name of a graph is looked for at its beginning."""
    for number, blanks in ((1, 4000), (2, 5000)):
        text = '{}graph {{ name: "p{}" }}'.format(" " * blanks, number)
        (tmp_path / "ge_proto_{}_Build.txt".format(number)).write_text(text)
    (tmp_path / "ge_proto_3_Build.txt").write_text("graph { }")
    taken = [graph_file(tmp_path, model)[-11:] for model in ("p1", "p2")]
    assert taken == ["1_Build.txt", "3_Build.txt"]


@pytest.mark.parametrize(
    "text", ["", "graph { }", "{", "[]", "{}", '{"graph": 3}', '{"graph": [{"op": []}]}', "op { }"]
)
def test_no_graph(tmp_path, text):
    """A file without an operator is refused, and so is a folder without a file."""
    path = tmp_path / "ge_proto_1_Build.txt"
    path.write_text(text)
    with pytest.raises(NpuConfigError):
        read_ge_graph(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NpuConfigError, match=r"ge_proto_\*_Build\.txt"):
        read_ge_graph(tmp_path / "empty")


def test_json(tmp_path):
    """The same in JSON, where a list of one may be the item itself."""
    op = {"name": "a", "type": "T", "id": "4", "input": ["b:0"],
          "attr": [{"key": "_no_task", "value": {"b": True}}]}  # fmt: skip
    path = tmp_path / "g.json"
    for ops in ([op], op):
        path.write_text(json.dumps({"graph": {"name": "net", "op": ops}}))
        graph = read_ge_graph(path)
        found = graph.find("a")
        assert (graph.name, found.id, found.inputs, found.has_task) == (
            "net", 4, (("b", 0),), False
        )  # fmt: skip
