"""Edits of another writer while a command rewrites the file: ``python -m tests.cli.edits``.

One process runs the command over and over; this one edits the file in between, in every way that
editors do, each time with a new mark and the faults that the command corrects.  An edit whose mark
is not in the file when the next one is due was lost.
"""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUN = """
import contextlib, io, os, sys
from npu_config.__main__ import main
from npu_config.text import files
if "exchange" in WITHOUT:
    files._CALLS = {}
if "leases" in WITHOUT:
    files._lease = lambda stream: False
words, counts = sys.argv[1:], {}
print("ready", flush=True)
os.set_blocking(0, False)
while True:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(words)
    text = said.getvalue()
    kind = (
        "refused" if "is not written" in text or "changed twice" in text
        else "written" if any(word in text for word in WRITTEN)
        else "other"
    )
    counts[kind] = counts.get(kind, 0) + 1
    try:
        if os.read(0, 1) == b"":
            break
    except BlockingIOError:
        pass
print(counts)
"""

YAML = "version: 1\nhcl_timeout: 1800\n# edit {}\n"
LIST = '{{"black-list": {{"to-add": ["ReduceSum", "Edit{}x"],}}}}\n'
SCRIPT = "import tensorflow as tf\nwith tf.Session() as sess:\n    pass\n# edit {}\n"
COMMANDS = {
    "check --fix": ("npu.yaml", YAML, "# edit {}\n", "1 fixed"),
    "format": ("ops_info.json", LIST, "Edit{}x", "formatted"),
    "migrate --write": ("train.py", SCRIPT, "# edit {}\n", "1 changed"),
}
"""Command to the name of a file, its text, the mark in it, and what is said when it is written."""


def by_rename(path, text):
    """As editors that are careful do."""
    draft = path.with_name("draft")
    draft.write_text(text)
    os.replace(str(draft), str(path))


def in_place(path, text):
    """As ``open(path, "w")`` does: the file is empty for a moment."""
    path.write_text(text)


def in_two_parts(path, text):
    """As a program that writes what it computes."""
    with open(str(path), "w", buffering=1) as stream:
        stream.write(text[: len(text) // 2])
        stream.flush()
        time.sleep(random.random() * 0.004)
        stream.write(text[len(text) // 2 :])


def over_itself(path, text):
    """As ``open(path, "r+")`` does, which never empties the file."""
    with open(str(path), "r+") as stream:
        stream.write(text)
        stream.truncate()


def at_the_end(path, text):
    """As ``echo >> path`` does."""
    with open(str(path), "a") as stream:
        stream.write(text.splitlines(True)[-1])


WAYS = (by_rename, in_place, in_two_parts, over_itself, at_the_end)


def race(command, edits, python=sys.executable, seed=0, without=()):
    """Edit a file while a command rewrites it.

    Args:
        command: one of :data:`COMMANDS`.
        edits: how many.
        python: which Python runs the command.
        seed: of the pauses and the ways.
        without: ``"exchange"`` and ``"leases"``, as on systems that have none.

    Returns:
        Way to the number of edits, the edits that were lost, how the calls of the command ended,
        and what is left beside the file.
    """
    name, template, mark, written = COMMANDS[command]
    source = random.Random(seed)
    done, lost = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(template.format(0))
        code = "WRITTEN, WITHOUT = {!r}, {!r}\n".format([written], without) + RUN
        runner = subprocess.Popen(
            [python, "-c", code, *command.split(), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert runner.stdout.readline() == b"ready\n"
        ways = WAYS if template.endswith(mark) else WAYS[:-1]
        for number in range(1, edits + 1):
            time.sleep(source.random() * 0.012)
            if not holds(path, mark.format(number - 1)):
                lost.append(number - 1)
            way = source.choice(ways)
            way(path, template.format(number))
            done[way.__name__] += 1
        if not holds(path, mark.format(edits)):
            lost.append(edits)
        counts = runner.communicate()[0].decode().strip()
        left = sorted(set(os.listdir(folder)) - {name})
    return done, lost, counts, left


def holds(path, mark):
    """Whether a mark is in a file, at once or a little later: names may be on their way back.

    That takes the process that runs the command as long as it has to wait for a processor.
    """
    for _ in range(1000):
        try:
            if mark in path.read_text():
                return True
        except FileNotFoundError:
            pass
        time.sleep(0.01)
    return False


def main():
    """Print one line for each command; 1 when an edit was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000, help="of each command")
    parser.add_argument("--python", default=sys.executable, help="which Python runs the command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", action="append", default=[], help="exchange, leases")
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    given = parser.parse_args()
    worst = 0
    for command in given.commands:
        done, lost, counts, left = race(
            command, given.edits, given.python, given.seed, given.without
        )
        print("{}: {} edits {}, {} lost {}, calls {}, left behind {}".format(
            command, sum(done.values()), dict(done), len(lost), lost[:5], counts, left
        ), flush=True)  # fmt: skip
        worst = max(worst, len(lost))
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main())
