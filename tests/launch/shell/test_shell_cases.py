"""Golden launch scripts: ``cases/err/*`` beside what is found in them, and ``cases/ok/``."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import npu_config
from npu_config.core.diagnostics import Report
from npu_config.launch.shell.check import check_script
from tests import golden

FOLDER = Path(__file__).parent / "cases"


@pytest.fixture
def found_in(monkeypatch):
    """Gives the findings about a script that a user in its folder sees; ``started/`` is near."""

    def found_in(path):
        monkeypatch.chdir(path.parent)
        return Report(
            replace(each, message=each.message.replace(os.getcwd(), "."), fix=None)
            for each in npu_config.check(path.name, golden.target_of(path))
        )

    return found_in


@golden.wrong(FOLDER)
def test_wrong_case(path, found_in):
    """A wrong script yields exactly what its ``.out`` file says, its own rule among it."""
    golden.check(path, found_in(path))


@golden.right(FOLDER)
def test_right_case(path, found_in):
    """A script of which nothing is certainly wrong draws neither error nor warning."""
    report = found_in(path)
    assert report.errors + report.warnings == []


@pytest.mark.parametrize(
    ("value", "rules"),
    [("3", ["NPU679"]), ("$ASCEND_DEVICE_ID", []), ("${ASCEND_DEVICE_ID:-0}", [])],
)
def test_old_name_that_takes_its_value_from_the_new_one(value, rules):
    """Who writes ``DEVICE_ID=$ASCEND_DEVICE_ID`` gets the new name from outside: no note."""
    found, _ = check_script("export DEVICE_ID={}\npython train.py\n".format(value), None)
    assert rules == [each.rule for each in found]
