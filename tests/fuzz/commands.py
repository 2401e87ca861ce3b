"""The commands as functions of bytes: the file that a call names holds any, and one answer comes.

An answer is an exit code of the contract and no traceback; every guard lets through what it would
report as a fault of npu_config, so that nothing is hidden.  What a command writes in place comes
to rest: a second call changes nothing.
"""

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

from npu_config.__main__ import main
from npu_config.text import guard
from tests.fuzz.targets import FaultOfOursError

RAM = "/dev/shm" if os.path.isdir("/dev/shm") else None

CALLS = {
    "check": ("check IN.yaml --notes --show-skipped", "check-yaml"),
    "check .py": ("check IN.py --format json", "check-script"),
    "check .json": ("check IN.json --format sarif", "read-json"),
    "check .toml": ("check IN.toml --format github", "read-toml"),
    "check .pbtxt": ("check IN.pbtxt --strict", "read-pbtxt"),
    "check .pb": ("check IN.pb", "read-pb"),
    "check .sh": ("check IN.sh --notes", "read-shell"),
    "check of any name": ("check IN", "read-any"),
    "check of a folder": ("check .", "check-script"),
    "check --if-ours": ("check --if-ours IN.cfg", "read-fusion_switch"),
    "check --on-host": ("check --on-host IN.yaml", "check-yaml"),
    "check --baseline": ("check good.yaml --baseline IN", "baseline"),
    "check, the project": ("check pyproject.toml good.yaml", "project"),
    "check --fix .py": ("check --fix IN.py", "check-script"),
    "check --fix .yaml": ("check --fix IN.yaml", "check-yaml"),
    "check --fix .json": ("check --fix IN.json", "read-json"),
    "check --fix .toml": ("check --fix IN.toml", "read-toml"),
    "check --fix .pbtxt": ("check --fix IN.pbtxt", "read-pbtxt"),
    "check --fix .sh": ("check --fix IN.sh", "read-shell"),
    "check --fix a list": ("check --fix --as mixlist IN.json", "read-mixlist"),
    "check --fix a switch": ("check --fix --as fusion_switch IN.cfg", "read-fusion_switch"),
    "check --fix a table": ("check --fix --as rank-table IN.json", "read-rank-table"),
    "check --diff": ("check --diff IN.yaml", "check-yaml"),
    "compat": ("compat IN.py", "read-script"),
    "diagnose": ("diagnose IN.pbtxt", "graph"),
    "diff": ("diff IN.yaml good.yaml", "read-yaml"),
    "doctor": ("doctor IN.py", "read-script"),
    "dump list": ("dump list .", "dump"),
    "dump show": ("dump show IN.a.1.2.3", "dump"),
    "dump overflow": ("dump overflow .", "overflow-record"),
    "dump result": ("dump result IN.csv", "dump-result"),
    "env --check": ("env --check IN.env", "environment"),
    "format": ("format IN.json", "read-mixlist"),
    "format a table": ("format IN.json --as rank-table", "read-rank-table"),
    "fusion-result": ("fusion-result IN.json", "fusion-result"),
    "generate": ("generate IN.py --to yaml", "read-script"),
    "generate --to pbtxt": ("generate IN.yaml --to pbtxt", "read-yaml"),
    "loss-scale": ("loss-scale IN.log", "loss-scale"),
    "migrate": ("migrate IN.py", "migrate"),
    "migrate --write": ("migrate --write IN.py", "migrate"),
    "mixlist check": ("mixlist check IN.json", "read-mixlist"),
    "mixlist --library": ("mixlist build --black Add --library IN.json", "read-json"),
    "op-summary": ("op-summary IN.csv", "op-summary"),
    "ranktable check": ("ranktable check IN.json", "read-rank-table"),
    "ranktable convert": ("ranktable convert IN.json --to 1.2", "read-rank-table"),
    "ranktable show": ("ranktable show IN.json", "read-rank-table"),
    "ranktable --hccn-conf": ("ranktable build --server a --hccn-conf a=IN", "hccn"),
}
"""Name to a call, in which ``IN*`` is the file, and the seed of what is put into it."""

_NAMES = {"check of a folder": "IN.py", "check, the project": "pyproject.toml"}
_NAMES.update({"dump list": "Add.a.1.2.3", "dump overflow": "Opdebug.Node_OpDebug.1.2.3"})


def _answer(words):
    """Run a call in this process; returns its exit code and all that it said."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with mock.patch.object(guard, "fault", _refuse), contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())))
        code = main(words)
    said.flush()
    return code, said.buffer.getvalue().decode()


def _refuse(path, error):
    raise FaultOfOursError(repr(error)) from error


def _target(name):
    words = shlex.split(CALLS[name][0])
    file = _NAMES.get(name) or next(
        word.rpartition("=")[2] for word in words if "IN" in word.rpartition("=")[2]
    )

    def target(data):
        here, folder = os.getcwd(), tempfile.mkdtemp(dir=RAM)
        os.chdir(folder)
        try:
            Path("good.yaml").write_bytes(b"version: 1\nhccl_timeout: 1800\n")
            Path(file).write_bytes(data)
            code, said = _answer(words)
            wrong = [word for word in ("NPU700", "NPU454", "Traceback") if word in said]
            if code not in (0, 1, 2) or wrong:
                raise FaultOfOursError("exit code {}, {}".format(code, wrong))
            if "--fix" in words and "can be fixed with --fix" in said and "NPU792" not in said:
                raise FaultOfOursError("--fix leaves something for --fix")
            after = Path(file).read_bytes()
            if after != data:
                _answer(words)
                if Path(file).read_bytes() != after:
                    raise FaultOfOursError("a second call changes the file again")
        finally:
            os.chdir(here)
            shutil.rmtree(folder)

    return target


COMMANDS = {"command: " + name: _target(name) for name in CALLS}
"""Name to target."""

SEEDS = {"command: " + name: seed for name, (_, seed) in CALLS.items()}
"""Name to the target whose files it begins with."""
