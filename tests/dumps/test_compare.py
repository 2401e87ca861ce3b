"""Comparisons: the table of the vectors, metrics against plain numpy, matching, bad input."""

import csv
import json
import math
from pathlib import Path

import pytest
from dumps import dump_writer as w
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy
from dumps.number_arrays import any_numbers

from npu_config import NpuConfigError
from npu_config.dumps import compare_dumps, read_ge_graph
from npu_config.dumps.metrics import BLOCK, measure
from npu_config.dumps.reference import open_references
from npu_config.dumps.result import METRICS, cells, read_result, result_csv
from npu_config.dumps.verdicts import judge, limits_of
from tests import golden

NET = Path(__file__).parents[1] / "data/dump/net"
EXPECTED = json.loads((NET / "expected.json").read_text())
TABLE = list(csv.DictReader((NET / "expected_compare.csv").open()))


@pytest.fixture(scope="module")
def net():
    """The comparison of the vectors."""
    return compare_dumps(NET / "npu", NET / "tf", NET / "graph")


def near(expected, actual):
    """Equal text; of numbers the last digit may differ, as the table was made in float32."""
    if expected == actual:
        return True
    try:
        return abs(float(expected) - float(actual)) <= 1.01e-6
    except ValueError:
        return False


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["TensorIndex"])
def test_every_cell(net, row):
    """Every cell of the vendor's table."""
    (found,) = [each for each in net.rows if each.tensor_index == row["TensorIndex"]]
    actual = cells(found.metrics)
    assert {name: row[name] for name in METRICS} == {
        name: row[name] if near(row[name], actual[name]) else actual[name] for name in METRICS
    }
    assert (row["Reference"], row["Shape"]) == (found.reference, str(list(found.shape)))


def test_the_first_that_diverges(net):
    """The first operator, the way to it, what cannot be compared and why."""
    assert EXPECTED["first_diverging"] == net.first_diverging
    assert "trans_TransData_1" in net.path_to_it
    assert net.passes == ("MatMulBiasAddFusionPass",)
    skipped = {row.tensor_index: row.reason for row in net.rows if row.metrics is None}
    assert EXPECTED["not_comparable"] == skipped
    assert list(EXPECTED["files"]) != []
    assert set(EXPECTED["files"]) == {row.op_name for row in net.rows}
    assert not net.ok


def test_graph_as_json_and_without(net):
    """The graph as JSON gives the same; without a graph the headers find the same operator."""
    other = compare_dumps(NET / "npu", NET / "tf", NET / "graph/ge_proto_00012_Build.json")
    assert str(net.rows) == str(other.rows)
    plain = compare_dumps(NET / "npu", NET / "tf")
    assert EXPECTED["first_diverging"] == plain.first_diverging
    outputs = {row.tensor_index for row in plain.rows if row.metrics is not None}
    assert "conv1/Conv2D_fused:output:0" in outputs
    assert not any(":input:" in name for name in outputs)


def test_the_graph():
    """Origins go through TransData; fused operators have theirs."""
    graph = read_ge_graph(NET / "graph")
    assert graph.path.endswith("Build.txt")
    assert graph.origin("trans_TransData_1", 0) == ("conv1/Relu", 0)
    assert graph.origin("trans_TransData_0", 0) == ("x", 0)
    assert graph.find("conv1/Conv2D_fused").original_names == (
        "conv1/Conv2D",
        "conv1/BiasAdd",
        "conv1/Relu",
    )
    assert not graph.find("flat/Reshape").has_task
    assert [op.id for op in graph] == sorted(op.id for op in graph)


def test_the_graph_of_the_model(tmp_path):
    """In a folder the last Build is taken, or that of the model; no other stage is."""
    for name, model in (
        ("ge_proto_00000007_graph_1_Build.txt", "train_1"),
        ("ge_proto_00000009_graph_2_Build.txt", "init"),
        ("ge_proto_00000011_PreRunAfterBuild.txt", "train_1"),
    ):
        text = 'graph {{\n  name: "{}"\n  op {{ name: "a" type: "Add" }} }}'
        (tmp_path / name).write_text(text.format(model))
    assert read_ge_graph(tmp_path).name == "init"
    assert read_ge_graph(tmp_path, "train_1").name == "train_1"
    assert read_ge_graph(tmp_path, "train_1").path.endswith("graph_1_Build.txt")
    assert read_ge_graph(tmp_path, "another").name == "init"


