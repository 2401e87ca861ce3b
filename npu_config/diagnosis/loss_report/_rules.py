"""The rules that the loss-scale report and the readers of training records apply."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare


@declare(
    "NPU799",
    Severity.ERROR,
    source=("docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",),
)
def training_record_unreadable() -> None:
    """A log, summary or dump of a training run cannot be used.

    The loss-scale report needs the scale per step: a text log that prints it, or an
    event file with a scalar summary of it. The tfdbg export needs the event files that
    tfdbg wrote.

    Wrong: a log that was written without printing the loss scale.

    Right: `tf.summary.scalar("loss_scale", manager.get_loss_scale())`, or a
    `LoggingTensorHook` that prints `loss_scale` and the global step.
    """


@declare(
    "NPU280",
    Severity.WARNING,
    facts=("overflow-mode-products", "loss-scale-control-deps"),
    source=(
        "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",
        "docs/en/tfadapter_1/migration/others/overflow_data_collect.md",
    ),
)
def loss_scale_collapsed() -> None:
    """The loss scale fell to 1 and stays there.

    Steps overflow, whatever the scale: the scale cannot fall below 1, the updates of these
    steps are skipped, and where it is every step the network no longer trains. The cause is an
    operator that overflows in the forward pass or by itself, not the size of the scaled
    gradients.  A scale that falls to 1 again and again and rises in between is NPU281.

    Wrong: to raise `init_loss_scale`, or to train on.

    Right: collect overflow data (`overflow_detection`), put the operator that overflows
    into the block list (`modify_mixlist`), and check the set-up of the loss-scale manager.
    """


@declare(
    "NPU281",
    Severity.INFO,
    source=("docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",),
)
def loss_scale_overflows() -> None:
    """The loss scale moves because steps overflow.

    A dynamic loss scale is expected to overflow while it looks for its level and now and
    then when it probes a higher one. Overflows that come more often than the scale grows
    pull it down: an operator overflows by itself.

    Wrong: a scale that keeps falling is left alone.

    Right: set `init_loss_scale` to the level that was found; for a falling scale collect
    overflow data.
    """


@declare(
    "NPU283",
    Severity.WARNING,
    source=("docs/en/tfadapter_1/migration/others/overflow_data_collect.md",),
    help="look at the steps before the first one: the input, the learning rate, and the overflow "
    "data of the forward pass (overflow_detection)",
)
def loss_not_a_number() -> None:
    """A training log or summary says that the loss is NaN.

    The loss scale does not help: it is applied to the loss after it was computed. Something
    before it is not a number: the input, a weight after an update that should have been
    skipped, a logarithm or a division, or an operator that overflows in the forward pass.

    Wrong: `loss = nan, step = 1200` is left alone.

    Right: look at the steps before the first NaN: the input, the learning rate, the overflow
    data (`overflow_detection`).
    """
