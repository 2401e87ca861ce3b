"""Every command and every block of code in the documentation, run as it is written.

Commands (``console``) run one after the other in bash, in a folder with the files that the pages
talk about, and end with code 0.  Python blocks are executed, YAML, TOML and JSON blocks checked.
A block that cannot run here says so in the line before it, with the reason:

    <!-- not run: needs the network -->
    <!-- exit 1: the example has findings -->

Blocks of the language ``text`` are pictures and outputs.  The examples of rules and options are
tested with their declarations.
"""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from jsonschema import validate

pytest.importorskip("click")

import click

from npu_config import NpuConfig, check, rank_table
from npu_config.cli._output import EXIT_CODES
from npu_config.cli.app import app
from npu_config.lint.project import read_project
from npu_config.records.document import content_of
from npu_config.records.document import render as render_record
from npu_config.reporters import schema as findings
from npu_config.rulebook import load_all
from npu_config.runner.finder import uninstall_npu_bridge
from tests.forks import Ended, ended
from tests.logs.jobs import MEMORY
from tests.logs.jobs import raised as failed_log
from tests.proto import event_messages
from tests.runner import copies

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "DEVELOPERS.md", "CHANGELOG.md")
] + [
    path
    for path in sorted(DOCS.rglob("*.md"))
    # options and rules are tested with their declarations, Chinese pages below
    if path.relative_to(DOCS).parts[0] not in ("options", "rules", "zh")
]
TUTORIAL = DOCS / "tutorial.md"
CHINESE = {
    path: DOCS / path.relative_to(DOCS / "zh")
    for path in sorted((DOCS / "zh").rglob("*.md"))
    if path.relative_to(DOCS / "zh").parts[0].partition(".")[0]
    not in ("options", "rules", "index")
}
CHINESE[ROOT / "README.zh-CN.md"] = ROOT / "README.md"
GRAPHS = ROOT / "tests" / "data" / "graphs"
DUMPS = ROOT / "tests" / "data" / "dump"
BLOCK = re.compile(r"(?:^<!-- ([^\n]*?) -->\n)?^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_TRAINING = re.compile(
    r"\btf\b|npu_config\.(?:npu_init|tf1|precision_tool)|npu_bridge\(|npu-config run "
)
OUTPUT = re.compile(r" (?:-o|--write-mixlist) (\S+)")
PLAIN = re.compile(r"npu-config ([^|<>;&$*?`~#{}()\n]*?)(?: +#[^\n]*)?\Z")
"""A command in which there is nothing for a shell to do but to pass over a comment."""


class Block(NamedTuple):
    """One block of a page."""

    page: str
    line: int
    remark: str
    language: str
    text: str

    @property
    def runs(self):
        """False for what cannot run here, by its own words."""
        return not self.remark.startswith("not run: ")


def blocks(*languages):
    """The blocks of all pages in some languages."""
    for path in PAGES:
        if path == TUTORIAL:  # its blocks build on each other: test_tutorial.py
            continue
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start(3)) + 1
            name = path.relative_to(ROOT).as_posix()
            block = Block(name, line, match.group(1) or "", *match.group(2, 3))
            if block.language in languages and block.runs:
                yield block


def each(*languages):
    """The decorator that runs a test on each of them."""
    return pytest.mark.parametrize(
        "block", list(blocks(*languages)), ids=lambda block: "{}-{}".format(block.page, block.line)
    )


