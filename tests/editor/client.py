"""An own client of the language server: it speaks the protocol, and knows no library of it."""

import collections
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 60


def uri(path):
    """The name of a file in the protocol."""
    return Path(os.path.abspath(str(path))).as_uri()


class Client:
    """A server, and what it said.

    Args:
        root: the folder that is open.
        python: the interpreter.
        capabilities: what the editor can do.
        initialize: more of the first question.
    """

    def __init__(self, root, python=sys.executable, capabilities=None, **initialize):
        environ = {**os.environ, "PYTHONPATH": str(ROOT) if (ROOT / "npu_config").exists() else ""}
        environ.pop("NPU_CONFIG_LANG", None)
        self.process = subprocess.Popen(
            [python, "-m", "npu_config", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=str(ROOT),
        )
        self.root, self.versions, self.number = root, {}, 0
        self.answers, self.notes, self.asked = {}, queue.Queue(), []
        self.errors, self.findings, self.messages = [], {}, []
        self.counts = collections.Counter()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._log, daemon=True).start()
        self.started = self.ask(
            "initialize",
            processId=None,
            rootUri=None if root is None else uri(root),
            capabilities=capabilities or {},
            **initialize,
        )
        self.tell("initialized")

    def _read(self):
        stream = self.process.stdout
        while True:
            length = 0
            for line in iter(stream.readline, b"\r\n"):
                if not line:
                    self.notes.put(None)
                    return
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
            message = json.loads(stream.read(length).decode("utf-8"))
            if "method" in message and "id" in message:
                self.asked.append(message)
                self.send({"id": message["id"], "result": None})
            elif "method" in message:
                self.notes.put(message)
            else:
                self.answers.setdefault(message["id"], queue.Queue()).put(message)

    def _log(self):
        for line in self.process.stderr:
            self.errors.append(line.decode("utf-8", "replace"))

    def write(self, content):
        """Send any bytes."""
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def send(self, message):
        """Send a message."""
        data = json.dumps({"jsonrpc": "2.0", **message}).encode("ascii")
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    def tell(self, method, **params):
        """Send a note."""
        self.send({"method": method, "params": params})

    def request(self, method, params):
        """What the server answers: the whole message."""
        self.number += 1
        waiting = self.answers.setdefault(self.number, queue.Queue())
        self.send({"id": self.number, "method": method, "params": params})
        return waiting.get(timeout=SECONDS)

    def ask(self, method, **params):
        """What the server answers."""
        answer = self.request(method, params)
        assert "error" not in answer, (answer, self.errors)
        return answer["result"]

    def open(self, path, text, language="plaintext"):
        """Open a file with a text, which need not be the saved one."""
        self.versions[uri(path)] = 1
        document = {"uri": uri(path), "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)

    def change(self, path, text):
        """Change the text of an open file; returns its version."""
        self.versions[uri(path)] += 1
        document = {"uri": uri(path), "version": self.versions[uri(path)]}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])
        return self.versions[uri(path)]

    def close(self, path):
        """Close a file."""
        self.tell("textDocument/didClose", textDocument={"uri": uri(path)})

    def published(self, path, version=None):
        """The next findings of a file, those of a version if one is given."""
        waiting = self.findings.setdefault(uri(path), collections.deque())
        while True:
            while waiting:
                params = waiting.popleft()
                if version in (None, params.get("version")):
                    return params["diagnostics"]
            note = self.notes.get(timeout=SECONDS)
            assert note is not None, self.errors
            if note["method"] == "textDocument/publishDiagnostics":
                params = note["params"]
                self.counts[params["uri"]] += 1
                self.findings.setdefault(params["uri"], collections.deque()).append(params)
            else:
                self.messages.append(note)

    def found(self, path, text):
        """The findings of a text that is opened, or changed to."""
        if uri(path) in self.versions:
            return self.published(path, self.change(path, text))
        self.open(path, text)
        return self.published(path)

    def at(self, method, path, line, character, **more):
        """A question about a place."""
        place = {"line": line, "character": character}
        return self.ask(method, textDocument={"uri": uri(path)}, position=place, **more)

    def hover(self, path, line, character):
        """The page that is shown; None for none."""
        answer = self.at("textDocument/hover", path, line, character)
        return None if answer is None else answer["contents"]["value"]

    def complete(self, path, line, character):
        """The items that are offered."""
        return self.at("textDocument/completion", path, line, character)["items"]

    def actions(self, path, line, last=None):
        """What is offered about the findings of some lines."""
        place = {
            "start": {"line": line, "character": 0},
            "end": {"line": line if last is None else last, "character": 0},
        }
        context = {"diagnostics": []}
        return self.ask(
            "textDocument/codeAction",
            textDocument={"uri": uri(path)},
            range=place,
            context=context,
        )

    def end(self):
        """End the server as an editor does; returns its exit code."""
        self.ask("shutdown")
        self.send({"method": "exit"})
        return self.process.wait(SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.close()
        try:
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
