"""Reading operator tables: time per row, peak memory, and that both behave as claimed.

Synthetic op_summary tables of 2,000,000 rows and of a quarter of them are read in fresh
processes; the baselines are csv.reader alone on the same file, and the smaller table.
"""

import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from typing import List

from benchmarks._measure import Row

HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
    "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,"
    "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,"
    "aic_mac_time(us),aic_mac_ratio,aiv_vec_time(us),aiv_vec_ratio,cube_utilization(%)"
)
TYPES = ("ReduceSum", "MatMulV2", "Add", "Conv2D", "BatchNorm", "Cast", "Mul", "TransData")


def write_table(path: str, rows: int) -> None:
    """A recording of a network of 4,000 operators, run again and again."""
    chance = random.Random(7)
    operators = []
    for index in range(4000):
        kind = chance.choice(TYPES)
        blocks = chance.choice(("1", "1", "8", "32"))
        types = chance.choice(("FLOAT16;FLOAT16", "FLOAT;FLOAT", "FLOAT16;INT32", "N/A"))
        operators.append(
            "0,1,{i},3,scope_{s}/block_{i}/{k},{k},dynamic,AI_CORE,17000{i}.5,{{:.2f}},0.5,{b},0,NO,"
            '"""32,128,1024;1024,1024""",{t},ND;ND,"""32,128,1024""",FLOAT16,ND,N/A,12.5,'
            "15000,3.25,0.26,1.5,0.12,55.1\n".format(
                i=index, s=index % 40, k=kind, b=blocks, t=types
            )
        )
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(HEADER + "\n")
        for index in range(rows):
            stream.write(operators[index % 4000].format(5.0 + index % 97))


def measure(path: str) -> None:
    """Read the table in this process; prints what it took as JSON."""
    from npu_config.diagnosis.op_summary import read_op_summary

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    summary = read_op_summary([path])
    seconds = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    start = time.perf_counter()
    with open(path, encoding="utf-8", newline="") as stream:
        for _ in csv.reader(stream):
            pass
    alone = time.perf_counter() - start
    per_row = 1e6 / summary.rows
    print(json.dumps([seconds * per_row, alone * per_row, grown / 1024.0]))


def rows(count: int = 2000000) -> List[Row]:
    """A quarter of ``count`` rows, and all of them, each read in a process of its own."""
    taken = []
    with tempfile.TemporaryDirectory() as directory:
        for size in (count // 4, count):
            path = os.path.join(directory, "op_summary_{}.csv".format(size))
            write_table(path, size)
            command = [sys.executable, "-m", "benchmarks.op_summary", path]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            taken.append(json.loads(output.decode()))
            os.unlink(path)
    (few_time, few_csv, few_memory), (all_time, all_csv, all_memory) = taken
    named = "{:,} rows".format
    return [
        Row("read, per row, " + named(count // 4), few_time, "csv.reader", few_csv, "us", 2.0),
        Row("read, per row, " + named(count), all_time, "csv.reader", all_csv, "us", 2.0),
        Row("linear: per row", all_time, "a quarter of the rows", few_time, "us", 1.25),
        Row("peak memory grown by", all_memory, "a quarter of the rows", few_memory, "MB", 1.5),
    ]


if __name__ == "__main__":
    measure(sys.argv[1])
