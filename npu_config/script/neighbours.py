"""The scripts beside and below a script: does one of them name something?"""

import os
from typing import Iterator, Optional, Sequence

_MOST_FILES = 2000
_LARGEST = 4 * 1024 * 1024


def any_neighbour_has(path: Optional[str], words: Sequence[str], above: int = 0) -> bool:
    """True when another script of the same directory, or below it, holds one of the words.

    Comment lines do not count.

    Args:
        path: the script.
        words: what to look for.
        above: how many directories further up to begin.
    """
    if path is None or not os.path.isfile(path):
        return False
    needles = [word.encode() for word in words]
    for name in _neighbours(path, above):
        try:
            with open(name, "rb") as stream:
                data = stream.read(_LARGEST)
        except OSError:
            continue
        if any(needle in data for needle in needles) and any(
            needle in line and not line.lstrip().startswith(b"#")
            for line in data.splitlines()
            for needle in needles
        ):
            return True
    return False


def _neighbours(path: str, above: int) -> Iterator[str]:
    own = os.path.abspath(path)
    directory = os.path.dirname(own)
    for _ in range(above):
        directory = os.path.dirname(directory)
    count = 0
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        count += 1 + len(names)
        if count > _MOST_FILES:
            return
        for name in sorted(names):
            found = os.path.join(folder, name)
            if name.endswith(".py") and found != own:
                yield found
