"""The reader of scripts: settings of every block and path, places, what is not known."""

import textwrap

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.core.settings import UNKNOWN, SourceKind
from npu_config.core.target import Target
from npu_config.script import judge_script, read_script

HEAD = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""


def values(body, tail="sess = tf.Session(config=config)\n"):
    """The options of a script with one block and one path: name to value."""
    (settings,) = read_script(HEAD + textwrap.dedent(body) + tail).settings
    return {name: setting.value for name, setting in settings.entries.items()}


def value(expression, field="s"):
    """What an expression is known to give."""
    body = 'op.parameter_map["dump_path"].{} = {}\n'.format(field, expression)
    return values(body)["dump_path"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('tf.compat.as_bytes("a")', "a"),
        ('tf.compat.v1.compat.as_bytes("a")', "a"),
        ('compat.as_bytes("a", "utf-8")', "a"),
        ('b"a"', "a"),
        ('bytes("a", "utf-8")', "a"),
        ('"a".encode()', "a"),
        ('tf.compat.as_bytes("a" "b")', "ab"),
        ('tf.compat.as_bytes("/tmp/" + "a")', "/tmp/a"),
        ('tf.compat.as_bytes("%s/%d" % ("a", 1))', "a/1"),
        ('tf.compat.as_bytes("{}/{x}".format("a", x=2))', "a/2"),
        ("tf.compat.as_bytes(str(2 * 1024 ** 2))", "2097152"),
        ("tf.compat.as_bytes(str(1 << 4))", "16"),
        ('tf.compat.as_bytes("|".join(["0", "5"]))', "0|5"),
        ('tf.compat.as_bytes("|".join([str(n) for n in steps]))', UNKNOWN),
        ('tf.compat.as_bytes(" A ".strip().lower())', "a"),
        ('tf.compat.as_bytes(os.path.join("a", "b"))', "a/b"),
        ('tf.compat.as_bytes(json.dumps({"a": 1}))', '{"a": 1}'),
        ('tf.compat.as_bytes({"a": "x", "b": "y"}["b"])', "y"),
        ('tf.compat.as_bytes(["x", "y"][-1])', "y"),
        ('tf.compat.as_bytes("x" if 2 > 1 else "y")', "x"),
        ('tf.compat.as_bytes(None or "x")', "x"),
        ("tf.compat.as_bytes(FLAGS.mode)", UNKNOWN),
        ('tf.compat.as_bytes("%s" % FLAGS.mode)', UNKNOWN),
        ("tf.compat.as_bytes(undefined)", UNKNOWN),
        ("tf.compat.as_bytes(os.getenv('X', 'a'))", UNKNOWN),
        ("tf.compat.as_bytes(open('x').read())", UNKNOWN),
        ('tf.compat.as_bytes("a" * 10 ** 9)', UNKNOWN),
        ("tf.compat.as_bytes(str(9 ** 9 ** 9))", UNKNOWN),
        ('tf.compat.as_bytes("{:>999999999}".format(1))', UNKNOWN),
        ('tf.compat.as_bytes("%999999999d" % 1)', UNKNOWN),
        ('tf.compat.as_bytes("a".zfill(10 ** 9))', UNKNOWN),
        ('tf.compat.as_bytes("a".ljust(10 ** 9))', UNKNOWN),
        ("tf.compat.as_bytes(str(1 / 0))", UNKNOWN),
        ("tf.compat.as_bytes([][0])", UNKNOWN),
        ("(yield)", UNKNOWN),
        ("lambda: 1", UNKNOWN),
        ("[x for x in y]", UNKNOWN),
    ],
)
def test_texts(expression, expected):
    """Text is known as far as Python would give the same each time."""
    if "yield" in expression:
        body = "def f(op):\n    op.parameter_map['dump_path'].s = (yield)\n"
        (settings,) = read_script(body).settings
        assert settings.entries["dump_path"].value is UNKNOWN
        return
    assert expected == value(expression)


