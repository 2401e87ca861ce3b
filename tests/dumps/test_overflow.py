"""Overflow records: every vector, the operator they mean, and the advice."""

import json
import struct
from pathlib import Path

import pytest
from dumps import dump_writer as w
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy

from npu_config import NpuConfigError
from npu_config.dumps import explain_overflows, read_overflow
from npu_config.dumps.graph import GeGraph, GeOp
from npu_config.dumps.overflow import units
from tests import golden

DATA = Path(__file__).parents[1] / "data/dump/overflow"
VECTORS = json.loads((DATA / "index.json").read_text())


@pytest.mark.parametrize("name", sorted(VECTORS), ids=lambda name: VECTORS[name]["name"])
def test_vectors(name):
    """Every record gives the expected JSON."""
    assert VECTORS[name]["json"] == read_overflow(DATA / name)


def test_the_operators():
    """Each record finds the operator that the index names, in order of step."""
    report = explain_overflows(DATA)
    found = {str(Path(o.record).relative_to(DATA)): Path(o.dump).name for o in report.overflows}
    expected = {
        name: vector["operator"] for name, vector in VECTORS.items() if vector["name"] != "none"
    }
    assert expected == found
    assert [o.step for o in report.overflows] == sorted(o.step for o in report.overflows)
    assert [Path(stray).parent.name for stray in report.strays] == ["10"]
    assert report.mixlist == ("Mul",)


WORDS = {
    "ai_core_two_bits": ["0x10 integer", "0x100 float32"],
    "ai_core_unknown_bit": ["0x20 floating", "0x2000 unknown"],
    "dha_overflow": ["atomic addition", "0x9: overflow"],
    "dha_underflow": ["atomic addition", "0xa: underflow"],
    "dha_both_nan": ["atomic addition", "0xd: both are NaN"],
    "l2_overflow": ["atomic addition", "0x1: overflow"],
    "l2_dst_nan": ["atomic addition", "0x4: the destination is NaN"],
    "new_aiv_v1": ["0x20 floating", "0x100 float32"],
    "new_sdma": ["status 0x1"],
    "none": [],
}


@pytest.mark.parametrize("name", sorted(WORDS))
def test_words(name):
    """Each bit is put into words; codes of one old source only are uncertain."""
    (file,) = [file for file, vector in VECTORS.items() if vector["name"] == name]
    words = [word for unit in units(read_overflow(DATA / file)) for word in unit.words]
    assert len(WORDS[name]) == len(words)
    for expected, (text, documented) in zip(WORDS[name], words):
        assert expected in text
        assert documented is not any(part in text for part in ("code", "unknown", "status")) or (
            name.startswith("new_")
        )


def test_computed_here_or_came_in(tmp_path):
    """Clean inputs and a value at the limit: computed here; an infinite input: came in."""
    clean, limit = numpy.array([1, 2], "f2"), numpy.array([65504, 1], "f2")
    infinite = numpy.array([1, numpy.inf], "f2")
    first = w.step_folder(tmp_path, 0)
    w.operator(first, "a", [w.array("input", clean), w.array("output", limit)], task=3)
    w.opdebug(first, 3, 2, 0x20)
    second = w.step_folder(tmp_path, 1)
    inputs = [w.array("input", clean), w.array("input", infinite)]
    w.operator(second, "b", [*inputs, w.array("output", infinite)], task=4)
    w.opdebug(second, 4, 2, 0x20)
    one, two = explain_overflows(tmp_path).overflows
    assert (one.op_name, one.origin, one.came_in_with) == ("a", "computed here", ())
    assert (two.op_name, two.origin, two.came_in_with) == ("b", "came in", (1,))
    assert "float32" in one.advice[0]
    assert "input 1" in two.advice[0]


def test_task_ids_are_counted_modulo_65536(tmp_path):
    """A task id beyond 65535 inside finds the file whose name has the rest of it."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "a", [w.array("output", numpy.ones(2, "f2"))], task=5)
    w.opdebug(folder, 65536 + 5, 2, 0x20)
    assert explain_overflows(tmp_path).overflows[0].op_name == "a"


def test_a_record_without_its_operator(tmp_path):
    """Without the operator's dump the ids are reported, and what to do with them."""
    w.opdebug(w.step_folder(tmp_path), 5, 2, 0x20)
    (overflow,) = explain_overflows(tmp_path).overflows
    assert (overflow.op_name, overflow.task, overflow.stream) == (None, 5, 2)
    assert "op_summary" in overflow.advice[0]


