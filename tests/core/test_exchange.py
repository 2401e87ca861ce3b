"""Whoever writes to a file that is being replaced keeps what they wrote."""

import errno
import os
import sys
import threading

import pytest

from npu_config.text import files
from npu_config.text.files import ChangedError, replace_content, write_atomic

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


@pytest.fixture(params=["", "exchange", "leases", "exchange leases"])
def without(request, monkeypatch):
    """Systems that have everything, and those that lack an exchange of names, leases, or both."""
    if "exchange" in request.param:
        monkeypatch.setattr(files, "_CALLS", {})
    if "leases" in request.param:
        monkeypatch.setattr(files, "_lease", lambda stream: False)
    return request.param


@pytest.fixture
def path(tmp_path):
    """A file."""
    path = tmp_path / "a"
    path.write_text("old")
    return path


def replace(path):
    """As a command rewrites it; returns why not, or None."""
    try:
        replace_content(path, b"old", b"new")
    except ChangedError as error:
        return error.strerror
    return None


def texts_beside(path):
    """Name to content of all that is in the folder."""
    return {each.name: each.read_text() for each in path.parent.iterdir()}


@pytest.fixture
def meanwhile(monkeypatch):
    """Gives what is done at a step of the replacing, just before or behind it."""
    steps = []
    real = {"_exchange": files._exchange, "_refuse_changed": files._refuse_changed}

    def step(name):
        def run(*arguments, **named):
            before, behind = steps.pop(0) if steps else (None, None)
            if before is not None:
                before()
            result = real[name](*arguments, **named)
            if behind is not None:
                behind()
            return result

        return run

    for name in real:
        monkeypatch.setattr(files, name, step(name))

    def plan(*wanted):
        steps.extend(wanted)

    return plan


def edits(path):
    """What editors do: a rename, and writing in place."""

    def renamed(text):
        path.with_name("draft").write_text(text)
        os.replace(str(path.with_name("draft")), str(path))

    return {"rename": renamed, "write": path.write_text}


def test_a_file_that_nobody_touches(without, path):
    """It is replaced, and nothing is left beside it."""
    assert replace(path) is None
    assert texts_beside(path) == {"a": "new"}


def test_another_content(without, path):
    """It is refused."""
    path.write_text("theirs")
    assert "changed while" in replace(path)
    assert texts_beside(path) == {"a": "theirs"}


@pytest.mark.parametrize("way", ["rename", "write"])
@pytest.mark.parametrize("moment", range(2))
def test_an_edit_between_looking_and_replacing(without, path, meanwhile, way, moment):
    """The edit is found behind the exchange, and the names are exchanged back."""

    def edit():
        edits(path)[way]("theirs")

    meanwhile(*[((None, edit), (None, None)), ((None, None), (edit, None))][moment])
    assert "changed while" in replace(path)
    assert texts_beside(path) == {"a": "theirs"}


def test_an_edit_behind_the_exchange(without, path, meanwhile):
    """It is one of the new file, and stays in it."""
    meanwhile((None, None), (None, None), (None, lambda: edits(path)["rename"]("theirs")))
    assert replace(path) is None
    assert texts_beside(path) == {"a": "theirs"}


@LINUX
@pytest.mark.parametrize("mode", ["w", "a", "r+"])
def test_a_writer_that_has_the_file_open(path, mode):
    """It is refused at once: what the writer is about to write would be lost."""
    with open(str(path), mode) as stream:
        reason = replace(path)
        stream.write("theirs")
    assert "open for writing" in reason or mode == "w"
    assert reason is not None
    assert texts_beside(path) == {"a": {"w": "theirs", "a": "oldtheirs", "r+": "theirs"}[mode]}


