"""Decoding, parsing and places of scripts."""

import ast
import sys

import pytest

from npu_config.core.diagnostics import Place
from npu_config.python_flow.source import (
    ScriptSource,
    Undecodable,
    Unparsable,
    decode,
    looks_like_python_2,
    parse,
    span,
)
from npu_config.script.script import flag_defaults


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("x = '数据'\r\n".encode(), "x = '数据'\r\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8-sig"),
        ("# coding: gbk\nx = '数据'\n".encode("gbk"), "# coding: gbk\nx = '数据'\n", "gbk"),
        (b"#!/bin/python\n# vim: set fileencoding=latin-1 :\n\xe9", None, "latin-1"),
        (b"\n# -*- coding: latin-1 -*-\n\xe9", None, "latin-1"),
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n", "utf-8"),
        (b"x = 1  # coding: latin-1\n", "x = 1  # coding: latin-1\n", "utf-8"),
    ],
)
def test_decode(data, text, encoding):
    """Python's own rules: a mark, a comment in the first two lines, else UTF-8; and back again."""
    found = decode(data)
    assert encoding == found.encoding
    assert text is None or text == found.text
    assert data == found.text.encode(found.encoding)


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"x = 1\ny = '\xff'\n", "byte 0xff in line 2 is not valid UTF-8", 2),
        (b"# coding: no-such\n", 'the encoding "no-such"', 1),
        (b"# coding: rot13\n", 'the encoding "rot13"', 1),
        ("x = '数据'\n".encode("gbk"), "is not valid UTF-8", 1),
    ],
)
def test_undecodable(data, words, line):
    """The reason is given in words."""
    with pytest.raises(Undecodable) as caught:
        decode(data)
    assert words in str(caught.value)
    assert line == caught.value.line


@pytest.mark.parametrize("text", ["print 'x'\n", "x = (\n", "x = 1\0", "  x = 1\n y = 2\n", "x ="])
def test_unparsable(text):
    """What is no Python 3 is refused, with a place where there is one."""
    with pytest.raises(Unparsable):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print 'x'", True),
        ("    print x, y", True),
        ("except ValueError, e:", True),
        ("raise ValueError, 'x'", True),
        ("exec code", True),
        ("print('x')", False),
        ("print = 3", False),
        ("x = 'print x'", False),
        ("except ValueError as e:", False),
    ],
)
def test_python_2(text, expected):
    """Statements that only Python 2 knows give it away."""
    assert looks_like_python_2(text) is expected


EXPRESSIONS = [
    "a",
    "(a)",
    "a.b.c",
    "a . b",
    "(a).b",
    "f()",
    "f(a, (b), *c, d=e)",
    "f(a)(b)[c].d",
    "(f)(a)",
    "((f)(a))",
    "a[1]",
    "a[b[c]:d]",
    "(a)[1]",
    "[a, (b)]",
    "[]",
    "{a: b}",
    "{a, b}",
    "[a for a in (b)]",
    "{a: b for a in c}",
    "a + b",
    "(a + b) * c",
    "a * (b + c)",
    "a * ((b + c))",
    "a + f(b)",
    "not a",
    "-(a)",
    "a and (b or c)",
    "a < b < (c)",
    "a if b else (c)",
    "lambda x: (x)",
    "'a'",
    "'a' 'b'",
    "b'a'",
    "r'a)' \"(b\"",
    "'''a\nb'''",
    "'a' % (b, c)",
    "'''a\nb''' % c",
    "f('''a\nb''', c)",
    "'a\\\nb'",
    "'a\\\nb' % c",
    "f'{a}'",
    "f'{a}' 'b'",
    "1.5",
    "None",
    "f(\n    a,\n    b\n)",
    "f(  # a comment )\n    a)",
    "f(a\n    .b, c=d\n    .e)",
    "f([\n    a\n    for a in b\n])",
    "f('a'  # 'no'\n    'b')",
    "f('a'\r\n    'b')",
    "'数据'",
    "f('数据', '据')",
    "数.据['x']",
    "a \\\n + b",
    "a + b + c + d",
    "f(a) + 'b' + c.d",
    "(a + b) * c - (d - e) - 1",
    "((a) + b) + c",
    "'''a\nb''' + c + d",
    "a + (\n    b\n) + c + d",
    "[a + b + c][0] + d + e",
]
SURROUNDINGS = [
    "x = {}\n",
    "x = {}  # )\n",
    "x = {}; y = 1\n",
    "x = ({})\n",
    "x = f({}, 1)\n",
    "x = f(  # (\n    {}  # )\n)\n",
    "x = f(1, {})[0]\n",
    "数 = '数'; x = {}\nlambda: 1\n",
    "'text'\nx = {}\n'text'\n",
]


