"""Sphinx configuration; the reference pages are made by ``python -m tools.generate``."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parents[1])]

from npu_config.core.diagnostics import DOCS_URL  # noqa: E402 - found through the line above
from npu_config.core.version import __version__  # noqa: E402

project = "npu_config"
author = copyright = "the npu_config developers"
version = release = __version__
html_baseurl = DOCS_URL + "/"

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "mixed_search",
    "navigation",
    "unbroken",
]
exclude_patterns = ["_build", "_browser", "requirements.txt"]
html_theme = "furo"
html_title = "npu_config"
html_static_path = ["_static"]
html_css_files = ["npu_config.css"]
html_search_language = "mixed"
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_use_index = False  # the entries are words to search for
html_show_sourcelink = False
html_copy_source = False
copybutton_prompt_text = "$ "

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # wrong examples are wrong on purpose
