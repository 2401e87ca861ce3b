"""What was not compared is no all-clear: the words, the exit code and JSON of ``dump compare``."""

import json
import os
import subprocess
import sys

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
        ("", 0, "all compared values agree"),
        ("b", 0, "operators that were not compared: 1 of 3 (b)"),
        ("c", 1, "operators that were not compared: 1 of 3 (c)"),
        ("ab", 1, "operators that were not compared: 2 of 3 (a, b)"),
        ("bc", 1, "most frequent reason: the reference has no b.0"),
    ],
)
def test_operators_that_the_reference_lacks(tmp_path, npu, names, code, says):
    """More than half, or the last ones: exit code 1, said before everything else."""
    arguments = (dump(tmp_path / "npu", 0), missing(reference(tmp_path / "tf"), names))
    result = npu("dump", "compare", *arguments)
    assert (result.code, says in result.out) == (code, True), result.out
    assert result.out.startswith("incomplete comparison:") is bool(code)
    assert ("but not everything was compared" in result.out) is bool(code)
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
    assert (result.code, result.out.startswith("incomplete comparison:")) == (1, True), result.out


def test_reasons_do_not_depend_on_hashes():
    """Of reasons that are there equally often the first is named."""
    from npu_config.dumps.matching import most_common

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
    assert "but single values may still differ" in rows[1, "sum"]["reason"]


def test_scan_of_what_cannot_be_looked_at(tmp_path, npu):
    """A tensor without numbers is no clean one."""
    folder = w.step_folder(tmp_path)
    path = folder / "Relu.a.1.2.1767323045000000.csv"
    path.write_text(HEAD + "Output,0,8,DT_FLOAT,ND,2,,,\n")
    result = npu("dump", "scan", tmp_path)
    assert (result.code, "tensors that could not be examined: 1" in result.out) == (1, True)


LAYERS = 6
ORIGINS = ' attr {{ key: "_datadump_original_op_names" value {{ list {{ {} }} }} }}'
LOOP = 'name: "npu_runconfig/{}" type: "{}" id: {} output_desc {{ layout: "ND" }}'


def network(root):
    """A graph with a device loop, conversions and fused operators; its dump, and a reference.

    The reference has the parts of fused operators, summaries and savers besides; the dump has
    the loop's counters, conversions, copies and the ends of streams, which no network names.
    """
    names = ("loop_cond", "iterations_per_loop", "one")
    ops = [LOOP.format(name, "Variable", number) for number, name in enumerate(names)]
    random = numpy.random.RandomState(1)
    folder = w.step_folder(root / "npu", 0)
    (root / "tf").mkdir()
    known = {"x": random.standard_normal((2, 8)).astype("f4")}

    def add(name, kind, inputs, values=None, origins=None):
        lines = "".join('input: "{}:0" '.format(each) for each in inputs)
        text = 'name: "{}" type: "{}" id: {} {}'.format(name, kind, len(ops), lines)
        if origins is not None:
            listed = "".join('s: "{}" '.format(each) for each in origins)
            text += ORIGINS.format(listed)
        if values is not None:
            text += ' output_desc { layout: "ND" }'
        ops.append(text)
        tensors = [w.array("input", known[each]) for each in inputs]
        if values is not None:
            known[name] = values
            origin = (origins[-1], 0, 2) if origins else None
            tensors.append(w.array("output", values, origin=origin))
        if kind != "Data":
            number = len(ops)
            w.operator(folder, name, tensors, kind, number, time=1767323045000000 + number)

    def refer(name, values):
        path = root / "tf" / "{}.0.17673230440000.npy".format(name.replace("/", "_"))
        numpy.save(str(path), values)

    for name in names:
        known["npu_runconfig/" + name] = numpy.array([1], "i8")
    add("x", "Data", [], known["x"])
    refer("_arg_x_0_0", known["x"])
    last = "x"
    for layer in range(LAYERS):
        name = "l{}".format(layer)
        add("trans_TransData_{}".format(layer), "TransData", [last], known[last], [])
        add(name + "/MatMul", "MatMulV2", ["trans_TransData_{}".format(layer)], known[last] * 2)
        relu = numpy.maximum(known[name + "/MatMul"], 0) + 1
        refer(name + "/MatMul", known[name + "/MatMul"])
        both = [name + "/Add", name + "/Relu"]
        add("{0}/Add{0}/Relu".format(name), "FusedAddRelu", [name + "/MatMul"], relu, both)
        refer(name + "/Add", relu - 1)
        refer(name + "/Relu", relu)
        refer("summary_" + name, numpy.ones(3, "f4"))
        add(name + "_cast", "Cast", ["{0}/Add{0}/Relu".format(name)], relu, [])
        last = name + "_cast"
    add("loss", "ReduceSumD", [last], known[last].sum(keepdims=True))
    refer("loss", known["loss"])
    refer("save/restore", numpy.ones(2, "f4"))
    add("memcpy_out", "MemcpyAsync", ["loss"], known["loss"], [])
    add("NetOutput", "NetOutput", ["memcpy_out"])
    counters = ["npu_runconfig/loop_cond", "npu_runconfig/one"]
    add("npu_runconfig/assign_add", "AssignAdd", counters, numpy.array([2], "i8"))
    add("FlowCtrl_LoopCond", "LoopCond", counters[:1], numpy.array([True]))
    limits = ["npu_runconfig/loop_cond", "npu_runconfig/iterations_per_loop"]
    add("FlowCtrl_StreamSwitch", "StreamSwitch", limits)
    add("FlowCtrl_StreamActive", "StreamActive", counters[:1])
    add("End_Graph", "EndGraph", [])
    path = root / "ge_proto_00001_Build.txt"
    text = "".join("  op {{ {} }}\n".format(op) for op in ops)
    path.write_text('graph {{\n  name: "net"\n{}}}'.format(text))
    return ("dump", "compare", root / "npu", root / "tf"), path


