"""Baselines: the findings that old code is allowed to keep.

A baseline remembers each finding by its rule, its file, the option and the text of its line,
not by the line's number, so that it survives edits elsewhere in the file.  It says how often a
finding may occur; one more is new.
"""

import collections
import hashlib
import json
import os
from typing import Any, Callable, Counter, Dict, Iterable, List, Mapping, Optional, Tuple

from npu_config.diagnostics import Diagnostic, Place, Severity
from npu_config.files import PathLike, write_atomic
from npu_config.rulebook import declare

__all__ = ["Baseline", "BaselineError"]

VERSION = 1

UNUSABLE = declare(
    "NPU899",
    "baseline-unusable",
    Severity.ERROR,
    """
    A baseline file cannot be read, or is none.

    Without it every finding would count as new, so nothing is checked.

    Wrong:

        npu-config check --baseline README.md scripts/

    Right:

        npu-config check --write-baseline npu-baseline.json scripts/
        npu-config check --baseline npu-baseline.json scripts/
    """,
    source=("npu_config",),
)

Key = Tuple[str, str, str, str]
Lines = Callable[[Diagnostic], str]


class BaselineError(ValueError):
    """A baseline cannot be used; ``diagnostic`` says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


class Baseline:
    """Findings that are known, and how often each may occur.

    Args:
        counts: finding to number.
        root: the directory that paths in it are relative to.
    """

    def __init__(self, counts: Mapping[Key, int], root: str = ".") -> None:
        self._counts: Counter[Key] = collections.Counter(dict(counts))
        self._root = os.path.abspath(root)

    def __len__(self) -> int:
        return sum(self._counts.values())

    @classmethod
    def of(
        cls,
        diagnostics: Iterable[Diagnostic],
        texts: Mapping[Optional[str], str],
        root: str = ".",
    ) -> "Baseline":
        """The baseline that allows exactly these findings.

        Args:
            diagnostics: the findings.
            texts: the content of the files they are in, by path.
            root: the directory that paths are written relative to.
        """
        baseline = cls({}, root)
        lines = _lines_of(texts)
        for diagnostic in diagnostics:
            baseline._counts[baseline._key(diagnostic, lines)] += 1
        return baseline

    @classmethod
    def load(cls, path: PathLike) -> "Baseline":
        """Read a baseline; paths in it are relative to the directory of the file.

        Raises:
            BaselineError: it cannot be read, or is no baseline.
        """
        name = os.fspath(path)
        try:
            with open(name, encoding="utf-8") as stream:
                content = json.load(stream)
            findings = content["findings"]
            if content["version"] != VERSION:
                raise ValueError("its version is {!r}".format(content["version"]))
            counts: Dict[Key, int] = {}
            for entry in findings:
                key = (
                    str(entry["rule"]),
                    str(entry["path"]),
                    str(entry["option"]),
                    str(entry["line"]),
                )
                counts[key] = counts.get(key, 0) + _count(entry["count"])
        except OSError as error:
            raise _unusable(name, error.strerror or str(error)) from None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise _unusable(name, "it is no baseline of version 1: {}".format(error)) from None
        return cls(counts, os.path.dirname(os.path.abspath(name)))

    def save(self, path: PathLike) -> None:
        """Write the baseline, replacing one that is there.

        Raises:
            OSError: the directory is missing, read-only or full.
        """
        findings = [
            {"rule": rule, "path": name, "option": option, "line": line, "count": count}
            for (rule, name, option, line), count in sorted(self._counts.items())
        ]
        content = {"version": VERSION, "findings": findings}
        write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n", True)

    def new(
        self, diagnostics: Iterable[Diagnostic], texts: Mapping[Optional[str], str]
    ) -> List[Diagnostic]:
        """The findings that the baseline does not allow, in their order."""
        left = self._counts.copy()
        lines = _lines_of(texts)
        found = []
        for diagnostic in diagnostics:
            key = self._key(diagnostic, lines)
            if left[key] > 0:
                left[key] -= 1
            else:
                found.append(diagnostic)
        return found

    def _key(self, diagnostic: Diagnostic, lines: Lines) -> Key:
        path = diagnostic.path or ""
        if path:
            path = os.path.relpath(os.path.abspath(path), self._root).replace(os.sep, "/")
        digest = hashlib.sha256(lines(diagnostic).encode("utf-8", "replace")).hexdigest()[:16]
        return diagnostic.rule, path, diagnostic.option or "", digest


def _lines_of(texts: Mapping[Optional[str], str]) -> Lines:
    """A function from a finding to the text of its line, without the spaces around it."""
    split: Dict[Optional[str], List[str]] = {}

    def line_of(diagnostic: Diagnostic) -> str:
        path = diagnostic.path
        if path not in split:
            split[path] = texts.get(path, "").splitlines()
        rows = split[path]
        number = diagnostic.line or 0
        return rows[number - 1].strip() if 0 < number <= len(rows) else ""

    return line_of


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("count {!r}".format(value))
    return value


def _unusable(path: str, reason: str) -> BaselineError:
    message = "the baseline cannot be used: {}".format(reason)
    return BaselineError(UNUSABLE.diagnostic(message, Place(path)))
