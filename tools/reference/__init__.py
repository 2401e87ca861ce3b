"""The reference part of the documentation, made from what the package declares."""

import functools
import json
import os
from pathlib import Path
from typing import Callable, Dict

from npu_config.catalogue import PAGES
from npu_config.cli.app import SUMMARIES
from npu_config.core.message import LANGUAGES
from npu_config.reporters import schema as findings
from npu_config.rulebook import load_all
from tools import api
from tools.reference import chinese, commands, files, options, products, rules, variables

ROOT = str(Path(__file__).parents[2])


def pages() -> Dict[str, Callable[[], str]]:
    """Path of each page, and what renders it."""
    result: Dict[str, Callable[[], str]] = {
        "docs/options/index.md": options.index,
        "docs/rules/index.md": rules.index,
        "docs/rules/all.md": rules.all_page,
        "docs/reference/commands.md": commands.render,
        "docs/reference/environment.md": variables.render,
        "docs/reference/files.md": files.render,
        "docs/reference/products.md": products.render,
        "docs/zh/options.md": chinese.options_page,
        "docs/zh/rules.md": chinese.rules_page,
        "docs/reference/output.schema.json": lambda: (
            json.dumps(findings.schema(), indent=2) + "\n"
        ),
    }
    result.update(api.pages())
    for language in LANGUAGES:
        result[os.path.relpath(SUMMARIES.format(language), ROOT)] = functools.partial(
            commands.summaries, language
        )
    for page in PAGES:
        result["docs/options/{}.md".format(page.name)] = functools.partial(options.page, page)
        result["docs/zh/options/{}.md".format(page.name)] = functools.partial(
            chinese.option_page, page
        )
    for band in rules.BANDS:
        result["docs/rules/{}xx.md".format(band)] = functools.partial(rules.band_page, band)
        result["docs/zh/rules/{}xx.md".format(band)] = functools.partial(chinese.band_page, band)
    for rule in load_all():
        result["docs/rules/{}.md".format(rule.id)] = functools.partial(rules.page, rule)
    return result
