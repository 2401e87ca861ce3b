"""What a script says of its loops: the option, the operation, and the number of iterations."""

import ast
import os
import re
from typing import Any, Iterator, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.names import ITERATION_OP
from npu_config.script.checks._check import Context
from npu_config.script.checks.estimators import of_plain_estimator
from npu_config.script.objects import Block, Entry, Message, Tracked
from npu_config.script.state import Call
from npu_config.script.syntax import argument, name_of
from npu_config.script.vocabulary import SESSIONS
from npu_config.text.loading import load

_LARGEST = 1024 * 1024

COUNTS = {
    "set_iteration_per_loop": ("iterations_per_loop", 2, 1),
    "load_iteration_per_loop_var": ("iterations_per_loop", 1, 1),
    "SetIterationsVarHook": ("iterations_per_loop", 0, None),
}
"""What loads how often a loop runs: the parameter, its position and its default."""


class Declared(NamedTuple):
    """A count above one with which sessions are opened, the path to it, the file that sets it."""

    iterations: int
    place: Place
    guards: Tuple[int, ...]
    file: Optional[str] = None
    by_estimator: bool = False


def declared(context: Context) -> Iterator[Tuple[Block, Entry]]:
    """The blocks that certainly ask for more than one iteration."""
    for block in context.run.blocks:
        entry = block.entries.get("iterations_per_loop")
        if entry is not None and type(entry.value) is int and entry.value > 1:
            yield block, entry


def opens_here(context: Context, block: Block) -> bool:
    """True when this script opens a session with the block's configuration, and nothing else."""
    if block.message is None or block.message.root.foreign:
        return False
    uses = context.uses(block.message.root.place)
    kinds = {use.kind for use in uses} - {"return"}
    return kinds == {"session"}


def asked_for(context: Context) -> Iterator[Declared]:
    """The counts above one of what this script opens sessions with, and nobody else."""
    for block, entry in declared(context):
        root = None if block.message is None else block.message.root
        by_estimator = root is not None and of_plain_estimator(context, root)
        if by_estimator or opens_here(context, block):
            yield Declared(entry.value, entry.place, entry.path, None, by_estimator)
    for builder in context.run.builders:
        setting = builder.entries.get("iterations_per_loop")
        count = None if setting is None else setting.value
        opened = _opened_by(context, builder)
        if setting is not None and type(count) is int and count > 1 and opened:
            yield Declared(count, setting.place, builder.path, None, opened == _ESTIMATOR)
    for loaded in context.run.loaded:
        opened = _opened_by(context, loaded)
        count = _count_in_file(context, loaded.file) if opened else None
        if count is not None and count > 1:
            yield Declared(count, loaded.place, loaded.path, loaded.file, opened == _ESTIMATOR)


_SESSION, _ESTIMATOR = "session", "estimator"


def _opened_by(context: Context, thing: Tracked) -> str:
    """What alone is opened with a configuration of npu_config; empty where there is more."""
    if {use.kind for use in thing.uses} == {"session"}:
        return _SESSION
    protos = (message for message in context.run.messages if message.uses is thing.uses)
    return _ESTIMATOR if any(of_plain_estimator(context, each) for each in protos) else ""


_COUNT = re.compile(
    r"(?:^|[{,])[ \t]{0,40}[\"']?iterations_per_loop[\"']?"
    r"[ \t]{0,40}[:=][ \t]{0,40}([0-9]{1,9})\b",
    re.M,
)


def _count_in_file(context: Context, name: str) -> Optional[int]:
    """The count that a configuration file sets, where the script finds it."""
    path = os.path.join(os.path.dirname(context.script.source.path or ""), name)
    if not os.path.isfile(path):
        return None
    text = load(path, _LARGEST)
    found = (
        None if isinstance(text, Diagnostic) else _COUNT.search(text.decode("utf-8", "replace"))
    )
    return None if found is None else int(found.group(1))


def makers(context: Context) -> Iterator[Tuple[Call, Tuple[int, ...]]]:
    """The calls that make an IterationOp: set_iteration_per_loop makes none for one iteration."""
    for call, _, guards in context.run.calls:
        if call.name == "set_iteration_per_loop":
            if count_of(call) != 1:
                yield call, guards
        elif call.name == "create_iteration_per_loop_var" or is_named(call):
            yield call, guards


def is_named(call: Call) -> bool:
    """True for ``tf.group(train_op, name="IterationOp")`` and whatever else gives the name."""
    return call.name not in COUNTS and call.value("name", _NOWHERE) == ITERATION_OP


_NOWHERE = 99


def count_of(call: Call) -> Any:
    """How many iterations a call loads; None when that is not said."""
    keyword, position, default = COUNTS[call.name]
    given = call.get(keyword, position)
    if given is None:
        return None if call.open else default
    return given[0]


def counts_loaded(context: Context) -> Iterator[Tuple[Call, Any, Tuple[int, ...]]]:
    """The calls that load how often a loop runs, with the number."""
    for call, _, guards in context.run.calls:
        if call.name in COUNTS:
            yield call, count_of(call), guards


def sessions_without(context: Context, call: Call) -> bool:
    """True when this script opens the session of a call, and no session declares a loop."""
    if context.mentions(*_BY_OTHERS):
        return False
    if not context.script.is_program:
        function = context.script.function_of
        own = function(call.node.lineno)
        if own is None or all(function(n.lineno) is not own for n in context.calls(*SESSIONS)):
            return False
    if context.run.loaded or context.run.builders:
        return False
    estimators = _estimators_without(context)
    if estimators is None:
        return False
    messages = {
        use.place: message
        for message in context.run.messages
        for use in message.uses
        if use.kind == "session"
    }
    found = estimators > 0
    for node in context.calls(*SESSIONS, "set_keras_session_npu_config", "init_resource"):
        position = SESSIONS.get(name_of(node.func), 0)
        config = argument(node, "config", position)
        is_open = any(keyword.arg is None for keyword in node.keywords) or any(
            isinstance(each, ast.Starred) for each in node.args
        )
        if is_open or (config is not None and not _is_without(messages.get(context.place(node)))):
            return False
        found = found or config is not None or context.script.is_patched
    return found


def _estimators_without(context: Context) -> Optional[int]:
    """How many Estimators of TensorFlow declare no loop; None where one of them may."""
    uses = 0
    for made in context.run.constructed:
        if made.kind == "RunConfig":
            given = made.arguments.get("session_config")
            message = None if given is None else given.value
            without = isinstance(message, Message) and _is_without(message)
            if made.open or not (without or (given is None and context.script.is_patched)):
                return None
            uses += sum(use.kind.endswith("estimator.Estimator") for use in made.uses)
    calls = sum(1 for _ in context.calls("Estimator"))
    return uses if uses == calls else None


_BY_OTHERS = ("NPUEstimator", "NPURunConfig", "slim")
"""What opens sessions where no call of a session shows it."""


def _is_without(message: Optional[Message]) -> bool:
    """True for a configuration that certainly has no ``iterations_per_loop``."""
    return (
        message is not None
        and not message.foreign
        and any(block.is_npu for block in message.blocks)
        and not any(
            block.open or "iterations_per_loop" in block.entries for block in message.blocks
        )
    )
