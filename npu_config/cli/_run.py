"""What ``npu-config run`` does; nothing is imported that a script would have to wait for."""

import contextlib
import errno
import os
import sys
from shlex import quote
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.cli._output import (
    Failure,
    Unproducible,
    check_directory,
    deliver,
    guarded,
    say,
)
from npu_config.core.message import join, language, language_of, listed, localized, speaking

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.runner.ranks import SeenRank, SeenRanks
    from npu_config.runner.run import Seen


class RunOption(NamedTuple):
    """An option of the command.

    Args:
        flag: how it is written.
        name: the name of its value.
        legal: its choices; a range of numbers; ``str`` for any text; ``list`` for any text,
            several times; ``bool`` for a flag.
        help: what it does.
        default: its value in a call without it.
        metavar: what stands for its value in the help.
    """

    flag: str
    name: str
    legal: Union[Tuple[str, ...], range, type]
    help: str
    default: Union[str, bool, Tuple[str, ...], None] = None
    metavar: Optional[str] = None


OPTIONS = (
    RunOption(
        "--loops",
        "loops",
        ("device", "once"),
        "Let each session.run execute as many steps as on the device (the default), or only one.",
    ),
    RunOption(
        "--dry-run",
        "dry_run",
        bool,
        "Stop before the first training step and print what each session is configured with.",
        False,
    ),
    RunOption(
        "--format",
        "format_",
        ("yaml", "json"),
        "With --dry-run: output format; default: yaml.",
    ),
    RunOption("--steps", "steps", range(1, sys.maxsize), "Stop after this many session runs."),
    RunOption(
        "--ranks",
        "ranks",
        range(1, 33),
        "Start the script this many times, as the ranks of one job that communicate (1 to 32).",
        metavar="N",
    ),
    RunOption(
        "--timeout",
        "timeout",
        range(1, sys.maxsize),
        "End the run after this many seconds with exit code 124, and report the line "
        "that was running.",
        metavar="SECONDS",
    ),
    RunOption(
        "--set",
        "overrides",
        list,
        "Set an option in every session, overriding the script; null removes the option.  "
        "Repeatable.",
        (),
        metavar="NAME=VALUE",
    ),
    RunOption("--report", "report", str, "Write a JSON report of the run.", metavar="FILE"),
    RunOption("--overwrite", "overwrite", bool, "Allow the report to replace a file.", False),
    RunOption("--force", "force", bool, "Run even if the vendor's package is installed.", False),
)

_BY_FLAG = {option.flag: option for option in OPTIONS}
_MOST_DIGITS = 9


def read(words: Sequence[str]) -> Optional[Dict[str, Any]]:
    """What a call says, by the name of each value; None where only click can tell.

    To import click and make the group takes 40 ms, half of what a run without it adds to the
    time of a script.  So a well-formed call is read by the same table that click's command is
    made of, and all else is left to click, which says what is wrong.

    Args:
        words: what follows ``run``.
    """
    found: Dict[str, Any] = {option.name: option.default for option in OPTIONS}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word, equals, value = rest.pop(0).partition("=")
        option = _BY_FLAG.get(word)
        if word == "--" and not equals:
            break
        if option is None:
            return None
        if option.legal is bool:
            known: Union[str, int, None] = None if equals else True
        else:
            known = _value(option.legal, value if equals else rest.pop(0) if rest else "")
        if known is None:
            return None
        found[option.name] = (*found[option.name], known) if option.legal is list else known
    return {**found, "script": rest[0], "arguments": tuple(rest[1:])} if rest else None


def _value(legal: Any, text: str) -> Union[str, int, None]:
    """A value that is certainly legal, else None."""
    if isinstance(legal, range):
        plain = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
        return int(text) if plain and int(text) in legal else None
    free = legal in (str, list)
    return text if text and text[0] != "-" and (free or text in legal) else None


def words_of(values: Mapping[str, Any]) -> List[str]:
    """The words of a call with these values; without those that are as by default."""
    words: List[str] = []
    for option in OPTIONS:
        value = values[option.name]
        if option.legal is list:
            words += [word for each in value for word in (option.flag, each)]
        elif value != option.default:
            words += [option.flag] if value is True else [option.flag, str(value)]
    return words


