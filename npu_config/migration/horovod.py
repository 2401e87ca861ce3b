"""Horovod: all of it in a file, or nothing.

Every use of a name of Horovod is looked at first.  When one has no counterpart on the NPU, or is
not understood, the file stays as it is.
"""

import ast
import re
from typing import Callable, Dict, List, Mapping, Optional, Set, Tuple

from npu_config.migration.names import canonical
from npu_config.migration.resolve import Binding, dotted_parts
from npu_config.migration.script import Site, is_main_guard, is_open, text_of
from npu_config.migration.work import Work
from npu_config.script.scopes import FUNCTIONS, functions

__all__ = ["horovod"]

_RANKS: Mapping[str, str] = {
    "rank": "get_npu_rank_id",
    "size": "get_npu_rank_size",
    "local_rank": "get_npu_local_rank_id",
    "local_size": "get_npu_local_rank_size",
}
_CONSTANTS = ("Average", "Sum", "Min", "Max", "Adasum", "Product", "Compression")
_REDUCTIONS: Mapping[str, Optional[str]] = {
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


def horovod(work: Work) -> None:
    """Replace Horovod in a script, or say why not."""
    script = work.script
    imports = [site for site in script.imports if _imports_horovod(site.node)]
    if not imports:
        return
    uses, strange = _uses(work)
    optional = [site for site in imports if _is_optional(site)]
    if optional:
        _report_optional(work, optional, uses)
        return
    is_ours = all(canonical(name).startswith("horovod") for name in _imported(imports))
    if any(name.startswith(("horovod.torch", "horovod.mxnet")) for name in _imported(imports)):
        return
    assert is_ours
    for site in strange:
        work.refuse(
            site.line, "hvd-refused", "Horovod itself is used as a value: not understood", True
        )
    refused_before = work.blocked
    inits = [use for use in uses if use.name == "init"]
    _inits(work, inits)
    for use in uses:
        if use.name != "init":
            _use(work, use)
    for site in imports:
        if work.blocked and not refused_before:
            work.refuse(
                site.line,
                "hvd-import",
                "stays: uses are left that have no counterpart; nothing of Horovod in this file "
                "is changed",
                blocks=True,
            )
        else:
            _remove_import(work, site)
            work.changed(site.line, "hvd-import", "Horovod is not used on the NPU")
    work.is_distributed = not work.blocked
    _gradients(work, uses)


def _imports_horovod(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "horovod" for alias in node.names)
    if isinstance(node, ast.ImportFrom) and not node.level:
        return (node.module or "").split(".")[0] == "horovod"
    return False


def _imported(imports: List[Site]) -> List[str]:
    names: List[str] = []
    for site in imports:
        node = site.node
        if isinstance(node, ast.Import):
            names += [a.name for a in node.names if a.name.split(".")[0] == "horovod"]
        elif isinstance(node, ast.ImportFrom):
            names += ["{}.{}".format(node.module, alias.name) for alias in node.names]
    return names


def _is_optional(site: Site) -> bool:
    """True for an import whose failure the script catches."""
    inner = site.node
    for node in reversed(site.parents):
        if isinstance(node, ast.Try) and inner in node.body and node.handlers:
            return True
        inner = node
    return False


def _uses(work: Work) -> Tuple[List[Use], List[Site]]:
    """Every use of Horovod, and every mention of it that is not understood."""
    script, found, strange = work.script, [], []
    for site in script.sites:
        if not isinstance(site.node, ast.Name):
            continue
        looked = script.resolver.look_up(site.node, site.frames)
        name = looked.name
        if name is None or not (name == "horovod" or name.startswith("horovod.")):
            if looked.binding is Binding.PARAMETER and _is_hvd(work, site.node.id):
                work.manual(
                    site.line, "import-aliases", '"{}" is a parameter here'.format(site.node.id)
                )
            continue
        node: ast.expr = site.node
        parents = list(site.parents)
        while isinstance(parents[-1], ast.Attribute):
            node = parents.pop()  # type: ignore[assignment]
        whole = script.resolver.resolve(node, site.frames) or name
        # an attribute of a result of Horovod is not a name of Horovod
        parts = whole.split(".")[1:]
        if not parts or looked.binding is Binding.VALUE:
            strange.append(site)
            continue
        outer = parents[-1]
        call = outer if isinstance(outer, ast.Call) and outer.func is node else None
        found.append(Use(site, node, ".".join(parts), call))
    return found, strange


def _is_hvd(work: Work, name: str) -> bool:
    stores = work.script.module.stores.get(name, [])
    return any(canonical(store.text).startswith("horovod") for store in stores)


def _report_optional(work: Work, imports: List[Site], uses: List[Use]) -> None:
    for site in imports:
        work.refuse(
            site.line,
            "hvd-import",
            "import in try/except: Horovod is not there on the NPU host, so the script runs on one "
            "rank",
        )
    for use in uses:
        counterpart = _RANKS.get(use.name)
        text = "for several ranks: replace the try block and this line"
        if counterpart:
            text += " by {}()".format(counterpart)
        work.manual(use.line, _id_of(use.name), text)


def _id_of(name: str) -> str:
    if name in _RANKS:
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


def _use(work: Work, use: Use) -> None:
    name = use.name
    if name in _RANKS:
        _replace_name(work, use, work.name(_RANKS[name]))
        work.changed(use.line, "hvd-rank")
    elif name in _CALLS and use.call is not None and not is_open(use.call):
        _CALLS[name](work, use, use.call)
    elif name.split(".")[0] in _CONSTANTS and _is_argument(use):
        return
    elif _id_of(name) == "hvd-compression":
        work.refuse(use.line, "hvd-compression", _REFUSALS["hvd-compression"], True)
    else:
        id = _id_of(name)
        text = _REFUSALS.get(id, 'no counterpart of "{}" on the NPU'.format(name))
        work.refuse(use.line, id, text, True)


_REFUSALS = {
    "hvd-compression": "no compression of gradients on the NPU",
    "hvd-alltoall": "hccl_ops.all_to_all_v takes counts and displacements",
    "hvd-mpi": "there is no MPI on the NPU",
    "hvd-callback": "this callback has no counterpart on the NPU",
    "hvd-op": "only DistributedOptimizer and allreduce take it",
}


def _is_argument(use: Use) -> bool:
    """True for a constant that is the value of a keyword or an argument of a call of Horovod."""
    return any(isinstance(node, ast.Call) for node in use.site.parents)


def _replace_name(work: Work, use: Use, text: str) -> None:
    """Replace a name, in an f-string too, where Python does not say exactly where it stands."""
    for node in use.site.parents:
        if isinstance(node, ast.JoinedStr):
            _replace_in_text(work, node, use, text)
            return
    work.replace_node(use.node, text)


def _replace_in_text(work: Work, text_node: ast.JoinedStr, use: Use, text: str) -> None:
    script = work.script
    start, end = script.span(text_node)
    parts = dotted_parts(use.node)
    assert parts is not None
    pattern = re.compile(r"(?<![\w.])" + r"\s*\.\s*".join(map(re.escape, parts)) + r"(?!\w)")
    for match in pattern.finditer(script.text, start, end):
        change = (match.start(), match.end(), text)
        if change not in work.changes:
            work.replace(*change)


# Resources


def _inits(work: Work, inits: List[Use]) -> None:
    """``hvd.init()``: the resources are taken there, and given back at the end."""
    if not inits:
        return
    for use in inits:
        if use.call is None or not _is_statement(use):
            work.refuse(use.line, "hvd-init", "used as a value", True)
            return
        if use.call.args or use.call.keywords:
            work.refuse(use.line, "hvd-init", "ranks are not chosen by init on the NPU", True)
            return
    if len(inits) > 1:
        for use in inits:
            work.refuse(use.line, "hvd-init", "called in more than one place", True)
        return
    (use,) = inits
    reached = _reached(work)
    function = use.site.function
    if function is not None and getattr(function, "name", "") not in reached:
        work.refuse(
            use.line,
            "hvd-init",
            "in a function that this script does not call: whoever calls it must take the "
            "resources",
            True,
        )
        return
    run = _app_run(work)
    if run is not None and function is not None and work.package == "npu_config":
        if _indent(work, run):
            work.remove_statement(use.site)
            work.changed(use.line, "hvd-init", "npu_resources around app.run takes the device")
            work.changed(
                run.line, "app-run", "npu_resources gives the device back, whatever ends the run"
            )
            return
    session, shutdown = work.free("npu_sess"), work.free("npu_shutdown")
    work.replace_statement(
        use.site,
        [
            "{}, {} = {}()".format(session, shutdown, work.name("init_resource")),
            "{}.register(lambda: ({}({}, {}), {}({})))".format(
                _atexit(work),
                work.name("shutdown_resource"),
                session,
                shutdown,
                work.name("close_session"),
                session,
            ),
        ],
    )
    work.changed(use.line, "hvd-init", "init_resource here, released at exit")


def _is_statement(use: Use) -> bool:
    statement = use.site.statement
    return isinstance(statement, ast.Expr) and statement.value is use.call


def _atexit(work: Work) -> str:
    stores = work.script.module.stores.get("atexit", [])
    if stores:
        if all(store.kind == "import" and store.text == "atexit" for store in stores):
            work.modules.append("atexit")
            return "atexit"
        alias = work.free("atexit_1")
        work.modules.append("atexit as " + alias)
        return alias
    work.modules.append("atexit")
    return "atexit"


def _app_run(work: Work) -> Optional[Site]:
    """The one call of app.run, as a statement."""
    found = [
        site
        for site in work.script.sites_of(["run"])
        if site.call is not None and work.script.resolved(site) == "tensorflow.app.run"
    ]
    if len(found) != 1:
        return None
    statement = found[0].statement
    is_plain = isinstance(statement, ast.Expr) and statement.value is found[0].call
    return found[0] if is_plain else None


def _reached(work: Work) -> Set[str]:
    """The names of functions that the script runs by itself: from its top, and from those."""
    script = work.script
    bodies: Dict[str, List[ast.AST]] = {}
    inside: Set[int] = set()
    for _, node in functions(script.module, script.tree.body):
        bodies.setdefault(node.name, []).append(node)
        inside.update(id(part) for part in ast.walk(node) if part is not node)
    pending: List[ast.AST] = [node for node in ast.walk(script.tree) if id(node) not in inside]
    reached: Set[str] = set()
    while pending:
        node = pending.pop()
        name = ""
        if isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.Attribute):
            name = node.attr
        if isinstance(node, ast.Attribute) and node.attr == "run" and _app_run(work) is not None:
            name = "main"
            if "main" in bodies and name not in reached:
                reached.add(name)
                pending += [part for body in bodies[name] for part in ast.walk(body)]
            continue
        if name in bodies and name not in reached:
            reached.add(name)
            pending += [part for body in bodies[name] for part in ast.walk(body)]
    return reached


