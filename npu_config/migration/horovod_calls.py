"""The calls of Horovod that have a counterpart on the NPU."""

import ast
from typing import Callable, Dict, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.migration.horovod_names import (
    REDUCTIONS,
    REFUSALS,
    Use,
    id_of,
    is_hvd,
    is_statement,
    of_keras,
    replace_name,
)
from npu_config.migration.resolve import last_name
from npu_config.migration.sites import Site, number_of
from npu_config.migration.work import Work

__all__ = ["CALLS"]


def _arguments(
    work: Work, use: Use, call: ast.Call, names: Tuple[str, ...]
) -> Optional[Dict[str, ast.expr]]:
    """The arguments of a call by name, None (refused) when there are others."""
    found: Dict[str, ast.expr] = dict(zip(names, call.args))
    if len(call.args) > len(names):
        work.refuse(use.line, id_of(use.name), "has arguments that are not known", True)
        return None
    for keyword in call.keywords:
        if keyword.arg not in names:
            work.refuse(
                use.line,
                id_of(use.name),
                phrase('the argument "{}" has no counterpart on the NPU', keyword.arg),
                True,
            )
            return None
        found[keyword.arg] = keyword.value
    if names[0] not in found:
        work.refuse(use.line, id_of(use.name), "its first argument is missing", True)
        return None
    return found


def _constant_of(work: Work, use: Use, value: ast.expr) -> Optional[str]:
    """The name of a constant of Horovod."""
    found = work.script.resolver.resolve(value, use.site.frames)
    return found[len("horovod.") :] if found and found.startswith("horovod.") else None


def _dropped(text: str, given: Dict[str, ast.expr], *kept: str) -> str:
    """What is said of a call, with the arguments that its counterpart does not take."""
    names = [name for name in given if name not in kept]
    return phrase("{}; dropped without loss: {}", text, ", ".join(names)) if names else text


def _is_plain_compression(work: Work, use: Use, value: ast.expr) -> bool:
    return _constant_of(work, use, value) == "Compression.none"


def _take_first(work: Work, call: ast.Call, first: ast.expr) -> int:
    """Keep the first argument alone, without its name; where it ends."""
    work.keep_arguments(call, first)
    keyword = next((keyword for keyword in call.keywords if keyword.value is first), None)
    if keyword is not None:
        start, value, _ = work.value_span(call, keyword)
        comments, gap = work.comments(start, value)
        work.replace(start, value, comments.lstrip() + gap)
    return work.argument_span(call, first)[1]


def _optimizer(work: Work, use: Use, call: ast.Call) -> None:
    names = (
        *("optimizer", "name", "use_locking", "device_dense", "device_sparse", "compression"),
        *("sparse_as_dense", "backward_passes_per_step", "op", "gradient_predivide_factor"),
        *("average_aggregated_gradients", "num_groups", "groups"),
    )
    given = _arguments(work, use, call, names)
    if given is None:
        return
    if _is_class(work, use, given["optimizer"]):
        work.refuse(use.line, "hvd-optimizer", "a class is given, and not an optimizer", True)
        return
    refused = False
    compression = given.get("compression")
    if compression is not None and not _is_plain_compression(work, use, compression):
        work.refuse(compression.lineno, "hvd-compression", REFUSALS["hvd-compression"], True)
        refused = True
    passes = given.get("backward_passes_per_step")
    if passes is not None and number_of(passes) != 1:
        work.refuse(
            passes.lineno,
            "hvd-accumulation",
            "local accumulation of gradients has no counterpart",
            True,
        )
        refused = True
    op = given.get("op")
    if op is not None and _constant_of(work, use, op) != "Average":
        work.refuse(op.lineno, "hvd-op", "the NPU wrapper averages", True)
        refused = True
    for name in ("gradient_predivide_factor", "num_groups", "groups"):
        if name in given:
            work.refuse(
                given[name].lineno, "hvd-refused", phrase("{} has no counterpart", name), True
            )
            refused = True
    if not refused:
        _take_first(work, call, given["optimizer"])
        replace_name(work, use, work.name("npu_distributed_optimizer_wrapper"))
    note = "npu_distributed_optimizer_wrapper averages, too"
    work.changed(use.line, "hvd-optimizer", _dropped(note, {} if refused else given, "optimizer"))


