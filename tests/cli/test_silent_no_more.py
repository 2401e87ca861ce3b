"""Scripts of which `check` once said nothing, each beside one that looks like it and is right."""

import json
import re
from pathlib import Path

HEAD = "import os\nimport tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
SCRIPTS = dict(
    re.findall(
        r"^=== (\w+)\n(.*?)(?=^===|\Z)",
        Path(__file__).with_name("silent_no_more.txt").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
"""The name of a script and what follows ``HEAD``.

A line that something is found at ends with its rule: ``# NPU401``.  Files whose name begins with
an underscore are imported by others.
"""


def test_file_beside_the_script(npu, tmp_path):
    """A side file whose path begins with `__file__` is read as one that is written out."""
    (tmp_path / "train.py").write_text(HEAD + SCRIPTS["side_file"])
    (tmp_path / "ops_info.json").write_text('{ // why\n"black-list": {"to-add": ["MatMul"]}}')
    found = npu("check", "--on-host", tmp_path / "train.py")
    assert (found.code, "NPU710" in found.out) == (1, True)
    (tmp_path / "ops_info.json").unlink()
    assert "NPU770" in npu("check", "--on-host", tmp_path / "train.py").out


def test_scripts(npu, tmp_path):
    """What is wrong is found at its line, and nothing in those that are right."""
    expected, paths = set(), []
    for name, text in SCRIPTS.items():
        path = tmp_path / (name + ".py")
        path.write_text(HEAD + text)
        paths += [path] if name[0] != "_" else []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            rules = re.findall(r"NPU\d+", line.partition("#")[2])
            expected.update((name, number, rule) for rule in rules)
    found = {
        (Path(each["path"]).stem, each["line"], each["rule"])
        for each in json.loads(npu("check", "--format", "json", *paths).out)["diagnostics"]
        if each["severity"] != "info"
    }
    assert sorted(found) == sorted(expected)
