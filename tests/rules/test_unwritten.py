"""A side file that came with a builder and that nobody has written is said where it is used."""

import os
import warnings

import pytest

import npu_config as npu
from npu_config.core import findings
from npu_config.core.calls import placed
from npu_config.rules.unwritten import SideFileWarning
from npu_config.script import judge_script


def config(path="ops_info.json"):
    """A configuration that carries the content of a file."""
    builder = npu.NpuConfigBuilder()
    return builder.mixed_precision(black_list=["ReduceSumD"], mixlist_path=path).build()


def warned(call):
    """The warnings about side files of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [each for each in caught if each.category is SideFileWarning]


def test_a_configuration_that_is_used(tmp_path, monkeypatch):
    """It is warned at the user's line, until the file is there."""
    monkeypatch.chdir(tmp_path)
    made = config()
    (warning,) = warned(made.to_config_proto)
    assert os.path.samefile(warning.filename, __file__)
    assert 'names the file "ops_info.json", which does not exist' in str(warning.message)
    assert "save_side_files" in str(warning.message)
    written = made.save_side_files("conf")
    assert warned(written.to_config_proto) == []
    assert warned(written.evolve(hccl_timeout=1800).to_config_proto) == []
    assert len(warned(made.to_config_proto)) == 1  # it names another file
    (tmp_path / "ops_info.json").write_text("{}")
    assert warned(made.to_config_proto) == []


def test_every_door(tmp_path, monkeypatch):
    """Check of a configuration says it, and a run hears it whatever the filters are."""
    monkeypatch.chdir(tmp_path)
    made = config()
    assert [found.rule for found in npu.check(made).warnings] == ["NPU8011"]
    assert list(npu.check(made.save_side_files("."))) == []
    heard = []
    monkeypatch.setattr(findings, "listeners", [lambda each: heard.append(placed(each))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config("other.json").to_config_proto()
    assert [(each.rule, each.path) for each in heard] == [("NPU8011", __file__)]


def test_no_other_configuration(tmp_path, monkeypatch):
    """Nothing is said of a file of the user's own, nor of an option that was taken away."""
    monkeypatch.chdir(tmp_path)
    own = npu.NpuConfigBuilder().mixed_precision(mixlist_path="mine.json").build()
    assert warned(own.to_config_proto) == []
    assert warned(config().evolve(modify_mixlist=None).to_config_proto) == []
    assert warned(config().evolve(modify_mixlist="mine.json").to_config_proto) == []


HEAD = """\
import tensorflow as tf
import npu_config as npu
{before}
config = npu.NpuConfigBuilder().mixed_precision(black_list=["ReduceSumD"]){chain}
{after}
sess = tf.Session(config=config.to_config_proto())
"""


@pytest.mark.parametrize(
    ("before", "chain", "after", "found"),
    [
        ("", ".build()", "", 1),
        ("", ".build()", "config = config.evolve(hccl_timeout=1800)", 1),
        ("", ".fusion_off().build()", "", 2),
        ("", ".build(strict=True)", "print(config)", 1),
        ("", ".build()", "config = config.evolve(modify_mixlist=None)", 0),
        ("", ".set(modify_mixlist='mine.json').build()", "", 0),
        ("", ".unset('modify_mixlist').build()", "", 0),
        ("", ".build().save_side_files('conf')", "", 0),
        ("import sys", ".build().save_side_files(sys.argv[1])", "", 0),
        ("", ".build()", "config = config.save_side_files('conf')", 0),
        ("", ".build()", "config.save_side_files('.')", 0),
        ("", ".build()", "config.evolve(hccl_timeout=1800).save_side_files('.')", 0),
        ("import os", ".build()", "if os.environ['RANK'] == '0': config.save_side_files('.')", 0),
        ("", ".build()", "for file in config.side_files.values(): print(file.text)", 0),
        ("from mine import write", ".build()", "write(config)", 0),
        ("from mine import extend", ".build()", "config = extend(config)", 0),
    ],
)
def test_scripts(before, chain, after, found):
    """A script is told when nothing in it can have written the file."""
    script = HEAD.format(before=before, chain=chain, after=after)
    rules = [each.rule for each in judge_script(script, "train.py")]
    assert rules.count("NPU8011") == found


def test_a_script_that_makes_a_configuration_and_uses_none():
    """What is not used names no file to anybody."""
    script = HEAD.format(before="", chain=".build()", after="").rpartition("sess")[0]
    assert "NPU8011" not in [each.rule for each in judge_script(script, "train.py")]


def test_the_file_beside_the_script(tmp_path):
    """A file that lies beside the script was written before."""
    script = HEAD.format(before="", chain=".build()", after="")
    path = tmp_path / "train.py"
    path.write_text(script)
    assert [found.rule for found in npu.check(path).warnings] == ["NPU8011"]
    (tmp_path / "ops_info.json").write_text("{}")
    assert "NPU8011" not in [found.rule for found in npu.check(path)]
