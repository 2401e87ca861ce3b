"""npu_config/sidefiles/__init__.py: the formats of side files, found by their modules."""

from typing import Tuple

from npu_config.sidefiles import FORMATS

PATH = "npu_config/sidefiles/__init__.py"

_OTHERS = ("library",)
"""Public modules that are no format."""

_PAGE = '''# Written by tools/side_files.py (`python -m tools.generate`): change that, not this.
"""The files that options point to: one module per format.

Each module has a frozen model, ``parse`` (text to model and diagnostics), ``check`` (what
depends on the target or on other files of the user's), ``render`` (the canonical text),
``load`` and ``save``.  Submodules are imported when they are first used.
"""

from typing import TYPE_CHECKING

from npu_config.core.lazy import lazy

if TYPE_CHECKING:
    from npu_config.sidefiles import {modules}
    from npu_config.sidefiles._formats import FORMATS, recognise
    from npu_config.sidefiles.format import Format, Parsed

__all__ = {names}

KINDS = {kinds}
"""The names of the formats; each is that of its module, and the KIND of ``check --as KIND``."""

MARKS = {marks}
"""One of these is in every side file that is looked at because it lies in a directory."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {{
            "FORMATS": "_formats",
            "recognise": "_formats",
            "Format": "format",
            "Parsed": "format",
            **{{name: name for name in {lazy}}},
        }},
    )
'''


def render() -> str:
    """The module."""
    kinds = tuple(FORMATS)
    marks = [entry.marks for entry in FORMATS.values() if entry.marks is not None]
    modules = tuple(sorted((*kinds, *_OTHERS)))
    return _PAGE.format(
        modules="({},)".format(", ".join(modules)),
        names=_listed(("FORMATS", "Format", "KINDS", "Parsed", "recognise", *modules), "[]"),
        kinds=_listed(kinds, "()"),
        marks="({},)".format(", ".join('r"{}"'.format(mark) for mark in marks)),
        lazy="(*KINDS, {})".format(", ".join('"{}"'.format(name) for name in _OTHERS)),
    )


def _listed(names: Tuple[str, ...], brackets: str) -> str:
    return "{}{}{}".format(
        brackets[0], " ".join('"{}",'.format(name) for name in names), brackets[1]
    )
