"""Every command given every odd input: an answer, at once, and nothing else is touched."""

import builtins
import contextlib
import errno
import gzip
import operator
import os
import re
import shlex
import shutil
import signal
import socket

import pytest

from npu_config.readers import KINDS
from tests import golden
from tests.cli.test_exits import RIGHT, folder

__all__ = ["folder"]

CALLS = {
    **{name: call for name, call in RIGHT.items() if "IN." in call},
    **{"check --as " + kind: "check IN.{0} --as {0}".format(kind) for kind in KINDS},
    "check --baseline": "check good.yaml --baseline IN.baseline",
    "check --fix": "check IN.yaml --fix",
    "diagnose --config": "diagnose IN.pbtxt --config IN.yaml",
    "diff --as": "diff good.yaml IN.pb --as pb",
    "env": RIGHT["env"] + " -o made",
    "env --check": "env --check IN.env --rank-table IN.table.json",
    "generate from a script": "generate IN.py --to yaml",
    "generate from bytes": "generate IN.pb --to yaml",
    "mixlist --library": "mixlist build --black ReduceSum --library IN.ops-info.json",
    "op-summary --graph": "op-summary IN.csv --graph IN.pbtxt",
    "overflow --graph": "dump overflow IN.dumps --graph IN.graph",
    "ranktable --hccn-conf": "ranktable check IN.table.json --hccn-conf a=IN.hccn",
}
"""A call of each command, and of each option that names a file; any ``IN.*`` is made odd."""