def pairs_of(x, y, sizes=(7, 5)):
    """Pieces as a reader may give them."""

    def pairs():
        start = 0
        while start < x.size:
            size = sizes[start % len(sizes)]
            yield x.reshape(-1)[start : start + size], y.reshape(-1)[start : start + size]
            start += size

    return pairs


def usual(values):
    """Finite float32 numbers of at most a million as float64, of any array."""
    usual = numpy.where(numpy.isfinite(values) & (numpy.abs(values) <= 1e6), values, 0)
    return usual.astype("f8")


PAIRS = st.integers(2, 40).flatmap(lambda n: st.tuples(*[any_numbers("f4", (n,))] * 2))


@settings(max_examples=golden.tries(200), deadline=None)
@given(PAIRS)
def test_metrics_are_those_of_numpy(pair):
    """Every metric, in pieces, is that of the formula on whole float64 arrays."""
    x, y = map(usual, pair)
    found = measure(pairs_of(x, y))
    difference = numpy.abs(x - y)
    large = numpy.abs(y) > 2.22e-16
    relative = numpy.where(large, difference / numpy.where(large, numpy.abs(y), 1), 0)
    expected = {
        "max_absolute": difference.max(),
        "accumulated_relative": relative.sum(),
        "max_relative": relative.max(),
        "mean_relative": relative.mean(),
        "mean_absolute": difference.mean(),
        "root_mean_square": numpy.sqrt((difference**2).mean()),
    }
    if (x**2).sum() > 1e-300 and (y**2).sum() > 1e-300:
        norms = numpy.linalg.norm(x) * numpy.linalg.norm(y)
        expected["cosine"] = min(1.0, (x * y).sum() / norms)
        expected["relative_euclidean"] = numpy.sqrt((difference**2).sum() / (y**2).sum())
    for name, value in expected.items():
        assert value == pytest.approx(getattr(found, name), rel=1e-9, abs=1e-12), name
    assert (x.mean(), y.mean()) == pytest.approx(found.mean, rel=1e-9, abs=1e-6)
    assert (x.std(), y.std()) == pytest.approx(found.deviation, rel=1e-6, abs=1e-6 * 1e6)
    assert found.divergence == pytest.approx(divergence(x, y), rel=1e-6, abs=1e-9)


def divergence(x, y):
    """The documented formula on whole arrays."""
    parts = []
    for values in (x, y):
        extent = values.max() - values.min()
        if extent:
            scaled = numpy.maximum((values - values.min()) / extent, 2.0**-23)
        else:
            scaled = numpy.ones(values.size)
        parts.append(scaled / scaled.sum())
    return (parts[0] * numpy.log(parts[0] / parts[1])).sum()


def test_deviation_of_many_pieces():
    """The standard deviation of several pieces is that of the whole."""
    values = numpy.random.RandomState(1).standard_normal(3 * BLOCK + 5) + 3
    found = measure(pairs_of(values, values, (BLOCK,)))
    assert values.std() == pytest.approx(found.deviation[0], rel=1e-12)
    assert math.inf == found.signal_to_noise


def test_large_numbers():
    """Equal tensors of 1e20 have the cosine 1."""
    values = numpy.full(100, 1e20, "f4")
    assert pytest.approx(measure(pairs_of(values, values)).cosine) == 1.0


