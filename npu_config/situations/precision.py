"""Situations of types, precision and loss scaling."""

from npu_config.core.diagnostics import Severity
from npu_config.situations import (
    FAQ,
    GRAPH,
    INTRODUCTION,
    MIGRATION,
    RUN,
    TEXT,
    situation,
)

_MIXED = MIGRATION + "performance_tuning/mixed_precision_training.md"


@situation(
    "NPU2001",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    source=(INTRODUCTION, MIGRATION + "common_operation/autocast_aicpu.md"),
    help="use float32; numpy uses float64 by default, so write astype(np.float32) where data "
    "enters the graph",
)
def type_not_supported() -> None:
    """The network computes with float64 or complex numbers.

    The NPU does not support float64, complex64 and complex128; a few operators with these types
    run slowly on the device's CPU.

    Wrong:

        x = tf.placeholder(tf.float64, [32, 4])

    Right:

        x = tf.placeholder(tf.float32, [32, 4])
    """


@situation(
    "NPU2002",
    Severity.WARNING,
    RUN,
    GRAPH,
    source=(FAQ + "uint8_quint8_add_sub_overflow.md",),
    help="cast to tf.int32 or tf.float32 first, or scale the values",
)
def uint8_arithmetic_saturates() -> None:
    """Additions and subtractions of uint8 saturate at 255 and 0.

    200 + 57 is 255 on the NPU, and 1 on the CPU.

    Wrong: `image + 57`, where `image` is a tensor of `tf.uint8`

    Right: `tf.cast(image, tf.int32) + 57`
    """


@situation(
    "NPU490",
    Severity.WARNING,
    TEXT,
    RUN,
    facts=("overflow-mode-products",),
    source=(_MIXED, FAQ + "multi_optimizer_fp_exception_detection.md"),
    situation="two-optimizers-one-overflow-flag",
    help="run each optimizer in its own session.run, or use one optimizer for the sum of the "
    "losses",
)
def optimizers_share_overflow_flag() -> None:
    """Several loss-scale optimizers read one overflow flag in the same run.

    The device has only one overflow flag. Each optimizer reads and clears the flag around its own
    gradients; if two optimizers run in one `session.run` without a fixed order, one may read (or
    clear) the overflow of the other.

    Wrong:

        one = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(loss)
        other = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(other_loss)
        with tf.Session() as sess:
            sess.run([one, other])

    Right:

        one = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(loss)
        other = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(other_loss)
        with tf.Session() as sess:
            sess.run(one)
            sess.run(other)
    """


@situation(
    "NPU2003",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    source=(FAQ + "mixed_precision_hparam_overflow.md",),
    also=("precision_mode", "precision_mode_v2", "modify_mixlist"),
    help=(
        "use a constant of about 1e-4, or put this code under keep_dtype_scope, or add the "
        "operator to the black list of modify_mixlist"
    ),
)
def constant_vanishes_in_float16() -> None:
    """A small constant that guards a division, a logarithm or a root becomes 0 in float16.

    Mixed precision casts the constant to float16. A constant below 2^-25 (about 3e-8) becomes 0
    and protects nothing: a division by 0, a logarithm of 0 or an overflow in each step.

    Wrong:

        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
        norm = x / (tf.reduce_sum(x) + 1e-8)

    Right:

        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
        norm = x / (tf.reduce_sum(x) + 1e-4)
    """


@situation(
    "NPU2004",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    facts=("loss-scale-control-deps",),
    source=(FAQ + "npu_loss_scale_optimizer_faq.md", _MIXED),
    help="create the loss-scale manager before the with block",
)
def loss_scale_manager_under_control_dependencies() -> None:
    """A dynamic loss-scale manager is created under ``tf.control_dependencies``.

    The variables of the manager get the control inputs of the block, so their initialisation
    depends on the input data of the model and fails with "Placeholder not support".

    Wrong:

        with tf.control_dependencies(update_ops):
            manager = ExponentialUpdateLossScaleManager(2 ** 32, 1000, 2, 0.8)
            optimizer = NPULossScaleOptimizer(optimizer, manager)

    Right:

        manager = ExponentialUpdateLossScaleManager(2 ** 32, 1000, 2, 0.8)
        with tf.control_dependencies(update_ops):
            optimizer = NPULossScaleOptimizer(optimizer, manager)
    """


@situation("NPU2005", Severity.INFO, TEXT, RUN, GRAPH, source=(_MIXED,))
def step_counted_outside_optimizer() -> None:
    """The global step also counts the steps that loss scaling drops because of an overflow.

    A step with an overflow is dropped, but an assignment outside of `apply_gradients` still counts
    it, and schedules such as the learning rate run ahead. Pass the global step to
    `apply_gradients`.

    Wrong:

        optimizer = NPULossScaleOptimizer(optimizer, manager)
        step = tf.train.get_or_create_global_step()
        train_op = optimizer.apply_gradients(gradients)
        count = tf.assign_add(step, 1)

    Right:

        optimizer = NPULossScaleOptimizer(optimizer, manager)
        step = tf.train.get_or_create_global_step()
        train_op = optimizer.apply_gradients(gradients, global_step=step)
    """


@situation(
    "NPU2006",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    facts=("overflow-mode-products",),
    source=(MIGRATION + "common_operation/tf_finite_manual_port.md",),
    help="remove the check: NPULossScaleOptimizer checks the gradients",
)
def finite_check_by_hand() -> None:
    """The script itself checks the gradients for Inf and NaN.

    The NPU does not support `tf.is_finite`; in saturation mode there is also no Inf to find.

    Wrong:

        gradients = tf.gradients(loss, variables)
        finite = tf.reduce_all([tf.reduce_all(tf.is_finite(g)) for g in gradients])

    Right:

        optimizer = NPULossScaleOptimizer(optimizer, manager)
        train_op = optimizer.minimize(loss)
    """


@situation("NPU2007", Severity.INFO, TEXT, RUN, GRAPH, source=(INTRODUCTION,))
def infinite_constant() -> None:
    """An operator has Inf or NaN as an input.

    On Atlas training products, operators support neither Inf nor NaN as input. Write a finite
    number that float16 can hold, such as -1e4.

    Wrong:

        logits = tf.where(mask, logits, tf.fill(tf.shape(logits), -np.inf))

    Right:

        logits = tf.where(mask, logits, tf.fill(tf.shape(logits), -1e4))
    """
