"""``npu-config generate`` loses nothing: what it cannot write is an error, or a comment."""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npu_config.config import NpuConfig
from npu_config.core.diagnostics import REGISTRY, Severity
from npu_config.judging import Around, judge
from npu_config.proto import parse_bytes, parse_text
from npu_config.writers import FORMATS, WITHOUT_COMMENTS
from tests import golden

TESTS = Path(__file__).parents[1]
SCRIPTS = [
    path for half in ("ok", "err") for path in golden.inputs(TESTS / "script" / "cases", half)
]
FILES = [path for half in ("ok", "err") for path in golden.inputs(TESTS / "cases", half)][::6]
SUFFIXES = {"python": ".py", "builder": ".py", "run-config": ".py", "env": ".sh"}
OF_FILES = ("yaml", "toml", "json")
STEP = 2 * golden.STRIDE
"""Every so manyth source is written in a format, every source in some."""


def flags(target):
    """What gives a target to a command."""
    given = {
        "--target": target.product and target.product.value,
        "--mode": target.mode,
        "--target-cann": target.cann,
    }
    return [word for flag, value in given.items() if value for word in (flag, value)]


@functools.lru_cache(maxsize=None)
def lasting(path, around):
    """The judgement of a source, and its errors that ``generate`` has to refuse.

    It is the same for every format.
    """
    judged = judge(str(path), around)
    return judged, {
        found.rule
        for found in judged.found
        if found.severity is Severity.ERROR
        and (REGISTRY[found.rule].about != "session" or found.rule == "NPU801")
    }


@pytest.mark.parametrize("to", list(FORMATS))
@pytest.mark.parametrize("sources", [SCRIPTS, FILES], ids=["scripts", "files"])
def test_nothing_is_lost_and_nothing_is_written_that_check_refuses(npu, tmp_path, sources, to):
    """Refused for the errors of ``check``; or it passes ``check``, and every option is in it."""
    out = tmp_path / ("out" + SUFFIXES.get(to, "." + to))
    written = 0
    for path in sources[list(FORMATS).index(to) % STEP :: STEP]:
        target = golden.target_of(path)
        judged, errors = lasting(path, Around(target))
        options = {name for each in judged.reading.settings for name in each.entries}
        result = npu("generate", path, "--to", to, "-o", out, "--force", *flags(target))
        refused = set(re.findall(r"error: .*\[(NPU\d+)", result.err))
        if errors:
            assert (result.code, refused) == (1, errors), path
        elif result.code:
            no_options = "sets no option" in result.err and not options
            not_checked = "not checked" in result.err and judged.unchecked
            lost = refused == {"NPU791"} and to in (*WITHOUT_COMMENTS, "run-config")
            assert no_options or not_checked or lost, (path, result)
        else:
            written += 1
            own = judged.reading.target
            beside = [] if own is None or to in OF_FILES else flags(own)
            if to != "env":
                checked = npu("check", out, *beside, *flags(target))
                assert checked.code == 0, (path, checked.out)
            text = out.read_bytes().decode("utf-8", "replace")
            text += result.err if to in WITHOUT_COMMENTS else ""
            named = {name for name in options if to == "env" or name in text}
            arguments = text if to == "run-config" else ""
            missing = options - named - set(arguments_of(arguments))
            assert missing == set(), path
    print("{} written of {}".format(written, len(sources)))
    assert written > 20 / STEP


def arguments_of(text):
    """The options that a call of NPURunConfig sets under another name."""
    reading = judge("out.py", as_kind="script", content=text).reading
    return [name for each in reading.settings for name in each.entries]


def test_by_the_command_itself(tmp_path):
    """The same of a process, from a script to a file that ``check`` passes."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.format('op.parameter_map["hccl_timeout"].i = 1800'))

    def run(*arguments):
        command = [sys.executable, "-m", "npu_config", *arguments]
        environ = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
        return subprocess.run(command, cwd=str(tmp_path), env=environ, timeout=100).returncode

    assert run("generate", "train.py", "-o", "npu.yaml") == 0
    assert run("check", "npu.yaml") == 0
    assert NpuConfig.load(tmp_path / "npu.yaml").to_dict() == {"hccl_timeout": 1800}
    assert run("generate", "train.py", "-o", "npu.yaml") == 2


SCRIPT = """\
import os
import tensorflow as tf
from npu_bridge.npu_init import *

