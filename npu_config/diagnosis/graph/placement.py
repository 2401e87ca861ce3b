"""What the host has to do in every step, and what has a faster form on the device."""

import itertools
from typing import Iterator, Optional, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.diagnosis.graph import constants
from npu_config.diagnosis.graph.findings import Change, named
from npu_config.diagnosis.graph.model import Node
from npu_config.diagnosis.graph.run import RunGraph, Sight
from npu_config.diagnosis.graph.shapes import is_of_gradients
from npu_config.situations import host, shapes

_MIXED = "mix_compile_mode"
_RANDOM = ("RandomUniform", "StatelessRandomUniform")
_ACCUMULATORS = (
    *("ConditionalAccumulator", "SparseConditionalAccumulator", "ResourceConditionalAccumulator"),
    *("ResourceAccumulatorApplyGradient", "ResourceAccumulatorTakeGradient"),
    "ResourceAccumulatorNumAccumulated",
    *("AccumulatorApplyGradient", "AccumulatorTakeGradient"),
)
_CUBE, _SLOPE = 0.0447, 0.7979
_PRODUCTS = frozenset(("Mul", "Add", "AddV2", "Pow", "Square", "Cube", "Identity", "Cast", "Const",
                       "Sqrt", "RealDiv", "Reshape", "Fill"))  # fmt: skip


