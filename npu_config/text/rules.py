"""The rules about text as such: files that cannot be read, or hold more than any real one."""

from typing import Optional

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare


@declare(
    "NPU701", Severity.ERROR, source=("npu_config",), help="check the path and the read permission"
)
def unreadable_file() -> None:
    """A file cannot be read, or is not UTF-8 text where text is expected.

    The file does not exist, is a directory, cannot be read by this user, was removed during the
    check, or was saved in another encoding.  All other files are still checked.

    Wrong:

        npu-config check npu.ymal

    Right:

        npu-config check npu.yaml
    """


@declare(
    "NPU702",
    Severity.ERROR,
    source=("YAML 1.1", "TOML 1.0", "the text format of protobuf"),
    help="correct the line",
)
def unparsable_file() -> None:
    """The file does not have the format that its name indicates.

    The part before the fault is checked; entries that seem to be missing are not reported.

    Wrong, in a TOML file:

        precision_mode: allow_mix_precision

    Right:

        precision_mode = "allow_mix_precision"
    """


@declare(
    "NPU703",
    Severity.ERROR,
    source=("npu_config",),
    help="split the file, or pass the path of the right file",
)
def file_too_large() -> None:
    """A file is too large, too deeply nested or has too many values, and is not read.

    The message states the limit.  There are 108 options, so a configuration file has a few
    kilobytes.  The limits prevent that an unsuitable file (a log named `.yaml`, deeply nested
    aliases) uses up the memory of the machine.
    """


@declare("NPU784", Severity.INFO, source=("npu_config",))
def not_checked_here() -> None:
    """A file is of a known type that is not checked, or a part of a script is not checked.

    Not checked are notebooks, and scripts for the adapter of TensorFlow 2 (`import npu_device`),
    whose options have other names and other rules.  Nothing in such a file is reported.  With
    `--strict`, the command fails if such a file is on the command line.

    A TensorFlow script for GPUs, or with Horovod, is also not checked as long as neither the
    script nor a file that it imports is for the NPU: `npu-config migrate` shows what to change.
    The same is true of a script for PyTorch or another framework that is on the command line.  In
    a directory, such scripts are at most counted.

    In a training script, the finding marks a line that may set options but cannot be followed:
    code in a string, a configuration that a function of another file creates, a file or option
    names that are known only at run time.  In a launch script, it marks a line that may set an NPU
    variable but cannot be followed: a file that is not found, text that is not known, a function
    that is never called.  The script counts as partly not checked.

    Wrong: `npu-config check train.ipynb`

    Right: `jupyter nbconvert --to script train.ipynb`, and `npu-config check train.py`
    """


@declare(
    "NPU709",
    Severity.WARNING,
    source=("npu_config",),
    help="npu-config init writes a configuration file to start from",
)
def nothing_to_check() -> None:
    """A file is empty, or a directory has no file to check.

    No file has a fault, but there is nothing to check, which is probably not intended.  A script
    that contains only comments counts as empty; an `__init__.py` may be empty.
    """


def empty_program(path: Optional[str]) -> Diagnostic:
    """What is said of a script that was named and is empty."""
    return nothing_to_check.diagnostic(
        "the file contains no code; there is nothing to check", Place(path), help="check the path"
    )


_GE = "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/"


@declare(
    "NPU710",
    Severity.ERROR,
    facts=("modify-mixlist-file", "rank-table-file", "ge-file-checks-abort"),
    source=(
        "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md",
        _GE + "modify_mixlist_config_parser.cc",
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
    ),
)
def json_comment() -> None:
    """A JSON file has comments.

    The samples of `ops_info.json` and of rank tables in the vendor's documentation contain `//`
    comments, and the text beside them says to delete the comments: the graph engine and HCCL read
    strict JSON. With comments in a mixed-precision list, the graph engine fails to initialise, and
    the adapter then aborts the process; with comments in a rank table, HCCL fails to initialise,
    or hangs.  `--fix` and `npu-config format` remove the comments.

    Wrong:

    ```json
    {"black-list": {            // keep these in float32
      "to-add": ["ReduceSum"]}}
    ```

    Right:

    ```json
    {"black-list": {
      "to-add": ["ReduceSum"]}}
    ```
    """


@declare(
    "NPU711",
    Severity.ERROR,
    facts=(
        "modify-mixlist-file",
        "fusion-switch-file",
        "profiling-options-json",
        "aoe-config-file",
        "rank-table-file",
    ),
    source=("RFC 8259",),
    help="remove comments and commas before closing brackets; write text in double quotes",
)
def json_syntax() -> None:
    """The text is not JSON.

    The graph engine, HCCL, AOE and the profiler read strict JSON (RFC 8259): strings in double
    quotes, `true`, `false` and `null` in lower case, a `,` between entries and a `:` after each
    key, every bracket closed, and one value with nothing after it.  A file that breaks one of
    these rules is rejected as a whole.

    Wrong:

    ```json
    {'black-list': {"to-add": ["ReduceSum" "Pow"]}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum", "Pow"]}}
    ```
    """


@declare("NPU712", Severity.WARNING, source=("RFC 8259, section 4",))
def json_duplicate_key() -> None:
    """A JSON object has the same key twice.

    JSON parsers do not report this: one of the two values is lost without any message, and it
    depends on the parser which one. npu_config uses the last one.

    Wrong:

    ```json
    {"black-list": {"to-add": ["Pow"]}, "black-list": {"to-add": ["Exp"]}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["Pow", "Exp"]}}
    ```
    """


@declare(
    "NPU713",
    Severity.ERROR,
    facts=("modify-mixlist-file", "rank-table-file"),
    source=("RFC 8259, section 5",),
)
def json_trailing_comma() -> None:
    """There is a superfluous comma, such as one before a closing bracket.

    Python and JavaScript allow this comma, but JSON does not: strict parsers reject the whole
    file.  `--fix` and `npu-config format` remove the comma.

    Wrong:

    ```json
    {"black-list": {"to-add": ["ReduceSum", "Pow",]}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum", "Pow"]}}
    ```
    """


@declare("NPU714", Severity.WARNING, source=("RFC 8259, section 8.1",))
def json_byte_order_mark() -> None:
    """A JSON file starts with a byte order mark.

    Some editors on Windows write these three bytes (EF BB BF) in front of UTF-8 text.  RFC 8259
    forbids them, but lets each parser decide whether it accepts them, so the file may be
    rejected.  `--fix` removes the mark.

    Wrong: `EF BB BF 7B 7D`, right: `7B 7D` (the file `{}`).
    """
