"""Checks of types, of constants in float16, and of loss scaling."""

import ast
import re
from typing import Any, Dict, List, Optional, Set, Tuple

from npu_config.core.message import phrase
from npu_config.python_flow.module import Site, Value, sites
from npu_config.python_flow.scopes import (
    CONSTANTS,
    FUNCTIONS,
    Scope,
    argument,
    arguments,
    defaults_of,
    keyword_of,
    literal,
    name_of,
    number_of,
)
from npu_config.script.checks._check import Context, recognises
from npu_config.script.checks.network import fetched
from npu_config.script.meaning import Meaning, makes_operator
from npu_config.script.neighbours import constants_in, has
from npu_config.script.values import DEEP
from npu_config.situations import precision

_TYPES = ("float64", "double", "complex64", "complex128")
_TYPED: Dict[str, Tuple[str, int]] = {
    "placeholder": ("dtype", 0),
    "sparse_placeholder": ("dtype", 0),
    "Variable": ("dtype", 7),
    "get_variable": ("dtype", 2),
    "constant": ("dtype", 1),
    "convert_to_tensor": ("dtype", 1),
    "cast": ("dtype", 1),
    "zeros": ("dtype", 1),
    "ones": ("dtype", 1),
    "random_normal": ("dtype", 3),
    "random_uniform": ("dtype", 3),
    "truncated_normal": ("dtype", 3),
    "one_hot": ("dtype", 5),
    "range": ("dtype", 3),
    "eye": ("dtype", 3),
    "zeros_like": ("dtype", 1),
    "ones_like": ("dtype", 1),
    "normal": ("dtype", 3),
    "uniform": ("dtype", 3),
    "Input": ("dtype", 3),
    "set_floatx": ("value", 0),
}
_MADE = {
    "to_double": "float64",
    **{"dtypes." * n + "complex": "complex64" for n in (0, 1)},
    **{"to_" + kind: kind for kind in ("complex64", "complex128")},
    **{
        room + each: "complex64"
        for each in ("fft", "ifft", "fft2d", "ifft2d", "rfft", "rfft2d", "stft")
        for room in ("", "signal.", "spectral.", "contrib.signal.")
    },
}
"""What makes tensors of a type without support whatever it is given."""
_LAYERS = ("layers.", "keras.layers.")
"""What is given a type for its weights by name."""
_ROOMS = ("", "dtypes", "random", "keras", "keras.layers", "keras.backend")
_MOST = 10
"""How many places of one script are reported."""
_HOLDING = ("Variable", "constant", "convert_to_tensor")
_NUMPY_DOUBLES = frozenset(
    "numpy." + name
    for name in (
        *("zeros", "ones", "linspace", "eye", "random.rand", "random.randn", "random.normal"),
        *("random.uniform", "random.random", "random.standard_normal", "identity", "full"),
        *("random.random_sample", "sqrt", "float64", "logspace"),
    )
)


_MAKERS = (*_TYPED, *sorted({name.rpartition(".")[2] for name in _MADE} - set(_TYPED)))


@recognises(precision.type_not_supported, (*_MAKERS, "dtype"))
def double_in_network(context: Context) -> None:
    """float64 and complex numbers are given to what makes tensors."""
    is_typed = _mentions_types(context)
    made = _MAKERS if is_typed else (*_HOLDING, *_MAKERS[len(_TYPED) :])
    meaning = context.meaning
    places = list(meaning.calls(*made)) if context.mentions(*made) else []
    if is_typed and context.mentions("layers"):
        lines = context.script.source.mentions("dtype")
        places += sites(context.script.module, lines, (ast.Call,))
    found: List[Tuple[Site, str]] = []
    for site in {site.node: site for site in places}.values():
        name = meaning.called(site)
        kind = None if name is None else _MADE.get(name) or _type_of(meaning, site, name)
        if kind is not None and meaning.in_network(site):
            found.append((site, kind))
    found.sort(key=lambda each: each[0].line)
    if not found or not context.option("mix_compile_mode") <= {None, False}:
        return
    for site, kind in found[:_MOST]:
        context.report(
            site.node,
            "tf.{} creates a {} tensor, which the NPU does not support",
            meaning.called(site),
            kind,
        )


