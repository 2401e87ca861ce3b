"""Find the Python interpreters that the tests run on.

Looks, in this order, at the variable ``PYTHON37`` (and so on), at the PATH, at pyenv's
versions, and at uv's.  ``python -m tools.pythons 3.7`` prints what was found.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
from typing import Iterator, Optional, Sequence


def find(version: str) -> Optional[str]:
    """The path of a working interpreter of ``version`` (e.g. ``"3.7"``), or None."""
    for candidate in _candidates(version):
        if _version_of(candidate) == version:
            return candidate
    return None


def explain(version: str) -> str:
    """What to do when there is no interpreter of ``version``."""
    return (
        "Python {0} was not found (looked at ${1}, the PATH, pyenv and uv). Install it with "
        "'pyenv install {0}' or 'uv python install {0}', or set {1} to its path."
    ).format(version, _variable(version))


def _variable(version: str) -> str:
    return "PYTHON" + version.replace(".", "")


def _candidates(version: str) -> Iterator[str]:
    given = os.environ.get(_variable(version))
    if given:
        yield given
    on_path = shutil.which("python" + version)
    if on_path:
        yield on_path
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = glob.glob(os.path.join(root, "versions", version + ".*", "bin", "python"))
    yield from sorted(found, key=_patch_level, reverse=True)
    uv = shutil.which("uv")
    if uv:
        done = subprocess.run([uv, "python", "find", version], stdout=subprocess.PIPE)
        if done.returncode == 0:
            yield done.stdout.decode().strip()


def _patch_level(path: str) -> int:
    match = re.search(r"versions/\d+\.\d+\.(\d+)", path.replace(os.sep, "/"))
    return int(match.group(1)) if match else 0


def _version_of(python: str) -> Optional[str]:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode().strip() if done.returncode == 0 else None


def main(arguments: Sequence[str]) -> int:
    """Print the interpreter of each version; 1 when one is missing."""
    missing = 0
    for version in arguments:
        path = find(version)
        missing += path is None
        print(path or explain(version))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