FLAGS = tf.app.flags.FLAGS
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
{}
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
with tf.Session(config=config) as sess:
    sess.run(tf.no_op())
"""
AMP = """\
if FLAGS.amp:
    op.parameter_map["precision_mode"].s = b"allow_mix_precision"
"""
UNKNOWN = (
    'enable_auto_mix_precision: true (line 9); "enable_auto_mix_precision" is not an '
    "NpuOptimizer option; the option is ignored [NPU101]"
)
WITH_AMP = 'precision_mode: "allow_mix_precision" when FLAGS.amp (line 10); otherwise not set'
FAILS = "the try statement of line 9 fails before this line"
TIMEOUT = 'op.parameter_map["hccl_timeout"].i = 1800\n'


@pytest.fixture
def generate(npu, tmp_path, monkeypatch):
    """Runs ``generate`` on the text of a script; its result."""
    monkeypatch.chdir(tmp_path)

    def run(text, *arguments, to="yaml"):
        Path("train.py").write_text(text, encoding="utf-8")
        return npu("generate", "train.py", "--to", to, *arguments)

    return run


REQUIRED = "deprecated, but still required for iteration offload"


def comments(text):
    """The comments of an output, without their marks."""
    return [line.lstrip("# ") for line in text.splitlines() if line.lstrip().startswith("# ")]


@pytest.mark.parametrize(
    ("body", "values", "said"),
    [
        (
            AMP,
            {},
            [WITH_AMP],
        ),
        (
            AMP + TIMEOUT,
            {"hccl_timeout": 1800},
            [WITH_AMP],
        ),
        (
            "if FLAGS.a and FLAGS.b:\n    " + TIMEOUT + "else:\n    " + TIMEOUT,
            {"hccl_timeout": 1800},
            [],
        ),
        (
            "if FLAGS.m == 1:\n    " + TIMEOUT + "else:\n    " + TIMEOUT.replace("18", "9"),
            {},
            ["hccl_timeout: 1800 when FLAGS.m == 1 (line 10); 900 when FLAGS.m != 1 (line 12)"],
        ),
        (
            'op.parameter_map["hccl_timeout"].i = int(\n    os.environ["T"])\n',
            {},
            ['hccl_timeout: known at run time only, int( os.environ["T"]) (line 9)'],
        ),
        (
            "try:\n    import horovod\n    " + TIMEOUT + "except ImportError:\n    pass\n",
            {},
            ["hccl_timeout: 1800 (line 11), unless " + FAILS],
        ),
        (
            "try:\n    import horovod\n    " + TIMEOUT + "except ImportError:\n    raise\n",
            {"hccl_timeout": 1800},
            [],
        ),
        (
            'while os.path.exists("x"):\n    ' + TIMEOUT,
            {},
            ["hccl_timeout: 1800 (line 10), unless the loop of line 9 is not entered"],
        ),
        (
            "for number in range(FLAGS.n):\n    " + TIMEOUT,
            {},
            ["hccl_timeout: 1800 (line 10), unless the loop of line 9 is not entered"],
        ),
        (
            "for name in ('hccl_timeout',):\n    op.parameter_map[name].i = 1800\n",
            {"hccl_timeout": 1800},
            [],
        ),
        (
            "DEBUG = False\nif DEBUG:\n    " + TIMEOUT,
            {},
            ["hccl_timeout: 1800 (line 11) in code that is switched off: if DEBUG"],
        ),
        (
            'op.parameter_map["enable_auto_mix_precision"].b = True\n' + TIMEOUT,
            {"hccl_timeout": 1800},
            [UNKNOWN],
        ),
    ],
)
def test_conditions(generate, body, values, said):
    """What holds on some ways only is a comment with its condition, and never a plain value."""
    result = generate(SCRIPT.format(body), "-o", "npu.yaml")
    assert result.code == 0, result
    assert NpuConfig.load("npu.yaml").to_dict() == values
    found = comments(Path("npu.yaml").read_text(encoding="utf-8"))
    assert found == (["Not written:", *said] if said else [])


def test_a_loop_over_unknown_names(generate, npu):
    """That there may be more is said, and what is wrong without the rest is a comment."""
    body = (
        "for name in FLAGS.options:\n    op.parameter_map[name].b = True\n"
        'op.parameter_map["iterations_per_loop"].i = 10'
    )
    result = generate(SCRIPT.format(body), "-o", "npu.yaml")
    text = Path("npu.yaml").read_text(encoding="utf-8")
    assert result.code == 0
    assert comments(text)[0] == (
        "the script may set more options, which are known at run time only"
    )
    assert "# iterations_per_loop: 10 (line 11); " in text
    assert "[NPU402]" in text
    assert npu("check", "npu.yaml").code == 0
    assert generate(SCRIPT.format(body), to="json").code == 1


RUN_CONFIG = """\
from npu_bridge.npu_init import *