def test_nan_is_counted_and_named():
    """NaN and infinities do not spoil the numbers; those on one side only diverge."""
    x = numpy.array([1, 2, numpy.nan, numpy.inf, 5, numpy.nan])
    y = numpy.array([1, 2, 3, numpy.inf, 5, numpy.nan])
    found = measure(pairs_of(x, y))
    assert (found.nan, found.infinite, found.odd, found.compared) == ((2, 1), (1, 1), 1, 3)
    assert pytest.approx((found.cosine, found.max_absolute)) == (1.0, 0.0)
    assert "2 NaN on the device" in found.remark
    limits = limits_of("activation", "DT_DOUBLE", "float64")
    _, odd = judge(pairs_of(x, y), limits)
    assert (odd.verdict, odd.causes) == ("diverges", ("nan",))
    assert "NaN or infinite on one side only: 1 of 6" in odd.reason
    _, same = judge(pairs_of(y, y), limits)
    assert (same.verdict, same.causes) == ("agrees", ())
    assert "in the same places" in same.reason


def test_truth_values():
    """Truth values have a cosine and a count of differences."""
    x, y = numpy.array([True, False, True]), numpy.array([True, True, True])
    found = measure(pairs_of(x, y), boolean=True)
    assert found.differing == 1
    assert 2 / math.sqrt(6) == pytest.approx(found.cosine)
    assert cells(found)["MaxAbsoluteError"] == "NaN"


def test_single_values_and_zeros():
    """A single value is judged by its error; zeros on one side only by the type's limits."""

    def verdict(x, y, data_type="DT_FLOAT16"):
        limits = limits_of("activation", data_type, "float32")
        pairs = pairs_of(numpy.atleast_1d(x), numpy.atleast_1d(y))
        return judge(pairs, limits)[1].verdict == "agrees"

    assert verdict(1.0, 1.01)
    assert not verdict(1.0, 2.0)
    assert verdict([0.0, 0.0], [0.0, 0.0])
    assert not verdict([0.0, 0.0], [0.0, 1.0])
    assert verdict([0.0, 0.0], [0.0, 1e-9])
    assert not verdict([0.0, 0.0], [0.0, 1e-9], "DT_FLOAT")


def test_pieces_of_complex_values():
    """Complex values are compared as their parts."""
    x = numpy.array([1 + 2j, 3 - 1j], "c8")
    assert measure(pairs_of(x, x)).elements == 4


