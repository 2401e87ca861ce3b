"""The rules that the readers of dumps, graphs, references and result tables apply."""

from npu_config.core.diagnostics import Severity, declare

_OTHERS = "docs/en/tfadapter_1/migration/others/"
_COMPARISON = "docs/en/tfadapter_1/migration/accuracy_debugging/network_accuracy_comparison"
_DUMPS = (_OTHERS + "dump_data_collect.md",)
_OVERFLOWS = (_OTHERS + "overflow_data_collect.md",)
_COMPARED = (_COMPARISON + ".md",)


@declare("NPU313", Severity.ERROR, source=_DUMPS)
def not_a_dump_file() -> None:
    """A file is not an NPU dump.

    A dump begins with the length of its header, eight bytes with the lowest first; the header
    is a protobuf message that names the operator and its tensors; their bytes follow.  Text,
    archives, `.npy` files, empty files and the files of Nano chips are not dumps.

    Wrong: `npu-config dump show train.log`

    Right: `npu-config dump show Add.loss_add.8.2.1767323045000002`
    """


@declare("NPU314", Severity.ERROR, source=_DUMPS)
def dump_file_incomplete() -> None:
    """A dump file is truncated: it ends before the data that its header describes.

    The runtime leaves out what does not fit when the disk is full, and a job that was killed
    leaves the file it was writing.  `npu-config dump show` still shows the header and the
    tensors that are whole.

    Right: free the disk, dump fewer steps or layers (`dump_step`, `dump_layer`), and run again.
    """


@declare("NPU315", Severity.ERROR, source=_DUMPS)
def bytes_behind_dump() -> None:
    """A dump file has more bytes than its header describes.

    Which tensor the surplus belongs to cannot be known, so no value of the file is certain.
    Two writers may have used one file, or a copy was appended to an old one.

    Right: dump into an empty folder again.
    """


@declare("NPU316", Severity.ERROR, source=_DUMPS)
def shape_exceeds_size() -> None:
    """The shape of a tensor needs more bytes than the header says the tensor has.

    The tensor may be larger than its shape (devices align it); it cannot be smaller.  The
    header is damaged, or the operator wrote a shape that it did not compute.

    Right: dump the operator again; `npu-config dump show` shows its other tensors.
    """


@declare("NPU317", Severity.ERROR, source=_DUMPS)
def values_cannot_be_decoded() -> None:
    """The storage format of this data type is not documented.

    This holds for DT_INT4, DT_STRING and other types of less than a byte or without a fixed
    size.  The header can be read, and the bytes are exported as they are.
    """


@declare("NPU318", Severity.ERROR, source=_DUMPS)
def layout_cannot_be_converted() -> None:
    """A tensor cannot be converted from its layout on the device to its original layout.

    Its format on the device is not documented (NC1HWC0_C04, FRACTAL_ZN_LSTM and others), or
    the two shapes in the header contradict it.  The array as the device stores it can be read.

    Right: `npu-config dump export PATH OUT --layout device`
    """


@declare("NPU319", Severity.ERROR, source=_DUMPS)
def tensor_without_data() -> None:
    """The header describes a tensor, but the file has no data for this tensor.

    The runtime skips a tensor that has no address on the device.
    """


@declare("NPU320", Severity.ERROR, source=(*_DUMPS, *_OVERFLOWS))
def no_dump_found() -> None:
    """A directory contains no NPU dump.

    Dumps are below `dump_path/TIME/DEVICE/MODEL/MODEL_ID/STEP/`.  Overflow detection leaves
    nothing at all when nothing overflowed.  `.npy` files are the reference of a comparison, its
    second argument.

    Wrong: `npu-config dump compare tf_npy npu_dump`

    Right: `npu-config dump compare npu_dump tf_npy`
    """


@declare("NPU321", Severity.ERROR, source=_OVERFLOWS)
def not_an_overflow_record() -> None:
    """A file is not an overflow record.

    Overflow detection writes `Opdebug.Node_OpDebug.*` beside the dump of the operator: 2048
    bytes with the status of each unit, or one record that begins with 0x5A5A5A5A.

    Right: give the folder that holds both files.
    """


@declare("NPU322", Severity.ERROR, source=_OVERFLOWS)
def overflow_detected() -> None:
    """An operator overflowed.

    The record says on which unit and, for the AI Core, in which kind of computation.  Start
    with the first one in time; what follows it is often its consequence.

    Right: keep the operator in float32 (`keep_dtype` or the mixlist), lower the loss scale, or
    correct the input that is out of range already.
    """


@declare("NPU323", Severity.ERROR, source=_DUMPS)
def not_a_graph_of_the_engine() -> None:
    """A file is not a graph dumped by the graph engine.

    Read are `ge_proto_*_Build.txt` (set `DUMP_GE_GRAPH=2`) and its form in JSON.  Texts of up
    to 256 MiB are read.

    Right: `npu-config dump compare npu_dump tf_npy --graph ge_proto_00012_Build.txt`
    """


@declare("NPU324", Severity.WARNING, source=_DUMPS)
def graph_of_another_model() -> None:
    """The graph contains none of the dumped operators.

    It is the graph of another model, or of another stage.  The comparison goes by the headers
    and the names alone.

    Right: the graph of the stage `Build` whose name is the folder of the dump.
    """


