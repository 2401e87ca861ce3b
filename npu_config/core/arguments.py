"""What a caller gives: a path, a text or a mapping; and what is said of another thing."""

import os
from typing import Mapping

from npu_config.core.message import phrase
from npu_config.core.patterns import lazy_pattern

__all__ = ["checked_mapping", "checked_text", "is_text", "names_file", "path_name"]

_SCRIPT = lazy_pattern(r"[^\s(){}=;#'\"]+\.(?:py|pyw|ipynb)\Z")


def path_name(path: object) -> str:
    """A path as text.

    Raises:
        TypeError: it is neither text nor an ``os.PathLike`` of text.
    """
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if isinstance(name, str):
        return name
    given = type(path).__name__
    raise TypeError(phrase("a path is expected, as text or pathlib.Path, got {}", given))


def checked_text(value: object, reader: str) -> None:
    """Refuse what is not text where the content of a file is expected.

    Args:
        value: what was given.
        reader: what takes the path of a file, as code.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(value, str):
        message = "the text of a file is expected, got {}; for a path: {}"
        raise TypeError(phrase(message, type(value).__name__, reader))


def checked_mapping(value: object, what: str, help: str) -> None:
    """Refuse what is not a mapping.

    Args:
        value: what was given.
        what: the name of the parameter.
        help: where such a mapping comes from.

    Raises:
        TypeError: it is no mapping.
    """
    if not isinstance(value, Mapping):
        message = "{} must be a mapping of name to value, not {}; {}"
        raise TypeError(phrase(message, what, type(value).__name__, help))


def is_text(path: str) -> bool:
    """True for what was given as a path and is the content of a file."""
    return "\n" in path or path.lstrip().startswith("{")


def names_file(text: str) -> bool:
    """True for what was given as the content of a file and is the path of one."""
    if not 0 < len(text) < 4096 or "\n" in text or "\0" in text:
        return False
    return _SCRIPT.match(text) is not None or os.path.isfile(text)
