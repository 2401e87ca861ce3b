"""Rank tables and launchers on disk: nothing is overwritten, and nothing half written."""

import errno
import os
from pathlib import Path

import pytest

from npu_config import rank_table
from npu_config.launch.engines import launchers, save_launchers
from npu_config.launch.environment.job import table_job
from npu_config.rank_table.building import build

TABLE = build(["node_0", "node_1"], 2, "10.20.0.2")


def test_save_and_load(tmp_path):
    """What is saved is what is loaded."""
    path = tmp_path / "rank_table.json"
    rank_table.save(TABLE, path)
    loaded = rank_table.load(path)
    assert (loaded.model, list(loaded.diagnostics)) == (TABLE, [])


def test_no_overwriting(tmp_path):
    """A file that exists stays as it is, unless overwriting is asked for."""
    path = tmp_path / "rank_table.json"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        rank_table.save(TABLE, path)
    assert path.read_text() == "mine"
    rank_table.save(TABLE, path, overwrite=True)
    assert rank_table.render(TABLE) == path.read_text()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("step", ["fsync", "replace", "link", "chmod"])
def test_interrupted_save(tmp_path, monkeypatch, overwrite, step):
    """A save that is interrupted, or a full disk, leaves the old file or none."""
    path = tmp_path / "rank_table.json"
    if overwrite:
        path.write_text("mine")

    def fail(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    if (step, overwrite) in (("replace", False), ("link", True)):
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        rank_table.save(TABLE, path, overwrite=overwrite)
    monkeypatch.undo()
    assert (["rank_table.json"] if overwrite else []) == os.listdir(str(tmp_path))
    if overwrite:
        assert path.read_text() == "mine"


def test_directories(tmp_path):
    """A directory in the place of the file, or none around it, is an error."""
    with pytest.raises(IsADirectoryError):
        rank_table.save(TABLE, tmp_path, overwrite=True)
    with pytest.raises(FileNotFoundError):
        rank_table.save(TABLE, tmp_path / "none" / "rank_table.json")
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_read_only_directory(tmp_path):
    """A directory that is read-only is an error, and stays empty."""
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        rank_table.save(TABLE, tmp_path / "rank_table.json")
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"[", "{} // ä".encode()])
def test_unreadable_files(tmp_path, content):
    """A file that is no rank table has findings and no model."""
    path = tmp_path / "rank_table.json"
    path.write_bytes(content)
    loaded = rank_table.load(path)
    assert loaded.model is None
    assert not loaded.diagnostics.ok
    assert {str(path)} == {diagnostic.path for diagnostic in loaded.diagnostics}


def test_missing_file(tmp_path):
    """A file that is not there is a finding."""
    (missing,) = rank_table.load(tmp_path / "none").diagnostics
    (directory,) = rank_table.load(tmp_path).diagnostics
    assert {"NPU715"} == {missing.rule, directory.rule}


def test_launchers_are_written_together(tmp_path):
    """When one of several scripts exists, none is written."""
    scripts = launchers(table_job(TABLE, "/data/rank_table.json", "job"))
    assert list(scripts) == ["launch_0_node_0.sh", "launch_1_node_1.sh"]
    (tmp_path / "launch_1_node_1.sh").write_text("mine")
    with pytest.raises(FileExistsError):
        save_launchers(scripts, tmp_path)
    assert os.listdir(str(tmp_path)) == ["launch_1_node_1.sh"]
    made = save_launchers(scripts, tmp_path / "new" / "directory")
    assert all(os.path.isfile(path) for path in made)
    paths = save_launchers(scripts, tmp_path, overwrite=True)
    assert all(os.access(path, os.X_OK) for path in paths)
    assert list(scripts.values()) == [Path(path).read_text() for path in paths]
