"""Pages written by hand, each with a part between two marks that is made anew.

The READMEs hold a broken example and what the tool says of it; ``docs/migration.md`` the facts
that the report of a migration links to; ``docs/codes.md`` every error code and known failure.
"""

import functools
import os
import re
from typing import Callable, Dict, Iterable, List, Mapping, Sequence, Tuple

from npu_config.checking import check
from npu_config.core.message import localized, speaking
from npu_config.logs.facts import CLASSES, Code, class_name, codes, known, led_to
from npu_config.migration.facts import LABELS, facts
from npu_config.reporters import Style, Summary, render

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLE = "examples/quickstart/broken.yaml"


def files() -> Dict[str, Callable[[], str]]:
    """Path of each page, and what renders it."""
    parts: Sequence[Tuple[str, str, str, Callable[[str], str]]] = (
        ("README.md", "broken", "en", findings),
        ("README.zh-CN.md", "broken", "zh", findings),
        ("docs/migration.md", "facts", "en", migration_facts),
        ("docs/codes.md", "codes", "en", tables_of_codes),
        ("docs/zh/codes.md", "codes", "zh", tables_of_codes),
    )
    return {part[0]: functools.partial(_page, *part) for part in parts}


def _page(path: str, mark: str, language: str, part: Callable[[str], str]) -> str:
    """A page with the part between its two marks made anew."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        page = stream.read()
    begin, end = ("<!-- {}:{} -->".format(mark, word) for word in ("begin", "end"))
    with speaking(language):
        block = "{}\n{}{}".format(begin, part(language), end)
    return re.sub("{}.*?{}".format(begin, end), lambda _: block, page, flags=re.S)


# READMEs


def findings(language: str) -> str:
    """What ``npu-config check`` prints for the example."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        report = check(EXAMPLE)
        with open(EXAMPLE, encoding="utf-8") as stream:
            source = stream.read()
    finally:
        os.chdir(here)
    style = Style(notes=False, hints=True)
    text = render("text", report, Summary.of(report, 1), {EXAMPLE: source}, style)
    return "```text\n{}\n```\n".format(text.rstrip())


# docs/migration.md

_CODE = ("before", "after")


def migration_facts(language: str) -> str:
    """A heading for each group, and an anchor with its details for each fact."""
    lines: List[str] = []
    group = ""
    for fact in facts().values():
        if fact.group != group:
            group = fact.group
            lines += ["", "### " + group.capitalize(), ""]
        lines.append('- <a id="{0}"></a>`{0}`: {1}'.format(fact.id, fact.title))
        lines += [
            "  - {}: {}".format(LABELS[key], "`{}`".format(text) if key in _CODE else text)
            for key, text in fact.details.items()
        ]
        if fact.source:
            lines.append("  - documentation: `{}`".format(fact.source))
    return "\n".join(lines).lstrip("\n") + "\n"


# docs/codes.md and docs/zh/codes.md

_HEADS: Mapping[str, Sequence[str]] = {
    "en": ("code", "what happened", "what to do", "leads to", "failure", "Other codes"),
    "zh": ("错误码", "发生了什么", "应对", "指向", "故障", "其他错误码"),
}


def tables_of_codes(language: str) -> str:
    """A table of codes and one of failures for each class, then the other codes."""
    code, happened, todo, leads, failure, others = _HEADS[language]
    lines: List[str] = []
    for class_ in CLASSES:
        met = [each for each in codes().values() if each.met and each.class_ == class_]
        failures = [each for each in known() if each.class_ == class_]
        lines += ["", "## " + class_name(class_)]
        if met:
            rows = [(_name(each), each.cause, each.todo, each.leads_to) for each in met]
            lines += _table((code, happened, todo, leads), rows)
        if failures:
            rows = [
                ("`{}`".format(each.id), each.cause, each.todo, each.leads_to) for each in failures
            ]
            lines += _table((failure, happened, todo, leads), rows)
    lines += ["", "## " + others, ""]
    lines += ["| {} | {} |".format(code, happened), "| --- | --- |"]
    lines += [
        "| {} | {} |".format(_name(each), _cell(localized(each.cause)))
        for each in codes().values()
        if not each.met
    ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _name(code: Code) -> str:
    return "{} {}".format(code.code, code.title).strip()


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> List[str]:
    lines = ["", "| {} |".format(" | ".join(head)), "| --- | --- | --- | --- |"]
    for name, cause, todo, leads in rows:
        assert isinstance(leads, Mapping)
        names = [
            each
            for kind in ("options", "variables", "rank_table_keys")
            for each in led_to(leads.get(kind, ()), "`{}`")
        ]
        cells = (str(name), localized(str(cause)), localized(str(todo)), " ".join(names))
        lines.append("| {} |".format(" | ".join(map(_cell, cells))))
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
