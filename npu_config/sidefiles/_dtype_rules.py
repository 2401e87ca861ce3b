"""The rules of customize_dtypes.cfg."""

from functools import partial

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_PARSER = (
    "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/op_cust_dtypes_config_parser.cc"
)

_rule = partial(declare, options=("customize_dtypes",), facts=("customize-dtypes-file",))


@_rule(
    "NPU735",
    Severity.ERROR,
    facts=("customize-dtypes-file", "ge-file-checks-abort"),
    source=(_DOC, _PARSER),
    help="write one operator a line, in no more than 1023 bytes",
)
def customize_dtypes_line() -> None:
    """A line of the data type file cannot be read.

    A line names one operator, with `InputDtype` and/or `OutputDtype` in this order. The first
    colon ends the name, so one or two may follow it; `OpType::` in the first column makes it a
    type. After a line of more than 1023 bytes nothing is read (a warning).  One unreadable
    line fails the initialisation of the graph engine ("The content format of the customization
    file is incorrect"); the adapter then aborts the process.

    Wrong:

    ```
    net/block1/Relu:OutputDtype:float16,InputDtype:float16
    ```

    Right:

    ```
    net/block1/Relu::InputDtype:float16,OutputDtype:float16
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule("NPU736", Severity.ERROR, source=(_PARSER,))
def customize_dtypes_comment() -> None:
    """The data type file has a comment or a blank line.

    The sample of the documentation has lines that begin with `#`; the graph engine refuses a
    file with such a line, or with a blank one, as a whole.  `--fix` and `npu-config format`
    take them out.

    Wrong:

    ```
    # the head
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```

    Right:

    ```
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule(
    "NPU737",
    Severity.ERROR,
    source=(_DOC, _PARSER, "cann/ge:graph_metadef/base/utils/type_utils_inner.cc:80-125"),
)
def customize_dtypes_dtype() -> None:
    """A data type in the data type file does not exist.

    The names are those of the graph engine, in any case: `bfloat16`, not `bf16`.  An empty
    position keeps the data type.  An unknown name makes the line unreadable, and with it the
    file.

    Wrong: `OpType::Softmax:InputDtype:bf16,OutputDtype:fp32`

    Right: `OpType::Softmax:InputDtype:bfloat16,OutputDtype:float32`
    """


@_rule("NPU738", Severity.WARNING, source=(_PARSER,), help="keep one of the two lines")
def customize_dtypes_repeated() -> None:
    """The data type file names an operator twice.

    The second entry for a name, or for a type, is ignored; the log has a warning.

    Wrong:

    ```
    OpType::Softmax:InputDtype:float
    OpType::Softmax:OutputDtype:float
    ```

    Right:

    ```
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule("NPU739", Severity.WARNING, facts=("customize-dtypes-name-lost",), source=(_DOC,))
def customize_dtypes_name_lost() -> None:
    """The data type file names a node that the compiled graph does not have.

    Names may vanish when operators are fused or split; the entry then does not apply, in
    silence.  Checked when the node names of the compiled graph are given
    (`check(model, nodes=...)`).  An entry by operator type does not depend on names.

    Wrong, when net/Relu was fused into net/Conv2D: `net/Relu::InputDtype:float16`

    Right: `OpType::Relu:InputDtype:float16`
    """


@_rule("NPU740", Severity.ERROR, facts=("customize-dtypes-supported",), source=(_DOC,))
def customize_dtypes_unsupported() -> None:
    """An operator does not support the data type that the data type file gives it.

    The compilation fails.  What an operator supports is in the operator library; checked
    when a library file (aic-<soc>-ops-info) is given.

    Wrong, when Softmax takes float16 and float: `OpType::Softmax:InputDtype:int8`

    Right: `OpType::Softmax:InputDtype:float16`
    """
