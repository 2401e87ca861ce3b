"""Overflow records: every vector, the operator they mean, and the advice."""

import json
from pathlib import Path

import pytest
from dumps import dump_writer as w
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy

from npu_config import NpuConfigError
from npu_config.dumps import explain_overflows, read_overflow
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
