"""What of both sides belongs together: runs, devices, models and steps, then their tensors.

A dump has a folder for each process (run), device, model and step; several processes with
different devices are one job, and for one device the newest process counts.  A reference of
TensorFlow has runs, which are steps; another dump has what a dump has.  What is on one side
only is named, never passed over.

Outputs are matched through the header (the operator of the network that an output stands for),
then the graph, then the name; inputs through the graph, as what their producer's output is
matched with.  What no operator of the network computes (feeds, iterators, weights) is marked:
it is looked at first.

Source: facts dump.yaml, ``paths`` (P-DIR, P-INDEX, P-MODEL) and ``compare`` (C-OUTPUT, C-INPUT,
C-HEADER, C-RELATION).
"""

from collections import Counter
from typing import (
    Any,
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

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import listed, phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.dump import Tensor
from npu_config.dumps.graph import CONSTANTS, PASSED_THROUGH, GeGraph, GeOp
from npu_config.dumps.reference import Array, Entry, Reference, References
from npu_config.dumps.tree import DumpFile, DumpTree, Folder, Operator
from npu_config.dumps.verdicts import DATA, NOT_COMPARED, WEIGHT

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
    help_ = "choose with --step and --reference-step"
    pairs = _all(ours, theirs, devices, references.folders, choice, left_out, path, help_)
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
    devices = sorted({folder.device for folder in groups}, key=_place)
    if len(devices) < 2:
        text = phrase(
            "the dump has only one device ({}), and no reference was passed", _or_none(devices[0])
        )
        help_ = (
            "pass a reference dump as the second argument, or pass one dump of several devices "
            "to compare the devices with each other"
        )
        raise rules.nothing_to_compare.error(text, Place(path), help=help_)
    theirs = {folder: files for folder, files in groups.items() if folder.device == devices[0]}
    others = [(device, devices[0]) for device in devices[1:]]
    pairs = _all(groups, theirs, others, theirs, choice, left_out, path)
    first = [file for files in theirs.values() for file in files]
    return Paired(tuple(pairs), tuple(dict.fromkeys(left_out)), ()), first


def _all(
    ours: Dict[Folder, List[DumpFile]],
    theirs: Iterable[Folder],
    devices: Sequence[Tuple[Optional[int], Optional[int]]],
    entries: Mapping[Folder, Sequence[Entry]],
    choice: Selection,
    left_out: List[str],
    path: str,
    help: Optional[str] = None,
) -> List[Pair]:
    """The steps that belong together, of every model of those devices, in order.

    Raises:
        NpuConfigError: there are none.
    """
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
    if not pairs:
        found = listed(dict.fromkeys(left_out))
        text = phrase("the dump and the reference have nothing in common: {}", found)
        raise rules.nothing_to_compare.error(text, Place(path), help=help)
    return sorted(pairs, key=lambda pair: _order(pair.where))


def _order(folder: Folder) -> Tuple[int, int, str, int]:
    return _place(folder.step), _place(folder.device), folder.model or "", folder.model_id or 0


def _or_none(number: Optional[int]) -> str:
    return "-" if number is None else str(number)


def _place(number: Optional[int]) -> int:
    """The place of a number in an order in which what is not known comes first."""
    return -1 if number is None else number


def _devices(
    ours: Iterable[Folder], theirs: Iterable[Folder], left_out: List[str]
) -> List[Tuple[Optional[int], Optional[int]]]:
    """Devices by number; where each side has one, or the reference does not say, those."""
    mine = sorted({folder.device for folder in ours}, key=_place)
    there = sorted({folder.device for folder in theirs}, key=_place)
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
    first = min(mine, key=_place)
    wanted = choice.reference_step
    if wanted is not None:
        if wanted not in there:
            has = listed(_words(there)) or phrase("none")
            left_out.append(phrase("step {}: not in the reference (steps there: {})", wanted, has))
            return []
        chosen = choice.step if choice.step in mine else wanted if wanted in mine else first
        return [(mine[chosen], there[wanted])]
    common = sorted(step for step in mine if step in there and step is not None)
    if not common and (len(there) == 1 or None in mine):
        taken = min(there, key=_place)
        left_out.extend(
            phrase(
                "step {}: not compared; the step of the reference is compared with another "
                "step of the dump",
                step,
            )
            for step in mine
            if step != first
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


NO_COUNTERPART = "*"
APART, ABSENT, UNREAD = GAPS = ("apart", "absent", "unread")
"""Why a tensor has no counterpart: no reference has it (constants, what the compiler inserted);
this one does not; it has one that cannot be read."""
CONTROL = frozenset(
    ("StreamActive", "StreamSwitch", "StreamMerge", "LoopCond", "End_Graph", "EndGraph")
)
"""Operators that steer the device; they compute nothing of the network."""
DEVICE_ONLY = PASSED_THROUGH | CONSTANTS | CONTROL | {"NetOutput", "MemcpyAsync"}
"""Operators that a network mostly has no tensor of."""
LOOP = "npu_runconfig/"
"""How the counters of the loop on the device begin (facts modules.yaml)."""
FEEDS = frozenset(
    ("Data", "GetNext", "IteratorGetNext", "DynamicGetNext", "DynamicGetNextV2", "Placeholder",
     "QueueData", "IteratorV2", "Iterator", "OutfeedDequeueOp")
)  # fmt: skip
"""Operators whose outputs are what the job is fed with."""
VARIABLES = frozenset(("Variable", "VariableV2", "RefData", "VarHandleOp", "ReadVariableOp"))
"""Operators whose outputs are weights."""
_READ = ("", "/read", "/Read/ReadVariableOp", "/ReadVariableOp")
"""What TensorFlow calls the nodes that read a variable."""
UPDATES = ("Apply", "Assign", "ResourceApply", "ScatterUpdate")
"""How the types begin of operators that write weights."""


class Match(NamedTuple):
    """The counterpart of a tensor, or why there is none.

    ``role`` is :data:`DATA` or :data:`WEIGHT` for what no operator computed, else "";
    ``producer`` the operator that made an input, where the graph says.  ``gap`` is why there is
    none, one of :data:`GAPS`.
    """

    array: Optional[Array] = None
    by: str = ""
    reason: str = ""
    format: Optional[str] = None
    role: str = ""
    producer: str = ""
    gap: str = ""


class Sides(NamedTuple):
    """What matching needs to know."""

    reference: Reference
    graph: Optional[GeGraph]
    operators: Dict[str, Operator]


def match_of(
    operator: Operator,
    op: Optional[GeOp],
    side: str,
    number: int,
    tensor: Optional[Tensor],
    sides: Sides,
) -> Match:
    """The counterpart of a tensor, or why there is none.

    Args:
        operator: whose tensor it is.
        op: the operator in the graph, if the graph has it.
        side: ``"input"`` or ``"output"``.
        number: which of them.
        tensor: its header; None for a table of statistics.
        sides: the reference, the graph and all operators of the dump.
    """
    if operator.threads > 1:
        message = "the operator ran in {} threads; each file holds a slice of it"
        return Match(reason=phrase(message, operator.threads), gap=ABSENT)
    if op is not None and op.is_inner:
        return Match(reason="an operator inside a fused group", gap=APART)
    role, producer = _role(operator, op, side, number, sides.graph)
    try:
        found = Match()
        if sides.reference.is_dump:
            array = sides.reference.of_operator(side, operator.name, number)
            found = Match(array, "name")
        if found.array is None and side == "input":
            found = _input(op, number, sides)
        elif found.array is None:
            found = _output(operator.name, number, tensor, sides)
    except NpuConfigError as error:
        found = Match(reason=error.diagnostics[0].message, gap=UNREAD)
    if found.array is None and found.gap != UNREAD and _is_apart(operator, op):
        found = found._replace(gap=APART)
    if not role and found.array is not None and found.array.is_fed and sides.graph is None:
        role = DATA
    return found._replace(role=role, producer=producer)


def _role(
    operator: Operator, op: Optional[GeOp], side: str, number: int, graph: Optional[GeGraph]
) -> Tuple[str, str]:
    """What a tensor is that no operator computed, and what made it."""
    if side == "output":
        return (DATA, "") if operator.op_type in FEEDS else ("", "")
    if graph is None or op is None:
        return "", ""
    edge = op.inputs[number] if number < len(op.inputs) else None
    made = None if edge is None else graph.find(edge[0])
    if edge is None or made is None:
        return "", "" if edge is None else edge[0]
    if made.type in FEEDS:
        return DATA, made.name
    if made.type in VARIABLES and not operator.op_type.startswith(UPDATES):
        return WEIGHT, made.name
    return "", made.name


def _output(name: str, number: int, tensor: Optional[Tensor], sides: Sides) -> Match:
    """The counterpart of an output: by the header, the graph, the name."""
    keys: List[Tuple[str, str, int]] = []
    if tensor is not None and tensor.original_op is not None:
        keys.append(("header", tensor.original_op.name, tensor.original_op.output_index))
    origin = None if sides.graph is None else sides.graph.origin(name, number)
    if origin is not None:
        keys.append(("graph", *origin))
    op = None if sides.graph is None else sides.graph.find(name)
    if op is None:
        keys.append(("name", name, number))
    format_ = None
    if op is not None and op.outputs:
        format_ = op.outputs[number if number < len(op.outputs) else 0].origin_format
    for by, key, output in keys:
        for ending in _READ if op is not None and op.type in VARIABLES else _READ[:1]:
            array = sides.reference.find(key + ending, output)
            if array is not None:
                return Match(array, by, "", format_)
    last = sides.reference.last_part(name) if op is None else None
    if last is not None:
        array = sides.reference.find(last, number)
        if array is not None:
            return Match(array, "name", "", format_)
    reason, expected = _why_not(op, keys)
    return Match(reason=reason, gap=APART if expected else ABSENT)


def _is_apart(operator: Operator, op: Optional[GeOp]) -> bool:
    """True for an operator of which the network has no tensor."""
    kinds = DEVICE_ONLY if op is None else CONTROL
    return operator.op_type in kinds or operator.name.startswith(LOOP)


def _why_not(op: Optional[GeOp], keys: Sequence[Tuple[str, str, int]]) -> Tuple[str, bool]:
    """The reason in words, and whether no reference has such a tensor."""
    if op is not None and op.type in CONSTANTS:
        return "a constant: no reference file", True
    if not keys:
        return "the compiler inserted the operator; the network has no such tensor", True
    return phrase("the reference has no {}.{}", keys[0][1], keys[0][2]), False


def _input(op: Optional[GeOp], number: int, sides: Sides) -> Match:
    """The counterpart of an input: what its producer's output is matched with."""
    if sides.graph is None or op is None:
        return Match(reason="only a graph shows which operator computed this input")
    edge = op.inputs[number] if number < len(op.inputs) else None
    if edge is None:
        return Match(reason="the graph does not name this input")
    name, output = edge
    producer = sides.operators.get(name)
    tensor = None
    if producer is not None and output < len(producer.dump.outputs):
        tensor = producer.dump.outputs[output]
    return _output(name, output, tensor, sides)


def is_constant(graph: GeGraph, name: str) -> bool:
    """True for an operator whose output is in the graph itself."""
    op = graph.find(name)
    return op is not None and op.type in CONSTANTS


class Coverage(NamedTuple):
    """How many operators of the network were compared.

    Args:
        compared: how many were.
        missing: those that were not, in the order of execution.
        is_enough: False when what was compared does not speak for the rest.
        reason: why most of ``missing`` were not compared; "" without any.
    """

    compared: int = 0
    missing: Tuple[str, ...] = ()
    is_enough: bool = True
    reason: str = ""


NOTHING_MISSING = Coverage()


def coverage_of(rows: Sequence[Any], exact: bool = False) -> Coverage:
    """How much of one step of one model was compared.

    An operator counts as compared when one of its outputs was, its own or at the inputs of
    others; one that was dumped without outputs when one of its inputs was.

    Args:
        rows: in the order of execution.
        exact: every tensor has to be compared, as between ranks.
    """
    outputs: Dict[str, List[Any]] = {}
    inputs: Dict[str, List[Any]] = {}
    seen = set()
    for row in rows:
        (outputs if row.side == "output" else inputs).setdefault(row.op_name, []).append(row)
        if row.side == "input" and row.verdict != NOT_COMPARED:
            seen.add(row.producer)
    missing: Dict[str, str] = {}
    compared, last = 0, True
    for name in dict.fromkeys(row.op_name for row in rows):
        here = outputs.get(name) or inputs[name]
        gaps = [row for row in here if row.verdict == NOT_COMPARED]
        if name in seen or (len(gaps) < len(here) and not (exact and gaps)):
            compared, last = compared + 1, True
        elif any(row.gap != APART for row in gaps):
            missing[name] = next(row.reason for row in gaps if row.gap != APART)
            last = last and gaps[0].op_type.startswith(UPDATES)
    unread = any(row.gap == UNREAD for row in rows)
    half = len(missing) <= compared
    is_enough = not missing if exact else half and last and not unread
    return Coverage(compared, tuple(missing), is_enough, most_common(list(missing.values())))


def most_common(texts: Sequence[str]) -> str:
    """What is there most often, the first of several; "" without any."""
    return next((text for text, _ in Counter(texts).most_common(1)), "")
