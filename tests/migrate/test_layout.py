"""Where lines are broken and comments stand in the brackets of a script changes no migration."""

import ast
import io
import random
import tokenize
from pathlib import Path

import pytest

import npu_config

CASES = Path(__file__).parent / "cases"
SCRIPTS = {
    path.parent.name: path.read_text(encoding="utf-8")
    for path in sorted(CASES.glob("*/before.py"))
    if "python2" not in str(path)
}
GAPS = ["\n", "  # ) a comment = (,\n\t", " \\\n ", "   "]
AROUND = {"(", "[", "{", ",", "=", ")", "]", "}", "*", "**"}
ON_ONE_LINE = {"own-shifted-hook", "own-hvd-app-run", "own-styles"}
"""They are about what stands on one line, or hold an f-string, which Python 3.12 cuts up."""


def spread(source, chance):
    """The same tokens with other white space inside of brackets."""
    lines = source.splitlines(keepends=True)
    parts, depth, row, column, last = [], 0, 1, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (first, start), (row_after, column_after) = token.start, token.end
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        gap = "".join([*lines[row - 1 : first - 1], lines[first - 1][:start]])[column:]
        is_place = depth and token.type != tokenize.COMMENT and "#" not in gap
        if is_place and AROUND & {last, token.string} and chance.random() < 0.3:
            gap += chance.choice(GAPS)
        depth += (token.string in "([{") - (token.string in ")]}") if token.string else 0
        parts += [gap, token.string]
        row, column, last = row_after, column_after, token.string
    return "".join(parts)


def facts(migration):
    """What is said, without the lines."""
    return {(note.id, note.kind) for note in migration.notes}


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - ON_ONE_LINE))
def test_layout(name):
    """The migrated scripts have one syntax tree, and the same facts are reported."""
    before = SCRIPTS[name].replace("\r\n", "\n")
    other = spread(before, random.Random(name))
    assert ast.dump(ast.parse(before)) == ast.dump(ast.parse(other))
    expected, found = npu_config.migrate(before), npu_config.migrate(other)
    assert ast.dump(ast.parse(expected.text)) == ast.dump(ast.parse(found.text))
    assert facts(expected) == facts(found)