DEEP = 10_000
_ANCHORS = "".join(
    "a{}: &a{} [{}]\n".format(n, n, ", ".join(["*a{}".format(n - 1)] * 9)) for n in range(1, 30)
)
CONTENTS = {
    "empty": b"",
    "only a byte order mark": b"\xef\xbb\xbf",
    "blank lines": b"\n" * 20_000,
    "UTF-16": "version: 1\nhccl_timeout: 1800\n".encode("utf-16"),
    "latin-1": "version: 1\n# größer\n".encode("latin-1"),
    "NUL bytes": b"version: 1\n\0\0\0\n",
    "control characters": b"version: 1\n\x1b[31mname\x07: \xc2\x9b1\r\n::error::b: 1\n",
    "one long line": b"a" * (1 << 16 | 1),
    "one long line of digits": b"1" * (1 << 16 | 1),
    "JSON, deep lists": b"[" * DEEP + b"]" * DEEP,
    "JSON, deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "JSON, nothing closed": b'{"a": [' * DEEP,
    "JSON, a key twice": b'{"version": 1, "version": 1, "a": {"b": 1, "b": 2}}',
    "JSON, null": b"null",
    "YAML, deep blocks": b"".join(b" " * n + b"a:\n" for n in range(500)),
    "YAML, deep lists": b"a: " + b"- " * DEEP + b"1\n",
    "YAML, anchors": b"a0: &a0 [x, x]\n" + _ANCHORS.encode(),
    "YAML, an anchor in itself": b"version: 1\na: &a\n  b: *a\n",
    "YAML, a key twice": b"version: 1\nhccl_timeout: 1\nhccl_timeout: 2\n",
    "YAML, a tag": b"version: !!python/object/apply:os.mkdir [ran]\n",
    "TOML, deep": b"a = " + b"[" * DEEP + b"]" * DEEP,
    "TOML, deep keys": b"a" + b".a" * DEEP + b" = 1\n",
    "pbtxt, deep": b"graph_options {" * DEEP + b"}" * DEEP,
    "pbtxt, deep nodes": b"node { attr { value { func { attr { value { list { " * (DEEP // 7),
    "XML, entities": b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><a>&b;</a>',
    "Python, deep": b"x = " + b"(" * DEEP + b")" * DEEP + b"\n",
    "Python, a long sum": b"x = " + b"1 + " * DEEP + b"1\n",
    "Python, a long chain": b"x" + b".a" * DEEP + b"\n",
    "shell, deep": b"#!/bin/bash\n" + b"if true; then " * (DEEP // 3),
    "a program": b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00>\x00" + bytes(range(256)) * 20,
    "gzip": gzip.compress(b"version: 1\n"),
    "a cut .npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'sh",
    "protobuf, deep": b"\x0a\xff\xff\xff\x7f" * DEEP,
    "protobuf, a long length": b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
}


def content(data):
    """Makes a file that holds the bytes."""

    def make(path):
        with open(path, "wb") as stream:
            stream.write(data)

    return make


def link(to):
    """Makes a link; without a name one to itself."""
    return lambda path: os.symlink(to or os.path.basename(path), path)


def sparse(path):
    """A file of 5 GB that takes no room."""
    with open(path, "wb") as stream:
        stream.truncate(5 << 30)


def bound(path):
    """A socket; its path is limited to some hundred characters."""
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as end:
        end.bind(os.path.basename(path))
    os.chdir(here)


ODD = {
    **{name: content(data) for name, data in CONTENTS.items()},
    "a directory": os.mkdir,
    "a named pipe": lambda path: os.mkfifo(path),
    "a socket": bound,
    "5 GB": sparse,
    "a link to itself": link(""),
    "a link to nowhere": link("no-such-file"),
    "/dev/null": link("/dev/null"),
    "/dev/zero": link("/dev/zero"),
    "/dev/urandom": link("/dev/urandom"),
}
STEP = golden.STRIDE**2
"""On the oldest Python each call gets every ninth odd input, and each input every ninth call."""

FAULTS = {
    "gone since it was listed": errno.ENOENT,
    "not readable": errno.EACCES,
    "a disk that fails": errno.EIO,
}
NAMES = {
    "a line end": "a\n::error::b{}",
    "control characters": "a\x1b[31m\x07\x9b{}",
    "bytes that are no UTF-8": os.fsdecode(b"a\xff\xe9{}"),
    "quotes and braces": "a \"'{{0}}%s$x`{}",
    "250 characters": "a" * 230 + "{}",
}


RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
attributes = operator.attrgetter("st_mode", "st_size", "st_mtime_ns")


class WaitedError(Exception):
    """A command did not come back."""


@pytest.fixture
def answer(npu, folder):
    """Runs a call and tells what is wrong with how it ended."""

    def late(*_):
        raise WaitedError

    def run(words, odd):
        before = state(folder)
        signal.alarm(60)  # no limit of time: it ends what would wait for ever
        try:
            result = npu(*words)
        except Exception as error:
            return repr(error)[:300]
        finally:
            signal.alarm(0)
        said = result.out + result.err
        after = state(folder)
        changed = {path for path, status in before.items() if after.get(path) != status}
        if words[0] == "format" or "--fix" in words:
            changed.discard(odd)
        if words[:2] == ["dump", "search"]:  # the call that began a search may be repeated
            changed = {path for path in changed if os.path.basename(path) != "state"}
        faults = {
            "exit code {}".format(result.code): result.code not in (0, 1, 2),
            "a traceback": ("npu_config/" if words[0] == "run" else "Traceback") in said,
            "a fault of ours": "NPU700" in said,
            "nothing is said": result.code and not said.strip(),
            "many lines": len(said.splitlines()) > 100,
            "raw characters": words[0] != "run" and RAW.search(said),
            "a line of its own": "\n::error::" in said,
            "changed": changed,
        }
        return [fault for fault, there in faults.items() if there]

    before = signal.signal(signal.SIGALRM, late)
    yield run
    signal.signal(signal.SIGALRM, before)


def state(root):
    """What is below a directory, without following links."""
    found = {}
    folders = [str(root)]
    for each in folders:
        with os.scandir(each) as entries:
            for entry in entries:
                found[entry.path] = attributes(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return found


def inputs(call, folder):
    """The files of a call that can be made odd; those in the directories that it names, too."""
    for word in call.split():
        name = word.rpartition("=")[2]
        if name.startswith("IN."):
            yield str(folder / name)
            for directory, _, names in os.walk(str(folder / name)):
                for inside in names:
                    yield os.path.join(directory, inside)


def remove(path):
    """Whatever it is."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def clean(folder):
    """Away with what a call made."""
    for made in ("export", "tensors", "made"):
        remove(str(folder / made))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CALLS))
def test_odd_inputs(answer, folder, name):
    """Exit code 0, 1 or 2, a few lines without a traceback, and no other file changes."""
    wrong = {}
    some = list(ODD.items())[sorted(CALLS).index(name) % STEP :: STEP]
    for path in inputs(CALLS[name], folder):
        aside = path + ".aside"
        if os.path.lexists(path):
            os.rename(path, aside)
        for odd, make in some:
            make(path)
            found = answer(shlex.split(CALLS[name]), path)
            if found:
                wrong[os.path.basename(path), odd] = found
            remove(path)
            clean(folder)
        if os.path.lexists(aside):
            os.rename(aside, path)
    assert wrong == {}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_files_that_fail(answer, folder, name, monkeypatch):
    """A file that is there and cannot be opened, or is gone when it is opened, is told of."""
    wrong = {}
    real = builtins.open
    for path in inputs(CALLS[name], folder):
        for fault, number in FAULTS.items():

            def failing(file, *rest, path=path, number=number, **options):
                if isinstance(file, str) and os.path.abspath(file) == path:
                    raise OSError(number, os.strerror(number), file)
                return real(file, *rest, **options)

            with monkeypatch.context() as patch:
                patch.setattr(builtins, "open", failing)
                found = answer(shlex.split(CALLS[name]), path)
            if found:
                wrong[os.path.basename(path), fault] = found
            clean(folder)
    assert wrong == {}


@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="needs /dev/fd")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_pipes_of_this_process(answer, folder, name):
    """What ``<(command)`` becomes is read as a file is, wherever a file is named."""
    words = shlex.split(CALLS[name])
    ends = []
    for index, word in enumerate(words):
        before, equals, file = word.rpartition("=")
        if file.startswith("IN.") and os.path.isfile(file):
            ends.append(os.pipe())
            with open(file, "rb") as stream, open(ends[-1][1], "wb") as pipe:
                pipe.write(stream.read())
            words[index] = "{}{}/dev/fd/{}".format(before, equals, ends[-1][0])
    assert answer(words, "") == []
    for given, _ in ends:
        os.close(given)


@pytest.mark.slow
@pytest.mark.parametrize("odd", sorted(NAMES))
@pytest.mark.parametrize("name", sorted(CALLS)[:: golden.STRIDE])
def test_odd_names(answer, folder, name, odd):
    """What a name holds is never printed raw, and no name is refused that a file can have."""
    words = shlex.split(CALLS[name])
    for index, word in enumerate(words):
        before, equals, file = word.rpartition("=")
        if file.startswith("IN."):
            renamed = NAMES[odd].format(file[2:])
            words[index] = before + equals + renamed
            if os.path.lexists(file):
                os.rename(file, renamed)
    assert answer(words, str(folder / renamed)) == []
