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

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.text.files import write_atomic
from npu_config.text.source import load

__all__ = ["Baseline", "BaselineError"]

VERSION = 1
_LARGEST = 64 * 1024 * 1024
_MOST = 1_000_000_000


@declare("NPU899", Severity.ERROR, source=("npu_config",))
def baseline_unusable() -> None:
    """A baseline file cannot be read, or is not a baseline.

    Without a baseline, every finding would count as new, so nothing is checked.

    Wrong:

        npu-config check --baseline README.md scripts/

    Right:

        npu-config check --write-baseline npu-baseline.json scripts/
        npu-config check --baseline npu-baseline.json scripts/
    """


_FIELDS = ("rule", "path", "option", "line")
_NEVER_KNOWN = frozenset(("NPU701", "NPU792", "NPU833"))
"""What is wrong with the run rather than with old code: it is always reported."""

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
        """The baseline that allows these findings; not that a file could not be read at all.

        Args:
            diagnostics: the findings.
            texts: the content of the files they are in, by path.
            root: the directory that paths are written relative to.
        """
        baseline = cls({}, root)
        lines = _lines_of(texts)
        for diagnostic in diagnostics:
            if diagnostic.rule not in _NEVER_KNOWN:
                baseline._counts[baseline._key(diagnostic, lines)] += 1
        return baseline

    @classmethod
    def load(cls, path: PathLike) -> "Baseline":
        """Read a baseline; paths in it are relative to the directory of the file.

        Raises:
            BaselineError: it cannot be read, or is no baseline.
        """
        name = path_name(path)
        data = load(name, _LARGEST)
        if isinstance(data, Diagnostic):
            raise _unusable(name, data.message)
        try:
            counts = _counts_of(json.loads(data.decode("utf-8")))
        except RecursionError:
            raise _unusable(name, "the content is nested too deeply") from None
        except ValueError as error:
            raise _unusable(
                name, phrase("the file is not a baseline of version 1: {}", error)
            ) from None
        return cls(counts, os.path.dirname(os.path.abspath(name)))

    def save(self, path: PathLike, overwrite: bool = False) -> None:
        """Write the baseline.

        Raises:
            FileExistsError: the file exists and ``overwrite`` is False.
            OSError: the directory is missing, read-only or full.
        """
        findings = [
            {"rule": rule, "path": name, "option": option, "line": line, "count": count}
            for (rule, name, option, line), count in sorted(self._counts.items())
        ]
        content = {"version": VERSION, "findings": findings}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_atomic(path, text.encode("utf-8", "backslashreplace"), overwrite)

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


def _counts_of(content: Any) -> Dict[Key, int]:
    """The findings of a baseline file.

    Raises:
        ValueError: with the reason in words.
    """
    if not isinstance(content, dict) or "version" not in content:
        raise ValueError("the content is not an object with a version")
    version, findings = content["version"], content.get("findings")
    if type(version) is not int or version != VERSION:
        raise ValueError(phrase("the version is {!r}", version))
    if not isinstance(findings, list):
        raise ValueError("the file has no list of findings")
    counts: Dict[Key, int] = {}
    for number, entry in enumerate(findings, 1):
        fields: Dict[str, Any] = entry if isinstance(entry, dict) else {}
        if not all(isinstance(fields.get(name), str) for name in _FIELDS):
            raise ValueError(
                phrase(
                    "finding {} must have the keys {}, each with a string", number, listed(_FIELDS)
                )
            )
        count = fields.get("count")
        if type(count) is not int or not 1 <= count <= _MOST:
            raise ValueError(
                phrase("the count of finding {} is not a number from 1 to {:,}", number, _MOST)
            )
        key: Key = (fields["rule"], fields["path"], fields["option"], fields["line"])
        counts[key] = counts.get(key, 0) + count
    return counts


def _unusable(path: str, reason: str) -> BaselineError:
    message = phrase("the baseline cannot be used: {}", reason)
    return BaselineError(baseline_unusable.diagnostic(message, Place(path)))
