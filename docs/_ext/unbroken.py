"""A line break in a Chinese paragraph is no blank: browsers show one between its signs."""

import re
from typing import Any, Dict

from docutils import nodes
from sphinx.application import Sphinx

_WIDE = re.compile("[\u3001\u3002\u3400-\u9fff\uff00-\uffef]")
_CLOSING = re.compile("[\u3001\u3002\uff00-\uffef]")


def join_lines(app: Sphinx, doctree: nodes.document) -> None:
    """Take the breaks away that stand between two wide signs, or behind a punctuation mark."""
    if not app.env.docname.startswith("zh/"):
        return
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if text != "\n" or isinstance(parent, nodes.literal_block):
            continue
        index = parent.index(text)
        before = "".join(each.astext() for each in parent[:index])[-1:]
        after = "".join(each.astext() for each in parent[index + 1 :])[:1]
        if _CLOSING.match(before) or (_WIDE.match(before) and _WIDE.match(after)):
            parent.remove(text)


def setup(app: Sphinx) -> Dict[str, Any]:
    """Enter it."""
    app.connect("doctree-read", join_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
