"""The catalogue is complete: every sentence that a user may read has its translation."""

import ast
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("babel")
pytest.importorskip("tools.messages")

from tools.messages import (
    CODE,
    PACKAGE,
    PLURALS,
    SILENT,
    load,
    placeholders,
    sentences,
    translation,
    untranslated,
)

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 9), reason="sentences are collected with the ast of Python 3.9"
)

ALLOWED_UNTRANSLATED = 0
"""Sentences that wait for their translation."""

CATALOGUE = load()
TRANSLATED = {
    text: translation(CATALOGUE, text)
    for message in CATALOGUE
    if message.id
    for text in [message.id if isinstance(message.id, str) else message.id[0]]
}


def test_every_sentence_is_in_the_catalogue():
    """What the code says now, and nothing that it said once."""
    said = set(sentences())
    missing = sorted(said - set(TRANSLATED)) + untranslated(CATALOGUE)
    assert len(missing) <= ALLOWED_UNTRANSLATED, missing
    if not ALLOWED_UNTRANSLATED:
        assert sorted(set(TRANSLATED) - said) == []


def test_sentences_are_phrases():
    """What is put together with ``.format`` is no sentence: those are made by ``phrase``."""
    words = re.compile(r"[a-z]{3,}.* |[a-z]{2,} \{|\} [a-z]{2,}")
    glued = [
        (name, node.lineno, node.func.value.value)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in [path.relative_to(PACKAGE).as_posix()]
        if not SILENT.match(name) and name != "core/diagnostics.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "format"
        and isinstance(node.func.value, ast.Constant)
        and words.search(str(node.func.value.value))
        and not CODE.match(str(node.func.value.value))
    ]
    assert glued == [], "\n".join(map(str, glued))


def test_nothing_is_fuzzy():
    """A guess of a tool is no translation."""
    assert [message.id for message in CATALOGUE if message.id and message.fuzzy] == []


def test_placeholders_agree():
    """Each translation has the fields of its sentence, with their formats, in any order."""
    wrong = [
        text
        for text, words in TRANSLATED.items()
        if words and _fields(words) not in (_fields(text), _fields(PLURALS.get(text, text)))
    ]
    assert wrong == []


def _fields(text):
    try:
        return placeholders(text)
    except ValueError:  # it holds a single brace, and is never formatted
        return None


def test_quotes_and_line_ends_agree():
    """What is quoted in English is quoted in Chinese; a line stays a line."""
    wrong = [
        text
        for text, words in TRANSLATED.items()
        if words
        and (
            text.count('"') != words.count('"')
            or text.endswith("\n") != words.endswith("\n")
            or text.startswith("\n") != words.startswith("\n")
        )
    ]
    assert wrong == []


def test_names_are_kept():
    """What stands in backticks, and names with underscores, is not translated."""
    name = re.compile(r"``?[^`]+``?|\b[a-zA-Z]+_[a-zA-Z_]+\b")
    wrong = [
        (text, found)
        for text, words in TRANSLATED.items()
        if words
        for found in name.findall(text)
        if found.strip("`") not in words
    ]
    assert wrong == []


def test_the_compiled_catalogue_is_that_of_the_source():
    """The .mo file that is shipped says what the .po file says."""
    from tools.messages import MO, written

    assert Path(MO).read_bytes() == written(CATALOGUE)[1]


COUNTED = {
    plural: singular
    for singular, plural in (
        *((word, word + "s") for word in (
            "argument", "column", "core", "decrease", "device", "element", "error", "execution",
            "file", "finding", "graph", "group", "increase", "input", "item", "iteration", "key",
            "line", "note", "operator", "option", "output", "overflow", "place", "plane",
            "profile", "rank", "record", "row", "run", "script", "server", "step", "stream",
            "table", "tensor", "time", "value", "variable", "warning",
        )),
        ("address", "addresses"), ("entry", "entries"), ("pass", "passes"),
        ("process", "processes"),
    )
}  # fmt: skip
"""Things that are counted; not those of sizes and limits, such as bytes, which are never one."""

_COUNT = re.compile(r"\{{\d?(?::,)?\}} (?:more |other )?({})\b".format("|".join(COUNTED)))
_LIMIT = re.compile(r"(?:more than|at most|every|there are) $")

NEVER_ONE = (
    '"dynamic_dims" holds {} profiles',
    '"save_checkpoints_secs" is given for {} devices',
    '"{0}" asks for {1} streams',
    '"{}" has {} devices, but {} SDIDs',
    '"{}" is fed to a loop of {} iterations',
    "<DumpTree: ",
    "<GeGraph ",
    "layer {} ",
    "movements: ",
    "no dump fits; ",
    'profile {} of "dynamic_dims" is ',
    "rank {} sends {} elements",
    "server_num is {} for {} devices",
    "the graph names none of the {:,} operators",
    "the loss scale keeps falling",
    "the loss scale probes its limit",
    "the original shape {} does not fit",
    "{:,} devices have the ranks",
    "{:,} findings; the rest of the text",
    "{} files of the operator {} in one step",
    "{} findings",
    "{} has the devices {}; {} devices of a server",
    "{} has {} devices; a server of atlas_training takes",
    "{} has {} entries, at most",
    "{} is {} for {} devices; HCCL takes",
    "{} of {} lines end with",
)
"""Beginnings of sentences whose counts are two at least, are no prose, or are said of many."""


def test_one_of_a_thing_is_not_said_in_the_plural():
    """A sentence that counts has a form for one, or is worded so that it needs none."""
    wrong = []
    for text in TRANSLATED:
        for match in _COUNT.finditer(text):
            before = text[: match.start(1)]
            one = before + COUNTED[match.group(1)]
            has_one = any(re.match(re.escape(one) + r"\b", other) for other in TRANSLATED)
            if not (has_one or _LIMIT.search(text[: match.start()])):
                wrong.append(text)
    assert sorted({text for text in wrong if not text.startswith(NEVER_ONE)}) == []
