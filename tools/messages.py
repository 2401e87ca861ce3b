"""The catalogue of translated messages: ``python -m tools.messages update|compile|check``.

``update`` collects every sentence that a user may read, enters new ones, untranslated, into the
.po file, removes those that are gone, and lists what waits for its Chinese (``make translate``).
It writes nothing where the file is broken or much would be lost (``--force``: it does).
``compile`` writes the .mo file, which a build of the package makes and git ignores.  ``check``
lists what waits, and fails only with ``--release``.  Needs Babel.

Sentences are the templates of ``phrase`` and ``localized``, literals of several words in the
modules that speak to users, and what is declared: titles of rules, help of commands.
"""

import ast
import io
import os
import re
import string
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Set, Tuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import npu_config
from npu_config.core.message import DOMAIN, LOCALES
from tools import po_guard, rule_pages

PACKAGE = Path(npu_config.__file__).parent
PAGES = Path(__file__).with_name("explained.py")
"""Makes the pages of ``npu-config explain``, in each language."""
PO = Path(LOCALES) / "zh_CN" / "LC_MESSAGES" / (DOMAIN + ".po")
MO = PO.with_suffix(".mo")
_DATE = datetime(2026, 1, 1, tzinfo=timezone.utc)

SILENT = re.compile(
    r"(__main__|__init__|builder|config|presets|checking|npu_init)\.py$|"
    r"(writers(?!/(carry|init|schema|shared))|proto(?!/(messages|wire|event_files))|tf1|precision_tool)/|core/(deprecation|lazy|message)|reporters/page|"
    r"launch/engines|launch/pod|launch/environment/dotenv|catalogue/api|"
    r"runner/finder|script/paths|text/(tables|words)"
)
"""Modules whose literals are no messages: they write files and code, or raise for programmers."""

_NO_MESSAGE = {"doc", "facts", "metavar", "pattern", "source"}
_PROGRAMMERS = {"AssertionError", "NotImplementedError", "RuntimeError", "TypeError", "KeyError"}
_WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]+[A-Za-z]{2,}|\{[^}]*\}\W* [a-z]{3,}")
CODE = re.compile(
    r"(Union|Optional|Literal)\[|[A-Z0-9]{2,3}[:/]|from \S+ import|import \w+;|"
    r"\W*No newline at end|\(\?|<[a-z]+[ >]"
)

GLUE = (
    "- {}: {}", "{} ({})", "{} and {}", "{} or {}", "{}, {}", "{}; {}", ", ", ": ", "error",
    "warning", "info", "help: ",
)  # fmt: skip
"""What stands between phrases, and words that are looked up by themselves."""

WORDS = (
    "Arguments:", "Debugging", "Default", "Example:", "Methods and properties:", "Raises:",
    "Returns:", "Values:", "Yields:", "The following text is available in English only.",
    "default {}", "Mode", "Next", "Products", "Right:", "Status", "Legal values", "Unit", "Wrong:",
    "a list", "advice", "an object", "argument", "changed", "deprecated", "directory",
    "documented", "experimental", "failed", "file", "no effect", "null", "option", "passed",
    "refused", "rule", "text", "training", "undocumented", "unchanged", "variable",
)  # fmt: skip
"""Single words that are shown by themselves."""

YAML = (
    "mapping values are not allowed here", "could not find expected ':'",
    "found unexpected end of stream", "found unexpected document separator",
    "expected the node content", "while parsing a block mapping",
    "while parsing a block collection", "while parsing a flow mapping",
    "while parsing a flow sequence", "while parsing a node", "while parsing a flow node",
    "while parsing a block node", "expected <block end>", "expected ',' or ']'",
    "expected ',' or '}'", "while scanning a simple key",
    "while scanning a quoted scalar", "while scanning a double-quoted scalar",
    "while scanning a block scalar", "while scanning a plain scalar",
    "while scanning for the next token", "while scanning an alias", "while scanning an anchor",
)  # fmt: skip
"""What the parser of YAML says, where it names no token."""

CLICK = (
    "Usage:", "Usage: ", "Options", "Commands", "Positional arguments", "Aborted!",
    "Show this message and exit.", "Show the version and exit.",
    "Missing command.", "Missing argument", "Missing option", "Missing parameter",
    "Missing parameter: {param_name}", "Missing {param_type}",
    "Choose from:\n\t{choices}", "Choose from:\n\t{choices}.",
    "No such command {name!r}.", "No such option {name!r}.", "No such option: {name}",
    "Option {name!r} does not take a value.", "Argument {name!r} takes {nargs} values.",
    "Invalid value: {message}", "Invalid value for {param_hint}: {message}",
    "{value!r} is not a valid {number_type}.", "{value} is not in the range {range}.",
    "default: {default}", "required", "env var: {var}", "unknown error",
    "{name} {filename!r} does not exist.", "{name} {filename!r} is a directory.",
    "{name} {filename!r} is a file.", "file", "directory", "path", "File", "Directory", "Path",
    "Could not open file {filename!r}: {message}",
)  # fmt: skip
"""What the library of the command line says, in the versions from 8.0 on."""

