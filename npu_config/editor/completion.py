"""What may be written at a place: names and values of options, keys, variables, rules, files."""

import ast
import contextlib
import inspect
import json
import os
import re
from itertools import islice
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS, Option
from npu_config.catalogue.api import OPTION_OF, PARAMETERS, PARTS
from npu_config.catalogue.kinds import FilePath
from npu_config.catalogue.layout import EXTENDS, GROUP_OF_KEY, GROUPS, HEADER_KEYS, TARGET_KEYS
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import localized
from npu_config.editor.cursor import Slot, call_at, kind_of, slot_at
from npu_config.editor.keys import CONFIGURATIONS, described, schema_at, schema_of, values_of
from npu_config.judging.comments import open_list
from npu_config.launch.environment.variables import VARIABLES
from npu_config.rules.tasks import TASKS, summary_of
from npu_config.sidefiles.customize_dtypes import DTYPES, KEYWORDS, TYPE
from npu_config.sidefiles.fusion_switch import ALL, FUSIONS, SWITCH
from npu_config.sidefiles.op_precision import BY_NAME, BY_TYPE, MODES
from npu_config.sidefiles.schema.kinds import Schema
from npu_config.writers import scalar

__all__ = ["Suggestion", "complete", "value_at"]

_MAP_NAME = lazy_pattern(r"""parameter_map[ \t]*\[[ \t]*(?:b?)(["'])(\w*)\Z""")
_MAP_FIELD = lazy_pattern(r"""parameter_map[ \t]*\[[ \t]*["'](\w+)["'][ \t]*\][ \t]*\.(\w*)\Z""")
_MAP_VALUE = lazy_pattern(
    r"""parameter_map[ \t]*\[[ \t]*["'](\w+)["'][ \t]*\][ \t]*\.\w+[ \t]*=[ \t]*"""
    r"""(?:[\w.]+\([ \t]*)?(?:b?)(["']?)([\w./~@+-]*)\Z"""
)
_ARGUMENT = lazy_pattern(r"(?<![^,(])\s*(\w*)\Z")
_ARGUMENT_VALUE = lazy_pattern(r"""\b(\w+)[ \t]*=[ \t]*(["']?)([\w./~@+-]*)\Z""")
_DICT_KEY = lazy_pattern(r"""[{,]\s*(["'])(\w*)\Z""")
_DICT_VALUE = lazy_pattern(r"""(["'])(\w+)\1[ \t]*:[ \t]*(["']?)([\w./~@+-]*)\Z""")
_METHOD = lazy_pattern(r"\.(\w*)\Z")
_PROTO_KEY = lazy_pattern(r"""\bkey[ \t]*:[ \t]*(["'])(\w*)\Z""")
_PROTO_VALUE = lazy_pattern(
    r"""\bkey[ \t]*:[ \t]*["'](\w+)["'][^}]{0,200}\b[sbi][ \t]*:[ \t]*(["']?)([\w./~@+-]*)\Z"""
)
_PROTO_FIELD = lazy_pattern(
    r"""\bkey[ \t]*:[ \t]*["'](\w+)["'][^}]{0,200}\bvalue[ \t:]*\{\s*(\w*)\Z"""
)
_ENVIRON = lazy_pattern(
    r"""(?:\benviron(?:\[|\.\w+\()|\bgetenv\()[ \t]*(["'])(\w*)(?:\Z|\1\][ \t]*=[ \t]*(["']?)"""
    r"""([\w./~@+-]*)\Z)"""
)
_NAMES_NPU = lazy_pattern(r"npu_(?:bridge|config)|NpuOptimizer|HCCL_|ASCEND_")
_LOADED = lazy_pattern(r"""\s*(["'])([\w./~@+-]*)\Z""")
_PASSED = lazy_pattern(r"(?<!\S)(?:-[ex]|--env)[ \t=](\w*)\Z")
_EXPANDED = lazy_pattern(r"\$\{?(\w*)\Z")
_EXPORT = lazy_pattern(
    r"(?:\A|[;&|({])[ \t]*((?:export|declare[ \t]+-x|env|ENV)[ \t]+)?(?:\w+=\S*[ \t]+)*(\w*)\Z"
)
_EXPORTED = lazy_pattern(r"""(?<![^\s;])(\w+)=(["']?)([\w./-]*)\Z""")
_LINE_KEY = lazy_pattern(r"[ \t]*(\w*)\Z")
_LINE_VALUE = lazy_pattern(r"""[ \t]*(\w+)[ \t]*[=:][ \t]*(["']?)(?:[\w]+,)*(\w*)\Z""")
_PRECISION_HEADER = lazy_pattern(r"[ \t]*\[(\w*)\Z")
_PRECISION_MODE = lazy_pattern(r"[^=#]+=[ \t]*(\w*)\Z")
_DTYPE = lazy_pattern(r"[^:]+:(.*[:,])?(\w*)\Z")
_SWITCHED = lazy_pattern(r"\w+[ \t]*:[ \t]*(\w*)\Z")
_REST = lazy_pattern(r"[\w-]*")
_REST_OF_FILE = lazy_pattern(r"[\w.@+-]*")
_PLAIN_NAME = lazy_pattern(r"[\w.@+-]+\Z")
_TYPED = 2
"""Letters of a variable's name that are typed before a line that may be any command is one."""

