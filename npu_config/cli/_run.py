"""What ``npu-config run`` does; nothing is imported that a script would have to wait for."""

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from npu_config.cli._guard import check_directory, guarded
from npu_config.cli._output import Failure, deliver, say
from npu_config.cli._run_options import words_of
from npu_config.core.message import join, language, language_of, localized, speaking

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.runner.ranks import SeenRanks
    from npu_config.runner.run import Seen
    from npu_config.runner.sessions import SeenSession


def alone(values: Mapping[str, Any]) -> int:
    """All of a command line that was read without click; returns the exit code.

    Args:
        values: those of the call, as of :func:`_run_options.read`.
    """

    def command() -> int:
        check_directory()
        return run(values)

    with speaking(language_of(os.environ)):
        return guarded(command)


def run(values: Mapping[str, Any]) -> int:
    """Run the script of a call; returns its exit code."""
    report, dry_run, format_ = values["report"], values["dry_run"], values["format_"]
    if format_ is not None and not dry_run:
        raise Failure("--format belongs to --dry-run; --report FILE writes what a run showed")
    if report is not None:
        if os.path.lexists(report):
            raise Failure("{} exists; name another file for the report", report)
        report = os.path.abspath(report)  # the script may change the directory
        if not os.path.isdir(os.path.dirname(report)):
            raise Failure("{} cannot be written: {}", report, os.strerror(errno.ENOENT))
    seen = _one(values) if values["ranks"] is None else _several(values)
    if report is not None or dry_run:
        from npu_config.runner.report import as_json, as_yaml

        found = seen.to_dict()
        if report is not None:
            deliver(as_json(found), report, False)
        if dry_run:
            deliver((as_json if format_ == "json" else as_yaml)(found), None, False)
    return int(seen.exit_code)


def _one(values: Mapping[str, Any]) -> "Seen":
    """Run a script in this process."""
    from npu_config.runner.finder import install_npu_bridge
    from npu_config.runner.run import run_path

    dry_run, known_rules = values["dry_run"], None
    if dry_run:
        from npu_config.rulebook import load_all

        known_rules = load_all
    out = _away() if dry_run else None
    try:
        with _failures():
            install_npu_bridge(values["force"])  # until Python ends, for what is left to the end
            seen = run_path(
                values["script"],
                values["arguments"],
                values["loops"],
                dry_run,
                values["steps"],
                values["force"],
                files=dry_run or values["report"] is not None,
                known_rules=known_rules,
            )
    finally:
        if out is not None:
            _back(out)
    say("".join(_summary(seen, dry_run)), err=True)
    return seen


def _summary(seen: "Seen", dry_run: bool) -> Iterator[str]:
    """What a user should know of a run: findings, variables that were set, why it ended."""
    if seen.sessions and not dry_run:
        from npu_config.core.diagnostics import Report, Severity
        from npu_config.reporters.text import finding

        found = Report(each for session in seen.sessions for each in _of_the_npu(session))
        shown = [
            finding(each)
            for each in found.localized(language())
            if each.severity is not Severity.INFO
        ]
        yield from (localized("npu-config run: {}", each) for each in dict.fromkeys(shown))
    if not seen.modules and any(
        _lacks_optimizer(session) and (session.steps or seen.ended == "dry-run")
        for session in seen.sessions
    ):
        text = (
            "npu-config run: the script imports nothing of npu_bridge; npu-config migrate {} "
            "makes one for the NPU of it\n"
        )
        yield localized(text, seen.script)
    if seen.environment:
        pairs = " ".join("{}={}".format(*pair) for pair in sorted(seen.environment.items()))
        yield localized("npu-config run: set for one rank: {}\n", pairs)
    runs = sum(session.runs for session in seen.sessions)
    steps = sum(session.steps for session in seen.sessions)
    if seen.ended == "steps":
        text = "npu-config run: stopped after {} session runs with {} training steps\n"
        yield localized(text, runs, steps)
    elif seen.exit_code:
        text = (
            "npu-config run: {} failed (exit code {}: {}) after {} session runs with {} training "
            "steps\n"
        )
        place = seen.error_place or seen.script
        yield localized(text, place, seen.exit_code, seen.error, runs, steps)
    elif dry_run and seen.ended == "finished":
        yield localized("npu-config run: the script ended before any training step\n")


def _of_the_npu(session: "SeenSession") -> Sequence["Diagnostic"]:
    """The findings of a session, but for one that is meant for the CPU.

    A session without NpuOptimizer that trains lacks it, and nothing else matters; one that does
    not train may be there to read data, or to evaluate.
    """
    missing = [each for each in session.findings if each.rule == "NPU801"]
    return (missing if session.steps else []) if missing else session.findings


def _lacks_optimizer(session: "SeenSession") -> bool:
    return any(each.rule == "NPU801" for each in session.findings)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """What keeps a script from being run, as a failure of the command."""
    from npu_config.runner.script import CannotRunError

    try:
        yield
    except CannotRunError as error:
        raise Failure(error.args[0]) from None
    except ValueError as error:
        from npu_config.core.diagnostics import NpuConfigError

        if not isinstance(error, NpuConfigError):
            raise
        raise Failure(join("; ", [str(each.message) for each in error.diagnostics])) from None


def _several(values: Mapping[str, Any]) -> "SeenRanks":
    """Run a script as the ranks of a job."""
    from npu_config.runner.finder import install_npu_bridge
    from npu_config.runner.ranks import run_ranks
    from npu_config.runner.script import find

    with _failures():
        find(values["script"])
        install_npu_bridge(values["force"])()
    count, dry_run = values["ranks"], values["dry_run"]
    cores = os.cpu_count() or count
    if count > cores:
        say(
            localized("npu-config run: ranks: {}, sharing CPU cores: {}\n", count, cores), err=True
        )
    own = {"ranks": None, "report": None, "format_": "json" if dry_run else None}
    spoken = [] if language() == language_of(os.environ) else ["--lang", language()]
    call = [*spoken, *words_of({**values, **own}), "--", values["script"], *values["arguments"]]
    try:
        seen = run_ranks(count, call, say, dry_run, bool(values["steps"] or dry_run))
    except OSError as error:
        raise Failure("the ranks cannot be started: {}", error.strerror or error) from None
    if seen.failed is not None:
        last = "".join("    {}\n".format(line) for line in seen.tail)
        text = "npu-config run: rank {} failed first, with exit code {}; it wrote last:\n{}"
        say(localized(text, seen.failed, seen.exit_code, last), err=True)
        if seen.refused is not None:
            text = "npu-config run: a collective of rank {} failed: {}\n"
            say(localized(text, seen.failed, seen.refused), err=True)
    elif count > 1 and seen.steps and set(seen.collectives) <= {"broadcast"}:
        say(localized(_BROADCAST if seen.collectives else _NOTHING), err=True)
    return seen


_NOTHING = (
    "npu-config run: the ranks exchanged nothing, so that each has trained weights of its own: "
    "wrap the optimizer in npu_distributed_optimizer_wrapper(...) and broadcast the weights at "
    "the start (NPUBroadcastGlobalVariablesHook(0))\n"
)
_BROADCAST = (
    "npu-config run: the ranks exchanged weights and no gradients, so that each went on by "
    "itself: wrap the optimizer in npu_distributed_optimizer_wrapper(...)\n"
)


def _away() -> int:
    """What the script prints goes to standard error, so that the output holds the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def _back(kept: int) -> None:
    sys.stdout.flush()
    os.dup2(kept, 1)
    os.close(kept)
