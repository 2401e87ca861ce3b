"""Files are written whole or not at all, and never over what is there."""

import errno
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from npu_config.core.paths import reading, walk
from npu_config.text import files
from npu_config.text.files import make_directories, replace_content, write_atomic


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

    def fail(*_, **__):
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


LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """Files without a name, and the way of file systems that have none."""
    if request.param == "named":
        monkeypatch.setattr(files, "_OPEN_FILES", "/nowhere")
    elif not sys.platform.startswith("linux"):
        pytest.skip("needs Linux")


def test_both_ways_write_the_same(way, tmp_path):
    """New and replaced files: content, permission bits, nothing beside them; long names, too."""
    path = tmp_path / ("n" * 250)
    os.umask(os.umask(0o022))
    write_atomic(path, [b"a", memoryview(b"b")])
    assert path.read_bytes() == b"ab"
    assert path.stat().st_mode & 0o777 == 0o666 & ~files._umask()
    with pytest.raises(FileExistsError):
        write_atomic(path, b"c")
    path.chmod(0o604)
    write_atomic(path, b"c", overwrite=True, durable=False)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"c", 0o604)
    assert os.listdir(str(tmp_path)) == [path.name]


@pytest.mark.parametrize("step", ["fsync", "chmod", "link", "replace"])
def test_a_step_that_fails(way, tmp_path, monkeypatch, step):
    """Whatever fails: the old content stays, and nothing beside it."""
    path = tmp_path / "a"
    path.write_text("old")

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(files.os, step, fail)
    for target, overwrite in ((path, True), (tmp_path / "b", False)):
        try:
            write_atomic(target, "new", overwrite)
        except OSError as error:
            assert error.errno == errno.ENOSPC
        else:
            assert step in ("link", "replace")
            monkeypatch.undo()
            return
    assert (os.listdir(str(tmp_path)), path.read_text()) == (["a"], "old")


@LINUX
@pytest.mark.parametrize("overwrite", [False, True])
def test_pipes_and_devices(tmp_path, overwrite):
    """They are neither replaced nor written, and nobody waits for their other end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(str(pipe))
    for path in (pipe, "/dev/null", "/dev/full"):
        with pytest.raises(OSError, match="not a regular file" if overwrite else "exists"):
            write_atomic(path, "x", overwrite)
    assert [entry.name for entry in os.scandir(str(tmp_path)) if not entry.is_file()] == ["pipe"]


def test_hard_links(tmp_path):
    """A file with two names stays one file."""
    path = tmp_path / "a"
    path.write_text("old")
    os.link(str(path), str(tmp_path / "b"))
    with pytest.raises(OSError, match="several names"):
        write_atomic(path, "new", overwrite=True)
    assert (tmp_path / "b").read_text() == "old"


WRITE = """
import itertools, sys
from npu_config.text.files import write_atomic
def pieces():
    for number in itertools.count():
        yield b"x" * 4096
        if number == 5:
            print("writing", flush=True)
write_atomic(sys.argv[1], pieces() if len(sys.argv) < 3 else b"x" * int(sys.argv[2]), True)
"""


@LINUX
def test_killed_while_writing(tmp_path):
    """The old content stays, and nothing is left behind."""
    path = tmp_path / "a"
    path.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE, cwd=os.getcwd()
    )
    assert process.stdout.readline() == b"writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert (os.listdir(str(tmp_path)), path.read_text()) == (["a"], "old")


@LINUX
def test_killed_at_any_time(tmp_path):
    """The content is the old one or the new one, whole."""
    path, new = tmp_path / "a", "x" * 300_000
    for delay in range(8):
        path.write_text("old")
        process = subprocess.Popen([sys.executable, "-c", WRITE, str(path), str(len(new))])
        time.sleep(0.02 * delay)
        process.kill()
        process.wait()
        assert path.read_text() in ("old", new)


@LINUX
def test_a_disk_that_is_full(tmp_path):
    """A file system of 64 KiB: an error, the old content, and nothing beside it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        'mount -t tmpfs -o size=64k none "$1" || exit 77; echo old > "$1/a"; '
        '"$2" -c "$3" "$1/a" 200000 2>&1 | tail -1; ls -A "$1"; cat "$1/a"'
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", str(disk), sys.executable, WRITE]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if done.returncode:
        pytest.skip("file systems cannot be mounted here")
    lines = done.stdout.decode().splitlines()
    assert "No space left on device" in lines[0]
    assert lines[1:] == ["a", "old"]


