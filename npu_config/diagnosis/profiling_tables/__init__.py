"""What the profiling and compilation of a job leave behind, read and summarised.

``profile`` says where the time went, ``op_summary`` reads the operator tables of the profiler
and says what follows for mixed precision, ``fusion_result`` reads the record of fusion passes.
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
from npu_config.diagnosis.profiling_tables.profile import (
    Profile,
    ShareChange,
    StepTimes,
    TimeShare,
    compare_profiles,
    find_profile_tables,
    kind_of_table,
    read_profile,
)

__all__ = [
    "Advice",
    "FusionPass",
    "FusionResult",
    "OneBlockOperator",
    "OpSummary",
    "Profile",
    "ShareChange",
    "StepTimes",
    "TimeShare",
    "advise",
    "compare_profiles",
    "find_profile_tables",
    "find_tables",
    "kind_of_table",
    "read_fusion_result",
    "read_op_summary",
    "read_profile",
]
