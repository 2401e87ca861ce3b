"""Every documented trouble that the graph of a run shows, one after another."""

from typing import Iterator

from npu_config.core.message import join, phrase
from npu_config.diagnosis.graph import numbers, pipeline, placement, preprocessing, shapes
from npu_config.diagnosis.graph.findings import Change, Finding
from npu_config.diagnosis.graph.run import RunGraph, Sight

_MODULES = (preprocessing, pipeline, shapes, placement, numbers)


def sights(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run, but for what depends on other runs."""
    for module in _MODULES:
        yield from module.check(run)


def finding_of(run: RunGraph, sight: Sight) -> Finding:
    """A finding at the line that made the operation."""
    change = sight.change or Change()
    help = sight.help or sight.rule.help
    if change.conflicts and help:
        help = phrase("{}; conflict: {}", help, join("; ", change.conflicts))
    diagnostic = sight.rule.diagnostic(
        sight.message, run.place(sight.node), sight.option, help, sight.severity
    )
    return Finding(sight.case, sight.nodes or (sight.node.name,), diagnostic, change)
