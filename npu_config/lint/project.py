"""The table ``[tool.npu-config]`` of pyproject.toml: how a project wants to be checked.

    [tool.npu-config]
    target = "atlas_a2"
    ignore = ["NPU901"]
    exclude = ["third_party/"]
    configurations = ["conf/*.yaml"]
    baseline = "npu-baseline.json"

    [tool.npu-config.per-file-ignores]
    "examples/*.py" = ["NPU3"]

Command-line options win over it.  One run has one project, that of the first path; but what a
file is judged for is what its own project says, whichever files are named with it.
"""

import functools
import os
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Set,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Rule, Severity, declare, selects
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, reading
from npu_config.core.target import Target
from npu_config.readers import kind_of_suffix, suffix_of
from npu_config.readers.evidence import KINDS
from npu_config.rules.reading import Around
from npu_config.text.source import unsaved_content

if TYPE_CHECKING:
    from npu_config.lint.gitignore import Patterns

__all__ = [
    "Project",
    "Targets",
    "find_project",
    "id_of_rule",
    "in_project",
    "read_project",
    "settings_of",
]

KnownRules = Callable[[], Iterable[Rule]]

TABLE = "npu-config"
_MISNAMED = "npu_config"
_NAMES_TABLE = lazy_pattern(
    r"""^[ \t]{0,40}\[?[ \t]{0,40}(?:tool[ \t]{0,40}\.[ \t]{0,40})?"""
    r"""(["']?)npu[-_]config\1[ \t]{0,40}[].=]""",
    re.M,
)
_ID = lazy_pattern(r"NPU\d{0,4}\Z")