def _indent(work: Work, run: Site) -> bool:
    """Put ``with npu_resources():`` around a statement; False where that is not safe."""
    script, statement = work.script, run.statement
    start, end = work.statement_span(statement)
    first, last = script.position(start)[0], script.position(end - 1)[0]
    before = script.text[script.line_start(first) : start]
    after = script.text[end : script.line_end(last)].strip()
    if after and not after.startswith("#"):
        return False
    if last > first and any(_is_long_text(node, script) for node in ast.walk(statement)):
        return False
    opening = "with {}():".format(work.name("npu_resources"))
    if before.strip():
        owner = run.parents[run.parents.index(statement) - 1]
        if not (isinstance(owner, ast.If) and owner.body == [statement]) or last > first:
            return False
        indent = script.indent(first)
        step = "\t" if indent.startswith("\t") else "    "
        line = script.newline + indent + step
        gap = len(before) - len(before.rstrip())
        work.replace(start - gap, start, line + opening + line + step)
        return True
    step = "\t" if before.startswith("\t") else "    "
    work.insert(start, opening + script.newline + before + step)
    for line_number in range(first + 1, last + 1):
        if script.source.lines[line_number - 1].strip():
            work.insert(script.line_start(line_number), step)
    return True


def _is_long_text(node: ast.AST, script: object) -> bool:
    text = text_of(node)
    return isinstance(node, ast.JoinedStr) or (text is not None and "\n" in text)