config = NPURunConfig({})
"""


def test_a_dump_config_without_its_path(generate):
    """The error is that of ``check``."""
    result = generate(RUN_CONFIG.format('dump_config=DumpConfig(enable_dump=True, path="/tmp/d")'))
    assert (result.code, result.out) == (1, "")
    assert "[NPU839 " in result.err


def test_arguments_that_are_no_options(generate):
    """They are not in an NPURunConfig that is written, which is said."""
    script = RUN_CONFIG.format("hcom_parallel=True, model_dir='m', dump_config=None")
    result = generate(script, to="run-config")
    assert result.code == 0
    assert comments(result.out) == ["not written, because they are not options: model_dir"]
    assert comments(generate(script).out) == [REQUIRED]


def test_the_entry_of_a_session_config_is_part_of_it(generate):
    """The options of ``session_config`` and of the arguments are one configuration."""
    body = "run_config = NPURunConfig(session_config=config, hcom_parallel=True)\n" + TIMEOUT
    result = generate(SCRIPT.format(body).rpartition("with")[0], "-o", "npu.yaml")
    assert result.code == 0
    assert NpuConfig.load("npu.yaml").to_dict() == {
        "hccl_timeout": 1800,
        "hcom_parallel": True,
        "enable_data_pre_proc": True,
    }
    assert comments(Path("npu.yaml").read_text(encoding="utf-8")) == [REQUIRED]


TWO = """\
import tensorflow as tf
from npu_bridge.npu_init import *

FLAGS = tf.app.flags.FLAGS

def make(train):
    config = tf.ConfigProto()
    op = config.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    op.parameter_map["hccl_timeout"].i = 1800
    if train:
        op.parameter_map["hcom_parallel"].b = True
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
    return config

with tf.Session(config=make(True)) as sess:
    sess.run(tf.no_op())
{}
"""


def test_several_configurations(generate):
    """What they share is written; what one of them sets is told with its place."""
    other = TWO.partition("def make(train):\n")[2].partition("    if")[0].replace("    ", "")
    other = other.replace("1800", "900") + "sess = tf.Session(config=config)"
    assert comments(generate(TWO.format("sess = tf.Session(config=make(False))")).out) == [
        "Not written:",
        "hcom_parallel: true in some calls (line 12); otherwise not set",
    ]
    assert comments(generate(TWO.format(other)).out) == [
        "the script creates 2 configurations, in lines 8 and 20",
        "Not written:",
        (
            "hcom_parallel: true (line 12) in the configuration of line 8; "
            "not set in the configuration of line 20"
        ),
        (
            "hccl_timeout: 1800 (line 10) in the configuration of line 8; "
            "900 (line 22) in the configuration of line 20"
        ),
    ]


BUILDER = """\
import tensorflow as tf
from npu_config import NpuConfigBuilder, Target

