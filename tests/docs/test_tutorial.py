"""The tutorial, followed from its beginning to its end in one folder, as its reader does.

A block behind ``<!-- file: NAME -->`` is a file; one behind ``<!-- end of NAME -->`` takes the
place of what a file holds from the first line that begins like the block.  A picture (``text``)
shows lines that the commands before it have printed.
"""

import shutil
from importlib.util import find_spec

import pytest

from tests.docs.test_pages import (
    BLOCK,
    DUMPS,
    TUTORIAL,
    Block,
    add_program,
    of_training,
    run_commands,
)

HOW = (
    pytest.param(
        False,
        marks=pytest.mark.skipif(find_spec("tensorflow") is not None, reason="see the other"),
    ),
    pytest.param(True, marks=pytest.mark.tensorflow),
)


def steps():
    """The blocks that are run, in their order."""
    for match in BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")):
        block = Block(TUTORIAL.name, 0, match.group(1) or "", *match.group(2, 3))
        if block.runs:
            yield block


def write(block, folder):
    """Write the file of a block, or its new end."""
    how, name = block.remark.replace("end of ", "end: ").split(": ")
    path, kept = folder / name, []
    if how == "end":
        lines = path.read_text(encoding="utf-8").splitlines(True)
        start = block.text.split()[0] + " "
        kept = lines[: next(n for n, line in enumerate(lines) if line.startswith(start))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(kept) + block.text, encoding="utf-8")


def follow(folder, training):
    """Do what the page says; without TensorFlow, all but the runs."""
    add_program(folder)
    printed = ""
    for block in steps():
        if "overflow_dump" in block.text:  # "copy the folder to the laptop"
            shutil.copytree(str(DUMPS / "overflow"), str(folder / "overflow_dump"))
        if block.language == "console":
            runs = training or not of_training(block)
            printed = run_commands(block, folder) if runs else None
        elif block.language != "text":
            write(block, folder)
        elif printed is not None:
            assert [line for line in block.text.splitlines() if line not in printed] == [], printed


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("training", HOW)
def test_tutorial(training, tmp_path, monkeypatch):
    """Each command ends as the page says, and prints what it shows."""
    monkeypatch.chdir(tmp_path)
    follow(tmp_path, training)
