"""What a rule looks at (settings, the target, and what is known around them), and the rules
applied to it.

:func:`judge` reads every value by its kind, runs every rule that concerns an option that is
set, and returns all findings.
"""

from __future__ import annotations

import functools
import importlib
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, Option, readers_of
from npu_config.catalogue.kinds import InvalidValue, shown
from npu_config.core.diagnostics import REGISTRY, Diagnostic, Fix, Place, Rule, Severity
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import INDEX, NEWEST, Product
from npu_config.text.words import joined


class InvalidSetting(NamedTuple):
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
        touched: the options of that rule that are set.
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
        "touched",
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
            from npu_config.rules.toolkit import on_this_host

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
        self.faults: List[InvalidSetting] = []
        self.diagnostics: List[Diagnostic] = []
        self.rule: Optional[Rule] = None
        self.touched: Tuple[str, ...] = ()
        readers = readers_of(version)
        for name, setting in settings.entries.items():
            value, wire = setting[0], setting[1]
            reader = readers.get(name)
            if reader is None:
                early = version is not None and name in ALL_OPTIONS
                rule = "option-not-in-version" if early else "unknown-option"
                self.faults.append(InvalidSetting(rule, name, setting, None))
                continue
            key, field, exact, legal, of_text, parse = reader
            if wire is not None and wire != field:
                self.faults.append(InvalidSetting("wrong-field", name, setting, None))
            elif type(value) is exact and value in legal:
                known[key] = value
            elif value is not UNKNOWN:
                try:
                    known[key] = of_text(value) if type(value) is str else parse(value)
                except Exception as error:
                    refused = _refusal(error)
                    self.faults.append(InvalidSetting(refused.rule, name, setting, refused))

    @property
    def own_faults(self) -> List[InvalidSetting]:
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

    def path(self, name: str) -> Optional[str]:
        """The file or directory that an option names, as far as it is known here."""
        setting = self.entries.get(name)
        known: Optional[str] = self.get(name)
        return setting.file if known is None and setting is not None else known

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
        known = self.known
        if name in known:
            return known[name]
        if name in self.entries or self.settings.open:
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
        *values: object,
        help: Optional[str] = None,
        place: Optional[Place] = None,
        severity: Optional[Severity] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
        consequence: Optional[str] = None,
        legal: Tuple[str, ...] = (),
    ) -> None:
        """Report a finding of the rule that is running, at the place of ``option``.

        Args:
            option: the option that it is about, None for a finding about the whole.
            message: what is wrong, with a ``{}`` for each of ``values``.
            values: what stands in the message.
            help: what to do, and so on as in :class:`Diagnostic`.
        """
        assert self.rule is not None
        if place is None:
            place = self.settings.place if option is None else self.place(option)
        message = phrase(message, *values)
        self.diagnostics.append(
            self.rule.diagnostic(
                message, place, option, help, severity, fix, meant, consequence, legal
            )
        )

    def argument(self, name: str) -> Any:
        """The known value of an argument that is not an option; None when there is none."""
        setting = self.settings.extra.get(name)
        return None if setting is None or setting.value is UNKNOWN else setting.value

    def argument_is_none(self, name: str) -> bool:
        """True when such an argument was given as None, which is also its default."""
        setting = self.settings.extra.get(name)
        return setting is not None and setting.value is None

    def report_argument(self, name: str, message: str, *values: object, help: str) -> None:
        """Report a finding at the place of such an argument."""
        setting = self.settings.extra.get(name)
        place = self.settings.place if setting is None else setting.place
        self.report(None, message, *values, help=help, place=place)


SHAPE_PROFILES = ("input_shape", "dynamic_dims", "dynamic_node_type")
"""The three options that give shape profiles, and are given together or not at all."""

RESERVED_MODES = ("mixed_hif8", "cube_hif8")
"""Values of ``precision_mode_v2`` that no version supports yet."""

_DYNAMIC = ("compile_dynamic_mode", "dynamic_input")
DYNAMIC_SHAPES = (*SHAPE_PROFILES, *_DYNAMIC)
"""The options that make shapes dynamic."""


def needing(*switches: str) -> Tuple[str, ...]:
    """The options that do something under just these switches."""
    return tuple(n for n, o in OPTIONS.items() if (o.read_when or o.used_when) == switches)


def given(case: Case, name: str) -> bool:
    """True when the option is set, and to nothing that is wrong in itself."""
    if name in case.known:
        return True
    setting = case.entries.get(name)
    return setting is not None and setting.value is UNKNOWN


