"""The text of a script: decoding it as Python does, parsing it, and exact places in it."""

import ast
import bisect
import codecs
import functools
import io
import itertools
import re
import sys
import threading
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.diagnostics import Place
from npu_config.core.lazy import asked_once, cached_property
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import name_of
from npu_config.text.source import Source

Span = Tuple[int, int, int, int]

_LONGEST = 400
_LONG_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}(?:\"{3}|'{3})""")
_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}["']""")
_STRING = r"""[bBrRuUfF]{0,2}(?:
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
        |'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
        |"[^\n"\\]*(?:\\(?:\r\n|.)[^\n"\\]*)*"
        |'[^\n'\\]*(?:\\(?:\r\n|.)[^\n'\\]*)*'
    )"""
_TOKEN = re.compile(
    r"(?:[\s\\]|\#[^\r\n]*)*("
    + _STRING
    + r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\w*|\w+|\.{3}|\S|\Z)",
    re.S | re.X,
)
_LINE_END = re.compile(r"(?<!\\)(?<!\\\r)\n")
_PIECE = re.compile(_STRING + r"|\#[^\r\n]*|[()\[\]{}]", re.S | re.X)
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_TEXTS = ("Str", "Bytes", "JoinedStr")
_BRACKETED = ("GeneratorExp", "List", "Dict", "Set", "ListComp", "SetComp", "DictComp")
_BEGIN_INSIDE = {"ListComp": "[", "GeneratorExp": "("}
"""What begins behind its bracket for Python 3.7."""
_LAST_PART: Dict[str, Callable[[Any], Any]] = {
    "BinOp": lambda node: node.right,
    "UnaryOp": lambda node: node.operand,
    "Compare": lambda node: node.comparators[-1],
    "BoolOp": lambda node: node.values[-1],
    "IfExp": lambda node: node.orelse,
    "Lambda": lambda node: node.body,
    "Starred": lambda node: node.value,
    "Await": lambda node: node.value,
    "Tuple": lambda node: node.elts[-1] if node.elts else None,
}


def span(text: str, starts: Sequence[int], node: ast.expr) -> Span:
    """First line and column, last line and the column after the end; columns count from 1.

    Args:
        text: the script.
        starts: the offset at which each line begins.
        node: the expression.
    """
    reader = _Reader(text, starts)
    is_long = node.col_offset < 0
    start = reader.first = reader.long_text(node.lineno) if is_long else reader.start(node)
    reader.may_be_inside = not is_long
    end = reader.end(node)
    depth = lowest = 0
    for piece in _PIECE.finditer(text, start, end):
        depth += _DEPTH.get(piece.group(), 0)
        lowest = min(lowest, depth)
    for _ in range(-lowest):  # Python 3.7 lets ``(a + b).c`` begin at ``a``
        start = max(text.rfind("(", 0, start), 0)
    return (*reader.position(start), *reader.position(end))


