"""Saving: all of a file or nothing, and never over one that exists."""

import errno
import os

import pytest

import npu_config.sidefiles as sidefiles
from npu_config.sidefiles import FORMATS, mixlist
from tests.sidefiles.sidefile_strategies import examples

formats = pytest.mark.parametrize("name", sorted(FORMATS))
MODEL = mixlist.Mixlist.of(black_list=["ReduceSum"])


@formats
def test_saved_is_loaded(name, tmp_path):
    """What is saved is loaded, with non-ASCII directories and str or path objects."""
    module, model = getattr(sidefiles, name), examples(name)[0]
    place = tmp_path / "配置 dir"
    place.mkdir()
    module.save(model, place / "file")
    module.save(model, str(place / "file2"))
    assert model == module.load(place / "file").model
    assert model == module.load(str(place / "file2")).model
    assert module.render(model).encode("utf-8") == (place / "file").read_bytes()


@formats
def test_existing_files_are_refused(name, tmp_path):
    """A file that exists stays as it is unless overwriting is asked for."""
    module, model = getattr(sidefiles, name), examples(name)[0]
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        module.save(model, path)
    assert path.read_text() == "mine"
    path.chmod(0o640)
    module.save(model, path, overwrite=True)
    assert model == module.load(path).model
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_dangling_links_are_refused(tmp_path):
    """A link to nothing is something that exists."""
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(FileExistsError):
        mixlist.save(MODEL, tmp_path / "link")
    assert os.listdir(tmp_path) == ["link"]


def test_directories_are_refused(tmp_path):
    """A directory is not a place for a file, with and without overwriting."""
    for overwrite in (False, True):
        with pytest.raises(IsADirectoryError):
            mixlist.save(MODEL, tmp_path, overwrite)
    assert os.listdir(tmp_path) == []


def test_missing_directories_are_not_made(tmp_path):
    """A path in a directory that is not there is an error."""
    with pytest.raises(FileNotFoundError):
        mixlist.save(MODEL, tmp_path / "no" / "file")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("step", ["fsync", "chmod", "replace", "link", "fdopen"])
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")]
)
def test_interrupted_saves_leave_nothing(tmp_path, monkeypatch, step, overwrite, error):
    """Whatever step is interrupted, the old file is whole and no other file is left."""
    path = tmp_path / "file"
    if overwrite:
        path.write_text("mine")
    elif step == "replace":
        pytest.skip("a new file is linked, not replaced")
    if overwrite and step == "link":
        pytest.skip("an old file is replaced, not linked")

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(os, step, broken)
    with pytest.raises(type(error)):
        mixlist.save(MODEL, path, overwrite)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == (["file"] if overwrite else [])
    if overwrite:
        assert path.read_text() == "mine"


def test_full_disk_while_writing(tmp_path, monkeypatch):
    """A disk that fills up in the middle of the text leaves nothing behind."""
    real = os.fdopen

    def opened(*arguments, **named):
        stream = real(*arguments, **named)

        class Full:
            def close(self):
                stream.close()

            def write(self, data):
                stream.write(data[:5])
                raise OSError(errno.ENOSPC, "No space left on device")

        return Full()

    monkeypatch.setattr(os, "fdopen", opened)
    with pytest.raises(OSError, match="No space left"):
        mixlist.save(MODEL, tmp_path / "file")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []


def test_read_only_directory(tmp_path, monkeypatch):
    """A directory that may not be written to is an error; nothing changes in it."""
    place = tmp_path / "ro"
    place.mkdir()
    place.chmod(0o555)
    if os.access(place, os.W_OK):  # root writes anywhere

        def refused(*_, **__):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError):
        mixlist.save(MODEL, place / "file")
    assert os.listdir(place) == []


@formats
def test_unreadable_files_are_findings(name, tmp_path):
    """A missing file, a directory and text in another encoding are diagnostics of load."""
    module = getattr(sidefiles, name)
    (tmp_path / "latin").write_bytes(b"[ByOpType]\n\xe9=1\n")
    cases = {
        str(tmp_path / "missing"): (None, "the file does not exist"),
        str(tmp_path): (None, "this is a directory"),
        "nul\x00": (None, "it contains a NUL character"),
    }
    if not module.FORMAT.any_bytes:
        cases[str(tmp_path / "latin")] = (2, "contains the byte 0xe9")
    for path, (line, words) in cases.items():
        parsed = module.load(path)
        assert parsed.model is None
        (found,) = parsed.diagnostics
        assert found.rule == "NPU715"
        assert (path.replace("\0", "\\0"), line) == (found.path, found.line)
        assert words in found.message
