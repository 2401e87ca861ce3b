"""Fixes of scripts: before and after, exactly the characters that are reported."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.cli import _fix
from npu_config.core.diagnostics import Report
from npu_config.script import judge_script, read
from npu_config.text.source import apply_edits

HEAD = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
TAIL = """\
sess = tf.Session(config=config)
"""


def fixed(text, path=None):
    """The text with every fix applied once."""
    return _fix.fixed(text, judge_script(text, path))[0]


def assert_fix(before, after):
    """The fixes turn one block of assignments into another."""
    before, after = (textwrap.dedent(text) for text in (before, after))
    assert HEAD + after + TAIL == fixed(HEAD + before + TAIL)


CHANGED = {
    "an integer in the field of booleans": (
        'custom_op.parameter_map["iterations_per_loop"].b = 10\n',
        'custom_op.parameter_map["iterations_per_loop"].i = 10\n',
    ),
    "a boolean in the field of integers": (
        'custom_op.parameter_map["hcom_parallel"].i = True  # .i\n',
        'custom_op.parameter_map["hcom_parallel"].b = True  # .i\n',
    ),
    "0 and 1 as booleans": (
        "custom_op.parameter_map['mix_compile_mode'].i=0\n",
        "custom_op.parameter_map['mix_compile_mode'].b=False\n",
    ),
    "a boolean in the field of text": (
        'custom_op.parameter_map["jit_compile"].b = False\n',
        'custom_op.parameter_map["jit_compile"].s = b"false"\n',
    ),
    "a number as text": (
        'custom_op.parameter_map["hccl_timeout"].s = tf.compat.as_bytes("1800")\n',
        'custom_op.parameter_map["hccl_timeout"].i = 1800\n',
    ),
    "a value in another case": (
        'custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes( "ALL")\n',
        'custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes( "all")\n',
    ),
    "a value in another case, as bytes": (
        "custom_op.parameter_map['dump_mode'].s = b'ALL'\n",
        "custom_op.parameter_map['dump_mode'].s = b\"all\"\n",
    ),
    "a value in another case, as text": (
        'custom_op.parameter_map["dump_mode"].s = "ALL"\n',
        'custom_op.parameter_map["dump_mode"].s = b"all"\n',
    ),
    "a range that runs backwards": (
        'custom_op.parameter_map["dump_step"].s = b"0|20-10"\n',
        'custom_op.parameter_map["dump_step"].s = b"0|10-20"\n',
    ),
    "a misspelt value": (
        'custom_op.parameter_map["op_select_implmode"].s = b"high_precison"\n',
        'custom_op.parameter_map["op_select_implmode"].s = b"high_precision"\n',
    ),
    "a text for a number": (
        'custom_op.parameter_map["hccl_timeout"].i = "1800"\n',
        'custom_op.parameter_map["hccl_timeout"].i = 1800\n',
    ),
    "a text for a boolean": (
        'custom_op.parameter_map["hcom_parallel"].b = "true"\n',
        'custom_op.parameter_map["hcom_parallel"].b = True\n',
    ),
    "values of arguments": (
        'run_config = NPURunConfig(hccl_timeout="1800", enable_data_pre_proc=1)\n',
        "run_config = NPURunConfig(hccl_timeout=1800, enable_data_pre_proc=True)\n",
    ),
    "a field on a line of its own": (
        """\
        custom_op.parameter_map[
            "hccl_timeout"
        ].f = 1800
        """,
        """\
        custom_op.parameter_map[
            "hccl_timeout"
        ].i = 1800
        """,
    ),
    "a misspelt name": (
        'custom_op.parameter_map["precison_mode"].s = tf.compat.as_bytes("force_fp32")\n',
        'custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("force_fp32")\n',
    ),
    "a name in another case, in raw quotes": (
        'custom_op.parameter_map[r"""Hcom_Parallel"""].b = True\n',
        'custom_op.parameter_map[r"""hcom_parallel"""].b = True\n',
    ),
    "a misspelt name with a value that is not known": (
        'custom_op.parameter_map["precison_mode"].s = tf.compat.as_bytes(args.mode)\n',
        'custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(args.mode)\n',
    ),
    "a former name": (
        'custom_op.parameter_map["model_deploy_mode"].s = b"SINGLE"\n',
        'custom_op.parameter_map["experimental_model_deploy_mode"].s = b"SINGLE"\n',
    ),
    "text in place of bytes": (
        "custom_op.parameter_map[\"debug_dir\"].s = '/tmp/debug'\n",
        "custom_op.parameter_map[\"debug_dir\"].s = b'/tmp/debug'\n",
    ),
    "after other letters than ASCII": (
        'print("精度"); custom_op.parameter_map["hcom_paralel"].b = True; print("模式")\n',
        'print("精度"); custom_op.parameter_map["hcom_parallel"].b = True; print("模式")\n',
    ),
    "an argument": (
        "run_config = NPURunConfig(iteration_per_loop=10, session_config=tf.ConfigProto())\n",
        "run_config = NPURunConfig(iterations_per_loop=10, session_config=tf.ConfigProto())\n",
    ),
    "arguments in their own lines": (
        """\
        run_config = NPURunConfig(
            iteration_per_loop=
                (10),
            session_config=dict(iteration_per_loop=iteration_per_loop),
        )
        """,
        """\
        run_config = NPURunConfig(
            iterations_per_loop=
                (10),
            session_config=dict(iteration_per_loop=iteration_per_loop),
        )
        """,
    ),
    "an option of a builder": (
        """\
        import npu_config
        made = npu_config.NpuConfigBuilder().set(hcom_paralel=True).build()
        """,
        """\
        import npu_config
        made = npu_config.NpuConfigBuilder().set(hcom_parallel=True).build()
        """,
    ),
    "in a loop over names, which stand elsewhere": (
        """\
        for name in ("hcom_paralel",):
            custom_op.parameter_map[name].b = True
        """,
        """\
        for name in ("hcom_paralel",):
            custom_op.parameter_map[name].b = True
        """,
    ),
    "the name of the optimizer": (
        'custom_op.name = "NPUOptimizer"\n',
        'custom_op.name = "NpuOptimizer"\n',
    ),
}
KEPT = {
    "a boolean for text": 'custom_op.parameter_map["precision_mode"].b = True\n',
    "a number that is no boolean": 'custom_op.parameter_map["hcom_parallel"].i = 20\n',
    "a value that is not known": 'custom_op.parameter_map["hccl_timeout"].b = args.timeout\n',
    "a value that is not legal there": 'custom_op.parameter_map["graph_run_mode"].b = 7\n',
    "a name that is set already": (
        'custom_op.parameter_map["dump_path"].s = b"/tmp"\n'
        'custom_op.parameter_map["dump_pth"].s = b"/tmp"\n'
    ),
    "a name that was put together": (
        'custom_op.parameter_map["hcom_" + "paralel"].b = True\n'
        'custom_op.parameter_map["hcom_" "paralel"].b = True\n'
        'custom_op.parameter_map["hcom\\x5fparalel"].b = True\n'
    ),
    "a name whose option would refuse the value": (
        'custom_op.parameter_map["precison_mode"].s = tf.compat.as_bytes("fp16")\n'
        'custom_op.parameter_map["dynamic_inputs"].s = args.shapes\n'
    ),
    "a value that stands elsewhere": (
        """\
        MODE = "ALL"
        custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes(MODE)
        custom_op.parameter_map["hcom_parallel"].i = FLAG
        """
    ),
    "a value of several options": (
        """\
        for name in ("dump_mode", "op_select_implmode"):
            custom_op.parameter_map[name].s = b"ALL"
        """
    ),
    "memory optimization, which is advice": (
        "config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF\n"
    ),
    "two names that may mean the same": (
        'custom_op.parameter_map["iteration_per_loop"].i = 10\n'
        'custom_op.parameter_map["iterations_per_loops"].i = 20\n'
    ),
    "a name with another number": (
        'custom_op.parameter_map["precision_mode_v1"].s = tf.compat.as_bytes("fp16")\n'
    ),
    "the name of an optimizer that is another one": 'custom_op.name = "NpuOptimizer2"\n',
    "a misspelt optimizer beside the right one": (
        """\
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NPUOptimizer"
        """
    ),
    "a field that several options share": (
        """\
        for name, value in {"hccl_timeout": 1800, "hcom_parallel": True}.items():
            custom_op.parameter_map[name].i = value
        """
    ),
    "a field that several options share on other paths": (
        """\
        for name, value in {"hccl_timeout": 1800, "hcom_parallel": args.x}.items():
            if isinstance(value, args.kind):
                custom_op.parameter_map[name].i = value
        """
    ),
    "a field that is no attribute": (
        """\
        setattr(custom_op.parameter_map["op_wait_timeout"], "b", 1)
        custom_op.parameter_map["hccl_timeout"].CopyFrom(tf.AttrValue(b=1))
        """
    ),
    "arguments that stand elsewhere": (
        """\
        options = {"iteration_per_loop": 10}
        run_config = NPURunConfig(session_config=tf.ConfigProto(), **options)
        run_config = NPURunConfig(**dict(iteration_per_loop=10))
        """
    ),
    "options of a builder that stand elsewhere": (
        """\
        import npu_config
        made = npu_config.NpuConfigBuilder().set(**{"hcom_paralel": True}).build()
        """
    ),
    "text of other letters": "custom_op.parameter_map[\"debug_dir\"].s = '/tmp/调试'\n",
    "text that was put together": 'custom_op.parameter_map["debug_dir"].s = "/tmp/" + "x"\n',
    "an assignment that is overwritten": (
        'custom_op.parameter_map["hcom_parallel"].i = True\n'
        'custom_op.parameter_map["hcom_parallel"].b = True\n'
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed(name):
    """What is mechanical and safe is done."""
    assert_fix(*CHANGED[name])


def test_many_branches():
    """A misspelt name is right in every branch afterwards, however many paths there are."""
    branch = "if FLAGS.a{}:\n    custom_op.parameter_map['hcl_timeout'].i = {}\n"
    before = "".join(branch.format(number, 60 + number) for number in range(12))
    assert_fix(before, before.replace("hcl_", "hccl_"))


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    """What would need a guess is left to the author."""
    assert_fix(KEPT[name], KEPT[name])


@pytest.mark.parametrize("name", CHANGED)
def test_fixed_once(name):
    """A fix leaves nothing to fix."""
    after = HEAD + textwrap.dedent(CHANGED[name][1]) + TAIL
    assert after == fixed(after)


def test_members_of_enumerations():
    """What switches an optimization on becomes what switches it off."""
    head = HEAD.replace(
        "npu_bridge.npu_init import *",
        "tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig",
    )
    before = (
        "config.graph_options.rewrite_options.remapping = RewriterConfig.ON\n"
        "config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1\n"
    )
    after = before.replace("Config.ON", "Config.OFF").replace("ON_1", "OFF")
    assert head + after + TAIL == fixed(head + before + TAIL)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends(end):
    """Line ends stay as they are."""
    before = (HEAD + CHANGED["a misspelt name"][0] + TAIL).replace("\n", end)
    after = (HEAD + CHANGED["a misspelt name"][1] + TAIL).replace("\n", end)
    assert after == fixed(before)


def test_odd_line_ends():
    """A text with carriage returns alone is not fixed: editors count its lines differently."""
    text = (HEAD + CHANGED["a misspelt name"][0] + TAIL).replace("\n", "\r")
    found = judge_script(text)
    assert "NPU101" in {finding.rule for finding in found}
    assert all(finding.fix is None for finding in found)


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_encodings(encoding):
    """The encoding is kept, so that the rest of the file stays byte for byte."""
    text = "# -*- coding: {} -*-\n# 模式\n".format(encoding) + HEAD
    before = text + CHANGED["a misspelt name"][0] + TAIL
    reading = read(before.encode(encoding), "x.py")
    edits = [e for found in reading.judge() if found.fix for e in found.fix.edits]
    after = apply_edits(reading.text, edits).encode(reading.encoding)
    assert (text + CHANGED["a misspelt name"][1] + TAIL).encode(encoding) == after


NAMES = st.sampled_from(
    ["iterations_per_loop", "hcom_paralel", "precison_mode", "dump_mode", "mix_compile_mode"]
)
FIELDS = st.sampled_from(["b", "i", "s", "f"])
VALUES = st.sampled_from(
    ["True", "0", "10", '"fp16"', 'b"all"', 'tf.compat.as_bytes("ALL")', "args.x", '"模式"', "(1)"]
)
FILLERS = st.sampled_from(
    ["", "x = 1; ", "text = '数据'; ", "    # nothing\n", "\t\n", "'''\n'''; "]
)


@given(st.lists(st.tuples(FILLERS, NAMES, FIELDS, VALUES, FILLERS), max_size=6))
def test_nothing_else_changes(parts):
    """Fixes change nothing outside of the spans they report, and a second pass nothing at all."""
    text = HEAD
    for before, name, field, value, after in parts:
        text += '{}custom_op.parameter_map["{}"].{} = {}'.format(before, name, field, value)
        text += " # {}\n".format(after.strip().replace("\n", " "))
    text += TAIL
    edits = {e for found in judge_script(text) if found.fix for e in found.fix.edits}
    lines = text.split("\n")
    after_lines = apply_edits(text, edits).split("\n")
    assert len(lines) == len(after_lines)
    for number, (old, new) in enumerate(zip(lines, after_lines), 1):
        spans = sorted((e.column, e.end_column, e.text) for e in edits if e.line == number)
        rebuilt, done = "", 1
        for start, end, replacement in spans:
            rebuilt += old[done - 1 : start - 1] + replacement
            done = end
        assert rebuilt + old[done - 1 :] == new
    again = fixed("\n".join(after_lines))
    assert fixed(again) == again


def test_fixes_are_told():
    """A fix has an imperative title, and its spans lie in the finding's file."""
    for before, _ in CHANGED.values():
        text = HEAD + textwrap.dedent(before) + TAIL
        for found in Report(judge_script(text, "x.py")):
            if found.fix is not None:
                assert found.fix.title.split()[0] in ("rename", "write")
                for edit in found.fix.edits:
                    assert 1 <= edit.line == edit.end_line <= text.count("\n") + 1


