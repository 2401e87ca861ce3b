"""The Python API: what ``explain`` says of each public class, method and function, and its pages.

Everything is read from the sources without importing them (classes of ``npu_config.tf1`` need
TensorFlow): signatures, types and docstrings.  ``api.yaml`` says which names share a page, and
has an example for each page and each task of the builder.
"""

import ast
import functools
import os
import re
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import yaml

import npu_config
from npu_config.cli._topics import Topic
from npu_config.core.diagnostics import DOCS_URL
from npu_config.core.message import language, localized

HOME = Path(npu_config.__file__).parents[1]
"""Where the package is: beside the tools, or installed, when its tests run."""
API = Path(__file__).parent / "api.yaml"
FOLDER = "docs/reference/python"
INDEX = FOLDER + ".md"

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Node = Union[Function, ast.ClassDef, ast.Assign, ast.AnnAssign]

_ROLE = re.compile(r":(?:\w+:)?\w+:`~?([^`]+)`")
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Source):[ \t]*(.*)$", re.M)
_ENTRY = re.compile(r"^\*{0,2}(\w[\w.*, ]*):\s+(.*)\Z", re.S)


class Found(NamedTuple):
    """A definition and the module that has it."""

    module: str
    node: Node


class Member(NamedTuple):
    """One public name: where it is called, how, and what is said of it."""

    path: str
    page: str
    signature: str
    doc: str
    arguments: Tuple[Tuple[str, str, Optional[str]], ...]
    example: str
    members: Tuple[str, ...]
    values: Tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What follows the package: ``NpuConfigBuilder.data_dump``, ``dumps.read_dump``."""
        return self.path[len("npu_config.") :]

    @property
    def summary(self) -> str:
        """The first sentence of what is said of it, in one line."""
        return plain(self.doc.split("\n\n")[0])


# what is there


@functools.lru_cache(maxsize=None)
def _tree(module: str) -> ast.Module:
    path = HOME.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not source.exists():
        source = path.with_suffix(".pyi")
    return ast.parse(source.read_text("utf-8"))


def _statements(body: List[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, and of what it does only for type checkers."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _statements(statement.body)


@functools.lru_cache(maxsize=None)
def resolve(module: str, name: str) -> Optional[Found]:
    """Where a name of a module is defined; None for what comes from elsewhere."""
    tree = _tree(module)
    for node in _statements(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return Found(module, node)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("npu_config"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    home = "{}.{}".format(node.module, alias.name)
                    if _is_module(home):
                        return None
                    return resolve(str(node.module), alias.name)
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and getattr(target, "id", "") == name:
            return _made_of(node) or Found(module, node)
    return None


def _is_module(dotted: str) -> bool:
    path = HOME.joinpath(*dotted.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def _made_of(node: Union[ast.Assign, ast.AnnAssign]) -> Optional[Found]:
    """The function behind ``name = _method(tasks.name)``."""
    value = node.value
    if isinstance(value, ast.Call) and len(value.args) == 1:
        argument = value.args[0]
        if isinstance(argument, ast.Attribute) and getattr(argument.value, "id", "") == "tasks":
            return resolve("npu_config.rules.tasks", argument.attr)
    return None


def members_of(found: Found) -> Dict[str, Found]:
    """The public methods and properties of a class, inherited ones of the package included."""
    assert isinstance(found.node, ast.ClassDef)
    result: Dict[str, Found] = {}
    for node in found.node.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            result[node.name] = Found(found.module, node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made = _made_of(node)
            if made is not None:
                result[node.targets[0].id] = made
    for base in found.node.bases:
        inherited = resolve(found.module, base.id) if isinstance(base, ast.Name) else None
        if inherited is not None and isinstance(inherited.node, ast.ClassDef):
            for name, member in members_of(inherited).items():
                result.setdefault(name, member)
    return {
        name: member
        for name, member in result.items()
        if name == "__init__" or not name.startswith("_")
    }


# words for types


def type_words(node: Optional[ast.expr], module: str) -> str:
    """A type as a reader says it: ``int or None`` for ``Optional[int]``; aliases are opened."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return type_words(ast.parse(node.value, mode="eval").body, module)
    if isinstance(node, ast.Subscript):
        name = ast.unparse(node.value).rpartition(".")[2]
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            return " or ".join(ast.unparse(each) for each in inside)
        if name in ("Optional", "Union"):
            words = [type_words(each, module) for each in inside]
            words += ["None"] if name == "Optional" else []
            return " or ".join(dict.fromkeys(words))
        if name == "PathLike":
            return "path"
        words = [type_words(each, module) for each in inside]
        return "{}[{}]".format(name, ", ".join(words))
    if isinstance(node, ast.Name) and node.id not in ("Self", "Any"):
        found = resolve(module, node.id)
        if found is not None and isinstance(found.node, ast.Assign):
            value = found.node.value
            if isinstance(value, ast.Subscript):
                return type_words(value, found.module)
    return (
        ast.unparse(node).rpartition(".")[2]
        if isinstance(node, ast.Attribute)
        else ("..." if isinstance(node, ast.Constant) and node.value is ... else ast.unparse(node))
    )


