"""The device of a distributed script: taken where Horovod began, given back at the end."""

import ast
from typing import Iterator, List, Optional

from npu_config.core.message import phrase
from npu_config.migration.horovod_names import Use, is_statement
from npu_config.migration.resolve import last_name
from npu_config.migration.script import Script
from npu_config.migration.sites import Site, text_of
from npu_config.migration.work import Work
from npu_config.script.scopes import Nesting, children, functions, last_line

__all__ = ["take_resources"]


def take_resources(work: Work, inits: List[Use]) -> None:
    """``hvd.init()``: the resources are taken there, and given back at the end."""
    if not inits:
        return
    for use in inits:
        if use.call is None or not is_statement(use):
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
    function = use.site.function
    owner = use.site.parents[use.site.parents.index(function) - 1] if function else None
    if function and owner and not _is_reached(work, _called(owner, function)):
        work.refuse(
            use.line,
            "hvd-init",
            "in a function that this script does not call: whoever calls it must take the "
            "resources",
            True,
        )
        return
    run = _app_run(work)
    in_run = run is not None and function is not None and work.package == "npu_config"
    if run is not None and in_run and _indent(work, run):
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
            phrase(
                "{}.register(lambda: ({}({}, {}), {}({})))",
                _atexit(work, use.line),
                work.name("shutdown_resource"),
                session,
                shutdown,
                work.name("close_session"),
                session,
            ),
        ],
    )
    work.changed(use.line, "hvd-init", "init_resource here, released at exit")


def _called(owner: ast.AST, function: ast.AST) -> str:
    """The name by which a function of a class or module is called: its class for ``__init__``."""
    is_init = getattr(function, "name", "") == "__init__" and isinstance(owner, ast.ClassDef)
    name: str = getattr(owner if is_init else function, "name", "")
    return name


def _atexit(work: Work, line: int) -> str:
    stores = work.script.module.stores.get("atexit", [])
    if stores:
        body = work.script.tree.body
        if all(isinstance(store.node, ast.Import) and store.node in body for store in stores):
            last = max(getattr(store.node, "lineno", 0) for store in stores)
            if last < line and all(store.text == "atexit" for store in stores):
                return "atexit"
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


def _is_reached(work: Work, name: str) -> bool:
    """True for a function that the script runs by itself: from its top, or from one that it runs.

    It is enough that its name is mentioned there.
    """
    script = work.script
    around = Nesting(
        (node.lineno, last_line(node), _called(scope.node, node))
        for scope, node in functions(script.module, script.tree.body)
    )
    pending, seen = [name], {name}
    while pending:
        wanted = pending.pop()
        if wanted == "main" and _app_run(work) is not None:
            return True
        for line in _uses(script, wanted):
            caller = next(around.around(line), None)
            if caller is None:
                return True
            if caller not in seen:
                seen.add(caller)
                pending.append(caller)
    return False


def _uses(script: Script, name: str) -> Iterator[int]:
    """The lines that read a name or a member; the bases of classes are none."""
    lines = script.source.mentions(name)
    pending: List[ast.AST] = [script.tree] if lines else []
    while pending:
        node = pending.pop()
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        if is_read and isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == name:
            yield node.lineno
        bases = getattr(node, "bases", ())
        pending += [part for part in children(node, lines) if part not in bases]


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
    opening = phrase("with {}():", work.name("npu_resources"))
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