# Calls


def _arguments(
    work: Work, use: Use, call: ast.Call, names: Tuple[str, ...]
) -> Optional[Dict[str, ast.expr]]:
    """The arguments of a call by name, None (refused) when there are others."""
    found: Dict[str, ast.expr] = dict(zip(names, call.args))
    if len(call.args) > len(names):
        work.refuse(use.line, _id_of(use.name), "has arguments that are not known", True)
        return None
    for keyword in call.keywords:
        if keyword.arg not in names:
            work.refuse(
                use.line,
                _id_of(use.name),
                'the argument "{}" has no counterpart on the NPU'.format(keyword.arg),
                True,
            )
            return None
        found[keyword.arg] = keyword.value
    if names[0] not in found:
        work.refuse(use.line, _id_of(use.name), "its first argument is missing", True)
        return None
    return found


def _constant_of(work: Work, use: Use, value: ast.expr) -> Optional[str]:
    """The name of a constant of Horovod."""
    found = work.script.resolver.resolve(value, use.site.frames)
    return found[len("horovod.") :] if found and found.startswith("horovod.") else None


def _is_plain_compression(work: Work, use: Use, value: ast.expr) -> bool:
    return _constant_of(work, use, value) == "Compression.none"


def _take_first(work: Work, call: ast.Call, first: ast.expr) -> None:
    """Keep the first argument alone; its name goes, where it has one."""
    keyword = next((keyword for keyword in call.keywords if keyword.value is first), None)
    if keyword is not None:
        start, value, end = work.value_span(call, keyword)
        work.replace(work.open_of(call), value, "")
        stop = work.last_argument_end(call)
        if stop is not None and stop > end:
            work.replace(end, stop, "")
        return
    work.drop_arguments(call, first)


