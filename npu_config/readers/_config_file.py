"""From the plain value of a configuration file to settings: one interpreter for all formats."""

from collections import defaultdict
from typing import Any, Dict, List, Mapping, Optional, Set, Union

from npu_config.catalogue import OPTIONS, InvalidValue, layout
from npu_config.catalogue.kinds import name_of_type, shorten
from npu_config.core.diagnostics import Diagnostic, Fix, Place, Rule
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import MODES, Target
from npu_config.core.versions import Product
from npu_config.readers import _rules as rules
from npu_config.rules.reading import Base, Reading
from npu_config.text.source import BROKEN, FaultLog, Path, Places, Source, StopReading, both_places
from npu_config.text.words import near, numbers_agree, shown

__all__ = [
    "BROKEN",
    "Document",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_VALUES",
    "Path",
    "StopReading",
    "inside_quotes",
]

MAX_DEPTH = 32
MAX_DIGITS = 400
MAX_VALUES = 20_000


class Document(FaultLog):
    """What a parser of YAML, TOML or JSON found.

    Attributes:
        kind: the format.
        value: dicts, lists and scalars; a part that cannot be read is :data:`BROKEN`.
        places: where each part of the value stands.
        doubts: by path, the plain text of a scalar that the format reads as something which
            its author may not have meant; reported only where the option refuses the value.
        bad_keys: the paths whose key is wrong and reported.
    """

    def __init__(self, kind: str, source: Source, places: Places, value: Any = None) -> None:
        super().__init__(source)
        self.kind = kind
        self.places = places
        self.value = value
        self.doubts: Dict[Path, str] = {}
        self.bad_keys: Set[Path] = set()

    def key_place(self, path: Path) -> Place:
        """Where the key that ends ``path`` stands, without the quotes around it."""
        return inside_quotes(self.source, self.places.key_place(path))


def inside_quotes(source: Source, place: Place) -> Place:
    """The place of a text without its quotes, so that it can be underlined and replaced."""
    _, line, column, end_line, end_column = place
    if line is None or column is None or end_line is None or end_column is None:
        return place
    start, end = source.offset(line, column), source.offset(end_line, end_column)
    text = source.text
    if end - start > 2 and text[start] in "\"'" and text[end - 1] == text[start]:
        return source.place(start + 1, end - 1)
    return place


class FindingList(List[Diagnostic]):
    """A list that makes the diagnostics it holds."""

    def report(
        self,
        rule: Rule,
        place: Place,
        message: str,
        help: Optional[str] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
    ) -> None:
        """Add one finding."""
        self.append(rule.diagnostic(message, place, help=help, fix=fix, meant=meant))


def renaming(place: Place, name: str) -> Optional[Fix]:
    """The fix that puts ``name`` in the place of another key."""
    return Fix.writing(place, name, phrase('rename to "{}"', name))


def writing(place: Place, value: Union[int, str]) -> Optional[Fix]:
    """The fix that writes a value as YAML, TOML and JSON all read it.

    Where nothing stands, as behind the colon of a key in YAML, it gets a blank before it.
    """
    import json

    is_empty = (place.line, place.column) == (place.end_line, place.end_column)
    return Fix.writing(place, " " * is_empty + json.dumps(value, ensure_ascii=False))


def quoting(place: Place, text: str) -> Optional[Fix]:
    """The fix that puts a plain scalar in quotes."""
    return Fix.writing(place, '"{}"'.format(text), "put it in quotes")


_VERSION_LINES = {
    "yaml": 'add the line "version: 1"',
    "toml": 'add the line "version = 1" at the top',
    "json": 'add "version": 1',
}
_LEGAL = {"product": [product.value for product in Product], "mode": list(MODES)}


def read_version(document: Document, findings: FindingList, root: Dict[str, Any]) -> None:
    """Report a version that is missing or not ours."""
    if "version" not in root:
        if root and document.complete:
            findings.report(
                rules.missing_version,
                Place(document.source.path, 1, 1),
                phrase("the file has no version and is read as version {}", layout.VERSION),
                _VERSION_LINES[document.kind],
            )
        return
    version = root["version"]
    if version is BROKEN or (type(version) is int and version == layout.VERSION):
        return
    shown = phrase("nothing") if version is None else name_of_type(version)
    findings.report(
        rules.wrong_header,
        document.places.place(("version",)),
        phrase(
            '"version" is {}; the installed npu_config reads only version {}',
            version if type(version) is int else shown,
            layout.VERSION,
        ),
        phrase("write {}", layout.VERSION),
        writing(document.places.place(("version",)), layout.VERSION),
    )


