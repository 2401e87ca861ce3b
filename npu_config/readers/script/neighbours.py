"""The scripts beside and below a script: does one of them name something?"""

import os
from typing import Iterator, Optional, Sequence

_MOST_FILES = 500
_LARGEST = 4 * 1024 * 1024


def any_neighbour_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when another script of the same directory, or below it, holds one of the words.

    Comment lines do not count.
    """
    if path is None or not os.path.isfile(path):
        return False
    needles = [word.encode() for word in words]
    for name in _neighbours(path):
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


def _neighbours(path: str) -> Iterator[str]:
    directory = os.path.dirname(path) or "."
    count = 0
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            found = os.path.join(folder, name)
            if name.endswith(".py") and found != path:
                count += 1
                if count > _MOST_FILES:
                    return
                yield found
