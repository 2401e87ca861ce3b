"""Everything that ``npu-config explain`` explains, made from the declarations.

That takes every rule of the package, and a second: ``tools.generate`` writes it to a file for
each language, which :mod:`npu_config.cli._topics` reads.
"""

from typing import Dict, List, Mapping, Sequence, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.api import PARAMETERS
from npu_config.cli._pages import (
    argument_page,
    fact_page,
    option_facts,
    option_page,
    plain,
    rule_page,
    variable_page,
)
from npu_config.cli._topics import FORMER, Topic
from npu_config.core.message import localized
from npu_config.launch.environment.variables import VARIABLES
from npu_config.migration.facts import FACTS, details
from npu_config.rulebook import load_all
from npu_config.rules.names import FORMER_NAMES


def topics() -> List[Topic]:
    """Every topic in the language that is spoken: options, rules, variables and the rest."""
    return [*_options(), *_rules(), *_variables(), *_arguments(), *_migration(), *_former()]


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


def _rules() -> List[Topic]:
    return [
        Topic(
            "rule",
            rule.id,
            plain("{}: {}".format(rule.name, localized(rule.summary))),
            rule_page(rule),
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
            facts={"group": fact.group, "source": fact.source, "url": fact.url, **details(fact)},
        )
        for fact in FACTS.values()
    ]


def _former() -> List[Topic]:
    """What became of options of older adapters."""
    return [
        Topic(
            FORMER,
            name,
            localized(became),
            "# {}\n\n{}\n".format(
                name, localized("Not an option any more: {}", localized(became))
            ),
        )
        for name, became in FORMER_NAMES.items()
    ]


def _fields(name: str, carried: Mapping[str, Sequence[str]]) -> Tuple[str, ...]:
    return tuple(other for other in carried if other.startswith(name + "."))


def _carries(name: str, options: Sequence[str], carried: Mapping[str, Sequence[str]]) -> str:
    if options:
        return localized(
            "carries the option {}" if len(options) == 1 else "carries the options {}",
            ", ".join(options),
        )
    if _fields(name, carried):
        return localized("a configuration object with fields that carry options")
    return localized("an argument of NPURunConfig that carries no option")