def read_target(document: Document, findings: FindingList, value: Any) -> Optional[Target]:
    """What a file says of the machine it is meant for, as far as it can be understood."""
    if value is BROKEN or value is None:
        return None
    if not isinstance(value, dict):
        findings.report(
            rules.wrong_header,
            document.places.place(("target",)),
            phrase(
                '"target" must be a mapping of {}, got {}',
                listed(layout.TARGET_KEYS),
                name_of_type(value),
            ),
            'put the product under "product"',
        )
        return None
    found: Dict[str, str] = {}
    for key, content in value.items():
        path: Path = ("target", key)
        if path in document.bad_keys or content is BROKEN:
            continue
        if key not in layout.TARGET_KEYS:
            place = document.key_place(path)
            close = near(key, layout.TARGET_KEYS)
            findings.report(
                rules.wrong_header,
                place,
                phrase(
                    '"{}" is not a key of "target"; legal: {}',
                    shorten(key),
                    listed(layout.TARGET_KEYS),
                ),
                fix=None if close is None or close in value else renaming(place, close),
                meant=close,
            )
        elif _is_legal(document, findings, path, content):
            found[key] = content
    try:
        return Target.named(**found) if found else None
    except ValueError as error:
        findings.report(rules.wrong_header, document.places.place(("target",)), str(error))
        return None


def _is_legal(document: Document, findings: FindingList, path: Path, content: Any) -> bool:
    key = str(path[1])
    place = document.places.place(path)
    legal = _LEGAL.get(key)
    source = document.doubts.get(path)
    if source is not None:
        message = phrase(
            'YAML reads "{}" as {}; "{}" must be text',
            shorten(source),
            name_of_type(content),
            key,
        )
        help = phrase('write "{}" in quotes', source)
        findings.report(rules.yaml_trap, place, message, help, quoting(place, source))
        return False
    if not isinstance(content, str):
        shown = phrase("nothing") if content is None else name_of_type(content)
        words = phrase("text") if legal is None else phrase("one of {}", listed(legal))
        message = phrase('"{}" takes {}, got {}', key, words, shown)
        if type(content) in (int, float) and (legal is None or _is_name(key, str(content))):
            quotes = phrase('write "{}" in quotes', content)
            findings.report(
                rules.wrong_header, place, message, quotes, writing(place, str(content))
            )
        else:
            findings.report(rules.wrong_header, place, message)
        return False
    try:
        Target.named(**{key: content})
    except ValueError as error:
        meant = near(content.replace(" ", "_"), legal or ())
        if meant is not None and not numbers_agree(content, meant):
            meant = None
        fix = None if meant is None else writing(place, meant)
        findings.report(rules.wrong_header, place, str(error), fix=fix, meant=meant)
        return False
    return True


def _is_name(key: str, text: str) -> bool:
    """True for a part of a target in digits, such as the product 910."""
    try:
        Target.named(**{key: text})
    except ValueError:
        return False
    return True


MAX_ENTRIES = 500

_ROOT_KEYS = (*layout.HEADER_KEYS, *layout.GROUP_OF_KEY)


def interpret(document: Document) -> Reading:
    """The settings and the target of a parsed file, and all that is wrong with its form."""
    return _Interpreter(document).reading()


