"""``dump compare`` over steps, devices, runs and models; inputs first; ranks; single files."""

import json

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config import NpuConfigError
from npu_config.dumps import compare_dumps, compare_files, compare_ranks, find_dumps
from npu_config.dumps.export import export_dumps
from npu_config.dumps.result import finding, result_csv
from tests.cli.conftest import npu

__all__ = ["npu"]
RUN, OLD = "20260102030405", "20250102030405"
GRAPH = """graph {{
  name: "net"
  op {{ name: "x" type: "Data" id: 0 output_desc {{ layout: "ND" }} }}
  op {{ name: "w" type: "Variable" id: 1 output_desc {{ layout: "ND" }} }}
  op {{ name: "a" type: "MatMul" id: 2 input: "x:0" input: "w:0" {passes}
       output_desc {{ layout: "ND" }} }}
  op {{ name: "b" type: "Relu" id: 3 input: "a:0" output_desc {{ layout: "ND" }} }}
  op {{ name: "c" type: "Add" id: 4 input: "b:0" output_desc {{ layout: "ND" }} }}
}}"""
PASSES = 'attr { key: "pass_name" value { list { s: "MatMulPass" } } }'


def values_of(step, device, kind="f4"):
    """What the network has as input x and weight w, and as outputs a, b, c."""
    random = numpy.random.RandomState(100 * step + device + 1)
    x, weight = random.standard_normal((2, 6, 6)).astype(kind)
    a = x.dot(weight)
    return {"x": x, "w": weight, "a": a, "b": numpy.maximum(a, 0), "c": numpy.maximum(a, 0) + 1}


def dump(root, step, device=0, run=RUN, model="net", mode="all", **changed):
    """One step of the network on a device; ``changed`` are other values."""
    values = dict(values_of(step, device), **changed)
    folder = w.step_folder(root, step, run, device, model)
    for number, (name, inputs) in enumerate((("a", "xw"), ("b", "a"), ("c", "b"))):
        tensors = [] if mode == "output" else [w.array("input", values[each]) for each in inputs]
        tensors += [] if mode == "input" else [w.array("output", values[name])]
        w.operator(folder, name, tensors, "Op", number, time=1767323045000000 + number)
    return root


def reference(root, step=None, fed="_arg_x_0_0", weight="w/read", **changed):
    """The same in .npy files as tfdbg names them."""
    values = dict(values_of(step or 0, 0), **changed)
    folder = root if step is None else root / "run_{}".format(step)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in values.items():
        real = {"x": fed, "w": weight}.get(name, name).replace("/", "_")
        numpy.save(str(folder / "{}.0.17673230440000.npy".format(real)), array)
    return root


@pytest.fixture
def graph(tmp_path):
    """The graph of the network."""
    path = tmp_path / "ge_proto_00001_Build.txt"
    path.write_text(GRAPH.format(passes=PASSES))
    return path


def verdicts(found, side="output"):
    """The verdict of each tensor."""
    return {
        (row.step, row.device, row.op_name): row.verdict for row in found.rows if row.side == side
    }


def test_inputs_come_first(tmp_path, graph, npu):
    """Other data is named as that; no operator is blamed, and no fusion is switched off."""
    dump(tmp_path / "npu", 0)
    other = values_of(7, 0)
    reference(tmp_path / "tf", **{name: other[name] for name in "xabc"})
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf", graph)
    assert (found.inputs, found.inputs_differ, found.first_diverging) == ("differ", ("x.0",), None)
    arguments = ("dump", "compare", tmp_path / "npu", tmp_path / "tf", "--graph", graph)
    result = npu(*arguments, "--next-config", tmp_path / "next.yaml")
    assert (result.code, "the inputs differ: x.0" in result.out) == (1, True)
    assert not (tmp_path / "next.yaml").exists()
    assert "whose outputs differ" not in result.out
    as_json = json.loads(npu(*arguments, "--format", "json").out)
    assert as_json["inputs"] == {"verdict": "differ", "differ": ["x.0"]}
    assert [d["rule"] for d in as_json["diagnostics"]] == ["NPU3014"]


