"""What is declared of an option, and the function that declares it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, Mapping, Optional, Tuple

from npu_config.catalogue.kinds import InvalidValue, Kind, is_bool
from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.versions import ALL_PRODUCTS, EVER, NEVER, SNAPSHOTS, Product, Versions

_BOOLEANS = ("true", "false")
_DOCUMENTATION = "docs/en/tfadapter_1/apiref/session_config/"
_ADAPTER = {
    "npu_attrs.cc": "tf_adapter/util/",
    "npu_estimator.py": "tf_adapter/python/npu_bridge/estimator/npu/",
}
"""The folders of the files that a source names."""


class Status(enum.Enum):
    """What an option is in the vendor's documentation."""

    DOCUMENTED = "documented"
    EXPERIMENTAL = "experimental"
    DEPRECATED = "deprecated"
    UNDOCUMENTED = "undocumented"
    NO_EFFECT = "no_effect"


class Outcome(enum.Enum):
    """What the runtime does with a bad value, in words that end a message."""

    ABORT = "the adapter aborts the process"
    REJECT = "session.run raises an exception"
    GE = "the graph engine rejects the value"
    SILENT = "the runtime silently uses another value"
    UNCHECKED = "the value is not checked at run time"


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """One option of NpuOptimizer, declared once.

    Args:
        name: the key in ``parameter_map``, exactly as users write it.
        kind: the values it takes; its ``wire`` is the AttrValue field that the adapter reads.
        page: the category, which is also the module it is declared in.
        default: behaviour when the key is absent (canonical value); None: decided elsewhere.
        default_note: words for a default that depends on product or mode.
        unit: unit of the number, e.g. ``"s"``.
        products: the products that know it.
        modes: ``"both"``, ``"training"`` or ``"online_inference"``.
        run_config: the NPURunConfig argument (or nested field) that carries it, None if none does.
        run_config_default: the default of that argument.
        scope: ``process``, ``session``, ``graph``, joined by ``+``.
        read_when: switches of which one must be True for the adapter to look at it.
        used_when: the same for options that are read anyway, and then used by nothing.
        status: see :class:`Status`.
        replacement: what to use instead.
        needed_for: what requires an option although it is deprecated.
        summary: one line.
        notes: what else is known.
        outcome: what the runtime does with a bad value.
        severity: of a bad value.
        value_products: value to the products that know it.
        ranges: product to (minimum, maximum), where it differs by product.
        aliases: value to the value that means the same.
        undocumented_values: values that are accepted but not offered.
        versions: the versions of the adapter that read it.
        value_versions: value to the versions that know it, where that differs from the others.
        former_wire: the AttrValue field that some versions read in place of the kind's: ``"b"``.
        former_wire_versions: those versions.
        unchecked: the versions whose adapter does not look at the value.
        effective: the versions that are documented to use an option that has no effect now.
        is_read: False for names that the front end writes and nothing at run time reads.
        sample: option to value: what a configuration that sets this option needs beside it, and
            its own value where the default would not show what it does.
        doc: where the vendor documents it; None for an option that the vendor does not document.
        source: where the facts are from: files of the adapter with their lines.
    """

    name: str
    kind: Kind
    page: str
    summary: str
    default: Any = None
    default_note: str = ""
    unit: Optional[str] = None
    products: FrozenSet[Product] = ALL_PRODUCTS
    modes: str = "both"
    run_config: Optional[str] = None
    run_config_default: Any = None
    scope: str = "session"
    read_when: Tuple[str, ...] = ()
    used_when: Tuple[str, ...] = ()
    status: Status = Status.DOCUMENTED
    replacement: Optional[str] = None
    needed_for: str = ""
    notes: str = ""
    outcome: Outcome = Outcome.UNCHECKED
    severity: Severity = Severity.ERROR
    value_products: Mapping[Any, FrozenSet[Product]] = field(default_factory=dict)
    ranges: Mapping[Product, Tuple[int, int]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    undocumented_values: Tuple[Any, ...] = ()
    versions: Versions = EVER
    value_versions: Mapping[Any, Versions] = field(default_factory=dict)
    former_wire: str = ""
    former_wire_versions: Versions = NEVER
    unchecked: Versions = NEVER
    effective: Versions = NEVER
    is_read: bool = True
    sample: Mapping[str, Any] = field(default_factory=dict)
    doc: Optional[str] = None
    source: Tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "<{} {}>".format(type(self).__name__, self.name)

    @property
    def wire(self) -> str:
        """The AttrValue field that the adapter reads: ``b``, ``i`` or ``s``."""
        return self.kind.wire

    @property
    def standing(self) -> str:
        """The status in words, with what still requires an option that is deprecated."""
        status = phrase(self.status.value.replace("_", " "))
        if not self.needed_for:
            return status
        return phrase("{}, but still required for {}", status, phrase(self.needed_for))

    @property
    def is_outdated(self) -> bool:
        """True for an option that nobody should set any more."""
        return self.status in (Status.DEPRECATED, Status.NO_EFFECT) and not self.needed_for

    def wire_in(self, version: Optional[int]) -> str:
        """The field that an adapter reads (an index of ``SNAPSHOTS``; None: the newest)."""
        former = version is not None and self.former_wire_versions.has(version)
        return self.former_wire if former else self.kind.wire

    def parse_in(self, value: Any, version: Optional[int]) -> Any:
        """The canonical form of a value that an adapter knows.

        Raises:
            InvalidValue: the value is not of the kind, or that adapter does not know it.
        """
        if version is None:
            return self.kind.parse(value)
        if self.wire_in(version) != self.kind.wire:
            if is_bool(value):
                return str(bool(value)).lower()
            known = self.kind.parse(value)
            if known not in _BOOLEANS:
                problem = 'is "{}", but {} accepts only "true" and "false"'
                raise InvalidValue(
                    "value-not-in-version", phrase(problem, known, SNAPSHOTS[version])
                )
            return known
        versions = self.value_versions.get(value) if isinstance(value, str) else None
        if versions is None:
            return self.kind.parse(value)
        if not versions.has(version):
            problem = 'is "{}", which {} does not support; this value is supported {}'
            raise InvalidValue(
                "value-not-in-version", phrase(problem, value, SNAPSHOTS[version], versions)
            )
        return value

    def is_plain_in(self, version: int) -> bool:
        """True when an adapter knows just the values of the kind."""
        values = getattr(self.kind, "values", ())
        return self.wire_in(version) == self.kind.wire and all(
            known.has(version) == (value in values) for value, known in self.value_versions.items()
        )

    def outcome_in(self, version: Optional[int]) -> Outcome:
        """What the runtime of an adapter does with a bad value."""
        unchecked = version is not None and self.unchecked.has(version)
        return Outcome.GE if unchecked else self.outcome

    @property
    def offered(self) -> bool:
        """True when completion and the builder's task methods offer it."""
        return self.status in (Status.DOCUMENTED, Status.EXPERIMENTAL, Status.DEPRECATED)


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """One page of the vendor's documentation, with the options that it describes.

    Args:
        name: of the page in our reference, and of the group in configuration files.
        title: in words.
        file: the vendor's file; None where there is none.
    """

    name: str
    title: str
    file: Optional[str] = None
    options: Dict[str, Option] = field(default_factory=dict, init=False)

    def option(self, name: str, kind: Kind, summary: str, **facts: Any) -> None:
        """Declare an option.

        ``facts`` are the other arguments of :class:`Option`.  By default the argument of its name
        carries it, with its default; a source is a file of the adapter without its folder.
        """
        if name in self.options:
            raise ValueError(phrase("{} is declared twice", name))
        facts.setdefault("run_config", name)
        if facts["run_config"] is not None:
            facts.setdefault("run_config_default", facts.get("default"))
        places = facts.pop("source", ())
        facts["source"] = tuple(_ADAPTER[place.partition(":")[0]] + place for place in places)
        if self.file is not None and facts.get("status") is not Status.UNDOCUMENTED:
            facts.setdefault("doc", _DOCUMENTATION + self.file)
        self.options[name] = Option(name, kind, self.name, summary, **facts)


def products(*names: Product) -> FrozenSet[Product]:
    """A set of products, for declarations."""
    return frozenset(names)