def write(folder, name, values):
    """A file of a reference."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = name.replace("/", "_")
    numpy.save(str(folder / "{}.npy".format(plain)), values)


def chain(tmp_path, factors, run="20260102030405", step=0):
    """Operators a, b, c, ... of which each has the output of the one before as input."""
    folder = w.step_folder(tmp_path, step, run)
    before = numpy.arange(1, 9, dtype="f4")
    for index, (name, bend) in enumerate(factors):
        values = before + bend * numpy.arange(8, 0, -1, dtype="f4")
        tensors = [w.array("input", before), w.array("output", values)]
        w.operator(folder, name, tensors, task=index, time=1767323045000000 + index)
        before = values


def test_two_dumps(tmp_path):
    """Two dumps are compared by operator; inputs tell the first from its consequences."""
    chain(tmp_path / "one", [("a", 0), ("b", 0), ("c", 0)])
    chain(tmp_path / "two", [("a", 0), ("b", 9), ("c", 0)])
    found = compare_dumps(tmp_path / "one", tmp_path / "two")
    assert (found.first_diverging, found.against_dump) == ("b", True)
    assert found.diverging == ("b", "c")
    assert compare_dumps(tmp_path / "one", tmp_path / "one").ok
    ignored = compare_dumps(tmp_path / "one", tmp_path / "two", ignore=["[bc]"])
    assert (ignored.first_diverging, ignored.ok) == (None, True)


def test_data_that_differ_are_no_operator(tmp_path):
    """When the inputs of the first operator differ already, no operator is the first."""
    folder = tmp_path / "one"
    chain(folder, [("a", 0)])
    other = w.step_folder(tmp_path / "two")
    values = numpy.arange(8, 0, -1, dtype="f4")
    w.operator(other, "a", [w.array("input", values), w.array("output", values)])
    found = compare_dumps(folder, tmp_path / "two")
    assert (found.first_diverging, found.ok) == (None, False)


def test_the_name_put_together(tmp_path):
    """The name of a fused operator that is made of names of the reference means the last."""
    values = numpy.arange(4, dtype="f4")
    w.operator(w.step_folder(tmp_path / "npu"), "conv1bn1relu1", [w.array("output", values)])
    for name in ("conv1", "bn1", "relu1"):
        write(tmp_path / "tf", name + ".0.17", values)
    (row,) = compare_dumps(tmp_path / "npu", tmp_path / "tf").rows
    assert (row.reference, row.matched_by, row.verdict) == ("relu1.0", "name", "agrees")


@pytest.mark.parametrize(
    ("shape", "verdict"),
    [((6,), "agrees"), ((1, 6), "agrees"), ((2, 1, 3), "agrees"), ((3, 2), "diverges")],
)
def test_joined_axes(tmp_path, shape, verdict):
    """Axes that are joined, or of one element, keep the order of values; others do not."""
    values = numpy.arange(1, 7, dtype="f4").reshape((2, 3))
    w.operator(w.step_folder(tmp_path / "npu"), "a", [w.array("output", values)])
    write(tmp_path / "tf", "a.0.1", values.reshape(shape))
    (row,) = compare_dumps(tmp_path / "npu", tmp_path / "tf").rows
    assert row.verdict == verdict


def test_layout_of_the_reference(tmp_path):
    """NC1HWC0 meets NHWC and NCHW; a reference that is smaller is another tensor."""
    values = numpy.arange(1, 2 * 20 * 3 * 4 + 1, dtype="f4").reshape(2, 20, 3, 4)
    device = numpy.zeros((2, 2, 16, 3, 4), "f4")
    device.reshape(2, 32, 3, 4)[:, :20] = values
    device = numpy.ascontiguousarray(device.transpose(0, 1, 3, 4, 2))
    folder = w.step_folder(tmp_path / "npu")
    nhwc = values.transpose(0, 2, 3, 1)
    for name, reference in (("a", nhwc), ("b", values), ("c", nhwc[:, :, :, :7])):
        tensor = w.array("output", device, format_code=3, original=nhwc.shape)
        w.operator(folder, name, [tensor])
        write(tmp_path / "tf", name + ".0.1", reference)
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    assert pytest.approx([row.metrics.cosine for row in found.rows[:2]]) == [1.0] * 2
    assert [nhwc.shape, values.shape] == [row.shape for row in found.rows[:2]]
    assert (found.rows[2].verdict, found.rows[2].causes) == ("diverges", ("shape",))
    assert "[2, 3, 4, 20] on the device and [2, 3, 4, 7]" in found.rows[2].reason


def test_results_of_both_generations(tmp_path, net):
    """Our own table and an old one are read; the first that diverges is found in both."""
    (tmp_path / "new.csv").write_text(result_csv(net))
    new = read_result(tmp_path / "new.csv")
    assert ("NPUDump", EXPECTED["first_diverging"]) == (new.generation, new.first_diverging)
    assert list({row.cells["DataType"] for row in new.rows[:4]}) == ["DT_FLOAT16"]
    old = "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity,MaxAbsoluteError\n"
    old += "0,a,a,a:input:0,1.0,0\n0,a,a,a:output:0,0.5,1\n1,b,*,NaN,NaN,NaN\n"
    (tmp_path / "old.csv").write_text(old)
    table = read_result(tmp_path / "old.csv")
    assert (table.generation, table.first_diverging) == ("LeftOp", "a")
    assert [row.verdict for row in table.rows] == ["agrees", "diverges", "not compared"]
    for bad in ("", "x,y\n1,2\n", old.split("\n")[0]):
        (tmp_path / "bad.csv").write_text(bad)
        with pytest.raises(NpuConfigError, match="NPU331"):
            read_result(tmp_path / "bad.csv")


@pytest.mark.parametrize(("padding", "ending"), [(0.0, 5.0), (7.0, 0.0)])
def test_dumps_whose_padding_differs(tmp_path, padding, ending):
    """Only what a tensor holds is compared; the rest of its last block is anything."""
    for name, rest in (("npu", padding), ("other", ending)):
        device = numpy.full((1, 1, 2, 2, 16), rest, "f4")
        device[..., :3] = numpy.arange(12, dtype="f4").reshape(1, 1, 2, 2, 3)
        tensor = w.array("output", device, format_code=3, original=(1, 2, 2, 3))
        w.operator(w.step_folder(tmp_path / name), "a", [tensor])
    (row,) = compare_dumps(tmp_path / "npu", tmp_path / "other").rows
    assert (row.verdict, row.shape, row.metrics.elements) == ("agrees", (1, 2, 2, 3), 12)


@pytest.mark.parametrize(
    ("index", "cosine", "expected"),
    [
        ("a/b:input:0", "1.0", ("a/b", "input", 0, "agrees")),
        ("a:output:12", "0.981", ("a", "output", 12, "agrees")),
        ("a:output:1", " 0.98 ", ("a", "output", 1, "diverges")),
        ("a:output:1", "-1", ("a", "output", 1, "diverges")),
        ("a:output:1", "NaN", ("a", "output", 1, "not compared")),
        ("a:output:1", "", ("a", "output", 1, "not compared")),
        ("NaN", "1", ("left", "", -1, "agrees")),
        ("", "x", ("left", "", -1, "not compared")),
    ],
)
def test_the_rows_of_a_result(tmp_path, index, cosine, expected):
    """The operator of the index where it has one, and the verdict by the threshold."""
    text = "LeftOp,RightOp,TensorIndex,CosineSimilarity,More\nleft,r,{},{}\n".format(index, cosine)
    (tmp_path / "result.csv").write_text(text)
    table = read_result(tmp_path / "result.csv")
    (row,) = table.rows
    assert (row.op_name, row.side, row.number, row.verdict) == expected
    assert (row.line, row.ground_truth, row.cells["More"]) == (2, "r", "")
    assert table.judged == (expected[-1] != "not compared")


# bad input


def refused(rule, *arguments, **named):
    """The call is refused by the rule, with one diagnostic of it."""
    with pytest.raises(NpuConfigError) as caught:
        compare_dumps(*arguments, **named)
    assert rule in [found.rule for found in caught.value.diagnostics]
    return str(caught.value)


def test_sides_that_hold_nothing(tmp_path):
    """An empty folder, swapped sides and a missing path are named."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no files" in refused("NPU320", empty, NET / "tf")
    assert "reference second" in refused("NPU320", NET / "tf", NET / "npu")
    assert "nothing to compare with" in refused("NPU327", NET / "npu", empty)
    refused("NPU701", tmp_path / "missing", NET / "tf")
    assert "step 77" in refused("NPU320", NET / "npu", NET / "tf", step=77)


