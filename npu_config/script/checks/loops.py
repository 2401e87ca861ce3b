"""Checks of iteration offload: the option, the loop, and the data that feeds it."""

import os
import re
from typing import Iterator, NamedTuple, Optional, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks.estimators import of_plain_estimator
from npu_config.script.neighbours import any_importer_has
from npu_config.script.objects import Block, Entry, Tracked
from npu_config.text.loading import load

_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_PASS = "tf_adapter/optimizers/om_partition_subgraphs_pass.cc"

_MAKERS = (
    "set_iteration_per_loop",
    "create_iteration_per_loop_var",
    "SetIterationsVarHook",
    "IterationOp",
    "IterationPerLoop",
    "load_iteration_per_loop_var",
)
_LARGEST = 1024 * 1024
_COUNTS = {
    "set_iteration_per_loop": ("iterations_per_loop", 2, 1),
    "load_iteration_per_loop_var": ("iterations_per_loop", 1, 1),
    "SetIterationsVarHook": ("iterations_per_loop", 0, None),
}


def _loops(context: Context) -> Iterator[Tuple[Block, Entry]]:
    """The blocks that certainly ask for more than one iteration."""
    for block in context.run.blocks:
        entry = block.entries.get("iterations_per_loop")
        if entry is not None and type(entry.value) is int and entry.value > 1:
            yield block, entry


def _opens_here(context: Context, block: Block) -> bool:
    """True when this script opens a session with the block's configuration, and nothing else."""
    if block.message is None or block.message.root.foreign:
        return False
    uses = context.uses(block.message.root.place)
    kinds = {use.kind for use in uses} - {"return"}
    return kinds == {"session"}


@check(
    "NPU886",
    Severity.WARNING,
    facts=("iteration-op-name", "iteration-estimator-hook", "iterations-keras"),
    source=(_LOOPS,),
    also=("iterations_per_loop",),
)
def loop_without_iteration_op(context: Context) -> None:
    """``iterations_per_loop`` is set, and nothing makes the loop.

    The loop is built around an operation that is called ``IterationOp``, which
    ``set_iteration_per_loop``, ``SetIterationsVarHook`` or ``IterationPerLoop`` make.  Without it
    each session.run trains one step.  (Looked for in the script and in the files that it imports.)
    The option may be set on a ``parameter_map``, on a NpuConfigBuilder or in a configuration file
    that the script loads.  NPUEstimator makes the loop itself, an Estimator of TensorFlow does
    not.

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        sess.run(train_op)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
        sess.run(train_op)
    """
    found = list(_asked_for(context))
    if not found or context.mentions(*_MAKERS) or _is_made_elsewhere(context):
        return
    for loop in found:
        context.report(
            phrase(
                '"iterations_per_loop" is {}{}, but nothing makes the loop: no '
                "set_iteration_per_loop, SetIterationsVarHook or IterationOp; each session.run "
                "trains one step",
                loop.iterations,
                "" if loop.file is None else phrase(" in {}", loop.file),
            ),
            loop.place,
            loop.guards,
            option="iterations_per_loop",
            help=phrase(
                "use NPUEstimator, which makes the loop, or give train a SetIterationsVarHook({}) "
                'and let model_fn return tf.group(train_op, name="IterationOp")'
                if loop.by_estimator
                else "call util.set_iteration_per_loop(sess, train_op, {}) "
                "(from npu_bridge.estimator.npu import util)",
                loop.iterations,
            ),
        )


class _Loop(NamedTuple):
    """A count above one with which sessions are opened, the path to it, the file that sets it."""

    iterations: int
    place: Place
    guards: Tuple[int, ...]
    file: Optional[str] = None
    by_estimator: bool = False


def _asked_for(context: Context) -> Iterator[_Loop]:
    for block, entry in _loops(context):
        by_estimator = of_plain_estimator(context, block)
        if by_estimator or _opens_here(context, block):
            yield _Loop(entry.value, entry.place, entry.path, None, by_estimator)
    for builder in context.run.builders:
        setting = builder.entries.get("iterations_per_loop")
        count = None if setting is None else setting.value
        if setting is not None and type(count) is int and count > 1 and _is_opened(builder):
            yield _Loop(count, setting.place, builder.path)
    for loaded in context.run.loaded:
        count = _count_in_file(context, loaded.file) if _is_opened(loaded) else None
        if count is not None and count > 1:
            yield _Loop(count, loaded.place, loaded.path, loaded.file)


