"""tf.distribute, parameter servers, towers and shards: reported, since they are a design."""

import ast
from typing import Iterator

from npu_config.migration.work import REFUSED, Rules, Work, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import literal_text, name_of

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
_SERVERS = {
    "tensorflow.train.ClusterSpec": "between-graph replication with sessions is not supported; "
    "only NPUEstimator with ParameterServerStrategy and TF_CONFIG is",
    "tensorflow.train.Server": "there are no parameter servers for sessions on the NPU",
    "tensorflow.train.replica_device_setter": "there are no parameter servers to place variables "
    "on",
    "tensorflow.train.SyncReplicasOptimizer": "the NPU reduces gradients by "
    "npu_distributed_optimizer_wrapper",
}
_OPTIMIZERS = ("tensorflow.train.", "tensorflow.keras.optimizers.", "tensorflow.contrib.opt.")


_strategy = of_calls(
    "strategy",
    "replicas in one process have no counterpart: one process per device; or "
    "npu_strategy.NPUStrategy() with the optimizer wrapped, variables broadcast and data sharded",
    REFUSED,
    blocks=True,
)


def _device(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None or len(call.args) + len(call.keywords) != 1:
        return
    value = call.args[0] if call.args else call.keywords[0].value
    text = literal_text(value)
    if text is not None:
        if "gpu" in text.lower():
            work.manual(
                site.line,
                "device",
                "left as it is: soft placement puts it where the NPU's graph is",
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
            "one tower per GPU would do the same work several times on one NPU: set the number to "
            "1, and start one process per device",
        )
    else:
        work.manual(site.line, "device", "left as it is: soft placement is on")


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
    for part in parts[1:]:
        parts += work.script.values(part, site.scope)
    return any("gpu" in word.lower() for part in parts for word in _words(part))


def _words(node: ast.AST) -> Iterator[str]:
    """The texts and names in an expression."""
    for part in ast.walk(node):
        yield name_of(part) or literal_text(part) or ""


RULES: Rules = {
    **{"tensorflow.distribute." + name: _strategy for name in _STRATEGIES},
    **{
        name: of_calls("parameter-server", text, REFUSED, blocks=True)
        for name, text in _SERVERS.items()
    },
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
