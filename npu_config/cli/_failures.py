"""Error codes, return numbers and known failures, for ``npu-config explain``.

They are not in the file of topics: they are read from the facts of ``npu_config.logs`` when they
are asked for.
"""

import re
from typing import Callable, Iterator, List, Mapping, Optional, Sequence

from npu_config.cli._topics import Topic, begins
from npu_config.core.message import catalogue, listed, localized, phrase
from npu_config.logs.facts import (
    Code,
    KnownFailure,
    Number,
    class_name,
    code_of,
    codes,
    known,
    led_to,
    number_of,
    unlisted,
)

_CODE = re.compile(r"[A-Z][A-Z0-9][0-9]{4}", re.I)
_NUMBER = re.compile(
    r"(?:(?!drv)[a-z]{2,12}[=:\[( ]{1,2})?(0x[0-9a-f]{1,16}|[0-9]{5,10})[\])]?|(drv.{0,30})", re.I
)
"""A number alone, or with its name as logs have it: ``retCode=0x7020016``, ``drvRetCode=87``."""

_WORD = re.compile(r"[A-Za-z_]{3,}")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_ENOUGH, _LEAST = 0.75, 3
_TITLES: Mapping[str, str] = {
    "options": phrase("Options: {}"),
    "variables": phrase("Variables: {}"),
    "rank_table_keys": phrase("Keys of the rank table: {}"),
    "rules": phrase("Rules: {}"),
}


def failure_called(word: str) -> List[Topic]:
    """The code, the number or the known failure of a name."""
    if _CODE.fullmatch(word):
        code = code_of(word)
        if code is not None:
            return [_of_code(code)]
        of = next((c.component for c in codes().values() if c.code[:2] == word[:2].upper()), None)
        text = (
            "the meaning of this error code of {} is not known: read the log message after "
            "the error code"
        )
        return [] if of is None else [_of_unlisted(word.upper(), phrase(text, of))]
    match = _NUMBER.fullmatch(word)
    if match is not None:
        word = match.group(1) or match.group(2)
        number = number_of(word)
        if number is not None:
            return [_of_number(number)]
        found = unlisted(word)
        return [] if found is None else [_of_unlisted(word, found.sentence)]
    return [_of_known(each) for each in known() if each.id == word.lower()]


def failures(kind: str) -> List[Topic]:
    """Every topic of a kind: ``code`` or ``failure``."""
    if kind == "failure":
        return [_of_known(each) for each in known()]
    return [_of_code(code) for code in codes().values()]


def failures_about(words: str) -> List[Topic]:
    """Codes and failures that a message is one of; a word or two are none."""
    if len(words.split()) < _LEAST - 1:
        return []
    said = [each for each in known() if words.lower() in each.pattern.pattern.lower()]
    found = {each.id: _of_known(each) for each in said}
    if len(words.split()) < _LEAST:
        return list(found.values())
    from npu_config.logs.facts import shape
    from npu_config.logs.records import CODE

    for match in CODE.finditer(words):
        code = code_of(match.group("code") or match.group("titled"))
        if code is not None:
            found[code.code] = _of_code(code)
    failure = shape(words).failure
    if failure is not None:
        found[failure.id] = _of_known(failure)
    message = set(map(str.lower, _WORD.findall(words)))
    if len(message) >= _LEAST:
        shares = [(_share(code, message), code) for code in codes().values()]
        best = max(share for share, _ in shares)
        if best >= _ENOUGH:
            found.update((code.code, _of_code(code)) for share, code in shares if share == best)
    return list(found.values())


def _share(code: Code, message: "set[str]") -> float:
    """How much of the words of a code's message stands in a message."""
    shares = []
    for template in code.templates:
        words = set(map(str.lower, _WORD.findall(template.replace("%s", " "))))
        if len(words) >= _LEAST:
            shares.append(len(words & message) / len(words) + len(words & message) / 1000)
    return max(shares, default=0.0)


def failures_holding(words: str) -> List[Topic]:
    """Codes and failures whose pages hold all of some words, in either language."""
    translate = catalogue("zh") if _CHINESE.search(words) else str
    wanted = words.lower().split()
    found = [
        _of_code(code)
        for code in codes().values()
        if code.met
        and _holds(wanted, translate, code.title, *code.templates, code.cause, code.todo)
    ]
    return found + [
        _of_known(each)
        for each in known()
        if _holds(wanted, translate, each.id, each.cause, each.todo)
    ]


def _holds(wanted: Sequence[str], translate: Callable[[str], str], *texts: str) -> bool:
    content = " ".join(translate(text) if text else "" for text in texts).lower()
    return all(begins(word, content) for word in wanted)


def codes_of_rule(rule: str) -> List[str]:
    """The codes by which a job ends for what a rule finds, where the facts know it."""
    return [code.code for code in codes().values() if rule in code.leads_to.get("rules", ())]


def _of_code(code: Code) -> Topic:
    name = "{} {}".format(code.code, code.title).strip()
    lines = ["# " + name, localized(code.cause), localized("What to do: {}", localized(code.todo))]
    said = [localized("Class: {}", class_name(code.class_))]
    said.append(localized("Component: {}", code.component))
    messages = filter(None, map(str.strip, code.templates))
    said += [localized("Message: {}", text) for text in messages]
    if code.arguments:
        said.append(localized("Arguments of the message, in order: {}", listed(code.arguments)))
    lines.append(_list([*said, *_leads(code.leads_to)]))
    if not code.own:
        lines.append(
            localized(
                "This code stands for a family of errors: the log lines after the code state the "
                "cause."
            )
        )
    facts = {"class": code.class_, "component": code.component, "leads_to": dict(code.leads_to)}
    return Topic("code", code.code, localized(code.cause), _page(lines), (), facts)


def _of_known(each: KnownFailure) -> Topic:
    lines = [
        "# " + each.id,
        localized(each.cause),
        localized("What to do: {}", localized(each.todo)),
        _list([localized("Class: {}", class_name(each.class_)), *_leads(each.leads_to)]),
    ]
    facts = {"class": each.class_, "leads_to": dict(each.leads_to)}
    return Topic("failure", each.id, localized(each.cause), _page(lines), (), facts)


def _of_number(number: Number) -> Topic:
    other = number_of(number.same_as) if number.same_as else None
    lines = ["# {} {}".format(number.number, number.name).strip(), localized(number.meaning)]
    if other is not None:
        lines.append(localized("The same as {}: {}", other.number, localized(other.meaning)))
    class_ = number.class_ or (other.class_ if other is not None else "")
    if number.advice:
        lines.append(localized("What to do: {}", localized(number.advice)))
    if class_:
        lines.append(_list([localized("Class: {}", class_name(class_))]))
    return Topic(
        "code", number.number, localized(number.meaning), _page(lines), (), {"class": class_}
    )


def _of_unlisted(word: str, sentence: str) -> Topic:
    summary = localized(sentence)
    return Topic("code", word, summary, _page(["# " + word, summary]), (), {"class": ""})


def _leads(leads: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for kind, title in _TITLES.items():
        if leads.get(kind):
            yield localized(title, listed(led_to(leads[kind])))
    for command in leads.get("commands", ()):
        yield localized("Next: {}", "`{}`".format(command))


def _list(lines: Sequence[str]) -> str:
    return "\n".join("- " + line for line in lines)


def _page(parts: Sequence[Optional[str]]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