def _is_made_elsewhere(context: Context) -> bool:
    """True when a file that the script imports makes the loop, or one that imports it."""
    if context.imports_have(*_MAKERS):
        return True
    script = context.script
    return not script.is_program and any_importer_has(script.source.path, _MAKERS)


def _is_opened(thing: Tracked) -> bool:
    """True when all that is done with a configuration is to open sessions."""
    return {use.kind for use in thing.uses} == {"session"}


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


@check(
    "NPU887",
    Severity.ERROR,
    facts=("iterations-value-equal",),
    source=(_LOOPS,),
    also=("iterations_per_loop",),
)
def loop_counts_differ(context: Context) -> None:
    """The option and the loop are given different numbers of iterations.

    The option decides whether to offload, the loop variable how often the loop runs; the
    documentation demands that they are equal, and nothing checks it.

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 100)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    values: Set[Optional[int]] = set()
    for block in context.run.blocks:
        entry = block.entries.get("iterations_per_loop")
        if entry is None:
            if not block.open and not block.built_in:
                values.add(None)
            continue
        if type(entry.value) is not int or entry.value < 1:
            return
        values.add(entry.value)
    if len(values) != 1:
        return
    (value,) = values
    if value is None:
        return
    for call, _, guards in context.run.calls:
        if call.name not in _COUNTS or call.open:
            continue
        keyword, position, default = _COUNTS[call.name]
        given = call.get(keyword, position)
        count = default if given is None else given[0]
        if type(count) is int and count != value:
            context.report(
                phrase(
                    '{} makes a loop of {}, but "iterations_per_loop" is {}; they must be equal',
                    call.name,
                    count,
                    value,
                ),
                context.place(call.node if given is None else given[1]),
                guards,
                option="iterations_per_loop",
                help="give both the same number",
            )


@check(
    "NPU892",
    Severity.ERROR,
    facts=("iterations-positive",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/util.py",),
    also=("iterations_per_loop",),
)
def loop_count_refused(context: Context) -> None:
    """The loop is given a number of iterations that is not a whole number from 1.

    set_iteration_per_loop raises TypeError or ValueError; SetIterationsVarHook fails when the
    session starts.

    Wrong:

        train_op = util.set_iteration_per_loop(sess, train_op, "10")

    Right:

        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    for call, _, guards in context.run.calls:
        if call.name not in _COUNTS or call.open:
            continue
        keyword, position, default = _COUNTS[call.name]
        given = call.get(keyword, position)
        if given is None and default is not None:
            continue
        value = None if given is None else given[0]
        if value is None and given is not None:
            wrong = True
        else:
            wrong = given is None or (
                isinstance(value, (bool, int, float, str, bytes))
                and not (type(value) is int and value >= 1)
            )
        if wrong:
            context.report(
                phrase("{} takes a whole number from 1, got {!r}", call.name, value),
                context.place(call.node if given is None else given[1]),
                guards,
                option="iterations_per_loop",
                help='give it the value of "iterations_per_loop", a number from 1 on',
            )


@check(
    "NPU888",
    Severity.WARNING,
    facts=("iterations-one-shot-iterator", "iterations-need-dataset"),
    source=(_PASS,),
    also=("iterations_per_loop",),
)
def one_shot_iterator_in_loop(context: Context) -> None:
    """A one-shot iterator feeds a loop of several iterations.

    A graph with a OneShotIterator may only run one iteration per session.run; otherwise the
    adapter aborts the process ("iterator_per_loop only support 1 when using OneShotIterator").

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        iterator = dataset.make_one_shot_iterator()

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        iterator = dataset.make_initializable_iterator()
        sess.run(iterator.initializer)
    """
    for block, entry in _loops(context):
        if not _opens_here(context, block):
            continue
        if context.mentions("make_initializable_iterator", "Graph"):
            continue
        for node in context.calls("make_one_shot_iterator"):
            context.report(
                phrase(
                    'a one-shot iterator with "iterations_per_loop" {} (line {}); the adapter '
                    "aborts the process",
                    entry.value,
                    entry.place.line,
                ),
                context.place(node),
                option="iterations_per_loop",
                help="use make_initializable_iterator and run its initializer",
            )
