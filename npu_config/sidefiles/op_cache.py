"""op_cache.ini in ``op_compiler_cache_dir``: how large the operator compile cache may become.

Source: docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md.
"""

from dataclasses import replace
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

import attr

from npu_config.catalogue.kinds import Int, written_int
from npu_config.core.diagnostics import NOWHERE, Diagnostic, Place, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import Target
from npu_config.sidefiles.format import (
    Format,
    Parsed,
    Sample,
    finish_parse,
    logged,
    no_checks,
    refuse,
)
from npu_config.sidefiles.schema.kinds import Key, Schema
from npu_config.text.lines import Item, items
from npu_config.text.source import PlaceTable
from npu_config.text.words import did_you_mean, joined, near, shown

SECTION = "[op_compiler_cache]"
KEYS: Mapping[str, Int] = {"max_op_cache_size": Int(-1), "remain_cache_size_ratio": Int(1, 100)}
_UNITS = {"max_op_cache_size": "MB; with -1, no entry is removed", "remain_cache_size_ratio": "%"}

_DOC = "docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md"


@declare(
    "NPU758",
    Severity.WARNING,
    options=("op_compiler_cache_dir",),
    facts=("cache-ini",),
    source=(_DOC,),
    help="write [op_compiler_cache] and one line for each of the two keys",
)
def op_cache_line() -> None:
    """op_cache.ini lacks its section header or a key, or has an invalid line.

    The file must contain the header `[op_compiler_cache]`, and below it `max_op_cache_size` and
    `remain_cache_size_ratio`.  If one of the three is missing, the operator compiler ignores the
    file without any message.  It then uses ASCEND_MAX_OP_CACHE_SIZE and
    ASCEND_REMAIN_CACHE_SIZE_RATIO, or 500 MB and 50 %.

    Wrong:

    ```
    max_op_cache_size=500
    ```

    Right:

    ```
    [op_compiler_cache]
    max_op_cache_size=500
    remain_cache_size_ratio=80
    ```
    """


@declare(
    "NPU759",
    Severity.WARNING,
    options=("op_compiler_cache_dir",),
    facts=("cache-ini",),
    source=(
        _DOC,
        "cann/ge:docs/zh/user_guides/env_vars/ASCEND_MAX_OP_CACHE_SIZE.md",
        "cann/ge:docs/zh/user_guides/env_vars/ASCEND_REMAIN_CACHE_SIZE_RATIO.md",
    ),
    help="write whole numbers: a size in MB or -1, and a ratio from 1 to 100",
)
def op_cache_value() -> None:
    """A value of op_cache.ini is out of its range.

    `max_op_cache_size` must be a number of MB, or -1 to keep everything; `remain_cache_size_ratio`
    must be 1 to 100 %.  If one of the two is not valid, the whole file is ignored.

    Wrong: `remain_cache_size_ratio=0.8`

    Right: `remain_cache_size_ratio=80`
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OpCache:
    """The content of op_cache.ini.

    Args:
        max_op_cache_size: limit of the cache in MB; -1 turns ageing off.
        remain_cache_size_ratio: what is kept when the limit is exceeded, in %.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    max_op_cache_size: int = 500
    remain_cache_size_ratio: int = 50

    def __attrs_post_init__(self) -> None:
        wrong = (_judged(key, value) for key, value in attr.asdict(self).items())
        refuse(replace(found, severity=Severity.ERROR) for found in wrong if found)


def _judged(key: str, value: Any, place: Place = NOWHERE) -> Optional[Diagnostic]:
    """What is wrong with the value of a key."""
    if KEYS[key].problem_of(value) is None:
        return None
    legal = phrase("{} ({})", KEYS[key].describe(), _UNITS[key])
    return op_cache_value.diagnostic(
        phrase("{} is {}; legal: {}", key, shown(value), legal), place
    )


def _read(
    lines: Iterable[Item], places: PlaceTable, values: Dict[str, Optional[int]]
) -> Iterator[Diagnostic]:
    """Every fault of the lines; ``values`` gets what they say, None for what is wrong."""
    section = None
    for item in lines:
        name, place = item.key, item.line.content()
        if item.content.startswith("["):
            section = item.content
            values.setdefault(SECTION, 0 if section == SECTION else None)
            if section != SECTION:
                meant = near(section, (SECTION,))
                message = phrase("unknown section {}; legal: {}", shown(section), SECTION)
                section = meant or section
                yield op_cache_line.diagnostic(message, place, meant=meant)
            continue
        if section is None and SECTION not in values:
            values[SECTION] = None
            message = phrase('the header "{}" is missing above this line', SECTION)
            yield op_cache_line.diagnostic(message, place)
        if section not in (None, SECTION):
            continue
        if not item.equals:
            message = phrase("a line must be key=value; legal keys: {}", listed(KEYS))
            yield op_cache_line.diagnostic(message, place)
        elif name not in KEYS:
            meant = near(name, [other for other in KEYS if other not in values])
            message = phrase("unknown key {}; legal: {}", shown(name), listed(KEYS))
            yield op_cache_line.diagnostic(message, place, meant=meant)
            if meant is not None:
                values[meant] = None
        elif name in values:
            message = phrase(
                "{} appears twice, on lines {} and {}",
                shown(name),
                places.key_place((name,)).line,
                item.line.number,
            )
            yield op_cache_line.diagnostic(message, place)
        else:
            places.put((name,), item.key_place, item.value_place)
            number = written_int(item.value)
            given = item.value if number is None else number
            wrong = _judged(name, given, item.value_place)
            values[name] = None if wrong else number
            yield from () if wrong is None else (wrong,)
    missing = [key for key in KEYS if key not in values]
    if missing:
        message = phrase("{} is missing, so the file is ignored", joined(missing))
        yield op_cache_line.diagnostic(message, places.place())


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[OpCache]:
    values: Dict[str, Optional[int]] = {}
    lines = items(text, path, ("#", ";"))
    log, places = logged(text, path, op_cache_line, lambda places: _read(lines, places, values))
    known: Dict[str, Any] = {key: values[key] for key in KEYS if key in values}
    ignored = values.get(SECTION) is None or None in known.values() or len(known) < len(KEYS)
    return finish_parse(log, places, None if ignored else lambda: OpCache(**known), no_checks)


def render(model: OpCache) -> str:
    """The canonical text of the file."""
    rows = ["{}={}".format(key, value) for key, value in attr.asdict(model).items()]
    return "".join(row + "\n" for row in (SECTION, *rows))


def _looks_like(sample: Sample) -> bool:
    if sample.is_json:  # e.g. a schema that names op_compiler_cache_dir
        return False
    return any(
        did_you_mean(line.partition("=")[0], (SECTION, *KEYS)) is not None
        for line in sample.lines()
    )


FORMAT: Format[OpCache] = Format(
    name="op_cache",
    title="size of the operator compile cache",
    default_name="op_cache.ini",
    options=("op_compiler_cache_dir",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"max_op_cache",
    schema=Schema({key: Key(kind) for key, kind in KEYS.items()}),
)
check = no_checks
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save

__all__ = ["FORMAT", "KEYS", "SECTION", "OpCache", "check", "load", "parse", "render", "save"]
