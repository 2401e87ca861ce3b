"""What the names of a script stand for, as the text shows it: nothing is run here.

Names are resolved through imports, scopes, single bindings, attributes of ``self`` and functions
of the script.  What parameters and the items of lists and dicts are given is known where every
place in the script agrees: a function whose name is used for more than calls, or that the script
does not call itself, may be given anything.  What is not certain has no meaning: every answer is
None or False then.
"""

import ast
import contextlib
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.lazy import asked_once, cached_property
from npu_config.python_flow.module import Function, Site, Value, sites, walk
from npu_config.python_flow.scopes import (
    COMPREHENSIONS,
    CONSTANTS,
    FUNCTIONS,
    UNCLEAR,
    Scope,
    Store,
    called_name,
    children,
    defaults_of,
    dotted_parts,
    in_brackets,
    is_open,
    keyword_of,
    last_line,
    literal,
    name_of,
    root_of,
)
from npu_config.script.neighbours import constant_of
from npu_config.script.objects import NotKnown, binary
from npu_config.script.script import Script

DEEP = 12
"""How many bindings are followed, one behind the other."""

_STARS_BRING = {"tf": "tensorflow", "np": "numpy", "os": "os"}
"""What a name is that nothing binds but an import of everything."""

_LAST = re.compile(r"[ \t]{2,80}\(|[ \t]{0,80}(?:#|\\?$)")
"""What is behind the name of a function whose bracket does not follow at once."""

Functions = (*FUNCTIONS, ast.Lambda)

_DETOURS = (
    ("tensorflow.compat.v1", "tensorflow"),
    ("tensorflow.compat.v2", "tensorflow"),
    ("tensorflow.contrib.rnn", "tensorflow.nn.rnn_cell"),
    ("tensorflow.contrib.data", "tensorflow.data.experimental"),
)
_PUBLIC = (
    (r"keras", "keras"),
    (r"data\.experimental(?:\.ops\.\w+)?", "data.experimental"),
    (r"data(?:\.ops\.(?:dataset_ops|readers|iterator_ops))?", "data"),
    (r"(?:ops|layers)\.(?:nn|nn_impl|rnn|nn_ops)", "nn"),
    (r"ops\.rnn_cell(?:_impl)?", "nn.rnn_cell"),
    (r"ops\.image_ops(?:_impl)?", "image"),
    (r"ops\.lookup_ops", "lookup"),
    (r"ops\.signal\.\w+", "signal"),
    (r"summary\.summary", "summary"),
    (r"layers\.\w+", "layers"),
    (r"training\.\w+", "train"),
    (r"(?:ops|framework)\.\w+", ""),
)
"""Where the modules below ``tensorflow.python`` are found below ``tf``."""
_WITHIN = [(re.compile(old + r"(?=\.|\Z)"), new) for old, new in _PUBLIC]
_VERSION = re.compile(r"^(data\.(?:Dataset|TFRecordDataset|TextLineDataset))V[12]\b")
_INNER = "tensorflow.python."


def canonical(name: str) -> str:
    """A dotted name without the detours of TensorFlow's modules."""
    if name.startswith(("tensorflow.compat.", "tensorflow.contrib.")):
        for old, new in _DETOURS:
            if name == old or name.startswith(old + "."):
                name = new + name[len(old) :]
    if name.startswith(_INNER):
        inner = name[len(_INNER) :]
        found = next((each for each in _WITHIN if each[0].match(inner)), None)
        if found is not None:
            rest = found[0].sub(found[1], inner, 1).lstrip(".")
            name = "tensorflow." + _VERSION.sub(r"\1", rest) if rest else "tensorflow"
    return "tensorflow." + name if name.startswith("keras.") else name


class _Binding(NamedTuple):
    """The scope that binds a name, its bindings, and those whose order may say which one holds."""

    where: Optional[Scope]
    stores: Sequence[Store]
    ordered: Optional[Sequence[Store]]


