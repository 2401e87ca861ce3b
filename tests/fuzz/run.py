"""Long fuzzing: ``python -m tests.fuzz.run [--seconds N] [--seed N] [TARGET...]`` (``make fuzz``).

Mutates the golden cases, by bytes and by tokens: atheris does where it is installed, guided by
what runs in the package, else chance, which gives every target the same CPU time and so the
cheap ones thousands of executions a second.  Prints the number of executions of each target,
every input that raised, and every input that took over a second of CPU time.  Targets may be
patterns: ``"command: *"``.
"""

import argparse
import collections
import contextlib
import faulthandler
import fnmatch
import heapq
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
_HANGS = 600


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


_TOKENS = re.compile(rb"\w+|\s+|[^\w\s]")
_WORDS = {
    name: sorted({token for data in files for token in _TOKENS.findall(data[:20_000])})
    for name, files in OWN.items()
}


def mutated(seed, name):
    """A file of the corpus, most often one that a target is made for, changed in a few places."""
    source = random.Random(seed)
    files = _ANY if source.random() < 0.2 else OWN[name]
    data = source.choice(files)[:4000]
    changed = _by_tokens if source.random() < 0.4 else _by_bytes
    return changed(source, data, name)


def _by_bytes(source, data, _name):
    data = bytearray(data)
    for _ in range(source.randint(0, 6)):
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 1, 1, 4, 40)))
        piece = source.choice(_PIECES) if source.random() < 0.7 else data[end : end + 30]
        data[start:end] = piece * source.choice((1, 1, 1, 2, 30))
    return bytes(data)


def _by_tokens(source, data, name):
    """Words and marks put in, taken out, exchanged, and runs of them moved elsewhere."""
    tokens = _TOKENS.findall(data)
    for _ in range(source.randint(1, 6)):
        start = source.randint(0, len(tokens))
        end = min(len(tokens), start + source.choice((0, 1, 1, 2, 8)))
        kind = source.random()
        if kind < 0.6:
            put = [source.choice(_WORDS[name] if kind < 0.4 else _PIECES)]
        elif kind < 0.8:
            other = source.randint(0, len(tokens))
            put = tokens[other : other + source.choice((1, 3, 10, 40))]
        else:
            put = []
        tokens[start:end] = put
    return b"".join(tokens)


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
    """Mutation without a library; the target that had the least CPU time comes next."""
    until = time.monotonic() + seconds
    queue = [(0.0, name) for name in names]
    seeds = dict.fromkeys(names, seed)
    while time.monotonic() < until:
        spent, name = heapq.heappop(queue)
        begun = time.process_time()
        faulthandler.dump_traceback_later(_HANGS, exit=True)
        for _ in range(20):
            findings.attempt(name, mutated(seeds[name], name))
            seeds[name] += 1
        heapq.heappush(queue, (spent + time.process_time() - begun, name))
    faulthandler.cancel_dump_traceback_later()


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
