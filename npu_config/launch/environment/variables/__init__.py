"""The environment variables around a session, each declared once."""

from typing import Dict, FrozenSet

from npu_config.launch.environment.variables._engine import ENGINE
from npu_config.launch.environment.variables._hccl import HCCL
from npu_config.launch.environment.variables._job import JOB
from npu_config.launch.environment.variables._tools import TENSORFLOW_2, TOOLS
from npu_config.launch.environment.variables._variable import Variable

__all__ = [
    "CM_NAMES",
    "RANK_TABLE_NAMES",
    "TENSORFLOW_2_NAMES",
    "VARIABLES",
    "Variable",
]

VARIABLES: Dict[str, Variable] = {
    variable.name: variable for variable in (*JOB, *HCCL, *ENGINE, *TOOLS, *TENSORFLOW_2)
}
"""Name to declaration, for every variable that is known."""

RANK_TABLE_NAMES = ("RANK_TABLE_FILE", "RANK_ID", "RANK_SIZE")
"""The variables of a job with a rank table."""

CM_NAMES = (
    "CM_CHIEF_IP",
    "CM_CHIEF_PORT",
    "CM_CHIEF_DEVICE",
    "CM_WORKER_SIZE",
    "CM_WORKER_IP",
)
"""The variables of a job without a rank table; never together with those of one."""

TENSORFLOW_2_NAMES: FrozenSet[str] = frozenset(variable.name for variable in TENSORFLOW_2)
"""The variables that have no effect with TensorFlow 1.15."""
