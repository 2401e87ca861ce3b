"""Calls of npu_config itself in a script: builders, configurations that are made or loaded,
and what Python would refuse: a wrong name, argument or target.
"""

import ast
import inspect
import os
import posixpath
import re
from dataclasses import replace
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS
from npu_config.core.calls import call_faults, named_parameters
from npu_config.core.diagnostics import Fix, NpuConfigError, Place, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import MODES, NO_TARGET, PARTS, OwnTarget, Target
from npu_config.core.versions import Product
from npu_config.python_flow.scopes import literal_text
from npu_config.rules.overrides import Override, overrides_of
from npu_config.rules.own_names import hint_for_keyword
from npu_config.rules.tasks import TASKS
from npu_config.script.neighbours import OF_PATHS, above
from npu_config.script.objects import (
    Constructed,
    Loaded,
    Located,
    Message,
    Tracked,
    Unknown,
    Use,
    file_of,
    is_known,
    origins,
)
from npu_config.script.paths import Call, Run, anonymous, evaluate, identity, said
from npu_config.text.words import is_typo, meant_names, near


@declare("NPU868", Severity.ERROR, source=("docs/reference/python.md",))
def own_call_refused() -> None:
    """A call to npu_config uses a name, an argument or a target that does not exist.

    Python raises AttributeError, TypeError or ValueError when it runs this line, or the import
    raises ImportError.  ``NpuConfig`` takes a mapping of options; ``NpuConfigBuilder().set`` takes
    options by name.

    Wrong:

        from npu_config import NpuConfig
        config = NpuConfig(iterations_per_loop=10, enable_data_pre_proc=True)

    Right:

        from npu_config import NpuConfigBuilder
        config = (
            NpuConfigBuilder().set(iterations_per_loop=10, enable_data_pre_proc=True).build()
        )
    """


SIGNATURES: Mapping[str, inspect.Signature] = {
    **METHODS,
    **{name: inspect.signature(task) for name, task in TASKS.items()},
}
"""Method of NpuConfigBuilder or NpuConfig to what it takes."""


def is_ours(run: Run, call: Call) -> bool:
    """True for a call of what is imported from npu_config, and not from a file of that name.

    A name that nothing binds is npu_config's where no other module's names are all imported.
    """
    function = evaluate(run, call.node.func)
    if not isinstance(function, Unknown) or run.script.has_module("npu_config"):
        return False
    return function.path[:1] == ("npu_config",) or (
        function.path[:1] in _PUBLIC and run.script.star_imports == ["npu_config"]
    )


_PUBLIC = (("NpuConfigBuilder",), ("NpuConfig",), ("Target",))


def judge_constructor(run: Run, call: Call, name: str) -> None:
    """Note what is wrong with the arguments of a constructor of npu_config."""
    _judge(run, call, name, CONSTRUCTORS[name])
    if name == "Target":
        _judge_target(run, call)


def judge_method(run: Run, call: Call) -> None:
    """Note what is wrong with a call of a method of NpuConfigBuilder or NpuConfig."""
    if call.name in SIGNATURES:
        _judge(run, call, call.name, SIGNATURES[call.name])
    elif not call.name.startswith("_"):
        place = run.script.source.place_of_name(call.node.func)
        names = meant_names(call.name, SIGNATURES)
        meant = names[0] if len(names) == 1 else None
        help = phrase("legal: {}", listed(sorted(names or SIGNATURES)))
        _note(
            run,
            phrase('NpuConfigBuilder and NpuConfig have no method "{}"', call.name),
            place,
            meant=meant,
            help=None if meant else help,
            fix=renaming(place, call.name, meant),
            consequence="Python raises AttributeError",
        )


def judge_mapping(run: Run, value: Any, node: ast.expr) -> None:
    """Note that something else is given than a mapping of options."""
    message = phrase(
        "the options must be a mapping from name to value, not {}", type(value).__name__
    )
    help = 'write {"precision_mode": "allow_mix_precision"}'
    _note(run, message, run.place(node), help=help, consequence="Python raises TypeError")


def renaming(place: Place, name: str, meant: Optional[str]) -> Optional[Fix]:
    """The fix that writes the name that can only be meant."""
    if meant is None or not is_typo(name, meant):
        return None
    return Fix.writing(place, meant, phrase('rename to "{}"', meant))


def _note(run: Run, message: str, place: Place, **more: Any) -> None:
    run.refuse(own_call_refused.diagnostic(message, place, **more))