class _Reader:
    """Reads the expression of a text that begins at the offset ``first``."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self.text = text
        self.starts = starts
        self.first = 0
        self.may_be_inside = True

    def position(self, offset: int) -> Tuple[int, int]:
        """Line and column of an offset."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def _line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def start(self, node: ast.expr) -> int:
        """Where a node begins; the tree counts bytes, and comprehensions inside.

        Python 3.7 lets a sum of more than two begin at its last sign but one.
        """
        while isinstance(node, ast.BinOp):
            node = node.left
        if node.col_offset < 0:
            return self._text_up_to(node.lineno)
        line, column = self._line(node.lineno), node.col_offset
        if not line.isascii():
            column = len(line.encode("utf-8")[:column].decode("utf-8", "ignore"))
        start = self.starts[node.lineno - 1] + column
        bracket = None if HAS_ENDS else _BEGIN_INSIDE.get(type(node).__name__)
        return start if bracket is None else max(self.text.rfind(bracket, 0, start), 0)

    def _texts(self, offset: int) -> Iterator[Tuple[int, int]]:
        """Where a text begins, and the line it ends in, for every one from an offset on."""
        for piece in _PIECE.finditer(self.text, offset):
            if _QUOTE.match(piece.group()):
                yield piece.start(), self.position(piece.end())[0]

    def _text_up_to(self, last: int) -> int:
        """The first text that ends in a line: of one of several lines Python 3.7 says no more."""
        return next((start for start, line in self._texts(self.first) if line == last), self.first)

    def long_text(self, last: int) -> int:
        """The text of several lines that ends in a line."""
        first = last
        while first > 1 and self._line(first - 1).rstrip("\r\n").endswith("\\"):
            first -= 1
        quotes = [(first, match.start()) for match in _QUOTE.finditer(self._line(first))]
        for line in range(last, max(0, last - _LONGEST), -1):
            quotes += [(line, match.start()) for match in _LONG_QUOTE.finditer(self._line(line))]
        for line, column in quotes:
            start = self.starts[line - 1] + column
            if line < last and next(self._texts(start), None) == (start, last):
                return start
        return self.starts[last - 1]

    def end(self, node: ast.expr) -> int:
        """Where a node ends that is, or is in, the expression."""
        if isinstance(node, ast.Attribute):
            return self._token(self._after(self.end(node.value), "."))[1]
        if isinstance(node, ast.Call):
            return self._closing(self._after(self.end(node.func), "(") - 1)
        if isinstance(node, ast.Subscript):
            return self._closing(self._after(self.end(node.value), "[") - 1)
        kind = type(node).__name__
        start = self.start(node)
        if kind in _TEXTS or isinstance(getattr(node, "value", None), (str, bytes)):
            return self._end_of_texts(start)
        if kind in _BRACKETED:
            return self._closing(start)
        part = _LAST_PART.get(kind)
        inner = None if part is None else part(node)
        return self._token(start)[1] if inner is None else self._closed(start, self.end(inner))

    def _token(self, offset: int) -> Tuple[str, int]:
        """The next token, and where it ends."""
        match = _TOKEN.match(self.text, offset)
        return ("", len(self.text)) if match is None else (match.group(1), match.end())

    def _after(self, offset: int, wanted: str) -> int:
        """Where the next token ends that is this one."""
        token, end = self._token(offset)
        while token and token != wanted:
            token, end = self._token(end)
        return end

    def _end_of_texts(self, start: int) -> int:
        """Where a text ends that may be written as several ones."""
        inside = self.may_be_inside and self._is_inside(start)
        end = start
        while True:
            match = _TOKEN.match(self.text, end)
            if match is None or not _QUOTE.match(match.group(1)):
                return end
            if not inside and _LINE_END.search(self.text, end, match.start(1)):
                return end
            end = match.end()

    def _is_inside(self, offset: int) -> bool:
        """True for what is in brackets, as far as the lines of the expression say so."""
        line, column = self.position(self.first)
        before = self._line(line)[: column - 1].rstrip()
        return (
            before.endswith(("(", "[", "{", ","))
            or (not before and line > 1)
            or self.position(offset)[0] > line
        )

    def _closed(self, start: int, end: int) -> int:
        """``end``, or what closes the last bracket that is open there since ``start``."""
        depth = 0
        for piece in _PIECE.finditer(self.text, start):
            if piece.start() >= end and depth <= 0:
                break
            depth += _DEPTH.get(piece.group(), 0)
            if piece.end() >= end and depth <= 0:
                return piece.end()
        return end

    def _closing(self, offset: int) -> int:
        """Where the brackets end that open at an offset."""
        return self._closed(offset, offset + 1)


_WORD = re.compile(r"\w+")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_TEXT = re.compile(
    r"""#[^\n]*|(\'{3}|"{3})(?:\\.|(?!\1)[^\\])*(?:\1)?|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""",
    re.S,
)
_PYTHON_2 = re.compile(
    r"(?:^|[:;])[ \t]{0,80}(?:print|exec)"
    r"(?:[ \t]{1,8}(?!(?:if|in|is|and|or|not|else|for)\b)[\w\"]|\"|[ \t]{0,8}>>)"
    r"|^[ \t]{0,80}except[ \t]{1,8}[\w.]{0,200}(?:\([\w., \t]{1,400}\))?"
    r"[ \t]{0,8},[ \t]{0,8}\w{1,80}:"
    r"|^[ \t]{0,80}raise[ \t]{1,8}[\w.]{1,200}[ \t]{0,8},|`|<>|\b[uU][rR]\"|\blambda[ \t]{0,8}\("
    r"|(?<![\w.])(?:0[0-9]{0,24}[1-9][0-9]{0,24}|[0-9]{1,40}[lL])(?![\w.])",
    re.M,
)
"""What only Python 2 knows: print and exec as statements, ``except X, e``, ``0777``, ``10L``."""
_LONE_RETURN = re.compile(r"\r(?!\n)")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")

