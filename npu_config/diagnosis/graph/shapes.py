"""Shapes that nobody knows before the run, and control flow of TensorFlow 1 that meets them."""

import functools
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import join, phrase
from npu_config.diagnosis.graph import constants, operators
from npu_config.diagnosis.graph.control_flow import SCRIPT, constructs
from npu_config.diagnosis.graph.findings import Change, named
from npu_config.diagnosis.graph.model import Node, is_dynamic
from npu_config.diagnosis.graph.run import RunGraph, Sight
from npu_config.situations import shapes

MANY_BRANCHES = 100
FORCE = "ENABLE_FORCE_V2_CONTROL"
_MERGES = ("Merge", "RefMerge")
_LOOP_ENDS = frozenset(("NextIteration", "RefNextIteration"))
#: Types with a size among their inputs; a size that a run computes makes their output dynamic.
_SIZES = {"Range": (0, 1, 2), "Fill": (0,), "Reshape": (1,), "SparseToDense": (1,)}
_GRADIENT_FILES = ("gradients_util.py", "gradients_impl.py")
_OPTIMIZER_FILES = ("training/optimizer.py",)


class Flow(NamedTuple):
    """The control flow of TensorFlow 1 in the graph of a run, and what makes that dynamic.

    Attributes:
        place: where it was asked for.
        constructs: its loops and conditions, in words.
        has_references: whether some of it passes reference variables.
        reasons: why the graph is dynamic, as far as the graph and the options tell.
    """

    place: Place
    constructs: str
    has_references: bool
    reasons: Tuple[str, ...]


