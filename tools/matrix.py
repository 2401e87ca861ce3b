"""``make test``: the sessions of nox, three side by side, on one wheel.

Says first what it will run and how long each session took last time, then prints the lines of
every session as they come, a summary, and the ends of what failed once more.  ``nox -s NAME`` runs
a single session.  A session whose Python is not on this machine is left out, and said to be; with
``CI`` set it fails.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, List, NamedTuple, Optional, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(ROOT)

from tools import pythons  # noqa: E402 - found through the line above

LONGEST_FIRST = {
    "tests_newest": "3.13",
    "tests_tf115": "3.7",
    "tests_oldest": "3.7",
    "tests_tf215": "3.11",
    "docs": "3.11",
    "lint": "3.11",
    "package": "3.11",
    "vscode": "3.11",
}
"""The sessions, and the Python that each needs."""

AT_THE_START = "vscode"
"""What needs no wheel runs while one is built; ``lint`` would build beside it in one folder."""

TESTS = [name for name in LONGEST_FIRST if name.startswith("tests_")]
HERE = "tests_here"
"""What runs where none of the test sessions can: the tests on the Python of this program."""

AT_ONCE = 3
"""One more than the cores that it is made for: a session that installs or waits leaves its own."""
NOX = [sys.executable, "-m", "nox"]
TIMES = os.path.join(ROOT, ".nox", "seconds.json")

_print = threading.Lock()
_NOISE = re.compile(r"nox > (?!Session|Error)|\s*\Z|\[notice\]|WARNING: ")


_FAILURE = re.compile("_{3,} .+ _{3,}$")
_LAST = 8
"""Lines of a failure that are printed once more: what was expected, and where."""


class Outcome(NamedTuple):
    """How a session ended, and what it printed."""

    word: str
    seconds: float
    lines: Sequence[str]

    def reasons(self) -> List[str]:
        """The name and last lines of each failed test; without any, the last lines of all."""
        parts: List[List[str]] = [[]]
        for line in self.lines:
            if _FAILURE.match(line) or line.startswith("====="):
                parts.append([])
            parts[-1].append(line)
        failures = [part for part in parts if part and _FAILURE.match(part[0])]
        named = [line for first, *rest in failures for line in (first, *rest[-_LAST:])]
        return named or list(self.lines[-2 * _LAST :])


def say(*words: str, sep: str = " ") -> None:
    """Print a line at once; lines of two sessions do not mix."""
    with _print:
        print(*words, sep=sep, flush=True)


def run(name: str, environ: Dict[str, str]) -> Outcome:
    """Run one session and print its lines as they come, each behind the session's name."""
    start = time.monotonic()
    process = subprocess.Popen(
        [*NOX, "-s", name],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        text = line.decode("utf-8", "replace").rstrip()
        if not _NOISE.match(text):
            say("{:<13}| {}".format(name, text))
            lines.append(text)
    passed = process.wait() == 0
    return Outcome("passed" if passed else "FAILED", time.monotonic() - start, lines)


def last_times() -> Dict[str, float]:
    """How long each session took when it last passed, in seconds."""
    try:
        with open(TIMES, encoding="utf-8") as stream:
            return {str(name): float(seconds) for name, seconds in json.load(stream).items()}
    except (OSError, ValueError):
        return {}


def announce(names: List[str], missing: Dict[str, str]) -> None:
    """Print what will run, how long it took last time, and what is left out."""
    times = last_times()
    for name in names:
        known: Optional[float] = times.get(name)
        ago = "not timed yet" if known is None else "last time {:.0f} s".format(known)
        version = LONGEST_FIRST.get(name, "{}.{}".format(*sys.version_info))
        say("{:<13}  Python {:<5} {}".format(name, version, ago))
    if all(name in times for name in names):
        share = sum(times[name] for name in names) / AT_ONCE
        say("about {:.0f} minutes, {} sessions at once".format(share / 60 + 1, AT_ONCE))
    for name, version in missing.items():
        say("{:<13}  left out: {}".format(name, pythons.explain(version)))


def main() -> int:
    """Build the wheel, run the sessions, print the summary; returns the exit code."""
    found = {version: pythons.find(version) for version in sorted(set(LONGEST_FIRST.values()))}
    missing = {name: version for name, version in LONGEST_FIRST.items() if not found[version]}
    names = [name for name in LONGEST_FIRST if name not in missing]
    if missing and not set(names) & set(TESTS):
        names.insert(0, HERE)
    announce(names, missing)
    if missing and os.environ.get("CI"):
        say("CI is set: every session has to run")
        return 1
    environ = dict(os.environ)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {name: pool.submit(run, name, environ) for name in names if name == AT_THE_START}
        if run("wheel", environ).word != "passed":
            return 1
        with open(os.path.join(ROOT, ".nox", "wheel.txt"), encoding="utf-8") as stream:
            environ = {**environ, "NPU_CONFIG_WHEEL": stream.read().strip()}
        for name in names:
            running[name] = running.get(name) or pool.submit(run, name, environ)
        results = {name: running[name].result() for name in names}
    times = {name: each.seconds for name, each in results.items() if each.word == "passed"}
    with open(TIMES, "w", encoding="utf-8") as stream:
        json.dump({**last_times(), **times}, stream)
    say("\n===== summary =====")
    for name, outcome in results.items():
        say("{:<14} {:<7} {:5.0f} s".format(name, outcome.word, outcome.seconds))
    for name in missing:
        say("{:<14} left out: no Python {}".format(name, missing[name]))
    failed = [name for name, outcome in results.items() if outcome.word != "passed"]
    for name in failed:
        say("\n===== {} =====".format(name), *results[name].reasons(), sep="\n")
    say("{} passed, {} failed".format(len(results) - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
