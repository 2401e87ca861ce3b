"""NaN, infinities and limits found over a tree, and overflows by run, step and operator."""

import itertools
import json
import random
import re

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config.dumps import scan_dumps
from npu_config.dumps.overflow import CAME_IN, HERE, UNKNOWN
from npu_config.dumps.scan import ScannedTensor, _order, _origin
from npu_config.dumps.statistics import Statistics
from npu_config.dumps.tree import Folder, select
from tests.cli.conftest import npu

__all__ = ["npu"]
HEAD = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count\n"
)
GRAPH = """
graph { name: "net"
  op { name: "a" type: "MatMul" id: 1 input: "" }
  op { name: "b" type: "Exp" id: 2 input: "a:0" }
  op { name: "c" type: "Add" id: 3 input: "b:0" }
}
"""
KINDS = {
    "DT_FLOAT16": (2, "<u2", 0x7BFF, 0x7C00, 0xFC00, 0x7E01),
    "DT_FLOAT": (1, "<u4", 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0xFFC00001),
    "DT_DOUBLE": (12, "<u8", 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48),
    "DT_BF16": (27, "<u2", 0x7F7F, 0x7F80, 0xFF80, 0x7FC1),
    "DT_FLOAT8_E5M2": (34, "|u1", 0x7B, 0x7C, 0xFC, 0x7E),
    "DT_FLOAT8_E4M3FN": (35, "|u1", 0x7E, None, None, 0xFF),
    "DT_HIFLOAT8": (33, "|u1", 0x6E, 0x6F, 0xEF, 0x80),
}
"""Type to its code, how it is stored, and the bits of its limit, infinities and NaN."""


def scan(npu, *call):
    """The exit code of a scan, and its JSON."""
    result = npu("dump", "scan", *call, "--format", "json")
    return result.code, json.loads(result.out)


def output(values):
    """The output of an operator."""
    return [w.array("output", numpy.array(values, "f4"))]


def test_complex_numbers(tmp_path, npu):
    """NaN in complex numbers is found, and ordinary ones are clean."""
    values = numpy.full(5, 1 + 2j, "c8")
    folder = w.step_folder(tmp_path)
    w.operator(folder, "clean", [w.tensor("output", values.tobytes(), (5,), 16)])
    values[3] = complex(0, numpy.nan)
    w.operator(folder, "odd", [w.tensor("output", values.tobytes(), (5,), 16)])
    code, found = scan(npu, tmp_path)
    assert (code, [each["op_name"] for each in found["tensors"]]) == (1, ["odd"])


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("place", [0, 40_000, 600_000])
def test_every_float_type(tmp_path, name, place):
    """One odd value anywhere in a tensor is found, of each kind; ordinary values are clean."""
    code, storage, limit, *odd = KINDS[name]
    values = numpy.full(600_001, 0x11, storage)
    folder = w.step_folder(tmp_path)
    w.operator(folder, "clean", [w.tensor("output", values.tobytes(), values.shape, code)])
    expected = {}
    for number, bits in enumerate([limit, *odd]):
        if bits is not None:
            values[place] = bits
            label = ["limit", "inf", "inf", "nan"][number]
            label += str(number)
            w.operator(folder, label, [w.tensor("output", values.tobytes(), values.shape, code)])
            expected[label] = tuple(label[:3] == kind for kind in ("nan", "inf", "lim"))
    found = scan_dumps(tmp_path)
    values = {each.op_name: each.statistics for each in found.tensors}
    counts = {key: (each.nan, each.infinite, each.at_limit) for key, each in values.items()}
    assert expected == counts
    assert {each.odd_positions for each in values.values()} == {(place,)}
    assert found.looked_at == len(expected) + 1


