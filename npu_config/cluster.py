"""The old name of :mod:`npu_config.rank_table` and :mod:`npu_config.launch` together."""

import importlib
from typing import TYPE_CHECKING, Any

from npu_config.core.deprecation import deprecated

if TYPE_CHECKING:
    from npu_config import rank_table as rank_table
    from npu_config.launch import *  # noqa: F403 - all of its names are public
    from npu_config.rank_table import *  # noqa: F403

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        deprecated("cluster")
        tables = importlib.import_module("npu_config.rank_table")
        launch = importlib.import_module("npu_config.launch")
        if name == "rank_table":
            return tables
        if name == "__all__":
            return [*launch.__all__, *tables.__all__]
        return getattr(launch if name in launch.__all__ else tables, name)

    def __dir__() -> Any:
        return __getattr__("__all__")
