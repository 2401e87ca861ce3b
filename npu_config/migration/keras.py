"""Keras of TensorFlow: its session and its Estimators; what is not TensorFlow's is refused."""

import ast

from npu_config.core.message import join, phrase
from npu_config.migration.data import in_dataset_function
from npu_config.migration.sessions import wrap_config
from npu_config.migration.work import Rules, Work, called, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import is_open

__all__ = ["RULES", "after"]

_K = "tensorflow.keras."
_APPLICATIONS = _K + "applications"
_FITS = ("fit", "fit_generator", "train_on_batch")


def _model(work: Work, site: Site, name: str) -> None:
    is_made = site.call is not None or isinstance(site.parents[-1], ast.ClassDef)
    if is_made or name == _APPLICATIONS:
        work.is_keras = True
        work.needs_patch(site)


@called
def _to_estimator(work: Work, site: Site, call: ast.Call, name: str) -> None:
    work.needs_patch(site)
    if is_open(call):
        work.manual(site.line, "estimator-star", "left unchanged: ** may already contain a config")
        return
    done = wrap_config(work, call, "config", 4, "npu_run_config_init", "run_config")
    if done is None:
        return
    work.changed(site.line, "keras-to-estimator", done)
    work.manual(
        site.line,
        "keras-to-npu-estimator",
        "for iterations_per_loop: use keras_to_npu.model_to_npu_estimator with an "
        "NPURunConfig; Keras callbacks do not run in an Estimator",
    )


@called
def _zeros(work: Work, site: Site, call: ast.Call, name: str) -> None:
    in_input = "input" in getattr(site.function, "name", "")
    if in_input or in_dataset_function(work, site):
        work.manual(
            site.line,
            "keras-zeros-in-input",
            "this call creates a variable, which the input pipeline cannot initialize: use "
            "tf.zeros",
        )


RULES: Rules = {
    _K + "Sequential": _model,
    _K + "Model": _model,
    _K + "models.Sequential": _model,
    _K + "models.Model": _model,
    _K + "models.load_model": _model,
    _K + "models.model_from_json": _model,
    _K + "models.clone_model": _model,
    _APPLICATIONS: _model,
    _K + "estimator.model_to_estimator": _to_estimator,
    _K + "backend.clear_session": of_calls(
        "keras-clear-session",
        "left unchanged: the next session is created from the patched class",
    ),
    _K + "utils.multi_gpu_model": of_calls(
        "keras-multi-gpu",
        "replicas in one process are not supported on the NPU: start one process per device",
        depends=True,
    ),
    _K + "mixed_precision.experimental.LossScaleOptimizer": of_calls(
        "keras-loss-scale",
        "the Keras LossScaleOptimizer is not supported on the NPU: use a tf.train "
        "optimizer with NPULossScaleOptimizer",
        depends=True,
    ),
    _K + "backend.zeros": _zeros,
}


def after(work: Work) -> None:
    """The first line that trains a model: the session of Keras begins there."""
    script = work.script
    if not any(name in script.words for name in _FITS):
        return
    held = ("set_session", "get_session")
    closed = "close" in script.words and not script.words.isdisjoint(held)
    ranked = {"horovod", "init"} <= script.words
    for site in script.sites_of(_FITS):
        node = site.node
        if site.call is None or not isinstance(node, ast.Attribute):
            continue
        if node.value and _is_model(work, site, node.value):
            work.needs_patch(site)
            if not closed and not ranked:
                work.manual(
                    site.line,
                    "keras-session-close",
                    "close the session of Keras at the end: "
                    "tf.keras.backend.get_session().close()",
                )
            if ranked:
                _ranks(work, site)
            return


def _ranks(work: Work, site: Site) -> None:
    words = work.script.words
    missing = [
        text
        for word, text in (
            ("DistributedOptimizer", "npu_distributed_optimizer_wrapper(opt)"),
            (
                "BroadcastGlobalVariablesCallback",
                "callbacks=[NPUBroadcastGlobalVariablesCallback(0)]",
            ),
        )
        if word not in words
    ]
    if missing:
        work.manual(
            site.line,
            "keras-distributed",
            phrase("with several ranks: {}", join(" and ", missing)),
        )


def _is_model(work: Work, site: Site, node: ast.expr) -> bool:
    """True for a value that is a model of tf.keras, or that a function of the script makes."""
    script = work.script
    made = script.constructed(node, site.scope)
    if made is not None:
        return made.startswith(_MODELS)
    values = script.values(node, site.scope) if isinstance(node, ast.Name) else [node]
    return bool(values) and all(_makes_model(work, value) for value in values)


def _makes_model(work: Work, value: ast.AST) -> bool:
    """True for a call of a class or function of the script, which makes models somewhere."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
        return False
    stores = work.script.module.stores.get(value.func.id, [])
    return work.is_keras and [store.kind for store in stores] == ["definition"]


_MODELS = (_K + "Sequential", _K + "Model", _K + "models.", _K + "applications.")