PLURALS = {
    "Got unexpected extra argument ({args})": "Got unexpected extra arguments ({args})",
    "Did you mean {possibility}?": "(Possible options: {possibilities})",
    "Takes {nargs} values but 1 was given.": "Takes {nargs} values but {len} were given.",
    "{value!r} is not {choice}.": "{value!r} is not one of {choices}.",
    "Option {name!r} requires an argument.": "Option {name!r} requires {nargs} arguments.",
    "{len_type} values are required, but {len_value} was given.": (
        "{len_type} values are required, but {len_value} were given."
    ),
}
"""What it says of one, and of several; the fields of both are known to both."""


def sentences() -> Dict[str, Set[str]]:
    """Every sentence with the modules that say it."""
    found: Dict[str, Set[str]] = {}
    for path in (*sorted(PACKAGE.rglob("*.py")), PAGES):
        name = path.name if path is PAGES else path.relative_to(PACKAGE).as_posix()
        if not SILENT.match(name):
            for text in _of_module(ast.parse(path.read_text("utf-8"))):
                found.setdefault(text, set()).add(name)
    for name, texts in (
        ("rules", _titles()),
        ("commands", _helps()),
        ("click", (*CLICK, *PLURALS)),
        ("YAML", YAML),
    ):
        for text in texts:
            found.setdefault(text, set()).add(name)
    for text in (*GLUE, *WORDS):
        found.setdefault(text, set()).add("words")
    return {
        text: names
        for text, names in found.items()
        if text in GLUE or re.search("[A-Za-z]", re.sub(r"\{[^{}]*\}", "", text))
    }


def _titles() -> Iterator[str]:
    from npu_config.logs.facts import texts
    from npu_config.migration.facts import facts
    from npu_config.rulebook import load_all
    from npu_config.rules.tasks import TASKS, summary_of

    yield from (rule.summary for rule in load_all())
    yield from (fact.title for fact in facts().values())
    yield from texts()
    yield from (summary_of(task) for task in TASKS.values())


def _helps() -> Iterator[str]:
    import inspect

    import click

    from npu_config.cli.app import COMMANDS, app

    def of(command: click.Command) -> Iterator[str]:
        for text in (command.help, command.epilog):
            if text:
                yield inspect.cleandoc(text)
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            if text:
                yield text
        for each in getattr(command, "commands", {}).values():
            yield from of(each)

    yield from of(app)
    with click.Context(app) as context:
        for name in COMMANDS:
            command = app.get_command(context, name)
            assert command is not None
            yield from of(command)


def _of_module(tree: ast.Module) -> Iterator[str]:
    """The sentences of a module: marked ones, and literals of several words."""
    yield from _marked(tree)
    work: List[ast.AST] = [tree]
    while work:
        node = work.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and _WORDS.search(node.value):
                text = node.value
                if "\n" not in text.strip("\n") and " " in text and not CODE.match(text):
                    yield text
            continue
        work.extend(_parts(node))


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that may hold messages."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ()
    if isinstance(node, (ast.Compare, ast.JoinedStr, ast.Subscript)):
        return [node.value] if isinstance(node, ast.Subscript) else ()
    if isinstance(node, ast.Dict):
        return [value for value in node.values if value is not None]
    if isinstance(node, ast.arg):
        return ()
    if isinstance(node, ast.AnnAssign):
        return () if node.value is None else [node.value]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*node.body, *node.decorator_list, *node.args.defaults]
    if isinstance(node, ast.Raise):
        raised = getattr(node.exc, "func", None)
        return () if getattr(raised, "id", "") in _PROGRAMMERS else ast.iter_child_nodes(node)
    if isinstance(node, ast.Call):
        return _parts_of_call(node)
    return ast.iter_child_nodes(node)


