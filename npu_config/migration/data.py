"""Input pipelines: the last batch, prefetching, iterators, shards and queues."""

import ast
from typing import Mapping, Optional

from npu_config.migration import pipelines
from npu_config.migration.table import Rules, of_calls
from npu_config.migration.work import Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import Scope, argument, is_open, literal_text, number_of

__all__ = ["RULES", "after"]


def _prefetch(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None or len(site.parents) < 2:
        return
    device = argument(call, "device", 0) or argument(call, "target_device", 0)
    text = literal_text(device)
    if text is None:
        work.refuse(site.line, "prefetch-to-device", "the device is not a constant")
        return
    if "gpu" not in text.lower():
        return
    outer = site.parents[-2]
    is_applied = (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Attribute)
        and outer.func.attr == "apply"
        and outer.args == [call]
    )
    if not is_applied or is_open(call):
        work.refuse(site.line, "prefetch-to-device", "not the one argument of apply")
        return
    assert isinstance(outer, ast.Call)
    assert isinstance(outer.func, ast.Attribute)
    applied, end = (work.script.span(node)[1] for node in (outer.func, outer))
    line = work.script.position(applied - 1)[0]
    if name.endswith("copy_to_device"):
        work.replace(work.script.span(outer.func.value)[1], end, "")
        work.changed(line, "prefetch-to-device", "there is no GPU to copy to")
        return
    start = applied - len("apply")
    size = argument(call, "buffer_size", 1)
    if size is None:
        work.replace(start, end, "prefetch(buffer_size=1)")
    else:
        size_start, size_end = work.script.span(size)
        kept = "".join(work.comments(start, size_start))
        work.replace(start, size_start, "prefetch(" + kept + "buffer_size=")
        work.replace(size_end, end, ")")
    text = "there is no GPU: an ordinary prefetch of the same size"
    work.changed(line, "prefetch-to-device", text)


def _one_shot(work: Work, site: Site, name: str) -> None:
    if site.call is not None:
        _report_one_shot(work, site)


def _report_one_shot(work: Work, site: Site) -> None:
    if _runs_in_loop(work):
        work.manual(
            site.line,
            "one-shot-iterator",
            "fine as it is; make_initializable_iterator is needed for iterations_per_loop above 1",
        )


def _runs_in_loop(work: Work) -> bool:
    """True when a session is run in a loop, or an Estimator runs one."""
    found: Optional[bool] = work.script.cache.get("loops")
    if found is None:
        estimators = ("Estimator", "TPUEstimator", "should_stop")
        found = not work.script.words.isdisjoint(estimators) or any(
            site.call is not None
            and isinstance(site.node, ast.Attribute)
            and site.inside(ast.For, ast.While)
            for site in work.script.sites_of(["run"])
        )
        work.script.cache["loops"] = found
    return found


_THREADS: Mapping[str, int] = {
    "tensorflow.train.batch": 2,
    "tensorflow.train.shuffle_batch": 4,
    "tensorflow.train.maybe_batch": 3,
    "tensorflow.train.maybe_shuffle_batch": 5,
}


def _queue_batch(work: Work, site: Site, name: str) -> None:
    call = site.call
    threads = argument(call, "num_threads", _THREADS[name]) if call else None
    if threads is None:
        return
    number = number_of(threads)
    if number is not None and number != 1:
        work.replace_node(threads, "1")
        work.changed(site.line, "train-batch", "several threads are not supported on the NPU")
    elif number != 1:
        work.manual(site.line, "train-batch", "num_threads must be 1 on the NPU: not a constant")


_queue = of_calls("queue-input", "iterations_per_loop stays 1 with queues: a Dataset is needed")
_QUEUES = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")

RULES: Rules = {
    "tensorflow.data.experimental.prefetch_to_device": _prefetch,
    "tensorflow.data.experimental.copy_to_device": _prefetch,
    "tensorflow.data.make_one_shot_iterator": _one_shot,
    **dict.fromkeys(_THREADS, _queue_batch),
    **{"tensorflow." + name: _queue for name in _QUEUES},
    "tensorflow.train.start_queue_runners": _queue,
}


def after(work: Work) -> None:
    """Methods of Datasets, and what flows into them."""
    words = work.script.words
    wanted = (
        "batch",
        "padded_batch",
        "map_and_batch",
        "shard",
        "shuffle",
        "make_one_shot_iterator",
    )
    if not words.isdisjoint(wanted) and (
        "Dataset" in words or "data" in words or "_data" in words
    ):
        for found in pipelines.calls(work.script):
            _method(work, found)
    for site in work.script.sites_of(["make_one_shot_iterator"]):
        if site.call is not None and isinstance(site.node, ast.Attribute):
            name = work.script.resolved(site)
            if name is None or not name.startswith("tensorflow."):
                _report_one_shot(work, site)


def _method(work: Work, found: pipelines.DatasetCall) -> None:
    call, name = found.call, found.name
    if name in ("batch", "padded_batch", "map_and_batch"):
        _batch(work, found)
    elif name == "shard" and found.is_dataset:
        if not _is_rank(work, found):
            work.manual(
                pipelines.line_of(work.script, found),
                "dataset-shard",
                "for several ranks: shard(get_npu_rank_size(), get_npu_rank_id()); what the "
                "arguments mean here cannot be seen",
            )
    elif name in ("shuffle", "shuffle_and_repeat"):
        size = argument(call, "buffer_size", 0)
        number = _number(work, size, found.scope)
        if number is not None and number > 10000 and found.is_dataset:
            work.manual(
                pipelines.line_of(work.script, found),
                "shuffle-buffer",
                "a large buffer takes minutes to fill, and the device may time out: smaller, or "
                "enable_data_pre_proc off",
            )


def _number(work: Work, node: Optional[ast.AST], scope: Scope) -> Optional[float]:
    """The number that an expression of literals and constants of the script stands for."""
    if isinstance(node, ast.Name):
        values = work.script.values(node, scope)
        return number_of(values[0]) if len(values) == 1 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = (_number(work, side, scope) for side in (node.left, node.right))
        return None if left is None or right is None else left * right
    return number_of(node)


_REMAINDER = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}


def _batch(work: Work, found: pipelines.DatasetCall) -> None:
    call, name = found.call, found.name
    if not (found.is_dataset or name in ("padded_batch", "map_and_batch")):
        return
    line = pipelines.line_of(work.script, found)
    if is_open(call):
        work.refuse(line, "drop-remainder", "* or ** arguments: left as it is")
        return
    given = argument(call, "drop_remainder", _REMAINDER[name])
    if given is not None:
        if getattr(given, "value", None) is not True:
            work.refuse(line, "drop-remainder", "decided already: left as it is")
        return
    if found.endless:
        work.append(call, "drop_remainder=True")
        work.changed(
            line,
            "drop-remainder",
            "an endless repeat() comes before it on every path: no batch is short, and the shape "
            "becomes static",
        )
    else:
        work.refuse(
            line,
            "drop-remainder",
            "not certainly endless: dropping the last batch could change results; on the NPU a "
            "batch of another shape compiles again",
        )


def _is_rank(work: Work, found: pipelines.DatasetCall) -> bool:
    """True when the arguments of shard are Horovod's size and rank, which are replaced."""
    names = [
        work.script.resolve(value.func, found.scope)
        for value in [*found.call.args, *(k.value for k in found.call.keywords)]
        if isinstance(value, ast.Call)
    ]
    return sorted(filter(None, names)) == ["horovod.rank", "horovod.size"]