def _judge(run: Run, call: Call, name: str, signature: inspect.Signature) -> None:
    faults = call_faults(name, signature, len(call.args), list(call.keywords))
    names = named_parameters(signature)
    legal = listed(names) if names else "none"
    options = False
    for fault in faults:
        place = run.place(call.node)
        message = fault.message
        if fault.kind == "unknown":
            message = phrase("{}; legal: {}", message, legal)
            value = run.place(call.keywords[fault.name][1])
            place = run.script.source.keyword_place(fault.name, value)
            meant, help, is_option = hint_for_keyword(fault.name, names)
            if is_option and options:
                continue  # one call sets all of them
            options = options or is_option
            more = _correction(run, place, fault.name, meant, help)
        elif fault.kind == "missing":
            if call.open:
                continue
            more = {"help": phrase("write {}=...", fault.name)}
        else:
            place = run.place(call.args[fault.position][1])
            more = {"help": "pass it only once" if fault.kind == "twice" else "remove it"}
        _note(run, message, place, consequence="Python raises TypeError", **more)


def _correction(
    run: Run, place: Place, keyword: str, meant: Optional[str], help: Optional[str]
) -> Dict[str, Any]:
    """What to do about an argument that there is not."""
    if meant is None:
        return {"help": help or "correct the name, or remove it"}
    written = run.script.source.at(place) == keyword
    return {
        "meant": meant,
        "fix": renaming(place, keyword, meant) if written else None,
    }


def _judge_target(run: Run, call: Call) -> None:
    """Note what Target refuses: one of its values, else all of them together."""
    known: Dict[str, Any] = {}
    nodes: Dict[str, ast.expr] = {}
    for number, name in enumerate(CONSTRUCTORS["Target"].parameters):
        value, node = call.get(name, number) or (None, call.node)
        if isinstance(value, Unknown) and value.path[-2:-1] == ("Product",):
            value = getattr(Product, value.name, None)
        if value is None or not (is_known(value) or isinstance(value, Product)):
            continue
        known[name], nodes[name] = value, node
        problem = _refusal({name: value})
        if problem:
            known.pop(name)
            legal = MODES if name == "mode" else [each.value for each in Product]
            meant = near(str(value), legal) if name in ("product", "mode") else None
            _refuse(run, problem, node, meant)
    problem = _refusal(known)
    if problem:
        _refuse(run, problem, call.node)


def _refuse(run: Run, problem: str, node: ast.expr, meant: Optional[str] = None) -> None:
    help = None if meant else "pass a legal value, or remove the argument"
    raises = "Target raises ValueError"
    _note(run, problem, run.place(node), meant=meant, help=help, consequence=raises)


def _refusal(arguments: Mapping[str, Any]) -> Optional[str]:
    """Why Target refuses some arguments; None when it takes them."""
    try:
        Target(**arguments)
    except (TypeError, ValueError, AttributeError) as error:
        return error.args[0] if error.args else str(error)
    return None


_USES = ("to_config_proto", "to_run_config", "to_run_config_kwargs", "to_pbtxt", "to_bytes")


class Builder(Tracked):
    """A ``NpuConfigBuilder`` of the script, or a ``NpuConfig``.

    ``open`` is True when it may set options that could not be read, ``ours`` when it is certainly
    of npu_config.  ``is_used`` is True when it becomes something that a session takes,
    ``has_writer`` (of the copies of a configuration together) when its side files are written or
    may be, ``is_base`` when another configuration was made from it.
    """

    __slots__ = ("entries", "has_writer", "is_base", "is_used", "open", "ours", "target")

    def __init__(self, run: Run, call: Call, ours: bool, target: OwnTarget) -> None:
        super().__init__(call.node, run.place(call.node), run.tick())
        self.path = tuple(run.guards)
        self.entries: Dict[str, Setting] = {}
        self.open = call.open
        self.ours = ours
        self.target = target
        self.is_used = False
        self.is_base = False
        self.has_writer: List[bool] = []
        run.builders.append(self)

    @property
    def is_part(self) -> bool:
        """True for one that another one was made from, and that is not used itself."""
        return self.is_base and not self.is_used

    def settings(self) -> Settings:
        """What it sets."""
        needs_files = self.ours and self.is_used and not self.has_writer
        return Settings(
            dict(self.entries),
            SourceKind.BUILDER,
            open=self.open,
            place=self.place,
            needs_files=needs_files,
        )


def make(run: Run, call: Call) -> Builder:
    """``NpuConfigBuilder(...)``."""
    ours = is_ours(run, call)
    if ours:
        judge_constructor(run, call, "NpuConfigBuilder")
    return Builder(run, call, ours, _own_target(call, 0))


