"""What only Python 2 knows in a script that parses under Python 3: names, modules, methods."""

import ast
from typing import Iterator, Optional, Tuple

from npu_config.core.message import listed, phrase
from npu_config.migration.resolve import Resolver
from npu_config.migration.work import MANUAL, Note
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import name_of

__all__ = ["WORDS", "note_of"]

_NAMES = frozenset(
    ("basestring", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange")
)
_MODULES = frozenset(
    (
        *("cPickle", "cStringIO", "StringIO", "urllib2", "urlparse", "ConfigParser", "Queue"),
        *("HTMLParser", "Tkinter", "SocketServer", "copy_reg", "__builtin__", "httplib"),
    )
)
_METHODS = frozenset(("has_key", "iteritems", "iterkeys", "itervalues"))
WORDS = _NAMES | _MODULES | _METHODS
_ASKING = frozenset(("version", "version_info", "PY2", "PY3", "python_version", "hasattr"))
_CAUGHT = frozenset(
    ("ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "Exception", "")
)
_MOST = 6


def note_of(script: Resolver) -> Optional[Note]:
    """What is said of a script: the names, once, at the line of the first."""
    words = script.words & WORDS
    lines = script.source.lines_of(*words)
    kinds = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)
    found = [
        (site.line, name)
        for site in (sites(script.module, lines, kinds) if lines else ())
        for name in _old(script, site)
        if not _is_asked(site)
    ]
    if not found:
        return None
    names = sorted({name for _, name in found}, key=[name for _, name in found].index)
    shown = [*names[:_MOST], *(["..."] if len(names) > _MOST else [])]
    text = "{} exists only in Python 2, Python 3 fails on this line; 2to3 converts it"
    return Note(min(found)[0], "python2", MANUAL, phrase(text, listed(shown)))


def _old(script: Resolver, site: Site) -> Iterator[str]:
    """The names of Python 2 that a place uses."""
    node = site.node
    if isinstance(node, ast.Name):
        is_read = node.id in _NAMES and isinstance(node.ctx, ast.Load)
        seen = site.scope.visible()
        is_bound = any(node.id in each.parameters or node.id in each.stores for each in seen)
        if is_read and not is_bound and not _has_star(script):
            yield node.id
    elif isinstance(node, ast.Attribute):
        is_call = site.call is not None and node.attr in _METHODS
        if is_call and name_of(node.value) not in ("six", "future", "utils"):
            is_own = "def " + node.attr in script.text or "pandas" in script.words
            yield from () if is_own else (node.attr + "()",)
    else:
        for module in _imported(node):
            if module in _MODULES and script.neighbours.path(module, 0) is None:
                yield module


def _imported(node: ast.AST) -> Tuple[str, ...]:
    if isinstance(node, ast.ImportFrom):
        return () if node.level else ((node.module or "").split(".")[0],)
    return tuple(alias.name.split(".")[0] for alias in getattr(node, "names", ()))


def _has_star(script: Resolver) -> bool:
    """Whether names come from a module that is not TensorFlow's, as ``six.moves`` has them."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.names[0].name == "*"
        and not (node.module or "").startswith("tensorflow")
        for node in ast.walk(script.tree)
    )


def _is_asked(site: Site) -> bool:
    """Whether the script asks which Python it is, or catches that the name is missing."""
    if any(name_of(part) in _ASKING for test in site.conditions for part in ast.walk(test)):
        return True
    inner: ast.AST = site.node
    for node in reversed(site.parents):
        if isinstance(node, ast.Try) and inner in node.body:
            types = [getattr(each.type, "elts", [each.type]) for each in node.handlers]
            if any(name_of(one) in _CAUGHT if one else True for each in types for one in each):
                return True
        if isinstance(node, ast.ExceptHandler):
            return True
        inner = node
    return False
