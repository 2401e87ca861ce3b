"""Horovod: all of it in a file, or nothing.

Every use of a name of Horovod is looked at first.  When one has no counterpart on the NPU, or is
not understood, the file stays as it is.
"""

import ast
import os
import re
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.message import join, phrase
from npu_config.migration.libraries import is_of_others
from npu_config.migration.names import canonical
from npu_config.migration.reached import Reach, is_caught
from npu_config.migration.resolve import REEXPORTED, Binding, Resolver
from npu_config.migration.work import OFF, Work
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    Nesting,
    children,
    dotted_parts,
    first_line,
    imported,
    is_open,
    keyword_of,
    last_line,
    literal_text,
    name_of,
    number_of,
)

__all__ = [
    "CONSTANTS",
    "RANKS",
    "REDUCTIONS",
    "REFUSALS",
    "HorovodUse",
    "bound",
    "choice_of_rank",
    "has_ranks",
    "id_of",
    "imports_horovod",
    "is_hvd",
    "is_statement",
    "of_keras",
    "replace_name",
    "CALLS",
    "take_resources",
    "horovod",
]

RANKS: Mapping[str, str] = {
    "rank": "get_npu_rank_id",
    "size": "get_npu_rank_size",
    "local_rank": "get_npu_local_rank_id",
    "local_size": "get_npu_local_rank_size",
}
CONSTANTS = ("Average", "Sum", "Min", "Max", "Adasum", "Product", "Compression")
REDUCTIONS: Mapping[str, Optional[str]] = {
    "Average": None,
    "Sum": "sum",
    "Min": "min",
    "Max": "max",
    "Product": "prod",
}
_MPI = ("mpi_", "gloo_", "nccl_", "ddl_", "ccl_", "cuda_built", "rocm_built")


class HorovodUse:
    """One use of a name of Horovod: the whole chain of attributes, and its call."""

    def __init__(self, site: Site, node: ast.expr, name: str, call: Optional[ast.Call]) -> None:
        self.site = site
        self.node = node
        self.name = name
        self.call = call
        self.line: int = site.line


def id_of(name: str) -> str:
    """The fact that a name of Horovod belongs to."""
    if name in RANKS:
        return "hvd-rank"
    if name.startswith("callbacks."):
        return "hvd-callback"
    if name.startswith("Compression"):
        return "hvd-compression"
    if name.split(".")[-1].startswith(_MPI) or name.startswith("mpi_ops"):
        return "hvd-mpi"
    return _IDS.get(name, "hvd-refused")


_IDS = {
    "init": "hvd-init",
    "DistributedOptimizer": "hvd-optimizer",
    "BroadcastGlobalVariablesHook": "hvd-broadcast-hook",
    "broadcast_global_variables": "hvd-broadcast",
    "broadcast_variables": "hvd-broadcast",
    "broadcast": "hvd-broadcast",
    "allreduce": "hvd-allreduce",
    "allgather": "hvd-allgather",
    "alltoall": "hvd-alltoall",
    "shutdown": "hvd-shutdown",
    "Average": "hvd-op",
    "Sum": "hvd-op",
    "Min": "hvd-op",
    "Max": "hvd-op",
    "Adasum": "hvd-op",
    "Product": "hvd-op",
}


REFUSALS = {
    "hvd-compression": "gradient compression is not supported on the NPU",
    "hvd-alltoall": "use hccl_ops.all_to_all_v, which needs counts and displacements",
    "hvd-mpi": "there is no MPI on the NPU",
    "hvd-callback": "this callback has no equivalent on the NPU",
    "hvd-op": "only DistributedOptimizer and allreduce accept a reduction op",
}


def is_hvd(work: Work, name: str) -> bool:
    """True for a name that the module binds to Horovod."""
    stores = work.script.module.stores.get(name, [])
    return any(canonical(store.text).startswith("horovod") for store in stores)


def of_keras(work: Work, use: HorovodUse) -> bool:
    """True for a use of Horovod's interface for Keras."""
    name, *attributes = dotted_parts(use.node) or [""]
    bindings = work.script.bindings(name, use.site.scope)
    return "keras" in attributes or any(
        "keras" in binding.text.split(".") for binding in bindings if binding.kind == "import"
    )


def replace_name(work: Work, use: HorovodUse, text: str) -> List[int]:
    """Replace a name; the lines on which it was, which Python does not say for f-strings."""
    for node in use.site.parents:
        if isinstance(node, ast.JoinedStr):
            return _replace_in_text(work, node, use, text)
    work.replace_node(use.node, text)
    return [use.line]


def _replace_in_text(
    work: Work, text_node: ast.JoinedStr, use: HorovodUse, text: str
) -> List[int]:
    """Replace every mention of a name in an f-string, once."""
    script = work.script
    parts = dotted_parts(use.node)
    assert parts is not None
    key = phrase("f-string {} {}", id(text_node), ".".join(parts))
    lines: Optional[List[int]] = script.cache.get(key)
    if lines is not None:
        return lines
    lines = script.cache[key] = []
    start, end = script.span(text_node)
    pattern = re.compile(r"(?<![\w.])" + r"\s*\.\s*".join(map(re.escape, parts)) + r"(?!\w)")
    for match in pattern.finditer(script.text, start, end):
        if _is_in_field(script.text[start : match.start()]):
            work.replace(*match.span(), text)
            lines.append(script.position(match.start())[0])
    return lines


