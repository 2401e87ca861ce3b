"""The files near a script: those that it imports, and those beside and below it."""

import os
import re
from typing import Iterator, List, Optional, Sequence, Set

_MOST_FILES = 2000
_MOST_IMPORTED = 300
_LARGEST = 4 * 1024 * 1024
_LEVELS = 4
"""How far up the folder may be from which packages are imported."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+\(?([^\n#]*)|import[ \t]+([^\n#]+))", re.M
)
_NAME = re.compile(r"[A-Za-z_]\w*")


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
    return any(_has(_read(name), words) for name in _neighbours(path, above))


def any_import_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when a file that a script imports, itself or through others, holds one of the words.

    Args:
        path: the script.
        words: what to look for.
    """
    return path is not None and any(_has(_read(name), words) for name in imported_files(path))


def any_importer_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when a file near a script that imports it holds one of the words.

    Args:
        path: the script.
        words: what to look for.
    """
    if path is None or not os.path.isfile(path):
        return False
    own = os.path.abspath(path)
    return any(
        _has(_read(name), words) and own in _imports_of(name, os.path.dirname(name))
        for name in _neighbours(path, above=1)
    )


def imported_files(path: str) -> List[str]:
    """The files beside, below and above a script that it imports, itself or through others."""
    own = os.path.abspath(path)
    found: List[str] = [own]
    known: Set[str] = {own}
    for name in found:
        for other in _imports_of(name, os.path.dirname(own)):
            if other not in known and len(known) <= _MOST_IMPORTED:
                known.add(other)
                found.append(other)
    return found[1:]


def _imports_of(path: str, home: str) -> Iterator[str]:
    """The files that the import statements of a file may mean."""
    for match in _IMPORT.finditer(_read(path).decode("utf-8", "replace")):
        module, names, plain = match.groups()
        if module is not None:
            yield from _files_of(path, home, module, _NAME.findall(names))
        for alias in [] if plain is None else plain.split(","):
            yield from _files_of(path, home, (alias.split() or [""])[0], ())


def _files_of(path: str, home: str, module: str, names: Sequence[str]) -> Iterator[str]:
    """The files of a module, and of those of the names in it that are modules."""
    parts = [part for part in module.lstrip(".").split(".") if part]
    dots = len(module) - len(module.lstrip("."))
    folder = os.path.dirname(path)
    roots = [home, folder]
    if dots:
        roots = [os.path.normpath(os.path.join(folder, *[".."] * (dots - 1)))]
    else:
        for _ in range(_LEVELS):
            folder = os.path.dirname(folder)
            roots.append(folder)
    for root in dict.fromkeys(roots):
        stem = os.path.join(root, *parts)
        found = [stem + ".py", os.path.join(stem, "__init__.py")]
        found += [os.path.join(stem, name + ".py") for name in names]
        existing = [name for name in found if os.path.isfile(name)]
        if existing:
            yield from existing
            return


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_LARGEST)
    except OSError:
        return b""


def _has(data: bytes, words: Sequence[str]) -> bool:
    """True when a line that is not a comment holds one of the words."""
    needles = [word.encode() for word in words]
    return any(needle in data for needle in needles) and any(
        needle in line and not line.lstrip().startswith(b"#")
        for line in data.splitlines()
        for needle in needles
    )


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
