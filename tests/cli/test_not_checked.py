"""What was not checked is said: in the last lines, in JSON, and with --strict by the exit code."""

import json
import re

import pytest

from npu_config.launch.shell import check as shell

RIGHT = "version: 1\nhccl_timeout: 1800\n"
NOTEBOOK = '{"cells": [{"source": ["from npu_bridge.npu_init import *", "x = {"]}]}'
OTHER_ADAPTER = """\
import npu_device as npu
import tensorflow as tf

npu.global_options().precision_mode = "allow_mix_precison"
npu.open().as_default()
config = tf.compat.v1.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_modee"].s = b"x"
"""
LAUNCHER = "#!/bin/bash\nexport RANK_SIZE=8\nexport RANK_ID=8\npython3 train.py\n"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A directory with a right file and two that are not checked; it is the working directory."""
    (tmp_path / "good.yaml").write_text(RIGHT)
    (tmp_path / "train.ipynb").write_text(NOTEBOOK)
    (tmp_path / "tf2.py").write_text(OTHER_ADAPTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


REASONS = {
    "train.ipynb": "a notebook",
    "tf2.py": "a script for the adapter of TensorFlow 2",
}


@pytest.mark.parametrize("name", sorted(REASONS))
def test_a_named_file(npu, tree, name):
    """It is named as what it is, counts as not checked, draws no error, and fails --strict."""
    found = npu("check", name)
    assert found.code == 0
    assert found.out.splitlines()[:2] == [
        "0 files checked, 1 not checked",
        "    not checked ({}): {}".format(REASONS[name], name),
    ]
    beside = npu("check", "--strict", "good.yaml", name)
    assert beside.code == 1
    assert "no problem found: 1 file checked, 1 not checked\n" in beside.out
    assert " in 2 files" not in beside.out
    assert npu("check", "--strict", "good.yaml").code == 0


def test_the_working_directory(npu, tree):
    """Without PATH it is checked; what was found there and not checked fails no --strict."""
    found = npu("check", "--strict")
    assert found.code == 0
    assert found.out.splitlines()[:3] == [
        "no problem found: 1 file checked, 2 not checked",
        "    not checked (a notebook): train.ipynb",
        "    not checked (a script for the adapter of TensorFlow 2): tf2.py",
    ]


def test_a_folder_of_notebooks(npu, tmp_path):
    """That it holds nothing that could be checked is said, and what it holds."""
    for name in "abcde":
        (tmp_path / (name + ".ipynb")).write_text(NOTEBOOK)
    found = npu("check", tmp_path)
    assert found.code == 0
    assert "NPU709" in found.out
    assert "0 files checked, 5 not checked" in found.out
    assert "c.ipynb and 2 more" in found.out


def test_json_and_the_list(npu, tree):
    """JSON and --show-skipped name each file with its reason."""
    found = npu("check", "--format", "json", "--show-skipped", ".")
    document = json.loads(found.out)
    expected = [{"path": name, "why": REASONS[name]} for name in ("train.ipynb", "tf2.py")]
    assert document["unchecked"] == expected
    assert (document["summary"]["files"], document["summary"]["skipped"]) == (3, 2)
    assert found.err.splitlines() == [
        "skipped tf2.py: a script for the adapter of TensorFlow 2",
        "skipped train.ipynb: a notebook",
    ]


def test_diff_says_it(npu, tree):
    """So does --diff, whose summary goes to standard error."""
    found = npu("check", "--diff", "--strict", "train.ipynb")
    assert (found.code, "not checked (a notebook)" in found.err) == (1, True)


@pytest.mark.parametrize("options", [[], ["--if-ours"]])
def test_launch_scripts_without_their_parser(npu, tmp_path, monkeypatch, options):
    """Named or by the hook: a warning says what to install, and with --strict it fails."""
    monkeypatch.setattr(shell, "parser", lambda: None)
    (tmp_path / "run.sh").write_text(LAUNCHER)
    found = npu("check", *options, tmp_path / "run.sh")
    assert found.code == 0
    assert "NPU623" in found.out
    assert "0 files checked, 1 not checked" in found.out
    assert "no problem found" not in found.out
    assert npu("check", "--strict", *options, tmp_path / "run.sh").code == 1


@pytest.mark.parametrize(
    "line",
    [
        "from npu_bridge.npu_init import *",
        "import npu_device.compat.v1.npu_init",
        "import npu_config",
    ],
)
def test_scripts_of_both_adapters_are_checked(npu, tmp_path, line):
    """A script that can be run with the adapter of TensorFlow 1 is checked."""
    (tmp_path / "both.py").write_text(line + "\n" + OTHER_ADAPTER)
    assert "NPU101" in npu("check", tmp_path / "both.py").out


def test_the_hook_finds_a_launch_script_by_its_ranks(npu, tmp_path):
    """RANK_ID and RANK_SIZE are of this runtime alone: such a script is ours."""
    (tmp_path / "run.sh").write_text(LAUNCHER)
    assert "NPU676" in npu("check", "--if-ours", tmp_path / "run.sh").out
    assert "NPU676" in npu("check", tmp_path).out


HOROVOD = """\
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1))
step = optimizer.minimize(loss)
with tf.train.MonitoredTrainingSession(config=config) as session:
    session.run(step)
