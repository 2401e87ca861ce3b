"""Edits that come in between: ``python -m tests.fuzz.edits [--edits N] [--seed N]``.

Another writer changes the file while ``check --fix``, ``format`` or ``migrate --write`` works on
it, at a moment that chance chooses among all that the command does with files.  No edit may be
lost: afterwards the file holds it.
"""

import argparse
import collections
import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

from npu_config.__main__ import main as command
from tests.fuzz.targets import RAM

CALLS = {
    "check --fix": ("a.yaml", "version: 1\nhccl_timeot: 1800\n", "# {}\n"),
    "check --fix script": (
        "a.py",
        (
            "from npu_bridge.npu_init import *\nconfig = tf.ConfigProto()\ncustom_op = config."
            "graph_options.rewrite_options.custom_optimizers.add()\n"
            "custom_op.name = 'NpuOptimizer'\ncustom_op.parameter_map['hcom_paralel'].b = True\n"
        ),
        "# {}\n",
    ),
    "format": ("a.json", '{"black-list": {"to-add": ["Add",]}}\n', " {}"),
    "migrate --write": (
        "a.py",
        "import tensorflow as tf\nwith tf.Session() as sess:\n    sess.run(x)\n",
        "# {}\n",
    ),
}
"""Name to a file that the command changes, its text, and what another writer adds to it."""
_MOMENTS = (
    "open",
    "replace",
    "rename",
    "fsync",
    "stat",
    "lstat",
    "fstat",
    "close",
    "fdopen",
    "write",
)


class Writer:
    """Adds a mark to a file when a number of calls that deal with files were made.

    Args:
        path: the file.
        mark: what is added; the whole file is written anew beside it and takes its place, or it is
            appended in place.
        at: the number of the call.
        in_place: append.
    """

    def __init__(self, path, mark, at, in_place):
        self.path, self.mark, self.at, self.in_place = path, mark, at, in_place
        self.count = 0
        self.done = False
        self.busy = False

    def call(self, function):
        """The function, with the edit before or after it when its turn comes."""

        def called(*args, **kwargs):
            if self.busy:
                return function(*args, **kwargs)
            self.count += 1
            if self.count == self.at:
                self.edit()
            return function(*args, **kwargs)

        return called

    def edit(self):
        """Add the mark, once."""
        if self.done:
            return
        self.busy = self.done = True
        if self.in_place:
            with open(self.path, "ab") as stream:
                stream.write(self.mark)
        else:
            data = Path(self.path).read_bytes()
            beside = self.path + ".mine"
            Path(beside).write_bytes(data + self.mark)
            os.replace(beside, self.path)
        self.busy = False


def attempt(name, seed):
    """One command with one edit; what went wrong, None for nothing, and whether it was made."""
    source = random.Random(seed)
    file, text, mark = CALLS[name]
    mark = mark.format("mark{}".format(seed)).encode()
    Path(file).write_text(text)
    words = name.split(" script")[0].split()
    writer = Writer(os.path.abspath(file), mark, source.randint(1, 60), source.random() < 0.5)
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.ExitStack() as stack:
        for each in _MOMENTS:
            stack.enter_context(mock.patch.object(os, each, writer.call(getattr(os, each))))
        stack.enter_context(mock.patch("builtins.open", writer.call(open)))
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        code = command([*words, file])
    made = writer.done
    writer.edit()
    after = Path(file).read_bytes()
    if code not in (0, 1, 2):
        return "exit code {}".format(code), made
    if mark.strip() not in after:
        return "the edit is lost", made
    left = sorted(set(os.listdir(".")) - {file})
    return ("left behind: {}".format(left) if left else None), made


def main():
    """1 when an edit was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts = collections.Counter()
    wrong = []
    here, folder = os.getcwd(), tempfile.mkdtemp(dir=RAM)
    os.chdir(folder)
    try:
        for number in range(given.edits):
            name = list(CALLS)[number % len(CALLS)]
            fault, made = attempt(name, given.seed + number)
            counts[name, "while it worked" if made else "after it"] += 1
            if fault is not None:
                wrong.append((name, given.seed + number, fault))
            for each in os.listdir("."):
                os.remove(each)
    finally:
        os.chdir(here)
        shutil.rmtree(folder)
    for key, count in sorted(counts.items()):
        print("{:>7,}  {}, edited {}".format(count, *key))
    for each in wrong[:20]:
        print("WRONG", *each)
    print("{:,} edits, {} lost or wrong".format(given.edits, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
