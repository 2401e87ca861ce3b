"""Case 3: v1 control flow in a graph with dynamic shapes.

A shape is dynamic where it begins to be: at an input without a fixed shape, at an operation
whose output depends on values (Where, Unique, a Fill of a size that was fed), and where
control flow itself lets a shape vary (shape invariants, branches that differ).  Shapes and
control flow meet when some node needs both, for then they are in one session.run.  What
belongs to the input pipeline is on the host and does not count.
"""

from typing import Dict, Iterable, Iterator, List, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import join, phrase
from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph._rules import (
    functional_control_flow_lowered,
    reference_control_flow,
)
from npu_config.diagnosis.graph.findings import Change, Finding, Options, finding, named
from npu_config.diagnosis.graph.model import Body, Graph, Node, Shape, is_dynamic
from npu_config.situations.shapes import v1_control_flow_dynamic

SCRIPT = ("tf.enable_control_flow_v2()", "tf.enable_resource_variables()")
_TWO_WAYS = (
    "call tf.enable_control_flow_v2() and tf.enable_resource_variables() before the graph is built"
)
_OTHER_WAY = (
    ", or set ENABLE_FORCE_V2_CONTROL=1 in the environment (it cannot convert reference variables "
    "and raw_ops, and may cost performance)"
)
_LOOP_ENDS = ("NextIteration", "RefNextIteration")
_STATIC = ", or make the shapes static (batch with drop_remainder=True)"


class Meeting:
    """What was found in all bodies.

    Attributes:
        origins: the nodes at which shapes begin to be dynamic.
        v1: v1 control flow that meets a dynamic shape, node to construct.
        v2: functional control flow that does.
        may_stay: whether every origin is an input, which may have one shape in all runs.
        apart: v1 control flow that meets none, in a graph that has some elsewhere.
        references: reference control flow, wherever it is; True where it leads to a write.
    """

    __slots__ = ("apart", "may_stay", "origins", "references", "v1", "v2")

    def __init__(self) -> None:
        self.origins: Dict[str, None] = {}
        self.v1: Dict[str, str] = {}
        self.v2: Dict[str, None] = {}
        self.apart: Dict[str, str] = {}
        self.references: Dict[str, bool] = {}
        self.may_stay = True


def check(graph: Graph, options: Options) -> Iterator[Finding]:
    """The findings of case 3."""
    all_dynamic = options.true("compile_dynamic_mode")
    met = _meet(graph, all_dynamic)
    if met.v1:
        references = [name for name in met.v1 if name in met.references]
        change = Change(
            script=SCRIPT,
            environment={} if references else {"ENABLE_FORCE_V2_CONTROL": "1"},
            conflicts=_conflicts(options),
        )
        help = _TWO_WAYS + (
            phrase(
                " (ENABLE_FORCE_V2_CONTROL=1 cannot convert the reference control flow of {})",
                named(references, 1),
            )
            if references
            else _OTHER_WAY
        )
        only_fed = met.may_stay and not all_dynamic and not options.true("enable_data_pre_proc")
        yield finding(
            v1_control_flow_dynamic,
            phrase(
                "v1 control flow ({}) in a graph whose shapes are not fixed (from {}): as soon as "
                "one changes, the graph engine refuses it"
                if only_fed
                else "v1 control flow ({}) in a graph with dynamic shapes (from {}), which the "
                "graph engine does not support",
                _constructs(met.v1),
                "compile_dynamic_mode" if all_dynamic else named(met.origins),
            ),
            [*met.v1, *met.origins],
            help + _STATIC,
            case=3,
            change=change,
            severity=Severity.WARNING if only_fed else None,
        )
    elif met.references:
        yield finding(
            reference_control_flow,
            phrase(
                "{} pass a reference variable through v1 control flow, which "
                "ENABLE_FORCE_V2_CONTROL=1 cannot convert once a shape is dynamic"
                if len(met.references) > 1
                else "{} passes a reference variable through v1 control flow, which "
                "ENABLE_FORCE_V2_CONTROL=1 cannot convert once a shape is dynamic",
                named(met.references),
            ),
            met.references,
            _TWO_WAYS,
            case=3,
            change=Change(script=SCRIPT, conflicts=_conflicts(options)),
            severity=None if any(met.references.values()) else Severity.INFO,
        )
    elif met.apart:
        yield finding(
            v1_control_flow_dynamic,
            phrase(
                "v1 control flow ({}) together with dynamic shapes (from {}): the graph "
                "engine does not "
                "support both in one session.run",
                _constructs(met.apart),
                named(met.origins),
            ),
            [*met.apart, *met.origins],
            _TWO_WAYS + _OTHER_WAY,
            case=3,
            change=Change(script=SCRIPT, conflicts=_conflicts(options)),
            severity=Severity.INFO,
        )
    if met.v2 and options.true("lower_functional_ops"):
        yield finding(
            functional_control_flow_lowered,
            phrase(
                "lower_functional_ops turns the control flow of {} into v1 control flow in a "
                "graph with dynamic shapes (from {})",
                named(met.v2),
                named(met.origins),
            ),
            [*met.v2, *met.origins],
            "remove lower_functional_ops",
            case=3,
            change=Change(options={"lower_functional_ops": False}),
            option="lower_functional_ops",
        )


