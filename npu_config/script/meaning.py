"""What the names of a script mean to TensorFlow: tensors, variables, datasets, the network.

First the functions of TensorFlow that mean something to a check, by their names below
``tensorflow.``, without the detours that ``canonical`` takes away.  What is not certain means
nothing: every answer is None or False then.
"""

import ast
import re
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

from npu_config.core.lazy import cached_property
from npu_config.python_flow.module import Function, Site, Value
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    Scope,
    all_parts,
    argument,
    is_open,
    last_line,
    name_of,
)
from npu_config.script.script import Script
from npu_config.script.values import DEEP, Functions, Values


def function_arguments(call: ast.Call) -> List[ast.expr]:
    """The functions among the arguments of a call of a dataset, as far as its name says so."""
    name = name_of(call.func)
    names = _FUNCTION_ARGUMENTS.get(name)
    if names is None or is_open(call):
        return []
    values = [argument(call, each, position) for position, each in enumerate(names) if each]
    return [value for value in values if value is not None]


_FUNCTION_ARGUMENTS: Dict[str, Tuple[str, ...]] = {
    "map": ("map_func",),
    "flat_map": ("map_func",),
    "interleave": ("map_func",),
    "filter": ("predicate",),
    "reduce": ("", "reduce_func"),
    "map_with_legacy_function": ("map_func",),
    "filter_with_legacy_function": ("predicate",),
    "map_and_batch": ("map_func",),
    "parallel_interleave": ("map_func",),
    "map_and_batch_with_legacy_function": ("map_func",),
    "group_by_window": ("key_func", "reduce_func"),
    "bucket_by_sequence_length": ("element_length_func",),
    "group_by_reducer": ("key_func",),
    "scan": ("", "scan_func"),
    "take_while": ("predicate",),
    "apply": ("transformation_func",),
}
"""What of a call of a dataset is a function: the names of the first arguments, others empty."""

VARIABLES = frozenset(
    (
        *("Variable", "get_variable", "get_local_variable", "train.get_or_create_global_step"),
        *("train.create_global_step", "contrib.framework.get_or_create_global_step"),
        *("contrib.framework.model_variable", "contrib.framework.variable"),
    )
)
PASSING = frozenset(
    (
        *("identity", "cast", "to_float", "to_int32", "to_int64", "reshape", "stop_gradient"),
        *("square", "sqrt", "abs", "exp", "math.square", "math.sqrt", "gather"),
        "convert_to_tensor",
    )
)
OF_VARIABLES = ("read_value", "value", "initialized_value")
DATASET_METHODS = frozenset(
    (
        *("apply", "batch", "cache", "concatenate", "enumerate", "filter"),
        *("filter_with_legacy_function", "flat_map", "interleave", "map"),
        *("map_with_legacy_function", "padded_batch", "prefetch", "reduce", "repeat", "shard"),
        *("shuffle", "skip", "take", "unbatch", "window", "with_options"),
    )
)
DATASET_FUNCTIONS = (
    *("from_tensor_slices", "from_tensors", "from_generator", "from_sparse_tensor_slices"),
    *("list_files", "range", "zip", "TFRecordDataset", "TextLineDataset"),
    *("FixedLengthRecordDataset", "CsvDataset", "map_and_batch"),
    *("map_and_batch_with_legacy_function", "parallel_interleave", "shuffle_and_repeat"),
    *("group_by_window", "group_by_reducer", "bucket_by_sequence_length", "take_while", "scan"),
)
DATASETS = (*sorted(DATASET_METHODS), *DATASET_FUNCTIONS)
"""What makes a dataset, or one of another."""
MAKE_DATASETS = frozenset(
    (
        *("data.TFRecordDataset", "data.TextLineDataset", "data.FixedLengthRecordDataset"),
        *("data.experimental.CsvDataset", "data.experimental.SqlDataset"),
        *("data.experimental.make_csv_dataset", "data.experimental.make_batched_features_dataset"),
        *("data.experimental.RandomDataset", "data.experimental.sample_from_datasets"),
        "data.experimental.choose_from_datasets",
    )
)

