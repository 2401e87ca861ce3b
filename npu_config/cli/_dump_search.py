"""``npu-config dump search``: which fusion pass, operator or precision mode is at fault."""

import hashlib
import math
import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import attr
import click

from npu_config.cli import _dump_next as following
from npu_config.cli._dump_shared import (
    Columns,
    attempt_values,
    document,
    format_option,
    graph_option,
    table,
)
from npu_config.cli._options import FILE
from npu_config.cli._output import Failure, Unproducible, say, writing
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report
from npu_config.core.message import join, listed, localized, phrase, printable
from npu_config.core.paths import reading
from npu_config.dumps import search as searching
from npu_config.dumps.search import GRAPH, PRECISION, TYPE, UB, Search, SearchRun, Suspect
from npu_config.text.words import did_you_mean

_MOST_OPERATORS = 1000
_NAMED = 10


@click.command("search")
@click.argument("path", metavar="STATE")
@click.option(
    "--config",
    "base",
    metavar="BASE",
    type=FILE,
    help=("The job's configuration; starts a search."),
)
@click.option(
    "--fusion-result",
    "fusion_result",
    metavar="FILE",
    type=FILE,
    help="fusion_result.json: the passes that took effect are suspects.",
)
@graph_option
@click.option(
    "--suspect",
    "passes",
    multiple=True,
    metavar="PASS",
    help="A fusion pass to test as a possible cause.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="An operator type to test as a possible cause.",
)
@click.option(
    "--reference",
    metavar="REFERENCE",
    type=FILE,
    help=(
        "The reference that dumps are compared with; without one, runs are judged by "
        "overflows, NaN and infinities."
    ),
)
@click.option(
    "--dump",
    metavar="PATH",
    type=FILE,
    help=("The dump of the last run, from which its verdict is computed."),
)
@click.option("--agrees", type=int, metavar="N", help="Run N gave the right result.")
@click.option("--diverges", type=int, metavar="N", help="Run N gave a wrong result.")
@click.option("--undo", is_flag=True, help="Undo the last verdict.")
@click.option("--force", is_flag=True, help="Overwrite configurations that exist.")
@format_option
def search_command(
    path: str,
    base: Optional[str],
    fusion_result: Optional[str],
    graph: Optional[str],
    passes: Tuple[str, ...],
    types: Tuple[str, ...],
    reference: Optional[str],
    dump: Optional[str],
    agrees: Optional[int],
    diverges: Optional[int],
    undo: bool,
    force: bool,
    format_: str,
) -> int:
    """Search for the cause of wrong results: a fusion pass, an operator type, the precision mode.

    Each call writes the configuration of one run. Pass the result of the run to the next call
    (--dump, --agrees or --diverges), until the search has found the smallest set of changes that
    makes the result correct. STATE is the file that stores the suspects and every run.

    Exit code 0 while the search continues and when it finds a set, 1 when it ends without one.
    """
    unchecked = ""
    if sum((dump is not None, agrees is not None, diverges is not None, undo)) > 1:
        raise click.UsageError(
            localized("--dump, --agrees, --diverges and --undo cannot be combined")
        )

    def new_search() -> Search:
        """A new search of what is named."""
        known = attempt(format_, lambda: _known(fusion_result, graph))
        _refuse_unknown(known, passes, types)
        more = types
        if dump is not None and reference is None:
            overflowed = dump
            more += attempt_values(format_, lambda: _types(overflowed, graph))
        suspects = attempt(format_, lambda: _suspects(known, passes, more))
        return attempt(format_, lambda: _new_search(path, base or "", suspects, reference))

    if passes and fusion_result is None and graph is None:
        unchecked = phrase(
            "it is unknown whether these passes took effect: {}; pass --fusion-result or "
            "--graph to check",
            listed(passes),
        )
    if os.path.lexists(path):
        search = attempt(format_, lambda: _continued(path, base))
        if fusion_result or passes or types or reference:
            judges = undo or agrees is not None or diverges is not None
            if judges or base is None or not _is_same(new_search(), search):
                raise Failure(
                    "the search in {} has started; its suspects and its reference "
                    "cannot be changed",
                    path,
                )
            dump = None  # the call that began the search, once more
    elif base is None:
        raise Failure(
            ("{} does not exist; pass --config BASE and suspects to start a search there"), path
        )
    elif agrees is not None or diverges is not None or undo:
        raise Failure(
            "{} does not exist, so there is no run to which this verdict could apply", path
        )
    else:
        search = new_search()
        if dump is not None:  # the dump of the base itself
            search = attr.evolve(search, runs=(SearchRun(1, frozenset()),))
    if undo:
        _forget(search, path)
        search = _undone(search)
    elif dump is not None:
        source = dump
        search = attempt_values(format_, lambda: _judged(search, path, source, graph))
    for number, verdict in ((agrees, searching.AGREES), (diverges, searching.DIVERGES)):
        if number is not None:
            search = _told(search, number, verdict)
    return _go_on(search, path, force, format_, unchecked)


