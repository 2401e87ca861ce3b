"""Fixes: exactly their characters, and never for the worse."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.catalogue import OPTIONS
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


DEVICES = '{{"device_id": "{0}", "rank_{1}": "{0}", "device_ip": "10.0.0.{0}"}}'
ASSIGNED = """\
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_modee"].s = tf.compat.as_bytes("allow_mix_precision")
sess{} = tf.Session(config=config)
"""
EQUAL = {
    "ranks.json": lambda count: (
        '{"version": "1.0", "status": "completed", "server_count": "1", "server_list": '
        '[{"server_id": "a", "device": [\n'
        + ",\n".join(DEVICES.format(number, "idd") for number in range(count))
        + "\n]}]}\n"
    ),
    "ranks_of_some.json": lambda count: (
        '{"version": "1.0", "status": "completed", "server_count": "1", "server_list": '
        '[{"server_id": "a", "device": [\n'
        + ",\n".join(DEVICES.format(n, "id" if n % 3 else "idd") for n in range(count))
        + "\n]}]}\n"
    ),
    "ports.json": lambda count: (
        '{"version": "1.0", "status": "completed", "server_count": "1", "server_list": '
        '[{"server_id": "a", "device": [\n'
        + ",\n".join(
            DEVICES.format(n, "id").replace("}", ', "device_portt": "16666"}')
            for n in range(count)
        )
        + "\n]}]}\n"
    ),
    "train.py": lambda count: (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        + "".join(map(ASSIGNED.format, range(count)))
    ),
    "own.py": lambda count: (
        "import npu_config as npu\n"
        + "c = npu.NpuConfig({'precision_modee': 'allow_mix_precision'})\n" * count
    ),
    "ops_info.json": lambda count: (
        '{"black-list": {"to-add": [' + ",\n".join('"Add",' for _ in range(count)) + "]}}\n"
    ),
    "op_precision.ini": lambda count: (
        "[ByOpType]\n" + "".join("Op{}=high_precisio\n".format(n) for n in range(count))
    ),
    "npu.toml": lambda count: (
        "version = 1\n" + "".join("{} = off\n".format(n) for n in SWITCHES[:count])
    ),
}
"""Name of a file to a text with a number of equal faults."""

SWITCHES = [name for name, option in OPTIONS.items() if option.wire == "b" and option.offered]


@pytest.mark.parametrize("name", sorted(EQUAL))
@pytest.mark.parametrize("count", [1, 14, 60])
def test_one_call_is_enough(npu, tmp_path, name, count):
    """However many equal faults there are, nothing is left for a second call of ``--fix``."""
    path = tmp_path / name
    path.write_text(EQUAL[name](count))
    first = npu("check", "--fix", path)
    assert "fixed" in first.err
    assert "can be fixed" not in first.out
    after = path.read_text()
    second = npu("check", "--fix", path)
    assert (second.err, path.read_text()) == ("", after)


BROKEN = {
    "ops_info.json": '{"black-list": {"to-add": ["Add",]}, // x\n "white-list": {"to-add": [}\n',
    "ops_info_quote.json": '{"black-list": {"to-add": [\'Add\', "Pow]}}\n',
    "npu.json": '{"version": 1, "precision_modee": "x", "dump_path": }\n',
    "npu.toml": "version = 1\nprecision_mode = allow_mix_precision\nx = = 3\n",
    "npu.yaml": "version: 1\nprecision_modee: allow_mix_precision\nfoo: [1\n",
    "ops_info_ignored.json": '{\n# npu: ignore\n"black-list": {"to-add": [}\n}\n',
    "renamed.toml": "version = 1\nimeouts = 1\n[timeouts]\nhccl_timeout = 1\nx = =\n",
    "npu.pbtxt": 'graph_options { rewrite_options { custom_optimizers { name: "NpuOptimizer" '
    'parameter_map { key: "precision_modee" value { s: "x" } } parameter_map { key: } } }\n',
}
"""Files with a fault that a fix mends beside one that keeps them from being parsed."""


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_what_cannot_be_fixed_is_not_promised(npu, tmp_path, name):
    """Neither with nor without ``--fix``, in the text as in the data; the file stays."""
    path = tmp_path / name
    path.write_text(BROKEN[name])
    for options in ([], ["--fix"], ["--diff"]):
        result = npu("check", *options, path)
        assert (result.code, "can be fixed" in result.out) == (1, False), result.out
    document = json.loads(npu("check", "--format", "json", path).out)
    assert [d for d in document["diagnostics"] if d["fix"] and d["fix"]["safe"]] == []
    assert path.read_text() == BROKEN[name]


def test_a_second_fault_that_is_mended_too(npu, tmp_path):
    """What the fixes mend together is promised, and done."""
    path = tmp_path / "npu.toml"
    path.write_text("version = 1\nprecision_mode = allow_mix_precision\nhcl_timeout = 1800\n")
    assert "can be fixed with --fix" in npu("check", path).out
    assert npu("check", "--fix", path).code == 0
    assert path.read_text() == (
        'version = 1\nprecision_mode = "allow_mix_precision"\nhccl_timeout = 1800\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "timeout: {}\ntimeouts: {}\n",
        "target: {prodct: atlas_a2, product: atlas_a2}\n",
        "hcl_timeout: 1\nhccl_timeout: 2\n",
    ],
)
def test_a_name_that_is_taken(npu, tmp_path, text):
    """No key gets the name of one that is there."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\n" + text)
    assert "can be fixed" not in npu("check", path).out
    npu("check", "--fix", path)
    assert path.read_text() == "version: 1\n" + text


def test_a_text_that_is_checked_after_a_fix(npu, tmp_path):
    """What is wrong in the text of an option keeps no fix of another line from being done."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\nprofilng_mode: true\nprofiling_options: '{\"a\": ='\n")
    assert "1 fixed" in npu("check", "--fix", path).err
    assert "\nprofiling_mode: true\n" in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "version:\nhccl_timeout: 1\n",
        "version: # one\nhccl_timeout: 1\n",
        "{version: , hccl_timeout: 1}\n",
    ],
)
def test_a_version_without_a_value(npu, tmp_path, text):
    """It gets one, and a blank before it."""
    path = tmp_path / "npu.yaml"
    path.write_text(text)
    assert "1 fixed" in npu("check", "--fix", path).err
    assert path.read_text() == text.replace("version:", "version: 1").replace("1 ,", "1 ,")


def test_comments_leave_no_blanks(npu, tmp_path):
    """Neither at the end of a line, nor a line that held nothing else."""
    path = tmp_path / "ops_info.json"
    path.write_text(
        "// of the network\n{\n  // one\n"
        '  "black-list": {  /* two */  // three\n    "to-add": ["Add"] # four\n  }\n}  // end\n'
    )
    assert npu("check", "--fix", path).code == 0
    assert path.read_text() == '{\n  "black-list": {\n    "to-add": ["Add"]\n  }\n}\n'
