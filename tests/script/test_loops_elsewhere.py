"""NPU886 where the configuration or the loop is in another file."""

import pytest

from npu_config.script import read

SCRIPT = """\
import tensorflow as tf
import npu_config as npu
{imports}
config = npu.NpuConfig.load("{file}")
{opened}
"""
AT_ONCE = """\
with tf.Session(config=config.to_config_proto()) as sess:
    sess.run(train_op)
"""
BY_OTHERS = """\
sess = tf.Session(config=config.to_config_proto())
"""
CONFIGURATIONS = {
    "conf.yaml": "version: 1\niterations_per_loop: 10\nenable_data_pre_proc: true\n",
    "conf.toml": "version = 1\niterations_per_loop = 10\nenable_data_pre_proc = true\n",
    "conf.json": '{"version": 1, "iterations_per_loop": 10, "enable_data_pre_proc": true}\n',
}
MAKER = "from npu_bridge.npu_init import *\nmake = util.set_iteration_per_loop\n"


def rules_of(folder, imports="", file="conf.yaml", name="train.py", opened=AT_ONCE):
    """The rules that a script breaks which loads a configuration file beside it."""
    (folder / name).write_text(
        SCRIPT.format(imports=imports, file=file, opened=opened), encoding="utf-8"
    )
    path = folder / name
    return [found.rule for found in read(path.read_bytes(), str(path)).judge()]


@pytest.fixture
def folder(tmp_path):
    """A folder with the configurations; neighbours are looked for above it, too."""
    home = tmp_path / "project" / "scripts"
    home.mkdir(parents=True)
    for name, text in CONFIGURATIONS.items():
        (home / name).write_text(text, encoding="utf-8")
    return home


@pytest.mark.parametrize("file", CONFIGURATIONS)
def test_loaded_file(folder, file):
    """A configuration that is loaded counts as one that is built."""
    assert rules_of(folder, file=file) == ["NPU886"]


def test_one_iteration_is_no_loop(folder):
    """Nothing is missing where nothing is to be offloaded."""
    (folder / "conf.yaml").write_text("version: 1\niterations_per_loop: 1\n", encoding="utf-8")
    assert rules_of(folder) == []


def test_unrelated_neighbour(folder):
    """A file that is neither imported nor imports the script makes no loop for it."""
    (folder / "other.py").write_text(MAKER, encoding="utf-8")
    (folder / "below").mkdir()
    (folder / "below" / "more.py").write_text(MAKER, encoding="utf-8")
    assert rules_of(folder) == ["NPU886"]


def test_imported_neighbour(folder):
    """What the script imports may make it, also through another file."""
    (folder / "other.py").write_text("import loops\n", encoding="utf-8")
    (folder / "loops.py").write_text(MAKER, encoding="utf-8")
    assert rules_of(folder, imports="import other") == []


def test_importing_neighbour(folder):
    """What imports the script may make it."""
    (folder / "main.py").write_text("import train\n" + MAKER, encoding="utf-8")
    assert rules_of(folder, opened=BY_OTHERS) == []
    assert rules_of(folder) == ["NPU886"]


def test_importing_neighbour_of_a_program(folder):
    """A script with a main part is run itself; that somebody imports it does not matter."""
    (folder / "main.py").write_text("import train\n" + MAKER, encoding="utf-8")
    assert rules_of(folder, imports="MAIN = __name__ == '__main__'") == ["NPU886"]
