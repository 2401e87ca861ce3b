"""The training scripts of ``examples/training`` run, learn, and draw no warning of ours."""

import os
from pathlib import Path

import pytest

from tests.runner import copies

pytestmark = pytest.mark.tensorflow

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "training"
SCRIPTS = ["session_run.py", "supervisor.py", "estimator.py", "npu_estimator.py"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_training_scripts(script, tmp_path):
    """The script recognises nine flowers of ten after a hundred steps."""
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    done = copies.python([str(FOLDER / script), "--steps", "100"], tmp_path, environ)
    assert done.returncode == 0, done.stderr.decode()
    assert b"ConfigurationWarning" not in done.stderr
    word, accuracy = done.stdout.split()[-2:]
    assert word == b"accuracy"
    assert float(accuracy) > 0.9


def test_the_data():
    """The file holds 150 flowers of three species, fifty of each."""
    lines = (FOLDER / "data" / "iris.csv").read_text(encoding="utf-8").split()
    species = [line.rpartition(",")[2] for line in lines[1:]]
    assert len(species) == 150
    assert {one: species.count(one) for one in set(species)} == {"0": 50, "1": 50, "2": 50}
