"""What a script gives the parameters of its own functions, and the items of its lists and dicts.

Known is what every place in the script agrees on: a function whose name is used for more than
calls, or that the script does not call itself, may be given anything.
"""

import ast
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    UNCLEAR,
    Scope,
    called_name,
    dotted_parts,
    in_brackets,
    is_open,
    literal,
    name_of,
)
from npu_config.script.script import Script


class Value(NamedTuple):
    """An expression and the scope that it is evaluated in."""

    scope: Scope
    node: ast.expr


class Passing:
    """Finds what is given to parameters.

    Args:
        script: the script.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._calls: Dict[int, Optional[List[Site]]] = {}
        self._items: Dict[Tuple[int, str], Dict[Any, List[Value]]] = {}

    def given(self, function: Scope, name: str) -> List[Optional[Value]]:
        """Every expression that a parameter is given; one None where that is not known."""
        node = function.node
        calls = self.calls_of(function)
        if not calls:
            return [None]
        assert isinstance(node, FUNCTIONS)
        return [self._argument(function, node, site, name) for site in calls]

    def calls_of(self, function: Scope) -> Optional[List[Site]]:
        """Every call of a function; None where something else may call it."""
        key = id(function.node)
        if key not in self._calls:
            self._calls[key] = None  # for functions that call themselves
            self._calls[key] = self._find_calls(function)
        return self._calls[key]

    def _find_calls(self, function: Scope) -> Optional[List[Site]]:
        node, outer = function.node, function.parent
        if not isinstance(node, FUNCTIONS) or outer is None:
            return None
        if any(name_of(each) != "staticmethod" for each in node.decorator_list):
            return None
        name = called_name(outer, node)
        if name != node.name and outer.is_class and len(outer.stores.get(node.name, ())) != 1:
            return None
        if sum(called_name(*each) == name for each in self._script.functions) != 1:
            return None
        found: List[Site] = []
        lines = self._script.source.mentions(name)
        for site in sites(self._script.module, lines, (ast.Name, ast.Attribute)):
            if name_of(site.node) != name or self._is_of_module(site.node):
                continue
            if isinstance(site.node, ast.Attribute) and not outer.is_class:
                continue  # a method that has the same name
            parent = site.parents[-1]
            if not isinstance(parent, ast.Call):
                return None
            is_partial = name_of(parent.func) == "partial" and parent.args[:1] == [site.node]
            if parent.func is not site.node and not is_partial:
                return None
            if any(isinstance(each, FUNCTIONS) and each is node for each in site.parents):
                return None
            found.append(Site(parent, site.scope, site.parents[:-1]))
        at_once = self._script.is_program or any(site.function is None for site in found)
        return found if at_once else None

    def _is_of_module(self, node: ast.AST) -> bool:
        """True for a name of another module: ``tf.train`` is no function of the script."""
        parts = dotted_parts(node) or [""]
        stores = self._script.module.stores.get(parts[0], ())
        return len(parts) > 1 and any(store.kind == "import" for store in stores)

    def _argument(self, function: Scope, node: Any, site: Site, name: str) -> Optional[Value]:
        """What one call gives; for ``*names`` the tuple of the rest."""
        call = site.node
        assert isinstance(call, ast.Call)
        if is_open(call):
            return None
        keyword = next((each for each in call.keywords if each.arg == name), None)
        if keyword is not None:
            return Value(site.scope, keyword.value)
        is_partial = name_of(call.func) == "partial"
        values = call.args[1:] if is_partial else call.args
        names = [each.arg for each in node.args.args]
        names = names[self._is_bound(function, node, call) :]
        if node.args.vararg is not None and node.args.vararg.arg == name:
            rest = ast.Tuple(elts=values[len(names) :], ctx=ast.Load())
            return None if is_partial else Value(site.scope, ast.copy_location(rest, call))
        if name in names and names.index(name) < len(values):
            return Value(site.scope, values[names.index(name)])
        default = None if is_partial else _default(node, name)
        return (
            None if default is None or function.parent is None else Value(function.parent, default)
        )

    @staticmethod
    def _is_bound(function: Scope, node: Any, call: ast.Call) -> bool:
        is_method = function.parent is not None and function.parent.is_class
        return is_method and not node.decorator_list

    def item(
        self, where: Scope, name: str, node: ast.Subscript, made: ast.expr
    ) -> Optional[Value]:
        """What an item of a list or a dict certainly is, that a name of a scope is bound to.

        Args:
            where: the scope that binds the name.
            name: of the list or dict.
            node: the item as it is written.
            made: what the name is bound to.
        """
        key = literal(in_brackets(node))
        if key is UNCLEAR or not isinstance(key, (str, int)):
            return None
        found = [Value(where, each) for each in _written(made, key)]
        found += self._assigned(where, name).get(key, [])
        return found[0] if len(found) == 1 else None

    def _assigned(self, where: Scope, name: str) -> Dict[Any, List[Value]]:
        """What is assigned to the items of a name."""
        if (id(where), name) not in self._items:
            items: Dict[Any, List[Value]] = {}
            lines = self._script.source.mentions(name)
            for site in sites(self._script.module, lines, (ast.Assign,)):
                for target in site.node.targets:  # type: ignore[attr-defined]
                    if isinstance(target, ast.Subscript) and name_of(target.value) == name:
                        key = literal(in_brackets(target))
                        value = Value(site.scope, site.node.value)  # type: ignore[attr-defined]
                        items.setdefault(key if isinstance(key, (str, int)) else None, []).append(
                            value
                        )
            self._items[(id(where), name)] = items
        return self._items[(id(where), name)]


def _default(node: Any, name: str) -> Optional[ast.expr]:
    names = [each.arg for each in node.args.args]
    given: Sequence[ast.expr] = node.args.defaults
    first = len(names) - len(given)
    found = names.index(name) - first if name in names else -1
    return given[found] if found >= 0 else None


def _written(made: ast.expr, key: Any) -> List[ast.expr]:
    """The item of a list, tuple or dict that is written out."""
    if isinstance(made, ast.Dict):
        return [v for k, v in zip(made.keys, made.values) if literal(k) == key]
    if isinstance(made, ast.Call) and name_of(made.func) == "dict" and not made.args:
        return [each.value for each in made.keywords if each.arg == key]
    if isinstance(made, (ast.List, ast.Tuple)) and isinstance(key, int):
        return [made.elts[key]] if -len(made.elts) <= key < len(made.elts) else []
    return []
