"""What was once "no problem found" though something was wrong, or not looked at."""

import json

import pytest

HEAD = "import os\nimport tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
ENTRY = """\
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
op.parameter_map["use_off_line"].b = True
"""
SESSION = "with tf.Session(config={}) as sess:\n    sess.run(tf.constant(1))\n"
HELPER = HEAD + ENTRY + 'op.parameter_map["precision_mode"].s = b"force_fp16"\n'
ELSEWHERE = "NPU784"

TEXT = 'python3 - <<EOF\nimport os\nos.environ["{}"] = "7\nEOF\n{}\n'
LAUNCHERS = {
    "rank id in a text": (TEXT.format("RANK_ID", "python3 train.py"), True),
    "rank size in a text": (TEXT.format("RANK_SIZE", "python3 train.py"), True),
    "a switch of the engine": (TEXT.format("GE_USE_STATIC_MEMORY", "python3 t.py"), True),
    "a name with a default": (": ${RANK_SIZE:=8}\nexport $(cat job.env)\npython3 train.py", True),
    "names of any job": (TEXT.format("JOB_ID", "python3 train.py"), False),
    "a part of a name": (TEXT.format("LOCAL_RANK_ID", "python3 train.py"), False),
    "another framework": (TEXT.format("RANK_ID", "torchrun train.py"), False),
}


@pytest.mark.parametrize("what", LAUNCHERS)
def test_launch_scripts(npu, tmp_path, what):
    """Named, found, and by the hook: one that names a variable of the NPU is ours."""
    text, ours = LAUNCHERS[what]
    (tmp_path / "run.sh").write_text("#!/bin/bash\n" + text)
    for words in (["run.sh"], ["."], ["--if-ours", "run.sh"]):
        found = npu("check", "--notes", *[tmp_path / w if w[0] != "-" else w for w in words])
        assert (found.code, ELSEWHERE in found.out) == (0, ours), found.out
        assert ("1 not checked in full" in found.out) == ours


def test_variables_before_a_command_are_ours(npu, tmp_path):
    """A script that exports nothing and gives a command its rank is judged in a folder, too."""
    (tmp_path / "run.sh").write_text("RANK_ID=9 RANK_SIZE=8 JOB_ID=1 python3 train.py\n")
    assert "RANK_ID is 9, but RANK_SIZE is 8" in npu("check", tmp_path).out


SOURCES = {
    "a function": ("from nowhere import make\nconfig = make()\n", "config", "nowhere.make"),
    "a name": ("from nowhere import config\n", "config", "nowhere.config"),
    "a module": ("import nowhere\n", "nowhere.config", "nowhere.config"),
    "a module in a package": ("from nowhere import b\nc = b.make(1)\n", "c", "nowhere.b.make"),
    "everything": ("from nowhere import *\n", "config", "nowhere.config"),
    "a helper": ("from nowhere import make\n", "npu_config_proto(make())", "nowhere.make"),
    "everything of a file": ("from helper import *\n", "config", "helper.config of helper.py"),
    "a name of a file": ("from helper import config\n", "config", "helper.config of helper.py"),
}


@pytest.mark.parametrize("what", SOURCES)
def test_configurations_of_other_modules(npu, tmp_path, what):
    """One that is not looked at here is said not to be, also beside another finding."""
    imports, given, named = SOURCES[what]
    (tmp_path / "helper.py").write_text(HELPER)
    script = tmp_path / "train.py"
    script.write_text(HEAD + imports + SESSION.format(given))
    found = npu("check", "--notes", script)
    assert (named in found.out, ELSEWHERE in found.out) == (True, True), found.out
    other = ENTRY.replace("config", "other") + 'op.parameter_map["precision_mode"].s = b"fp61"\n'
    script.write_text(HEAD + imports + other + SESSION.format(given))
    found = npu("check", script)
    counted = "0 files checked, 1 not checked in full\n    not checked (part of the file was not "
    assert counted + "checked: line " in found.out
    assert (found.code, "NPU104" in found.out) == (1, True)


def test_configurations_of_libraries(npu, tmp_path):
    """What TensorFlow or another library makes draws no note, nor what the script makes itself."""
    script = tmp_path / "train.py"
    for imports, given in (
        ("from keras import backend\nconfig = backend.get_config()\n", "config"),
        ("from nowhere import size\nconfig = tf.ConfigProto()\n", "config"),
        ("from nowhere import *\nconfig = tf.ConfigProto()\n", "config"),
    ):
        script.write_text(HEAD + imports + SESSION.format(given))
        assert ELSEWHERE not in npu("check", "--notes", script).out


