"""Operator tables: columns old and new, streaming, ranking, advice, bad input."""

import contextlib
import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.diagnosis import op_summary
from npu_config.diagnosis.op_summary import advise, find_tables, read_op_summary
from tests import golden


def _titles(line):
    """The titles of a table."""
    return line.split(",")


OLD = _titles(
    "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,"
    "Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim,Input Shapes,"
    "Input Data Types,Input Formats,aicore_time(us)"
)
NEW = _titles(
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
    "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,"
    "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Context ID"
)
KERNEL_DETAILS = _titles(
    "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "Input Shapes,Input Data Types,Input Formats"
)


def row(header, name, kind, duration, blocks, types, task="AI_CORE", shapes='"1,2"'):
    """One line of a table with ``header``."""
    known = {
        "Op Name": name,
        "Name": name,
        "OP Type": kind,
        "Type": kind,
        "Task Type": task,
        "Accelerator Core": task,
        "Task Duration(us)": duration,
        "Duration(us)": duration,
        "Block Dim": blocks,
        "Block Num": blocks,
        "Input Data Types": types,
        "Input Shapes": shapes,
    }
    return [str(known.get(title, "N/A")) for title in header]


def write(path, header, rows):
    """Write a table as the profiler does."""
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def rows(header):
    """A recording in which two ReduceSums and a Mul are slow on one block."""
    return [
        row(header, "a/Sum", "ReduceSum", "10.5", "1", "FLOAT16;INT32"),
        row(header, "big/Mul", "Mul", "900.0\t", "1\t", "FLOAT16;FLOAT16"),
        row(header, "b/Sum", "ReduceSumD", "40", "1", "DT_FLOAT16"),
        row(header, "a/Sum", "ReduceSum", "30.5", "1", "FLOAT16;INT32", shapes='"8,8"'),
        row(header, "wide/Sum", "ReduceSum", "500", "32", "FLOAT16;INT32"),
        row(header, "f32/Sum", "ReduceSum", "500", "1", "FLOAT;INT32"),
        row(header, "bf16/Sum", "ReduceSum", "500", "1", "BFLOAT16;INT32"),
        row(header, "host/Sum", "ReduceSum", "500", "1", "FLOAT16", task="AI_CPU"),
        row(header, "comm", "HcomAllReduce", "7", "N/A", "N/A", task="HCCL"),
        row(header, "broken", "Add", "N/A", "1", "FLOAT16"),
    ]


@pytest.mark.parametrize("header", [OLD, NEW, KERNEL_DETAILS], ids=["old", "new", "kernel"])
def test_ranks_float16_operators_on_one_block(tmp_path, header):
    """ReduceSum stands first, then time decides; other types, blocks and engines are out."""
    summary = read_op_summary([write(tmp_path / "op_summary_0.csv", header, rows(header))])
    assert [each.name for each in summary.operators] == ["a/Sum", "b/Sum", "big/Mul"]
    first = summary.operators[0]
    assert (first.count, first.total_us, first.max_us) == (2, 41.0, 30.5)
    assert first.input_shapes == '"8,8"'
    assert (summary.rows, summary.skipped) == (9, 1)
    assert summary.types == {"Mul": (1, 900.0), "ReduceSum": (2, 41.0), "ReduceSumD": (1, 40.0)}
    assert first.share == pytest.approx(41.0 / summary.total_us)


def test_names_the_types_for_the_block_list(tmp_path):
    """Only the documented types go into the block list; others are named as candidates."""
    summary = read_op_summary([write(tmp_path / "t.csv", NEW, rows(NEW))])
    advice = advise(summary)
    assert advice.black_list == ("ReduceSum", "ReduceSumD")
    assert advice.others == ("Mul",)
    assert advise(summary, ["Mul"]).black_list == ("Mul",)


def test_a_cast_where_the_graph_itself_is_float16(tmp_path):
    """A node that is float16 before any conversion needs a cast, not the block list."""
    summary = read_op_summary([write(tmp_path / "t.csv", NEW, rows(NEW))])
    advice = advise(summary, float16_nodes=frozenset(("a/Sum",)))
    assert [each.name for each in advice.casts] == ["a/Sum"]
    assert advice.black_list == ("ReduceSumD",)


