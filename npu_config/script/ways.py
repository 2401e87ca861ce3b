"""What a script configures whichever way it runs, and what it says of the rest, in words.

A script may make several configurations, each on several ways through it.  An option is certain
when every way of every configuration that sets options gives it the same value.  Of the others
the words say which values there are, where, and under which conditions.
"""

import ast
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from npu_config.catalogue.api import OPTION_OF, PARAMETERS, PARTS, changed_by_defaults
from npu_config.core.diagnostics import Place
from npu_config.core.message import join, listed, phrase
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind, Stated
from npu_config.python_flow.scopes import name_of
from npu_config.script import ScriptReading
from npu_config.script.judging import conditions_of, last_words, switches_of, unfollowed
from npu_config.script.paths import Path
from npu_config.script.reading import Literals, Variant
from npu_config.script.script import Script
from npu_config.text.words import joined, spelled

_CONFIGURATIONS = 5
"""The most configurations whose values are told apart."""

_ARGUMENTS = frozenset(PARAMETERS["NPURunConfig"]) - {"session_config", *PARTS, *OPTION_OF}
"""The arguments of NPURunConfig that are no options."""

_LONGEST = 100
"""The most characters of an expression."""


class _Configuration(NamedTuple):
    """The ways of one place of the script where a configuration is made."""

    place: Place
    ways: List[Variant]
    needed: Literals
    conditions: List[str]


class _Attempt(NamedTuple):
    """A statement that may leave out what is in it: its lines, and how that comes."""

    first: int
    last: int
    words: str


def stated_by(reading: ScriptReading) -> Stated:
    """What a script certainly configures, and the rest in words."""
    lasting = [each for each in reading.variants if each.shadowed_by is None]
    real = [each for each in lasting if not each.is_part and _real(each.paths)]
    made = _configurations(real)
    setting = [each for each in made if any(way.settings.entries for way in each.ways)]
    ways = [way for each in setting for way in each.ways]
    attempts = list(_attempts(reading))
    entries: Dict[str, Setting] = {}
    words: Dict[str, str] = {}
    unused: Dict[str, str] = {}
    for name in _names(ways):
        found = [way.settings.entries.get(name) for way in ways]
        agreed = _agreed(found)
        attempt = None if agreed is None else _attempt(agreed.place, ways, attempts)
        if agreed is not None and attempt is not None:
            entries[name] = agreed._replace(value=UNKNOWN, wire=None)
            value = phrase("{} (line {})", _value(agreed, reading.script), agreed.place.line)
            words[name] = phrase("{}, unless {}", value, attempt)
        elif agreed is None:
            wires = {None if s is None else s.wire for s in found}
            wire = wires.pop() if len(wires) == 1 else None
            entries[name] = next(s for s in found if s)._replace(value=UNKNOWN, wire=wire)
            words[name] = _told(name, setting, reading.script)
        else:
            entries[name] = agreed
    for each in lasting:
        for name, one in each.settings.entries.items():
            if name not in entries:
                unused.setdefault(name, _not_used(one, each, reading.script))
    more = [each for each in made if any(way.settings.open for way in each.ways)]
    notes = [] if entries or reading.script is None else unfollowed(reading.script)
    return Stated(
        Settings(
            entries,
            SourceKind.SCRIPT,
            open=bool(more or notes),
            place=real[0].settings.place if real else Place(reading.path),
        ),
        words,
        unused,
        (
            *_remarks(reading, made, setting),
            *(phrase("line {}: {}", note.line, note.message) for note in notes),
        ),
        _more(more, made) if more else None,
        tuple(
            dict.fromkeys(
                name
                for way in real
                for name in way.settings.extra
                if name.partition(".")[0] in _ARGUMENTS
            )
        ),
    )