def _conflicts(options: Options) -> Tuple[str, ...]:
    if not options.true("lower_functional_ops"):
        return ()
    return ("lower_functional_ops is True and turns v2 control flow back into v1",)


def constructs(body: Body, nodes: Iterable[Node]) -> str:
    """The loops and conditions that nodes of v1 control flow belong to, in words."""
    return _constructs({node.name: _construct(body, node) for node in nodes})


def _constructs(flows: Dict[str, str], limit: int = 3) -> str:
    """The loops and conditions that nodes belong to, for a message."""
    unique = [text for text in dict.fromkeys(flows.values()) if text] or [
        '"{}"'.format(name) for name in flows
    ]
    more = len(unique) - limit
    return join(", ", unique[:limit]) + (phrase(" and {} more", more) if more > 0 else "")


def _construct(body: Body, node: Node) -> str:
    """What a node of v1 control flow is part of, where the node itself tells."""
    if node.op in ("Enter", "RefEnter"):
        return phrase('loop "{}"', node.text("frame_name"))
    if node.op in ("Merge", "RefMerge"):
        sources = [body.nodes.get(edge.source) for edge in node.inputs]
        if not any(source is not None and source.op in _LOOP_ENDS for source in sources):
            return phrase('cond "{}"', node.name)
    return (
        ""
        if node.op in operators.V1_CONTROL_FLOW
        else phrase('in the function of "{}"', node.name)
    )


def _meet(graph: Graph, all_dynamic: bool) -> Meeting:
    met = Meeting()
    bodies = [graph.main, *graph.reachable(graph.main, operators.is_on_device).values()]
    origins = {body.name: _origins(body) for body in bodies}
    for body in bodies:
        held = {
            node.name: _Held(graph, body, node, origins)
            for node, _ in graph.callers(body)
            if operators.is_on_device(node)
        }
        roots = [
            node
            for node in body
            if node.name in origins[body.name] or (node.name in held and held[node.name].dynamic)
        ]
        flows = {
            node.name: _construct(body, node)
            for node in body
            if (node.op in operators.V1_CONTROL_FLOW and not node.is_own)
            or (node.name in held and held[node.name].v1)
        }
        functional = [node for node in body if node.op in operators.V2_CONTROL_FLOW]
        met.origins.update((node.name, None) for node in roots)
        met.may_stay &= all(node.op in operators.SOURCES for node in roots)
        met.references.update(
            (node.name, _is_written(body, node))
            for node in body
            if node.op in operators.REF_CONTROL_FLOW and not node.is_own
        )
        after = body.descendants(roots, operators.is_input_pipeline)
        if _joint(body, functional, after):
            met.v2.update((node.name, None) for node in functional)
        joint = _joint(body, [body.nodes[name] for name in flows], after)
        (met.v1 if joint or all_dynamic else met.apart).update(flows)
    if not met.origins:
        met.apart.clear()
    return met


def _is_written(body: Body, node: Node) -> bool:
    """True when a reference that a node passes is assigned to, perhaps further on."""
    pending, seen = [node], {node.name}
    while pending:
        for each in body.consumers(pending.pop().name):
            if each.name in seen or not each.inputs:
                continue
            seen.add(each.name)
            if each.op in operators.REF_CONTROL_FLOW:
                pending.append(each)
            elif operators.is_update(each):
                return True
    return False


