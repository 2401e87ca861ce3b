"""NpuConfig: a set of options that has been judged and found without error.

It is made by :class:`~npu_config.builder.NpuConfigBuilder`, from a mapping, a file or a
ConfigProto, never changes, and writes every output.
"""

import os
import warnings
from types import MappingProxyType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import attr

from npu_config.catalogue import OPTIONS
from npu_config.diagnostics import Diagnostic, NpuConfigError, Report, Severity
from npu_config.files import PathLike, write_atomic
from npu_config.judge import Case, judge_case
from npu_config.settings import UNKNOWN, Settings
from npu_config.target import ANY_TARGET, Target

_ORDER = {name: index for index, name in enumerate(OPTIONS)}
_NO_FINDINGS = Report()
_NO_FILES: Mapping[str, "SideFile"] = MappingProxyType({})


class OverwrittenWarning(UserWarning):
    """A value that the user had put into a ConfigProto was replaced by the configuration's."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SideFile:
    """The content of a file that an option points to, kept until it is written.

    Args:
        path: where the option points; a relative path is one of the run directory.
        text: the content.
    """

    path: str
    text: str


@attr.s(frozen=True, slots=True, auto_attribs=True, hash=False)
class NpuConfig:
    """A valid configuration; frozen.

    Args:
        options: option name to canonical value, in the order of the catalogue.
        target: what it was judged for.
        diagnostics: the findings that remain; none is an error.
        side_files: option name to the content of the file that it points to, for files
            that came with the builder (see :meth:`save_side_files`).
    """

    options: Mapping[str, Any] = attr.ib(repr=lambda options: repr(dict(options)))
    target: Target = ANY_TARGET
    diagnostics: Report = attr.ib(default=_NO_FINDINGS, eq=False, repr=False)
    side_files: Mapping[str, SideFile] = attr.ib(default=_NO_FILES, hash=False, repr=False)

    def __hash__(self) -> int:
        return hash((tuple(self.options.items()), self.target))

    def __reduce__(self) -> Tuple[Any, ...]:
        state = dict(self.options), self.target, self.diagnostics, dict(self.side_files)
        return (_restored, state)

    def __getitem__(self, name: str) -> Any:
        return self.options[name]

    def __contains__(self, name: object) -> bool:
        return name in self.options

    def __iter__(self) -> Iterator[str]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    # from

    @classmethod
    def from_dict(
        cls,
        options: Mapping[str, Any],
        target: Optional[Target] = None,
        on_host: bool = False,
    ) -> "NpuConfig":
        """The configuration of a mapping of option name to value.

        Raises:
            NpuConfigError: with every diagnostic, when one of them is an error.
        """
        return from_settings(Settings.of(options), target, on_host)

    @classmethod
    def from_config_proto(cls, config: Any, target: Optional[Target] = None) -> "NpuConfig":
        """The options of the NpuOptimizer entry of a ConfigProto (TensorFlow's or the stub's).

        Raises:
            NpuConfigError: with every diagnostic, when one of them is an error.
        """
        from npu_config.proto import decode

        return from_settings(decode(config), target)

    @classmethod
    def load(
        cls, path: PathLike, target: Optional[Target] = None, on_host: bool = False
    ) -> "NpuConfig":
        """The configuration of a file: YAML, TOML, JSON, pbtxt or pb, by its suffix.

        Args:
            path: the file.
            target: replaces the target that the file names.
            on_host: also check paths and the environment of this host.

        Raises:
            NpuConfigError: with every diagnostic, when one of them is an error; a file that
                cannot be read is one of them.
        """
        from npu_config.readers import read

        reading = read(os.fspath(path))
        if not reading.settings:
            raise NpuConfigError(reading.diagnostics)
        return from_settings(
            reading.settings[0], target or reading.target, on_host, reading.diagnostics
        )

    def evolve(self, **options: Any) -> "NpuConfig":
        """This configuration with some options changed; None takes an option away.

        Raises:
            NpuConfigError: as :meth:`from_dict`.
        """
        changed = dict(self.options)
        for name, value in options.items():
            changed.pop(name, None)
            if value is not None:
                changed[name] = value
        kept = {
            name: file for name, file in self.side_files.items() if changed.get(name) == file.path
        }
        return from_settings(Settings.of(changed), self.target, side_files=kept)

    # to

    def wire_values(self) -> Dict[str, Tuple[str, Union[bool, int, str]]]:
        """Option name to the AttrValue field and the value that go on the wire."""
        values = {}
        for name, value in self.options.items():
            kind = OPTIONS[name].kind
            values[name] = (kind.wire, value if kind.plain else kind.write(value))
        return values

    def to_dict(self) -> Dict[str, Union[bool, int, str]]:
        """Option name to the value as it stands on the wire (text for structured options)."""
        return {name: value for name, (_, value) in self.wire_values().items()}

    def to_config_proto(self, base: Optional[Any] = None) -> Any:
        """A ConfigProto that carries the options.

        The NpuOptimizer entry is found or added, never twice; remapping, memory optimization
        and XLA's global JIT are switched off.  Each value of ``base`` that is replaced is
        reported by an :class:`OverwrittenWarning`.

        Args:
            base: the ConfigProto to start from; it stays as it is.  None: an empty one with
                ``allow_soft_placement``, of TensorFlow's class where it can be imported, else
                of the stub's.

        Returns:
            A new message of the class of ``base``.
        """
        from npu_config.proto.encode import encode

        config, overwritten = encode(self.wire_values(), base)
        for what, old, new in overwritten:
            warnings.warn(
                "{} was {!r} in the given ConfigProto and is now {!r}".format(what, old, new),
                OverwrittenWarning,
                stacklevel=2,
            )
        return config

    def _stub(self) -> Any:
        from npu_config.proto import encode, stub_config_proto

        config, _ = encode(self.wire_values(), config_class=stub_config_proto())
        return config

    def to_pbtxt(self) -> str:
        """The ConfigProto as text, without TensorFlow."""
        from npu_config.proto import to_text

        return to_text(self._stub())

    def to_bytes(self) -> bytes:
        """The serialized ConfigProto, without TensorFlow; equal configurations, equal bytes."""
        from npu_config.proto import to_bytes

        return to_bytes(self._stub())

    def to_run_config_kwargs(self) -> Dict[str, Any]:
        """The arguments of NPURunConfig that carry the options; nested ones are dicts.

        Raises:
            NpuConfigError: an option is set that NPURunConfig cannot carry.
        """
        from npu_config.writers.run_config import to_run_config_kwargs

        return to_run_config_kwargs(self)

    def to_run_config(self, **arguments: Any) -> Any:
        """An NPURunConfig: the vendor's where ``npu_bridge`` is importable, else npu_config's.

        Args:
            arguments: further arguments of NPURunConfig, e.g. ``model_dir``.
        """
        from npu_config.tf1.run_config import from_config

        return from_config(self, **arguments)

    def save(self, path: PathLike, overwrite: bool = False) -> None:
        """Write the configuration to a file: YAML, TOML, JSON, pbtxt or pb, by its suffix.

        Args:
            path: the file; its directory must exist.
            overwrite: replace a file that exists.

        Raises:
            FileExistsError: the file exists and ``overwrite`` is False.
            ValueError: no format has this suffix.
            OSError: it cannot be written; nothing is left behind.
        """
        from npu_config.writers import render_for

        write_atomic(path, render_for(self, os.fspath(path)), overwrite)

    def save_side_files(self, directory: PathLike, overwrite: bool = False) -> "NpuConfig":
        """Write the side files that came with the builder into ``directory``.

        Args:
            directory: is created when it is missing.
            overwrite: replace files that exist with another content.

        Returns:
            This configuration, with the options pointing to the written files.

        Raises:
            FileExistsError: one of the files exists with another content and ``overwrite`` is
                False; then none is written.
            OSError: a file cannot be written.
        """
        folder = os.fspath(directory)
        places = {
            name: os.path.join(folder, os.path.basename(file.path))
            for name, file in self.side_files.items()
        }
        pending = []
        for name, path in places.items():
            text = self.side_files[name].text
            if os.path.lexists(path):
                if _holds(path, text):
                    continue
                if not overwrite:
                    raise FileExistsError("{} exists with another content".format(path))
            pending.append((path, text))
        os.makedirs(folder, exist_ok=True)
        for path, text in pending:
            write_atomic(path, text, overwrite)
        options = {name: places.get(name, value) for name, value in self.options.items()}
        files = {name: SideFile(places[name], f.text) for name, f in self.side_files.items()}
        return _restored(options, self.target, self.diagnostics, files)


def _restored(
    options: Dict[str, Any], target: Target, found: Report, side_files: Dict[str, SideFile]
) -> NpuConfig:
    """What a copy or an unpickled configuration is made with; it was judged before."""
    return NpuConfig(MappingProxyType(options), target, found, MappingProxyType(side_files))


def _holds(path: str, text: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() == text.encode("utf-8")
    except OSError:
        return False


def from_settings(
    settings: Settings,
    target: Optional[Target] = None,
    on_host: bool = False,
    found: Any = (),
    strict: bool = False,
    side_files: Optional[Mapping[str, SideFile]] = None,
) -> NpuConfig:
    """The configuration of settings that hold no error.

    Args:
        settings: what was read.
        target: narrows product-limited rules.
        on_host: also check paths and the environment of this host.
        found: diagnostics of the reader, to be raised with the others.
        strict: a warning is a reason to raise, too.
        side_files: see :class:`NpuConfig`.

    Raises:
        NpuConfigError: with every diagnostic, when one of them is an error (or, when strict,
            a warning).
    """
    case = Case(settings, target or ANY_TARGET, os.environ if on_host else None, on_host)
    diagnostics: List[Diagnostic] = judge_case(case)
    diagnostics.extend(found)
    if side_files and on_host:
        diagnostics = [_pending(diagnostic, side_files) for diagnostic in diagnostics]
    worst = Severity.WARNING if strict else Severity.ERROR
    if diagnostics and any(d.severity >= worst for d in diagnostics):
        raise NpuConfigError(diagnostics)
    return NpuConfig(
        MappingProxyType(_canonical(case)),
        case.target,
        Report(diagnostics) if diagnostics else _NO_FINDINGS,
        _NO_FILES if side_files is None else MappingProxyType(dict(side_files)),
    )


def _pending(diagnostic: Diagnostic, side_files: Mapping[str, SideFile]) -> Diagnostic:
    """A file that is missing because its content was not written yet is no error yet."""
    file = side_files.get(diagnostic.option or "")
    if file is None or diagnostic.rule[:5] != "NPU77" or os.path.lexists(file.path):
        return diagnostic
    return attr.evolve(
        diagnostic,
        severity=Severity.WARNING,
        help="write it with config.save_side_files(directory) before the session is created",
    )


def _canonical(case: Case) -> Dict[str, Any]:
    """Known values in catalogue order; a value that only drew a warning stays as it is."""
    known = case.known
    if len(known) != len(case.entries):
        known = dict(known)
        for name, setting in case.entries.items():
            if name in OPTIONS and name not in known and setting.value is not UNKNOWN:
                known[name] = setting.value
    return {name: known[name] for name in sorted(known, key=_ORDER.__getitem__)}


__all__ = ["NpuConfig", "OverwrittenWarning", "SideFile", "from_settings"]
