"""The end of a session: what holds it, and whether anything closes it."""

import ast
import re
from typing import Dict, List, Optional, Sequence

from npu_config.core.message import phrase
from npu_config.migration.resolve import last_name, parameters
from npu_config.migration.sites import Site
from npu_config.migration.work import Work
from npu_config.script.scopes import FUNCTIONS, functions, last_line

__all__ = ["check_close"]


def check_close(work: Work, site: Site, always: bool) -> None:
    """Say where the end of a session matters: outside of a with statement.

    ``always``: where nothing holds the session, too, and where something closes it.
    """
    holder = _holder(site)
    closing = ("closing", "enter_context", "set_session")
    if isinstance(holder, (ast.withitem, ast.Return)) or (
        isinstance(holder, ast.Call) and last_name(holder.func) in closing
    ):
        return
    line = site.line
    targets = _targets(site, holder)
    if not targets:
        is_dropped = isinstance(holder, (ast.Attribute, ast.Expr))
        if always and is_dropped and getattr(holder, "attr", "") != "close":
            text = "the session is never closed: use with, or close it"
            work.manual(line, "session-close", text)
        return
    names = [last_name(target) for target in targets]
    if "" in names:
        return
    target, name = targets[0], names[0]
    closes = any(
        _is_closed(work, site, last_name(one), isinstance(one, ast.Attribute))
        for one in [*targets, *_aliases(site, names)]
    )
    if closes and not always:
        return
    if isinstance(target, ast.Attribute):
        said = (
            "the session is a member: the script must call close() (it does)"
            if closes
            else "the session is a member: the script must call close()"
        )
        work.manual(line, "session-close", said)
    elif any(_is_entered(work, name) for name in names):
        return
    elif not closes:
        work.manual(line, "session-close", phrase('nothing closes it: add "{}.close()"', name))
    elif _runs_app(work) and site.function is not None:
        work.manual(
            line,
            "session-close",
            "app.run ends in SystemExit: a session that is not closed before main returns is "
            "never closed",
        )
    elif site.call is not None and _is_configured_graph(work, site.call):
        work.manual(
            line,
            "session-close",
            phrase('a session without "with": "{}.close()" is there, keep it', name),
        )


def _aliases(site: Site, names: Sequence[str]) -> List[ast.expr]:
    """The variables that names of the same scope are assigned to."""
    scope = site.frames[-1].scope
    return [
        ast.Name(name, ast.Store())
        for name, stores in (scope.stores.items() if scope is not None else ())
        if any(isinstance(one.node, ast.Name) and one.node.id in names for one in stores)
    ]


def _is_configured_graph(work: Work, call: ast.Call) -> bool:
    """True for a session of a graph that is given, with a configuration that has a name."""
    config = work.script.argument(call, "config", 2)
    return isinstance(config, ast.Name) and work.script.argument(call, "graph", 1) is not None


def _holder(site: Site) -> Optional[ast.AST]:
    """What takes a session, choices between several values passed over."""
    inside = (ast.IfExp, ast.BoolOp, ast.Starred)
    return next((node for node in site.parents[-2::-1] if not isinstance(node, inside)), None)


def _targets(site: Site, holder: Optional[ast.AST]) -> List[ast.expr]:
    """What a session is bound to by an assignment, one of several values included."""
    outer = holder
    if isinstance(holder, ast.Tuple):
        outer = site.parents[site.parents.index(holder) - 1]
    if isinstance(outer, ast.AnnAssign):
        return [outer.target]
    if not isinstance(outer, ast.Assign):
        return []
    if isinstance(holder, ast.Tuple):
        return [
            next(
                (part for part, value in zip(target.elts, holder.elts) if value is site.call),
                target,
            )
            if isinstance(target, ast.Tuple)
            else target
            for target in outer.targets
        ]
    return outer.targets


_GAP = r"(?:[ \t\f\\{}]|\r?\n|#[^\r\n]*[\r\n])*"
_BEFORE, _BEHIND = _GAP.format("("), _GAP.format(")")
_CLOSED = re.compile(r"\b(?P<name>\w+){}\.{}(?P<word>close)\b".format(_BEHIND, _GAP.format("")))
_LEFT = re.compile(_CLOSED.pattern.replace("close", "__exit__"))
_ENTERED = re.compile(r"\b(?P<word>with)\b{}(?P<name>\w+){}(?::|as\b)".format(_BEFORE, _BEHIND))
_NEAR = 4
"""How many lines a name can stand away from the word that it belongs to."""


def _names_around(work: Work, word: str, pattern: "re.Pattern[str]") -> Dict[str, List[int]]:
    """The names that a pattern finds with a word, with the lines of the word, found once."""
    script = work.script
    found: Optional[Dict[str, List[int]]] = script.cache.get(word)
    if found is None:
        found = script.cache[word] = {}
        for line in script.source.mentions(word):
            first, last = script.line_start(max(1, line - _NEAR)), script.line_end(line + _NEAR)
            for match in pattern.finditer(script.text, first, last):
                if script.position(match.start("word"))[0] == line:
                    found.setdefault(match.group("name"), []).append(line)
    return found


def _is_closed(work: Work, site: Site, name: str, is_member: bool) -> bool:
    """True when something closes a session in the function, or class, that makes it."""
    closing = _names_around(work, "close", _CLOSED)
    leaving = _names_around(work, "__exit__", _LEFT)
    lines = [*closing.get(name, ()), *leaving.get(name, ())]
    if not lines:
        return False
    kinds = (ast.ClassDef,) if is_member else FUNCTIONS
    owner = next((node for node in reversed(site.parents) if isinstance(node, kinds)), None)
    if name in work.script.resolver.globals:
        return True
    if owner is not None:
        last = last_line(owner)
        return any(owner.lineno <= line <= last for line in lines)
    script = work.script
    binding = [
        (node.lineno, last_line(node))
        for scope, node in functions(script.module, script.tree.body)
        if name in scope.child(node).stores or name in parameters(node.args)
    ]
    return any(not any(first <= line <= last for first, last in binding) for line in lines)


def _is_entered(work: Work, name: str) -> bool:
    """True when a variable is entered by a with statement, which closes it at the end."""
    return name in _names_around(work, "with", _ENTERED)


def _runs_app(work: Work) -> bool:
    found: Optional[bool] = work.script.cache.get("app")
    if found is None:
        found = work.script.cache["app"] = any(
            work.script.resolved(site) == "tensorflow.app.run"
            for site in work.script.sites_of(["run"])
        )
    return found