def test_another_network(tmp_path):
    """A reference without any of the names says what is missing."""
    write(tmp_path / "tf", "other.0.1", numpy.ones(3))
    assert "--graph" in refused("NPU328", NET / "npu", tmp_path / "tf")


def test_a_graph_of_another_model(tmp_path):
    """A graph that knows no operator is set aside with a warning; a bad one is refused."""
    graph = tmp_path / "ge_proto_1_Build.txt"
    graph.write_text('graph { name: "g" op { name: "zz" type: "Add" id: 0 } }')
    found = compare_dumps(NET / "npu", NET / "tf", graph)
    assert [d.rule for d in found.diagnostics] == ["NPU324"]
    assert EXPECTED["first_diverging"] == found.first_diverging
    for text in ("", "graph { op {", "{", '{"graph": [[[', "just words", "\udcff\udcfe"):
        graph.write_bytes(text.encode("utf-8", "surrogateescape"))
        refused("NPU323", NET / "npu", NET / "tf", graph)
    refused("NPU323", NET / "npu", NET / "tf", tmp_path)
    graph.unlink()
    refused("NPU323", NET / "npu", NET / "tf", tmp_path)


def test_other_steps(tmp_path):
    """Different steps on both sides are said; common ones are taken."""
    for step in (3, 4):
        chain(tmp_path / "one", [("a", 0)], step=step)
    for step in (4, 5):
        chain(tmp_path / "two", [("a", 0)], step=step)
    common = compare_dumps(tmp_path / "one", tmp_path / "two")
    assert (common.step, common.diagnostics) == (4, ())
    other = compare_dumps(tmp_path / "one", tmp_path / "two", step=3, reference_step=5)
    assert [found.rule for found in other.diagnostics] == ["NPU325"]


