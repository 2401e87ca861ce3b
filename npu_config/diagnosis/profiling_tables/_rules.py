"""The rules that the readers of this package apply."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare


@declare(
    "NPU797",
    Severity.ERROR,
    source=(
        "hiascend.com CANN 8.5 devaids/profiling op_summary (operator details)",
        "docs/en/tfadapter_1/migration/faq/networktest_reducesum_low_performance.md",
    ),
)
def profiling_table_unreadable() -> None:
    """A file is not a usable op_summary table.

    The analysis needs the columns that say which operator ran, for how long, on how many
    blocks and with which input types: `Op Name`, `OP Type`, `Task Duration(us)`,
    `Block Dim` (`Block Num` in newer versions) and `Input Data Types`. The profiler
    leaves the last ones out when the job was recorded with `task_time` `l0` or `off`.

    Wrong: an `op_statistic_*.csv`, or a table recorded with `task_time` `l0`.

    Right: `op_summary_*.csv` of a job recorded with `"task_time": "l1"`.
    """


@declare(
    "NPU798", Severity.ERROR, source=("docs/en/tfadapter_1/apiref/session_config/debugging.md",)
)
def fusion_result_unreadable() -> None:
    """A file is not a usable fusion_result.json.

    The graph engine writes one JSON object per compilation, each with the passes that
    matched (`match_times`) and took effect (`effect_times`) per graph; several
    compilations leave several objects in one file. Anything else cannot be summarised.

    Wrong: the file of a job that was killed while it was being written.

    Right: `{"session_and_graph_id_0_0": {"graph_fusion": {"PassA": {"match_times": "2",
    "effect_times": "2"}}}}`
    """
