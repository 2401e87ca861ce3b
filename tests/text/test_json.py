"""The JSON reader: strict as the runtime, exact about places, and never out of breath."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.core.diagnostics import Place
from npu_config.text import json as _json
from npu_config.text.json_parser import MAX_DEPTH, parse
from npu_config.text.source import MAX_FAULTS, Source, apply_edits
from tests import golden

ESCAPES = (
    '"\\d" is not an escape of JSON; legal: \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u '
    "and four hexadecimal digits"
)
SINGLE = "the text is in single quotes; JSON requires double quotes"
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
fragments = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ",", ":", '"', '"a"', '"b"', "'c'", "\\", "//x", "/*", "*/", "#", "/",
         "1", "-", ".5", "e", "true", "None", "on", "NaN", " ", "\n", "\t", "\ufeff", "\u201c",
         "\uff0c", "\uff1a", "\\u", "\\ud800", "\xa0", "\x00"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


def strict(text):
    """What the standard library says, without its three liberties."""

    def refuse(_):
        raise ValueError

    def pairs(items):
        return dict(items)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=pairs)


def messages(text):
    """The messages of a reading, in order of place."""
    found = _json.read(text).diagnostics
    return [d.message for d in sorted(found, key=lambda d: (d.line, d.column))]


def fixed(text):
    """The text after every fix that its diagnostics carry."""
    edits = [e for d in _json.read(text).diagnostics if d.fix for e in d.fix.edits]
    return apply_edits(text, edits)


@given(values, st.sampled_from([None, 0, 2]), st.booleans())
@settings(max_examples=golden.tries(100))
def test_slow_road_agrees_with_the_standard_library(value, indent, ascii_only):
    """On strict JSON both roads give the value of ``json.loads`` and find no fault."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    outcome = parse(Source(text))
    assert outcome.diagnostics == ()
    assert value == outcome.value
    assert value == _json.read(text).value
    assert outcome.complete


@given(st.text() | fragments)
@settings(max_examples=golden.tries(300))
def test_strict_or_reported(text):
    """Any text is read without an exception, and is reported just when it is not strict JSON."""
    reading = _json.read(text)
    try:
        expected = strict(text[1:] if text.startswith("\ufeff") else text)
    except ValueError:
        assert not reading.ok
    else:
        assert reading.ok or "\\ud" in text
        if reading.ok:
            assert expected == reading.value
    for diagnostic in reading.diagnostics:
        assert 1 <= diagnostic.line <= diagnostic.end_line
        assert (diagnostic.line, diagnostic.column) <= (
            diagnostic.end_line, diagnostic.end_column,
        )  # fmt: skip


@given(fragments)
@settings(max_examples=golden.tries(200))
def test_slow_road_finds_what_the_fast_road_refuses(text):
    """The two roads never disagree about whether a text is strict."""
    errors = [d for d in parse(Source(text)).diagnostics if d.severity.value == "error"]
    assert _json.read(text).ok == (not errors)


def paths(value, at=()):
    """Every path in a plain value."""
    yield at
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*at, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from paths(part, (*at, index))


@given(values, st.sampled_from([None, 1]))
@settings(max_examples=golden.tries(50))
def test_every_place_holds_its_value(value, indent):
    """The text at the place of a path is the JSON of the value there, and a key's is the key."""
    text = json.dumps(value, indent=indent)
    reading = _json.read(text, "x.json")
    source = Source(text)
    for path in paths(value):
        place = reading.place(path)
        part = value
        for step in path:
            part = part[step]
        start = source.offset(place.line, place.column)
        end = source.offset(place.end_line, place.end_column)
        assert part == json.loads(text[start:end])
        assert place.path == "x.json"
        if path and isinstance(path[-1], str):
            place = reading.key_place(path)
            start = source.offset(place.line, place.column)
            end = source.offset(place.end_line, place.end_column)
            assert path[-1] == json.loads(text[start:end])