# suspects


def _is_same(one: Search, other: Search) -> bool:
    """True when two searches look for the same."""
    return (one.suspects, one.base_hash, one.records, one.reference) == (
        other.suspects,
        other.base_hash,
        other.records,
        other.reference,
    )


def _types(dump: str, graph: Optional[str]) -> Tuple[str, ...]:
    """The operator types that overflowed with clean inputs; without a record by their values."""
    from npu_config.dumps.overflow import HERE, explain_overflows
    from npu_config.dumps.scan import scan_dumps

    recorded = explain_overflows(dump).mixlist
    if recorded:
        return tuple(recorded)
    bad = [each for each in scan_dumps(dump, graph).tensors if each.origin == HERE]
    bad = [each for each in bad if each.data_type == "DT_FLOAT16"]
    odd = [each.op_type for each in bad if each.statistics.nan or each.statistics.infinite]
    return tuple(dict.fromkeys(odd))


class _Known(NamedTuple):
    """What is known of the compiled graph: the passes that took effect, and the operators."""

    passes: Sequence[Any] = ()
    operators: Sequence[Any] = ()

    @property
    def names(self) -> List[str]:
        """The passes of the graph, by name."""
        return [name for op in self.operators for name in op.passes]


def _known(fusion_result: Optional[str], graph: Optional[str]) -> _Known:
    from npu_config.diagnosis.fusion_result import read_fusion_result
    from npu_config.dumps.graph import read_ge_graph

    return _Known(
        () if fusion_result is None else read_fusion_result(fusion_result).effective,
        () if graph is None else tuple(read_ge_graph(graph)),
    )


def _refuse_unknown(known: _Known, passes: Sequence[str], types: Sequence[str]) -> None:
    """A name that the compiled graph does not have is a slip of the pen."""
    of_passes = dict.fromkeys([*(each.name for each in known.passes), *known.names])
    of_types = dict.fromkeys(op.type for op in known.operators)
    for names, legal, words in (
        (passes, of_passes, "no fusion pass that took effect is called {}; there are {:,}{}"),
        (types, of_types, "no operator of the graph is of the type {}; there are {:,} types{}"),
    ):
        for name in names:
            if legal and name not in legal:
                hint = did_you_mean(name, legal)
                raise Failure(words, name, len(legal), "; {}".format(hint) if hint else "")


def _suspects(known: _Known, passes: Sequence[str], types: Sequence[str]) -> List[Suspect]:
    """Everything that is named as a suspect, each once."""
    effective = {each.name for each in known.passes}
    named = [name for name in (*passes, *known.names) if name not in effective]
    graph_passes, ub_passes = following.by_kind(named)
    found = [Suspect(GRAPH if p.kind == "graph_fusion" else UB, p.name) for p in known.passes]
    found += [Suspect(GRAPH, name) for name in graph_passes]
    found += [Suspect(UB, name) for name in ub_passes]
    found += [Suspect(TYPE, name) for name in types]
    return list(dict.fromkeys(found))


def _new_search(path: str, base: str, suspects: List[Suspect], reference: Optional[str]) -> Search:
    """A new search; what the base changes already is no suspect."""
    config = following.load_base(base)
    files = [following.side_file_of(config, option, base) for option in _SIDE_FILES]
    there = [[] if file is None else [file] for file in files]
    switches = following.united_switches(there[0], (), ())
    lists = following.united_mixlist(there[1], ())
    kept = [
        each
        for each in suspects
        if (each.kind == TYPE and each.name not in lists.black.add)
        or (each.kind in (GRAPH, UB) and switches.state(each.name, each.kind == UB) is not False)
    ]
    v2 = config.get("precision_mode_v2") is not None
    option = "precision_mode_v2" if v2 else "precision_mode"
    if config.get(option) != following.ORIGIN[option]:
        kept.append(Suspect(PRECISION, following.ORIGIN[option]))
    if not any(each.kind != PRECISION for each in kept):
        raise Unproducible(
            "no suspect is left: pass fusion passes or operator types that {} does not change "
            "yet (--fusion-result, --graph, --suspect, --type)",
            base,
        )
    records = "base" if config.get("dump_path") is None else "overflow"
    folder = os.path.dirname(os.path.abspath(path))
    return Search(
        os.path.relpath(base, folder),
        _hash([base, *files]),
        tuple(kept),
        "dump" if reference is not None else records,
        None if reference is None else os.path.relpath(reference, folder),
    )