HAS_ENDS = sys.version_info >= (3, 8)
"""Python 3.7 does not say where a node ends."""


class Undecodable(ValueError):  # noqa: N818 - a verdict on a file, caught by whoever asked
    """The bytes are not text in the encoding that Python would use; ``line`` is where."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


class Decoded(NamedTuple):
    """Text as it was decoded, with its own line ends, and what encodes it back."""

    text: str
    encoding: str


def decode(data: bytes) -> Decoded:
    """The text of a Python file: UTF-8, or what its coding comment says (PEP 263).

    Raises:
        Undecodable: with the reason in words.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    encoding = "utf-8-sig" if bom else _declared(data) or "utf-8"
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Undecodable(
            phrase(
                "the byte 0x{} in line {} is not valid {}",
                data[error.start : error.start + 1].hex(),
                line,
                encoding.upper(),
            ),
            line,
        ) from None
    except (LookupError, ValueError, TypeError, AttributeError):
        raise Undecodable(phrase('the encoding "{}" is not known', encoding), 1) from None


class Imported(NamedTuple):
    """The text of a file with a comment that is not UTF-8; ``runs``: Python also runs it."""

    text: str
    encoding: str
    runs: bool


def decode_as_imported(data: bytes) -> Optional[Imported]:
    """The text of a file that Python imports although a comment of it is not UTF-8.

    An import reads comments of any bytes.  The script that is run itself has to be UTF-8 as a
    whole, unless it says by its mark or by a coding comment that it is.
    """
    bom, declared = data.startswith(codecs.BOM_UTF8), _declared(data)
    if len(data) >= _LARGE or not _is_utf_8(declared or "utf-8"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError, SystemError):
        return None
    encoding = "utf-8-sig" if bom else "utf-8"
    return Imported(data.decode(encoding, "replace"), encoding, bom or declared is not None)


def _is_utf_8(name: str) -> bool:
    try:
        return codecs.lookup(name).name == "utf-8"
    except LookupError:
        return False


def _declared(data: bytes) -> Optional[str]:
    """The encoding that one of the first two lines declares."""
    for line in io.BytesIO(data[:1024]).readlines()[:2]:
        match = _COOKIE.match(line)
        if match:
            return match.group(1).decode("ascii")
        if line.strip() and not line.lstrip().startswith(b"#"):
            return None
    return None


class Unparsable(ValueError):  # noqa: N818 - a verdict on a file, caught by whoever asked
    """The text is not Python 3; ``line`` and ``column`` say where it ends to be."""

    def __init__(self, reason: str, line: Optional[int], column: Optional[int]) -> None:
        super().__init__(reason)
        self.line = line
        self.column = column


