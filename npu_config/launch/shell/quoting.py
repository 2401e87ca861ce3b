"""Words of a script, character by character as bash reads them: quotes and substitutions."""

import re
from typing import List, Tuple

from npu_config.core.message import phrase

BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_LINE = re.compile(r"(?:\s|\\\n|#[^\n]*\n)+")
_PLAIN = re.compile(r"[^ \t\n;&|()<>'\"`$\\]+")
_BACKTICKS = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)
_ANSI = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_IN_DOUBLE = re.compile(r"[^\"\\`$]+")
_ASSIGNS = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=\Z", re.DOTALL)
_LITERAL_QUOTE = re.compile(r"[\w@*#?!-]+:?[-=+?]")
_TEST_ENDS = re.compile(r"\s*\]\](?=[\s;&|)]|\Z)")
_IN_TEST = re.compile(r"[\s()<>|&;]+")
_REDIRECTS = re.compile(r"<<<|<<-?|[<>][<>&|]?")
_QUOTES = re.compile(r"[\\'\"]")


class RefusedError(Exception):
    """What bash refuses: the message, and the part of the text."""


class UnsureError(Exception):
    """The text is not read as bash reads it."""


class Text:
    """A text that is read once; ``at`` is where."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.deep = text, 0, 0
        self.documents: List[Tuple[str, bool]] = []

    def skip(self, what: "re.Pattern[str]") -> bool:
        """Pass over what is here; whether it is."""
        match = what.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True

    def here(self, *texts: str) -> bool:
        """Whether one of these comes next."""
        return self.text.startswith(texts, self.at)

    def commands(self, end: str) -> None:
        """Commands up to the end of the text, or of a parenthesis."""
        raise NotImplementedError

    def test(self) -> None:
        """``[[ ... ]]``."""
        while not self.skip(_TEST_ENDS):
            begin = self.at
            if not self.skip(_IN_TEST):
                self.word()
            if self.at == begin:
                raise UnsureError

    def redirection(self) -> None:
        """A redirection."""
        document = self.here("<<") and not self.here("<<<")
        self.skip(_REDIRECTS)
        tabs = self.text[self.at - 1] == "-"
        self.skip(BLANKS)
        word = self.word()
        if document:
            self.documents.append((_QUOTES.sub("", word), tabs))

    def bodies(self) -> None:
        """The here-documents of the line that ended."""
        documents, self.documents = self.documents, []
        for mark, tabs in documents:
            line = ""
            while self.at < len(self.text):
                line, _, rest = self.text[self.at :].partition("\n")
                self.at = len(self.text) - len(rest)
                if (line.lstrip("\t") if tabs else line) == mark:
                    break

    def word(self) -> str:
        """A word with the quotes in it."""
        begin = self.at
        while self.at < len(self.text):
            if self.skip(_PLAIN):
                continue
            mark = self.text[self.at]
            if mark == "(":
                before = self.text[begin : self.at]
                if before[-1:] in ("?", "*", "+", "@", "!"):
                    self.at += 1
                    self.balanced("(", ")")
                elif _ASSIGNS.match(before):
                    self.array()
                else:
                    break
            elif self.here("<(", ">("):
                self.at += 2
                self.commands(")")
            elif not self.quoted(mark):
                break
        return self.text[begin : self.at]

    def array(self) -> None:
        """The words of an array."""
        self.at += 1
        self.in_brackets(_LINE)

    def in_brackets(self, between: "re.Pattern[str]") -> None:
        """Words with something between them, and the bracket behind them."""
        while not self.here(")"):
            begin = self.at
            if not self.skip(between):
                self.word()
            if self.at == begin:
                raise UnsureError
        self.at += 1

    def quoted(self, mark: str, in_double: bool = False) -> bool:
        """A quote, a substitution or an escaped character; False when this is none."""
        begin = self.at
        if mark == "\\":
            self.at += 2
        elif mark == "`":
            self.at += 1
            self.closed(self.skip(_BACKTICKS), begin)
        elif mark == "$":
            self.dollar(in_double)
        elif mark == '"':
            self.at += 1
            while not self.here('"'):
                self.closed(self.at < len(self.text), begin)
                self.skip(_IN_DOUBLE)
                if not self.here('"') and self.at < len(self.text):
                    self.quoted(self.text[self.at], True)
            self.at += 1
        elif mark == "'":
            self.at = self.text.find("'", begin + 1) + 1
            self.closed(self.at > 0, begin)
        else:
            return False
        return True

    def closed(self, is_closed: bool, begin: int) -> None:
        """Refuse a quote without an end."""
        if not is_closed:
            message = phrase(
                "the quote {} is not closed to the end of the script", self.text[begin]
            )
            raise RefusedError(message, begin, begin + 1)

    def dollar(self, in_double: bool) -> None:
        """What begins with ``$``."""
        self.at += 1
        if self.here("("):
            self.at += 1
            if not self.arithmetic():
                documents, self.documents = self.documents, []
                self.commands(")")
                self.documents = documents
        elif self.here("{"):
            self.at += 1
            literal = in_double and _LITERAL_QUOTE.match(self.text, self.at) is not None
            self.balanced("", "}", literal, in_double)
        elif self.here("["):
            self.at += 1
            self.balanced("[", "]")
        elif self.here("'") and not in_double:
            begin = self.at
            self.at += 1
            self.closed(self.skip(_ANSI), begin)
        elif self.here("$", "#"):
            self.at += 1

    def arithmetic(self) -> bool:
        """``((...))`` behind its first parenthesis; False when two shells begin here."""
        begin = self.at
        if self.here("("):
            self.at += 1
            self.balanced("(", ")")
            if self.here(")"):
                self.at += 1
                return True
            self.at = begin
        return False

    def balanced(
        self, opens: str, closes: str, literal: bool = False, in_double: bool = False
    ) -> None:
        """Text up to what closes it."""
        depth = 1
        while depth:
            if self.at >= len(self.text):
                raise UnsureError
            mark = self.text[self.at]
            if mark in "\\`$\"'" and not (literal and mark == "'"):
                self.quoted(mark, in_double and mark == "$")
                continue
            depth += (mark == opens) - (mark == closes)
            self.at += 1
