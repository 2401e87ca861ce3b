"""What the names of a reference say: folders, files, the lines of an index, types."""

from pathlib import Path

import pytest

pytest.importorskip("numpy")

import numpy

from npu_config import NpuConfigError
from npu_config.dumps.reference import open_npy, open_references
from npu_config.dumps.tree import Folder
from npu_config.text.tables import COLUMNS

RUN = "20260102030405"
NOTHING = (None,) * 5


def made(root, *paths):
    """Empty files below a folder; names are all that is looked at until a tensor is asked for."""
    for path in map(root.joinpath, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return open_references(str(root))


@pytest.mark.parametrize(
    ("path", "folder", "is_dump"),
    [
        ("", NOTHING, False),
        ("run_3/", (None, None, None, None, 3), False),
        ("run_4_5/", (None, None, None, None, 5), False),
        ("step_2/", (None, None, None, None, 2), False),
        ("other/step_1/", (None, None, None, None, 1), False),
        ("device_1/step_2/", (None, 1, None, None, 2), True),
        ("device_7/", (None, 7, None, None, None), True),
        ("net.7/", NOTHING, False),
        ("net.7/step_0/", (None, None, "net", 7, 0), False),
        ("a.b.7/step_0/", (None, None, "a.b", 7, 0), False),
        ("p.1/q.2/step_0/", (None, None, "q", 2, 0), False),
        ("run_" + RUN + "/", (RUN, None, None, None, None), False),
        ("run_" + RUN[1:] + "/", (None, None, None, None, int(RUN[1:])), False),
        ("step_" + RUN + "/", (None, None, None, None, int(RUN)), False),
        ("run_" + RUN + "/device_1/net.7/step_2/", (RUN, 1, "net", 7, 2), True),
    ],
)
def test_folders(tmp_path, path, folder, is_dump):
    """Run, device, model and step, in any order; only a dump of the NPU has devices."""
    found = made(tmp_path, path + "a.0.1.npy")
    assert ([Folder(*folder)], is_dump) == (list(found.folders), found.is_dump)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a.0.1", {("a", 0, "output"): "a.0.1"}),
        ("a.b.3.1", {("a.b", 3, "output"): "a.b.3.1"}),
        ("a.input.2.1", {("a", 2, "input"): "a.input.2.1"}),
        ("a.0.2 a.0.10 a.0.9", {("a", 0, "output"): "a.0.10"}),
        ("a.0.1 a.1.1", {("a", 0, "output"): "a.0.1", ("a", 1, "output"): "a.1.1"}),
        ("a.0." + 18 * "9", {("a", 0, "output"): "a.0." + 18 * "9"}),
    ],
)
def test_names(tmp_path, names, expected):
    """Operator, output and time; of several times the last."""
    found = made(tmp_path, *(name + ".npy" for name in names.split()))
    (entries,) = found.folders.values()
    actual = {(npy.node, npy.output, npy.side): Path(npy.path).stem for npy in entries}
    assert expected == actual
    assert found.is_dump is any(npy.side == "input" for npy in entries)


@pytest.mark.parametrize("name", ["a", "a.1", "a.x.1", "a.1.x", "a.-1.1", "a.0." + 19 * "9"])
def test_other_names(tmp_path, name):
    """They are no reference, and what a reference is called is said."""
    with pytest.raises(NpuConfigError, match=r"OPERATOR\.OUTPUT\.TIME\.npy"):
        made(tmp_path, name + ".npy")


