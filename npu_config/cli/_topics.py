"""Everything that ``npu-config explain`` explains, and the search in it."""

import functools
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from npu_config.core.message import language, localized

KINDS = ("option", "rule", "variable", "argument", "migration")


class Topic(NamedTuple):
    """One thing to explain.

    Attributes:
        kind: one of :data:`KINDS`; an argument is one of NPURunConfig, a migration what
            ``npu-config migrate`` changes, refuses or reports.
        name: what it is called.
        summary: one line.
        page: makes the whole page, as Markdown.
        also: other names of it.
        facts: what programs may want to know, for ``--format json``.
    """

    kind: str
    name: str
    summary: str
    page: Callable[[], str]
    also: Tuple[str, ...] = ()
    facts: Mapping[str, Any] = {}

    def is_called(self, word: str) -> bool:
        """Whether a word is its name."""
        word = word.lower()
        return any(word == name.lower() for name in (self.name, *self.also))


def topics() -> Tuple[Topic, ...]:
    """Every topic: options, rules, variables, arguments of NPURunConfig, facts of migrations."""
    return _topics(language())


@functools.lru_cache(maxsize=None)
def _topics(language: str) -> Tuple[Topic, ...]:
    return (*_options(), *_rules(), *_variables(), *_arguments(), *_migration())


def called(word: str) -> List[Topic]:
    """The topics that a word is the name of; an option goes before an argument of its name.

    What migrate calls so is explained, too: its report has names of options and rules.
    """
    found = [topic for topic in topics() if topic.is_called(word)]
    exact = [topic for topic in found if word in (topic.name, *topic.also)]
    found = exact or found
    others = [topic for topic in found if topic.kind != "migration"]
    if not others and "-" in word:
        others = [each for each in called(word.replace("-", "_")) if each not in found]
    return others[:1] + [topic for topic in found if topic.kind == "migration"]


def about(words: str) -> List[Topic]:
    """The topics that hold every one of some words: in their name, their summary, their page."""
    wanted = words.lower().split()
    ranked = [(rank, topic) for topic in topics() for rank in [_rank(topic, wanted)] if rank]
    best = min((rank for rank, _ in ranked), default=0)
    return [topic for rank, topic in sorted(ranked, key=lambda pair: pair[0]) if rank <= best + 1]


def _rank(topic: Topic, wanted: Sequence[str]) -> int:
    """0 for a topic that does not hold all of the words; the lower the nearer to its name."""
    texts = (
        lambda: " ".join((topic.name, *topic.also)),
        lambda: topic.name + " " + topic.summary,
        topic.page,
    )
    for rank, text in enumerate(texts, 1):
        content = text().lower()
        if all(word in content for word in wanted):
            return rank
    return 0


def _options() -> List[Topic]:
    from npu_config.catalogue import OPTIONS
    from npu_config.cli._pages import option_facts, option_page

    return [
        Topic(
            "option",
            option.name,
            localized(option.summary),
            functools.partial(option_page, option),
            facts=option_facts(option),
        )
        for option in OPTIONS.values()
    ]


def _rules() -> List[Topic]:
    from npu_config.cli._pages import plain, rule_page
    from npu_config.rulebook import load_all

    return [
        Topic(
            "rule",
            rule.id,
            plain("{}: {}".format(rule.name, localized(rule.summary))),
            functools.partial(rule_page, rule),
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
    from npu_config.cli._pages import variable_page
    from npu_config.cluster.environment.variables import VARIABLES

    return [
        Topic(
            "variable",
            variable.name,
            localized(variable.meaning),
            functools.partial(variable_page, variable),
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
    from npu_config.catalogue import OPTIONS
    from npu_config.catalogue.api import PARAMETERS
    from npu_config.cli._pages import argument_page

    carried: Dict[str, List[str]] = {name: [] for name in PARAMETERS["NPURunConfig"]}
    for option in OPTIONS.values():
        if option.run_config is not None:
            carried.setdefault(option.run_config, []).append(option.name)
    return [
        Topic(
            "argument",
            "NPURunConfig." + name,
            _carries(name, options, carried),
            functools.partial(argument_page, name, tuple(options), _fields(name, carried)),
            () if name in OPTIONS else (name,),
            {"options": options, "fields": list(_fields(name, carried))},
        )
        for name, options in carried.items()
    ]


def _migration() -> List[Topic]:
    from npu_config.cli._pages import fact_page
    from npu_config.migration.facts import FACTS, details

    return [
        Topic(
            "migration",
            fact.id,
            localized(fact.title),
            functools.partial(fact_page, fact),
            facts={"group": fact.group, "source": fact.source, "url": fact.url, **details(fact)},
        )
        for fact in FACTS.values()
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