@LINUX
def test_a_limit_of_file_size(tmp_path):
    """A limit of the shell, ``ulimit -f``, is an error like a full disk."""
    path = tmp_path / "a"
    path.write_text("old")
    script = 'ulimit -f 64; trap "" XFSZ; exec "$1" -c "$2" "$3" 200000'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, WRITE, str(path)], stderr=subprocess.PIPE
    )
    assert b"File too large" in done.stderr.splitlines()[-1]
    assert (os.listdir(str(tmp_path)), path.read_text()) == (["a"], "old")


@LINUX
def test_what_is_read(tmp_path):
    """Files, and pipes of this process; what may never answer or end is not opened."""
    pipe = tmp_path / "pipe"
    os.mkfifo(str(pipe))
    for path, kind in ((pipe, "a named pipe"), ("/dev/zero", "a device")):
        with pytest.raises(OSError, match="this is {}, not a file".format(kind)):
            reading(str(path), os.O_RDONLY)
    (tmp_path / "null").symlink_to(os.devnull)
    with open(str(tmp_path / "null"), "rb", opener=reading) as stream:
        assert stream.read() == b""
    given, taken = os.pipe()
    os.write(taken, b"x")
    os.close(taken)
    with open("/dev/fd/{}".format(given), "rb", opener=reading) as stream:
        assert stream.read() == b"x"
    os.close(given)


def test_bytes_of_names(tmp_path):
    """A text with a name that is not UTF-8 holds the bytes of the name."""
    write_atomic(tmp_path / "a", os.fsdecode(b"\xff"))
    assert (tmp_path / "a").read_bytes() == b"\xff"


def test_deep_directories(tmp_path):
    """Directories are made and walked at any depth, in the order of ``os.walk``."""
    deep = str(tmp_path / os.path.join(*["d"] * 1200))
    make_directories(deep)
    make_directories(deep)
    write_atomic(os.path.join(deep, "a"), "")
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "link").symlink_to(tmp_path)
    found = list(walk(str(tmp_path)))
    assert len(found) == 1202
    assert [names for _, _, names in found if names] == [["a"]]
    os.unlink(os.path.join(deep, "a"))
    os.removedirs(deep)
    for top in ("e", "nowhere"):
        assert list(os.walk(str(tmp_path / top))) == list(walk(str(tmp_path / top)))
    visited = []
    for directory, folders, _ in walk(str(tmp_path)):
        folders.clear()
        visited.append(directory)
    assert [str(tmp_path)] == visited


def lists(*entries):
    """An access list as the system stores it: (tag, permissions, number) of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
FOR_1234 = lists((1, 6, NOBODY), (2, 6, 1234), (4, 4, NOBODY), (16, 6, NOBODY), (32, 0, NOBODY))
"""Owner rw-, user 1234 rw-, group r--, mask rw-, others ---."""


@pytest.fixture
def attributes(tmp_path):
    """A file with attributes of its user and an access list."""
    path = tmp_path / "a"
    path.write_text("old")
    try:
        os.setxattr(str(path), "user.note", b"\0kept\xff")
        os.setxattr(str(path), "system.posix_acl_access", FOR_1234)
    except (AttributeError, OSError):
        pytest.skip("needs extended attributes and access lists")
    return path


@pytest.mark.parametrize("write", [
    lambda path: write_atomic(path, "new", overwrite=True),
    lambda path: replace_content(path, b"old", b"new"),
])  # fmt: skip
def test_attributes_stay(way, attributes, write):
    """Those that users give, and who may do what."""
    write(attributes)
    assert attributes.read_text() == "new"
    assert os.getxattr(str(attributes), "user.note") == b"\0kept\xff"
    assert os.getxattr(str(attributes), "system.posix_acl_access") == FOR_1234
    assert attributes.stat().st_mode & 0o777 == 0o660


def test_what_the_directory_gives_to_new_files(way, attributes):
    """A file without an access list does not get one by being replaced."""
    os.removexattr(str(attributes), "system.posix_acl_access")
    attributes.chmod(0o600)
    os.setxattr(str(attributes.parent), "system.posix_acl_default", FOR_1234)
    write_atomic(attributes, "new", overwrite=True)
    assert os.listxattr(str(attributes)) == ["user.note"]
    assert attributes.stat().st_mode & 0o777 == 0o600


def test_attributes_that_cannot_be_kept(way, attributes, monkeypatch):
    """The file stays as it is."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "setxattr", full)
    with pytest.raises(OSError, match=r"attribute .* cannot be kept"):
        write_atomic(attributes, "new", overwrite=True)
    assert (attributes.read_text(), os.listdir(str(attributes.parent))) == ("old", ["a"])