def test_damaged_files_on_both_sides(tmp_path):
    """Damaged dumps and references are findings or reasons; the rest is compared."""
    values = numpy.arange(4, dtype="f4")
    folder = w.step_folder(tmp_path / "npu")
    for index, name in enumerate("abcdef"):
        w.operator(folder, name, [w.array("output", values)], time=1767323045000000 + index)
        write(tmp_path / "tf", name + ".0.1", values)
    bad = folder / "Add.a.1.2.1767323045000000"
    bad.write_bytes(bad.read_bytes()[:-3])
    (tmp_path / "tf/b.0.1.npy").write_bytes(b"\x93NUMPY\x01\x00\xff")
    numpy.save(str(tmp_path / "tf/c.0.1.npy"), numpy.array([{}], dtype=object))
    (tmp_path / "tf/d.0.1.npy").write_bytes((tmp_path / "tf/d.0.1.npy").read_bytes()[:-4])
    numpy.save(str(tmp_path / "tf/e.0.1.npy"), numpy.ones((3, 3)))
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    assert [d.rule for d in found.diagnostics] == ["NPU314"]
    reasons = {row.op_name: row.reason for row in found.rows}
    assert "is truncated" in reasons["a"]
    assert ".npy" in reasons["b"]
    assert ".npy" in reasons["c"]
    assert ".npy" in reasons["d"]
    assert "[3, 3] in the reference" in reasons["e"]
    assert reasons["f"] == ""
    assert [row.verdict for row in found.rows if row.metrics is not None] == [AGREED]


AGREED = "agrees"


def test_two_files_and_slices(tmp_path):
    """Of two files of an operator the last outputs count; slices of threads do not."""
    folder = w.step_folder(tmp_path / "npu")
    old, new = numpy.ones(4, "f4"), numpy.arange(4, dtype="f4")
    w.operator(folder, "a", [w.array("output", old)], time=1767323045000001)
    w.operator(folder, "a", [w.array("output", new)], time=1767323045000002)
    for thread in (0, 1):
        path = w.operator(folder, "s", [w.array("output", new)])
        path.rename(str(path) + ".4.1.{}.0".format(thread))
    write(tmp_path / "tf", "a.0.1", new)
    write(tmp_path / "tf", "s.0.1", new)
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    verdicts = {row.op_name: (row.verdict, row.reason) for row in found.rows}
    assert verdicts["a"] == ("agrees", "")
    assert "slice" in verdicts["s"][1]
    assert [d.rule for d in found.diagnostics] == ["NPU326"]


def test_missing_outputs(tmp_path):
    """A dump of inputs only, and outputs the reference lacks, are reasons."""
    values = numpy.arange(4, dtype="f4")
    folder = w.step_folder(tmp_path / "npu")
    w.operator(folder, "a", [w.array("output", values), w.array("output", values)])
    write(tmp_path / "tf", "a.0.1", values)
    rows = compare_dumps(tmp_path / "npu", tmp_path / "tf").rows
    assert [row.reason for row in rows] == ["", "the reference has no a.1"]


def test_an_index_with_very_long_numbers(tmp_path):
    """Python 3.11 refuses to convert more than 4,300 digits; such a line is none."""
    head = "run,file,node,output,occurrence,debug_op,device,dtype,shape,time_us,status\n"
    line = "0,a.0.0.npy,a,{},0,output,,float32,2,1,ok\n"
    (tmp_path / "index.csv").write_text(head + line.format("1" * 5000) + line.format(0))
    found = open_references(str(tmp_path))
    (folder,) = found.folders
    assert found.open(folder).names == ["a"]
