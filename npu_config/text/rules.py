"""The rules about text as such: files that cannot be read, or hold more than any real one."""

from typing import Optional

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare


@declare(
    "NPU701", Severity.ERROR, source=("npu_config",), help="check the path and the read permission"
)
def unreadable_file() -> None:
    """A file cannot be read, or is not UTF-8 text where text is expected.

    It does not exist, is a directory, may not be read by this user, vanished in the meantime, or
    was saved in another encoding.  The other files are checked all the same.

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

    What could be read before the fault is judged; what seems to be missing is not.

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

    The message states the limit.  A configuration has 108 options; its file is a few kilobytes.
    The limits keep an accident (a log named `.yaml`, a bomb of aliases) from eating the memory
    of the machine that checks it.
    """


@declare("NPU784", Severity.INFO, source=("npu_config",))
def not_checked_here() -> None:
    """A file is of a known type that is not checked, or a part of a script is not checked.

    A notebook, and a script for the adapter of TensorFlow 2 (`import npu_device`), whose options
    have other names and other rules.  Nothing is said about what is in it: it counts as not
    checked, and with `--strict` a file that was named fails.

    A script of TensorFlow for GPUs, or with Horovod, is one of these as long as neither it nor
    a file that it imports is for the NPU: `npu-config migrate` says what to change.  So is a
    script for PyTorch or another framework that was named.  In a directory they are counted at
    most.

    In a script it names the line of what may set options and is not followed: code in a text, a
    configuration that a function of another file makes, a file or names of options that are
    known at run time only.  In a launch script it names what may set a variable of the NPU and is
    not followed: a file that is not found, text that is not known, a function that nobody calls.
    The script counts as not checked, in part.

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

    No file is wrong, but whoever ran the check expected one there.  A script is empty that has
    nothing but comments; an `__init__.py` may be.
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

    The samples of the vendor's documentation for `ops_info.json` and for rank tables carry
    `//` comments, and the text beside them says to delete them: the graph engine and HCCL
    read strict JSON.  A commented mixed-precision list fails the initialisation of the graph
    engine, and the adapter then aborts the process; a commented rank table is an HCCL
    initialisation error, or a hang.  `--fix` and `npu-config format` take the comments out.

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

    The graph engine, HCCL, AOE and the profiler read strict JSON (RFC 8259): text in double
    quotes, `true`, `false` and `null` in lower case, a `,` between entries and a `:` after
    each key, every bracket closed, one value and nothing after it.  A file that is not is
    refused as a whole.

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

    JSON parsers do not complain: one of the two values is lost in silence, and which one
    depends on the parser.  npu_config goes on with the last one.

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

    Python and JavaScript allow it, JSON does not: strict parsers refuse the whole file.
    `--fix` and `npu-config format` take it out.

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

    Some editors on Windows write these three bytes (EF BB BF) in front of UTF-8 text.
    RFC 8259 forbids writing them and leaves it to each parser whether it accepts them, so
    the file may be refused.  `--fix` takes the mark out.

    Wrong: `EF BB BF 7B 7D`, right: `7B 7D` (the file `{}`).
    """
