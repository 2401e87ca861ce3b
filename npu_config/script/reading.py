"""From the paths through a script to settings, and from a finding to the characters to change.

Corrections are mechanical and safe, or there is none.
"""

import re
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from npu_config.catalogue import OPTIONS, InvalidValue, Option
from npu_config.catalogue.api import (
    OPTION_OF,
    PARAMETERS,
    PARTS,
    WRITTEN_AS_TEXT,
    WRITTEN_WITHOUT_PART,
)
from npu_config.core.diagnostics import Diagnostic, Fix, Place
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import NO_TARGET, OwnTarget
from npu_config.python_flow.source import ScriptSource
from npu_config.rules.names import FORMER_NAMES
from npu_config.rules.run_config import UNSUPPORTED
from npu_config.script import objects
from npu_config.script.objects import (
    Argument,
    Block,
    Constructed,
    Entry,
    EnumName,
    Fails,
    Message,
    Unknown,
    file_of,
    is_known,
    part_of,
)
from npu_config.script.paths import Path, Run
from npu_config.script.script import Script
from npu_config.text.words import near


def settings_of_run_config(made: Constructed, directories: Sequence[Argument]) -> Settings:
    """What a call of ``NPURunConfig`` sets.

    Args:
        made: the call.
        directories: the ``model_dir`` of each estimator that it is given to.
    """
    entries, extra, is_open = _read(made)
    message = made.value("session_config")
    if message is not None:
        if not isinstance(message, Message) or message.root.foreign:
            is_open = True
        else:
            for block in message.root.blocks:
                is_open = is_open or block.open
                for name, entry in block.entries.items():
                    if name not in entries and not _always_written(name):
                        value = entry.value if is_known(entry.value) else UNKNOWN
                        entries[name] = Setting(value, entry.wire, entry.place, entry.name_place)
    for directory in directories:
        extra["estimator.model_dir"] = _setting(*directory[:3])
    return Settings(
        entries, SourceKind.RUN_CONFIG, open=is_open or made.open, place=made.place, extra=extra
    )


def directories_by_config(constructed: Iterable[Constructed]) -> Mapping[int, List[Argument]]:
    """The ``model_dir`` of estimators, by the identity of the ``config`` that they are given."""
    found: Dict[int, List[Argument]] = defaultdict(list)
    for made in constructed:
        given, directory = made.arguments.get("config"), made.arguments.get("model_dir")
        if given is not None and directory is not None:
            found[id(given.value)].append(directory)
    return found


def blocks_of_run_configs(constructed: Iterable[Constructed]) -> Set[int]:
    """The identities of the entries that are in the ``session_config`` of an NPURunConfig."""
    found: Set[int] = set()
    for made in constructed:
        given = made.value("session_config")
        if made.kind == "NPURunConfig" and isinstance(given, Message):
            found.update(map(id, given.root.blocks))
    return found


def written_by_estimator(name: str, written: Dict[str, Any]) -> Optional[Tuple[Any, bool]]:
    """What NPUEstimator writes for an option, and whether an argument says so.

    Args:
        name: the option.
        written: what :func:`options_of_run_config` gives.

    Returns:
        The value and True for an argument, False for its default; None when nothing is written,
        or what is written is not read for want of its switch in the same entry.
    """
    option = OPTIONS.get(name)
    if option is not None and not _is_read(option, written):
        return None
    if name in written:
        return written[name], True
    return (OPTIONS[name].run_config_default, False) if _always_written(name) else None


def _is_read(option: Option, written: Dict[str, Any]) -> bool:
    """True when the adapter looks at an option in the entry that NPUEstimator adds."""
    return not option.read_when or any(
        switch in written and is_known(written[switch]) and bool(written[switch])
        for switch in option.read_when
    )