def test_inputs_that_agree(tmp_path, graph, npu):
    """Feeds and weights are matched by tfdbg's names; then an operator is the first."""
    values = values_of(0, 0)
    dump(tmp_path / "npu", 0, b=values["b"] * 2)
    reference(tmp_path / "tf")
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf", graph)
    assert (found.inputs, found.first_diverging, found.inputs_agree) == ("agree", "b", True)
    (said,) = finding(found)
    assert ("not compared" in said.message, "MatMulPass" in str(said.help)) == (False, False)
    (said,) = finding(compare_dumps(tmp_path / "npu", tmp_path / "tf"))
    assert ("not compared" in said.message, " b " in said.message) == (True, True)
    roles = {(row.op_name, row.number): row.role for row in found.rows if row.side == "input"}
    assert roles == {("a", 0): "data", ("a", 1): "weight", ("b", 0): "", ("c", 0): ""}
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf", "--graph", graph)
    assert "the inputs of the network agree" in result.out
    for weight in ("w", "w/Read/ReadVariableOp", "w/ReadVariableOp"):
        reference(tmp_path / weight.replace("/", "_"), weight=weight)
        found = compare_dumps(tmp_path / "npu", tmp_path / weight.replace("/", "_"), graph)
        assert [row.verdict for row in found.rows if row.role == "weight"] == ["agrees"]


def test_other_weights(tmp_path, graph):
    """Weights of another checkpoint are inputs that differ, too."""
    dump(tmp_path / "npu", 0, w=values_of(3, 0)["w"])
    found = compare_dumps(tmp_path / "npu", reference(tmp_path / "tf"), graph)
    assert (found.inputs_differ, found.first_diverging) == (("w/read.0",), None)


def test_inputs_that_were_not_compared(tmp_path, npu):
    """Without a graph nobody says that inputs agree."""
    dump(tmp_path / "npu", 0, a=-values_of(0, 0)["a"])
    result = npu("dump", "compare", tmp_path / "npu", reference(tmp_path / "tf"))
    assert "first operator whose outputs differ: a; its inputs were not compared" in result.out
    assert "inputs agree" not in result.out


@pytest.mark.parametrize(("run", "written"), [(RUN, RUN), ("", "NaN")])
def test_the_places_in_a_table(tmp_path, run, written):
    """Of several steps each row says where it is; what is not known is NaN, as elsewhere."""
    for step in (0, 1):
        dump(tmp_path / "npu", step, run=run, mode="output")
        reference(tmp_path / "tf", step)
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    head, *rows = (line.split(",")[-4:] for line in result_csv(found).splitlines())
    assert head == ["Run", "Device", "Model", "Step"]
    assert rows == [[written, "0", "net", step] for step in "000111"]


def test_two_runs_in_one_folder(tmp_path, npu):
    """Where every operator has two files, that is a warning, with what to do."""
    dump(tmp_path, 0)
    folder = w.step_folder(tmp_path, 0)
    for number, name in enumerate("abc"):
        values = values_of(0, 0)[name]
        tensors = [w.array("output", values)]
        w.operator(folder, name, tensors, "Op", 20 + number, time=1767999945000000 + number)
    result = npu("dump", "compare", tmp_path, reference(tmp_path / "tf"))
    assert (result.code, "warning: every operator has several files" in result.out) == (0, True)


def test_two_arrays(tmp_path, npu):
    """Of files alone nothing is said of a network; a float16 array is saturated at its limit."""
    numpy.save(str(tmp_path / "x.npy"), numpy.full(8, 65504, "f2"))
    numpy.save(str(tmp_path / "y.npy"), numpy.full(8, 1e6, "f4"))
    result = npu("dump", "compare", tmp_path / "x.npy", tmp_path / "y.npy")
    assert (result.code, "at the type's limit 65504" in result.out) == (1, True), result.out
    assert "of the network" not in result.out
    assert "operator" not in result.out