def _is_in_field(before: str) -> bool:
    """True behind a part of an f-string that leaves a brace open."""
    text = before.replace("{{", "").replace("}}", "")
    return text.count("{") > text.count("}")


def choice_of_rank(work: Work, site: Site, value: ast.AST) -> Optional[ast.IfExp]:
    """The expression that gives something to one rank and None to the others."""
    values = [value, *work.script.values(value, site.scope)]
    choice = next((one for one in values if isinstance(one, ast.IfExp)), None)
    if choice is None or not any(
        getattr(branch, "value", 0) is None for branch in (choice.body, choice.orelse)
    ):
        return None
    tests = list(ast.walk(choice.test))
    for name in [node for node in tests if isinstance(node, ast.Name)]:
        tests += [node for one in work.script.values(name, site.scope) for node in ast.walk(one)]
    asked = [
        work.script.resolve(node.func, site.scope) for node in tests if isinstance(node, ast.Call)
    ]
    return choice if any((name or "").startswith("horovod.") for name in asked) else None


def has_ranks(work: Work) -> bool:
    """True for a script that is one of several ranks, and not only where Horovod happens to be."""
    return work.script.kept("ranks", lambda: _is_always_imported(work) and not stays_off(work))


def imports_horovod(node: ast.AST) -> bool:
    """True for an import statement that imports Horovod."""
    return any(name.split(".")[0] == "horovod" for name in imported(node))


def bound(script: Resolver) -> Iterator[str]:
    """The names that imports of Horovod bind."""
    for site in script.imports:
        for alias in site.node.names if imports_horovod(site.node) else ():
            yield alias.asname or alias.name.split(".")[0]


def is_statement(use: HorovodUse) -> bool:
    """True for a call that is a statement of its own."""
    statement = use.site.statement
    return isinstance(statement, ast.Expr) and statement.value is use.call


class _Limit(NamedTuple):
    """What an argument may be that the counterpart on the NPU does not take; else it is refused.

    ``text`` says why, of the name of the argument where it has a place for one; ``drops``: it
    makes no difference as what it is by default, and is dropped then.
    """

    id: str
    text: str
    allows: Callable[[Optional[str], ast.expr], bool] = lambda constant, value: False
    drops: bool = True


_COMPRESSION = _Limit(
    "hvd-compression",
    REFUSALS["hvd-compression"],
    lambda constant, value: constant == "Compression.none",
)
_NO_COUNTERPART = "{} has no equivalent on the NPU"
_LIMITS: Mapping[str, Mapping[str, _Limit]] = {
    "DistributedOptimizer": {
        "compression": _COMPRESSION,
        "backward_passes_per_step": _Limit(
            "hvd-accumulation",
            "local accumulation of gradients has no equivalent on the NPU",
            lambda constant, value: number_of(value) == 1,
        ),
        "op": _Limit(
            "hvd-op",
            "the wrapped NPU optimizer always averages",
            lambda constant, value: constant == "Average",
        ),
        "gradient_predivide_factor": _Limit(
            "hvd-refused", _NO_COUNTERPART, lambda constant, value: number_of(value) == 1
        ),
        "num_groups": _Limit("hvd-refused", _NO_COUNTERPART),
        "groups": _Limit("hvd-refused", _NO_COUNTERPART),
    },
    "allreduce": {
        **dict.fromkeys(
            ("prescale_factor", "postscale_factor"),
            _Limit(
                "hvd-allreduce", _NO_COUNTERPART, lambda constant, value: number_of(value) == 1
            ),
        ),
        "compression": _COMPRESSION,
        "average": _Limit(
            "hvd-allreduce",
            "average is not a constant",
            lambda constant, value: isinstance(getattr(value, "value", 0), (bool, type(None))),
            False,
        ),
        "op": _Limit(
            "hvd-op",
            "this reduction has no equivalent on the NPU",
            lambda constant, value: constant in REDUCTIONS,
            False,
        ),
    },
    "callbacks.BroadcastGlobalVariablesCallback": {
        "local_variables": _Limit("hvd-callback", "local variables are not broadcast on the NPU"),
    },
}
_PARAMETERS: Mapping[str, Tuple[str, ...]] = {
    "DistributedOptimizer": (
        *("optimizer", "name", "use_locking", "device_dense", "device_sparse", "compression"),
        *("sparse_as_dense", "backward_passes_per_step", "op", "gradient_predivide_factor"),
        *("average_aggregated_gradients", "num_groups", "groups"),
    ),
    "BroadcastGlobalVariablesHook": ("root_rank", "device"),
    "callbacks.BroadcastGlobalVariablesCallback": ("root_rank", "device", "local_variables"),
    "broadcast_global_variables": ("root_rank",),
    "broadcast_variables": ("variables", "root_rank"),
    "broadcast": ("tensor", "root_rank", "name"),
    "allreduce": (
        *("tensor", "average", "device_dense", "device_sparse", "compression", "op"),
        *("prescale_factor", "postscale_factor", "name"),
    ),
    "allgather": ("tensor", "name"),
}