def _joint(body: Body, flows: List[Node], after: Set[str]) -> bool:
    """True when some node needs both a dynamic shape and one of ``flows``."""
    return not after.isdisjoint(body.descendants(flows, operators.is_input_pipeline))


class _Held:
    """What the functions that a node calls hold, all the way down."""

    __slots__ = ("dynamic", "v1")

    def __init__(
        self, graph: Graph, body: Body, node: Node, origins: Dict[str, Dict[str, None]]
    ) -> None:
        bodies = graph.reachable(body, operators.is_on_device, [node])
        self.dynamic = any(origins.get(name) for name in bodies)
        self.v1 = any(
            each.op in operators.V1_CONTROL_FLOW and not each.is_own
            for body in bodies.values()
            for each in body
        )


def _origins(body: Body) -> Dict[str, None]:
    """The nodes at which a shape begins to be dynamic, and that something is computed from."""
    fed = _fed_values(body)
    return {
        node.name: None
        for node in body
        if _begins(body, node, fed) and not _is_for_pipeline(body, node)
    }


def _is_for_pipeline(body: Body, node: Node) -> bool:
    """True when nothing but the input pipeline uses what is computed from a node."""
    if node.op not in operators.SOURCES:
        return False
    return all(
        body.consumers(name) for name in body.descendants([node], operators.is_input_pipeline)
    )


def _fed_values(body: Body) -> Set[str]:
    """The nodes whose value, not only whose shape, depends on what is fed."""
    found: Set[str] = set()
    pending = [node for node in body if node.op in operators.SOURCES]
    while pending:
        node = pending.pop()
        if node.name in found:
            continue
        found.add(node.name)
        for each in body.consumers(node.name):
            sources = [edge.source for edge in each.inputs]
            if each.op == "TensorArraySizeV3":
                del sources[1:]  # the size is that of the handle, whatever flows through
            if (
                node.name in sources
                and each.name not in found
                and each.op not in operators.SHAPE_ONLY
                and not operators.is_input_pipeline(each)
            ):
                pending.append(each)
    return found


def _begins(body: Body, node: Node, fed: Set[str]) -> bool:
    inferred = node.output_shapes()
    if node.op in operators.SOURCES:
        declared = inferred
        if declared is None:
            declared = node.shapes("output_shapes") or node.shapes("shapes") or node.shape("shape")
        return any(is_dynamic(shape) for shape in _tensors(node, declared or ()))
    if node.op in operators.DATA_DEPENDENT:
        return inferred is None or any(is_dynamic(shape) for shape in inferred)
    if node.op in operators.SHAPE_OPERANDS:
        operands = [
            node.inputs[index].source
            for index in operators.SHAPE_OPERANDS[node.op]
            if index < len(node.inputs)
        ]
        return any(name in fed for name in operands) and (
            inferred is None or any(is_dynamic(shape) for shape in inferred)
        )
    if node.op in ("Enter", "RefEnter", "Merge", "RefMerge") and inferred:
        return (
            node.number("T") not in (operators.DT_RESOURCE, operators.DT_VARIANT)
            and is_dynamic(inferred[0])
            and all(_known(body, edge.source, edge.slot) for edge in node.inputs)
        )
    return False


def _tensors(node: Node, shapes: Tuple[Shape, ...]) -> Iterator[Shape]:
    """The shapes of outputs that are tensors, and no handles or variants."""
    kind = node.number("dtype")
    kinds = (
        node.numbers("output_types") or node.numbers("component_types") or (kind,) * len(shapes)
    )
    for index, shape in enumerate(shapes):
        if index >= len(kinds) or kinds[index] not in (
            operators.DT_RESOURCE,
            operators.DT_VARIANT,
        ):
            yield shape


def _known(body: Body, source: str, slot: object) -> bool:
    node = body.nodes.get(source)
    shapes = None if node is None else node.output_shapes()
    if not shapes:
        return False
    if isinstance(slot, int) and slot < len(shapes):
        return not is_dynamic(shapes[slot])
    return not any(is_dynamic(shape) for shape in shapes)
