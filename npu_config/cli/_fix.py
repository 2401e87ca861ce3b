"""The fixes that findings carry, applied to exactly their characters; files rewritten in place."""

import os
import re
import stat
from typing import Iterable, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Edit, Fix
from npu_config.core.message import localized
from npu_config.text.source import apply_edits

Span = Tuple[Tuple[int, int], Tuple[int, int]]


def fixed(text: str, diagnostics: Iterable[Diagnostic]) -> Tuple[str, int]:
    """The text with every fix done that does not touch another one, and how many those are."""
    taken: List[Span] = []
    edits: List[Edit] = []
    done: List[Fix] = []
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or not fix.safe or fix in done:
            continue
        spans = [((e.line, e.column), (e.end_line, e.end_column)) for e in fix.edits]
        if not any(_touch(span, other) for span in spans for other in taken):
            taken.extend(spans)
            edits.extend(fix.edits)
            done.append(fix)
    return (apply_edits(text, edits), len(done)) if done else (text, 0)


def _touch(one: Span, other: Span) -> bool:
    """True when two spans share a character, or are insertions at one place."""
    return one == other or (one[0] < other[1] and other[0] < one[1])


def difference(path: Optional[str], before: str, after: str) -> str:
    """A unified diff of what the fixes change, as git and patch read it."""
    from difflib import unified_diff

    lines: Sequence[str] = list(
        unified_diff(
            _lines(before), _lines(after), _header("a", path or "-"), _header("b", path or "-")
        )
    )
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in lines
    )


def _lines(text: str) -> List[str]:
    """The lines with their ends; only a line feed ends one, as in every tool that reads diffs."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _header(side: str, path: str) -> str:
    """The name of a file in a diff: as ``git apply`` and ``patch -p1`` find it from here.

    Beneath the current folder it is relative to it; elsewhere it is that of the root, for
    ``patch -p1 -d /``.  In quotes where it would not be read as one word.
    """
    beside = os.path.relpath(path)
    is_outside = beside.startswith(os.pardir + os.sep)
    name = "{}/{}".format(side, os.path.abspath(path)[1:] if is_outside else beside)
    if any(not character.isprintable() or character in '"\\' for character in name):
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        return '"{}"'.format("".join(map(_escaped, quoted)))
    return name + "\t" if " " in name else name


def _escaped(character: str) -> str:
    """A character as git writes it in quotes: bytes that cannot be shown in octal digits."""
    if character.isprintable():
        return character
    return "".join(
        "\\{:03o}".format(byte) for byte in character.encode("utf-8", "surrogateescape")
    )


def rewrite(
    path: str, before: str, after: str, encoding: str = "utf-8", root: Optional[str] = None
) -> Optional[str]:
    """Write ``after`` where ``before`` is; why it was not done, if it was not.

    Args:
        path: the file.
        before: what was read from it; a file that holds anything else is left alone.
        after: what it is to hold.
        encoding: of both.
        root: the directory that the file was found in; links that lead out of it are not
            followed.
    """
    from npu_config.text.files import ChangedError, replace_content

    real = os.path.realpath(path)
    try:
        reason = _refusal(real, root)
        if reason is not None:
            return reason
        replace_content(real, before.encode(encoding), after.encode(encoding))
    except ChangedError as error:
        return error.strerror
    except OSError as error:
        return localized("the file cannot be written: {}", error.strerror or error)
    return None


def _refusal(real: str, root: Optional[str]) -> Optional[str]:
    """Why a file is not replaced; None when it may be."""
    if not stat.S_ISREG(os.stat(real).st_mode):
        return "this is not a regular file; it is not written"
    if not os.access(real, os.W_OK):
        return "this user is not allowed to write the file"
    if root is not None:
        inside = os.path.join(os.path.realpath(root), "")
        if not real.startswith(inside):
            return localized(
                "a link in this path points outside {}; to change the file, pass its real path",
                root,
            )
    return None
