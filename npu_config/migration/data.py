"""Input pipelines: the last batch, prefetching, iterators, queues, variables and tables."""

import ast
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Set

from npu_config.migration import pipelines
from npu_config.migration.script import Site, is_open, text_of
from npu_config.migration.work import CHANGED, Work
from npu_config.script.scopes import functions

__all__ = ["RULES", "after", "in_dataset_function"]

_MAPPING = (
    "map",
    "flat_map",
    "filter",
    "interleave",
    "map_and_batch",
    "parallel_interleave",
    "from_generator",
    "group_by_window",
    "map_with_legacy_function",
)


class _Given(NamedTuple):
    """The functions that Dataset methods are given: lambdas, and names of functions."""

    lambdas: List[ast.Lambda]
    names: Set[str]


def _given(work: Work) -> _Given:
    found: Optional[_Given] = work.script.cache.get("given")
    if found is not None:
        return found
    found = work.script.cache["given"] = _Given([], set())
    for site in work.script.sites_of(_MAPPING):
        call = site.call
        if call is None or not (
            isinstance(site.node, ast.Attribute) or _is_tensorflow(work, site)
        ):
            continue
        for value in [*call.args[:1], *(k.value for k in call.keywords if k.arg)]:
            if isinstance(value, ast.Lambda):
                found.lambdas.append(value)
                found.names.update(
                    _called(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)
                )
            elif isinstance(value, (ast.Name, ast.Attribute)):
                found.names.add(_called(value))
            elif isinstance(value, ast.Call):
                found.names.update(_called(part) for part in value.args[:1])
    found.names.discard("")
    return found


def _is_tensorflow(work: Work, site: Site) -> bool:
    return (work.script.resolved(site) or "").startswith("tensorflow.")


def _called(node: ast.AST) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def in_dataset_function(work: Work, site: Site) -> bool:
    """True inside of a function that a method of Dataset is given."""
    given = _given(work)
    lambdas = {id(node) for node in given.lambdas}
    return any(
        id(node) in lambdas or getattr(node, "name", None) in given.names for node in site.parents
    )