def test_no_overflow(tmp_path):
    """A dump without records has no overflows; an empty folder is said to be empty."""
    w.operator(w.step_folder(tmp_path), "a", [w.array("output", numpy.ones(2, "f2"))])
    assert explain_overflows(tmp_path).overflows == ()
    (tmp_path / "empty").mkdir()
    with pytest.raises(NpuConfigError, match="NPU320"):
        explain_overflows(tmp_path / "empty")


@settings(max_examples=golden.tries(100), deadline=None)
@given(data=st.binary(max_size=300), legacy=st.booleans())
def test_any_record(tmp_path_factory, data, legacy):
    """Any bytes in the place of a record give a record or a diagnostic."""
    content = data.ljust(2048, b"\0") if legacy else b"\x5a\x5a\x5a\x5a" + data
    path = tmp_path_factory.getbasetemp() / "Opdebug.Node_OpDebug.1.1.1767323045000000"
    tensor = w.tensor("output", content, (len(content),), code=4)
    path.write_bytes(w.dump("Node_OpDebug", [tensor]))
    try:
        units(read_overflow(path))
    except NpuConfigError as error:
        assert [found.rule for found in error.diagnostics] == ["NPU321"]


def record(tmp_path, content, elements=None):
    """The record in a file of an overflow."""
    tensor = w.tensor("output", content, (elements or len(content),), code=4)
    path = tmp_path / "Opdebug.Node_OpDebug.1.1.1767323045000000"
    path.write_bytes(w.dump("Node_OpDebug", [tensor]))
    return read_overflow(path)


def new_record(kind, version, words):
    """A record behind the magic."""
    head = struct.pack("<6I", 0x5A5A5A5A, version, 1, kind, 0, 8 * words)
    return head + struct.pack("<{}Q".format(words), *range(1, words + 1))


@pytest.mark.parametrize(
    ("kind", "version", "words", "unit", "status"),
    [
        (0, 0, 11, "AIC", 11),
        (0, 1, 14, "AIC", [11, 12, 13, 14]),
        (1, 0, 11, "AIV", 11),
        (1, 1, 14, "AIV", [11, 12, 13, 14]),
        (1, 2, 14, "AIV", [11, 12, 13, 14]),
        (2, 0, 8, "AICPU", 8),
        (2, 1, 8, "AICPU", 8),
        (3, 0, 10, "SDMA", 10),
        (3, 1, 10, "SDMA", 10),
    ],
)
def test_records_of_each_kind(tmp_path, kind, version, words, unit, status):
    """The words of each kind and version; one byte less is a record that is truncated."""
    content = new_record(kind, version, words)
    found = record(tmp_path, content)["acc_list"]
    assert (unit, status, 1) == (found["acc_type"], found["data"]["status"], found["valid"])
    assert (found["data"]["model_id"], found["data"]["task_id"]) == (1, 3)
    assert len(found["data"]) == words - (3 if isinstance(status, list) else 0)
    for length in (len(content) - 1, 24, 23, 4):
        with pytest.raises(NpuConfigError, match="NPU321"):
            record(tmp_path, content[:length])
    assert record(tmp_path, content + bytes(8))["acc_list"] == found


@pytest.mark.parametrize("size", [2047, 2049, 0, 1 << 17])
def test_records_of_another_size(tmp_path, size):
    """Without the magic a record has 2048 bytes."""
    with pytest.raises(NpuConfigError, match="has {:,} bytes.*NPU321".format(size)):
        record(tmp_path, bytes(size))
    with pytest.raises(NpuConfigError, match="NPU321"):
        record(tmp_path, new_record(4, 0, 11))
    largest = new_record(0, 0, 11).ljust(1 << 16, b"\0")
    assert record(tmp_path, largest)["version"] == 0
    with pytest.raises(NpuConfigError, match="NPU321"):
        record(tmp_path, largest + b"\0")


