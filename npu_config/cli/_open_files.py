"""The check of a file that an editor has open: that of ``npu-config check --if-ours``."""

import os
from dataclasses import replace
from typing import Dict, Mapping, Optional

import click

from npu_config.cli._options import around_of
from npu_config.cli._output import Failure
from npu_config.cli._session import Session, selection
from npu_config.cli.check import without_known
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.target import ANY_TARGET
from npu_config.editor.files import Checked
from npu_config.lint.project import Project, find_project
from npu_config.lint.walk import of_package
from npu_config.readers import RULES_OF_OTHERS, SIDE_FILES
from npu_config.rulebook import load_all
from npu_config.text.rules import unreadable_file
from npu_config.text.source import unsaved


class OpenFileChecker:
    """Checks files as the command does that is called for every file that is opened.

    What an editor holds unsaved is remembered from one call to the next.
    """

    def __init__(self) -> None:
        self._texts: Dict[str, bytes] = {}
        self._here = os.getcwd()

    def __call__(
        self, changes: Mapping[str, Optional[bytes]], path: str, known: Optional[str] = None
    ) -> Checked:
        """Check one file; see :class:`npu_config.editor.files.Files`."""
        for name, content in changes.items():
            if content is None:
                self._texts.pop(name, None)
            else:
                self._texts[name] = content
        try:
            os.chdir(self._here)
        except OSError:  # the folder that was opened is gone
            os.chdir(os.sep)
        with unsaved(self._texts) as asked:
            project = find_project(path, load_all)
            try:
                session = _session(project)
                session.check([path], if_ours=True)
                if known is not None and session.left_out and not _left_alone(path, project):
                    session = _named(path, project, known) or session
                report = without_known(session.report(), session, project.baseline)
            except (Failure, click.ClickException) as error:  # a baseline or a rule of the project
                message = str(error.args[0]) if error.args else str(error)
                found = unreadable_file.diagnostic(message, Place(project.path))
                return Checked((_absolute(found),), True, frozenset(asked))
        return Checked(tuple(map(_absolute, report)), not session.left_out, frozenset(asked))


def _session(project: Project, as_kind: Optional[str] = None) -> Session:
    """A check with the settings of a project."""
    around = around_of(ANY_TARGET, project, project.on_host)
    return Session(project, around, selection(project.select, project.ignore), as_kind)


def _left_alone(path: str, project: Project) -> bool:
    return project.excludes(path) or of_package(path) is not None


def _named(path: str, project: Project, known: str) -> Optional[Session]:
    """The check of a file that is known to be ours, though its text does not say so: as if named.

    None where the text has become that of another program.
    """
    session = _session(project, known if known in SIDE_FILES else None)
    session.check([path])
    return None if any(each.rule in RULES_OF_OTHERS for each in session.report()) else session


def _absolute(found: Diagnostic) -> Diagnostic:
    """A finding whose path does not depend on the working directory."""
    path = found.path
    return found if path is None else replace(found, path=os.path.abspath(path))
