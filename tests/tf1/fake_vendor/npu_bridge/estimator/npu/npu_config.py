"""Configuration classes of the fake vendor's package."""

from npu_bridge import Recorded


class NPURunConfig(Recorded):
    """Records its arguments."""


class DumpConfig(Recorded):
    """Records its arguments."""


class ProfilingConfig(Recorded):
    """Records its arguments."""


class MemoryConfig(Recorded):
    """Records its arguments."""


class DynamicInputConfig(Recorded):
    """Records its arguments."""


class ExperimentalConfig(Recorded):
    """Records its arguments."""


class GraphMemoryOptimizeConfig(Recorded):
    """Records its arguments."""
