"""What a run showed, as data and as text."""

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.runner.watch import SeenSession

_MOST_FILES = 20_000


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Seen:
    """What was seen of a script.

    Args:
        script: the file.
        exit_code: what ``python`` would have ended with; 0 when it was stopped as asked.
        ended: ``"finished"``, ``"dry-run"`` or ``"steps"``.
        loops: ``"device"`` or ``"once"``.
        environment: the variables that were filled in.
        findings: what is wrong with the variables of the job; looked for in a dry run.
        sessions: the sessions that it made.
        files: the files below the working directory that are new or changed.
        warnings: message, category, path and line of each warning.
    """

    script: str
    exit_code: int
    ended: str
    loops: str
    environment: Dict[str, str]
    findings: Tuple[Diagnostic, ...]
    sessions: Tuple[SeenSession, ...]
    files: Tuple[str, ...]
    warnings: Tuple[Tuple[str, str, Optional[str], int], ...]

    def to_dict(self) -> Dict[str, Any]:
        """The object of ``--report`` and of ``--dry-run``."""
        return {
            "version": 1,
            "script": self.script,
            "exit_code": self.exit_code,
            "ended": self.ended,
            "loops": self.loops,
            "environment": self.environment,
            "findings": [diagnostic.to_dict() for diagnostic in self.findings],
            "sessions": [_session(each) for each in self.sessions],
            "files": list(self.files),
            "warnings": [
                {"message": message, "category": category, "path": path, "line": line}
                for message, category, path, line in self.warnings
            ],
        }


def _session(seen: SeenSession) -> Dict[str, Any]:
    return {
        "path": seen.place.path,
        "line": seen.place.line,
        "options": {name: _plain(value) for name, value in seen.options.items()},
        "findings": [diagnostic.to_dict() for diagnostic in seen.findings],
        "runs": seen.runs,
        "steps": seen.steps,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def as_json(seen: Mapping[str, Any]) -> str:
    """A report as JSON."""
    return json.dumps(seen, indent=2, ensure_ascii=False) + "\n"


def as_yaml(seen: Mapping[str, Any]) -> str:
    """A report as YAML."""
    import yaml

    plain = json.loads(json.dumps(seen))  # messages are texts of a class of their own
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def stamps(folder: str) -> Dict[str, Tuple[int, int]]:
    """The files below a folder with their size and time; at most 20,000."""
    return dict(_stamped(folder))


def _stamped(folder: str) -> Iterable[Tuple[str, Tuple[int, int]]]:
    count = 0
    for directory, folders, names in os.walk(folder):
        folders[:] = [
            each for each in folders if not each.startswith(".") and each != "__pycache__"
        ]
        for name in names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            yield os.path.relpath(path, folder), (status.st_size, status.st_mtime_ns)
            count += 1
            if count >= _MOST_FILES:
                return


def changed(before: Dict[str, Tuple[int, int]], after: Dict[str, Tuple[int, int]]) -> List[str]:
    """The files that are new or not as they were."""
    return sorted(path for path, stamp in after.items() if before.get(path) != stamp)
