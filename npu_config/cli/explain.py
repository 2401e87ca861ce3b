"""``npu-config explain``."""

import json
import re
import sys
from typing import Iterable, List, Optional, Sequence, Tuple

import click

from npu_config.cli._options import complete_names, form_option
from npu_config.cli._output import Failure, say, wants_color
from npu_config.cli._topics import (
    FAILURES,
    KINDS,
    Topic,
    about,
    called,
    former,
    misspelt,
    topics,
)
from npu_config.core.message import join, listed, localized

_RULE = re.compile(r"NPU[0-9]+\Z", re.I)
_WORD = re.compile(r"\w\w|[^\W\x00-\x7f]")
"""What can be looked for: a letter alone, of an option that does not exist, is in every page."""


@click.command("explain")
@click.argument("words", metavar="[NAME|WORDS]...", nargs=-1, shell_complete=complete_names)
@click.option("--list", "listing", is_flag=True, help="List the names with a short description.")
@click.option("--kind", type=click.Choice((*KINDS, *FAILURES)), help="Only topics of this kind.")
@form_option("Output format.")
def command(words: Tuple[str, ...], listing: bool, kind: Optional[str], format_: str) -> None:
    """Explain options, rules, environment variables and NPURunConfig arguments.

    A NAME is the name of an option (dump_step), a rule (NPU104, value-not-allowed), a variable
    (RANK_ID), an argument (dump_config), or an entry in a report of migrate (hvd-rank).
    It may also be an error code (EI0006, E30008), a return number (507018, 0x7020016)
    or a failure that npu-config log knows (faq-getnext-timeout).
    Other WORDS, and the words of a message, are searched for in names, pages and the guides, in
    both languages.

    \b
    npu-config explain dump_step NPU104
    npu-config explain overflow
    npu-config explain "loss scale"
    npu-config explain EI0006 507018
    npu-config explain "Getting socket times out"
    npu-config explain --list --kind variable
    """
    if not listing and not any(_WORD.search(word) for word in words):
        raise click.UsageError("pass the name of an option or a rule, or use --list")
    found: List[Topic] = [] if words else _listed(kind)
    unknown: List[str] = []
    searched = listing
    for word in words:
        named = _of(kind, called(word) or _failure(word))
        if not named and not _RULE.match(word):
            meant = misspelt(word)
            named = _of(kind, called(meant)) if meant else []
            if named:
                say(localized('there is no name "{}"; showing "{}"', word, meant) + "\n", err=True)
        hits = named or ([] if _RULE.match(word) else _of(kind, _searched(word)))
        searched = searched or (not named and bool(hits))
        found.extend(hits)
        if not hits and not former(word):
            unknown.append(word)
        elif not hits:
            say(former(word))
    found = _of(kind, found)
    if not listing and (format_ == "json" or not searched):  # where pages are shown
        found = [_with_codes(topic) for topic in found]
    if format_ == "json":
        say(_json(found, not listing))
    elif searched:
        say("".join(_line(topic) for topic in found))
    else:
        _show([topic.page for topic in found])
    if unknown:
        raise Failure(join("; ", (_unknown(word, kind) for word in unknown)))


def _listed(kind: Optional[str]) -> List[Topic]:
    """Every topic; codes and failures only where they are asked for."""
    if kind in FAILURES:
        from npu_config.cli._failures import failures

        return failures(str(kind))
    return list(topics())


def _with_codes(topic: Topic) -> Topic:
    """A rule with the error codes by which jobs end for what it finds."""
    if topic.kind != "rule":
        return topic
    from npu_config.cli._failures import codes_of_rule
    from npu_config.core.job_ends import ENDS

    ends = {end.code: end.names for end in ENDS if end.rule == topic.name}
    others = [code for code in codes_of_rule(topic.name) if code not in ends]
    page = topic.page
    for code, names in ends.items():
        text = "The job ends with {} ({})." if names else "The job ends with {}."
        page += "\n" + localized(text, code, *([localized(listed(names))] if names else [])) + "\n"
    if others:
        page += "\n" + localized(
            "A fault found by this rule can be the cause of {} in a log.",
            localized(listed(others)),
        )
        page += "\n"
    return topic._replace(page=page, facts={**topic.facts, "codes": [*ends, *others]})


def _failure(word: str) -> List[Topic]:
    from npu_config.cli._failures import failure_called

    return failure_called(word)


def _searched(words: str) -> List[Topic]:
    """What a message of a log is goes first; codes whose pages hold the words go last."""
    from npu_config.cli._failures import failures_about, failures_holding

    return failures_about(words) + about(words) + failures_holding(words)


def _of(kind: Optional[str], found: Iterable[Topic]) -> List[Topic]:
    """The topics of a kind, each once."""
    by_name = {(topic.kind, topic.name): topic for topic in found if kind in (None, topic.kind)}
    return list(by_name.values())


def _line(topic: Topic) -> str:
    return "{:<9} {:<32} {}\n".format(topic.kind, topic.name, topic.summary)


def _json(found: Sequence[Topic], with_pages: bool) -> str:
    entries = [
        {
            "kind": topic.kind,
            "name": topic.name,
            "also": list(topic.also),
            "summary": topic.summary,
            **topic.facts,
            **({"page": topic.page} if with_pages else {}),
        }
        for topic in found
    ]
    return json.dumps({"version": 1, "topics": entries}, indent=2, ensure_ascii=True) + "\n"


def _show(pages: Sequence[str]) -> None:
    text = "\n".join(pages)
    if wants_color(sys.stdout):
        try:
            from rich.console import Console
            from rich.markdown import Markdown
        except ImportError:
            pass
        else:
            Console().print(Markdown(text))
            return
    say(text)


def _unknown(word: str, kind: Optional[str]) -> str:
    from npu_config.text.words import near

    for topic in called(word):
        message = '"{}" is of the kind {}; leave out "--kind {}"'
        return localized(message, word, topic.kind, kind)
    names = [name for topic in topics() for name in (topic.name, *topic.also)]
    close = near(word, names)
    hint = "" if close is None else localized('; did you mean "{}"?', close)
    return localized(
        '"{}" is not the name of an option or a rule, and no page mentions it{}', word, hint
    )