"""
ESTIMATOR = """\
import tensorflow as tf

def main():
    estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig())
    estimator.train(input_fn)

if __name__ == "__main__":
    main()
"""
KERAS = "from tensorflow import keras\nmodel = keras.models.Sequential()\nmodel.fit(x, y)\n"
NOT_WRITTEN = "not written for the NPU; npu-config migrate lists the changes that are needed"


@pytest.mark.parametrize("text", [HOROVOD, ESTIMATOR, KERAS])
def test_a_training_script_that_is_not_migrated(npu, tmp_path, monkeypatch, text):
    """Named, it is not checked, and migrate is named; in a folder such scripts are counted."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "train_a.py", "train_b.py", "train_c.py"):
        (tmp_path / name).write_text(text)
    found = npu("check", "train.py", "--notes")
    assert found.code == 0
    assert "help: run: npu-config migrate train.py\n" in found.out
    assert "    not checked ({}): train.py\n".format(NOT_WRITTEN) in found.out
    assert npu("check", "--strict", "train.py").code == 1
    found = npu("check", "--strict", "--notes", ".")
    assert (found.code, found.out) == (
        0,
        "0 files checked, 4 not checked\n    not checked ({}): train.py, train_a.py, train_b.py "
        "and 1 more\n".format(NOT_WRITTEN),
    )
    found = npu("check", "--strict", "--if-ours", "train.py")
    assert (found.code, "not checked" in found.out) == (0, False)


def test_a_script_for_another_framework(npu, tmp_path):
    """Named, it is called what it is; in a folder nothing is said of it."""
    path = tmp_path / "train.py"
    path.write_text("import torch\nimport torch_npu\nmodel.fit(x)\n")
    assert "not checked (a script for PyTorch)" in npu("check", path).out
    assert "NPU784" not in npu("check", tmp_path, "--notes").out
    assert npu("check", tmp_path, "--strict").code == 0


SILENT = {
    "a module": "import tensorflow as tf\ndef conv(x):\n    return tf.layers.dense(x, 3)\n",
    "a module that trains": "import tensorflow as tf\ndef work():\n    tf.Session().run(1)\n",
    "no training": "import tensorflow as tf\nif __name__ == '__main__':\n    print(tf)\n",
    "a comment": "import tensorflow as tf\n# with tf.Session() as s:\nmain()\n",
    "a file that is for the NPU": "from ours import config\n" + HOROVOD,
    "a file in it": "from package import *\n" + ESTIMATOR,
    "nothing": "print('x')\n",
}


