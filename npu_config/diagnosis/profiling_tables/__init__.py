"""What the profiling and compilation of a job leave behind, read and summarised.

``op_summary`` reads the operator tables of the profiler and says what follows
for mixed precision, ``fusion_result`` reads the record of fusion passes.
"""

from npu_config.diagnosis.profiling_tables.fusion_result import (
    FusionPass,
    FusionResult,
    read_fusion_result,
)
from npu_config.diagnosis.profiling_tables.op_summary import (
    Advice,
    OneBlockOperator,
    OpSummary,
    advise,
    find_tables,
    read_op_summary,
)

__all__ = [
    "Advice",
    "FusionPass",
    "FusionResult",
    "OneBlockOperator",
    "OpSummary",
    "advise",
    "find_tables",
    "read_fusion_result",
    "read_op_summary",
]
