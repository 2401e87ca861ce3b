"""Side files and rank tables: recognised by content, judged by their own formats."""

import re
from dataclasses import replace
from typing import Any, List, Optional

import attr

from npu_config.core.diagnostics import Diagnostic, Fix, Severity
from npu_config.rules.reading import TEMPLATE, Around, Reading
from npu_config.sidefiles import KINDS
from npu_config.sidefiles.format import Format, Sample
from npu_config.text.source import Source
from npu_config.text.words import is_typo

_KEY_ENDS = ":={<"


def corrected(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """The finding with the fix that writes the word that was surely meant, where there is one."""
    if diagnostic.fix is not None or diagnostic.meant is None:
        return diagnostic
    fix = _writing(diagnostic, diagnostic.meant, source)
    return diagnostic if fix is None else replace(diagnostic, fix=fix)


def _writing(diagnostic: Diagnostic, meant: str, source: Source) -> Optional[Fix]:
    place = diagnostic.place
    if diagnostic.severity is Severity.INFO or None in place[1:] or place.line != place.end_line:
        return None
    start = source.offset(place.line or 0, place.column or 0)
    end = source.offset(place.end_line or 0, place.end_column or 0)
    whole = source.text[start:end]
    word = whole.strip("\"'")
    if word == meant or not is_typo(word, meant):
        return None
    if _is_key(source.text[end : end + 80], whole) and _stands(meant, source.text):
        return None
    return Fix.writing(place, whole.replace(word, meant, 1))


def _is_key(rest: str, whole: str) -> bool:
    return whole[:1] == "[" or rest.lstrip()[:1] in tuple(_KEY_ENDS)


def _stands(word: str, text: str) -> bool:
    """True when a word is somewhere in a text: renaming another one to it may make two of it."""
    return re.search(r"(?<!\w){}(?!\w)".format(re.escape(word)), text) is not None


RANK_TABLE = "rank-table"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SideFileReading(Reading):
    """A side file; what is wrong with it may depend on the target."""

    def findings(self, around: Around) -> List[Diagnostic]:
        """What its format finds wrong with it."""
        text = self.text or ""
        parsed = format_of(self.kind).parse(text, self.path, around.target_of())
        source = Source(text, self.path)
        return [corrected(diagnostic, source) for diagnostic in parsed.diagnostics]


def read(text: str, path: Optional[str], kind: str) -> Reading:
    """Read a text as one of the side files."""
    template = format_of(kind).is_template(text)
    return SideFileReading(kind, path, text=text, unchecked=TEMPLATE if template else None)


def recognise(text: str, path: Optional[str] = None) -> Optional[str]:
    """The kind of side file that a text is meant to be, or None."""
    from npu_config.rank_table import FORMAT
    from npu_config.sidefiles import recognise as recognise_side_file

    if FORMAT.looks_like(Sample(text)):
        return RANK_TABLE
    found = recognise_side_file(text, path)
    return None if found is None else found.name


_EVIDENCE = {
    RANK_TABLE: re.compile(
        r'"(?:(?:server|rank|group|instance|device)_count|(?:server|rank|device|local)_id'
        r'|devices?|device_ip|instance_list|level_list|super_pod_list)"\s*:'
    ),
    "mixlist": re.compile(r'"to[-_](?:add|remove)"\s*:'),
}
"""What other programs' files with such lists (``server_list``, ``whitelist``) do not hold."""


def is_unmistakable(text: str, path: str) -> bool:
    """Whether a text that nobody called a side file is one."""
    kind = recognise(text, path)
    if kind is None:
        return False
    evidence = _EVIDENCE.get(kind)
    return evidence is None or evidence.search(text) is not None or kind_by_name(path) == kind


def kind_by_name(path: str) -> Optional[str]:
    """The kind of side file that the usual names of such files promise."""
    base = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for kind in (*KINDS, RANK_TABLE):
        names = format_of(kind).names
        if names is not None and re.fullmatch(names, base):
            return kind
    return None


def format_of(kind: str) -> "Format[Any]":
    """The format of a kind of side file."""
    if kind == RANK_TABLE:
        from npu_config.rank_table import FORMAT

        return FORMAT
    from npu_config.sidefiles import FORMATS

    return FORMATS[kind]
