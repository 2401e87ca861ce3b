"""NPURunConfig: what its arguments, and those of the objects inside, set."""

from collections import defaultdict
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from npu_config.catalogue import OPTIONS, Option
from npu_config.catalogue.api import (
    OPTION_OF,
    PARAMETERS,
    PARTS,
    WRITTEN_AS_TEXT,
    WRITTEN_WITHOUT_PART,
)
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.script.constants import is_known
from npu_config.script.objects import Argument, Constructed, Message, Unknown


def settings_of_run_config(made: Constructed, directories: Sequence[Argument]) -> Settings:
    """What a call of ``NPURunConfig`` sets.

    Args:
        made: the call.
        directories: the ``model_dir`` of each estimator that it is given to.
    """
    entries, extra, is_open = _read(made)
    config = made.arguments.get("session_config")
    if config is not None and config.value is not None:
        message = config.value
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
        given = made.arguments.get("session_config")
        if made.kind == "NPURunConfig" and given is not None and isinstance(given.value, Message):
            found.update(map(id, given.value.root.blocks))
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
        elif path in PARTS:
            is_open = is_open or not is_known(value)
            extra[path] = _setting(value, place, name_place)
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


def _setting(value: Any, place: Any, name_place: Any) -> Setting:
    return Setting(value if is_known(value) else UNKNOWN, None, place, name_place)