@pytest.mark.parametrize(
    ("expression", "field", "expected"),
    [
        ("True", "b", True),
        ("1", "b", True),
        ("20", "b", True),
        ("0", "b", False),
        ("not 1", "b", False),
        ("True", "i", 1),
        ("-(3)", "i", -3),
        ("0x10", "i", 16),
        ("0x" + "f" * 5000, "i", UNKNOWN),
        ("int('7')", "i", 7),
        ("max(1, 2)", "i", 2),
        ("7 // 2", "i", 3),
        ("2.5", "f", 2.5),
        ("1.5", "i", UNKNOWN),
        ("args.x", "i", UNKNOWN),
        ("args.x == 'a'", "b", UNKNOWN),
        ("'a' in ['a', 'b']", "b", True),
        ("None is None", "b", True),
    ],
)
def test_numbers(expression, field, expected):
    """Numbers and booleans are what protobuf makes of them."""
    found = value(expression, field)
    assert expected == found
    assert type(expected) is type(found)


def test_constants():
    """Names are followed through the module and functions, unless two values may meet."""
    text = """\
    ONE = "one"
    if x:
        TWO = "two"
    THREE = "three"
    THREE = "drei"
    four, (five, *rest) = "four", ("five", 6, 7)
    SEVEN = {"a": "seven"}
    EIGHT = ["eight"]
    EIGHT.append("x")
    NINE = "nine"
    def change():
        global NINE
        NINE = "x"
    TEN = "t"
    TEN += "en"
    def eleven():
        return "eleven"
    class Twelve:
        mode = "twelve"
    for name in [ONE, TWO, THREE, four, SEVEN["a"], EIGHT[0], NINE, TEN, eleven(), Twelve.mode]:
        pass
    op.parameter_map["a"].s = tf.compat.as_bytes(ONE)
    op.parameter_map["b"].s = tf.compat.as_bytes(TWO)
    op.parameter_map["c"].s = tf.compat.as_bytes(THREE)
    op.parameter_map["d"].s = tf.compat.as_bytes(four)
    op.parameter_map["e"].s = tf.compat.as_bytes(SEVEN["a"])
    op.parameter_map["f"].s = tf.compat.as_bytes(EIGHT[0])
    op.parameter_map["g"].s = tf.compat.as_bytes(NINE)
    op.parameter_map["h"].s = tf.compat.as_bytes(TEN)
    op.parameter_map["i"].s = tf.compat.as_bytes(eleven())
    op.parameter_map["j"].s = tf.compat.as_bytes(Twelve.mode)
    """
    expected = {
        "a": "one",
        "b": "two",
        "c": "drei",
        "d": "four",
        "e": "seven",
        "f": UNKNOWN,
        "g": UNKNOWN,
        "h": "ten",
        "i": "eleven",
        "j": "twelve",
    }
    assert expected == values(text)


def test_three_states():
    """Absent, unknown and known are kept apart; other names make the settings open."""
    text = HEAD + 'op.parameter_map["hcom_parallel"].b = args.x\n'
    (closed,) = read_script(text).settings
    assert not closed.open
    assert {"hcom_parallel"} == set(closed.entries)
    (opened,) = read_script(text + "op.parameter_map[args.name].i = 3\n").settings
    assert opened.open
    (given_away,) = read_script(text + "set_options(op)\n").settings
    assert given_away.open
    (printed,) = read_script(text + "print(op)\n").settings
    assert not printed.open


def test_places():
    """Value and name, to the character, counting characters and not bytes."""
    text = 'def f(op):\n    s = "数据"; op.parameter_map["hcom_parallel"].b = (\n        True)\n'
    (settings,) = read_script(text, "x.py").settings
    setting = settings.entries["hcom_parallel"]
    assert tuple(setting.name_place) == ("x.py", 2, 33, 2, 46)
    assert tuple(setting.place) == ("x.py", 3, 9, 3, 13)
    assert text.split("\n")[1][32:45] == "hcom_parallel"


