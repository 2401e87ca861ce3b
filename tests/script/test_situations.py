"""Documented troubles in the text of scripts: each in several forms, and what looks like them."""

import re
from pathlib import Path

import pytest

from npu_config.script import read
from npu_config.script.vocabulary import may_matter

TEXT = (Path(__file__).parent / "situations.txt").read_text(encoding="utf-8")
USUAL = """\
import os
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
"""


def forms():
    """The situation, whether it is one, its form, and the files of each script, its own first."""
    found = {}
    for block in TEXT.split("\n=== ")[1:]:
        head, _, text = block.partition("\n")
        id, _, form = head.partition(" | ")
        main, *others = re.split(r"^--- (\S+)\n", text, flags=re.M)
        script = main if main.startswith(("import ", "from ")) else USUAL + main
        is_one, name = not id.startswith("right "), id.replace("right ", "")
        files = dict(zip(others[::2], others[1::2]))
        found.setdefault(name, []).append((is_one, form, script, files))
    return found


FORMS = forms()


@pytest.mark.parametrize("situation", FORMS)
def test_each_form(tmp_path, situation):
    """It is found at the lines that are marked, at least at one of them, and nowhere else."""
    counts = [is_one for is_one, _, _, _ in FORMS[situation]]
    assert counts.count(True) >= 3
    assert counts.count(False) >= 1
    for number, (is_one, form, script, files) in enumerate(FORMS[situation]):
        folder = tmp_path / str(number)
        for name, text in {"train.py": script, **files}.items() if files else ():
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        path = str(folder / "train.py") if files else None
        marked = {n for n, line in enumerate(script.split("\n"), 1) if "# here" in line}
        reading = read(script.encode("utf-8"), path)
        lines = {each.line for each in reading.judge() if each.situation == situation}
        assert lines <= marked, form
        assert may_matter(script.encode("utf-8")), "a walk passes {} over".format(form)
        assert bool(lines) == is_one, form