INITIALISERS = """\
g = tf.global_variables_initializer()
i = tf.data.Dataset.range(9).make_initializable_iterator()
t = tf.tables_initializer()
s = tf.Session(config=config)
"""
APART = {
    "s.run([g, i.initializer])\n": "s.run(g)\ns.run(i.initializer)\n",
    "s.run(fetches=(i.initializer, g))\n": "s.run(g)\ns.run(i.initializer)\n",
    "s.run([g, i.initializer], feed_dict={x: 1})\n": (
        "s.run(g, feed_dict={x: 1})\ns.run(i.initializer, feed_dict={x: 1})\n"
    ),
    "if a:\n    s.run([g, i.initializer, t])  # x\n": (
        "if a:\n    s.run([g, t])\n    s.run(i.initializer)  # x\n"
    ),
    "a = 1; s.run([g, i.initializer])\n": "a = 1; s.run(g); s.run(i.initializer)\n",
    "s.run([g, i.initializer]); a = 1\n": "s.run(g); s.run(i.initializer); a = 1\n",
    "if a: s.run([g, i.initializer])\n": "if a: s.run(g); s.run(i.initializer)\n",
    "s.run([g, i.initializer], feed_dict={x: f()})\n": None,
    "s.run([g, i.initializer], options=x)\n": None,
    "s.run([g, i.initializer], {x: 1})\n": None,
    "s.run([\n    g,  # x\n    i.initializer])\n": None,
    "s.run([g, i.initializer, other])\n": None,
    "x = s.run([g, i.initializer])\n": None,
    "s.run([tf.group(g, i.initializer)])\n": None,
    "f().run([g, i.initializer])\n": None,
}