def _prefetch(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None or len(site.parents) < 2:
        return
    device = work.script.argument(call, "device", 0) or work.script.argument(
        call, "target_device", 0
    )
    text = text_of(device)
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
    if name.endswith("copy_to_device"):
        start = work.script.span(outer.func.value)[1]
        work.replace(start, work.script.span(outer)[1], "")
        work.changed(site.line, "prefetch-to-device", "there is no GPU to copy to")
        return
    end = work.script.span(outer.func)[1]
    start = end - len("apply")
    size = work.script.argument(call, "buffer_size", 1)
    if size is None:
        work.replace(start, work.script.span(outer)[1], "prefetch(buffer_size=1)")
    else:
        size_start, size_end = work.script.span(size)
        work.replace(start, size_start, "prefetch(buffer_size=")
        work.replace(size_end, work.script.span(outer)[1], ")")
    work.changed(
        site.line, "prefetch-to-device", "there is no GPU: an ordinary prefetch of the same size"
    )


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
    threads = work.script.argument(call, "num_threads", _THREADS[name]) if call else None
    if threads is None:
        return
    number = getattr(threads, "value", getattr(threads, "n", None))
    if isinstance(number, int) and number != 1:
        work.replace_node(threads, "1")
        work.changed(site.line, "train-batch", "several threads are not supported on the NPU")
    elif number != 1:
        work.manual(site.line, "train-batch", "num_threads must be 1 on the NPU: not a constant")


def _queue(work: Work, site: Site, name: str) -> None:
    if site.call is not None:
        work.manual(
            site.line,
            "queue-input",
            "iterations_per_loop stays 1 with queues: a Dataset is needed",
        )


_QUEUES = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")

RULES: Dict[str, Callable[[Work, Site, str], None]] = {
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
    _variables(work)
    _tables(work)
    _dynamic_shapes(work)


def _method(work: Work, found: pipelines.Found) -> None:
    call, name = found.call, found.name
    line = pipelines.line_of(work.script, found)
    if name in ("batch", "padded_batch", "map_and_batch"):
        _batch(work, found, line)
    elif name == "shard" and found.is_dataset:
        if not _is_rank(work, found):
            work.manual(
                line,
                "dataset-shard",
                "for several ranks: shard(get_npu_rank_size(), get_npu_rank_id()); what the "
                "arguments mean here cannot be seen",
            )
    elif name in ("shuffle", "shuffle_and_repeat"):
        size = work.script.argument(call, "buffer_size", 0)
        number = getattr(size, "value", getattr(size, "n", None))
        if isinstance(number, int) and number > 10000 and found.is_dataset:
            work.manual(
                line,
                "shuffle-buffer",
                "a large buffer takes minutes to fill, and the device may time out: smaller, or "
                "enable_data_pre_proc off",
            )


_REMAINDER = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}


def _batch(work: Work, found: pipelines.Found, line: int) -> None:
    call, name = found.call, found.name
    if not (found.is_dataset or name in ("padded_batch", "map_and_batch")):
        return
    if is_open(call):
        work.refuse(line, "drop-remainder", "* or ** arguments: left as it is")
        return
    given = work.script.argument(call, "drop_remainder", _REMAINDER[name])
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


def _is_rank(work: Work, found: pipelines.Found) -> bool:
    """True when the arguments of shard are Horovod's size and rank, which are replaced."""
    names = [
        work.script.resolver.resolve(value.func, found.frames)
        for value in [*found.call.args, *(k.value for k in found.call.keywords)]
        if isinstance(value, ast.Call)
    ]
    return sorted(filter(None, names)) == ["horovod.rank", "horovod.size"]


# Variables, tables and shapes

_TABLES = (
    "HashTable",
    "StaticHashTable",
    "MutableHashTable",
    "MutableDenseHashTable",
    "DenseHashTable",
    "StaticVocabularyTable",
    "IdTableWithHashBuckets",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
)


def _holder(site: Site) -> str:
    """The variable that the value of a call is bound to."""
    parent = site.parents[-2] if len(site.parents) > 1 else None
    if isinstance(parent, ast.Assign) and parent.value is site.parents[-1]:
        return _called(parent.targets[0])
    return ""


def _variables(work: Work) -> None:
    """Variables that are arguments of Dataset methods, or are used in their functions."""
    sites = [
        site
        for site in work.script.sites_of(["Variable", "get_variable"])
        if site.call is not None
        and work.script.resolved(site) in ("tensorflow.Variable", "tensorflow.get_variable")
    ]
    if not sites or work.script.words.isdisjoint(("Dataset", "data")):
        return
    values = [
        value
        for found in pipelines.calls(work.script)
        if found.is_dataset
        for value in [*found.call.args, *(keyword.value for keyword in found.call.keywords)]
    ]
    ids = {id(value) for value in values}
    names = {_called(value) for value in values} | _names_read(work)
    for site in sites:
        if id(site.call) in ids or _holder(site) in names - {""}:
            work.manual(
                site.line,
                "variable-in-preprocessing",
                "a variable in the input pipeline: write a constant",
            )


def _names_read(work: Work) -> Set[str]:
    """The names that the functions read which Dataset methods are given."""
    given = _given(work)
    nodes: List[ast.AST] = list(given.lambdas)
    if given.names:
        found = functions(work.script.module, work.script.tree.body)
        nodes += [node for _, node in found if node.name in given.names]
    return {
        _called(part)
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load)
    }


def _tables(work: Work) -> None:
    if work.script.words.isdisjoint(_TABLES):
        return
    read = _names_read(work) - {""}
    for site in work.script.sites_of(_TABLES):
        if site.call is None:
            continue
        name = work.script.resolved(site)
        if name is None or not name.startswith("tensorflow."):
            continue
        if in_dataset_function(work, site) or _holder(site) in read:
            work.manual(
                site.line,
                "table-in-preprocessing",
                "a table in the input pipeline: mix_compile_mode=True, and iterations_per_loop 1",
            )


def _dynamic_shapes(work: Work) -> None:
    """Placeholders of unknown size, where control flow of the old form makes them matter."""
    if not any(note.id == "control-flow-v1" and note.kind != CHANGED for note in work.notes):
        return
    for site in work.script.sites_of(["placeholder"]):
        call = site.call
        if call is None or work.script.resolved(site) != "tensorflow.placeholder":
            continue
        shape = work.script.argument(call, "shape", 1)
        elements = getattr(shape, "elts", None)
        if elements is not None and any(getattr(e, "value", 0) is None for e in elements):
            work.manual(site.line, "dynamic-shape", "a dimension is not known")
