"""Running the command line inside the test."""

import io
import sys
from typing import NamedTuple

import pytest

pytest.importorskip("click")

from npu_config.__main__ import main


class Result(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def npu(capsys, monkeypatch):
    """Runs ``npu-config`` with arguments and, if given, standard input."""

    def run(*arguments, stdin=b""):
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    yield run
    if "npu_config.runner.finder" in sys.modules:  # the command lets it serve to the end
        sys.modules["npu_config.runner.finder"].uninstall_npu_bridge()


GOOD = """\
version: 1
target:
  product: atlas_a2
precision_mode: allow_mix_precision
hccl_timeout: 1800
"""


@pytest.fixture
def good(tmp_path):
    """A configuration without a finding."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path):
    """A configuration with an error that can be fixed and one that cannot."""
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\nhcl_timeout: 1800 # note\nop_select_implmode: sideways\n")
    return path