def test_an_open_writer_without_leases(path, meanwhile, monkeypatch):
    """What it writes a moment later is seen where the file system has no leases."""
    monkeypatch.setattr(files, "_lease", lambda stream: False)
    monkeypatch.setattr(files, "_LATE_WITHOUT_LEASE", 0.3)
    with open(str(path), "a") as stream:

        def write():
            stream.write(" theirs")
            stream.flush()

        writer = threading.Timer(0.1, write)
        meanwhile((None, None), (None, writer.start))
        assert "changed while" in replace(path)
        writer.join()
    assert texts_beside(path) == {"a": "old theirs"}


@LINUX
@pytest.mark.parametrize("lacks", ["", "exchange"])
def test_a_writer_that_opens_the_file_meanwhile(path, meanwhile, monkeypatch, lacks):
    """It is held up until it is certain that it gets the file which keeps the name."""
    if lacks:
        monkeypatch.setattr(files, "_CALLS", {})
    monkeypatch.setattr(files, "_LATE", 0.3)
    found = os.open(str(path), os.O_PATH)  # has looked the name up

    def write():
        with open("/proc/self/fd/{}".format(found), "a") as stream:
            stream.write(" theirs")

    writer = threading.Timer(0.1, write)
    meanwhile((None, None), (None, writer.start))
    assert "changed while" in replace(path)
    writer.join()
    os.close(found)
    assert texts_beside(path) == {"a": "old theirs"}


def test_two_edits(without, path, meanwhile):
    """One before and one behind the exchange: the first one stays, the other is kept beside it."""
    meanwhile(
        (None, lambda: edits(path)["rename"]("first")),
        (None, None),
        (lambda: path.write_text("second"), None),
    )
    reason = replace(path)
    found = texts_beside(path)
    assert found.pop("a") == "first"
    ((name, content),) = found.items()
    assert (content, name in reason) == ("second", True)


def test_an_edit_and_a_removal(without, path, meanwhile):
    """The edit is kept beside the file that is gone."""
    meanwhile((None, lambda: edits(path)["rename"]("theirs")), (None, None), (path.unlink, None))
    reason = replace(path)
    ((name, content),) = texts_beside(path).items()
    assert (content, name in reason) == ("theirs", True)


def test_a_removal(without, path, meanwhile):
    """A file that is gone is not made again."""
    meanwhile((None, path.unlink))
    with pytest.raises(FileNotFoundError):
        replace(path)
    assert texts_beside(path) == {}


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_directory_that_may_not_be_written(path, monkeypatch, number):
    """The error of the system."""

    def refused(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "_exchange_at_once", refused)
    with pytest.raises(OSError, match=os.strerror(number)):
        replace(path)
    assert texts_beside(path) == {"a": "old"}


def test_an_interruption_behind_the_exchange(without, path, meanwhile):
    """The old content has its name again."""

    def interrupt():
        raise KeyboardInterrupt

    meanwhile((None, None), (None, None), (interrupt, None))
    with pytest.raises(KeyboardInterrupt):
        replace(path)
    assert texts_beside(path) == {"a": "old"}


def test_names_of_any_bytes(without, tmp_path):
    """A name that is not UTF-8 is exchanged as it is."""
    path = os.path.join(str(tmp_path), os.fsdecode(b"\xff"))
    write_atomic(path, "old")
    replace_content(path, b"old", b"new")
    with open(path, "rb") as stream:
        assert stream.read() == b"new"
    assert os.listdir(str(tmp_path)) == [os.path.basename(path)]


def test_links_and_what_is_no_file(without, path):
    """A link stays one; hard links and pipes are not replaced."""
    (path.parent / "link").symlink_to("a")
    replace_content(path.parent / "link", b"old", b"new")
    assert ((path.parent / "link").is_symlink(), path.read_text()) == (True, "new")
    os.link(str(path), str(path.parent / "b"))
    with pytest.raises(OSError, match="several names"):
        replace_content(path, b"new", b"newer")
    os.mkfifo(str(path.parent / "pipe"))
    with pytest.raises(OSError, match="not a regular file"):
        replace_content(path.parent / "pipe", b"", b"x")
