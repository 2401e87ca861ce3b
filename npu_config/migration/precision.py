"""Mixed precision and loss scaling: the rewrite, the managers and the optimizers."""

import ast
import re
from typing import List, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.migration.horovod import has_ranks
from npu_config.migration.work import Rules, Work, called
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    argument,
    arguments,
    is_open,
    literal_text,
    name_of,
    number_of,
)

__all__ = ["RULES", "after"]

_DYNAMIC = "ExponentialUpdateLossScaleManager"
_NUMBERS = (
    "init_loss_scale={}, incr_every_n_steps={}, decr_every_n_nan_or_inf=1, incr_ratio={}, "
    "decr_ratio={}"
)
_FIXED = "FixedLossScaleManager"
_EXPERIMENTAL = "tensorflow.train.experimental."


def _dynamic(work: Work, init: str, steps: str, ratio: str, shrink: str) -> str:
    return "{}({})".format(work.name(_DYNAMIC), _NUMBERS.format(init, steps, ratio, shrink))


def _default(work: Work) -> str:
    """The dynamic loss scale of TensorFlow, with its own numbers."""
    return _dynamic(work, "2**15", "2000", "2.0", "0.5")


def _manager(work: Work, site: Site, value: Optional[ast.expr]) -> Optional[str]:
    """The manager that stands for a loss scale of TensorFlow; None for one that is not known."""
    script = work.script
    if value is None or literal_text(value) == "dynamic":
        return _default(work)
    values = script.values(value, site.scope)
    bound = values[0] if len(values) == 1 else value
    if number_of(bound) is not None:
        return "{}({})".format(work.name(_FIXED), script.written(value))
    if isinstance(bound, ast.Call) and all(
        number_of(part) is not None for part in arguments(bound)
    ):
        value = bound
    if not isinstance(value, ast.Call) or is_open(value):
        return None
    name = script.resolve(value.func, site.scope)
    if name == _EXPERIMENTAL + "FixedLossScale":
        scale = argument(value, "loss_scale_value", 0)
        if scale is not None:
            return "{}({})".format(work.name(_FIXED), script.written(scale))
    if name == _EXPERIMENTAL + "DynamicLossScale":
        texts = []
        for parameter, position, default in (
            ("initial_loss_scale", 0, "2**15"),
            ("increment_period", 1, "2000"),
            ("multiplier", 2, "2.0"),
        ):
            given = argument(value, parameter, position)
            texts.append(default if given is None else script.written(given))
        shrink = "0.5" if texts[2] in ("2", "2.0", "2.") else "1.0 / ({})".format(texts[2])
        return _dynamic(work, texts[0], texts[1], texts[2], shrink)
    return None


def _rewrite(work: Work, site: Site, name: str) -> None:
    id = "loss-scale" if name.endswith("MixedPrecisionLossScaleOptimizer") else "amp-rewrite"
    call = site.call
    if call is None:
        work.refuse(site.line, id, "the function is stored or passed on: left unchanged")
        return
    value = argument(call, "loss_scale", 1)
    optimizer = argument(call, "opt", 0)
    if is_open(call) or optimizer is None:
        work.refuse(site.line, id, "the call has * or ** arguments: left unchanged")
        return
    made = work.script.origins(optimizer, site.scope)
    if any((one or "").startswith(_KERAS) for one in made):
        work.depend(
            site,
            "keras-loss-scale",
            "loss scaling of a Keras optimizer is not supported on the NPU",
        )
        return
    is_known = id == "loss-scale" or all((one or "").startswith(_TRAIN) for one in made)
    if not is_known and not _is_of_train(work, site, optimizer):
        work.refuse(site.line, id, "this may not be a tf.train optimizer: left unchanged")
        return
    manager = _manager(work, site, value)
    if manager is None:
        work.refuse(site.line, id, "the loss scale is not known here")
        return
    if _under_control(work, site) and "Exponential" in manager:
        work.refuse(
            site.line,
            id,
            "a dynamic loss-scale manager must be created outside of tf.control_dependencies",
        )
        return
    _put(work, call, optimizer, value, manager)
    if has_ranks(work):
        work.append(call, "is_distributed=True")
    work.replace_node(site.node, work.name("NPULossScaleOptimizer"))
    work.changed(
        site.line, id, "replaced by the loss scaling of the NPU with TensorFlow's default values"
    )
    if id == "amp-rewrite":
        line = value.lineno if value is not None else site.line
        work.manual(
            line,
            "precision-mode",
            "the rewrite to float16 becomes precision_mode allow_mix_precision in the session: "
            "NpuConfigBuilder().mixed_precision(...)",
        )


_KERAS = ("tensorflow.keras.", "tensorflow.optimizers.", "tensorflow.compat.v2.", "keras.")
_TRAIN = ("tensorflow.train.", "tensorflow.contrib.", "horovod.")
_METHODS = ("compute_gradients", "minimize", "apply_gradients")


