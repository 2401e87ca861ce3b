"""What a diagnosis knows of the session, its findings, and the changes that mend them."""

from types import MappingProxyType
from typing import Any, Dict, Iterable, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Report, Rule, Severity
from npu_config.core.message import join, phrase
from npu_config.core.settings import UNKNOWN


class Options:
    """Option name to value, where both are known.

    Attributes:
        given: True when there is a configuration at all.
    """

    __slots__ = ("_values", "given")

    def __init__(self, values: Optional[Mapping[str, Any]]) -> None:
        self.given = values is not None
        self._values = dict(values or {})

    def value(self, name: str) -> Any:
        """The value of an option; None where it is not set or not known."""
        return self._values.get(name)

    def true(self, name: str) -> bool:
        """True when the option is set to True."""
        return self._values.get(name) is True

    def isset(self, name: str) -> bool:
        """True when the option is set and not empty."""
        return self._values.get(name) not in (None, "", ())

    @property
    def iterations(self) -> int:
        """``iterations_per_loop``; 1 when it is not set."""
        value = self._values.get("iterations_per_loop")
        return value if isinstance(value, int) and not isinstance(value, bool) else 1


def options_of(config: Any) -> Options:
    """The options of an NpuConfig, a mapping, a ConfigProto, or None."""
    if config is None:
        return Options(None)
    options = getattr(config, "options", None)
    if isinstance(options, Mapping):
        return Options(options)
    if isinstance(config, Mapping):
        return Options(config)
    if hasattr(config, "graph_options"):
        from npu_config.proto import decode

        known: Dict[str, Any] = {
            name: setting.value
            for name, setting in decode(config).entries.items()
            if setting.value is not UNKNOWN
        }
        return Options(known)
    raise TypeError(
        phrase(
            "config must be an NpuConfig, a mapping or a ConfigProto, not {}",
            type(config).__name__,
        )
    )


_NOTHING: Mapping[str, Any] = MappingProxyType({})


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Change:
    """What mends a finding.

    Args:
        options: option name to value, for :meth:`NpuConfig.evolve` or the builder's ``set``.
        environment: variables for the training process.
        script: what to change in the script, where no configuration can do it.
        conflicts: what stands in the way of the options or the environment.
    """

    options: Mapping[str, Any] = _NOTHING
    environment: Mapping[str, str] = _NOTHING
    script: Tuple[str, ...] = ()
    conflicts: Tuple[str, ...] = ()

    def named_in(self, help: str) -> str:
        """A help that also names what stands in the way."""
        if not self.conflicts:
            return help
        return phrase("{}; conflict: {}", help, join("; ", self.conflicts))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Finding:
    """One finding about a graph.

    Args:
        case: 1 lookup table in preprocessing, 2 variable in preprocessing, 3 v1 control
            flow with dynamic shapes, 4 float16 reduction; None for any other.
        nodes: the nodes concerned.
        diagnostic: what is wrong and what to do.
        change: the same as values.
    """

    case: Optional[int]
    nodes: Tuple[str, ...]
    diagnostic: Diagnostic
    change: Change


class Diagnosis(Report):
    """The findings about one graph: a :class:`Report`, with nodes and changes beside it."""

    __slots__ = ("findings",)

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self.findings: Tuple[Finding, ...] = tuple(findings)
        super().__init__(finding.diagnostic for finding in self.findings)

    def case(self, number: int) -> Tuple[Finding, ...]:
        """The findings of one of the four cases."""
        return tuple(finding for finding in self.findings if finding.case == number)

    @property
    def options(self) -> Dict[str, Any]:
        """The options that mend what options can mend."""
        return {k: v for each in self.findings for k, v in each.change.options.items()}

    @property
    def environment(self) -> Dict[str, str]:
        """The environment variables that mend what they can mend."""
        return {k: v for each in self.findings for k, v in each.change.environment.items()}

    @property
    def conflicts(self) -> Tuple[str, ...]:
        """What stands in the way of :attr:`options` and :attr:`environment`."""
        return tuple(
            dict.fromkeys(text for each in self.findings for text in each.change.conflicts)
        )

    def apply(self, config: Any) -> Any:
        """A configuration with :attr:`options` set.

        Args:
            config: an :class:`~npu_config.config.NpuConfig`.

        Raises:
            NpuConfigError: the changed configuration is wrong, for instance because of one
                of the :attr:`conflicts`.
        """
        return config.evolve(**self.options)


def named(nodes: Iterable[str], limit: int = 3) -> str:
    """Node names for a message: the first ones, quoted, and how many more there are."""
    names = list(nodes)
    shown = ", ".join('"{}"'.format(name) for name in names[:limit])
    more = len(names) - limit
    return shown if more <= 0 else phrase("{} and {} more", shown, more)


def finding(
    rule: Rule,
    message: str,
    nodes: Iterable[str],
    help: str,
    case: Optional[int] = None,
    change: Optional[Change] = None,
    option: Optional[str] = None,
    severity: Optional[Severity] = None,
) -> Finding:
    """A finding whose help also names the conflicts of its change."""
    change = change or Change()
    help = change.named_in(help)
    return Finding(
        case,
        tuple(nodes),
        rule.diagnostic(message, option=option, help=help, severity=severity),
        change,
    )
