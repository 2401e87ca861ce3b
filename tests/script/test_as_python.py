"""Values that a script puts together: what is known of one is what Python makes of it."""

from npu_config.core.settings import UNKNOWN
from npu_config.script import read_script

START = """\
import sys
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
BEFORE = """\
n, k, t, e = 7, -3, "text", ""
words, pair, table = ["a", "b", "c"], (1, 2), {"a": 1, "b": [2, 3]}
"""
EXPRESSIONS = """
n + k; n - k; n * k; n / 2; n // 2; n % 3; k // 2; k % 2; n ** 2; 2 ** n; n ** 0; 2 ** -1
1 << 4; 255 >> 3; 6 & 3; 6 | 3; 6 ^ 3; ~n; -n; +k; not n; not e; 2 ** 10; 2.0 ** 3; 0 ** 5
1 << 0; n < 7; n <= 7; n > 7; n >= 7; n == 7; n != 7; "a" in words; "d" in words
"a" not in words; "d" not in words; n is None; n is not None; n and k; 0 and k; n or k
0 or k; e or t; e and t; None or e; n if n > 3 else k; n if n > 9 else k; t + "s"; t * 2
t[0]; t[-1]; len(t); len(words); len(table); words[0]; words[-1]; pair[1]; table["a"]
table["b"][1]; table.get("c"); table.get("c", 9); words + ["d"]; pair + (3,)
{**table, "c": 3}; [n] * 3; t.upper(); t.replace("t", "s"); t.startswith("te")
t.endswith("te"); t.split("x"); t.strip("t"); "-".join(words); ",".join(["x"])
" a b ".split(); "a,b".split(","); "%d-%s" % (n, t); "%s" % n; "%03d" % n
"{}-{}".format(n, t); "{1}{0}".format(n, t); "{a}".format(a=n); f"{n}{t}"; f"{n!r}{t!r}"
f"{n}"; int("12"); int(3.9); float("1.5"); str(n); bool(e); bool(t); abs(k); min(n, k)
max(n, k); round(2.4); min(words); max(pair); sum(pair); sorted(words); list(pair)
tuple(words); dict(a=1); dict(table); list(table); list(table.values()); isinstance(n, int)
isinstance(t, int); str(True); str(None); t == "text"; (1, 2) < (1, 3)
"""

AT_THE_LIMIT = """
2 ** 999; len("x" * 100000); 2.0 ** -999; len((2 ** 900 * 2 ** 900, 1))
"""
BEYOND = """
2 ** 1000; len("x" * 100001); 1 << 1000; 2.0 ** -1000; (2 ** 999) ** 101; 2 ** 0.5; "a" ** 2
1 // 0; 1 % 0; words[3]; pair[2]; table["z"]; t + 1; t < 1; -t; int("x"); float("x")
sys.argv[1] + "x"; t.nothing(); t.center(9); words.pop(); t.encode("utf-16")
t.zfill(100001); "%9d" % t; "{5}".format(n); "%100000d" % n; "%*d" % (n, n)
"{:{}}".format(n, n); len(sys.argv); [i for i in sys.argv]; min([])
"""


def parts(lines):
    """The expressions of lines."""
    return [each for line in lines.strip().split("\n") for each in line.split("; ")]


def values(expressions):
    """What is known of each, as text; None where nothing is."""
    line = 'custom_op.parameter_map["x{}"].s = tf.compat.as_bytes(repr({}))\n'
    lines = "".join(line.format(number, each) for number, each in enumerate(expressions))
    end = "with tf.Session(config=config) as sess:\n    sess.run(1)\n"
    (settings,) = read_script(START + BEFORE + lines + end, "train.py").settings
    found = [settings.entries["x{}".format(number)].value for number in range(len(expressions))]
    return [None if each is UNKNOWN else each for each in found]


def test_values_are_those_of_python():
    """Operators, items, methods, functions, formats and comprehensions of known values."""
    expressions = parts(EXPRESSIONS.rstrip() + AT_THE_LIMIT)
    names = {}
    exec(BEFORE, names)
    expected = [repr(eval(each, names)) for each in expressions]
    assert dict(zip(expressions, expected)) == dict(zip(expressions, values(expressions)))


def test_values_that_are_not_known():
    """What Python refuses, what the run decides, and what is larger than anybody writes."""
    expressions = parts(BEYOND)
    assert dict.fromkeys(expressions) == dict(zip(expressions, values(expressions)))
