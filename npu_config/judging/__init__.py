"""The one door: whoever wants to know what is wrong with an input asks :func:`judge`.

``npu-config check`` and its processes, ``npu_config.check``, ``doctor``, ``generate``,
``run --dry-run`` and the pre-commit hook all do, and differ only in what they print.
"""

import os
from dataclasses import replace
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
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Rule
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike
from npu_config.core.settings import Settings
from npu_config.rules.overrides import Override
from npu_config.rules.reading import ALONE, FAILED, Around, Load, Reading
from npu_config.text.source import guarded, internal_fault, load

if TYPE_CHECKING:
    from npu_config.judging.comments import Suppressions
    from npu_config.readers import Ownership
    from npu_config.rules.value import ConfigValue

__all__ = ["ALONE", "Around", "Judgement", "KnownRules", "judge", "judge_if_ours", "judge_reading"]

KnownRules = Callable[[], Iterable[Rule]]
"""What gives every rule there is: with it, comments that name none are reported."""

_LARGEST = 1 << 24


@attr.s(frozen=True, slots=True, auto_attribs=True, hash=False)
class Judgement:
    """What is to be said of one input.

    Args:
        path: the file; None for what is in none.
        found: what is wrong, in order.
        silenced: what would be, but for an ignore comment in the file that it is about.
        unchecked: why the input was not checked, or not as a whole; None: it was.
        in_part: the rest of it was checked.
        reading: what was read; None where it stayed in another process.
        texts: path to text, of every file that a finding is in.
        encoding: how the text of the file is written back.
    """

    path: Optional[str]
    found: Tuple[Diagnostic, ...]
    silenced: Tuple[Diagnostic, ...] = ()
    unchecked: Optional[str] = None
    in_part: bool = False
    reading: Optional[Reading] = attr.ib(default=None, eq=False, repr=False)
    texts: Mapping[Optional[str], str] = attr.ib(factory=dict, repr=False)
    encoding: str = "utf-8"

    @property
    def text(self) -> Optional[str]:
        """The text of the file, where it is one of text."""
        return self.texts.get(self.path)

    def is_own(self, found: Diagnostic) -> bool:
        """Whether a finding is in the file itself, and not in one that it names or extends."""
        return found.path in (None, self.path)


def judge(
    source: Union[PathLike, Settings, "ConfigValue", Mapping[str, Any], Any],
    around: Around = ALONE,
    as_kind: Optional[str] = None,
    content: Union[bytes, str, None] = None,
    known_rules: Optional[KnownRules] = None,
) -> Judgement:
    """Judge one input.

    Args:
        source: the path of a file of any kind, a mapping of option name to value, a NpuConfig, a
            ConfigProto (TensorFlow's or the stub's), or Settings.
        around: what it is judged for, and with which surroundings.
        as_kind: what to read a file as; None: what it is.
        content: the content of the file, where it is not to be read from ``source``.
        known_rules: gives every rule; None: ignore comments are obeyed and not judged.

    Raises:
        TypeError: ``source`` is none of these.
        ValueError: ``as_kind`` is no kind.
    """
    if isinstance(source, (str, os.PathLike)):
        from npu_config.readers import read

        return judge_reading(read(source, as_kind, content), around, known_rules)
    return judge_reading(_held(source), around, known_rules)


def judge_if_ours(
    path: PathLike,
    around: Around = ALONE,
    as_kind: Optional[str] = None,
    content: Optional[bytes] = None,
    known_rules: Optional[KnownRules] = None,
) -> Union[Judgement, "Ownership"]:
    """Judge a file that nobody named, or say why it is passed over; arguments: :func:`judge`."""
    from npu_config.readers import read_found

    found = read_found(path, as_kind, content)
    return judge_reading(found, around, known_rules) if isinstance(found, Reading) else found


def judge_reading(
    reading: Reading, around: Around = ALONE, known_rules: Optional[KnownRules] = None
) -> Judgement:
    """Judge what was read; a fault of npu_config's own is a finding."""
    reading = reading.overridden(around.overrides)
    texts: Dict[Optional[str], str] = {}
    if reading.text is not None:
        texts[reading.path] = reading.text
    found = [*around.faults, *reading.judge(around), *_of_loaded(reading, around)]
    own = {None, reading.path, *reading.layers}
    found = [each if each.path in own else _unmended(each) for each in found]
    left = found
    try:
        with guarded(reading.path):
            left = _unsilenced(found, reading, texts, known_rules)
    except NpuConfigError as error:
        left = [*found, *error.diagnostics]
    failed = any(each.rule == internal_fault.id for each in left)
    unchecked = FAILED if failed else reading.unchecked
    partly = _partly(left, reading.path) if unchecked is None else None
    kept = set(map(id, left))
    return Judgement(
        reading.path,
        tuple(left),
        tuple(each for each in found if id(each) not in kept),
        unchecked or partly,
        partly is not None,
        reading,
        texts,
        reading.encoding,
    )