_SIDE_FILES = ("fusion_switch_file", "modify_mixlist")


def _hash(paths: Iterable[Optional[str]]) -> str:
    """The hash of the content of files."""
    result = hashlib.sha256()
    for path in paths:
        if path is not None:
            with open(path, "rb", opener=reading) as stream:
                result.update(stream.read())
            result.update(b"\0")
    return result.hexdigest()


def _continued(path: str, base: Optional[str]) -> Search:
    """The search of a state, whose base is as it was.

    Raises:
        NpuConfigError: it is not a state, or the base is another one.
    """
    search = searching.load_search(path)
    place = _beside(path, search.base)
    for each in (place, base):
        if each is None:
            continue
        config = following.load_base(each)
        files = [following.side_file_of(config, option, each) for option in _SIDE_FILES]
        if _hash([each, *files]) != search.base_hash:
            message = "{} has changed since the search started"
            raise searching.refused(path, phrase(message, each))
    return search


def _beside(path: str, name: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(path)), name))


# verdicts


def _told(search: Search, number: int, verdict: str) -> Search:
    """The search with the verdict of a run; the same verdict once more changes nothing."""
    pending = search.pending
    known = {run.number: run for run in search.runs}
    if pending is not None and pending.number == number:
        return _with_verdict(search, verdict, "--" + verdict)
    if number not in known:
        waits = localized(
            "no run is waiting for a verdict"
            if pending is None
            else "run {} is waiting for its verdict",
            *_number(pending),
        )
        raise Failure("there is no run {}; {}", number, waits)
    if known[number].verdict != verdict:
        raise Failure(
            'the verdict of run {} is "{}" already; --undo removes the last verdict',
            number,
            localized(known[number].verdict or ""),
        )
    return search


def _number(run: Optional[SearchRun]) -> Tuple[int, ...]:
    return () if run is None else (run.number,)


def _with_verdict(search: Search, verdict: str, how: str, runs: Sequence[str] = ()) -> Search:
    last = attr.evolve(search.runs[-1], verdict=verdict, how=how, runs=tuple(runs))
    return attr.evolve(
        search, runs=(*search.runs[:-1], last), known=tuple(sorted({*search.known, *runs}))
    )


def _forget(search: Search, path: str) -> None:
    """Remove the configuration of the run that waits, unless somebody changed it."""
    if search.pending is None:
        return
    try:
        target, made = _configuration(search, path, search.pending.cures)
    except NpuConfigError:
        return
    following.discard(target, made)


def _undone(search: Search) -> Search:
    judged = [run for run in search.runs if run.verdict is not None]
    if not judged:
        raise Failure("there is no verdict to undo")
    last = judged[-1]
    again = attr.evolve(last, verdict=None, how="", runs=())
    known = tuple(run for run in search.known if run not in last.runs)
    return attr.evolve(search, runs=(*judged[:-1], again), known=known)


class _Verdict(NamedTuple):
    verdict: str
    how: str


