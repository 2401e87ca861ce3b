"""What the names of a script mean to TensorFlow: tensors, variables, datasets, the network.

What is not certain means nothing: every answer is None or False then.
"""

import ast
import re
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

from npu_config.core.lazy import cached_property
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import FUNCTIONS, Scope, argument, last_line, name_of
from npu_config.script.functions import (
    DATASET_METHODS,
    DATASETS,
    GIVING_ONE,
    MAKE_DATASETS,
    OF_VARIABLES,
    PASSING,
    VARIABLES,
    function_arguments,
    makes_operator,
)
from npu_config.script.passing import Value
from npu_config.script.script import Script
from npu_config.script.values import DEEP, Function, Functions, Values


class Meaning(Values):
    """The names of a script, and what they are for.

    Args:
        script: the script.

    Attributes:
        others: those of files that it imports.
        entered: the functions that another file calls, by id.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.others: Dict[str, Optional[Meaning]] = {}
        self.entered: Set[int] = set()

    def forget(self) -> None:
        """Let other files go as soon as this goes: their scopes refer to each other."""
        for other in filter(None, self.others.values()):
            other.script.forget()
        self.others.clear()

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
        if depth > DEEP:
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
            made = self.result(scope, node, depth) if name is None else None
            if made is not None and made.node is not node:
                return self.variable(*made, depth + 3)
            return None
        bound = self.value(scope, node)
        if bound is None or bound.node is node:
            return None
        return self.variable(bound.scope, bound.node, depth + 1)

    def is_tensor(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for an expression that TensorFlow certainly computes."""
        if depth > DEEP:
            return False
        if isinstance(node, ast.Call):
            name = self.tf(scope, node.func)
            if name is not None:
                return name in VARIABLES or makes_operator(name)
            made = self.result(scope, node, depth)
            if made is None or made.node is node:
                return False
            return self.is_tensor(made.scope, made.node, depth + 3)
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(self.is_tensor(scope, each, depth + 1) for each in sides)
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(scope, node.operand, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(scope, node.value, depth + 1)
        if isinstance(node, ast.Name):
            where, stores = self.stores(scope, node.id, node)
            if where is not None and stores[0].node is where.node:
                given = self.values(scope, node)
                return all(v is not None and self.is_tensor(*v, depth + 2) for v in given)
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

    def is_one_tensor(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for one tensor or variable, not a list that may be added and has items."""
        made = self.result(scope, node)
        if made is None or depth > DEEP or not self.is_tensor(scope, node):
            return False
        if isinstance(made.node, ast.Call):
            name = self.tf(made.scope, made.node.func) or ""
            is_reduced = name.startswith("reduce_")
            return is_reduced or name in VARIABLES or name.rpartition(".")[2] in GIVING_ONE
        return isinstance(made.node, (ast.BinOp, ast.UnaryOp)) and (
            self.is_computed(*made, depth + 1)
        )

    def is_computed(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for what certainly makes an operator of a tensor by an operator of Python."""
        if isinstance(node, ast.UnaryOp):
            is_not = isinstance(node.op, ast.Not)
            return not is_not and self.is_one_tensor(scope, node.operand, depth)
        if isinstance(node, ast.Subscript):
            return self.is_one_tensor(scope, node.value, depth)
        if isinstance(node, ast.Compare):  # by == TensorFlow 1 compares objects
            sides = (node.left, *node.comparators)
            is_order = all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
            return is_order and any(self.is_one_tensor(scope, each, depth) for each in sides)
        if not isinstance(node, ast.BinOp) or not self.is_tensor(scope, node):
            return False
        return not isinstance(node.op, ast.Add) or any(
            self.is_one_tensor(scope, each, depth)
            or isinstance(self.constant(scope, each), (int, float))
            for each in (node.left, node.right)
        )

    # datasets

    def is_dataset(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True for an expression that certainly is a dataset."""
        if depth > DEEP:
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
                if self._is_given_dataset(scope, node):
                    return True
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

    def _is_given_dataset(self, scope: Scope, node: ast.Name) -> bool:
        """True for the dataset that ``apply`` or ``group_by_window`` gives a function."""
        where, stores = self.stores(scope, node.id, node)
        is_one = where is not None and len(stores) == 1
        return is_one and (id(where.node), node.id) in self._given_datasets  # type: ignore[union-attr]

    @cached_property
    def _given_datasets(self) -> Set[Tuple[int, str]]:
        """The parameters that are such datasets, by the identity of the function and by name."""
        found: Set[Tuple[int, str]] = set()
        for site in self.calls("group_by_window", "apply"):
            call: Any = site.node
            word, index = _GIVING[name_of(call.func)]
            for function in self.functions(site.scope, argument(call, word, index)):
                names = [each.arg for each in function.node.args.args]
                found.update((id(function.node), name) for name in names[index : index + 1])
        return found

    @cached_property
    def dataset_calls(self) -> List[Site]:
        """The calls that make a dataset, or one of another: those of methods and functions."""
        calls = self.calls(*DATASETS) if "ataset" in self.script.source.text else ()
        return [site for site in calls if self._of_dataset(site)]

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
        for site in self.dataset_calls:
            assert isinstance(site.node, ast.Call)
            for value in function_arguments(site.node):
                yield site, value

    @cached_property
    def given_functions(self) -> List[Tuple[Site, Function]]:
        """The functions that datasets are given, each with the call that gives it."""
        return [
            (site, each)
            for site, value in self.function_values()
            for each in self.functions(site.scope, value)
        ]

    @cached_property
    def _of_datasets(self) -> List[Function]:
        """The functions that datasets are given, and those that such functions call."""
        return self.reached([function for _, function in self.given_functions])

    @cached_property
    def functions_named(self) -> List[Value]:
        """What names the functions that datasets are given, or that such functions call."""
        found = [Value(site.scope, value) for site, value in self.function_values()]
        for function in self._of_datasets:
            for part in self.body(function):
                if isinstance(part.node, ast.Call):
                    found.append(Value(part.scope, part.node.func))
        return found

    @cached_property
    def _on_host(self) -> Set[int]:
        """The functions that run on the host, by id."""
        return {id(function.node) for function in self._of_datasets}

    def in_dataset_function(self, site: Site) -> bool:
        """True in a function that a dataset is given, and in what such a function calls."""
        return any(id(node) in self._on_host for node in site.parents)

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
            if isinstance(call.func, ast.Attribute) and call.func.attr in DATASET_METHODS:
                return False
        named = [node for node in around if isinstance(node, FUNCTIONS)]
        if any(is_of_input(node.name) for node in named):
            return False
        if any(each.name != "call" and not self.is_called(each) for each in named[1:]):
            return False
        if not named or id(named[0]) in self.entered:
            return True
        if named[0].name == "call":  # Keras calls it
            owner = site.parents[site.parents.index(named[0]) - 1]
            return isinstance(owner, ast.ClassDef) and self.is_called(owner)
        return self.is_called(named[0])

    def is_called(self, function: Any) -> bool:
        """True for a function, or a method, that the script itself names elsewhere."""
        script = self.script
        name = function.name
        if name.startswith("__") or name == "main":
            return True
        text, given = script.source.lines, re.compile(r"(\w+)=" + re.escape(name) + r"\b")
        return any(
            not function.lineno <= line <= last_line(function)
            and not any(map(is_of_input, given.findall(text[line - 1])))
            for line in set(script.source.mentions(name))
        )


_GIVING = {"group_by_window": ("reduce_func", 1), "apply": ("transformation_func", 0)}
"""What gives a function a dataset: its argument, and the number of that and of the parameter."""

_INPUT = ("input_fn", "parse", "preprocess", "decode", "augment", "data", "record", "feature")


def is_of_input(name: str) -> bool:
    """True for a function whose name says that it prepares data."""
    return any(word in name.lower() for word in _INPUT)


def _contains(tree: ast.AST, wanted: ast.expr) -> bool:
    """True for an expression that is made of the very name that it is bound to."""
    name = name_of(wanted)
    named = [
        node
        for node in ast.walk(tree)
        if node.__class__ is wanted.__class__ and name_of(node) == name
    ]
    text = ast.dump(wanted).replace("Store()", "Load()") if named else ""
    return any(ast.dump(node) == text for node in named)
