"""Horovod: all of it in a file, or nothing.

Every use of a name of Horovod is looked at first.  When one has no counterpart on the NPU, or is
not understood, the file stays as it is.
"""

import ast
import re
from typing import Dict, List, Optional, Tuple

from npu_config.core.message import join, phrase
from npu_config.migration.horovod_calls import CALLS
from npu_config.migration.horovod_names import (
    CONSTANTS,
    RANKS,
    REFUSALS,
    Use,
    choice_of_rank,
    id_of,
    imports_horovod,
    is_hvd,
    is_optional,
    replace_name,
)
from npu_config.migration.names import canonical
from npu_config.migration.neighbours import REEXPORTED
from npu_config.migration.resolve import Binding, dotted_parts, last_name
from npu_config.migration.resources import take_resources
from npu_config.migration.sites import Site, is_open
from npu_config.migration.work import Work

__all__ = ["horovod"]


def horovod(work: Work) -> None:
    """Replace Horovod in a script, or say why not."""
    script = work.script
    imports = [site for site in script.imports if imports_horovod(site.node)]
    if not imports:
        _report_borrowed(work)
        return
    optional = [site for site in imports if is_optional(site)]
    uses, strange = _uses(work, bool(optional))
    if optional:
        _report_optional(work, optional, uses)
        return
    is_ours = all(canonical(name).startswith("horovod") for name in _imported(imports))
    if any(name.startswith(("horovod.torch", "horovod.mxnet")) for name in _imported(imports)):
        return
    assert is_ours
    refused_before = work.blocked
    if work.keeper:
        for site in imports:
            text = "{} keeps Horovod, and both are one program: all of it, or nothing"
            work.refuse(site.line, "hvd-import", phrase(text, work.keeper), blocks=True)
    for site in imports:
        if isinstance(site.parents[-1], ast.ClassDef):
            text = "imported into a class: import it at the top"
            work.refuse(site.line, "hvd-import", text, blocks=True)
        if any(alias.name == "*" for alias in site.node.names):  # type: ignore[attr-defined]
            text = "imports everything: import Horovod by its own name"
            work.refuse(site.line, "hvd-import", text, blocks=True)
    for site in strange:
        is_one = script.resolved(site) is not None
        work.refuse(site.line, "hvd-refused", _AS_VALUE if is_one else _NOT_ALWAYS, True)
    inits = [use for use in uses if use.name == "init"]
    take_resources(work, inits)
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
    _gradients(work, uses)
    if any(use.name == "BroadcastGlobalVariablesHook" for use in uses):
        _resuming(work)


_AS_VALUE = "Horovod itself is used as a value: not understood"
_NOT_ALWAYS = "this name stands for Horovod, and for something else: not understood"


def _imported(imports: List[Site]) -> List[str]:
    names: List[str] = []
    for site in imports:
        node = site.node
        if isinstance(node, ast.Import):
            names += [a.name for a in node.names if a.name.split(".")[0] == "horovod"]
        elif isinstance(node, ast.ImportFrom):
            names += ["{}.{}".format(node.module, alias.name) for alias in node.names]
    return names


def _uses(work: Work, is_optional: bool = False) -> Tuple[List[Use], List[Site]]:
    """Every use of Horovod, and every mention of it that is not understood.

    ``is_optional``: a name that something else stands in for counts, too.
    """
    script, found, strange = work.script, [], []
    for site in script.sites:
        if not (isinstance(site.node, ast.Name) and isinstance(site.node.ctx, ast.Load)):
            continue
        looked = script.resolver.look_up(site.node, site.frames)
        name = looked.name
        if name is None:
            name = _one_meaning(work, site)
            if name is not None and not is_optional:
                strange.append(site)
                continue
        if name is None or not (name == "horovod" or name.startswith("horovod.")):
            if looked.binding is Binding.PARAMETER and is_hvd(work, site.node.id):
                work.manual(
                    site.line, "import-aliases", phrase('"{}" is a parameter here', site.node.id)
                )
            continue
        node: ast.expr = site.node
        parents = list(site.parents)
        while isinstance(parents[-1], ast.Attribute):
            node = parents.pop()  # type: ignore[assignment]
        rest = dotted_parts(node) or [""]
        whole = script.resolver.resolve(node, site.frames) or ".".join([name, *rest[1:]])
        # an attribute of a result of Horovod is not a name of Horovod
        parts = whole.split(".")[1:]
        if not parts or looked.binding is Binding.VALUE:
            strange.append(site)
            continue
        outer = parents[-1]
        call = outer if isinstance(outer, ast.Call) and outer.func is node else None
        found.append(Use(site, node, ".".join(parts), call))
    return found, strange


def _one_meaning(work: Work, site: Site) -> Optional[str]:
    """The name of Horovod that a name stands for where Horovod can be imported."""
    assert isinstance(site.node, ast.Name)
    bindings = work.script.bindings(site.node.id, site.frames)
    names = [canonical(store.text) for store in bindings if store.kind == "import"]
    return next((name for name in names if name.split(".")[0] == "horovod"), None)