def as_argument(name: str, value: Any) -> str:
    """The argument of ``NPURunConfig`` that sets an option, e.g. ``dump_config=DumpConfig(...)``.

    Args:
        name: an option that NPURunConfig has an argument for.
        value: a known value.
    """
    path = OPTIONS[name].run_config or ""
    outer, _, field = path.rpartition(".")
    written = '"{}"'.format(value) if isinstance(value, str) else repr(value)
    text = "{}={}".format(field, written)
    while outer:
        text = "{}({}, ...)".format(PARTS[outer], text)
        outer, _, field = outer.rpartition(".")
        text = "{}={}".format(field, text)
    return text


def options_of_run_config(made: Constructed) -> Dict[str, Any]:
    """The options that the arguments of ``NPURunConfig`` give; Unknown where unknown."""
    entries, _, is_open = _read(made)
    found = {
        name: Unknown(name) if setting.value is UNKNOWN else setting.value
        for name, setting in entries.items()
    }
    if is_open or made.open:
        found.update({name: Unknown(name) for name in WRITTEN_WITHOUT_PART if name not in found})
    return found


def _always_written(name: str) -> bool:
    option = OPTIONS.get(name)
    if option is None or option.run_config is None:
        return False
    return name in WRITTEN_WITHOUT_PART or (
        option.run_config_default is not None and "." not in option.run_config
    )


def _read(made: Constructed) -> Tuple[Dict[str, Setting], Dict[str, Setting], bool]:
    """Options, other arguments, and whether there may be more of the former."""
    entries: Dict[str, Setting] = {}
    extra: Dict[str, Setting] = {}
    is_open = _read_arguments(made, "", entries, extra)
    return entries, extra, is_open


def _read_arguments(
    made: Constructed, prefix: str, entries: Dict[str, Setting], extra: Dict[str, Setting]
) -> bool:
    is_open = False
    for argument, (value, place, name_place, _) in made.arguments.items():
        path = prefix + argument
        name = OPTION_OF.get(path)
        if path in PARTS and isinstance(value, Constructed):
            if value.kind == PARTS[path]:
                inner = _read_arguments(value, path + ".", entries, extra)
                is_open = is_open or inner or value.open
            else:
                extra[path] = Setting(_instance_of(value.kind), None, place, name_place)
        elif path in PARTS:
            is_open = is_open or not is_known(value)
            extra[path] = _setting(value, place, name_place)
        elif argument in UNSUPPORTED and _is_strategy(value):
            extra[path] = Setting(_instance_of("Strategy"), None, place, name_place)
        elif argument not in PARAMETERS[made.kind]:
            is_open = True
        elif name is None or value is None:
            extra[path] = _setting(value, place, name_place)
        else:
            if isinstance(value, bytes):
                value = value.decode("utf-8", "replace")
            elif name in WRITTEN_AS_TEXT and isinstance(value, int):
                value = str(value)
            entries[name] = _setting(value, place, name_place)
    return is_open


@lru_cache(maxsize=None)
def _instance_of(name: str) -> object:
    """What stands for an object of which its class alone is known."""
    return type(name, (), {})()


def _is_strategy(value: Any) -> bool:
    """True for what ``tf.distribute.MirroredStrategy()`` and its kin make."""
    made_by = value.parts[0] if isinstance(value, Unknown) and value.parts else None
    return (
        isinstance(made_by, Unknown)
        and made_by.name.endswith("Strategy")
        and (made_by.name != "NPUStrategy")
    )


def _setting(value: Any, place: Any, name_place: Any) -> Setting:
    known = value if is_known(value) else UNKNOWN
    return Setting(known, None, place, name_place, file=file_of(value))


Literals = FrozenSet[Tuple[str, bool]]


class Variant(NamedTuple):
    """Settings of one block, with the paths on which they are what the script sets.

    ``shadowed_by`` is given for a single assignment that another one overwrites, whose place
    it is: its settings hold its name and field alone.  ``target`` is what a builder says of it.
    ``is_part`` is True for what only goes into another configuration: the entry of a
    ``session_config`` of NPURunConfig, a configuration that another one was made from.
    """

    settings: Settings
    paths: Tuple[Path, ...] = ()
    shadowed_by: Optional[Place] = None
    target: OwnTarget = NO_TARGET
    is_part: bool = False


