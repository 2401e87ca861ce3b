"""Sphinx configuration."""

project = "npu_config"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]
