"""A directory that this user cannot list is no empty one: every walk says that it did not look."""

import errno
import os

import pytest

CALLS = (
    ("check",),
    ("migrate",),
    ("compat",),
    ("log",),
    ("op-summary",),
    ("loss-scale",),
    ("dump", "list"),
)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_a_closed_directory(npu, tmp_path, monkeypatch, words):
    """It is named with a reason, and the exit code is 1, whatever lies beside it."""
    scandir, closed = os.scandir, tmp_path / "closed"
    closed.mkdir()
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "train.log").write_text("step 1\nLoss for final step: 0.1\n")

    def listed(path="."):
        if os.path.abspath(os.fspath(path)) == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listed)
    found = npu(*words, tmp_path)
    assert found.code == 1
    assert str(closed) in found.out + found.err