def signature(run: Run) -> object:
    """What distinguishes the outcomes of two paths."""
    return (
        tuple(
            (
                block.place,
                _plain(block.name),
                block.open,
                tuple(
                    (entry.name, entry.wire, _plain(entry.value), entry.place, entry.above)
                    for entry in block.entries.values()
                ),
                tuple(entry.place for entry in block.shadowed),
                None if block.message is None else _facts_key(block.message.root),
            )
            for block in run.blocks
        ),
        tuple(
            (made.kind, made.place, tuple((k, _plain(a.value)) for k, a in made.arguments.items()))
            for made in [*run.constructed, *run.elsewhere]
        ),
        tuple(
            (call.node.lineno, tuple(_plain(v) for v, _ in call.args)) for call, _, _ in run.calls
        ),
        tuple(message.place for message in run.messages),
        tuple((made.place, made.target, _key(made.settings())) for made in run.builders),
        len(run.failures),
        tuple(found.place for found, _ in run.refused),
        len(run.environment),
    )


def _facts_key(message: Message) -> object:
    return (
        message.place,
        tuple(use.kind for use in message.uses),
        tuple((name, _plain(value)) for name, value in message.fields.items()),
    )


def _plain(value: Any) -> object:
    if is_known(value):
        return repr(value)
    if isinstance(value, Unknown):
        return value.key
    if isinstance(value, EnumName):
        return value.name
    if isinstance(value, Message):
        return tuple((name, _plain(part)) for name, part in value.fields.items())
    return getattr(value, "place", None)


# settings


def setting_of(entry: Entry) -> Setting:
    """The setting that an assignment makes."""
    value = entry.value if is_known(entry.value) else UNKNOWN
    place, name_place = entry.place, entry.name_place
    file = file_of(entry.value)
    return Setting(value, entry.wire, place, name_place, above=entry.above, file=file)


def settings_of_block(script: Script, block: Block) -> Settings:
    """What an entry of custom_optimizers is in the end."""
    return Settings(
        {name: setting_of(entry) for name, entry in block.entries.items()},
        SourceKind.SCRIPT,
        open=block.open,
        session=session_facts(script, block),
        place=block.place,
    )


_TOGGLES = {0: "DEFAULT", 1: "ON", 2: "OFF", 3: "AGGRESSIVE"}
_MEMORY = {
    0: "DEFAULT_MEM_OPT",
    1: "NO_MEM_OPT",
    2: "MANUAL",
    3: "HEURISTICS",
    4: "SWAPPING_HEURISTICS",
    5: "RECOMPUTATION_HEURISTICS",
    6: "SCHEDULING_HEURISTICS",
}
_JIT = {0: "DEFAULT", -1: "OFF", 1: "ON_1", 2: "ON_2"}


def _enum(value: Any, numbers: Dict[int, str]) -> Any:
    """The name of an enumerated value; the numbers of another enumeration count, too."""
    if isinstance(value, EnumName):
        if value.name in numbers.values():
            return value.name
        for number, name in _TOGGLES.items():
            if name == value.name:
                return numbers.get(number, UNKNOWN)
        return UNKNOWN
    if isinstance(value, int):
        return numbers.get(int(value), UNKNOWN)
    return UNKNOWN


