"""Which part of a dump is looked at: one run, device, model and step, by operator."""

import fnmatch
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.dumps._rules import several_dumps_of_one_operator
from npu_config.dumps.dump import Dump
from npu_config.dumps.names import plain
from npu_config.dumps.tree import DumpFile, DumpTree


class Chosen(NamedTuple):
    """Files of one run, device, model and step; ``steps`` are those that there were."""

    files: Tuple[DumpFile, ...]
    steps: Tuple[int, ...]
    step: Optional[int]


def select(
    tree: DumpTree,
    step: Optional[int] = None,
    op: Sequence[str] = (),
    op_type: Sequence[str] = (),
    device: Optional[int] = None,
) -> DumpTree:
    """The files that are asked for.

    Args:
        tree: all of them.
        step: an iteration.
        op: patterns with ``*`` and ``?``; names as the network or as the file has them.
        op_type: the same for operator types.
        device: the number of a device.
    """
    names = [plain(pattern) for pattern in op]
    return tree.only(
        [
            file
            for file in tree
            if (step is None or file.step == step)
            and (device is None or file.device == device)
            and (not names or any(fnmatch.fnmatchcase(file.op_name, name) for name in names))
            and (not op_type or any(fnmatch.fnmatchcase(file.op_type, name) for name in op_type))
        ]
    )


def choose(tree: DumpTree, step: Optional[int] = None, device: Optional[int] = None) -> Chosen:
    """One run, device, model and step: the newest run, the model with most operators.

    Args:
        tree: what was found.
        step: the iteration; None: the first.
        device: the device; None: the first.
    """
    files = [file for file in tree if file.kind == "tensor"]
    runs = sorted({file.run or "" for file in files})
    files = [file for file in files if (file.run or "") == runs[-1]] if runs else []
    devices = sorted({-1 if file.device is None else file.device for file in files})
    wanted = device if device is not None else next(iter(devices), -1)
    files = [file for file in files if (-1 if file.device is None else file.device) == wanted]
    models: Dict[Tuple[object, object], Set[str]] = {}
    for file in files:
        models.setdefault((file.model, file.folder.model_id), set()).add(file.op_name)
    if models:
        best = max(models, key=lambda model: len(models[model]))
        files = [file for file in files if (file.model, file.folder.model_id) == best]
    steps = tuple(sorted({file.step for file in files if file.step is not None}))
    taken = step if step is not None else next(iter(steps), None)
    if steps:
        files = [file for file in files if file.step == taken]
    return Chosen(tuple(files), steps, taken)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Operator:
    """One operator of a step, with what its files say together.

    Args:
        name: its real name.
        op_type: its type.
        time: of its last file, in microseconds.
        dump: inputs of its first file that has inputs, outputs of its last that has outputs.
        threads: how many slices of it were dumped (FFTS+); 1 for a whole one.
    """

    name: str
    op_type: str
    time: int
    dump: Dump
    threads: int = 1


class Operators(NamedTuple):
    """The operators of a step in order of time, and what was wrong with their files."""

    operators: Tuple[Operator, ...]
    diagnostics: Tuple[Diagnostic, ...]


def operators(chosen: Chosen) -> Operators:
    """Read the headers of the chosen files and put those of one operator together."""
    files: Dict[str, List[Tuple[DumpFile, Dump]]] = {}
    found: List[Diagnostic] = []
    for file in chosen.files:
        opened = file.open()
        found.extend(opened.diagnostics)
        if opened.dump is not None:
            name = opened.dump.op_name or file.op_name
            files.setdefault(name, []).append((file, opened.dump))
    result = []
    for name, members in files.items():
        members.sort(key=lambda member: member[0].name.time)
        last, dump = members[-1]
        threads = {member.name.thread for member, _ in members} - {None}
        if len(members) > 1:
            if len(threads) <= 1:
                message = "{} files of the operator {} in one step; the last outputs are taken"
                text = phrase(message, len(members), name)
                found.append(several_dumps_of_one_operator.diagnostic(text, Place(last.path)))
            dump = _together(members)
        made = Operator(name, last.op_type, last.name.time, dump, max(1, len(threads)))
        result.append(made)
    result.sort(key=lambda operator: operator.time)
    return Operators(tuple(result), tuple(found))


def _together(members: Sequence[Tuple[DumpFile, Dump]]) -> Dump:
    dumps = [dump for _, dump in members]
    inputs = next((dump.inputs for dump in dumps if dump.inputs), ())
    outputs = next((dump.outputs for dump in reversed(dumps) if dump.outputs), ())
    return attr.evolve(dumps[-1], inputs=inputs, outputs=outputs)
