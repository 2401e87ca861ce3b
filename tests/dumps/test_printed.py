"""What is printed of a dump, and what stands in the page of a comparison, word by word."""

import json
import re

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy
from dumps.test_everything import RUN, dump, graph, reference, values_of

from npu_config.dumps import compare_dumps
from npu_config.dumps.comparison_page import comparison_page
from tests.cli.conftest import npu

__all__ = ["graph", "npu"]
HEAD = "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value\n"


def test_scan_says_what_each_tensor_holds(tmp_path, npu):
    """Only the counts that there are, the step, and that a table knows a least number."""
    nan = numpy.array([1, numpy.nan, numpy.inf, -numpy.inf, numpy.nan], "f4")
    w.operator(
        w.step_folder(tmp_path, 3), "odd", [w.array("input", nan), w.array("output", nan[:2])]
    )
    flat = tmp_path / "flat"
    flat.mkdir()
    w.operator(flat, "flat", [w.array("output", numpy.array([65504, 1], "f2"))])
    row = "Output,0,8,DT_FLOAT16,ND,2x2,65504,-1,0\n"
    (w.step_folder(tmp_path, 4) / "Add.table.1.2.1767323045000000.csv").write_text(HEAD + row)
    result = npu("dump", "scan", tmp_path, "--format", "json")
    messages = [each["message"] for each in json.loads(result.out)["diagnostics"]]
    assert messages == [
        "output 0 of flat in step ?: 1 at the type's limit",
        "input 0 of odd in step 3: 2 NaN, 2 infinite",
        "output 0 of odd in step 3: 1 NaN",
        "output 0 of table in step 4: at least 1 at the type's limit",
    ]
    printed = npu("dump", "scan", tmp_path).out
    rows = [line.split() for line in printed.splitlines() if ":output:" in line]
    assert [row[:9] for row in rows] == [
        ["?", "?", "flat:output:0", "Add", "DT_FLOAT16", "0", "0", "1", "origin"],
        ["3", "0", "odd:output:0", "Add", "DT_FLOAT", "1", "0", "0", "came"],
        ["4", "0", "table:output:0", "Add", "DT_FLOAT16", "0", "0", "1+", "origin"],
    ]


def page_of(*sides):
    """The page of a comparison: its matrix, row by row, the data of its table, and its text."""
    page = comparison_page(compare_dumps(*sides), "a & b")
    matrix = page.partition('<div class="matrix">')[2].partition("</div>")[0]
    rows = [
        [re.sub("<.*?>", "", cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)]
        for row in matrix.split("</tr>")[:-1]
    ]
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return rows, json.loads(data.group(1)), page


def bent(step, device=0):
    """The middle of the network with wrong values."""
    return values_of(step, device)["b"] * numpy.float32(3)


def test_the_matrix_of_steps_and_devices(tmp_path):
    """A line for each step, a column for each device; what is on one side only is a dash."""
    for step, device in ((0, 0), (0, 1), (1, 0)):
        dump(tmp_path / "one", step, device)
        dump(tmp_path / "two", step, device, **({"b": bent(0, 1)} if device else {}))
    rows, data, page = page_of(tmp_path / "one", tmp_path / "two")
    assert rows == [
        ["step", "device 0", "device 1"],
        ["0", "agrees", "diverges (2)"],
        ["1", "agrees", "-"],
    ]
    assert (data["words"]["where"], data["parts"]) == (
        "step / device",
        ["0 / 0", "0 / 1", "1 / 0"],
    )
    assert "<h1>a &amp; b</h1>" in page
    assert '<div class="first">' in page
    compared = "compared: step 0, 1, device 0, 1, model net, run {}".format(RUN)
    assert compared in page


def test_what_is_said_of_no_first(tmp_path):
    """Where nothing diverges there is no first operator, and nothing is said of its inputs."""
    dump(tmp_path / "one", 0)
    found = compare_dumps(tmp_path / "one", tmp_path / "one")
    assert (found.first_diverging, found.inputs_agree, found.passes) == (None, False, ())
    assert (found.path_to_it, found.step, found.against_dump) == ((), 0, True)


def test_the_matrix_of_models(tmp_path):
    """With more than one model each line names its own; a row of the table belongs to its part."""
    for model in ("net", "other"):
        dump(tmp_path / "one", 0, model=model)
        dump(tmp_path / "two", 0, model=model, **({"b": bent(0)} if model == "other" else {}))
    rows, data, _ = page_of(tmp_path / "one", tmp_path / "two")
    assert rows == [
        ["step", "model", "device 0"],
        ["0", "net", "agrees"],
        ["0", "other", "diverges (2)"],
    ]
    where = ("step / device / model", ["0 / 0 / net", "0 / 0 / other"])
    assert (data["words"]["where"], data["parts"]) == where
    assert {row[0] for row in data["rows"]} == {0, 1}


def test_the_matrix_of_inputs_that_differ(tmp_path, graph):
    """Where the inputs of the network differ, that stands in place of the count."""
    dump(tmp_path / "npu", 0)
    reference(tmp_path / "tf", x=values_of(7, 0)["x"])
    rows, _, page = page_of(tmp_path / "npu", tmp_path / "tf", graph)
    assert rows == [["step", "device 0"], ["0", "inputs differ"]]
    assert '<td class="diverges"><button data-part="0">inputs differ' in page


def test_many_steps_are_shortened(tmp_path):
    """Twelve steps are all named, of thirteen the first nine and the last two."""
    values = w.array("output", numpy.ones(2, "f4"))
    for count, said in ((12, "8, 9, 10, 11"), (13, "7, 8, ..., 11, 12")):
        for side in ("one", "two"):
            for step in range(count):
                w.operator(w.step_folder(tmp_path / side, step), "x", [values])
        _, _, page = page_of(tmp_path / "one", tmp_path / "two")
        named = re.search("compared: step (.*?), device", page).group(1)
        assert (named.endswith(said), named.startswith("0, 1, 2, 3, 4, 5, 6, 7")) == (True, True)


@pytest.mark.parametrize(("count", "is_open"), [(5, True), (6, False)])
def test_long_lists_are_folded(tmp_path, count, is_open):
    """Five lines of what was not compared are open, six are folded."""
    dump(tmp_path / "one", 0)
    for step in range(count + 1):
        dump(tmp_path / "two", step)
    _, _, page = page_of(tmp_path / "one", tmp_path / "two")
    head = re.search("<details( open)?><summary>Not compared: {}<".format(count), page)
    assert (head is not None and bool(head.group(1))) is is_open