def session_facts(script: Script, block: Block) -> Optional[SessionFacts]:
    """What the script certainly says around the options."""
    if block.message is None:
        return None
    root = block.message.root
    if root.kind != "ConfigProto":
        return None
    all_known = _is_opened_here(script, root)
    certain = all_known and script.imports_npu_bridge and not script.is_patched
    rewrite = part_of(root, "graph_options", "rewrite_options")
    optimizer = part_of(root, "graph_options", "optimizer_options")

    def fact(owner: Optional[Message], name: str, numbers: Dict[int, str], absent: bool) -> Any:
        if owner is not None and name in owner.fields:
            return _enum(owner.fields[name], numbers)
        return numbers[0] if absent else UNKNOWN

    names = tuple(
        NPU_OPTIMIZER if block.name == NPU_OPTIMIZER else UNKNOWN for block in root.blocks
    )
    places = {
        name: owner.assigned[name].place
        for owner in filter(None, (root, rewrite, optimizer))
        for name in _FACTS
        if name in owner.assigned
    }
    soft = root.fields.get("allow_soft_placement", False if certain else UNKNOWN)
    remapping = fact(rewrite, "remapping", _TOGGLES, certain)
    # npu_init sets it in entries of its own only.
    memory = fact(rewrite, "memory_optimization", _MEMORY, all_known and not block.built_in)
    jit = fact(optimizer, "global_jit_level", _JIT, certain)
    if rewrite is not None and "optimizers" in rewrite.fields:
        remapping = memory = UNKNOWN
    wrong = remapping not in (UNKNOWN, "OFF") or jit not in (UNKNOWN, "OFF", "DEFAULT")
    patched = script.is_patched or (wrong and script.may_be_patched(root.place.line or 0))
    return SessionFacts(
        optimizers=(UNKNOWN, *names) if root.foreign else names,
        remapping="OFF" if patched else remapping,
        memory_optimization=memory,
        global_jit_level="OFF" if patched else jit,
        allow_soft_placement=True if patched else soft if isinstance(soft, bool) else UNKNOWN,
        place=root.place,
        places=places,
        optimizer_places=((root.place,) if root.foreign else ())
        + tuple(other.place for other in root.blocks),
    )


def _session_of_run_config(script: Script, made: Constructed) -> Optional[SessionFacts]:
    """What the script certainly says around the options of a NPURunConfig.

    NPUEstimator names the optimizers of TensorFlow that run, and does not touch XLA.
    """
    owner = part_of(made.value("session_config"), "graph_options", "optimizer_options")
    if owner is None or "global_jit_level" not in owner.assigned:
        return None
    place = owner.assigned["global_jit_level"].place
    if script.is_patched or script.may_be_patched(place.line or 0):
        return None
    return SessionFacts(
        optimizers=(UNKNOWN,),
        global_jit_level=_enum(owner.fields["global_jit_level"], _JIT),
        place=place,
        places={"global_jit_level": place},
    )


_FACTS = ("remapping", "memory_optimization", "global_jit_level", "allow_soft_placement")
_DIRECT = frozenset(("session",))


def _is_opened_here(script: Script, root: Message) -> bool:
    """True when every use of a ConfigProto is to open a session in a script that may run."""
    return (
        not root.foreign
        and (script.imports_npu_bridge or script.is_program)
        and bool(root.uses)
        and all(use.kind in _DIRECT for use in root.uses)
    )


def is_ours(block: Block) -> bool:
    """True for an entry that is, or is meant to be, the NPU's."""
    return block.is_npu or looks_like_npu(block)


def looks_like_npu(block: Block) -> bool:
    """True for an entry of another name that is meant for the NPU."""
    name = block.name
    if not isinstance(name, str) or name == NPU_OPTIMIZER or name.startswith("TensorRT"):
        return False
    return "npu" in name.lower() or any(option in OPTIONS for option in block.entries)


def variants_of(script: Script, groups: List[List[Path]]) -> List[Variant]:
    """The distinct settings of every block over all paths."""
    found: Dict[object, Tuple[Variant, List[Path]]] = {}
    runs = [path.outcome for group in groups for path in group]
    written = {each.place for run in runs for each in run.builders if each.has_writer}
    for group in groups:
        for path in group:
            for variant in _variants(script, path.outcome):
                if variant.settings.needs_files and variant.settings.place in written:
                    # one rank may write them for all
                    variant = variant._replace(
                        settings=variant.settings._replace(needs_files=False)
                    )
                key = _key(variant.settings), variant.target, variant.is_part
                if key in found:
                    found[key][1].append(path)
                else:
                    found[key] = (variant, [path])
    return [variant._replace(paths=tuple(paths)) for variant, paths in found.values()]


