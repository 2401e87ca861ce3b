"""The export: every value, stable names, resuming, nothing outside of the folder."""

import csv
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
    with pytest.raises(FileExistsError, match="not an export"):
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
