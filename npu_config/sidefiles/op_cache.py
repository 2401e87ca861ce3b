"""op_cache.ini in ``op_compiler_cache_dir``: how large the operator compile cache may become.

Source: docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md.
"""

import re
from contextlib import suppress
from typing import Any, Dict, Iterator, Optional

import attr

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.declared import nothing
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude, refuse
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.keyvalue import Item, items
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import did_you_mean, listed, near, shown

SECTION = "[op_compiler_cache]"
KEYS = ("max_op_cache_size", "remain_cache_size_ratio")
_LEGAL = {
    "max_op_cache_size": "an integer of MB, or -1 (nothing ages)",
    "remain_cache_size_ratio": "an integer from 1 to 100 (%)",
}
_INTEGER = re.compile(r"-?[0-9]{1,18}\Z")

_DOC = "docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md"

LINE = declare(
    "NPU758",
    "op-cache-line",
    Severity.WARNING,
    """
    op_cache.ini lacks its section header or a key, or has a line that says nothing.

    The file has the header `[op_compiler_cache]`, and below it `max_op_cache_size` and
    `remain_cache_size_ratio`.  Without all three the operator compiler ignores the file in
    silence and goes by ASCEND_MAX_OP_CACHE_SIZE and ASCEND_REMAIN_CACHE_SIZE_RATIO, or by
    500 MB and 50 %.

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
    """,
    options=("op_compiler_cache_dir",),
    facts=("cache-ini",),
    source=(_DOC,),
)

VALUE = declare(
    "NPU759",
    "op-cache-value",
    Severity.WARNING,
    """
    A value of op_cache.ini is out of its range.

    `max_op_cache_size` is a number of MB, or -1 to keep everything;
    `remain_cache_size_ratio` is 1 to 100 %.  If one of the two is not valid, the file is
    ignored as a whole.

    Wrong: `remain_cache_size_ratio=0.8`

    Right: `remain_cache_size_ratio=80`
    """,
    options=("op_compiler_cache_dir",),
    facts=("cache-ini",),
    source=(
        _DOC,
        "cann/ge:docs/zh/user_guides/env_vars/ASCEND_MAX_OP_CACHE_SIZE.md",
        "cann/ge:docs/zh/user_guides/env_vars/ASCEND_REMAIN_CACHE_SIZE_RATIO.md",
    ),
)


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
        refuse(_faults(self))

    @classmethod
    def of(cls, max_op_cache_size: int = 500, remain_cache_size_ratio: int = 50) -> "OpCache":
        """The file with these values; see the class.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(max_op_cache_size, remain_cache_size_ratio)


def _is_legal(key: str, value: int) -> bool:
    if key == "max_op_cache_size":
        return value >= -1
    return 1 <= value <= 100


def _illegal(key: str, value: Any) -> str:
    return phrase("{} is {}; legal: {}", key, shown(value), _LEGAL[key])


def _faults(model: OpCache) -> Iterator[Diagnostic]:
    for key in KEYS:
        value: Any = getattr(model, key)
        if type(value) is not int or not _is_legal(key, value):
            yield VALUE.diagnostic(_illegal(key, value), severity=Severity.ERROR)


class _Reader:
    """Reads line after line."""

    def __init__(self, source: Source) -> None:
        self.log = FaultLog(source, LINE)
        self.whole = source.place(0, len(source.text))
        self.places = PlaceTable(self.whole)
        self._values: Dict[str, Optional[int]] = {}
        self._section: Optional[str] = None
        self._headless = False

    def _say(self, item: Item, message: str, meant: Optional[str] = None) -> None:
        self.log.add(LINE.diagnostic(message, item.line.content(), meant=meant))

    def read(self, item: Item) -> None:
        """Take one line."""
        if item.content.startswith("["):
            self._section = item.content
            if item.content != SECTION:
                meant = near(item.content, (SECTION,))
                message = phrase("unknown section {}; legal: {}", shown(item.content), SECTION)
                if meant is not None:
                    self._section, self._headless = SECTION, True
                self._say(item, message, meant)
            return
        if self._section is None and not self._headless:
            self._headless = True
            self._say(item, phrase('the header "{}" is missing above this line', SECTION))
        if self._section in (None, SECTION):
            self._entry(item)

    def _entry(self, item: Item) -> None:
        name = item.key
        if not item.equals:
            self._say(item, phrase("a line must be key=value; legal keys: {}", listed(KEYS)))
        elif name not in KEYS:
            message = phrase("unknown key {}; legal: {}", shown(name), listed(KEYS))
            meant = near(name, [other for other in KEYS if other not in self._values])
            self._say(item, message, meant)
            if meant is not None:
                self._values[meant] = None
        elif name in self._values:
            first = self.places.key_place((name,)).line
            message = "{} appears twice, on lines {} and {}"
            self._say(item, phrase(message, shown(name), first, item.line.number))
        else:
            self.places.put((name,), item.key_place, item.value_place)
            number = int(item.value) if _INTEGER.match(item.value) else None
            if number is None or not _is_legal(name, number):
                self.log.add(VALUE.diagnostic(_illegal(name, item.value), item.value_place))
                number = None
            self._values[name] = number

    def finish(self) -> Optional[Dict[str, int]]:
        """Report what is missing; the values when the file counts."""
        missing = [key for key in KEYS if key not in self._values]
        if missing:
            message = phrase(
                "{} missing, and the file is ignored without it"
                if len(missing) == 1
                else "{} missing, and the file is ignored without them",
                phrase("{} is", missing[0]) if len(missing) == 1 else phrase("both keys are"),
            )
            self.log.add(LINE.diagnostic(message, self.whole))
        values = {key: value for key, value in self._values.items() if value is not None}
        return None if self._headless or len(values) < len(KEYS) else values


def parse(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Parsed[OpCache]:
    """Read op_cache.ini; the model is None when the operator compiler ignores the file.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    reader = _Reader(Source(text, path))
    values = None
    with suppress(StopReading):
        for item in items(text, path, ("#", ";")):
            reader.read(item)
        values = reader.finish()
    return conclude(
        reader.log,
        reader.places,
        None if values is None else lambda: OpCache(**(values or {})),
        nothing,
    )


def render(model: OpCache) -> str:
    """The canonical text of the file."""
    rows = ["{}={}".format(key, getattr(model, key)) for key in KEYS]
    return "".join(row + "\n" for row in (SECTION, *rows))


def _looks_like(sample: Sample) -> bool:
    return any(
        did_you_mean(line.partition("=")[0], (SECTION, *KEYS)) is not None
        for line in sample.lines()
    )


FORMAT: Format[OpCache] = Format(
    name="op_cache",
    title="size of the operator compile cache",
    default_name="op_cache.ini",
    options=("op_compiler_cache_dir",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
    marks=r"max_op_cache",
)
check = nothing
load, save = FORMAT.load, FORMAT.save

__all__ = ["FORMAT", "KEYS", "SECTION", "OpCache", "check", "load", "parse", "render", "save"]
