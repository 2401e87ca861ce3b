"""The options: an index by page of the vendor's documentation, one heading for each option."""

from typing import Iterator, Tuple

from npu_config.catalogue import OPTIONS, PAGES, Option
from npu_config.core.versions import ALL_PRODUCTS, NEVER
from npu_config.rulebook import load_all
from npu_config.writers import scalar
from npu_config.writers.init import sample
from tools.reference.markdown import NOTE, anchor, cell, table, toctree

MODES = {"both": "training and online inference"}


def index() -> str:
    """The options under the page that documents them, each with its summary."""
    lines = [
        NOTE,
        "# Options\n",
        "The {} options of NpuOptimizer, grouped as in the vendor's documentation. "
        "`npu-config explain NAME` prints the same in a terminal.\n".format(len(OPTIONS)),
        toctree(page.name for page in PAGES),
    ]
    for entry in PAGES:
        lines.append("\n## [{}]({}.md)\n".format(entry.title, entry.name))
        lines += [
            "- {}: {}".format(link(option), option.summary) for option in entry.options.values()
        ]
    return "\n".join(lines) + "\n"


def link(option: Option, folder: str = "") -> str:
    """A link to the heading of an option."""
    return "[{}]({}{}.md#{})".format(option.name, folder, option.page, anchor(option.name))


def page(entry: object) -> str:
    """The options of one page."""
    lines = [NOTE, "# {}\n".format(entry.title)]  # type: ignore[attr-defined]
    lines += [section(option) for option in entry.options.values()]  # type: ignore[attr-defined]
    return "\n".join(lines).rstrip() + "\n"


def section(option: Option) -> str:
    """All that is known of one option."""
    lines = [
        "({})=".format(anchor(option.name)),
        "## {}\n".format(option.name),
        option.summary + "\n",
        table(("", ""), facts(option)),
    ]
    if option.notes:
        lines.append("\n" + option.notes)
    lines += ["\n```yaml", *(map(": ".join, _sample(option))), "```"]
    about = [rule for rule in load_all() if option.name in rule.named]
    if about:
        lines.append("\nRules:\n")
        lines += [
            "- [{0} {1}](../rules/{0}.md): {2}".format(r.id, r.name, r.summary) for r in about
        ]
    sources = list(filter(None, (option.doc, *option.source)))
    if sources:
        lines.append("\nSource: " + ", ".join(map("`{}`".format, sources)))
    return "\n".join(lines) + "\n"


def _sample(option: Option) -> Iterator[Tuple[str, str]]:
    yield "version", "1"
    for name, value in sample(option).items():
        yield name, scalar(value)


def facts(option: Option) -> Iterator[Tuple[str, str]]:
    """The rows of its table."""
    yield "type", option.kind.describe() + (" ({})".format(option.unit) if option.unit else "")
    yield "default", default_words(option)
    yield "field", '`parameter_map["{}"].{}`'.format(option.name, option.wire)
    if option.former_wire:
        yield "field `.{}`".format(option.former_wire), str(option.former_wire_versions)
    yield "products", product_words(option)
    for value, products in option.value_products.items():
        names = ", ".join(sorted(product.value for product in products))
        yield "`{}` only on".format(value), names
    for product, limits in option.ranges.items():
        yield "on {}".format(product.value), "{} to {}".format(*limits)
    yield "mode", MODES.get(option.modes, option.modes.replace("_", " "))
    yield "scope", option.scope.replace("+", " and ")
    yield "status", str(option.standing)
    if option.effective != NEVER:
        yield "had an effect", str(option.effective)
    if option.replacement:
        yield "use instead", option.replacement
    yield "TF Adapter", str(option.versions)
    for value, versions in option.value_versions.items():
        yield "`{}`".format(value), str(versions)
    yield "NPURunConfig", "`{}`".format(option.run_config) if option.run_config else "no argument"
    if option.read_when:
        switches = " or ".join(map("`{}`".format, option.read_when))
        yield "read when", "{} is set".format(switches)
    if option.wire != "b":
        yield "a bad value", option.outcome.value


def default_words(option: Option) -> str:
    """The default, or what decides it."""
    if option.default_note:
        return cell(option.default_note)
    return "none" if option.default is None else "`{}`".format(option.default)


def product_words(option: Option) -> str:
    """The products that know an option."""
    if option.products == ALL_PRODUCTS:
        return "all"
    return ", ".join(sorted(product.value for product in option.products))