def test_place_of_a_missing_part_is_what_stands_around_it():
    """A path that leads nowhere gives the nearest part that is there."""
    reading = _json.read('{"a": {"b": 1}}')
    assert Place(None, 1, 7, 1, 15) == reading.place(("a", "c", 3))
    assert Place(None, 1, 2, 1, 5) == reading.key_place(("a", "c"))


def test_places_in_a_text_with_faults():
    """Keys and values that are not strict have their whole place, too."""
    text = (
        '{\'it\': \'x y\',\n\u201cb\u201d: \u201cc d\u201d, "e\tf": "g\th", k: v/w, "z": "open\n}'
    )
    reading = _json.read(text)
    source = Source(text)

    def cut(place):
        start = source.offset(place.line, place.column)
        return text[start : source.offset(place.end_line, place.end_column)]

    expected = {
        "it": ("'it'", "'x y'"), "b": ("\u201cb\u201d", "\u201cc d\u201d"),
        "e\tf": ('"e\tf"', '"g\th"'), "k": ("k", "v/w"), "z": ('"z"', '"open'),
    }  # fmt: skip
    assert list(expected) == list(reading.value)
    for key, places in expected.items():
        assert places == (cut(reading.key_place((key,))), cut(reading.place((key,))))
    assert reading.value["z"] is _json.BROKEN
    assert not reading.complete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["the text is empty; a JSON value is missing"]),
        ("[1, 2] // two", ["a comment on line 1: the runtime rejects comments in JSON"]),
        ("// a\n[1, /* b */ 2]\n# c\n",
         ["comments on lines 1, 2 and 3: the runtime rejects comments in JSON"]),
        ('{"a": 1,}', ['no entry follows this ",", which strict JSON does not allow']),
        ("[1,, 2]", ['no entry follows this ",", which strict JSON does not allow']),
        ('{"a" 1}', ['a ":" is missing after the key']),
        ('{"a": 1 "b": 2}', ['a "," is missing before "b"']),
        ('{"a": , "b": 2}', ['a value is missing after the key "a"']),
        ("{'a': True}", ["the text is in single quotes; JSON requires double quotes",
                         "True is written true in JSON"]),
        ("{a: on}", ['the key "a" must be in double quotes',
                     'the text "on" must be in double quotes']),
        ("[NaN, 01]", ['"NaN" is not a JSON value', '"01" is not a valid JSON number']),
        ('{"a": [1, 2}', ['"[" (line 1) is not closed before "}"']),
        ("[1, 2}", ['"[" (line 1) is closed by "}"']),
        ('{"a": [\n1', ['unexpected end of file: "{" of line 1 and "[" of line 1 are not closed']),
        ("{} {}", ["text after the end of the JSON value"]),
        ('{"a": 1}}', ['this "}" has no matching opening bracket']),
        (
            '{"a": {"b": 1}}, "c": 2}',
            ['this "}" closes the whole value, but more text follows'],
        ),
        (
            '{"a": 1, }}, "b": 2}',
            ['this "}" closes the whole value, but more text follows'],
        ),
        ('{"a": [1, 2}}', ['"[" (line 1) is not closed before "}"']),
        ('{"a": {"x": [1, 2}}, "b": 1}', ['"[" (line 1) is not closed before "}"']),
        ('{{"a": 1}', ['unexpected "{"']),
        ('{"a": }1}', ['a value is missing after the key "a"']),
        ('{"a": "b\n, "c": 1}', ["the text that starts here has no closing quote on its line"]),
        ('{"a":"./"b":"on","c:"on"}', ['a quote is missing near "b", or there is one too many']),
        ('["a\tb"]', ["a string contains a control character (U+0009)"]),
        ('["C:\\data"]', [ESCAPES]),
        ('["\\ud800"]', ["this text contains an unpaired surrogate"]),
        ("\ufeff{}", ["the text starts with a byte order mark, which JSON forbids"]),
        ("\u201ca\u201d", ["the text is in typographic quotes; JSON requires double quotes"]),
        ("[\u201ca]", ['unexpected "\u201c"; JSON requires the double quote "']),
        ("['it\\'s', '\\u0041\\n', '\x01']", [SINGLE] * 3),
        ("[1\uff0c2]", ['found the full-width "\uff0c" (U+FF0C) in place of ","']),
        ("[1,\xa02]", ["a whitespace character that JSON does not allow (U+00A0)"]),
        ('{"a": 1,\n "b": 2,\n "a": 3}',
         ['the key "a" appears twice, on lines 1 and 3; one of the two values is lost']),
    ],
)  # fmt: skip
def test_faults(text, expected):
    """One cause yields one finding, in words that say what to write."""
    assert expected == messages(text)


