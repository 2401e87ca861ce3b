"""The files that ``npu-config explain`` reads: everything it explains, for each language."""

import functools
import os
from typing import Callable, Dict

from npu_config.cli import _explained, _topics
from npu_config.core.message import LANGUAGES, speaking

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def render(language: str) -> str:
    """The file of a language."""
    with speaking(language):
        return _topics.written(_explained.topics())


def files() -> Dict[str, Callable[[], str]]:
    """Path of each file, and what renders it."""
    return {
        os.path.relpath(_topics.PATH.format(language), ROOT): functools.partial(render, language)
        for language in LANGUAGES
    }
