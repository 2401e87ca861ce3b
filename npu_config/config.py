"""NpuConfig: a set of options that has been judged and found without error.

It is made by :class:`~npu_config.builder.NpuConfigBuilder`, from a mapping, a file or a
ConfigProto, never changes, and writes every output.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, Iterable, Mapping, Optional

from npu_config.core.calls import caller_place, explained
from npu_config.core.diagnostics import NpuConfigError, Severity
from npu_config.core.message import phrase
from npu_config.core.settings import Setting, Settings
from npu_config.core.target import Target
from npu_config.rules.case import judge
from npu_config.rules.overwritten import OverwrittenWarning
from npu_config.rules.own_names import help_for_keyword, no_attribute
from npu_config.rules.value import ConfigValue, SideFile, from_settings, from_validated

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from npu_config.catalogue.option_types import (
        OptionArguments,
        OptionChanges,
        RunConfigArguments,
    )
    from npu_config.core.paths import PathLike


@explained(help_for_keyword)
class NpuConfig(ConfigValue):
    """A valid configuration; frozen, and a mapping of option name to canonical value.

    ``config["dump_path"]``, ``"dump_path" in config``, ``config.get(name)``, ``dict(config)`` and
    ``{**config}`` are those of any mapping.  Two configurations are equal when their options and
    their targets are; none is equal to a ``dict``, which has no target.

    Args:
        options: option name to value; every value is checked.  Another configuration gives its
            side files and, unless there is a ``target``, its target, too.
        target: what it is for; narrows the rules.
        on_host: also check paths and the environment of this host.

    Attributes:
        options: option name to canonical value, in the order of the catalogue.
        target: what it was judged for.
        diagnostics: the findings that remain; none is an error.
        side_files: option name to the content of the file that it points to, for files
            that came with the builder (see :meth:`save_side_files`).
        origins: option name to where its value comes from (kind, path, line, by).

    Raises:
        NpuConfigError: with every diagnostic, when one of them is an error.
    """

    __slots__ = ()

    def __init__(
        self,
        options: OptionArguments,
        target: Optional[Target] = None,
        on_host: bool = False,
    ) -> None:
        given: Any = options
        files: Optional[Mapping[str, SideFile]] = None
        if isinstance(given, ConfigValue):
            target, files = target or given.target, given.side_files
        settings = Settings.of(given)
        valid = from_settings(ConfigValue, settings, target, on_host, side_files=files)
        super().__init__(
            valid.options, valid.target, valid.diagnostics, valid.side_files, valid._settings
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(no_attribute(self, name))

    # from

    @classmethod
    def from_dict(
        cls,
        options: Mapping[str, Any],
        target: Optional[Target] = None,
        on_host: bool = False,
    ) -> NpuConfig:
        """The configuration of a mapping of option name to value, whatever made it.

        The same as the constructor, which type checkers let take names of options only.

        Raises:
            NpuConfigError: with every diagnostic, when one of them is an error.
        """
        known: Any = options
        return cls(known, target, on_host)

    @classmethod
    def from_config_proto(cls, config: Any, target: Optional[Target] = None) -> NpuConfig:
        """The options of the NpuOptimizer entry of a ConfigProto (TensorFlow's or the stub's).

        What is wrong beside the options (``remapping`` that is not OFF) does not keep it from
        being read: such findings are in ``diagnostics``, as warnings at most, and
        :meth:`to_config_proto` sets it right.

        Raises:
            NpuConfigError: with every diagnostic, when an option is wrong.
            TypeError: ``config`` is no ConfigProto.
        """
        from npu_config.proto import decode

        if not hasattr(config, "graph_options"):
            text = "a ConfigProto is expected, got {}; NpuConfig.load(path) reads a file"
            raise TypeError(phrase(text, type(config).__name__))
        settings = decode(config)
        beside = judge(settings._replace(entries={}), target)
        found = [replace(d, severity=min(d.severity, Severity.WARNING)) for d in beside]
        return from_settings(cls, settings._replace(session=None), target, found=found)

    @classmethod
    def load(
        cls,
        path: PathLike,
        target: Optional[Target] = None,
        on_host: bool = False,
        overrides: Iterable[str] = (),
    ) -> NpuConfig:
        """The configuration of a file: YAML, TOML, JSON, pbtxt or pb, by its suffix.

        Args:
            path: the file.
            target: replaces the target that the file names.
            on_host: also check paths and the environment of this host.
            overrides: values that replace those of the file, each ``"NAME=VALUE"``, as those of
                ``--set``; a value of ``null`` takes the option away.

        Raises:
            NpuConfigError: with every diagnostic, when one of them is an error; a file that
                cannot be read is one of them.
        """
        from npu_config.readers import read

        reading = read(path)
        if overrides:
            from npu_config.rules.overrides import overrides_of

            reading = reading.overridden(overrides_of(overrides))
        if not reading.settings:
            raise NpuConfigError(reading.diagnostics)
        files = {
            name: SideFile(setting.value, setting.content)
            for name, setting in reading.settings[0].entries.items()
            if setting.content is not None  # in the record of a job
        }
        meant = target or reading.target
        return from_settings(
            cls, reading.settings[0], meant, on_host, reading.diagnostics, side_files=files
        )

    def evolve(self, **options: Unpack[OptionChanges]) -> NpuConfig:
        """This configuration with some options changed; None takes an option away.

        Raises:
            NpuConfigError: as :meth:`from_dict`.
        """
        changed = dict(self.options)
        changes: Mapping[str, Any] = options
        for name, value in changes.items():
            changed.pop(name, None)
            if value is not None:
                changed[name] = value
        kept = {
            name: file for name, file in self.side_files.items() if changed.get(name) == file.path
        }
        made = from_settings(type(self), Settings.of(changed), self.target, side_files=kept)
        known = made.options, made.target, made.diagnostics, made.side_files
        return from_validated(type(self), *known, self._settings_with(changes))

    def _settings_with(self, changes: Mapping[str, Any]) -> Settings:
        """Where the options were set, those that are changed here."""
        before = self._settings or Settings.of(self.options)
        place = caller_place()
        changed = {
            name: Setting(
                value, None, place, by="evolve()", origin=("builder", *place[:2], "evolve()")
            )
            for name, value in changes.items()
        }
        return before._replace(entries={**before.entries, **changed})

    # to

    def to_run_config_kwargs(self) -> Dict[str, Any]:
        """The arguments of NPURunConfig that carry the options; nested ones are dicts.

        Raises:
            NpuConfigError: an option is set that NPURunConfig cannot carry.
        """
        from npu_config.writers.run_config import to_run_config_kwargs

        return to_run_config_kwargs(self)

    def to_run_config(self, **arguments: Unpack[RunConfigArguments]) -> Any:
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
        from npu_config.text.files import write_atomic
        from npu_config.writers import render_for

        write_atomic(path, render_for(self, path), overwrite)

    def save_side_files(self, directory: PathLike, overwrite: bool = False) -> NpuConfig:
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
        from npu_config.text.files import write_missing

        folder = os.fspath(directory)
        places = {
            name: os.path.join(folder, os.path.basename(file.path))
            for name, file in self.side_files.items()
        }
        os.makedirs(folder, exist_ok=True)
        write_missing(
            {path: self.side_files[name].text for name, path in places.items()}, overwrite
        )
        options = {name: places.get(name, value) for name, value in self.options.items()}
        files = {name: SideFile(places[name], f.text) for name, f in self.side_files.items()}
        return from_validated(
            type(self), options, self.target, self.diagnostics, files, self._settings
        )


__all__ = ["NpuConfig", "OverwrittenWarning", "SideFile"]