def test_every_fault_at_once():
    """A fault never hides another one behind it."""
    text = '{"a": tru,\n"b": [1, 2,],\n"c": \'x\' // y\n"d": 1}\n'
    assert sorted((d.line, d.column, d.rule) for d in _json.read(text).diagnostics) == [
        (1, 7, "NPU711"), (2, 11, "NPU713"), (3, 6, "NPU711"), (3, 10, "NPU710"),
        (4, 1, "NPU711"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{ "a": 1, // one\n  "b": "//", }\n', '{ "a": 1,\n  "b": "//" }\n'),
        ('{\n  // one\n  "a": /* two */ 1 /* a */ // b\t\n}  // c', '{\n  "a":  1\n}'),
        ("{ /* a\n b */\t\n  # c\n\n}\n\n// d\n", "{\n\n}\n\n"),
        ("\ufeff// a\r\n  /* b */\r\n[]//c\r\n", "[]\r\n"),
        ("[1 /* x\n y */, 2,\n]", "[1 , 2\n]"),
        ("[1/**/2]", "[1 2]"),
        ('\ufeff{\'it"s\': True,}', '{"it\\"s": true}'),
        ('["a\tb"]', '["a\\tb"]'),
        ('{\u201ca\u201d\uff1a [1\uff0c\xa02]}', '{"a": [1, 2]}'),
        ("// only\r\n[]\r\n", "[]\r\n"),
    ],
)  # fmt: skip
def test_fixes_take_out_just_the_fault(text, expected):
    """After the fixes the rest of the text is byte for byte as it was."""
    assert expected == fixed(text)


@given(st.lists(st.sampled_from(["// c\n", "/* c */", " ", "\n"]), min_size=1), values)
@settings(max_examples=golden.tries(50))
def test_comments_can_always_be_taken_out(comments, value):
    """A commented value is the value again after the fix."""
    text = json.dumps(value, indent=1)
    commented = "".join(comments) + text.replace(",\n", ",// c\n") + " ".join(comments)
    assert value == json.loads(fixed(commented))


def test_deep_nesting_is_refused_not_fatal():
    """Beyond the stated depth there is a finding, not a RecursionError."""
    assert [
        "nesting limit of {} levels exceeded; reading stops here".format(MAX_DEPTH)
    ] == messages("[" * 100000)
    deep = "[" * 500 + "]" * 500
    reading = _json.read(deep)
    assert reading.ok
    assert reading.place((0,) * 9).column == 10


def test_faults_are_told_up_to_a_limit():
    """A text of nothing but faults yields the stated number of findings and a last word."""
    found = messages("[" + "1 " * 5000)
    assert len(found) == MAX_FAULTS + 1
    assert "after 1,000 findings, the rest of the text is not read" in found


@pytest.mark.parametrize(
    "piece", [",", "[", '"', '"\n', "\\n", "/*", "//\n", "1", "a ", "1.", "1e", "-", "\x00", "'"]
)
def test_large_texts_of_one_piece(piece):
    """Megabytes of anything are read to an end."""
    for text in (piece * 300000, "[" + piece * 300000 + "]", '["' + piece * 300000 + '"]'):
        _json.read(text)


def test_long_numbers_are_refused():
    """A number that costs quadratic time to convert is a finding."""
    assert messages("[" + "9" * 100000 + "]") == ["a number of more than 400 characters"]