def _is_of_train(work: Work, site: Site, optimizer: ast.expr) -> bool:
    """True for an optimizer of which something is used that those of Keras do not have."""
    parent = site.parents[-2]
    targets = parent.targets if isinstance(parent, ast.Assign) else [optimizer]
    names = {name_of(target) for target in (*targets, optimizer)} - {""}
    for use in work.script.sites_of(_METHODS):
        if name_of(getattr(use.node, "value", use.node)) in names and use.call is not None:
            method = name_of(use.node)
            step = argument(use.call, "global_step", 1)
            if method == _METHODS[0] or (step is not None and not isinstance(step, ast.List)):
                return True
    return False


def _put(
    work: Work, call: ast.Call, optimizer: ast.expr, value: Optional[ast.expr], manager: str
) -> None:
    """Put the manager in the place of the loss scale, or behind the optimizer."""
    if optimizer not in call.args:
        manager = "loss_scale_manager=" + manager
    if value is None:
        work.append(call, manager)
    elif value in call.args:
        work.replace_node(value, manager)
    else:
        work.replace(*work.argument_span(call, value), manager)


def _under_control(work: Work, site: Site) -> bool:
    names = [work.script.resolve(call.func, site.scope) for call in site.entered]
    return "tensorflow.control_dependencies" in names


_PARTS: Tuple[str, ...] = (
    "LossScaleOptimizer",
    "FixedLossScaleManager",
    "ExponentialUpdateLossScaleManager",
)


def _contrib(work: Work, site: Site, name: str) -> None:
    """The classes of tf.contrib.mixed_precision, which the NPU has under the same names."""
    call = site.call
    last = name.rsplit(".", 1)[1]
    if call is None:
        work.refuse(
            site.line, "loss-scale", "the class is subclassed, stored or passed on: left unchanged"
        )
        return
    if last == "LossScaleOptimizer":
        work.replace_node(site.node, work.name("NPULossScaleOptimizer"))
        if has_ranks(work) and not is_open(call):
            work.append(call, "is_distributed=True")
    else:
        work.replace_node(site.node, work.name(last))
    work.changed(site.line, "loss-scale", "replaced by the loss scaling of the NPU")


def _policy(work: Work, site: Site, name: str) -> None:
    """The types of Keras's layers, where the NPU has precision modes."""
    text = "keep the layers float32: the precision_mode of the session chooses the types"
    work.manual(site.line, "precision-mode", text)


@called
def _variable(work: Work, site: Site, call: ast.Call, name: str) -> None:
    """A variable of float16, which precision modes know nothing of."""
    dtype = argument(call, "dtype", 2 if "get" in name else 7)
    if dtype is None:
        return
    kind = work.script.resolve(dtype, site.scope) or literal_text(dtype) or ""
    if kind in ("tensorflow.float16", "tensorflow.half", "float16"):
        work.manual(
            site.line,
            "precision-mode",
            "a float16 variable: keep it float32, and let the precision_mode of the "
            "session choose the types, npu_config.NpuConfigBuilder().mixed_precision(...)",
        )


RULES: Rules = {
    _EXPERIMENTAL + "enable_mixed_precision_graph_rewrite": _rewrite,
    _EXPERIMENTAL + "MixedPrecisionLossScaleOptimizer": _rewrite,
    **{"tensorflow.contrib.mixed_precision." + name: _contrib for name in _PARTS},
    "tensorflow.keras.mixed_precision.experimental.set_policy": _policy,
    "tensorflow.Variable": _variable,
    "tensorflow.get_variable": _variable,
}


# Loss scaling by hand

_TAKING = ("compute_gradients", "minimize", "gradients")
_PRODUCTS = ("tensorflow.multiply", "tensorflow.math.multiply", "tensorflow.scalar_mul")


def after(work: Work) -> None:
    """Losses that are scaled up before their gradients are taken, and gradients scaled down."""
    script = work.script
    if not any(word in script.text for word in ("scal", "Scal", "SCAL")):
        return
    for site in script.sites_of(_TAKING):
        call = site.call
        if call is None or not (call.args or call.keywords):
            continue
        loss = argument(call, "loss", 0)
        for value in [loss, *script.values(loss, site.scope)] if loss is not None else ():
            name = _scale_of(work, site, value)
            if name and re.search(r"/\s*(?:\w+\.)*{}\b".format(re.escape(name)), script.text):
                work.manual(
                    site.line,
                    "manual-loss-scale",
                    phrase(
                        'the script multiplies the loss by "{0}" and divides by the same '
                        "value: NPULossScaleOptimizer with FixedLossScaleManager({0}) does "
                        "both, and checks for overflow",
                        name,
                    ),
                )


def _scale_of(work: Work, site: Site, value: ast.AST) -> Optional[str]:
    """The factor of a product that is called a scale."""
    factors: List[ast.expr] = []
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        factors = [value.left, value.right]
    elif isinstance(value, ast.Call) and work.script.resolve(value.func, site.scope) in _PRODUCTS:
        factors = value.args
    for factor in factors:
        if "scal" in name_of(factor).lower():
            return name_of(factor)
    return None
