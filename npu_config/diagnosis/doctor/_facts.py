"""What is known of a job before it is checked."""

import os
from typing import Any, Callable, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, Settings, SourceKind, Unknown
from npu_config.core.target import ANY_TARGET, Target
from npu_config.readers import Reading, read
from npu_config.rules.engine import judge
from npu_config.text.loading import load

_LARGEST_SCRIPT = 16 * 1024 * 1024


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Facts:
    """What is known.

    Args:
        given: True when there is a source at all.
        settings: one per path through a script, one for anything else, none when nothing could
            be read.
        diagnostics: what is wrong with it.
        script: the text of a training script.
        writes_session: True for a source from which npu_config makes the ConfigProto, and
            so sets what stands around the options.
        target: product and mode.
        environ: the environment of the job.
        on_host: True when this is the training host.
    """

    given: bool
    settings: Tuple[Settings, ...]
    diagnostics: Tuple[Diagnostic, ...]
    script: Optional[str]
    writes_session: bool
    target: Target
    environ: Mapping[str, str]
    on_host: bool

    def each(self, look: Callable[[Settings], Any]) -> List[Any]:
        """What ``look`` sees in each of the settings, without repetition."""
        return list(dict.fromkeys(look(settings) for settings in self.settings))

    def values(self, name: str) -> List[Any]:
        """The values of an option: None where it is absent, UNKNOWN where that is not known."""

        def value(settings: Settings) -> Any:
            setting = settings.entries.get(name)
            if setting is None:
                return UNKNOWN if settings.open else None
            known = setting.value
            return known if isinstance(known, (bool, int, float, str, Unknown)) else repr(known)

        return self.each(value)


def facts_of(
    source: Any, target: Optional[Target], environ: Mapping[str, str], on_host: bool
) -> Facts:
    """Read a source.

    Raises:
        TypeError: it is of no type that can be read.
    """
    environment = environ if on_host else None
    if isinstance(source, (str, os.PathLike)):
        return _of_file(os.fspath(source), target, environ, on_host)
    settings: Tuple[Settings, ...] = ()
    writes_session = True
    if source is not None:
        options = getattr(source, "options", source)
        if isinstance(options, Mapping):
            settings = (Settings.of(options),)
            target = target or getattr(source, "target", None)
        elif hasattr(source, "graph_options"):
            from npu_config.proto import decode

            settings, writes_session = (decode(source),), False
        else:
            raise TypeError(
                phrase(
                    "a check-up takes a path, an NpuConfig, a mapping or a ConfigProto, not {}",
                    type(source).__name__,
                )
            )
    found: List[Diagnostic] = []
    for each in settings:
        found += judge(each, target, environment, on_host)
    return Facts(
        source is not None,
        settings,
        tuple(found),
        None,
        writes_session,
        target or ANY_TARGET,
        environ,
        on_host,
    )


def _of_file(
    path: str, target: Optional[Target], environ: Mapping[str, str], on_host: bool
) -> Facts:
    reading: Reading
    settings: Tuple[Settings, ...]
    text = None
    if path.endswith(".py"):
        reading, settings = _script(path)
        text = reading.text
        # Whether its paths exist is another check's business: they may be those of the host.
        found = reading.judge(target)
    else:
        reading = read(path)
        settings = reading.settings
        target = target or reading.target
        found = reading.judge(target, environ if on_host else None, on_host)
    return Facts(
        True,
        settings,
        tuple(found),
        text,
        text is None and all(each.source_kind is SourceKind.FILE for each in settings),
        target or ANY_TARGET,
        environ,
        on_host,
    )


def _script(path: str) -> Tuple[Reading, Tuple[Settings, ...]]:
    """A training script, and the settings that last (an assignment may be overwritten)."""
    from npu_config import script

    content = load(path, _LARGEST_SCRIPT)
    if isinstance(content, Diagnostic):
        return Reading("script", path, diagnostics=(content,), skipped=True), ()
    reading = script.read(content, path)
    lasting = [each.settings for each in reading.variants if each.shadowed_by is None]
    return reading, tuple(lasting)
