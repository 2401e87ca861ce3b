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
    r"(?P<secret>(?i:(?<![a-z0-9])(?P<key>(?:[a-z0-9]{1,40}[_-]){0,4}(?:token|password|passwd|pwd|passphrase"
    r"|secret|api_?key|access_?key(?:_id)?|secret_?key|authorization|credentials?|cookie)"
    r"['\"]?\s{0,3}[=:]\s{0,3}['\"]?(?:(?:bearer|basic|token)\s{1,3})?))(?P<value>[^\s\"',;&)}\]]{3,}))"
    r"|(?P<key2>(?i:\bbearer\s{1,3}|--(?:token|password|secret|api-key)\s{1,3}))(?P<value2>[\w.~+/=-]{6,})"
    r"|(?P<known>\b(?:(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[pousr]_\w{16,}|hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}"
    r"|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*))"
    r"|(?P<url>\b(?:https?|obs|s3|hdfs|ftp|git|ssh)://)(?P<site>[^/\s\"'\])]+)"
    r"(?P<rest>/[^\s\"'\])<>]*)?"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*)"
    r"|(?P<mac>\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b)"
    r"|(?P<ip>(?<![A-Za-z\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\.\d)(?![A-Za-z\d]))"
    r"|(?P<ip6>(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}(?![\w:])"
    r"|(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}(?![\w:])"
    r"|(?<![\w:.])[0-9a-fA-F]*\d[0-9a-fA-F]*::(?![\w:]))"
    r"|(?P<fqdn>(?<![\w.-])[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,5}\.(?:local|internal|lan|corp|intra|com|net|org|edu|cn)\b(?![\w.(-]))"
    r"|(?P<tilde>(?<![\w/])~[A-Za-z_][\w.-]*(?:/[^\s/\"'`<>|:;,()\[\]{}=]+)*)"
    r"|(?P<windows>\b[A-Za-z]:\\(?:[^\s\\\"'`<>|:;,()\[\]{}=]+\\)+[^\s\\\"'`<>|:;,()\[\]{}=]*)"
    r"|(?P<path>(?<![\w./:<])/(?:[^\s/\"'`<>|:;,()\[\]{}=]+/)+[^\s/\"'`<>|:;,()\[\]{}=]*)"
)
_HOST = re.compile(
    r"(?i:\b(?:host ?name|host|server|worker|peer|remote(?: host)?|machine|nodelist|hosts))"
    r"(?:\[|=|: ?| \"?)(?P<name>[A-Za-z][A-Za-z_.-]*\d[\w.-]*)"
    r"|\b(?:[Hh]ost ?name|[Hh]ost|[Ss]erver|[Nn]ode|NodeList)(?:\[|=|: ?)"
    r"(?P<other>[A-Za-z][\w.-]*[\w])"
    r"|\b[Rr]emote(?: host)? (?!(?:rank|host|side|device|socket|node|proc|end|peer|server"
    r"|ip|mem|addr|notify|link|data"
    r"|direct|call|qp|user|access|and|is|not|worker|port|has|cannot|did|closed)\w*\b)"
    r"(?P<remote>[A-Za-z][\w.-]*)"
    r"|\b(?:ON|on node|RUNNING AT|on host) (?P<on>[A-Za-z][\w.-]*[\w])"
    r"|\b(?:srun|slurmstepd): error: (?P<srun>[A-Za-z][A-Za-z_-]*\d[\w.-]*)"
    r"|^\[(?P<mpi>[A-Za-z][\w.-]*):\d{2,9}\]"
    r"|^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<syslog>[A-Za-z][\w.-]*) "
    r"|\b\w+@(?P<at>[A-Za-z][\w.-]*[\w])",
    re.M,
)
_USER = re.compile(
    r"(?:/(?:home|Users)/|\\Users\\|(?<![\w/])~)(?P<name>[A-Za-z_][^/\\\s\"':,;)\]]*)"
    r"|\b(?i:user(?:name)?|login|owner)(?:=|: ?)[\"']?(?P<said>[A-Za-z_][\w.-]*)"
    r"|(?<![\w.+-])(?P<at>[A-Za-z_][\w.-]*)@(?=[\w-])"
)
_NOBODY = re.compile(
    r"root|localhost|user|host|node|server|none|null|true|false|unknown|worker|and|the|rank|device"
    r"|self|remote|name|path|port|table|file",
    re.I,
)
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
        short = len(word) < 3 and not (kind == "host" and word[1:].isdecimal())
        if not short and word not in self._words and not _NOBODY.fullmatch(word):
            self._words[word] = self._name(kind, word)

    def text(self, text: str) -> str:
        """A text without what tells of people and machines."""
        for pattern, kind in ((_USER, "user"), (_HOST, "host")):
            for match in pattern.finditer(text):
                self._learn(kind, next(group for group in match.groups() if group))
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
        for key, value in (("key", "value"), ("key2", "value2")):
            if match.group(value):
                return match.group(key) + self._name("secret", match.group(value))
        if match.group("known"):
            return self._name("secret", found)
        if match.group("url"):
            site = match.group("url") + self._name("host", match.group("site"))
            folder, slash, name = (match.group("rest") or "").partition("?")[0].rpartition("/")
            return site + (folder and "/" + self._name("dir", folder)) + slash + name
        if kind == "path":
            return self._path(found)
        if kind in ("tilde", "windows"):
            folder, slash, name = found.rpartition("/" if kind == "tilde" else "\\")
            end = "/" + re.split(r"[/\\]", name)[-1] if slash else ""
            return self._name("dir", folder or found) + end
        if kind == "ip" and found in _KEPT:
            return found
        return self._name({"ip6": "ip", "fqdn": "host"}.get(kind or "", kind or ""), found)

    def _path(self, path: str) -> str:
        packages = _IN_PACKAGES.match(path)
        if _SOFTWARE.match(path) and not path.startswith(("/tmp/", "/dev/shm/")):
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