MAP = 'op.parameter_map["precision_mode"].s = {}\n'
DUMP = "NPURunConfig(dump_config=DumpConfig(True, dump_path='/tmp', dump_mode={}))\n"
BUILDER = "import npu_config\nnpu_config.NpuConfigBuilder().set(precision_mode={}).build()\n"
WRONG = 'NPURunConfig(precision_mode=os.getenv("MODE", "fp61"))\n'
DEFAULTS = {
    "bytes": (ENTRY + MAP.format('tf.compat.as_bytes(os.environ.get("MODE", "fp61"))'), "MODE"),
    "encoded": (ENTRY + MAP.format('os.getenv("MODE", "fp61").encode()'), "MODE"),
    "a name": ('M = os.getenv("MODE", default="fp61")\nNPURunConfig(precision_mode=M)\n', "MODE"),
    "a number": ('NPURunConfig(hccl_timeout=int(os.environ.get("T", "-3")))\n', "T"),
    "a part": (
        DUMP.format("os.getenv('M', 'ALL')"),
        "M",
    ),
    "a builder": (
        BUILDER.format("os.getenv('M', 'fp61')"),
        "M",
    ),
    "right": ('NPURunConfig(precision_mode=os.getenv("MODE", "force_fp16"))\n', None),
    "empty": ('NPURunConfig(precision_mode=os.getenv("MODE", ""))\n', None),
    "set here": (
        'os.environ["MODE"] = "force_fp16"\n' + WRONG,
        None,
    ),
    "asked for": (
        'if "MODE" in os.environ:\n    NPURunConfig(precision_mode=os.getenv("MODE", "fp61"))\n',
        None,
    ),
    "not known": ('NPURunConfig(precision_mode=os.getenv("MODE", str(x)))\n', None),
}


@pytest.mark.parametrize("what", DEFAULTS)
def test_defaults_of_variables(npu, tmp_path, what):
    """What an option is where a variable of the environment is not set."""
    text, variable = DEFAULTS[what]
    script = tmp_path / "train.py"
    script.write_text(HEAD + text)
    said = npu("check", script).out
    assert ("NPU834" in said) == (variable is not None), said
    if variable is not None:
        assert "used when the environment variable {} is not set".format(variable) in said


JOB = "#!/bin/bash\nexport RANK_TABLE_FILE=/rt.json RANK_SIZE=2 JOB_ID=1\n"
RANK = "RANK_ID={} ASCEND_DEVICE_ID={} python3 train.py {}"


def lines(*ranks, after="&"):
    """A line for each rank and device."""
    return "".join(RANK.format(*each, after) + "\n" for each in ranks)


