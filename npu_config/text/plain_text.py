"""Which texts a text file can hold, and how formats write them: with quotes, with escapes."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*\Z|\.{1,2}/[A-Za-z0-9_./-]*\Z")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def is_plain_yaml(text: str) -> bool:
    """True for a text that YAML 1.1 and 1.2 both read as it stands.

    What begins with a digit, a sign or a single dot is a number to some reader (``1e5``,
    ``0o14``, ``1_000``, ``12:30``), so it is never plain.
    """
    return _PLAIN.match(text) is not None and text.lower() not in _WORDS


def is_utf8(text: str) -> bool:
    """False for a text that came from bytes which are not UTF-8; no text file can hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


_ESCAPES = {code: "\\{:03o}".format(code) for code in (*range(32), *range(127, 256))}
_ESCAPES.update({ord("\t"): r"\t", ord("\n"): r"\n", ord("\r"): r"\r"})
_ESCAPES.update({ord('"'): r"\"", ord("'"): r"\'", ord("\\"): r"\\"})


def octal_escapes(data: bytes) -> str:
    """Bytes as they stand between quotes in protobuf's text form."""
    return data.decode("latin-1").translate(_ESCAPES)
