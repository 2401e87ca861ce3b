"""Values that replace those of a configuration: ``NAME=VALUE`` of ``--set`` and of ``load``."""

from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Tuple

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, Option
from npu_config.catalogue.kinds import Bool, Int, shorten, written_int
from npu_config.catalogue.layout import GROUP_OF_KEY
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.settings import Setting, Settings
from npu_config.text.words import near

__all__ = ["ORIGIN", "REMOVE", "VARIABLE", "Override", "applied", "overrides_in", "overrides_of"]

ORIGIN = "<--set>"
"""What stands for the file in the places of such values."""

VARIABLE = "NPU_CONFIG_SET"
"""Holds a JSON list of ``NAME=VALUE``, in the processes of ``npu-config run --set``."""

REMOVE = "null"
"""The value that takes an option away, as in a file that extends another one."""

_EXAMPLE = "hccl_timeout=1800"


@declare(
    "NPU1161",
    Severity.ERROR,
    source=("npu_config",),
    help=phrase("write NAME=VALUE, e.g. {}", _EXAMPLE),
)
def override_not_understood() -> None:
    """An override of a configuration is not ``NAME=VALUE``, or names no option.

    ``--set`` and ``NpuConfig.load(path, overrides=...)`` take the name of an option, ``=`` and the
    value.  The value is true or false, an integer, or text, as the option requires; a list or a
    mapping is written as JSON. ``null`` removes the option.

    Wrong: `npu-config check job.yaml --set hccl_timeout`

    Right: `npu-config check job.yaml --set hccl_timeout=1800`
    """


class Override(NamedTuple):
    """One value that replaces another; a value of None takes the option away."""

    name: str
    value: Any
    text: str
    place: Place = Place(ORIGIN)

    @property
    def setting(self) -> Setting:
        """The value as one that was read."""
        return Setting(self.value, None, self.place, by=self.text)


def overrides_of(texts: Iterable[str]) -> Tuple[Override, ...]:
    """What ``NAME=VALUE`` texts say, in their order; a later one wins.

    Raises:
        NpuConfigError: with a finding for each that is none, or names no option.
    """
    found: List[Override] = []
    faults: List[Diagnostic] = []
    for text in [texts] if isinstance(texts, str) else texts:
        name, equals, value = str(text).partition("=")
        option = ALL_OPTIONS.get(_without_group(name.strip()))
        if option is not None and equals:
            found.append(Override(option.name, value_of(option, value), str(text)))
        else:
            faults.append(_fault(str(text), name.strip(), bool(equals)))
    if faults:
        raise NpuConfigError(faults)
    return tuple(found)


def overrides_in(environ: Mapping[str, str]) -> Tuple[Override, ...]:
    """Those that ``npu-config run --set`` hands to the sessions of a script."""
    text = environ.get(VARIABLE)
    if not text:
        return ()
    import json

    return overrides_of(json.loads(text))


def _without_group(name: str) -> str:
    """The option that ``group.option`` names."""
    group, _, option = name.partition(".")
    known = GROUP_OF_KEY.get(group)
    return option if known is not None and option in known.options else name


def _fault(text: str, name: str, has_value: bool) -> Diagnostic:
    place = Place(ORIGIN)
    if not name:
        message = phrase('"{}" has no name before the "="', shorten(text))
        return override_not_understood.diagnostic(message, place)
    option = ALL_OPTIONS.get(name)
    if option is not None:
        message = phrase('"{}" has no value; legal: {}', shorten(text), option.kind.describe())
        return override_not_understood.diagnostic(
            message, place, name, phrase("write {}=VALUE", name)
        )
    said = '"{}" is not an option' if has_value else '"{}" is neither NAME=VALUE nor an option'
    meant = near(name, list(OPTIONS))
    help = None if meant is not None else "npu-config explain --list lists the options"
    return override_not_understood.diagnostic(
        phrase(said, shorten(name)), place, help=help, meant=meant
    )


def value_of(option: Option, text: str) -> Any:
    """The value that a text is for an option; None takes it away.

    What the option cannot take stays as it is: the rules say what is wrong with it.
    """
    plain = text.strip()
    if plain == REMOVE:
        return None
    if isinstance(option.kind, Bool):
        return {"true": True, "false": False}.get(plain.lower(), text)
    if isinstance(option.kind, Int):
        number = written_int(plain.lstrip("+"))
        return text if number is None else number
    if plain[:1] in ("[", "{") and not _takes(option, text):
        import json

        try:
            value = json.loads(plain)
        except (ValueError, RecursionError):
            return text
        return value if _takes(option, value) else text
    return text


def _takes(option: Option, value: Any) -> bool:
    try:
        option.kind.parse(value)
    except Exception:  # whatever the value is, the rules say it
        return False
    return True


def applied(settings: Settings, overrides: Iterable[Override]) -> Settings:
    """The settings with these values; a ConfigProto without NpuOptimizer stays as it is."""
    if settings.session is not None and not settings.session.optimizers:
        return settings
    entries: Dict[str, Setting] = dict(settings.entries)
    for override in overrides:
        if override.value is None:
            entries.pop(override.name, None)
        else:
            entries[override.name] = override.setting
    return settings._replace(entries=entries)