class _Interpreter:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._findings = FindingList(document.diagnostics)
        self._entries: Dict[str, Setting] = {}
        self._bad_keys = _by_option(document.bad_keys)
        self._doubts = _by_option(document.doubts)
        self._full = False
        self._removed: Dict[str, Diagnostic] = {}
        self._bases: List[Base] = []

    def reading(self) -> Reading:
        """Interpret the whole."""
        document = self._document
        value = document.value
        whole = Place(document.source.path)
        target = None
        if isinstance(value, dict):
            target = self._mapping(value)
        elif value is None and document.complete and not self._findings:
            message = "the file is empty; no option is set"
            self._findings.report(rules.nothing_to_check, whole, message)
        elif value is not None and value is not BROKEN:
            self._findings.report(
                rules.wrong_structure,
                document.places.place(),
                phrase("a configuration must be a mapping of options, not {}", _shape(value)),
                _help_for(value),
            )
        settings = Settings(
            self._entries,
            SourceKind.FILE,
            open=self._full or not document.complete,
            place=whole,
        )
        return Reading(
            document.kind,
            document.source.path,
            (settings,),
            tuple(self._findings),
            target,
            document.source.text,
            bases=tuple(self._bases),
            removed=self._removed,
        )

    def _mapping(self, root: Dict[str, Any]) -> Optional[Target]:
        for key, value in root.items():
            if self._full:
                break
            path = (key,)
            group = layout.GROUP_OF_KEY.get(key)
            if path in self._document.bad_keys or key in ("$schema", *layout.HEADER_KEYS):
                continue
            if key in OPTIONS:
                self._option(key, path, value)
            elif group is not None:
                self._group(group, path, value)
            elif near(key, list(OPTIONS)) is None and self._meant_otherwise(key, value, root):
                continue
            else:
                self._option(key, path, value)
        read_version(self._document, self._findings, root)
        if layout.EXTENDS in root:
            self._extends(root[layout.EXTENDS])
        else:
            self._findings.extend(self._removed.values())
        return read_target(self._document, self._findings, root.get("target"))

    def _meant_otherwise(self, key: str, value: Any, root: Dict[str, Any]) -> bool:
        """True when an unknown key is reported as a group or header key, not as an option."""
        close = near(key, _ROOT_KEYS)
        if close is None and not isinstance(value, dict):
            return False
        place = self._document.key_place((key,))
        if close is not None:
            self._findings.report(
                rules.wrong_structure,
                place,
                phrase('"{}" is not a key of a configuration file', shorten(key)),
                phrase('did you mean "{}"?', close),
                None if close in root else renaming(place, close),
            )
        else:
            groups = listed(group.key for group in layout.GROUPS)
            message = phrase('"{}" is not a group of options; groups: {}', shorten(key), groups)
            inside = [name for name in value if isinstance(name, str) and name in OPTIONS]
            help = (
                phrase("move {} to the top level", listed(map(shown, inside))) if inside else None
            )
            self._findings.report(rules.wrong_structure, place, message, help)
        return True

    def _extends(self, value: Any) -> None:
        """Note the files that this one extends; what takes an option away is no fault then."""
        path: Path = (layout.EXTENDS,)
        names = value if isinstance(value, list) else [value]
        for index, name in enumerate(names):
            place = self._document.places.place((*path, index) if names is value else path)
            if isinstance(name, str) and name.strip() and "\0" not in name:
                self._bases.append(Base(name, place))
            elif name is not BROKEN:
                what = phrase("nothing") if name in (None, "") else name_of_type(name)
                message = phrase(
                    '"extends" must be the path of a file or a list of paths, got {}', what
                )
                self._findings.report(rules.base_not_read, place, message)
        for name in self._removed:
            self._entries.pop(name)

    def _group(self, group: layout.OptionGroup, path: Path, value: Any) -> None:
        places = self._document.places
        if value is BROKEN or value is None:
            return
        if not isinstance(value, dict):
            self._findings.report(
                rules.wrong_structure,
                places.place(path),
                phrase(
                    '"{}" is a group of options and must be a mapping, got {}',
                    path[0],
                    name_of_type(value),
                ),
                phrase("put options under this key, e.g. {}", group.options[0]),
            )
            return
        for name, content in value.items():
            inner = (*path, name)
            if inner in self._document.bad_keys:
                continue
            if name in OPTIONS and name not in group.options:
                self._findings.report(
                    rules.wrong_structure,
                    self._document.key_place(inner),
                    phrase(
                        '"{}" is in the group "{}", but belongs in "{}"',
                        name,
                        path[0],
                        layout.GROUP_OF_OPTION[name].key,
                    ),
                    phrase(
                        'move the option to "{}", or to the top level',
                        layout.GROUP_OF_OPTION[name].key,
                    ),
                )
            self._option(name, inner, content)

    def _option(self, name: str, path: Path, value: Any) -> None:
        if len(self._entries) >= MAX_ENTRIES:
            self._too_many(path)
            return
        places = self._document.places
        place, name_place = places.place(path), self._document.key_place(path)
        earlier = self._entries.get(name)
        if earlier is not None:
            first = earlier.place_of_name
            self._findings.report(
                rules.duplicate_key,
                name_place,
                phrase(
                    '"{}" is set twice, on {}',
                    shorten(name),
                    both_places(first, name_place),
                ),
                "keep one of the two",
            )
            return
        if value is None:
            option = OPTIONS.get(name)
            if option is not None:
                message = phrase('"{}" has no value; legal: {}', name, option.kind.describe())
                help = "set a value or remove the line"
                fault = rules.wrong_structure.diagnostic(message, name_place, help=help)
                self._removed[name] = fault
                value = UNKNOWN
        elif (
            path in self._bad_keys
            or self._holds_broken(value, place)
            or self._trapped(name, path, value)
        ):
            value = UNKNOWN
        self._entries[name] = Setting(value, None, place, name_place)

    def _too_many(self, path: Path) -> None:
        if not self._full:
            self._full = True
            self._findings.report(
                rules.file_too_large,
                self._document.key_place(path),
                phrase("more than {} options; the rest is not checked", MAX_ENTRIES),
            )

    def _holds_broken(self, value: Any, place: Place) -> bool:
        """True when a part is broken, and when it is nested too deep, which is reported."""
        level = [value]
        for _ in range(MAX_DEPTH):
            if not level:
                return False
            if any(item is BROKEN for item in level):
                return True
            level = [
                part
                for item in level
                if isinstance(item, (dict, list))
                for part in (item.values() if isinstance(item, dict) else item)
            ]
        message = phrase("nesting limit of {} levels exceeded", MAX_DEPTH)
        self._findings.report(rules.file_too_large, place, message)
        return True

    def _trapped(self, name: str, path: Path, value: Any) -> bool:
        """Report the scalars that YAML read as something else, when the option refuses them."""
        if path not in self._doubts or name not in OPTIONS:
            return False
        kind = OPTIONS[name].kind
        try:
            kind.parse(value)
        except InvalidValue:
            pass
        else:
            return False
        found = False
        texts = {inner: self._document.doubts[inner] for inner in self._doubts[path]}
        as_text = _accepts(name, _with_texts(value, path, texts))
        for inner, text in texts.items():
            read_as = _part(value, path, inner)
            if isinstance(read_as, float) and not as_text:
                continue
            found = True
            place = self._document.places.place(inner)
            fix = help = None
            if as_text:
                help = phrase('write "{}" in quotes', text)
                fix = quoting(place, text)
            elif inner == path and _accepts(name, str(read_as).lower()):
                help = phrase('write "{}" in quotes', str(read_as).lower())
                fix = quoting(place, str(read_as).lower())
            message = phrase(
                'YAML reads "{}" as {}; "{}" must be {}',
                shorten(text),
                name_of_type(read_as),
                name,
                kind.describe(),
            )
            self._findings.report(rules.yaml_trap, place, message, help, fix)
        return found


