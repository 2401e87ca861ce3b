"""One run of a script with the vendor's modules served from this package."""

import os
import sys
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.arguments import path_name
from npu_config.core.message import phrase
from npu_config.runner import environment, finder, namesake, report, script
from npu_config.runner.watch import Watch

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.core.files import PathLike
    from npu_config.judging import KnownRules
    from npu_config.runner.sessions import SeenSession


class Seen(NamedTuple):
    """What was seen of a script.

    Args:
        script: the file.
        exit_code: what ``python`` would have ended with; 0 when it was stopped as asked.
        ended: ``"finished"`` (also where it failed: see ``error``), ``"dry-run"`` or ``"steps"``.
        loops: ``"device"`` or ``"once"``.
        modules: the vendor's modules that it imported, in the order of their names.
        environment: the variables that were filled in.
        findings: what is wrong with the script as it is written, and with the variables of the
            job; looked for in a dry run.
        sessions: the sessions that it made.
        files: the files below the working directory that are new or changed.
        warnings: message, category, path and line of each warning.
        error: what ended it, e.g. ``"ValueError: ..."``, where ``exit_code`` is not 0; else None.
        error_place: the line of the script, or of a module beside it, that led there.
    """

    script: str
    exit_code: int
    ended: str
    loops: str
    modules: Tuple[str, ...]
    environment: Dict[str, str]
    findings: Tuple["Diagnostic", ...]
    sessions: Tuple["SeenSession", ...]
    files: Tuple[str, ...]
    warnings: Tuple[Tuple[str, str, Optional[str], int], ...]
    error: Optional[str] = None
    error_place: Optional[str] = None

    def to_dict(self) -> Dict[str, Any]:
        """The object of ``--report`` and of ``--dry-run``."""
        return {
            "version": 1,
            "script": self.script,
            "exit_code": self.exit_code,
            "ended": self.ended,
            "error": self.error,
            "error_place": self.error_place,
            "loops": self.loops,
            "modules": list(self.modules),
            "environment": self.environment,
            "findings": [diagnostic.to_dict() for diagnostic in self.findings],
            "sessions": [each.to_dict() for each in self.sessions],
            "files": list(self.files),
            "warnings": [
                {"message": message, "category": category, "path": path, "line": line}
                for message, category, path, line in self.warnings
            ],
        }


def run_path(
    path: "PathLike",
    arguments: Sequence[str] = (),
    loops: Optional[str] = None,
    dry_run: bool = False,
    steps: Optional[int] = None,
    force: bool = False,
    files: bool = True,
    known_rules: "Optional[KnownRules]" = None,
) -> Seen:
    """Run a training script as it is, without an NPU and without the vendor's package.

    The script gets its own ``sys.argv``, ``__main__`` and ``sys.path[0]``; what it raises is
    printed as ``python`` prints it.  Variables that a launcher would have set (``RANK_ID``,
    ``JOB_ID`` ...) are filled in for one rank where they are missing.

    Args:
        path: the script, or a directory with a ``__main__.py``.
        arguments: its arguments.
        loops: ``"device"``: a ``session.run`` makes as many steps as on the device;
            ``"once"``: one.  None: what ``NPU_CONFIG_LOOPS`` says, else ``"device"``.
        dry_run: stop before the first run that trains.
        steps: stop after so many runs of sessions; initialisation and broadcast do not count.
        force: serve the modules although the vendor's package is installed.
        files: look which files below the working directory the script writes.
        known_rules: as :func:`npu_config.judging.judge`, for a dry run.

    Returns:
        What was seen, with the exit code.

    Raises:
        CannotRunError: there is no such script.
        NpuConfigError: the vendor's package is installed and ``force`` is False.
        ValueError: ``steps`` is below 1.
    """
    if steps is not None and steps < 1:
        raise ValueError(phrase("steps must be at least 1, got {}", steps))
    name = path_name(path)
    found = script.find(name)
    already = finder.installed() is not None
    finder.install_npu_bridge(force)
    filled = environment.fill(os.environ)
    names = ("NPU_CONFIG_LOOPS", "NPU_CONFIG_LOOPS_BY", "PYTHONPATH")
    kept = {name: os.environ.get(name) for name in names}
    if loops is not None:
        os.environ["NPU_CONFIG_LOOPS_BY"] = "run"
    loops = loops or kept["NPU_CONFIG_LOOPS"] or "device"
    os.environ["NPU_CONFIG_LOOPS"] = loops
    os.environ["PYTHONPATH"] = os.pathsep.join(
        each for each in (finder.SHIM, kept["PYTHONPATH"]) if each
    )
    sys.path.insert(1, finder.SHIM)  # processes of multiprocessing get this path
    watch = Watch(dry_run, steps)
    folder = os.getcwd()
    before = report.stamps(folder) if files else {}
    findings = _judged(found, known_rules) if dry_run else ()
    watch.start()
    unshare = namesake.share(os.path.dirname(os.path.realpath(found)))
    try:
        end = script.execute(found, arguments, name)
    finally:
        unshare()
        watch.stop()
        modules = finder.served()
        if dry_run:
            findings += environment.check(os.environ, filled)
        for name in filled:
            os.environ.pop(name, None)
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if finder.SHIM in sys.path:
            sys.path.remove(finder.SHIM)
        if not already:
            finder.uninstall_npu_bridge()
    ended = "finished"
    if watch.stopped:
        ended = "dry-run" if dry_run else "steps"
    return Seen(
        found,
        end.code,
        ended,
        loops,
        modules,
        filled,
        findings,
        tuple(watch.sessions),
        tuple(report.changed(before, report.stamps(folder) if files else {})),
        tuple(
            (message, category, path or "", line)
            for message, category, path, line in watch.warnings
        ),
        end.error,
        end.place,
    )


def _judged(path: str, known_rules: "Optional[KnownRules]") -> Tuple["Diagnostic", ...]:
    """What ``npu-config check`` says of a script."""
    from npu_config.judging import Around, judge
    from npu_config.lint.project import target_near

    around = Around(default=target_near(path))
    return judge(path, around, "script", known_rules=known_rules).found
