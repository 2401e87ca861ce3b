"""The configuration of the next run: a base with passes off, operators in float32, detection on.

What the base and earlier configurations switched off stays off.  Their side files are looked for
where they are, never in the directory that the command happens to run in, and are never changed.
"""

import contextlib
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.catalogue.options import MIXED_MODES
from npu_config.cli._output import Failure, Unproducible, writing
from npu_config.cli._report import attempt, read_configuration
from npu_config.config import NpuConfig
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import localized, phrase
from npu_config.core.paths import reading
from npu_config.rules.paths import WANTED
from npu_config.sidefiles import fusion_switch, mixlist
from npu_config.sidefiles.mixlist import ACTIONS, LISTS

OVERFLOW, DUMP = "overflow", "dump"
"""What the next run records: overflows, or the tensors of operators."""
_DUMP_ONLY = ("enable_dump", "dump_step", "dump_mode", "dump_layer", "dump_data")
_OVERFLOW_ONLY = ("enable_dump_debug", "dump_debug_mode")
ORIGIN = {"precision_mode": "must_keep_origin_dtype", "precision_mode_v2": "origin"}
_MIXED = {"precision_mode": "allow_mix_precision", "precision_mode_v2": "mixed_float16"}


class NextRunChange(NamedTuple):
    """What the next run does differently.

    Args:
        graph_off: graph fusion passes to switch off.
        ub_off: UB fusion passes to switch off.
        black_list: operator types to keep in float32.
        origin: compute everything in the precision of the network.
        records: what is recorded; None: what the base says.
        layers: the operators whose tensors are dumped; none: every operator.
        step: the step to dump where the base names none.
    """

    graph_off: Tuple[str, ...] = ()
    ub_off: Tuple[str, ...] = ()
    black_list: Tuple[str, ...] = ()
    origin: bool = False
    records: Optional[str] = None
    layers: Tuple[str, ...] = ()
    step: Optional[int] = None


class Next(NamedTuple):
    """A configuration with its side files (path to text), and what there is to say of it."""

    config: NpuConfig
    side_files: Mapping[str, str]
    notes: Tuple[str, ...]


def by_kind(passes: Sequence[str]) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """Graph and UB passes; the names of those of the UB begin with ``Tbe``."""
    ub = tuple(name for name in passes if name.startswith("Tbe"))
    return tuple(name for name in passes if name not in ub), ub


def load_base(path: Optional[str]) -> NpuConfig:
    """The configuration to start from; an empty one where none is given.

    Raises:
        NpuConfigError: it holds errors.
        Failure: it is a file of another kind.
    """
    if path is None:
        return NpuConfig({})
    read_configuration(path)
    return NpuConfig.load(path)


def side_file_of(config: NpuConfig, option: str, path: Optional[str]) -> Optional[str]:
    """Where the side file of an option is; a relative name is looked for beside the configuration.

    Args:
        config: the configuration.
        option: of the side file.
        path: the file of the configuration.
    """
    named = config.get(option)
    if named is None:
        return None
    return os.path.join(os.path.dirname(os.path.abspath(path or ".")), str(named))