def _by_option(paths: Any) -> Dict[Path, List[Path]]:
    """Paths by the first one and the first two of their steps, where an option may stand."""
    found: Dict[Path, List[Path]] = defaultdict(list)
    for path in paths:
        for size in (1, 2):
            if len(path) >= size:
                found[path[:size]].append(path)
    return found


def _accepts(name: str, value: Any) -> bool:
    try:
        OPTIONS[name].kind.parse(value)
    except InvalidValue:
        return False
    return True


def _with_texts(value: Any, path: Path, texts: Mapping[Path, str]) -> Any:
    """The value at ``path`` with these texts in the place of what YAML read them as."""
    if path in texts:
        return texts[path]
    if isinstance(value, list):
        return [_with_texts(item, (*path, step), texts) for step, item in enumerate(value)]
    if isinstance(value, dict):
        return {step: _with_texts(item, (*path, step), texts) for step, item in value.items()}
    return value


def _part(value: Any, path: Path, inner: Path) -> Any:
    """The part of the value at ``path`` that stands at ``inner``."""
    for step in inner[len(path) :]:
        value = value[step]
    return value


FULL_WIDTH_COLON = 'write ":" and a space after each name, not the full-width colon'


def _help_for(value: Any) -> str:
    """What to do about something else than a mapping at the top of a file."""
    if isinstance(value, str) and "\uff1a" in value:  # input methods of Chinese write it
        return FULL_WIDTH_COLON
    return "see `npu-config init`"


def _shape(value: Any) -> str:
    return phrase("a list") if isinstance(value, list) else name_of_type(value)
