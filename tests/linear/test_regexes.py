"""No regular expression of the package backtracks: each is proven to take linear time."""

import ast
import subprocess
import sys

import pytest

from tests.linear.regex_proof import ambiguous
from tests.package_trees import modules

SEARCHES = ("search", "finditer", "findall", "sub", "subn", "split")

KNOWN = {
    ("npu_config.readers.toml_file", "_STRING"): "its look-aheads, which the proof leaves out, "
    "keep the ways apart",
    (
        "npu_config.launch.shell.syntax",
        "_TOKEN",
    ): "it fits at every place, so nothing is tried twice",
    ("npu_config.readers.evidence", "_TOKEN"): "it fits at every place, so nothing is tried twice",
    ("npu_config.python_flow.source", "_PIECE"): "only applied to what Python itself has parsed",
    ("npu_config.python_flow.source", "_TOKEN"): "only applied to what Python itself has parsed",
    (
        "npu_config.python_flow.source",
        "_TEXT",
    ): "it fits wherever it begins: its ends are optional",
    ("npu_config.sidefiles.format", "_PLACEHOLDER"): "what it looks behind at, which the proof "
    "leaves out: it is tried behind a quotation mark only",
    ("npu_config.logs.redact", "_PARTS"): "what it looks behind at, which the proof leaves out: "
    "each way begins where a word or a path does",
    ("npu_config.editor.completion", "_EXPORT"): "only applied to 1000 characters at most",
    ("npu_config.editor.cursor", "_CALL"): "only looked for in the 80 characters before a bracket",
    ("npu_config.migration.work", "_COMMENT"): "only applied to what Python itself has parsed",
}
"""(module, name) of a pattern that is not proven, and why it does no harm."""

COLLECT = """
import importlib, json, pkgutil, re, sys
found, compile_ = [], re.compile
def record(pattern, flags=0):
    frame = sys._getframe(1)
    name = frame.f_globals.get("__name__", "")
    if name.startswith("npu_config"):
        text = isinstance(pattern, str)
        written = pattern if text else pattern.decode("latin-1")
        found.append([name, frame.f_lineno, written, int(flags), text])
    return compile_(pattern, flags)
re.compile = record
import npu_config.core.lazy
npu_config.core.lazy.lazy_pattern = record
for module in pkgutil.walk_packages(npu_config.__path__, "npu_config."):
    try:
        importlib.import_module(module.name)
    except ImportError:
        pass
print(json.dumps(found))
"""


def searched():
    """(module, name) of every pattern that is searched for, and not matched at one place."""
    found = set()
    for read in modules():
        module = read.dotted
        homes = {
            alias.asname or alias.name: node.module
            for node in read.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in read.nodes:
            if isinstance(node, ast.Attribute) and node.attr in SEARCHES:
                value = node.value
                while isinstance(value, ast.Subscript):
                    value = value.value
                if isinstance(value, ast.Name):
                    found.add((homes.get(value.id, module), value.id))
    return found


def name_at(tree, line):
    """The name that a pattern at the top of a module is given."""
    for node in tree.body:
        if node.lineno <= line <= node.end_lineno:
            target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
            return getattr(target, "id", None)
    return None


@pytest.mark.skipif(sys.version_info < (3, 8), reason="ends of statements need Python 3.8")
def test_every_pattern_takes_linear_time():
    """Nothing is left over but what is known, with a reason."""
    import json

    lines = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COLLECT], stdout=subprocess.PIPE, check=True
    ).stdout
    patterns = json.loads(lines)
    assert len(patterns) > 100
    trees = {module.dotted: module.tree for module in modules()}
    searches, wrong = searched(), set()
    for module, line, written, flags, text in patterns:
        name = name_at(trees[module], line)
        pattern = written if text else written.encode("latin-1")
        if ambiguous(pattern, flags, (module, name) in searches) is not None:
            wrong.add((module, name))
    assert (set(), set()) == (wrong - set(KNOWN), set(KNOWN) - wrong)


@pytest.mark.parametrize(
    ("pattern", "search", "linear"),
    [
        (r"(a+)+b", False, False),
        (r"(a|ab|b)*c", False, False),
        (r"a*a*b", False, False),
        (r"\s*x", True, False),
        (r"\w+\s*=", True, False),
        (r"a[0-9]+\Z", True, True),
        (r"[0-9]+\Z", True, False),
        (r"\s*x", False, True),
        (r"(?:a|ab)*c", False, True),
        (r"(?<!\w)\w+=", True, True),
        (r"\bfoo\s*=", True, True),
        (r"\w+", True, True),
        (r"(?:[ \t]|#[^\n]*\n)*x", False, True),
    ],
)
def test_the_proof_tells_them_apart(pattern, search, linear):
    """Known examples of both kinds."""
    assert linear == (ambiguous(pattern, 0, search) is None)
