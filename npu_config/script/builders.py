"""Calls of npu_config itself in a script: builders, and configurations that are made or loaded."""

import ast
import os
from typing import Any, Dict, Iterator, List, Set, Tuple

from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS
from npu_config.core.diagnostics import Place
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import NO_TARGET, PARTS, OwnTarget, Product, Target
from npu_config.rules.tasks import TASKS
from npu_config.script.constants import is_known
from npu_config.script.objects import Constructed, Loaded, Message, Tracked, Unknown
from npu_config.script.own_calls import (
    is_ours,
    judge_constructor,
    judge_mapping,
    judge_method,
    name_place,
)
from npu_config.script.scopes import literal_text
from npu_config.script.state import Call, Run, anonymous
from npu_config.text.words import near

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
        builder.open = builder.open or call.open
        _set(run, builder, call.keywords)
        if call.name == "evolve":
            for name in [name for name, each in builder.entries.items() if each.value is None]:
                del builder.entries[name]
    elif call.name == "unset":
        builder.open = builder.open or not is_known([value for value, _ in call.args])
        for value, _ in call.args:
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
        builder.entries[name] = Setting(_plain(value), None, place, name_place)


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
            builder.entries[str(name)] = Setting(_plain(item), None, place, name_place)
    else:
        builder.open = True
        if is_known(value):
            judge_mapping(run, value, node)


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
    if is_ours(run, call):
        judge_constructor(run, call, "NpuConfig.load")
    path = call.value("path", 0)
    if not isinstance(path, str):
        return anonymous(call.node)
    loaded = Loaded(path, call.node, run.place(call.node), run.tick())
    loaded.path = tuple(run.guards)
    run.loaded.append(loaded)
    return loaded


def to_config_proto(run: Run, owner: Tracked, call: Call) -> Message:
    """``config.to_config_proto(base)``: what is done with the result is done with the owner."""
    message = run.new_message("ConfigProto", call.node, foreign=True)
    message.uses = owner.uses
    return message


def _plain(value: Any) -> Any:
    return value if is_known(value) else UNKNOWN


def _run_task(run: Run, builder: Builder, call: Call) -> None:
    """A method that is a task, when its arguments are known."""
    values = [value for value, _ in call.args]
    keywords = {name: value for name, (value, _) in call.keywords.items()}
    if call.open or not is_known(values) or not is_known(keywords):
        builder.open = True
        return
    try:
        task = TASKS[call.name](*values, **keywords)
    except (TypeError, ValueError):
        builder.open = True
        return
    start = name_place(run, call)
    place = run.place(call.node)._replace(line=start.line, column=start.column)
    for name in task.removed:
        builder.entries.pop(name, None)
    for name, value in task.options.items():
        file = task.side_files.get(name)
        content = None if file is None else file.text
        builder.entries[name] = Setting(value, None, place, content=content)
    if builder.ours:
        guards = tuple(run.guards)
        for name, faults in task.refused.items():
            run.refused += [(fault.in_option(name, place), guards) for fault in faults]


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
