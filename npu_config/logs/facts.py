"""What is known of failures: codes, return numbers, failures by their words, dull lines.

The facts are files beside this module, one fact in each line; each is read when it is first
asked for, and nothing is kept of the codes that are not asked for.  Here is also what the words
of a line say by them; lines that differ in numbers only say the same, and are judged once.
"""

import functools
import json
import os
import re
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Pattern,
    Sequence,
    Tuple,
)

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import localized, phrase
from npu_config.core.paths import reading

__all__ = [
    "CLASSES",
    "DIGITS",
    "ERROR",
    "FOLLOWER",
    "KNOWN",
    "LOOKED_AT",
    "OTHER_SIDE",
    "OWN",
    "SIGN",
    "Code",
    "Dull",
    "EndPhrase",
    "KnownFailure",
    "Number",
    "Unlisted",
    "advice_of",
    "class_name",
    "code_of",
    "codes",
    "end_of",
    "ends",
    "failure_named",
    "has_no_effect",
    "known",
    "led_to",
    "number_named",
    "number_of",
    "numbers",
    "option_of",
    "shape",
    "table",
    "texts",
    "unlisted",
]

CLASSES = (
    phrase("configuration"),
    phrase("script"),
    phrase("data-pipeline"),
    phrase("shape-or-dtype"),
    phrase("operator-unsupported"),
    phrase("operator-compile"),
    phrase("memory"),
    phrase("device"),
    phrase("communication"),
    phrase("rank-table"),
    phrase("timeout"),
    phrase("environment"),
    phrase("package-or-driver"),
    phrase("dump-or-profiling"),
    phrase("internal"),
)

OTHER_SIDE = frozenset(("EI0002", "EI0006", "EI0012", "EI0013", "EI0015", "EI0018", "EE1002"))
"""Codes that only say that another rank stopped or is late."""


def class_name(class_: str) -> str:
    """The name of a class in the language that is spoken, with that of the facts."""
    name = localized(class_)
    return name if name == class_ else "{} {}".format(name, class_)


_ADVICE = {
    "configuration": phrase(
        "check the parameter that the log message names after the error code, and the "
        "configuration"
    ),
    "script": phrase("read the traceback of the script above this line"),
    "data-pipeline": phrase("check the dataset: its end, its speed, and exceptions in it"),
    "shape-or-dtype": phrase(
        "compare the shapes and data types that the log message names after the error code"
    ),
    "operator-unsupported": phrase(
        "check the operator that the log message names after the error code"
    ),
    "operator-compile": phrase(
        "find the operator that the log names next to the error code (fault kernel_name or "
        "op_name), and check the inputs and the shapes of this operator"
    ),
    "memory": phrase(
        "use a smaller batch, and check with npu-smi info which process uses the memory"
    ),
    "device": phrase(
        "check npu-smi info and the device log; end old processes, then reset the device"
    ),
    "communication": phrase(
        "compare the logs of all ranks: the rank that stopped first shows the cause"
    ),
    "rank-table": phrase("check the rank table: npu-config ranktable check FILE"),
    "timeout": phrase(
        "find in the lines before the timeout what the process waited for; raise the "
        "timeout only if the other side still makes progress"
    ),
    "environment": phrase(
        "check the file or the variable that the log message names after the error code"
    ),
    "package-or-driver": phrase(
        "compare the versions of driver, firmware and CANN: npu-config compat"
    ),
    "dump-or-profiling": phrase("check the directory and the options of the dump or profiling"),
    "internal": phrase(
        "the error itself names no cause: read the lines before it in the log of the same process"
    ),
}

Leads = Mapping[str, Sequence[str]]


class Code(NamedTuple):
    """An error code of the runtime, the graph engine, the compiler, or a library.

    ``own`` is False for codes of a family (E19999): the text below them counts.  ``names_option``
    is True where an argument of the message names an option or a variable.
    """

    code: str
    component: str
    title: str
    class_: str
    templates: Tuple[str, ...]
    arguments: Tuple[str, ...]
    cause: str
    todo: str
    leads_to: Leads
    own: bool
    names_option: bool
    warning: bool
    met: bool


