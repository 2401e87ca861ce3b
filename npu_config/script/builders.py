"""Calls of npu_config itself in a script: the builder, and configurations that are loaded."""

from typing import Any, Dict, Optional

from npu_config.core.diagnostics import Place
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import Product, Target
from npu_config.rules.tasks import Tasks
from npu_config.script.constants import is_known
from npu_config.script.objects import Constructed, Loaded, Message, Tracked, Unknown
from npu_config.script.state import Call, Run, anonymous


class Builder(Tracked):
    """A ``NpuConfigBuilder`` of the script.

    ``open`` is True when it may set options that could not be read.
    """

    __slots__ = ("entries", "open", "target")

    def __init__(self, run: Run, call: Call) -> None:
        super().__init__(call.node, run.place(call.node), run.tick())
        self.path = tuple(run.guards)
        self.entries: Dict[str, Setting] = {}
        self.open = call.open
        self.target = _target(call.value("target", 0))

    def settings(self) -> Settings:
        """What it sets."""
        return Settings(dict(self.entries), SourceKind.BUILDER, open=self.open, place=self.place)


def make(run: Run, call: Call) -> Builder:
    """``NpuConfigBuilder(...)``."""
    builder = Builder(run, call)
    run.builders.append(builder)
    return builder


def call_method(run: Run, builder: Builder, call: Call) -> Any:
    """``builder.method(...)``; everything but ``build`` gives the builder again."""
    if call.name == "build":
        return builder
    if call.name == "to_config_proto":
        return to_config_proto(run, builder, call)
    if call.name == "set":
        builder.open = builder.open or call.open
        for name, (value, node) in call.keywords.items():
            place = run.place(node)
            name_place = run.script.source.keyword_place(name, place)
            builder.entries[name] = Setting(_plain(value), None, place, name_place)
    elif call.name == "unset" and is_known([value for value, _ in call.args]):
        for value, _ in call.args:
            builder.entries.pop(str(value), None)
    elif call.name == "update" and call.args and isinstance(call.args[0][0], dict):
        value, node = call.args[0]
        for name, item in value.items():
            builder.entries[str(name)] = Setting(_plain(item), None, run.place(node))
    elif call.name.startswith("_") or not hasattr(Tasks, call.name):
        return anonymous(call.node)
    else:
        _run_task(run, builder, call)
    return builder


def load(run: Run, call: Call) -> Any:
    """``NpuConfig.load(path)`` of a file that is named there."""
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
    """A task method: asked of a real builder, when its arguments are known."""
    values = [value for value, _ in call.args]
    keywords = {name: value for name, (value, _) in call.keywords.items()}
    scratch = Tasks()
    if call.open or not is_known(values) or not is_known(keywords):
        builder.open = True
        return
    try:
        getattr(scratch, call.name)(*values, **keywords)
    except (TypeError, ValueError):
        builder.open = True
        return
    place = _method_place(run, call)
    for name, setting in scratch.entries.items():
        builder.entries[name] = Setting(setting.value, None, place)


def _method_place(run: Run, call: Call) -> Place:
    """Where a method is called: its name and its arguments, without what it is called on."""
    name, whole = run.place(call.node.func), run.place(call.node)
    column = (name.end_column or 1) - len(call.name)
    return whole._replace(line=name.end_line, column=column)


def _target(value: Any) -> Optional[Target]:
    """The target that a builder is given, when it is written out."""
    if not isinstance(value, Constructed) or value.kind != "Target":
        return None
    arguments: Dict[str, Any] = {}
    for name, argument in value.arguments.items():
        item = argument.value
        if isinstance(item, Unknown) and item.path[-2:-1] == ("Product",):
            item = getattr(Product, item.name, None)
        elif not isinstance(item, str):
            return None
        arguments[name] = item
    try:
        return Target.named(**arguments)
    except (TypeError, ValueError):
        return None
