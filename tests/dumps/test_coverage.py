"""What was not compared is no all-clear: the words, the exit code and JSON of ``dump compare``."""

import json

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy
from dumps.test_everything import dump, graph, reference

from tests.cli.conftest import npu

__all__ = ["graph", "npu"]


def missing(root, names):
    """A reference that lacks some operators."""
    for name in names:
        for path in root.glob(name + ".0.*.npy"):
            path.unlink()
    return root


@pytest.mark.parametrize(
    ("names", "code", "says"),
    [
        ("", 0, "everything that was compared agrees"),
        ("b", 0, "operators that were not compared: 1 of 3 (b)"),
        ("c", 1, "operators that were not compared: 1 of 3 (c)"),
        ("ab", 1, "operators that were not compared: 2 of 3 (a, b)"),
        ("bc", 1, "mostly: the reference has no b.0"),
    ],
)
def test_operators_that_the_reference_lacks(tmp_path, npu, names, code, says):
    """More than half, or the last ones: exit code 1, said before everything else."""
    arguments = (dump(tmp_path / "npu", 0), missing(reference(tmp_path / "tf"), names))
    result = npu("dump", "compare", *arguments)
    assert (result.code, says in result.out) == (code, True), result.out
    assert result.out.startswith("no all-clear:") is bool(code)
    assert ("that is no all-clear" in result.out) is bool(code)
    assert "the inputs of the network were not compared" in result.out or not names
    found = json.loads(npu("dump", "compare", *arguments, "--format", "json").out)
    assert found["covered"] is not bool(code)
    assert found["parts"][0]["operators_not_compared"] == list(names)
    assert [each["rule"] for each in found["diagnostics"]] == ["NPU3015"] * code
    page = tmp_path / "page.html"
    npu("dump", "compare", *arguments, "--html", page)
    assert ("operators that were not compared" in page.read_text()) is bool(names)


def test_what_does_not_count(tmp_path, npu, graph):
    """Operators that are left out on purpose, constants and what the compiler inserted."""
    dump(tmp_path / "npu", 0)
    for number, kind in enumerate(("TransData", "Cast", "NetOutput")):
        folder = w.step_folder(tmp_path / "npu", 0)
        values = w.array("output", numpy.ones(3, "f4"))
        w.operator(folder, "trans_{}".format(number), [values], kind, 9 + number)
    missing(reference(tmp_path / "tf"), "c")
    arguments = ("dump", "compare", tmp_path / "npu", tmp_path / "tf")
    assert npu(*arguments).code == 1
    assert npu(*arguments, "--ignore", "c").code == 0


def test_a_reference_that_cannot_be_read(tmp_path, npu):
    """It may be the one that differs."""
    dump(tmp_path / "npu", 0)
    reference(tmp_path / "tf")
    (path,) = (tmp_path / "tf").glob("b.0.*.npy")
    path.write_bytes(b"\x93NUMPY\x01\x00")
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf")
    assert (result.code, result.out.startswith("no all-clear:")) == (1, True), result.out


def test_reasons_do_not_depend_on_hashes():
    """Of reasons that are there equally often the first is named."""
    from npu_config.dumps.coverage import most_common

    assert [most_common(["b", "a", "c", "a", "b"]), most_common([])] == ["b", ""]


def test_truth_values_have_no_distance(tmp_path, npu):
    """Their cells say so; they are not NaN."""
    folder = w.step_folder(tmp_path / "npu", 0)
    mask = numpy.arange(8) % 2 == 0
    w.operator(folder, "mask", [w.array("output", mask)], "Greater")
    (tmp_path / "tf").mkdir()
    numpy.save(str(tmp_path / "tf/mask.0.17673230440000.npy"), mask)
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf")
    assert (result.code, "NaN" in result.out) == (0, False), result.out


HEAD = "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value\n"


def test_ranks_by_statistics(tmp_path, npu):
    """Tables of what every rank has are equal, or diverge; what they cannot say is said."""
    for device, mean in ((0, 0.25), (1, 0.25), (2, 0.250001)):
        folder = w.step_folder(tmp_path, device=device)
        line = "Output,0,8,DT_FLOAT,ND,2,1,-0.5,{}\n".format(mean)
        name = "HcomAllReduce.sum.1.2.176732304500000{}.csv".format(device)
        (folder / name).write_text(HEAD + line)
        (folder / name.replace("HcomAllReduce.sum", "Relu.own")).write_text(
            HEAD + line.replace("1,-0.5", "{},-0.5".format(device))
        )
    found = json.loads(npu("dump", "compare", tmp_path, "--format", "json").out)
    rows = {(row["device"], row["op_name"]): row for row in found["rows"]}
    verdicts = {key: row["verdict"] for key, row in rows.items()}
    assert verdicts == {(1, "sum"): "agrees", (2, "sum"): "diverges"}
    assert "cannot say" in rows[1, "sum"]["reason"]


def test_scan_of_what_cannot_be_looked_at(tmp_path, npu):
    """A tensor without numbers is no clean one."""
    folder = w.step_folder(tmp_path)
    path = folder / "Relu.a.1.2.1767323045000000.csv"
    path.write_text(HEAD + "Output,0,8,DT_FLOAT,ND,2,,,\n")
    result = npu("dump", "scan", tmp_path)
    assert (result.code, "tensors that could not be looked at: 1" in result.out) == (1, True)