def _is_class(work: Work, use: Use, node: ast.expr) -> bool:
    """True for the name of a class of optimizers, of the script or of TensorFlow."""
    if isinstance(node, ast.Name):
        bindings = work.script.bindings(node.id, use.site.frames)
        if bindings and all(isinstance(one.node, ast.ClassDef) for one in bindings):
            return True
    name = work.script.resolver.resolve(node, use.site.frames) or ""
    return name.startswith("tensorflow.") and name.endswith("Optimizer")


def _hook(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("root_rank", "device"))
    if given is None:
        return
    _take_first(work, call, given["root_rank"])
    replace_name(work, use, work.name("NPUBroadcastGlobalVariablesHook"))
    note = "sends the trainable variables; Horovod sends moving averages and slots, too"
    work.changed(use.line, "hvd-broadcast-hook", _dropped(note, given, "root_rank"))


def _callback(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("root_rank", "device", "local_variables"))
    if given is None:
        return
    if "local_variables" in given:
        work.refuse(use.line, "hvd-callback", "local variables are not sent on the NPU", True)
        return
    _take_first(work, call, given["root_rank"])
    replace_name(work, use, work.name("NPUBroadcastGlobalVariablesCallback"))
    note = "sends the variables of one rank to all"
    work.changed(use.line, "hvd-callback", _dropped(note, given, "root_rank"))


def _broadcast_all(work: Work, use: Use, call: ast.Call) -> None:
    variables = use.name == "broadcast_variables"
    names = ("variables", "root_rank") if variables else ("root_rank",)
    given = _arguments(work, use, call, names)
    if given is None or _is_frozen(work, use):
        return
    tf = _tensorflow(work, use.site)
    root = given.get("root_rank")
    if root is None or tf is None:
        work.refuse(use.line, "hvd-broadcast", "TensorFlow has no name here", True)
        return
    script = work.script
    one = work.free("npu_var")
    head = phrase(
        "{0}.group(*[{0}.assign({1}, {2}.broadcast([{1}], ", tf, one, work.name("hccl_ops")
    )
    start, end = script.span(call)[0], script.span(call)[1]
    root_start, root_end = script.span(root)
    if variables:
        whose = script.text[slice(*script.span(given["variables"]))]
        if "horovod" in whose or any(
            use.site.frames and isinstance(node, ast.Name) and is_hvd(work, node.id)
            for node in ast.walk(given["variables"])
        ):
            work.refuse(use.line, "hvd-broadcast", "too entangled to be edited", True)
            return
    else:
        whose = "{}.global_variables()".format(tf)
    work.replace(start, root_start, head)
    work.replace(root_end, end, phrase(")[0]) for {} in {}])", one, whose))
    work.changed(use.line, "hvd-broadcast", "hccl_ops.broadcast takes and gives lists")
    _check_types(work, use)


def _check_types(work: Work, use: Use) -> None:
    text = _NEVER_RUN if _is_never_run(work, use) else _TYPES
    work.manual(use.line, "hvd-broadcast", _AT_ONCE if of_keras(work, use) else text)


_TYPES = "check the types of the variables: float16, float32 and integers of the product only"
_AT_ONCE = (
    "Horovod for Keras runs it at once; here it is only made: "
    "tf.keras.backend.get_session().run(...); check the types of the variables"
)
_NEVER_RUN = (
    "made here, and run nowhere in this script: sess.run(...); check the types of the variables: "
    "float16, float32 and integers of the product only"
)


def _is_never_run(work: Work, use: Use) -> bool:
    """True for an operation that is a statement of its own, or a variable that nothing reads."""
    statement = use.site.statement
    if isinstance(statement, ast.Assign) and statement.value is use.call:
        (name, *others) = [getattr(target, "id", "") for target in statement.targets]
        return bool(name) and not others and len(work.script.source.mentions(name)) == 1
    return is_statement(use)


def _is_frozen(work: Work, use: Use) -> bool:
    """True, and refused, inside of a session that has finalized its graph."""
    is_frozen = any(last_name(call.func) in _FREEZING for call in use.site.entered)
    if is_frozen:
        work.refuse(use.line, "hvd-broadcast", "the graph is finalized there", True)
    return is_frozen


_FREEZING = (
    *("MonitoredTrainingSession", "MonitoredSession", "SingularMonitoredSession"),
    "managed_session",
)


