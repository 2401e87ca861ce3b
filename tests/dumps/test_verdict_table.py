"""The table of planted differences: what the command says of each, by data type and kind.

``verdict_table.txt`` was read cell by cell; ``python -m pytest --update-cases`` writes it anew.
"""

import json
from pathlib import Path

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config.dumps.data_types import BY_NAME, table
from npu_config.dumps.verdicts import limits_of
from tests import golden
from tests.cli.conftest import npu

__all__ = ["npu"]
TABLE = Path(__file__).parent / "verdict_table.txt"
SHAPE = (16, 24)
FLOATS = ("DT_FLOAT", "DT_FLOAT16", "DT_BF16", "DT_DOUBLE", "DT_FLOAT8_E4M3FN", "DT_COMPLEX64")
WHOLE = ("DT_INT8", "DT_UINT8", "DT_INT32", "DT_INT64")


def stored(values, data_type):
    """The bytes of values in a type, rounded as a device does."""
    if data_type == "DT_BF16":
        bits = numpy.ascontiguousarray(values, "f4").view("u4").astype("u8")
        upper = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")
        upper[numpy.isnan(values)] = 0x7FC0
        return upper.tobytes()
    if data_type == "DT_FLOAT8_E4M3FN":
        numbers = numpy.asarray(table(data_type))
        off = numpy.abs(numbers - numpy.asarray(values, "f4").reshape(-1, 1))
        off[numpy.isnan(off)] = numpy.inf
        codes = off.argmin(1).astype("u1")
        codes[~numpy.isfinite(values).reshape(-1)] = 0x7F
        return codes.tobytes()
    with numpy.errstate(over="ignore"):
        return numpy.ascontiguousarray(values).astype(BY_NAME[data_type].storage).tobytes()


def tf32(values):
    """Ten bits of fraction."""
    bits = numpy.ascontiguousarray(values, "f4").view("u4")
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000).view("f4")


def put(values, places, what):
    """The same with some elements that are something else."""
    values = values.copy()
    values.reshape(-1)[places] = what
    return values


def noise(y, size):
    """Every element off by another part of itself."""
    return y * (1 + numpy.random.RandomState(6).standard_normal(y.shape) * size)


def shuffled(y):
    """In another order."""
    return numpy.random.RandomState(5).permutation(y.reshape(-1)).reshape(y.shape)


def column(y, what):
    """One channel is something else."""
    y = y.copy()
    y[:, 3] = what(y[:, 3])
    return y


NUMBERS = {
    # what the device has of y; r is the documented limit of a relative distance
    "the same": lambda y, r: y,
    "rounded to tf32": lambda y, r: tf32(y) if y.dtype.kind == "f" else y,
    "errors of half the limit": lambda y, r: noise(y, r / 2),
    "errors of twice the limit": lambda y, r: noise(y, 2 * r),
    "scaled, twice the limit": lambda y, r: y * (1 + 2 * r),
    "scaled by 2": lambda y, r: y * 2,
    "scaled by 1024": lambda y, r: y * 1024,
    "scaled by 1/8": lambda y, r: y / 8,
    "offset, twice the limit": lambda y, r: y + 2 * r,
    "offset of 10": lambda y, r: y + 10,
    "opposite sign": lambda y, r: -y,
    "one element, twice the limit": lambda y, r: put(y, 37, y.flat[37] + 2 * min(5 * r, 0.9)),
    "the largest element is 0": lambda y, r: put(y, abs(y).argmax(), 0),
    "one NaN": lambda y, r: put(y, 37, numpy.nan),
    "one infinity": lambda y, r: put(y, 37, numpy.inf),
    "all are 0": lambda y, r: y * 0,
    "the last rows are 0": lambda y, r: put(y, slice(288, None), 0),
    "every fourth is 0": lambda y, r: put(y, slice(0, None, 4), 0),
    "one constant": lambda y, r: y * 0 + 0.75,
    "another order": lambda y, r: shuffled(y),
    "two rows exchanged": lambda y, r: y[[1, 0, *range(2, 16)]],
    "rows reversed": lambda y, r: y[::-1],
    "transposed": lambda y, r: y.T.reshape(y.shape),
    "moved by one": lambda y, r: numpy.roll(y.reshape(-1), 1).reshape(y.shape),
    "one column doubled": lambda y, r: column(y, lambda values: values * 2),
    "without the signs": lambda y, r: abs(y),
    "cut off at 0": lambda y, r: numpy.maximum(y.real, 0),
    "cut off at -1 and 1": lambda y, r: numpy.clip(y.real, -1, 1),
    "squared": lambda y, r: y * y,
    "other values": lambda y, r: numpy.random.RandomState(7).standard_normal(y.shape),
}
INTEGERS = {
    "the same": lambda y: y,
    "off by one": lambda y: y + 1,
    "one off by one": lambda y: put(y, 37, y.flat[37] + 1),
    "a column off by one": lambda y: column(y, lambda values: values + 1),
    "all are 0": lambda y: y * 0,
    "the last rows are 0": lambda y: put(y, slice(288, None), 0),
    "another order": shuffled,
    "transposed": lambda y: y.T.reshape(y.shape),
    "moved by one": lambda y: numpy.roll(y.reshape(-1), 1).reshape(y.shape),
    "cut off at 50": lambda y: numpy.minimum(y, 50),
    "other values": lambda y: numpy.random.RandomState(7).randint(0, 100, y.shape),
}
FLAGS = {
    "the same": lambda y: y,
    "one of 384": lambda y: put(y, 37, ~y.flat[37]),
    "inverted": lambda y: ~y,
    "all are 0": lambda y: y & False,
    "another order": shuffled,
}