def test_exclusive_branches():
    """Each way through the branches has settings of its own."""
    text = HEAD + textwrap.dedent("""\
    if args.mode == "a":
        op.parameter_map["hcom_parallel"].b = True
    elif args.mode == "b":
        op.parameter_map["hcom_parallel"].b = False
    if args.mode == "a":
        op.parameter_map["deterministic"].i = 1
    if args.mode != "a":
        op.parameter_map["deterministic"].i = 0
    if args.mode in ("a", "c"):
        op.parameter_map["external_weight"].b = True
    """)
    found = {
        tuple(sorted((name, s.value) for name, s in settings.entries.items()))
        for settings in read_script(text).settings
    }
    assert {
        (("deterministic", 1), ("external_weight", True), ("hcom_parallel", True)),
        (("deterministic", 0), ("hcom_parallel", False)),
        (("deterministic", 0), ("external_weight", True)),
        (("deterministic", 0),),
    } == found


def test_conditions_that_hold():
    """A known condition opens no other path, a constant only a supposed one."""
    text = HEAD + textwrap.dedent("""\
    if 1 > 2 or __name__ != "__main__":
        op.parameter_map["hcom_parallel"].b = True
    DEBUG = False
    if DEBUG:
        op.parameter_map["dump_mode"].s = b"ALL"
    """)
    found = judge_script(text + "sess = tf.Session(config=config)\n")
    assert {Severity.INFO} == {finding.severity for finding in found}
    assert any("switched off: if DEBUG" in finding.message for finding in found)


def test_many_flags():
    """Many independent flags are followed one by one and in pairs."""
    lines = []
    for number in range(12):
        lines.append("if args.flag{}:".format(number))
        lines.append('    op.parameter_map["x{}"].b = True'.format(number))
    lines += ["if args.flag3:", '    op.parameter_map["enable_dump"].b = True']
    lines += ["if args.flag9:", '    op.parameter_map["enable_dump_debug"].b = True']
    found = judge_script(HEAD + "\n".join(lines) + "\nsess = tf.Session(config=config)\n")
    both = [finding for finding in found if finding.rule == "NPU301"]
    assert [finding.severity for finding in both] == [Severity.WARNING]
    assert "when args.flag3" in both[0].message
    assert len({f.line for f in found if f.rule == "NPU101"}) == 12


def test_one_condition_is_an_error():
    """A single condition leaves an error what it is; two independent ones make it a warning."""
    one = HEAD + textwrap.dedent("""\
    if args.dump:
        op.parameter_map["enable_dump"].b = True
        op.parameter_map["enable_dump_debug"].b = True
    """)
    two = one.replace(
        '    op.parameter_map["enable_dump_debug"]',
        'if args.overflow:\n    op.parameter_map["enable_dump_debug"]',
    )
    nested = one.replace("if args.dump:", "if args.npu and args.dump:")
    severities = [
        [f.severity for f in judge_script(text) if f.rule == "NPU301"]
        for text in (one, two, nested)
    ]
    assert severities == [[Severity.ERROR], [Severity.WARNING], [Severity.ERROR]]


def test_run_config():
    """Arguments of NPURunConfig and of the objects in it, with the others beside."""
    text = textwrap.dedent("""\
    from npu_bridge.npu_init import *
    def config(args):
        dump = DumpConfig(True, "/tmp", dump_step="0")
        return NPURunConfig(10, dump_config=dump, session_config=None, save_checkpoints_steps=5,
                            graph_memory_max_size=1 << 30, precision_mode=args.mode, **args.more)
    """)
    (settings,) = read_script(text).settings
    assert settings.source_kind is SourceKind.RUN_CONFIG
    assert settings.open
    assert {name: setting.value for name, setting in settings.entries.items()} == {
        "iterations_per_loop": 10,
        "enable_dump": True,
        "dump_path": "/tmp",
        "dump_step": "0",
        "graph_memory_max_size": "1073741824",
        "precision_mode": UNKNOWN,
    }
    assert {name: setting.value for name, setting in settings.extra.items()} == {
        "session_config": None,
        "save_checkpoints_steps": 5,
    }


