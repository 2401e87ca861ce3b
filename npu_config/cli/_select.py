"""Which findings are reported: ``--select`` and ``--ignore``."""

from typing import Callable, Iterable, List

import click

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import localized
from npu_config.core.rule import selects
from npu_config.lint.project import id_of_rule

Keeps = Callable[[Diagnostic], bool]

_ALWAYS = ("NPU701", "NPU702", "NPU703", "NPU708", "NPU830", "NPU831")


def selection(select: Iterable[str], ignore: Iterable[str], where: str = "--ignore") -> Keeps:
    """A function that says whether a finding is reported.

    Args:
        select: ids, beginnings of ids or names, several joined by commas; empty: all.  That a
            file cannot be read is reported in any case, unless it is ignored.
        ignore: the same; wins over ``select``.
        where: where ``ignore`` comes from, for the message.

    Raises:
        click.UsageError: one of them is no rule.
    """
    chosen, dropped = _ids(select, "--select"), _ids(ignore, where)
    if not chosen and not dropped:
        return lambda diagnostic: True
    if chosen:
        chosen.extend(_ALWAYS)

    def keeps(diagnostic: Diagnostic) -> bool:
        if any(selects(id, diagnostic.rule) for id in dropped):
            return False
        return not chosen or any(selects(id, diagnostic.rule) for id in chosen)

    return keeps


def _ids(words: Iterable[str], option: str) -> List[str]:
    """The ids, or beginnings of ids, that words mean."""
    given = [part.strip() for word in words for part in word.split(",") if part.strip()]
    if not given:
        return []
    from npu_config.rulebook import load_all
    from npu_config.text.words import near

    by_name = {rule.name: rule.id for rule in load_all()}
    found = []
    for word in given:
        id = id_of_rule(word, by_name)
        if id is not None:
            found.append(id)
        else:
            close = near(word, [*by_name, *by_name.values()])
            hint = "" if close is None else localized('; did you mean "{}"?', close)
            raise click.UsageError(localized('{}: "{}" is not a rule{}', option, word, hint))
    return found
