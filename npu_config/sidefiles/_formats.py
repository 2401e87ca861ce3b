"""Every format of side files, and which of them a text is."""

import os
import pkgutil
from importlib import import_module
from typing import Any, Iterator, Mapping, Optional

from npu_config.core.calls import checked_text
from npu_config.sidefiles.format import Format, Sample, Table


def _formats() -> Iterator[Format[Any]]:
    """The format of each module that has one."""
    for found in pkgutil.iter_modules([os.path.dirname(__file__)]):
        if not found.name.startswith("_") and not found.ispkg:
            module = import_module("npu_config.sidefiles." + found.name)
            if hasattr(module, "FORMAT"):
                yield module.FORMAT


FORMATS: Mapping[str, Format[Any]] = Table((entry.name, entry) for entry in _formats())


def recognise(text: str, name: Optional[str] = None) -> Optional[Format[Any]]:
    """The format that a text is meant to be, though it may be broken.

    Args:
        text: the content; only its beginning is looked at.
        name: the name of the file; decides where the content does not.

    Returns:
        The one format that claims the text, or None.

    Raises:
        TypeError: ``text`` is no text.
    """
    checked_text(text, "recognise(open(path).read(), path)")
    sample = Sample(text)
    claims = [entry for entry in FORMATS.values() if entry.looks_like(sample)]
    if len(claims) == 1:
        return claims[0]
    base = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    named = [entry for entry in claims or FORMATS.values() if entry.default_name == base]
    return named[0] if named else None