def test_what_only_the_device_has(tmp_path, npu):
    """Loop counters, conversions, copies, ends of streams are no gap, with a graph or without."""
    command, graph = network(tmp_path)
    for more in ((), ("--graph", graph)):
        result = npu(*command, *more)
        assert (result.code, "incomplete" in result.out) == (0, False), result.out
    missing(tmp_path / "tf", ["loss"])
    assert npu(*command, "--graph", graph).code == 1


@pytest.mark.parametrize(("operators", "code"), [(3, 0), (4, 1)])
def test_models_that_the_reference_lacks(tmp_path, npu, operators, code):
    """A small one is named; one with more operators than were compared may be the network."""
    dump(tmp_path / "npu", 0)
    folder = w.step_folder(tmp_path / "npu", 0, model="other")
    for number in range(operators):
        values = w.array("output", numpy.ones(3, "f4"))
        w.operator(folder, "o{}".format(number), [values], "Relu", number + 1)
    result = npu("dump", "compare", tmp_path / "npu", reference(tmp_path / "tf"))
    text = "operators of models that are completely missing from the reference: {}".format(
        operators
    )
    assert (result.code, text in result.out) == (code, True), result.out
    assert result.out.startswith("incomplete comparison:") is bool(code)


def test_overflows_of_a_tree_that_is_partly_unreadable(tmp_path, npu):
    """It is said first, whatever the other records say."""
    folder = w.step_folder(tmp_path)
    w.opdebug(folder, 1, 2, 0)
    path = w.opdebug(folder, 1, 2, 0, time=1767323045000001)
    path.write_bytes(path.read_bytes()[:300])
    result = npu("dump", "overflow", tmp_path)
    text = "incomplete result: files that could not be read: 1; the first is {}".format(path)
    assert (result.code, result.out.startswith(text)) == (1, True), result.out


COMMANDS = """
from npu_config.__main__ import main
for line in {!r}:
    print(line)
    print(main(["--lang", "en", "dump", *line]))
"""


def test_answers_do_not_depend_on_hashes(tmp_path):
    """Every command with a tie (same times, reasons, counts) answers the same in each process."""
    names = ["b{}".format(number) for number in range(6)]
    for device in (0, 1):
        folder = w.step_folder(tmp_path / "npu", 0, device=device)
        for number, name in enumerate(names):
            values = numpy.array([number, device, numpy.nan], "f4")
            w.operator(folder, name, [w.array("output", values)], "Op" + name, number + 1)
            w.opdebug(folder, number + 1, 2, 0x8, time=1767323045000000 + number // 3)
    (tmp_path / "tf").mkdir()
    for name in names[:4]:
        numpy.save(str(tmp_path / "tf" / (name + ".0.1.npy")), numpy.zeros(3, "f4"))
    lines = [["list", "npu"], ["scan", "npu"], ["overflow", "npu"], ["compare", "npu"]]
    lines += [["compare", "npu", "tf"], ["compare", "npu", "tf", "--max-rel", "9"]]
    lines = [[*line, "--format", form] for line in lines for form in ("text", "json")]
    answers = []
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", COMMANDS.format(lines)],
            cwd=str(tmp_path),
            env=dict(os.environ, PYTHONHASHSEED=seed),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        answers.append(result.stdout.decode())
    assert "b0" in answers[0]
    assert "Traceback" not in answers[0]
    assert answers[0] == answers[1]