def changed(case: Case, name: str) -> bool:
    """True when the option is certainly set to something else than its default."""
    default = OPTIONS[name].default
    if name in case.known:
        return bool(case.known[name] != default)
    return default is None and given(case, name)


def report_inert(case: Case, names: Iterable[str], switch: str) -> None:
    """Report those of the options that are set, when their switch is not on."""
    for name in names if case.never(switch, True) else ():
        if changed(case, name):
            case.report(
                name,
                '"{}" has no effect, because "{}" is {}',
                *(name, switch, off(case, switch)),
                help=phrase('set "{}" to True, or remove "{}"', switch, name),
            )


def off(case: Case, switch: str) -> str:
    """What a switch that is not on says, in words that follow "is"."""
    return "False" if case.isset(switch) else phrase("not set")


def is_never_read(case: Case, switches: Sequence[str]) -> bool:
    """True when the adapter looks at an option only under a switch, and none of these is on."""
    for switch in switches:
        if not (tuning_is_off(case) if switch == "aoe_mode" else case.never(switch, True)):
            return False
    return bool(switches)


def unread(case: Case, option: Option) -> Optional[str]:
    """What follows from a fault in an option that nothing reads here; None when it may be read.

    The severity of such a fault is WARNING: the job runs as if the option were right.
    """
    switches = option.read_when
    if not is_never_read(case, switches):
        return None
    return phrase(
        "the option is ignored while {} is off"
        if len(switches) == 1
        else "the option is ignored while {} are off",
        quoted(switches),
    )


def on(case: Case, name: str) -> bool:
    """True when the effective value of a switch is certainly True."""
    return case.effective(name) is True