def _arguments(work: Work, use: HorovodUse, call: ast.Call) -> Optional[Dict[str, ast.expr]]:
    """The arguments of a call by name, None (refused) when there are others."""
    names = _PARAMETERS[use.name]
    unknown = [keyword.arg for keyword in call.keywords if keyword.arg not in names]
    found: Dict[str, ast.expr] = dict(zip(names, call.args))
    found.update({str(keyword.arg): keyword.value for keyword in call.keywords})
    if len(call.args) > len(names):
        reason = "the call has unknown arguments"
    elif unknown:
        reason = phrase('the argument "{}" has no equivalent on the NPU', unknown[0])
    elif names[0] not in found:
        reason = "the first argument is missing"
    else:
        return found
    work.refuse(use.line, id_of(use.name), reason, True)
    return None


def _is_limited(work: Work, use: HorovodUse, given: Mapping[str, ast.expr]) -> bool:
    """True, and each one refused, when arguments are given that the NPU has no counterpart for."""
    found = False
    for name, limit in _LIMITS.get(use.name, {}).items():
        value = given.get(name)
        if value is None or limit.allows(_constant_of(work, use, value), value):
            continue
        default = _default_of(work, use, value)
        if limit.drops and limit.allows(_constant_of(work, use, default), default):
            work.manual(value.lineno, limit.id, _DROPPED, False)
            continue
        work.refuse(value.lineno, limit.id, phrase(limit.text, name), True)
        found = True
    return found


_DROPPED = (
    "the argument is removed: it is off by default, and the flag that sets it has no effect on "
    "the NPU"
)


def _default_of(work: Work, use: HorovodUse, node: ast.expr) -> ast.expr:
    """What an argument is by default: choices are made by flags, and names followed."""
    scope = use.site.scope
    for _ in range(_DEEPEST):
        values = work.script.values(node, scope) if isinstance(node, ast.Name) else []
        if isinstance(node, ast.IfExp):
            truth = work.reached.truth(node.test, scope)
            values = [] if truth is None else [node.body if truth else node.orelse]
        if len(values) != 1 or not isinstance(values[0], ast.expr):
            break
        node = values[0]
    value = work.reached.value(node, scope)
    if not isinstance(value, (bool, int, float)):
        return node
    return ast.parse(repr(value), mode="eval").body


_DEEPEST = 4
"""How many names and choices may lie between an argument and what it is by default."""


def _constant_of(work: Work, use: HorovodUse, value: ast.expr) -> Optional[str]:
    """The name of a constant of Horovod."""
    found = work.script.resolve(value, use.site.scope)
    return found[len("horovod.") :] if found and found.startswith("horovod.") else None


def _dropped(text: str, given: Mapping[str, ast.expr], *kept: str) -> str:
    """What is said of a call, with the arguments that its counterpart does not take."""
    names = [name for name in given if name not in kept]
    return (
        phrase(
            "{}; arguments removed, because they are not needed on the NPU: {}",
            text,
            ", ".join(names),
        )
        if names
        else text
    )


def _take_first(work: Work, call: ast.Call, first: ast.expr) -> int:
    """Keep the first argument alone, without its name; where it ends."""
    work.keep_arguments(call, first)
    keyword = next((keyword for keyword in call.keywords if keyword.value is first), None)
    if keyword is not None:
        start, value, _ = work.value_span(call, keyword)
        comments, gap = work.comments(start, value)
        work.replace(start, value, comments.lstrip() + gap)
    return work.argument_span(call, first)[1]


_BY_FIRST: Mapping[str, Tuple[str, str]] = {
    "DistributedOptimizer": (
        "npu_distributed_optimizer_wrapper",
        "npu_distributed_optimizer_wrapper also averages the gradients",
    ),
    "BroadcastGlobalVariablesHook": (
        "NPUBroadcastGlobalVariablesHook",
        (
            "this hook broadcasts only the trainable variables; Horovod also broadcasts moving "
            "averages and optimizer slots"
        ),
    ),
    "callbacks.BroadcastGlobalVariablesCallback": (
        "NPUBroadcastGlobalVariablesCallback",
        "this callback broadcasts the variables of one rank to all ranks",
    ),
}
"""What takes the first argument alone on the NPU, and what is said of it."""


def _replace_by_first(work: Work, use: HorovodUse, call: ast.Call) -> None:
    """Replace a class of Horovod by one that takes its first argument alone."""
    given = _arguments(work, use, call)
    if given is None:
        return
    name, note = _BY_FIRST[use.name]
    first = next(iter(_PARAMETERS[use.name]))
    if use.name == "DistributedOptimizer" and _is_class(work, use, given[first]):
        work.refuse(
            use.line, "hvd-optimizer", "the argument is a class, not an optimizer object", True
        )
        return
    if _is_limited(work, use, given):
        given = {}
    else:
        _take_first(work, call, given[first])
        replace_name(work, use, work.name(name))
    work.changed(use.line, id_of(use.name), _dropped(note, given, first))


def _is_class(work: Work, use: HorovodUse, node: ast.expr) -> bool:
    """True for the name of a class of optimizers, of the script or of TensorFlow."""
    if isinstance(node, ast.Name):
        bindings = work.script.bindings(node.id, use.site.scope)
        if bindings and all(isinstance(one.node, ast.ClassDef) for one in bindings):
            return True
    name = work.script.resolve(node, use.site.scope) or ""
    return name.startswith("tensorflow.") and name.endswith("Optimizer")


