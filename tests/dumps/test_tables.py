"""Tables of statistics compared with a reference: nothing that agrees is said to diverge."""

import json

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config.dumps import compare_dumps
from tests.cli.conftest import npu

__all__ = ["npu"]
HEAD = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count,l2norm\n"
)
CODES = {"float16": "DT_FLOAT16", "float32": "DT_FLOAT", "int32": "DT_INT32", "int64": "DT_INT64"}


def table(root, name, values, format_="ND", op_type="Add", **changed):
    """Write what the device would say of the values of an output."""
    flat = values.astype("f8").reshape(-1)
    finite = flat[numpy.isfinite(flat)]
    numbers = {
        "max": finite.max(), "min": finite.min(), "mean": finite.mean(), "count": flat.size,
        "nan": numpy.isnan(flat).sum(), "low": numpy.isneginf(flat).sum(),
        "high": numpy.isposinf(flat).sum(), "norm": numpy.sqrt((finite**2).sum()), **changed,
    }  # fmt: skip
    shape = "x".join(map(str, values.shape))
    cells = ["Output", 0, values.nbytes, CODES[values.dtype.name], format_, shape]
    cells += ["{:.6g}".format(number) for number in numbers.values()]
    path = w.step_folder(root) / "{}.{}.1.2.1767323045000000.csv".format(op_type, name)
    path.write_text(HEAD + ",".join(map(str, cells)) + "\n")


def reference(root, name, values):
    """Write the tensor of the reference."""
    root.mkdir(exist_ok=True)
    numpy.save(str(root / (name + ".0.1.npy")), values)


def test_what_agrees(tmp_path):
    """Rounded to float16, with errors of a computation, padded: none of 200 is said to diverge."""
    chance = numpy.random.RandomState(7)
    for number in range(200):
        shape = tuple(chance.randint(1, 20, size=chance.randint(1, 4)))
        values = chance.standard_normal(shape) * 10.0 ** chance.randint(-3, 4) + chance.randint(3)
        noise = 1 + 0.01 * chance.standard_normal(shape)
        device = (values * noise).astype(["f2", "f4"][number % 2])
        format_ = "ND"
        if number % 3 == 0:
            device = numpy.concatenate([device.reshape(-1), numpy.zeros(16, device.dtype)])
            format_ = "NC1HWC0"
        table(tmp_path / "npu", "op{}".format(number), device, format_)
        reference(tmp_path / "tf", "op{}".format(number), values.astype("f4"))
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    assert [row.reason for row in found.rows if row.verdict == "diverges"] == []
    assert len(found.rows) == 200


PLANTS = {
    "scale": (lambda x: x * 2, {}, "maximum"),
    "sign": (lambda x: -abs(x) - 1, {}, "minimum"),
    "offset": (lambda x: x + 3, {}, "mean"),
    "saturated": (lambda x: numpy.where(abs(x) > 1, 65504.0, x), {}, "maximum 65504"),
    "zeros": (lambda x: x * 0, {}, "norm 0"),
    "nan": (lambda x: numpy.where(abs(x) > 2, numpy.nan, x), {}, "NaN and 0 infinite"),
    "infinite": (lambda x: numpy.where(abs(x) > 2, numpy.inf, x), {}, "0 NaN and"),
}


@pytest.mark.parametrize("name", sorted(PLANTS))
@pytest.mark.parametrize("kind", ["f2", "f4"])
def test_what_diverges(tmp_path, name, kind):
    """Each is named by the number that shows it."""
    values = numpy.random.RandomState(3).standard_normal((40, 50)).astype("f4")
    change, numbers, words = PLANTS[name]
    table(tmp_path / "npu", "op", change(values).astype(kind), **numbers)
    reference(tmp_path / "tf", "op", values)
    (row,) = compare_dumps(tmp_path / "npu", tmp_path / "tf").rows
    assert (row.verdict, words in row.reason) == ("diverges", True), row


def test_integers_and_empty_tables(npu, tmp_path):
    """Ids that are off by one diverge; a table without numbers is not compared."""
    ids = numpy.arange(100, dtype="i8")
    table(tmp_path / "npu", "ids", ids + 1, op_type="Gather")
    table(tmp_path / "npu", "same", ids)
    for name in ("ids", "same", "none"):
        reference(tmp_path / "tf", name, ids)
    path = w.step_folder(tmp_path / "npu") / "Add.none.1.2.1767323045000000.csv"
    path.write_text(HEAD + "Output,0,8,DT_INT64,ND,100" + ",NA" * 8 + "\n")
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf", "--format", "json")
    found = {row["op_name"]: row["verdict"] for row in json.loads(result.out)["rows"]}
    assert (result.code, found) == (
        1, {"ids": "diverges", "same": "agrees", "none": "not compared"},
    )  # fmt: skip
    text = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf")
    assert "by its statistics alone" in text.out


def test_names_of_the_graph(tmp_path, data):
    """A file name has _ for /; the graph knows the operator all the same."""
    graph = tmp_path / "ge_proto_00001_Build.txt"
    graph.write_text('graph { name: "net" op { name: "a/b" type: "Add" id: 1 input: "" } }')
    values = numpy.ones((2, 2), "f4")
    table(tmp_path / "npu", "a_b", values)
    reference(tmp_path / "tf", "a_b", values)
    (row,) = compare_dumps(tmp_path / "npu", tmp_path / "tf", graph).rows
    assert (row.op_name, row.verdict) == ("a/b", "agrees")