def expressions(text):
    """The expressions of a statement whose places are asked for."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign):
            yield node.value
        elif isinstance(node, ast.Call):
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="Python 3.7 does not say where nodes end")
@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_ends(surrounding):
    """The ends found for Python 3.7 are those that later versions tell."""
    for expression in EXPRESSIONS:
        text = surrounding.format(expression)
        source = ScriptSource(text)
        for node in expressions(text):
            if isinstance(node, (ast.Starred, ast.Tuple, ast.GeneratorExp)):
                continue
            if isinstance(node, ast.JoinedStr) and sys.version_info >= (3, 12):
                continue
            found = span(source.text, source.starts, node)
            assert source.place_of(node)[1:] == found, (text, ast.dump(node))


def test_places_of_this_python():
    """On every Python the text at a place is the expression, without brackets around it."""
    for expression in EXPRESSIONS:
        for surrounding in SURROUNDINGS:
            text = surrounding.format(expression)
            source = ScriptSource(text)
            (node,) = [
                node.value
                for node in ast.walk(source_tree(text))
                if isinstance(node, ast.Assign) and node.targets[0].id == "x"
            ]
            found = source.at(source.place_of(node))
            assert ast.dump(ast.parse("({})".format(found))) == ast.dump(
                ast.parse("({})".format(ast_text(text)))
            ), (text, found)


def source_tree(text):
    """The tree of a text."""
    return ast.parse(text)


def ast_text(text):
    """What stands between ``x =`` and the end of its statement."""
    body = text[text.index("x = ") + 4 :]
    for end in ("; y = 1\n", "\nlambda: 1\n", "\n'text'\n"):
        if body.endswith(end):
            body = body[: -len(end)]
    return body + "\n"


def test_words():
    """Words are found as a whole, and not in comment lines."""
    source = ScriptSource(
        "config = 1\nmy_config = 2\n# config\nx = config  # config\nconfigs = 3\r\nconfig"
    )
    assert source.mentions("config") == [1, 4, 6]
    assert source.lines_with("config", within=True) == [1, 2, 4, 5, 6]
    assert source.mentions("nothing") == []
    assert source.mentions("") == []  # what has no name is nowhere


def test_inside_and_keyword():
    """The place of a name within its quotes, and of the keyword before a value."""
    source = ScriptSource('x["name"]\nf(a = (1))\nf(b=\n  2)\nx["na" "me"]\n')
    assert Place(None, 1, 4, 1, 8) == source.inside(Place(None, 1, 3, 1, 9), "name")
    whole = Place(None, 5, 3, 5, 12)
    assert whole == source.inside(whole, "name")
    assert Place(None, 2, 3, 2, 4) == source.keyword_place("a", Place(None, 2, 8, 2, 9))
    assert Place(None, 3, 3, 3, 4) == source.keyword_place("b", Place(None, 4, 3, 4, 4))


def test_flags():
    """Defaults of argparse, absl and tf.flags; only of flags that are defined once."""
    flags = flag_defaults(
        ScriptSource(
            """\
parser.add_argument("-m", "--dump-mode", type=str, default="all", help="a) b")
parser.add_argument('--level',
                    default=3)
parser.add_argument("--x", dest="path", default="/tmp")
flags.DEFINE_string("mode", "fp16", "help")
tf.app.flags.DEFINE_integer(name="count", default=-1, help="")
# parser.add_argument("--old", default=1)
flags.DEFINE_bool("twice", True, "")
flags.DEFINE_bool("twice", False, "")
flags.DEFINE_string("computed", os.getcwd(), "")
parser.add_argument("name")
"""
        )
    )
    found = {name: flags.get(name) for name in ("dump_mode", "level", "path", "mode", "count")}
    assert {name: default.value for name, default in found.items()} == {
        "dump_mode": "all",
        "level": 3,
        "path": "/tmp",
        "mode": "fp16",
        "count": -1,
    }
    assert found["level"].line == 2
    for name in ("old", "twice", "computed", "name", "other"):
        assert flags.get(name) is None
