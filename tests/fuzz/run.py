"""Long fuzzing: ``python -m tests.fuzz.run [--seconds N] [--seed N] [TARGET...]`` (``make fuzz``).

Mutates the golden cases: atheris does where it is installed, guided by what runs in the
package, else chance.  Prints the number of executions of each target, every input that raised,
and every input that took over a second of CPU time.  Targets may be patterns: ``"command: *"``.
"""

import argparse
import collections
import contextlib
import fnmatch
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.seeds import SEEDS

try:
    import atheris
except ImportError:
    atheris = None
with atheris.instrument_imports(["npu_config"]) if atheris else contextlib.nullcontext():
    from tests.fuzz import commands, targets
    from tests.fuzz.targets import CORPUS

_PIECES = [b"{", b"}", b"[", b"]", b":", b"=", b",", b'"', b"'", b"\\", b"\n", b"\r", b"\0", b"#",
           b"*", b"::", b"1" * 400, b" " * 50, b"\xff", b"\xef\xbb\xbf", b"-1", b"nan", b"1e999",
           b"\\U00110000", b"null", b"true", b"{}", b"[]", b"version: 1\n", b"NpuOptimizer",
           b"loss_scale: ", b"step = ", b"A=$A$A\n", b"x = x + x\n", b"# npu: ignore", b"(", b")",
           b"#npu:ignore\n\0", b'"""', b"'''", b"\t", b"\x0c", b"  ", b"\\\n", b"//", b"/*", b"*/",
           b"# coding: utf-7\n", b"# coding: raw_unicode_escape\n", b"\\ud800", b"\xed\xa0\x80",
           b"\xe2\x80\xa8", b"\xef\xbc\x9a", b"<<EOF\n", b"&a ", b"*a", b"!!int ", b"? ", b"| ",
           b"---\n", b"\x1b[31m", b"::error::", b"if a:\n", b"\n    ", b"0x", b"1_000", b"1e-4",
           b"-0", b".inf", b"0o14", b"2026-01-01", b"precision_modee", b"hcl_timeout",
           b"\xc2\xb2", b"\xd9\xa3", b":\xc2\xb2"]  # fmt: skip
SLOW = 1.0


_ANY = [path.read_bytes() for path in CORPUS]


def execute(name, data):
    """Run one target once."""
    if name in targets.TARGETS:
        targets.execute(name, data)
    else:
        commands.COMMANDS[name](data)


def _corpus(name):
    """The files that a target is made for."""
    name = commands.SEEDS.get(name, name)
    kind = name.rpartition("-")[2]
    marks = (
        (".py",) if kind in ("script", "migrate", "suppress") else ("/" + kind + "/", "." + kind)
    )
    return [SEEDS[name].of(1), SEEDS[name].of(3)] + [
        path.read_bytes()
        for path in CORPUS
        if any(mark in path.as_posix() for mark in marks)
        or (kind == "table" and "rank_table" in path.parts)
        or (kind in ("dump", "record") and "dump" in path.parts)
    ]


ALL = {**targets.TARGETS, **commands.COMMANDS}
OWN = {name: _corpus(name) for name in ALL}


def mutated(seed, name):
    """A file of the corpus, most often one that a target is made for, changed in a few places."""
    source = random.Random(seed)
    files = _ANY if source.random() < 0.2 else OWN[name]
    data = bytearray(source.choice(files)[:4000])
    for _ in range(source.randint(0, 6)):
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 1, 1, 4, 40)))
        piece = source.choice(_PIECES) if source.random() < 0.7 else data[end : end + 30]
        data[start:end] = piece * source.choice((1, 1, 1, 2, 30))
    return bytes(data)


class Findings:
    """What was tried, and the first input of each fault."""

    def __init__(self, keep=None):
        self.done = 0
        self.keep = keep
        self.wrong = {}
        self.counts = collections.Counter()

    def attempt(self, name, data):
        """Run one target once; tell of a fault that is new."""
        begun = time.process_time()
        try:
            execute(name, data)
        except Exception as error:
            cause = error
            while cause.__cause__ is not None and cause.__cause__.__traceback__ is not None:
                cause = cause.__cause__
            frames = traceback.extract_tb(cause.__traceback__)
            key = (name, type(error).__name__, str(frames[-1:])[-80:])
            self._tell("RAISED", key, repr(error)[:200], data)
        spent = time.process_time() - begun
        if spent > SLOW:
            self._tell("SLOW", (name, "slow"), round(spent, 1), data)
        self.done += 1
        self.counts[name] += 1
        if self.done % 20_000 == 0:
            self.tell()

    def _tell(self, what, key, more, data):
        if self.wrong.setdefault(key, data) is data:
            print(what, key, more, len(data), repr(data)[:300], flush=True)
            if self.keep is not None:
                name = "{}-{}".format(len(self.wrong), re.sub(r"\W+", "_", key[0]))
                Path(self.keep, name).write_bytes(data)

    def tell(self):
        """Print the numbers."""
        print("{:,} executions, {} faults".format(self.done, len(self.wrong)), flush=True)

    def tell_each(self):
        """Print the numbers of each target, too."""
        for name, count in sorted(self.counts.items()):
            print("{:>9,}  {}".format(count, name))
        self.tell()


def main():
    """Fuzz until the time is over; 1 when something raised or was slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*", default=sorted(ALL))
    parser.add_argument("--keep", metavar="DIR", help="write the inputs that are wrong to it")
    given = parser.parse_args()
    names = [name for name in sorted(ALL) if any(fnmatch.fnmatch(name, p) for p in given.targets)]
    findings = Findings(given.keep)
    (guided if atheris else by_chance)(findings, names, given.seconds, given.seed)
    findings.tell_each()
    return 1 if findings.wrong else 0


def by_chance(findings, names, seconds, seed):
    """Mutation without a library."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        name = names[findings.done % len(names)]
        findings.attempt(name, mutated(seed + findings.done // len(names), name))


def guided(findings, names, seconds, seed):
    """Mutation by atheris, which never returns: the first byte chooses the target."""
    until = time.monotonic() + seconds
    folder = tempfile.mkdtemp()
    for number, name in enumerate(names):
        for index, data in enumerate(OWN[name]):
            if len(data) < 4000:
                Path(folder, "{}-{}".format(number, index)).write_bytes(bytes([number]) + data)

    def one(data):
        if data:
            findings.attempt(names[data[0] % len(names)], data[1:])
        if time.monotonic() > until:
            findings.tell_each()
            shutil.rmtree(folder)
            os._exit(1 if findings.wrong else 0)

    flags = "-seed={} -max_len=10000 -timeout=60 -verbosity=0".format(seed or 1)
    atheris.Setup([sys.argv[0], *flags.split(), folder], one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
