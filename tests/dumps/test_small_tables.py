"""Small decisions as tables: kinds of tensors, the first that diverges, order, headers."""

import itertools
import random
from types import SimpleNamespace

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

from npu_config.dumps.compare import (
    Comparison,
    First,
    Row,
    _batch,
    _is_shared,
    _path,
    first_of,
)
from npu_config.dumps.dump import HeaderError, parse_header
from npu_config.dumps.graph import GeGraph, GeOp
from npu_config.dumps.matching import ABSENT, APART, UNREAD, _order, coverage_of
from npu_config.dumps.result import finding
from npu_config.dumps.tree import DumpFile, FileName, Folder
from npu_config.dumps.verdicts import kind_of

KINDS = {
    ("mask", "Greater", "DT_BOOL", "bool"): "flag",
    ("mask", "Greater", "DT_BOOL", "int32"): "flag",
    ("mask", "Greater", "DT_INT8", "bool"): "flag",
    ("ids", "GatherV2", "DT_INT32", "int64"): "index",
    ("ids", "GatherV2", "DT_UINT8", "uint8"): "index",
    ("ids", "GatherV2", "DT_INT32", "float32"): "activation",
    ("ids", "GatherV2", "DT_FLOAT", "int64"): "activation",
    ("gradients/a/b", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a/grad", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a_grads_2_b", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a", "ReluGrad", "DT_FLOAT", "float32"): "gradient",
    ("a", "ReluGradV2", "DT_FLOAT", "float32"): "gradient",
    ("a", "Conv2DBackpropInput", "DT_FLOAT", "float32"): "gradient",
    ("gradients/ids", "Cast", "DT_INT32", "int32"): "index",
    ("graduate/a", "Gradient", "DT_FLOAT", "float32"): "activation",
    ("a", "Relu", "DT_FLOAT", "float32"): "activation",
}


@pytest.mark.parametrize("tensor", KINDS)
def test_kinds_of_tensors(tensor):
    """By the types on either side, then by the names of gradients."""
    assert KINDS[tensor] == kind_of(*tensor)


AGREES, DIVERGES, NOT = "agrees", "diverges", "not compared"


def rows_of(text):
    """Rows in order: ``a<+`` is an input of a that agrees, ``a>-`` an output that diverges.

    ``b<a-`` is an input that the producer a made.
    """
    verdicts = {"+": AGREES, "-": DIVERGES, "?": NOT}
    for word in text.split():
        side = "input" if "<" in word else "output"
        producer = word[2:-1]
        yield SimpleNamespace(
            op_name=word[0], side=side, verdict=verdicts[word[-1]], producer=producer, role=""
        )


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ("a<+ a>+ b<+ b>+", First()),
        ("a<+ a>- b<- b>-", First("a", True)),
        ("a<- a>- b<- b>-", First()),
        ("a>+ b>- c>-", First("b")),
        ("a>- b>-", First("a")),
        ("a<? a>- b<- b>-", First("a")),
        ("a<- a>+ b>-", First()),
        ("a<- a>+ b<+ b>-", First("b", True)),
        ("a<+ a<- a>-", First()),
        ("a<+ a>+ a>-", First("a", True)),
        ("a>? b<+ b>-", First("b", True)),
        ("a<+ b<a- b>-", First("a", True)),
        ("a<+ a>? b<a- b>-", First("a", True)),
        ("a<+ a>+ b<a- b>-", First()),
        ("", First()),
    ],
)
def test_the_first_that_diverges(rows, first):
    """Its outputs do and its inputs do not, or nothing has before it."""
    assert first == first_of(list(rows_of(rows)))


NOWHERE, ELSEWHERE = (Folder(None, device, None, None, None) for device in (None, 1))