class KnownFailure(NamedTuple):
    """A failure that is recognised by its words; ``first`` is False where it only explains."""

    id: str
    pattern: "Pattern[str]"
    class_: str
    cause: str
    todo: str
    leads_to: Leads
    first: bool
    certain: bool


class EndPhrase(NamedTuple):
    """How launchers, schedulers, shells and the kernel say that a process ended.

    ``kind`` is ``killed`` where the line tells why, ``told`` where it only tells that the process
    ended, ``shell`` where the shell could not do what it was told to, ``program`` where another
    program than the training script says that it failed.
    """

    failure: KnownFailure
    kind: str


class Dull(NamedTuple):
    """Lines that are never (strong), or seldom (weak), a cause; or mean nothing (harmless)."""

    id: str
    pattern: "Pattern[str]"
    strength: str


def advice_of(class_: str) -> str:
    """What to do about a failure of which only the class is known; empty where that is nothing."""
    return _ADVICE.get(class_, "")


class Number(NamedTuple):
    """A number that a function returns: of acl, the runtime or the graph engine."""

    number: str
    name: str
    meaning: str
    class_: str
    same_as: str
    todo: str
    leads_to: Leads

    @property
    def advice(self) -> str:
        """What to do about it: its own advice, or that of its class."""
        other = numbers().get(self.same_as)
        class_ = self.class_ or (other.class_ if other is not None else "")
        return self.todo or (other.todo if other is not None else "") or advice_of(class_)


def _rows(name: str) -> Iterator[Dict[str, Any]]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".jsonl")
    with open(path, encoding="utf-8", opener=reading) as stream:
        for line in stream:
            yield json.loads(line)


@functools.lru_cache(maxsize=None)
def codes() -> Mapping[str, Code]:
    """Every code: those that a job of TensorFlow can meet first, then the others."""
    return {
        row["code"]: _code(row, name == "codes")
        for name in ("codes", "other_codes")
        for row in _rows(name)
    }


def _code(row: Mapping[str, Any], met: bool) -> Code:
    return Code(
        row["code"],
        row["component"],
        row.get("title", ""),
        row["class"],
        (row.get("template", ""), *row.get("older", ())),
        tuple(row.get("arguments", ())),
        row["cause"],
        row["todo"],
        row.get("leads_to", {}),
        row.get("own", True),
        row.get("names_option", False),
        row.get("severity") == "warning",
        met,
    )


def code_of(text: str) -> Optional[Code]:
    """A code by its name, in any case."""
    return codes().get(text.upper())


@functools.lru_cache(maxsize=None)
def numbers() -> Mapping[str, Number]:
    """Every return number: decimal ones of acl and the graph engine, 0x.. of the runtime."""
    return {
        row["number"]: Number(
            row["number"],
            row.get("name", ""),
            row["meaning"],
            row.get("class", ""),
            row.get("same_as", ""),
            row.get("todo", ""),
            row.get("leads_to", {}),
        )
        for row in _rows("numbers")
    }


def number_of(text: str) -> Optional[Number]:
    """A return number; ``0x7020009`` and ``0x07020009`` are one."""
    text = text.lower()
    if text.startswith("0x"):
        try:
            text = hex(int(text, 16))
        except ValueError:
            return None
        return numbers().get(text) or numbers().get(str(int(text, 16)))  # 0x7bc87 is 507015
    return numbers().get(text)


@functools.lru_cache(maxsize=None)
def number_named(name: str) -> str:
    """The number of the runtime that is called so: ``aicpu exception``; empty for none."""
    return next((each.number for each in numbers().values() if each.name == name), "")


class Unlisted(NamedTuple):
    """What the form of a number says that no table has: whose it is, and what a part means."""

    part: str
    meaning: str

    @property
    def sentence(self) -> str:
        """What can be said of it."""
        if self.meaning:
            return phrase("this is a return code of {}: {}", self.part, self.meaning)
        return phrase(
            "the meaning of this return code of {} is not known: read the log message "
            "that contains this code",
            self.part,
        )


