"""What is known of Python's values: operations give what Python gives, and within bounds only.

The expected value of a table of expressions is that of Python itself.
"""

import ast
import json

import pytest

from npu_config.script import objects
from npu_config.script.objects import Fails, NotKnown, Unknown


def python(node):
    """What Python gives for an expression."""
    code = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(code, "<expression>", "eval"), {"json": json})


def known(text):
    """What is known of an expression, whose operands are those of Python; else ``NotKnown``."""
    node = ast.parse(text, mode="eval").body
    try:
        if isinstance(node, ast.BinOp):
            return objects.binary(type(node.op), python(node.left), python(node.right))
        if isinstance(node, ast.UnaryOp):
            return objects.unary(type(node.op), python(node.operand))
        if isinstance(node, ast.Compare):
            operands = python(node.left), python(node.comparators[0])
            return objects.compare(type(node.ops[0]), *operands)
        args = [python(each) for each in node.args]
        keywords = {each.arg: python(each.value) for each in node.keywords}
        if isinstance(node.func, ast.Attribute) and not ast.dump(node.func).count("'json'"):
            return objects.method(python(node.func.value), node.func.attr, args, keywords)
        name = "json.dumps" if isinstance(node.func, ast.Attribute) else node.func.id
        return objects.function(name, args, keywords)
    except NotKnown:
        return NotKnown


LIKE_PYTHON = """
1 + 2 ; 5 - 7 ; 3 * 4 ; 7 / 2 ; 7 // 2 ; -7 % 3 ; 2 ** 10 ; 2 ** -1 ; 2.5 ** 2 ; 1 << 4 ; 256 >> 4
6 & 3 ; 6 | 3 ; 6 ^ 3 ; 6.0 // 4 ; 'a' + 'b' ; [1] + [2] ; (1,) + (2,) ; b'a' + b'b'
'ab' * 3 ; 3 * 'ab' ; b'a' * 2 ; [1] * 2 ; 2 * (1,) ; 'a' * 0 ; 'a' * -1 ; True + True
'%s-%d' % ('a', 1) ; '%05.1f' % 2 ; b'%d' % 3 ; '%(a)s' % {'a': 'b'} ; '%%' % ()
'a' * 100000 ; 100000 * 'a' ; [0] * 100000 ; ('a' * 99999) + 'b' ; 2 ** 999 ; 2 ** -999 ; 1 << 999
(1 << 4095) + 0 ; (1 << 4094) * 2 ; '%9999d' % 3 ; ('x' * 2000) % ()
('%s' + 'x' * 1998) % ('y' * 2500,)
-3 ; +3 ; ~3 ; -(2.5)
1 == 1.0 ; 1 != 2 ; 1 < 2 ; 2 <= 2 ; 3 > 2 ; 2 >= 3 ; 2 > 2 ; 2 < 2 ; 'a' in 'abc' ; 'd' in 'abc'
1 in [1, 2] ; 3 not in (1, 2) ; 1 not in [1] ; 'a' in {'a': 1} ; None is None ; None is not None
True is True ; True is False ; 'a' is None ; 0 is None ; 0 is False ; 1 is True ; 1 is not True
'abc'.capitalize() ; 'abcb'.count('b') ; 'a'.encode() ; 'a'.encode('utf8') ; 'abc'.endswith('bc')
'abc'.find('c') ; '{}-{x}'.format(1, x=2) ; '-'.join(['a', 'b']) ; 'AB'.lower() ; '  a'.lstrip()
'abab'.replace('a', 'c', 1) ; 'a-b-c'.rsplit('-', 1) ; 'a  '.rstrip() ; 'a,b'.split(',')
'abc'.startswith('ab') ; '-a-'.strip('-') ; 'a b'.title() ; 'ab'.upper() ; '7'.zfill(3)
b'a'.decode() ; b'a'.decode('ascii') ; b'a'.decode(encoding='latin-1') ; b'ab'.endswith(b'b')
b'AB'.lower() ; b'ab'.upper() ; b'aba'.replace(b'a', b'c') ; b' a '.strip() ; b'a'.startswith(b'b')
{'a': 1}.get('a') ; {'a': 1}.get('b', 2) ; {'a': 1}.copy() ; [1, 2, 1].count(1) ; [1, 2].index(2)
(1, 2).count(3) ; (1, 2).index(1) ; [1].copy() ; (255).bit_length()
'7'.zfill(100000) ; '{:9999}'.format('a') ; ('x' * 2000).find('y' * 2500) ; '{0}'.format('a')
str(3) ; int('3') ; int('0x10', 16) ; int(2.9) ; int() ; float('2.5') ; bool('')
bytes('a', 'utf-8') ; bytes(b'a') ; len([1, 2]) ; min(3, 2) ; max([3, 4]) ; abs(-3) ; round(2.5)
round(2.567, 2) ; round(250, -2) ; round(1.5, 2000) ; round(1.5, -2000) ; sum([1, 2]) ; sum([1], 2)
list('ab') ; tuple([1]) ; dict(a=1) ; dict([('a', 1)]) ; sorted([2, 1])
sorted([1, 2], reverse=True) ; repr('a') ; int('0' * 1999 + '1')
json.dumps({'b': [1], 'a': None}, sort_keys=True)
json.dumps([1, {}], indent=2) ; json.dumps([1], indent=8) ; json.dumps([1], indent=0)
json.dumps([1, 2], separators=(',', ':')) ; json.dumps(['\\u00e9'], ensure_ascii=False)
json.dumps({'a': 1}, separators=(' ' * 4, ' ' * 4))
"""
BEYOND = """
1 / 0 ; 'a' + 1 ; '%d' % 'a' ; '%s %s' % ('a',) ; 1 << -1 ; [1] @ [2] ; 'a' ** 2 ; 2 ** 0.5
'5' << 1 ; 'a' * 100001 ; 100001 * 'a' ; [0] * 100001 ; ('a' * 99999) + 'bb' ; 2 ** 1000
2 ** -1000 ; 1 << 1000 ; (1 << 4095) * 2 ; (1 << 100) ** 999 ; '%10000d' % 3 ; '%*d' % (3, 4)
('x' * 2001) % () ; ('%s' + 'x' * 1998) % ('y' * 2501,) ; b'%10000d' % 3
-'a' ; ~2.5 ; 1 < 'a' ; 1 in 2 ; 'a' < None
'a'.swapcase() ; 'a'.center(9) ; [1].append(2) ; {'a': 1}.pop('a') ; (1.5).hex() ; b'a'.title()
'a'.encode('utf-16') ; b'a'.decode('idna') ; b'\\xff'.decode() ; 'a'.encode(encoding='punycode')
'7'.zfill(100001) ; '7'.zfill('3') ; '7'.zfill() ; '{:10000}'.format('a') ; '{:{}}'.format(1, 2)
'{}'.format() ; '-'.join([1]) ; 'a'.startswith(1) ; [1].index(2) ; ('x' * 2000).find('y' * 2501)
('x' * 2000).replace('x', 'y' * 51)
open('a') ; bytes(3) ; bytes() ; int('a') ; int('0' * 2000 + '1') ; len(3) ; min()
round(1.5, 2001) ; round(1.5, -2001) ; list('a' * 100001) ; json.dumps([1], indent='  ')
json.dumps([1], indent=9) ; json.dumps([1], default=str)
json.dumps([1], separators=(' ' * 4, ' ' * 5))
"""