def row(
    op_name,
    verdict,
    reason,
    side="output",
    producer="",
    where=NOWHERE,
):
    """A row with a reason."""
    return Row(
        0, op_name, "Op", side, 0, "DT_FLOAT", "r", "float32", (), (2,), verdict,
        reason=reason, producer=producer, where=where,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (
            [row("a", DIVERGES, "one")],
            {},
            "the outputs of a differ, but the inputs of this operator were not compared",
        ),
        (
            [row("a", DIVERGES, "one"), row("a", DIVERGES, "two"), row("b", DIVERGES, "three")],
            {"inputs_agree": True},
            "the inputs of a agree, but its outputs differ",
        ),
        (
            [
                row("z", DIVERGES, "of another"),
                row("a", DIVERGES, "its input", "input", "z"),
                row("a", DIVERGES, "of another device", where=ELSEWHERE),
                row("a", AGREES, "only a remark"),
                row("b", DIVERGES, "one", "input", "a"),
            ],
            {"inputs_agree": True},
            "the inputs of a agree, but its outputs differ",
        ),
        (
            [row("a", NOT, "unread"), row("b", DIVERGES, "one", "input", "a")],
            {"passes": ("P", "Q")},
            "the outputs of a differ, but the inputs of this operator were not compared",
        ),
    ],
)
def test_what_is_said_of_the_first(rows, more, said):
    """Its reason is of its own outputs, also where only an operator behind it has them."""
    (found,) = finding(Comparison(tuple(rows), "a", **more))
    assert (found.rule, found.message) == ("NPU329", said + ": one")
    off = ", with the fusion passes P, Q off" if "passes" in more else ""
    assert found.help == "dump this operator with its inputs (--next-config)" + off


def rows_of_operators(text):
    """Rows in order: ``Add:a>+`` is an output of a that agrees, ``a>.`` has no counterpart.

    ``b<a+`` is an input that a made; ``!`` is what cannot be read, ``/`` what no network has.
    """
    gaps = {".": ABSENT, "!": UNREAD, "/": APART, "+": ""}
    for word in text.split():
        kind, _, rest = word.rpartition(":")
        gap = gaps[rest[-1]]
        yield SimpleNamespace(
            op_name=rest[0], side="input" if "<" in rest else "output", producer=rest[2:-1],
            verdict=NOT if gap else AGREES, gap=gap, reason="why " + rest[0] if gap else "",
            op_type=kind or "Add",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "compared", "missing", "is_enough", "is_exact"),
    [
        ("", 0, "", True, True),
        ("a>+ b>+", 2, "", True, True),
        ("a>+ a>. b>+", 2, "", True, None),
        ("a>. b>+", 1, "a", True, False),
        ("a>+ b>.", 1, "b", False, False),
        ("a>. b>. c>+", 1, "ab", False, False),
        ("a>. b>. c>+ d>+", 2, "ab", True, False),
        ("a>/ b>+", 1, "", True, True),
        ("a>+ b>/", 1, "", True, True),
        ("a>/", 0, "", True, True),
        ("a>! b>+", 1, "a", False, False),
        ("a>! a>+ b>+", 2, "", False, None),
        ("a>+ Assign:b>.", 1, "b", True, False),
        ("a>+ Add:b>. Assign:c>.", 1, "bc", False, False),
        ("a>. b<a+ b>+", 2, "", True, None),
        ("a<. b<a+", 2, "", True, None),
        ("a<+", 1, "", True, True),
        ("a<.", 0, "a", False, False),
        ("a<+ a>.", 0, "a", False, False),
        ("a>/ a>. b>+", 1, "a", True, False),
    ],
)
def test_how_much_was_compared(rows, compared, missing, is_enough, is_exact):
    """Half of the operators and the last one, unless it writes weights; all between ranks."""
    found = coverage_of(list(rows_of_operators(rows)))
    assert (compared, tuple(missing), is_enough) == found[:3]
    assert found.reason == ("why " + missing[0] if missing else "")
    if is_exact is not None:
        assert coverage_of(list(rows_of_operators(rows)), exact=True).is_enough is is_exact


def test_ranks_need_every_tensor():
    """One output that was compared does not speak for another of the operator."""
    found = coverage_of(list(rows_of_operators("a>+ a>. b>+")), exact=True)
    assert (found.compared, found.missing, found.is_enough) == (1, ("a",), False)


@pytest.mark.parametrize(
    ("batch", "other", "unread", "is_said"),
    [(0, 0, 0, False), (0, 5, 0, False), (1, 0, 0, True), (1, 1, 0, True), (1, 2, 0, False),
     (2, 2, 9, True)],
)  # fmt: skip
def test_another_batch_size(batch, other, unread, is_said):
    """Half of what was compared differs in the first axis alone; it is said once."""
    causes = [("shape", "batch")] * batch + [("shape",)] * other
    rows = [SimpleNamespace(verdict=DIVERGES, causes=each, reason="x") for each in causes]
    rows += [SimpleNamespace(verdict=NOT, causes=(), reason="y")] * unread
    assert len(_batch(rows, "path")) == is_said