def mode_words(case: Case) -> str:
    """What ``graph_run_mode`` says, in words that follow "is"."""
    if not case.isset("graph_run_mode"):
        return "not set, which means training"
    return "1 (training)" if case.training() else "0 (online inference)"


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, joined by commas and "and"."""
    return joined(['"{}"'.format(name) for name in names])


def tuning_mode(case: Case) -> Optional[str]:
    """The AOE tuning mode when tuning is certainly on: the option, else AOE_MODE; or None."""
    if case.absent("aoe_mode") and case.environ is not None:
        return case.variable("AOE_MODE") or None
    mode = case.effective("aoe_mode")
    return mode if isinstance(mode, str) else None


def tuning_is_off(case: Case) -> bool:
    """True when the AOE tuning is off as far as the environment is known."""
    return case.absent("aoe_mode") and not case.variable("AOE_MODE")


def has_shape_profiles(case: Case) -> bool:
    """True when all three options that give shape profiles are set."""
    return all(name in case.entries for name in SHAPE_PROFILES)


def runs_dynamic(case: Case) -> Optional[str]:
    """The option by which the graph certainly has dynamic shapes, or None."""
    for name in _DYNAMIC:
        if case.known.get(name) is True:
            return name
    return "dynamic_dims" if has_shape_profiles(case) else None


def may_run_dynamic(case: Case) -> bool:
    """True when an option gives the graph dynamic shapes, or has a value that may."""
    return runs_dynamic(case) is not None or any(
        given(case, name) and name not in case.known for name in _DYNAMIC
    )


def in_script(case: Case) -> bool:
    """True for what a script says; a call of NPURunConfig has a place in it."""
    return case.source_kind is SourceKind.SCRIPT or (
        case.source_kind is SourceKind.RUN_CONFIG and case.settings.place.line is not None
    )


def line_of(case: Case, name: str, beside: str) -> str:
    """`` (line 7)`` where an option is on another line than ``beside``, else nothing."""
    place, other = case.place(name), case.place(beside)
    apart = place.line is not None and place[:2] != other[:2]
    return phrase(" (line {})", place.line) if apart else ""


def writing(
    case: Case,
    setting: Setting,
    value: Union[bool, int, float, str, None],
    field: Optional[str] = None,
) -> Optional[Fix]:
    """The fix that writes a value as YAML, TOML, JSON and protobuf text all read it.

    Args:
        case: what is judged.
        setting: the option; a value that goes over several lines is left alone.
        value: what to write; None: there is no fix.
        field: the field of AttrValue to write it in, if it is in another one.
    """
    place = setting.place
    if value is None or place.line != place.end_line:
        return None
    import json

    written = json.dumps(value, ensure_ascii=False)
    if case.source_kind is SourceKind.PROTO:
        if setting.field_place is None:
            return None
        if field is not None:
            place, written = setting.field_place, phrase("{}: {}", field, written)
    return Fix.writing(place, written, value=value)


Inspection = Callable[[Case], Iterable[Diagnostic]]
INSPECTIONS: List[Inspection] = []


def inspection(function: Inspection) -> Inspection:
    """Enter what looks into the files and texts of a case, and gives findings of their formats."""
    INSPECTIONS.append(function)
    return function


RULE_MODULES: Mapping[str, Tuple[str, ...]] = {
    "options": (
        *("names", "targets", "precision", "dump", "loops", "shapes", "dynamic", "memory"),
        *("compilation", "timeouts", "deprecated", "unwritten"),
    ),
    "session": ("session",),
    "run_config": ("run_config", "checkpoints"),
    "surroundings": ("environment", "paths", "contents"),
}
"""The modules beside this one that declare rules, by what has to be there for them to speak: those
about options always have something to look at, the others are imported where they have."""


@functools.lru_cache(maxsize=16)
def case_rules(*subjects: str) -> Tuple[Rule, ...]:
    """Every rule about options, in order of id; of subjects (``RULE_MODULES``) at least theirs."""
    package = __name__.rpartition(".")[0]
    for subject in subjects or RULE_MODULES:
        for name in RULE_MODULES[subject]:
            importlib.import_module("{}.{}".format(package, name))
    rules = (rule for rule in REGISTRY.values() if rule.check is not None)
    return tuple(sorted(rules, key=lambda rule: rule.id))


@functools.lru_cache(maxsize=512)
def _rules_for(
    names: Tuple[str, ...], products: FrozenSet[Product], about: Tuple[str, ...], look_around: bool
) -> Tuple[Tuple[Rule, Callable[[Case], None], Tuple[str, ...]], ...]:
    """The rules that concern such settings, in order of id, each with its function and options.

    Args:
        names: the options that are set.
        products: those that it may run on.
        about: what there is to judge.
        look_around: whether the host or the environment is looked at.
    """
    given = frozenset(names)
    return tuple(
        (rule, rule.check, tuple(name for name in rule.options if name in given))
        for rule in case_rules(*_subjects(names, about, look_around))
        if rule.check is not None
        and (rule.name if rule.about == "faults" else rule.about) in about
        and (not rule.options or not given.isdisjoint(rule.options))
        and (not rule.beside or not given.isdisjoint(rule.beside))
        and (rule.products is None or products <= rule.products)
        and (look_around or not rule.on_host)
    )


def _subjects(names: Tuple[str, ...], about: Tuple[str, ...], look_around: bool) -> Iterator[str]:
    """Those of ``RULE_MODULES`` that there is something of; an inspection reads this option."""
    around = look_around or "profiling_options" in names
    for subject in RULE_MODULES:
        if subject in about or (subject == "surroundings" and around):
            yield subject


def _about(case: Case) -> Tuple[str, ...]:
    """What there is to judge, in the words of ``Rule.about``; of faults the rules they break."""
    settings = case.settings
    subjects = ["options"]
    if case.target.cann is not None and case.version in (0, NEWEST):
        subjects.append("version")
    if case.target.product is not None or case.target.mode is not None:
        subjects.append("target")
    if case.faults:
        subjects.extend({fault.rule: None for fault in case.faults})
    if settings.session is not None:
        subjects.append("session")
    if settings.extra or settings.source_kind is SourceKind.RUN_CONFIG:
        subjects.append("run_config")
    return tuple(subjects)


def judge_case(case: Case) -> List[Diagnostic]:
    """Every finding about one case: by rule id, then those inside files and texts."""
    look_around = case.on_host or case.environ is not None
    rules = _rules_for(tuple(case.entries), case.products, _about(case), look_around)
    for case.rule, check, case.touched in rules:
        check(case)
    if look_around or "profiling_options" in case.known:
        for inspect in INSPECTIONS:
            case.diagnostics.extend(inspect(case))
    return case.diagnostics


def judge(
    settings: Settings,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: bool = False,
) -> List[Diagnostic]:
    """Every finding about ``settings``.

    Args:
        settings: what to judge.
        target: narrows product-limited rules; None: any target.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system (paths must exist and be usable).
    """
    return judge_case(Case(settings, target or ANY_TARGET, environ, on_host))