def test_slices_of_one_recording_are_summed(tmp_path):
    """All op_summary files below a directory are one table."""
    (tmp_path / "PROF_1").mkdir()
    write(tmp_path / "PROF_1" / "op_summary_slice_0_1.csv", NEW, rows(NEW))
    write(tmp_path / "PROF_1" / "op_summary_slice_1_1.csv", NEW, rows(NEW))
    (tmp_path / "PROF_1" / "op_statistic_1.csv").write_text("x")
    assert len(find_tables(tmp_path)) == 2
    summary = read_op_summary([tmp_path])
    assert (summary.rows, summary.skipped) == (18, 2)
    assert summary.operators[0].count == 4


def test_number_of_operators_is_bounded(tmp_path, monkeypatch):
    """Past the limit the least significant operators go; the totals of the types stay."""
    monkeypatch.setattr(op_summary, "MAX_OPERATORS", 10)
    table = [row(NEW, "n{}/Sum".format(i), "ReduceSum", i, "1", "FLOAT16") for i in range(1, 101)]
    summary = read_op_summary([write(tmp_path / "t.csv", NEW, table)])
    assert len(summary.operators) == 10
    assert summary.operators[0].name == "n100/Sum"
    assert summary.truncated == 90
    assert summary.types["ReduceSum"] == (100, 5050.0)


def test_a_unit_in_the_header_is_respected(tmp_path):
    """Durations in another unit than microseconds are converted."""
    header = [title.replace("Duration(us)", "Duration(ns)") for title in NEW]
    table = [
        [
            "2000" if title == "Task Duration(ns)" else cell
            for title, cell in zip(header, row(NEW, "a", "ReduceSum", 1, "1", "FLOAT16"))
        ]
    ]
    summary = read_op_summary([write(tmp_path / "t.csv", header, table)])
    assert summary.operators[0].total_us == 2.0


def fault(path):
    """The one diagnostic that reading ``path`` gives."""
    with pytest.raises(NpuConfigError) as caught:
        read_op_summary([path])
    (found,) = caught.value.diagnostics
    assert found.rule == "NPU797"
    assert str(path) == found.path
    return found


def test_missing_columns_are_all_named_at_once(tmp_path):
    """A table recorded without details says which columns it lacks and how to get them."""
    header = [title for title in NEW if title not in ("Block Num", "Input Data Types")]
    found = fault(write(tmp_path / "t.csv", header, []))
    assert 'no column "Block Dim (or Block Num)", "Input Data Types"' in found.message
    assert "l1" in found.help


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the table is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not an op_summary table"),
        (b'{"a": 1}', "not an op_summary table"),
        (b"Op Name,OP Type,Task Duration(us),Block Dim,Input Data Types\n", "no row"),
    ],
    ids=["empty", "png", "json", "header-only"],
)
def test_a_file_that_is_no_table_is_one_diagnostic(tmp_path, content, message):
    """Whatever the file is, there is one finding and it says what is wrong."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert message in fault(path).message


def test_a_missing_file_and_an_empty_directory(tmp_path):
    """Both are findings, and both are reported in one run."""
    with pytest.raises(NpuConfigError) as caught:
        read_op_summary([tmp_path, tmp_path / "nothing.csv"])
    assert len(caught.value.diagnostics) == 2


def test_a_cut_last_line_is_skipped(tmp_path):
    """A line that ends in the middle is counted, not guessed."""
    path = write(tmp_path / "t.csv", NEW, rows(NEW))
    text = path.read_text()
    path.write_text(text + "0,1,2,3,x/Sum,Redu")
    assert read_op_summary([path]).skipped == 2


@settings(max_examples=golden.tries(60), deadline=None)
@given(st.binary(max_size=300), st.booleans())
def test_arbitrary_bytes_never_raise_anything_else(tmp_path_factory, data, headed):
    """Any content gives a summary or diagnostics."""
    path = tmp_path_factory.getbasetemp() / "t.csv"
    path.write_bytes((",".join(NEW) + "\n").encode() * headed + data)
    with contextlib.suppress(NpuConfigError):
        read_op_summary([path])
