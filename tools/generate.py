"""Write every file that follows from the declarations, or check that it is up to date.

python -m tools.generate           write
python -m tools.generate --check   write nothing; exit 1 and name what is out of date
"""

import difflib
import os
import subprocess
import sys
from typing import Callable, Dict, List, Sequence

from tools import facts_map, migration_page, option_types, readme, reference, side_files

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sources() -> Dict[str, Callable[[], str]]:
    """Path of each generated file, and what renders it."""
    result: Dict[str, Callable[[], str]] = dict(reference.pages())
    result[option_types.PATH] = lambda: formatted(option_types.render())
    result[side_files.PATH] = lambda: formatted(side_files.render())
    result["docs/facts.md"] = facts_map.render
    result[readme.PATH] = readme.render
    result[migration_page.PATH] = migration_page.render
    return result


def formatted(code: str) -> str:
    """Python code as ``ruff format`` leaves it."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "format",
            "--config",
            os.path.join(ROOT, "pyproject.toml"),
            "-",
        ],
        input=code.encode("utf-8"),
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode("utf-8")


def main(arguments: Sequence[str]) -> int:
    """Write or check; returns the exit code."""
    check = "--check" in arguments
    stale: List[str] = []
    for path, render in sources().items():
        full = os.path.join(ROOT, path)
        text = render()
        old = ""
        if os.path.exists(full):
            with open(full, encoding="utf-8") as stream:
                old = stream.read()
        if text == old:
            continue
        stale.append(path)
        if check:
            lines = difflib.unified_diff(
                old.splitlines(), text.splitlines(), path, "generated", "", "", 1
            )
            print("\n".join(list(lines)[:40]))
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        print("wrote", path)
    if check and stale:
        print("out of date: {}; run python -m tools.generate".format(", ".join(stale)))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