def line(**more):
    """A line of an index."""
    cells = {"file": "run_1/a.npy", "run": "1", "node": "p/a", "output": "0",
             "debug_op": "DebugIdentity", **more}  # fmt: skip
    return ",".join(cells.get(name, "") for name in COLUMNS)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({}, ("p/a", 0, "output", 1, None)),
        ({"output": "2"}, ("p/a", 2, "output", 1, None)),
        ({"run": "7"}, ("p/a", 0, "output", 7, None)),
        ({"debug_op": "input"}, ("p/a", 0, "input", 1, None)),
        ({"debug_op": "output"}, ("p/a", 0, "output", 1, None)),
        ({"file": "a.npy"}, ("p/a", 0, "output", 1, None)),
        ({"file": "device_4/a.npy"}, ("p/a", 0, "output", 1, 4)),
        ({"file": "device_4/net.7/run_9/a.npy"}, ("p/a", 0, "output", 1, 4)),
        ({"file": "net.7/device_4"}, ("p/a", 0, "output", 1, None)),
        ({"debug_op": "DebugNanCount"}, None),
        ({"run": "x"}, None),
        ({"output": "-1"}, None),
        ({"file": ""}, None),
        ({"file": "/a.npy"}, None),
        ({"file": "run_1/../../a.npy"}, None),
    ],
)
def test_lines_of_an_index(tmp_path, cells, expected):
    """Only tensors whose files are below the folder; the step is the one of the line.

    The device is that of the folders above the file.
    """
    head = ",".join(COLUMNS)
    lines = [head, line(file="run_9/z.npy", node="z", run="9"), line(**cells)]
    (tmp_path / "index.csv").write_text("\n".join(lines))
    found = [npy for each in open_references(str(tmp_path)).folders.values() for npy in each]
    assert found[0].node == "z"
    actual = [
        (npy.node, npy.output, npy.side, npy.folder.step, npy.folder.device) for npy in found[1:]
    ]
    assert ([] if expected is None else [expected]) == actual
    (tmp_path / "index.csv").write_text(head)
    with pytest.raises(NpuConfigError, match=r"index\.csv"):
        open_references(str(tmp_path))


@pytest.mark.parametrize(
    ("files", "index", "asked", "expected"),
    [
        ("p_a.0.1", "", ("p/a", 0), ("p/a", False)),
        ("p_a.0.1", "", ("p_a", 0), ("p_a", False)),
        ("p_a.0.1", "", ("p/a", 1), None),
        ("_arg_x_0_0.0.1", "", ("x", 0), ("x", True)),
        ("_arg_x_1_0.0.1", "", ("x", 1), ("x", True)),
        ("_arg_x_1_0.0.1", "", ("x", 0), None),
        ("_arg_x_0_0.0.1", "", ("_arg_x_0_0", 0), ("_arg_x_0_0", True)),
        ("x.0.1 _arg_x_0_0.0.1", "", ("x", 0), ("x", False)),
        ("p_a.0.1", "p/a", ("p_a", 0), ("p/a", False)),
        ("p_a.0.1", "p/a", ("p/a", 0), ("p/a", False)),
        ("_arg_p/x_0_0.0.1", "_arg_p/x_0_0", ("p/x", 0), ("p/x", True)),
    ],
)
def test_outputs_by_name(tmp_path, files, index, asked, expected):
    """As files have the name, as the network has it, and what TensorFlow calls a feed."""
    for name in files.split():
        numpy.save(str(tmp_path / (name.replace("/", "_") + ".npy")), numpy.ones(3, "f4"))
    if index:
        name = files.replace("/", "_") + ".npy"
        text = "{}\n{}".format(",".join(COLUMNS), line(file=name, node=index))
        (tmp_path / "index.csv").write_text(text)
    references = open_references(str(tmp_path))
    (folder,) = references.folders
    found = references.open(folder).find(*asked)
    assert expected == (None if found is None else (found.name, found.is_fed))
    if found is not None:
        assert (found.output, found.data_type, found.shape) == (asked[1], "float32", (3,))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("", "no files"),
        ("notes.txt", "notes.txt"),
        ("Opdebug.Node_OpDebug.1.1.1767323045000000", "overflow records"),
        ("Opdebug.Node_OpDebug.1.1.1767323045000000 notes.txt", "notes.txt"),
    ],
)
def test_nothing_to_compare_with(tmp_path, names, words):
    """What is there instead is said."""
    with pytest.raises(NpuConfigError, match=words):
        made(tmp_path, *names.split())


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", "c16", "V2"])
def test_arrays_of_numbers(tmp_path, dtype):
    """Numbers of any type; two bytes without a name are bfloat16."""
    numpy.save(str(tmp_path / "a.npy"), numpy.zeros(3, dtype))
    assert open_npy(str(tmp_path / "a.npy")).dtype == numpy.dtype(dtype)


@pytest.mark.parametrize("dtype", ["S3", "U2", "V4", "M8[s]", [("p", "u1"), ("q", "u1")], "O"])
def test_arrays_of_something_else(tmp_path, dtype):
    """They are refused, pairs of bytes with names as well."""
    numpy.save(str(tmp_path / "a.npy"), numpy.zeros(3, dtype))
    with pytest.raises(NpuConfigError, match="NPU327"):
        open_npy(str(tmp_path / "a.npy"))