FUNCTION = "start() {{ {} }}\nstart 0 0 {}\nstart 1 {} {}\nwait\n"
QUIET = "nohup python3 train.py > a.log 2>&1 &\n"
INSIDE = RANK.format("$1", "$2", "&")
TOGETHER = {
    "one device": (lines((0, 0), (1, 0)) + "wait\n", "warning: ASCEND_DEVICE_ID"),
    "one rank": (lines((0, 0), (0, 1)), "error: RANK_ID"),
    "exported": (
        "export RANK_ID=0 ASCEND_DEVICE_ID=3\n{0}export RANK_ID=1\n{0}".format(QUIET),
        "warning: ASCEND_DEVICE_ID",
    ),
    "in one line": (lines((0, 0), (0, 1)).replace("\n", " ") + "\n", "error: RANK_ID"),
    "the last one in front": (lines((0, 0)) + lines((1, 0), after=""), "ASCEND_DEVICE_ID"),
    "in a function": (FUNCTION.format(INSIDE, "", 0, ""), "ASCEND_DEVICE_ID"),
    "functions": (FUNCTION.format(INSIDE[:-1] + ";", "&", 0, "&"), "ASCEND_DEVICE_ID"),
    "in a branch": ("if [ $X ]; then\n" + lines((0, 0), (0, 1)) + "fi\n", "RANK_ID"),
    "in else": ("if [ $X ]; then :\nelse\n" + lines((0, 0), (1, 0)) + "fi\n", "DEVICE_ID"),
    "in a case": ("case $1 in\na)\n" + lines((0, 0), (0, 1)) + ";;\nesac\n", "RANK_ID"),
    "in a branch of a loop": (
        "for i in 0 1; do if [ $X ]; then\n" + lines(("$i", 0)) + "fi; done\n",
        "ASCEND_DEVICE_ID",
    ),
    "right": (lines((0, 0), (1, 1)) + "wait\n", None),
    "right in a function": (FUNCTION.format(INSIDE, "", 1, ""), None),
    "one after another": (lines((0, 0)) + "wait\n" + lines((0, 0)), None),
    "one or the other": (
        "if [ $X ]; then\n" + lines((0, 0)) + "else\n" + lines((0, 0)) + "fi\n",
        None,
    ),
    "another script": (lines((0, 0)) + lines((0, 0)).replace("train", "eval"), None),
    "other words": (lines((0, 0), (0, 0)).replace("py &", "py --fold a &", 1), None),
    "jobs of one rank": ("export RANK_SIZE=1\n" + lines((0, 0), (0, 1)), None),
    "other machines": (
        lines((0, 0), (1, 0)).replace("RANK_ID", "ssh a RANK_SIZE=2 RANK_ID"),
        None,
    ),
    "other jobs": (lines((0, 0)) + "export JOB_ID=2\n" + lines((0, 1)), None),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_processes_beside_each_other(npu, tmp_path, what):
    """Lines that start ranks of one job in the background are compared as loops are."""
    text, said = TOGETHER[what]
    (tmp_path / "run.sh").write_text(JOB + text)
    found = npu("check", tmp_path / "run.sh").out
    assert ("NPU675" in found, said is None or said in found) == (said is not None, True), found


def test_a_root_is_no_division(npu, tmp_path):
    """A constant that vanishes in float16 is said to guard what it guards."""
    text = HEAD + ENTRY + MAP.format('b"allow_mix_precision"')
    text += "x = tf.placeholder(tf.float32, [4])\n"
    for made, guards in (
        ("tf.sqrt(x + 1e-10)", "a root"),
        ("tf.rsqrt(x + 1e-10)", "a root"),
        ("tf.log(x + 1e-10)", "a logarithm"),
        ("1.0 / (x + 1e-10)", "a division"),
        ("tf.math.divide(x, x + 1e-10)", "a division"),
    ):
        script = tmp_path / "train.py"
        script.write_text(text + "y = " + made + "\n" + SESSION.format("config"))
        assert (
            "1e-10 guards {} against 0, but is itself 0 in float16".format(guards)
            in npu("check", script).out
        )


def test_a_replaced_configuration_is_told_once(npu, tmp_path):
    """Where it is replaced on some paths only it is not told to be unused on the others."""
    (tmp_path / "helper.py").write_text(
        "import tensorflow as tf\n\n\ndef make(chip):\n    if chip == 'npu':\n"
        + "".join("        " + line + "\n" for line in ENTRY.splitlines())
        + "        return config\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        HEAD
        + "from helper import make\n"
        + ENTRY
        + "config = make(chip)\n"
        + SESSION.format("config")
    )
    said = npu("check", script).out
    assert ("NPU881" in said, "NPU880" in said) == (True, False), said


BATCHES = """\
import functools
import tensorflow as tf
from npu_bridge.npu_init import *
ds = tf.data.Dataset.range(10)
a = functools.partial(tf.data.Dataset.batch, batch_size=4)(ds)
b = tf.data.Dataset.batch(ds, 4)
make = functools.partial(tf.data.Dataset.padded_batch, batch_size=4)
c = make(ds, padded_shapes=[])
d = ds.apply(functools.partial(tf.data.Dataset.batch, batch_size=4))
e = functools.partial(tf.data.Dataset.batch, batch_size=4, drop_remainder=True)(ds)
f = tf.data.Dataset.batch(ds, 4, True)
right = functools.partial(tf.data.Dataset.batch, batch_size=4)
g = right(ds, drop_remainder=True)
h = tf.data.Dataset.batch(ds, 1)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(a.make_one_shot_iterator().get_next())
"""


def test_batches_by_functions(npu, tmp_path):
    """What batches a dataset by a function of its class, or a part of one, is a batch, too."""
    (tmp_path / "train.py").write_text(BATCHES)
    found = json.loads(npu("check", "--format", "json", tmp_path / "train.py").out)
    places = [(each["rule"], each["line"]) for each in found["diagnostics"]]
    assert places == [("NPU5001", line) for line in (5, 6, 7, 9)]
