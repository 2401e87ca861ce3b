"""Types and values that the device takes badly: float64, uint8, Inf, what float16 cannot hold."""

import itertools
import re
from typing import Iterator, Optional

from npu_config.core.message import phrase
from npu_config.diagnosis.graph import constants, operators
from npu_config.diagnosis.graph.findings import named
from npu_config.diagnosis.graph.model import Node
from npu_config.diagnosis.graph.run import RunGraph, Sight, is_foreign
from npu_config.situations import precision

_TYPE_NAMES = {2: "float64", 8: "complex64", 18: "complex128", 21: "variant"}
_PLAIN = frozenset((2, 8, 18))
_UINT8 = frozenset((4, 12))
_SUMS = ("Add", "AddV2", "AddN", "Sub", "Sum", "Cumsum", "AssignAdd", "AssignSub",
         "AssignAddVariableOp", "AssignSubVariableOp")  # fmt: skip
_MIXED = frozenset(
    ("allow_mix_precision", "allow_mix_precision_fp16", "force_fp16", "mixed_float16", "fp16")
)
_VANISHES_BELOW = 2.0**-25
_GUARDS = ("Add", "AddV2", "Maximum", "Minimum", "Sub", "BiasAdd")
_HANDED_ON = frozenset(
    ("Identity", "Reshape", "ExpandDims", "Squeeze", "Sqrt", "Cast", "Snapshot")
)
_DIVISIONS = {"RealDiv": 1, "Div": 1, "DivNoNan": 1, "Xdivy": 1, "Reciprocal": 0, "Inv": 0,
              "Log": 0, "Rsqrt": 0, "Sqrt": 0, "Pow": 0}  # fmt: skip
_SETS = ("Assign", "AssignVariableOp")
_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?/")
_FINITE = ("IsFinite", "IsInf", "IsNan")
_OPTIMIZER = "training/optimizer.py"
_MADE_BY_TENSORFLOW = ("loss_scale_optimizer.py", "loss_scale.py")
_CHOICES = frozenset(("Select", "SelectV2"))


