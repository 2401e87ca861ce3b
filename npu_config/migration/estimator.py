"""Estimators: their RunConfig, TPUEstimator, and what NPURunConfig would need."""

import ast
from typing import Dict, List, Mapping, Optional, Tuple

from npu_config.core.message import join, phrase
from npu_config.migration.horovod import choice_of_rank
from npu_config.migration.reached import Reach
from npu_config.migration.sessions import STAR_NOTE, wrap_config
from npu_config.migration.work import Rules, Work, called, is_wrapped, of_calls
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    argument,
    arguments,
    is_open,
    keyword_of,
    literal_text,
    name_of,
)

__all__ = ["RULES", "after"]

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

_PLAIN = "tensorflow.estimator.Estimator"
"""The one of which the NPU has a form of its own."""
_RUN_CONFIGS = ("tensorflow.estimator.RunConfig", "tensorflow.contrib.tpu.RunConfig")
_DISTRIBUTION = ("train_distribute", "eval_distribute", "experimental_distribute")


def _estimator(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        _reference(work, site)
        return
    position = _CONFIG_AT[name.rsplit(".", 1)[1]]
    work.needs_patch(site)
    if is_open(call):
        work.manual(site.line, "estimator-star", STAR_NOTE)
        return
    given = argument(call, "config", position)
    done = wrap_config(work, call, "config", position, _INIT, "run_config")
    if done is None:
        return
    work.changed(
        site.line,
        "estimator-config",
        phrase("{}; checkpoints and summaries stay unchanged", done),
    )
    made = _run_config(work, site, given)
    if name == _PLAIN and made is not None and not _unsupported(made):
        work.manual(
            site.line,
            "estimator-offload",
            "for iterations_per_loop: use NPURunConfig and NPUEstimator; their defaults "
            "are save_checkpoints_steps 100 and save_summary_steps 0",
        )


def _reference(work: Work, site: Site) -> None:
    """A class that is subclassed, stored or passed on."""
    parent = site.parents[-1]
    is_base = isinstance(parent, ast.ClassDef)
    if is_base or isinstance(parent, (ast.Assign, ast.Call, ast.Dict, ast.Return, ast.arguments)):
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "isinstance":
            return
        work.needs_patch(site)
        work.manual(
            site.line,
            "estimator-config",
            "this is a subclass: left unchanged; at run time, npu_init configures its sessions"
            if is_base
            else "the class is stored or passed on: left unchanged; at run time, npu_init "
            "configures its sessions",
        )


_old_estimator = of_calls(
    "estimator-config",
    "tf.contrib.learn uses another RunConfig: port this code to tf.estimator; at run "
    "time, npu_init configures the sessions",
    needs_patch=True,
)
"""An Estimator of tf.contrib.learn, whose RunConfig is another one."""


def _run_config(work: Work, site: Site, given: Optional[ast.expr]) -> Optional[ast.Call]:
    """The call of RunConfig that gave a configuration, where that is known."""
    if given is None or work.script.constructed(given, site.scope) != _RUN_CONFIGS[0]:
        return None
    if isinstance(given, ast.Name):
        stores = work.script.values(given, site.scope)
        given = stores[-1]  # type: ignore[assignment]
    return given if isinstance(given, ast.Call) else None


def _unsupported(call: ast.Call) -> bool:
    names = (*_DISTRIBUTION, "device_fn", "protocol")
    return any(keyword.arg in names for keyword in call.keywords)


@called
def run_config(work: Work, site: Site, call: ast.Call, name: str) -> None:
    """The arguments of a RunConfig that mean nothing on the NPU, or cannot be."""
    given = [(keyword.arg, keyword.value) for keyword in call.keywords]
    if name == _RUN_CONFIGS[0]:
        given += zip(_POSITIONS, call.args[_FIRST_POSITION:])
    nones: Dict[int, List[str]] = {}
    for option, value in given:
        line = value.lineno
        is_none = getattr(value, "value", 0) is None
        if is_none and option in (*_DISTRIBUTION, "device_fn", "protocol"):
            nones.setdefault(line, []).append(str(option))
        elif option in _DISTRIBUTION:
            _strategy_argument(work, site, value, option)
        elif option == "device_fn":
            work.refuse(line, "runconfig-unsupported", "NPURunConfig does not support device_fn")
        elif option == "protocol":
            work.manual(line, "runconfig-unsupported", "protocol is only for parameter servers")
        elif option == "save_checkpoints_steps" and choice_of_rank(work, site, value):
            work.manual(line, "save-on-rank", "if you use NPURunConfig: pass 0 instead of None")
    for line, names in nones.items():
        text = phrase(
            "NPURunConfig does not support {}; the value None has no effect", join(" and ", names)
        )
        work.manual(line, "runconfig-unsupported", text, False)


_FIRST_POSITION = 9
_POSITIONS = ("train_distribute", "device_fn", "protocol", "eval_distribute", _DISTRIBUTION[2])
"""The arguments of RunConfig in TensorFlow 1.15.5 from that position on."""


def _strategy_argument(work: Work, site: Site, value: ast.expr, name: str) -> None:
    """A strategy for an Estimator, where it is not None by default."""
    text = phrase("remove {}, together with its strategy", name)
    if work.reached.is_given(value, site.scope):
        site = site._replace(node=value)
        work.depend(site, "runconfig-unsupported", text)
    else:
        work.manual(
            value.lineno, "runconfig-unsupported", phrase("{}; the default is None", text), False
        )


def after(work: Work) -> None:
    """What is known by its name alone: a TPUEstimator of the project, ``RunConfig.replace``."""
    _own_tpu_estimators(work)
    _replaced(work)


def _own_tpu_estimators(work: Work) -> None:
    """A copy of TPUEstimator in the project itself, which is asked for a TPU."""
    script = work.script
    for site in sites(
        script.module, script.source.mentions("TPUEstimator"), (ast.Name, ast.Attribute)
    ):
        if site.call is None or name_of(site.node) != "TPUEstimator":
            continue
        given = keyword_of(site.call, "use_tpu")
        if given is None or getattr(given.value, "value", True) is False:
            continue
        if not (script.resolve(site.node, site.scope) or "").startswith("tensorflow."):
            work.manual(site.line, "tpu-off", _OWN_TPU, True)


_OWN_TPU = (
    "this TPUEstimator is not TensorFlow's: left unchanged; pass use_tpu=False, and wrap "
    "the config in npu_run_config_init(run_config=...)"
)


def _replaced(work: Work) -> None:
    script = work.script
    if script.words.isdisjoint(_DISTRIBUTION):
        return
    for site in sites(script.module, script.source.mentions("replace"), (ast.Attribute,)):
        if site.call is not None and name_of(site.node) == "replace":
            for keyword in site.call.keywords:
                if keyword.arg in _DISTRIBUTION and getattr(keyword.value, "value", 0) is not None:
                    _strategy_argument(work, site, keyword.value, keyword.arg)


_OFF: Tuple[Tuple[str, int], ...] = (("use_tpu", 4), ("eval_on_tpu", 9), ("export_to_tpu", 10))


@called
def _tpu_estimator(work: Work, site: Site, call: ast.Call, name: str) -> None:
    work.needs_patch(site)
    if is_open(call):
        work.manual(
            site.line,
            "estimator-star",
            "** may contain use_tpu and config: set use_tpu=False, and wrap config by hand",
        )
        return
    given = argument(call, "config", 2)
    if given is not None and not is_wrapped(given):
        done = wrap_config(work, call, "config", 2, _INIT, "run_config")
        work.changed(site.line, "estimator-config", done or "")
    changed = False
    for switch, position in _OFF:
        value = argument(call, switch, position)
        if value is None:
            work.append(call, switch + "=False")
            changed = True
        elif getattr(value, "value", None) is not False:
            work.replace_node(value, "False")
            changed = True
    if changed:
        work.changed(site.line, "tpu-off", "use_tpu, eval_on_tpu and export_to_tpu become False")


_tpu_cluster = of_calls("tpu-loop", "there is no TPU: keep the TPU flag off")


_tpu_config = of_calls(
    "tpu-loop",
    "iterations_per_loop and num_shards of TPUConfig have no effect on the NPU; "
    "iterations_per_loop of NPURunConfig is a different option and needs its own number",
    unless=lambda work, site, call: not arguments(call),
)


@called
def _tpu_only(work: Work, site: Site, call: ast.Call, name: str) -> None:
    if not _is_under_tpu_flag(site):
        work.depend(site, "tpu-only", "there is no TPU: remove this code")
    elif work.reached.of(site) > Reach.MAYBE:
        work.manual(
            site.line,
            "tpu-only",
            "the flag for this code is on by default: switch the flag off on the NPU",
        )
    else:
        work.manual(
            site.line, "tpu-only", "this code depends on a flag that is off on the NPU", False
        )


def _is_under_tpu_flag(site: Site) -> bool:
    """True under a condition of which some name or text says TPU."""
    return any(
        "tpu" in (name_of(part) or literal_text(part) or "").lower()
        for test in site.conditions
        for part in ast.walk(test)
    )


_train_spec = of_calls(
    "train-and-evaluate",
    "with several ranks: add hooks=[NPUBroadcastGlobalVariablesHook(0)]",
    unless=lambda work, site, call: (
        "horovod" not in work.script.words or argument(call, "hooks", 2) is not None
    ),
)


RULES: Rules = {
    **{"tensorflow.estimator." + name: _estimator for name in _CONFIG_AT},
    **{"tensorflow.contrib.learn." + name: _old_estimator for name in _CONFIG_AT},
    **dict.fromkeys(_RUN_CONFIGS, run_config),
    "tensorflow.contrib.tpu.TPUEstimator": _tpu_estimator,
    "tensorflow.contrib.tpu.TPUConfig": _tpu_config,
    "tensorflow.contrib.cluster_resolver.TPUClusterResolver": _tpu_cluster,
    "tensorflow.distribute.cluster_resolver.TPUClusterResolver": _tpu_cluster,
    "tensorflow.contrib.tpu.CrossShardOptimizer": _tpu_only,
    "tensorflow.contrib.tpu.rewrite": _tpu_only,
    "tensorflow.contrib.tpu.shard": _tpu_only,
    "tensorflow.estimator.TrainSpec": _train_spec,
}