def from_mapping(run: Run, call: Call) -> Any:
    """``NpuConfig({...})`` and ``NpuConfig.from_dict({...})``.

    Options that are given as arguments, which Python refuses, are judged all the same.
    """
    if not is_ours(run, call):
        return anonymous(call.node)
    name = "NpuConfig.from_dict" if call.name == "from_dict" else "NpuConfig"
    judge_constructor(run, call, name)
    builder = Builder(run, call, True, _own_target(call, 1))
    options = call.get("options", 0)
    if options is not None:
        _update(run, builder, *options)
    parameters = CONSTRUCTORS[name].parameters
    _set(run, builder, {key: v for key, v in call.keywords.items() if not near(key, parameters)})
    return builder


def call_method(run: Run, builder: Builder, call: Call) -> Any:
    """``builder.method(...)``; what gives the builder, or what it has built, gives it again."""
    if builder.ours:
        judge_method(run, call)
    if call.name == "build":
        return builder
    if call.name in _USES:
        builder.is_used = True
    if call.name == "to_config_proto":
        return to_config_proto(run, builder, call)
    if call.name in ("evolve", "save_side_files"):
        builder = _copy(run, builder, call)
    if call.name in ("set", "evolve"):
        if call.open and builder.ours:
            _read_later(run, None, call.node, builder.target)
        builder.open = builder.open or call.open
        _set(run, builder, call.keywords)
        if call.name == "evolve":
            for name in [name for name, each in builder.entries.items() if each.value is None]:
                del builder.entries[name]
    elif call.name == "unset":
        builder.open = builder.open or not is_known(call.values)
        for value in call.values:
            builder.entries.pop(str(value), None)
    elif call.name == "update" and call.args:
        _update(run, builder, *call.args[0])
    elif call.name == "save_side_files":
        _save(builder, call.value("directory", 0))
    elif call.name in TASKS:
        _run_task(run, builder, call)
    elif call.name in METHODS or call.name.startswith("_") or not builder.ours:
        return anonymous(call.node)
    else:
        builder.open = True
    return builder


def _copy(run: Run, builder: Builder, call: Call) -> Builder:
    """What ``config.evolve(...)`` starts from."""
    copy = Builder(run, call, builder.ours, builder.target)
    builder.is_base = True
    copy.entries.update(builder.entries)
    copy.open, copy.has_writer = builder.open, builder.has_writer
    return copy


def evolve_loaded(run: Run, loaded: Loaded, call: Call) -> Builder:
    """``NpuConfig.load(...).evolve(...)``: what is given here, on top of what the file has."""
    builder = Builder(run, call, True, loaded.target)
    builder.open = True
    _set(run, builder, call.keywords)
    return builder


def _save(builder: Builder, directory: Any) -> None:
    """The side files are written into a directory, and the options point there."""
    builder.has_writer.append(True)
    for name, setting in builder.entries.items():
        if setting.content is not None:
            known = isinstance(directory, str) and isinstance(setting.value, str)
            path = os.path.join(directory, os.path.basename(setting.value)) if known else UNKNOWN
            builder.entries[name] = setting._replace(value=path)


def _set(run: Run, builder: Builder, options: Dict[str, Tuple[Any, ast.expr]]) -> None:
    for name, (value, node) in options.items():
        place = run.place(node)
        name_place = run.script.source.keyword_place(name, place)
        _enter(run, builder, name, value, place, name_place)


def _enter(
    run: Run,
    builder: Builder,
    name: str,
    value: Any,
    place: Place,
    name_place: Optional[Place],
) -> None:
    value = taken(run, value, is_switch(name))
    builder.entries[name] = Setting(_plain(value), None, place, name_place, file=file_of(value))
    if isinstance(value, Unknown):
        run.given.append((name, value, place, tuple(run.guards)))


def _update(run: Run, builder: Builder, value: Any, node: ast.expr) -> None:
    """Set every option of a mapping; those of what is not known may be any."""
    if isinstance(value, Builder):
        builder.entries.update(value.entries)
        builder.open = builder.open or value.open
        builder.has_writer += value.has_writer
        value.is_base = True
    elif isinstance(value, dict):
        places = dict(_places(run, node))
        whole = run.place(node), None
        for name, item in value.items():
            place, name_place = places.get(name, whole)
            _enter(run, builder, str(name), item, place, name_place)
    else:
        builder.open = True
        if is_known(value):
            judge_mapping(run, value, node)
        elif builder.ours:
            _read_later(run, value, node, builder.target)


