"""Everything that ``npu-config explain`` explains, made from the declarations.

That takes every rule of the package, and a second: it is written to a file for each language
(``tools.topics``), which :mod:`npu_config.cli._topics` reads.
"""

import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS, Option
from npu_config.catalogue.api import PARAMETERS
from npu_config.catalogue.layout import grouped
from npu_config.cli._topics import FORMER, Topic
from npu_config.core.diagnostics import Rule
from npu_config.core.message import join, listed, localized
from npu_config.core.versions import ALL_PRODUCTS, NEVER
from npu_config.launch.environment.variables import VARIABLES, Variable
from npu_config.migration.facts import LABELS, Fact, facts
from npu_config.rulebook import load_all
from npu_config.rules.names import FORMER_NAMES
from npu_config.writers import scalar
from npu_config.writers.init import legal, sample

_TWICE = re.compile("(?<!`)``(?!`)")
_BLOCK = re.compile(r"(^```[^\n]*\n.*?\n```$)|((?:^(?!```)[^\n]+(?:\n|\Z))+)", re.M | re.S)

_MODES = {
    "both": "training and online inference",
    "training": "training",
    "online_inference": "online inference",
}


def option_page(option: Option) -> str:
    """All that is known of an option, and how to set it."""
    values = sample(option)
    parts = ["# {}".format(option.name), localized(option.summary), _list(_facts(option))]
    if option.notes:
        parts.append(localized(option.notes))
    parts.append(localized("In a configuration file:"))
    groups = [
        "{}:\n{}".format(
            group.key,
            "\n".join("  {}: {}".format(name, scalar(values[name])) for name in names),
        )
        for group, names in grouped(tuple(values))
    ]
    parts.append(_code("\n".join(groups)))
    parts.append(localized("In a script:"))
    parts.append(_code("\n".join(_assignment(name, value) for name, value in values.items())))
    concerned = [rule for rule in load_all() if option.name in rule.named]
    if concerned:
        parts.append(localized("Rules:"))
        parts.append(
            "\n".join(
                localized("- {}: {}", rule.id + " " + rule.name, localized(rule.summary))
                for rule in concerned
            )
        )
    if option.doc:
        parts.append(localized("Vendor's page: {}", option.doc))
    return plain("\n\n".join(parts) + "\n")


def plain(text: str) -> str:
    """A text with names in single backticks, which docstrings have in double ones."""
    return _TWICE.sub("`", text)


def _assignment(name: str, value: object) -> str:
    wire = OPTIONS[name].wire
    shown = "tf.compat.as_bytes({})".format(scalar_text(value)) if wire == "s" else value
    return "{}[{}].{} = {}".format("custom_op.parameter_map", scalar_text(name), wire, shown)


def scalar_text(value: object) -> str:
    """A text in quotes."""
    from npu_config.writers.shared import quoted

    return quoted(str(value))


def _facts(option: Option) -> Iterator[Tuple[str, Optional[str]]]:
    kind = option.kind
    yield "Legal values", legal(option)
    if option.default is not None:
        yield "Default", scalar(option.default if kind.plain else kind.to_wire(option.default))
    if option.default_note:
        yield "Default by product and mode", option.default_note
    yield "Status", option.standing
    if option.effective != NEVER:
        yield "Effective", str(option.effective)
    if option.replacement:
        yield "Use instead", option.replacement
    if option.products != ALL_PRODUCTS:
        yield "Products", listed(sorted(product.value for product in option.products))
    for value, products in option.value_products.items():
        names = listed(sorted(product.value for product in products))
        yield localized("{} only on", value), names
    for product, (low, high) in option.ranges.items():
        yield localized("On {}", product.value), localized("{} to {}", low, high)
    yield "Mode", _MODES[option.modes]
    if option.read_when:
        yield (
            "Read only with",
            join(" or ", [localized("{} true", name) for name in option.read_when]),
        )
    yield "TF Adapter", str(option.versions)
    for value, versions in option.value_versions.items():
        yield localized("{} is known", value), str(versions)
    if option.former_wire:
        yield localized("Field .{}", option.former_wire), str(option.former_wire_versions)
    yield "NPURunConfig", option.run_config or "no argument"
    yield "An invalid value", option.outcome.value


