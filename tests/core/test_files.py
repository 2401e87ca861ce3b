"""Files are written whole or not at all, and never over what is there."""

import errno
import os

import pytest

from npu_config.core import files
from npu_config.core.files import write_atomic


def test_writes_text_and_bytes(tmp_path):
    """Text goes out as UTF-8 with its own line ends."""
    write_atomic(tmp_path / "a", "ä\r\n")
    write_atomic(tmp_path / "b", b"\0")
    assert (tmp_path / "a").read_bytes() == "ä\r\n".encode()
    assert (tmp_path / "b").read_bytes() == b"\0"


def test_refuses_to_overwrite(tmp_path):
    """An existing file, also a dangling link, is left alone unless asked."""
    path = tmp_path / "a"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        write_atomic(path, "yours")
    assert path.read_text() == "mine"
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        write_atomic(tmp_path / "link", "x")


def test_overwriting_keeps_the_mode_and_writes_through_links(tmp_path):
    """A replaced file keeps its permission bits; a link keeps pointing."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to(path)
    write_atomic(tmp_path / "link", "new", overwrite=True)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link").is_symlink()


def test_a_directory_is_refused(tmp_path):
    """A path that is a directory is named as one."""
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path, "x", overwrite=True)


@pytest.mark.parametrize("step", ["fsync", "link", "chmod"])
def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch, step):
    """When the disk is full or the process is interrupted, no part of the file stays."""

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(OSError, match="no space"):
        write_atomic(tmp_path / "a", "content")
    assert os.listdir(str(tmp_path)) == []


def test_an_interrupted_overwrite_leaves_the_old_content(tmp_path, monkeypatch):
    """The old file is whole until the new one is."""
    path = tmp_path / "a"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, "new", overwrite=True)
    assert path.read_text() == "old"
    assert os.listdir(str(tmp_path)) == ["a"]