def _broadcast_all(work: Work, use: HorovodUse, call: ast.Call) -> None:
    given = _arguments(work, use, call)
    if given is None or _is_frozen(work, use):
        return
    tf = _tensorflow(work, use.site)
    root = given.get("root_rank")
    if root is None or tf is None:
        work.refuse(
            use.line, "hvd-broadcast", "TensorFlow is not imported under a name here", True
        )
        return
    script = work.script
    one = work.free("npu_var")
    head = phrase(
        "{0}.group(*[{0}.assign({1}, {2}.broadcast([{1}], ", tf, one, work.name("hccl_ops")
    )
    start, end = script.span(call)[0], script.span(call)[1]
    root_start, root_end = script.span(root)
    if "variables" in given:
        whose = script.written(given["variables"])
        if "horovod" in whose or any(
            isinstance(node, ast.Name) and is_hvd(work, node.id)
            for node in ast.walk(given["variables"])
        ):
            work.refuse(
                use.line,
                "hvd-broadcast",
                ("the code is too complex to be edited"),
                True,
            )
            return
    else:
        whose = "{}.global_variables()".format(tf)
    work.replace(start, root_start, head)
    work.replace(root_end, end, phrase(")[0]) for {} in {}])", one, whose))
    work.changed(use.line, "hvd-broadcast", "hccl_ops.broadcast takes and returns lists")
    _check_types(work, use)


def _check_types(work: Work, use: HorovodUse) -> None:
    text = _NEVER_RUN if _is_never_run(work, use) else _TYPES
    work.manual(use.line, "hvd-broadcast", _AT_ONCE if of_keras(work, use) else text)


_TYPES = (
    "check the types of the variables: only float16, float32 and the integers that the "
    "product supports"
)
_AT_ONCE = (
    "Horovod for Keras runs the collective at once; here the operation is only created: "
    "tf.keras.backend.get_session().run(...); check the types of the variables"
)
_NEVER_RUN = (
    "the operation is created here but never run in this script: add sess.run(...); check "
    "the types of the variables: only float16, float32 and the integers that the product "
    "supports"
)


def _is_never_run(work: Work, use: HorovodUse) -> bool:
    """True for an operation that is a statement of its own, or a variable that nothing reads."""
    statement = use.site.statement
    if isinstance(statement, ast.Assign) and statement.value is use.call:
        (name, *others) = [getattr(target, "id", "") for target in statement.targets]
        return bool(name) and not others and len(work.script.source.mentions(name)) == 1
    return is_statement(use)


def _is_frozen(work: Work, use: HorovodUse) -> bool:
    """True, and refused, inside of a session that has finalized its graph."""
    is_frozen = any(name_of(call.func) in _FREEZING for call in use.site.entered)
    if is_frozen:
        work.refuse(
            use.line,
            "hvd-broadcast",
            "the graph is already finalized in this line, so no operation can be added",
            True,
        )
    return is_frozen


_FREEZING = (
    *("MonitoredTrainingSession", "MonitoredSession", "SingularMonitoredSession"),
    "managed_session",
)


def _broadcast(work: Work, use: HorovodUse, call: ast.Call) -> None:
    if _is_value(work, use):
        return
    given = _arguments(work, use, call)
    if given is None or _is_frozen(work, use):
        return
    if "root_rank" not in given or (call.keywords and given["tensor"] not in call.args):
        work.refuse(use.line, "hvd-broadcast", "pass the arguments by position", True)
        return
    work.wrap(given["tensor"], "[", "]")
    work.keep_arguments(call, given["tensor"], given["root_rank"])
    replace_name(work, use, work.name("hccl_ops") + ".broadcast")
    work.insert(work.script.span(call)[1], "[0]")
    note = _dropped("hccl_ops.broadcast takes and returns lists", given, "tensor", "root_rank")
    work.changed(use.line, "hvd-broadcast", note)


def _is_value(work: Work, use: HorovodUse) -> bool:
    """True, and refused, for a function of Horovod for Keras that computes at once."""
    is_value = of_keras(work, use)
    if is_value:
        text = (
            "returns a value in Horovod for Keras, but a tensor on the NPU: pass a tensor, "
            "and run the result"
        )
        work.refuse(use.line, id_of(use.name), text, True)
    return is_value


def _allreduce(work: Work, use: HorovodUse, call: ast.Call) -> None:
    given = None if _is_value(work, use) else _arguments(work, use, call)
    if given is None or _is_limited(work, use, given):
        return
    reduction: Optional[str] = None
    if getattr(given.get("average"), "value", None) is False:
        reduction = "sum"
    if "op" in given:
        reduction = REDUCTIONS[_constant_of(work, use, given["op"]) or ""]
    end = _take_first(work, call, given["tensor"])
    if reduction is not None:
        work.insert(end, phrase(', reduction="{}"', reduction))
    replace_name(work, use, work.name("npu_allreduce"))
    note = reduction or "average is the default of Horovod and of npu_allreduce"
    made = work.script.constructed(given["tensor"], use.site.scope)
    if made in ("tensorflow.Variable", "tensorflow.get_variable"):
        note = phrase(
            "{}; npu_allreduce accepts no variable on the device: pass tf.identity(...)", note
        )
    work.changed(use.line, "hvd-allreduce", _dropped(note, given, "tensor", "average", "op"))