def test_every_step_and_device(tmp_path, npu):
    """All that both sides have; the matrix; the first over all; what is on one side only."""
    for step in (0, 1, 2, 5):
        for device in (0, 1):
            dump(tmp_path / "one", step, device)
    for step in (0, 1, 2, 9):
        for device in (0, 1, 2):
            bend = 3 if (step, device) in ((1, 1), (2, 0)) else 1
            b = values_of(step, device)["b"]
            dump(tmp_path / "two", step, device, b=b * numpy.float32(bend))
    found = compare_dumps(tmp_path / "one", tmp_path / "two")
    assert (found.first_diverging, found.step, found.where.device) == ("b", 1, 1)
    assert [(p.where.step, p.where.device) for p in found.parts] == [
        (step, device) for step in (0, 1, 2) for device in (0, 1)
    ]
    assert sorted(key for key, verdict in verdicts(found).items() if verdict == "diverges") == [
        (1, 1, "b"),
        (2, 0, "b"),
    ]
    result = npu("dump", "compare", tmp_path / "one", tmp_path / "two")
    assert result.code == 1
    assert "\\n" not in result.out
    for words in (
        "diverges (2)",
        "found in: step 1, device 1",
        "step 5: only the dump has it",
        "step 9: only the reference has it",
        "device 2: only the reference has it",
    ):
        assert words in result.out
    for option in (("--step", "0"), ("--device", "0", "--step", "1")):
        assert npu("dump", "compare", tmp_path / "one", tmp_path / "two", *option).code == 0
    one = json.loads(
        npu("dump", "compare", tmp_path / "one", tmp_path / "two", "--format", "json").out
    )
    assert one["first"] == {"run": RUN, "device": 1, "model": "net", "step": 1}
    assert {(row["step"], row["device"]) for row in one["rows"]} == {
        (step, device) for step in (0, 1, 2) for device in (0, 1)
    }


def test_a_dump_against_itself(tmp_path):
    """Whatever is chosen, it agrees with itself."""
    for device in (0, 1):
        for step in (0, 1):
            dump(tmp_path, step, device, run="2026010203040{}".format(device))
    for chosen in ({}, {"device": 1}, {"device": 1, "step": 1}, {"reference_step": 1, "step": 1}):
        found = compare_dumps(tmp_path, tmp_path, **chosen)
        assert (found.ok, found.first_diverging) == (True, None)
    assert {row.device for row in compare_dumps(tmp_path, tmp_path).rows} == {0, 1}


def test_runs(tmp_path, npu):
    """The newest run of each device counts, older ones are named; one may be chosen."""
    dump(tmp_path / "npu", 0, 0, OLD, a=-values_of(0, 0)["a"])
    dump(tmp_path / "npu", 0, 0, RUN)
    tf = reference(tmp_path / "tf")
    new = npu("dump", "compare", tmp_path / "npu", tf)
    assert (new.code, "other runs of device 0: {}".format(OLD) in new.out) == (0, True)
    old = npu("dump", "compare", tmp_path / "npu", tf, "--run", OLD)
    assert (old.code, OLD in old.out) == (1, True)
    none = npu("dump", "compare", tmp_path / "npu", tf, "--run", "7")
    assert (none.code, "the dump has no run 7" in none.out) == (1, True)


def test_runs_of_a_reference_are_steps(tmp_path):
    """``run_k`` belongs to step k, with and without an index; another may be chosen."""
    for step in (0, 1, 2):
        dump(tmp_path / "npu", step)
        reference(tmp_path / "tf", step)
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    assert ([part.other.step for part in found.parts], found.ok) == ([0, 1, 2], True)
    other = compare_dumps(tmp_path / "npu", tmp_path / "tf", step=1, reference_step=2)
    assert (other.ok, [d.rule for d in other.diagnostics]) == (False, ["NPU325"])
    with pytest.raises(
        NpuConfigError, match=r"step 7: not in the reference .steps there: 0, 1, 2"
    ):
        compare_dumps(tmp_path / "npu", tmp_path / "tf", reference_step=7)
    one = compare_dumps(tmp_path / "npu", tmp_path / "tf/run_1", step=1)
    assert (one.ok, one.step) == (True, 1)


