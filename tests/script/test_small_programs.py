"""Small programs, and what is read of each: the settings of every way through it, the findings.

``*_programs.txt`` have below each program a line for each way (``?``: not known; ``...``: there
may be more), then the findings; ``--update-cases`` writes them.  Program and value are those of
Python: what is known is what the run would set.
"""

import os
import re
import tempfile
from pathlib import Path

import pytest

from npu_config.core.diagnostics import Report
from npu_config.core.settings import UNKNOWN
from npu_config.script import read
from npu_config.script.ways import stated_by
from tests import golden

FILES = sorted(Path(__file__).parent.glob("*_programs.txt"))
START = """\
import argparse, copy, os, sys
import tensorflow as tf
from npu_bridge.npu_init import *
from elsewhere import flag, other, values
config = tf.ConfigProto()
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
p = custom_op.parameter_map
p["use_off_line"].b = True
"""
END = "with tf.Session(config=config) as sess:\n    sess.run(other)\n"
OWN = """\
import json, os, sys
import tensorflow as tf
import npu_config as npu
from npu_bridge.npu_init import *
from elsewhere import flag, other, values
"""
END_OF_OWN = """\
with tf.Session(config=made.to_config_proto()) as sess:
    sess.run(other)
"""
AROUND = {"own_programs": (OWN, END_OF_OWN), "joined_programs": ("", ""), "alone": ("", "")}
"""What stands before and behind the programs of a file, and those that have everything."""

LEFT_OUT = ("NPU101", "NPU803", "NPU804")
BLOCKS = [
    (file, *block)
    for file in FILES
    for block in re.findall(
        r"^=== (.*)\n((?:(?!===|>>>).*\n)*)>>>\n((?:(?!=== ).*\n)*)",
        file.read_text(encoding="utf-8"),
        re.M,
    )
]


def ways(reading):
    """What each way through a script sets, each once, and what is said of the whole."""
    for settings in reading.settings:
        parts = [
            "{}={}".format(name, "?" if each.value is UNKNOWN else repr(each.value))
            for name, each in (*settings.entries.items(), *settings.extra.items())
            if name != "use_off_line"
        ]
        yield "; ".join(parts + ["..."] * settings.open) or "nothing"
    stated = stated_by(reading)
    yield from ("# {}: {}".format(*each) for each in stated.words.items())
    yield from ("# {}: {}".format(*each) for each in stated.unused.items())
    yield from ("# " + each for each in (*stated.remarks, stated.more or ""))
    yield from ("# no option: " + each for each in stated.arguments)


def outcome(start, body, end):
    """The ways of a program, then its findings; line 1 is the first of its own."""
    own, *others = re.split(r"^--- (\S+)\n", body, flags=re.M)
    text, first = start + own + end, start.count("\n")
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for file, content in zip(["train.py", *others[::2]], [text, *others[1::2]]):
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        os.chdir(folder)
        try:
            reading = read(text.encode("utf-8"), "train.py")
            lines = list(dict.fromkeys(ways(reading)))
            found = [each for each in Report(reading.judge()) if each.rule not in LEFT_OUT]
        finally:
            os.chdir(before)
    for each in found:
        words = (
            each.line or 0,
            each.severity.value,
            each.rule,
            each.message.partition("; legal")[0],
        )
        lines.append("{} {} {}: {}".format(*words))
    said = "".join(line + "\n" for line in lines if line != "# ")
    return re.sub(
        r"(?m)^(\d+)(?= )|(?<=line )(\d+)|(?<=lines )(\d+)",
        lambda match: str(int(match.group()) - first),
        said,
    )


@pytest.mark.parametrize(
    ("file", "name", "body", "expected"), BLOCKS, ids=[block[1] for block in BLOCKS]
)
def test_program(file, name, body, expected):
    """Ways and findings are those below the program."""
    start, end = AROUND.get("alone" if name.endswith("alone") else file.stem, (START, END))
    found = outcome(start, body, end)
    if golden.update:
        text = file.read_text(encoding="utf-8")
        head = "=== {}\n{}>>>\n".format(name, body)
        before, _, after = text.partition(head)
        written = before + head + found + after[len(expected) :]
        file.write_text(written, encoding="utf-8")
    assert expected == found