def _allgather(work: Work, use: HorovodUse, call: ast.Call) -> None:
    if _is_value(work, use):
        return
    given = _arguments(work, use, call)
    if given is None:
        return
    end = _take_first(work, call, given["tensor"])
    work.insert(end, phrase(", rank_size={}()", work.name("get_npu_rank_size")))
    replace_name(work, use, work.name("hccl_ops") + ".allgather")
    note = "the first dimension must be equal on all ranks; Horovod does not require this"
    work.changed(use.line, "hvd-allgather", _dropped(note, given, "tensor"))


def _shutdown(work: Work, use: HorovodUse, call: ast.Call) -> None:
    if not is_statement(use):
        work.refuse(
            use.line, "hvd-refused", "shutdown() must be called in a statement of its own", True
        )
        return
    work.remove_statement(use.site)
    work.changed(
        use.line, "hvd-shutdown", "npu_resources or atexit releases the resources at the end"
    )


CALLS: Dict[str, Callable[[Work, HorovodUse, ast.Call], None]] = {
    **dict.fromkeys(_BY_FIRST, _replace_by_first),
    "broadcast_global_variables": _broadcast_all,
    "broadcast_variables": _broadcast_all,
    "broadcast": _broadcast,
    "allreduce": _allreduce,
    "allgather": _allgather,
    "shutdown": _shutdown,
}


def _tensorflow(work: Work, site: Site) -> Optional[str]:
    """How TensorFlow is called where a site stands."""
    script = work.script
    for name in ("tf", *script.module.stores):
        if name in script.words and script.meaning(name, site.scope).name == "tensorflow":
            return name
    return work.name("tf") if "tf" not in script.words else None


def take_resources(work: Work, inits: List[HorovodUse]) -> None:
    """``hvd.init()``: the resources are taken there, and given back at the end."""
    if not inits:
        return
    for use in inits:
        if use.call is None or not is_statement(use):
            work.refuse(
                use.line, "hvd-init", "init() must be called in a statement of its own", True
            )
            return
        if use.call.args or use.call.keywords:
            work.refuse(
                use.line,
                "hvd-init",
                "init has arguments, but cannot select ranks on the NPU",
                True,
            )
            return
    if len(inits) > 1:
        for use in inits:
            work.refuse(use.line, "hvd-init", "init is called in more than one place", True)
        return
    (use,) = inits
    function = use.site.function
    owner = use.site.parents[use.site.parents.index(function) - 1] if function else None
    if function and owner and not _is_reached(work, _called(owner, function)):
        work.refuse(
            use.line,
            "hvd-init",
            "this function is not called in this script: the caller must initialise the resources",
            True,
        )
        return
    run = _app_run(work)
    in_run = run is not None and function is not None and work.package == "npu_config"
    if run is not None and in_run and _indent(work, run):
        work.remove_statement(use.site)
        work.changed(use.line, "hvd-init", "npu_resources around app.run initialises the device")
        work.changed(
            run.line, "app-run", "npu_resources releases the device, however the run ends"
        )
        return
    session, shutdown = work.free("npu_sess"), work.free("npu_shutdown")
    work.replace_statement(
        use.site,
        [
            "{}, {} = {}()".format(session, shutdown, work.name("init_resource")),
            phrase(
                "{}.register(lambda: ({}({}, {}), {}({})))",
                _atexit(work, use.line),
                work.name("shutdown_resource"),
                session,
                shutdown,
                work.name("close_session"),
                session,
            ),
        ],
    )
    work.changed(
        use.line, "hvd-init", "init_resource() is called here; the resources are released at exit"
    )


def _called(owner: ast.AST, function: ast.AST) -> str:
    """The name by which a function of a class or module is called: its class for ``__init__``."""
    is_init = getattr(function, "name", "") == "__init__" and isinstance(owner, ast.ClassDef)
    name: str = getattr(owner if is_init else function, "name", "")
    return name


def _atexit(work: Work, line: int) -> str:
    stores = work.script.module.stores.get("atexit", [])
    if stores:
        body = work.script.tree.body
        if all(isinstance(store.node, ast.Import) and store.node in body for store in stores):
            last = max(getattr(store.node, "lineno", 0) for store in stores)
            if last < line and all(store.text == "atexit" for store in stores):
                return "atexit"
        if all(store.kind == "import" and store.text == "atexit" for store in stores):
            work.modules.append("atexit")
            return "atexit"
        alias = work.free("atexit_1")
        work.modules.append("atexit as " + alias)
        return alias
    work.modules.append("atexit")
    return "atexit"


def _app_run(work: Work) -> Optional[Site]:
    """The one call of app.run, as a statement."""
    found = work.script.calls_of("tensorflow.app.run")
    if len(found) != 1:
        return None
    statement = found[0].statement
    is_plain = isinstance(statement, ast.Expr) and statement.value is found[0].call
    return found[0] if is_plain else None


