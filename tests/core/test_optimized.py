"""Python without docstrings (-OO, PYTHONOPTIMIZE=2)."""

import os
import subprocess
import sys


def test_without_docstrings(tmp_path):
    """The package checks files and knows every rule and option when docstrings are left out."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\nenable_dump: true\n", encoding="utf-8")
    code = (
        "import npu_config, npu_config.presets\n"
        "assert all(rule.summary and rule.page for rule in npu_config.RULES)\n"
        "print(*(each.rule for each in npu_config.check(r'{}')))\n"
        "print(len(npu_config.RULES), len(npu_config.OPTIONS))"
    ).format(path)

    def printed(optimize):
        environment = dict(os.environ, PYTHONOPTIMIZE=optimize, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.check_output([sys.executable, "-c", code], env=environment)

    without = printed("2")
    assert b"NPU302" in without
    assert printed("") == without