FLAGS = tf.app.flags.FLAGS
builder = NpuConfigBuilder(Target({}))
{}
config = builder.build(){}
sess = tf.Session(config=config.to_config_proto())
"""


@pytest.mark.parametrize("to", list(FORMATS))
def test_the_target_of_a_builder(generate, to):
    """It is in the output, or what to check it with is."""
    script = BUILDER.format(
        'product="atlas_a2", cann="8.0.0"', "builder.set(hccl_timeout=1800)", ""
    )
    result = generate(script, "-o", "out", to=to)
    assert result.code == 0
    if to in OF_FILES:
        assert judge("out", as_kind=to).reading.target.cann == "8.0.0"
    elif to == "builder":
        text = Path("out").read_text(encoding="utf-8")
        assert 'npu.Target(product="atlas_a2", cann="8.0.0")' in text
    else:
        said = result.err if to == "pb" else Path("out").read_text(encoding="utf-8")
        assert "check the output with --target atlas_a2 --target-cann 8.0.0" in said
    wrong = BUILDER.format(
        'product="atlas_training"', 'builder.set(precision_mode_v2="mixed_bfloat16")', ""
    )
    result = generate(wrong, to=to)
    assert (result.code, "[NPU108 " in result.err) == (1, True)
    unread = script.replace('"atlas_a2"', "FLAGS.product")
    result = generate(unread, "-o", "unread", to=to)
    said = Path("unread").read_bytes().decode("utf-8", "replace") + result.err
    assert "product of the target is known only at run time" in said


LISTS = 'builder.mixed_precision(black_list=["ReduceSumD"])'
CONTENT = {"black-list": {"to-add": ["ReduceSumD"]}}


@pytest.mark.parametrize("saved", ["", '.save_side_files("conf")'])
@pytest.mark.parametrize("to", list(FORMATS))
def test_side_files_of_a_builder(generate, tmp_path, to, saved):
    """They are written into a directory, or named as missing."""
    script = BUILDER.format("", LISTS, saved)
    name = "conf/ops_info.json" if saved else "ops_info.json"
    result = generate(script, "-o", "out", to=to)
    assert result.code == 0
    text = Path("out").read_bytes().decode("utf-8", "replace") + result.err
    assert "{} does not exist yet; --side-files DIR writes the file".format(name) in text
    result = generate(script, "--side-files", "files", "-o", "again", to=to)
    assert (result.code, result.err) == (0, "")
    assert json.loads((tmp_path / "files" / "ops_info.json").read_text()) == CONTENT
    text = Path("again").read_bytes().decode("utf-8", "replace")
    assert ("files/ops_info.json" in text) == (to != "env")
    assert "not there yet" not in text


def test_side_files_are_not_overwritten(generate, tmp_path):
    """Neither they nor the output, and nothing is half done."""
    script = BUILDER.format("", LISTS, "")
    (tmp_path / "out.yaml").write_text("mine")
    assert generate(script, "--side-files", "new/files", "-o", "out.yaml").code == 2
    assert not (tmp_path / "new").exists()
    (tmp_path / "ops_info.json").write_text("mine")
    result = generate(script, "--side-files", ".", "-o", "other.yaml")
    assert (result.code, "--force" in result.err) == (2, True)
    assert (tmp_path / "ops_info.json").read_text() == "mine"
    assert not (tmp_path / "other.yaml").exists()
    assert generate(script, "--side-files", ".", "-o", "other.yaml", "--force").code == 0
    assert json.loads((tmp_path / "ops_info.json").read_text()) == CONTENT


def test_lists_that_differ_by_path(generate):
    """Files of one name are not one value: their contents are told."""
    body = "if FLAGS.amp:\n    {}\nelse:\n    {}".format(LISTS, LISTS.replace("ReduceSumD", "Mul"))
    found = comments(generate(BUILDER.format("", body, "")).out)
    assert found == [
        "Not written:",
        (
            'modify_mixlist: a file with the content { "black-list": { "to-add": [ "ReduceSumD" '
            "] } } when "
            'FLAGS.amp (line 7); a file with the content { "black-list": { "to-add": [ "Mul" ] '
            "} } when not "
            "FLAGS.amp (line 9)"
        ),
    ]


def test_a_configuration_that_is_changed_again(generate):
    """What counts is the configuration that a session gets, not those it was made from."""
    script = BUILDER.format("", "builder.set(hccl_timeout=1, hcom_parallel=True)", "")
    script = script.replace(
        "sess =", "config = config.evolve(hccl_timeout=1800, hcom_parallel=None)\nsess ="
    )
    for to in ("yaml", "json"):
        result = generate(script, "-o", "npu." + to, to=to)
        assert result.code == 0
        assert NpuConfig.load("npu." + to).to_dict() == {"hccl_timeout": 1800}
        said = result.err + Path("npu." + to).read_text(encoding="utf-8")
        assert "hcom_parallel: true (line 6) is replaced or removed" in said


@pytest.mark.parametrize("to", [to for to in FORMATS if to not in (*WITHOUT_COMMENTS, "env")])
@pytest.mark.parametrize(
    "name", ["# npu: ignore-file", "npu: ignore", "a\nversion: 2", "a\r\nrm -rf /", "x\u2028y"]
)
def test_comments_are_only_comments(generate, npu, to, name):
    """No name and no value leaves its line, and none silences a finding."""
    body = (
        "op.parameter_map[{}].b = True\nif FLAGS.d:\n    op.parameter_map[{}].s = {!r}\n".format(
            ascii(name), '"debug_dir"', name.encode("utf-8")
        )
    )
    out = "out" + SUFFIXES.get(to, "." + to)
    assert generate(SCRIPT.format(TIMEOUT + body), "-o", out, to=to).code == 0
    path = Path(out)
    text = path.read_text(encoding="utf-8")
    plain = generate(SCRIPT.format(TIMEOUT), to=to).out
    values = [line for line in text.split("\n") if not line.startswith("# ") and line]
    assert values == [line for line in plain.split("\n") if not line.startswith("# ") and line]
    path.write_text(re.sub(r"\b1800\b", "-5", text), encoding="utf-8")
    result = npu("check", path)
    assert (result.code, "-5" in result.out) == (1, True)


PROTO = """\
gpu_options { allow_growth: true }
graph_options { rewrite_options { remapping: ON custom_optimizers { name: "NpuOptimizer"
  parameter_map { key: "hccl_timeout" value { i: 1800 } }
  parameter_map { key: "thing_of_a_newer_adapter" value { s: "x" } }
  parameter_map { key: "deterministic" value { i: 1 } } } } }