def normal(scale=1.0, kind="f4"):
    """Numbers as a network has them."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE) * scale
    if kind == "c8":
        y = y + 1j * numpy.random.RandomState(2).standard_normal(SHAPE)
    return y.astype(kind)


def corners():
    """What is about a type: its limit, its smallest numbers, padding, zeros, single values."""
    big = normal(4e4)
    yield "saturated at 65504", "DT_FLOAT16", numpy.clip(big, -65504, 65504), big
    yield "infinite beyond 65504", "DT_FLOAT16", big, big
    with numpy.errstate(over="ignore"):
        half = big.astype("f2")
    yield "infinite beyond 65504 on both sides", "DT_FLOAT16", big, half
    yield "saturated at 448", "DT_FLOAT8_E4M3FN", numpy.clip(big, -448, 448), big
    yield (
        "65504 on both sides",
        "DT_FLOAT16",
        numpy.clip(big, -6e4, 6e4),
        numpy.clip(big, -6e4, 6e4),
    )
    tiny = normal(2e-8)
    yield "too small for the type", "DT_FLOAT16", tiny, tiny
    yield "0 for what is too small", "DT_FLOAT16", tiny * 0, tiny
    yield "infinite for ordinary numbers", "DT_FLOAT16", put(normal(), 37, numpy.inf), normal()
    nan = put(normal(), 37, numpy.nan)
    yield "NaN in the same place", "DT_FLOAT", nan, nan
    yield "NaN in another place", "DT_FLOAT", put(normal(), 38, numpy.nan), nan
    yield "NaN in the reference alone", "DT_FLOAT", normal(), nan
    yield "nothing but NaN on both sides", "DT_FLOAT", nan * numpy.nan, nan * numpy.nan
    infinite = put(normal(), 37, numpy.inf)
    yield "an infinity of the other sign", "DT_FLOAT", put(normal(), 37, -numpy.inf), infinite
    yield "the reference is 0", "DT_FLOAT", normal(), normal() * 0
    yield "1e-7 for 0", "DT_FLOAT", normal() * 0 + 1e-7, normal() * 0
    for times in (1.0, 1.04, 1.06, 1.2):
        for data_type in ("DT_FLOAT", "DT_FLOAT16"):
            y = numpy.asarray([2.5], "f4")
            yield "a single value times {}".format(times), data_type, y * times, y
    padded = numpy.zeros((16, 32), "f4")
    padded[:, :24] = normal()
    yield "padded with zeros", "DT_FLOAT", padded, normal()
    yield "padded with ones", "DT_FLOAT", padded + (padded == 0), normal()
    yield "a row more", "DT_FLOAT", numpy.concatenate([normal(), normal()[:1]]), normal()
    yield "a row less", "DT_FLOAT", normal()[1:], normal()
    yield "axes joined", "DT_FLOAT", normal().reshape(-1), normal()
    yield "axes exchanged", "DT_FLOAT", numpy.ascontiguousarray(normal().T), normal()


def names(text):
    """An operator's name of a plant."""
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def plants():
    """Every cell: plant, kind, type on the device, what it has, what the reference has."""
    for kind in ("activation", "gradient"):
        for plant, change in NUMBERS.items():
            for data_type in FLOATS if kind == "activation" else FLOATS[:3]:
                y = normal(kind="c8" if data_type == "DT_COMPLEX64" else "f4")
                limit = limits_of(kind, data_type, y.dtype.name).relative
                x = change(y.astype("c16" if y.dtype.kind == "c" else "f8"), limit)
                yield plant, kind, data_type, x, y
    for plant, change in INTEGERS.items():
        for data_type in WHOLE:
            y = numpy.random.RandomState(1).randint(1, 100, SHAPE)
            yield plant, "index", data_type, change(y), y.astype(BY_NAME[data_type].storage)
    mask = numpy.random.RandomState(1).randint(0, 2, SHAPE) > 0
    for plant, change in FLAGS.items():
        yield plant, "flag", "DT_BOOL", change(mask), mask
    for plant, data_type, x, y in corners():
        yield plant, "corner", data_type, x, y


