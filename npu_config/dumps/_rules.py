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

    A dump begins with eight bytes that contain the length of its header (little-endian).  The
    header is a protobuf message that names the operator and its tensors; the data of the
    tensors follows.  Text files, archives, `.npy` files, empty files and the files of Nano
    chips are not dumps.

    Wrong: `npu-config dump show train.log`

    Right: `npu-config dump show Add.loss_add.8.2.1767323045000002`
    """


@declare("NPU314", Severity.ERROR, source=_DUMPS)
def dump_file_incomplete() -> None:
    """A dump file is truncated: it ends before the data that its header describes.

    When the disk is full, the runtime writes only a part of the file; a job that is killed
    while it writes a file leaves this file incomplete.  `npu-config dump show` still shows the
    header and the complete tensors.

    Right: free disk space, dump fewer steps or layers (`dump_step`, `dump_layer`), and run
    again.
    """


@declare("NPU315", Severity.ERROR, source=_DUMPS)
def bytes_behind_dump() -> None:
    """A dump file has more bytes than its header describes.

    It is not known to which tensor the extra bytes belong, so no value in the file is
    reliable. Two processes may have written to the same file, or data was appended to an old
    file.

    Right: dump again, into an empty folder.
    """


@declare("NPU316", Severity.ERROR, source=_DUMPS)
def shape_exceeds_size() -> None:
    """The shape of a tensor needs more bytes than the header says the tensor has.

    The data of a tensor may be larger than its shape needs, because devices align it, but it
    cannot be smaller.  Either the header is damaged, or the operator reported a shape that
    differs from the result that it computed.

    Right: dump the operator again; `npu-config dump show` shows its other tensors.
    """


@declare("NPU317", Severity.ERROR, source=_DUMPS)
def values_cannot_be_decoded() -> None:
    """The storage format of this data type is not documented.

    This applies to DT_INT4, DT_STRING and other types that are smaller than a byte or have no
    fixed size.  The header can be read, and the bytes are exported unchanged.
    """


@declare("NPU318", Severity.ERROR, source=_DUMPS)
def layout_cannot_be_converted() -> None:
    """A tensor cannot be converted from its layout on the device to its original layout.

    The format of the tensor on the device is not documented (NC1HWC0_C04, FRACTAL_ZN_LSTM and
    others), or the two shapes in the header contradict the format.  The tensor can still be
    read in its layout on the device.

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

    Dumps are stored below `dump_path/TIME/DEVICE/MODEL/MODEL_ID/STEP/`.  Overflow detection
    writes no files if nothing overflowed.  `.npy` files are the reference of a comparison:
    pass them as its second argument.

    Wrong: `npu-config dump compare tf_npy npu_dump`

    Right: `npu-config dump compare npu_dump tf_npy`
    """


@declare("NPU321", Severity.ERROR, source=_OVERFLOWS)
def not_an_overflow_record() -> None:
    """A file is not an overflow record.

    Overflow detection writes `Opdebug.Node_OpDebug.*` beside the dump of the operator.  The
    file has 2048 bytes with the status of each unit, or contains one record that begins with
    0x5A5A5A5A.

    Right: pass the folder that contains both files.
    """


@declare("NPU322", Severity.ERROR, source=_OVERFLOWS)
def overflow_detected() -> None:
    """An operator overflowed.

    The record shows the unit in which the overflow occurred and, for the AI Core, the kind of
    computation.  Examine the earliest overflow first; later overflows are often its
    consequence.

    Right: keep the operator in float32 (`keep_dtype` or the mixlist), lower the loss scale, or
    correct an input that is already out of range.
    """


@declare("NPU323", Severity.ERROR, source=_DUMPS)
def not_a_graph_of_the_engine() -> None:
    """A file is not a graph dumped by the graph engine.

    npu-config reads `ge_proto_*_Build.txt`, which the engine writes with `DUMP_GE_GRAPH=2`,
    and the same graph as JSON.  A file may have up to 256 MiB.

    Right: `npu-config dump compare npu_dump tf_npy --graph ge_proto_00012_Build.txt`
    """


@declare("NPU324", Severity.WARNING, source=_DUMPS)
def graph_of_another_model() -> None:
    """The graph contains none of the dumped operators.

    It is the graph of another model, or of another stage.  The comparison then uses only the
    headers of the dumps and the names.

    Right: pass the graph of the stage `Build` that has the same name as the folder of the
    dump.
    """


@declare("NPU325", Severity.WARNING, source=_DUMPS)
def steps_differ() -> None:
    """The two sides of a comparison are from different steps.

    Values of different iterations always differ.  A TensorFlow reference numbers its session
    runs, a dump numbers its iterations.  If no number occurs on both sides and the reference
    has only one step, this step is compared with the first step of the dump.

    Right: select the same step on both sides with `--step` and `--reference-step`.
    """


@declare("NPU326", Severity.INFO, source=_DUMPS)
def several_dumps_of_one_operator() -> None:
    """One operator has several dump files in one step.

    A collective operator writes one file before it runs and one after it; a loop inside the
    graph writes one file in each iteration.  The inputs are read from the first file that has
    inputs, the outputs from the last file that has outputs.
    """


@declare("NPU327", Severity.ERROR, source=_COMPARED)
def reference_unreadable() -> None:
    """A reference file cannot be used for the comparison.

    The reference is a folder of `.npy` files with names of the form
    `OPERATOR.OUTPUT.TIME.npy`, the output of `npu-config tfdbg-export` or `npu-config dump
    export`, or a second dump of the NPU. Arrays of Python objects, damaged files and truncated
    files cannot be read.
    """


@declare("NPU328", Severity.ERROR, source=_COMPARED)
def nothing_to_compare() -> None:
    """No tensor of the dump has a matching tensor in the reference.

    The names of the operators differ: the reference is of another network, or the dump
    contains fused operators and the graph is needed, which lists the original operators of
    each fused operator.

    Right: add `--graph ge_proto_*_Build.txt`, and dump the same network on both sides.
    """


@declare("NPU329", Severity.ERROR, source=_COMPARED)
def operator_diverges() -> None:
    """An output of an operator differs from the reference, but its inputs match the reference.

    A low cosine similarity proves a difference; a high one does not prove that there is none.
    Examine the first such operator in the order of execution; later differences are often its
    consequence.

    Right: dump this operator with its inputs, switch off the fusion pass that created it, or
    keep it in float32; `--next-config` writes the configuration for these steps.
    """


@declare("NPU3014", Severity.ERROR, source=_COMPARED)
def inputs_of_network_differ() -> None:
    """The inputs or the weights of the network differ between the sides of a comparison.

    Then all later tensors differ as well, and no operator is the cause: the two sides use
    different batches, prepare the data in different ways, or load weights from different
    checkpoints.  Fed values, outputs of iterators and weights are compared first.

    Wrong: compare a dump of the NPU with a reference of the CPU, when the two runs shuffle the
    data set differently.

    Right: feed the same data to both sides (a saved batch, or the same seed and no shuffling),
    and start both from the same checkpoint.
    """


@declare("NPU3015", Severity.ERROR, source=_COMPARED)
def too_little_compared() -> None:
    """The compared tensors agree, but too little of the network was compared.

    More than half of the operators have no counterpart in the reference, or the last operators
    have none, or a file of the reference cannot be read.  An error in these operators is not
    found.  When ranks are compared, every tensor that must be equal on all ranks is compared.

    Right: create the reference from the same network, with all operators; pass the graph
    (`--graph`), so that more operators can be matched; exclude tensors that do not matter with
    `--ignore PATTERN`.
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

    npu-config reads two forms of the table: the new one with the columns NPUDump and
    GroundTruth, and the old one with the columns LeftOp and RightOp.

    Right: `npu-config dump result result_20260102030405.csv`
    """


@declare("NPU3010", Severity.ERROR, source=(*_DUMPS, *_OVERFLOWS))
def odd_values() -> None:
    """A tensor holds NaN, infinities or values at the limit of its type.

    Atlas training products saturate: after an overflow, a float16 value is 65504.  Other
    products keep infinity.  In the order of execution, examine the first operator whose inputs
    are clean and whose output is not: later such values are often its consequence.  A constant
    may contain the limit on purpose, for example in the mask of an attention layer.

    Right: keep the operator in float32, lower the loss scale, or correct its inputs.
    """


@declare("NPU3011", Severity.ERROR, source=("npu_config",))
def search_unreadable() -> None:
    """A file is not the state file of a search, or belongs to another search.

    `npu-config dump search STATE` stores the suspects and the runs of a search in this file,
    and continues the search from it.  The file belongs to one network and one configuration.

    Right: use a new file for another network, another configuration or a different list of
    suspects.
    """


@declare("NPU3012", Severity.ERROR, source=("npu_config",))
def search_without_result() -> None:
    """A search for the cause fails: the result is wrong even with all changes applied together.

    The cause is something that the search did not change, such as the input, the algorithm or
    an operator that is not in the list of suspects; or the result is wrong because a fusion
    pass is switched off that must not be switched off.

    Right: compare the inputs first (`npu-config dump compare`), then start a new search with a
    different list of suspects.
    """