def alone(values: Mapping[str, Any]) -> int:
    """All of a command line that was read without click; returns the exit code.

    Args:
        values: those of the call, as of :func:`read`.
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
        raise Failure("--format requires --dry-run; --report FILE writes a JSON report of the run")
    if values["overwrite"] and report is None:
        raise Failure("--overwrite requires --report FILE: it allows the report to replace a file")
    if report is not None:
        report = os.path.abspath(report)  # the script may change the directory
        if os.path.isdir(report) or (os.path.lexists(report) and not values["overwrite"]):
            text = "{} exists; pass another file name for the report, or add --overwrite"
            raise Failure(text, values["report"])
        if not os.path.isdir(os.path.dirname(report)):
            raise Failure("{} cannot be written: {}", report, os.strerror(errno.ENOENT))
    values = {**values, "report": report}
    if values["overrides"]:
        _refuse_wrong(values["overrides"])
    return int((_one if values["ranks"] is None else _several)(values).exit_code)


def _refuse_wrong(overrides: Sequence[str]) -> None:
    """Refuse overrides that are none.

    Raises:
        Failure: it says all of them.
    """
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.rules.overrides import overrides_of

    try:
        overrides_of(overrides)
    except NpuConfigError as error:
        found = [each.localized(language()) for each in error.diagnostics]
        words = ["; ".join(filter(None, (each.message, each.help))) for each in found]
        raise Failure("--set: {}", "; ".join(words)) from None


def _deliver(seen: Any, values: Mapping[str, Any]) -> None:
    """Write the report, and print the result of a dry run."""
    if values["report"] is None and not values["dry_run"]:
        return

    import json

    found = seen.to_dict()
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if values["report"] is not None:
        deliver(text, values["report"], values["overwrite"])
    if values["dry_run"]:
        if values["format_"] != "json":
            import yaml

            plain = json.loads(text)  # messages are texts of a class of their own
            text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
        deliver(text, None, False)


def _one(values: Mapping[str, Any]) -> "Seen":
    """Run a script in this process."""
    from npu_config.runner.finder import install_npu_bridge
    from npu_config.runner.run import run_path

    if not values["script"].endswith(".py"):
        from npu_config.cli._report import refuse_other_kind

        refuse_other_kind(values["script"], "script")
    dry_run, known_rules = values["dry_run"], None
    if dry_run:
        from npu_config.rulebook import load_all

        known_rules = load_all
    timeout = values["timeout"]
    out = _away() if dry_run else None

    streams = sys.stdout, sys.stderr  # the script may put others in their place

    def tell(seen: "Seen") -> None:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            if out is not None:
                _back(out)
            try:
                _deliver(seen, values)
            finally:
                say("".join(_summary(seen, values)), err=True)

    spoken = language()

    def last(seen: "Seen") -> None:  # in a thread of its own
        with speaking(spoken):
            guarded(lambda: tell(seen))

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
                timeout=timeout,
                last=last,
                overrides=values["overrides"],
            )
    except BaseException:
        if out is not None:
            _back(out)
        raise
    tell(seen)
    return seen


def _summary(seen: "Seen", values: Mapping[str, Any]) -> Iterator[str]:
    """What a user should know of a run: findings, variables that were set, why it ended."""
    dry_run, is_rank = values["dry_run"], _is_rank(values["report"])
    if seen.findings and not dry_run and not is_rank:
        yield from _listed((each, "") for each in seen.findings)
    if not is_rank:
        for why, where in {k: v for s in seen.sessions for k, v in s.calls.unseen.items()}.items():
            yield localized("npu-config run: not checked: {}: {}\n", where, why)
        notes = sum(
            each.situation is not None and each.severity.rank == 0 for each in seen.findings
        )
        if notes and not dry_run:
            text = (
                "npu-config run: notes on speed and shapes: {} (in the report)\n"
                if values["report"]
                else "npu-config run: notes on speed and shapes: {}; --report FILE has them\n"
            )
            yield localized(text, notes)
    if not seen.modules and any(s.lacks_optimizer and s.trains for s in seen.sessions):
        text = (
            "npu-config run: the script does not import npu_bridge; npu-config migrate {} "
            "migrates the script to the NPU\n"
        )
        yield localized(text, quote(seen.script))
    if seen.environment:
        pairs = " ".join("{}={}".format(*pair) for pair in sorted(seen.environment.items()))
        yield localized(
            "npu-config run: environment variables set for a job of one rank: {}\n", pairs
        )
    runs = sum(session.runs for session in seen.sessions)
    steps = sum(session.steps for session in seen.sessions)
    place = seen.error_place or seen.script
    if seen.ended == "steps":
        text = "npu-config run: stopped after {} session runs with {} training steps\n"
        yield localized(text, runs, steps)
    elif seen.ended in ("signal", "timeout"):
        if not is_rank:  # or else the command that ends it says so
            yield localized(_ENDED, place, seen.error, seen.exit_code, runs, steps)
    elif seen.exit_code:
        text = (
            "npu-config run: {} failed (exit code {}: {}) after {} session runs with {} training "
            "steps\n"
        )
        yield localized(text, place, seen.exit_code, seen.error, runs, steps)
        yield from _recognised(str(seen.error))
    elif dry_run and seen.ended == "finished":
        yield localized("npu-config run: the script ended before any training step\n")


def _recognised(error: str) -> Iterator[str]:
    """What is known of the failure of a script, as npu-config log knows it."""
    from npu_config.logs.causes import recognised

    found = recognised(error)
    if found is not None:
        name, cause, todo = found
        text = "npu-config run: known failure {}: {} What to do: {}\n"
        yield localized(text, name, localized(cause), localized(todo))


_ENDED = (
    "npu-config run: {} was terminated by {} (exit code {}) after {} session runs with {} "
    "training steps\n"
)


def _listed(found: Iterable[Tuple["Diagnostic", str]]) -> Iterator[str]:
    """Findings but for notes, each once, with words on where they come from."""
    from npu_config.core.diagnostics import Severity
    from npu_config.reporters.text import ends, finding

    found = list(found)
    shown = (
        localized("npu-config run: {}{}", whose, finding(each.localized(language())))
        for each, whose in found
        if each.severity is not Severity.INFO
    )
    yield from dict.fromkeys(shown)
    for line in ends(each for each, _ in found):
        yield localized("npu-config run: {}\n", line)


def _is_rank(report: Optional[str]) -> bool:
    """Whether this process is a rank of ``--ranks``, which tells all there is at the end."""
    if report is None:
        return False
    from npu_config.tf1.rank_link import ADDRESS

    hub = os.environ.get(ADDRESS, "").partition(":")[2]
    return bool(hub) and os.path.dirname(hub) == os.path.dirname(report)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """What keeps a script from being run, as a failure of the command."""
    from npu_config.runner.script import CannotRunError, NoScriptError

    try:
        yield
    except NoScriptError as error:
        raise Failure(error.args[0]) from None
    except CannotRunError as error:
        raise Unproducible(error.args[0]) from None
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
    own = {
        "ranks": None,
        "report": None,
        "overwrite": False,
        "timeout": None,
        "format_": "json" if dry_run else None,
    }
    spoken = [] if language() == language_of(os.environ) else ["--lang", language()]
    call = [*spoken, *words_of({**values, **own}), "--", values["script"], *values["arguments"]]
    try:
        stops = bool(values["steps"] or dry_run)
        seen = run_ranks(count, call, say, dry_run, stops, timeout=values["timeout"])
    except OSError as error:
        raise Failure("the ranks cannot be started: {}", error.strerror or error) from None
    try:
        _deliver(seen, values)
    finally:
        say("".join(_summary_of_ranks(seen, values)), err=True)
    return seen


def _summary_of_ranks(seen: "SeenRanks", values: Mapping[str, Any]) -> Iterator[str]:
    """What a user should know of a job: findings, why it ended, what its ranks did not do."""
    count = len(seen.ranks)
    if seen.findings and not values["dry_run"]:
        yield from _listed((each, _whose(of, count)) for each, of in seen.findings.items())
    if seen.ended == "timeout":
        yield localized(
            "npu-config run: the timeout of {} s expired (exit code {}):\n",
            values["timeout"],
            seen.exit_code,
        )
        yield from map(_where, seen.ranks)
    elif seen.failed is not None:
        last = "".join("    {}\n".format(line) for line in seen.tail)
        text = "npu-config run: rank {} failed first, with exit code {}; its last output:\n"
        yield localized(text, seen.failed, seen.exit_code) + last
        if seen.refused is not None:
            text = "npu-config run: a collective of rank {} failed: {}\n"
            yield localized(text, seen.failed, seen.refused)
    elif (
        count > 1
        and seen.steps
        and set(seen.collectives) <= {"broadcast"}
        and all(each.situation != "ranks-train-independently" for each in seen.findings)
    ):
        yield localized(_BROADCAST if seen.collectives else _NOTHING)


def _whose(ranks: Sequence[int], count: int) -> str:
    """The words on the ranks that a finding is of; none for one of all ranks."""
    if len(ranks) == count:
        return ""
    return localized("rank {}: " if len(ranks) == 1 else "ranks {}: ", listed(map(str, ranks)))


def _where(one: "SeenRank") -> str:
    """Where a rank was when the time was over."""
    seen = one.seen or {}
    place = seen.get("error_place") or localized("an unknown location")
    if seen and seen["ended"] != "signal":
        return localized("    rank {} had already ended\n", one.rank)
    if one.waits_in:
        names = listed('"{}"'.format(name) for name in one.waits_in)
        return localized(
            "    rank {} at {} was waiting for the other ranks in {}\n", one.rank, place, names
        )
    return localized("    rank {} at {} was not waiting for other ranks\n", one.rank, place)


_NOTHING = (
    "npu-config run: the ranks exchanged no data, so each rank trained its own weights: wrap "
    "the optimizer in npu_distributed_optimizer_wrapper(...) and broadcast the weights at the "
    "start (NPUBroadcastGlobalVariablesHook(0))\n"
)
_BROADCAST = (
    "npu-config run: the ranks exchanged weights but no gradients, so each rank trained by "
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
