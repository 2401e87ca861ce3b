"""``npu-config explain``."""

import sys
from typing import Optional

import click

from npu_config.cli._output import Failure, say, wants_color


@click.command("explain")
@click.argument("word", metavar="OPTION|RULE")
def command(word: str) -> None:
    """Print all that is known of an option, or the page of a rule (id or name)."""
    page = _page(word)
    if page is None:
        raise Failure(_unknown(word))
    if wants_color(sys.stdout):
        try:
            from rich.console import Console
            from rich.markdown import Markdown
        except ImportError:
            pass
        else:
            Console().print(Markdown(page))
            return
    say(page)


def _page(word: str) -> Optional[str]:
    from npu_config.catalogue import OPTIONS
    from npu_config.cli._pages import option_page, rule_page
    from npu_config.rulebook import load_all
    from npu_config.rules.values import FORMER_NAMES

    if word in OPTIONS:
        return option_page(OPTIONS[word])
    for rule in load_all():
        if word.upper() == rule.id or word == rule.name:
            return rule_page(rule)
    if word in FORMER_NAMES:
        return "# {}\n\nNo option any more: {}\n".format(word, FORMER_NAMES[word])
    return None


def _unknown(word: str) -> str:
    from npu_config.catalogue import OPTIONS
    from npu_config.rulebook import load_all
    from npu_config.text.words import near

    rules = load_all()
    known = [*OPTIONS, *(rule.name for rule in rules), *(rule.id for rule in rules)]
    close = near(word, known)
    hint = "" if close is None else '; did you mean "{}"?'.format(close)
    return '"{}" is neither an option nor a rule{}'.format(word, hint)
