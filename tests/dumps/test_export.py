"""The export: every value, stable names, resuming, nothing outside of the folder."""

import csv
import re
from pathlib import Path

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config.dumps import compare_dumps, export_dumps, find_dumps, read_dump
from npu_config.text.tables import COLUMNS

DATA = Path(__file__).parents[1] / "data/dump"


@pytest.mark.parametrize("layout", ["original", "device"])
def test_every_tensor(tmp_path, layout):
    """Every tensor of the vectors is exported with its values, or as it is stored."""
    tree = find_dumps(DATA / "dumps")
    lines, _ = export_dumps(tree, tmp_path / "out", layout)
    with (tmp_path / "out/index.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [line._asdict()["file"] for line in lines] == [row["file"] for row in rows]
    assert tuple(rows[0]) == COLUMNS
    by_node = {read_dump(file.path).op_name: file for file in tree if "nano" not in file.path}
    done = 0
    for line in lines:
        tensors = {
            (side, index): tensor
            for side, index, tensor in read_dump(by_node[line.node].path).tensors()
        }
        tensor = tensors[line.debug_op, line.output]
        if not line.file:
            continue
        values = numpy.load(str(tmp_path / "out" / line.file))
        assert line.dtype == values.dtype.name
        if line.status == "ok":
            numpy.testing.assert_array_equal(tensor.array(layout), values)
            done += 1
        elif "bytes" in line.status:
            assert tensor.raw() == values.tobytes()
        assert line.shape == "x".join(map(str, values.shape))
    assert done > 35


def test_an_export_is_a_reference(tmp_path):
    """What was exported can be compared with, by its real names."""
    export_dumps(find_dumps(DATA / "net/npu"), tmp_path / "out")
    found = compare_dumps(DATA / "net/npu", tmp_path / "out", DATA / "net/graph")
    outputs = [row for row in found.rows if row.side == "output" and row.metrics]
    assert {"agrees"} == {row.verdict for row in outputs}


def test_resuming(tmp_path):
    """An export goes on: what is whole stays, what is missing or cut is written."""
    tree, out = find_dumps(DATA / "net/npu"), tmp_path / "out"
    lines, _ = export_dumps(tree, out)
    first, second, third = (out / line.file for line in lines[:3])
    kept = first.stat().st_mtime_ns
    content = second.read_bytes()
    second.unlink()
    third.write_bytes(third.read_bytes()[:-1])
    again, _ = export_dumps(tree, out)
    assert lines == again
    assert kept == first.stat().st_mtime_ns
    assert content == second.read_bytes()
    numpy.load(str(third))
    assert not list(out.rglob("*.tmp"))


@pytest.mark.parametrize(
    "files",
    [
        {"mine.txt": b"mine"},
        {"index.csv": b"mine"},
        {"index.csv": b"\xff\xfe"},
        {"index.csv": b""},
        {"index.csv/a": b"mine"},
    ],
)
def test_a_folder_of_something_else(tmp_path, files):
    """A folder that holds something else is not written to."""
    for name, content in files.items():
        (tmp_path / "out" / name).parent.mkdir(parents=True)
        (tmp_path / "out" / name).write_bytes(content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match="not from an export"):
        export_dumps(find_dumps(DATA / "net/npu"), tmp_path / "out")
    assert before == sorted(tmp_path.rglob("*"))
    assert all((tmp_path / "out" / name).read_bytes() == files[name] for name in files)


@pytest.mark.parametrize("there", ["", "out", "out/deep/folder"])
def test_where_an_export_goes(tmp_path, there):
    """An empty folder that is there is taken, and one that is not there is made."""
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    target = tmp_path / (there or "new/folder")
    lines, _ = export_dumps(find_dumps(DATA / "net/npu"), target)
    assert all((target / line.file).is_file() for line in lines)


def test_names_stay_inside(tmp_path):
    """Names with .., absolute ones and very long ones give files in the folder."""
    folder = w.step_folder(tmp_path / "npu", model="m")
    values = numpy.ones(2, "f4")
    names = ["../../up", "/root/x", "a" * 400, "..", "a/b", "a_b", "\n\x1b[31m", "\u00e9"]
    for index, name in enumerate(names):
        path = folder / "Add.n{}.1.2.{}".format(index, 1767323045000000 + index)
        path.write_bytes(w.dump(name, [w.array("output", values)]))
    lines, _ = export_dumps(find_dumps(tmp_path / "npu"), tmp_path / "out")
    files = {path.resolve() for path in (tmp_path / "out").rglob("*.npy")}
    assert len(names) == len(files) == len({line.file for line in lines})
    assert names == [line.node for line in lines]
    assert {tmp_path / "npu", tmp_path / "out"} == set(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", "step_0"),
        ("net/7/3", "net.7/step_3"),
        ("1/net/7/3", "device_1/net.7/step_3"),
        ("20260102030405/1/net/7/3", "run_20260102030405/device_1/net.7/step_3"),
        ("20260102030405/0/net/7/0", "run_20260102030405/device_0/net.7/step_0"),
        ("20260102030405/1/3", "run_20260102030405/device_1/step_3"),
        ("20260102030405/1/net", "run_20260102030405/device_1/net.0/step_0"),
    ],
)
def test_folders(tmp_path, folder, expected):
    """What the path of a dump says is in the path of its tensors and in the index."""
    source = tmp_path / "npu" / folder
    source.mkdir(parents=True)
    values = numpy.arange(4, dtype="f4")
    for time in (1767323045000000, 1767323045000001):
        w.operator(
            source, "p/a", [w.array("input", values), w.array("output", values + 1)], time=time
        )
    told = []
    lines, found = export_dumps(
        find_dumps(tmp_path / "npu"), tmp_path / "out", progress=told.append
    )
    assert (found, told) == ((), [1, 1])
    names = ["p_a.input.0.0.npy", "p_a.0.0.npy", "p_a.input.0.1.npy", "p_a.0.1.npy"]
    assert [line.file for line in lines] == ["{}/{}".format(expected, name) for name in names]
    assert {(line.node, line.shape, line.status) for line in lines} == {("p/a", "4", "ok")}
    step, device = (re.search(word + r"_(\d+)", expected) for word in ("step", "device"))
    place = int(step.group(1)), "npu:{}".format(device.group(1) if device else 0)
    assert {(line.run, line.device) for line in lines} == {place}
    assert [line.occurrence for line in lines] == [0, 0, 1, 1]
    for line in lines:
        stored = numpy.load(str(tmp_path / "out" / line.file))
        assert stored.tolist() == (values + (line.debug_op == "output")).tolist()


