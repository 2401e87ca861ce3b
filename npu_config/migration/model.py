"""What a model is made of: dropout, gelu, recurrent cells, tests for GPUs, Python functions."""

import ast
import re
from typing import List, Optional, Sequence

from npu_config.migration.data import in_dataset_function
from npu_config.migration.reached import is_caught
from npu_config.migration.resolve import Binding
from npu_config.migration.work import REFUSED, Rules, Work, called, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    FunctionNode,
    argument,
    dotted_parts,
    is_open,
    keyword_of,
    literal_text,
    number_of,
    parameters,
)

__all__ = ["RULES", "after"]

_DROPOUT = ("x", "keep_prob", "noise_shape", "seed", "name", "rate")


def _dropout(work: Work, site: Site, name: str) -> None:
    call = site.call
    looked = work.script.look_up(site.node, site.scope)
    if call is None:
        if looked.binding is not Binding.VALUE or isinstance(site.node, ast.Attribute):
            work.manual(
                site.line, "dropout", "the function is stored or passed on: left unchanged"
            )
        return
    if looked.binding is Binding.VALUE and isinstance(site.node, ast.Name):
        return
    reason = _why_not_dropout(call)
    if reason is not None:
        work.refuse(site.line, "dropout", reason)
        return
    rate = keyword_of(call, "rate")
    note = "the second argument is keep_prob in both functions"
    if rate is not None:
        first, value, end = work.value_span(call, rate)
        bare = work.script.text[value] != "(" or work.script.span(rate.value)[0] == value
        work.replace(first, first + len("rate"), "keep_prob")
        work.insert(value, "1 - " + ("(" if bare else ""))
        work.insert(end, ")" if bare else "")
        note = "keep_prob is 1 - rate"
    work.replace_node(site.node, work.name("npu_ops") + ".dropout")
    work.changed(site.line, "dropout", note)


def _why_not_dropout(call: ast.Call) -> Optional[str]:
    if is_open(call):
        return "the call has * or ** arguments: left unchanged"
    given = dict(zip(_DROPOUT, call.args))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    if len(call.args) > 5 or not set(given) <= set(_DROPOUT):
        return "npu_ops.dropout does not support these arguments"
    shape = given.get("noise_shape")
    if shape is not None and getattr(shape, "value", 0) is not None:
        return "noise_shape is used: left unchanged"
    if ("keep_prob" in given) == ("rate" in given) or "x" not in given:
        return "either keep_prob or rate must be passed"
    number = getattr(given.get("rate"), "value", 0)
    return "rate is None" if number is None else None


_lstm = of_calls(
    "rnn",
    "DynamicRNN needs time-major input and one layer, has forget_bias 0.0 by default (1.0 "
    "here), and supports no peephole and no dropout; its weight layout differs, so old "
    "checkpoints cannot be loaded",
)
_cell = of_calls(
    "rnn",
    "the recurrent layers of the NPU need time-major input and one layer; their weight "
    "layout differs, so old checkpoints cannot be loaded",
)


def _nccl(work: Work, site: Site, name: str) -> None:
    """A function of NCCL, by the module that it is taken from."""
    outer = site.parents[-1]
    if isinstance(outer, ast.Attribute):
        site = site._replace(node=outer, parents=site.parents[:-1])
    _cudnn(work, site, name)


@called
def _cudnn(work: Work, site: Site, call: ast.Call, name: str) -> None:
    if _under_gpu_test(work, site):
        work.manual(
            site.line,
            "cudnn",
            ("cuDNN does not exist on the NPU, but this line does not run there"),
        )
    elif "load_" in name:
        text = "this operator library is for the CPU or the GPU: port its operators to the NPU"
        if is_caught(site):
            work.manual(site.line, "cudnn", text)
        else:
            work.depend(site, "cudnn", text)
    else:
        work.depend(site, "cudnn", "cuDNN and NCCL do not exist on the NPU")


def _under_gpu_test(work: Work, site: Site) -> bool:
    return any(
        isinstance(part, ast.Call) and work.script.resolve(part.func, site.scope) in _GPU_TESTS
        for test in site.conditions
        for part in ast.walk(test)
    )


_GPU_TESTS = (
    "tensorflow.test.is_gpu_available",
    "tensorflow.test.gpu_device_name",
    "tensorflow.test.is_built_with_cuda",
)
_CELLS = (
    "BasicLSTMCell",
    "LSTMCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LayerNormBasicLSTMCell",
    "GRUCell",
    "BasicRNNCell",
)
_CUDNN = ("CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu")
_FLOW = ("while_loop", "cond", "case", "map_fn", "scan", "foldl", "foldr")
_RNN = ("dynamic_rnn", "bidirectional_dynamic_rnn", "raw_rnn")


_dropout_layer = of_calls(
    "dropout-layer",
    "for speed on the device: add from npu_bridge.estimator.npu import "
    "npu_convert_dropout, which replaces the Dropout of Keras",
)
_control_flow = of_calls(
    "control-flow-v1",
    "TensorFlow v1 control flow: dynamic shapes need tf.enable_control_flow_v2() and "
    "tf.enable_resource_variables() after the import, or ENABLE_FORCE_V2_CONTROL=1",
    unless=lambda work, site, call: (
        "enable_control_flow_v2" in work.script.words or in_dataset_function(work, site)
    ),
)
_is_finite = of_calls(
    "is-finite",
    "leave the overflow check to NPULossScaleOptimizer",
    unless=lambda work, site, call: in_dataset_function(work, site),
)
_gpu_test = of_calls("gpu-test", "this is False or empty on the NPU host: the CPU branch is used")
_gpu_count = of_calls(
    "gpu-count",
    "the NPU host has no GPU: loops over GPUs and divisions by the number of GPUs change",
    unless=lambda work, site, call: (
        literal_text(argument(call, "device_type", 0)) not in (None, "GPU")
    ),
)
_py_func = of_calls(
    "py-func",
    "this function runs on the host: set mix_compile_mode=True if it is part of the "
    "training graph",
    unless=lambda work, site, call: in_dataset_function(work, site),
)

