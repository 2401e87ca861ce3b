"""docs/migration.md: the table of facts that the report links to."""

import os
import re
from typing import List

from npu_config.migration.facts import FACTS

PATH = "docs/migration.md"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def render() -> str:
    """The page with the part between its two marks made anew."""
    with open(os.path.join(ROOT, PATH), encoding="utf-8") as stream:
        page = stream.read()
    block = "<!-- facts:begin -->\n{}<!-- facts:end -->".format(facts())
    return re.sub(r"<!-- facts:begin -->.*?<!-- facts:end -->", lambda _: block, page, flags=re.S)


def facts() -> str:
    """A heading for each group, and a line with an anchor for each fact."""
    lines: List[str] = []
    group = ""
    for fact in FACTS.values():
        if fact.group != group:
            group = fact.group
            lines += ["", "### " + group.capitalize(), ""]
        source = "; documentation: `{}`".format(fact.source) if fact.source else ""
        lines.append('- <a id="{0}"></a>`{0}`: {1}{2}'.format(fact.id, fact.title, source))
    return "\n".join(lines).lstrip("\n") + "\n"
