"""A keystroke in a script of 500 lines: the server's answer, beside a check of the same text."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, List

import npu_config
from benchmarks._measure import Row

_HEAD = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["hcl_timeout"].i = 1
"""
_LINE = 'layer_{0} = tf.layers.dense(layer_{1}, {0}, name="layer_{0}")\n'
_ROUNDS = 15
_STARTS = 10


class _Server:
    """The language server, and the little of the protocol that is measured."""

    def __init__(self, folder: Path) -> None:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as when it is installed
        start = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "npu_config", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )
        params: Dict[str, Any] = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "capabilities": {},
        }
        self._send("initialize", params, id=1)
        self._read()
        self.started = time.perf_counter() - start
        self._send("initialized", {})

    def _send(self, method: str, params: Dict[str, Any], **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        data = json.dumps(message).encode("ascii")
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _read(self) -> Dict[str, Any]:
        stream, length = self._process.stdout, 0
        assert stream is not None
        for line in iter(stream.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        found: Dict[str, Any] = json.loads(stream.read(length))
        return found

    def answer(self, path: Path, text: str, version: int) -> float:
        """Seconds from the text to its findings."""
        document = {"uri": path.as_uri(), "version": version}
        start = time.perf_counter()
        if version == 1:
            opened = {**document, "languageId": "python", "text": text}
            self._send("textDocument/didOpen", {"textDocument": opened})
        else:
            changes = [{"text": text}]
            params = {"textDocument": document, "contentChanges": changes}
            self._send("textDocument/didChange", params)
        while self._read().get("params", {}).get("version") != version:
            pass
        return time.perf_counter() - start

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


def rows() -> List[Row]:
    """The answer to a keystroke, and the start."""
    text = _HEAD + "layer_0 = x\n"
    text += "".join(_LINE.format(n, n - 1) for n in range(1, 501 - text.count("\n")))
    answers, checks, starts = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.py")
        for _ in range(_STARTS):
            server = _Server(path.parent)
            starts.append(server.started)
            server.end()
        server = _Server(path.parent)
        for version in range(1, _ROUNDS + 1):
            text += "#"
            path.write_text(text, "utf-8")
            took = server.answer(path, text, version)
            start = time.perf_counter()
            found = npu_config.check(path)
            checks.append(time.perf_counter() - start)
            answers.append(took)
            assert len(found) == 1, found
        server.end()
    answer, check, started = (median(each) * 1e3 for each in (answers, checks, starts))
    return [
        Row("a keystroke, to the findings", answer, "npu_config.check", check, "ms", 3),
        Row("start, to the first answer", started, "a second", 1e3, "ms", 1),
    ]
