"""The functions of TensorFlow that mean something to a check, by their names.

What is a function is given, what makes variables, datasets and operators.  Names are those below
``tensorflow.``, without the detours that ``meaning`` takes away.
"""

import ast
import re
from typing import Dict, List, Tuple

from npu_config.python_flow.scopes import argument, is_open, name_of

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
