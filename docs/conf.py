"""Sphinx configuration."""

project = "npu_config"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # pages link to files of the repository
    "misc.highlighting_failure",  # wrong examples are wrong on purpose
]
