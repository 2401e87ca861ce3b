"""Reading operator tables: time per row, peak memory, and that both behave as claimed.

``python -m benchmarks.op_summary [ROWS]`` writes a synthetic op_summary of ROWS rows
(default 2,000,000) and of a quarter of them, reads both in fresh processes and prints,
for each, the time per row (against csv.reader alone on the same file) and the growth of
the peak memory of the process.
"""

import csv
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

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
    """Read the table in this process and print what it took."""
    from npu_config.profiling_tables import read_op_summary

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
    print(
        "{:>9,} rows  {:6.0f} MB  {:5.2f} s  {:5.2f} us per row  {:4.2f} x csv.reader  "
        "peak memory +{:.1f} MB  {} operators found".format(
            summary.rows,
            os.path.getsize(path) / 1e6,
            seconds,
            seconds / summary.rows * 1e6,
            seconds / alone,
            grown / 1024,
            len(summary.operators),
        ),
        flush=True,
    )


def main(rows: int) -> None:
    """Measure two sizes, each in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        for size in (rows // 4, rows):
            path = os.path.join(directory, "op_summary_{}.csv".format(size))
            write_table(path, size)
            subprocess.run([sys.executable, "-m", "benchmarks.op_summary", path], check=True)
            os.unlink(path)


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else "2000000"
    if given.isdigit():
        main(int(given))
    else:
        measure(given)
