"""``make test``: the sessions of nox, two side by side, on one wheel.

The output of a session is printed when it ends, then a summary.  ``nox -s NAME`` runs a
single session, ``nox`` all of them one after the other.
"""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST_FIRST = (
    "tests_tf115",
    "tests_tf215",
    "tests_newest",
    "tests_oldest",
    "docs",
    "lint",
    "package",
)
AT_ONCE = 2
NOX = [sys.executable, "-m", "nox"]

_print = threading.Lock()


def run(name: str, environ: Dict[str, str]) -> Tuple[bool, float]:
    """Run one session and print its output when it ends: passed or not, and seconds."""
    start = time.monotonic()
    done = subprocess.run(
        [*NOX, "-s", name],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    seconds = time.monotonic() - start
    with _print:
        print("\n===== {} =====".format(name))
        print(done.stdout.decode("utf-8", "replace"), flush=True)
    return done.returncode == 0, seconds


def main() -> int:
    """Build the wheel, run the sessions, print the summary; returns the exit code."""
    environ = dict(os.environ)
    passed, seconds = run("wheel", environ)
    if not passed:
        return 1
    with open(os.path.join(ROOT, ".nox", "wheel.txt"), encoding="utf-8") as stream:
        environ["NPU_CONFIG_WHEEL"] = stream.read().strip()

    def session(name: str) -> Tuple[bool, float]:
        with _print:
            print("started", name, flush=True)
        return run(name, environ)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = dict(zip(LONGEST_FIRST, pool.map(session, LONGEST_FIRST)))
    print("\n===== summary =====")
    for name, (passed, seconds) in results.items():
        print("{:<14} {:<7} {:5.0f} s".format(name, "passed" if passed else "FAILED", seconds))
    failed = [name for name, (passed, _) in results.items() if not passed]
    print("{} passed, {} failed".format(len(results) - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
