"""The rules of fusion switch files."""

from functools import partial

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare
from npu_config.core.target import Product

_DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"
PARSER = (
    "cann/ge:compiler/engines/nn_engine/fusion/fusion_config_manager/"
    "fusion_config_parser.cc:560-800"
)

_rule = partial(declare, options=("fusion_switch_file",))


@_rule(
    "NPU725",
    Severity.ERROR,
    facts=("fusion-switch-file", "ge-file-checks-abort"),
    source=(_DOC, PARSER),
    help='write {"Switch": {"GraphFusion": {"PassName": "off"}}}, or lines PassName:off',
)
def fusion_switch_structure() -> None:
    """A fusion switch file has a key, a value or a line that does not belong there.

    The file is a JSON object: under `Switch` are `GraphFusion` and `UBFusion`, and under
    those the passes; `Priority` and `ExceptionalPassOfO1Level` may be beside it.  The old
    syntax has one `PassName:on` or `PassName:off` a line; it has no comments and no lines of
    blanks.  The graph engine refuses an empty file and anything else, and fails to initialise;
    the adapter then aborts the process.  A key with blanks around it is accepted and not read
    (a warning).

    Wrong:

    ```json
    {"Switch": {"GraphFusions": {"ALL": "off"}}}
    ```

    Right:

    ```json
    {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {}}}
    ```
    """


@_rule(
    "NPU726",
    Severity.ERROR,
    facts=("fusion-switch-file",),
    source=(_DOC, PARSER),
    help='write "on" or "off"',
)
def fusion_switch_value() -> None:
    """A fusion pass has another switch than `on` or `off`.

    The switch is one of these two texts; the graph engine refuses the whole file otherwise.
    With blanks around it (`"on "`) it passes the check and means `off` (a warning).

    Wrong: `{"Switch": {"GraphFusion": {"PoolingFusionPass": true}}}`

    Right: `{"Switch": {"GraphFusion": {"PoolingFusionPass": "on"}}}`
    """


@_rule(
    "NPU727",
    Severity.ERROR,
    facts=("fusion-switch-file",),
    source=(PARSER,),
    help="give the pass one priority in the range of its list",
)
def fusion_switch_priority() -> None:
    """The priority of a fusion pass is not an integer, is out of its range, or is given twice.

    A priority is the text of an integer: 0 to 999 under `Top`, 1000 to 1999 under `Main`,
    2000 to 2999 under `Down`.  A pass appears once.

    Wrong: `{"Switch": {}, "Priority": {"GraphFusion": {"Top": {"MyPass": 1500}}}}`

    Right: `{"Switch": {}, "Priority": {"GraphFusion": {"Main": {"MyPass": "1500"}}}}`
    """


@_rule("NPU728", Severity.ERROR, source=(PARSER,))
def fusion_switch_repeated() -> None:
    """A pass is on two lines of a fusion switch file of the old syntax.

    The graph engine refuses the whole file.

    Wrong:

    ```
    PoolingFusionPass:on
    PoolingFusionPass:off
    ```

    Right:

    ```
    PoolingFusionPass:off
    ```
    """


@_rule(
    "NPU729",
    Severity.INFO,
    products=(Product.ASCEND_950,),
    facts=("fusion-ub-950",),
    source=(_DOC,),
)
def fusion_switch_ub_ascend_950() -> None:
    """A fusion switch file for ascend_950 has switches for UB fusion.

    UB fusion does not exist there: the section does nothing and can be left out.

    Wrong on ascend_950:

    ```json
    {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}
    ```

    Right: `{"Switch": {"GraphFusion": {"ALL": "off"}}}`
    """


@_rule("NPU730", Severity.INFO, facts=("fusion-switch-unclosable",), source=(_DOC,))
def fusion_switch_unclosable() -> None:
    """A pass that may not be closed is switched off.

    Some passes are needed for correct results; they stay on whatever the file says, also
    under `"ALL": "off"`.  Which ones they are depends on the CANN version and is not
    documented as a list, so this rule speaks only of passes that the caller names
    (`check(model, unclosable=...)`), e.g. from a `fusion_result.json` in which a pass that
    was switched off still took effect.

    Wrong, when APass may not be closed: `{"Switch": {"GraphFusion": {"APass": "off"}}}`

    Right: `{"Switch": {"GraphFusion": {}}}`
    """