_LATER = phrase(
    "the names of the options set here are known only at run time; these options are not checked"
)


def _read_later(run: Run, value: Any, node: ast.expr, target: OwnTarget) -> None:
    """Options that are known at run time only; those of a file that is named are checked."""
    name = file_read(run, value)
    if name is None:
        run.script.unfollowed[node] = _LATER
    else:
        run.load(name, node, True, target)


def _places(run: Run, node: ast.expr) -> Iterator[Tuple[str, Tuple[Place, Place]]]:
    """Where the value and the name of each option of a mapping stand, as far as it is literal."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            name = literal_text(key)
            if name is not None and key is not None:
                at = run.script.source.inside(run.place(key), name)
                yield name, (run.place(value), at)


def load(run: Run, call: Call) -> Any:
    """``NpuConfig.load(path)`` of a file that is named there."""
    ours = is_ours(run, call)
    if ours:
        judge_constructor(run, call, "NpuConfig.load")
    given = call.get("path", 0)
    if given is None and not call.open:
        return anonymous(call.node)
    path = None if given is None else named_file(run, given[0])
    if path is None:
        run.script.unfollowed[call.node] = phrase(
            "the file loaded here is known only at run time; its options are not checked"
        )
        return anonymous(call.node)
    loaded = run.load(path, call.node, ours, _own_target(call, 1))
    loaded.overrides = tuple(_overrides(run, call)) if ours else ()
    return loaded


def _overrides(run: Run, call: Call) -> Iterator[Override]:
    """The ``NAME=VALUE`` of ``overrides``; of one whose value is put in later the name counts."""
    given = call.get("overrides", 3)
    if given is None and not call.open:
        return
    value, node = given or (None, call.node)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)):
        run.script.unfollowed[node] = _LATER
        texts = ()
    nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else ()
    for text, at in zip(texts, nodes if len(nodes) == len(texts) else [node] * len(texts)):
        start = text if isinstance(text, str) else known_start(text)
        if "=" not in start and not isinstance(text, str):
            run.script.unfollowed[at] = _LATER
            continue
        place = run.place(at)
        try:
            for each in overrides_of([start]):
                value = each.value if isinstance(text, str) else UNKNOWN
                yield each._replace(place=place, value=value)
        except NpuConfigError as error:
            run.refuse(*(replace(each, **place._asdict()) for each in error.diagnostics))


_SAME_PATH = ("resolve", "absolute", "as_posix", "expanduser")
_JOINING = ("joinpath", "with_name", "Path", "PurePath", "PosixPath")


def named_file(run: Run, value: Any, depth: int = 12) -> Optional[str]:
    """The file that a script names, seen from its own path where it begins with ``__file__``.

    None where that is not known; of a flag or a variable of the environment its default counts.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, Unknown) or not depth:
        return None
    if value.key == "__file__":
        return run.script.source.path
    if value.flag is not None:
        default = run.script.flags.get(value.flag)
        if default is not None and isinstance(default.value, str):
            return default.value
    parts = value.parts
    if not parts:
        return None

    def inner(number: int) -> Optional[str]:
        return named_file(run, parts[number], depth - 1) if number < len(parts) else None

    if value.name == "parent":
        return _above(inner(0))
    if value.key.startswith("(") and len(parts) == 2:
        first, last = inner(0), inner(1)
        if first is None or last is None:
            return None
        if value.key.startswith(" Div ", len(identity(parts[0])) + 1):
            return posixpath.join(first, last)
        return first + last if " Add " in value.key else None
    function = parts[0]
    if not isinstance(function, Unknown):
        return None
    if function.name == "parents" and value.key.endswith("]") and type(parts[-1]) is int:
        owner = named_file(run, function.parts[0], depth - 1) if function.parts else None
        for _ in range(min(parts[-1], _MOST_LEVELS) + 1):
            owner = _above(owner)
        return owner
    given = [inner(number) for number in range(1, len(parts))]
    if function.name in ("getenv", "get") and function.key.startswith("os."):
        return given[1] if len(given) > 1 else None
    if function.name in ("joinpath", "with_name", *_SAME_PATH) and function.parts:
        owner = named_file(run, function.parts[0], depth - 1)
        given.insert(0, _above(owner) if function.name == "with_name" else owner)
    known = [each for each in given if each is not None]
    if len(known) < len(given) or not given:
        return None
    if function.key == "f-string":
        return "".join(known)
    if function.key in OF_PATHS:
        return OF_PATHS[function.key](*known)
    if function.name in _SAME_PATH:
        return known[0]
    return posixpath.join(*known) if function.name in _JOINING else None