SCRIPT = """\
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
with tf.Session(config=config) as sess:
    sess.run(train_op)
"""
CONFIG = """\
version: 1
target:
  product: atlas_a2
precision_mode: allow_mix_precision
hccl_timeout: 1800
"""
JOB = """\
version: 1
extends: base.yaml
precision_mode: null
precision_mode_v2: origin
op_wait_timeout: 60
"""
HOROVOD = """\
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
v = tf.Variable(3.0)
optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.01 * hvd.size()))
train = optimizer.minimize(tf.square(v))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
"""
SUMMARY = """\
Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
a/Sum,ReduceSum,AI_CORE,1500.5,1,"8,8",FLOAT16;INT32
"""
SHELL = """\
#!/bin/bash
export RANK_SIZE=8
for i in 0 1 2 3 4 5 6 7; do
  export DEVICE_ID=$i ASCEND_DEVICE_ID=$i RANK_ID=$i
  python3 train.py &
done
wait
"""
TRAIN = """\
from npu_bridge.npu_init import *
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
v = tf.get_variable("v", initializer=3.0)
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(v))
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(train)
"""
KERAS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "mse")
model.fit(x, y)
"""
OPS = '{"black-list": {"to-add": ["ReduceSum"]}}\n'


def old_table():
    """The table as template 2 writes it."""
    devices = [
        {"device_id": str(number), "device_ip": "10.20.0.{}".format(number + 2)}
        for number in range(8)
    ]
    instance = {"pod_name": "pod", "server_id": "10.0.0.1", "devices": devices}
    group = {"group_name": "worker", "device_count": "8", "instance_count": "1"}
    group["instance_list"] = [instance]
    document = {"status": "completed", "group_count": "1", "group_list": [group]}
    return json.dumps(document)


def add_dumps(folder):
    """What data dump and overflow detection left, by the names that the pages give."""
    net = DUMPS / "net"
    for source, names in {
        net / "npu": ("data/dump", "npu_dump"),
        net / "graph": ("ge_graph",),
        net / "tf": ("reference",),
        DUMPS / "overflow": ("data/overflow", "overflow_dump"),
    }.items():
        for name in names:
            shutil.copytree(str(source), str(folder / name))
    graph = folder / "ge_graph" / "ge_proto_00012_Build.txt"
    shutil.copy(str(graph), str(folder / graph.name))
    conv = next(net.rglob("Conv2D.conv1_Conv2D*"))
    shutil.copy(str(conv), str(folder / "Conv2D.conv1_Conv2D.3.2.1767323045000003"))


def part(number):
    """The rank table of one server alone."""
    server, first = "10.0.0.{}".format(number + 1), "10.20.{}.2".format(number)
    return rank_table.build([server], 2, first, "atlas_training")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the pages talk about."""
    table = rank_table.build(["10.0.0.1"], 8, "10.20.0.2", "atlas_training")
    for name, text in {
        "train.py": SCRIPT,
        "src/train.py": SCRIPT,
        "horovod_train.py": HOROVOD,
        "train_keras.py": KERAS,
        "scripts/train_8p.sh": SHELL,
        "train_8p.sh": SHELL,
        "config.yaml": CONFIG,
        "session.yaml": CONFIG,
        "session.pbtxt": NpuConfig.from_dict({"hccl_timeout": 1800}).to_pbtxt(),
        "ops_info.json": OPS,
        "fusion_switch.cfg": '{"Switch": {"GraphFusion": {"ALL": "off"}}}\n',
        "op_precision.ini": "[ByOpType]\nMatMul=high_performance\n",
        "rank_table.json": rank_table.render(table),
        "node_0.json": rank_table.render(part(0)),
        "node_1.json": rank_table.render(part(1)),
        "old_table.json": old_table(),
        "fusion_result.json": '[{"session_and_graph_id_0_0": {"graph_fusion": {}, '
        '"ub_fusion": {}}}]',
        "base.yaml": CONFIG,
        "job.yaml": JOB,
        "run_1/npu_config.json": a_record({"op_wait_timeout": 60}),
        "run_2/npu_config.json": a_record({"op_wait_timeout": 9}),
        "train.log": "".join("step {} loss scale 1024\n".format(n) for n in range(9)),
        "failed.log": failed_log(MEMORY),
        "logs/train_0.log": failed_log(MEMORY),
        "PROF_001/op_summary_0.csv": SUMMARY,
        ".git/HEAD": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    examples, broken = tmp_path / "examples", shutil.ignore_patterns("broken.yaml")
    shutil.copytree(str(ROOT / "examples"), str(examples), ignore=broken)
    shutil.copy(str(GRAPHS / "case3_v2_dynamic.pbtxt"), str(tmp_path / "graph.pbtxt"))
    tensor = event_messages.tensor(1, (), struct.pack("<f", 1.0))
    event = event_messages.event(0, [event_messages.field(8, tensor)])
    for name in ("tfdbg_dump", "precision_data/tf/tf_debug"):
        dump = tmp_path / name / "run_1_0" / "_tfdbg_device_,job_a"
        dump.mkdir(parents=True)
        (dump / "a_0_DebugIdentity_5").write_bytes(event)
    add_dumps(tmp_path)
    add_program(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add_program(folder):
    """The command, and the Python that runs it, where ``run_commands`` looks for them."""
    program = folder / ".bin" / "npu-config"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "{}" -m npu_config "$@"\n'.format(sys.executable))
    program.chmod(0o755)
    os.symlink(sys.executable, str(program.with_name("python")))


def a_record(options):
    """The record of a job."""
    return render_record(content_of(NpuConfig.from_dict(options)))


def commands(text):
    """The commands of a console block; a backslash at the end of a line goes on."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")]


def of_training(block):
    """Whether a block needs TensorFlow."""
    return bool(OF_TRAINING.search(block.text))


def of_the_api(block):
    """Whether it is the example of a page of the Python API: those run in one folder."""
    return block.page.startswith("docs/reference/python/")


def split(*languages):
    """Decorators that run a test on the blocks without TensorFlow, and on those with it."""
    for needs in (False, True):
        yield pytest.mark.parametrize(
            "block",
            [
                block
                for block in blocks(*languages)
                if of_training(block) is needs and not of_the_api(block)
            ],
            ids=lambda block: "{}-{}".format(block.page, block.line),
        )


CONSOLE, CONSOLE_OF_TRAINING = split("console")
PYTHON, PYTHON_OF_TRAINING = split("python")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@CONSOLE
def test_commands(block, folder):
    """Each command ends with code 0, or with 1 where the page says so."""
    run_commands(block, folder)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@CONSOLE_OF_TRAINING
def test_commands_with_tensorflow(block, folder):
    """The same of those that run a training script."""
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    for name, there in {"npu": "npu_dump", "gpu": "reference"}.items():
        (folder / there).rename(folder / name)
    run_commands(block, folder)


def run_commands(block, folder):
    """Run a block as a reader would; returns what it has printed."""
    legal = (0, 1) if block.remark.startswith("exit 1: ") else (0,)
    found = commands(block.text)
    assert found
    printed = []
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environ = dict(
        os.environ,
        PATH=os.pathsep.join([str(folder / ".bin"), os.environ.get("PATH", "")]),
        PYTHONPATH=os.pathsep.join(filter(None, paths)),
        NO_COLOR="1",
    )
    for command in found:
        command = command.replace("/data/", str(folder) + "/data/")
        for out in OUTPUT.findall(command):  # the page makes it: it is not there yet
            if (folder / out).is_file():
                (folder / out).unlink()
        done = run_command(command, environ)
        assert done.code in legal, (command, *done)
        assert "Traceback" not in done.errors
        printed.append(done.out + done.errors)
    return "".join(printed)


def run_command(command, environ):
    """Run a command in bash; where it is npu-config alone, bash and a new Python are saved."""
    plain = PLAIN.match(command)
    if plain:
        words = shlex.split(plain.group(1))
        if "tensorflow" not in sys.modules:
            return ended(words, environ)
        done = copies.run(words, os.getcwd(), environ=environ)  # this one has threads
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
    done = subprocess.run(
        ["bash", "-c", command], env=environ, stdin=subprocess.DEVNULL, capture_output=True
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_python(found, folder):
    """Execute blocks as a reader would, each with what the page has set up before."""
    for name in ("ops_info.json", "rank_table.json"):  # the pages write them
        (folder / name).unlink()
    (folder / "reference").rename(folder / "tf_npy")
    try:
        for block in found:
            code = block.text.replace("/data/", str(folder) + "/")
            code = code.replace("/home/", str(folder) + "/")
            given = {"__name__": "page"}
            if of_training(block):
                import tensorflow

                given["tf"] = tensorflow.compat.v1
            exec(compile(code, block.page, "exec"), given)
    finally:
        uninstall_npu_bridge()  # a page shows how to serve it


@PYTHON
def test_python(block, folder):
    """It runs without an exception."""
    run_python([block], folder)


@pytest.mark.tensorflow
@PYTHON_OF_TRAINING
def test_python_with_tensorflow(block, folder):
    """It runs without an exception, on the TensorFlow that is there."""
    run_python([block], folder)


def api_examples(needs):
    """The examples of the API that need TensorFlow, or those that do not."""
    return [b for b in blocks("python") if of_the_api(b) and of_training(b) is needs]


def test_python_of_the_api(folder):
    """The example of each page of the Python API runs without an exception."""
    found = api_examples(False)
    assert len(found) > 10
    run_python(found, folder)


@pytest.mark.tensorflow
def test_python_of_the_api_with_tensorflow(folder):
    """The same of those for training."""
    found = api_examples(True)
    assert len(found) > 5
    run_python(found, folder)


@each("yaml", "toml", "json")
def test_files(block, folder):
    """A configuration has no error, a project table no finding, the rest can be read."""
    path = folder / "example.{}".format(block.language)
    path.write_text(block.text, encoding="utf-8")
    if "[tool.npu-config" in block.text:
        project = folder / "pyproject.toml"
        path.rename(project)
        assert read_project(str(project), load_all).diagnostics == ()
    elif block.remark.startswith("wrong"):
        assert not check(path).ok
    elif '"diagnostics"' in block.text:
        validate(json.loads(block.text), findings.schema())
    elif re.search(r"^version\b|\"version\"", block.text, re.MULTILINE):
        assert [str(d) for d in check(path).errors] == []
    elif block.language == "yaml":
        assert yaml.safe_load(block.text)
    else:
        assert block.language == "json"
        assert json.loads(block.text)


def test_no_other_language():
    """Nothing escapes these tests by its language."""
    known = {"console", "python", "yaml", "toml", "json", "text"}
    known.update(("lua", "vim", "lisp"))  # settings of editors: tests/editor tries those of one
    found = {}
    for path in PAGES:
        for match in BLOCK.finditer(path.read_text(encoding="utf-8")):
            if match.group(2) not in known and not match.group(2).startswith("{"):
                found.setdefault(path.name, []).append(match.group(2))
    assert found == {}


def test_reasons_are_given():
    """What is not run says why."""
    for path in PAGES:
        for reason in re.findall(r"<!-- not run:(.*?)-->", path.read_text(encoding="utf-8")):
            assert len(reason.strip()) > 10, path


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_chinese_pages_have_the_same_blocks(path):
    """Each block is that of the English page, which is run, in the same order."""

    def found(page):
        text = re.sub(r"<!-- broken:begin -->.*?<!-- broken:end -->", "", page, flags=re.DOTALL)
        return [match.group() for match in BLOCK.finditer(text)]

    assert found(path.read_text("utf-8")) == found(CHINESE[path].read_text("utf-8"))


def test_every_guide_is_in_chinese():
    """Guides and recipes; reference and project pages are in English."""
    landing = (DOCS / "index.md").read_text("utf-8")
    guides = re.search(r":caption: Guides\n.*?\n\n(.*?)```", landing, re.DOTALL).group(1).split()
    guides += ["recipes/" + path.stem for path in (DOCS / "recipes").glob("*.md")]
    assert len(guides) > 20
    assert [name for name in guides if not (DOCS / "zh" / (name + ".md")).exists()] == []


def test_exit_codes():
    """The table of the page is the table of the program."""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = "".join("| {} | {} |\n".format(*item) for item in EXIT_CODES.items())
    head = "<!-- exit-codes:begin -->\n| code | meaning |\n| --- | --- |\n"
    assert head + rows + "<!-- exit" in page


INLINE = re.compile(r"`npu-config ([^`|]+)`")
PLACEHOLDERS = ("COMMAND", "...")


def unknown_word(line):
    """The first word of a command line that is neither a command nor an option of it."""
    words = shlex.split(re.sub(r"--lang \w+", "", line))
    command = app
    for before, word in zip(["", *words], words):
        if word in PLACEHOLDERS:
            return None
        if word.startswith("-") and len(word) > 1:
            options = [name for each in command.params for name in each.opts]
            if word.partition("=")[0] not in (*options, "-h", "--help"):
                return word
        elif isinstance(command, click.Group) and not before.startswith("--"):
            command = command.get_command(None, word)
            if command is None:
                return word
    return None


def test_commands_in_sentences():
    """What the text of any page names, in any language, is a command with options that it has."""
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    found = {
        (path.name, line): unknown_word(line)
        for path in pages
        for line in INLINE.findall(BLOCK.sub("", path.read_text(encoding="utf-8")))
    }
    assert len(found) > 100
    assert {} == {line: word for line, word in found.items() if word is not None}  # noqa: SIM300
