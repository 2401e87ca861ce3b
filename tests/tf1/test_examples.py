"""The training scripts of ``examples/training`` run, learn, and draw no warning of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "training"
SCRIPTS = ["session_run.py", "supervisor.py", "estimator.py", "npu_estimator.py"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_training_scripts(script, tmp_path):
    """The script recognises nine flowers of ten after a hundred steps."""
    import npu_config

    package = str(Path(npu_config.__file__).resolve().parent.parent)
    paths = [package, os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TMPDIR": str(tmp_path),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), "--steps", "100"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ConfigurationWarning" not in done.stderr
    word, accuracy = done.stdout.split()[-2:]
    assert word == "accuracy"
    assert float(accuracy) > 0.9


def test_the_data():
    """The file holds 150 flowers of three species, fifty of each."""
    lines = (FOLDER / "data" / "iris.csv").read_text(encoding="utf-8").split()
    species = [line.rpartition(",")[2] for line in lines[1:]]
    assert len(species) == 150
    assert {one: species.count(one) for one in set(species)} == {"0": 50, "1": 50, "2": 50}