def _broadcast(work: Work, use: Use, call: ast.Call) -> None:
    if _is_value(work, use):
        return
    given = _arguments(work, use, call, ("tensor", "root_rank", "name"))
    if given is None or _is_frozen(work, use):
        return
    if "root_rank" not in given or (call.keywords and given["tensor"] not in call.args):
        work.refuse(use.line, "hvd-broadcast", "write its arguments by position", True)
        return
    work.wrap(given["tensor"], "[", "]")
    work.keep_arguments(call, given["tensor"], given["root_rank"])
    replace_name(work, use, work.name("hccl_ops") + ".broadcast")
    work.insert(work.script.span(call)[1], "[0]")
    note = _dropped("hccl_ops.broadcast takes and gives lists", given, "tensor", "root_rank")
    work.changed(use.line, "hvd-broadcast", note)


def _is_value(work: Work, use: Use) -> bool:
    """True, and refused, for a function of Horovod for Keras that computes at once."""
    is_value = of_keras(work, use)
    if is_value:
        text = (
            "gives a value in Horovod for Keras, and a tensor on the NPU: write a tensor, run it"
        )
        work.refuse(use.line, id_of(use.name), text, True)
    return is_value


def _allreduce(work: Work, use: Use, call: ast.Call) -> None:
    if _is_value(work, use):
        return
    names = (
        *("tensor", "average", "device_dense", "device_sparse", "compression", "op"),
        *("prescale_factor", "postscale_factor", "name"),
    )
    given = _arguments(work, use, call, names)
    if given is None:
        return
    for name in ("prescale_factor", "postscale_factor"):
        if name in given:
            work.refuse(
                given[name].lineno, "hvd-allreduce", phrase("{} has no counterpart", name), True
            )
            return
    compression = given.get("compression")
    if compression is not None and not _is_plain_compression(work, use, compression):
        work.refuse(compression.lineno, "hvd-compression", REFUSALS["hvd-compression"], True)
        return
    reduction: Optional[str] = None
    average = given.get("average")
    if average is not None:
        value = getattr(average, "value", 0)
        if value is False:
            reduction = "sum"
        elif value is not True and value is not None:
            work.refuse(average.lineno, "hvd-allreduce", "average is not a constant", True)
            return
    op = given.get("op")
    if op is not None:
        constant = _constant_of(work, use, op)
        if constant is None or constant not in REDUCTIONS:
            work.refuse(op.lineno, "hvd-op", "this reduction has no counterpart", True)
            return
        reduction = REDUCTIONS[constant]
    end = _take_first(work, call, given["tensor"])
    if reduction is not None:
        work.insert(end, phrase(', reduction="{}"', reduction))
    replace_name(work, use, work.name("npu_allreduce"))
    note = reduction or "average is Horovod's default, and that of npu_allreduce"
    made = work.script.constructed(given["tensor"], use.site.frames)
    if made in ("tensorflow.Variable", "tensorflow.get_variable"):
        note = phrase("{}; it takes no variable on the device: give it tf.identity(...)", note)
    work.changed(use.line, "hvd-allreduce", _dropped(note, given, "tensor", "average", "op"))


def _allgather(work: Work, use: Use, call: ast.Call) -> None:
    if _is_value(work, use):
        return
    given = _arguments(work, use, call, ("tensor", "name"))
    if given is None:
        return
    end = _take_first(work, call, given["tensor"])
    work.insert(end, phrase(", rank_size={}()", work.name("get_npu_rank_size")))
    replace_name(work, use, work.name("hccl_ops") + ".allgather")
    note = "first dimensions must be equal on all ranks, which Horovod does not ask for"
    work.changed(use.line, "hvd-allgather", _dropped(note, given, "tensor"))


def _shutdown(work: Work, use: Use, call: ast.Call) -> None:
    if not is_statement(use):
        work.refuse(use.line, "hvd-refused", "shutdown is used as a value", True)
        return
    work.remove_statement(use.site)
    work.changed(use.line, "hvd-shutdown", "released at the end by npu_resources or atexit")


CALLS: Dict[str, Callable[[Work, Use, ast.Call], None]] = {
    "DistributedOptimizer": _optimizer,
    "BroadcastGlobalVariablesHook": _hook,
    "callbacks.BroadcastGlobalVariablesCallback": _callback,
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
        if name in script.words and script.resolver.name(name, site.frames).name == "tensorflow":
            return name
    return work.name("tf") if "tf" not in script.words else None
