"""Long fuzzing: ``python -m tests.fuzz.run [--seconds N] [TARGET...]`` (``make fuzz``).

Mutates the golden cases.  With atheris installed and one target named, atheris drives it.
Prints the number of executions, every input that raised, and every input that took over a
second of CPU time.
"""

import argparse
import random
import sys
import time
import traceback

from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import CORPUS, TARGETS, execute

_PIECES = [b"{", b"}", b"[", b"]", b":", b"=", b",", b'"', b"'", b"\\", b"\n", b"\r", b"\0", b"#",
           b"*", b"::", b"1" * 400, b" " * 50, b"\xff", b"\xef\xbb\xbf", b"-1", b"nan", b"1e999",
           b"\\U00110000", b"null", b"true", b"{}", b"[]", b"version: 1\n", b"NpuOptimizer",
           b"loss_scale: ", b"step = "]  # fmt: skip
SLOW = 1.0


_ANY = [path.read_bytes() for path in CORPUS]


def _corpus(name):
    """The files that a target is made for."""
    kind = name.rpartition("-")[2]
    marks = (
        (".py",) if kind in ("script", "migrate", "suppress") else ("/" + kind + "/", "." + kind)
    )
    return [SEEDS[name].of(1), SEEDS[name].of(3)] + [
        path.read_bytes()
        for path in CORPUS
        if any(mark in path.as_posix() for mark in marks)
        or (kind == "table" and "cluster" in path.parts)
        or (kind in ("dump", "record") and "dump" in path.parts)
    ]


_OWN = {name: _corpus(name) for name in TARGETS}


def mutated(seed, name):
    """A file of the corpus, most often one that a target is made for, changed in a few places."""
    source = random.Random(seed)
    files = _ANY if source.random() < 0.2 else _OWN[name]
    data = bytearray(source.choice(files)[:4000])
    for _ in range(source.randint(0, 6)):
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 1, 1, 4, 40)))
        piece = source.choice(_PIECES) if source.random() < 0.7 else data[end : end + 30]
        data[start:end] = piece * source.choice((1, 1, 1, 2, 30))
    return bytes(data)


def main():
    """Fuzz until the time is over; 1 when something raised or was slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*", default=sorted(TARGETS))
    given = parser.parse_args()
    names = given.targets or sorted(TARGETS)
    if len(names) == 1:
        try:
            import atheris
        except ImportError:
            pass
        else:
            atheris.instrument_all()
            atheris.Setup(sys.argv[:1], lambda data: execute(names[0], data))
            atheris.Fuzz()
    return loop(names, given.seconds, given.seed)


def loop(names, seconds, seed):
    """Mutation without a library."""
    until, done, wrong = time.monotonic() + seconds, 0, {}
    while time.monotonic() < until:
        name = names[done % len(names)]
        data = mutated(seed + done // len(names), name)
        begun = time.process_time()
        try:
            execute(name, data)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            key = (name, type(error).__name__, str(frames[-1])[-80:])
            if wrong.setdefault(key, data) is data:
                print("RAISED", key, repr(error)[:200], repr(data)[:300], flush=True)
        spent = time.process_time() - begun
        if spent > SLOW and wrong.setdefault((name, "slow"), data) is data:
            print("SLOW", name, round(spent, 1), len(data), repr(data)[:300], flush=True)
        done += 1
        if done % 20_000 == 0:
            print("{:,} executions, {} faults".format(done, len(wrong)), flush=True)
    print("{:,} executions, {} faults".format(done, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
