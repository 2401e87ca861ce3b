"""The names of Horovod: their facts, their uses in a script, and how they are replaced."""

import ast
import re
from typing import List, Mapping, Optional

from npu_config.core.message import phrase
from npu_config.migration.names import canonical
from npu_config.migration.work import Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import dotted_parts, imported

__all__ = [
    "CONSTANTS",
    "RANKS",
    "REDUCTIONS",
    "REFUSALS",
    "Use",
    "choice_of_rank",
    "has_ranks",
    "id_of",
    "imports_horovod",
    "is_hvd",
    "is_optional",
    "is_statement",
    "of_keras",
    "replace_name",
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


class Use:
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
    "hvd-compression": "no compression of gradients on the NPU",
    "hvd-alltoall": "hccl_ops.all_to_all_v takes counts and displacements",
    "hvd-mpi": "there is no MPI on the NPU",
    "hvd-callback": "this callback has no counterpart on the NPU",
    "hvd-op": "only DistributedOptimizer and allreduce take it",
}


def is_hvd(work: Work, name: str) -> bool:
    """True for a name that the module binds to Horovod."""
    stores = work.script.module.stores.get(name, [])
    return any(canonical(store.text).startswith("horovod") for store in stores)


def of_keras(work: Work, use: Use) -> bool:
    """True for a use of Horovod's interface for Keras."""
    name, *attributes = dotted_parts(use.node) or [""]
    bindings = work.script.bindings(name, use.site.scope)
    return "keras" in attributes or any(
        "keras" in binding.text.split(".") for binding in bindings if binding.kind == "import"
    )


def replace_name(work: Work, use: Use, text: str) -> List[int]:
    """Replace a name; the lines on which it was, which Python does not say for f-strings."""
    for node in use.site.parents:
        if isinstance(node, ast.JoinedStr):
            return _replace_in_text(work, node, use, text)
    work.replace_node(use.node, text)
    return [use.line]


def _replace_in_text(work: Work, text_node: ast.JoinedStr, use: Use, text: str) -> List[int]:
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
    tests = [work.script.constructed(node, site.scope) for node in ast.walk(choice.test)]
    return choice if any((test or "").startswith("horovod.") for test in tests) else None


def has_ranks(work: Work) -> bool:
    """True for a script that is one of several ranks, and not only where Horovod happens to be."""
    found: Optional[bool] = work.script.cache.get("ranks")
    if found is None:
        imports = [site for site in work.script.imports if imports_horovod(site.node)]
        found = bool(imports) and not any(is_optional(site) for site in imports)
        work.script.cache["ranks"] = found
    return found


def imports_horovod(node: ast.AST) -> bool:
    """True for an import statement that imports Horovod."""
    return any(name.split(".")[0] == "horovod" for name in imported(node))


def is_optional(site: Site) -> bool:
    """True for an import whose failure the script catches."""
    inner = site.node
    for node in reversed(site.parents):
        if isinstance(node, ast.Try) and inner in node.body and node.handlers:
            return True
        inner = node
    return False


def is_statement(use: Use) -> bool:
    """True for a call that is a statement of its own."""
    statement = use.site.statement
    return isinstance(statement, ast.Expr) and statement.value is use.call
