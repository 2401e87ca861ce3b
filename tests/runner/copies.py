"""Scripts with TensorFlow, plain and by ``npu-config run``, in copies of a process that has it.

A copy has its own directory, variables and streams, and ends as any process does; the ranks of a
job are copies of the process that starts them.  It saves importing TensorFlow anew, which takes
longer than most scripts.  Tests of what a copy may hide ask for a new Python, ``new=True``.
"""

import atexit
import functools
import gc
import importlib
import io
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

from npu_config.__main__ import main
from npu_config.rulebook import load_all
from npu_config.runner import ranks
from tests.forks import ROOT, code_of, finish


class Popen(subprocess.Popen):
    """A process, or a copy of this one where it would be Python for another rank."""

    def __init__(self, command, **settings):
        if command[:3] == [sys.executable, "-c", ranks._COMMAND]:
            settings["preexec_fn"] = functools.partial(work, command[3:], settings["env"])
        super().__init__(command, **settings)


def script():
    """Be Python that runs the script of ``sys.argv``; returns the exit code."""
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def work(words, environ, program=main):
    """Be a process of the command, or of another program, to its end."""
    os.closerange(3, 256)
    atexit._clear()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["npu-config", *words]
    sys.path[0] = os.getcwd()
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = io.FileIO(number, "w", closefd=False)
        errors = "backslashreplace" if number == 2 else "strict"
        wrapped = io.TextIOWrapper(stream, "utf-8", errors, write_through=True)
        setattr(sys, name, wrapped)
    subprocess.Popen = Popen
    code = 70
    try:
        code = program()
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        finish(code)


def load():
    """Import TensorFlow, with what it loads late, and what a run needs of the package.

    No copy looks for garbage in it: that costs more than most scripts, and memory of its own.
    """
    gc.disable()
    import tensorflow

    legacy = tensorflow.compat.v1
    legacy.estimator.Estimator, legacy.keras.layers, legacy.layers.dense  # noqa: B018 - lazy
    tensorflow.keras.Sequential  # noqa: B018 - lazy
    if tensorflow.__version__.startswith("1."):  # autograph asks all modules for their source
        tensorflow.contrib.framework  # noqa: B018 - lazy
    for name in ("diagnosis.graph.live", "runner.sessions", "tf1.estimator"):
        importlib.import_module("npu_config." + name)
    load_all()
    gc.freeze()
    gc.enable()


def copies():
    """Read what to run, line by line; write how each call ended."""
    load()
    for line in sys.stdin:
        words, folder, environ, out, errors = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(folder)
            for number, path in enumerate((os.devnull, out, errors)):
                os.dup2(os.open(path, os.O_RDWR), number)
            work(words[1:], environ, PROGRAMS[words[0]])
        print(code_of(child), flush=True)


@functools.lru_cache(maxsize=None)
def first():
    """The process that is copied; it ends when this one does."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runner.copies"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    )


def run(words, folder, new=False, environ=None):
    """What ``npu-config`` with these words does in a folder: its exit code, output and errors."""
    if environ is None:
        environ = {name: value for name, value in os.environ.items() if name[:5] != "RANK_"}
        environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    if new:
        command = [sys.executable, "-m", "npu_config", *words]
        return subprocess.run(command, cwd=str(folder), env=environ, capture_output=True)
    return in_copy("npu-config", words, folder, environ)


def python(words, folder, environ):
    """What Python does in a folder with a script and its arguments."""
    return in_copy("python", words, folder, environ)


def in_copy(program, words, folder, environ):
    """How a program ends in a copy of :func:`first`."""
    process = first()
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as errors:
        request = [[program, *words], str(folder), environ, out.name, errors.name]
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(words, code, out.read(), errors.read())


PROGRAMS = {"npu-config": main, "python": script}

if __name__ == "__main__":
    copies()