COPIES = (
    "the same", "rounded to tf32", "errors of half the limit", "errors of twice the limit",
    "scaled, twice the limit", "one element, twice the limit", "transposed", "other values",
)  # fmt: skip


def inputs(root, npu, cells):
    """What is only copied: data that is fed and weights, as inputs of operators; their rows."""
    folder = w.step_folder(root / "npu")
    (root / "tf").mkdir()
    ops = []
    for plant in COPIES:
        for kind, op_type in (("data", "Data"), ("weight", "Variable")):
            for data_type in FLOATS[:4]:
                limit = limits_of(kind, data_type, "float32").relative
                x = NUMBERS[plant](normal().astype("f8"), limit)
                made, name = "x{}".format(len(ops)), "y{}".format(len(ops))
                ops += ['name: "{}" type: "{}"'.format(made, op_type)]
                ops += ['name: "{}" type: "Op" input: "{}:0"'.format(name, made)]
                code = BY_NAME[data_type].code
                tensors = [w.tensor("input", stored(x, data_type), SHAPE, code=code)]
                w.operator(folder, name, tensors, "Op", time=1767323045000000 + len(ops))
                numpy.save(str(root / "tf" / (made + ".0.17673230440000.npy")), normal())
                cells.append((plant, kind, data_type))
    graph = root / "ge_proto_00001_Build.txt"
    lines = [
        '  op {{ {} id: {} output_desc {{ layout: "ND" }} }}'.format(op, number)
        for number, op in enumerate(ops)
    ]
    graph.write_text('graph {{\n  name: "net"\n{}\n}}'.format("\n".join(lines)))
    arguments = (root / "npu", root / "tf", "--graph", graph, "--format", "json")
    return json.loads(npu("dump", "compare", *arguments).out)["rows"]


def test_every_cell(tmp_path, npu):
    """Verdict and reason are those an expert would give."""
    folder = w.step_folder(tmp_path / "npu")
    (tmp_path / "tf").mkdir()
    cells = []
    for number, (plant, kind, data_type, x, y) in enumerate(plants()):
        name = "{}{}{}".format("gradients_" * (kind == "gradient"), names(plant), number)
        name = name.replace("gradients_", "gradients/")
        code = BY_NAME[data_type].code
        data = w.tensor("output", stored(x, data_type), x.shape, code=code)
        w.operator(folder, name, [data], "Op", number, time=1767323045000000 + number)
        label = name.replace("/", "_")
        numpy.save(str(tmp_path / "tf" / (label + ".0.17673230440000.npy")), y)
        cells.append((plant, kind, data_type))
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf", "--format", "json")
    rows = json.loads(result.out)["rows"] + inputs(tmp_path / "inputs", npu, cells)
    assert len(rows) == len(cells)
    lines = {}
    for cell, row in zip(cells, rows):
        assert cell[1] in (row["kind"], "corner") or row["kind"] == "", (cell, row)
        said = ": ".join(filter(None, (row["verdict"], row["reason"])))
        lines.setdefault((cell[1], cell[0]), {}).setdefault(said, []).append(cell[2])
    text = ""
    for (kind, plant), answers in lines.items():
        text += "{}, {}\n".format(kind, plant)
        for said, types in answers.items():
            text += "    {}\n        {}\n".format(" ".join(types), said)
    if golden.update:
        TABLE.write_text(text)
    assert TABLE.read_text() == text