def check(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run."""
    yield from _types(run)
    if run.computes:
        yield from _bytes(run)
        yield from _infinite(run)
        yield from _vanishing(run)
    if run.trains:
        yield from _checked_by_hand(run)
        yield from _step_outside(run)


def _types(run: RunGraph) -> Iterator[Sight]:
    if run.options.true("mix_compile_mode"):
        return  # what is not supported stays on the host
    found = [
        node
        for node in run.every()
        if not _PLAIN.isdisjoint(node.types())
        and node.op not in operators.GET_NEXT
        and not _leaves(run, node)
    ]
    if run.is_stored:
        found = [node for node in found if not is_foreign(node)]
    else:  # who made one is costly to know: what comes before the first of the script is left out
        found.sort(key=lambda node: getattr(node, "index", 0))
        found = list(itertools.dropwhile(is_foreign, found))
    if not found:
        return
    first = found[0]
    names = sorted({_TYPE_NAMES[each] for node in found for each in _PLAIN & {*node.types()}})
    yield Sight(
        precision.type_not_supported,
        first,
        phrase(
            "{} computes in {}, which the NPU does not support; it is the first of {} such "
            "operations"
            if len(found) > 1
            else "{} computes in {}, which the NPU does not support",
            named([first.name]),
            " and ".join(names),
            len(found),
        ),
        nodes=tuple(node.name for node in found),
    )


def _leaves(run: RunGraph, node: Node) -> bool:
    """True for a constant or an element of a dataset that is only cast, and for that cast."""
    if node.op == "Cast":
        source = run.source(node, 0)
        goes = node.number("DstT") in _PLAIN
        return not goes and source is not None and source.op in (*operators.GET_NEXT, "Const")
    if node.op != "Const":
        return False
    users = run.body_of(node).consumers(node.name)
    return bool(users) and all(
        user.op == "Cast" and user.number("DstT") not in _PLAIN for user in users
    )


def _bytes(run: RunGraph) -> Iterator[Sight]:
    sums = run.every(*_SUMS)  # a graph may have many, and only scripts make them
    found = [node for node in sums if not _UINT8.isdisjoint(node.types())]
    for node, same in run.by_line(found):
        yield Sight(
            precision.uint8_arithmetic_saturates,
            node,
            phrase(
                "{} adds or subtracts uint8: the NPU stops at 255 and 0, where a CPU wraps around",
                named([node.name]),
            ),
            same=same,
        )


def _infinite(run: RunGraph) -> Iterator[Sight]:
    def is_harmful(node: Node) -> bool:
        if not constants.is_float(node) or constants.is_finite(run, node):
            return False
        users = run.body_of(node).consumers(node.name)
        return not users or not all(_is_of_clipping(run, user) for user in users)

    found = filter(is_harmful, run.every("Const"))
    for node, same in run.by_line(found, where=lambda node: not is_foreign(node)):
        yield Sight(
            precision.infinite_constant,
            node,
            phrase(
                "the constant {} holds Inf or NaN, which operators of Atlas training "
                "products do not support",
                named([node.name]),
            ),
            "use a finite number that float16 can hold, such as -1e4",
            same=same,
        )


def _is_of_clipping(run: RunGraph, node: Node) -> bool:
    """True for the choice that tf.clip_by_global_norm makes: NaN where the norm is not finite."""
    if node.op not in _CHOICES:
        return False
    asked, _, otherwise = (run.source(node, slot) for slot in range(3))
    if asked is None or otherwise is None or asked.op != "IsFinite" or otherwise.op != "Const":
        return False
    return not constants.is_finite(run, otherwise)


def _is_mixed(run: RunGraph) -> bool:
    return any(
        str(run.options.value(name)) in _MIXED for name in ("precision_mode", "precision_mode_v2")
    )


def _vanishing(run: RunGraph) -> Iterator[Sight]:
    if not _is_mixed(run):
        return
    said = set()
    for op, slot in _DIVISIONS.items():
        for node in run.every(op):
            guard = _guard(run, run.source(node, slot))
            if guard is None or id(guard) in said:
                continue
            value = _smallest(run, guard)
            is_kept = value is None or guard.number("_keep_dtype") or node.number("_keep_dtype")
            if value is None or is_kept or is_foreign(node):
                continue
            if run.made_in(guard, _OPTIMIZER, "apply_gradients"):
                continue  # the epsilon of an optimizer
            said.add(id(guard))
            yield Sight(
                precision.constant_vanishes_in_float16,
                guard,
                phrase(
                    "the constant {} in {} keeps the input of {} away from 0, but mixed "
                    "precision casts this constant to float16, where it is 0",
                    "{:g}".format(value),
                    named([guard.name]),
                    named([node.name]),
                ),
                option="precision_mode"
                if run.options.isset("precision_mode")
                else "precision_mode_v2",
            )


def _guard(run: RunGraph, node: Optional[Node]) -> Optional[Node]:
    """The sum or the limit that a value comes from."""
    for _ in range(8):
        if node is None or node.op in _GUARDS or node.op == "ClipByValue":
            return node
        if node.op not in _HANDED_ON:
            return None
        node = run.source(node, 0)
    return None


def _smallest(run: RunGraph, guard: Node) -> Optional[float]:
    """The constant of a guard, where float16 cannot hold it; None for any other."""
    for slot in range(len(guard.inputs)):
        value = constants.scalar(run, run.source(guard, slot))
        if value is not None and 0 < abs(value) < _VANISHES_BELOW:
            return value if guard.number("T") == 1 else None
    limited = run.source(guard, 0) if guard.op in ("Maximum", "Minimum") else None
    return _smallest(run, limited) if limited is not None and limited.op in _GUARDS else None


def _checked_by_hand(run: RunGraph) -> Iterator[Sight]:
    for node in run.of(*_FINITE):
        users = run.body_of(node).consumers(node.name)
        if users and all(_is_of_clipping(run, user) for user in users):
            continue
        if any(run.made_in(node, file) for file in _MADE_BY_TENSORFLOW):
            continue
        if any(_GRADIENTS.search(each.name) or each.op == "L2Loss" for each in _near(run, node)):
            yield Sight(
                precision.finite_check_by_hand,
                node,
                phrase(
                    "{} searches the gradients for Inf and NaN; {} is not supported, and "
                    "in saturation mode there is no Inf to find",
                    named([node.name]),
                    node.op,
                ),
            )


def _near(run: RunGraph, node: Node) -> Iterator[Node]:
    """What an operation reads, some steps back: gradients are scaled, cast and joined."""
    return itertools.islice(run.before(node), 65)


def _step_outside(run: RunGraph) -> Iterator[Sight]:
    if not run.overflow_checks:
        return

    def is_step(node: Node) -> bool:
        variable, value = run.source(node, 0), run.source(node, 1)
        if variable is None or variable.name not in run.process.steps:
            return False
        if not run.is_stored or node.op not in _SETS:
            return True  # a run that trains sets nothing for the first time
        return value is not None and any(each is variable for each in run.before(value))

    for node in run.of("AssignAdd", "AssignAddVariableOp", *_SETS, where=is_step):
        yield Sight(
            precision.step_counted_outside_optimizer,
            node,
            phrase(
                "{} increments the global step outside of the loss-scale optimizer, so it "
                "also counts the steps that are skipped because of an overflow",
                named([node.name]),
            ),
            "pass global_step to apply_gradients",
        )
