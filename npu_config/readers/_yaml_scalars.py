"""What YAML reads a scalar as, and whether anybody can have meant that."""

import re
from typing import Any, Optional, Tuple

import yaml

from npu_config.catalogue.kinds import shorten
from npu_config.core.message import phrase
from npu_config.readers import _rules as rules
from npu_config.readers._document import BROKEN, MAX_DIGITS, Document

_TAG = "tag:yaml.org,2002:"
_SCALARS = ("str", "null", "bool", "int", "float")
_BOOLEANS = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+\Z")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Scalars:
    """The scalars of one document.

    Args:
        document: receives the faults.
        loader: resolves tags and constructs numbers.
    """

    def __init__(self, document: Document, loader: Any) -> None:
        self._document = document
        self._loader = loader

    def kind(self, event: Any) -> str:
        """The last word of the tag that YAML gives a scalar."""
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        return str(tag[len(_TAG) :]) if tag.startswith(_TAG) else "!"

    def check_tag(self, event: Any, allowed: Tuple[str, ...]) -> bool:
        """False, and reported, when a node has another tag than one of ``allowed``."""
        tag = event.tag
        if tag is None or tag == "!" or tag in [_TAG + word for word in allowed]:
            return True
        shown = tag.replace(_TAG, "!!")
        text, start = self._document.source.text, event.start_mark.index
        end = start
        while end < len(text) and not text[end].isspace():
            end += 1
        self._document.report(
            rules.yaml_trap,
            start,
            end,
            phrase(
                'the tag "{}" is not accepted; a configuration holds plain values', shorten(shown)
            ),
            "remove the tag",
        )
        return False

    def value(self, event: Any, start: int, end: int) -> Tuple[Any, Optional[str]]:
        """The value of a scalar, and its text where it may not have been meant so."""
        if not self.check_tag(event, _SCALARS):
            return BROKEN, None
        text = event.value
        if _LONE_SURROGATE.search(text):
            self._document.report(
                rules.unparsable_file, start, end, "this text has half of a surrogate pair in it"
            )
            return BROKEN, None
        kind = self.kind(event)
        plain = event.tag is None and event.style is None
        if plain and self._surely_wrong(kind, text, start, end):
            return BROKEN, None
        value = self.converted(kind, text)
        if value is BROKEN:
            words = {"int": "an integer", "float": "a number", "bool": "a boolean"}[kind]
            message = phrase('"{}" is not {}', shorten(text), words)
            self._document.report(rules.unparsable_file, start, end, message)
            return BROKEN, None
        doubtful = kind == "float" or (kind == "bool" and text.lower() not in ("true", "false"))
        return value, text if plain and doubtful else None

    def _surely_wrong(self, kind: str, text: str, start: int, end: int) -> bool:
        """Report a scalar that cannot be meant as YAML reads it, or that YAMLs disagree on."""
        shown = shorten(text)
        help = phrase('write "{}" in quotes if it is text', shown)
        if kind in ("int", "str") and _LEADING_ZERO.match(text):
            decimal = shorten("-" * text.startswith("-") + (text.lstrip("-+0_") or "0"))
            octal = self.converted(kind, text)
            if kind == "int" and octal is not BROKEN:
                if octal == 0:
                    return False
                problem = phrase(
                    '"{}" is octal: YAML 1.1 reads {}, YAML 1.2 reads {}', shown, octal, decimal
                )
                help = phrase("write {} or {}", octal, decimal)
            else:
                problem = phrase(
                    '"{}" starts with 0: some parsers read text, some a number', shown
                )
                help = phrase("write {}, or put it in quotes", decimal)
        elif kind in ("int", "float") and _BASE_60.match(text):
            problem = phrase('"{}" is a number of base 60 in YAML 1.1 and text in YAML 1.2', shown)
        elif kind == "timestamp":
            problem = phrase('"{}" is read as a date by YAML; no option takes one', shown)
        else:
            return False
        self._document.report(rules.yaml_trap, start, end, problem, help)
        return True

    def converted(self, kind: str, text: str) -> Any:
        """The value of a text as YAML reads it; BROKEN when it cannot be read so."""
        if kind == "null":
            return None
        if kind == "bool":
            return _BOOLEANS.get(text.lower(), BROKEN)
        if kind not in ("int", "float"):
            return text
        if len(text) > MAX_DIGITS:
            return BROKEN
        node = yaml.ScalarNode(_TAG + kind, text)
        try:
            if kind == "int":
                return self._loader.construct_yaml_int(node)
            return self._loader.construct_yaml_float(node)
        except (ValueError, IndexError, OverflowError):
            return BROKEN


def words(kind: str, value: Any) -> str:
    """What YAML reads a scalar as, in words."""
    if kind == "bool":
        return phrase("the boolean {}", value)
    if kind == "timestamp":
        return "a date"
    return "a number" if value is BROKEN else phrase("the number {}", shorten(str(value)))