def _parameters(node: Function, method: bool) -> Iterator[Tuple[str, ast.arg, Optional[ast.expr]]]:
    given = node.args
    plain_ones = [*given.posonlyargs, *given.args]
    defaults: List[Optional[ast.expr]] = [None] * (len(plain_ones) - len(given.defaults))
    pairs = list(zip(plain_ones, [*defaults, *given.defaults]))
    for argument, default in pairs[1 if method else 0 :]:
        yield argument.arg, argument, default
    if given.vararg is not None:
        yield "*" + given.vararg.arg, given.vararg, None
    for argument, value in zip(given.kwonlyargs, given.kw_defaults):
        yield argument.arg, argument, value
    if given.kwarg is not None:
        yield "**" + given.kwarg.arg, given.kwarg, None


def _decorators(node: Node) -> List[str]:
    return [ast.unparse(each) for each in getattr(node, "decorator_list", ())]


def describe(path: str, page: str, found: Found, owner: str, example: str) -> Member:
    """What is known of a name."""
    module, node = found
    values: Tuple[str, ...] = ()
    arguments: List[Tuple[str, str, Optional[str]]] = []
    last = path.rpartition(".")[2]
    returns = ""
    members: Tuple[str, ...] = ()
    called: Optional[Function] = None
    if isinstance(node, ast.ClassDef):
        inside = members_of(found)
        members = tuple(name for name in inside if name != "__init__")
        values = tuple(_values(node))
        if values:
            arguments = [("value", "", None)]
        elif "__init__" in inside:
            called = inside["__init__"].node  # type: ignore[assignment]
        else:
            arguments = list(_fields(node, module))
    elif isinstance(node, ast.FunctionDef):
        called = node
        returns = type_words(node.returns, module)
        returns = owner if returns in ("Task", "Self") and owner else returns
        returns = "Preset" if returns == "Task" else returns
    method = bool(owner) and "staticmethod" not in _decorators(node) and module != _TASKS
    if called is not None:
        for name, argument, default in _parameters(
            called, method or isinstance(node, ast.ClassDef)
        ):
            shown = None if default is None else ast.unparse(default)
            arguments.append((name, type_words(argument.annotation, module), shown))
    arguments = [(name, _NO_TYPE.sub("", kind), _shown(d)) for name, kind, d in arguments]
    if "property" in _decorators(node) or isinstance(node, (ast.Assign, ast.AnnAssign)):
        signature = last + (" -> " + returns if returns else "")
    else:
        words = ", ".join(
            name if default is None else "{}={}".format(name, default)
            for name, _, default in arguments
        )
        signature = "{}({}){}".format(last, words, " -> " + returns if returns else "")
    if owner:
        signature = owner + "." + signature
    return Member(path, page, signature, _doc(found), tuple(arguments), example, members, values)


_TASKS = "npu_config.rules.tasks"


