"""What the diagnosis needs to know of the configuration of a graph's session."""

from typing import Any, Dict, Mapping, Optional

from npu_config.core.message import phrase
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