_LONGEST = 1000
"""Characters of a line of a shell in which a name of a variable is proposed."""

MAP = "parameter_map"
CALLS_WITH_OPTIONS = ("set", "evolve")
DICTS_WITH_OPTIONS = ("NpuConfig", "from_dict", "update", "set")
_PATHS = (EXTENDS, "rank_table_file", "RANK_TABLE_FILE")
"""What takes the path of a file, but for those whose kind says so."""

_MOST_FILES = 1000


class Suggestion(NamedTuple):
    """One thing that may be written.

    Args:
        label: its name.
        text: what is written in the place of the word that stands there.
        what: ``"option"``, ``"value"``, ``"group"``, ``"key"``, ``"variable"``, ``"rule"``,
            ``"method"``, ``"file"`` or ``"folder"``.
        detail: a few words beside the name.
        page: the name of its page; empty for one without.
        deprecated: whether it should not be used any more.
    """

    label: str
    text: str
    what: str
    detail: str = ""
    page: str = ""
    deprecated: bool = False


class Completion(NamedTuple):
    """Items, and how many characters before and after the cursor one of them replaces."""

    length: int = 0
    items: Tuple[Suggestion, ...] = ()
    after: int = 0


def complete(
    path: str, text: str, offset: int, rules: Sequence[Tuple[str, str]] = ()
) -> Completion:
    """What may be written at an offset of a text.

    Args:
        path: the file.
        text: the text.
        offset: where the cursor is.
        rules: id and name of every rule.
    """
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    found = _complete(path, text, offset, text[start:offset], rules)
    return _whole(found, text, offset) if found.items else found


def _whole(found: Completion, text: str, offset: int) -> Completion:
    """The items in the place of the whole word that the cursor is in, not of its beginning."""
    names_files = any(each.what in ("file", "folder") for each in found.items)
    rest = (_REST_OF_FILE if names_files else _REST).match(text, offset)
    end = offset if rest is None else rest.end()
    if not found.length and text[end : end + 1] in (".", "("):  # an expression of Python
        end = offset
    sign = text[end : end + 80].lstrip(" \t")[:1]
    if sign not in ("=", ":", "/"):
        return found._replace(after=end - offset)
    items = (
        each._replace(text=each.text.rstrip()[:-1].rstrip())
        if each.text.rstrip().endswith(sign)
        else each
        for each in found.items
    )
    return Completion(found.length, tuple(items), end - offset)


def _complete(
    path: str, text: str, offset: int, line: str, rules: Sequence[Tuple[str, str]]
) -> Completion:
    """What may be written, after the beginning of a line."""
    ignored = open_list(line)
    if ignored is not None:
        found = [Suggestion(id, id, "rule", name, id) for id, name in rules]
        found += [Suggestion(name, name, "rule", id, id) for id, name in rules]
        return _matching(ignored.rpartition(",")[2].lstrip(), found)
    kind = kind_of(path, text)
    if kind == "script":
        return _in_script(path, text, offset, line)
    if kind == "pbtxt":
        return _in_proto(path, text[max(0, offset - 400) : offset], line)
    if kind == "shell" or path.endswith(".env"):
        return _in_shell(path, text, line)
    if kind in _IN_LINES:
        return _IN_LINES[kind](line)
    schema = None if kind in CONFIGURATIONS else schema_of(kind, text)
    if kind not in CONFIGURATIONS and schema is None:
        return Completion()
    slot = slot_at(kind, text, offset)
    if slot is not None:
        rest = _REST.sub("", text[offset : offset + 80], 1)
        return _in_config(path, kind or "", slot, text, rest, schema)
    if kind == "fusion_switch":
        switched = _SWITCHED.match(line)
        return Completion() if switched is None else _words(switched.group(1), SWITCH)
    return Completion() if schema is None else _in_lines(schema, line)