RULES: Rules = {
    "tensorflow.nn.dropout": _dropout,
    "tensorflow.compat.v2.nn.dropout": of_calls(
        "dropout",
        "left unchanged: the second argument of this dropout is the rate, not keep_prob",
        REFUSED,
    ),
    "tensorflow.layers.dropout": _dropout_layer,
    "tensorflow.layers.Dropout": _dropout_layer,
    "tensorflow.keras.layers.Dropout": _dropout_layer,
    "tensorflow.contrib.layers.dropout": _dropout_layer,
    "tensorflow.contrib.slim.dropout": _dropout_layer,
    **{"tensorflow.nn.rnn_cell." + name: _lstm if "LSTM" in name else _cell for name in _CELLS},
    **{"tensorflow." + name: _control_flow for name in _FLOW},
    **{"tensorflow.nn." + name: _control_flow for name in _RNN},
    "tensorflow.is_finite": _is_finite,
    **dict.fromkeys(_GPU_TESTS, _gpu_test),
    "tensorflow.python.client.device_lib.list_local_devices": _gpu_count,
    "tensorflow.config.experimental.list_physical_devices": _gpu_count,
    "tensorflow.config.experimental.list_logical_devices": _gpu_count,
    **{"tensorflow.contrib.cudnn_rnn." + name: _cudnn for name in _CUDNN},
    **{"tensorflow.keras.layers." + name: _cudnn for name in ("CuDNNLSTM", "CuDNNGRU")},
    "tensorflow.contrib.nccl": _nccl,
    "tensorflow.contrib.nccl.all_sum": _cudnn,
    "tensorflow.load_op_library": _cudnn,
    "tensorflow.load_library": _cudnn,
    "tensorflow.py_func": _py_func,
    "tensorflow.py_function": _py_func,
    "tensorflow.numpy_function": _py_func,
}


# gelu


def after(work: Work) -> None:
    """Functions that compute gelu, by what they compute and not by their name."""
    script = work.script
    if "tanh" not in script.words and "erf" not in script.words:
        return
    for scope, node in script.functions:
        form = _gelu(node)
        if form is None:
            continue
        line = _def_line(script.source.lines, node)
        if form == "erf":
            text = "this GELU uses erf; npu_unary_ops.gelu uses tanh, and its values differ"
            work.refuse(line, "gelu", text)
        elif isinstance(scope.node, ast.ClassDef) or len(parameters(node.args)) != 1:
            text = "this is a method or takes other arguments; npu_unary_ops.gelu takes one tensor"
            work.refuse(line, "gelu", text)
        elif work.package == "npu_bridge" and _replace_gelu(work, node):
            work.changed(line, "gelu", "npu_unary_ops.gelu computes the same with one operator")
        else:
            text = (
                "npu_unary_ops.gelu(x) computes the same with one operator, and is faster "
                "on the device"
            )
            work.manual(line, "gelu", text)


def _def_line(lines: Sequence[str], node: FunctionNode) -> int:
    """The line of ``def``: Python 3.7 says that of the first decorator."""
    line = node.lineno
    while not re.match(r"\s*(?:async\s+)?def\b", lines[line - 1]):
        line += 1
    return line


def _replace_gelu(work: Work, node: FunctionNode) -> bool:
    """Let a function return the operator; False where a comment would be lost."""
    body = _without_texts(node.body)
    start, end = work.statement_span(body[0])[0], work.statement_span(body[-1])[1]
    if "#" in work.script.text[start:end]:
        return False
    (argument,) = parameters(node.args)
    operator = work.name("npu_unary_ops")
    work.replace(start, end, "return " + operator + ".gelu(" + argument + ")")
    return True


def _without_texts(body: List[ast.stmt]) -> List[ast.stmt]:
    return [
        part
        for part in body
        if not (isinstance(part, ast.Expr) and not isinstance(part.value, ast.Call))
    ]


def _gelu(node: FunctionNode) -> Optional[str]:
    """``tanh`` or ``erf`` for a function that is one of the two forms of gelu."""
    body = _without_texts(node.body)
    if not body or not isinstance(body[-1], ast.Return) or len(body) > 3:
        return None
    calls: List[str] = []
    numbers: List[float] = []
    for part in body:
        if not isinstance(part, (ast.Assign, ast.Return)):
            return None
        for inner in ast.walk(part):
            if isinstance(inner, ast.Call):
                parts = dotted_parts(inner.func)
                calls.append(parts[-1] if parts else "?")
            number = None if isinstance(inner, ast.UnaryOp) else number_of(inner)
            if number is not None:
                numbers.append(float(number))
    if set(calls) - {"tanh", "erf", "sqrt", "pow", "cast", "constant", "multiply"}:
        return None
    if calls.count("tanh") == 1 and "erf" not in calls and 0.044715 in numbers and 0.5 in numbers:
        return "tanh"
    if calls.count("erf") == 1 and "tanh" not in calls and 0.5 in numbers:
        return "erf"
    return None
