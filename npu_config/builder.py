"""NpuConfigBuilder: options set in a script, task by task or by name, and judged together."""

from __future__ import annotations

import functools
import inspect
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from npu_config.catalogue.kinds import shorten, shown
from npu_config.config import NpuConfig
from npu_config.core.calls import caller_place, explained
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.settings import Setting, Settings, SourceKind, settings_at
from npu_config.core.target import Target
from npu_config.rules import tasks
from npu_config.rules.own_names import help_for_keyword, no_attribute
from npu_config.rules.value import SideFile, from_settings

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Unpack

    from npu_config.catalogue.option_types import OptionArguments

    Arguments = ParamSpec("Arguments")

_LONGEST = 400
"""How many characters of options a builder shows."""

Self = TypeVar("Self", bound="NpuConfigBuilder")


def _method(
    task: Callable[Arguments, tasks.Task],
) -> Callable[Concatenate[Self, Arguments], Self]:
    """A task as a method, with its name, arguments and documentation."""

    def method(__self: Self, *args: Arguments.args, **keywords: Arguments.kwargs) -> Self:
        made = task(*args, **keywords)
        return __self._run(made, task.__name__ + "()", (*args, *keywords.values()))

    signature = inspect.signature(task)
    owner = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    described: Any = functools.update_wrapper(method, task)
    described.__qualname__ = "NpuConfigBuilder." + task.__name__
    described.__signature__ = signature.replace(
        parameters=[owner, *signature.parameters.values()], return_annotation="NpuConfigBuilder"
    )
    return method


@explained(help_for_keyword)
class NpuConfigBuilder:
    """Collects options and builds an :class:`~npu_config.config.NpuConfig`.

    There is a method for each task that the vendor's documentation names, and :meth:`set` for
    any option by its own name.  Methods return the builder; a later call wins over an earlier
    one.  Nothing is checked before :meth:`build`, which reports every fault at once, each at the
    file and line of the call that set the option.

    Args:
        target: product, mode and CANN version that the job is meant for; narrows the rules
            that depend on them.
    """

    def __init__(self, target: Optional[Target] = None) -> None:
        self._target = target
        self._entries: Dict[str, Setting] = {}
        self._side_files: Dict[str, SideFile] = {}
        self._refused: Dict[str, List[Diagnostic]] = {}
        self._environment: Dict[str, str] = {}
        self._place = caller_place()

    def __repr__(self) -> str:
        words: List[str] = []
        left = _LONGEST
        for name, setting in self._entries.items():
            word = "{}={}".format(shorten(str(name)), shown(setting.value, 50))
            left -= len(word)
            if left < 0 and words:
                words.append("... " + str(len(self._entries) - len(words)) + " more")
                break
            words.append(word)
        target = "" if self._target is None else " for " + repr(self._target)
        options = ", ".join(words) or "empty"
        return "<{}{}: {}>".format(type(self).__name__, target, options)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(no_attribute(self, name))

    # any option

    def set(self: Self, **options: Unpack[OptionArguments]) -> Self:
        """Set options by their own names.

        Args:
            options: option name to value; the values each one takes are on its reference page
                and in ``npu-config explain NAME``.
        """
        given: Mapping[str, Any] = options
        self._entries.update(settings_at(caller_place(), given))
        if self._side_files or self._refused:
            self._forget_contents(options)
        return self

    def unset(self: Self, *names: str) -> Self:
        """Take options away that were set before; names that are not set are not a fault."""
        for name in names:
            self._entries.pop(name, None)
        self._forget_contents(names)
        return self

    @property
    def entries(self) -> Mapping[str, Setting]:
        """What is set, by option name."""
        return self._entries

    @property
    def side_files(self) -> Mapping[str, SideFile]:
        """The contents of files that options name, by option name."""
        return self._side_files

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that tasks need beside the options, e.g. for ``presets.applied``.

        A configuration does not hold them: set them in the process that runs the job.
        """
        return self._environment

    @property
    def refused(self) -> List[Diagnostic]:
        """What is wrong with contents that were made from arguments."""
        return [found for several in self._refused.values() for found in several]

    # accuracy: dump, overflow detection, precision, fusion

    data_dump = _method(tasks.data_dump)
    overflow_detection = _method(tasks.overflow_detection)
    precision = _method(tasks.precision)
    mixed_precision = _method(tasks.mixed_precision)
    op_precision = _method(tasks.op_precision)
    fusion_off = _method(tasks.fusion_off)
    fusion_switch = _method(tasks.fusion_switch)
    deterministic = _method(tasks.deterministic)

    # iteration offload and mixed computing

    iteration_offload = _method(tasks.iteration_offload)
    data_pre_processing = _method(tasks.data_pre_processing)
    mixed_computing = _method(tasks.mixed_computing)

    # debugging, profiling, tuning

    debugging = _method(tasks.debugging)
    exception_dump = _method(tasks.exception_dump)
    graph_dump = _method(tasks.graph_dump)
    profiling = _method(tasks.profiling)
    aoe = _method(tasks.aoe)

    # shapes, memory, time, machines

    dynamic_shape = _method(tasks.dynamic_shape)
    online_inference = _method(tasks.online_inference)
    memory = _method(tasks.memory)
    timeouts = _method(tasks.timeouts)
    distributed = _method(tasks.distributed)

    # several at once, and all together

    def update(self: Self, other: Union[NpuConfigBuilder, NpuConfig, Mapping[str, Any]]) -> Self:
        """Set every option of another builder, of a configuration or of a mapping.

        Raises:
            TypeError: ``other`` is none of these.
        """
        if isinstance(other, NpuConfigBuilder):
            self._put_all(other._entries)
            self._side_files.update(other._side_files)
            self._refused.update(other._refused)
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
        refused = self.refused if self._refused else ()
        return from_settings(
            NpuConfig, settings, self._target, on_host, refused, strict, self._side_files
        )

    # how options are kept

    def _run(
        self: Self, task: tasks.Task, by: Optional[str] = None, given: Sequence[Any] = ()
    ) -> Self:
        """Set what a task sets, at the place of the user's call."""
        place = caller_place()
        for name in task.removed:
            self._entries.pop(name, None)
        self._put_all(
            {
                name: Setting(
                    value,
                    None,
                    place,
                    by=by,
                    is_implied=by is not None and not _is_given(value, given),
                )
                for name, value in task.options.items()
            }
        )
        self._side_files.update(task.side_files)
        self._environment.update(task.environment)
        for option, found in task.refused.items():
            self._refused[option] = [each.in_option(option, place) for each in found]
        return self

    def _put_all(self, entries: Mapping[str, Setting]) -> None:
        self._forget_contents(entries)
        self._entries.update(entries)

    def _forget_contents(self, names: Iterable[str]) -> None:
        for name in names:
            self._side_files.pop(name, None)
            self._refused.pop(name, None)


def _is_given(value: Any, given: Sequence[Any]) -> bool:
    """Whether a value is an argument as it stands; a switch says nothing of where it is from."""
    plain = type(value) in (int, str)
    return any(
        each is value or (plain and type(each) is type(value) and each == value)
        for each in given
        if type(value) is not bool
    )