def _parts_of_call(node: ast.Call) -> Iterable[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    module = getattr(getattr(node.func, "value", None), "id", "")
    if module == "re" or name in (
        "lazy_pattern",
        "startswith",
        "endswith",
        "TypeVar",
        "encode",
        "split",
    ):
        return ()
    arguments = list(node.args)
    if name in ("declare", "_rule"):
        arguments = arguments[:3]
    elif name == "rule":
        arguments = []
    elif isinstance(node.func, ast.Attribute) and name == "format":
        return arguments
    keywords = [each.value for each in node.keywords if each.arg not in _NO_MESSAGE]
    return [node.func, *arguments, *keywords]


_MARKED = {"phrase": 0, "localized": 0, "bad_syntax": 0, "wrong_type": 0, "report_at": 2}
"""Functions that take a sentence and its values, and which argument the sentence is."""


def _marked(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in _MARKED:
                yield from _leaves(node.args[_MARKED[name]])
            elif name == "report":  # of a case, or with a rule before it
                sentences = (text for each in node.args[1:3] for text in _leaves(each))
                yield from (text for text in sentences if "{" in text)


def _leaves(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _leaves(node.body)
        yield from _leaves(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _leaves(value)


def placeholders(text: str) -> List[Tuple[str, str]]:
    """The replacement fields of a template, numbered, with their formats."""
    found, number = [], 0
    for _, field, form, conversion in string.Formatter().parse(text):
        if field is None:
            continue
        if field == "":
            field, number = str(number), number + 1
        found.append((field, (conversion or "") + ":" + (form or "")))
    return sorted(found)


class _Catalog(Catalog):
    """A catalogue whose header is the same with every version of Babel."""

    def _get_mime_headers(self) -> List[Tuple[str, str]]:
        headers = Catalog._get_mime_headers(self)
        return [header for header in headers if header[0] != "Generated-By"]

    mime_headers = property(_get_mime_headers, Catalog._set_mime_headers)


def _empty() -> Catalog:
    return _Catalog(
        locale="zh_CN",
        domain=DOMAIN,
        project="npu_config",
        header_comment="# The messages of npu_config in Chinese.",
        creation_date=_DATE,
        revision_date=_DATE,
        fuzzy=False,
    )


def load() -> Catalog:
    """The catalogue as it is in the .po file."""
    with PO.open("rb") as file:
        return read_po(file, locale="zh_CN", domain=DOMAIN)


def translation(catalogue: Catalog, text: str) -> str:
    """The translation of a sentence; empty where there is none."""
    known = catalogue.get(text)
    if known is None or not known.string:
        return ""
    return known.string if isinstance(known.string, str) else known.string[0]


def updated(old: Catalog) -> Catalog:
    """The catalogue with the sentences of now, and the translations that there are."""
    new = _empty()
    for text in sorted(sentences()):
        if text in PLURALS:
            new.add((text, PLURALS[text]), (translation(old, text),))
        else:
            new.add(text, translation(old, text))
    return new


def untranslated(catalogue: Catalog) -> List[str]:
    """The sentences without a translation."""
    ids = [each.id if isinstance(each.id, str) else each.id[0] for each in catalogue if each.id]
    return [text for text in ids if not translation(catalogue, text)]


def count_translated(catalogue: Catalog) -> int:
    """How many sentences have their Chinese."""
    return sum(1 for each in catalogue if each.id and any(each.string or ()))


def queue(catalogue: Catalog) -> List[str]:
    """A line for each sentence without a translation: the modules that say it, its words."""
    names = sentences()
    return [
        "{}: {!r}".format(" ".join(sorted(names.get(text, ()))), text)
        for text in untranslated(catalogue)
    ]


def source(catalogue: Catalog) -> bytes:
    """The bytes of the .po file: an entry that is not wrapped, and says no place, merges."""
    po = io.BytesIO()
    plain = _empty()
    for message in catalogue:
        if message.id:
            message.locations = []
            plain[message.id] = message
    write_po(po, plain, width=0, sort_output=True, no_location=True)
    return po.getvalue()


def compile_catalogue() -> None:
    """Write the .mo file of the .po file, whole or not at all."""
    fresh = MO.with_suffix(".mo.{}".format(os.getpid()))
    with fresh.open("wb") as file:
        write_mo(file, load())
    os.replace(str(fresh), str(MO))


def compile_in_checkout() -> None:
    """The same for the tests of a checkout, where no build does it and the .po file is newer."""
    if not (PACKAGE.parent / "setup.py").exists():
        return
    if not MO.exists() or MO.stat().st_mtime <= PO.stat().st_mtime:
        compile_catalogue()


def main(arguments: List[str]) -> int:
    """Do what the first argument says; returns the exit code."""
    action = arguments[0] if arguments else "check"
    if action not in ("update", "compile", "check"):
        print(__doc__)
        return 2
    if action != "compile":
        wrong = [line for path in (PO, rule_pages.PO) for line in po_guard.faults(path)]
        if wrong:  # before the file is read: a conflict is a syntax error of it
            print(po_guard.advice(wrong), end="")
            return 1
        old = load()
        catalogue = updated(old)
        left = queue(catalogue)
        print("".join(line + "\n" for line in left), end="")
        print("{} sentences, {} wait for their Chinese".format(len(catalogue), len(left)))
        pages = rule_pages.waiting()
        print("of the pages of rules {} paragraphs wait".format(len(pages)))
        if action == "check":
            return 1 if (left or pages) and "--release" in arguments else 0
        if "--force" not in arguments:
            counts = (count_translated(old), count_translated(catalogue))
            wrong = po_guard.loss(PO, len(catalogue), len(left), *counts)
            wrong += rule_pages.loss()
            if wrong:
                print(po_guard.advice(wrong), end="")
                return 1
        rule_pages.update()
        if left:
            print("translate them in", os.path.relpath(str(PO)))
        if PO.read_bytes() != source(catalogue):
            PO.write_bytes(source(catalogue))
    compile_catalogue()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
