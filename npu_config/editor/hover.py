"""What is known of the word under the cursor: one page, in the words of ``explain``."""

import re
from typing import Callable, NamedTuple, Optional

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.api import PARAMETERS
from npu_config.catalogue.layout import GROUP_OF_KEY
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import localized
from npu_config.editor.completion import CALLS_WITH_OPTIONS, DICTS_WITH_OPTIONS, MAP, value_at
from npu_config.editor.cursor import call_at, kind_of, slot_at, word_at
from npu_config.editor.keys import CONFIGURATIONS, described, key_of, schema_of
from npu_config.judging.comments import open_list
from npu_config.launch.environment.variables import VARIABLES
from npu_config.sidefiles.customize_dtypes import DTYPES, KEYWORDS, TYPE
from npu_config.sidefiles.op_precision import BY_NAME, BY_TYPE, MODES
from npu_config.sidefiles.schema.kinds import Key

__all__ = ["Hover", "Pages", "has_pages", "hover"]

Pages = Callable[[str], Optional[str]]
"""The page of ``explain`` on a name; None for a word that is none."""

_CODE = lazy_pattern(r"(?:[EW][A-Z0-9]\d{4}|0x[0-9A-Fa-f]{4,8}|\d{6})\Z")
_LINE_KEY = lazy_pattern(r"[ \t]*(\w+)[ \t]*[=:]")
_OPTION_OF_LINES = {"op_precision": "op_precision_mode", "customize_dtypes": "customize_dtypes"}
_WORDS_OF = {
    "op_precision": (*MODES, BY_TYPE.strip("[]"), BY_NAME.strip("[]")),
    "customize_dtypes": (*DTYPES, *KEYWORDS, TYPE.strip(":")),
}
"""Words of files without keys, whose page is that of the option that names them."""

_PAGES = {"target": "Target", "extends": "layers#layers"}
"""Where it is explained what stands above the options of a configuration."""

_LOGS = (".log", ".out", ".plog")


class Hover(NamedTuple):
    """A page in Markdown, and which characters it is about."""

    page: str
    start: int
    end: int


def _is_log(path: str) -> bool:
    """Whether a file is looked at for error codes only."""
    return path.lower().endswith(_LOGS)


def has_pages(path: str) -> bool:
    """Whether a file that is not checked is looked at: a log, or variables for a container."""
    return _is_log(path) or path.endswith(".env")


def hover(path: str, text: str, offset: int, pages: Pages) -> Optional[Hover]:
    """The page on the word at an offset; None where there is nothing to be said.

    Args:
        path: the file.
        text: the text.
        offset: where the pointer is.
        pages: gives the pages of ``explain``.
    """
    start, end = word_at(text, offset)
    word = text[start:end]
    if not word:
        return None
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if open_list(line) is not None or (word.startswith("NPU") and word[3:].isdecimal()):
        page = pages(word)
    elif _is_log(path):
        page = pages(word) if _CODE.match(word) else None
    else:
        page = _page(path, text, start, end, pages)
    return None if page is None else Hover(page, start, end)


def _page(path: str, text: str, start: int, end: int, pages: Pages) -> Optional[str]:
    word, kind = text[start:end], kind_of(path, text)
    if kind == "script":
        return _of_script(text, start, end, pages)
    if kind == "shell" or path.endswith(".env"):
        name = word.lstrip("$").partition("-")[0]  # as in ${NAME-default}
        return pages(name) if name in VARIABLES else None
    if kind == "pbtxt":
        return pages(word) if word in OPTIONS and text[start - 1 : start] in "\"'" else None
    if kind in CONFIGURATIONS:
        return _of_configuration(kind or "", text, end, word, pages)
    if word in _WORDS_OF.get(kind or "", ()):
        return pages(_OPTION_OF_LINES[kind or ""])
    schema = schema_of(kind, text)
    if schema is None:
        return None
    slot = slot_at(kind, text, end)
    keys = () if slot is None else slot.keys
    name = word if slot is None or slot.key is None else slot.key
    if slot is None and word not in schema.keys:
        line = _LINE_KEY.match(text, text.rfind("\n", 0, start) + 1, start)
        name = word if line is None else line.group(1)
    key = key_of(schema, name, keys)
    return None if key is None else _of_key(name, key)


def _of_key(name: str, key: Key) -> str:
    """What is known of a key."""
    lines = ["# {}".format(name), localized("- Legal values: {}", described(key.kind))]
    lines.append(localized("- Required: {}", localized("yes" if key.required else "no")))
    if key.since is not None:
        lines.append(localized("- Since: CANN {}", key.since))
    if key.source:
        lines.append(localized("- Source: {}", key.source))
    return "\n".join([lines[0], "", *lines[1:]]) + "\n"


def _of_configuration(kind: str, text: str, end: int, word: str, pages: Pages) -> Optional[str]:
    """The page of an option, of a group of them, or of the option whose value this is."""
    slot = slot_at(kind, text, end)
    if slot is not None and slot.key is not None:
        word = slot.key
    if slot is not None and slot.keys[-1:] == ("profiling_options",):
        schema = schema_of("profiling")
        key = None if schema is None else schema.keys.get(word)
        return None if key is None else _of_key(word, key)
    if slot is not None and (slot.keys or (word,))[0] in _PAGES:
        return pages(_PAGES[(slot.keys or (word,))[0]])
    if word in OPTIONS:
        return pages(word)
    group = GROUP_OF_KEY.get(word)
    if group is None:
        return None
    names = "\n".join(
        "- {}: {}".format(name, localized(OPTIONS[name].summary)) for name in group.options
    )
    return "# {}\n\n{}\n\n{}\n".format(group.key, localized(group.title), names)


def _of_script(text: str, start: int, end: int, pages: Pages) -> Optional[str]:
    """The page of an option or variable in quotes, of an argument, of a builder's method."""
    word, before = text[start:end], text[max(0, start - 20000) : start]
    is_quoted = text[start - 1 : start] in ("'", '"') and text[end : end + 1] == text[start - 1]
    if is_quoted and (word in OPTIONS or word in VARIABLES):
        return pages(word)
    called, name = value_at(text, end)
    if not name and re.match(r"[ \t]*=[^=]", text[end : end + 20]):
        called, name = call_at(before)[0].lstrip("."), word
    if called in (MAP, *PARAMETERS, *CALLS_WITH_OPTIONS, *DICTS_WITH_OPTIONS):
        page = pages("NPURunConfig." + name) if called == "NPURunConfig" else None
        if page is not None or name in OPTIONS:
            return page or pages(name)
    if before.endswith(".") and "NpuConfigBuilder" in text:
        return pages("NpuConfigBuilder." + word)
    return None