def prepare(
    path: str,
    change: NextRunChange,
    base: Optional[str] = None,
    dump_path: Optional[str] = None,
    prefix: Optional[str] = None,
) -> Next:
    """The configuration of the next run.

    Args:
        path: the file that it is for; one that is there is united with it, with its side files.
        change: what is different.
        base: the configuration to start from.
        dump_path: where dumps go when the base does not say.
        prefix: of the names of its side files, where it and they are not united with those
            that are there.

    Raises:
        NpuConfigError: a configuration or a side file holds errors, or the result does.
        Failure: a file is of another kind.
    """
    config = load_base(base)
    earlier = [(config, base)]
    unite = prefix is None
    if unite and os.path.isfile(path) and (base is None or not os.path.samefile(path, base)):
        earlier.append((load_base(path), path))
    folder = os.path.dirname(os.path.abspath(path))
    own = {
        option: os.path.join(folder, (prefix or "") + name)
        for option, name in (
            ("fusion_switch_file", "fusion_switch.cfg"),
            ("modify_mixlist", "ops_info.json"),
        )
    }
    theirs = {
        option: [p for c, at in earlier for p in (side_file_of(c, option, at),) if p is not None]
        for option in own
    }
    for option, place in own.items():
        if base is not None and place in theirs[option][:1]:
            stem = os.path.splitext(os.path.basename(path))[0]
            own[option] = os.path.join(folder, "{}_{}".format(stem, os.path.basename(place)))
        if unite and os.path.lexists(own[option]) and own[option] not in theirs[option]:
            theirs[option].append(own[option])
    notes: List[str] = []
    changes = {**_absolute(config, base, folder), **_recording(config, change, dump_path, notes)}
    side_files: Dict[str, str] = {}
    first = {option: side_file_of(config, option, base) for option in own}
    more = {option: set(files) - {first[option]} for option, files in theirs.items()}
    if change.graph_off or change.ub_off or more["fusion_switch_file"]:
        switches = united_switches(theirs["fusion_switch_file"], change.graph_off, change.ub_off)
        side_files[own["fusion_switch_file"]] = fusion_switch.render(switches)
        changes["fusion_switch_file"] = own["fusion_switch_file"]
    if change.origin:
        changes.update(_mode(config, ORIGIN, notes), modify_mixlist=None)
    elif change.black_list or more["modify_mixlist"]:
        lists = united_mixlist(theirs["modify_mixlist"], change.black_list)
        side_files[own["modify_mixlist"]] = mixlist.render(lists)
        changes["modify_mixlist"] = own["modify_mixlist"]
        if not _is_mixed(config):
            changes.update(_mode(config, _MIXED, notes))
    given: Any = changes
    return Next(config.evolve(**given), side_files, tuple(notes))


def save(path: str, made: Next, force: bool) -> List[str]:
    """Write a configuration with its side files; returns their paths.

    Raises:
        Failure: a file exists with another content and ``force`` is False, or cannot be written.
    """
    from npu_config.text.files import write_missing
    from npu_config.writers import render_for

    try:
        text = render_for(made.config, path)
    except NpuConfigError:
        raise
    except ValueError as error:
        raise Failure("--next-config: {}", error) from None
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with writing(path):
        write_missing(made.side_files, force)
        if isinstance(text, str):
            write_missing({path: text}, force)
        else:
            made.config.save(path, overwrite=force)
    folder = os.path.dirname(path)
    return [path, *(os.path.join(folder, os.path.basename(each)) for each in made.side_files)]


def discard(path: str, made: Next) -> None:
    """Remove what :func:`save` wrote, where it is still as it was."""
    from npu_config.writers import render_for

    contents = {path: render_for(made.config, path), **made.side_files}
    for name, content in contents.items():
        data = content.encode("utf-8") if isinstance(content, str) else content
        with contextlib.suppress(OSError):
            with open(name, "rb", opener=reading) as stream:
                same = stream.read() == data
            if same:
                os.unlink(name)


def _absolute(config: NpuConfig, base: Optional[str], folder: str) -> Dict[str, Any]:
    """The side files that are beside the base, for a configuration in another folder."""
    if base is None or os.path.dirname(os.path.abspath(base)) == folder:
        return {}
    files = {
        option: side_file_of(config, option, base)
        for option, wanted in WANTED.items()
        if not wanted.directory and config.get(option) is not None
    }
    return {option: path for option, path in files.items() if path and os.path.isfile(path)}


def _recording(
    config: NpuConfig, change: NextRunChange, dump_path: Optional[str], notes: List[str]
) -> Dict[str, Any]:
    """The options that have the next run record what the change is judged by."""
    changes: Dict[str, Any] = {}
    if change.records is None:
        return changes
    if change.records == OVERFLOW:
        changes.update(dict.fromkeys(_DUMP_ONLY), enable_dump_debug=True)
    else:
        changes.update(dict.fromkeys(_OVERFLOW_ONLY), enable_dump=True, dump_mode="all")
        changes["dump_layer"] = list(change.layers) or None
        if config.get("dump_step") is None and change.step is not None:
            changes["dump_step"] = [change.step]
    if config.get("dump_path") is None:
        if dump_path is None:
            raise Unproducible("the configuration has no dump_path; set it to a folder for dumps")
        changes["dump_path"] = dump_path
        message = (
            "dump_path is set to the folder on this machine, {}; pass --config to keep "
            "the dump_path of the job"
        )
        notes.append(phrase(message, dump_path))
    if config.get("enable_exception_dump") == 1:
        changes["enable_exception_dump"] = None
        notes.append(
            "enable_exception_dump = 1 is left out: it cannot be combined with other dumps"
        )
    return changes


