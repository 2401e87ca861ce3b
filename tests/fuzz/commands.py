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
from npu_config.text import source
from tests.fuzz.targets import RAM, FaultOfOursError

CALLS = {
    "check": ("check IN.yaml --notes --show-skipped", "check-yaml"),
    "check .py": ("check IN.py --format json", "check-script"),
    "check .json": ("check IN.json --format sarif", "read-json"),
    "check .toml": ("check IN.toml --format github", "read-toml"),
    "check .pbtxt": ("check IN.pbtxt --strict", "read-pbtxt"),
    "check .pb": ("check IN.pb", "read-pb"),
    "check .sh": ("check IN.sh --notes", "read-shell"),
    "check of any name": ("check IN", "read-any"),
    "check --if-ours": ("check --if-ours IN.cfg", "read-fusion_switch"),
    "check --on-host": ("check --on-host IN.yaml", "check-yaml"),
    "check --baseline": ("check good.yaml --baseline IN", "baseline"),
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
    "dump show": ("dump show IN.a.1.2.3", "dump"),
    "dump result": ("dump result IN.csv", "dump-result"),
    "env --check": ("env --check IN.env", "environment"),
    "format": ("format IN.json", "read-mixlist"),
    "format a table": ("format IN.json --as rank-table", "read-rank-table"),
    "fusion-result": ("fusion-result IN.json", "fusion-result"),
    "generate": ("generate IN.py --to yaml", "read-script"),
    "generate --to pbtxt": ("generate IN.yaml --to pbtxt", "read-yaml"),
    "log": ("log IN.log --redact", "log"),
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

INNER = {
    "check, an import": ("check main.py", "read-script", "inner.py"),
    "check, a sourced file": ("check start.sh", "read-shell", "inner.sh"),
    "check, a started script": ("check start.sh", "read-script", "inner.py"),
    "check, a rank table": ("check start.sh", "read-rank-table", "inner.json"),
    "check, a list": ("check --on-host npu.yaml", "read-mixlist", "inner.json"),
    "check of a folder": ("check .", "check-script", "IN.py"),
    "check of a folder, .yaml": ("check .", "check-yaml", "IN.yaml"),
    "check of a folder, .json": ("check .", "read-fusion_switch", "IN.json"),
    "check of a folder, .cfg": ("check .", "read-op_debug", "IN.cfg"),
    "check of a folder, .toml": ("check .", "read-toml", "IN.toml"),
    "check of a folder, .sh": ("check .", "read-shell", "IN.sh"),
    "check of a folder, .gitignore": ("check .", "gitignore", ".gitignore"),
    "check, the project": ("check npu.yaml", "project", "pyproject.toml"),
    "dump list": ("dump list .", "dump", "Add.a.1.2.3"),
    "dump overflow": ("dump overflow .", "overflow-record", "Opdebug.Node_OpDebug.1.2.3"),
    "migrate, an import": ("migrate main.py inner.py", "migrate", "inner.py"),
    "migrate, a launcher": ("migrate .", "read-shell", "start.sh"),
    "generate, an import": ("generate main.py --to yaml", "read-script", "inner.py"),
}
"""Name to a call that does not name the file, the seed, and the file."""

AROUND = {
    "good.yaml": "version: 1\nhccl_timeout: 1800\n",
    "npu.yaml": "version: 1\nmodify_mixlist: inner.json\nprecision_mode: allow_mix_precision\n",
    "main.py": "import tensorflow as tf\nfrom npu_bridge.npu_init import *\nimport inner\n"
    "from inner import *\nconfig = tf.ConfigProto()\ncustom_op = config.graph_options."
    "rewrite_options.custom_optimizers.add()\ncustom_op.name = 'NpuOptimizer'\n"
    "inner.f(custom_op)\nwith tf.Session(config=config) as sess:\n    sess.run(train_op)\n",
    "start.sh": "#!/bin/bash\nsource ./inner.sh\nexport RANK_TABLE_FILE=inner.json RANK_SIZE=1\n"
    "export RANK_ID=0 JOB_ID=1 ASCEND_DEVICE_ID=0\npython3 inner.py\n",
    "inner.py": "def f(op):\n    op.parameter_map['hcom_parallel'].b = True\n",
    "inner.sh": "export HCCL_CONNECT_TIMEOUT=600\n",
    "inner.json": '{"black-list": {"to-add": ["Add"]}}\n',
}
"""The files that are there in every call."""


def _answer(words):
    """Run a call in this process; returns its exit code and all that it said."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with mock.patch.object(source, "fault", _refuse), contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())))
        code = main(words)
    said.flush()
    return code, said.buffer.getvalue().decode()


def _refuse(path, error):
    raise FaultOfOursError(repr(error)) from error


def _target(call, file=None):
    words = shlex.split(call)
    if file is None:
        file = next(word.rpartition("=")[2] for word in words if "IN" in word)

    def target(data):
        here, folder = os.getcwd(), tempfile.mkdtemp(dir=RAM)
        os.chdir(folder)
        try:
            for other, text in AROUND.items():
                Path(other).write_text(text)
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


CALLED = {**CALLS, **INNER}
COMMANDS = {"command: " + name: _target(call, *file) for name, (call, _, *file) in CALLED.items()}
"""Name to target."""

SEEDS = {"command: " + name: entry[1] for name, entry in CALLED.items()}
"""Name to the target whose files it begins with."""
