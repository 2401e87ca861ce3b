"""tf.distribute, parameter servers, towers and shards: reported, since they are a design."""

import ast
from typing import Iterator

from npu_config.migration.work import REFUSED, Rules, Work, called, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import UNCLEAR, argument, is_open, literal_text, name_of

__all__ = ["RULES", "after"]

_STRATEGIES = (
    "MirroredStrategy",
    "CollectiveAllReduceStrategy",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "CentralStorageStrategy",
    "OneDeviceStrategy",
    "TPUStrategy",
)
_CLUSTER = "tensorflow.train.ClusterSpec"
_SETTER = "tensorflow.train.replica_device_setter"
_SERVERS = {
    _CLUSTER: "between-graph replication is not supported with sessions, "
    "only with NPUEstimator, ParameterServerStrategy and TF_CONFIG",
    "tensorflow.train.Server": "sessions on the NPU do not support parameter servers",
    _SETTER: "the NPU has no parameter servers to place variables on",
    "tensorflow.train.SyncReplicasOptimizer": "on the NPU, npu_distributed_optimizer_wrapper "
    "reduces the gradients",
}
_OPTIMIZERS = ("tensorflow.train.", "tensorflow.keras.optimizers.", "tensorflow.contrib.opt.")


_STRATEGY = (
    "replicas in one process are not supported on the NPU: start one process per device, "
    "or use npu_strategy.NPUStrategy(), wrap the optimizer, broadcast the variables and "
    "shard the data"
)
_ONE_DEVICE = (
    "this strategy only places operations on one device, as the NPU does anyway: remove "
    "the strategy, its scope and train_distribute"
)


@called
def _strategy(work: Work, site: Site, call: ast.Call, name: str) -> None:
    is_one = name.endswith("OneDeviceStrategy")
    work.depend(site, "strategy", _ONE_DEVICE if is_one else _STRATEGY)


@called
def _replica_device_setter(work: Work, site: Site, call: ast.Call, name: str) -> None:
    """Variables on parameter servers, of which there are none without a cluster."""
    value = work.reached.value
    tasks, cluster = argument(call, "ps_tasks", 0), argument(call, "cluster", 4)
    if is_open(call) or (cluster is not None and work.reached.is_given(cluster, site.scope)):
        work.depend(site, "parameter-server", _SERVERS[_SETTER])
    elif tasks is None or not value(tasks, site.scope):
        text = (
            "there is no cluster, and by default no parameter server, so this call has no "
            "effect: left unchanged"
        )
        work.manual(site.line, "parameter-server", text, asks=False)
    elif value(tasks, site.scope) is UNCLEAR and "ClusterSpec" not in work.script.words:
        text = "this call has no effect without parameter servers: ps_tasks must be 0 on the NPU"
        work.manual(site.line, "parameter-server", text)
    else:
        work.depend(site, "parameter-server", _SERVERS[_SETTER])


_PLACED = (
    "left unchanged: npu_init always switches soft placement on, so that a device that "
    "does not exist is ignored"
)


@called
def _device(work: Work, site: Site, call: ast.Call, name: str) -> None:
    if len(call.args) + len(call.keywords) != 1:
        return
    value = call.args[0] if call.args else call.keywords[0].value
    text = literal_text(value)
    if text is not None:
        if "gpu" in text.lower():
            work.manual(
                site.line,
                "device",
                _PLACED,
            )
        return
    if getattr(value, "value", 0) is None:
        return
    if isinstance(value, ast.Call) and _is_server(work, site, value):
        return
    if _is_tower(work, site, value):
        work.manual(
            site.line,
            "multi-tower",
            "one tower per GPU would repeat the same work on one NPU: set the number of "
            "towers to 1, and start one process per device",
        )
    else:
        work.manual(site.line, "device", _PLACED)


def _is_server(work: Work, site: Site, value: ast.Call) -> bool:
    return work.script.resolve(value.func, site.scope) in _SERVERS


def _is_tower(work: Work, site: Site, value: ast.AST) -> bool:
    """True in a loop over GPUs: they are named in the device, or in what is looped over."""
    if not site.inside(ast.For, ast.While, ast.ListComp, ast.GeneratorExp):
        return False
    parts = [value]
    for node in site.parents:
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
        parts += [loop.iter for loop in loops]
    if any(_is_once(work, site, part) for part in parts[1:]):
        return False
    for part in parts[1:]:
        parts += work.script.values(part, site.scope)
    return any("gpu" in word.lower() for part in parts for word in _words(part))


def _is_once(work: Work, site: Site, loop: ast.AST) -> bool:
    """True for ``range(n)`` where n is 1 by default."""
    is_range = isinstance(loop, ast.Call) and name_of(loop.func) in ("range", "xrange")
    arguments = loop.args if isinstance(loop, ast.Call) and is_range else []
    return len(arguments) == 1 and work.reached.value(arguments[0], site.scope) == 1


def _words(node: ast.AST) -> Iterator[str]:
    """The texts and names in an expression."""
    for part in ast.walk(node):
        yield name_of(part) or literal_text(part) or ""


RULES: Rules = {
    **{"tensorflow.distribute." + name: _strategy for name in _STRATEGIES},
    **{name: of_calls("parameter-server", text, depends=True) for name, text in _SERVERS.items()},
    _SETTER: _replica_device_setter,
    "tensorflow.device": _device,
}


def after(work: Work) -> None:
    """The optimizers of a script with a strategy."""
    if not any(note.id == "strategy" and note.kind == REFUSED for note in work.notes):
        return
    for site in work.script.sites:
        name = work.script.resolved(site) if site.call is not None else None
        if name and name.startswith(_OPTIMIZERS) and name not in _SERVERS:
            last = name.rsplit(".", 1)[1]
            if last.endswith("Optimizer") or name.startswith(_OPTIMIZERS[1]):
                work.manual(
                    site.line, "strategy-optimizer", "npu_distributed_optimizer_wrapper(opt)"
                )