@pytest.mark.parametrize(
    ("unit", "word", "said"),
    [
        ("AI Core", 0x8, ["0x8 negation"]),
        ("AI Core", 0x80, ["0x80 negative float"]),
        ("AI Core", 0x400, ["0x400 accumulation"]),
        ("AI Core", 0x408, ["0x8 negation", "0x400 accumulation"]),
        ("AI Core", 0x40, ["0x40 unknown"]),
        ("DHA Atomic Add", 0x800, ["atomic", "0x8 unknown"]),
        ("DHA Atomic Add", 0x900, ["atomic", "0x9: overflow"]),
        ("DHA Atomic Add", 0xB00, ["atomic", "0xb: the source"]),
        ("DHA Atomic Add", 0xC00, ["atomic", "0xc: the destination"]),
        ("DHA Atomic Add", 0xD00, ["atomic", "0xd: both"]),
        ("DHA Atomic Add", 0xE00, ["atomic", "0xe unknown"]),
        ("DHA Atomic Add", 0x10000, ["atomic"]),
        ("L2 Atomic Add", 0x10000, ["atomic", "0x1: overflow"]),
        ("L2 Atomic Add", 0x20000, ["atomic", "0x2: underflow"]),
        ("L2 Atomic Add", 0x50000, ["atomic", "0x5: both"]),
        ("L2 Atomic Add", 0x60000, ["atomic", "0x6 unknown"]),
        ("L2 Atomic Add", 0x80000, ["atomic"]),
    ],
)
def test_words_of_a_status(unit, word, said):
    """Each bit and each code at its place; what is beside them is unknown."""
    blocks = {name: {"status": 0} for name in ("AI Core", "L2 Atomic Add", "DHA Atomic Add")}
    (found,) = units({**blocks, unit: {"status": word, "task_id": 3}})
    assert (found.unit, found.status, dict(found.ids)["task_id"]) == (unit, (word,), 3)
    assert len(said) == len(found.words)
    for words, (text, documented) in zip(said, found.words):
        assert words in text
        assert documented is not any(word in text for word in ("code", "unknown"))


def test_records_that_are_not_valid():
    """They report nothing; words that are 0 say nothing beside one that is not."""
    data = {"status": [0, 0x20, 0, 0x20], "task_id": 1, "pc_start": "0x1"}
    for valid in (0, 1):
        found = units({"acc_list": {"acc_type": "AIV", "data": data, "valid": valid}})
        assert [len(unit.words) for unit in found] == [1] * valid
    assert dict(found[0].ids) == {"task_id": 1}


def ffts(context, thread):
    """A record of FFTS+; 65535 for ids that do not apply."""
    numbers = [1, 2, 5, 0, context, thread, 0, 0, 0, 0, 0x20]
    return struct.pack("<6I", 0x5A5A5A5A, 0, 1, 1, 0, 88) + struct.pack("<11Q", *numbers)


@pytest.mark.parametrize(
    ("content", "names", "found"),
    [
        (ffts(65535, 65535), "a.5.2.10 b.5.2.11", "a"),
        (ffts(65535, 65535), "a.5.2.11 b.5.2.10", "b"),
        (ffts(65535, 65535), "a.6.2.10 b.5.3.11", None),
        (ffts(65535, 65535), "a.5.3.10 b.5.2.11", "b"),
        (ffts(65535, 65535), "a.5.10", "a"),
        (ffts(65535, 65535), "a.65541.2.10", "a"),
        (ffts(65535, 65535), "a.65541.2.10 b.5.2.11", "b"),
        (ffts(65535, 65535), "a.65540.2.10", None),
        (ffts(1, 0), "a.5.2.10.4.1.0.0 b.5.2.09.4.2.0.0 c.5.2.08.4.1.1.0", "a"),
        (ffts(1, 65535), "a.5.2.10.4.1.0.0 b.5.2.09.4.1.1.0 c.5.2.08.4.2.0.0", "b"),
        (ffts(65535, 1), "a.5.2.10.4.3.1.0 b.5.2.09.4.1.0.0", "a"),
        (ffts(1, 0), "a.5.2.10", None),
    ],
)
def test_the_operator_of_a_record(tmp_path, content, names, found):
    """The earliest of its task and stream, in FFTS+ of its context and thread, too."""
    folder = w.step_folder(tmp_path)
    tensor = w.tensor("output", content, (len(content),), code=4)
    path = folder / "Opdebug.Node_OpDebug.1.1.1767323045000000"
    path.write_bytes(w.dump("Node_OpDebug", [tensor]))
    for each in names.split():
        name, *numbers = each.split(".")
        place = 1 if len(numbers) == 2 else 2
        numbers[place] = "17673230450000" + numbers[place]
        (folder / ".".join(("Add", name, *numbers))).write_bytes(w.dump(name, []))
    (overflow,) = explain_overflows(tmp_path).overflows
    assert (overflow.op_name, overflow.task, overflow.stream) == (found, 5, 2)


def test_task_65536_is_task_0(tmp_path):
    """Its number modulo 65536 is 0."""
    folder = w.step_folder(tmp_path)
    w.operator(folder, "a", [], task=0)
    w.opdebug(folder, 65536, 2, 0x20)
    assert explain_overflows(tmp_path).overflows[0].op_name == "a"


