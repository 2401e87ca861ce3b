"""Checks of iteration offload: the numbers of the option and the loop, and the iterator."""

from typing import Optional, Set

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks._loops import COUNTS, declared, opens_here

_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_PASS = "tf_adapter/optimizers/om_partition_subgraphs_pass.cc"


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
        if call.name not in COUNTS or call.open:
            continue
        keyword, position, default = COUNTS[call.name]
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
        if call.name not in COUNTS or call.open:
            continue
        keyword, position, default = COUNTS[call.name]
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
    for block, entry in declared(context):
        if not opens_here(context, block):
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