def _fields(node: ast.ClassDef, module: str) -> Iterator[Tuple[str, str, Optional[str]]]:
    """The arguments of a class whose fields are declared: NamedTuple, attrs, dataclasses."""
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        if "ClassVar" in ast.unparse(each.annotation) or each.target.id.startswith("_"):
            continue
        default = None if each.value is None else ast.unparse(each.value)
        if default is not None and "init=False" in default:
            continue
        if default is not None and default.startswith(("attr.ib", "field(")):
            default = _default_of(each.value)
        yield each.target.id, type_words(each.annotation, module), default


_NO_TYPE = re.compile(r"^Any( or None)?$")


def _shown(default: Optional[str]) -> Optional[str]:
    """A default as users write it; a private name is none."""
    return "..." if default is not None and re.match(r"_\w", default) else default


def _values(node: ast.ClassDef) -> Iterator[str]:
    """The members of an enumeration."""
    if any(ast.unparse(base).endswith("Enum") for base in node.bases):
        for each in node.body:
            if isinstance(each, ast.Assign):
                yield "{} = {}".format(ast.unparse(each.targets[0]), ast.unparse(each.value))


def _default_of(call: Optional[ast.expr]) -> Optional[str]:
    keywords = call.keywords if isinstance(call, ast.Call) else []
    found = {each.arg: ast.unparse(each.value) for each in keywords}
    return found.get("default", "..." if "factory" in found else None)


def _doc(found: Found) -> str:
    if isinstance(found.node, (ast.FunctionDef, ast.ClassDef)):
        return ast.get_docstring(found.node) or ""
    body = list(_statements(_tree(found.module).body))
    for node, after in zip(body, body[1:]):
        if node is found.node and isinstance(after, ast.Expr):
            return textwrap.dedent(str(getattr(after.value, "value", ""))).strip()
    return ""


@functools.lru_cache(maxsize=None)
def declared() -> Mapping[str, Any]:
    """The pages, and their names and examples."""
    found: Mapping[str, Any] = yaml.safe_load(API.read_text("utf-8"))
    return found


@functools.lru_cache(maxsize=None)
def all_members() -> Tuple[Member, ...]:
    """Every public name, page by page."""
    result: List[Member] = []
    tasks: Mapping[str, str] = declared()["tasks"]
    for page, entry in declared()["pages"].items():
        for path in entry["names"]:
            module, _, name = path.rpartition(".")
            found = resolve(module, name)
            assert found is not None, path
            result.append(describe(path, page, found, "", entry["example"]))
            if isinstance(found.node, ast.ClassDef):
                for inner, each in members_of(found).items():
                    if inner != "__init__":
                        example = tasks.get(inner, "") if each.module == _TASKS else ""
                        if example:
                            example = "npu.NpuConfigBuilder()." + example
                        full = path + "." + inner
                        result.append(describe(full, page, each, name, example))
    return tuple(result)


# as text


def plain(text: str) -> str:
    """A docstring as Markdown: roles are names, literals have one backtick; one line."""
    text = _ROLE.sub(lambda match: "`{}`".format(match.group(1).rpartition(".")[2]), text)
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()


def sections(doc: str) -> Dict[str, str]:
    """The parts of a docstring by their headings; the text before them is under ``""``."""
    pieces = _SECTION.split(doc)
    result = {"": pieces[0].strip()}
    for name, first, rest in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        result[name] = (first + "\n" + textwrap.dedent(rest.strip("\n"))).strip()
    return result


def entries(text: str) -> Dict[str, str]:
    """The entries of a section, ``name: what it is``; what is further in belongs to it."""
    found = re.split(r"\n(?=\S)", text.strip())
    pairs = [_ENTRY.match(each) for each in found]
    return {match.group(1): plain(match.group(2)) for match in pairs if match is not None}


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text):
        if part.startswith("    "):
            yield part
        elif re.match(r"- ", part):
            yield part.replace("``", "`")
        elif part.strip():
            yield plain(part)


