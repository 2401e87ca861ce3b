"""What a rule looks at: settings, the target, and what is known around them."""

import os
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import attr

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, known_to
from npu_config.catalogue.kinds import InvalidValue, shown
from npu_config.core.diagnostics import Diagnostic, Fix, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.core.settings import UNKNOWN, SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.core.versions import INDEX


class Fault(NamedTuple):
    """A setting whose name, field or value is wrong in itself.

    ``rule`` is the name of the rule that reports it (see ``names``, ``values``, ``versions``);
    ``name`` is text but for an unknown option, which may have any name.
    """

    rule: str
    name: Any
    setting: Setting
    refused: Optional[InvalidValue]


def _refusal(error: Exception) -> InvalidValue:
    """Why a value is refused; other exceptions come from methods of the object that was given."""
    if isinstance(error, InvalidValue):
        return error
    return InvalidValue("wrong-type", phrase("is an object that cannot be read: {}", shown(error)))


def on_this_host(target: Target, environ: Optional[Mapping[str, str]] = None) -> Target:
    """The target; one without a version has that of the CANN that is installed here, if any."""
    if target.version is not None:
        return target
    from npu_config.core.toolkit import installed_cann

    cann = installed_cann(os.environ if environ is None else environ)
    return target if cann is None else attr.evolve(target, cann=cann)


class Case:
    """One set of settings under judgement, with what is known around it.

    Attributes:
        settings: what is judged.
        target: product, mode and CANN version, as far as given.
        version: the adapter of the target (an index of ``core.versions.SNAPSHOTS``); None: any.
        products: the products it may run on.
        environ: the environment, or None when it is not to be looked at.
        on_host: True when the file system is that of the training host.
        known: the options that are set to a known, legal value, in canonical form.
        faults: the settings that are wrong in themselves; no other rule sees their values.
        rule: the rule that is running.
        diagnostics: what the rules reported.
    """

    __slots__ = (
        "diagnostics",
        "entries",
        "environ",
        "faults",
        "known",
        "on_host",
        "products",
        "rule",
        "settings",
        "target",
        "version",
    )

    def __init__(
        self,
        settings: Settings,
        target: Target = ANY_TARGET,
        environ: Optional[Mapping[str, str]] = None,
        on_host: bool = False,
    ) -> None:
        if not isinstance(target, Target):
            raise TypeError(
                phrase(
                    'target must be a Target, e.g. Target(product="atlas_a2"), not {!r}', target
                )
            )
        if on_host:
            target = on_this_host(target, environ)
        version = target.version
        known: Dict[str, Any] = {}
        self.settings = settings
        self.entries = settings.entries
        self.target = target
        self.version = version
        self.products: FrozenSet[Product] = target.products
        self.environ = environ
        self.on_host = on_host
        self.known = known
        self.faults: List[Fault] = []
        self.diagnostics: List[Diagnostic] = []
        self.rule: Optional[Rule] = None
        options = known_to(version)
        for name, setting in settings.entries.items():
            entry = options.get(name)
            if entry is None:
                early = version is not None and name in ALL_OPTIONS
                rule = "option-not-in-version" if early else "unknown-option"
                self.faults.append(Fault(rule, name, setting, None))
                continue
            if setting.wire is not None and setting.wire != entry.wire:
                self.faults.append(Fault("wrong-field", name, setting, None))
            elif setting.value is not UNKNOWN:
                try:
                    known[entry.option.name] = entry.parse(setting.value)
                except Exception as error:
                    refused = _refusal(error)
                    self.faults.append(Fault(refused.rule, name, setting, refused))

    @property
    def own_faults(self) -> List[Fault]:
        """The faults that the rule which is running reports."""
        assert self.rule is not None
        return [fault for fault in self.faults if fault.rule == self.rule.name]

    @property
    def source_kind(self) -> SourceKind:
        """What the settings were read from."""
        return self.settings.source_kind

    @property
    def is_ours(self) -> bool:
        """True for inputs of our own, where every fault can be refused."""
        return self.settings.source_kind in (SourceKind.BUILDER, SourceKind.FILE)

    def since(self, adapter: str) -> bool:
        """True when the adapter is certainly not older than that one (its label)."""
        return self.version is None or self.version >= INDEX[adapter]

    @property
    def session(self) -> Optional[SessionFacts]:
        """What the input says beside the options, where the input has it."""
        return self.settings.session

    def get(self, name: str) -> Any:
        """The known, legal value of an option; None when it is absent, unknown or wrong."""
        return self.known.get(name)

    def variable(self, name: str) -> Optional[str]:
        """An environment variable; None when it is not set, or nothing is known of them."""
        return None if self.environ is None else self.environ.get(name)

    def isset(self, name: str) -> bool:
        """True when the option is set, whatever its value."""
        return name in self.entries

    def absent(self, name: str) -> bool:
        """True when the option is certainly not set."""
        return name not in self.entries and not self.settings.open

    def effective(self, name: str) -> Any:
        """What the runtime will use: the known value, the default when absent, else UNKNOWN."""
        if name in self.entries:
            return self.known.get(name, UNKNOWN)
        if self.settings.open:
            return UNKNOWN
        option = OPTIONS[name]
        if self.settings.source_kind is SourceKind.RUN_CONFIG and option.run_config is not None:
            return (
                option.default if option.run_config_default is None else option.run_config_default
            )
        return option.default

    def never(self, name: str, *values: Any) -> bool:
        """True when the effective value is known and is none of ``values``."""
        value = self.effective(name)
        return value is not UNKNOWN and value not in values

    def training(self) -> bool:
        """True when the graph certainly runs in training mode (``graph_run_mode`` 1 or absent)."""
        return bool(self.effective("graph_run_mode") == 1)

    def inference(self) -> bool:
        """True when the graph certainly runs in online inference mode."""
        return bool(self.effective("graph_run_mode") == 0)

    def only_on(self, products: Iterable[Product]) -> bool:
        """True when every product it may run on is one of ``products``."""
        return self.products <= frozenset(products)

    def never_on(self, products: Iterable[Product]) -> bool:
        """True when no product it may run on is one of ``products``."""
        return not (self.products & frozenset(products))

    def place(self, name: str) -> Place:
        """Where the option's value is, or the place of the whole."""
        setting = self.entries.get(name)
        return self.settings.place if setting is None else setting.place

    def report(
        self,
        option: Optional[str],
        message: str,
        help: Optional[str] = None,
        place: Optional[Place] = None,
        severity: Optional[Severity] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
        consequence: Optional[str] = None,
        legal: Tuple[str, ...] = (),
    ) -> None:
        """Report a finding of the rule that is running, at the place of ``option``."""
        assert self.rule is not None
        if place is None:
            place = self.settings.place if option is None else self.place(option)
        self.diagnostics.append(
            self.rule.diagnostic(
                message, place, option, help, severity, fix, meant, consequence, legal
            )
        )
