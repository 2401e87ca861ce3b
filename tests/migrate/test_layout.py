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
AROUND = {".", "(", "[", "{", ",", "=", ")", "]", "}", "*", "**"}
LINE_ENDS = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)
ON_ONE_LINE = {"own-shifted-hook", "own-hvd-app-run", "own-styles"}
"""They are about what stands on one line, or hold an f-string, which Python 3.12 cuts up."""


def spread(source, chance):
    """The same tokens with other white space and comments, joined lines out of brackets."""
    lines = source.splitlines(keepends=True)
    parts, depth, row, column, last = [], 0, 1, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (first, start), (row_after, column_after) = token.start, token.end
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        gap = "".join([*lines[row - 1 : first - 1], lines[first - 1][:start]])[column:]
        is_place = last and token.type not in LINE_ENDS and "#" not in gap
        if is_place and AROUND & {last, token.string} and chance.random() < 0.3:
            gap += chance.choice(GAPS) if depth else " \\\n  "
        depth += (token.string in "([{") - (token.string in ")]}") if token.string else 0
        parts += [gap, token.string]
        row, column, last = row_after, column_after, token.string.strip()
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


HEAD = "import tensorflow as tf\nsess = tf.Session()\n"


@pytest.mark.parametrize(
    "end",
    [
        "(sess\n.close())",
        "(sess  # a\n . # b\n close # c\n )()",
        "sess \\\n .close()",
        "(sess).close()",
        "with (\n    sess  # a\n) as s:\n    pass",
        "with \\\n  sess:\n    pass",
        "sess.__enter__()\nsess.__exit__(None, None, None)",
        "other = sess\nother.close()",
    ],
)
def test_a_session_that_is_closed_over_several_lines(end):
    """It is seen, and nothing is said of its end."""
    said = [note.id for note in npu_config.migrate(HEAD + end + "\n").notes]
    assert "session-close" not in said
    assert "session-close" in [note.id for note in npu_config.migrate(HEAD + "pass\n").notes]


def test_comments_in_a_name_that_is_replaced():
    """They stay, behind the new name."""
    source = "import tensorflow as tf\ny = (tf. # a\n  nn\n  . # b\n  dropout(x, rate=0.5))\n"
    expected = "y = (npu_ops.dropout  # a\n  # b\n  (x, keep_prob=1 - (0.5)))\n"
    assert npu_config.migrate(source).text.endswith(expected)