def _matching(word: str, items: Sequence[Suggestion]) -> Completion:
    """The items that a word may become; the editor sorts out the rest."""
    first = word[:1].lower()
    found = tuple(each for each in items if not first or first in each.label.lower())
    return Completion(len(word), found)


def _words(word: str, texts: Iterable[str]) -> Completion:
    """Texts that a word may become."""
    return _matching(word, [Suggestion(each, each, "value") for each in texts])


def _is_path(name: str) -> bool:
    """Whether an option, a key or a variable takes the path of a file or directory."""
    declared = OPTIONS.get(name) or VARIABLES.get(name)
    return name in _PATHS or (declared is not None and isinstance(declared.kind, FilePath))


def _files(path: str, word: str, around: str = "{}") -> Completion:
    """What is in the folder that the path which is being written leads to.

    Args:
        path: the file that it is written in; it begins there, or in the working directory.
        word: what is written of it.
        around: what is written around the name.
    """
    folder, last = os.path.split(word)
    found: Dict[str, Suggestion] = {}
    for base in (os.path.dirname(path), os.curdir):
        here = os.path.join(base, os.path.expanduser(folder))
        with contextlib.suppress(OSError, ValueError), os.scandir(here) as entries:
            for entry in islice(entries, _MOST_FILES):
                hidden = entry.name.startswith(".") and not last.startswith(".")
                if hidden or _PLAIN_NAME.match(entry.name) is None:
                    continue
                is_folder = entry.is_dir()
                name = entry.name + "/" if is_folder else entry.name
                item = Suggestion(name, around.format(name), "folder" if is_folder else "file")
                found.setdefault(name, item)
    return _matching(last, [found[name] for name in sorted(found)])


def _options(ends: str = "", names: Optional[Sequence[str]] = None) -> Iterator[Suggestion]:
    """Options by their names; those that are not to be used last."""
    for name in OPTIONS if names is None else names:
        option = OPTIONS[name]
        gone = option.is_outdated
        if option.offered or gone:
            yield Suggestion(name, name + ends, "option", localized(option.summary), name, gone)


def _in_config(
    path: str, kind: str, slot: Slot, text: str, rest: str, schema: Optional[Schema]
) -> Completion:
    """Keys and values of a configuration, a side file or a rank table."""
    if schema is None and slot.keys[:1] and slot.keys[-1] == "profiling_options":
        schema, slot = schema_of("profiling"), slot._replace(keys=())
    if slot.key is not None and _is_path(slot.key):
        bare = slot.quote or kind == "yaml"
        return _files(path, slot.word, "{}" if bare or slot.word else '"{}"')
    if slot.key is not None:
        values = values_of((*slot.keys, slot.key), schema)
        found = [_value(value, kind, slot.quote, slot.key) for value in values]
        return _matching(slot.word, found)
    if slot.header:
        return _matching(slot.word, [*_groups(""), Suggestion("target", "target", "group")])
    ends = _ends(kind, slot.quote, rest)
    if schema is not None:
        inner = schema_at(schema, slot.keys)
        keys = {} if inner is None else inner.keys
        found = [
            Suggestion(name, _quoted(name, kind, slot.quote) + ends, "key", described(key.kind))
            for name, key in keys.items()
        ]
        if kind == "fusion_switch" and slot.keys[-1:] and slot.keys[-1] in FUSIONS and not keys:
            found.append(Suggestion(ALL, _quoted(ALL, kind, slot.quote) + ends, "key"))
        return _matching(slot.word, found)
    found = list(_config_keys(slot.keys, kind))
    written = set(re.findall(r"""^[ \t]*["']?([\w-]+)["']?[ \t]*[:=]""", text, re.M))
    return _matching(
        slot.word,
        [
            each._replace(text=_quoted(each.text, kind, slot.quote) + _end_of(each, ends))
            for each in found
            if each.label not in written
        ],
    )


def _end_of(item: Suggestion, ends: str) -> str:
    return ends.rstrip() if item.what == "group" else ends


def _config_keys(keys: Tuple[str, ...], kind: str) -> Iterator[Suggestion]:
    """The keys that a configuration may have below some keys."""
    if keys == ("target",):
        yield from (Suggestion(name, name, "key") for name in TARGET_KEYS)
    elif len(keys) == 1 and keys[0] in GROUP_OF_KEY:
        yield from _options(names=GROUP_OF_KEY[keys[0]].options)
    elif not keys:
        yield from (Suggestion(name, name, "key") for name in HEADER_KEYS if name != "target")
        if kind != "toml":
            yield Suggestion("target", "target", "group")
            yield from _groups("")
        yield from _options()


