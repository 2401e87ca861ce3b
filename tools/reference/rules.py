"""The rules: an index of the bands, a page for each band, a page for each rule."""

from typing import Dict, Iterable, List

from npu_config.catalogue import OPTIONS
from npu_config.core.diagnostics import Rule, Severity
from npu_config.rulebook import load_all
from tools.reference import options
from tools.reference.markdown import NOTE, filter_box, table, toctree

BANDS: Dict[str, str] = {
    "1": "Names, fields, kinds and values",
    "2": "Precision",
    "3": "Dump, overflow detection, profiling",
    "4": "Iteration offload, mixed computing, migration",
    "5": "Shapes, compilation and memory",
    "6": "Cluster and environment",
    "7": "Files",
    "8": "Session, Estimator, scripts and graphs",
    "9": "Deprecated and without effect",
}
SEVERITIES = {
    Severity.ERROR: "error (the runtime rejects it or dies, or the documentation forbids it)",
    Severity.WARNING: "warning (ignored in silence, without effect, or a risk)",
    Severity.INFO: "information",
}


def index() -> str:
    """The bands, with the number of their rules."""
    rows = [
        ("[{0}xx]({0}xx.md)".format(band), title, str(len(of_band(band))))
        for band, title in BANDS.items()
    ]
    return "\n".join(
        [
            NOTE,
            "# Rules\n",
            "{} rules, grouped by the first digit of their id. Ids are never reused. "
            "`npu-config explain NPU101` prints a page in the terminal, "
            "`npu-config explain overflow` searches. "
            "[All of them in one table](all.md).\n".format(len(load_all())),
            toctree(["all", *("{}xx".format(band) for band in BANDS)]),
            "",
            table(("rules", "about", "number"), rows),
            "",
        ]
    )


def band_page(band: str) -> str:
    """The rules of one band, by what they are about."""
    title = "# {}xx: {}\n".format(band, BANDS[band])
    return "\n".join([NOTE, title, _table(of_band(band)), ""])


def all_page() -> str:
    """Every rule in one table."""
    title = "# All rules in one table\n"
    return "\n".join([NOTE, title, filter_box("filter by words"), _table(load_all()), ""])


def _table(rules: Iterable[Rule]) -> str:
    rows = [
        ("[{0}]({0}.md)".format(rule.id), rule.name, rule.severity.value, rule.summary)
        for rule in rules
    ]
    return table(("rule", "name", "severity", "what"), rows)


def of_band(band: str) -> List[Rule]:
    """The rules whose ids begin with this digit."""
    return [rule for rule in load_all() if rule.id[3] == band]


def page(rule: Rule) -> str:
    """The page of one rule; it is not in the sidebar, which would hold hundreds."""
    band = rule.id[3]
    lines = [
        "---\norphan: true\n---\n",
        NOTE,
        "# {} {}\n".format(rule.id, rule.name),
        "[Rules](index.md) / [{0}xx {1}]({0}xx.md)\n".format(band, BANDS[band]),
        rule.page + "\n",
        "Severity: {}.".format(SEVERITIES[rule.severity]),
    ]
    if rule.products is not None:
        lines.append("Products: {}.".format(", ".join(sorted(p.value for p in rule.products))))
    if rule.on_host:
        lines.append("Runs only when asked to look at the host (`--on-host`, `on_host=True`).")
    if rule.shows == ("run",):
        lines.append("Found while a script runs, by `npu-config run` too; not by `check`.")
    if rule.named:
        links = [
            options.link(OPTIONS[name], "../options/") for name in rule.named if name in OPTIONS
        ]
        lines.append("\nOptions: " + ", ".join(links))
    if rule.source:
        lines.append("\nSource: " + ", ".join("`{}`".format(source) for source in rule.source))
    return "\n".join(lines) + "\n"
