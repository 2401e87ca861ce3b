"""What of both sides belongs together: runs, devices, models and steps.

A dump has a folder for each process (run), device, model and step; several processes with
different devices are one job, and for one device the newest process counts.  A reference of
TensorFlow has runs, which are steps; another dump has what a dump has.  What is on one side
only is named, never passed over.

Source: facts dump.yaml, ``paths`` (P-DIR, P-INDEX, P-MODEL).
"""

from typing import (
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import listed, phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.reference import Entry, References
from npu_config.dumps.tree import DumpFile, DumpTree, Folder

Model = Tuple[Optional[str], Optional[int]]


class Selection(NamedTuple):
    """What is asked for; None: everything that both sides have, of the newest run."""

    step: Optional[int] = None
    reference_step: Optional[int] = None
    device: Optional[int] = None
    run: Optional[str] = None


class Pair(NamedTuple):
    """One step of one model on one device, and where its counterpart is."""

    where: Folder
    files: Tuple[DumpFile, ...]
    other: Folder


class Paired(NamedTuple):
    """What is compared, what is not and why, and what is to be known."""

    pairs: Tuple[Pair, ...]
    left_out: Tuple[str, ...]
    notes: Tuple[Diagnostic, ...]


def grouped(
    tree: DumpTree, choice: Selection, path: str, left_out: List[str]
) -> Dict[Folder, List[DumpFile]]:
    """The tensors of the newest run of each device, by folder; chosen as asked.

    Args:
        tree: the dump.
        choice: what is asked for.
        path: the dump, for what is said of it.
        left_out: gets what is not taken, in words.

    Raises:
        NpuConfigError: there is nothing of what is asked for.
    """
    groups: Dict[Folder, List[DumpFile]] = {}
    for file in tree:
        if file.kind != "overflow":
            groups.setdefault(file.folder, []).append(file)
    if choice.run is not None and choice.run not in tree.runs:
        raise _missing("run", choice.run, tree.runs, path)
    kept = set(newest(groups, choice.run, left_out))
    groups = {folder: files for folder, files in groups.items() if folder in kept}
    for name in ("device", "step"):
        wanted = getattr(choice, name)
        if wanted is not None:
            there = sorted({getattr(folder, name) for folder in groups} - {None})
            groups = {f: files for f, files in groups.items() if getattr(f, name) == wanted}
            if not groups:
                raise _missing(name, wanted, there, path)
    return groups


def _missing(what: str, wanted: object, there: Sequence[object], path: str) -> Exception:
    messages = {
        "run": "the dump has no run {}; it has {}",
        "device": "the dump has no device {}; it has {}",
        "step": "the dump has no step {}; it has {}",
    }
    text = phrase(messages[what], wanted, listed(map(str, there)) or phrase("none"))
    return rules.no_dump_found.error(text, Place(path))


def newest(folders: Iterable[Folder], run: Optional[str], left_out: List[str]) -> List[Folder]:
    """The folders of one run, or of the newest run of each device."""
    runs: Dict[Optional[int], Set[str]] = {}
    for folder in folders:
        runs.setdefault(folder.device, set()).add(folder.run or "")
    for device, names in runs.items():
        others = sorted(names - {run if run is not None else max(names)})
        if others and (run is None or run in names):
            message = "other runs of device {}: {}"
            left_out.append(phrase(message, _or_none(device), listed(others)))
    return [
        folder
        for folder in folders
        if (folder.run or "") == (run if run is not None else max(runs[folder.device]))
    ]


def paired(tree: DumpTree, references: References, choice: Selection, path: str) -> Paired:
    """Bring both sides together.

    Args:
        tree: the dump.
        references: the other side.
        choice: what is asked for.
        path: the dump, for what is said of it.

    Raises:
        NpuConfigError: there is nothing of what is asked for, or nothing in common.
    """
    left_out: List[str] = []
    ours = grouped(tree, choice, path, left_out)
    theirs = newest(references.folders, None, left_out)
    devices = _devices(ours, theirs, left_out)
    pairs = _all(ours, theirs, devices, references.folders, choice, left_out)
    if not pairs:
        text = phrase("nothing in common: {}", listed(left_out))
        help_ = "choose with --step and --reference-step"
        raise rules.nothing_to_compare.error(text, Place(path), help=help_)
    pairs.sort(key=lambda pair: _order(pair.where))
    notes = [note for pair in pairs for note in _differ(pair, path)]
    once = {note.message: note for note in notes}
    return Paired(tuple(pairs), tuple(dict.fromkeys(left_out)), tuple(once.values()))


def paired_ranks(tree: DumpTree, choice: Selection, path: str) -> Tuple[Paired, List[DumpFile]]:
    """Every device of a dump with the first one.

    Returns:
        The pairs, and the files of the first device.

    Raises:
        NpuConfigError: there is one device only, or they have no step in common.
    """
    left_out: List[str] = []
    groups = grouped(tree, choice, path, left_out)
    devices = sorted({folder.device for folder in groups}, key=_or_none)
    if len(devices) < 2:
        text = phrase("there is one device ({}), and no reference", _or_none(devices[0]))
        help_ = "give a reference as the second argument, or the dump of several devices"
        raise rules.nothing_to_compare.error(text, Place(path), help=help_)
    theirs = {folder: files for folder, files in groups.items() if folder.device == devices[0]}
    others = [(device, devices[0]) for device in devices[1:]]
    pairs = _all(groups, theirs, others, theirs, choice, left_out)
    if not pairs:
        text = phrase("nothing in common: {}", listed(left_out))
        raise rules.nothing_to_compare.error(text, Place(path))
    pairs.sort(key=lambda pair: _order(pair.where))
    first = [file for files in theirs.values() for file in files]
    return Paired(tuple(pairs), tuple(dict.fromkeys(left_out)), ()), first


def _all(
    ours: Dict[Folder, List[DumpFile]],
    theirs: Iterable[Folder],
    devices: Sequence[Tuple[Optional[int], Optional[int]]],
    entries: Mapping[Folder, Sequence[Entry]],
    choice: Selection,
    left_out: List[str],
) -> List[Pair]:
    """The steps that belong together, of every model of those devices."""
    pairs = []
    for device, other in devices:
        models = _models(
            _by_model(folder for folder in ours if folder.device == device),
            _by_model(folder for folder in theirs if folder.device == other),
            lambda folders: {file.op_name for folder in folders for file in ours[folder]},
            lambda folders: {each.op_name for folder in folders for each in entries[folder]},
            left_out,
        )
        for mine, there in models:
            for folder, counterpart in _steps(mine, there, choice, left_out):
                pairs.append(Pair(folder, tuple(ours[folder]), counterpart))
    return pairs


def _order(folder: Folder) -> Tuple[int, int, str, int]:
    step, device = (-1 if n is None else n for n in (folder.step, folder.device))
    return step, device, folder.model or "", folder.model_id or 0


def _or_none(number: Optional[int]) -> str:
    return "-" if number is None else str(number)


def _devices(
    ours: Iterable[Folder], theirs: Iterable[Folder], left_out: List[str]
) -> List[Tuple[Optional[int], Optional[int]]]:
    """Devices by number; where each side has one, or the reference does not say, those."""
    mine = sorted({folder.device for folder in ours}, key=_or_none)
    there = sorted({folder.device for folder in theirs}, key=_or_none)
    if there == [None] or mine == [None] or len(mine) == len(there) == 1:
        return [(device, there[0]) for device in mine]
    left_out.extend(
        phrase("device {}: only the dump has it", device) for device in mine if device not in there
    )
    left_out.extend(
        phrase("device {}: only the reference has it", device)
        for device in there
        if device not in mine
    )
    return [(device, device) for device in mine if device in there]


def _by_model(folders: Iterable[Folder]) -> Dict[Model, List[Folder]]:
    models: Dict[Model, List[Folder]] = {}
    for folder in folders:
        models.setdefault((folder.model, folder.model_id), []).append(folder)
    return models


def _models(
    ours: Dict[Model, List[Folder]],
    theirs: Dict[Model, List[Folder]],
    names: Callable[[List[Folder]], Set[str]],
    other_names: Callable[[List[Folder]], Set[str]],
    left_out: List[str],
) -> List[Tuple[List[Folder], List[Folder]]]:
    """Models of one name, else those with most operators of one name."""
    if list(theirs) == [(None, None)] or len(ours) == len(theirs) == 1:
        there = next(iter(theirs.values()))
        return [(folders, there) for folders in ours.values()]
    found = [(ours[model], theirs[model]) for model in ours if model in theirs]
    free = {model: other_names(theirs[model]) for model in theirs if model not in ours}
    for model in ours:
        if model not in theirs:
            mine = names(ours[model])
            best = max(free, key=lambda other: len(free[other] & mine), default=None)
            if best is None or not free[best] & mine:
                left_out.append(phrase("model {}: only the dump has it", model[0] or "-"))
            else:
                found.append((ours[model], theirs[best]))
                del free[best]
    left_out.extend(
        phrase("model {}: only the reference has it", model[0] or "-") for model in free
    )
    return found


def _steps(
    ours: List[Folder], theirs: List[Folder], choice: Selection, left_out: List[str]
) -> List[Tuple[Folder, Folder]]:
    """Steps of one number; one step on each side whatever its number."""
    mine = {folder.step: folder for folder in ours}
    there = {folder.step: folder for folder in theirs}
    first = min(mine, key=lambda step: -1 if step is None else step)
    wanted = choice.reference_step
    if wanted is not None:
        if wanted not in there:
            has = listed(_words(there)) or phrase("none")
            left_out.append(phrase("step {}: the reference has {}", wanted, has))
            return []
        chosen = choice.step if choice.step in mine else wanted if wanted in mine else first
        return [(mine[chosen], there[wanted])]
    common = sorted(step for step in mine if step in there and step is not None)
    if not common and (len(there) == 1 or None in mine):
        taken = min(there, key=lambda step: -1 if step is None else step)
        left_out.extend(
            phrase("step {}: the reference has one step", step) for step in mine if step != first
        )
        return [(mine[first], there[taken])]
    left_out.extend(
        phrase("step {}: only the dump has it", step)
        for step in _words(mine)
        if int(step) not in there
    )
    left_out.extend(
        phrase("step {}: only the reference has it", step)
        for step in _words(there)
        if int(step) not in mine and choice.step is None
    )
    return [(mine[step], there[step]) for step in common]


def _words(steps: Iterable[Optional[int]]) -> List[str]:
    return [str(step) for step in sorted(step for step in steps if step is not None)]


def _differ(pair: Pair, path: str) -> List[Diagnostic]:
    """Said when the two sides are of different steps."""
    step, other = pair.where.step, pair.other.step
    if step is None or other is None or step == other:
        return []
    message = "step {} of the dump is compared with step {} of the reference"
    help_ = "choose with --step and --reference-step"
    return [rules.steps_differ.diagnostic(phrase(message, step, other), Place(path), help=help_)]
