"""Whether a text is meant to be a configuration of ours, in whatever format."""

import functools
import re
from itertools import islice

from npu_config.catalogue import OPTIONS
from npu_config.text.words import near

_VERSION = re.compile(rb"""^[ \t{]*["']?version["']?[ \t]{0,8}[:=][ \t]{0,8}\d""", re.M)
_KEY = re.compile(rb"""^[ \t{]*["']?(\w{4,60})["']?[ \t]{0,8}[:=]""", re.M)
_TARGET = re.compile(
    rb"""^(?:\[target\]|[ {]{0,4}["']?target["']?[ \t]{0,8}[:=])\s{0,8}.{0,80}"""
    rb"""(?:product|cann|mode)""",
    re.M | re.S,
)
_MOST_KEYS = 200


def is_configuration(content: bytes) -> bool:
    """True for text that is meant to be a configuration of ours, though it may be wrong.

    It sets an option and has a version, or sets two; or it has a version and a key that is
    nearly an option, or a target.
    """
    versioned = _VERSION.search(content) is not None
    keys = islice(_KEY.finditer(content), _MOST_KEYS) if versioned else ()
    options = {match.group(1) for match in islice(_option_key().finditer(content), _MOST_KEYS)}
    if options:
        return versioned or len(options) > 1
    return (versioned and _TARGET.search(content) is not None) or any(
        _is_nearly_ours(match.group(1).decode("ascii", "replace")) for match in keys
    )


def _is_nearly_ours(key: str) -> bool:
    """Whether a key is nearly the distinctive name of an option."""
    return "_" in key and near(key, OPTIONS) is not None


@functools.lru_cache(maxsize=None)
def _option_key() -> "re.Pattern[bytes]":
    names = "|".join(name for name, option in OPTIONS.items() if option.offered)
    return re.compile(r"""(?<![\w.$-])({})["']?[ \t]{{0,8}}[:=]""".format(names).encode("ascii"))