@declare("NPU833", Severity.ERROR, source=("npu_config",))
def project_table() -> None:
    """The table ``[tool.npu-config]`` of pyproject.toml has an unknown key or a wrong value.

    Wrong:

        [tool.npu-config]
        ignores = "NPU901"

    Right:

        [tool.npu-config]
        ignore = ["NPU901"]
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Project:
    """What a project says about its checks.

    Args:
        path: the pyproject.toml; None for a project without one.
        select: rules that are reported; empty: all.
        ignore: rules that are not reported.
        exclude: patterns, with the syntax of .gitignore, of files that are left out.
        configurations: such patterns of YAML, TOML and JSON files that are configurations.
        per_file_ignores: pattern to rules that are not reported of the files it matches.
        target: product, mode and CANN version.
        strict: warnings fail, too.
        on_host: the checks run on the training host.
        baseline: the baseline file, None for none.
        diagnostics: what is wrong with the table.
        text: the content of the pyproject.toml.
    """

    path: Optional[str] = None
    select: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()
    exclude: Tuple[str, ...] = ()
    configurations: Tuple[str, ...] = ()
    per_file_ignores: Mapping[str, Tuple[str, ...]] = attr.ib(factory=dict, hash=False)
    target: Optional[Target] = None
    strict: bool = False
    on_host: bool = False
    baseline: Optional[str] = None
    diagnostics: Tuple[Diagnostic, ...] = ()
    text: str = ""

    @property
    def root(self) -> str:
        """The directory of pyproject.toml."""
        return os.path.dirname(os.path.abspath(self.path)) if self.path else os.getcwd()

    def excludes(self, path: str) -> bool:
        """True for a file that ``exclude`` leaves out."""
        return self._names(self.exclude, path)

    def claims(self, path: str) -> bool:
        """True for a file that is a configuration because ``configurations`` names it."""
        return kind_of_suffix(suffix_of(path)) in KINDS and self._names(self.configurations, path)

    def ignored_for(self, path: str) -> Tuple[str, ...]:
        """The rules that ``per-file-ignores`` takes away for a file."""
        found: List[str] = []
        for pattern, rules in self.per_file_ignores.items():
            if self._names((pattern,), path):
                found.extend(rules)
        return tuple(found)

    def _names(self, lines: Tuple[str, ...], path: str) -> bool:
        """True when patterns name a file, or a directory that it is in."""
        root = self.root
        patterns = _patterns(root, lines)
        parts = os.path.relpath(os.path.abspath(path), root).split(os.sep)
        folder = root
        if parts[0] == os.pardir:
            return False
        for part in parts[:-1]:
            folder = os.path.join(folder, part)
            if patterns.verdict(folder, True):
                return True
        return bool(patterns.verdict(os.path.join(folder, parts[-1]), False))


@functools.lru_cache(maxsize=None)
def _patterns(root: str, lines: Tuple[str, ...]) -> "Patterns":
    from npu_config.lint.gitignore import Patterns

    return Patterns(root, lines)


def find_project(start: str, known_rules: KnownRules) -> Project:
    """The project that a file or directory belongs to: the nearest table on the way up.

    A pyproject.toml without the table is passed over; the search ends at the top of the
    repository.

    Args:
        start: the file or directory.
        known_rules: gives every rule there is; asked for when the table names rules.
    """
    current = os.path.abspath(start)
    if not os.path.isdir(current):
        current = os.path.dirname(current)
    for folder in _upwards(current):
        project = _project_in(folder, known_rules)
        if project is not None:
            return project
    return Project()


def in_project(around: Around, path: PathLike, known_rules: Optional[KnownRules]) -> Around:
    """The same with what the project of a file says of its target, and what is wrong there.

    Args:
        around: what the file is judged for.
        path: the file.
        known_rules: as of :func:`find_project`; None: whether words name rules is not looked at.
    """
    targets = Targets(known_rules or tuple)
    default = targets(path)
    faults = [found for project in targets.projects for found in project.diagnostics]
    if default is around.default and not faults:
        return around
    return attr.evolve(around, default=default, faults=(*around.faults, *faults))


class Targets:
    """The targets that the projects of files name; each project is read once.

    Args:
        known_rules: as of :func:`find_project`.

    Attributes:
        projects: those that were read.
    """

    def __init__(self, known_rules: KnownRules = tuple) -> None:
        self._known_rules = known_rules
        self._known: Dict[str, Optional[Target]] = {}
        self.projects: List[Project] = []

    def __call__(self, path: PathLike) -> Optional[Target]:
        """The target that the project of a file names, if it has any."""
        passed, found = [], None
        try:
            for folder in _upwards(os.path.dirname(os.path.abspath(os.fspath(path)))):
                if folder in self._known:
                    found = self._known[folder]
                    break
                passed.append(folder)
                project = _project_in(folder, self._known_rules)
                if project is not None:
                    self.projects.append(project)
                    found = project.target
                    break
        except (OSError, ValueError):  # no such folder, or a name that no file can have
            return None
        self._known.update(dict.fromkeys(passed, found))
        return found


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those above it, up to the top of its repository."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = parent


def settings_of(folders: Iterable[str]) -> Iterator[str]:
    """Every pyproject.toml that counts, or would if it were there, for files in some folders."""
    seen: Set[str] = set()
    for folder in folders:
        for each in _upwards(folder):
            if each in seen:
                break
            seen.add(each)
            yield os.path.join(each, "pyproject.toml")


def _project_in(folder: str, known_rules: KnownRules) -> Optional[Project]:
    """What the pyproject.toml of a folder says; None where it says nothing of npu_config."""
    path = os.path.join(folder, "pyproject.toml")
    return read_project(path, known_rules) if os.path.isfile(path) else None


def read_project(path: str, known_rules: KnownRules) -> Optional[Project]:
    """The table of one pyproject.toml; None when it has none or cannot be read."""
    from npu_config.readers.toml_file import parse

    content = unsaved_content(path)
    try:
        if content is None:
            with open(path, "rb", opener=reading) as stream:
                content = stream.read()
    except OSError:
        return None
    text = content.decode("utf-8-sig", "replace")
    if _NAMES_TABLE.search(text) is None:
        return None
    path = _shown(path)
    document = parse(text, path)
    tool = document.value.get("tool") if isinstance(document.value, dict) else None
    tables = tool if isinstance(tool, dict) else {}
    if TABLE in tables:
        return _Table(path, text, tables[TABLE], document, known_rules).project()
    faults = tuple(document.diagnostics)
    if _MISNAMED in tables:
        place = document.places.key_place(("tool", _MISNAMED))
        message = phrase("unknown table [tool.{}]; did you mean [tool.{}]?", _MISNAMED, TABLE)
        faults += (project_table.diagnostic(message, place, help="rename the table"),)
    return Project(path, diagnostics=faults, text=text) if faults else None


def _shown(path: str) -> str:
    """A path as it is shown: relative where it lies below the working directory."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def id_of_rule(word: str, ids: Mapping[str, str]) -> Optional[str]:
    """The id, or the beginning of ids, that a word names; None when it is no rule.

    Args:
        word: an id, the beginning of one, or a name.
        ids: name to id of every rule.
    """
    if word in ids:
        return ids[word]
    word = word.upper()
    return word if _ID.match(word) and any(selects(word, id) for id in ids.values()) else None