def _list(facts: Iterator[Tuple[str, Optional[str]]]) -> str:
    return "\n".join(
        localized("- {}: {}", localized(name), localized(text or "")) for name, text in facts
    )


def _code(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


Translate = Callable[[str], str]


def rule_page(rule: Rule, translate: Optional[Translate] = None) -> str:
    """What a rule finds, why it matters, and the right way.

    Args:
        rule: the rule.
        translate: gives a paragraph of the page in the language that is spoken, empty where it
            has none; None: they stay as they are.
    """
    parts: List[str] = [
        "# {} {}".format(rule.id, rule.name),
        localized("Severity: {}", localized(rule.severity.value)),
        localized(rule.summary),
    ]
    for text, is_code in paragraphs(rule):
        said = text if is_code or translate is None else translate(text) or text
        for heading in ("Wrong:", "Right:"):
            shown = localized(heading)
            said = re.sub(
                r"^{}( |(?=\s|$))".format(heading), shown + r"\1" * (shown == heading), said
            )
        parts.append(said)
    if rule.named:
        parts.append(localized("Options: {}", listed(rule.named)))
    if rule.on_host:
        parts.append(localized("Checked on the training host only (--on-host)."))
    if rule.shows == ("run",):
        parts.append(
            localized("Reported while a script runs (also by npu-config run), not by check.")
        )
    if rule.source:
        parts.append(
            localized("Source:")
            + "\n\n"
            + "\n".join("- {}".format(source) for source in rule.source)
        )
    return plain("\n\n".join(parts) + "\n")


def paragraphs(rule: Rule) -> Iterator[Tuple[str, bool]]:
    """The paragraphs of a rule's page below its title, and whether each is code."""
    _, _, rest = rule.page.partition("\n")
    for fenced, text in _BLOCK.findall(rest):
        yield fenced or text.rstrip("\n"), bool(fenced) or text.startswith("    ")


def option_facts(option: Option) -> Dict[str, Any]:
    """What programs may want to know of an option."""
    kind = option.kind
    plain = option.default is None or kind.plain
    return {
        "wire": option.wire,
        "legal": legal(option),
        "default": option.default if plain else kind.to_wire(option.default),
        "status": option.status.value,
        "replacement": option.replacement,
        "products": sorted(product.value for product in option.products),
        "modes": option.modes,
        "run_config": option.run_config,
        "doc": option.doc,
    }


def variable_page(variable: Variable) -> str:
    """All that is known of an environment variable."""
    facts = [("Legal values", variable.kind.describe()), ("Unit", variable.unit)]
    facts += [("Default", variable.default), ("Read by", listed(variable.read_by))]
    if variable.products is not None:
        facts.append(("Products", listed(sorted(p.value for p in variable.products))))
    facts.append(("An invalid value", variable.consequence))
    parts = [
        "# {}".format(variable.name),
        localized("Environment variable: {}.", localized(variable.meaning)),
        _list((name, text) for name, text in facts if text),
    ]
    if variable.interactions:
        parts.append("\n".join("- {}".format(localized(text)) for text in variable.interactions))
    if variable.page:
        parts.append(localized("Vendor's page: {}", variable.page))
    return "\n\n".join(parts) + "\n"


def fact_page(fact: Fact) -> str:
    """What ``npu-config migrate`` does about something, and where it is documented."""
    said = [(LABELS[key], text) for key, text in fact.details.items()]
    parts = [
        "# {}".format(fact.id),
        localized("How npu-config migrate handles: {}.", localized(fact.title)),
        _list(iter(said)),
    ]
    if fact.source:
        parts.append(localized("Vendor's page: {}", "docs/en/tfadapter_1/" + fact.source))
    parts.append(fact.url)
    return "\n\n".join(parts) + "\n"


def argument_page(name: str, options: Sequence[str], fields: Sequence[str]) -> str:
    """What an argument of NPURunConfig carries."""
    parts = [localized("# NPURunConfig: {}", name)]
    parts += [localized("Sets the option {}.", option) for option in options]
    if fields:
        parts.append(localized("A configuration object; its fields:"))
        parts.append("\n".join("- {}".format(field) for field in fields))
    elif not options:
        parts.append(localized("This argument sets no option of the NPU."))
    for option in options:
        parts.append(option_page(OPTIONS[option]).rstrip().replace("# ", "## ", 1))
    return "\n\n".join(parts) + "\n"


def topics(translate: Optional[Translate] = None) -> List[Topic]:
    """Every topic in the language that is spoken: options, rules, variables and the rest."""
    return [
        *_options(),
        *_rules(translate),
        *_variables(),
        *_arguments(),
        *_migration(),
        *_former(),
    ]


def _options() -> List[Topic]:
    return [
        Topic(
            "option",
            option.name,
            localized(option.summary),
            option_page(option),
            facts=option_facts(option),
        )
        for option in OPTIONS.values()
    ]


def _rules(translate: Optional[Translate]) -> List[Topic]:
    return [
        Topic(
            "rule",
            rule.id,
            plain("{}: {}".format(rule.name, localized(rule.summary))),
            rule_page(rule, translate),
            (rule.name,),
            {
                "severity": rule.severity.value,
                "options": list(rule.named or rule.options),
                "on_host": rule.on_host,
                "source": list(rule.source),
            },
        )
        for rule in load_all()
    ]


def _variables() -> List[Topic]:
    return [
        Topic(
            "variable",
            variable.name,
            localized(variable.meaning),
            variable_page(variable),
            facts={
                "legal": variable.kind.describe(),
                "default": variable.default,
                "unit": variable.unit,
                "read_by": list(variable.read_by),
            },
        )
        for variable in VARIABLES.values()
    ]


def _arguments() -> List[Topic]:
    carried: Dict[str, List[str]] = {name: [] for name in PARAMETERS["NPURunConfig"]}
    for option in OPTIONS.values():
        if option.run_config is not None:
            carried.setdefault(option.run_config, []).append(option.name)
    return [
        Topic(
            "argument",
            "NPURunConfig." + name,
            _carries(name, options, carried),
            argument_page(name, options, _fields(name, carried)),
            () if name in OPTIONS else (name,),
            {"options": options, "fields": list(_fields(name, carried))},
        )
        for name, options in carried.items()
    ]


def _migration() -> List[Topic]:
    return [
        Topic(
            "migration",
            fact.id,
            localized(fact.title),
            fact_page(fact),
            facts={"group": fact.group, "source": fact.source, "url": fact.url, **fact.details},
        )
        for fact in facts().values()
    ]


def _former() -> List[Topic]:
    """What became of options of older adapters."""
    return [
        Topic(
            FORMER,
            name,
            localized(became),
            "# {}\n\n{}\n".format(name, localized("No longer an option: {}", localized(became))),
        )
        for name, became in FORMER_NAMES.items()
    ]


def _fields(name: str, carried: Mapping[str, Sequence[str]]) -> Tuple[str, ...]:
    return tuple(other for other in carried if other.startswith(name + "."))


def _carries(name: str, options: Sequence[str], carried: Mapping[str, Sequence[str]]) -> str:
    if options:
        return localized(
            "sets the option {}" if len(options) == 1 else "sets the options {}",
            ", ".join(options),
        )
    if _fields(name, carried):
        return localized("a configuration object whose fields set options")
    return localized("an argument of NPURunConfig that sets no option")
