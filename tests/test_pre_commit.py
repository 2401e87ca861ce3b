"""The hook file for pre-commit: what it runs exists and takes files."""

from pathlib import Path

import pytest
import yaml

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"


def test_the_hook_runs_a_command_of_ours():
    """The entry is a command line that the program accepts, and it passes right files."""
    testing = pytest.importorskip("click.testing")
    from npu_config.cli.app import app

    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= set(hook)
    program, *arguments = hook["entry"].split()
    assert program == "npu-config"
    example = HOOKS.parent / "examples" / "quickstart"
    right = testing.CliRunner().invoke(app, [*arguments, str(example / "config.yaml")])
    wrong = testing.CliRunner().invoke(app, [*arguments, str(example / "broken.yaml")])
    assert (right.exit_code, wrong.exit_code) == (0, 1)


def test_the_hook_needs_what_the_command_line_needs():
    """The hook installs the requirements of the extra."""
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    setup = (HOOKS.parent / "setup.py").read_text(encoding="utf-8")
    assert all('"{}"'.format(need) in setup for need in hook["additional_dependencies"])