def _variants(script: Script, run: Run) -> Iterator[Variant]:
    """What one path sets."""
    constructed = [*run.constructed, *run.elsewhere]
    parts = blocks_of_run_configs(constructed)
    for block in run.blocks:
        if is_ours(block) and (block.entries or not block.built_in):
            yield Variant(settings_of_block(script, block), is_part=id(block) in parts)
            for entry in block.shadowed:
                setting = Setting(UNKNOWN, entry.wire, entry.place, entry.name_place)
                settings = Settings(
                    {entry.name: setting}, SourceKind.SCRIPT, open=True, place=entry.name_place
                )
                yield Variant(settings, shadowed_by=entry.shadowed_by)
    directories = directories_by_config(constructed)
    for made in constructed:
        if made.kind == "NPURunConfig":
            settings = settings_of_run_config(made, directories.get(id(made), ()))
            yield Variant(settings._replace(session=_session_of_run_config(script, made)))
    for builder in run.builders:
        yield Variant(builder.settings(), target=builder.target, is_part=builder.is_part)


def _key(settings: Settings) -> object:
    return (
        settings.place,
        settings.open,
        settings.source_kind,
        tuple(
            (name, repr(s.value), s.wire, s.place, s.above, s.content)
            for name, s in settings.entries.items()
        ),
        repr(settings.session),
        settings.needs_files,
    )


Value = Union[bool, int, float, str]
_DIGITS = re.compile("[0-9]+")


def with_fix(diagnostic: Diagnostic, path: Path, source: ScriptSource) -> Diagnostic:
    """The finding with a fix where one is safe, and without one that is not."""
    entry = entry_at(diagnostic, path.outcome)
    fix = diagnostic.fix
    if diagnostic.option is None and fix is not None:
        fix = _member(diagnostic.place, fix, source) if fix.value is not None else None
    elif fix is not None and fix.value is not None and diagnostic.name != "wrong-field":
        fix = written(diagnostic.place, fix.value, path.outcome, source)
    elif entry is not None and diagnostic.name == "wrong-field":
        fix = _other_field(entry, fix, path.outcome, source)
    elif entry is not None and diagnostic.name == "unknown-option":
        fix = _rename(entry, fix, path.outcome.blocks, source)
    elif fix is not None and diagnostic.name == "unknown-option":
        fix = fix if source.at(diagnostic.place) == diagnostic.option else None
    if fix is not None and not _is_exact(fix, source):
        fix = None
    return diagnostic if fix is diagnostic.fix else replace(diagnostic, fix=fix)


def entry_at(diagnostic: Diagnostic, run: Run) -> Optional[Entry]:
    """The assignment that a finding is about."""
    place = diagnostic.place
    return next(
        (
            entry
            for entry in run.entries_at(place)
            if entry.name == diagnostic.option and place in (entry.place, entry.name_place)
        ),
        None,
    )


def _member(place: Place, fix: Fix, source: ScriptSource) -> Optional[Fix]:
    """Write another member of the enumeration that is named at a place."""
    owner, dot, _ = source.at(place).rpartition(".")
    if not dot or not all(name.isidentifier() for name in owner.split(".")):
        return None
    text = "{}.{}".format(owner, fix.value)
    return Fix.writing(place, text)


def written(place: Place, value: Value, run: Run, source: ScriptSource) -> Optional[Fix]:
    """Write a value where a literal is that is the value of one option alone."""
    entries = [entry for entry in run.entries_at(place) if entry.place == place]
    if len({entry.name for entry in entries}) > 1 or any(entry.built_in for entry in entries):
        return None
    return Fix.writing(place, _as_in_script(source.at(place), value, in_field=bool(entries)))