def check(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run."""
    if run.computes:
        yield from _value_dependent(run)
        yield from _top_k(run)
        yield from _branches(run)


def is_of_gradients(run: RunGraph, node: Node) -> bool:
    """True for an operation that computes gradients."""
    if node.name.startswith("gradients") or "/gradients" in node.name:
        return True
    return any(run.made_in(node, file) for file in _GRADIENT_FILES)


def value_dependent(run: RunGraph) -> List[Node]:
    """Operations whose output shape depends on values."""
    found = [
        node
        for node in run.of(
            *operators.DATA_DEPENDENT,
            *operators.PADDED,
            where=lambda node: not _is_fixed_shape(node),
        )
        if not (node.op in operators.PADDED and node.number("pad_to_max_output_size"))
        and not any(run.made_in(node, file) for file in _OPTIMIZER_FILES)
    ]
    for op in _SIZES:
        sized = run.of(op, where=functools.partial(_has_computed_size, run))
        found += [node for node in sized if not is_of_gradients(run, node)]
    return found


def _is_fixed_shape(node: Node) -> bool:
    inferred = node.output_shapes()
    return inferred is not None and not any(is_dynamic(shape) for shape in inferred)


def _has_computed_size(run: RunGraph, node: Node) -> bool:
    inferred = node.output_shapes()
    if inferred is None or not any(is_dynamic(shape) for shape in inferred):
        return False
    return any(_is_of_values(run, run.source(node, slot)) for slot in _SIZES[node.op])


def _is_of_values(run: RunGraph, node: Optional[Node]) -> bool:
    """True when a value is computed from values that come in, and not from shapes alone.

    What was found out stays with the run, so that a chain of such operations is walked once.
    """
    if node is None:
        return False
    nodes, known = run.body_of(node).nodes, run.of_values
    came_from: Dict[int, Optional[Node]] = {id(node): None}
    pending = [node]
    while pending:
        each = pending.pop()
        answer = known.get(id(each), each.op in operators.SOURCES or None)
        if answer:
            on_way: Optional[Node] = each
            while on_way is not None:
                known[id(on_way)] = True
                on_way = came_from[id(on_way)]
            return True
        is_over = each.op in operators.SHAPE_ONLY or each.op.startswith("TensorArray")
        for edge in () if is_over or answer is not None else each.inputs:
            source = nodes.get(edge.source)
            if source is not None and id(source) not in came_from:
                came_from[id(source)] = each
                pending.append(source)
    known.update(dict.fromkeys(came_from, False))
    return False


def _value_dependent(run: RunGraph) -> Iterator[Sight]:
    for node in value_dependent(run):
        yield Sight(
            shapes.output_shape_depends_on_values,
            node,
            phrase(
                "the shape of {} ({}) depends on values: what is computed from it is dynamic",
                named([node.name]),
                node.op,
            ),
            "multiply by the mask, or take a fixed number and pad",
        )


def _top_k(run: RunGraph) -> Iterator[Sight]:
    for node in run.of("TopKV2"):
        if len(node.inputs) > 1 and not constants.is_fixed(run, run.source(node, 1)):
            yield Sight(
                shapes.top_k_with_computed_k,
                node,
                phrase("the k of {} is computed in the run", named([node.name])),
            )


def _branches(run: RunGraph) -> Iterator[Sight]:
    if _is_forced(run):
        return
    merges = run.of(*_MERGES, where=lambda node: not _is_loop(run, node))
    if len(merges) < MANY_BRANCHES:
        return
    by_place: Dict[Any, List[Node]] = {}
    for node in merges:
        if not is_of_gradients(run, node):
            place = run.place(node)
            by_place.setdefault(place, []).append(node)
    most = max(by_place.values(), key=len)[0] if by_place else merges[0]
    yield Sight(
        shapes.v1_control_flow_many_branches,
        most,
        phrase(
            "branches of TensorFlow 1 in the graph of one run: {}; their memory is not shared, "
            "and may not suffice",
            len(merges),
        ),
        "call tf.enable_control_flow_v2() and tf.enable_resource_variables() before the graph is "
        "built, or set ENABLE_FORCE_V2_CONTROL=1",
        change=Change(script=SCRIPT, environment={FORCE: "1"}),
    )


def _is_loop(run: RunGraph, node: Node) -> bool:
    sources = [run.source(node, slot) for slot in range(len(node.inputs))]
    return any(source is not None and source.op in _LOOP_ENDS for source in sources)


def _is_forced(run: RunGraph) -> bool:
    return run.process.environ.get(FORCE) == "1"


def flow(run: RunGraph) -> Optional[Flow]:
    """The control flow of TensorFlow 1 in the graph of a run; None for none that counts."""
    if not run.computes or not run.any(*operators.V1_CONTROL_FLOW):
        return None
    nodes = (
        run.of(*operators.REF_CONTROL_FLOW)
        if _is_forced(run)
        else run.of(*operators.V1_CONTROL_FLOW)
    )
    nodes = [node for node in nodes if node.op != "_SwitchN"]
    own = [node for node in nodes if not is_of_gradients(run, node)]
    if not nodes or not (own or _is_nothing_ours(run)):
        return None
    first = min(own or nodes, key=lambda node: getattr(node, "index", 0))
    words = constructs(run.graph.main, own or nodes)
    references = any(node.op in operators.REF_CONTROL_FLOW for node in nodes)
    return Flow(run.place(first), words, references, tuple(_reasons(run)))


def _is_nothing_ours(run: RunGraph) -> bool:
    """True unless stand-ins made control flow, whose gradients are not the script's either."""
    return not any(node.is_own for node in run.every() if node.op in operators.V1_CONTROL_FLOW)


def _reasons(run: RunGraph) -> Iterator[str]:
    options = run.options
    if options.true("compile_dynamic_mode"):
        yield phrase("compile_dynamic_mode is True")
    if options.true("dynamic_input") and options.value("dynamic_graph_execute_mode") in (
        "dynamic_execute",
    ):
        yield phrase("dynamic_input with dynamic_execute")
    if options.true("enable_data_pre_proc"):
        for node in run.of(*operators.GET_NEXT):
            declared = node.shapes("output_shapes") or ()
            if any(is_dynamic(shape) for shape in declared):
                yield phrase(
                    "GetNext is on the device, and {} has no fixed shape", named([node.name])
                )
    depends = value_dependent(run)
    if depends:
        names = named(node.name for node in depends)
        yield phrase("the shape of {} depends on values", names)


def refused(found: Flow, reasons: Sequence[str]) -> Diagnostic:
    """The finding for control flow in a graph that is dynamic.

    Args:
        found: the control flow.
        reasons: why the graph is dynamic.
    """
    return shapes.v1_control_flow_dynamic.diagnostic(
        phrase(
            "control flow of TensorFlow 1 ({}) in a dynamic graph ({}): the graph engine refuses "
            "it",
            found.constructs,
            join("; ", reasons),
        ),
        found.place,
        help="call tf.enable_control_flow_v2() and tf.enable_resource_variables() after the "
        "import of TensorFlow (ENABLE_FORCE_V2_CONTROL=1 cannot convert reference variables), or "
        "give every step one shape"
        if found.has_references
        else None,
    )