def test_an_export_as_reference(tmp_path):
    """What export made of a dump matches every tensor; so it does by the names of the network."""
    folder = w.step_folder(tmp_path / "npu", 3, device=2)
    values = values_of(0, 0)
    for number, (name, origin) in enumerate((("conv1_fused", "conv1/Relu"), ("out", "out"))):
        tensors = [
            w.array("input", values["x"]),
            w.array("output", values["a"], origin=(origin, 0, 2), original=(6, 6)),
        ]
        w.operator(folder, name, tensors, task=number, time=1767323045000000 + number)
    export_dumps(find_dumps(tmp_path / "npu"), tmp_path / "npy")
    found = compare_dumps(tmp_path / "npu", tmp_path / "npy")
    assert [row.verdict for row in found.rows] == ["agrees"] * 4
    plain = w.step_folder(tmp_path / "unfused", 3, device=2)
    w.operator(plain, "conv1/Relu", [w.array("output", values["a"])])
    found = compare_dumps(tmp_path / "unfused", tmp_path / "npy")
    assert [(row.reference, row.verdict) for row in found.rows] == [("conv1/Relu.0", "agrees")]


def test_models_of_another_run(tmp_path):
    """Models are called after their time; those with the same operators belong together."""
    for name, time in (("one", "1"), ("two", "2")):
        dump(tmp_path / name, 0, model="ge_default_2026010203040{}_11".format(time))
        init = w.step_folder(tmp_path / name, 0, model="ge_default_2026010203040{}_1".format(time))
        w.operator(init, "assign", [w.array("output", numpy.ones(3, "f4"))])
    found = compare_dumps(tmp_path / "one", tmp_path / "two")
    assert (len(found.parts), found.ok, found.left_out) == (2, True, ())


def test_a_dump_of_inputs_names_the_producer(tmp_path, graph):
    """With dump_mode input the operator is named whose output is wrong at its reader."""
    dump(tmp_path / "npu", 0, mode="input", b=values_of(0, 0)["b"] * 3)
    found = compare_dumps(tmp_path / "npu", reference(tmp_path / "tf"), graph)
    assert (found.first_diverging, found.inputs_agree) == ("b", True)


def test_an_operator_that_the_graph_lacks(tmp_path, graph):
    """Its output is compared by its name; its input has no counterpart, and nothing fails."""
    dump(tmp_path / "npu", 0)
    values = values_of(0, 0)
    tensors = [w.array("input", values["x"]), w.array("output", values["c"])]
    w.operator(w.step_folder(tmp_path / "npu", 0, RUN, 0, "net"), "late", tensors, "Op", 9)
    found = compare_dumps(tmp_path / "npu", reference(tmp_path / "tf", late=values["c"]), graph)
    verdict = {(row.side, row.verdict) for row in found.rows if row.op_name == "late"}
    assert verdict == {("input", "not compared"), ("output", "agrees")}


def test_another_batch_size(tmp_path):
    """Said once, whatever the number of operators."""
    dump(tmp_path / "npu", 0)
    values = {name: numpy.concatenate([array] * 2) for name, array in values_of(0, 0).items()}
    found = compare_dumps(tmp_path / "npu", reference(tmp_path / "tf", **values))
    assert [d.rule for d in found.diagnostics] == ["NPU328"]
    assert "another batch size" in found.diagnostics[0].message
    assert {row.causes for row in found.rows if row.side == "output"} == {("shape", "batch")}


def test_nothing_in_common(tmp_path, npu):
    """A step that only one side has; two runs in one folder."""
    dump(tmp_path / "one", 1)
    for step in (3, 4):
        dump(tmp_path / "two", step)
    result = npu("dump", "compare", tmp_path / "one", tmp_path / "two")
    assert (result.code, "step 1: only the dump has it" in result.out) == (1, True)
    folder = w.step_folder(tmp_path / "mixed")
    for name in "abc":
        for time in (1767323045000000, 1767323999000000):
            w.operator(folder, name, [w.array("output", numpy.ones(3, "f4"))], time=time)
    mixed = npu("dump", "compare", tmp_path / "mixed", tmp_path / "mixed")
    assert (mixed.code, "two runs wrote into one folder" in mixed.out) == (0, True)


def ranks(root, **changed):
    """Two ranks that sum gradients and update a weight."""
    gradient = numpy.arange(6, dtype="f4")
    for device in (0, 1):
        folder = w.step_folder(root, 0, "2026010203040{}".format(device), device)
        values = {"gradient": gradient, "weight": gradient + 1, "own": gradient + device}
        values.update(changed if device else {})
        for number, (kind, name) in enumerate(
            (("Relu", "own"), ("HcomAllReduce", "gradient"), ("ApplyMomentum", "weight"))
        ):
            w.operator(
                folder, name, [w.array("output", values[name])], kind, number,
                time=1767323045000000 + number,
            )  # fmt: skip
    return root


