"""Tasks of the builder as values: what each sets, needs and writes.

:func:`overflow_detection`, :func:`data_dump` and the others are the tasks of
:mod:`npu_config.rules.tasks`, as are the methods of the builder.  A preset carries options, the
content of side files, the directories that must exist and the environment.  Presets are combined
with ``|`` and applied to a ConfigProto or a builder; directories, files and environment are
touched only by the calls that say so.

    step = presets.overflow_detection("/data/overflow") | presets.fusion_off("/data/off.cfg")
    step.make_directories()
    step.write_files()
    with tf.Session(config=step.apply(tf.ConfigProto())) as sess: ...

Source: docs/en/tfadapter_1/migration/others/{overflow_data_collect,dump_data_collect}.md and
apiref/session_config/{accuracy_comparison,debugging,Profiling,basic_options}.md.
"""

import contextlib
import functools
import inspect
import json
import os
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
)

import attr

from npu_config.builder import NpuConfigBuilder
from npu_config.config import NpuConfig
from npu_config.core.calls import caller_place, explained
from npu_config.core.diagnostics import NpuConfigError, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.settings import Settings
from npu_config.rules import tasks
from npu_config.rules.overwritten import warn_overwritten, warn_replaced
from npu_config.rules.own_names import help_for_keyword, no_attribute
from npu_config.rules.value import ConfigValue, from_settings
from npu_config.text.files import write_missing

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    Arguments = ParamSpec("Arguments")


@declare("NPU381", Severity.ERROR)
def presets_disagree() -> None:
    """Two presets that are combined set one option to different values.

    npu_config cannot know which of the two values is intended, so it uses neither.

    Wrong: `presets.data_dump("/a") | presets.data_dump("/b")`

    Right: use one of them, or apply `presets.data_dump("/b")` later: then the value that it
    replaces is reported.
    """


_NOTHING: Mapping[str, str] = MappingProxyType({})


@explained(help_for_keyword)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Preset:
    """One step, or several combined.

    Args:
        config: the options, and the content of the files that they point to.
        environment: variables for the process; see :func:`applied`.
        directories: what must exist before the job starts.
    """

    config: NpuConfig
    environment: Mapping[str, str] = _NOTHING
    directories: Tuple[str, ...] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(no_attribute(self, name))

    @property
    def options(self) -> Mapping[str, Any]:
        """Option name to value."""
        return self.config.options

    def __or__(self, other: "Preset") -> "Preset":
        """Both steps together.

        Raises:
            NpuConfigError: they exclude each other (overflow detection and data dump), or set
                the same thing to different values.
        """
        if not isinstance(other, Preset):
            return NotImplemented
        place = caller_place()
        config = NpuConfigBuilder().update(self.config).update(other.config).build()
        found = [
            presets_disagree.diagnostic(
                phrase(
                    '"{}" is {!r} in one preset and {!r} in the other',
                    name,
                    mine[name],
                    others[name],
                ),
                place,
                name if mine is self.options else None,
                help="combine presets that agree, or leave one out",
            )
            for mine, others in (
                (self.options, other.options),
                (self.environment, other.environment),
            )
            for name in mine
            if name in others and mine[name] != others[name]
        ]
        if found:
            raise NpuConfigError(found)
        return Preset(
            config,
            MappingProxyType({**self.environment, **other.environment}),
            tuple(dict.fromkeys((*self.directories, *other.directories))),
        )

    def apply(self, config: Optional[Any] = None) -> Any:
        """A ConfigProto with the options added to those that it has.

        Each value of the user's that is replaced is reported by an
        :class:`~npu_config.rules.overwritten.OverwrittenWarning`.

        Args:
            config: a ConfigProto, TensorFlow's or the stub's; it stays as it is.  None: a new
                one.

        Returns:
            A new ConfigProto of the same class.

        Raises:
            NpuConfigError: the options are wrong together with those that are there, for
                instance overflow detection on a proto that dumps already.
        """
        from npu_config.proto import decode, encode

        if config is not None:
            place = caller_place()
            theirs = decode(config).entries
            entries = {name: setting._replace(place=place) for name, setting in theirs.items()}
            entries.update(Settings.of(self.options, place=place).entries)
            from_settings(ConfigValue, Settings(entries, place=place))
        result, overwritten = encode(self.config.wire_values(), config)
        warn_overwritten(overwritten)
        return result

    def apply_to(self, builder: NpuConfigBuilder) -> NpuConfigBuilder:
        """Add options, side files and environment to a builder, and return it."""
        builder._environment.update(self.environment)
        return builder.update(self.config)

    def make_directories(self) -> List[str]:
        """Create the directories that are missing; returns those that were created."""
        created = [path for path in self.directories if not os.path.isdir(path)]
        for path in created:
            os.makedirs(path, exist_ok=True)
        return created

    def write_files(self, overwrite: bool = False) -> List[str]:
        """Write the side files to where the options point; returns those that were written.

        A file that has the content already is left alone.

        Args:
            overwrite: replace files with another content.

        Raises:
            FileExistsError: a file exists with another content and ``overwrite`` is False;
                then none is written.
            OSError: a file cannot be written; nothing of it is left behind.
        """
        files = self.config.side_files.values()
        return write_missing({file.path: file.text for file in files}, overwrite)


@contextlib.contextmanager
@explained(help_for_keyword)
def applied(environment: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the duration of a block, then restore what was there.

    A variable that the user had set to something else is reported by an
    :class:`~npu_config.rules.overwritten.OverwrittenWarning`.
    """
    before = {name: os.environ.get(name) for name in environment}
    for name, value in environment.items():
        if before[name] not in (None, value):
            text = "the environment variable {} was {!r} and is {!r} for this block"
            warn_replaced(phrase(text, name, before[name], value), name)
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old


def _preset(task: "Callable[Arguments, tasks.Task]") -> "Callable[Arguments, Preset]":
    """A task as a function that gives a preset."""

    @functools.wraps(task)
    def preset(*args: "Arguments.args", **keywords: "Arguments.kwargs") -> Preset:
        builder = NpuConfigBuilder()._run(task(*args, **keywords))
        config, environment = builder.build(), dict(builder.environment)
        folders = _folders(config, environment)
        return Preset(config, MappingProxyType(environment), tuple(folders))

    described: Any = preset
    described.__module__ = __name__
    described.__signature__ = inspect.signature(task).replace(return_annotation=Preset)
    return explained(help_for_keyword, "presets.")(preset)


def _folders(config: NpuConfig, environment: Mapping[str, str]) -> Iterator[str]:
    """The directories that the options and variables of a task point to."""
    found = [config.get("dump_path"), os.path.dirname(config.get("fusion_switch_file") or "")]
    found.append(json.loads(config.get("profiling_options") or "{}").get("output"))
    found += map(environment.get, ("ASCEND_WORK_PATH", "DUMP_GRAPH_PATH"))
    return filter(None, found)


overflow_detection = _preset(tasks.overflow_detection)
data_dump = _preset(tasks.data_dump)
fusion_off = _preset(tasks.fusion_off)
fusion_switch = _preset(tasks.fusion_switch)
profiling = _preset(tasks.profiling)
deterministic = _preset(tasks.deterministic)
exception_dump = _preset(tasks.exception_dump)
graph_dump = _preset(tasks.graph_dump)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        from npu_config.text.words import no_name

        own = [n for n, v in globals().items() if getattr(v, "__module__", "") == __name__]
        raise AttributeError(no_name(__name__, name, own))
