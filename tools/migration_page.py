"""docs/migration.md: the list of facts that the report links to."""

import os
import re
from typing import List

from npu_config.migration.facts import LABELS
from npu_config.migration.facts import facts as all_facts

PATH = "docs/migration.md"
_CODE = ("before", "after")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def render() -> str:
    """The page with the part between its two marks made anew."""
    with open(os.path.join(ROOT, PATH), encoding="utf-8") as stream:
        page = stream.read()
    block = "<!-- facts:begin -->\n{}<!-- facts:end -->".format(facts())
    return re.sub(r"<!-- facts:begin -->.*?<!-- facts:end -->", lambda _: block, page, flags=re.S)


def facts() -> str:
    """A heading for each group, and an anchor with its details for each fact."""
    lines: List[str] = []
    group = ""
    for fact in all_facts().values():
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