def _report_borrowed(work: Work) -> None:
    """Refuse a script that takes Horovod from another module of the project."""
    if work.script.words.isdisjoint(REEXPORTED):
        return
    uses, strange = _uses(work)
    for line in sorted([use.line for use in uses] + [site.line for site in strange])[:1]:
        text = "Horovod comes from another module of the project: import it here, by its own name"
        work.refuse(line, "hvd-import", text, blocks=True)


def _report_optional(work: Work, imports: List[Site], uses: List[Use]) -> None:
    for site in imports:
        work.refuse(
            site.line,
            "hvd-import",
            "import in try/except: the NPU host has no Horovod, so the script runs on one rank",
        )
    found: Dict[Tuple[int, str], List[str]] = {}
    for use in uses:
        names = found.setdefault((use.line, id_of(use.name)), [])
        names += [RANKS[use.name] + "()"] if use.name in RANKS else []
    for (line, id), names in found.items():
        text = "for several ranks: replace the try block and this line"
        if names:
            text = "for several ranks: replace the try block and this line by {}"
            text = phrase(text, join(" and ", dict.fromkeys(names)))
        work.manual(line, id, text)


def _use(work: Work, use: Use) -> None:
    name = use.name
    if name in RANKS:
        for line in replace_name(work, use, work.name(RANKS[name])):
            work.changed(
                line, "hvd-rank", "the ranks of the NPU, from the environment or the rank table"
            )
    elif name in CALLS and use.call is not None and not is_open(use.call):
        CALLS[name](work, use, use.call)
    elif name.split(".")[0] in CONSTANTS and _is_argument(work, use):
        return
    elif id_of(name) == "hvd-compression":
        work.refuse(use.line, "hvd-compression", REFUSALS["hvd-compression"], True)
    else:
        id = id_of(name)
        text = REFUSALS.get(id, phrase('no counterpart of "{}" on the NPU', name))
        if name in CALLS:
            text = phrase('"{}" is not called with plain arguments: write the call', name)
        work.refuse(use.line, id, text, True)


def _is_argument(work: Work, use: Use) -> bool:
    """True for a constant in an argument of a call of Horovod, which looks at it."""
    names = [
        work.script.resolver.resolve(node.func, use.site.frames) or ""
        for node in use.site.parents
        if isinstance(node, ast.Call)
    ]
    return any(name.startswith("horovod.") and name[len("horovod.") :] in CALLS for name in names)


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
    names = {use.name for use in uses}
    wraps = "DistributedOptimizer" in names
    appliers = [site for site in work.script.sites_of(["apply_gradients"]) if site.call]
    if "allreduce" in names or not any(_is_plain(work, site, wraps) for site in appliers):
        return
    for site in work.script.sites_of(["gradients"]):
        if site.call is not None and work.script.resolved(site) == "tensorflow.gradients":
            work.manual(
                site.line,
                "gradients",
                "nothing reduces them over the ranks: npu_allreduce(...) where they are applied",
            )


_RESUMING = {
    **dict.fromkeys(("MonitoredTrainingSession", "SingularMonitoredSession"), "checkpoint_dir"),
    **dict.fromkeys(("Estimator", "RunConfig"), "model_dir"),
}
"""What resumes from a directory, and the argument that names it."""


def _resuming(work: Work) -> None:
    """Directories of checkpoints that one rank alone has: the others begin anew."""
    for site in work.script.sites_of(_RESUMING):
        call = site.call
        name = work.script.resolved(site) if call is not None else None
        if call is None or not (name or "").startswith(("tensorflow.train.", _ESTIMATOR)):
            continue
        directory = work.script.keyword(call, _RESUMING[last_name(site.node)])
        choice = directory and choice_of_rank(work, site, directory.value)
        if choice:
            work.manual(
                choice.lineno,
                "hvd-broadcast-hook",
                "one rank alone resumes from a checkpoint: NPUBroadcastGlobalVariablesHook does "
                "not send global_step, so that the others count from 0 and stop later; let every "
                "rank restore it, and one save it",
            )


_ESTIMATOR = "tensorflow.estimator."


def _is_plain(work: Work, site: Site, wraps: bool) -> bool:
    """True where an optimizer applies gradients that is not Horovod's.

    ``wraps``: the script has one of Horovod's, so that it must be TensorFlow's for certain.
    """
    assert isinstance(site.node, ast.Attribute)
    owner = site.node.value
    made = [
        work.script.resolver.resolve(value.func, site.frames) or ""
        for value in [owner, *work.script.values(owner, site.frames)]
        if isinstance(value, ast.Call)
    ]
    return not wraps or (bool(made) and all(name.startswith("tensorflow.") for name in made))
