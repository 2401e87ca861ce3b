"""The catalogue is complete: every sentence that a user may read has its translation."""

import ast
import functools
import io
import re
import subprocess
import sys

import pytest

pytest.importorskip("babel")
pytest.importorskip("tools.messages")

from babel.messages.pofile import read_po

from npu_config.core.message import catalogue
from tests.package_trees import modules
from tools import messages
from tools.messages import (
    CODE,
    PLURALS,
    SILENT,
    load,
    placeholders,
    translation,
)

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 9), reason="sentences are collected with the ast of Python 3.9"
)


@functools.lru_cache(maxsize=None)
def translated():
    """What the catalogue says of each sentence."""
    read = load()
    return {
        text: translation(read, text)
        for message in read
        if message.id
        for text in [message.id if isinstance(message.id, str) else message.id[0]]
    }


sentences = functools.lru_cache(maxsize=None)(messages.sentences)


def test_the_sentences_are_found():
    """What the code says is collected: nearly all of it is in the catalogue already."""
    assert len(set(sentences()) & set(translated())) > 2000


@pytest.fixture
def waiting(monkeypatch):
    """One sentence is new."""
    new = {"a new {} of all": {"cli/new.py"}}
    monkeypatch.setattr(messages, "sentences", lambda: {**sentences(), **new})


def test_a_new_sentence_is_listed(waiting, capsys):
    """It waits for its Chinese with the module that says it; it fails no check."""
    assert messages.main(["check"]) == 0
    assert "cli/new.py: 'a new {} of all'\n" in capsys.readouterr().out


def test_a_release_waits_for_its_translations(waiting, capsys):
    """With ``--release`` a sentence without Chinese is a failure."""
    assert messages.main(["check", "--release"]) == 1
    assert "cli/new.py: 'a new {} of all'\n" in capsys.readouterr().out


def test_a_release_passes_when_all_is_translated(monkeypatch, capsys):
    """The same check accepts a catalogue in which nothing waits."""
    known = {text: set() for text, words in translated().items() if words}
    monkeypatch.setattr(messages, "sentences", lambda: known)
    monkeypatch.setattr(messages.rule_pages, "waiting", list)
    assert messages.main(["check", "--release"]) == 0
    assert "{} sentences, 0 wait for their Chinese\n".format(len(known)) in capsys.readouterr().out


def test_both_sides_of_a_merge_keep_their_sentences(tmp_path):
    """Two branches that enter sentences at one place of the .po file merge by union."""
    added = {
        "ours": {"zz a line of ours": "甲", "zz lines\nof ours\n": "甲\n甲\n"},
        "base": {},
        "theirs": {"zz a line of theirs": "乙", "zz lines\nof theirs\n": "乙\n乙\n"},
    }
    for side, new in added.items():
        catalogue = load()
        for text, words in new.items():
            catalogue.add(text, words)
        (tmp_path / side).write_bytes(messages.source(catalogue))
    merge = ["git", "merge-file", "-p", "--union", "ours", "base", "theirs"]
    merged = subprocess.run(merge, cwd=str(tmp_path), stdout=subprocess.PIPE, check=True).stdout
    both = read_po(io.BytesIO(merged), locale="zh_CN")
    found = {text: translation(both, text) for side in added.values() for text in side}
    assert {**added["ours"], **added["theirs"]} == found
    assert len(load()) + 4 == len(both)


def test_sentences_are_phrases():
    """What is put together with ``.format`` is no sentence: those are made by ``phrase``."""
    words = re.compile(r"[a-z]{3,}.* |[a-z]{2,} \{|\} [a-z]{2,}")
    glued = [
        (module.name, node.lineno, node.func.value.value)
        for module in modules()
        if not SILENT.match(module.name) and module.name != "core/diagnostics.py"
        for node in module.nodes
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "format"
        and isinstance(node.func.value, ast.Constant)
        and words.search(str(node.func.value.value))
        and not CODE.match(str(node.func.value.value))
    ]
    assert glued == [], "\n".join(map(str, glued))


def test_nothing_is_fuzzy():
    """A guess of a tool is no translation."""
    assert [message.id for message in load() if message.id and message.fuzzy] == []


def test_placeholders_agree():
    """Each translation has the fields of its sentence, with their formats, in any order."""
    wrong = [
        text
        for text, words in translated().items()
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
        for text, words in translated().items()
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
        for text, words in translated().items()
        if words
        for found in name.findall(text)
        if found.strip("`") not in words
    ]
    assert wrong == []


def test_the_compiled_catalogue_is_that_of_the_source():
    """The .mo file that a build made says what the .po file says."""
    said = catalogue("zh")
    assert {
        text: words for text, words in translated().items() if words and words != said(text)
    } == {}


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
    '"dynamic_dims" has {} profiles',
    '"save_checkpoints_secs" is set for {} devices',
    '"{0}" requests {1} streams',
    '"{}" has {} devices, but {} SDIDs',
    '"{}" is fed to a loop of {} iterations',
    "<DumpTree: ",
    "<GeGraph ",
    "layer {} ",
    "changes: ",
    "correct all {:,} findings",
    "no dump matches; ",
    'profile {} of "dynamic_dims" is ',
    "rank {} sends {} elements",
    "server_num is {} for {} devices",
    "the graph names none of the {:,} operators",
    "the loss scale keeps falling",
    "the loss scale goes up and down around the largest usable value",
    "the original shape {} does not fit",
    "{:,} devices must have the ranks",
    "after {:,} findings, the rest of the text",
    "{} files of the operator {} in one step",
    "{} findings",
    "{} has the devices {}; {} devices of an",
    "{} in all {} processes that this command starts",
    "{} has {} devices; a server of atlas_training must",
    "{} has {} entries, at most",
    "{} is {} for {} devices; HCCL requires",
    "{} of {} lines end with",
)
"""Beginnings of sentences whose counts are two at least, are no prose, or are said of many."""


def test_one_of_a_thing_is_not_said_in_the_plural():
    """A sentence that counts has a form for one, or is worded so that it needs none."""
    wrong = []
    for text in sentences():
        for match in _COUNT.finditer(text):
            before = text[: match.start(1)]
            one = before + COUNTED[match.group(1)]
            has_one = any(
                other.startswith(one) and not re.match(r"\w", other[len(one) :])
                for other in sentences()
            )
            if not (has_one or _LIMIT.search(text[: match.start()])):
                wrong.append(text)
    assert sorted({text for text in wrong if not text.startswith(NEVER_ONE)}) == []