def _is_reached(work: Work, name: str) -> bool:
    """True for a function that the script runs by itself: from its top, or from one that it runs.

    It is enough that its name is mentioned there.
    """
    script = work.script
    around = Nesting(
        (node.lineno, last_line(node), _called(scope.node, node))
        for scope, node in script.functions
    )
    pending, seen = [name], {name}
    while pending:
        wanted = pending.pop()
        if wanted == "main" and _app_run(work) is not None:
            return True
        for line in _lines_of(script, wanted):
            caller = next(around.around(line), None)
            if caller is None:
                return True
            if caller not in seen:
                seen.add(caller)
                pending.append(caller)
    return False


def _lines_of(script: Resolver, name: str) -> Iterator[int]:
    """The lines that read a name or a member; the bases of classes are none."""
    lines = script.source.mentions(name)
    pending: List[ast.AST] = [script.tree] if lines else []
    while pending:
        node = pending.pop()
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        if is_read and isinstance(node, (ast.Name, ast.Attribute)) and name_of(node) == name:
            yield node.lineno
        bases = getattr(node, "bases", ())
        pending += [part for part in children(node, lines) if part not in bases]


def _indent(work: Work, run: Site) -> bool:
    """Put ``with npu_resources():`` around a statement; False where that is not safe."""
    script, statement = work.script, run.statement
    start, end = work.statement_span(statement)
    first, last = script.position(start)[0], script.position(end - 1)[0]
    before = script.text[script.line_start(first) : start]
    after = script.text[end : script.line_end(last)].strip()
    if after and not after.startswith("#"):
        return False
    if last > first and any(_is_long_text(node, script) for node in ast.walk(statement)):
        return False
    opening = phrase("with {}():", work.name("npu_resources"))
    if before.strip():
        owner = run.parents[run.parents.index(statement) - 1]
        if not (isinstance(owner, ast.If) and owner.body == [statement]) or last > first:
            return False
        indent = script.indent(first)
        step = "\t" if indent.startswith("\t") else "    "
        line = script.newline + indent + step
        gap = len(before) - len(before.rstrip())
        work.replace(start - gap, start, line + opening + line + step)
        return True
    step = "\t" if before.startswith("\t") else "    "
    work.insert(start, opening + script.newline + before + step)
    for line_number in range(first + 1, last + 1):
        if script.source.lines[line_number - 1].strip():
            work.insert(script.line_start(line_number), step)
    return True


def _is_long_text(node: ast.AST, script: object) -> bool:
    text = literal_text(node)
    return isinstance(node, ast.JoinedStr) or (text is not None and "\n" in text)


def horovod(work: Work) -> None:
    """Replace Horovod in a script, or say why not."""
    script = work.script
    imports = [site for site in script.imports if imports_horovod(site.node)]
    if not imports:
        _report_borrowed(work)
        return
    others = ("horovod.torch", "horovod.mxnet")
    if is_of_others(script) or any(name.startswith(others) for name in _imported(imports)):
        return
    optional = [site for site in imports if is_caught(site)]
    uses, strange = _uses(work, bool(optional))
    if optional:
        _report_optional(work, optional, uses)
        return
    is_ours = all(canonical(name).startswith("horovod") for name in _imported(imports))
    assert is_ours
    if stays_off(work):
        _report_off(work, imports, uses)
        return
    refused_before = work.blocked
    if work.keeper:
        for site in imports:
            work.refuse(site.line, "hvd-import", work.keeper, blocks=True)
    for site in imports:
        if isinstance(site.parents[-1], ast.ClassDef):
            text = "Horovod is imported inside a class: import Horovod at the top of the file"
            work.refuse(site.line, "hvd-import", text, blocks=True)
        if any(alias.name == "*" for alias in site.node.names):
            text = "this line imports all names (*) of Horovod: import the module under a name"
            work.refuse(site.line, "hvd-import", text, blocks=True)
    for line in _reexported(work, uses):
        text = (
            "nothing in this file uses this name: other modules may import it from this "
            "package; import Horovod directly in those modules"
        )
        work.refuse(line, "hvd-import", text, blocks=True)
    for site in strange:
        is_one = script.resolved(site) is not None
        work.refuse(site.line, "hvd-refused", _AS_VALUE if is_one else _NOT_ALWAYS, True)
    inits = [use for use in uses if use.name == "init"]
    take_resources(work, inits)
    for use in uses:
        if use.name != "init":
            _use(work, use)
    for site in imports:
        if work.blocked and not refused_before:
            work.refuse(
                site.line,
                "hvd-import",
                "left unchanged: some uses have no counterpart, so no Horovod code in this "
                "file is changed",
            )
        else:
            _remove_import(work, site)
            work.changed(site.line, "hvd-import", "Horovod is not used on the NPU")
    _gradients(work, uses)
    if any(use.name == "BroadcastGlobalVariablesHook" for use in uses):
        _resuming(work)


def _is_always_imported(work: Work) -> bool:
    """True for a script that imports Horovod, and never only where there is one."""
    imports = [site for site in work.script.imports if imports_horovod(site.node)]
    return bool(imports) and not any(is_caught(site) for site in imports)


def stays_off(work: Work) -> bool:
    """True for a script whose Horovod has no counterpart, and is off by default everywhere.

    It is asked only of scripts that always import Horovod.
    """
    found: Optional[bool] = work.script.cache.get("horovod.stays_off")
    if found is None:
        work.script.cache["horovod.stays_off"] = False
        uses, strange = _uses(work)
        is_off = all(work.reached.of(use.site) is Reach.OFF for use in uses)
        found = bool(uses) and not strange and is_off
        if found:
            probe = Work(work.script, work.package, partial=work.partial)
            horovod(probe)
            found = probe.blocked
        work.script.cache["horovod.stays_off"] = found
    return found


