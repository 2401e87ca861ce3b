"""Collecting what is wrong with a document, before and after the places are known.

Checks note a path into the document; where that is in the text is looked up only when
there is something to report, and for all findings together.
"""

import json
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Fix, Severity
from npu_config.core.message import join, phrase
from npu_config.core.rule import Rule
from npu_config.sidefiles.schema.levels import Path
from npu_config.text.source import Places

MOST_OF_A_RULE = 100
"""Findings of one rule about one key that are reported one by one; the rest are counted."""
_FEW = 3
"""Values of one key with the same fault that are reported one by one; more are one finding."""


class Finding(NamedTuple):
    """One thing that is wrong with the part of a document at ``path``.

    ``instead`` is the JSON text to put there, where the correction is mechanical and safe;
    ``also`` are further parts of which the same is true.
    ``fault`` is what is wrong with a value, in the same words for every value of the key.
    """

    rule: Rule
    path: Path
    message: str
    help: Optional[str]
    severity: Optional[Severity]
    at_key: bool
    instead: Optional[str]
    meant: Optional[str] = None
    fault: Optional[str] = None
    also: Sequence[Path] = ()


Topic = Tuple[str, str]
"""A rule and the key that it is about."""


class Findings:
    """The findings about one document, and how many quotes its text must have.

    Attributes:
        keys: number of keys that were read.
        texts: number of texts among the values that were read.
    """

    __slots__ = ("_counts", "_found", "keys", "texts")

    def __init__(self) -> None:
        self._found: List[Finding] = []
        self._counts: Dict[Topic, int] = {}
        self.keys = 0
        self.texts = 0

    def __len__(self) -> int:
        return len(self._found)

    def count(self, value: Any) -> None:
        """Count the keys and texts of a value that nothing else looks at."""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                self.texts += 1
            elif isinstance(part, dict):
                self.keys += len(part)
                waiting.extend(part.values())
            elif isinstance(part, list):
                waiting.extend(part)

    def quotes_add_up(self, text: str) -> bool:
        """Whether ``text``, without escapes, holds as many keys and texts as were read.

        If not, a key is there twice: it is read once, and the parser of the standard library,
        three times as fast as one that reports such keys, drops the other in silence.
        """
        return 2 * (self.keys + self.texts) == text.count('"')

    def add(
        self,
        rule: Rule,
        path: Path,
        message: str,
        help: Optional[str] = None,
        severity: Optional[Severity] = None,
        at_key: bool = False,
        instead: Optional[str] = None,
        meant: Optional[str] = None,
        fault: Optional[str] = None,
        also: Sequence[Path] = (),
    ) -> None:
        """Note that the part at ``path`` breaks ``rule``; see :class:`Finding`."""
        finding = Finding(rule, path, message, help, severity, at_key, instead, meant, fault, also)
        topic = _topic(finding)
        count = self._counts[topic] = self._counts.get(topic, 0) + 1
        if count <= MOST_OF_A_RULE:
            self._found.append(finding)

    def wrong_at(self, rule: Rule, path: Path, sentence: str, *values: Any, **more: Any) -> None:
        """Note that the part at ``path`` breaks ``rule``; the sentence begins with that part.

        Args:
            rule: the rule.
            path: the part, the first of the values that fill the sentence.
            sentence: what is wrong.
            values: the other values.
            more: see :class:`Finding`.
        """
        self.add(rule, path, phrase(sentence, dotted(path), *values), **more)

    def paths(self) -> List[Path]:
        """Every path that a place is needed for."""
        return [path for finding in self._found for path in (finding.path, *finding.also)]

    def diagnostics(self, places: Places) -> List[Diagnostic]:
        """The findings with their places; those about many values with one fault are one."""
        groups: Dict[Tuple[object, ...], List[Finding]] = {}
        for number, finding in enumerate(self._found):
            alike = number if finding.fault is None else (finding.fault, finding.severity)
            groups.setdefault((_topic(finding), alike), []).append(finding)
        reported = []
        for group in groups.values():
            found = [_diagnostic(finding, places) for finding in group]
            reported.extend(found if len(found) <= _FEW else [_as_one(found)])
        last = {_topic(finding): finding for finding in self._found}
        for topic, count in self._counts.items():
            if count > MOST_OF_A_RULE:
                finding = last[topic]
                reported.append(
                    finding.rule.diagnostic(
                        phrase("{:,} more like the one before", count - MOST_OF_A_RULE),
                        places.place(finding.path),
                        None,
                        "correct these first",
                        finding.severity,
                    )
                )
        return reported


def _topic(finding: Finding) -> Topic:
    names = [step for step in finding.path if isinstance(step, str)]
    return finding.rule.id, names[-1] if names else ""


def _diagnostic(finding: Finding, places: Places) -> Diagnostic:
    rule, path, message, help, severity, at_key, instead, meant, _, also = finding
    place_of = places.key_place if at_key else places.place
    place = place_of(path)
    fix = Fix.writing(place, instead)
    if fix is not None and also:
        fixes = [Fix.writing(place_of(other), instead) for other in also]
        fix = fix._replace(edits=fix.edits + tuple(e for f in fixes if f for e in f.edits))
    return rule.diagnostic(message, place, None, help, severity, fix, meant)


def _as_one(found: List[Diagnostic]) -> Diagnostic:
    """The first of many findings, with the lines and the corrections of all."""
    first, more = found[0], len(found) - 1
    lines = sorted({one.line for one in found[1:] if one.line is not None})
    message = (
        phrase("{} (and {:,} more, in lines {})", first.message, more, listed(lines))
        if len(lines) > 1
        else phrase("{} (and {:,} more)", first.message, more)
    )
    fixes = [one.fix for one in found if one.fix is not None]
    fix = None
    if len(fixes) == len(found):
        title = phrase("correct all {:,}", len(found))
        fix = Fix(title, tuple(edit for each in fixes for edit in each.edits))
    return attr.evolve(first, message=message, fix=fix, meant=None)


def dotted(path: Path) -> str:
    """A path in words: ``server_list[0].device[1].rank_id``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += "[{}]".format(step)
        else:
            text += ".{}".format(step) if text else step
    return text or phrase("the file")


def shown(value: Any) -> str:
    """A JSON value in words, short: ``"x"``, ``3``, ``an array``."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array" if value else "an empty array"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    if len(text) <= 70:
        return text
    return text[:66] + ('..."' if isinstance(value, str) else "...")


def listed(numbers: List[int], most: int = 6) -> str:
    """Numbers in words, runs joined: ``0-3, 7, 9 and 12 more``; ``numbers`` ascend."""
    runs: List[Tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    parts = [
        str(first) if first == last else "{}-{}".format(first, last) for first, last in runs[:most]
    ]
    rest = sum(last - first + 1 for first, last in runs[most:])
    return join(", ", parts) + (phrase(" and {:,} more", rest) if rest else "")
