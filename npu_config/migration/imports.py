"""Where the import of npu_init goes, and in which form."""

import ast
from typing import Iterator, List, Optional, Sequence

from npu_config.core.message import join, phrase
from npu_config.migration.names import STAR_NAMES, canonical
from npu_config.migration.resolve import Resolver
from npu_config.migration.work import Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import DEFINITIONS, first_line, imported, name_of

__all__ = ["add_import", "first_tensorflow_import"]

_WRITES = ("setdefault", "update")


def first_tensorflow_import(script: Resolver) -> Optional[Site]:
    """The first import statement of TensorFlow, wherever it stands."""
    for site in script.imports:
        if any(canonical(name).split(".")[0] == "tensorflow" for name in imported(site.node)):
            return site
    return None


def add_import(work: Work) -> None:
    """Import npu_init before the first import, or where TensorFlow is first imported."""
    script = work.script
    first = first_tensorflow_import(script)
    body = script.tree.body
    start = _first_import(script, first)
    if first is not None:
        at = body.index(first.parents[1] if len(first.parents) > 1 else first.node)  # type: ignore[arg-type]
        if any(_sets_environment(statement) for statement in body[start:at]):
            start = at
    taken = _taken(work, body[:start])
    _insert(work, start, _lines(work, body[:start], bool(taken)))
    line = first.line if first is not None else 1
    if first is None and start < len(body):
        line = body[start].lineno
    work.changed(line, "import-npu", join("; ", _reasons(work, first, taken)))


def _reasons(work: Work, first: Optional[Site], taken: Sequence[str]) -> Iterator[str]:
    """Why the import is there, and why in this place and form."""
    yield "the import of npu_init patches tf.Session"
    if work.libraries:
        text = "this program creates its session in {}"
        yield phrase(text, ", ".join(dict.fromkeys(work.libraries)))
    if work.is_keras:
        yield "Keras creates its session from the patched class"
    if first is not None and len(first.parents) > 1:
        yield "placed at the top, because the import of TensorFlow below is conditional"
    if taken:
        text = "the script already uses these names, so only the needed names are imported: {}"
        yield phrase(text, ", ".join(taken))
    renamed = [" as ".join(pair) for pair in sorted(work.renamed.items())]
    if renamed:
        yield phrase(
            "imported under another name, because the script already uses this name: {}",
            ", ".join(renamed),
        )


def _first_import(script: Resolver, first: Optional[Site]) -> int:
    """The index of the first statement with an import; of the first but docstrings without."""
    body = script.tree.body
    tops = {
        id(site.parents[1] if len(site.parents) > 1 else site.node)
        for site in script.imports
        if not site.around(*DEFINITIONS) and not _is_future(site.node)
    }
    for index, statement in enumerate(body):
        if id(statement) in tops:
            return index
    index = 0
    while index < len(body) and (_is_text(body[index]) or _is_future(body[index])):
        index += 1
    return index


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call)


def _is_future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _sets_environment(node: ast.stmt) -> bool:
    """True for a statement that sets environment variables."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            if name_of(part.value) == "environ":
                return True
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            owner, method = name_of(part.func.value), part.func.attr
            if method == "putenv" or (method in _WRITES and owner == "environ"):
                return True
    return False


def _lines(work: Work, before: Sequence[ast.stmt], is_taken: bool) -> List[str]:
    module = work.package + ".npu_init"
    if work.renamed or is_taken:
        names = [
            phrase("{} as {}", name, work.renamed[name]) if name in work.renamed else name
            for name in sorted(work.used)
        ]
        lines = [
            phrase("from {} import {}", module, ", ".join(names))
            if names
            else phrase("import {}", module)
        ]
    else:
        lines = [phrase("from {} import *", module)]
    present = {
        alias.name for node in before if isinstance(node, ast.Import) for alias in node.names
    }
    for name in dict.fromkeys(work.modules):
        if name not in present:
            lines.append("import " + name)
    return lines


def _taken(work: Work, before: Sequence[ast.stmt]) -> List[str]:
    """The names to which the script gives a meaning, and that the star would, or seem to, bind."""
    script = work.script
    found: List[str] = []
    earlier = {id(node) for statement in before for node in ast.walk(statement)}
    for name, stores in script.module.stores.items():
        for store in stores:
            is_earlier = id(store.node) in earlier
            if name == "*" and is_earlier:
                if not canonical(store.text).startswith("tensorflow"):
                    found.append(store.text)
                continue
            if name not in STAR_NAMES:
                continue
            is_own = is_earlier and canonical(store.text) != _SAME.get(name)
            if store.kind != "import":
                is_own = not (name == "tf" and script.meaning("tf", script.module).name)
            if is_own and name not in found:
                found.append(name)
    return found


_SAME = {"tf": "tensorflow", "os": "os"}
"""The modules that the star binds, as a script imports them."""


def _insert(work: Work, index: int, lines: List[str]) -> None:
    script = work.script
    body = script.tree.body
    newline = script.newline
    if index >= len(body):
        text = script.text
        gap = "" if not text or text.endswith(("\n", "\r")) else newline
        work.insert(len(text), gap + newline.join(lines) + newline)
        return
    line = first_line(body[index])
    start = script.line_start(line)
    column = script.source.column(line, max(0, body[index].col_offset))
    offset = script.offset(line, column)
    if script.text[start:offset].strip():
        work.insert(offset, "".join(line + "; " for line in lines))
    else:
        work.insert(start, newline.join(lines) + newline)
