"""The rules of ops_info.json, the mixed-precision operator lists."""

from functools import partial

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_TUNING = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_MIXED = "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md"
PARSER = (
    "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc"
)

_rule = partial(declare, options=("modify_mixlist",))


@_rule(
    "NPU720",
    Severity.ERROR,
    facts=("modify-mixlist-file", "ge-file-checks-abort"),
    source=(_TUNING, PARSER),
    help='write e.g. {"black-list": {"to-add": ["ReduceSum"], "to-remove": ["Add"]}}',
)
def mixlist_structure() -> None:
    """The mixed-precision list file has a key or a value that does not belong there.

    The top level is an object with the keys `black-list`, `white-list` and `gray-list`; under
    each are `to-add` and `to-remove`, and under those arrays of operator types.  Anything
    else fails the initialisation of the graph engine, and the adapter aborts the process.

    Wrong:

    ```json
    {"black_list": {"to-add": "ReduceSum"}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule(
    "NPU721",
    Severity.ERROR,
    facts=("modify-mixlist-file",),
    source=(PARSER,),
    help="keep one to-add of the operator, with one to-remove from the list that it leaves",
)
def mixlist_contradiction() -> None:
    """One operator is moved in ways that contradict each other.

    Over the whole file an operator may be added to one list, and with that be removed from
    another one; or it may only be removed from the black or the white list.  The graph
    engine refuses everything else (two lists at once, added to and removed from the same
    list, only removed from the gray list) and fails to initialise.

    Wrong:

    ```json
    {"black-list": {"to-add": ["Conv2D"]}, "white-list": {"to-add": ["Conv2D"]}}
    ```

    Right:

    ```json
    {"black-list": {"to-remove": ["Conv2D"]}, "white-list": {"to-add": ["Conv2D"]}}
    ```
    """


@_rule("NPU722", Severity.WARNING, facts=("modify-mixlist-remove-goes-gray",), source=(_MIXED,))
def mixlist_remove_goes_gray() -> None:
    """An operator is only removed from a list.

    It then goes to the gray list (it follows the operator before it), not to the opposite
    list.  To change lists, `to-add` to the new list is enough.

    Wrong, when ReduceSum is meant to be computed in lower precision:

    ```json
    {"black-list": {"to-remove": ["ReduceSum"]}}
    ```

    Right:

    ```json
    {"white-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule(
    "NPU723",
    Severity.WARNING,
    source=(_TUNING,),
    help="write the type of an operator, or remove the entry",
)
def mixlist_operator() -> None:
    """An entry is not an operator type of the operator library.

    The lists hold operator types (`Conv2D`, `MatMul`, `ReduceSumD`), not names of nodes of
    the network.  An entry that is not a type (a lower-case name, one with blanks) changes
    nothing, in silence.  Whether a type exists is checked when an operator library file
    (aic-<soc>-ops-info) is given.

    Wrong:

    ```json
    {"black-list": {"to-add": ["loss/ReduceSum"]}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule("NPU724", Severity.WARNING, source=(PARSER,))
def mixlist_not_in_list() -> None:
    """An operator is removed from a list that it is not in.

    The graph engine writes a warning and goes on.  The list of an operator is in the
    operator library: the flag `precision_reduce` is true for the white list, false for the
    black list, and absent for the gray list.  Checked when a library file is given.

    Wrong, when the library has Pow in the white list: `{"black-list": {"to-remove": ["Pow"]}}`

    Right: `{"white-list": {"to-remove": ["Pow"]}}`
    """