def _is_mixed(config: NpuConfig) -> bool:
    return any(config.get(option) in modes for option, modes in MIXED_MODES.items())


def _mode(config: NpuConfig, modes: Mapping[str, str], notes: List[str]) -> Dict[str, Any]:
    """The precision mode in the vocabulary that the configuration uses."""
    v2 = config.get("precision_mode_v2") is not None
    option = "precision_mode_v2" if v2 else "precision_mode"
    before = config.get(option)
    if before != modes[option]:
        message = "this change sets {} to {}; the base configuration has {}"
        notes.append(phrase(message, option, modes[option], before or phrase("none")))
    return {option: modes[option]}


def united_switches(
    files: Sequence[str], graph_off: Sequence[str], ub_off: Sequence[str]
) -> fusion_switch.FusionSwitch:
    """The switches of some files, the earliest first, with more passes off.

    A pass that one of them switches off stays off; priorities are those of the first.

    Raises:
        NpuConfigError: a file cannot be read, or they cannot be united.
    """
    models = [_loaded(fusion_switch, file) for file in files]
    first = models[0] if models else fusion_switch.FusionSwitch()
    if any(model.passes for model in models):
        lines: Dict[str, bool] = {}
        for model in models:
            _unite(lines, model.passes)
            _unite(lines, model.graph)
            _unite(lines, model.ub)
        _unite(lines, dict.fromkeys((*graph_off, *ub_off), False))
        return fusion_switch.FusionSwitch(passes=lines)
    graph: Dict[str, bool] = {}
    ub: Dict[str, bool] = {}
    for model in models:
        _unite(graph, model.graph)
        _unite(ub, model.ub)
    _unite(graph, dict.fromkeys(graph_off, False))
    _unite(ub, dict.fromkeys(ub_off, False))
    return attr.evolve(first, graph=graph, ub=ub)


def _unite(switches: Dict[str, bool], more: Mapping[str, bool]) -> None:
    for name, state in more.items():
        switches[name] = state and switches.get(name, True)


def united_mixlist(files: Sequence[str], black_list: Sequence[str]) -> mixlist.Mixlist:
    """The lists of some files, with more operator types that keep their precision.

    Raises:
        NpuConfigError: a file cannot be read, or their moves contradict each other.
    """
    moves: Dict[mixlist.Move, Dict[str, None]] = {}
    for file in files:
        for operator, move in _loaded(mixlist, file).moves():
            if operator not in black_list or move in _STAY:
                moves.setdefault(move, {})[operator] = None
    moves.setdefault(_BLACK, {}).update(dict.fromkeys(black_list))
    return mixlist.Mixlist.of(
        *(moves.get(mixlist.Move(action, name), ()) for action in ACTIONS for name in LISTS)
    )


_BLACK = mixlist.Move("to-add", "black-list")
_STAY = (
    mixlist.Move("to-remove", "white-list"),
    mixlist.Move("to-remove", "gray-list"),
)
"""Moves that an operator type may have beside the one to the block list."""


def _loaded(format_: Any, path: str) -> Any:
    """The model of a side file.

    Raises:
        NpuConfigError: it cannot be read.
    """
    parsed = format_.load(path)
    if parsed.model is None or not parsed.ok:
        raise NpuConfigError(parsed.diagnostics)
    return parsed.model


def write_next(
    path: str, change: NextRunChange, base: Optional[str], dump_path: Optional[str], force: bool
) -> str:
    """Write the configuration of the next run; returns the lines that say so.

    Raises:
        Failure: as :func:`save`.
    """
    made = attempt("text", lambda: prepare(path, change, base, dump_path))
    files = attempt("text", lambda: save(path, made, force))
    lines = [*map(localized, made.notes), localized("written: {}", ", ".join(files))]
    return "".join("{}\n".format(line) for line in lines)
