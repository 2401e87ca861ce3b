"""Environment variables that the options need beside them, as lines of a shell script."""

from typing import List

from npu_config.rules.value import ConfigValue
from npu_config.writers.notes import NO_NOTES, Notes

_HEAD = (
    "# Source this before the job starts; `npu-config env` writes the variables of the launch.\n"
)


def render(config: ConfigValue, notes: Notes = NO_NOTES) -> str:
    """Lines for ``sh``: what must be exported, and what must not be set.

    A value that is not in the configuration (the number of training steps) is asked for: the
    shell stops with a message when it is not set.
    """
    lines: List[str] = []
    comments = notes.comments(config.options)
    options = config.options
    mode = options.get("experimental_accelerate_train_mode")
    if mode is not None:
        lines.append(
            "# experimental_accelerate_train_mode: TellMeStepOrLossHook keeps them current"
        )
        if mode[1] == "step":
            lines.append(_asked("TOTAL_STEP", "the number of training steps"))
            lines.append('export STEP_NOW="${STEP_NOW:-0}"')
        else:
            lines.append(_asked("TARGET_LOSS", "the loss that the training aims at"))
            lines.append(_asked("LOSS_NOW", "the loss that the training starts with"))
    if "auto_multistream_parallel_mode" in options:
        lines.append("# auto_multistream_parallel_mode needs it for graphs of dynamic shape")
        lines.append("export ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1")
    if "static_memory_policy" in options:
        lines.append("# static_memory_policy must not be combined with it")
        lines.append("unset GE_USE_STATIC_MEMORY")
    if not lines:
        lines.append("# No option of this configuration needs a variable.")
    return _HEAD + "\n".join([*comments, *lines]) + "\n"


def _asked(name: str, what: str) -> str:
    return 'export {0}="${{{0}:?set it to {1}}}"'.format(name, what)
