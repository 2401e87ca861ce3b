"""Whose a file is that nobody called ours: one decision for walks, ``--if-ours``, hook, editor.

Configurations are decided by :mod:`npu_config.readers.evidence`, scripts by whether they name
something of the NPU, side files by what only they hold, ConfigProtos by NpuOptimizer.
"""

from typing import NamedTuple

from npu_config.core.message import listed, phrase
from npu_config.core.patterns import lazy_pattern
from npu_config.readers.evidence import TOP, Signs, signs
from npu_config.readers.formats import (
    FORMATS,
    NOTEBOOK,
    OPEN_SUFFIXES,
    kind_by_first_line,
    kind_of_suffix,
    other_kind,
    suffix_of,
)
from npu_config.sidefiles import MARKS
from npu_config.text.words import shown

__all__ = ["Decision", "is_ours"]

_SIDE_MARKS = lazy_pattern(rb"(?:server|rank|group)_list|" + "|".join(MARKS).encode("ascii"))
"""Searched for in lower case, which takes a third of the time that (?i) does."""

_MOST_NAMES = 3
_MOST_BYTES = 1 << 20


class Decision(NamedTuple):
    """Whether a file is ours, and why; true in a condition when it is.

    Args:
        ours: it is read and judged.
        reason: what the decision rests on, as half a sentence.
        nearly: it is not ours, and so much like one that this is worth saying.
    """

    ours: bool
    reason: str
    nearly: bool = False

    def __bool__(self) -> bool:
        return self.ours


_NO_KIND = Decision(False, "not of a kind that is checked")
_TAKEN = Decision(True, "it names what belongs to the NPU")
_SIDE_FILE = Decision(True, "its content is that of a side file or a rank table")


def is_ours(path: str, content: bytes, named: bool = False) -> Decision:
    """Decide whether the content of a file is meant for npu_config.

    Args:
        path: the file; its name is evidence, too.
        content: what is in it, in any encoding.
        named: the user named the file, and a walk did not just find it.
    """
    suffix = suffix_of(path)
    if suffix == NOTEBOOK:  # that it is not checked must be said
        return _TAKEN
    kind = kind_of_suffix(suffix) or kind_by_first_line(content, path)
    if kind is None and suffix not in OPEN_SUFFIXES:
        return _NO_KIND
    matters = None if kind is None else FORMATS[kind].matters
    if matters is not None:
        return _TAKEN if matters(content) else _NO_KIND
    text = _top(content)
    other = other_kind(text, content, path)
    if other is not None:
        return Decision(False, phrase("this is {}", other.what))
    decision = _NO_KIND if kind is None else _of_configuration(signs(text, kind, path, named))
    if decision or suffix not in OPEN_SUFFIXES or not _SIDE_MARKS.search(content.lower()):
        return decision
    from npu_config.readers.side_file import is_unmistakable

    whole = content[:_MOST_BYTES].decode("utf-8", "replace")
    return _SIDE_FILE if is_unmistakable(whole, path) else decision


def _of_configuration(found: Signs) -> Decision:
    """What the top of a file of YAML, TOML or JSON says."""
    evidence = found.evidence
    if evidence is not None:
        return Decision(True, evidence.reason)
    if not found.is_nearly_ours:
        return _NO_KIND
    if found.misplaced is not None and not found.options:
        reason = 'the options in it stand under "{}", which is no group of options'
        return Decision(False, phrase(reason, found.misplaced), nearly=True)
    names = (*found.options, *found.common)
    if not names:
        reason = "its name is that of a configuration, and it sets no option"
        return Decision(False, reason, nearly=True)
    if not found.foreign:
        reason = "it sets only {}, which other programs do, too"
        return Decision(False, phrase(reason, listed(map(shown, names))), nearly=True)
    reason = phrase(
        "it sets {}, and too much that is no option: {}",
        listed(map(shown, names[:_MOST_NAMES])),
        listed(map(shown, found.foreign[:_MOST_NAMES])),
    )
    return Decision(False, reason, nearly=True)


def _top(content: bytes) -> str:
    """The beginning of a text, also of one in an encoding that its reader will refuse."""
    top = content[: 4 * TOP]
    if top.startswith((b"\xff\xfe", b"\xfe\xff")):
        return top.decode("utf-16", "replace")
    if top[1:2] == b"\0" or top[:1] == b"\0":
        return top.decode("utf-16-le" if top[1:2] == b"\0" else "utf-16-be", "replace")
    return top.decode("utf-8", "replace")