def body(member: Member, fenced: bool = False) -> str:
    """What is said below a name's title."""
    said = sections(member.doc)
    described = entries(said.get("Args", "") or said.get("Attributes", ""))
    parts = [_code(member.signature), *_paragraphs(said[""])]
    if member.values:
        parts += [localized("Values:"), "\n".join("- `{}`".format(each) for each in member.values)]
    elif member.arguments:
        lines = []
        for name, kind, default in member.arguments:
            plain_name = name.lstrip("*")
            about = ", ".join(filter(None, [kind, default and localized("default {}", default)]))
            line = "- `{}`{}".format(name, " ({})".format(about) if about else "")
            text = described.get(plain_name)
            lines.append(line + (": " + text if text else ""))
        parts += [localized("Arguments:"), "\n".join(lines)]
    for name, heading in (("Returns", "Returns:"), ("Yields", "Yields:"), ("Raises", "Raises:")):
        if said.get(name):
            listed = entries(said[name]) if name == "Raises" else {}
            parts.append(localized(heading))
            parts.append(
                "\n".join("- `{}`: {}".format(*item) for item in listed.items())
                or plain(said[name])
            )
    if member.members:
        names = {each.path: each.summary for each in all_members()}
        parts.append(localized("Methods and properties:"))
        parts.append(
            "\n".join(
                "- `{}`: {}".format(name, names["{}.{}".format(member.path, name)])
                for name in member.members
            )
        )
    last = member.name.rpartition(".")[2]
    if re.search(r"\b{}\b".format(last), member.example) and not fenced:
        parts += [localized("Example:"), _code(member.example.rstrip())]
    return "\n\n".join(parts) + "\n"


def _code(text: str) -> str:
    return textwrap.indent(text, "    ")


def topics() -> Iterator[Topic]:
    """A topic for each public name."""
    members = all_members()
    lasts = [member.name.rpartition(".")[2] for member in members]
    for member, last in zip(members, lasts):
        also = [member.path, ".".join(member.path.split(".")[-2:])]
        unmistakable = "_" in last or last != last.lower()
        if unmistakable and (lasts.count(last) == 1 or member.page == "builder"):
            also.append(last)
        also = [name for name in dict.fromkeys(also) if name != member.name]
        parts = ["# {}".format(member.name), body(member)]
        if language() != "en":
            parts.insert(1, localized("The following text is available in English only."))
        url = "{}/reference/python/{}.html".format(DOCS_URL, member.page)
        page = "\n\n".join(parts) + "\n" + url + "\n"
        facts = {"signature": member.signature, "url": url}
        yield Topic("api", member.name, member.summary, page, also, facts)


def page(name: str) -> str:
    """The page of some names."""
    entry = declared()["pages"][name]
    parts = [
        "---\norphan: true\n---\n\n"
        "<!-- Generated by tools/generate.py from the sources and tools/api.yaml. -->\n\n"
        "# {}\n\n[Python API](../python.md)\n\n{}".format(
            entry["title"], entry.get("text", "")
        ).rstrip(),
        "```python\n{}\n```".format(entry["example"].rstrip()),
    ]
    for member in all_members():
        if member.page == name:
            level = "##" if member.path in entry["names"] else "###"
            parts.append("{} {}\n\n{}".format(level, member.name, body(member, True).rstrip()))
            if member.example and level == "###":
                parts.append(_code(member.example))
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """\
`import npu_config as npu` imports nothing else; names are loaded when they are first used.
`npu-config explain NpuConfigBuilder.data_dump` prints what is on these pages in a terminal."""


def index() -> str:
    """The page that leads to the others."""
    lines = [
        "# Python API",
        "<!-- Generated by tools/generate.py from tools/api.yaml. -->",
        _INTRODUCTION,
    ]
    rows = ["| page | names |", "| --- | --- |"]
    for name, entry in declared()["pages"].items():
        names = ", ".join("`{}`".format(path[len("npu_config.") :]) for path in entry["names"])
        rows.append("| [{}](python/{}.md) | {} |".format(entry["title"], name, names))
    lines.append("\n".join(rows))
    return "\n\n".join(lines) + "\n"


def pages() -> Dict[str, Callable[[], str]]:
    """Path of each page, and what renders it."""
    result: Dict[str, Callable[[], str]] = {INDEX: index}
    for name in declared()["pages"]:
        path = os.path.join(FOLDER, name + ".md")
        result[path] = functools.partial(page, name)
    return result
