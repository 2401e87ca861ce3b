"""What remains of settings that hold no error: canonical options, and the files that go with them.

:class:`~npu_config.config.NpuConfig` is this value with everything it can be read from and
written to.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from npu_config.catalogue import ALL_OPTIONS, writers_of
from npu_config.core.calls import explained
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity
from npu_config.core.settings import UNKNOWN, Setting, Settings
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rules.case import Case, judge_case
from npu_config.rules.overwritten import warn_overwritten

if TYPE_CHECKING:
    from tensorflow.core.protobuf.config_pb2 import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        ConfigProto,
    )

    from npu_config.rules.origin import Origin

    Proto = TypeVar("Proto")
    _Mapping = Mapping[str, Any]
else:
    from collections.abc import Mapping as _Mapping  # that of typing hides signatures on 3.7

_ORDER = {name: index for index, name in enumerate(ALL_OPTIONS)}
_NO_FINDINGS = Report()
_NO_FILES: Mapping[str, SideFile] = MappingProxyType({})


class SideFile(NamedTuple):
    """The content of a file that an option points to, kept until it is written.

    Args:
        path: where the option points; a relative path is one of the run directory.
        text: the content.
    """

    path: str
    text: str


@explained()
@dataclass(frozen=True, eq=False, repr=False)
class ConfigValue(_Mapping):
    """A valid configuration; frozen, and a mapping of option name to canonical value.

    Args:
        options: option name to canonical value, in the order of the catalogue.
        target: what it was judged for.
        diagnostics: the findings that remain; none is an error.
        side_files: option name to the content of the file that it points to.
    """

    __slots__ = ("_settings", "diagnostics", "options", "side_files", "target")

    options: Mapping[str, Any]
    target: Target
    diagnostics: Report
    side_files: Mapping[str, SideFile]
    _settings: Optional[Settings]

    def __repr__(self) -> str:
        said = "options=" + repr(dict(self.options)), "target=" + repr(self.target)
        return "{}({})".format(type(self).__name__, ", ".join(said))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        said = other.options, other.target, other.side_files
        return (self.options, self.target, self.side_files) == said

    def __hash__(self) -> int:
        return hash((tuple(self.options.items()), self.target))

    def __reduce__(self) -> Tuple[Any, ...]:
        state = dict(self.options), self.target, self.diagnostics, dict(self.side_files)
        return (from_validated, (type(self), *state, self._without_values()))

    def _without_values(self) -> Optional[Settings]:
        """Where the options were set, without what was given: that may be any object."""
        settings = self._settings
        if settings is None:
            return None
        entries = {
            name: setting._replace(value=None, content=None)
            for name, setting in settings.entries.items()
        }
        return Settings(entries, settings.source_kind, place=settings.place, extra={})

    @property
    def origins(self) -> Mapping[str, Origin]:
        """Option name to where its value comes from: a file and line, a call, an override."""
        from npu_config.rules.origin import Origin, origin_of

        settings = self._settings
        entries: Mapping[str, Setting] = {} if settings is None else settings.entries
        return {
            name: origin_of(entries[name], settings)
            if settings is not None and name in entries
            else Origin("builder")
            for name in self.options
        }

    def __getitem__(self, name: str) -> Any:
        return self.options[name]

    def __contains__(self, name: object) -> bool:
        return name in self.options

    def __iter__(self) -> Iterator[str]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    def wire_values(self) -> Dict[str, Tuple[str, Union[bool, int, str]]]:
        """Option name to the AttrValue field and the value that go on the wire."""
        writers = writers_of(self.target.version)
        values = {}
        for name, value in self.options.items():
            field, to_wire = writers[name]
            values[name] = (field, value if to_wire is None else to_wire(value))
        return values

    def to_dict(self) -> Dict[str, Union[bool, int, str]]:
        """Option name to the value as it is on the wire (text for structured options)."""
        return {name: ALL_OPTIONS[name].kind.to_wire(v) for name, v in self.options.items()}

    @overload
    def to_config_proto(self, base: None = None) -> ConfigProto: ...

    @overload
    def to_config_proto(self, base: Proto) -> Proto: ...

    def to_config_proto(self, base: Optional[Any] = None) -> Any:
        """A ConfigProto that carries the options.

        The NpuOptimizer entry is found or added, never twice; remapping, memory optimization
        and XLA's global JIT are switched off.  Each value of ``base`` that is replaced is
        reported by an :class:`~npu_config.rules.overwritten.OverwrittenWarning`, each side file
        that is not there by a :class:`~npu_config.rules.unwritten.SideFileWarning`.

        Args:
            base: the ConfigProto to start from; it stays as it is.  None: an empty one with
                ``allow_soft_placement``, of TensorFlow's class where it can be imported, else
                of the stub's.

        Returns:
            A new message of the class of ``base``.
        """
        from npu_config.proto import encode

        config, overwritten = encode(self.wire_values(), base)
        if overwritten:
            warn_overwritten(overwritten)
        if self.side_files:
            from npu_config.rules.unwritten import warn_unwritten

            warn_unwritten((name, file.path) for name, file in self.side_files.items())
        return config

    def to_pbtxt(self) -> str:
        """The ConfigProto as text, without TensorFlow."""
        from npu_config.proto import text_of

        return text_of(self.wire_values())

    def to_bytes(self) -> bytes:
        """The serialized ConfigProto, without TensorFlow; equal configurations, equal bytes."""
        from npu_config.proto import bytes_of

        return bytes_of(self.wire_values())


Value = TypeVar("Value", bound=ConfigValue)


def from_validated(
    into: Type[Value],
    options: Mapping[str, Any],
    target: Target,
    found: Report = _NO_FINDINGS,
    side_files: Mapping[str, SideFile] = _NO_FILES,
    settings: Optional[Settings] = None,
) -> Value:
    """A configuration of options that were judged before; ``settings`` say where they are from."""
    value = into.__new__(into)
    files = MappingProxyType(dict(side_files)) if side_files else _NO_FILES
    put = object.__setattr__  # as the constructor does, past what explains wrong calls of it
    put(value, "options", MappingProxyType(dict(options)))
    put(value, "target", target)
    put(value, "diagnostics", found)
    put(value, "side_files", files)
    put(value, "_settings", settings)
    return value


def from_settings(
    into: Type[Value],
    settings: Settings,
    target: Optional[Target] = None,
    on_host: bool = False,
    found: Any = (),
    strict: bool = False,
    side_files: Optional[Mapping[str, SideFile]] = None,
) -> Value:
    """The configuration of settings that hold no error.

    Args:
        into: the class to make.
        settings: what was read.
        target: narrows product-limited rules.
        on_host: also check paths and the environment of this host.
        found: diagnostics of the reader, to be raised with the others.
        strict: a warning is a reason to raise, too.
        side_files: see :class:`ConfigValue`.

    Raises:
        NpuConfigError: with every diagnostic, when one of them is an error (or, when strict,
            a warning).
    """
    case = Case(settings, target or ANY_TARGET, os.environ if on_host else None, on_host)
    diagnostics: List[Diagnostic] = judge_case(case)
    diagnostics.extend(found)
    if side_files and on_host:
        diagnostics = [_pending(diagnostic, side_files) for diagnostic in diagnostics]
    refused = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    for diagnostic in diagnostics:
        if diagnostic.severity in refused:
            raise NpuConfigError(diagnostics)
    return from_validated(
        into,
        _canonical(case),
        case.target,
        Report(diagnostics) if diagnostics else _NO_FINDINGS,
        side_files or _NO_FILES,
        settings,
    )


def of_judged(
    into: Type[Value], case: Case, side_files: Mapping[str, SideFile] = _NO_FILES
) -> Value:
    """The configuration of a case that was judged and has no error."""
    return from_validated(
        into, _canonical(case), case.target, Report(case.diagnostics), side_files, case.settings
    )


def _pending(diagnostic: Diagnostic, side_files: Mapping[str, SideFile]) -> Diagnostic:
    """A file that is missing because its content was not written yet is not an error yet."""
    from npu_config.rules.paths import MISSING_FILE_RULES

    file = side_files.get(diagnostic.option or "")
    if file is None or diagnostic.rule not in MISSING_FILE_RULES or os.path.lexists(file.path):
        return diagnostic
    return replace(
        diagnostic,
        severity=Severity.WARNING,
        help="save the file with config.save_side_files(directory) before the session is created",
    )


def _canonical(case: Case) -> Dict[str, Any]:
    """Known values in catalogue order; a value that only drew a warning stays as it is."""
    known = case.known
    if len(known) != len(case.entries):
        known = dict(known)
        for name, setting in case.entries.items():
            if name in ALL_OPTIONS and name not in known and setting.value is not UNKNOWN:
                known[name] = setting.value
    return {name: known[name] for name in _in_order(tuple(known))}


@functools.lru_cache(maxsize=128)
def _in_order(names: Tuple[str, ...]) -> Tuple[str, ...]:
    return tuple(sorted(names, key=_ORDER.__getitem__))
