"""The flags of a training script that choose a configuration and replace values of it."""

import argparse
from typing import Any, Optional

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike
from npu_config.rules.overrides import overrides_of

__all__ = ["add_arguments"]

_CONFIG = "NPU configuration file (YAML, TOML or JSON)"
_SET = "override an option of the configuration: NAME=VALUE; may be repeated"


def add_arguments(parser: Any, default: Optional[PathLike] = None) -> None:
    """Add ``--npu_config FILE`` and ``--npu_set NAME=VALUE`` to the flags of a script.

        npu_config.add_arguments(parser)
        args = parser.parse_args()
        config = npu_config.NpuConfig.load(args.npu_config, overrides=args.npu_set)

    Args:
        parser: an ``argparse.ArgumentParser`` (or a group of one), or the ``FLAGS`` of absl.
        default: the file where ``--npu_config`` is not given; None: there is none.

    Raises:
        TypeError: ``parser`` is neither of these.
    """
    path = None if default is None else str(default)
    if isinstance(parser, argparse._ActionsContainer):
        help = phrase("{} (default: {})", _CONFIG, path) if path else _CONFIG
        parser.add_argument(
            "--npu_config", "--npu-config", metavar="FILE", default=path, help=help
        )
        parser.add_argument(
            "--npu_set",
            "--npu-set",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            type=_override,
            help=_SET,
        )
    elif "FlagValues" in type(parser).__name__:
        from absl import flags

        values = getattr(parser, "_FlagValuesWrapper__wrapped", parser)  # tf.app.flags.FLAGS
        known = values if isinstance(values, flags.FlagValues) else flags.FLAGS
        flags.DEFINE_string("npu_config", path, _CONFIG, flag_values=known)
        flags.DEFINE_multi_string("npu_set", [], _SET, flag_values=known)
    else:
        text = "an argparse.ArgumentParser or the FLAGS of absl is expected, got {}"
        raise TypeError(phrase(text, type(parser).__name__))


def _override(text: str) -> str:
    """A text that is an override; what is wrong with another one is said by argparse."""
    try:
        overrides_of((text,))
    except NpuConfigError as error:
        (found,) = error.diagnostics
        words = "; ".join(filter(None, (found.message, found.help)))
        raise argparse.ArgumentTypeError(words) from None
    return text
