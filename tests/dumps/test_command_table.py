"""Commands on one small job, and what each prints: both formats, each option alone.

The job has two steps, two devices, an overflow, a table of statistics, and operators that differ
from the reference in one way each.  ``command_table.txt`` has the output below each command;
``--update-cases`` writes it.
"""

import os
import re
from pathlib import Path

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from tests import golden
from tests.cli.conftest import npu

__all__ = ["npu"]
EXPECTED = Path(__file__).parent / "command_table.txt"
ROWS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", EXPECTED.read_text(encoding="utf-8"), re.M)
BASE = numpy.arange(1, 25, dtype="f4").reshape(4, 6) / 8
HOLES = BASE.copy()
HOLES[1, 2], HOLES[2, 3], HOLES[3, 5] = numpy.nan, numpy.inf, -numpy.inf
with numpy.errstate(over="ignore"):
    LARGE = BASE.astype("f2") * numpy.float16(60000)
ONE = BASE.copy()
ONE[2, 1] += 5

# operator, its type, what the device has, what the reference has
OPERATORS = [
    ("same", "Relu", BASE, BASE),
    ("scaled", "Mul", BASE * 3, BASE),
    ("negated", "Neg", -BASE, BASE),
    ("shifted", "Add", BASE + 7, BASE),
    ("turned", "Transpose", BASE.T.copy(), BASE),
    ("reversed", "Reverse", BASE[::-1].copy(), BASE),
    ("one", "Scatter", ONE, BASE),
    ("zeros", "ZerosLike", BASE * 0, BASE),
    ("noughts", "ZerosLike", BASE, BASE * 0),
    ("constant", "Fill", BASE * 0 + 2, BASE),
    ("holes", "Log", HOLES, BASE),
    ("both", "Log", HOLES, HOLES),
    ("half", "Cast", BASE.astype("f2"), BASE),
    ("whole", "ArgMax", (BASE * 8).astype("i4"), (BASE * 8).astype("i8")),
    ("off", "ArgMax", (BASE * 8).astype("i4") + 1, (BASE * 8).astype("i8")),
    ("flags", "Greater", BASE > 1, BASE > 1),
    ("flipped", "Greater", BASE > 1, BASE > 2),
    ("small", "Slice", BASE[:2], BASE),
    ("alone", "Abs", BASE, None),
    ("complex", "FFT", (BASE * (1 + 1j)).astype("c8"), (BASE * (1 + 1j)).astype("c8")),
    ("empty", "Slice", BASE[:0], BASE[:0]),
    ("point", "Sum", BASE.sum(), BASE.sum()),
    ("large", "Exp", LARGE, BASE * 60000),
]
GRAPH = "graph {{\n{}}}\n".format(
    "".join(
        'op {{ name: "{}" type: "{}" id: {} {} output_desc {{ layout: "ND" }} }}\n'.format(
            name, kind, number, 'input: "{}:0"'.format(OPERATORS[number - 1][0]) if number else ""
        )
        for number, (name, kind, _, _) in enumerate(OPERATORS)
    )
)
STATISTICS = """\
Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,Min Value,Avg Value,\
L2 norm,Nan Count,Negative Inf Count,Positive Inf Count
Output,0,96,DT_FLOAT,ND,4x6,24,3,0.125,1.5625,8.75,0,0,0
Output,1,96,DT_FLOAT16,ND,4x6,24,nan,0.125,1.5625,8.75,2,1,0
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """The folder of the job."""
    root = tmp_path_factory.mktemp("job")
    (root / "tf").mkdir()
    for step, device in ((0, 0), (0, 1), (1, 0)):
        folder = w.step_folder(root / "npu", step, device=device)
        for number, (name, kind, values, _) in enumerate(OPERATORS):
            inputs = [w.array("input", OPERATORS[number - 1][2])] if number else []
            given = values * numpy.float32(2) if step and name == "one" else values
            tensors = [*inputs, w.array("output", given)]
            w.operator(folder, name, tensors, kind, number, time=1767323045000000 + number)
    for name, _, _, values in OPERATORS:
        if values is not None:
            numpy.save(str(root / "tf" / (name + ".0.17673230440000.npy")), values)
    numpy.save(str(root / "tf" / "more.0.17673230440000.npy"), BASE)
    (root / "graph.txt").write_text(GRAPH)
    folder = w.step_folder(root / "flow")
    for task, (name, kind, values, _) in enumerate(OPERATORS[:4] + OPERATORS[-1:]):
        w.operator(folder, name, [w.array("output", values)], kind, task, time=1767323045000000)
    w.opdebug(folder, 1, 2, 0x8000000000000000)
    w.opdebug(folder, 4, 2, 0x4000000000000001, time=1767323045000001)
    w.opdebug(folder, 77, 2, 0x4, time=1767323045000002)
    stats = w.step_folder(root / "stats")
    (stats / "Relu.same.1.2.1767323045000000.csv").write_text(STATISTICS)
    (stats / "broken").write_bytes(b"x")
    cut = w.step_folder(root / "cut")
    path = w.operator(cut, "same", [w.array("output", BASE)], "Relu")
    path.write_bytes(path.read_bytes()[:-10])
    w.operator(cut, "odd", [w.tensor("output", b"1234", (3,), code=99)], "Odd", 2)
    (root / "npu.yaml").write_text("version: 1\nenable_dump: true\ndump_path: /d\n")
    return root


def said(npu, words, job):
    """What a command prints, both ways, and what it writes."""
    done = npu(*words.split())
    text = "exit {}\n{}{}".format(done.code, done.out, done.err)
    for name in ("out.csv", "out.yaml"):
        if Path(name).exists():
            text += "{}:\n{}".format(name, Path(name).read_text(encoding="utf-8"))
            os.remove(name)
    text = text.replace(str(job), "JOB").replace("\r\n", "\n")
    return "".join("    {}\n".format(line).rstrip() + "\n" for line in text.splitlines())


@pytest.mark.parametrize(("words", "expected"), ROWS, ids=[words for words, _ in ROWS])
def test_output(words, expected, npu, job, monkeypatch):
    """The output below the command."""
    monkeypatch.chdir(job)
    monkeypatch.setenv("COLUMNS", "100")
    found = said(npu, words, job)
    if golden.update:
        text = EXPECTED.read_text(encoding="utf-8")
        before, _, after = text.partition("$ {}\n".format(words))
        written = "{}$ {}\n{}{}".format(before, words, found, after[len(expected) :])
        EXPECTED.write_text(written, encoding="utf-8")
    assert expected == found
