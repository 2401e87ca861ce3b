"""The rules that the readers of dumps, graphs, references and result tables apply."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_FACTS = "docs/en/tfadapter_1/migration/others/dump_data_collect.md"

NOT_A_DUMP = declare(
    "NPU313",
    "not-a-dump-file",
    Severity.ERROR,
    """
    A file is not a dump of the NPU.

    A dump begins with the length of its header, eight bytes with the lowest first; the header
    is a protobuf message that names the operator and its tensors; their bytes follow.  Text,
    archives, `.npy` files, empty files and the files of Nano chips are not dumps.

    Wrong: `npu-config dump show train.log`

    Right: `npu-config dump show Add.loss_add.8.2.1767323045000002`
    """,
    source=(_FACTS,),
)

INCOMPLETE = declare(
    "NPU314",
    "dump-file-incomplete",
    Severity.ERROR,
    """
    A dump ends before the data that its header names.

    The runtime leaves out what does not fit when the disk is full, and a job that was killed
    leaves the file it was writing.  `npu-config dump show` still shows the header and the
    tensors that are whole.

    Right: free the disk, dump fewer steps or layers (`dump_step`, `dump_layer`), and run again.
    """,
    source=(_FACTS,),
)

TRAILING = declare(
    "NPU315",
    "bytes-behind-dump",
    Severity.ERROR,
    """
    A dump holds more bytes than its header names.

    Which tensor the surplus belongs to cannot be known, so no value of the file is certain.
    Two writers may have used one file, or a copy was appended to an old one.

    Right: dump into an empty folder again.
    """,
    source=(_FACTS,),
)

SHAPE_AND_SIZE = declare(
    "NPU316",
    "shape-exceeds-size",
    Severity.ERROR,
    """
    The shape of a tensor needs more bytes than the header says the tensor has.

    The tensor may be larger than its shape (devices align it); it cannot be smaller.  The
    header is damaged, or the operator wrote a shape that it did not compute.

    Right: dump the operator again; `npu-config dump show` shows its other tensors.
    """,
    source=(_FACTS,),
)

VALUES_UNKNOWN = declare(
    "NPU317",
    "values-cannot-be-decoded",
    Severity.ERROR,
    """
    Nobody documents how the values of this data type are stored.

    This holds for DT_INT4, DT_STRING and other types of less than a byte or without a fixed
    size.  The header can be read, and the bytes are exported as they are.
    """,
    source=(_FACTS,),
)

LAYOUT_UNKNOWN = declare(
    "NPU318",
    "layout-cannot-be-converted",
    Severity.ERROR,
    """
    A tensor cannot be brought to the layout of the network.

    Its format on the device is not documented (NC1HWC0_C04, FRACTAL_ZN_LSTM and others), or
    the two shapes in the header contradict it.  The array as the device stores it can be read.

    Right: `npu-config dump export PATH OUT --layout device`
    """,
    source=(_FACTS,),
)

NO_DATA = declare(
    "NPU319",
    "tensor-without-data",
    Severity.ERROR,
    """
    The header names a tensor of which the file holds no bytes.

    The runtime skips a tensor that has no address on the device.
    """,
    source=(_FACTS,),
)

NOTHING_FOUND = declare(
    "NPU320",
    "no-dump-found",
    Severity.ERROR,
    """
    A folder holds no dump of the NPU.

    Dumps are below `dump_path/TIME/DEVICE/MODEL/MODEL_ID/STEP/`.  Overflow detection leaves
    nothing at all when nothing overflowed.  `.npy` files are the reference of a comparison, its
    second argument.

    Wrong: `npu-config dump compare tf_npy npu_dump`

    Right: `npu-config dump compare npu_dump tf_npy`
    """,
    source=(_FACTS, "docs/en/tfadapter_1/migration/others/overflow_data_collect.md"),
)

NO_RECORD = declare(
    "NPU321",
    "not-an-overflow-record",
    Severity.ERROR,
    """
    A file is not a record of an overflow.

    Overflow detection writes `Opdebug.Node_OpDebug.*` beside the dump of the operator: 2048
    bytes with the status of each unit, or one record that begins with 0x5A5A5A5A.

    Right: give the folder that holds both files.
    """,
    source=("docs/en/tfadapter_1/migration/others/overflow_data_collect.md",),
)

OVERFLOW = declare(
    "NPU322",
    "overflow-detected",
    Severity.ERROR,
    """
    An operator overflowed.

    The record says on which unit and, for the AI Core, in which kind of computation.  Start
    with the first one in time; what follows it is often its consequence.

    Right: keep the operator in float32 (`keep_dtype` or the mixlist), lower the loss scale, or
    correct the input that is out of range already.
    """,
    source=("docs/en/tfadapter_1/migration/others/overflow_data_collect.md",),
)

BAD_GRAPH = declare(
    "NPU323",
    "not-a-graph-of-the-engine",
    Severity.ERROR,
    """
    A file is not a graph that the graph engine wrote.

    Read are `ge_proto_*_Build.txt` (set `DUMP_GE_GRAPH=2`) and its form in JSON.  Texts of up
    to 256 MiB are read.

    Right: `npu-config dump compare npu_dump tf_npy --graph ge_proto_00012_Build.txt`
    """,
    source=("docs/en/tfadapter_1/migration/others/dump_data_collect.md",),
)

OTHER_GRAPH = declare(
    "NPU324",
    "graph-of-another-model",
    Severity.WARNING,
    """
    The graph names none of the operators that were dumped.

    It is the graph of another model, or of another stage.  The comparison goes by the headers
    and the names alone.

    Right: the graph of the stage `Build` whose name is the folder of the dump.
    """,
    source=(_FACTS,),
)

OTHER_STEPS = declare(
    "NPU325",
    "steps-differ",
    Severity.WARNING,
    """
    The two sides of a comparison are not of the same step.

    Values of different iterations differ anyway.  A reference of TensorFlow counts its runs,
    a dump its iterations; where both have exactly one, they are compared.

    Right: choose with `--step` and `--reference-step`.
    """,
    source=(_FACTS,),
)

SEVERAL_FILES = declare(
    "NPU326",
    "several-dumps-of-one-operator",
    Severity.INFO,
    """
    One operator has several files in one step.

    A collective operator leaves one file before it runs and one after; a loop inside the graph
    leaves one for each round.  Inputs are taken from the first that has inputs, outputs from
    the last that has outputs.
    """,
    source=(_FACTS,),
)

BAD_REFERENCE = declare(
    "NPU327",
    "reference-unreadable",
    Severity.ERROR,
    """
    A file of the reference cannot be compared with.

    The reference is a folder of `.npy` files with the names `OPERATOR.OUTPUT.TIME.npy`, what
    `npu-config tfdbg-export` or `npu-config dump export` wrote, or a second dump of the NPU.
    Arrays of objects, damaged files and files that are cut cannot be read.
    """,
    source=("docs/en/tfadapter_1/migration/accuracy_debugging/network_accuracy_comparison.md",),
)

NOTHING_MATCHED = declare(
    "NPU328",
    "nothing-to-compare",
    Severity.ERROR,
    """
    No tensor of the dump has a counterpart in the reference.

    The names do not meet: the reference is of another network, or the dump needs the graph
    that says which operators of the network a fused one stands for.

    Right: add `--graph ge_proto_*_Build.txt`, and dump the same network on both sides.
    """,
    source=("docs/en/tfadapter_1/migration/accuracy_debugging/network_accuracy_comparison.md",),
)

DIVERGES = declare(
    "NPU329",
    "operator-diverges",
    Severity.ERROR,
    """
    An output of an operator differs from the reference, while its inputs agree.

    A low cosine similarity is a sure sign; a high one is no proof of the opposite.  The first
    such operator in the order of execution is where to look; what comes after it is often its
    consequence.

    Right: dump this operator with its inputs, switch the fusion that made it off, or keep it
    in float32; `--next-config` writes the configuration for that.
    """,
    source=("docs/en/tfadapter_1/migration/accuracy_debugging/network_accuracy_comparison.md",),
)

BAD_STATISTICS = declare(
    "NPU330",
    "statistics-unreadable",
    Severity.ERROR,
    """
    A `.csv` file in a dump is not a table of statistics.

    `dump_data: "stats"` writes a table with the columns Input/Output, Index, Data Size, Data
    Type, Format, Shape and numbers such as Max Value.
    """,
    source=("docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md",),
)

BAD_RESULT = declare(
    "NPU331",
    "result-table-unreadable",
    Severity.ERROR,
    """
    A file is not the result table of a comparison.

    Read are the tables of both generations: with the columns NPUDump and GroundTruth, and the
    old ones with LeftOp and RightOp.

    Right: `npu-config dump result result_20260102030405.csv`
    """,
    source=(
        "docs/en/tfadapter_1/migration/accuracy_debugging/network_accuracy_comparison_result_file.md",
    ),
)
