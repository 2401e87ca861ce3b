"""Write every file that follows from the declarations, or check that it is up to date.

python -m tools.generate           write
python -m tools.generate --check   write nothing; exit 1 and name what is out of date
"""

import difflib
import functools
import os
import subprocess
import sys
from typing import Callable, Dict, List, Sequence, Union

from tools import (
    descriptors,
    facts_map,
    messages,
    networks_page,
    option_types,
    parts,
    reference,
    side_files,
    topics,
)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sources() -> Dict[str, Callable[[], Union[str, bytes]]]:
    """Path of each generated file, and what renders it."""
    result: Dict[str, Callable[[], Union[str, bytes]]] = {}
    result[option_types.PATH] = lambda: formatted(option_types.PATH, option_types.render())
    result[side_files.PATH] = lambda: formatted(side_files.PATH, side_files.render())
    result.update(reference.pages())
    for path in descriptors.FILES:
        result[path.replace(".proto", ".binpb")] = functools.partial(descriptors.render, path)
    result[facts_map.PATH] = facts_map.render
    result.update(parts.files())
    result[networks_page.PATH] = networks_page.render
    result.update(topics.files())  # last: sections of the pages above are topics
    return result


def formatted(path: str, code: str) -> str:
    """Python code as ``ruff format`` leaves it in a file of that name."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "format",
            "--config",
            os.path.join(ROOT, "pyproject.toml"),
            "--stdin-filename",
            path,
            "-",
        ],
        input=code.encode("utf-8"),
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode("utf-8")


def show_difference(path: str, old: str, new: str) -> None:
    """Print the beginning of what is out of date."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, "generated", "", "", 1)
    print("\n".join(list(lines)[:40]))


def main(arguments: Sequence[str]) -> int:
    """Write or check; returns the exit code."""
    check = "--check" in arguments
    messages.compile_in_checkout()  # without it, the Chinese pages would be written in English
    stale: List[str] = []
    for path, render in sources().items():
        full = os.path.join(ROOT, path)
        content = render()
        new = content if isinstance(content, bytes) else content.encode("utf-8")
        old = b""
        if os.path.exists(full):
            with open(full, "rb") as stream:
                old = stream.read()
        if new == old:
            continue
        stale.append(path)
        if check:
            if isinstance(content, str):
                show_difference(path, old.decode("utf-8"), content)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as stream:
            stream.write(new)
        print("wrote", path, flush=True)
        if path.endswith(".py"):  # what is rendered next may say what this process has imported
            return subprocess.call([sys.executable, "-m", "tools.generate", *arguments])
    if check and stale:
        print("out of date: {}; run python -m tools.generate".format(", ".join(stale)))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
