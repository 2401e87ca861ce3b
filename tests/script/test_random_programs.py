"""Programs put together at random: what is read of one is what its run sets."""

import random
import types

import pytest

from npu_config.core.settings import UNKNOWN
from npu_config.proto import stub_config_proto
from npu_config.proto.schema import session_message
from npu_config.script import read_script

PROGRAMS = 300
START = """\
import tensorflow as tf
from npu_bridge.npu_init import *
from elsewhere import flag, other, rounds
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
p = custom_op.parameter_map
n, k, t, u = 3, 0, "text", "b"
words, pair, table = ["a", "b"], (1, 2), {"a": 1, "b": 2}
class Options:
    size = 4
    def __init__(self, count=2):
        self.count, self.name = count, "o"
    def total(self, more=1):
        return self.count * self.size + more
    @property
    def twice(self):
        return 2 * self.count
    def put(self, name, value):
        p[name].i = value + self.count
o = Options()
o.put("z", 1)
"""
END = "sess = tf.Session(config=config)\nsess.run(other)\n"


class Author:
    """Writes programs that end and that no exception ends, mostly."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = 0

    def any(self, *choices):
        """One of several texts, or of functions that write one."""
        choice = self.random.choice(choices)
        return choice if isinstance(choice, str) else choice()

    def option(self):
        """A name of an option."""
        return self.any('"a"', '"b"', '"c"', '"d"')

    def number(self):
        """An expression that is an integer."""
        simple = (
            *("n", "k", "1", "7", "-2", "len(t)", "len(words)", "pair[0]", 'table["a"]'),
            *("o.count", "o.total()", "o.total(3)", "o.twice", "Options(5).count", "sum(pair)"),
            *("len(words[1:])", "sum(pair[:1])", "max(n, k)", "abs(k)", "words.index(words[0])"),
            *("int(u == t)", 'table.get("z", 9)'),
        )
        if self.random.random() < 0.6:
            return self.any(*simple)
        left, right = self.any(*simple), self.any(*simple)
        return self.any("{0} + {1}", "{0} - {1}", "{0} * {1}", "({0} if {2} else {1})").format(
            left, right, self.condition()
        )

    def text(self):
        """An expression that is a text."""
        number = self.any("n", "k", "2")
        return self.any(
            *("t", "u", '"x"', "words[0]", "words[-1]", "o.name", '"".join(words)', "str(k)"),
            *("t.upper()", "t[:2]", "u * 2", "(t or u)", '"{}-{}".format(t, n)', '"%s" % u'),
            't + "{}"'.format(self.any("y", "z")),
            *('f"{{{}}}{{u}}"'.format(number), 'f"{{{}:>4}}"'.format(number), 'f"{u!r:.3}"'),
        )

    def condition(self):
        """A condition, mostly one that is known."""
        return self.any(
            *("n > 2", "k == 0", 't == "text"', "u in words", "n < k", "not t", "len(t) > 4"),
            *("o.count == 2", '"a" in table', "n != 3 and k", "n or k", "isinstance(t, str)"),
            *("u is None", "0 < n < 9", "flag"),
        )

    def setting(self):
        """A statement that sets an option."""
        return self.any(
            "p[{}].i = {}".format(self.option(), self.number()),
            "p[{}].i = {}".format(self.option(), self.number()),
            "p[{}].s = tf.compat.as_bytes({})".format(self.option(), self.text()),
            "p[{}].b = bool({})".format(self.option(), self.condition()),
            "custom_op.parameter_map[{}].i = {}".format(self.option(), self.number()),
            "o.put({}, {})".format(self.option(), self.number()),
            "p[words[0]].i = {}".format(self.number()),
            "p[{}].CopyFrom(tf.AttrValue(i={}))".format(self.option(), self.number()),
            "p[{}].MergeFrom(p['z'])".format(self.option()),
            "v = tf.AttrValue()\nv.i = {}\np[{}].CopyFrom(v)".format(self.number(), self.option()),
        )

    def assignment(self):
        """A statement that binds or changes a value."""
        return self.any(
            *("n = {}".format(self.number()), "k = {}".format(self.number())),
            *("t = {}".format(self.text()), "u = {}".format(self.text())),
            *("n += 1", "k -= n", "n, k = k, n", "t, u = u, t", "n = k = 4", 'u += "w"'),
            "words = [{}, {}]".format(self.text(), self.text()),
            *(
                "words.append({})".format(self.text()),
                "words = words[1:] + [u]",
                "words = words[:2]",
            ),
            'table["{}"] = {}'.format(self.any("a", "c"), self.number()),
            "table = dict(table, b={})".format(self.number()),
            *("table.update(a=n)", "pair = (n, k)", "pair = pair[::-1]", "o = Options(n)"),
            *("o.count = {}".format(self.number()), "o.count += 1", 'setattr(o, "count", k)'),
            "words = [w + {} for w in words]".format(self.any('"i"', "u")),
            *("first, *rest = words", "table = {w: len(w) for w in words[:2]}"),
            *("g = lambda v: v + 1; n = g(n)", "words.sort()", "words.reverse()"),
            *('table, words = {}, ["z"]', "o.count, o.name = k, t", "words[:1] = [u]"),
            *("p.clear()", "custom_op.parameter_map.clear()", 'p.pop("a", None)'),
        )

    def loop(self):
        """The head of a loop, which ends."""
        return self.any(
            *("for i in range({}):".format(self.random.randint(1, 3)), "for w in words[:3]:"),
            *("for w, i in table.items():", "for i, w in enumerate(words[:3]):"),
            *("for w, i in zip(words, pair):", "for i in pair:", "for i in (1, 2, 3):"),
            *("for i in range(rounds):", "for i in range(k, k + 2):", "for i in rounds * [n]:"),
        )

    def function(self, depth):
        """A function, and a call of it."""
        self.functions += 1
        name = "f{}".format(self.functions)
        head, call = self.random.choice(
            [
                ("{}()", "{}()"),
                ("{}(n)", "{}({})"),
                ("{}(n, t='d')", "{}({}, t=u)"),
                ("{}(n, t='d')", "{}({})"),
                ("{}(*pair)", "{}({}, 2)"),
                ("{}(n=1, **table)", "{}({}, a=3)"),
                ("{}(p, n)", "{}(custom_op.parameter_map, {})"),
            ]
        )
        lines = ["def {}:".format(head.format(name))]
        body = [self.setting() for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.4:
            body.insert(0, self.any("n = 5", "t = 'v'", "words = ['a']"))
        if self.random.random() < 0.2:
            body.insert(0, "global n")
            body.append("n = {}".format(self.number()))
        if self.random.random() < 0.4:
            leave = self.any("return", "return {}".format(self.number()))
            body.insert(
                self.random.randint(0, len(body)),
                "if {}:\n    {}".format(self.condition(), leave),
            )
        for each in body:
            lines += ["    " + line for line in each.split("\n")]
        lines.append("    return {}".format(self.number()))
        call = call.format(name, self.number())
        return "\n".join([*lines, self.any("{}", "n = {}", "p['e'].i = {}").format(call)])

    def block(self, depth):
        """A statement that holds others."""

        def body():
            inner = "\n".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))
            return "".join("    {}\n".format(line) for line in inner.split("\n"))

        kind = self.random.randint(0, 6)
        if kind == 0:
            return "if {}:\n{}".format(self.condition(), body()).rstrip()
        if kind == 1:
            return "if {}:\n{}else:\n{}".format(self.condition(), body(), body()).rstrip()
        if kind == 2:
            heads = self.condition(), body(), self.condition(), body(), body()
            return "if {}:\n{}elif {}:\n{}else:\n{}".format(*heads).rstrip()
        if kind == 3:
            early = "    if {}:\n        {}\n".format(
                self.any("i == 2", "i > 1", self.condition()), self.any("break", "continue")
            )
            parts = self.any("", "", early), body(), self.any("", "", early), body()
            end = self.any("    p['d'].i = {}".format(self.any("i", "n", "k")), "else:\n" + body())
            return "\n".join([self.loop(), "".join(parts) + end]).rstrip()
        if kind == 4:
            ends = self.any("except ValueError:", "finally:", "except (KeyError, TypeError) as e:")
            return "try:\n{}{}\n{}".format(body(), ends, body()).rstrip()
        if kind == 5:
            count = self.random.randint(1, 3)
            tests = self.any("c{0} < {1}", "c{0} < {1} and (flag or c{0} < 1)", "c{0} != rounds")
            head = ("c{0} = 0\nwhile " + tests + ":\n    c{0} += 1\n").format(depth, count)
            return (head + body()).rstrip()
        return self.function(depth)

    def statement(self, depth):
        """Any statement."""
        if depth and self.random.random() < 0.45:
            return self.block(depth)
        return self.any(self.setting, self.setting, self.assignment)


def program(seed):
    """The part of a program that is its own, of a few statements."""
    author = Author(seed)
    count = author.random.randint(3, 7)
    return "\n".join(author.statement(2) for _ in range(count)) + "\n"


def run(text, flag, rounds):
    """What the run of a program sets; None where an exception ends it."""
    proto = stub_config_proto()
    compat = types.SimpleNamespace(as_bytes=lambda value: value.encode("utf-8"))
    tf = types.SimpleNamespace(
        ConfigProto=proto, AttrValue=session_message("AttrValue"), compat=compat
    )
    body = START[START.index("config =") :] + text
    space = {"tf": tf, "flag": flag, "other": None, "rounds": rounds}
    try:
        exec(compile(body, "train.py", "exec"), space)
    except Exception:
        return None
    found = {}
    entries = space["config"].graph_options.rewrite_options.custom_optimizers
    for name, value in (each for entry in entries for each in entry.parameter_map.items()):
        for _, content in value.ListFields():  # none after a TypeError that was caught
            is_text = isinstance(content, bytes)
            found[name] = content.decode("utf-8") if is_text else content
    return found


def read(text):
    """What is read of it: name to value for each way, and whether there may be more."""
    for variant in read_script(START + text + END, "train.py").variants:
        settings = variant.settings
        if variant.shadowed_by is None and not variant.is_part:
            entries = {**settings.entries, **settings.extra}
            yield {name: each.value for name, each in entries.items()}, settings.open


def explains(way, is_open, happened):
    """Whether a way that was read is the one that happened, as far as is known."""
    names = way.keys() | happened.keys()
    return all(
        is_open  # what has a name that is not known may be any option
        or (name in way and way[name] is UNKNOWN)
        or (name in way and name in happened and way[name] == happened[name])
        for name in names
    )


@pytest.mark.parametrize("first", range(0, PROGRAMS, 50))
def test_what_is_read_is_set(first):
    """One of the ways that are read is what the run does, whatever the unknown condition is."""
    wrong, known, count = [], 0, 0
    for seed in range(first, first + 50):
        text = program(seed)
        unknown = [(flag, rounds) for flag in (True, False) for rounds in range(4)]
        runs = [each for each in (run(text, *each) for each in unknown) if each is not None]
        ways = list(read(text)) or [({}, False)]  # nothing is configured
        wrong += [text for each in runs if not any(explains(*way, each) for way in ways)]
        values = [value for way, _ in ways for value in way.values()]
        known += sum(value is not UNKNOWN for value in values)
        count += len(values)
    assert wrong == []
    assert known > 0.45 * count
