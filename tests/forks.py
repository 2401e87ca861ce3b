"""Calls of the command, each in a process of its own: copies of one that has imported everything.

A copy has the closed streams, the full disk and the directory of the process that it comes from,
and ends as any process does; it saves starting Python and importing the package anew.
"""

import atexit
import gc
import importlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import traceback
from typing import NamedTuple

from npu_config.__main__ import main
from npu_config.cli.app import COMMANDS
from npu_config.rulebook import load_all

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def ends_of(calls, folder, shell="{}"):
    """Exit code and standard error of each call, by its name.

    Args:
        calls: name to the words of a call.
        folder: where they are made; the report is written beside it.
        shell: what the shell does around the process, ``{}``, that is copied.
    """
    report = str(folder) + ".ends"
    words = [sys.executable, "-m", "tests.forks", json.dumps(calls), report]
    paths = [ROOT, os.environ.get("PYTHONPATH", "")]
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
    command = shell.format(" ".join(map(shlex.quote, words)))
    subprocess.run(["sh", "-c", command], cwd=str(folder), env=environ, check=False)
    with open(report, encoding="utf-8") as stream:
        return json.load(stream)


def copied(words, errors):
    """The exit code of one call in a copy of this process, whose errors go to a file."""
    child = os.fork()
    if not child:
        descriptor = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        if sys.stderr is not None:
            os.dup2(descriptor, 2)
        os.close(descriptor)
        sys.argv = ["npu-config", *words]
        code = main()
        atexit._run_exitfuncs()
        finish(code)
    return code_of(child)


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    errors: str


def ended(words, environ):
    """How a call ends in a copy of this very process, with these variables beside its own."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            gc.freeze()  # what the tests before have left is not looked through
            os.environ.update(environ)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
            sys.stderr = os.fdopen(
                2, "w", encoding="utf-8", errors="backslashreplace", closefd=False
            )
            sys.argv = ["npu-config", *words]
            code = 70
            try:
                code = main()
            except BaseException:
                traceback.print_exc()
            finally:
                finish(code)
        code = code_of(child)
        for stream in (out, errors):
            stream.seek(0)
        return Ended(code, out.read().decode("utf-8"), errors.read().decode("utf-8"))


def code_of(child):
    """The exit code of a child; that of a signal is below 0."""
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def finish(code):
    """End as Python does, but for taking all modules apart, which takes a tenth of a second."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError as error:
            os.write(2, "Exception ignored: {}".format(error).encode("utf-8"))
            code = 120
    os._exit(code)


def copies(calls, report):
    """Make every call in a copy, and write how they ended."""
    for module in COMMANDS.values():
        importlib.import_module("npu_config.cli." + module)
    load_all()
    gc.freeze()
    ended = {}
    for name, call in calls.items():
        code = copied(shlex.split(call), report + ".errors")
        with open(report + ".errors", encoding="utf-8", errors="replace") as stream:
            ended[name] = code, stream.read()
    with open(report, "w", encoding="utf-8") as stream:
        json.dump(ended, stream)


if __name__ == "__main__":
    copies(json.loads(sys.argv[1]), sys.argv[2])