_PARTS = (
    (re.compile(r"0x0*50[12][0-9a-f]{5}"), phrase("the graph engine")),
    (re.compile(r"13432[0-9]{5}"), phrase("the graph engine")),
    (re.compile(r"0x0*702[0-9a-f]{4}"), phrase("the runtime (driver errors)")),
    (re.compile(r"0x0*71[0-9a-f]{5}"), phrase("the runtime (device errors)")),
    (re.compile(r"0x0*7[0-9a-f]{6}"), phrase("the runtime (internal errors)")),
    (re.compile(r"0x[0-9a-f]{1,3}"), phrase("the runtime")),
    (re.compile(r"107[0-9]{3}"), phrase("the runtime (incorrect calls)")),
    (
        re.compile(r"207[0-9]{3}"),
        phrase("the runtime (missing resources and features)"),
    ),
    (re.compile(r"507[0-9]{3}"), phrase("the runtime (errors on the device)")),
    (re.compile(r"[1-5]45[0-9]{3}"), phrase("the graph engine")),
    (re.compile(r"[1-5]61[0-9]{3}"), phrase("single-operator calls (ACLNN)")),
    (re.compile(r"[1-5]00[0-9]{3}"), phrase("AscendCL (acl)")),
)
_HCCL = re.compile(r"0x0*5[0-9a-f]{2}0*(?P<number>[0-9a-f]{1,4})")

_DRIVER = re.compile(r"drv\w{0,20}(?:[=:\[]| is )\s?(?P<number>\d{1,5})\]?")


def unlisted(text: str) -> Optional[Unlisted]:
    """What can be said of a return number that is in no table; None for what is none."""
    text = text.lower()
    match = _HCCL.fullmatch(text)
    driver = _DRIVER.fullmatch(text)
    if driver is not None:
        return Unlisted(phrase("the driver"), table("driver").get(driver.group("number"), ""))
    if match is not None and len(text) >= 9 and text.lstrip("0x").startswith("50"):
        meaning = table("hccl").get(str(int(match.group("number")[-4:], 16)))
        if meaning is not None:
            return Unlisted(phrase("collective communication"), meaning)
    part = next((part for pattern, part in _PARTS if pattern.fullmatch(text)), None)
    return None if part is None else Unlisted(part, "")


@functools.lru_cache(maxsize=None)
def known() -> Tuple[KnownFailure, ...]:
    """Failures without a code, by their words; then those that only ends of processes tell."""
    found = _known("patterns")
    names = {each.id for each in found}
    return found + tuple(
        end.failure._replace(first=False) for end in ends() if end.failure.id not in names
    )


@functools.lru_cache(maxsize=None)
def _known(name: str) -> Tuple[KnownFailure, ...]:
    return tuple(_fact(row) for row in _rows(name))


def _fact(row: Mapping[str, Any]) -> KnownFailure:
    return KnownFailure(
        row["id"],
        lazy_pattern(row["regex"]),
        row["class"],
        row["cause"],
        row["todo"],
        row.get("leads_to", {}),
        row.get("first", True),
        "certainty" not in row,
    )


_ENDS = re.compile(
    r"TIME|TERM|imit|Deadline|signal|exit|Exit|EXIT|PREEMPT|reempted|NODE|Node|node failure|emory"
    r"|oom|OOM|Killed|killed|SIGNAL|Signal|SIG|egmentation|bort|us error|nstruction|exception"
    r"|Interrupt|erminated|Hangup|hangup|CANCELLED|PBS|Job was|victed|TERMINATION|ABORT"
    r"|low on resource|: error: |not found|No such file|can't open|denied|No space|1 process"
    r"|\*\*\* \[|ERR! |fatal|^ERROR: |^E: |pip's|curl|wget|ssh|scp|rsync| failed|FAILED"
    r"|pull access|CMake Error|Error response"
    r"|已杀死|错误|已放弃|已中止|指令|例外|已终止|未找到|没有那个|权限不够"
)
"""What stands in every line that :func:`end_of` knows."""


@functools.lru_cache(maxsize=None)
def ends() -> Tuple[EndPhrase, ...]:
    """Ends of processes, as those tell them who saw them end."""
    facts = {each.id: each for each in _known("patterns")}
    found = []
    for row in _rows("ends"):
        fact = facts.get(row["id"]) or _fact(row)
        found.append(EndPhrase(fact._replace(pattern=lazy_pattern(row["regex"])), row["kind"]))
    return tuple(found)