class Values:
    """The names of a script.

    Args:
        script: the script.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._calls: Dict[str, List[Site]] = {}
        self._names: Dict[ast.AST, Optional[str]] = {}
        self._asked: Set[int] = set()

    # calls

    def calls(self, *names: str) -> Iterator[Site]:
        """The calls of functions that are called so, in order; "" is what a call gave."""
        missing = {name for name in names if name not in self._calls}
        if missing:
            self._calls.update((name, []) for name in missing)
            own = {new: old for new, old in self.aliases.items() if old in missing}
            mentions = self.script.source.mentions
            there = [name for name in missing if name and mentions(name)]
            own.update((new, name) for name in there for new in self._named_so(name))
            words = (*there, *own, *missing.intersection(("",)))
            lines = {line for word in words for line in self._called_on(word)}
            for site in sites(self.script.module, sorted(lines), (ast.Call,)) if lines else ():
                name = name_of(site.node.func)
                name = own.get(name, name)
                if name in missing:
                    self._calls[name].append(site)
        found = [site for name in names for site in self._calls[name]]
        return iter(sorted(found, key=lambda s: (s.line, s.node.col_offset)))

    def _named_so(self, word: str) -> Iterator[str]:
        """The names that the script gives a function by an assignment."""
        source = self.script.source
        for number in source.mentions(word):
            left, _, right = source.lines[number - 1].partition("#")[0].partition("=")
            name, parts = left.strip(), right.strip().split(".")
            if parts[1:] and parts[-1] == word != name and name.isidentifier():
                yield name

    def _called_on(self, word: str) -> Iterator[int]:
        """The lines that call a function with a name."""
        source = self.script.source
        tight, loose = (word or ")") + "(", (word or ")") + " ("
        for number in source.mentions(word) if word else range(1, len(source.lines) + 1):
            line = source.lines[number - 1]
            if tight in line or loose in line or (word and _LAST.match(line.rpartition(word)[2])):
                yield number

    @cached_property
    def aliases(self) -> Dict[str, str]:
        """The functions that the script imports under names of its own, by these."""
        return {
            alias.asname: alias.name
            for node in self.script.import_statements
            for alias in (node.names if isinstance(node, ast.ImportFrom) else ())
            if alias.asname and alias.asname != alias.name
        }

    # names

    def name(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[str]:
        """The dotted name that an expression certainly stands for, ``tensorflow.nn.dropout``."""
        if node not in self._names:
            self._names[node] = self._name(scope, node, depth)
        return self._names[node]

    def _name(self, scope: Scope, node: ast.AST, depth: int) -> Optional[str]:
        parts = dotted_parts(node)
        if parts is None or depth > DEEP:
            return None
        where, stores = self.stores(scope, parts[0], root_of(node))
        found: Set[Optional[str]] = set()
        for store in stores:
            if store.kind == "import":
                found.add(canonical(store.text))
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
        return None if root_name is None else canonical(".".join([root_name, *parts[1:]]))

    def stores(
        self, scope: Scope, name: str, at: Optional[ast.AST] = None
    ) -> Tuple[Optional[Scope], Sequence[Store]]:
        """The scope that binds a name as it is seen from another one, and how often it does.

        Args:
            scope: the other one.
            name: the name.
            at: what reads it; where the order of the bindings is known, one holds there.
        """
        where, found, ordered = self._binding(scope, name)
        if at is None or ordered is None or where is None:
            return where, found
        return where, self._holding(scope, where, ordered, at) or found

    @asked_once
    def _binding(self, scope: Scope, name: str) -> _Binding:
        """What binds a name as it is seen from a scope, wherever it is read."""
        for each in scope.visible():
            is_parameter = name in each.parameters
            if name in each.global_names and not is_parameter:
                continue
            stores = each.stores.get(name, [])
            if not (stores or is_parameter):
                continue
            is_global = each.parent is None and name in self.script.global_names
            has_order = len(stores) >= (1 if each.parameters else 2)
            ordered = stores if has_order and (is_parameter or not is_global) else None
            outer = [Store("other", each.node)] if is_parameter or is_global else []
            return _Binding(each, [*outer, *stores], ordered)
        return _Binding(None, (), None)

    def _holding(
        self, scope: Scope, where: Scope, found: Sequence[Store], at: ast.AST
    ) -> Optional[Sequence[Store]]:
        """The one of several bindings that holds at a place; None where that is not known."""
        holding = where.holding(found, scope, at)
        return [Store("other", where.node)] if holding == [] and where.parameters else holding

    def tf(self, scope: Scope, node: ast.AST) -> Optional[str]:
        """The name below ``tensorflow.`` of a function or module; None for any other."""
        name = self.name(scope, node)
        return name[len("tensorflow.") :] if name and name.startswith("tensorflow.") else None

    def called(self, site: Site) -> Optional[str]:
        """What a call calls, below ``tensorflow.``."""
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
        if depth > DEEP:
            return None
        if isinstance(node, ast.Subscript):
            item = self._item(scope, node)
            return Value(scope, node) if item is None else self.value(*item, depth + 1)
        found = self.values(scope, node)
        if len(found) != 1 or found[0] is None:
            return None
        return self.value(found[0].scope, found[0].node, depth + 1)

    def values(self, scope: Scope, node: ast.expr) -> List[Optional[Value]]:
        """Every expression that a name or an attribute of ``self`` is bound to.

        None among them stands for a binding that is no expression.
        """
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id, node)
            if where is None or (where.parent is None and stores[0].kind != "value"):
                other = self._of_function(node.id) or self._of_file(scope, node)
                if other is not None:
                    return [other]
            if where is None:
                return []
            given: List[Optional[Value]] = []
            if stores[0].node is where.node:
                given = self._given(where, node.id)
            return given + [self._stored(where, s) for s in stores[1 if given else 0 :]]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            return self._of_attribute(scope, node, node.value)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            cls = self._class_of(scope, node.value.id)
            if cls is not None:
                found = self._set_in(cls, node.attr)
                if found:
                    return found
            own = self._of_class(scope, node.value.id, node.attr, cls)
            other = None if own else self._of_file(scope, node)
            return own if other is None else [other]
        return []

    def _of_attribute(
        self, scope: Scope, node: ast.Attribute, owner: ast.Attribute
    ) -> List[Optional[Value]]:
        """What ``self.pipeline.iterator`` is bound to, in the class that its owner is made of."""
        made = self._unless_asked(self.value, scope, owner)
        cls = None if made is None else self.class_made(made)
        return [] if cls is None else self._set_in(cls, node.attr)

    def _unless_asked(
        self, question: Callable[[Scope, ast.AST], Optional[Value]], scope: Scope, node: ast.AST
    ) -> Optional[Value]:
        """The answer to a question about a node; None while it is being looked for."""
        if id(node) in self._asked:
            return None
        self._asked.add(id(node))
        found = question(scope, node)
        self._asked.remove(id(node))
        return found

    def _set_in(self, cls: Scope, name: str) -> List[Optional[Value]]:
        """What the methods of a class bind an attribute to."""
        return [
            None if each.value is None else Value(each.scope, each.value)
            for each in self.script.attribute_stores(cls).get(name, ())
        ]

    def _stored(self, where: Scope, store: Store) -> Optional[Value]:
        """The expression whose value a binding gives a name."""
        if store.kind == "item":
            return self._unpacked(where, store)
        is_plain = store.kind in ("value", "with") and isinstance(store.node, ast.expr)
        return Value(where, store.node) if is_plain else None

    def _unpacked(self, where: Scope, store: Store) -> Optional[Value]:
        """An item of the tuple that a function of the script returns."""
        made = self._unless_asked(self.result, where, store.node)
        if made is None or not isinstance(made.node, (ast.Tuple, ast.List)):
            return None
        items, index = made.node.elts, int(store.text)
        is_plain = index < len(items) and not any(isinstance(n, ast.Starred) for n in items)
        return Value(made.scope, items[index]) if is_plain else None

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
        constant = constant_of(path, (module, name))
        return None if constant is None else Value(self.script.module, constant)

    def _of_class(
        self, scope: Scope, owner: str, attribute: str, cls: Optional[Scope]
    ) -> List[Optional[Value]]:
        """What the body of a class binds an attribute to, where nothing binds it again.

        A class whose objects others make may have other values in classes made of it.
        """
        if cls is None:
            cls = self.class_named(scope, owner)
        elif not any(self.calls(cls.node.name)):  # type: ignore[union-attr]
            return []
        if cls is None:
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
                return self._given_item(where, node.value.id, node, made)
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
        return self.class_named(made.scope, made.node.func.id, made.node.func)

    def class_named(
        self, scope: Scope, name: str, at: Optional[ast.AST] = None
    ) -> Optional[Scope]:
        """The class that a name certainly is; arguments as of :meth:`stores`."""
        where, stores = self.stores(scope, name, at)
        if where is None or len(stores) != 1 or not isinstance(stores[0].node, ast.ClassDef):
            return None
        return where.child(stores[0].node)

    # what parameters and items are given

    def _given(self, function: Scope, name: str) -> List[Optional[Value]]:
        """Every expression that a parameter is given; one None where that is not known."""
        calls = self.calls_of(function.node)
        return [self._argument(function, site, name) for site in calls] if calls else [None]

    @asked_once
    def calls_of(self, function: ast.AST) -> Optional[List[Site]]:
        """Every call of a function, or of the class that it initialises.

        None where something else may call it.
        """
        outers = [outer for outer, node in self.script.functions if node is function]
        return self._find_calls(outers[0], function) if outers else None

    def _find_calls(self, outer: Scope, node: Any) -> Optional[List[Site]]:
        if any(name_of(each) != "staticmethod" for each in node.decorator_list):
            return None
        name = called_name(outer, node)
        if name != node.name and outer.is_class and len(outer.stores.get(node.name, ())) != 1:
            return None
        if sum(called_name(*each) == name for each in self.script.functions) != 1:
            return None
        found: List[Site] = []
        lines = self.script.source.mentions(name)
        for site in sites(self.script.module, lines, (ast.Name, ast.Attribute)):
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
        at_once = self.script.is_program or any(site.function is None for site in found)
        return found if at_once else None

    def _is_of_module(self, node: ast.AST) -> bool:
        """True for a name of another module: ``tf.train`` is no function of the script."""
        parts = dotted_parts(node) or [""]
        stores = self.script.module.stores.get(parts[0], ())
        return len(parts) > 1 and any(store.kind == "import" for store in stores)

    def _argument(self, function: Scope, site: Site, name: str) -> Optional[Value]:
        """What one call gives; for ``*names`` the tuple of the rest."""
        call, node = site.node, function.node
        assert isinstance(call, ast.Call)
        assert isinstance(node, FUNCTIONS)
        if is_open(call):
            return None
        keyword = keyword_of(call, name)
        if keyword is not None:
            return Value(site.scope, keyword.value)
        is_partial = name_of(call.func) == "partial"
        values = call.args[1:] if is_partial else call.args
        names = [each.arg for each in node.args.args]
        outer = function.parent
        assert outer is not None
        names = names[outer.is_class and not node.decorator_list :]
        if node.args.vararg is not None and node.args.vararg.arg == name:
            rest = ast.Tuple(elts=values[len(names) :], ctx=ast.Load())
            return None if is_partial else Value(site.scope, ast.copy_location(rest, call))
        if name in names and names.index(name) < len(values):
            return Value(site.scope, values[names.index(name)])
        default = None if is_partial else defaults_of(node.args).get(name)
        return None if default is None else Value(outer, default)

    def _given_item(
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
        found += self._assigned(name).get(key, [])
        return found[0] if len(found) == 1 else None

    @asked_once
    def _assigned(self, name: str) -> Dict[Any, List[Value]]:
        """What is assigned to the items of a name."""
        items: Dict[Any, List[Value]] = {}
        lines = self.script.source.mentions(name)
        for site in sites(self.script.module, lines, (ast.Assign,)):
            for target in site.node.targets:
                if isinstance(target, ast.Subscript) and name_of(target.value) == name:
                    key = literal(in_brackets(target))
                    key = key if isinstance(key, (str, int)) else None
                    items.setdefault(key, []).append(Value(site.scope, site.node.value))
        return items

    def result(self, scope: Scope, node: ast.AST, depth: int = 0) -> Optional[Value]:
        """What :meth:`value` says, through functions of the script that return one thing."""
        found = self.value(scope, node)
        if found is not None and isinstance(found.node, ast.Call) and depth < DEEP:
            for function in self.functions(found.scope, found.node.func):
                returned = function.returned
                if len(returned) == 1:
                    return self.result(function.scope, returned[0], depth + 3)
        return found

    def constant(self, scope: Scope, node: Optional[ast.AST], depth: int = 0) -> Any:
        """The Python number, text or truth value of an expression; None where it is not known."""
        if node is None or depth > DEEP:
            return None
        if isinstance(node, ast.BinOp):
            left = self.constant(scope, node.left, depth + 1)
            right = self.constant(scope, node.right, depth + 1)
            if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                with contextlib.suppress(NotKnown):
                    return binary(type(node.op), left, right)
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.constant(scope, node.operand, depth + 1)
            return -inner if isinstance(inner, (int, float)) else None
        if isinstance(node, ast.Call) and name_of(node.func) in ("int", "float", "bool"):
            return self.constant(scope, node.args[0], depth + 1) if len(node.args) == 1 else None
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            found = self.value(scope, node)
            is_known = found is not None and found.node is not node
            return self.constant(*found, depth + 1) if found is not None and is_known else None
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
            if id(node) in seen or depth > DEEP:
                continue
            seen.add(id(node))
            if isinstance(node, ast.expr):
                yield Value(scope, node)
            if isinstance(node, ast.Lambda):
                continue
            if isinstance(node, (ast.Name, ast.Attribute)):
                where, stores = (
                    self.stores(scope, node.id, None if every else node)
                    if isinstance(node, ast.Name)
                    else (None, ())
                )
                bound = stores if len(stores) == 1 or every else ()
                bound = [each for each in bound if each.kind in ("value", "item", "with")]
                if bound and isinstance(bound[0].node, ast.List):
                    added = self.added(scope, node, certain=True)
                    pending += [(*each, depth + 1) for each in added]
                if where is not None and bound:
                    for each in bound:
                        item = self._unpacked(where, each) if each.kind == "item" else None
                        pending.append((*(item or Value(where, each.node)), depth + 1))
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
            if isinstance(node, ast.Call):
                made = self.result(scope, node)
                if made is not None and made.node is not node:
                    pending.append((*made, depth + 3))
            pending += [(scope, part, depth) for part in children(node)]
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
        line, blocks = node.lineno, self._controlled
        return [each for first, last, given in blocks if first <= line <= last for each in given]

    @cached_property
    def _controlled(self) -> List[Tuple[int, int, List[Value]]]:
        """The lines of the blocks whose operations wait for something, and for what."""
        blocks = []
        lines = self.script.source.mentions("control_dependencies")
        for site in sites(self.script.module, lines, (ast.With,)):
            given = [
                Value(site.scope, each)
                for item in site.node.items
                if isinstance(item.context_expr, ast.Call)
                and name_of(item.context_expr.func) == "control_dependencies"
                for each in item.context_expr.args
            ]
            first = site.node.body[0].lineno
            blocks.append((first, last_line(site.node), given))
        return blocks

    def added(self, scope: Scope, node: ast.AST, certain: bool = False) -> List[Value]:
        """What is added to a list by ``append``, ``extend`` and ``+=``: items, or lists of them.

        Args:
            scope: of the list.
            node: the list.
            certain: what is added under a condition is left out.
        """
        if not isinstance(node, ast.Name):
            return []
        where, _ = self.stores(scope, node.id)
        return [
            Value(site.scope, value)
            for site, value in self._additions.get(node.id, ())
            if not (certain and site.is_conditional)
            and self.stores(site.scope, node.id)[0] is where
        ]

    @cached_property
    def _additions(self) -> Dict[str, List[Tuple[Site, ast.expr]]]:
        """What is added to lists, by their names."""
        found: Dict[str, List[Tuple[Site, ast.expr]]] = {}
        lines = [n for n, line in enumerate(self.script.source.lines, 1) if "+=" in line]
        adding = sites(self.script.module, lines, (ast.AugAssign,)) if lines else ()
        for site in (*self.calls("append", "extend"), *adding):
            node: Any = site.node
            is_call = isinstance(node, ast.Call)
            owner = getattr(node.func, "value", None) if is_call else node.target
            if isinstance(owner, ast.Name):
                values = node.args if is_call else [node.value]
                found.setdefault(owner.id, []).extend((site, each) for each in values)
        return found

    # functions

    def functions(self, scope: Scope, node: Optional[ast.AST], depth: int = 0) -> List[Function]:
        """The function that an expression is: lambda, definition, method, callable object."""
        if depth > DEEP:
            return []
        if isinstance(node, ast.Lambda):
            return [Function(scope.child(node), node)]
        if isinstance(node, ast.Call):
            if name_of(node.func) == "partial" and node.args:
                return self.functions(scope, node.args[0], depth + 1)
            cls = self.class_made(Value(scope, node))
            if cls is not None:
                return self.method(cls, "__call__")
            return [
                inner
                for each in self.functions(scope, node.func, depth + 3)
                for returned in each.returned
                for inner in self.functions(each.scope, returned, depth + 3)
            ]
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id, node)
            if where is None or len(stores) != 1:
                return []
            is_parameter = stores[0].node is where.node
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

    def property(self, scope: Scope, node: ast.AST) -> List[Value]:
        """What an attribute gives that the class of its object has as a property."""
        if not isinstance(node, ast.Attribute):
            return []
        return [
            Value(function.scope, each)
            for function in self.functions(scope, node)
            if any(name_of(d) == "property" for d in function.node.decorator_list)
            for each in function.returned
        ]

    def _looped_over(self, where: Scope, name: str) -> List[Value]:
        """The items of the written tuple or list that a loop takes a name from."""
        for items in self._loops.get((where, name), ()):
            made = self.value(where, items)
            if made is not None and isinstance(made.node, (ast.Tuple, ast.List)):
                return [Value(made.scope, each) for each in made.node.elts]
        return []

    @cached_property
    def _loops(self) -> Dict[Tuple[Scope, str], List[ast.expr]]:
        """What loops go over, by the names that they bind."""
        loops: Dict[Tuple[Scope, str], List[ast.expr]] = {}
        lines = self.script.source.mentions("for")
        for site in sites(self.script.module, lines, (ast.For,)):
            target: ast.expr = site.node.target
            if isinstance(target, ast.Name):
                items = site.node.iter
                loops.setdefault((site.scope, target.id), []).append(items)
        return loops

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


def _written(made: ast.expr, key: Any) -> List[ast.expr]:
    """The item of a list, tuple or dict that is written out."""
    if isinstance(made, ast.Dict):
        return [v for k, v in zip(made.keys, made.values) if literal(k) == key]
    if isinstance(made, ast.Call) and name_of(made.func) == "dict" and not made.args:
        return [each.value for each in made.keywords if each.arg == key]
    if isinstance(made, (ast.List, ast.Tuple)) and isinstance(key, int):
        return [made.elts[key]] if -len(made.elts) <= key < len(made.elts) else []
    return []
