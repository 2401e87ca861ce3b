"""Names by which the runtime finds things, for modules that must import next to nothing."""

NPU_OPTIMIZER = "NpuOptimizer"
"""The name of the adapter's entry among the ``custom_optimizers``."""

ITERATION_OP = "IterationOp"
"""The name by which the adapter finds the operation that makes the loop."""

OWN_OPERATOR = "_npu_config_own"
"""The attribute of operators that a stand-in makes and the vendor's package does not."""

OWN_SPANS = "_npu_config_own_spans"
"""The attribute of a ``tf.Graph`` with the versions between which such operators were made."""