def _report_off(work: Work, imports: List[Site], uses: List[HorovodUse]) -> None:
    """Nothing of Horovod is edited; only an import that is always done has to go."""
    for site in imports:
        if work.reached.of(site) is not Reach.OFF:
            text = (
                "the NPU host has no Horovod, and Horovod is off by default here: import "
                "Horovod only where it is used"
            )
            work.manual(site.line, "hvd-import", text, True)
    for use in uses:
        work.manual(use.line, id_of(use.name), OFF, False)


_AS_VALUE = "the Horovod module itself is used as a value: this use cannot be migrated"
_NOT_ALWAYS = "this name may refer to Horovod or to something else; not migrated"


def _imported(imports: List[Site]) -> List[str]:
    names: List[str] = []
    for site in imports:
        node = site.node
        if isinstance(node, ast.Import):
            names += [a.name for a in node.names if a.name.split(".")[0] == "horovod"]
        elif isinstance(node, ast.ImportFrom):
            names += ["{}.{}".format(node.module, alias.name) for alias in node.names]
    return names


def _uses(work: Work, is_optional: bool = False) -> Tuple[List[HorovodUse], List[Site]]:
    """Every use of Horovod, and every mention of it that is not understood.

    ``is_optional``: a name that something else stands in for counts, too.
    """
    script, found, strange = work.script, [], []
    for site in script.sites:
        if not (isinstance(site.node, ast.Name) and isinstance(site.node.ctx, ast.Load)):
            continue
        looked = script.look_up(site.node, site.scope)
        name = looked.name
        if name is None:
            name = _one_meaning(work, site)
            if name is not None and not is_optional:
                strange.append(site)
                continue
        if name is None or not (name == "horovod" or name.startswith("horovod.")):
            if looked.binding is Binding.PARAMETER and is_hvd(work, site.node.id):
                work.manual(
                    site.line,
                    "import-aliases",
                    phrase('"{}" is a function parameter here', site.node.id),
                )
            continue
        node: ast.expr = site.node
        parents = list(site.parents)
        while isinstance(parents[-1], ast.Attribute):
            node = parents.pop()  # type: ignore[assignment]
        rest = dotted_parts(node) or [""]
        whole = script.resolve(node, site.scope) or ".".join([name, *rest[1:]])
        # an attribute of a result of Horovod is not a name of Horovod
        parts = whole.split(".")[1:]
        if not parts or looked.binding is Binding.VALUE:
            strange.append(site)
            continue
        outer = parents[-1]
        call = outer if isinstance(outer, ast.Call) and outer.func is node else None
        found.append(HorovodUse(site, node, ".".join(parts), call))
    return found, strange


def _one_meaning(work: Work, site: Site) -> Optional[str]:
    """The name of Horovod that a name stands for where Horovod can be imported."""
    assert isinstance(site.node, ast.Name)
    bindings = work.script.bindings(site.node.id, site.scope)
    names = [canonical(store.text) for store in bindings if store.kind == "import"]
    return next((name for name in names if name.split(".")[0] == "horovod"), None)


def _reexported(work: Work, uses: List[HorovodUse]) -> Iterator[int]:
    """The lines on which a package binds a name of Horovod that it does not use itself."""
    script = work.script
    if os.path.basename(script.source.path or "") != "__init__.py":
        return
    used = {(dotted_parts(use.node) or [""])[0] for use in uses}
    for name in sorted(set(bound(script)) - used):
        yield from (first_line(store.node) for store in script.module.stores.get(name, ()))


def _report_borrowed(work: Work) -> None:
    """Refuse a script that takes Horovod from another module of the project."""
    if work.script.words.isdisjoint((*REEXPORTED, work.borrowed)):
        return
    uses, strange = _uses(work)
    lines = sorted([use.line for use in uses] + [site.line for site in strange])
    lines += work.script.source.mentions(work.borrowed) if work.borrowed else []
    for line in lines[:1]:
        text = (
            "Horovod is imported through another module of the project: import Horovod "
            "directly in this file"
        )
        work.refuse(line, "hvd-import", text, blocks=True)


def _report_optional(work: Work, imports: List[Site], uses: List[HorovodUse]) -> None:
    for site in imports:
        work.refuse(
            site.line,
            "hvd-import",
            "import in try/except: the NPU host has no Horovod, so the script runs on one rank",
        )
    found: Dict[Tuple[int, str], List[str]] = {}
    for use in uses:
        names = found.setdefault((use.line, id_of(use.name)), [])
        names += [RANKS[use.name] + "()"] if use.name in RANKS else []
    for (line, id), names in found.items():
        text = "for several ranks: replace Horovod in the try block and in this line"
        if names:
            text = "for several ranks: replace the try block and this line with {}"
            text = phrase(text, join(" and ", dict.fromkeys(names)))
        work.manual(line, id, text)


