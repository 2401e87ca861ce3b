"""Names by which the runtime finds things, for modules that must import next to nothing."""

NPU_OPTIMIZER = "NpuOptimizer"
"""The name of the adapter's entry among the ``custom_optimizers``."""

ITERATION_OP = "IterationOp"
"""The name by which the adapter finds the operation that makes the loop."""