def _attempts(reading: ScriptReading) -> Iterator[_Attempt]:
    """The statements that may leave out what is in them, and that the script survives."""
    for node in () if reading.script is None else ast.walk(reading.script.tree):
        if isinstance(node, ast.Try) and not all(_ends(each.body[-1]) for each in node.handlers):
            words = phrase("the try statement of line {} fails before this line", node.lineno)
            yield _Attempt(node.lineno, _last(node.body), words)


def _last(body: List[ast.stmt]) -> int:
    """The last line that a part of a body begins on."""
    return max(getattr(node, "lineno", 0) for each in body for node in ast.walk(each))


def _ends(statement: ast.stmt) -> bool:
    """True for what ends the script: ``raise``, ``sys.exit()``."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return name_of(statement.value.func).endswith("exit")
    return isinstance(statement, ast.Raise)


def _attempt(place: Place, ways: Iterable[Variant], attempts: Iterable[_Attempt]) -> Optional[str]:
    """Why an option may not be set although the configuration, made before, is there."""
    made = max((way.settings.place.line or 0 for way in ways), default=0)
    line = place.line or 0
    return next((each.words for each in attempts if made < each.first < line <= each.last), None)


def _real(paths: Iterable[Path]) -> List[Path]:
    """The paths that the script as it is may take."""
    return [path for path in paths if not path.supposed]


def _configurations(ways: Iterable[Variant]) -> List[_Configuration]:
    """The ways by the place where their configuration is made, in the order of the script."""
    places: Dict[Place, List[Variant]] = {}
    for way in ways:
        completed = way._replace(settings=_with_defaults(way.settings))
        places.setdefault(way.settings.place, []).append(completed)
    found = []
    for place, there in sorted(places.items(), key=lambda item: item[0].line or 0):
        conditions = conditions_of([p for way in there for p in _real(way.paths)], {})
        words = last_words(conditions.decisions)
        found.append(_Configuration(place, there, conditions.literals, words))
    return found


def _with_defaults(settings: Settings) -> Settings:
    """The settings, with what NPURunConfig sets by itself and a session does not."""
    if settings.source_kind is not SourceKind.RUN_CONFIG or settings.open:
        return settings
    absent = changed_by_defaults(settings.entries)
    defaults = {
        name: Setting(default, None, settings.place, by="NPURunConfig", is_implied=True)
        for name, _, default in absent
    }
    return settings._replace(entries={**settings.entries, **defaults})


def _names(ways: Iterable[Variant]) -> Iterator[str]:
    """Every option of the ways, once."""
    return iter(dict.fromkeys(name for way in ways for name in way.settings.entries))


def _agreed(found: List[Optional[Setting]]) -> Optional[Setting]:
    """The setting that all ways through the script have; None when they differ."""
    first = found[0]
    if first is None or first.value is UNKNOWN:
        return None
    wires = {s.wire for s in found if s is not None and s.wire is not None}
    same = all(s is not None and _key(s) == _key(first) for s in found)
    return first if same and len(wires) < 2 else None


def _key(setting: Setting) -> Tuple[Any, ...]:
    """Equal for settings that say the same."""
    return type(setting.value), repr(setting.value), setting.content


# words


def _told(name: str, made: List[_Configuration], script: Optional[Script]) -> str:
    """What the script says of an option, configuration by configuration."""
    parts = [_told_of(name, each, script) for each in made[:_CONFIGURATIONS]]
    if len(made) == 1:
        return parts[0]
    words = [
        phrase("{} in the configuration of line {}", part, each.place.line)
        for part, each in zip(parts, made)
    ]
    if len(made) > len(words):
        rest = listed([str(each.place.line) for each in made[len(words) :]])
        words.append(phrase("further values in the configurations of lines {}", rest))
    return join("; ", words)


def _told_of(name: str, made: _Configuration, script: Optional[Script]) -> str:
    """What one configuration says of an option."""
    groups: Dict[Tuple[Any, ...], Tuple[Setting, List[Path]]] = {}
    absent: List[Path] = []
    for way in made.ways:
        setting = way.settings.entries.get(name)
        if setting is None:
            absent.extend(_real(way.paths))
        else:
            key = _key(setting), setting.wire, setting.place.line
            groups.setdefault(key, (setting, []))[1].extend(_real(way.paths))
    words = []
    for key, (setting, paths) in groups.items():
        others = [p for other, (_, theirs) in groups.items() if other != key for p in theirs]
        value, line = _value(setting, script), setting.place.line
        missing = last_words(conditions_of(absent, {}).decisions, made.needed) if absent else []
        if missing and not (others or conditions_of(paths, {}).decisions):
            value = phrase("{} (line {})", value, line)
            return phrase("{}, unless {}", value, join(" and ", missing))
        if others or absent:
            value = phrase("{} {}", value, _when(paths, [*others, *absent], made.needed))
        words.append(phrase("{} (line {})", value, line))
    if not words:
        return phrase("not set")
    if absent:
        words.append(phrase("otherwise not set"))
    return join("; ", words)


def _when(paths: List[Path], others: List[Path], named: Literals) -> str:
    """The conditions of paths that others do not share; what is named goes without saying."""
    if {id(path) for path in paths} & {id(path) for path in others}:
        return phrase("in some calls")
    words = last_words(conditions_of(paths, {}).decisions, named)
    return phrase("when {}", join(" and ", words)) if words else phrase("on some paths")


def _value(setting: Setting, script: Optional[Script]) -> str:
    """The value, or the expression that gives it."""
    if setting.content is not None:
        content = " ".join(setting.content.split())
        return phrase("a file with the content {}", content)
    if setting.value is not UNKNOWN:
        return spelled(setting.value)
    if script is None or setting.place.end_column is None:
        return phrase("known at run time only")
    text = " ".join(script.source.at(setting.place).split())
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return phrase("known at run time only, {}", text)


def _not_used(setting: Setting, variant: Variant, script: Optional[Script]) -> str:
    """What becomes of an option that is in no configuration that the script makes."""
    value = phrase("{} (line {})", _value(setting, script), setting.place.line)
    if variant.is_part:
        return phrase("{} is replaced or removed before the session uses it", value)
    switches = join(" and ", switches_of(variant.paths[0]))
    return phrase("{} in code that is switched off: if {}", value, switches)


# remarks


def _remarks(
    reading: ScriptReading, made: List[_Configuration], setting: List[_Configuration]
) -> Iterator[str]:
    """What is to be said of the configurations as a whole."""
    if len(setting) > 1:
        lines = joined([str(each.place.line) for each in setting])
        yield phrase("the script creates {} configurations, in lines {}", len(setting), lines)
    for each in made:
        line = each.place.line
        if each.conditions:
            conditions = join(" and ", each.conditions)
            yield phrase("the configuration of line {} is created only when {}", line, conditions)
        if setting and each not in setting and not any(way.settings.open for way in each.ways):
            yield phrase("the configuration of line {} sets no option", line)
    runs = [path.outcome for group in reading.paths for path in _real(group)]
    for line, name in sorted({(each.place.line, each.file) for r in runs for each in r.loaded}):
        yield phrase(
            "line {} loads {}; the options in that file are not included here", line, name
        )
    targets = {each.target.target for each in reading.variants if each.settings.entries}
    if reading.unreadable:
        parts = joined(sorted(reading.unreadable))
        yield phrase(
            "{} of the target is known only at run time"
            if len(reading.unreadable) == 1
            else "{} of the target are known only at run time",
            parts,
        )
    elif len(targets) > 1 and reading.target is None:
        yield phrase("the configurations of the script are for different targets")


def _more(more: List[_Configuration], made: List[_Configuration]) -> str:
    if len(made) == 1:
        return phrase("the script may set more options, which are known at run time only")
    lines = joined([str(each.place.line) for each in more])
    return phrase(
        "the configuration of line {} may set more options, which are known only at run time"
        if len(more) == 1
        else "the configurations of lines {} may set more options, "
        "which are known only at run time",
        lines,
    )
