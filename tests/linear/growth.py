"""How the work of a reader grows with its input, counted in calls of functions.

``python -m tests.linear.growth [--bytes N] [TARGET...]`` measures CPU time in place of calls, on
larger inputs: it also sees what a single call does in more than linear time.
"""

import argparse
import sys
import time

from tests.calls import calls_of
from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS, execute
from tests.linear.shapes import SHAPES

JUNK = {
    "blanks": b" ",
    "tabs": b"\t",
    "blank lines": b"\n",
    "lines of blanks": b"   \n",
    "carriage returns": b"\r",
    "stars": b"*a",
    "digits": b"1",
    "letters": b"a",
    "words": b"a b ",
    "double quotes": b'"',
    "single quotes": b"'",
    "backslashes": b"\\",
    "comments": b"# a\n",
    "colons": b"a:",
    "equals": b"a=1\n",
    "commas": b"a,",
    "points": b"a.",
    "dollars": b"${a}",
    "brackets": b"[",
    "braces": b"{",
    "parentheses": b"(",
    "keys in brackets": b'{"a":[',
    "closing": b"]",
    "not UTF-8": b"\xff",
    "zeros": b"\0",
    "characters of Chinese": "\u4e2d".encode(),
}


def families(name):
    """Family to a function of the number of bytes, for a target.

    What ``check-`` does beyond reading depends on findings, and so on seeds.
    """
    seed = SEEDS[name]
    piece = _piece(seed)
    found = {
        "seeds": lambda size: seed.of(max(2, size // piece)),
        "seeds on one line": lambda size: seed.of(max(2, size // piece)).replace(b"\n", b" "),
        "the same seed": lambda size: _same(seed, max(2, size // piece)),
        "cut": lambda size: seed.of(max(2, size // piece))[:-20],
    }
    for shape, other in SHAPES.get(name, {}).items():
        found[shape] = lambda size, other=other: other.of(max(2, size // _piece(other)))
    for word, junk in JUNK.items() if not name.startswith("check-") else ():
        found[word] = lambda size, junk=junk: junk * (size // len(junk))
        found[word + " inside"] = lambda size, junk=junk: (
            seed.head + junk * (size // len(junk)) + seed.joint + seed.piece + seed.tail
        )
        found[word + " behind"] = lambda size, junk=junk: seed.of(1) + junk * (size // len(junk))
    return found


def _piece(seed):
    return len(seed.of(3)) - len(seed.of(2)) or 1


def _same(seed, count):
    return seed._replace(piece=seed.piece.replace(b"%d", b"1")).of(count)


def calls(name, data):
    """How many functions are called to read."""
    return calls_of(lambda: execute(name, data))


def seconds(name, data):
    """CPU time, the better of two."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        execute(name, data)
        best = min(best, time.process_time() - start)
    return best


def main():
    """Print what takes more than its share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("targets", nargs="*", default=sorted(TARGETS))
    given = parser.parse_args()
    for name in given.targets or sorted(TARGETS):
        worst = 0.0
        for family, make in families(name).items():
            many = seconds(name, make(4 * given.bytes))
            if many < 0.04:
                continue
            few = seconds(name, make(given.bytes))
            ratio = many / few
            worst = max(worst, many)
            if ratio > 6.5:
                text = "{:<22} {:<28} {:.3f} s {:.3f} s  x{:.1f}"
                print(text.format(name, family, few, many, ratio), flush=True)
        print("{:<22} at most {:.2f} s".format(name, worst), flush=True)


if __name__ == "__main__":
    sys.exit(main())
