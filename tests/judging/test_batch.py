"""Many scripts at once."""

import os

import pytest

from npu_config import script
from npu_config.core.target import Target
from npu_config.judging import Around, batch
from npu_config.judging.batch import judge_scripts
from npu_config.script.vocabulary import NEEDLES, may_matter

WRONG = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
op.parameter_map["hcom_paralel"].b = True
sess = tf.Session(config=config)
"""


@pytest.fixture
def scripts(tmp_path):
    """Forty scripts, every fourth of them with a fault; some that cannot be read."""
    paths = []
    for number in range(40):
        path = tmp_path / "s{:02}.py".format(number)
        path.write_text(WRONG if number % 4 == 0 else "print('nothing of the NPU')\n")
        paths.append(str(path))
    (tmp_path / "old.py").write_text("NPURunConfig()\nprint 'x'\n")
    (tmp_path / "odd.py").write_bytes(b"NPURunConfig()  # \xff\n")
    return [*paths, str(tmp_path / "old.py"), str(tmp_path / "odd.py")]


def summary(results):
    """Name and rules of each result."""
    return [
        (os.path.basename(result.path), [found.rule for found in result.found])
        for result in results
    ]


def test_in_order(scripts):
    """In order; what names nothing of the NPU gives nothing."""
    found = summary(judge_scripts(scripts, processes=1))
    assert found == [
        *(("s{:02}.py".format(number), ["NPU101", "NPU804"]) for number in range(0, 40, 4)),
        ("old.py", ["NPU830"]),
        ("odd.py", ["NPU831", "NPU837"]),
    ]


def test_two_processes(scripts, monkeypatch):
    """Two processes find the same in the same order."""
    expected = list(judge_scripts(scripts, processes=1))
    monkeypatch.setattr(batch, "_WORTH_SHARING", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert list(judge_scripts(scripts, processes=2)) == expected


def test_what_is_worth_sharing(scripts, monkeypatch):
    """Processes share scripts where enough of them are judged; those that are named all are."""
    shared = []

    def alone(function, works, processes, apart):
        shared.append((processes, len(works)))
        return map(function, works)

    monkeypatch.setattr(batch, "_WORTH_SHARING", 20)
    monkeypatch.setattr(batch, "in_processes", alone)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    few = summary(judge_scripts(scripts))
    assert shared == []
    all_named = summary(judge_scripts(scripts, named=frozenset(scripts)))
    assert shared == [(2, 14)]
    assert len(few) < len(all_named) == len(scripts)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert summary(judge_scripts(scripts)) == few
    assert len(shared) == 1


def test_text_and_encoding(scripts):
    """The text comes along where there are findings, so that they can be shown and fixed."""
    first, *_, old, odd = judge_scripts(scripts, processes=1)
    assert (first.text, first.encoding, first.unchecked) == (WRONG, "utf-8", None)
    assert old.unchecked == "Python 2"
    assert old.text.startswith("NPURunConfig")
    assert (odd.text, odd.unchecked) == ("NPURunConfig()  # \ufffd\n", None)


def test_progress(scripts):
    """Each file is counted once."""
    counts = []
    list(judge_scripts(scripts, processes=1, progress=counts.append))
    assert sum(counts) == len(scripts)


def test_files_that_vanish(tmp_path, scripts):
    """A file that is gone, a directory and a loop of links are findings; the rest is checked."""
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    odd = [str(tmp_path / "gone.py"), str(tmp_path), str(tmp_path / "loop.py"), "nul\0.py"]
    found = summary(judge_scripts([*odd, scripts[0]], processes=1))
    assert [rules for _, rules in found] == [["NPU701"]] * 4 + [["NPU101", "NPU804"]]


def test_a_process_that_ends(scripts, monkeypatch):
    """A script that ends the process that reads it is told, and no other is lost."""
    monkeypatch.setattr(batch, "_WORTH_SHARING", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(batch, "read", _end_at_s08)
    found = summary(judge_scripts(scripts, processes=2))
    assert ("s08.py", ["NPU830"]) in found
    assert len(found) == 12
    assert ("s36.py", ["NPU101", "NPU804"]) in found


def _end_at_s08(data, path, read=batch.read):
    if path.endswith("s08.py"):
        os._exit(7)
    return read(data, path)


def test_no_processes(scripts, monkeypatch):
    """Where no process can be started, this one does the work."""

    def refuse(*_):
        raise OSError("no")

    monkeypatch.setattr(batch, "_WORTH_SHARING", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr("concurrent.futures.process.ProcessPoolExecutor", refuse)
    assert len(list(judge_scripts(scripts, processes=2))) == 12


def test_target(tmp_path):
    """The target is handed on."""
    path = tmp_path / "x.py"
    path.write_text(WRONG.replace('"hcom_paralel"].b = True', '"aicore_num"].s = b"24|24"'))
    (found,) = judge_scripts([str(path)], Around(Target("atlas_training")))
    assert "NPU107" in {finding.rule for finding in found.found}


@pytest.mark.parametrize("needle", NEEDLES)
def test_needles(needle):
    """A file that names something of the NPU is looked at."""
    assert may_matter(b"from npu_bridge.npu_init import *\nx = " + needle + b"\n")
    assert not may_matter(b"import tensorflow\nx = 1\n")


def test_a_fault_of_ours_is_told(tmp_path, monkeypatch):
    """A script on which npu_config itself fails is reported, and the others are checked."""
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    for path in (good, bad):
        path.write_text(WRONG)

    def failing(data, path):
        if path == str(bad):
            raise KeyError("x")
        return script.read(data, path)

    monkeypatch.setattr(batch, "read", failing)
    first, second = judge_scripts([str(bad), str(good)])
    assert first.unchecked == "npu_config failed while checking the file"
    assert "KeyError" in first.found[0].message
    assert "NPU101" in [found.rule for found in second.found]


def test_a_script_without_options_counts(tmp_path):
    """A script of the adapter in which nothing is wrong is checked, and no other one."""
    ours, other = tmp_path / "ours.py", tmp_path / "other.py"
    ours.write_text("from npu_bridge.npu_init import *\nmanager = FixedLossScaleManager(1024)\n")
    other.write_text("import numpy\n")
    (found,) = judge_scripts([str(ours), str(other)])
    assert (str(ours), (), None) == (found.path, tuple(found.found), found.unchecked)
