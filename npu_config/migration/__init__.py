"""From a script for GPUs or CPUs to one for the NPU, refusing instead of guessing.

:func:`migrate` works on one script, :mod:`project` on files and folders, :mod:`report` prints.
"""

from npu_config.migration.engine import IMPORTS, Migration, migrate
from npu_config.migration.work import Note

__all__ = ["IMPORTS", "Migration", "Note", "migrate"]