class _Table:
    """Reads the table key by key."""

    def __init__(
        self, path: str, text: str, table: Any, document: Any, known_rules: KnownRules
    ) -> None:
        self._path = path
        self._text_of_file = text
        self._table = table
        self._document = document
        self._known_rules = known_rules
        self._found: List[Diagnostic] = list(document.diagnostics)
        self._values: Dict[str, Any] = {}

    def project(self) -> Project:
        readers: Dict[str, Callable[[str, Any], Any]] = {
            "select": self._rules,
            "ignore": self._rules,
            "exclude": self._texts,
            "configurations": self._texts,
            "strict": self._switch,
            "on-host": self._switch,
            "baseline": self._text,
            "target": self._part_of_target,
            "mode": self._part_of_target,
            "cann": self._part_of_target,
            "adapter": self._part_of_target,
            "per-file-ignores": self._table_of_rules,
        }
        if not isinstance(self._table, dict):
            self._report(
                (), phrase("[tool.npu-config] must be a table; legal keys: {}", listed(readers))
            )
            self._table = {}
        for key, value in self._table.items():
            if key in readers:
                self._values[key] = readers[key](key, value)
            else:
                self._report_unknown(key, list(readers))
        values = self._values
        target = self._target()
        baseline = values.get("baseline")
        if baseline is not None:
            baseline = os.path.join(os.path.dirname(self._path), baseline)
        return Project(
            self._path,
            select=values.get("select") or (),
            ignore=values.get("ignore") or (),
            exclude=values.get("exclude") or (),
            configurations=values.get("configurations") or (),
            per_file_ignores=values.get("per-file-ignores") or {},
            target=target,
            strict=bool(values.get("strict")),
            on_host=bool(values.get("on-host")),
            baseline=baseline,
            diagnostics=tuple(self._found),
            text=self._text_of_file,
        )

    def _target(self) -> Optional[Target]:
        given = [self._values.get(key) for key in ("target", "mode", "cann", "adapter")]
        try:
            return Target.named(*given) if any(given) else None
        except ValueError as error:
            self._report(("adapter",), str(error))
            return Target.named(*given[:2])

    def _place(self, *keys: Union[str, int]) -> Place:
        place: Place = self._document.places.place(("tool", TABLE, *keys))
        return place

    def _report(
        self, keys: Tuple[Union[str, int], ...], message: str, help: Optional[str] = None
    ) -> None:
        self._found.append(project_table.diagnostic(message, self._place(*keys), help=help))

    def _report_unknown(self, key: str, known: List[str]) -> None:
        from npu_config.text.words import near

        close = near(key, known)
        self._found.append(
            project_table.diagnostic(
                phrase(
                    '"{}" is not a key of [tool.npu-config]; legal: {}', key[:40], listed(known)
                ),
                self._document.key_place(("tool", TABLE, key)),
                help=None if close is None else phrase('did you mean "{}"?', close),
            )
        )

    def _texts(self, key: str, value: Any, *inner: str) -> Tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        name = inner[-1] if inner else key
        help = '{} = ["..."]'.format('"{}"'.format(name) if inner else name)
        self._report((key, *inner), phrase('"{}" must be a list of strings', name), help)
        return ()

    def _rules(self, key: str, value: Any, *inner: str) -> Tuple[str, ...]:
        """A list of rules; each word that names none is reported."""
        from npu_config.text.words import near

        ids = {rule.name: rule.id for rule in self._known_rules()}
        found = []
        for index, word in enumerate(self._texts(key, value, *inner)):
            if not ids or id_of_rule(word, ids) is not None:
                found.append(word)
                continue
            close = near(word, [*ids, *ids.values()])
            self._report(
                (key, *inner, index),
                phrase('"{}" is not a rule', word[:40]),
                "specify rules by id (NPU104), by the beginning of an id (NPU1) or by name"
                if close is None
                else phrase('did you mean "{}"?', close),
            )
        return tuple(found)

    def _text(self, key: str, value: Any) -> Optional[str]:
        if isinstance(value, str):
            return value
        self._report((key,), phrase('"{}" must be a string', key))
        return None

    def _switch(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            self._report((key,), phrase('"{}" must be true or false', key))
        return value is True

    def _part_of_target(self, key: str, value: Any) -> Optional[str]:
        part = {"target": "product"}.get(key, key)
        try:
            Target.named(**{part: value})
        except ValueError as error:
            self._report((key,), str(error))
            return None
        return str(value)

    def _table_of_rules(self, key: str, value: Any) -> Dict[str, Tuple[str, ...]]:
        if not isinstance(value, dict):
            self._report(
                (key,), phrase('"{}" must be a table of patterns and lists of rules', key)
            )
            return {}
        return {str(name): self._rules(key, rules, str(name)) for name, rules in value.items()}