@pytest.mark.parametrize("before", APART, ids=str.strip)
def test_initializers_are_run_apart(before):
    """One run of variables and an iterator becomes two, where nothing else changes."""
    text = HEAD + INITIALISERS
    after = before if APART[before] is None else APART[before]
    assert fixed(text + before) == text + after


TENSORS = {
    "tf.keras.backend.zeros([2])": "tf.zeros([2])",
    'tf.keras.backend.ones([2], dtype="int64", name="a")': 'tf.ones([2], dtype="int64", name="a")',
    'tf.keras.backend.ones([2], "int64")': None,
    "K.zeros([2])": "tf.zeros([2])",
    "backend.ones([2])": "tf.ones([2])",
    "tf.keras.backend.ones([2], dtype=kind)": None,
    "tf.keras.backend.ones(shape=[2])": None,
    "tf.keras.backend.variable(2)": None,
}


@pytest.mark.parametrize("before", TENSORS)
def test_variables_of_keras_become_tensors(before):
    """A variable of the backend of Keras becomes a tensor in a function of a dataset."""
    text = (
        (
            "from tensorflow.keras import backend\nfrom tensorflow.keras import backend as K\n"
            + HEAD
        )
        + "d = tf.data.Dataset.range(9).map(lambda n: n + {})\n"
        + TAIL
    )
    after = before if TENSORS[before] is None else TENSORS[before]
    assert fixed(text.format(before)) == text.format(after)


FIELDS_APART = {
    'custom_op.parameter_map["hccl_timeout"] \\\n    .f = 1800\n': ".f = 1800>.i = 1800",
    'custom_op.parameter_map["hccl_timeout"].\\\n    f = 1800\n': "f = 1800>i = 1800",
    'custom_op.parameter_map["model_deploy_mode"].s = b"x"\n': (
        "model_deploy_mode>experimental_model_deploy_mode"
    ),
    'custom_op.parameter_map["model_deploy_mode"].i = 1\n': ">",
    'setattr(custom_op.parameter_map["hccl_timeout"], "f", 1800)\n': ">",
}


@pytest.mark.parametrize("before", FIELDS_APART)
def test_fields_and_former_names(before):
    """A field is replaced behind its dot; a former name where its field is right."""
    old, _, new = FIELDS_APART[before].partition(">")
    assert (
        fixed(HEAD + before + TAIL) == HEAD + (before.replace(old, new) if old else before) + TAIL
    )