"""


@pytest.mark.parametrize("to", ["pbtxt", "pb"])
def test_from_proto_to_proto(npu, tmp_path, to):
    """What is not known stays; what has to be OFF is OFF, which is said."""
    path, out = tmp_path / "x.pbtxt", tmp_path / ("y." + to)
    path.write_text(PROTO)
    result = npu("generate", path, "-o", out)
    assert result.code == 0
    said = result.err if to == "pb" else out.read_text()
    assert "remapping is changed from ON to OFF, as the NPU requires" in said
    data = out.read_bytes()
    message = parse_bytes(data) if to == "pb" else parse_text(data.decode("utf-8"))
    options = message.graph_options.rewrite_options.custom_optimizers[0].parameter_map
    assert message.gpu_options.allow_growth
    assert sorted(options) == ["deterministic", "hccl_timeout", "thing_of_a_newer_adapter"]
    result = npu("generate", path, "-o", out, "--force", "--target-cann", "5.1", "--drop-unknown")
    assert result.code == 0
    assert b"deterministic" not in out.read_bytes()
    assert "the value is left out" in result.err


def test_from_proto_to_file(npu, tmp_path):
    """What a file must not hold is a comment there, and refused where there are none."""
    path = tmp_path / "x.pbtxt"
    path.write_text(PROTO)
    result = npu("generate", path, "--to", "yaml")
    assert '# thing_of_a_newer_adapter: "x" (line 4); ' in result.out
    result = npu("generate", path, "--to", "json")
    assert (result.code, result.out) == (1, "")
    assert (
        'json cannot contain comments, so this would be lost: thing_of_a_newer_adapter: "x"'
        in result.err
    )


def test_what_is_not_checked_is_said(generate):
    """A script for another adapter is not one without options."""
    result = generate("import tensorflow as tf\nimport npu_device\nnpu_device.open()\n")
    assert result.code == 1
    assert "is not checked: a script for the adapter of TensorFlow 2" in result.err
    assert os.listdir(".") == ["train.py"]
