"""Fixes of misspelt words in side files, whatever the format: one word in the place of another."""

import re
from typing import Optional

import attr

from npu_config.core.diagnostics import Diagnostic, Fix, Severity
from npu_config.text.source import Source
from npu_config.text.words import is_slip

_KEY_ENDS = ":={<"


def corrected(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """The finding with the fix that writes the word that was surely meant, where there is one."""
    if diagnostic.fix is not None or diagnostic.meant is None:
        return diagnostic
    fix = _writing(diagnostic, diagnostic.meant, source)
    return diagnostic if fix is None else attr.evolve(diagnostic, fix=fix)


def _writing(diagnostic: Diagnostic, meant: str, source: Source) -> Optional[Fix]:
    place = diagnostic.place
    if diagnostic.severity is Severity.INFO or None in place[1:] or place.line != place.end_line:
        return None
    start = source.offset(place.line or 0, place.column or 0)
    end = source.offset(place.end_line or 0, place.end_column or 0)
    whole = source.text[start:end]
    word = whole.strip("\"'")
    if word == meant or not is_slip(word, meant):
        return None
    if _is_key(source.text[end : end + 80], whole) and _stands(meant, source.text):
        return None
    return Fix.writing(place, whole.replace(word, meant, 1))


def _is_key(rest: str, whole: str) -> bool:
    return whole[:1] == "[" or rest.lstrip()[:1] in tuple(_KEY_ENDS)


def _stands(word: str, text: str) -> bool:
    """True when a word is somewhere in a text: renaming another one to it may make two of it."""
    return re.search(r"(?<!\w){}(?!\w)".format(re.escape(word)), text) is not None