def _optimizer(work: Work, use: Use, call: ast.Call) -> None:
    names = (
        "optimizer",
        "name",
        "use_locking",
        "device_dense",
        "device_sparse",
        "compression",
        "sparse_as_dense",
        "backward_passes_per_step",
        "op",
        "gradient_predivide_factor",
        "average_aggregated_gradients",
        "num_groups",
        "groups",
    )
    given = _arguments(work, use, call, names)
    if given is None:
        return
    before = work.blocked
    refused = False
    compression = given.get("compression")
    if compression is not None and not _is_plain_compression(work, use, compression):
        work.refuse(compression.lineno, "hvd-compression", _REFUSALS["hvd-compression"], True)
        refused = True
    passes = given.get("backward_passes_per_step")
    if passes is not None and _number(passes) != 1:
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
            work.refuse(given[name].lineno, "hvd-refused", name + " has no counterpart", True)
            refused = True
    dropped = [
        name for name in ("sparse_as_dense", "device_dense", "device_sparse") if name in given
    ]
    del before
    note = "dropped without loss: " + ", ".join(dropped) if dropped else "it averages, too"
    if not refused:
        _take_first(work, call, given["optimizer"])
        _replace_name(work, use, work.name("npu_distributed_optimizer_wrapper"))
    work.changed(use.line, "hvd-optimizer", note)