HALF = {
    name: numpy.array(values, "f2") for name, values in (("clean", [1, 2]), ("nan", [1, "nan"]))
}
WHOLE = numpy.array([1, 2], "i4")


@pytest.mark.parametrize(
    ("name", "status", "inputs", "output", "advice"),
    [
        ("a", 0x20, ["clean"], "f2", ["float32"]),
        ("a", 0x20, ["clean"], "f4", []),
        ("a", 0x20, [], "f2", ["float32", "dump_mode all"]),
        ("a", 0x20, [], "f4", ["dump_mode all"]),
        ("a", 0x10, [], "f2", ["another precision does not", "dump_mode all"]),
        ("a", 0x8, ["clean"], "f2", ["another precision does not"]),
        ("a", 0x18, ["clean"], "f2", ["another precision does not"]),
        ("a", 0x30, ["clean"], "f2", ["float32"]),
        ("gradients/a", 0x20, ["clean"], "f2", ["float32", "loss scale"]),
        ("Gradients_a", 0x20, ["clean"], "f4", ["loss scale"]),
        ("my_Loss", 0x10, ["clean"], "f4", ["loss scale", "another precision does not"]),
        ("a", 0x20, ["nan"], "f2", ["input 0", "passes on an overflow"]),
        ("gradients/a", 0x20, ["clean", "nan", "nan"], "f2", ["input 1", "input 2", "passes"]),
    ],
)
def test_advice(tmp_path, name, status, inputs, output, advice):
    """By the types, the name, the bits and where the overflow came from, in this order."""
    tensors = [w.array("input", HALF[each]) for each in inputs]
    values = numpy.array([1, 2], output)
    tensors.append(w.array("output", values if output == "f4" else HALF["clean"]))
    if output == "f4":
        tensors[:-1] = [w.array("input", values) for each in inputs]
    folder = w.step_folder(tmp_path)
    w.operator(folder, name, tensors, task=3)
    w.opdebug(folder, 3, 2, status)
    report = explain_overflows(tmp_path)
    found = report.overflows[0]
    assert len(advice) == len(found.advice)
    for words, text in zip(advice, found.advice):
        assert words in text
    bad = tuple(number for number, each in enumerate(inputs) if each == "nan")
    origin = "came in" if bad else "computed here" if inputs else "origin not known"
    assert (found.came_in_with, found.origin) == (bad, origin)
    assert report.mixlist == (("Add",) if origin == "computed here" else ())


def test_what_a_record_stands_for(tmp_path):
    """The header says it, and the graph where one is given, with the passes; steps are sorted."""
    values = w.array("output", HALF["clean"], origin=("p", 0, 2))
    for step, time in ((2, 1767323045000000), (1, 1767323045000009), (1, 1767323045000008)):
        folder = w.step_folder(tmp_path, step)
        w.operator(folder, "a", [values, values], task=3)
        w.opdebug(folder, 3, 2, 0x20, time)
    overflows = explain_overflows(tmp_path).overflows
    assert [(o.step, o.time % 10) for o in overflows] == [(1, 8), (1, 9), (2, 0)]
    assert {(o.stands_for, o.passes) for o in overflows} == {(("p",), ())}
    for names, expected in ((("q", "r"), ("q", "r")), ((), ("p",)), (None, ("p",))):
        op = GeOp("a", "Add", 0, 0, (), (), names, ("Pass",))
        found = explain_overflows(tmp_path, GeGraph("net", [op])).overflows[0]
        assert (expected, ("Pass",)) == (found.stands_for, found.passes)
    other = GeGraph("net", [GeOp("b", "Add", 0, 0, (), (), ("q",), ("Pass",))])
    assert explain_overflows(tmp_path, other).overflows == overflows


def test_one_record_alone(tmp_path):
    """Its operator is looked for beside it; the dump of another folder is not."""
    folder = w.step_folder(tmp_path, 1)
    w.operator(folder, "a", [], task=3)
    path = w.opdebug(folder, 3, 2, 0x20)
    other = w.opdebug(w.step_folder(tmp_path, 2), 3, 2, 0x20)
    report = explain_overflows(path)
    assert (report.overflows[0].op_name, report.overflows[0].step, report.tensors) == ("a", 1, 0)
    assert explain_overflows(other).overflows[0].op_name is None
    assert explain_overflows(tmp_path).tensors == 1
