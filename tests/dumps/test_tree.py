"""Folders of dumps: what is in them, what is missing, what is none of ours."""

import json
import os
from pathlib import Path

import pytest
from dumps import dump_writer as w
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.dumps import find_dumps, read_statistics
from npu_config.dumps.tree import parse_folder, parse_name, select
from tests import golden
from tests.cli.conftest import npu

__all__ = ["npu"]
DATA = Path(__file__).parents[1] / "data/dump/tree"
INDEX = json.loads((DATA / "index.json").read_text())


def test_the_tree():
    """Devices, models, steps and names by hash are those of the index."""
    tree = find_dumps(DATA / "dump")
    first = tree.only([file for file in tree if file.run == "20260102030405"])
    expected = INDEX["first"]
    assert [int(device) for device in expected["devices"]] == list(first.devices)
    assert expected["models"] == list(first.models)
    assert [int(step) for step in expected["steps"]] == list(first.steps)
    assert INDEX["newest"] == tree.runs[-1]
    hashed = {Path(file.path).name: file for file in tree if file.hashed}
    assert set(expected["hashed"]) == set(hashed)
    for name, real in expected["hashed"].items():
        assert parse_name(real) == hashed[name].name
    assert [Path(name).name for name in tree.missing] == ["gone.missing.1.1.1767323045000000"]
    assert [Path(stray.path).name for stray in tree.strays] == ["notes.txt"]


def test_any_folder_in_the_tree():
    """Run, device, model and step are known from any folder on, and for one file."""
    path = "20260102030405/0/ge_default_20260102030405_1/1/0"
    for start in ("", "20260102030405", "20260102030405/0", path):
        files = [f for f in find_dumps(DATA / "dump" / start) if f.op_name == "conv1_Relu"]
        assert (
            files[0].run,
            files[0].device,
            files[0].model,
            files[0].step,
        ) == ("20260102030405", 0, "ge_default_20260102030405_1", 0)
    (file,) = find_dumps(DATA / "dump" / path / "13954893281042377109")
    assert (file.op_type, file.hashed, file.step) == ("FusedBatchNormV3", True, 0)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("/d/20260102030405/7/net/2/9", ("20260102030405", 7, "net", 2, 9)),
        ("/d/20260102030405/7", ("20260102030405", 7, None, None, None)),
        ("/d/20260102030405/7/net", ("20260102030405", 7, "net", None, None)),
        ("/d/20260102030405/7/9", ("20260102030405", 7, None, None, 9)),
        ("/copied/0/net/2/9", (None, 0, "net", 2, 9)),
        ("/somewhere/else", (None, None, None, None, None)),
    ],
)
def test_folders(parts, expected):
    """Each part of a path is optional from the model on."""
    assert expected == parse_folder(parts.split("/"))


def test_names():
    """Names of old releases, of FFTS+, of statistics and of aclnn say what they say."""
    old = parse_name("Mul.x.12.1767323045000080")
    assert old[:4] == ("Mul", "x", 12, None)
    ffts = parse_name("Add.x.0.3.1767323045000070.4.1.5.0")
    assert (ffts.task_type, ffts.context, ffts.thread) == (4, 1, 5)
    assert parse_name("Mul.x.8.2.1767323045000100.csv").is_statistics
    aclnn = parse_name("name.Add.65535.65535.1767323045000100")
    assert aclnn[:2] == ("Add", "name")
    assert parse_name("Opdebug.Node_OpDebug.40.5.1767323045000000").is_overflow
    for other in ("notes.txt", "a.b.c", "mapping.csv", "x.0.1767323044000010.npy", ""):
        assert parse_name(other) is None


@settings(max_examples=golden.tries(200))
@given(st.text(max_size=60))
def test_any_name(name):
    """Any text is a name or none."""
    parse_name(name)
    parse_folder(name.split("/"))


