"""NpuConfigBuilder: options set in a script, task by task or by name, and judged together."""

from typing import Any, Mapping, Union

from npu_config.config import NpuConfig
from npu_config.core.calls import caller_place, explained
from npu_config.core.settings import Settings, SourceKind
from npu_config.rules import builder
from npu_config.rules.own_names import help_for_keyword
from npu_config.rules.value import from_settings


@explained(help_for_keyword)
class NpuConfigBuilder(builder.NpuConfigBuilder):
    """Collects options and builds an :class:`~npu_config.config.NpuConfig`.

    There is a method for each task that the vendor's documentation names, and :meth:`set` for
    any option by its own name.  Methods return the builder; a later call wins over an earlier
    one.  Nothing is checked before :meth:`build`, which reports every fault at once.

    Args:
        target: product, mode and CANN version that the job is meant for; narrows the rules
            that depend on them.
    """

    def update(
        self, other: Union["NpuConfigBuilder", NpuConfig, Mapping[str, Any]]
    ) -> "NpuConfigBuilder":
        """Set every option of another builder, of a configuration or of a mapping.

        Raises:
            TypeError: ``other`` is none of these.
        """
        if isinstance(other, NpuConfigBuilder):
            self._put_all(other._entries)
            self._side_files.update(other._side_files)
            self._found.update(other._found)
            self._environment.update(other._environment)
        elif isinstance(other, NpuConfig):
            self._put_all(Settings.of(other.options, place=caller_place()).entries)
            self._side_files.update(other.side_files)
        else:
            self._put_all(Settings.of(other, place=caller_place()).entries)
        return self

    def build(self, strict: bool = False, on_host: bool = False) -> NpuConfig:
        """The configuration, when nothing is wrong with it.

        Args:
            strict: warnings are refused, too.
            on_host: also check paths and the environment of this host.

        Raises:
            NpuConfigError: with every diagnostic; its place is the call that set the option.
        """
        settings = Settings(dict(self._entries), SourceKind.BUILDER, place=self._place)
        return from_settings(
            NpuConfig, settings, self._target, on_host, self.refused, strict, self._side_files
        )
