"""Cases 1 and 2: state of the device that the input pipeline on the host needs.

Everything that a dataset node computes with is among its ancestors: tensors that it takes
directly (a batch size) and tensors that its functions capture.  A table or a variable
among them is used on the host.  So are those that a function of the pipeline makes itself.
"""

from typing import Dict, Iterator, List, NamedTuple, Optional, Pattern, Set, Tuple

from npu_config.core.message import phrase
from npu_config.diagnosis.graph import _ops
from npu_config.diagnosis.graph._findings import Change, Finding, Options, finding, named
from npu_config.diagnosis.graph.model import Body, CallSite, Graph, Node, every
from npu_config.situations.pipeline import table_in_preprocessing, variable_in_preprocessing

# How many inputs stand before those that become the arguments of the called function.
_BEFORE_ARGUMENTS = {"If": 1, "StatelessIf": 1, "Case": 1, "StatelessCase": 1, "For": 3}


class Use(NamedTuple):
    """A stateful node, and the dataset node that needs it with the body it stands in."""

    state: Node
    dataset: Node
    body: Body


def check(graph: Graph, options: Options) -> Iterator[Finding]:
    """The findings of cases 1 and 2."""
    uses = _uses(graph)
    tables = [use for use in uses if _ops.is_table(use.state)]
    variables = [use for use in uses if _ops.is_variable(use.state)]
    if tables and not options.true("mix_compile_mode"):
        yield finding(
            table_in_preprocessing,
            phrase(
                "lookup table {} used inside data preprocessing (by {}): initialised on the "
                "device, looked up on the host"
                if _count(tables) == 1
                else "lookup tables {} used inside data preprocessing (by {}): initialised on "
                "the device, looked up on the host",
                _are(tables),
                named(use for use in dict.fromkeys(each.dataset.name for each in tables)),
            ),
            _nodes(graph, tables, _ops.TABLE_USES),
            "set mix_compile_mode=True, or look the table up behind iterator.get_next()",
            case=1,
            change=Change(
                options={"mix_compile_mode": True}, conflicts=_conflicts(graph, options)
            ),
            option="mix_compile_mode",
        )
    if variables:
        yield finding(
            variable_in_preprocessing,
            phrase(
                "variable {} used inside data preprocessing (by {}): initialised on the device, "
                "read on the host"
                if _count(variables) == 1
                else "variables {} used inside data preprocessing (by {}): initialised on the "
                "device, read on the host",
                _are(variables),
                named(use for use in dict.fromkeys(each.dataset.name for each in variables)),
            ),
            _nodes(graph, variables, _ops.VARIABLE_USES),
            "use a constant, a Python value or a placeholder in the pipeline, or compute with the "
            "variable behind iterator.get_next(); where it must stay, initialise the iterator "
            "and the variables in separate session.run calls",
            case=2,
            change=Change(script=("replace the variable by a constant in the input pipeline",)),
        )


def _count(uses: List[Use]) -> int:
    return len({use.state.name for use in uses})


def _are(uses: List[Use]) -> str:
    names = named(dict.fromkeys(use.state.name for use in uses))
    return phrase("{} is" if _count(uses) == 1 else "{} are", names)


def _nodes(graph: Graph, uses: List[Use], touches: Pattern[str]) -> List[str]:
    """State, dataset nodes, and the operations in their functions that touch such state."""
    names: Dict[str, None] = {}
    for use in uses:
        names[use.state.name] = None
        names[use.dataset.name] = None
        for body in graph.reachable(use.body, every, [use.dataset]).values():
            names.update((node.name, None) for node in body if touches.search(node.op))
    return list(names)


def _uses(graph: Graph) -> List[Use]:
    """Every (state, dataset) pair, each once."""
    found: Dict[Tuple[str, str, str], Use] = {}
    bodies = [graph.main, *graph.reachable(graph.main, _ops.is_on_device).values()]
    for body in bodies:
        for dataset in body:
            if _ops.is_dataset(dataset):
                for state in _needed(graph, body, dataset):
                    key = (body.name, state.name, dataset.name)
                    found[key] = Use(state, dataset, body)
    return list(found.values())


def _needed(graph: Graph, body: Body, dataset: Node) -> Iterator[Node]:
    """The tables and variables that a dataset node needs itself, not through other datasets."""
    seen: Set[Tuple[str, str]] = set()
    pending: List[Tuple[Body, str]] = [(body, edge.source) for edge in dataset.inputs]
    passed: Dict[str, List[Node]] = {body.name: [dataset]}
    while pending:
        scope, name = pending.pop()
        if (scope.name, name) in seen:
            continue
        seen.add((scope.name, name))
        node = scope.nodes.get(name)
        if node is None:
            pending.extend(_passed_by_callers(graph, scope, name))
        elif _ops.is_variable(node) or _ops.is_table(node):
            yield node
        elif not _ops.is_input_pipeline(node):
            passed.setdefault(scope.name, []).append(node)
            pending.extend((scope, edge.source) for edge in node.inputs)
    for scope_name, nodes in passed.items():
        scope = graph.functions[scope_name] if scope_name else graph.main
        for function in graph.reachable(scope, every, nodes).values():
            for node in function:
                if _ops.is_variable(node) or _ops.is_table(node):
                    yield node


def _passed_by_callers(graph: Graph, body: Body, argument: str) -> Iterator[Tuple[Body, str]]:
    """What the callers of a function pass for one of its arguments."""
    index = body.arguments.get(argument)
    if index is None:
        return
    for call in graph.calls(body.name):
        source = _passed(call, index)
        if source is not None:
            yield call.body, source


def _passed(call: CallSite, index: int) -> Optional[str]:
    node = call.node
    if _ops.is_dataset(node):
        # Elements of the dataset come first; all that is captured is among its inputs.
        return None
    at = index + _BEFORE_ARGUMENTS.get(node.op, 0)
    return node.inputs[at].source if at < len(node.inputs) else None


def _conflicts(graph: Graph, options: Options) -> Tuple[str, ...]:
    """What cannot stand beside mixed computing."""
    found = []
    if options.iterations > 1:
        found.append(
            phrase("iterations_per_loop is {}, mixed computing requires 1", options.iterations)
        )
    elif "IterationOp" in graph.main.nodes:
        found.append(
            "the graph has an IterationOp, mixed computing requires iterations_per_loop 1"
        )
    if options.isset("input_shape") and options.isset("dynamic_dims"):
        found.append("input_shape with dynamic_dims excludes mixed computing, the adapter aborts")
    training = [
        node.name
        for node in graph.main
        if node.op == "FusedBatchNormV3" and node.number("is_training") != 0
    ]
    if training:
        found.append(
            phrase(
                "{} is a FusedBatchNormV3, whose fifth output mixed computing does not support: "
                "build batch normalization under tf.compat.forward_compatibility_horizon(2019, "
                "5, 1)",
                named(training, 1),
            )
        )
    return tuple(found)
