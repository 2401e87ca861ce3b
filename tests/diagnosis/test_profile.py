"""Where the time went: tables of every kind and generation, bad ones among them, two profiles."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.diagnosis import op_summary
from npu_config.diagnosis import profile as profiles
from npu_config.diagnosis.profile import read_profile
from tests import golden
from tests.cli.conftest import npu

__all__ = ["npu"]
LEVEL_1 = (
    "Device_id,Model Name,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time,"
    "Task Duration(us),Task Wait Time(us),Block Dim,Input Shapes,Input Data Types\n"
    '0,m,1,2,a/MatMul,MatMulV2,AI_CORE,1,100,5,32,"8,8",FLOAT16\n'
    '0,m,1,2,a/MatMul,MatMulV2,AI_CORE,1,140.5,5,32,"8,8",FLOAT16\n'
    '0,m,2,2,b/Sum,ReduceSum,AI_VECTOR_CORE,1,60,0,1,"8,8",FLOAT16\n'
    "0,m,3,2,broken,Add,AI_CORE,1,N/A,0,1,N/A,N/A\n"
)
LEVEL_0 = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
    "Task Start Time(us),Task Duration(us),Task Wait Time(us)\n"
    "0,1,1,2,a/MatMul,MatMulV2,static,MIX_AIC,1,100,0\n"
    "0,1,2,2,N/A,N/A,N/A,NOTIFY_WAIT_SQE,1,300,0\n"
)
STATISTIC = (
    "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
    "Max Time(us),Ratio(%)\n"
    "0,m,Conv2D,AI_CORE,10,900,1,90,200,75\n0,m,Cast,AI_CPU,5,300,1,60,100,25\n"
)
TASKS = (
    "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
    "task_stop(us)\n0,te_conv,KERNEL_AICORE,1,2,50,1,51\n0,N/A,EVENT_WAIT_SQE,1,3,25,1,2\n"
)
OLD_TASKS = (
    "Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Waiting(us),Running(us),Pending(us),Type,"
    "API,Task ID,Op Name,Stream ID\n80.0,400,4,100,90,120,0,400,0,AI_CORE,launch,1,conv,2\n"
)
AICPU = (
    "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
    "Dispatch_time(us),Total_time(us)\n0,1,get_next,10,2,15,5,9700\n"
)
COMMUNICATION = (
    "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    "0,hcom_allReduce_,4,2000,1,500,700,100\n"
)
STEPS = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
    "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID\n"
    "0,1,1,2,3,1000,800,100,N/A,1\n0,2,1,2,3,2000,900,100,500,1\n"
)
ALONE = {
    "op_summary_1.csv": (LEVEL_1, [("AI Core", 240.5, 2), ("AI Vector Core", 60.0, 1)]),
    "op_summary_0_1.csv": (LEVEL_0, [("waiting", 300.0, 1), ("AI Core", 100.0, 1)]),
    "op_statistic_1.csv": (STATISTIC, [("AI Core", 900.0, 10), ("AI CPU", 300.0, 5)]),
    "task_time_1.csv": (TASKS, [("AI Core", 50.0, 1), ("waiting", 25.0, 1)]),
    "task_time_0_1_1.csv": (OLD_TASKS, [("AI Core", 400.0, 4)]),
    "aicpu_1.csv": (AICPU, [("AI CPU", 9700.0, 1)]),
    "hccl_statistic_1.csv": (COMMUNICATION, [("communication", 2000.0, 4)]),
    "communication_statistic_1.csv": (COMMUNICATION, [("communication", 2000.0, 4)]),
    "any_name.csv": (LEVEL_0, [("waiting", 300.0, 1), ("AI Core", 100.0, 1)]),
}


def write(folder, files):
    """Write tables below a folder, which is returned."""
    for name, text in files.items():
        path = folder / "PROF_1" / "mindstudio_profiler_output" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("name", sorted(ALONE))
def test_each_table_alone(tmp_path, name):
    """The engines with their time and counts, by whatever one table says."""
    text, expected = ALONE[name]
    path = tmp_path / name
    path.write_text(text)
    found = read_profile([path])
    assert expected == [(each.engine, each.total_us, each.count) for each in found.engines]
    assert sum(each.share for each in found.engines) == pytest.approx(1)
    assert not found.diagnostics


def test_units_and_blanks(tmp_path):
    """Another unit is converted; tabs and missing cells do no harm."""
    path = tmp_path / "op_statistic.csv"
    path.write_text("OP Type,Core Type,Count,Total Time(ms)\nA,AI_CORE,1,2.5\t\nB,AI_CORE\n")
    found = read_profile([path])
    assert (found.total_us, found.tables[0].skipped) == (2500, 1)


def test_tables_together(tmp_path):
    """What the finest table lacks comes from the others, and nothing counts twice."""
    files = {"op_summary_1.csv": LEVEL_1, "op_statistic_1.csv": STATISTIC, "aicpu_1.csv": AICPU,
             "task_time_1.csv": TASKS, "hccl_statistic_1.csv": COMMUNICATION,
             "step_trace_1.csv": STEPS, "api_statistic_1.csv": "x"}  # fmt: skip
    found = read_profile([write(tmp_path, files)])
    engines = [(each.engine, each.total_us, each.source) for each in found.engines]
    assert engines == [
        ("AI CPU", 9700.0, "aicpu"),
        ("communication", 2000.0, "communication"),
        ("AI Core", 240.5, "op_summary"),
        ("AI Vector Core", 60.0, "op_summary"),
    ]
    assert found.waiting_us == 10
    assert found.operators[0].name == "get_next"
    steps = found.steps
    assert (steps.count, steps.total_us, steps.longest_us) == (2, 1500, 2000)
    assert (steps.compute_us, steps.data_us) == (850, 500)
    assert len(found.tables) == 6
    assert [each.name for each in found.one_block.operators] == ["b/Sum"]
    assert [Path(each).name for each in found.others] == ["api_statistic_1.csv"]


def test_each_table_is_read_once(npu, tmp_path, monkeypatch):
    """Also the table of operators, which is asked for two things; what is unknown is named."""
    opened = []
    original = op_summary.TableFaults.read
    monkeypatch.setattr(
        op_summary.TableFaults,
        "read",
        lambda faults, path, *others: opened.append(path) or original(faults, path, *others),
    )
    write(tmp_path, {"op_summary_1.csv": LEVEL_1, "aicpu_1.csv": AICPU, "l2_cache_1.csv": "x"})
    result = npu("op-summary", tmp_path)
    assert (result.code, len(opened)) == (0, 2)
    assert (
        "tables that were not read, because their type is unknown: 1 (l2_cache_1.csv)"
        in result.out
    )
    assert "block list (modify_mixlist, black-list to-add): ReduceSum" in result.out


def test_one_bad_table_suppresses_nothing(npu, tmp_path):
    """Every other table is read; the bad ones are findings, and the exit code says so."""
    files = {"op_summary_0.csv": LEVEL_1, "op_summary_1.csv": "", "op_summary_2.csv": "\0\1\2",
             "op_statistic_1.csv": "Device_id,OP Type\n0,Conv2D\n",
             "step_trace_1.csv": "a,b\n1,2\n", "aicpu_1.csv": AICPU,
             "task_time_1.csv": TASKS.splitlines()[0]}  # fmt: skip
    result = npu("op-summary", write(tmp_path, files))
    assert (result.code, result.out.count("NPU797")) == (1, 5)
    for words in ("get_next", "a/MatMul", "block list (modify_mixlist"):
        assert words in result.out
    with pytest.raises(NpuConfigError) as caught:
        read_profile([write(tmp_path / "bad", {"op_summary_1.csv": "", "aicpu_2.csv": "x,y\n"})])
    assert len(caught.value.diagnostics) == 2


def test_level_0_is_no_fault(npu, tmp_path):
    """Its times are shown; that blocks and types are missing is said once, as a remark."""
    result = npu("op-summary", write(tmp_path, {"op_summary_1.csv": LEVEL_0}))
    assert result.code == 0
    unseen = 'were not searched for: the table has no column "Block Dim (or Block Num)"'
    assert unseen in result.out
    both = {"op_summary_1.csv": LEVEL_0, "op_summary_2.csv": LEVEL_1}
    result = npu("op-summary", write(tmp_path / "both", both))
    assert (result.code, "ReduceSum" in result.out.split("single core")[1]) == (0, True)


def test_json_and_two_profiles(npu, tmp_path):
    """Everything is in JSON; with steps in both, times are compared for one step."""
    before = write(tmp_path / "a", {"op_statistic_1.csv": STATISTIC, "step_trace_1.csv": STEPS})
    faster = STATISTIC.replace("900", "450").replace("Cast", "Mul")
    after = write(tmp_path / "b", {"op_statistic_1.csv": faster, "step_trace_1.csv": STEPS})
    result = npu("op-summary", after, "--before", before, "--format", "json")
    found = json.loads(result.out)
    assert (result.code, found["version"], found["total_us"]) == (0, 1, 750)
    assert found["engines"][0]["engine"] == "AI Core"
    assert found["one_block"] is None
    assert found["compared"]["per_step"] is True
    types = {e["name"]: (e["before_us"], e["after_us"]) for e in found["compared"]["types"]}
    assert types == {"Conv2D": (450, 225), "Cast": (150, 0), "Mul": (0, 150)}
    text = npu("op-summary", after, "--before", before)
    for words in ("time of one step", "-0.23", "+0.15"):
        assert words in text.out
    missing = npu("op-summary", after, "--before", tmp_path / "none")
    assert missing.code == 2


def test_the_number_of_operators_is_bounded(tmp_path, monkeypatch):
    """Past the limit the least are dropped; their time stays with their type."""
    monkeypatch.setattr(profiles, "MAX_KEYS", 10)
    rows = ["n{},T,AI_CORE,{}".format(number, number) for number in range(1, 101)]
    path = tmp_path / "op_summary.csv"
    path.write_text("\n".join(["Op Name,OP Type,Task Type,Task Duration(us)", *rows]))
    found = read_profile([path])
    assert found.operators[0].name == "n100"
    assert len(found.operators) <= 20
    (only,) = found.types
    assert (only.count, only.total_us) == (100, 5050)


@settings(max_examples=golden.tries(60), deadline=None)
@given(st.sampled_from(sorted(ALONE)), st.binary(max_size=200), st.booleans())
def test_any_bytes(tmp_path_factory, name, data, headed):
    """Any content gives a profile or diagnostics."""
    path = tmp_path_factory.getbasetemp() / name
    head = ALONE[name][0].splitlines(True)[0].encode()
    path.write_bytes(head * headed + data)
    with contextlib.suppress(NpuConfigError):
        read_profile([path])


def test_rows_whose_time_is_none(tmp_path):
    """They are counted and named, totals are without them, and the exit code says so."""
    import subprocess
    import sys

    path = tmp_path / "op_summary_0_1.csv"
    rows = ['"a\nb",Add,AI_CORE,10.5', "b,Add,AI_CORE,1o.5", "c,Add,AI_CORE,N/A", "d,Add,AI_CORE"]
    path.write_text("\n".join(["Op Name,OP Type,Task Type,Task Duration(us)", *rows, ""]))
    command = [sys.executable, "-m", "npu_config", "op-summary", str(path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = result.stdout.decode()
    assert result.returncode == 1, text
    assert (
        "rows without a readable time: 2; the totals do not include these rows; lines: 4, 6"
        in text
    )
    assert "rows: 1, without a time: 3" in text