_OPERATOR_ROOMS = ("nn", "layers", "image", "losses", "math", "linalg", "random", "metrics")
_NO_OPERATORS = ("get_", "layers.Layer", "layers.Input", "nn.rnn_cell")
_OPERATORS = frozenset(
    (
        *("abs", "add", "add_n", "argmax", "argmin", "argsort", "assign", "assign_add"),
        *("assign_sub", "boolean_mask", "case", "cast", "clip_by_global_norm", "clip_by_norm"),
        *("clip_by_value", "concat", "cond", "constant", "convert_to_tensor", "cumsum", "div"),
        *("divide", "divide_no_nan", "div_no_nan", "equal", "exp", "expand_dims", "fill", "floor"),
        *("floordiv", "gather", "gather_nd", "global_variables_initializer", "global_norm"),
        *("gradients", "greater", "greater_equal", "group", "identity", "is_finite", "is_nan"),
        *("less", "less_equal", "local_variables_initializer", "log", "logical_and"),
        *("logical_not", "logical_or", "matmul", "maximum", "minimum", "mod", "multiply"),
        *("negative", "norm", "not_equal", "one_hot", "ones", "ones_like", "pad", "placeholder"),
        *("placeholder_with_default", "pow", "py_func", "random_normal", "random_shuffle"),
        *("random_uniform", "range", "realdiv", "reciprocal", "report_uninitialized_variables"),
        *("reshape", "reverse", "round"),
        *("rsqrt", "scatter_nd", "scatter_update", "sequence_mask", "shape", "sigmoid", "sign"),
        *("sin", "cos", "size", "slice", "split", "sqrt", "square", "squared_difference"),
        *("squeeze", "stack", "stop_gradient", "string_to_number", "subtract", "tanh", "tile"),
        *("to_float", "to_int32", "to_int64", "to_double", "transpose", "truediv"),
        *("truncated_normal", "unstack", "where", "while_loop", "zeros", "zeros_like", "Variable"),
        *("get_variable", "floormod", "tensordot", "einsum", "top_k", "trace", "unique", "rank"),
        *("is_inf", "ceil", "erf", "map_fn", "scan", "foldl", "cumprod", "diag", "eye"),
        *("extract_image_patches", "numpy_function", "py_function", "accumulate_n", "complex"),
        *("summary.scalar", "summary.histogram", "summary.image", "summary.merge"),
        *("summary.merge_all", "train.Saver", "keras.backend.constant"),
        *("train.exponential_decay", "train.piecewise_constant", "train.polynomial_decay"),
        *("train.natural_exp_decay", "train.inverse_time_decay", "train.cosine_decay"),
    )
)


def makes_operator(name: str) -> bool:
    """True for a function of TensorFlow that certainly makes an operator.

    Args:
        name: below ``tensorflow.``.
    """
    if name in _OPERATORS or name.startswith("reduce_"):
        return True
    room, dot, rest = name.partition(".")
    return (
        bool(dot)
        and room in _OPERATOR_ROOMS
        and not name.startswith(_NO_OPERATORS)
        and rest[:1].islower()
        and "initializer" not in rest
        and "regularizer" not in rest
    )


GIVING_ONE = frozenset(
    (
        *("abs", "add", "add_n", "argmax", "bias_add", "cast", "concat", "constant", "conv2d"),
        *("dense", "divide", "equal", "exp", "expand_dims", "gather", "get_total_loss"),
        *("identity", "l2_loss", "log", "matmul", "mean_squared_error", "multiply", "one_hot"),
        *("ones", "placeholder", "random_normal", "random_uniform", "relu", "reshape", "sigmoid"),
        *("sigmoid_cross_entropy_with_logits", "softmax", "softmax_cross_entropy", "sqrt"),
        *("softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2", "square"),
        *("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_with_logits", "squeeze"),
        *("stack", "subtract", "tanh", "transpose", "zeros"),
    )
)
"""Functions of TensorFlow that give one tensor, not a list or tuple of them."""


_COMPUTED = {ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",), ast.Subscript: ("value",)}
"""The operators of Python, of which one operand that is a tensor is enough to make one."""


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
        parts = _COMPUTED.get(node.__class__, ())
        if parts:
            return any(self.is_tensor(scope, getattr(node, each), depth + 1) for each in parts)
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
    nodes = [tree, *all_parts(tree)]
    named = [n for n in nodes if n.__class__ is wanted.__class__ and name_of(n) == name]
    text = ast.dump(wanted).replace("Store()", "Load()") if named else ""
    return any(ast.dump(node) == text for node in named)