def test_ranks(tmp_path, npu):
    """Summed gradients and weights are equal bit for bit; a rank's own values may differ."""
    same = npu("dump", "compare", ranks(tmp_path / "same"))
    assert (same.code, "2 agrees" in same.out) == (0, True)
    gradient = numpy.nextafter(numpy.arange(6, dtype="f4"), numpy.float32(9))
    found = compare_ranks(ranks(tmp_path / "other", gradient=gradient))
    assert (found.first_diverging, len(found.rows)) == ("gradient", 2)
    assert npu("dump", "compare", tmp_path / "other").code == 1
    alone = npu("dump", "compare", dump(tmp_path / "alone", 0))
    assert (alone.code, "one device (0)" in alone.out) == (1, True)
    assert npu("dump", "compare", tmp_path / "same", "--device", "0").code == 2
    assert npu("dump", "compare", tmp_path / "same", "--max-abs", "1").code == 2
    for device in (0, 1):
        dump(tmp_path / "none", 0, device)
    none = npu("dump", "compare", tmp_path / "none")
    assert (none.code, "no tensor that must be equal" in none.out) == (1, True)


def test_single_files(tmp_path, npu):
    """Two dumps, two arrays, one of each; bfloat16 as others save it."""
    x = numpy.random.RandomState(1).standard_normal((4, 6)).astype("f4")
    numpy.save(str(tmp_path / "x.npy"), x)
    numpy.save(str(tmp_path / "y.npy"), x * 2)
    bits = (x.view("u4") >> 16).astype("u2")
    numpy.save(str(tmp_path / "bf16.npy"), bits.view("V2"))
    one = w.operator(tmp_path, "a", [w.array("input", x + 1), w.array("output", x)])
    codes = {}
    for names in ("x x", "x y", "x bf16", "bf16 x", "bf16 y"):
        paths = [tmp_path / (name + ".npy") for name in names.split()]
        codes[names] = npu("dump", "compare", *paths).code
    assert codes == {"x x": 0, "x y": 1, "x bf16": 0, "bf16 x": 0, "bf16 y": 1}
    assert npu("dump", "compare", one, tmp_path / "x.npy").code == 0
    assert npu("dump", "compare", tmp_path / "y.npy", one).code == 1
    assert compare_files(one, one).ok
    short = w.operator(tmp_path, "b", [w.array("output", x)])
    for files in ((one, short), (short, one)):
        said = npu("dump", "compare", *files).out
        assert "not compared: input:0: exists only in {}".format(one) in said
    (tmp_path / "z.npy").write_bytes(b"no")
    bad = npu("dump", "compare", tmp_path / "z.npy", one)
    assert (bad.code, "NPU327" in bad.out) == (1, True)
    numpy.save(str(tmp_path / "t.npy"), x.T)
    turned = compare_files(tmp_path / "x.npy", tmp_path / "t.npy")
    assert [row.causes for row in turned.rows] == [("shape",)]
    assert (turned.first_diverging, turned.path_to_it) == ("x.npy", ("x.npy",))
    same = compare_files(tmp_path / "x.npy", tmp_path / "x.npy")
    assert (same.threshold, same.covered, same.ok, same.path_to_it) == (0.98, True, True, ())
    assert compare_files(tmp_path / "x.npy", tmp_path / "x.npy", 0.5).threshold == 0.5
    several = w.operator(tmp_path, "d", [w.array("output", x[:2]), w.array("output", x)])
    (row,) = compare_files(several, tmp_path / "x.npy").rows
    assert (row.side, row.tensor_index.rpartition(":")[2], row.verdict) == (
        "output",
        "1",
        "agrees",
    )
    side = w.operator(tmp_path, "c", [w.array("input", x)])
    with pytest.raises(NpuConfigError, match="no tensor in common"):
        compare_files(side, short)
    empty = w.operator(tmp_path, "d", [w.array("output", x[:0])])
    with pytest.raises(NpuConfigError, match="no elements"):
        compare_files(empty, empty)


HEAD = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count\n"
)