def chain_of(text):
    """A graph: ``b<a`` is an operator b with the output of a as input, ``C`` a constant."""
    ops = []
    for number, word in enumerate(text.split()):
        name, _, inputs = word.partition("<")
        edges = tuple(None if each == "-" else (each, 0) for each in inputs)
        kind = {"C": "Const", "V": "VariableV2"}.get(name, "Add")
        ops.append(GeOp(name, kind, number, 0, edges, (), None))
    return GeGraph("net", ops)


@pytest.mark.parametrize(
    ("graph", "name", "path"),
    [
        ("a", None, ""),
        ("a", "a", "a"),
        ("a b<a c<b", "c", "abc"),
        ("a b<a c<ba", "c", "abc"),
        ("a b<a c<Cb C", "c", "abc"),
        ("a b<-a", "b", "ab"),
        ("C b<C", "b", "b"),
        ("a<b b<a", "b", "ab"),
        ("b<x", "b", "xb"),
        ("a", "z", "z"),
    ],
)
def test_the_path_to_an_operator(graph, name, path):
    """Along the first input of each that is no constant, as far as the graph goes."""
    assert tuple(path) == _path(name, chain_of(graph))
    assert _path(name, None) == (() if name is None else (name,))


def test_a_long_path():
    """The last fifty operators of it."""
    ops = [GeOp(str(n), "Add", n, 0, ((str(n - 1), 0),), (), None) for n in range(1, 99)]
    assert _path("98", GeGraph("net", ops)) == tuple(str(n) for n in range(49, 99))


@pytest.mark.parametrize(
    ("op_type", "side", "number", "inputs", "shared"),
    [
        ("ApplyAdam", "input", 0, "", True),
        ("ApplyAdam", "output", 0, "", True),
        ("AssignAdd", "output", 0, "", True),
        ("ResourceApplyMomentum", "input", 1, "", True),
        ("HcomAllReduce", "output", 0, "", True),
        ("HcomBroadcast", "output", 0, "", True),
        ("HcomAllGather", "output", 0, "", True),
        ("HcomAllReduce", "input", 0, "", False),
        ("HcomReduceScatter", "output", 0, "", False),
        ("Relu", "output", 0, "V", False),
        ("MatMul", "input", 0, "V", True),
        ("MatMul", "input", 0, "aV", False),
        ("MatMul", "input", 1, "aV", True),
        ("MatMul", "input", 2, "aV", False),
        ("MatMul", "input", 0, "-V", False),
        ("MatMul", "input", 0, "x", False),
        ("MatMul", "input", 0, "", False),
    ],
)
def test_what_every_rank_has(op_type, side, number, inputs, shared):
    """What optimizers read and write, what was summed, and by the graph the weights."""
    graph = chain_of("a V o<" + inputs)
    operator = SimpleNamespace(op_type=op_type)
    assert _is_shared(operator, graph.find("o"), side, number, graph) is shared
    by_graph = shared and inputs == ""
    if not inputs:
        assert _is_shared(operator, None, side, number, None) is by_graph


def mixed(items):
    """The same in another order."""
    return random.Random(1).sample(items, len(items))


def test_the_order_of_files():
    """By run, device, model, step, time and path; what a path does not say comes first."""
    name = FileName("Add", "a", 1, 2, 5, None, None, None, False)
    parts = [(None, "1", "2"), (None, 0, 1), (None, "a", "b"), (None, 0, 1), (None, 0, 1)]
    folders = [Folder(*each) for each in itertools.product(*parts)]
    files = [DumpFile("p", 1, folder, name) for folder in folders]
    assert [each.folder for each in sorted(mixed(files), key=lambda file: file.order)] == folders
    later = [name._replace(time=time) for time in (4, 5, 6)]
    files = [DumpFile(path, 1, folders[0], each) for each in later for path in "ab"]
    assert sorted(mixed(files), key=lambda file: file.order) == files


def test_the_order_of_comparisons():
    """By step, device and model; what is not known comes first."""
    steps = itertools.product((None, 0, 1), (None, 0, 1), (None, "a", "b"), (None, 1, 2))
    folders = [Folder(None, device, model, id, step) for step, device, model, id in steps]
    assert sorted(mixed(folders), key=_order) == folders


def test_the_fields_of_a_header():
    """Any field of an operator or a tensor makes a header; the time alone does not."""
    for number in range(1, 12):
        data = memoryview(w.number_field(2, 7) + w.bytes_field(number, b"\n\x01x"))
        if number in (1, 3, 4, 5, 6, 7, 8):
            assert (number, 2) in parse_header(data)
        else:
            with pytest.raises(HeaderError, match="neither an operator nor a tensor"):
                parse_header(data)