def test_integers_hold_nothing_odd(npu, tmp_path):
    """The largest integer is an integer; a type whose storage nobody documents is none either."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "i", [w.array("output", numpy.array([2**31 - 1, -(2**31)], "i4"))])
    w.operator(folder, "four", [w.tensor("output", b"\x77" * 4, (8,), code=28)])
    code, found = scan(npu, tmp_path)
    assert (code, found["looked_at"], found["not_looked_at"]) == (0, 2, [])
    w.operator(folder, "six", [w.tensor("output", b"\x77" * 6, (8,), code=37)])
    _, found = scan(npu, tmp_path)
    assert [each["tensor"] for each in found["not_looked_at"]] == ["six:output:0"]


def test_a_producer_that_the_graph_does_not_have(npu, tmp_path):
    """An input from an operator of another graph tells nothing of where NaN came from."""
    folder = w.step_folder(tmp_path / "dump")
    w.operator(folder, "b", output([numpy.nan]))
    (tmp_path / "graph.txt").write_text(GRAPH.replace('input: "a:0"', 'input: "gone:0"'))
    _, found = scan(npu, tmp_path / "dump", "--graph", tmp_path / "graph.txt")
    assert [each["origin"] for each in found["tensors"]] == ["origin not known"]


def test_an_operator_that_the_graph_does_not_have(npu, tmp_path):
    """Where its NaN came from is not known unless its own inputs say it."""
    folder = w.step_folder(tmp_path / "dump")
    w.operator(folder, "a", output([1]))
    for name, value in (("x", 1), ("y", numpy.inf)):
        first = w.array("input", numpy.array([value], "f4"))
        w.operator(folder, name, [first, *output([numpy.nan])])
    w.operator(folder, "z", output([numpy.nan]))
    (tmp_path / "graph.txt").write_text(GRAPH)
    _, found = scan(npu, tmp_path / "dump", "--graph", tmp_path / "graph.txt")
    outputs = [each for each in found["tensors"] if each["side"] == "output"]
    assert {each["op_name"]: each["origin"] for each in outputs} == {
        "x": "computed here",
        "y": "came in",
        "z": "origin not known",
    }


@pytest.mark.parametrize(
    ("given", "made", "origin"),
    [
        ("none", 1, "computed here"),
        ("none", numpy.inf, "came in"),
        ("clean", 1, "computed here"),
        ("clean", numpy.inf, "computed here"),
        ("odd", 1, "came in"),
        ("odd", numpy.inf, "came in"),
        ("unread", 1, "computed here"),
        ("unread", numpy.inf, "came in"),
    ],
)
def test_inputs_say_more_than_producers(tmp_path, given, made, origin):
    """The graph is asked only where the inputs that were dumped do not say it."""
    folder = w.step_folder(tmp_path / "dump")
    inputs = {
        "none": [],
        "clean": [w.array("input", numpy.array([1], "f4"))],
        "odd": [w.array("input", numpy.array([numpy.nan], "f4"))],
        "unread": [w.tensor("input", b"\x77" * 6, (8,), code=37)],
    }
    w.operator(folder, "a", output([made]))
    w.operator(folder, "b", [*inputs[given], *output([numpy.nan])])
    (tmp_path / "graph.txt").write_text(GRAPH)
    found = scan_dumps(tmp_path / "dump", graph=str(tmp_path / "graph.txt"))
    origins = {(each.op_name, each.side): each.origin for each in found.tensors}
    assert origins["b", "output"] == origin
    assert origins.get(("b", "input"), "origin not known") == "origin not known"


ORIGINS = {
    "clean": "computed here",
    "odd": "came in",
    "gone": "origin not known",
    "not_dumped": "origin not known",
    "const": "origin not known",
    "clean clean2": "computed here",
    "clean odd": "came in",
    "odd clean": "came in",
    "clean const": "computed here",
    "const clean": "computed here",
    "odd const": "came in",
    "clean not_dumped": "origin not known",
    "not_dumped clean": "origin not known",
    "clean gone": "origin not known",
    "odd gone": "came in",
    "": "origin not known",
}
"""The producers of an operator, and where its NaN comes from by what was dumped of them."""


@pytest.mark.parametrize("producers", sorted(ORIGINS))
def test_where_it_comes_from(tmp_path, producers):
    """Here when every producer is clean, from before when one is not; constants do not count."""
    folder = w.step_folder(tmp_path / "dump")
    for name, value in (("clean", 1), ("clean2", 2), ("odd", numpy.inf), ("x", numpy.nan)):
        w.operator(folder, name, output([value]))
    op = '  op {{ name: "{}" type: "{}" id: {} {} }}\n'
    inputs = " ".join('input: "{}:0"'.format(each) for each in producers.split())
    types = {"clean": "Add", "clean2": "Add", "odd": "Add", "not_dumped": "Add", "const": "Const"}
    ops = [op.format(name, types[name], number, "") for number, name in enumerate(types)]
    graph = "".join(['graph {\n  name: "net"\n', *ops, op.format("x", "Add", 9, inputs), "}\n"])
    (tmp_path / "ge_proto_00001_Build.txt").write_text(graph)
    found = scan_dumps(tmp_path / "dump", graph=str(tmp_path / "ge_proto_00001_Build.txt"))
    assert {each.op_name: each.origin for each in found.tensors}["x"] == ORIGINS[producers]


def test_the_first_by_the_graph(npu, tmp_path):
    """The graph gives the order and the producers; without it the time does, and less is known."""
    folder = w.step_folder(tmp_path / "dump")
    w.operator(folder, "a", output([1, 2]), time=1767323045000009)
    w.operator(folder, "b", output([1, numpy.inf]), time=1767323045000008)
    w.operator(folder, "c", output([1, numpy.nan]), time=1767323045000007)
    code, found = scan(npu, tmp_path / "dump")
    assert (code, found["first"]["op_name"], found["order"]) == (1, "c", "time")
    assert found["first"]["origin"] == "origin not known"
    graph = tmp_path / "ge_proto_00001_Build.txt"
    graph.write_text(GRAPH)
    code, found = scan(npu, tmp_path / "dump", "--graph", graph)
    tensors = [(each["op_name"], each["origin"]) for each in found["tensors"]]
    assert tensors == [("b", "computed here"), ("c", "came in")]
    text = npu("dump", "scan", tmp_path / "dump", "--graph", graph)
    assert "first in the order of the graph: b output 0, step 0" in text.out
    graph.write_text(GRAPH.replace('name: "', 'name: "other'))
    _, found = scan(npu, tmp_path / "dump", "--graph", graph)
    assert "NPU324" in {each["rule"] for each in found["diagnostics"]}


def test_earlier_steps_come_first(npu, tmp_path):
    """A later step of a clean operator is found, and does not hide an earlier one."""
    for step in range(3):
        folder = w.step_folder(tmp_path, step)
        w.operator(folder, "x", output([1.0, [1, numpy.nan, numpy.nan][step]]))
    code, found = scan(npu, tmp_path)
    assert (code, [each["step"] for each in found["tensors"]]) == (1, [1, 2])
    code, found = scan(npu, tmp_path, "--step", "0")
    assert (code, found["tensors"], found["looked_at"]) == (0, [], 1)


def test_tables_of_statistics(npu, tmp_path):
    """Counts, extremes and norms of a table say the same; what says nothing is not clean."""
    folder = w.step_folder(tmp_path)
    rows = {
        "clean": "Output,0,8,DT_FLOAT16,ND,2x2,1,-1,0,4,0,0,0",
        "counted": "Output,0,8,DT_FLOAT16,ND,2x2,1,-1,0,4,2,1,0",
        "limit": "Output,0,8,DT_FLOAT16,ND,2x2,65504,-65504,0,4,0,0,0",
        "float": "Output,0,8,DT_FLOAT,ND,2x2,3.40282e+38,0,0,4,0,0,0",
        "useless": "Output,0,8,DT_FLOAT,ND,2x2,NA,NA,NA,NA,NA,NA,NA",
        "huge": "Output,0,8,DT_FLOAT,ND,2x2,{0},-{0},0,{0},0,0,0".format("9" * 5000),
    }
    for name, row in rows.items():
        (folder / "Add.{}.1.2.1767323045000000.csv".format(name)).write_text(HEAD + row + "\n")
    code, found = scan(npu, tmp_path)
    counts = {e["op_name"]: (e["nan"], e["infinite"], e["at_limit"]) for e in found["tensors"]}
    expected = {"counted": (2, 1, 0), "limit": (0, 0, 2), "float": (0, 0, 1), "huge": (0, 2, 0)}
    assert (code, counts) == (1, expected)
    assert [each["tensor"] for each in found["not_looked_at"]] == ["useless:output:0"]
    overflow = npu("dump", "overflow", tmp_path)
    assert (overflow.code, "have no record: 2" in overflow.out) == (1, True)


def test_the_newest_run_of_each_device(npu, tmp_path):
    """An old run is not looked at, which is said; --run chooses it; a wrong one is a finding."""
    for run, device, value in (("20260102030405", 0, numpy.nan), ("20260102040506", 0, 1.0),
                               ("20260102030406", 1, 1.0)):  # fmt: skip
        w.operator(w.step_folder(tmp_path, 0, run, device), "x", output([value]))
    code, found = scan(npu, tmp_path)
    assert (code, found["older_runs"]) == (0, [{"device": 0, "run": "20260102030405"}])
    assert len(found["runs"]) == 2
    code, found = scan(npu, tmp_path, "--run", "20260102030405")
    assert (code, len(found["tensors"])) == (1, 1)
    wrong = npu("dump", "scan", tmp_path, "--run", "20270102030405")
    assert (wrong.code, "the runs 20260102030405" in wrong.out) == (1, True)


def test_damaged_and_wrong_things(npu, tmp_path, data):
    """A damaged dump is a finding, its whole tensors are looked at; a reference is none."""
    code, found = scan(npu, data / "damaged")
    assert (code, len({each["path"] for each in found["diagnostics"]})) == (1, 9)
    empty = npu("dump", "scan", tmp_path)
    assert (empty.code, "NPU320" in empty.out) == (1, True)
    reference = npu("dump", "scan", data / "net/tf")
    assert (reference.code, "which are a reference" in reference.out) == (1, True)


RUNS = ("20260102030405", "20260102040506")


def overflowed(root, run, records, status=0x20):
    """Overflows of operators (name, type, task) in steps."""
    for step, name, kind, task in records:
        folder = w.step_folder(root, step, run)
        tensors = [w.array(side, numpy.ones(2, "f2")) for side in ("input", "output")]
        w.operator(folder, name, tensors, kind, task)
        w.opdebug(folder, task, 2, status, 1767323045000000 + task)


def test_equal_overflows_are_one(npu, tmp_path):
    """One operator in many steps is one entry with its steps; the counts of the steps say more."""
    first = [(step, "a", "Mul", 3) for step in range(4)]
    overflowed(tmp_path, RUNS[0], [*first, (2, "b", "Exp", 4), (3, "b", "Exp", 4)])
    result = npu("dump", "overflow", tmp_path)
    assert result.code == 1
    for words in ("1. a (Mul), step 0, 1, 2, 3, device 0", "number of overflows of this kind: 4",
                  "2. b (Exp)", "6 overflows",
                  "by step: 0: 1, 1: 1, 2: 2, 3: 2; growing"):  # fmt: skip
        assert words in result.out
    found = json.loads(npu("dump", "overflow", tmp_path, "--format", "json").out)
    assert [group["count"] for group in found["groups"]] == [4, 2]
    assert {each["run"] for each in found["overflows"]} == {RUNS[0]}


def test_did_the_change_help(npu, tmp_path):
    """Two runs in one folder, or in two: what is gone, left and new; the newest is looked at."""
    overflowed(tmp_path, RUNS[0], [(0, "a", "Mul", 3), (0, "b", "Exp", 4)])
    overflowed(tmp_path, RUNS[1], [(0, "b", "Exp", 4), (0, "c", "Sum", 5)])
    result = npu("dump", "overflow", tmp_path)
    assert ("1. b (Exp)" in result.out, " a (" in result.out) == (True, False)
    assert "not analysed: " + RUNS[0] in result.out
    page = tmp_path / "o.html"
    result = npu("dump", "overflow", tmp_path, "--before", RUNS[0], "--html", page)
    assert result.code == 1
    assert "did not help these operators: 1 of 2 still overflow" in page.read_text()
    assert page.read_text().count("<h2 id=") == 2
    for words in ("no longer overflowing: 1; a", "still overflowing: 1; b"):
        assert words in result.out
    for words in ("newly overflowing: 1; c", "did not help"):
        assert words in result.out
    page.unlink()
    npu("--lang", "zh", "dump", "overflow", tmp_path, "--before", RUNS[0], "--html", page)
    text = re.sub(
        "(?s)<style>.*?</style>|<script>.*?</script>|<[^>]*>", " ", page.read_text("utf-8")
    )
    english = set(re.findall("[a-z]{5,}", text.replace(str(tmp_path), "")))
    assert english <= {"input", "output", "device", "shape", "float", "dtype", "black",
                       "modify", "mixlist", "write"}, english  # fmt: skip
    other = tmp_path / "other"
    overflowed(other, RUNS[0], [(0, "a", "Mul", 3)])
    content = json.loads(
        npu("dump", "overflow", tmp_path, "--before", other, "--format", "json").out
    )
    names = {key: [g["op_name"] for g in groups] for key, groups in content["compared"].items()}
    assert names == {"gone": ["a"], "left": [], "new": ["b", "c"]}
    same = npu("dump", "overflow", tmp_path, "--before", RUNS[1])
    assert (same.code, "--before must name an earlier run" in same.err) == (2, True)
    wrong = npu("dump", "overflow", tmp_path, "--before", "yesterday")
    assert (wrong.code, "neither a run nor a path" in wrong.err) == (2, True)
    assert npu("dump", "overflow", tmp_path, "--before", "20200101000000").code == 1


def test_statistics_beside_a_record(npu, tmp_path):
    """The operator of a record may have left a table in place of its tensors."""
    folder = w.step_folder(tmp_path)
    w.opdebug(folder, 3, 2, 0x20)
    row = "Input,0,8,DT_FLOAT16,ND,2x2,65504,-1,0,4,0,0,0\n"
    (folder / "Mul.loss_mul.3.2.1767323045000000.csv").write_text(HEAD + row)
    result = npu("dump", "overflow", tmp_path)
    assert "1. loss_mul (Mul)" in result.out
    assert "came in with input 0" in result.out


@pytest.mark.parametrize(
    ("inputs", "origin"),
    [
        ((), UNKNOWN),
        ((True,), HERE),
        ((False,), CAME_IN),
        ((None,), UNKNOWN),
        ((True, True), HERE),
        ((True, False), CAME_IN),
        ((True, None), UNKNOWN),
        ((None, False), CAME_IN),
    ],
)
def test_origins(inputs, origin):
    """Of what each input is: clean, not clean, not known."""
    assert origin == _origin(inputs)


CLEAN = Statistics(1, 1, 1, 1, 0, 0, 0, 0, 0)


def test_the_order_of_tensors():
    """By step, by the graph where it knows the operator, by time, path, side and number."""
    parts = itertools.product(
        (None, 0, 1), (-1, 0, 1, None), (5, 6), ("p", "q"), ("input", "output"), (0, 1)
    )
    tensors = [
        ScannedTensor(
            Folder(None, None, None, None, step), "a", "Add", side, index, "DT_FLOAT", (1,), path,
            time, CLEAN, False, order=order,
        )
        for step, order, time, path, side, index in parts
    ]  # fmt: skip
    mixed = random.Random(1).sample(tensors, len(tensors))
    assert sorted(mixed, key=_order) == tensors


def test_what_is_counted(tmp_path):
    """Tensors that were looked at, those that were not, files as they are done."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "a", [w.array("input", numpy.ones(2, "f4")), *output([1, numpy.nan])])
    w.operator(folder, "b", [w.array("output", numpy.ones(2, "i4"))])
    w.operator(folder, "c", [w.tensor("output", b"xyz", (3,), code=13)])
    w.opdebug(folder, 3, 2, 0x20)
    told = []
    found = scan_dumps(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert (len(found.tensors), found.by_graph) == (1, False)
    assert found.looked_at + len(found.unread) == 4
    assert (found.first.op_name, found.first.origin, found.first.index) == ("a", HERE, 0)
    assert found.first.statistics.odd_positions == (1,)
    later = scan_dumps(tmp_path, choose=lambda tree: select(tree, op=["b"]))
    assert (later.tensors, later.first, later.looked_at) == ((), None, 1)
