"""What the names of a script stand for, as the text shows it: nothing is run here.

Names are resolved through imports, scopes, single bindings, attributes of ``self`` and functions
of the script. What is not certain has no meaning: every answer is None or False then.
"""

import ast
import contextlib
import re
from typing import Any, Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.python_flow.module import LEAVES, Site, sites
from npu_config.python_flow.scopes import (
    COMPREHENSIONS,
    CONSTANTS,
    DEFINITIONS,
    FUNCTIONS,
    Scope,
    Store,
    dotted_parts,
    last_line,
    literal,
    name_of,
    parts_of,
)
from npu_config.script.functions import (
    DATASET_METHODS,
    DATASETS,
    MAKE_DATASETS,
    OF_VARIABLES,
    PASSING,
    VARIABLES,
    function_arguments,
    makes_operator,
)
from npu_config.script.neighbours import constants_in, file_of_module
from npu_config.script.passing import Passing, Value
from npu_config.script.script import Script

_DEEP = 12
"""How many bindings are followed, one behind the other."""

_STARS_BRING = {"tf": "tensorflow", "np": "numpy", "os": "os"}
"""What a name is that nothing binds but an import of everything."""

_LAST = re.compile(r"[ \t]{2,80}\(|[ \t]{0,80}(?:#|\\?$)")
"""What is behind the name of a function whose bracket does not follow at once."""

Functions = (*FUNCTIONS, ast.Lambda)
_SCOPED = (*DEFINITIONS, ast.Lambda, *COMPREHENSIONS)


class Function(NamedTuple):
    """A function of the script, and the scope of its body."""

    scope: Scope
    node: Any

    @property
    def returned(self) -> List[ast.expr]:
        """What it returns."""
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        return list(_returned(self.node.body))


def _returned(body: Sequence[ast.AST]) -> Iterator[ast.expr]:
    for statement in body:
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield statement.value
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for field in ("body", "orelse", "handlers", "finalbody"):
                part = getattr(statement, field, None)
                if isinstance(part, list):
                    yield from _returned(part)


_PLAIN_MODULES = ("script_ops", "array_ops", "math_ops", "control_flow_ops", "variables")
"""Modules of TensorFlow whose functions are those of ``tf`` itself."""


_DETOURS = (
    ("tensorflow.compat.v1", "tensorflow"),
    ("tensorflow.compat.v2", "tensorflow"),
    ("tensorflow.python.keras", "tensorflow.keras"),
    ("tensorflow.python.data", "tensorflow.data"),
    ("tensorflow.python.ops.rnn_cell", "tensorflow.nn.rnn_cell"),
    ("tensorflow.contrib.rnn", "tensorflow.nn.rnn_cell"),
    ("tensorflow.contrib.data", "tensorflow.data.experimental"),
    ("tensorflow.python.ops.image_ops", "tensorflow.image"),
    ("tensorflow.python.ops.nn_ops", "tensorflow.nn"),
    ("tensorflow.python.ops.rnn", "tensorflow.nn"),
    *(("tensorflow.python.ops." + each, "tensorflow") for each in _PLAIN_MODULES),
)
_ON_DETOUR = ("tensorflow.compat.", "tensorflow.python.", "tensorflow.contrib.")


def _canonical(name: str) -> str:
    """A dotted name without the detours of TensorFlow's modules."""
    if name.startswith(_ON_DETOUR):
        for old, new in _DETOURS:
            if name == old or name.startswith(old + "."):
                name = new + name[len(old) :]
    if name.startswith("keras."):
        name = "tensorflow." + name
    return name


