"""What of a script runs when it is started as it is: flags by their defaults, functions by calls.

A construct that has no counterpart on the NPU keeps from being edited what depends on it.  Under
a condition that is false nothing does; in a function that nothing here runs, that function does;
elsewhere the whole program.
"""

import ast
import enum
import operator
import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from npu_config.migration.resolve import Resolver
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    UNCLEAR,
    Scope,
    argument,
    is_main,
    keyword_of,
    literal,
    literal_text,
    name_of,
)

__all__ = ["Reach", "Reached", "is_caught"]


class Reach(enum.IntEnum):
    """Whether a place is reached, from the least to the most."""

    OFF = 0
    """Under a condition that is false by default."""
    MAYBE = 1
    """Under a condition that is not known here."""
    FUNCTION = 2
    """In a function that nothing in this script runs."""
    PROGRAM = 3
    """When the script is run."""


_LEAVING = (ast.Return, ast.Continue, ast.Break)
_BY_CLASS = ("__init__", "__new__", "__call__", "__enter__", "call", "build", "forward")
_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: operator.contains(right, left),
    ast.NotIn: lambda left, right: not operator.contains(right, left),
}


class Reached:
    """What of one script runs, and the values that expressions have by default."""

    def __init__(self, script: Resolver) -> None:
        self.script = script
        self._flags: Optional[Mapping[str, Any]] = None
        self._made: Optional[Dict[int, Site]] = None
        self._left: Dict[int, int] = {}
        self._places: Dict[int, Dict[int, int]] = {}
        self._runs: Dict[Tuple[int, str], Optional[Reach]] = {}

    def of(self, site: Site) -> Reach:
        """Whether a place is reached."""
        own = self._condition(site)
        function = site.function
        if own < Reach.FUNCTION or function is None:
            return own
        owner = site.parents[site.parents.index(function) - 1]
        return self._function(owner, function)

    def _function(self, owner: ast.AST, function: ast.AST) -> Reach:
        """Whether a function is run: by its name, a method that nothing names by its class."""
        name: str = getattr(function, "name", "")
        if not isinstance(owner, ast.ClassDef):
            return self._named(function, name)
        if name in _BY_CLASS or next(self._mentions(function, name), None) is None:
            return self._named(owner, owner.name)
        return self._named(function, name)

    def _named(self, node: ast.AST, name: str) -> Reach:
        key = (id(node), name)
        if key not in self._runs:
            self._runs[key] = None  # a function that calls itself is run by others
            self._runs[key] = self._best(node, name)
        return self._runs[key] or Reach.OFF

    def _best(self, node: ast.AST, name: str) -> Reach:
        if name == "main" and self.script.calls_of("tensorflow.app.run"):
            return Reach.PROGRAM
        found = [self._mention(site) for site in self._mentions(node, name)]
        return max(found) if found else Reach.FUNCTION

    def _mentions(self, node: ast.AST, name: str) -> Iterator[Site]:
        """The places outside of a function or class that read its name."""
        lines = self.script.source.mentions(name)
        for site in sites(self.script.module, lines, (ast.Name, ast.Attribute)):
            is_read = isinstance(getattr(site.node, "ctx", None), ast.Load)
            if is_read and name_of(site.node) == name and node not in site.parents:
                yield site

    def _mention(self, site: Site) -> Reach:
        """Whether a function is run where its name stands; in a table it may be."""
        inside = (ast.Dict, ast.List, ast.Tuple, ast.Set)
        reach = self.of(site)
        return min(reach, Reach.MAYBE) if isinstance(site.parents[-1], inside) else reach

    # Conditions

    def _condition(self, site: Site) -> Reach:
        """What the conditions around a place say, within its function."""
        found = Reach.PROGRAM
        inner: ast.AST = site.node
        for node in reversed(site.parents):
            if isinstance(node, (ast.If, ast.IfExp)) and inner is not node.test:
                is_body = inner is node.body or self._place(node, "body", inner) is not None
                if not is_main(node.test) and not _is_of_mode(node.test):
                    truth = self.truth(node.test, site.scope)
                    is_choice = truth is None or _is_of_task(node.test)
                    off = Reach.MAYBE if is_choice else Reach.OFF
                    found = min(found, Reach.PROGRAM if truth is is_body else off)
            elif isinstance(node, ast.ExceptHandler):
                found = min(found, Reach.MAYBE)
            if isinstance(inner, ast.stmt) and self._is_left_before(node, inner, site.scope):
                found = Reach.OFF
            if isinstance(node, FUNCTIONS):
                break
            inner = node
        return found

    def _is_left_before(self, node: ast.AST, inner: ast.stmt, scope: Scope) -> bool:
        """True when a statement of the same body leaves it by default."""
        for field in ("body", "orelse"):
            place = self._place(node, field, inner)
            if place is not None:
                body = getattr(node, field)
                if id(body) not in self._left:
                    self._left[id(body)] = next(self._leaving(body, scope), len(body))
                return self._left[id(body)] < place
        return False

    def _place(self, node: ast.AST, field: str, inner: ast.AST) -> Optional[int]:
        """Which statement of a body one is, None for one of another body."""
        body = getattr(node, field, None)
        if not isinstance(body, list):
            return None
        places = self._places.get(id(body))
        if places is None:
            places = {id(one): number for number, one in enumerate(body)}
            self._places[id(body)] = places
        return places.get(id(inner))

    def _leaving(self, body: List[ast.stmt], scope: Scope) -> Iterator[int]:
        """Which statements of a body leave it by default."""
        for number, one in enumerate(body):
            is_left = isinstance(one, ast.If) and _leaves(one.body) and not is_main(one.test)
            if is_left and self.truth(one.test, scope) is True:  # type: ignore[attr-defined]
                yield number

    def truth(self, node: ast.expr, scope: Scope) -> Optional[bool]:
        """Whether a condition holds by default; None where that is not known."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, scope)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(part, scope) for part in node.values]
            ends = isinstance(node.op, ast.Or)
            if ends in parts:
                return ends
            return None if None in parts else not ends
        value = self.value(node, scope)
        return None if value is UNCLEAR else bool(value)

    def value(self, node: Optional[ast.AST], scope: Scope) -> Any:
        """What an expression is by default; UNCLEAR where that is not known."""
        found = literal(node)
        if found is not UNCLEAR or node is None:
            return found
        if isinstance(node, ast.Attribute):
            return self.flags.get(node.attr, UNCLEAR)
        if isinstance(node, ast.Name):
            stores = self.script.bindings(node.id, scope)
            if len(stores) == 1 and stores[0].kind == "value" and stores[0].node is not node:
                inner = stores[0].node
                is_plain = literal(inner) is not UNCLEAR or isinstance(inner, ast.Attribute)
                if is_plain and node.id not in self.script.global_names:
                    return self.value(inner, scope)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node, scope)
        elif isinstance(node, ast.Call):
            return self._called(node)
        return UNCLEAR

    def is_given(self, node: ast.expr, scope: Scope) -> bool:
        """False for a value that is None by default, or is made under a condition only."""
        if self._made is None:
            self._made = {id(site.call): site for site in self.script.sites if site.call}
        values: List[ast.AST] = list(self.script.values(node, scope)) or [node]
        while values:
            value = values.pop()
            if isinstance(value, ast.IfExp):
                truth = self.truth(value.test, scope)
                if truth is not None:
                    values.append(value.body if truth else value.orelse)
                continue
            site = self._made.get(id(value))
            is_made = site is None or self.of(site) > Reach.MAYBE
            if is_made and self.value(value, scope) is not None:
                return True
        return False

    def _compared(self, node: ast.Compare, scope: Scope) -> Any:
        compare = _COMPARED[type(node.ops[0])]
        if name_of(node.comparators[0]) == "environ":
            return isinstance(node.ops[0], ast.NotIn)
        left = self.value(node.left, scope)
        right = self.value(node.comparators[0], scope)
        if left is UNCLEAR or right is UNCLEAR:
            return UNCLEAR
        try:
            return compare(left, right)
        except TypeError:
            return UNCLEAR

    def _called(self, node: ast.Call) -> Any:
        """An environment variable, which is not set by default."""
        function = node.func
        owner = name_of(getattr(function, "value", node))
        if name_of(function) == "getenv" or (name_of(function) == "get" and owner == "environ"):
            default = argument(node, "default", 1)
            return None if default is None else literal(default)
        return UNCLEAR

    @property
    def flags(self) -> Mapping[str, Any]:
        """The flags of the script with their defaults; UNCLEAR for what has several."""
        if self._flags is None:
            self._flags = _defaults(self.script.tree)
        return self._flags


_MODES = frozenset(("ModeKeys", "TRAIN", "is_training", "training", "is_train", "mode"))


def _is_of_mode(test: ast.expr) -> bool:
    """True for a test for training or evaluation, of which a program has both."""
    return any(name_of(part) in _MODES for part in ast.walk(test))


_TASK = re.compile(
    r"(?:(?:do|is|run|only|just)_?)?(?:train|eval|evaluate|test|predict|infer|decode|sample|demo|export"
    r"|restore|resume)(?:ing|ion|uation|ence)?(?:_only|_mode)?|task|phase|action|command|cmd|job",
    re.I,
)


def _is_of_task(test: ast.expr) -> bool:
    """True for a test for what a program is to do this time: not done by default is not off."""
    return any(_TASK.fullmatch(name_of(part)) for part in ast.walk(test))


def _leaves(body: List[ast.stmt]) -> bool:
    return _fails(body) or isinstance(body[-1], _LEAVING)


def _fails(body: List[ast.stmt]) -> bool:
    """True for a block that raises or ends the process."""
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return name_of(last.value.func) in ("exit", "_exit", "quit")
    return isinstance(last, ast.Raise)


def is_caught(site: Site) -> bool:
    """True for what a script tries, and without which it runs on."""
    inner = site.node
    for node in reversed(site.parents):
        handlers = node.handlers if isinstance(node, ast.Try) and inner in node.body else ()
        if any(not _fails(handler.body) for handler in handlers):
            return True
        inner = node
    return False


def _defaults(tree: ast.AST) -> Mapping[str, Any]:
    found: Dict[str, Any] = {}
    for node in ast.walk(tree):
        for name, value in _flag(node) if isinstance(node, ast.Call) else ():
            if found.setdefault(name, value) != value:
                found[name] = UNCLEAR
    return found


def _flag(call: ast.Call) -> Iterator[Tuple[str, Any]]:
    """The flags that a call defines: of absl and TensorFlow, of argparse, of HParams."""
    last = name_of(call.func)
    if last.startswith("DEFINE_") and call.args:
        default = argument(call, "default", 1)
        yield literal_text(call.args[0]) or "", literal(default)
    elif last == "add_argument":
        options = [literal_text(one) or "" for one in call.args]
        long = next(
            (one for one in options if one.startswith("--")), options[0] if options else ""
        )
        keyword = keyword_of(call, "dest")
        name = literal_text(keyword.value) if keyword else long.lstrip("-").replace("-", "_")
        action, given = keyword_of(call, "action"), keyword_of(call, "default")
        switch = {"store_true": False, "store_false": True}
        if given is not None:
            yield name or "", literal(given.value)
        elif long.startswith("-"):
            kind = literal_text(action.value) if action else None
            yield name or "", switch.get(kind or "")
    elif last == "HParams":
        for each in call.keywords:
            if each.arg:
                yield each.arg, literal(each.value)