def parse(text: str) -> ast.Module:
    """The syntax tree of a script.

    Raises:
        Unparsable: for text that is not Python 3, or that is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text) if len(text) < _LARGE else _parse_large(text)
    except SyntaxError as error:
        raise Unparsable(error.msg or "invalid syntax", error.lineno, error.offset) from None
    except (RecursionError, MemoryError, OverflowError):
        raise Unparsable("nested too deeply to be analysed", None, None) from None
    except ValueError as error:
        raise Unparsable(str(error), None, None) from None


# Since 3.11 Python limits the depth by itself.
_LARGE = 100000 if sys.version_info < (3, 11) else sys.maxsize


def _parse_large(text: str) -> ast.Module:
    """Parse on a stack that grows with the text.

    Python before 3.11 builds the tree by recursion in C that nothing limits: a chain of some
    hundred thousand operators would end the process.
    """
    results: List[ast.Module] = []
    errors: List[BaseException] = []

    def run() -> None:
        try:
            results.append(ast.parse(text))
        except BaseException as error:
            errors.append(error)

    usual = threading.stack_size(min(256 * len(text), 1 << 30) // 4096 * 4096)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    except RuntimeError:
        raise MemoryError from None
    finally:
        threading.stack_size(usual)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class ScriptSource(Source):
    """The text of one script, with what finds words and nodes in it.

    Args:
        text: the text, with its own line ends; as in Python, ``\\r`` alone is one.
        path: the file, for the places.
    """

    def __init__(self, text: str, path: Optional[str] = None) -> None:
        super().__init__(text, path)
        self.lines: List[str] = _NEWLINE.split(text) if "\r" in text else text.split("\n")
        self._starts = _starts(text, self.lines)
        self._lines_of: Dict[str, List[int]] = {}
        self._places: Dict[int, Tuple[Place, ast.AST]] = {}

    @property
    def starts(self) -> List[int]:
        """The offset at which each line begins."""
        return self._line_starts()

    def column(self, line: int, offset: int) -> int:
        """The column, in characters from 1, of a byte offset in the UTF-8 form of a line."""
        content = self.lines[line - 1]
        if offset == 0 or content.isascii():
            return offset + 1
        return len(content.encode("utf-8")[:offset].decode("utf-8", "ignore")) + 1

    def place_of(self, node: ast.AST) -> Place:
        """Where a node is."""
        found = self._places.get(id(node))
        if found is None:
            found = self._places[id(node)] = (self._node_place(node), node)
        return found[0]

    def place_of_name(self, node: ast.expr) -> Place:
        """Where the last name of a dotted expression is."""
        place = self.place_of(node)
        column = (place.end_column or 1) - len(name_of(node))
        return place._replace(line=place.end_line, column=column)

    def _node_place(self, node: ast.AST) -> Place:
        first: ast.expr = node  # type: ignore[assignment]
        line = first.lineno
        if not HAS_ENDS:
            return Place(self.path, *span(self.text, self.starts, first))
        end_line = first.end_lineno or line
        return Place(
            self.path,
            line,
            self.column(line, first.col_offset),
            end_line,
            self.column(end_line, first.end_col_offset or 0),
        )

    def at(self, place: Place) -> str:
        """The characters at a place."""
        if place.path != self.path:
            return ""
        assert place.line
        assert place.column
        assert place.end_line
        assert place.end_column
        first, last = place.line - 1, place.end_line - 1
        if first == last:
            return self.lines[first][place.column - 1 : place.end_column - 1]
        rows = [self.lines[first][place.column - 1 :]]
        rows += self.lines[first + 1 : last]
        rows.append(self.lines[last][: place.end_column - 1])
        return "\n".join(rows)

    def inside(self, place: Place, text: str) -> Place:
        """The place of ``text`` within the quotes of a plain literal; else that of the literal."""
        literal = self.at(place)
        body = literal.lstrip("bBrRuU")
        quote = body[:3] if body[:3] in ('"""', "'''") else body[:1]
        start = len(literal) - len(body) + len(quote)
        if literal[start:] != text + quote or place.line != place.end_line:
            return place
        column = (place.column or 1) + start
        return place._replace(column=column, end_column=column + len(text))

    @asked_once
    def keyword_place(self, name: str, value: Place) -> Place:
        """The place of the keyword before a value."""
        assert value.line is not None
        assert value.column is not None
        before = self.lines[value.line - 1][: value.column - 1]
        for line in range(value.line, max(0, value.line - 4), -1):
            before = before.rstrip(" \t\r\f(")
            keyword = before[:-1].rstrip() if before.endswith("=") else ""
            start = len(keyword) - len(name)
            if keyword.endswith(name) and not _WORD.match(keyword[max(0, start - 1) : start]):
                return Place(self.path, line, start + 1, line, start + 1 + len(name))
            before = self.lines[line - 2] if line > 1 else ""
        return value

    @property
    def has_odd_newlines(self) -> bool:
        """True when a line ends with a carriage return alone."""
        return _LONE_RETURN.search(self.text) is not None

    @cached_property
    def words(self) -> FrozenSet[str]:
        """Every word of ASCII letters, to know quickly what cannot be there."""
        return words_of(self.text)

    def mentions(self, word: str) -> List[int]:
        """The lines with an identifier, comment lines left out."""
        found = self._lines_of.get(word)
        if found is None:
            may_be = word in self.words or not (word.isascii() and word.isidentifier())
            found = self._lines_of[word] = self.lines_with(word) if may_be else []
        return found

    def lines_of(self, *words: str) -> List[int]:
        """The lines with one of some identifiers, in order, comment lines left out."""
        return sorted({line for word in words for line in self.mentions(word)})

    def members(self, word: str) -> List[int]:
        """The lines with an identifier behind a dot, comment lines left out.

        One that begins its line counts where a comment ends the line before it.
        """
        text, size = self.text, len(word)
        found: List[int] = []
        start = text.find(word)
        while start >= 0:
            end = start + size
            before = start - 1
            while text[before] in " \t\r\n\\" and before > 0:
                before -= 1
            is_member = text[before] == "." or self._follows_comment(before, start)
            if is_member and _is_whole(text, start, end):
                line = self.line(start)
                if not self.lines[line - 1].lstrip().startswith("#"):
                    found.append(line)
            start = text.find(word, end)
        return found

    def _follows_comment(self, before: int, start: int) -> bool:
        """True where the line of one offset ends in a comment before the other offset."""
        end = self.text.find("\n", before, start)
        return end >= 0 and "#" in self.text[self.text.rfind("\n", 0, before) + 1 : end]

    def lines_with(self, word: str, within: bool = False) -> List[int]:
        """The lines that hold a word, comment lines left out; ``within``: also inside of words."""
        text, size = self.text, len(word)
        found: List[int] = []
        start = text.find(word) if word else -1  # what has no name is nowhere
        starts = self.starts if start >= 0 else []
        while start >= 0:
            end = start + size
            if within or _is_whole(text, start, end):
                line = bisect.bisect_right(starts, start)
                if not self.lines[line - 1].lstrip().startswith("#"):
                    found.append(line)
                if line == len(starts):
                    break
                end = starts[line]
            start = text.find(word, end)
        return found


