"""The sidebar of pages that no table of contents lists is made once for each folder.

Most pages are those of single rules.  Their sidebar has 140 entries, none of them marked as the
page that is shown, so that it is the same for all pages of a folder; to make it takes longer than
the rest of a page.
"""

import posixpath
from typing import Any, Dict, Tuple

from sphinx.application import Sphinx


def setup(app: Sphinx) -> Dict[str, Any]:
    """Enter it, in front of the theme, which asks for the sidebar."""
    made: Dict[Tuple[Any, ...], str] = {}

    def share(app: Sphinx, name: str, template: str, context: Dict[str, Any], tree: Any) -> None:
        listed = any(name in pages for pages in app.env.toctree_includes.values())
        if listed or name == app.config.root_doc or "toctree" not in context:
            return
        make = context["toctree"]

        def toctree(**options: Any) -> str:
            key = (posixpath.dirname(name), *sorted(options.items()))
            if key not in made:
                made[key] = make(**options)
            return made[key]

        context["toctree"] = toctree

    app.connect("html-page-context", share, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