def each(table):
    """The expressions of a table."""
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" ; ")]


@pytest.mark.parametrize("text", each(LIKE_PYTHON))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_like_python(text):
    """An operation on known values gives what Python gives, of the same type."""
    expected = python(ast.parse(text, mode="eval").body)
    assert (known(text), type(known(text))) == (expected, type(expected))


@pytest.mark.parametrize("text", each(BEYOND))
def test_beyond(text):
    """What raises, what may have effects, and what grows too large, is not known."""
    assert known(text) is NotKnown


def test_views_are_lists():
    """What a dictionary gives of itself is a list, which can be known."""
    for name, expected in (("keys", ["a"]), ("values", [1]), ("items", [("a", 1)])):
        assert objects.method({"a": 1}, name, [], {}) == expected


SIZES = [
    (None, True),
    ("x" * 100001, True),
    (Unknown("x"), False),
    (set(), False),
    ([Unknown("x")], False),
    ({"a": [1, (2, {"b": Unknown("x")})]}, False),
    ({Unknown("x"): 1}, False),
    ([1, (2.5, {"b": None}), b"x", True], True),
    (["x" * 100000], True),
    (["x" * 100001], False),
    ([b"x" * 50000, {"x" * 50000: None}], True),
    ([b"x" * 50000, {"x" * 50001: None}], False),
    (["x" * 99999, 1], True),
    (["x" * 99999, 3, 0.5, None], True),
    (["x" * 99999, 4], False),
    (["x" * 99997, 1 << 8], False),
    (["x" * 99996, 1 << 8], True),
    (list(range(999)), True),
    (list(range(1000)), False),
    ([*range(997), {0: 0}], True),
    ([*range(998), {0: 0}], False),
    (dict.fromkeys(range(666)), True),
    (dict.fromkeys(range(667)), False),
]


def test_is_known():
    """A value alone always is; one that holds others if they are known, and are not too many."""
    assert [objects.is_known(value) for value, _ in SIZES] == [each for _, each in SIZES]


@pytest.mark.parametrize(
    ("name", "args", "after", "result"),
    [
        ("append", [4], [3, 1, 4], None),
        ("extend", [[4]], [3, 1, 4], None),
        ("insert", [0, 4], [4, 3, 1], None),
        ("pop", [], [3], 1),
        ("sort", [], [1, 3], None),
        ("remove", [3], [1], None),
        ("remove", [4], [3, 1], NotKnown),
        ("extend", [[0] * 1998], [3, 1] + [0] * 1998, None),
        ("extend", [[0] * 1999], [3, 1] + [0] * 1999, NotKnown),
    ],
)
def test_change(name, args, after, result):
    """A list is changed as Python does it, and known up to 2000 items."""
    receiver = [3, 1]
    try:
        given = objects.change(receiver, name, args, {})
    except NotKnown:
        given = NotKnown
    assert (receiver, given) == (after, result)