def _hook(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("root_rank", "device"))
    if given is None:
        return
    _take_first(work, call, given["root_rank"])
    _replace_name(work, use, work.name("NPUBroadcastGlobalVariablesHook"))
    work.changed(
        use.line,
        "hvd-broadcast-hook",
        "sends the trainable variables; Horovod sends moving averages and slots, too",
    )


def _callback(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("root_rank", "device", "local_variables"))
    if given is None:
        return
    if "local_variables" in given:
        work.refuse(use.line, "hvd-callback", "local variables are not sent on the NPU", True)
        return
    _take_first(work, call, given["root_rank"])
    _replace_name(work, use, work.name("NPUBroadcastGlobalVariablesCallback"))
    work.changed(use.line, "hvd-callback")


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
    head = "{0}.group(*[{0}.assign({1}, {2}.broadcast([{1}], ".format(
        tf, one, work.name("hccl_ops")
    )
    start, end = script.span(call)[0], script.span(call)[1]
    root_start, root_end = script.span(root)
    if variables:
        whose = script.text[slice(*script.span(given["variables"]))]
        if "horovod" in whose or any(
            use.site.frames and isinstance(node, ast.Name) and _is_hvd(work, node.id)
            for node in ast.walk(given["variables"])
        ):
            work.refuse(use.line, "hvd-broadcast", "too entangled to be edited", True)
            return
    else:
        whose = "{}.global_variables()".format(tf)
    work.replace(start, root_start, head)
    work.replace(root_end, end, ")[0]) for {} in {}])".format(one, whose))
    work.changed(use.line, "hvd-broadcast", "hccl_ops.broadcast takes and gives lists")
    _check_types(work, use)


def _check_types(work: Work, use: Use) -> None:
    work.manual(
        use.line,
        "hvd-broadcast",
        "check the types of the variables: float16, float32 and integers of the product only",
    )


def _is_frozen(work: Work, use: Use) -> bool:
    """True, and refused, inside of a session that has finalized its graph."""
    for node in use.site.parents:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if isinstance(item.context_expr, ast.Call):
                    function = item.context_expr.func
                    name = getattr(function, "attr", None) or getattr(function, "id", "")
                    if name in (
                        "MonitoredTrainingSession",
                        "MonitoredSession",
                        "SingularMonitoredSession",
                        "managed_session",
                    ):
                        work.refuse(
                            use.line, "hvd-broadcast", "the graph is finalized there", True
                        )
                        return True
    return False


def _broadcast(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("tensor", "root_rank", "name"))
    if given is None or _is_frozen(work, use):
        return
    if "root_rank" not in given or call.keywords and given["tensor"] not in call.args:
        work.refuse(use.line, "hvd-broadcast", "write its arguments by position", True)
        return
    work.wrap(given["tensor"], "[", "]")
    if "name" in given:
        end = work.last_argument_end(call)
        stop = work.script.span(given["root_rank"])[1]
        if end is not None and stop < end and given["root_rank"].lineno == given["name"].lineno:
            work.replace(stop, end, "")
    _replace_name(work, use, work.name("hccl_ops") + ".broadcast")
    work.insert(work.script.span(call)[1], "[0]")
    work.changed(use.line, "hvd-broadcast", "hccl_ops.broadcast takes and gives lists")


