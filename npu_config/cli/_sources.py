"""The files that the arguments of ``check`` name."""

import os
from typing import Iterator, List, NamedTuple, Optional, Sequence

from npu_config.cli._load import STDIN
from npu_config.cli._output import read_stdin
from npu_config.lint.project import Project
from npu_config.lint.walk import Skipped, of_package, walk
from npu_config.readers import LARGEST

EXCLUDED = "excluded in pyproject.toml"


class Candidate(NamedTuple):
    """One file to look at.

    ``content`` is given for what is not in a file; ``root`` for a file that was found in that
    directory.  ``if_ours``: nobody says that it is a file for us.
    """

    path: str
    content: Optional[bytes] = None
    root: Optional[str] = None
    if_ours: bool = False


def candidates(
    paths: Sequence[str],
    project: Project,
    if_ours: bool = False,
    skipped: Optional[List[Skipped]] = None,
) -> Iterator[Candidate]:
    """Every file once: those that are named, and those in directories that are named.

    Args:
        paths: files, directories, ``-``.
        project: what it excludes is left out of directories.
        if_ours: files that are named are treated as those in directories are.
        skipped: gets what is left out, and why.
    """
    seen = set()
    for path in paths:
        if path == "-":
            if path not in seen:
                seen.add(path)
                yield Candidate(STDIN, read_stdin(LARGEST))
            continue
        if os.path.isdir(path):
            found = _files_below(path, project, skipped)
        elif if_ours and (project.excludes(path) or of_package(path)):
            if skipped is not None:
                skipped.append(Skipped(path, of_package(path) or EXCLUDED))
            continue
        else:
            found = iter((Candidate(path, if_ours=if_ours and os.path.exists(path)),))
        for candidate in found:
            name = os.path.abspath(candidate.path)
            if name not in seen:
                seen.add(name)
                doubtful = candidate.if_ours and not project.claims(candidate.path)
                yield candidate._replace(path=_plain(candidate.path), if_ours=doubtful)


def _plain(path: str) -> str:
    """A path without ``./`` before it, as other tools name files."""
    here = os.curdir + os.sep
    while path.startswith(here):
        path = path[len(here) :].lstrip(os.sep)
    return path


def _files_below(
    directory: str, project: Project, skipped: Optional[List[Skipped]]
) -> Iterator[Candidate]:
    """The files of a directory that the project does not leave out."""
    at_top = os.path.abspath(directory) == project.root
    for path in walk(directory, project.exclude if at_top else (), skipped):
        if at_top or not project.excludes(path):
            yield Candidate(path, None, directory, True)
        elif skipped is not None:
            skipped.append(Skipped(path, EXCLUDED))