@pytest.mark.parametrize(
    ("code", "content", "shape", "expected"),
    [
        (3, bytes(range(6)), (2, 3), ("int8", "2x3", True)),
        (3, b"7", (1,), ("int8", "1", True)),
        (11, bytes([1, 0, 1]), (3,), ("bool", "3", True)),
        (2, bytes(8), (4,), ("float16", "4", True)),
        (27, bytes(8), (4,), ("float32", "4", True)),
        (13, b"abcde", (1,), ("uint8", "5", False)),
        (2, bytes(8), (), ("float16", "", True)),
        (2, b"", (0, 3), ("float16", "0x3", True)),
    ],
)
def test_types(tmp_path, code, content, shape, expected):
    """Each type as numpy has it; of one that is not documented the bytes, which is said."""
    tensor = w.tensor("output", content, shape, code=code)
    w.operator(tmp_path, "a", [tensor])
    (line,), _ = export_dumps(find_dumps(tmp_path), tmp_path / "out")
    assert expected == (line.dtype, line.shape, line.status == "ok")
    values = numpy.load(str(tmp_path / "out" / line.file))
    assert values.dtype.name == expected[0]


STORED = "exported as stored on the device: "


@pytest.mark.parametrize(
    ("code", "shape", "original", "layout", "expected"),
    [
        (2, (2, 3), None, "original", ("2x3", "ok")),
        (3, (1, 1, 1, 2, 16), (1, 1, 2, 5), "original", ("1x1x2x5", "ok")),
        (3, (1, 1, 1, 2, 16), (1, 1, 2, 5), "device", ("1x1x1x2x16", "ok")),
        (
            3,
            (2, 3),
            (2, 3),
            "original",
            (
                "2x3",
                STORED
                + "a tensor in the format NC1HWC0 has 5 dimensions, but the shape is [2, 3]",
            ),
        ),
        (
            5,
            (2, 3),
            (6,),
            "original",
            ("2x3", STORED + "the layout NC1C0HWPAD is not documented"),
        ),
        (5, (2, 3), (6,), "device", ("2x3", "ok")),
    ],
)
def test_layouts(tmp_path, code, shape, original, layout, expected):
    """In the layout of the network where that is known; else as it is stored, and why."""
    values = numpy.arange(numpy.prod(shape), dtype="f4")
    tensor = w.tensor("output", values.tobytes(), shape, format_code=code, original=original)
    w.operator(tmp_path, "a", [tensor])
    (line,), found = export_dumps(find_dumps(tmp_path), tmp_path / "out", layout)
    assert (expected, ()) == ((line.shape, line.status), found)
    stored = numpy.load(str(tmp_path / "out" / line.file))
    assert expected[0] == "x".join(map(str, stored.shape))
    if stored.size == values.size:
        assert values.tolist() == stored.ravel().tolist()


def test_tensors_without_bytes(tmp_path):
    """They have a line of the index that says so, and no file."""
    w.operator(tmp_path, "a", [w.tensor("output", b"", (2, 3), size=24)])
    (line,), _ = export_dumps(find_dumps(tmp_path), tmp_path / "out")
    assert (line.file, line.dtype, line.shape) == ("", "DT_FLOAT", "2x3")
    assert line.status != "ok"
    assert not list(tmp_path.rglob("*.npy"))