def _judged(search: Search, path: str, dump: str, graph: Optional[str]) -> Search:
    """The search with the verdict that the dump of the last run gives.

    Raises:
        NpuConfigError: the dump is damaged, or is of another network.
        Failure: it holds no new run.
    """
    from npu_config.dumps.tree import find_dumps, newest, no_dump

    pending = search.pending
    if pending is None:
        raise Failure("no run is waiting for its verdict")
    tree = find_dumps(dump)
    if not len(tree) and (tree.strays or tree.diagnostics):
        raise NpuConfigError([*tree.diagnostics, no_dump(tree, dump)])
    names = {file.op_name for file in tree if file.kind != "overflow"}
    if search.operators and names and not names & set(search.operators):
        message = (
            "the dump {} has none of the operators of the earlier runs: it belongs to "
            "another network"
        )
        raise searching.refused(path, phrase(message, dump))
    folders = _folders(tree)
    fresh = [run for run in folders if run not in search.known]
    if len(tree) and not folders:
        raise Failure(
            "the dump has no folder of a run (YYYYMMDDHHMMSS); pass --agrees {0} or --diverges "
            "{0}",
            pending.number,
        )
    if not fresh:
        raise Unproducible(
            "there is no new run below {}; a run without an overflow writes no folder: if the "
            "job ran with the configuration of run {}, pass --agrees {}",
            dump,
            pending.number,
            pending.number,
        )
    judge = _compared if search.reference is not None else _overflowed
    reference = None if search.reference is None else _beside(path, search.reference)
    new = newest(tree.only([file for file in tree if file.run in fresh]))
    chosen = sorted({run for _, run in new.runs if run is not None})
    verdicts = [judge(folders[run], reference, graph) for run in chosen]
    wrong = [each for each in verdicts if each.verdict == searching.DIVERGES]
    verdict = (wrong or verdicts)[0]
    search = _with_verdict(search, verdict.verdict, verdict.how, fresh)
    operators = search.operators or tuple(sorted(names)[:_MOST_OPERATORS])
    return attr.evolve(search, operators=operators)


def _folders(tree: Any) -> Dict[str, str]:
    """The folder of each run."""
    from npu_config.dumps.tree import run_folder

    result: Dict[str, str] = {}
    for file in tree:
        if file.run is not None and file.run not in result:
            result[file.run] = run_folder(file)
    return result


def _overflowed(folder: str, _: Optional[str], graph: Optional[str]) -> _Verdict:
    """Whether something overflowed, or is NaN or infinite."""
    from npu_config.dumps.overflow import explain_overflows, finding
    from npu_config.dumps.scan import finding as odd
    from npu_config.dumps.scan import scan_dumps

    report = explain_overflows(folder, graph)
    if report.overflows:
        return _Verdict(searching.DIVERGES, finding(report.overflows[0]).message)
    scan = scan_dumps(folder)
    values = [each for each in scan.tensors if each.statistics.nan or each.statistics.infinite]
    if values:
        return _Verdict(searching.DIVERGES, odd(values[0]).message)
    _refuse_damaged([*report.diagnostics, *scan.diagnostics])
    return _Verdict(
        searching.AGREES,
        phrase("no overflow, NaN or infinity; tensors looked at: {:,}", scan.looked_at),
    )


def _compared(folder: str, reference: Optional[str], graph: Optional[str]) -> _Verdict:
    """Whether a dump agrees with the reference."""
    from npu_config.dumps.compare import compare_dumps
    from npu_config.dumps.result import gaps

    found = compare_dumps(folder, reference or "", graph)
    if found.inputs_differ:
        raise Unproducible(
            "the inputs of the run differ from the reference ({}): no verdict on the suspects",
            listed(found.inputs_differ[:5]),
        )
    diverges = any(row.verdict == "diverges" for row in found.rows)
    if not found.ok and not diverges:
        message = "too little of {} could be compared: no verdict; {}"
        raise Unproducible(message, folder, join("; ", gaps(found)))
    if diverges:
        first = found.first_diverging or next(iter(found.diverging), "?")
        return _Verdict(searching.DIVERGES, phrase("{} diverges from the reference", first))
    _refuse_damaged(found.diagnostics)
    return _Verdict(searching.AGREES, "everything that was compared matches the reference")


def _refuse_damaged(found: Sequence[Diagnostic]) -> None:
    """What is damaged proves no agreement."""
    if fails(Report(found), False):
        raise NpuConfigError(found)


# the next run