class Meaning:
    """The names of a script.

    Args:
        script: the script.

    Attributes:
        others, elsewhere: those of files that it imports, and the calls that may lead there.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._calls: Dict[str, List[Site]] = {}
        self._names: Dict[ast.AST, Optional[str]] = {}
        self._kept: Dict[str, Any] = {}
        self._passing = Passing(script)
        self.others: Dict[str, Optional[Meaning]] = {}
        self.elsewhere: Optional[List[Site]] = None

    # calls

    def calls(self, *names: str) -> Iterator[Site]:
        """The calls of functions that are called so, in order of the text."""
        missing = {name for name in names if name not in self._calls}
        if missing:
            self._calls.update((name, []) for name in missing)
            own = {new: old for new, old in self._aliases().items() if old in missing}
            lines = {line for word in (*missing, *own) for line in self._called_on(word)}
            for site in sites(self.script.module, sorted(lines), (ast.Call,)) if lines else ():
                name = name_of(site.node.func)  # type: ignore[attr-defined]
                name = own.get(name, name)
                if name in missing:
                    self._calls[name].append(site)
        found = [site for name in names for site in self._calls[name]]
        return iter(sorted(found, key=lambda s: (s.line, s.node.col_offset)))  # type: ignore[attr-defined]

    def _called_on(self, word: str) -> Iterator[int]:
        """The lines that call a function with a name."""
        source = self.script.source
        tight, loose = word + "(", word + " ("
        for number in source.mentions(word):
            line = source.lines[number - 1]
            if tight in line or loose in line or _LAST.match(line.rpartition(word)[2]) is not None:
                yield number

    def _aliases(self) -> Dict[str, str]:
        """The functions that the script imports under names of its own, by these."""
        found: Optional[Dict[str, str]] = self._kept.get("aliases")
        if found is None:
            found = self._kept["aliases"] = {
                alias.asname: alias.name
                for node in self.script.import_statements
                for alias in (node.names if isinstance(node, ast.ImportFrom) else ())
                if alias.asname and alias.asname != alias.name
            }
        return found

    # names

    def name(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[str]:
        """The dotted name that an expression certainly stands for, ``tensorflow.nn.dropout``."""
        if node not in self._names:
            self._names[node] = self._name(scope, node, depth)
        return self._names[node]

    def _name(self, scope: Scope, node: ast.AST, depth: int) -> Optional[str]:
        parts = dotted_parts(node)
        if parts is None or depth > _DEEP:
            return None
        where, stores = self.stores(scope, parts[0])
        found: Set[Optional[str]] = set()
        for store in stores:
            if store.kind == "import":
                found.add(_canonical(store.text))
            elif store.kind == "value" and where is not None and dotted_parts(store.node):
                inner = self.name(where, store.node, depth + 1) if store.node is not node else None
                found.add(inner)
            else:
                found.add(None)
        if not stores and where is None:
            root = parts[0]
            if root in _STARS_BRING and self.script.has_star_import:
                found.add(_STARS_BRING[root])
            else:
                found.add(root)
        if len(found) != 1:
            return None
        (root_name,) = found
        return None if root_name is None else _canonical(".".join([root_name, *parts[1:]]))

    def stores(self, scope: Scope, name: str) -> Tuple[Optional[Scope], Sequence[Store]]:
        """The scope that binds a name as it is seen from another one, and how often it does."""
        for each in scope.visible():
            if name in each.parameters:
                return each, (Store("other", each.node),)
            if name in each.global_names:
                continue
            found = each.stores.get(name)
            if found:
                if each.parent is None and name in self.script.global_names:
                    return each, (Store("other", each.node), *found)
                return each, found
        return None, ()

    def tf(self, scope: Scope, node: ast.AST) -> Optional[str]:
        """The name below ``tensorflow.`` of a function or module; None for any other."""
        name = self.name(scope, node)
        return name[len("tensorflow.") :] if name and name.startswith("tensorflow.") else None

    def called(self, site: Site) -> Optional[str]:
        """What a call calls, below ``tensorflow.``."""
        assert isinstance(site.node, ast.Call)
        return self.tf(site.scope, site.node.func)

    def is_npu(self, scope: Scope, function: ast.AST, *names: str) -> bool:
        """True for a function of npu_bridge or hccl with one of these names."""
        dotted = self.name(scope, function)
        if dotted is None or dotted.rpartition(".")[2] not in names:
            return False
        root = dotted.partition(".")[0]
        return root in ("npu_bridge", "hccl", "npu_config", "npu_device", *names) or (
            root.startswith("npu_") or root in ("hccl_ops", "util")
        )

    # values

    def value(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[Value]:
        """The expression whose value a name or an attribute of ``self`` certainly has."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return Value(scope, node) if isinstance(node, ast.expr) else None
        if depth > _DEEP:
            return None
        if isinstance(node, ast.Subscript):
            item = self._item(scope, node)
            return Value(scope, node) if item is None else self.value(*item, depth + 1)
        found = self.values(scope, node)
        if len(found) != 1 or found[0] is None:
            return None
        return self.value(found[0].scope, found[0].node, depth + 1)

    def calls_of(self, function: Any) -> Optional[List[Site]]:
        """Every call of a function, or of the class that it initialises; None: not known."""
        found = next((each for each in self.script.functions if each[1] is function), None)
        return None if found is None else self._passing.calls_of(found[0].child(function))

    def values(self, scope: Scope, node: ast.expr) -> List[Optional[Value]]:
        """Every expression that a name or an attribute of ``self`` is bound to.

        None among them stands for a binding that is no expression.
        """
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id)
            if where is not None and node.id in where.parameters:
                return self._passing.given(where, node.id)
            if where is None or (where.parent is None and stores[0].kind != "value"):
                other = self._of_function(node.id) or self._of_file(scope, node)
                if other is not None:
                    return [other]
            return [
                Value(where, s.node)
                if where is not None
                and s.kind in ("value", "with")
                and isinstance(s.node, ast.expr)
                else None
                for s in stores
            ]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            cls = self._class_of(scope, node.value.id)
            if cls is not None:
                found: List[Optional[Value]] = [
                    None if s.value is None else Value(s.scope, s.value)
                    for s in self.script.attribute_stores(cls).get(node.attr, ())
                ]
                if found:
                    return found
            own = self._of_class(scope, node.value.id, node.attr, cls)
            other = None if own else self._of_file(scope, node)
            return own if other is None else [other]
        return []

    def _of_function(self, name: str) -> Optional[Value]:
        """What one function binds a name of the module to, that has no value before."""
        if name not in self.script.global_names:
            return None
        found: List[Value] = []
        for outer, function in self.script.functions:
            scope = outer.child(function)
            if name in scope.global_names:
                for store in scope.stores.get(name, ()):
                    if store.kind != "value" or not isinstance(store.node, ast.Call):
                        return None
                    found.append(Value(scope, store.node))
        before = (store.node for store in self.script.module.stores.get(name, ()))
        is_unset = all(node.__class__ in CONSTANTS and literal(node) is None for node in before)
        return found[0] if len(found) == 1 and is_unset else None

    def _of_file(self, scope: Scope, node: ast.expr) -> Optional[Value]:
        """The constant of another file of the program that a name is imported from."""
        dotted = self.name(scope, node)
        path, (module, _, name) = self.script.source.path, (dotted or "").rpartition(".")
        if path is None or not module or module.startswith(("tensorflow", "numpy")):
            return None
        file = file_of_module(path, module)
        text = None if file is None else constants_in(file).get(name)
        if text is None:
            return None
        with contextlib.suppress(SyntaxError, ValueError):
            return Value(self.script.module, ast.parse(text, mode="eval").body)
        return None

    def _of_class(
        self, scope: Scope, owner: str, attribute: str, cls: Optional[Scope]
    ) -> List[Optional[Value]]:
        """What the body of a class binds an attribute to, where nothing binds it again.

        A class whose objects others make may have other values in classes made of it.
        """
        if cls is None:
            where, stores = self.stores(scope, owner)
            if where is None or len(stores) != 1 or not isinstance(stores[0].node, ast.ClassDef):
                return []
            cls = where.child(stores[0].node)
        elif not any(self.calls(cls.node.name)):  # type: ignore[union-attr]
            return []
        bound = cls.stores.get(attribute, ())
        if len(bound) != 1 or bound[0].kind != "value" or not isinstance(bound[0].node, ast.expr):
            return []
        source = self.script.source
        again = re.compile(r"(?:^\s*|\.){}\s*(?::[^=]*|[^\w\s=(])?=(?!=)".format(attribute))
        lines = [n for n in source.mentions(attribute) if again.search(source.lines[n - 1])]
        if len(lines) != 1 or source.mentions("setattr"):
            return []
        return [Value(cls, bound[0].node)]

    def _item(self, scope: Scope, node: ast.Subscript) -> Optional[Value]:
        """What an item of a list or dict of the script certainly is."""
        if isinstance(node.value, ast.Name):
            where, stores = self.stores(scope, node.value.id)
            if where is not None and len(stores) == 1 and stores[0].kind == "value":
                made = stores[0].node
                assert isinstance(made, ast.expr)
                return self._passing.item(where, node.value.id, node, made)
        return None

    def _class_of(self, scope: Scope, name: str) -> Optional[Scope]:
        """The class whose object ``self`` is in a method, or a name of an object of it."""
        for each in scope.around():
            if isinstance(each.node, FUNCTIONS):
                first = each.node.args.args[:1]
                if each.parent is not None and each.parent.is_class:
                    return each.parent if first and first[0].arg == name else None
        made = self.value(scope, ast.Name(id=name, ctx=ast.Load()))
        return None if made is None else self.class_made(made)

    def class_made(self, made: Value) -> Optional[Scope]:
        """The class of the script that a call makes an object of."""
        if not isinstance(made.node, ast.Call) or not isinstance(made.node.func, ast.Name):
            return None
        where, stores = self.stores(made.scope, made.node.func.id)
        if where is None or len(stores) != 1 or not isinstance(stores[0].node, ast.ClassDef):
            return None
        return where.child(stores[0].node)

    def result(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[Value]:
        """What :meth:`value` says, through functions of the script that return one thing."""
        found = self.value(scope, node)
        if found is not None and isinstance(found.node, ast.Call) and depth < _DEEP:
            for function in self.functions(found.scope, found.node.func):
                returned = function.returned
                if len(returned) == 1:
                    return self.result(function.scope, returned[0], depth + 3)
        return found

    def constant(self, scope: Scope, node: Optional[ast.AST], depth: int = 0) -> Any:
        """The Python number, text or truth value of an expression; None where it is not known."""
        if node is None or depth > _DEEP:
            return None
        if isinstance(node, ast.BinOp):
            left = self.constant(scope, node.left, depth + 1)
            right = self.constant(scope, node.right, depth + 1)
            return _computed(node.op, left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.constant(scope, node.operand, depth + 1)
            return -inner if isinstance(inner, (int, float)) else None
        if isinstance(node, ast.Call) and name_of(node.func) in ("int", "float", "bool"):
            return self.constant(scope, node.args[0], depth + 1) if len(node.args) == 1 else None
        if isinstance(node, (ast.Name, ast.Attribute)):
            found = self.value(scope, node)
            return None if found is None else self.constant(found.scope, found.node, depth + 1)
        value = literal(node)
        return value if isinstance(value, (bool, int, float, str)) else None

    def parts(
        self,
        scope: Scope,
        node: ast.AST,
        controls: bool = False,
        every: bool = False,
        until: str = "",
    ) -> Iterator[Value]:
        """An expression and all that it is certainly made of, through names and their bindings.

        Args:
            scope: of the expression.
            node: the expression.
            controls: what the operations of calls wait for counts, too.
            every: all bindings of a name count, not that alone which is the only one.
            until: what this function of TensorFlow is given is left out.
        """
        pending: List[Tuple[Scope, ast.AST, int]] = [(scope, node, 0)]
        seen: Set[int] = set()
        while pending and len(seen) < 400:
            scope, node, depth = pending.pop()
            if id(node) in seen or depth > _DEEP:
                continue
            seen.add(id(node))
            if isinstance(node, ast.expr):
                yield Value(scope, node)
            if isinstance(node, ast.Lambda):
                continue
            if isinstance(node, (ast.Name, ast.Attribute)):
                where, stores = (
                    self.stores(scope, node.id) if isinstance(node, ast.Name) else (None, ())
                )
                bound = stores if len(stores) == 1 or every else ()
                bound = [each for each in bound if each.kind in ("value", "item", "with")]
                if where is not None and bound:
                    pending += [(where, each.node, depth + 1) for each in bound]
                elif where is not None and name_of(node) in where.parameters:
                    pending += [(*value, depth + 1) for value in self._from_outside(where, node)]
                if isinstance(node, ast.Attribute):
                    values = self.values(scope, node)
                    if len(values) == 1 and values[0] is not None:
                        pending.append((*values[0], depth + 1))
                    pending.append((scope, node.value, depth))
                continue
            if until and isinstance(node, ast.Call) and self.tf(scope, node.func) == until:
                continue
            pending += [(scope, part, depth) for part in parts_of(node)]
            if controls and isinstance(node, ast.Call):
                pending += [(*value, depth + 1) for value in self.controls(node)]

    def _from_outside(self, where: Scope, node: ast.expr) -> List[Value]:
        """What a parameter is certainly given, or what a comprehension takes it from."""
        if isinstance(where.node, COMPREHENSIONS):
            outer = where.parent or where
            return [Value(outer, each.iter) for each in where.node.generators]
        given = self.values(where, node)
        return [each for each in given if each is not None] if len(given) == 1 else []

    def controls(self, node: ast.expr) -> List[Value]:
        """What the operation that a call makes waits for, as ``with`` blocks around it say."""
        blocks = self._kept.get("controls")
        if blocks is None:
            blocks = self._kept["controls"] = []
            lines = self.script.source.mentions("control_dependencies")
            for site in sites(self.script.module, lines, (ast.With,)):
                given = [
                    Value(site.scope, each)
                    for item in site.node.items  # type: ignore[attr-defined]
                    if isinstance(item.context_expr, ast.Call)
                    and name_of(item.context_expr.func) == "control_dependencies"
                    for each in item.context_expr.args
                ]
                first = site.node.body[0].lineno  # type: ignore[attr-defined]
                blocks.append((first, last_line(site.node), given))
        line = node.lineno
        return [each for first, last, given in blocks if first <= line <= last for each in given]

    # functions

    def functions(self, scope: Scope, node: Optional[ast.AST], depth: int = 0) -> List[Function]:
        """The function that an expression is: lambda, definition, method, callable object."""
        if depth > _DEEP:
            return []
        if isinstance(node, ast.Lambda):
            return [Function(scope.child(node), node)]
        if isinstance(node, ast.Call):
            if name_of(node.func) == "partial" and node.args:
                return self.functions(scope, node.args[0], depth + 1)
            cls = self.class_made(Value(scope, node))
            return [] if cls is None else self.method(cls, "__call__")
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id)
            if where is None or len(stores) != 1:
                return []
            is_parameter = node.id in where.parameters
            if isinstance(stores[0].node, FUNCTIONS) and not is_parameter:
                return [Function(where.child(stores[0].node), stores[0].node)]
            if stores[0].kind == "value":
                return self.functions(where, stores[0].node, depth + 1)
            given = self.value(scope, node)
            if given is None:
                items = self._looped_over(where, node.id)
                return [f for each in items for f in self.functions(*each, depth + 1)]
            return self.functions(*given, depth + 1)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            cls = self._class_of(scope, node.value.id)
            if cls is not None:
                return self.method(cls, node.attr)
        return []

    def _looped_over(self, where: Scope, name: str) -> List[Value]:
        """The items of the written tuple or list that a loop takes a name from."""
        loops = self._kept.get("loops")
        if loops is None:
            loops = self._kept["loops"] = {}
            lines = self.script.source.mentions("for")
            for site in sites(self.script.module, lines, (ast.For,)):
                target: ast.expr = site.node.target  # type: ignore[attr-defined]
                if isinstance(target, ast.Name):
                    items = site.node.iter  # type: ignore[attr-defined]
                    loops.setdefault((site.scope, target.id), []).append(items)
        for items in loops.get((where, name), ()):
            made = self.value(where, items)
            if made is not None and isinstance(made.node, (ast.Tuple, ast.List)):
                return [Value(made.scope, each) for each in made.node.elts]
        return []

    def method(self, cls: Scope, name: str) -> List[Function]:
        """A method of a class, by its name."""
        stores = cls.stores.get(name, ())
        if len(stores) != 1 or not isinstance(stores[0].node, FUNCTIONS):
            return []
        return [Function(cls.child(stores[0].node), stores[0].node)]

    def reached(self, functions: Sequence[Function]) -> List[Function]:
        """Functions, and those of the script that they call, each once."""
        found: Dict[int, Function] = {}
        pending = list(functions)
        while pending and len(found) < 200:
            function = pending.pop()
            if id(function.node) in found:
                continue
            found[id(function.node)] = function
            for part in self.body(function):
                if isinstance(part.node, ast.Call):
                    pending += self.functions(part.scope, part.node.func)
        return list(found.values())

    def body(self, function: Function) -> Iterator[Value]:
        """The nodes of the body of a function."""
        node = function.node
        parts = [node.body] if isinstance(node, ast.Lambda) else node.body
        for part in parts:
            yield from walk(function.scope, part)

    # tensors

    def makes(self, scope: Scope, node: ast.AST, names: FrozenSet[str]) -> Optional[Value]:
        """The call of a function of TensorFlow that an expression certainly is the result of."""
        found = self.result(scope, node)
        if found is None or not isinstance(found.node, ast.Call):
            return None
        name = self.tf(found.scope, found.node.func)
        return found if name in names else None

    def variable(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[Value]:
        """The call that makes the variable that an expression certainly is, or computes with."""
        if depth > _DEEP:
            return None
        if isinstance(node, ast.BinOp):
            found = self.variable(scope, node.left, depth + 1)
            return found or self.variable(scope, node.right, depth + 1)
        if isinstance(node, ast.Call):
            name = self.tf(scope, node.func)
            if name in VARIABLES:
                return Value(scope, node)
            if name in PASSING and node.args:
                return self.variable(scope, node.args[0], depth + 1)
            if isinstance(node.func, ast.Attribute) and node.func.attr in OF_VARIABLES:
                return self.variable(scope, node.func.value, depth + 1)
            return None
        bound = self.value(scope, node)
        if bound is None or bound.node is node:
            return None
        return self.variable(bound.scope, bound.node, depth + 1)

    def is_tensor(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for an expression that TensorFlow certainly computes."""
        if depth > _DEEP:
            return False
        if isinstance(node, ast.Call):
            name = self.tf(scope, node.func)
            return name is not None and (name in VARIABLES or makes_operator(name))
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(self.is_tensor(scope, each, depth + 1) for each in sides)
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(scope, node.operand, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(scope, node.value, depth + 1)
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id)
            return where is not None and all(
                store.kind in ("value", "item") and self.is_tensor(where, store.node, depth + 1)
                for store in stores
            )
        if isinstance(node, ast.Attribute):
            found = self.values(scope, node)
            return bool(found) and all(
                each is not None and self.is_tensor(each.scope, each.node, depth + 1)
                for each in found
            )
        return False

    # datasets

    def is_dataset(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for an expression that certainly is a dataset."""
        if depth > _DEEP:
            return True  # bound to what is made of itself
        if isinstance(node, ast.Call):
            name = self.tf(scope, node.func)
            if name is not None:
                return name in MAKE_DATASETS or name.startswith("data.Dataset.")
            if isinstance(node.func, ast.Attribute) and node.func.attr in DATASET_METHODS:
                return self.is_dataset(scope, node.func.value, depth + 1)
            made = self.functions(scope, node.func)
            return bool(made) and all(
                bool(f.returned)
                and all(self.is_dataset(f.scope, r, depth + 4) for r in f.returned)
                for f in made
            )
        if isinstance(node, (ast.Name, ast.Attribute)):
            found = self.values(scope, node)
            known = [v for v in found if v is not None]
            if isinstance(node, ast.Name) and len(known) < len(found):
                where, stores = self.stores(scope, node.id)
                rest = [s for s in stores if s.kind not in ("value", "with")]
                if where is None or any(
                    s.kind != "other" or s.node is not where.node for s in rest
                ):
                    return False
                name = node.id.lower()
                if not ("dataset" in name or name in ("ds", "train_ds")):
                    return False
            return bool(found) and all(
                self.is_dataset(v.scope, v.node, depth + 3)
                for v in known
                if not _contains(v.node, node)
            )
        return False

    def dataset_calls(self) -> List[Site]:
        """The calls that make a dataset, or one of another: those of methods and functions."""
        found = self._kept.get("datasets")
        if found is None:
            has_any = "ataset" in self.script.source.text
            calls = self.calls(*DATASETS) if has_any else ()
            found = self._kept["datasets"] = [site for site in calls if self._of_dataset(site)]
        result: List[Site] = found
        return result

    def _of_dataset(self, site: Site) -> bool:
        assert isinstance(site.node, ast.Call)
        function = site.node.func
        name = self.tf(site.scope, function)
        if name is not None:
            return name.startswith(("data.Dataset.", "data.experimental.")) or (
                name in MAKE_DATASETS
            )
        return isinstance(function, ast.Attribute) and self.is_dataset(site.scope, function.value)

    def function_values(self) -> Iterator[Tuple[Site, ast.expr]]:
        """What datasets are given as functions, as it is written, each with the call."""
        for site in self.dataset_calls():
            assert isinstance(site.node, ast.Call)
            for value in function_arguments(site.node):
                yield site, value

    def given_functions(self) -> List[Tuple[Site, Function]]:
        """The functions that datasets are given, each with the call that gives it."""
        found = self._kept.get("given")
        if found is None:
            found = self._kept["given"] = [
                (site, each)
                for site, value in self.function_values()
                for each in self.functions(site.scope, value)
            ]
        result: List[Tuple[Site, Function]] = found
        return result

    def functions_named(self) -> List[Value]:
        """What names the functions that datasets are given, or that such functions call."""
        found = self._kept.get("named")
        if found is None:
            found = [Value(site.scope, value) for site, value in self.function_values()]
            for function in self.reached([function for _, function in self.given_functions()]):
                for part in self.body(function):
                    if isinstance(part.node, ast.Call):
                        found.append(Value(part.scope, part.node.func))
            self._kept["named"] = found
        result: List[Value] = found
        return result

    def _on_host(self) -> Set[int]:
        """The functions that run on the host, by id."""
        found = self._kept.get("host")
        if found is None:
            given = [function for _, function in self.given_functions()]
            found = self._kept["host"] = {id(f.node) for f in self.reached(given)}
        result: Set[int] = found
        return result

    def in_dataset_function(self, site: Site) -> bool:
        """True in a function that a dataset is given, and in what such a function calls."""
        return any(id(node) in self._on_host() for node in site.parents)

    def in_network(self, site: Site) -> bool:
        """True when what a node makes is certainly in the graph that the device is given.

        That is so at the level of the module, and in functions that the script calls outside of
        the functions of its datasets; not for input functions, and where a scope keeps it on the
        host.
        """
        if any(name_of(call.func) == "without_npu_compile_scope" for call in site.entered):
            return False
        if self.in_dataset_function(site):
            return False
        around = [node for node in site.parents if isinstance(node, Functions)]
        for call in (node for node in site.parents if isinstance(node, ast.Call)):
            if name_of(call.func) in DATASET_METHODS:
                return False
        named = [node for node in around if isinstance(node, FUNCTIONS)]
        if any(is_of_input(node.name) for node in named):
            return False
        return not named or self.is_called(named[0])

    def is_called(self, function: Any) -> bool:
        """True for a function, or a method, that the script itself names elsewhere."""
        script = self.script
        name = function.name
        if name.startswith("__") or name == "main":
            return True
        lines = set(script.source.mentions(name))
        return any(not function.lineno <= line <= last_line(function) for line in lines)


def walk(scope: Scope, node: ast.AST) -> Iterator[Value]:
    """A node and all that it holds, with the scopes that they are in, in order of the text."""
    pending: List[Tuple[Scope, ast.AST]] = [(scope, node)]
    while pending:
        scope, node = pending.pop()
        yield Value(scope, node)  # type: ignore[arg-type]
        if node.__class__ in LEAVES:
            continue
        inner = scope.child(node) if isinstance(node, _SCOPED) else scope
        for part in reversed(parts_of(node)):
            is_inner = inner is not scope and (
                isinstance(node, COMPREHENSIONS) or isinstance(part, ast.stmt) or part is node.body  # type: ignore[attr-defined]
            )
            pending.append((inner if is_inner else scope, part))


_INPUT = ("input_fn", "parse", "preprocess", "decode", "augment", "data", "record", "feature")


def is_of_input(name: str) -> bool:
    """True for a function whose name says that it prepares data."""
    return any(word in name.lower() for word in _INPUT)


def _contains(tree: ast.AST, wanted: ast.expr) -> bool:
    """True for an expression that is made of the very name that it is bound to."""
    text = ast.dump(wanted).replace("Store()", "Load()")
    return any(
        node.__class__ is wanted.__class__ and ast.dump(node) == text for node in ast.walk(tree)
    )


def _computed(kind: ast.operator, left: Any, right: Any) -> Any:
    numbers = (int, float)
    if not isinstance(left, numbers) or not isinstance(right, numbers):
        return None
    try:
        if isinstance(kind, ast.Mult):
            return left * right
        if isinstance(kind, ast.Add):
            return left + right
        if isinstance(kind, ast.Sub):
            return left - right
        if isinstance(kind, ast.Div):
            return left / right
        if isinstance(kind, ast.FloorDiv):
            return left // right
        if isinstance(kind, ast.Pow) and abs(right) < 100 and abs(left) < 10000:
            return left**right
    except (ZeroDivisionError, OverflowError):
        return None
    return None
