"""Estimators: their RunConfig, TPUEstimator, and what NPURunConfig would need."""

import ast
from typing import Callable, Dict, Mapping, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.migration.script import Site, is_open
from npu_config.migration.sessions import STAR_NOTE, wrap_config
from npu_config.migration.work import Work, is_wrapped

__all__ = ["RULES"]

_INIT = "npu_run_config_init"
_CONFIG_AT: Mapping[str, int] = {
    "BaselineClassifier": 5,
    "BaselineEstimator": 3,
    "BaselineRegressor": 4,
    "BoostedTreesClassifier": 13,
    "BoostedTreesEstimator": 12,
    "BoostedTreesRegressor": 12,
    "DNNClassifier": 10,
    "DNNEstimator": 8,
    "DNNLinearCombinedClassifier": 12,
    "DNNLinearCombinedEstimator": 10,
    "DNNLinearCombinedRegressor": 11,
    "DNNRegressor": 9,
    "Estimator": 2,
    "LinearClassifier": 6,
    "LinearEstimator": 4,
    "LinearRegressor": 5,
}
"""The position of ``config`` in TensorFlow 1.15.5."""

_RUN_CONFIGS = ("tensorflow.estimator.RunConfig", "tensorflow.contrib.tpu.RunConfig")
_DISTRIBUTION = ("train_distribute", "eval_distribute", "experimental_distribute")


def _estimator(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    position = _CONFIG_AT[name.rsplit(".", 1)[1]]
    if is_open(call):
        work.needs_patch = True
        work.manual(
            site.line,
            "estimator-star",
            STAR_NOTE,
        )
        return
    given = work.script.argument(call, "config", position)
    done = wrap_config(work, call, "config", position, _INIT, "run_config")
    if done is None:
        return
    work.changed(
        site.line,
        "estimator-config",
        phrase("{}; checkpoints and summaries stay as they are", done),
    )
    made = _run_config(work, site, given)
    if made is not None and not _unsupported(made):
        work.manual(
            site.line,
            "estimator-offload",
            "for iterations_per_loop: NPURunConfig and NPUEstimator; save_checkpoints_steps is "
            "then 100 by default, and save_summary_steps 0",
        )


def _run_config(work: Work, site: Site, given: Optional[ast.expr]) -> Optional[ast.Call]:
    """The call of RunConfig that gave a configuration, where that is known."""
    if given is None or work.script.constructed(given, site.frames) != _RUN_CONFIGS[0]:
        return None
    if isinstance(given, ast.Name):
        stores = work.script.stores(given.id, site.frames)
        given = stores[-1]  # type: ignore[assignment]
    return given if isinstance(given, ast.Call) else None


def _unsupported(call: ast.Call) -> bool:
    names = (*_DISTRIBUTION, "device_fn", "protocol")
    return any(keyword.arg in names for keyword in call.keywords)


def run_config(work: Work, site: Site, name: str) -> None:
    """The arguments of a RunConfig that mean nothing on the NPU, or cannot be."""
    call = site.call
    if call is None:
        return
    for keyword in call.keywords:
        line = keyword.value.lineno
        is_none = getattr(keyword.value, "value", 0) is None
        if keyword.arg in _DISTRIBUTION:
            if is_none:
                work.manual(line, "runconfig-unsupported", phrase(_NONE, keyword.arg))
            else:
                work.refuse(
                    line,
                    "runconfig-unsupported",
                    phrase("{} must go, together with its strategy", keyword.arg),
                    blocks=True,
                )
        elif keyword.arg == "device_fn":
            if is_none:
                work.manual(line, "runconfig-unsupported", phrase(_NONE, "device_fn"))
            else:
                work.refuse(line, "runconfig-unsupported", "NPURunConfig does not take device_fn")
        elif keyword.arg == "protocol":
            work.manual(line, "runconfig-unsupported", "protocol is for parameter servers")
        elif keyword.arg == "save_checkpoints_steps" and _is_on_rank(work, site, keyword.value):
            work.manual(line, "save-on-rank", "with NPURunConfig: else 0 in place of else None")
        elif keyword.arg == "log_step_count_steps" and name == _RUN_CONFIGS[0]:
            continue


_NONE = "NPURunConfig does not take {}; None changes nothing"


def _is_on_rank(work: Work, site: Site, value: ast.expr) -> bool:
    if not isinstance(value, ast.IfExp) or getattr(value.orelse, "value", 0) is not None:
        return False
    for node in ast.walk(value.test):
        if isinstance(node, ast.Call):
            found = work.script.resolver.resolve(node.func, site.frames)
            if found is not None and found.startswith("horovod."):
                return True
    return False


_OFF: Tuple[Tuple[str, int], ...] = (("use_tpu", 4), ("eval_on_tpu", 9), ("export_to_tpu", 10))


def _tpu_estimator(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    if is_open(call):
        work.needs_patch = True
        work.manual(
            site.line,
            "estimator-star",
            "** may hold use_tpu and config: set use_tpu=False, and wrap config by hand",
        )
        return
    given = work.script.argument(call, "config", 2)
    if given is not None and not is_wrapped(given):
        done = wrap_config(work, call, "config", 2, _INIT, "run_config")
        work.changed(site.line, "estimator-config", done or "")
    changed = False
    for argument, position in _OFF:
        value = work.script.argument(call, argument, position)
        if value is None:
            work.append(call, argument + "=False")
            changed = True
        elif getattr(value, "value", None) is not False:
            work.replace_node(value, "False")
            changed = True
    if changed:
        work.changed(site.line, "tpu-off", "use_tpu, eval_on_tpu and export_to_tpu become False")


def _tpu_config(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is not None and (call.args or call.keywords):
        work.manual(
            site.line,
            "tpu-loop",
            "iterations_per_loop and num_shards do nothing on the NPU; its own option is "
            "iterations_per_loop of NPURunConfig, and the number is not the same",
        )


def _tpu_only(work: Work, site: Site, name: str) -> None:
    if site.call is None:
        return
    if site.is_conditional:
        work.manual(site.line, "tpu-only", "under a flag, which is off on the NPU")
    else:
        work.refuse(site.line, "tpu-only", "there is no TPU: take it out", blocks=True)


def _train_spec(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is not None and "horovod" in work.script.words:
        hooks = work.script.argument(call, "hooks", 2)
        if hooks is None:
            work.manual(
                site.line,
                "train-and-evaluate",
                "with several ranks: hooks=[NPUBroadcastGlobalVariablesHook(0)]",
            )


RULES: Dict[str, Callable[[Work, Site, str], None]] = {
    **{"tensorflow.estimator." + name: _estimator for name in _CONFIG_AT},
    **dict.fromkeys(_RUN_CONFIGS, run_config),
    "tensorflow.contrib.tpu.TPUEstimator": _tpu_estimator,
    "tensorflow.contrib.tpu.TPUConfig": _tpu_config,
    "tensorflow.contrib.cluster_resolver.TPUClusterResolver": _tpu_config,
    "tensorflow.distribute.cluster_resolver.TPUClusterResolver": _tpu_config,
    "tensorflow.contrib.tpu.CrossShardOptimizer": _tpu_only,
    "tensorflow.contrib.tpu.rewrite": _tpu_only,
    "tensorflow.contrib.tpu.shard": _tpu_only,
    "tensorflow.estimator.TrainSpec": _train_spec,
}
