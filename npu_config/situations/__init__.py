"""Documented troubles of training that no configuration shows.

Each situation is declared once: its rule (id, severity, page) and where it shows: ``text`` (the
script), ``graph`` (a stored one), ``run`` (what sessions did), ``ranks`` (several runs compared).
Nothing is recognised here: recognisers live where their input does, ``script.checks`` for the
text, ``diagnosis.graph`` for graphs, ``runner`` for runs and ranks, and make findings of these
rules.  A rule that another room declares names its situation by ``situation=``.
"""

from typing import Any, Callable

from npu_config.core.diagnostics import Rule, Severity, declare

TFADAPTER = "docs/en/tfadapter_1/"
MIGRATION = TFADAPTER + "migration/"
FAQ = MIGRATION + "faq/"
INTRODUCTION = TFADAPTER + "introduction.md"
ARTICLE = "article:003"
ADAPTER = "tf_adapter"

TEXT, GRAPH, RUN, RANKS = "text", "graph", "run", "ranks"


def situation(
    id: str, severity: Severity, *shows: str, **about: Any
) -> Callable[[Callable[..., None]], Rule]:
    """Declare the rule of a situation that is called as the decorated function.

    Args:
        id: of the rule.
        severity: of its findings.
        shows: where it can be seen.
        about: as for :func:`npu_config.core.diagnostics.declare`.
    """

    def enter(page: Callable[..., None]) -> Rule:
        about.setdefault("situation", page.__name__.replace("_", "-"))
        return declare(id, severity, shows=shows, **about)(page)

    return enter