def test_tables_of_statistics(tmp_path, npu):
    """``dump_data: "stats"`` is compared by its numbers, and says so; NaN and limits diverge."""
    folder = w.step_folder(tmp_path / "npu")
    values = numpy.arange(1, 9, dtype="f4")
    cases = {
        "same": ("8,1,4.5,8,0,0,0", "agrees", ()),
        "nan": ("8,1,4.5,8,2,0,0", "diverges", ("nan",)),
        "infinite": ("8,1,4.5,8,0,0,1", "diverges", ("infinite",)),
        "scaled": ("16,2,9,8,0,0,0", "diverges", ("statistics",)),
        "none": (",,,,,,", "not compared", ()),
    }
    for name, (numbers, _, _) in cases.items():
        line = "Output,0,32,DT_FLOAT,ND,8,{}\n".format(numbers)
        (folder / "Add.{}.1.2.1767323045000000.csv".format(name)).write_text(HEAD + line)
        reference(tmp_path / "tf", **{name: values})
    found = compare_dumps(tmp_path / "npu", tmp_path / "tf")
    actual = {row.op_name: (row.verdict, row.causes) for row in found.rows}
    assert actual == {name: case[1:] for name, case in cases.items()}
    result = npu("dump", "compare", tmp_path / "npu", tmp_path / "tf")
    assert (result.code, "only the statistics were compared" in result.out) == (1, True)


def test_a_table_against_what_has_no_numbers(tmp_path):
    """A tensor of the other side that cannot be read is not compared, and its row says why."""
    table, other = w.step_folder(tmp_path / "npu"), w.step_folder(tmp_path / "other")
    line = "Output,0,32,DT_FLOAT,ND,8,8,1,4.5,8,0,0,0\n"
    for name in ("a", "b"):
        (table / "Add.{}.1.2.1767323045000000.csv".format(name)).write_text(HEAD + line)
    w.operator(other, "a", [w.array("output", numpy.arange(1, 9, dtype="f4"))])
    w.operator(other, "b", [w.tensor("output", b"abcdefgh", (8,), code=13)])
    read, unread = compare_dumps(tmp_path / "npu", tmp_path / "other").rows
    assert (read.verdict, unread.verdict) == ("agrees", "not compared")
    assert (unread.reason, unread.causes) == (
        "it is not documented how the values of DT_STRING are stored",
        (),
    )


def test_tables_against_tables(tmp_path, npu):
    """Both sides have statistics, or one of them; NaN in a table counts; a shape as well."""
    same = "8,8,1,4.5,8,0,0,0"
    cases = {
        "same": (same, same, "agrees", ()),
        "both": ("8,nan,1,4.5,8,,0,0", "8,nan,1,4.5,8,,0,0", "agrees", ()),
        "counted": ("8,8,1,4.5,8,1,0,0", same, "diverges", ("nan",)),
        "largest": ("8,8,1,4.5,8,,0,0", "8,nan,1,4.5,8,,0,0", "diverges", ("nan",)),
        "infinite": ("8,8,1,4.5,8,,,", "8,inf,1,4.5,8,,,", "diverges", ("infinite",)),
        "scaled": ("8,16,2,9,8,0,0,0", same, "diverges", ("statistics",)),
        "shape": ("2x4,8,1,4.5,8,0,0,0", same, "diverges", ("shape",)),
        "none": ("8,,,,,,,", same, "not compared", ()),
        "tensor": (None, same, "agrees", ()),
        "doubled": (None, "8,4,0.5,2.25,8,0,0,0", "diverges", ("statistics",)),
    }
    values = numpy.arange(1, 9, dtype="f4")
    sides = [w.step_folder(tmp_path / side) for side in ("npu", "other")]
    for name, (*lines, _, _) in cases.items():
        for folder, line in zip(sides, lines):
            if line is None:
                w.operator(folder, name, [w.array("output", values)])
            else:
                table = HEAD + "Output,0,32,DT_FLOAT,ND,{}\n".format(line)
                (folder / "Add.{}.1.2.1767323045000000.csv".format(name)).write_text(table)
    found = compare_dumps(tmp_path / "npu", tmp_path / "other")
    actual = {row.op_name: (row.verdict, row.causes) for row in found.rows}
    assert actual == {name: case[2:] for name, case in cases.items()}
    assert npu("dump", "compare", tmp_path / "npu", tmp_path / "npu").code == 0