_LITERAL = r"""[bBuU]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_IN_CALL = re.compile(r"((?:\w+\.)*as_bytes\(\s*){}(\s*\))\Z".format(_LITERAL))
_PLAIN = re.compile(r"(?:{}|True|False|-?[0-9]+(?:\.[0-9]*)?)\Z".format(_LITERAL))


def _as_in_script(before: str, value: Value, in_field: bool) -> Optional[str]:
    """A value in the form of the literal that it takes the place of; None for what is none."""
    call, plain = _IN_CALL.match(before), _PLAIN.match(before)
    if not call and not plain:
        return None
    if not isinstance(value, str):
        return repr(value)
    if not value.isascii() or not value.isprintable() or "\\" in value or '"' in value:
        return None
    if call:
        return '{}"{}"{}'.format(call.group(1), value, call.group(2))
    return '{}"{}"'.format("b" if in_field else "", value)


def _other_field(
    entry: Entry, fix: Optional[Fix], run: Run, source: ScriptSource
) -> Optional[Fix]:
    """Write the field that the adapter reads, and the value as it takes it.

    The option is named where the field is: otherwise the field may be that of other options, too.
    A value that is no literal stays as it is, where everything that comes to it fits.
    """
    option = OPTIONS[entry.name]
    if entry.built_in or not _names_field(entry, source):
        return None
    if source.at(entry.name_place) != entry.name:
        return None
    field = Fix.writing(
        entry.field_place,
        option.wire,
        phrase("write .{} instead of .{}", option.wire, entry.wire),
    )
    is_number = type(entry.raw) is int and entry.raw not in (0, 1)
    if fix is not None and fix.value is not None and not (entry.wire == "b" and is_number):
        value = written(entry.place, fix.value, run, source)
        if value is not None and field is not None:
            title = phrase("write .{} = {}", option.wire, value.edits[0].text)
            return Fix(title, field.edits + value.edits)
    for other in run.entries_at(entry.field_place):
        if other.field_place == entry.field_place and (
            not is_known(other.raw)
            or isinstance(objects.stored(other.raw, option.wire), Fails)
            or not _fits(other, option)
        ):
            return None
    return field


def _names_field(entry: Entry, source: ScriptSource) -> bool:
    """True when an assignment writes its field after a dot, and not as text or as an argument."""
    place = entry.field_place
    if source.at(place) != entry.wire:
        return False
    before = source.lines[(place.line or 1) - 1][: (place.column or 1) - 1].rstrip()
    if not before and place.line and place.line > 1:
        before = source.lines[place.line - 2].rstrip().rstrip("\\").rstrip()
    return before.endswith(".")


def _fits(entry: Entry, option: Option) -> bool:
    """True when the value of an assignment is legal for an option, as far as it is known."""
    if not is_known(entry.raw):
        return option.wire == entry.wire
    value = objects.stored(entry.raw, option.wire)
    if isinstance(value, Fails):
        if not isinstance(entry.raw, str) or option.wire != "s":
            return False
        value = entry.raw
    if option.wire == "b" and type(entry.raw) is int and entry.raw not in (0, 1):
        return False
    try:
        option.kind.parse(value)
    except InvalidValue:
        return False
    return True


def _rename(
    entry: Entry, fix: Optional[Fix], blocks: Sequence[Block], source: ScriptSource
) -> Optional[Fix]:
    """Rename an option; only a plain literal that holds the name alone is changed.

    What nothing read before counts from then on: the value must be legal there, and the name must
    be the only one that can be meant.
    """
    if entry.built_in or source.at(entry.name_place) != entry.name:
        return None
    if fix is not None:
        name = fix.edits[0].text
        own = [block.entries for block in blocks if entry.name in block.entries]
        if any(_is_meant(name, other) for names in own for other in names if other != entry.name):
            return None
        if _DIGITS.findall(name) != _DIGITS.findall(entry.name):
            return None
        return (
            Fix.writing(entry.name_place, name, fix.title) if _fits(entry, OPTIONS[name]) else None
        )
    name = "experimental_" + entry.name
    option = OPTIONS.get(name) if entry.name in FORMER_NAMES else None
    if option is None or option.wire != entry.wire or not _fits(entry, option):
        return None
    return Fix.writing(entry.name_place, name, phrase('rename to "{}"', name))


def _is_meant(name: str, other: str) -> bool:
    """True when another entry is the option already, or may be a slip for it, too."""
    return other == name or (other not in OPTIONS and near(other, list(OPTIONS)) == name)


def _is_exact(fix: Fix, source: ScriptSource) -> bool:
    """True when the edits count lines as every editor does, and stay within one line each."""
    return not source.has_odd_newlines and all(edit.line == edit.end_line for edit in fix.edits)
