"""The files that the arguments of ``check`` name."""

import os
from typing import Iterator, List, NamedTuple, Optional, Sequence

from npu_config.cli._load import STDIN
from npu_config.cli._output import read_stdin
from npu_config.readers import LARGEST

_LEFT_OUT = frozenset(("__pycache__", "node_modules", "build", "dist"))


class Candidate(NamedTuple):
    """One file to look at; ``named`` is False when it was found in a directory."""

    path: str
    content: Optional[bytes]
    named: bool
    root: Optional[str] = None


def candidates(paths: Sequence[str]) -> Iterator[Candidate]:
    """Every file once, directories searched."""
    seen = set()
    for path in paths:
        if path == "-":
            yield Candidate(STDIN, read_stdin(LARGEST), True)
        elif os.path.isdir(path):
            for found in files_below(path):
                if found not in seen:
                    seen.add(found)
                    yield Candidate(found, None, False, path)
        elif path not in seen:
            seen.add(path)
            yield Candidate(path, None, True)


def files_below(directory: str) -> Iterator[str]:
    """The files of a directory, in order of name; hidden directories are left out."""
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _LEFT_OUT
        )
        found: List[str] = sorted(names)
        for name in found:
            yield os.path.join(folder, name)