def _mentions_types(context: Context) -> bool:
    """True when the script, or a constant that it imports, is a type without support."""
    if context.mentions(*_TYPES):
        return True
    is_named = context.mentions("dtype", "DTYPE", "float_type", "FLOAT")
    files = context.script.files_named if is_named else []
    return any(
        text.rpartition(".")[2] in _TYPES and context.mentions(name)
        for file in files
        if has(file, _TYPES)
        for name, text in constants_in(file).items()
    )


_RANDOM = {"normal": 2, "uniform": 2}
"""The functions of numpy.random that take a size behind other arguments."""


def _is_python_float(call: ast.Call, name: str) -> bool:
    """True for a random number without a size: numpy gives a float of Python, so float32."""
    module, _, function = name.rpartition(".")
    count = _RANDOM.get(function, 0)
    return module == "numpy.random" and len(call.args) <= count and not keyword_of(call, "size")


def _type_of(meaning: Meaning, site: Site, name: str) -> Optional[str]:
    """The type without support that a call certainly makes a tensor of."""
    call = site.node
    room, _, last = name.rpartition(".")
    if name.startswith(_LAYERS) and last != "Input":
        own = keyword_of(call, "dtype")
        return None if own is None else _named_type(meaning, site.scope, own.value)
    if last not in _TYPED or room not in _ROOMS:
        return None
    given = argument(call, *_TYPED[last])
    if given is not None:
        return _named_type(meaning, site.scope, given)
    value = call.args[0] if call.args else None
    if name in _HOLDING and value is not None:
        found = meaning.value(site.scope, value)
        if found is None or not isinstance(found.node, ast.Call):
            return None
        made = found.node
        if isinstance(made.func, ast.Attribute) and made.func.attr == "astype" and made.args:
            return _named_type(meaning, found.scope, made.args[0])
        dotted = meaning.name(found.scope, made.func)
        own = keyword_of(made, "dtype")
        if own is not None:
            return _named_type(meaning, found.scope, own.value)
        is_one = dotted is not None and _is_python_float(made, dotted)
        if (
            dotted in _NUMPY_DOUBLES
            and not is_one
            and not _has_type(meaning, found.scope, made, dotted)
        ):
            return "float64"
        if dotted in ("numpy.array", "numpy.asarray") and len(made.args) == 1:
            numbers = [number_of(n) for n in ast.walk(made.args[0]) if n.__class__ in CONSTANTS]
            if any(isinstance(n, float) for n in numbers) and all(n is not None for n in numbers):
                names = [n for n in ast.walk(made.args[0]) if isinstance(n, (ast.Name, ast.Call))]
                return None if names else "float64"
        inner = meaning.tf(found.scope, made.func)
        if inner in ("zeros", "ones", "random_normal", "truncated_normal", "random_uniform"):
            for each in arguments(made):
                kind = _named_type(meaning, found.scope, each)
                if kind is not None:
                    return kind
    return None


def _has_type(meaning: Meaning, scope: Scope, call: ast.Call, name: str) -> bool:
    """True when a type is among the arguments by position, or the result may be another one."""
    if name in ("numpy.zeros", "numpy.ones"):
        return len(call.args) > 1
    if name == "numpy.full":
        filled = argument(call, "fill_value", 1)
        return len(call.args) > 2 or not isinstance(filled and number_of(filled), float)
    if name == "numpy.sqrt":
        return not call.args or meaning.constant(scope, call.args[0]) is None
    return False


_OF_TYPES = ("tensorflow", "numpy")