def check(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run."""
    mixed = run.options.true(_MIXED)
    if run.process.is_strict:
        yield from _of_gpu(run)
    if run.computes:
        yield from _host_functions(run, mixed)
        yield from _patches(run)
        yield from _normalisation(run, mixed)
    if not mixed:
        yield from _accumulators(run)
    if run.trains:
        yield from _resizes(run)
        yield from _dropout(run)
        yield from _recurrent(run)
    if run.computes:
        yield from _gelu(run)


def _of_gpu(run: RunGraph) -> Iterator[Sight]:
    found = [node for node in run.every() if ":GPU:" in node.device.upper()]
    if found:
        first = min(found, key=lambda node: getattr(node, "index", 0))
        yield Sight(
            host.device_of_gpu_without_soft_placement,
            first,
            phrase(
                'tf.device("{}") names a GPU, and allow_soft_placement is False: there is no such '
                "device on the NPU",
                first.device,
            ),
        )


def _host_functions(run: RunGraph, mixed: bool) -> Iterator[Sight]:
    for node in run.of("PyFunc", "PyFuncStateless", "EagerPyFunc"):
        yield Sight(
            shapes.host_function_on_hot_path,
            node,
            phrase(
                "the Python function of {} is run on the host in each step: the graph is "
                "split around this function, and data is copied between host and device"
                if mixed
                else "{} is a Python function in the repeatedly executed graph; the device "
                "cannot run it",
                named([node.name]),
            ),
            severity=Severity.INFO if mixed else None,
            option=_MIXED,
            change=None if mixed else Change(options={_MIXED: True, "iterations_per_loop": 1}),
            is_hot=True,
        )


def _patches(run: RunGraph) -> Iterator[Sight]:
    every = run.of("ExtractImagePatches")  # its gradient is made with one of its own
    for node in [node for node in every if not is_of_gradients(run, node)] or every[:1]:
        yield Sight(
            shapes.extract_image_patches,
            node,
            phrase(
                "{} extracts image patches, which older releases do not compile for some sizes",
                named([node.name]),
            ),
            "try a newer release first; a convolution with a fixed kernel of ones and "
            "zeros computes the same",
        )


def _normalisation(run: RunGraph, mixed: bool) -> Iterator[Sight]:
    if not mixed:
        return
    for node in run.of("FusedBatchNormV3", "FusedBatchNormGradV3"):
        if node.op == "FusedBatchNormGradV3" and run.any("FusedBatchNormV3"):
            continue
        yield Sight(
            host.batch_normalisation_in_mixed_computing,
            node,
            phrase(
                "{} is a FusedBatchNormV3, whose fifth output mixed computing does not support",
                named([node.name]),
            ),
            option=_MIXED,
        )


def _accumulators(run: RunGraph) -> Iterator[Sight]:
    if run.is_stored and not run.options.given:
        return
    for node in run.of(*_ACCUMULATORS):
        yield Sight(
            host.accumulators_on_device,
            node,
            phrase("the accumulator {} is slow on the device", named([node.name])),
            "set mix_compile_mode to True, with iterations_per_loop 1",
            option=_MIXED,
            change=Change(options={_MIXED: True, "iterations_per_loop": 1}),
        )


def _resizes(run: RunGraph) -> Iterator[Sight]:
    for node in run.of("ResizeBilinear") or run.of("ResizeBilinearGrad"):
        yield Sight(
            shapes.slow_resize_bilinear,
            node,
            phrase(
                "{} resizes in each training step, which may take most of the time of a step",
                named([node.name]),
            ),
            "profile the step (npu-config op-summary); a loop on the device "
            "(iterations_per_loop) hides the time spent on the host",
        )


def _dropout(run: RunGraph) -> Iterator[Sight]:
    converted = run.process.converts_dropout
    for node in run.of(*_RANDOM):
        if not run.made_in(node, "nn_ops.py", "dropout", "dropout_v2"):
            continue
        if converted and run.made_in(node, "core.py", "dropped_inputs", "call"):
            continue
        yield Sight(
            host.slow_dropout,
            node,
            phrase("{} is TensorFlow's dropout; npu_ops.dropout is faster", named([node.name])),
            "npu-config migrate writes npu_ops.dropout; for layers, import npu_convert_dropout",
        )


def _recurrent(run: RunGraph) -> Iterator[Sight]:
    if not run.any("Enter", "RefEnter", "While", "StatelessWhile"):
        return
    said: Set[str] = set()
    for node in run.of("MatMul", where=lambda node: run.made_in(node, "rnn.py", "dynamic_rnn")):
        cell = _cell(run, node)
        place = next(
            ("{}:{}".format(each.filename, each.lineno) for each in run.calls(node)
             if "tensorflow" not in each.filename), ""
        )  # fmt: skip
        if cell is None or place in said:
            continue
        said.add(place)
        yield Sight(
            host.slow_recurrent_layer,
            node,
            phrase("dynamic_rnn turns a {} into a TensorFlow loop: {}", cell, named([node.name])),
            "DynamicRNN and DynamicGRUV2 of npu_bridge run the layer as one operator "
            "(for time-major input and one layer; the layout of the weights differs: train again)",
        )


def _cell(run: RunGraph, node: Node) -> Optional[str]:
    """The class of the recurrent cell that made an operation, where it is one of those."""
    for frame in reversed(tuple(run.calls(node))):  # wrappers of cells are on the way
        is_call = frame.filename.endswith("rnn_cell_impl.py") and frame.name == "call"
        if is_call and frame.func_start_lineno in run.process.cells:
            return run.process.cells[frame.func_start_lineno]
    return None


def _gelu(run: RunGraph) -> Iterator[Sight]:
    def is_gelu(node: Node) -> bool:
        nodes = itertools.islice(run.before(node, *_PRODUCTS), 49)
        return {_CUBE, _SLOPE} <= {each for one in nodes for each in _factors(run, one)}

    # Graphs have many Tanh, but few have the constant: nothing is followed before there is one.
    if run.any("Tanh") and any(
        _CUBE in _factors(run, each) for each in run.every("Const") if constants.is_float(each)
    ):
        for node in run.of("Tanh", where=is_gelu):
            yield Sight(
                host.slow_gelu,
                node,
                phrase(
                    "{} is part of a gelu that is computed by single operations",
                    named([node.name]),
                ),
                "npu_unary_ops.gelu(x) replaces about eight operators with one operator",
            )


def _factors(run: RunGraph, node: Node) -> Tuple[float, ...]:
    """A constant that something is computed with, and its root: tf.sqrt(2 / pi) in a graph."""
    value = constants.scalar(run, node) if node.op == "Const" else None
    if value is None:
        return ()
    return tuple(round(each, 4) for each in (value, *([value**0.5] if value > 0 else [])))