def test_session_facts():
    """What stands around the options is told when nothing else can supply it."""
    text = HEAD.replace("from npu_bridge.npu_init import *", "import npu_bridge")
    rest = textwrap.dedent("""\
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    config.graph_options.rewrite_options.memory_optimization = 1
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_2
    op.parameter_map["hcom_parallel"].b = True
    """)
    opened = "sess = tf.Session(config=config)\n"
    (settings,) = read_script(text + rest + opened).settings
    facts = settings.session
    assert facts.optimizers == ("NpuOptimizer",)
    assert (
        facts.remapping,
        facts.memory_optimization,
        facts.global_jit_level,
    ) == ("OFF", "NO_MEM_OPT", "ON_2")
    assert facts.allow_soft_placement is False
    assert facts.places["remapping"].line == 6
    (bare,) = read_script(text + opened).settings
    assert bare.session.remapping == "DEFAULT"
    for other in ("train(config)\n", "self.config = config\n", "x = [config]\n"):
        (unknown,) = read_script(text + other + opened).settings
        assert unknown.session.remapping is UNKNOWN
    (patched,) = read_script(HEAD + opened).settings
    assert patched.session.remapping == "OFF"


def test_target():
    """A target narrows the rules."""
    text = HEAD + 'op.parameter_map["aicore_num"].s = b"24|24"\n'
    assert "NPU107" not in {f.rule for f in judge_script(text)}
    found = judge_script(text, target=Target("atlas_training"))
    assert "NPU107" in {f.rule for f in found}


def test_host(tmp_path):
    """On the training host paths are looked at."""
    text = HEAD + 'op.parameter_map["modify_mixlist"].s = b"{}"\n'.format(tmp_path / "no.json")
    assert "NPU770" not in {f.rule for f in judge_script(text)}
    assert "NPU770" in {f.rule for f in judge_script(text, environ={}, on_host=True)}


def test_methods_and_classes():
    """Attributes that one method sets and another one reads; a class that is made."""
    text = textwrap.dedent("""\
    from npu_bridge.npu_init import *
    class Base:
        mode = "all"
        def __init__(self, path):
            self.path = path
            self.op = tf.ConfigProto().graph_options.rewrite_options.custom_optimizers.add()
            self.op.name = "NpuOptimizer"
            self.fill()
        def fill(self):
            self.op.parameter_map["dump_path"].s = tf.compat.as_bytes(self.path)
            self.op.parameter_map["dump_mode"].s = tf.compat.as_bytes(self.mode)
    made = Base("/tmp/dump")
    """)
    (settings,) = read_script(text).settings
    assert {name: setting.value for name, setting in settings.entries.items()} == {
        "dump_path": "/tmp/dump",
        "dump_mode": "all",
    }


def test_recursion_of_the_script():
    """Functions that call themselves or each other end."""
    text = textwrap.dedent("""\
    def f(op, n):
        op.parameter_map["hcom_parallel"].b = True
        g(op, n)
    def g(op, n):
        f(op, n - 1)
        op.parameter_map["deterministic"].i = 1
    """)
    found = set()
    for settings in read_script(text).settings:
        found |= set(settings.entries)
    assert {"hcom_parallel", "deterministic"} == found


def test_newer_syntax():
    """Syntax that this Python may not know is a finding, or is followed."""
    text = HEAD + textwrap.dedent("""\
    match args.mode:
        case "a":
            op.parameter_map["hcom_parallel"].i = 1
        case _:
            op.parameter_map["hcom_parallel"].b = True
    sess = tf.Session(config=config)
    """)
    found = {finding.rule for finding in judge_script(text)}
    assert found & {"NPU102", "NPU830"}