def _named_type(meaning: Meaning, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[str]:
    if isinstance(node, ast.Call) and name_of(node.func) == "as_dtype" and node.args:
        return _named_type(meaning, scope, node.args[0])
    dotted = meaning.name(scope, node)
    if isinstance(node, (ast.Name, ast.Attribute)) and not (dotted or "").startswith(_OF_TYPES):
        bound = meaning.values(scope, node)
        if len(bound) == 1 and bound[0] is not None and depth < DEEP:
            return _named_type(meaning, *bound[0], depth + 1)
    root, _, last = (dotted or "").rpartition(".")
    if root in ("tensorflow", "tensorflow.dtypes", "numpy") and last in _TYPES:
        return "float64" if last == "double" else last
    text = meaning.constant(scope, node)
    return text if isinstance(text, str) and text in _TYPES else None


# loss scaling

_SCALING = ("NPULossScaleOptimizer", "NPUOptimizer")
_UPDATING = ("minimize", "apply_gradients")


def _scaling_optimizer(meaning: Meaning, scope: Scope, node: ast.AST) -> Optional[ast.Call]:
    """The call that makes the loss-scale optimizer that an expression certainly is."""
    found = meaning.result(scope, node)
    if found is None or not isinstance(found.node, ast.Call):
        return None
    call = found.node
    if not meaning.is_npu(found.scope, call.func, *_SCALING):
        return None
    if meaning.is_npu(found.scope, call.func, "NPUOptimizer"):
        given = keyword_of(call, "is_loss_scale")
        if given is None or meaning.constant(found.scope, given.value) is not True:
            return None
    return call


@recognises(
    precision.optimizers_share_overflow_flag,
    ("NPULossScaleOptimizer", "is_loss_scale"),
    _UPDATING,
)
def two_optimizers_in_one_run(context: Context) -> None:
    """One run has the updates of two loss-scale optimizers."""
    meaning = context.meaning
    for site in meaning.calls("run"):
        call = site.node
        found: Dict[int, ast.Call] = {}
        inside: Set[int] = set()
        for given in fetched(meaning, site.scope, call):
            for part in meaning.parts(site.scope, given, controls=True):
                _add_optimizer(meaning, part, found, inside)
        for each in inside:
            found.pop(each, None)
        if len(found) > 1:
            lines = sorted({made.lineno for made in found.values()})
            context.report(
                call,
                "one session.run applies {} loss-scale optimizers (line {}), but the device "
                "has only one overflow flag for all of them",
                len(found),
                ", ".join(map(str, lines)),
            )


def _add_optimizer(
    meaning: Meaning, part: Value, found: Dict[int, ast.Call], inside: Set[int]
) -> None:
    """Enter the loss-scale optimizer of an update by what makes it.

    A function that makes one makes another each time that it is called: the call stands for it,
    not what is ``inside``.
    """
    update = meaning.result(*part) if isinstance(part.node, ast.Call) else None
    if update is None or not isinstance(update.node, ast.Call):
        return
    function = update.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in _UPDATING:
        return
    made = _scaling_optimizer(meaning, update.scope, function.value)
    bound = meaning.value(update.scope, function.value)
    if made is None or bound is None:
        return
    if update.node is not part.node and update.scope in bound.scope.around():
        inside.add(id(bound.node))
        found[id(part.node)] = made
    else:
        found[id(bound.node)] = made


@recognises(
    precision.loss_scale_manager_under_control_dependencies,
    ("ExponentialUpdateLossScaleManager",),
    ("control_dependencies",),
)
def manager_under_control_dependencies(context: Context) -> None:
    """``ExponentialUpdateLossScaleManager`` in a ``with tf.control_dependencies`` block."""
    meaning = context.meaning
    for site in meaning.calls("ExponentialUpdateLossScaleManager"):
        call = site.node
        if not meaning.is_npu(site.scope, call.func, "ExponentialUpdateLossScaleManager"):
            continue
        if _is_controlled(site) or _is_called_controlled(context, site):
            context.report(
                call,
                "the loss-scale manager is created under tf.control_dependencies: its "
                "variables then depend on the data fed to the model",
            )


def _is_controlled(site: Site) -> bool:
    """True in a block with control inputs, which ``None`` in one inside of it takes away."""
    function = site.function
    parents = site.parents[site.parents.index(function) + 1 :] if function else site.parents
    is_controlled = False
    for call in Site(site.node, site.scope, parents).entered:
        if name_of(call.func) == "control_dependencies" and call.args:
            given = call.args[0]
            empty = isinstance(given, (ast.List, ast.Tuple)) and not given.elts
            is_none = given.__class__ in CONSTANTS
            is_controlled = not is_none and (is_controlled or not empty)
    return is_controlled


def _is_called_controlled(context: Context, site: Site) -> bool:
    """True in a function that is called in such a block, and nowhere else."""
    function = site.function
    name = getattr(function, "name", None)
    if name is None:
        return False
    lines = context.script.source.mentions(name)
    calls = [
        each
        for each in sites(context.script.module, lines, (ast.Call,))
        if name_of(each.node.func) == name
    ]
    return bool(calls) and all(_is_controlled(each) for each in calls)


_STEPS = frozenset(
    (
        *("train.get_or_create_global_step", "train.create_global_step"),
        *("train.get_global_step", "contrib.framework.get_or_create_global_step"),
    )
)


def _is_global_step(meaning: Meaning, scope: Scope, node: ast.AST) -> bool:
    found = meaning.value(scope, node)
    if found is None or not isinstance(found.node, ast.Call):
        return False
    name = meaning.tf(found.scope, found.node.func)
    if name in _STEPS:
        return True
    if name not in ("Variable", "get_variable"):
        return False
    given = keyword_of(found.node, "name")
    text = given.value if given is not None else found.node.args[0] if found.node.args else None
    return bool(meaning.constant(found.scope, text) == "global_step")


@recognises(precision.step_counted_outside_optimizer, _SCALING, _UPDATING)
def step_counted(context: Context) -> None:
    """The global step is counted beside a loss-scale optimizer that is not given it."""
    meaning = context.meaning
    applied = [
        site
        for site in meaning.calls(*_UPDATING)
        if isinstance(site.node.func, ast.Attribute)
        and _scaling_optimizer(meaning, site.scope, site.node.func.value)
    ]
    given = [argument(site.node, "global_step", 1) for site in applied]
    if not applied or any(each is not None and not _is_none(each) for each in given):
        return
    for site in meaning.calls("assign_add", "assign"):
        call = site.node
        owner: Optional[ast.AST] = call.args[0] if call.args else None
        if meaning.called(site) not in ("assign_add", "assign"):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is not None and _is_global_step(meaning, site.scope, owner):
            context.report(
                call,
                "the global step is incremented outside of the loss-scale optimizer: it "
                "also counts the steps that are skipped because of an overflow; pass the "
                "global step to apply_gradients",
            )


def _is_none(node: ast.expr) -> bool:
    return node.__class__ in CONSTANTS and literal(node) is None


_FINITE = ("is_finite", "is_inf", "is_nan")


@recognises(precision.finite_check_by_hand, _FINITE, ("gradients", "compute_gradients"))
def finite_check(context: Context) -> None:
    """``tf.is_finite`` on gradients."""
    meaning = context.meaning
    known = {each for name in _FINITE for each in (name, "math." + name, "debugging." + name)}
    for site in meaning.calls(*_FINITE):
        call = site.node
        if meaning.called(site) not in known or not meaning.in_network(site):
            continue
        if _is_of_gradients(meaning, site, call):
            context.report(
                call,
                "tf.{} on gradients: the NPU does not support it, and in saturation mode there "
                "is no Inf to find",
                name_of(call.func),
            )


def _is_of_gradients(meaning: Meaning, site: Site, call: ast.Call) -> bool:
    sources: List[Value] = [Value(site.scope, each) for each in arguments(call)]
    for node in site.parents:
        if isinstance(node, (ast.For, ast.comprehension)):
            sources.append(Value(site.scope, node.iter))
        for part in getattr(node, "generators", ()):
            sources.append(Value(site.scope, part.iter))
        if isinstance(node, ast.Call) and name_of(node.func) == "map":
            sources += [Value(site.scope, each) for each in node.args[1:]]
    if any("grad" in name_of(p).lower() for s in sources for p in ast.walk(s.node)):
        return True
    return any(
        isinstance(part.node, ast.Call)
        and (
            meaning.tf(part.scope, part.node.func) == "gradients"
            or name_of(part.node.func) == "compute_gradients"
        )
        for source in sources
        for part in meaning.parts(*source)
    )


# constants

_INFINITE = frozenset(
    "{}.{}".format(room, name)
    for room in ("numpy", "math")
    for name in ("inf", "Inf", "Infinity", "PINF", "NINF", "nan", "NaN", "NAN")
)


def _is_infinite(meaning: Meaning, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
    if depth > 6:
        return False
    parts: List[Optional[ast.expr]] = []
    if isinstance(node, (ast.Name, ast.Attribute)):
        if meaning.name(scope, node) in _INFINITE:
            return True
        found = meaning.value(scope, node)
        return found is not None and _is_infinite(meaning, *found, depth + 1)
    if isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = [*node.elts]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and name_of(node.func) == "full":
        parts = [argument(node, "fill_value", 1)]
    elif isinstance(node, ast.Call) and name_of(node.func) in ("array", "asarray"):
        parts = [*node.args[:1]]
    elif isinstance(node, ast.Call) and name_of(node.func) in ("float", "float32"):
        parts = [*node.args[-1:]]
        text = meaning.constant(scope, node.args[-1]) if node.args else None
        if isinstance(text, str):
            return text.lower().lstrip("+-") in ("inf", "infinity", "nan")
    is_one = any(
        each is not None and _is_infinite(meaning, scope, each, depth + 1) for each in parts
    )  # a tensor is told of by itself
    return is_one and not (isinstance(node, ast.BinOp) and meaning.is_tensor(scope, node))


_INF = (
    *("inf", "Inf", "INF", "Infinity", "infinity", "infty", "NINF", "PINF"),
    *("nan", "NaN", "NAN", "Nan"),
)


@recognises(precision.infinite_constant, _INF)
def infinity_in_network(context: Context) -> None:
    """Inf or NaN as an argument of what makes tensors, or in arithmetic with them."""
    source = context.script.source
    lines = source.lines_of(*_INF)
    meaning = context.meaning
    seen: Set[int] = set()
    more: Set[int] = set(lines)
    names: Set[str] = set()
    for _ in range(3):
        fresh = {
            name_of(target)
            for site in sites(context.script.module, sorted(more), (ast.Assign,))
            if _is_infinite(meaning, site.scope, site.node.value)
            for target in site.node.targets
        } - {*names, ""}
        names |= fresh
        more |= {line for name in fresh for line in source.mentions(name)}
    for site in sites(context.script.module, sorted({*lines, *more}), (ast.Call, ast.BinOp)):
        node = site.node
        if isinstance(node, ast.Call):
            name = meaning.tf(site.scope, node.func)
            is_maker = name is not None and (
                makes_operator(name) or name.endswith("constant_initializer")
            )
            values = [k.value for k in node.keywords] + list(node.args)
            wrong = is_maker and any(_is_infinite(meaning, site.scope, v) for v in values)
        else:
            assert isinstance(node, ast.BinOp)
            sides = (node.left, node.right)
            wrong = any(_is_infinite(meaning, site.scope, each) for each in sides) and any(
                meaning.is_tensor(site.scope, each) for each in sides
            )
        line = site.line
        if wrong and line not in seen and meaning.in_network(site):
            seen.add(line)
            context.report(
                node,
                "Inf or NaN is an input of operators; Atlas training products do not support this",
            )


_SMALL = re.compile(r"[\d.][eE]-\d|\.0{7}|\*\* ?-\d")
"""What a small number has; whether it is one, its value says."""
_PARTS = ("e-", "E-", ".0000000", "**-", "** -")
_VANISHES = 2.98e-8
_HALF = ("allow_mix_precision", "allow_mix_precision_fp16", "force_fp16", "mixed_float16", "fp16")
_DIVISIONS = ("div", "divide", "truediv", "realdiv", "div_no_nan", "math.divide", "math.truediv")
_DIVISION = phrase("a division")
_STEEP = {
    "log": phrase("a logarithm"),
    "sqrt": phrase("a root"),
    "rsqrt": phrase("a root"),
    "pow": phrase("a power"),
    "reciprocal": _DIVISION,
}
_GUARDS = ("add", "math.add", "maximum", "math.maximum", "clip_by_value", "subtract")
_PASSED = (
    "identity",
    "reshape",
    "sqrt",
    "math.sqrt",
    "cast",
    "to_float",
    "expand_dims",
    "squeeze",
)


@recognises(precision.constant_vanishes_in_float16, ("precision_mode", "precision_mode_v2"))
def guard_vanishes(context: Context) -> None:
    """A constant below 2^-25 guards a division, a logarithm, a root or a power under mixed
    precision.
    """
    modes = context.option("precision_mode") | context.option("precision_mode_v2")
    mode = next((each for each in modes if each in _HALF), None)
    if mode is None:
        return
    source = context.script.source
    near = {number for part in _PARTS for number in source.lines_with(part, within=True)}
    lines = sorted(number for number in near if _SMALL.search(source.lines[number - 1]))
    names = _imported_small(context)
    if not lines and not names:
        return
    meaning = context.meaning
    for site in sites(context.script.module, lines, (ast.Assign, *FUNCTIONS, ast.keyword)):
        if isinstance(site.node, ast.Assign):
            names.update(map(name_of, site.node.targets))
        else:
            names |= _given_small(site.node)
    more: Set[int] = set()
    for _ in range(2):  # where the constant is named, then where a sum with it is
        more = {line for name in names - {""} for line in source.mentions(name)}
        for site in sites(context.script.module, sorted(more), (ast.Assign,)):
            names.update(map(name_of, site.node.targets))
    seen: Set[int] = set()
    for site in sites(context.script.module, sorted({*lines, *more}), (ast.BinOp, ast.Call)):
        node = site.node
        guarded = _guarded(meaning, site.scope, node)
        if guarded is None or site.line in seen:
            continue
        if any(name_of(call.func) == "keep_dtype_scope" for call in site.entered):
            continue
        if not meaning.in_network(site):
            continue
        value, place, what = guarded
        seen.add(site.line)
        context.report(
            place,
            "{} guards {} against 0, but is itself 0 in float16 ({})",
            repr(value),
            what,
            mode,
            option="precision_mode",
        )


def _imported_small(context: Context) -> Set[str]:
    """The names of constants that vanish, in the files that the script imports."""
    constants = (
        each for file in context.script.files_named for each in constants_in(file).items()
    )
    return {name for name, text in constants if _SMALL.search(text) and context.mentions(name)}


def _given_small(node: ast.AST) -> Set[str]:
    """The parameters that a definition, or a call, gives a constant that vanishes."""
    if isinstance(node, ast.keyword):
        return {node.arg} if node.arg and _vanishes(number_of(node.value)) else set()
    given = defaults_of(node.args)  # type: ignore[attr-defined]
    return {name for name, value in given.items() if _vanishes(number_of(value))}


def _guarded(
    meaning: Meaning, scope: Scope, node: ast.AST
) -> Optional[Tuple[float, ast.AST, str]]:
    """The vanishing constant in a divisor, under a root or the like, its place, and what it is."""
    what: str = _DIVISION
    operand: Optional[ast.AST] = None
    tensors: List[ast.AST] = [node]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        operand = node.right
        tensors = [node.left, node.right]
    elif isinstance(node, ast.Call):
        name = meaning.tf(scope, node.func) or ""
        steep = _STEEP.get(name[len("math.") :] if name.startswith("math.") else name)
        if name in _DIVISIONS and len(node.args) > 1:
            operand = node.args[1]
        elif steep is not None and node.args:
            operand, what = node.args[0], steep
    if operand is None or not any(meaning.is_tensor(scope, each) for each in tensors):
        return None
    found = _guard(meaning, scope, operand, node, 0)
    return None if found is None else (*found, what)


def _guard(
    meaning: Meaning, scope: Scope, node: ast.AST, place: ast.AST, depth: int
) -> Optional[Tuple[float, ast.AST]]:
    if depth > 5:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        for side in (node.left, node.right):
            value = _number(meaning, scope, side)
            if _vanishes(value):
                return value, place
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _guard(meaning, scope, node.left, place, depth + 1)
    if isinstance(node, ast.Call):
        name = meaning.tf(scope, node.func)
        if name in _GUARDS:
            for each in arguments(node):
                value = _number(meaning, scope, each)
                if _vanishes(value):
                    return value, place
        if name in _PASSED and node.args:
            return _guard(meaning, scope, node.args[0], place, depth + 1)
        return None
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = meaning.value(scope, node)
        if found is not None and found.node is not node:
            return _guard(meaning, found.scope, found.node, place, depth + 1)
    return None


def _number(meaning: Meaning, scope: Scope, node: ast.AST) -> Any:
    """The number that an expression is, ``tf.constant`` of one included."""
    made = meaning.makes(scope, node, _CONSTANT)
    if made is not None and isinstance(made.node, ast.Call) and made.node.args:
        scope, node = made.scope, made.node.args[0]
    return meaning.constant(scope, node)


_CONSTANT = frozenset(("constant", "convert_to_tensor"))


def _vanishes(value: object) -> bool:
    return isinstance(value, float) and 0 < abs(value) < _VANISHES