def spans(word: str, line: str) -> Iterator[Tuple[int, int]]:
    """Where a whole word begins and ends in a line."""
    end = 0
    while True:
        start = line.find(word, end)
        if start < 0:
            return
        end = start + len(word)
        if _is_whole(line, start, end):
            yield start, end


def _starts(text: str, lines: Sequence[str]) -> List[int]:
    """The offset at which each line begins."""
    if "\r" in text:
        return [0, *(match.end() for match in _NEWLINE.finditer(text))]
    ends = itertools.accumulate(map((1).__add__, map(len, lines)))
    return [0, *ends][: len(lines)]


_SIGNS = bytes(
    code if code < 128 and (chr(code).isalnum() or code == ord("_")) else 32 for code in range(256)
)


@functools.lru_cache(maxsize=1)
def words_of(text: str) -> FrozenSet[str]:
    """Every word of ASCII letters of a text, to know quickly what cannot be there."""
    data = text.encode("utf-8", "surrogatepass").translate(_SIGNS)
    return frozenset(data.decode("ascii").split())


def _is_whole(text: str, start: int, end: int) -> bool:
    """True for what is no part of a longer word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before == "_" or after == "_" or before.isalnum() or after.isalnum())


def looks_like_python_2(text: str) -> bool:
    """True for a text with something that only Python 2 knows, outside of texts and comments."""
    code = _TEXT.sub(lambda match: "" if match.group().startswith("#") else '""', text)
    return _PYTHON_2.search(code) is not None


ADAPTER = "TF Adapter"
TENSORFLOW = "TensorFlow"
OURS = frozenset((ADAPTER, TENSORFLOW))
"""The frameworks that are judged: a script for the NPU, and one that may become one."""

_OTHERS = {
    "PyTorch": "torch torch_npu torchvision torchaudio accelerate apex bmtrain colossalai "
    "deepspeed detectron2 fairseq lightning llamafactory megatron mindspeed mindspeed_llm mmcv "
    "mmengine modellink pytorch_lightning sglang swift vllm",
    "MindSpore": "mindspore mindaudio mindcv mindflow mindformers mindnlp mindocr mindone "
    "mindyolo",
    "PaddlePaddle": "paddle paddlenlp ppdet",
    "JAX": "jax flax",
    "MXNet": "mxnet",
    "TensorFlow 2": "npu_device",
}
_OTHER: Dict[str, str] = {
    module: name for name, modules in _OTHERS.items() for module in modules.split()
}
_OF_ADAPTER = frozenset(("npu_bridge", "npu_config"))


def of_modules(modules: Iterable[str]) -> Optional[str]:
    """The framework of a script that imports these modules; None where they do not show it.

    Scripts of other frameworks import TensorFlow, too, for its summaries.

    Args:
        modules: their first names: ``"tensorflow"`` for ``tensorflow.keras``.
    """
    names = tuple(modules)
    if not _OF_ADAPTER.isdisjoint(names):
        return ADAPTER
    other = next((_OTHER[name] for name in names if name in _OTHER), None)
    return other or (TENSORFLOW if "tensorflow" in names else None)