def _partly(found: List[Diagnostic], path: Optional[str]) -> Optional[str]:
    """Why an input was not checked as a whole, of what is said about lines of it."""
    from npu_config.text.rules import not_checked_here

    lines = [
        each.line
        for each in found
        if each.rule == not_checked_here.id and each.line and each.path == path
    ]
    if not lines:
        return None
    named = ", ".join(map(str, sorted(set(lines))[:_LINES]))
    if len(lines) > _LINES:
        named += ", ..."
    return phrase("part of the file was not checked: line {}; --notes shows why", named)


_LINES = 5


def _unmended(found: Diagnostic) -> Diagnostic:
    """A finding in a file that the judged one names: its fix is not one of the judged one."""
    return replace(found, fix=None) if found.fix is not None else found


def read_loaded(reading: Reading, load: Load, overrides: Sequence[Override]) -> Optional[Reading]:
    """The configuration file that a script loads, as it is there; None where it is not found."""
    from npu_config.readers import read
    from npu_config.script.neighbours import named_in

    path = named_in(reading.path, load.file)
    if path is None:
        return None
    loaded = read(path, load.kind).overridden((*load.overrides, *overrides))
    # load(path, target) replaces that of the file
    return loaded if load.target.target is None else attr.evolve(loaded, target=load.target.target)


def _of_loaded(reading: Reading, around: Around) -> Iterator[Diagnostic]:
    """What is wrong with the configuration files that a script loads, or that none was found."""
    for wanted in reading.loads():
        from npu_config.text.rules import not_checked_here

        loaded = read_loaded(reading, wanted, around.overrides)
        if loaded is None:
            message = phrase(
                '"{}" was not found in the current directory, next to the script or in a '
                "folder above the script; the options of this file are not checked",
                wanted.file,
            )
            help = "pass the path of this file, too, to include the file in the check"
            yield not_checked_here.diagnostic(message, wanted.place, help=help)
            continue
        if wanted.is_part:  # what is around the options stands elsewhere
            parts = (each._replace(open=True, session=None) for each in loaded.settings)
            loaded = attr.evolve(loaded, settings=tuple(parts))
        default = None if wanted.target.unknown else around.default
        yield from loaded.judge(attr.evolve(around, default=default))


def _held(source: Any) -> Reading:
    """What is held in memory, as if it had been read."""
    from npu_config.rules.value import ConfigValue

    if isinstance(source, ConfigValue):
        return Reading("", None, (_of_value(source),), target=source.target)
    if isinstance(source, Settings):
        return Reading("", source.place.path, (source,))
    if isinstance(source, Mapping):
        return Reading("", None, (Settings.of(source),))
    if getattr(getattr(source, "DESCRIPTOR", None), "name", None) == "ConfigProto":
        from npu_config.proto import decode

        return Reading("", None, (decode(source),))
    raise TypeError(
        phrase(
            "expected a NpuConfig, a mapping, a ConfigProto or a path, got {}",
            type(source).__name__,
        )
    )


def _of_value(config: "ConfigValue") -> Settings:
    """The options, with the content of the files that come with them."""
    entries = dict(Settings.of(config.options).entries)
    for name, file in config.side_files.items():
        entries[name] = entries[name]._replace(content=file.text)
    return Settings(entries, needs_files=True)


def _unsilenced(
    found: List[Diagnostic],
    reading: Reading,
    texts: Dict[Optional[str], str],
    known_rules: Optional[KnownRules],
) -> List[Diagnostic]:
    """The findings that no ignore comment silences, and what is wrong with the comments.

    A finding in another file, which the judged one names, goes by the comments of that file.
    """
    mine: List[Diagnostic] = []
    others: Dict[str, List[Diagnostic]] = {}
    for each in found:
        if each.path in (None, reading.path) or _text_of(each.path, texts) is None:
            mine.append(each)
        else:
            others.setdefault(each.path, []).append(each)
    comments = _comments(reading.text, reading.path, reading.kind == "script")
    if comments:
        rules = known_rules() if known_rules is not None else ()
        mine = comments.apply(mine, [(rule.id, rule.name) for rule in rules])
    for name, theirs in others.items():
        comments = _comments(texts[name], name, name.endswith(".py"))
        mine += comments.apply(theirs) if comments else theirs
    return mine


def _comments(
    text: Optional[str], path: Optional[str], is_script: bool
) -> "Optional[Suppressions]":
    """The ignore comments of a text; most have none."""
    if text is None or "npu:" not in text:
        return None
    from npu_config.judging.comments import Suppressions

    return Suppressions(text, path, is_script)


def _text_of(path: Optional[str], texts: Dict[Optional[str], str]) -> Optional[str]:
    """The text of a file that another one names; None where there is no such text."""
    if path is not None and path not in texts and os.path.isfile(path):
        data = load(path, _LARGEST)
        if isinstance(data, bytes):
            texts[path] = data.decode("utf-8", "replace")
    return texts.get(path)
