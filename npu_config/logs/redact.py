"""Addresses, names of hosts and users, and paths taken out of texts, each by one name.

What belongs to the software (``/usr/local/Ascend``, packages of Python) stays, so that a log can
still be read.
"""

import os
import re
from typing import Any, Dict, Iterable, Tuple

__all__ = ["Redactor"]

_SOFTWARE = re.compile(
    r"/(?:usr|opt|lib|lib64|proc|sys|dev|etc|bin|sbin|tmp)(?:/|$)|.*/(?:site|dist)-packages/"
    r"|/home/jenkins/"
)
_IN_PACKAGES = re.compile(r"/.*?((?:lib/python[\d.]+/)?(?:site|dist)-packages/.*)")
_PARTS = re.compile(
    r"(?P<url>\b(?:https?|obs|s3|hdfs|ftp)://)(?P<site>[^/\s\"'\])]+)"
    r"(?P<rest>/[^\s\"'\])<>]*)?"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*)"
    r"|(?P<mac>\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b)"
    r"|(?P<ip>(?<![A-Za-z\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\.\d)(?![A-Za-z\d]))"
    r"|(?P<ip6>(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}(?![\w:])"
    r"|(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}(?![\w:]))"
    r"|(?P<path>(?<![\w./:<])/(?:[^\s/\"'`<>|:;,()\[\]{}=]+/)+[^\s/\"'`<>|:;,()\[\]{}=]*)"
)
_HOST = re.compile(r"\b(?:host ?name|host|server|node)(?:\[|=|: ?)(?P<name>[A-Za-z][\w.-]*[\w])")
_USER = re.compile(r"/(?:home|Users)/(?P<name>[^/\s\"']+)")
_KEPT = ("127.0.0.1", "0.0.0.0", "255.255.255.255")
_NOT_TEXT = ("code", "class", "pattern", "component", "leads_to")


class Redactor:
    """Replaces, and remembers what by what.

    Args:
        words: what is replaced wherever it stands as a word: names of hosts and users.
    """

    def __init__(self, words: Iterable[Tuple[str, str]] = ()) -> None:
        self._names: Dict[Tuple[str, str], str] = {}
        self._words: Dict[str, str] = {}
        for kind, word in words:
            self._learn(kind, word)

    def _name(self, kind: str, what: str) -> str:
        key = kind, what
        if key not in self._names:
            count = sum(1 for other, _ in self._names if other == kind) + 1
            self._names[key] = "{}-{}".format(kind, count)
        return self._names[key]

    def _learn(self, kind: str, word: str) -> None:
        if len(word) > 2 and word not in self._words and word not in ("root", "localhost", "user"):
            self._words[word] = self._name(kind, word)

    def text(self, text: str) -> str:
        """A text without what tells of people and machines."""
        for match in _USER.finditer(text):
            self._learn("user", match.group("name"))
        for match in _HOST.finditer(text):
            if not match.group("name").isdecimal():
                self._learn("host", match.group("name"))
        text = _PARTS.sub(self._replaced, text)
        for word in sorted(self._words, key=len, reverse=True):
            if word in text:
                text = re.sub(
                    r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])".format(re.escape(word)),
                    self._words[word],
                    text,
                )
        return text

    def _replaced(self, match: "re.Match[str]") -> str:
        kind = match.lastgroup
        found = match.group()
        if match.group("url"):
            site = match.group("url") + self._name("host", match.group("site"))
            folder, slash, name = (match.group("rest") or "").partition("?")[0].rpartition("/")
            return site + (folder and "/" + self._name("dir", folder)) + slash + name
        if kind == "path":
            return self._path(found)
        if kind == "ip" and found in _KEPT:
            return found
        return self._name({"ip6": "ip"}.get(kind or "", kind or ""), found)

    def _path(self, path: str) -> str:
        packages = _IN_PACKAGES.match(path)
        if _SOFTWARE.match(path) and not path.startswith("/tmp/"):
            return path
        if packages is not None:
            return "/{}/{}".format(self._name("dir", "packages"), packages.group(1))
        folder, _, name = path.rpartition("/")
        return "/{}/{}".format(self._name("dir", folder), name)

    def document(self, value: Any, key: str = "") -> Any:
        """What JSON holds, with every text in it; names of the facts stay."""
        if key in _NOT_TEXT:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.document(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self.document(each) for each in value]
        return value


def of_this_machine() -> Iterable[Tuple[str, str]]:
    """The names of this host and of who is logged in, which logs may hold."""
    import socket

    yield "host", socket.gethostname()
    for name in ("USER", "LOGNAME", "USERNAME"):
        if os.environ.get(name):
            yield "user", os.environ[name]
