"""The rules that the JSON reader applies: what every strict JSON parser of the runtime refuses."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

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
    help="JSON has no comments, no comma before a closing bracket, and text in double quotes only",
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
    """One object has the same key twice.

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
    """A comma is before a closing bracket, or where no entry follows.

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