def taken(run: Run, value: Any, is_switch: bool) -> Any:
    """What an option certainly is given, or the file that it names; arguments: :func:`said`."""
    found = said(run, value, is_switch)
    if isinstance(found, Unknown) and run.script.source.mentions("__file__"):
        inner: Any = found
        while isinstance(inner, Unknown) and inner.convert is not None:
            inner = inner.parts[-1]
        file = named_file(run, inner) if _is_fixed(run, inner) else None
        return found if file is None else Located(found, file)
    return found


def _is_fixed(run: Run, value: Any) -> bool:
    """True for a path that begins with ``__file__``, and has no part that somebody may change."""
    parts = list(origins(value))
    return any(each.key == "__file__" for each in parts) and not any(
        each.key in ("os.getenv", "os.environ.get")
        or (each.flag is not None and run.script.flags.get(each.flag) is not None)
        for each in parts
    )


def known_start(value: Any) -> str:
    """What a text that is put together certainly begins with."""
    while isinstance(value, Unknown) and value.parts:
        parts = value.parts
        value = parts[1] if getattr(parts[0], "key", "") == "f-string" else parts[0]
    return re.split("[%{]", value)[0] if isinstance(value, str) else ""


def file_read(run: Run, value: Any) -> Optional[str]:
    """The file that a value was read from, where the script names one."""
    for each in origins(value):
        function = each.parts[0] if each.parts else None
        if isinstance(function, Unknown) and function.name in ("open", "GFile", "FastGFile"):
            return named_file(run, each.parts[1]) if len(each.parts) > 1 else None
        if isinstance(function, Unknown) and function.name in ("read_text", "read_bytes"):
            return named_file(run, function.parts[0]) if function.parts else None
    return None


_MOST_LEVELS = 40


def _above(path: Optional[str]) -> Optional[str]:
    return None if path is None else above(path)


def to_config_proto(run: Run, owner: Tracked, call: Call) -> Message:
    """``config.to_config_proto(base)``: what is done with the result is done with the owner."""
    message = run.new_message("ConfigProto", call.node, foreign=True)
    message.uses = owner.uses
    base = call.value("base", 0)
    if isinstance(base, Message):
        base.uses.append(Use(call.name, run.place(call.node), run.tick()))
    return message


def is_switch(name: str) -> bool:
    """True for an option that is a bool."""
    return name in OPTIONS and OPTIONS[name].wire == "b"


def _plain(value: Any) -> Any:
    return value if is_known(value) else UNKNOWN


def _run_task(run: Run, builder: Builder, call: Call) -> None:
    """A method that is a task, when its arguments are known."""
    if call.open or not is_known(call.given):
        builder.open = True
        return
    try:
        task = TASKS[call.name](*call.values, **call.named)
    except (TypeError, ValueError):
        builder.open = True
        return
    start = run.script.source.place_of_name(call.node.func)
    place = run.place(call.node)._replace(line=start.line, column=start.column)
    for name in task.removed:
        builder.entries.pop(name, None)
    for name, value in task.options.items():
        file = task.side_files.get(name)
        content = None if file is None else file.text
        builder.entries[name] = Setting(value, None, place, content=content)
    if builder.ours:
        for name, faults in task.refused.items():
            run.refuse(*(fault.in_option(name, place) for fault in faults))


_UNREADABLE = OwnTarget(None, frozenset(PARTS))
_PART_OF = {"cann": "version", "adapter": "version"}


def _own_target(call: Call, position: int) -> OwnTarget:
    """The target that a call is given, as far as it is written out."""
    value = call.value("target", position)
    if value is None:
        return _UNREADABLE if call.open and call.get("target", position) is None else NO_TARGET
    if not isinstance(value, Constructed) or value.kind != "Target":
        return _UNREADABLE
    known: Dict[str, Any] = {}
    unreadable: Set[str] = set()
    for name, argument in value.arguments.items():
        item = argument.value
        if isinstance(item, Unknown) and item.path[-2:-1] == ("Product",):
            item = getattr(Product, item.name, item)
        if item is None or isinstance(item, (str, Product)):
            known[name] = item
        else:
            unreadable.add(_PART_OF.get(name, name))
    if value.open:
        unreadable.update(set(PARTS) - {_PART_OF.get(name, name) for name in known})
    if "version" in unreadable:
        known = {name: item for name, item in known.items() if name not in _PART_OF}
    try:
        return OwnTarget(Target.named(**known), frozenset(unreadable))
    except (TypeError, ValueError):
        return _UNREADABLE