def end_of(text: str) -> Optional[EndPhrase]:
    """The end of a process that a line tells."""
    if _ENDS.search(text) is None:
        return None
    return next((each for each in ends() if each.failure.pattern.search(text)), None)


@functools.lru_cache(maxsize=None)
def dull() -> Tuple[Dull, ...]:
    """Lines that are no cause."""
    return tuple(
        Dull(row["id"], lazy_pattern(row["regex"]), row["strength"]) for row in _rows("never")
    )


@functools.lru_cache(maxsize=None)
def table(name: str) -> Mapping[str, Any]:
    """One of the small tables: ``modules``, ``options``, and so on."""
    return next(row["rows"] for row in _rows("tables") if row["table"] == name)


@functools.lru_cache(maxsize=None)
def _options() -> Mapping[str, Sequence[str]]:
    return {_folded(key): names for key, names in table("options").items()}


def _folded(key: str) -> str:
    key = key.lower().replace("_", "")
    return re.sub(r"^(?:ge\.)?(?:exec\.|oo\.)?", "", key)


def option_of(key: str) -> Sequence[str]:
    """The options that a key of the graph engine stands for: ``ge.exec.opWaitTimeout``."""
    return _options().get(_folded(key), ())


def has_no_effect(name: str) -> bool:
    """Whether it is an option that only older versions of the adapter have used."""
    return name in table("without_effect")


def led_to(names: Sequence[str], form: str = "{}") -> List[str]:
    """Names that a failure leads to, in words: of options without effect now it is said."""
    found = [(form.format(name), has_no_effect(name)) for name in sorted(names, key=has_no_effect)]
    return [localized("{} (no longer effective)", name) if old else name for name, old in found]


def texts() -> List[str]:
    """Every sentence of the facts that users read."""
    found = [text for code in codes().values() for text in (code.cause, code.todo)]
    found += [text for each in known() for text in (each.cause, each.todo)]
    found += [number.todo for number in numbers().values() if number.todo]
    found += [*table("hccl").values(), *table("driver").values()]
    return found + [number.meaning for number in numbers().values()]


FOLLOWER, SIGN, ERROR, KNOWN, OWN = range(5)
"""How much an event says: a follow-up; a sign; an error; a known failure; a code of its own."""

LOOKED_AT = 4_000
"""Characters of a line whose words are looked at."""

_MOST_REMEMBERED = 4_096
DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+")


class _Shape(NamedTuple):
    """What is said of all lines that differ in numbers only."""

    weight: int
    failure: Optional[KnownFailure]
    strength: str


_NUMBERED = re.compile(r"ErrorNo: 13432\d{5}\(")
"""The graph engine has such a number on lines that tell of themselves, too."""

_shapes: Dict[str, _Shape] = {}


def shape(text: str) -> _Shape:
    """What the words of a line say: a known failure, a line that is no cause, or nothing."""
    text = text[:LOOKED_AT]
    key = DIGITS.sub("0", text)
    found = _shapes.get(key)
    if found is None:
        if len(_shapes) >= _MOST_REMEMBERED:
            _shapes.clear()
        found = _shapes[key] = _shape(text)
    return found


def _shape(text: str) -> _Shape:
    found = [each for each in dull() if each.pattern.search(text)]
    strengths = {"other" if each.id == "other-rank" else each.strength for each in found}
    if "harmless" in strengths:
        return _Shape(FOLLOWER, None, "harmless")
    strength = next((each for each in ("strong", "weak", "other") if each in strengths), "")
    failures = [each for each in known() if each.pattern.search(text) and each.id != "py-generic"]
    first = [each for each in failures if each.first]
    certain = [each for each in first if each.certain] or first
    if certain and strength == "strong" and _NUMBERED.search(text) is not None:
        return _shape(_NUMBERED.sub("(", text))
    if certain:
        return _Shape(KNOWN, certain[0], "" if strength == "weak" else strength)
    return _Shape(ERROR, failures[0] if failures else None, strength)


def failure_named(id: str) -> Optional[KnownFailure]:
    """A known failure by its name."""
    return next((each for each in known() if each.id == id), None)
