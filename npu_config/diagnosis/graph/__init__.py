"""What in a graph will fail on the NPU, and the change that mends it.

Four failures come up again and again when a network is migrated: lookup tables in the input
pipeline (case 1), variables in the input pipeline (case 2), v1 control flow with dynamic
shapes (case 3), and float16 reductions on one core (case 4).  Beside these, the diagnosis
looks at what iteration offload and GetNext offload need of a graph, and for the documented
situations that a graph shows (``sights``), which ``npu-config run`` looks for in the graph of
each run.  The criteria look at what depends on what, never at names.
"""

from dataclasses import replace
from typing import Any, FrozenSet, Iterator

import attr

from npu_config.diagnosis.graph import (
    numbers,
    offload,
    pipeline,
    placement,
    shapes,
)
from npu_config.diagnosis.graph.findings import Change, Diagnosis, Finding, options_of
from npu_config.diagnosis.graph.load import load, session_config
from npu_config.diagnosis.graph.run import RunGraph, Sight

__all__ = ["Change", "Diagnosis", "Finding", "diagnose", "float16_nodes"]

_SITUATIONS = (pipeline, shapes, placement, numbers)


def diagnose(source: Any, config: Any = None) -> Diagnosis:
    """Find what in a graph will fail on the NPU.

    Args:
        source: a path (text or binary GraphDef, MetaGraphDef, a checkpoint's .meta or its
            prefix, a SavedModel or its directory), a GraphDef or MetaGraphDef message, a
            tf.Graph, or a session.
        config: what the session is configured with: an NpuConfig, a mapping of options, or a
            ConfigProto; None: for a session its own, otherwise unknown, and findings
            that depend on options are made only where the graph alone is enough.

    Returns:
        The findings, as a Report with nodes and changes beside it.

    Raises:
        NpuConfigError: the source cannot be read, is damaged, or holds no graph.
        TypeError: the source is of none of these types.
    """
    loaded = load(source)
    options = options_of(session_config(source) if config is None else config)
    run = RunGraph(loaded.graph, options)
    found = [finding_of(run, sight) for sight in sights(run)]
    found += shapes.check_control_flow(loaded.graph, options)
    found += offload.check(loaded.graph, options)
    findings = []
    for each in found:
        place = loaded.place(each.nodes[0] if each.nodes else None)
        diagnostic = replace(each.diagnostic, path=place.path, line=place.line)
        findings.append(attr.evolve(each, diagnostic=diagnostic))
    return Diagnosis(findings)


def float16_nodes(source: Any) -> FrozenSet[str]:
    """The ReduceSum nodes of a graph that read float16 before any conversion.

    Args:
        source: as for :func:`diagnose`.
    """
    return frozenset(offload.float16_sums(load(source).graph))


def sights(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run, but for what depends on other runs."""
    for module in _SITUATIONS:
        yield from module.check(run)


def finding_of(run: RunGraph, sight: Sight) -> Finding:
    """A finding at the line that made the operation."""
    change = sight.change or Change()
    help = sight.help or sight.rule.help
    help = change.named_in(help) if help else help
    diagnostic = sight.rule.diagnostic(
        sight.message, run.place(sight.node), sight.option, help, sight.severity
    )
    return Finding(sight.case, sight.nodes or (sight.node.name,), diagnostic, change)
