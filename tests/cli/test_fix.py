"""Fixes: exactly their characters, and never for the worse."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.cli._fix import fixed
from npu_config.core.diagnostics import Diagnostic, Edit, Fix, Severity
from npu_config.readers import read
from npu_config.writers import render
from tests.strategies import configs

FORM = ("NPU101", "NPU70", "NPU71")


def errors(text, kind):
    """What is wrong with the form of a text and with the names in it."""
    found = read("x." + kind, kind, text).judge()
    return [d for d in found if d.rule.startswith(FORM) and d.severity >= Severity.WARNING]


def carrying(*fixes):
    """A diagnostic for each fix."""
    return [
        Diagnostic("NPU101", "unknown-option", Severity.ERROR, str(number), fix=fix)
        for number, fix in enumerate(fixes)
    ]


@pytest.mark.parametrize("kind", ["yaml", "toml", "json", "pbtxt"])
def test_fixes_repair(kind):
    """A file with misspelt names and lost quotes never has more errors after its fixes."""

    @given(configs(max_size=6), st.integers(0, 2**32))
    def check(config, seed):
        chance = random.Random(seed)
        text = render(config, kind)
        for name in config.options:
            action = chance.randrange(4)
            if action == 0:
                at = chance.randrange(1, len(name))
                text = text.replace(name, name[:at] + name[at + 1 :], 1)
            elif action == 1:
                text = text.replace('"', "", 2)
            elif action == 2:
                text = text.replace("true", "True").replace("false", "off")
        before = errors(text, kind)
        after, count = fixed(text, read("x", kind, text).judge())
        assert (after != text) is (count > 0)
        assert len(errors(after, kind)) <= len(before)

    check()


def test_fixes_that_touch_are_not_both_done():
    """The first one is; the other has its turn when the text is read again."""
    one = Fix("one", (Edit(1, 1, 1, 4, "x"),))
    other = Fix("other", (Edit(1, 3, 1, 5, "y"), Edit(1, 9, 1, 10, "z")))
    third = Fix("third", (Edit(1, 4, 1, 5, "w"),))
    assert fixed("abcdefghi", carrying(one, other, third)) == ("xwefghi", 2)


def test_the_same_fix_is_done_once():
    """Two findings may have one remedy."""
    fix = Fix("insert", (Edit(1, 2, 1, 2, "-"),))
    assert fixed("ab", carrying(fix, fix)) == ("a-b", 1)


def test_insertions_at_one_place_are_not_mixed():
    """Who knows in which order they belong."""
    one, other = (Fix(text, (Edit(1, 2, 1, 2, text),)) for text in "-+")
    assert fixed("ab", carrying(one, other)) == ("a-b", 1)


def test_nothing_to_fix():
    """The text as it is."""
    assert fixed("ab", carrying(None)) == ("ab", 0)


def test_one_text_is_counted_once(npu, tmp_path):
    """Two findings about one value are mended together, and counted so before and after."""
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n"
        "from npu_bridge.npu_init import *\n"
        "config = tf.ConfigProto(allow_soft_placement=True)\n"
        "custom_op = config.graph_options.rewrite_options.custom_optimizers.add()\n"
        'custom_op.name = "NpuOptimizer"\n'
        'custom_op.parameter_map["op_select_implmode"].s = "HIGH_PRECISION"\n'
        "sess = tf.Session(config=config)\n"
    )
    before = npu("check", script)
    assert "2 errors" in before.out
    assert "\n1 can be fixed with --fix\n" in before.out
    assert npu("check", "--fix", script).err == "1 fixed\n"
    assert '"].s = b"high_precision"\n' in script.read_text()


def test_bytes_that_are_no_utf_8_stay(npu, tmp_path):
    """A file whose comment is in GBK is checked by its bytes, and a fix keeps them."""
    path = tmp_path / "op_precision.ini"
    before = "# 说明\n[ByOpType]\nPooling={}\n".format
    path.write_bytes(before("highprecision").encode("gbk"))
    assert npu("check", "--fix", path).code == 0
    assert before("high_precision").encode("gbk") == path.read_bytes()