def _allreduce(work: Work, use: Use, call: ast.Call) -> None:
    names = (
        "tensor",
        "average",
        "device_dense",
        "device_sparse",
        "compression",
        "op",
        "prescale_factor",
        "postscale_factor",
        "name",
    )
    given = _arguments(work, use, call, names)
    if given is None:
        return
    for name in ("prescale_factor", "postscale_factor"):
        if name in given:
            work.refuse(given[name].lineno, "hvd-allreduce", name + " has no counterpart", True)
            return
    compression = given.get("compression")
    if compression is not None and not _is_plain_compression(work, use, compression):
        work.refuse(compression.lineno, "hvd-compression", _REFUSALS["hvd-compression"], True)
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
        if constant not in _REDUCTIONS:
            work.refuse(op.lineno, "hvd-op", "this reduction has no counterpart", True)
            return
        reduction = _REDUCTIONS[constant]
    _take_first(work, call, given["tensor"])
    if reduction is not None:
        end = work.last_argument_end(call)
        first = given["tensor"]
        keyword = next((k for k in call.keywords if k.value is first), None)
        at = work.value_span(call, keyword)[2] if keyword is not None else None
        where = at if at is not None else _end_of_first(work, call, first)
        work.insert(where, ', reduction="{}"'.format(reduction))
        del end
    _replace_name(work, use, work.name("npu_allreduce"))
    work.changed(
        use.line,
        "hvd-allreduce",
        reduction or "average is Horovod's default, and that of npu_allreduce",
    )


def _end_of_first(work: Work, call: ast.Call, first: ast.expr) -> int:
    start, end = work.script.span(first)
    brackets = work.script.text[work.open_of(call) : start].count("(")
    return work._closed(end, brackets)


def _allgather(work: Work, use: Use, call: ast.Call) -> None:
    given = _arguments(work, use, call, ("tensor", "name"))
    if given is None:
        return
    _take_first(work, call, given["tensor"])
    work.insert(
        _end_of_first(work, call, given["tensor"])
        if given["tensor"] in call.args
        else work.last_argument_end(call) or work.close_of(call),
        ", rank_size={}()".format(work.name("get_npu_rank_size")),
    )
    _replace_name(work, use, work.name("hccl_ops") + ".allgather")
    work.changed(
        use.line,
        "hvd-allgather",
        "first dimensions must be equal on all ranks, which Horovod does not ask for",
    )


def _shutdown(work: Work, use: Use, call: ast.Call) -> None:
    if not _is_statement(use):
        work.refuse(use.line, "hvd-refused", "shutdown is used as a value", True)
        return
    work.remove_statement(use.site)
    work.changed(use.line, "hvd-shutdown", "released at the end by npu_resources or atexit")


_CALLS: Dict[str, Callable[[Work, Use, ast.Call], None]] = {
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


def _number(node: ast.AST) -> object:
    return getattr(node, "value", getattr(node, "n", None))


def _tensorflow(work: Work, site: Site) -> Optional[str]:
    """How TensorFlow is called where a site stands."""
    script = work.script
    for name in ("tf", *script.module.stores):
        if name in script.words and script.resolver.name(name, site.frames).name == "tensorflow":
            return name
    return work.name("tf") if "tf" not in script.words else None


def _remove_import(work: Work, site: Site) -> None:
    """Remove Horovod from an import statement, or the whole statement."""
    node = site.node
    if isinstance(node, ast.ImportFrom) or (
        isinstance(node, ast.Import)
        and all(alias.name.split(".")[0] == "horovod" for alias in node.names)
    ):
        work.remove_statement(site)
        return
    assert isinstance(node, ast.Import)
    start, end = work.statement_span(node)
    text = work.script.text[start:end]
    one = r"horovod(?:\s*\.\s*\w+)*(?:\s+as\s+\w+)?"
    pattern = re.compile(r"\s*,\s*{0}(?=\s*(?:,|$))|(?<=\s){0}\s*,\s*".format(one))
    for match in pattern.finditer(text):
        work.replace(start + match.start(), start + match.end(), "")


def _gradients(work: Work, uses: List[Use]) -> None:
    """Gradients that a distributed script takes by itself, without a wrapped optimizer."""
    if any(use.name == "DistributedOptimizer" for use in uses):
        return
    for site in work.script.sites_of(["gradients"]):
        if site.call is not None and work.script.resolved(site) == "tensorflow.gradients":
            work.manual(
                site.line,
                "gradients",
                "nothing reduces them over the ranks: npu_allreduce(...) where they are applied",
            )