def _use(work: Work, use: HorovodUse) -> None:
    name = use.name
    if name in RANKS:
        for line in replace_name(work, use, work.name(RANKS[name])):
            work.changed(
                line,
                "hvd-rank",
                "replaced by the NPU function, which reads the environment or the rank table",
            )
    elif name in CALLS and use.call is not None and not is_open(use.call):
        CALLS[name](work, use, use.call)
    elif name.split(".")[0] in CONSTANTS and (
        _is_argument(work, use.site) or _is_dropped(work, use)
    ):
        return
    elif id_of(name) == "hvd-compression":
        work.refuse(use.line, "hvd-compression", REFUSALS["hvd-compression"], True)
    else:
        id = id_of(name)
        text = REFUSALS.get(id, phrase('"{}" has no equivalent on the NPU', name))
        if name in CALLS:
            text = phrase(
                '"{}" is not called directly with plain arguments: write an explicit call', name
            )
        if id == "hvd-mpi" and use.call and work.reached.of(use.site) is Reach.OFF:
            work.replace_node(use.call, "False")
            work.changed(use.line, id, REFUSALS[id])
        else:
            work.refuse(use.line, id, text, True)


def _is_argument(work: Work, site: Site) -> bool:
    """True for what is in an argument of a call of Horovod, which looks at it."""
    names = [
        work.script.resolve(node.func, site.scope) or ""
        for node in site.parents
        if isinstance(node, ast.Call)
    ]
    return any(name.startswith("horovod.") and name[len("horovod.") :] in CALLS for name in names)


def _is_dropped(work: Work, use: HorovodUse) -> bool:
    """True for an assignment of what makes no difference by default, read by arguments alone.

    They are dropped, and so is the assignment.
    """
    statement = use.site.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or len(work.script.values(target, use.site.scope)) != 1:
        return False
    lines = work.script.source.mentions(target.id)
    reads = [
        site
        for site in sites(work.script.module, lines, (ast.Name,))
        if name_of(site.node) == target.id and site.node is not target
    ]
    default = _constant_of(work, use, _default_of(work, use, target))
    if default not in _NEUTRAL or not all(_is_argument(work, site) for site in reads):
        return False
    if statement not in work.script.cache.setdefault("dropped", []):
        work.script.cache["dropped"].append(statement)
        work.remove_statement(use.site)
        work.changed(statement.lineno, id_of(use.name), _DROPPED)
    return True


_NEUTRAL = ("Compression.none", "Average")
"""What Horovod does by default."""


def _remove_import(work: Work, site: Site) -> None:
    """Remove Horovod from an import statement, or the whole statement."""
    node = site.node
    if isinstance(node, ast.ImportFrom) or (
        isinstance(node, ast.Import)
        and all(alias.name.split(".")[0] == "horovod" for alias in node.names)
    ):
        work.remove_statement(site)
        return
    assert isinstance(node, ast.Import)
    start, end = work.statement_span(node)
    text = work.script.text[start:end]
    one = r"horovod(?:\s*\.\s*\w+)*(?:\s+as\s+\w+)?"
    pattern = re.compile(r"\s*,\s*{0}(?=\s*(?:,|$))|(?<=\s){0}\s*,\s*".format(one))
    for match in pattern.finditer(text):
        work.replace(start + match.start(), start + match.end(), "")


def _gradients(work: Work, uses: List[HorovodUse]) -> None:
    """Gradients that a distributed script takes by itself, without a wrapped optimizer."""
    names = {use.name for use in uses}
    wraps = "DistributedOptimizer" in names
    appliers = [site for site in work.script.sites_of(["apply_gradients"]) if site.call]
    if "allreduce" in names or not any(_is_plain(work, site, wraps) for site in appliers):
        return
    for site in work.script.calls_of("tensorflow.gradients"):
        text = (
            "these gradients are not reduced over the ranks: add npu_allreduce(...) where "
            "the gradients are applied"
        )
        work.manual(site.line, "gradients", text)


_RESUMING = {
    **dict.fromkeys(("MonitoredTrainingSession", "SingularMonitoredSession"), "checkpoint_dir"),
    **dict.fromkeys(("Estimator", "RunConfig"), "model_dir"),
}
"""What resumes from a directory, and the argument that names it."""


def _resuming(work: Work) -> None:
    """Directories of checkpoints that one rank alone has: the others begin anew."""
    for site in work.script.sites_of(_RESUMING):
        call = site.call
        name = work.script.resolved(site) if call is not None else None
        if call is None or not (name or "").startswith(("tensorflow.train.", _ESTIMATOR)):
            continue
        directory = keyword_of(call, _RESUMING[name_of(site.node)])
        choice = directory and choice_of_rank(work, site, directory.value)
        if choice:
            work.manual(
                choice.lineno,
                "hvd-broadcast-hook",
                "only one rank resumes from a checkpoint: NPUBroadcastGlobalVariablesHook "
                "does not broadcast global_step, so the other ranks count from 0 and stop "
                "later; let every rank restore the checkpoint, and only one rank save it",
            )


_ESTIMATOR = "tensorflow.estimator."


def _is_plain(work: Work, site: Site, wraps: bool) -> bool:
    """True where an optimizer applies gradients that is not Horovod's.

    ``wraps``: the script has one of Horovod's, so that it must be TensorFlow's for certain.
    """
    assert isinstance(site.node, ast.Attribute)
    made = work.script.made_by(site.node.value, site.scope)
    return not wraps or (bool(made) and all(name.startswith("tensorflow.") for name in made))