def _groups(ends: str) -> Iterator[Suggestion]:
    for group in GROUPS:
        yield Suggestion(group.key, group.key + ends, "group", localized(group.title))


def _ends(kind: str, quote: str, rest: str) -> str:
    """What follows a key that is completed, unless it is there."""
    if quote or rest.lstrip(" \t\"'")[:1] in (":", "="):
        return ""
    return " = " if kind == "toml" else ": "


def _quoted(name: str, kind: str, quote: str) -> str:
    return name if quote or kind in ("yaml", "toml") else json.dumps(name)


def _value(value: Any, kind: str, quote: str, name: str) -> Suggestion:
    """A value as a format writes it."""
    if quote:
        text = _spelt(value)
    elif kind == "yaml":
        text = scalar(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return Suggestion(_spelt(value), text, "value", page=name)


def _spelt(value: Any) -> str:
    """A value as files spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _in_lines(schema: Schema, line: str) -> Completion:
    """Keys and values of a side file of lines."""
    value = _LINE_VALUE.match(line)
    if value is not None:
        return _words(value.group(3), map(_spelt, values_of((value.group(1),), schema)))
    key = _LINE_KEY.match(line)
    if key is None:
        return Completion()
    found = [Suggestion(name, name, "key", described(k.kind)) for name, k in schema.keys.items()]
    return _matching(key.group(1), found)


def _in_precision(line: str) -> Completion:
    """Sections and modes of an operator precision file."""
    header, mode = _PRECISION_HEADER.match(line), _PRECISION_MODE.match(line)
    if header is not None:
        return _words(header.group(1), (BY_TYPE[1:], BY_NAME[1:]))
    return Completion() if mode is None else _words(mode.group(1), MODES)


def _in_dtypes(line: str) -> Completion:
    """The parts of a line of a data type file."""
    found = _DTYPE.match(line)
    if found is None:
        return _words(line, (TYPE,)) if line.isalpha() or not line else Completion()
    names = [each for each in KEYWORDS if each not in line]
    if not any(each in line for each in KEYWORDS):
        return _words(found.group(2), [each + ":" for each in names])
    after = [each + ":" for each in names if each == KEYWORDS[1]]
    return _words(found.group(2), [*DTYPES, *after])


_IN_LINES = {"op_precision": _in_precision, "customize_dtypes": _in_dtypes}


def _in_script(path: str, text: str, offset: int, line: str) -> Completion:
    """Options and their values in the calls of Python that take them."""
    variable = _ENVIRON.search(line)
    if variable is not None and _NAMES_NPU.search(text) is not None:
        if variable.group(4) is None:
            return _matching(variable.group(2), list(_variables()))
        around = "{}" if variable.group(3) else '"{}"'
        return _variable_values(path, variable.group(2), variable.group(4), around)
    name = _MAP_NAME.search(line)
    if name is not None:
        return _matching(name.group(2), list(_options()))
    field = _MAP_FIELD.search(line)
    if field is not None and field.group(1) in OPTIONS:
        return _field(field.group(1), field.group(2), " = ")
    value = _MAP_VALUE.search(line)
    if value is not None and value.group(1) in OPTIONS:
        as_bytes = "" if value.group(2) or "as_bytes(" in line else "tf.compat.as_bytes({})"
        return _python_values(path, value.group(1), value.group(2), value.group(3), as_bytes)
    before = text[max(0, offset - 20000) : offset]
    call, _, arguments = call_at(before)
    called = call.lstrip(".")
    if called in PARAMETERS or called in (*CALLS_WITH_OPTIONS, *DICTS_WITH_OPTIONS):
        return _in_call(path, called, arguments)
    if called == "Target":
        return _in_target(path, arguments)
    if call[:1] == "." and called in TASKS and "NpuConfigBuilder" in text:
        return _in_task(path, called, arguments)
    loaded = _LOADED.match(arguments)
    if loaded is not None and called == "load" and "npu_config" in text:
        return _files(path, loaded.group(2))
    method = _METHOD.search(line)
    if method is not None and _is_builder(before[: len(before) - len(method.group())]):
        return _matching(method.group(1), list(_methods()))
    return Completion()


def _field(option: str, word: str, ends: str) -> Completion:
    """The field of an AttrValue that an option is written to."""
    wire = OPTIONS[option].wire
    return _matching(word, [Suggestion(wire, wire + ends, "key", page=option)])


def _in_target(path: str, arguments: str) -> Completion:
    """Arguments of a Target, and their values."""
    value, name = _ARGUMENT_VALUE.search(arguments), _ARGUMENT.search(arguments)
    if value is not None:
        return _python_values(path, "target." + value.group(1), value.group(2), value.group(3))
    if name is None:
        return Completion()
    return _matching(name.group(1), [Suggestion(key, key + "=", "key") for key in TARGET_KEYS])


def _in_call(path: str, called: str, arguments: str) -> Completion:
    """Arguments of a call, or keys of the dictionary in it, and their values."""
    key = _DICT_KEY.search(arguments)
    if key is not None and called in DICTS_WITH_OPTIONS:
        return _matching(key.group(2), list(_options()))
    entry = _DICT_VALUE.search(arguments)
    if entry is not None and called in DICTS_WITH_OPTIONS:
        return _python_values(path, entry.group(2), entry.group(3), entry.group(4))
    value = _ARGUMENT_VALUE.search(arguments)
    if value is not None:
        name = _option_of(called, value.group(1))
        return _python_values(path, name, value.group(2), value.group(3))
    argument = _ARGUMENT.search(arguments)
    if argument is None:
        return Completion()
    if called in CALLS_WITH_OPTIONS:
        return _matching(argument.group(1), list(_options("=")))
    given = set(re.findall(r"(\w+)[ \t]*=[^=]", arguments))
    found = [
        _argument(each, OPTIONS.get(_option_of(called, each)))
        for each in PARAMETERS.get(called, ())
        if each not in given
    ]
    return _matching(argument.group(1), found)


def _in_task(path: str, name: str, arguments: str) -> Completion:
    """Arguments of a method of the builder that does a task, and their values."""
    found: Dict[str, Optional[inspect.Parameter]] = {}
    found.update(inspect.signature(TASKS[name]).parameters)
    if found.pop("options", None) is not None:
        options = schema_of("profiling")
        found.update(dict.fromkeys({} if options is None else options.keys))
    value, first = _ARGUMENT_VALUE.search(arguments), _LOADED.match(arguments)
    if value is not None:
        return _of_task(path, value.group(1), found.get(value.group(1)), *value.groups()[1:])
    if first is not None:
        return _of_task(path, "", next(iter(found.values())), *first.groups())
    argument = _ARGUMENT.search(arguments)
    if argument is None:
        return Completion()
    given = set(re.findall(r"(\w+)[ \t]*=[^=]", arguments))
    names = [Suggestion(each, each + "=", "option") for each in found if each not in given]
    return _matching(argument.group(1), names)


def _of_task(
    path: str, name: str, parameter: Optional[inspect.Parameter], quote: str, word: str
) -> Completion:
    """Values of an argument; one without a declaration is a key of the profiling options."""
    if parameter is None:
        return _python_items(values_of((name,), schema_of("profiling")), quote, word)
    takes = str(parameter.annotation)
    if "Directory" in takes:
        return _files(path, word, "{}" if quote or word else '"{}"')
    return _python_items(list(_taken(takes)), quote, word)


def _taken(annotation: str) -> Iterator[Any]:
    """The values that an annotation, as it is written, lists."""
    listed = annotation.partition("Literal[")[2].partition("]")[0]
    if listed:
        yield from ast.literal_eval("({},)".format(listed))
    elif annotation in ("bool", "Optional[bool]"):
        yield from (True, False)
    elif annotation in ("PrecisionMode", "MixedMode"):
        for name in ("precision_mode", "precision_mode_v2"):
            yield from (v for v in values_of((name,)) if annotation[0] == "P" or "mix" in v)


def value_at(text: str, end: int) -> Tuple[str, str]:
    """Whose value a word of a script that ends there is: the call, and the argument or option."""
    before = text[max(0, end - 20000) : end]
    value = _MAP_VALUE.search(before[before.rfind("\n") + 1 :])
    called, name, quote, word = "", "", "", ""
    if value is not None:
        called, (name, quote, word) = MAP, value.groups()
    else:
        call, _, arguments = call_at(before)
        called = call.lstrip(".")
        entry = _DICT_VALUE.search(arguments) if called in DICTS_WITH_OPTIONS else None
        argument = _ARGUMENT_VALUE.search(arguments)
        if entry is not None:
            _, name, quote, word = entry.groups()
        elif argument is not None and (called in PARAMETERS or called in CALLS_WITH_OPTIONS):
            name, quote, word = argument.groups()
    if quote or word in ("True", "False") or word[:1].isdecimal():
        return called, name
    return "", ""


def _argument(name: str, option: Optional[Option]) -> Suggestion:
    if option is None:
        return Suggestion(name, name + "=", "option")
    return Suggestion(name, name + "=", "option", localized(option.summary), option.name)


def _option_of(called: str, argument: str) -> str:
    """The option that an argument of a call sets."""
    for part, class_ in PARTS.items():
        if class_ == called:
            return OPTION_OF.get("{}.{}".format(part, argument), argument)
    return OPTION_OF.get(argument, argument)


def _python_values(path: str, name: str, quote: str, word: str, around: str = "") -> Completion:
    """Values of an option, or of ``target.NAME``, as Python writes them."""
    if _is_path(name):
        whole = "{}" if quote or word else (around or "{}").format('"{}"')
        return _files(path, word, whole)
    return _python_items(values_of(name.split(".")), quote, word, around, name)


def _python_items(
    values: Iterable[Any], quote: str, word: str, around: str = "", name: str = ""
) -> Completion:
    """Values as Python writes them."""
    found: List[Suggestion] = []
    for value in values:
        text = repr(value) if not isinstance(value, str) else json.dumps(value)
        if quote:
            text = str(value)
        elif around and isinstance(value, str):
            text = around.format(text)
        found.append(Suggestion(str(value), text, "value", page=name))
    return _matching(word, found)


def _is_builder(before: str) -> bool:
    """Whether the chain of calls at the end of a text begins at a builder."""
    tail = before.rstrip()
    while tail.endswith(")"):
        call, ahead, _ = call_at(tail[:-1])
        if call in ("NpuConfigBuilder", ".NpuConfigBuilder"):
            return True
        if not call.startswith("."):
            return False
        tail = ahead.rstrip()
        tail = tail[: len(tail) - len(call)].rstrip()
    return tail.endswith("builder")


def _methods() -> Iterator[Suggestion]:
    for name, task in TASKS.items():
        yield Suggestion(
            name, name, "method", localized(summary_of(task)), "NpuConfigBuilder." + name
        )
    for name in ("set", "build"):
        yield Suggestion(name, name, "method")


def _in_proto(path: str, before: str, line: str) -> Completion:
    key = _PROTO_KEY.search(line)
    if key is not None:
        return _matching(key.group(2), list(_options()))
    field = _PROTO_FIELD.search(before)
    if field is not None and field.group(1) in OPTIONS:
        return _field(field.group(1), field.group(2), ": ")
    value = _PROTO_VALUE.search(before)
    if value is None or value.group(1) not in OPTIONS:
        return Completion()
    option = value.group(1)
    if _is_path(option):
        return _files(path, value.group(3), "{}" if value.group(2) or value.group(3) else '"{}"')
    found = [_value(each, "pbtxt", value.group(2), option) for each in values_of((option,))]
    return _matching(value.group(3), found)


def _in_shell(path: str, text: str, line: str) -> Completion:
    passed = _PASSED.search(line)
    if passed is not None:
        return _matching(passed.group(1), list(_variables()))
    expanded = _EXPANDED.search(line)
    if expanded is not None:
        if len(expanded.group(1)) < _TYPED or _NAMES_NPU.search(text) is None:
            return Completion()
        return _matching(expanded.group(1), list(_variables()))
    value = _EXPORTED.search(line)
    if value is not None:
        return _variable_values(path, value.group(1), value.group(3))
    name = _EXPORT.search(line) if len(line) <= _LONGEST else None
    if name is None or (name.group(1) is None and len(name.group(2)) < _TYPED):
        return Completion()
    return _matching(name.group(2), list(_variables("=")))


def _variables(ends: str = "") -> Iterator[Suggestion]:
    for each in VARIABLES.values():
        yield Suggestion(
            each.name, each.name + ends, "variable", localized(each.meaning), each.name
        )


def _variable_values(path: str, name: str, word: str, around: str = "{}") -> Completion:
    if _is_path(name):
        return _files(path, word, "{}" if word else around)
    variable = VARIABLES.get(name)
    texts = [] if variable is None else map(str, variable.kind.schema().get("enum", ()))
    found = [Suggestion(each, around.format(each), "value", page=name) for each in texts]
    return _matching(word, found)
