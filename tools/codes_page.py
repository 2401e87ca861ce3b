"""docs/codes.md and docs/zh/codes.md: every error code and known failure, grouped by class."""

import functools
import os
import re
from typing import Callable, Dict, Iterable, List, Mapping, Sequence

from npu_config.core.message import localized, speaking
from npu_config.logs.facts import CLASSES, Code, class_name, codes, known, led_to

PATHS = {"en": "docs/codes.md", "zh": "docs/zh/codes.md"}

_HEADS: Mapping[str, Sequence[str]] = {
    "en": ("code", "what happened", "what to do", "leads to", "failure", "Other codes"),
    "zh": ("错误码", "发生了什么", "应对", "指向", "故障", "其他错误码"),
}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files() -> Dict[str, Callable[[], str]]:
    """Path of each page, and what renders it."""
    return {path: functools.partial(render, language) for language, path in PATHS.items()}


def render(language: str) -> str:
    """The page with the part between its two marks made anew."""
    with open(os.path.join(ROOT, PATHS[language]), encoding="utf-8") as stream:
        page = stream.read()
    block = "<!-- codes:begin -->\n{}<!-- codes:end -->".format(tables(language))
    return re.sub(r"<!-- codes:begin -->.*?<!-- codes:end -->", lambda _: block, page, flags=re.S)


def tables(language: str) -> str:
    """A table of codes and one of failures for each class, then the other codes."""
    code, happened, todo, leads, failure, others = _HEADS[language]
    lines: List[str] = []
    with speaking(language):
        for class_ in CLASSES:
            met = [each for each in codes().values() if each.met and each.class_ == class_]
            failures = [each for each in known() if each.class_ == class_]
            lines += ["", "## " + class_name(class_)]
            if met:
                rows = [(_name(each), each.cause, each.todo, each.leads_to) for each in met]
                lines += _table((code, happened, todo, leads), rows)
            if failures:
                rows = [
                    ("`{}`".format(each.id), each.cause, each.todo, each.leads_to)
                    for each in failures
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
