"""Steps of the accuracy and failure workflow as values: what each sets, needs and writes.

A preset carries options, the content of side files, the directories that must exist and
the environment that goes with it.  Presets are combined with ``|`` and applied to a
ConfigProto or a builder; directories, files and environment are touched only by the calls
that say so.

    step = presets.overflow_detection("/data/overflow") | presets.fusion_off("/data/off.cfg")
    step.make_directories()
    step.write_files()
    with tf.Session(config=step.apply(tf.ConfigProto())) as sess: ...

Source: docs/en/tfadapter_1/migration/others/{overflow_data_collect,dump_data_collect}.md and
apiref/session_config/{accuracy_comparison,debugging,Profiling,basic_options}.md.
"""

import contextlib
import os
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.builder import NpuConfigBuilder
from npu_config.config import NpuConfig
from npu_config.core.caller import caller_place
from npu_config.core.calls import explained
from npu_config.core.diagnostics import NpuConfigError, Severity
from npu_config.core.files import PathLike, write_missing
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.settings import Settings
from npu_config.rules.overwritten import warn_overwritten, warn_replaced
from npu_config.rules.own_names import help_for_keyword, no_attribute
from npu_config.rules.value import ConfigValue, from_settings

if TYPE_CHECKING:
    from typing_extensions import Literal, Unpack

    from npu_config.catalogue.option_types import ProfilingArguments

    Steps = Union[str, int, Sequence[Union[int, Tuple[int, int]]]]


@declare("NPU381", Severity.ERROR)
def presets_disagree() -> None:
    """Two presets that are combined set the same thing to different values.

    Which of them is meant cannot be known; neither is taken silently.

    Wrong: `presets.data_dump("/a") | presets.data_dump("/b")`

    Right: one of them, or `presets.data_dump("/b")` applied later, where what it replaces is
    reported.
    """


_NOTHING: Mapping[str, str] = MappingProxyType({})


_explained = explained(help_for_keyword)


@_explained
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
        """Add options and side files to a builder, and return it."""
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
@_explained
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


def _preset(
    task: Callable[[NpuConfigBuilder], NpuConfigBuilder],
    directories: Iterable[Optional[PathLike]] = (),
    environment: Mapping[str, str] = _NOTHING,
) -> Preset:
    folders = tuple(os.fspath(path) for path in directories if path is not None)
    config = task(NpuConfigBuilder()).build()
    return Preset(config, MappingProxyType(dict(environment)), folders)


@_explained
def overflow_detection(
    path: PathLike,
    mode: "Optional[Literal['aicore_overflow', 'atomic_overflow', 'all']]" = None,
) -> Preset:
    """EnvironmentCheck for overflow; not together with :func:`data_dump`.

    Args:
        path: where overflow data goes; no folder appears there when nothing overflows.
        mode: kind of overflow; None: all.
    """
    return _preset(lambda builder: builder.overflow_detection(path, mode), [path])


@_explained
def data_dump(
    path: PathLike,
    steps: "Optional[Steps]" = None,
    mode: "Optional[Literal['input', 'output', 'all']]" = None,
    data: "Optional[Literal['tensor', 'stats']]" = None,
    layers: Optional[Sequence[str]] = None,
) -> Preset:
    """Dump inputs or outputs of operators; not together with :func:`overflow_detection`.

    Args:
        path: where the data goes; one iteration can be tens of GB.
        steps: iterations, e.g. ``[0, 5, (10, 20)]``; None: all.
        mode: which side of an operator; None: its outputs.
        data: whole tensors or statistics; None: tensors.
        layers: operator names; None: every operator.
    """
    return _preset(lambda builder: builder.data_dump(path, steps, mode, data, layers), [path])


@_explained
def fusion_off(path: PathLike = "fusion_off.cfg") -> Preset:
    """Switch every fusion pass off that can be switched off.

    Args:
        path: the fusion switch file; :meth:`Preset.write_files` writes it.
    """
    return _preset(lambda builder: builder.fusion_off(path), [_folder(path)])


@_explained
def fusion_switch(
    graph: Optional[Mapping[str, Union[str, bool]]] = None,
    ub: Optional[Mapping[str, Union[str, bool]]] = None,
    path: PathLike = "fusion_switch.cfg",
) -> Preset:
    """Switch single fusion passes on or off.

    Args:
        graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool.
        ub: the same for UB fusion passes.
        path: the fusion switch file; :meth:`Preset.write_files` writes it.  Without ``graph``
            and ``ub`` it is a file of yours.
    """
    return _preset(lambda builder: builder.fusion_switch(graph, ub, path), [_folder(path)])


@_explained
def profiling(
    output: Optional[PathLike] = None, **options: "Unpack[ProfilingArguments]"
) -> Preset:
    """Collect profile data.

    Args:
        output: where the results go.
        options: keys of the profiling options, e.g. ``task_time="l1"``.
    """
    return _preset(lambda builder: builder.profiling(output, **options), [output])


@_explained
def deterministic() -> Preset:
    """Make operators give identical outputs for identical inputs, at the cost of speed."""
    return _preset(lambda builder: builder.deterministic())


@_explained
def exception_dump(level: "Literal[0, 1, 2]" = 1, path: Optional[PathLike] = None) -> Preset:
    """Keep the data of an operator that fails.

    Args:
        level: 0 off, 1 common, 2 light.
        path: where it goes (``ASCEND_WORK_PATH``, which ``NPU_COLLECT_PATH`` beats); None: below
            ``./extra-info``.
    """
    environment = {} if path is None else {"ASCEND_WORK_PATH": os.fspath(path)}
    return _preset(lambda builder: builder.debugging(exception_dump=level), [path], environment)


@_explained
def graph_dump(
    path: PathLike,
    content: "Literal[1, 2, 3]" = 2,
    level: "Literal[1, 2, 3, 4]" = 3,
) -> Preset:
    """Have the graph engine write its graphs; environment only, no option.

    Args:
        path: where the graphs go, below ``pid_<pid>_deviceid_<id>`` (``DUMP_GRAPH_PATH``).
        content: ``DUMP_GE_GRAPH``: 1 everything, 2 without weights, 3 structure only.
        level: ``DUMP_GRAPH_LEVEL``: which stages.
    """
    return _preset(
        lambda builder: builder,
        [path],
        {
            "DUMP_GE_GRAPH": str(content),
            "DUMP_GRAPH_LEVEL": str(level),
            "DUMP_GRAPH_PATH": os.fspath(path),
        },
    )


def _folder(path: PathLike) -> Optional[str]:
    return os.path.dirname(os.fspath(path)) or None


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        from npu_config.text.words import no_name

        own = [n for n, v in globals().items() if getattr(v, "__module__", "") == __name__]
        raise AttributeError(no_name(__name__, name, own))
