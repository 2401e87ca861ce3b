"""The READMEs: the broken example and what the tool says of it, as it says it now."""

import functools
import os
import re
from typing import Callable, Dict

from npu_config.checking import check
from npu_config.core.message import speaking
from npu_config.reporters import Style, Summary
from npu_config.reporters import render as rendered

LANGUAGES = {"README.md": "en", "README.zh-CN.md": "zh"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLE = "examples/quickstart/broken.yaml"


def pages() -> Dict[str, Callable[[], str]]:
    """Path of each README, and what renders it."""
    return {path: functools.partial(render, path) for path in LANGUAGES}


def render(path: str) -> str:
    """A README with the block between its two marks made anew."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        readme = stream.read()
    with speaking(LANGUAGES[path]):
        block = "<!-- broken:begin -->\n```text\n{}\n```\n<!-- broken:end -->".format(
            findings().rstrip()
        )
    return re.sub(
        r"<!-- broken:begin -->.*?<!-- broken:end -->", lambda _: block, readme, flags=re.S
    )


def findings() -> str:
    """What ``npu-config check`` prints for the example."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        report = check(EXAMPLE)
        with open(EXAMPLE, encoding="utf-8") as stream:
            source = stream.read()
    finally:
        os.chdir(here)
    return rendered(
        "text",
        report,
        Summary.of(report, 1),
        {EXAMPLE: source},
        Style(notes=False, hints=True),
    )
