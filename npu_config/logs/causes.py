"""An event in the reader's language: what it means, what to do, and where it leads."""

import functools
import re
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.core.message import phrase
from npu_config.logs.events import LogEvent
from npu_config.logs.facts import (
    KNOWN,
    Code,
    KnownFailure,
    Number,
    advice_of,
    code_of,
    codes,
    number_named,
    number_of,
    option_of,
    shape,
    table,
    unlisted,
)
from npu_config.logs.records import CODE

__all__ = ["KINDS_OF_LEADS", "Cause", "CausePlace", "arguments_of", "explained", "recognised"]

KINDS_OF_LEADS = ("options", "variables", "rank_table_keys", "rules", "commands")
_MOST_OF_MESSAGE, _LINES_OF_MESSAGE = 4_000, 40

_ACL = re.compile(
    r"(?:runtime result = |ge result = ?\[?|error code(?: is|:)? ?|ErrCode=|ret(?:code)?[:=\[ ] ?|"
    r"errno:|result\[|\berror: ?|ErrorNo: ?)(?P<acl>[1-5]\d{5}|13432\d{5}|50331649)\b"
)
_RETCODE = re.compile(r"\bret(?:Code=|:)(?P<hex>0x[0-9a-fA-F]+)")
_REASON = re.compile(r"\breason=\[(?P<reason>[a-z ]{4,60})\]")
_HCCL_ERRNO = re.compile(r"errNo\[(?P<hex>0x0{6,9}5[0-9a-f]{6})\]")
_GE_KEY = re.compile(r"\bge\.[A-Za-z0-9_.]+")
_OPERATOR = re.compile(
    r"fault (?:kernel_name|op_name"
    r"|so_name)=(?P<kernel>[^,\[\s]+)|op_?type:? ?\[(?P<type>\w+)\]|Optype \["
    r"(?P<unsupported>\w+)\]"
)
_FOLLOWERS = ("507011", "507023", "507005")
_BY_WORDS = (
    (re.compile(r"Verify|InferShape|[Ii]nfer ?[Ss]hape|shape|dtype|data type"), "shape-or-dtype"),
    (re.compile(r"[Qq]ueue|tdt|TDT|[Ee]nqueue"), "data-pipeline"),
    (re.compile(r"out of memory|[Mm]alloc|alloc fail"), "memory"),
    (re.compile(r"socket|connect|\blink\b"), "communication"),
    (re.compile(r"[Cc]ompile"), "operator-compile"),
    (re.compile(r"timed? ?out"), "timeout"),
    (re.compile(r"load so file|dlopen"), "package-or-driver"),
)
_NO_MODULE = re.compile(r"[Ff]ailed to import|No module named")
_BY_MODULE = {
    "HCCL": "communication",
    "HCCP": "communication",
    "ROCE": "communication",
    "CCL": "communication",
    "TDT": "data-pipeline",
    "DRV": "device",
    "DRIVER": "device",
    "KERNEL": "device",
    "TSCH": "device",
    "TSD": "device",
    "TBE": "shape-or-dtype",
    "OP": "shape-or-dtype",
    "TEFUSION": "operator-compile",
    "TVM": "operator-compile",
    "FE": "operator-compile",
    "PROFILING": "dump-or-profiling",
    "MSPROF": "dump-or-profiling",
    "IDEDD": "dump-or-profiling",
    "IDEDH": "dump-or-profiling",
    "AOE": "configuration",
}

_OF_THE_ADAPTER = ("ENABLE_FORCE_V2_CONTROL", "AOE_MODE")
_OF_JOBS = re.compile(r"SCRIPT|GRAPH|npu-config (?:compat|explain)")
"""Variables that only TensorFlow's adapter reads, and commands for its jobs."""

_UNKNOWN = phrase(
    "npu-config does not know this error: the text is the original message of the software"
)
_OF_SCRIPTS = phrase(
    "go to the named line of the script and correct the error that the exception describes; "
    "the whole traceback is above this line"
)
_LOOK_BEFORE = phrase(
    "read the lines before the error; if they do not show the cause, search for the text "
    "together with the name of the component, and send the whole log to support (--bundle "
    "FILE.zip)"
)


