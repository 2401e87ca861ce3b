"""What shells offer to complete: names of options and rules (``docs/command-line.md``)."""

from typing import TYPE_CHECKING, List

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "List[CompletionItem]":
    """Ids and names of rules; of several, joined by commas, the last is completed."""
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + name, help=words)
        for name, words in _rules()
        if name.lower().startswith(word.lower())
    ]


def complete_names(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "List[CompletionItem]":
    """Everything that ``explain`` explains."""
    from click.shell_completion import CompletionItem

    from npu_config.cli._topics import topics

    return [
        CompletionItem(name, help=topic.summary)
        for topic in topics()
        for name in (topic.name, *topic.also)
        if name.lower().startswith(incomplete.lower())
    ]


def _rules() -> List[List[str]]:
    from npu_config.cli._topics import topics

    rules = [topic for topic in topics() if topic.kind == "rule"]
    return [[rule.name, rule.summary] for rule in rules] + [
        [name, rule.summary] for rule in rules for name in rule.also
    ]