@declare("NPU325", Severity.WARNING, source=_DUMPS)
def steps_differ() -> None:
    """The two sides of a comparison are from different steps.

    Values of different iterations differ anyway.  A reference of TensorFlow counts its runs,
    a dump its iterations; where both have exactly one, they are compared.

    Right: choose with `--step` and `--reference-step`.
    """


@declare("NPU326", Severity.INFO, source=_DUMPS)
def several_dumps_of_one_operator() -> None:
    """One operator has several dump files in one step.

    A collective operator leaves one file before it runs and one after; a loop inside the graph
    leaves one for each round.  Inputs are taken from the first that has inputs, outputs from
    the last that has outputs.
    """


@declare("NPU327", Severity.ERROR, source=_COMPARED)
def reference_unreadable() -> None:
    """A reference file cannot be used for the comparison.

    The reference is a folder of `.npy` files with the names `OPERATOR.OUTPUT.TIME.npy`, what
    `npu-config tfdbg-export` or `npu-config dump export` wrote, or a second dump of the NPU.
    Arrays of objects, damaged files and files that are cut cannot be read.
    """


@declare("NPU328", Severity.ERROR, source=_COMPARED)
def nothing_to_compare() -> None:
    """No tensor of the dump has a matching tensor in the reference.

    The names do not meet: the reference is of another network, or the dump needs the graph
    that says which operators of the network a fused one stands for.

    Right: add `--graph ge_proto_*_Build.txt`, and dump the same network on both sides.
    """


@declare("NPU329", Severity.ERROR, source=_COMPARED)
def operator_diverges() -> None:
    """An output of an operator differs from the reference, but its inputs match the reference.

    A low cosine similarity is a sure sign; a high one is no proof of the opposite.  The first
    such operator in the order of execution is where to look; what comes after it is often its
    consequence.

    Right: dump this operator with its inputs, switch the fusion that made it off, or keep it
    in float32; `--next-config` writes the configuration for that.
    """


@declare("NPU3014", Severity.ERROR, source=_COMPARED)
def inputs_of_network_differ() -> None:
    """The inputs or the weights of the network differ between the sides of a comparison.

    Everything that follows differs, then, and no operator is to blame: the data is another
    batch, is prepared in another way, or the weights are of another checkpoint.  Feeds, outputs
    of iterators and weights are compared before anything else.

    Wrong: a dump of the NPU with a shuffled data set, and a reference of the CPU with another
    order.

    Right: feed both sides the same data (a saved batch, the same seed, no shuffling), and
    start from the same checkpoint.
    """


@declare("NPU3015", Severity.ERROR, source=_COMPARED)
def too_little_compared() -> None:
    """The compared tensors agree, but too little of the network was compared.

    More than half of the operators have no counterpart in the reference, or the last ones have
    none, or the reference has one that cannot be read.  A fault there is not seen.  Between
    ranks every tensor that has to be equal is compared.

    Right: make the reference of the same network and of all operators; give the graph
    (`--graph`), by which more operators are matched; leave out on purpose what does not count
    (`--ignore PATTERN`).
    """


@declare(
    "NPU330",
    Severity.ERROR,
    source=("docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md",),
)
def statistics_unreadable() -> None:
    """A `.csv` file in a dump is not a table of statistics.

    `dump_data: "stats"` writes a table with the columns Input/Output, Index, Data Size, Data
    Type, Format, Shape and numbers such as Max Value.
    """


@declare("NPU331", Severity.ERROR, source=(_COMPARISON + "_result_file.md",))
def result_table_unreadable() -> None:
    """A file is not the result table of a comparison.

    Read are the tables of both generations: with the columns NPUDump and GroundTruth, and the
    old ones with LeftOp and RightOp.

    Right: `npu-config dump result result_20260102030405.csv`
    """


@declare("NPU3010", Severity.ERROR, source=(*_DUMPS, *_OVERFLOWS))
def odd_values() -> None:
    """A tensor holds NaN, infinities or values at the limit of its type.

    Atlas training products saturate: 65504 in float16 is the sign of an overflow there, others
    keep infinity.  The first such output with clean inputs in the order of execution is where
    they began; what comes after it is often its consequence.  A constant may hold the limit on
    purpose, such as the mask of an attention.

    Right: keep the operator in float32, lower the loss scale, or correct its inputs.
    """


@declare("NPU3011", Severity.ERROR, source=("npu_config",))
def search_unreadable() -> None:
    """A file is not the state file of a search, or belongs to another search.

    `npu-config dump search STATE` keeps its suspects and runs there, and continues with them.  The
    state belongs to one network and one configuration.

    Right: name a new file for another network, another configuration or other suspects.
    """


@declare("NPU3012", Severity.ERROR, source=("npu_config",))
def search_without_result() -> None:
    """A search for the cause fails: the result is wrong even with all changes applied together.

    All changes together do not help.  The cause is something else, such as the input, the
    algorithm or an operator that was no suspect; or one of the passes must not be switched off.

    Right: compare the inputs first (`npu-config dump compare`), and begin another search, with
    other suspects.
    """
