"""What is known about operation types.

Source: the op registry of TensorFlow 1.15 (and the names that 2.x added); the vendor's
float-status operators as docs/en/tfadapter_1/apiref names them.
"""

import re

from npu_config.diagnosis.graph.model import Node

DT_STRING = 7
DT_HALF = 19
DT_RESOURCE = 20
DT_VARIANT = 21

VARIABLES = frozenset(
    (
        "AutoReloadVariable",
        "TemporaryVariable",
        "VarHandleOp",
        "Variable",
        "VariableV2",
        "_VarHandlesOp",
    )
)
TABLE_USES = re.compile(r"LookupTable(Find|Size|Export|Insert|Remove|Import)")
VARIABLE_USES = re.compile(r"ReadVariable|Resource(Gather|Scatter)|Assign(Add|Sub)?(VariableOp)?$")

GET_NEXT = frozenset(
    (
        "IteratorGetNext",
        "IteratorGetNextAsOptional",
        "IteratorGetNextSync",
        "MultiDeviceIteratorGetNextFromShard",
    )
)
PLACEHOLDERS = frozenset(("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"))
_DEQUEUES = frozenset(
    ("QueueDequeue", "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo",
     "QueueDequeueUpToV2", "QueueDequeueV2", "Recv", "_Recv", "OutfeedDequeueOp")
)  # fmt: skip
#: Nodes through which values come in from outside.
SOURCES = GET_NEXT | PLACEHOLDERS | _DEQUEUES

REF_CONTROL_FLOW = frozenset(("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch"))
V1_CONTROL_FLOW = REF_CONTROL_FLOW | frozenset(
    ("Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch", "_SwitchN")
)
V2_CONTROL_FLOW = frozenset(
    ("Case", "For", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While")
)

#: Types whose output shape depends on the values of their input, not only on its shape.
DATA_DEPENDENT = frozenset(
    ("CTCBeamSearchDecoder", "CTCGreedyDecoder", "DynamicPartition", "ListDiff",
     "NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3",
     "NonMaxSuppressionWithOverlaps", "RaggedRange", "SparseToSparseSetOperation", "StringSplit",
     "StringSplitV2", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "Where")
)  # fmt: skip
#: Types of the same kind that can be told to give a fixed number.
PADDED = ("NonMaxSuppressionV4", "NonMaxSuppressionV5")
#: Types with inputs that hold a shape, a size or a number of elements, and which they are.
SHAPE_OPERANDS = {
    "BroadcastTo": (1,),
    "CropAndResize": (3,),
    "Fill": (0,),
    "LinSpace": (2,),
    "OneHot": (1,),
    "Pad": (1,),
    "PadV2": (1,),
    "MirrorPad": (1,),
    "RandomStandardNormal": (0,),
    "RandomUniform": (0,),
    "RandomUniformInt": (0,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "ResizeArea": (1,),
    "ResizeBicubic": (1,),
    "ResizeBilinear": (1,),
    "ResizeNearestNeighbor": (1,),
    "ScatterNd": (2,),
    "Slice": (2,),
    "SparseToDense": (1,),
    "Tile": (1,),
    "TopKV2": (1,),
    "TruncatedNormal": (0,),
    "UnsortedSegmentMax": (2,),
    "UnsortedSegmentMin": (2,),
    "UnsortedSegmentProd": (2,),
    "UnsortedSegmentSum": (2,),
}
#: Types that look at the shape of their input only.
SHAPE_ONLY = frozenset(("Rank", "Shape", "ShapeN", "Size", "VariableShape"))

_GRADIENT = re.compile(r"Grad(V\d+)?$|Backprop|^BroadcastGradientArgs$|^(Resource)?(Sparse)?Apply")
_UPDATE = re.compile(
    r"^(Resource)?(Sparse)?Apply[A-Z]|^Assign(Add|Sub)?(VariableOp)?$|^(Resource)?Scatter(Nd)?[A-Z]"
)
_FLOAT_STATUS = re.compile(r"^NPU?Get_?FloatStatus(V\d+)?$", re.IGNORECASE)
_ITERATOR = re.compile(r"Iterator")


def is_dataset(node: Node) -> bool:
    """True for a node of the input pipeline, which runs on the host."""
    return node.op == "OneShotIterator" or (
        "Dataset" in node.op and not node.op.startswith("InitializeTable")
    )


def is_on_device(node: Node) -> bool:
    """True for everything that does not belong to a dataset."""
    return not is_dataset(node)


def is_input_pipeline(node: Node) -> bool:
    """True for datasets and the plumbing of iterators, except what yields their elements."""
    return is_dataset(node) or (_ITERATOR.search(node.op) is not None and node.op not in GET_NEXT)


def is_variable(node: Node) -> bool:
    """True for a node that is a variable, or the handle of one."""
    return node.op in VARIABLES


def is_table(node: Node) -> bool:
    """True for a node that makes a lookup table."""
    return "HashTable" in node.op


def is_gradient(node: Node) -> bool:
    """True for operations that only training has."""
    return _GRADIENT.search(node.op) is not None


def is_update(node: Node) -> bool:
    """True for operations that change a variable."""
    return _UPDATE.search(node.op) is not None


def is_float_status(node: Node) -> bool:
    """True for the operation that reads the overflow flag of the device."""
    return _FLOAT_STATUS.match(node.op) is not None
