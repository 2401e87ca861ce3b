"""What was once "nothing to complain about" though something was wrong, or not looked at."""

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
    assert "0 files checked, 1 not checked in full\n    not checked (in part: line " in found.out
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
        assert "where the environment variable {} is not set".format(variable) in said