@pytest.mark.parametrize(
    ("value", "names", "expected"),
    [
        (True, ["int"], True),
        (1, ["bool"], False),
        ("a", ["bytes", "basestring"], True),
        ("a", ["bytes", "list", "tuple", "dict"], False),
        (1.5, ["numbers.Number"], True),
        (1.5, ["numbers.Integral", "six.integer_types", "long"], False),
        ("a", ["six.string_types"], True),
        ("a", ["str", "np.ndarray"], NotKnown),
        ("a", [], False),
    ],
)
def test_is_instance(value, names, expected):
    """``isinstance`` with builtin types; a type that is not known makes the answer unknown."""
    try:
        assert objects.is_instance(value, names) is expected
    except NotKnown:
        assert expected is NotKnown
    assert objects.type_names([Unknown(name) for name in names]) == names
    assert objects.type_names(Unknown("int")) == ["int"]
    for wrong in ([Unknown("int"), 1], "int"):
        with pytest.raises(NotKnown):
            objects.type_names(wrong)


@pytest.mark.parametrize(
    ("wire", "value", "expected"),
    [
        ("b", True, True),
        ("b", 2, True),
        ("b", 0, False),
        ("b", 1.0, "a bool, got 1.0"),
        ("b", "True", "a bool, got 'True'"),
        ("i", 3, 3),
        ("i", True, 1),
        ("i", 3.0, "an int, got 3.0"),
        ("f", 3, 3.0),
        ("f", 2.5, 2.5),
        ("f", "2.5", "a number, got '2.5'"),
        ("s", b"a", "a"),
        ("s", b"\xff", "\ufffd"),
        ("s", "a", "bytes, got 'a'"),
        ("s", None, "bytes, got None"),
        ("s", "x" * 38, "bytes, got '{}'".format("x" * 38)),
        ("s", "x" * 39, "bytes, got '{}...".format("x" * 36)),
        ("list", [1], [1]),
    ],
)
def test_stored(wire, value, expected):
    """What a field holds after an assignment, of the field's own type, or what it takes."""
    given = objects.stored(value, wire)
    if isinstance(given, Fails):
        words = 'protobuf raises TypeError: ".{}" takes {}'.format(wire, expected)
        assert (str(given.reason), given.value, given.field) == (words, value, wire)
    else:
        assert (given, type(given)) == (expected, type(expected))


def test_as_bytes():
    """Text becomes UTF-8, bytes stay as they are, and everything else raises."""
    assert [objects.as_bytes(each) for each in ("\u00e9", b"a", bytearray(b"a"))] == [
        b"\xc3\xa9",
        b"a",
        b"a",
    ]
    failed = objects.as_bytes(3)
    assert (str(failed.reason), failed.field) == (
        "as_bytes(3) raises TypeError: the argument must be a string",
        None,
    )
    assert [objects.as_text(each) for each in (b"\xc3\xa9", 3)] == ["\u00e9", "3"]


def test_keys_of_unknown_values():
    """A key of up to 400 characters is itself; longer ones stay different, and are shorter."""
    assert Unknown("x" * 400).key == "x" * 400
    one, other = Unknown("x" * 400 + "y").key, Unknown("x" * 400 + "z").key
    assert one != other
    assert [len(each) for each in (one, other)] == [211, 211]
    assert [Unknown("x", path).name for path in ((), ("os", "getenv"))] == ["", "getenv"]


def chain(length, convert=lambda value: value + 1):
    """An unknown value, and what is made of it by so many conversions."""
    first = last = Unknown("first")
    for number in range(length):
        last = Unknown("made {}".format(number), parts=(Unknown("+"), last), convert=convert)
    return first, last


def refuse(value):
    """A conversion that raises."""
    raise TypeError


@pytest.mark.parametrize(
    ("length", "convert", "expected"),
    [
        (0, refuse, 10),
        (1, lambda value: value * 2, 20),
        (8, lambda value: value + 1, 18),
        (9, lambda value: value + 1, None),
        (1, refuse, None),
        (1, lambda value: Fails("it fails", value), None),
        (1, None, None),
    ],
)
def test_substituted(length, convert, expected):
    """What is known of a value holds through eight conversions of it that succeed."""
    first, last = chain(length, convert)
    given = objects.substituted(last, lambda value: 10 if value is first else value)
    assert given is last if expected is None else given == expected
    assert objects.substituted(last, lambda value: value) is last
    assert objects.substituted(3, refuse) == 3


def test_origins():
    """Everything that a value was made of, each once, and no more than 200 of them."""
    first, last = chain(2)
    last.parts += (first, "text")
    keys = [each.key for each in objects.origins(last)]
    assert sorted(keys) == ["+", "+", "first", "made 0", "made 1"]
    assert [len(list(objects.origins(chain(length)[1]))) for length in (99, 100)] == [199, 200]
    assert list(objects.origins("text")) == []