@pytest.mark.parametrize("name", sorted(SILENT))
def test_scripts_that_need_not_be_migrated(npu, tmp_path, name):
    """A module, a script that does not train, and one that imports what is for the NPU."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from package import inner\n")
    (tmp_path / "package" / "inner.py").write_text("import npu_config\n")
    (tmp_path / "ours.py").write_text("from npu_bridge.npu_init import *\nconfig = 1\n")
    (tmp_path / "train.py").write_text(SILENT[name])
    found = npu("check", "--strict", tmp_path / "train.py")
    assert (found.code, found.out) == (0, "no problem found in 1 file\n")
    assert "not checked" not in npu("check", tmp_path).out


def test_nothing_that_is_ours_is_no_all_clear(npu, tmp_path):
    """Where the hook names only files of other programs, no file is called fine."""
    (tmp_path / "package.json").write_text('{"name": "x", "scripts": {}}')
    found = npu("check", "--if-ours", tmp_path / "package.json")
    assert (found.code, found.out) == (0, "no file was checked\n")


@pytest.mark.parametrize("name", [*sorted(REASONS), "cut.pbtxt", "odd.pb"])
def test_generate_says_what_it_could_not_read(npu, tree, name):
    """It is no all-clear: the file is not checked, and why."""
    (tree / "cut.pbtxt").write_text("graph_options {")
    (tree / "odd.pb").write_bytes(b"\x0a\x00\xff")
    found = npu("generate", "--to", "yaml", name)
    assert found.code == 1
    assert re.search(
        r"0 files checked, 1 not checked\n    not checked \(|is not checked: ", found.err
    )


def test_doctor_names_the_first_error_by_place(npu, tree):
    """As ``check`` prints them."""
    (tree / "two.json").write_text('{"version": 1, "dump_mode": "both", "enable_dump": true,}')
    assert "the first at two.json:1:29: " in npu("doctor", "two.json").out


PROFILING = 'version: 1\nprofiling_mode: true\nprofiling_options: \'{"training_trace": "on"}\'\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ops_info.json", '\ufeff{"black-list": {"to-add": ["Add"]}}'),
        ("npu.yaml", PROFILING),
    ],
)
def test_doctor_names_warnings(npu, tree, name, text):
    """What has a warning is not said to break no rule, nor that it cannot be checked."""
    (tree / name).write_text(text, encoding="utf-8")
    assert "1 warning in 1 file" in npu("check", name).out
    found = npu("doctor", name)
    first = found.out.splitlines()[0]
    assert (found.code, first.split()[:2]) == (0, ["advice", "configuration-valid"])
    assert "1 warning, the first at {}:".format(name) in first


def test_input_is_no_word_of_the_npu(npu, tmp_path, monkeypatch):
    """A shell script that reads its input is left to others; one that names npu is ours."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool.sh").write_text('input="$1"\nexport INPUT=inputs.txt\n')
    (tmp_path / "scores.py").write_text("import torch\ninput('x')\n")
    assert npu("check", "--show-skipped", ".").err.splitlines() == [
        "skipped scores.py: the file sets no option of the NPU",
        "skipped tool.sh: the file sets no option of the NPU",
    ]
    for line in ("python3 train_npu.py", "device=npu", "source npu_env.sh"):
        (tmp_path / "tool.sh").write_text(line + "\n")
        said = npu("check", "--show-skipped", ".").err
        assert "tool.sh: the file sets no option of the NPU" not in said


def test_profiling_options_in_a_folder(npu, tmp_path, monkeypatch):
    """A file of them is found by its keys, misspelt ones too; acl.json is another program's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profiling.json").write_text(
        '{"output": "/p", "training_trac": "on", "fp_point": ""}'
    )
    (tmp_path / "p.json").write_text('{"output": "/p", "task_trace": "onn"}')
    (tmp_path / "acl.json").write_text('{"profiler": {"aic_metrics": "PipeUtilization"}}')
    (tmp_path / "other.json").write_text('{"jobs": [{"task_trace": 1}], "name": "x"}')
    found = npu("check", ".")
    assert ("NPU746" in found.out, "NPU747" in found.out) == (True, True)
    assert "in 2 files" in found.out