_FETCH = phrase(
    "the cause is not in these logs: fetch the plogs of the same process "
    "(debug/plog/plog-PID_*.log and debug/device-*/ below ASCEND_PROCESS_LOG_PATH, else below "
    "~/ascend/log), and pass these files, too"
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CausePlace:
    """Where something stands: of an option in a configuration, or of a line of a script."""

    path: str
    line: Optional[int] = None
    option: Optional[str] = None
    text: str = ""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Cause:
    """What went wrong.

    Attributes:
        file: the log.
        line: from 1.
        time: as the log has it, or None.
        timed: the time is its own, and not that of a line before it.
        component: the part of the software that said it.
        code: of the runtime, printed or implied; a return number where there is no code.
        pattern: the known failure.
        class_: one of ``facts.CLASSES``.
        message: what the log says.
        cause: what happened, and why it usually does.
        todo: what to do.
        leads_to: names of options, variables, keys of the rank table, rules; commands.
        places: where options stand, and the line of the script.
        operators: operators and kernels that the message names.
        block: everything that was printed with it.
    """

    file: str
    line: int
    time: Optional[float]
    rank: Optional[int]
    device: Optional[int]
    component: Optional[str]
    code: Optional[str]
    pattern: Optional[str]
    class_: str
    message: str
    cause: str
    todo: Sequence[str]
    leads_to: Mapping[str, Sequence[str]]
    places: Sequence[CausePlace] = ()
    operators: Sequence[str] = ()
    block: Sequence[str] = ()
    timed: bool = True


@functools.lru_cache(maxsize=None)
def _templates(code: str) -> Sequence["re.Pattern[str]"]:
    """The messages of a code as expressions whose groups are the arguments."""
    fact = codes()[code]
    return [
        re.compile(
            r"\s*"
            + r"(.*?)".join(_spaced(part) for part in template.split("%s"))
            + r"(?:\.|\s|\Z)",
            re.S,
        )
        for template in fact.templates
    ]


def _spaced(text: str) -> str:
    return re.sub(r"(?:\\?\s)+", r"\\s*", re.escape(text))


def arguments_of(code: str, message: str) -> Mapping[str, str]:
    """The named arguments of a message: ``{"value": "7", "parameter": "ge.jit_compile"}``."""
    fact = code_of(code)
    if fact is None or not fact.arguments:
        return {}
    for template in _templates(fact.code):
        match = template.match(message[:_MOST_OF_MESSAGE])
        if match is not None and len(match.groups()) == len(fact.arguments):
            return {
                name: value.strip("[]\"' ")
                for name, value in zip(fact.arguments, match.groups())
                if value is not None
            }
    return {}


def recognised(text: str) -> Optional[Tuple[str, str, str]]:
    """What a single message is, as far as it is certain: its name, what it means, what to do."""
    match = CODE.search(text)
    code = code_of(match.group("code") or match.group("titled")) if match is not None else None
    if code is not None and code.own and not code.warning:
        return code.code, code.cause, code.todo
    found = shape(text)
    failure = found.failure
    if failure is None or found.weight < KNOWN or found.strength or not failure.certain:
        return None
    return failure.id, failure.cause, failure.todo


def explained(
    event: LogEvent,
    paths: Sequence[str],
    ours: bool,
    rank: Optional[int] = None,
    device: Optional[int] = None,
) -> Cause:
    """What an event means.

    Args:
        event: the event.
        paths: the files by their numbers.
        ours: the job is one of TensorFlow, or nothing says that it is not; of another one no
            option and no rule of ours is named.
        rank: of its process.
        device: of its process.
    """
    message = _message(event)
    whole = "\n".join((event.text, *event.details))
    code = code_of(event.code) if event.code else None
    failure = event.failure
    speaks = code if code is not None and code.own else None
    number = _number(whole, speaks is None and failure is None)
    class_ = _class(event, whole, code, failure, number)
    sources: List[Tuple[str, str, Mapping[str, Sequence[str]]]] = []
    if speaks is not None:
        sources.append((speaks.cause, speaks.todo, speaks.leads_to))
    if failure is not None:
        sources.append((failure.cause, failure.todo, failure.leads_to))
    if speaks is None and code is not None:
        sources.append((code.cause, code.todo, code.leads_to))
    meanings = [cause for cause, _, _ in sources[:1]]
    if number is not None:
        meanings.append(phrase("{}: {}", number.number, number.meaning))
    elif not meanings:
        match = _HCCL_ERRNO.search(whole) or _ACL.search(whole)
        said = unlisted(match.group(1)) if match is not None else None
        if match is not None and said is not None:
            meanings.append(phrase("{}: {}", match.group(1), said.sentence))
    todo = [todo for _, todo, _ in sources[:2]]
    if number is not None and number.advice and speaks is None and failure is None:
        todo = [*([_FETCH] if number.number in _FOLLOWERS else []), number.advice]
    elif not todo:
        todo = [_OF_SCRIPTS if event.form == "exception" else _LOOK_BEFORE]
        if event.form == "slog" and class_ != "internal":
            todo.insert(0, advice_of(class_))
            sources.append(("", "", {"commands": table("commands").get(class_, ())}))
    leads = _united(
        [*(leads for _, _, leads in sources[:2]), {} if number is None else number.leads_to]
    )
    arguments = arguments_of(event.code, message) if code is not None else {}
    named = _named(code, arguments, whole)
    if named:
        leads["options"] = [*named, *(n for n in leads["options"] if n not in named)]
    if "env" in arguments and arguments["env"] not in leads["variables"]:
        leads["variables"].insert(0, arguments["env"])
    for kind in ("variables", "rank_table_keys"):  # those that the message itself names come first
        leads[kind].sort(key=lambda name: re.search(r"\b{}\b".format(name), message) is None)
    if leads["options"]:
        leads["commands"] = [
            each.replace("OPTION", leads["options"][0]) for each in leads["commands"]
        ]
    if not ours:
        leads["options"], leads["rules"] = [], []
        leads["variables"] = [each for each in leads["variables"] if each not in _OF_THE_ADAPTER]
        leads["commands"] = [each for each in leads["commands"] if not _OF_JOBS.search(each)]
    places: List[CausePlace] = []
    if event.script is not None:
        places.append(CausePlace(event.script[0], event.script[1]))
    return Cause(
        paths[event.file],
        event.line,
        event.time,
        event.rank if event.rank is not None else rank,
        event.device if event.device is not None else device,
        _component(event, code),
        event.code or (number.number if number is not None and failure is None else None) or None,
        failure.id
        if failure is not None
        else ("py-generic" if event.form == "exception" else None),
        class_,
        message,
        _sentences(meanings) or (_of_script(event) if event.form == "exception" else _UNKNOWN),
        todo,
        leads,
        places,
        _operators(whole),
        event.details,
    )


def _sentences(parts: Sequence[str]) -> str:
    if len(parts) == 2:
        return phrase("{} ({})", *parts)
    return parts[0] if parts else ""


def _of_script(event: LogEvent) -> str:
    if "out of memory" in event.text:
        return phrase("the device is out of memory")
    return phrase("the script itself failed, before any error of the device")


def _message(event: LogEvent) -> str:
    """What the log says, without what only follows from it; lines that name an operator stay."""
    lines = [] if event.text in event.details else [event.text]
    lines += event.details[: event.above]
    lines += [line for line in event.details[event.above :] if _OPERATOR.search(line)]
    return "\n".join(lines[:_LINES_OF_MESSAGE])[:_MOST_OF_MESSAGE]


def _number(text: str, any_one: bool) -> Optional[Number]:
    """The return number that says most.

    Args:
        text: what was printed.
        any_one: one that only follows from another is better than none.
    """
    found = [match.group("acl") for match in _ACL.finditer(text)]
    found += [match.group("hex") for match in _RETCODE.finditer(text)]
    found += [number_named(match.group("reason")) for match in _REASON.finditer(text)]
    first: Optional[Number] = None
    for each in found:
        number = number_of(each)
        if number is None:
            continue
        number = number_of(number.same_as) or number if number.same_as else number
        if number.number not in _FOLLOWERS:
            return number
        first = first or number
    return first if any_one else None


def _class(
    event: LogEvent,
    text: str,
    code: Optional[Code],
    failure: Optional[KnownFailure],
    number: Optional[Number],
) -> str:
    if code is not None and code.own:
        return code.class_
    waited = failure is not None and failure.class_ == "data-pipeline"
    if number is not None and number.class_ == "timeout" and not (event.other_side or waited):
        return "timeout"
    if failure is not None:
        return failure.class_
    if number is not None and number.class_ and number.class_ != "internal":
        return number.class_
    if event.form == "exception":
        return "memory" if "out of memory" in text else "script"
    if _NO_MODULE.search(text):
        return "environment"
    if "npu_attrs" in event.module:
        return "configuration"
    if event.module in _BY_MODULE:
        return _BY_MODULE[event.module]
    for pattern, class_ in _BY_WORDS:
        if pattern.search(text):
            return class_
    return code.class_ if code is not None else "internal"


def _component(event: LogEvent, code: Optional[Code]) -> Optional[str]:
    modules = table("modules")
    if event.form == "slog" and event.module:
        return (
            "{} ({})".format(event.module, modules[event.module])
            if event.module in modules
            else event.module
        )
    if code is not None:
        return code.component
    return "TensorFlow" if event.form in ("tensorflow", "absl", "python") else None


def _united(all_leads: Iterable[Mapping[str, Sequence[str]]]) -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = {kind: [] for kind in KINDS_OF_LEADS}
    for leads in all_leads:
        for kind, names in leads.items():
            found[kind] += [name for name in names if name not in found[kind]]
    return found


def _named(code: Optional[Code], arguments: Mapping[str, str], text: str) -> List[str]:
    """Options that the message itself names, by a key of the graph engine or by their name."""
    from npu_config.catalogue import OPTIONS

    found: List[str] = []
    for key in _GE_KEY.findall(text):
        found += option_of(key.rstrip("."))
    if code is not None and code.names_option:
        for value in arguments.values():
            word = value.lstrip("-")
            found += [word] if word in OPTIONS else option_of(word) if "." in word else []
    for match in re.finditer(r"\boption '?(\w+)'?", text):
        if match.group(1) in OPTIONS:
            found.append(match.group(1))
    return list(dict.fromkeys(found))


def _operators(text: str) -> Sequence[str]:
    found = [
        next(group for group in match.groups() if group) for match in _OPERATOR.finditer(text)
    ]
    return tuple(dict.fromkeys(found))[:5]