def test_what_is_there_and_is_no_dump(tmp_path):
    """Links to nothing, pipes and folders that cannot be read do not end the search."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "a", [])
    (folder / "link").symlink_to("nowhere")
    os.mkfifo(str(folder / "Add.pipe.1.1.1767323045000000"))
    (folder / "loop").symlink_to(tmp_path)
    tree = find_dumps(tmp_path)
    assert [file.op_name for file in tree] == ["a"]
    assert [stray.reason for stray in tree.strays] == ["a link to a folder; not followed"]
    assert tree.diagnostics == ()


def test_a_link_to_a_dump_that_is_gone(tmp_path, npu):
    """It is no all-clear: what is named like a dump and is not there is an error."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "a", [w.tensor("output", bytes(8), (2,))])
    (folder / "Add.b.2.2.1767323045000001").symlink_to("nowhere")
    for command in ("list", "overflow"):
        result = npu("dump", command, tmp_path)
        assert (result.code, "Add.b.2.2.1767323045000001" in result.out) == (1, True), result


@pytest.mark.parametrize("beside", ["a dump", "a stray file", "nothing"])
def test_what_is_beside_a_link_to_nothing(tmp_path, beside):
    """It is one finding of several things; where there is nothing else, the only answer."""
    folder = w.step_folder(tmp_path)
    (folder / "Add.b.2.2.1767323045000001").symlink_to("nowhere")
    if beside == "nothing":
        with pytest.raises(NpuConfigError, match="NPU701"):
            find_dumps(tmp_path)
        return
    if beside == "a dump":
        w.operator(folder, "a", [])
    else:
        (folder / "notes.txt").write_text("")
        (folder / "loop").symlink_to(tmp_path)
    tree = find_dumps(tmp_path)
    assert (len(tree), bool(tree.strays)) == (beside == "a dump", beside == "a stray file")
    assert [found.rule for found in tree.diagnostics] == ["NPU701"]


def test_a_file_that_vanishes(tmp_path):
    """A file that was listed and is gone is one finding."""
    path = w.operator(w.step_folder(tmp_path), "a", [])
    tree = find_dumps(tmp_path)
    path.unlink()
    opened = tree[0].open()
    assert opened.dump is None
    assert [found.rule for found in opened.diagnostics] == ["NPU701"]
    with pytest.raises(NpuConfigError, match="does not exist"):
        find_dumps(tmp_path / "missing")


def test_select():
    """Operators are chosen by step, name and type; names with / are those with _."""
    tree = find_dumps(DATA)
    assert {"conv1_Relu"} == {file.op_name for file in select(tree, op=["conv1/Relu"])}
    assert {"Conv2D", "Relu"} == {f.op_type for f in select(tree, 5, op_type=["[CR]*"])}
    assert {1} == set(select(tree, device=1).devices)


def test_statistics():
    """Classic tables, tables of some columns and rows without Count are read."""
    folder = DATA / "dump/20260102030405/0/ge_default_20260102030405_1/1/5"
    classic = read_statistics(folder / "Mul.stats_mul.8.2.1767323045000100.csv")
    assert classic[0].shape == (2, 3)
    assert (
        classic[0].numbers["Max Value"],
        classic[0].numbers["Count"],
        classic[0].numbers["Nan Count"],
    ) == (3.5, 6, 0)
    assert float("inf") == classic[1].numbers["Max Value"]
    assert classic[2].shape is None
    new = read_statistics(folder / "Mul.stats_new_mul.9.2.1767323045000101.csv")
    assert (new[0].numbers["l2norm"], new[1].numbers["l2norm"]) == (4.2, None)
    (short,) = read_statistics(folder / "Mul.stats_short_row.10.2.1767323045000102.csv")
    assert short.numbers == {"Max Value": 1234, "Min Value": 5678, "l2norm": 90.3005}


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "{header}\nneither,0,1,DT,ND,2\n", "{header}\nInput\n", "\udcff"]
)
def test_bad_statistics(tmp_path, text):
    """A table that is none is one finding."""
    head = "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value"
    path = tmp_path / "a.csv"
    path.write_bytes(text.format(header=head).encode("utf-8", "surrogateescape"))
    with pytest.raises(NpuConfigError) as caught:
        read_statistics(path)
    assert len(caught.value.diagnostics) == 1
