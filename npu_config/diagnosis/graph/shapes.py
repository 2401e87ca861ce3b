"""Shapes that nobody knows before the run, and control flow of TensorFlow 1 that meets them.

That is case 3.  A shape is dynamic where it begins to be: at an input without a fixed shape, at
an operation whose output depends on values (Where, Unique, a Fill of a size that was fed), and
where control flow itself lets a shape vary (shape invariants, branches that differ).  Shapes and
control flow meet when some node needs both, for then they are in one session.run.  What
belongs to the input pipeline is on the host and does not count.
"""

import functools
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare
from npu_config.core.message import join, phrase
from npu_config.diagnosis.graph import constants, operators
from npu_config.diagnosis.graph.findings import Change, Finding, Options, finding, named
from npu_config.diagnosis.graph.model import Body, Graph, Node, Shape, is_dynamic
from npu_config.diagnosis.graph.run import RunGraph, Sight
from npu_config.situations import shapes

_CONTROL = "docs/en/tfa_env/ENABLE_FORCE_V2_CONTROL.md"

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


@declare(
    "NPU483",
    Severity.WARNING,
    facts=("dynamic-shape-v1-control-flow",),
    source=(_CONTROL,),
)
def reference_control_flow() -> None:
    """Control flow uses reference variables.

    RefSwitch and similar operators are created for reference variables inside `tf.cond` and
    loops. They are v1 control flow that `ENABLE_FORCE_V2_CONTROL=1` cannot convert: if any
    shape in the graph is dynamic, the script must be changed.

    Wrong: `tf.cond(p, lambda: tf.assign(v, 2.0), lambda: v)` with a reference variable

    Right: `tf.enable_resource_variables()` and `tf.enable_control_flow_v2()` before the graph
    is built.
    """


@declare(
    "NPU484",
    Severity.ERROR,
    options=("lower_functional_ops",),
    facts=("dynamic-shape-v1-control-flow",),
    source=("facts: options.yaml lower_functional_ops",),
)
def functional_control_flow_lowered() -> None:
    """`lower_functional_ops` turns v2 control flow back into v1 in a graph with dynamic shapes.

    The undocumented option lowers While, If and Case to Switch and Merge before the graph is
    partitioned; with dynamic shapes, the graph engine rejects Switch and Merge.

    Wrong: `lower_functional_ops: true` with `tf.enable_control_flow_v2()` and dynamic shapes

    Right: leave `lower_functional_ops` out.
    """


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

    def __init__(self) -> None:
        self.origins: Dict[str, None] = {}
        self.v1: Dict[str, str] = {}
        self.v2: Dict[str, None] = {}
        self.apart: Dict[str, str] = {}
        self.references: Dict[str, bool] = {}
        self.may_stay = True


def check_control_flow(graph: Graph, options: Options) -> Iterator[Finding]:
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
            shapes.v1_control_flow_dynamic,
            phrase(
                "v1 control flow ({}) in a graph whose shapes are not fixed (from {}): as "
                "soon as a shape changes, the graph engine rejects the graph"
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
            shapes.v1_control_flow_dynamic,
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
        begun: Set[str] = set(origins[body.name])
        with_v1: Set[str] = set()
        for node, _ in graph.callers(body):
            if operators.is_on_device(node):
                is_dynamic_inside, has_v1 = _held(graph, body, node, origins)
                begun.update([node.name] if is_dynamic_inside else ())
                with_v1.update([node.name] if has_v1 else ())
        roots = [node for node in body if node.name in begun]
        flows = {
            node.name: _construct(body, node)
            for node in body
            if _is_v1(node) or node.name in with_v1
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


def _held(
    graph: Graph, body: Body, node: Node, origins: Dict[str, Dict[str, None]]
) -> Tuple[bool, bool]:
    """Whether the functions that a node calls hold dynamic shapes, and v1 control flow."""
    bodies = graph.reachable(body, operators.is_on_device, [node])
    has_v1 = any(_is_v1(each) for body in bodies.values() for each in body)
    return any(origins.get(name) for name in bodies), has_v1


def _is_v1(node: Node) -> bool:
    return node.op in operators.V1_CONTROL_FLOW and not node.is_own


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


MANY_BRANCHES = 100
FORCE = "ENABLE_FORCE_V2_CONTROL"
_MERGES = ("Merge", "RefMerge")
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
                "the shape of {} ({}) depends on tensor values: all tensors computed from "
                "it have dynamic shapes",
                named([node.name]),
                node.op,
            ),
            "multiply by the mask, or select a fixed number of elements and pad",
        )


def _top_k(run: RunGraph) -> Iterator[Sight]:
    for node in run.of("TopKV2"):
        if len(node.inputs) > 1 and not constants.is_fixed(run, run.source(node, 1)):
            yield Sight(
                shapes.top_k_with_computed_k,
                node,
                phrase("the k of {} is computed at run time", named([node.name])),
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
            "TensorFlow v1 branches in the graph of one session.run: {}; the branches do "
            "not share memory, so the memory may not suffice",
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
                    "GetNext runs on the device, and {} has no fixed shape", named([node.name])
                )
    depends = value_dependent(run)
    if depends:
        names = named(node.name for node in depends)
        yield phrase("the shape of {} depends on tensor values", names)


def refused(found: Flow, reasons: Sequence[str]) -> Diagnostic:
    """The finding for control flow in a graph that is dynamic.

    Args:
        found: the control flow.
        reasons: why the graph is dynamic.
    """
    return shapes.v1_control_flow_dynamic.diagnostic(
        phrase(
            "TensorFlow v1 control flow ({}) in a dynamic graph ({}): the graph engine "
            "rejects the graph",
            found.constructs,
            join("; ", reasons),
        ),
        found.place,
        help="call tf.enable_control_flow_v2() and tf.enable_resource_variables() after the "
        "import of TensorFlow (ENABLE_FORCE_V2_CONTROL=1 cannot convert reference "
        "variables), or use the same shape in every step"
        if found.has_references
        else None,
    )