def _go_on(search: Search, path: str, force: bool, format_: str, unchecked: str) -> int:
    """Note the next run, write its configuration, and say what to do."""
    result = searching.outcome(search)
    if result.state == searching.SEARCHING and search.pending is None:
        run = SearchRun(len(search.runs) + 1, result.cures)
        search = attr.evolve(search, runs=(*search.runs, run))
    pending = search.pending
    cures = result.cures if pending is None else pending.cures
    following_run = None
    if pending is not None or result.state == searching.FOUND:
        following_run = attempt(format_, lambda: _configuration(search, path, cures))
    with writing(path):
        searching.save_search(search, path)
    written: List[str] = []
    notes = [unchecked] if unchecked else []
    if following_run is not None:
        target, made = following_run
        written = attempt(format_, lambda: following.save(target, made, force))
        notes += made.notes
    found = searching.findings(search, result, path)
    content = {
        "state": result.state,
        "number": None if pending is None else pending.number,
        "config": written[0] if written else None,
        "files": written,
        **searching.plain_cures(cures),
        "left": result.left,
        "undecided": [each._asdict() for each in result.undecided],
        "confirmed_by": list(result.runs) if result.state == searching.FOUND else [],
        "runs": searching.plain_runs(search),
        "notes": list(notes),
    }
    if format_ == "json":
        say(document(content, found))
    else:
        say(table(_RUNS, search.runs) + "\n" + _next(search, result, path, cures, written, notes))
        if found:
            print_findings(found)
    return 1 if found else 0


def _configuration(search: Search, path: str, cures: searching.Cures) -> Tuple[str, Any]:
    """The configuration of the pending run, or the one that was found, and where it goes."""
    pending = search.pending
    stem = os.path.splitext(path)[0]
    stem += "_found" if pending is None else "_run{}".format(pending.number)
    base = _beside(path, search.base)
    suffix = os.path.splitext(base)[1] or ".yaml"
    plain = searching.plain_cures(cures)
    records = {"overflow": following.OVERFLOW, "dump": following.DUMP}.get(search.records)
    change = following.NextRunChange(
        tuple(plain["off"]["graph"]),
        tuple(plain["off"]["ub"]),
        tuple(plain["float32"]),
        plain["precision_mode"] is not None,
        None if pending is None else records,
    )
    prefix = os.path.basename(stem) + "_"
    return stem + suffix, following.prepare(stem + suffix, change, base, prefix=prefix)


_RUNS: Columns = {
    phrase("run"): lambda run: run.number,
    phrase("passes off"): lambda run: sum(each.kind in (GRAPH, UB) for each in run.cures),
    phrase("types in float32"): lambda run: sum(each.kind == TYPE for each in run.cures),
    phrase("precision mode"): lambda run: next(
        (each.name for each in run.cures if each.kind == PRECISION), "-"
    ),
    phrase("verdict"): lambda run: localized(run.verdict or phrase("pending")),
    phrase("method"): lambda run: localized(run.how),
}


def _next(
    search: Search,
    result: searching.SearchOutcome,
    path: str,
    cures: searching.Cures,
    written: Sequence[str],
    notes: Sequence[str],
) -> str:
    """What to do next, or what was found."""
    lines = list(map(localized, notes))
    pending = search.pending
    if result.state == searching.FOUND and pending is None:
        if cures:
            lines.append(localized("the smallest set of changes that makes the result correct:"))
            lines += ["  " + line for line in _changes(cures)]
        else:
            lines.append(
                localized(
                    "the result is correct with the unchanged configuration; nothing has to be "
                    "changed"
                )
            )
        message = "confirmed by run {}; runs in all: {:,}; configuration: {}"
        numbers = ", ".join(map(str, result.runs))
        lines.append(localized(message, numbers, len(search.runs), ", ".join(written)))
    elif pending is not None:
        message = "suspects still to test: {:,} ({}); further runs: about {:,}"
        more = 1 + math.ceil(math.log2(max(1, result.left)))
        names = [each.name for each in result.undecided]
        names = [*names[:_NAMED], *(["..."] if len(names) > _NAMED else [])]
        lines.append(localized(message, result.left, listed(names), more))
        lines.append(localized("written: {}", ", ".join(written)))
        message = "run the job with {}, then: npu-config dump search {} --dump PATH"
        lines.append(localized(message, written[0], path))
        message = "  or, if you know the result of this run: --agrees {0} or --diverges {0}"
        lines.append(localized(message, pending.number))
    return "".join("{}\n".format(printable(line)) for line in lines)


def _changes(cures: searching.Cures) -> List[str]:
    plain = searching.plain_cures(cures)
    lines = []
    for names, words in (
        (plain["off"]["graph"], "graph fusion passes off: {}"),
        (plain["off"]["ub"], "UB fusion passes off: {}"),
        (plain["float32"], "operator types in float32: {}"),
        ([plain["precision_mode"]] if plain["precision_mode"] else [], "precision mode: {}"),
    ):
        if names:
            lines.append(localized(words, listed(names)))
    return lines
