"""The builder of configurations, but for what it builds: that is above the readers of scripts,
which ask its tasks what they set, see :class:`npu_config.builder.NpuConfigBuilder`.

There is a method for any option by its name, and one for each documented task.  Each call
remembers the file and line of the user's, so that a diagnostic points at it.
"""

import os
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
    Tuple,
    TypeVar,
    Union,
)

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import is_bool, shorten, shown
from npu_config.core.calls import caller_place, explained
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.core.target import Target
from npu_config.rules.own_names import help_for_keyword, no_attribute
from npu_config.rules.value import SideFile

if TYPE_CHECKING:
    from typing_extensions import Literal, Unpack

    from npu_config.catalogue.option_types import (
        MixedMode,
        OptionArguments,
        PrecisionMode,
        ProfilingArguments,
    )

    Steps = Union[str, int, Sequence[Union[int, Tuple[int, int]]]]
    Directory = Union[str, "os.PathLike[str]"]

_V2_MODES: Tuple[str, ...] = getattr(OPTIONS["precision_mode_v2"].kind, "values", ())
_LONGEST = 400
"""How many characters of options a builder shows."""

Self = TypeVar("Self", bound="NpuConfigBuilder")


def number(enabled: Any) -> Any:
    """1 and 0 for True and False; anything else is left for ``build``."""
    return int(enabled) if is_bool(enabled) else enabled


@explained(help_for_keyword)
class NpuConfigBuilder:
    """The options collected so far."""

    def __init__(self, target: Optional[Target] = None) -> None:
        self._target = target
        self._entries: Dict[str, Setting] = {}
        self._side_files: Dict[str, SideFile] = {}
        self._found: Dict[str, List[Diagnostic]] = {}
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

    def set(self: Self, **options: "Unpack[OptionArguments]") -> Self:
        """Set options by their own names.

        Args:
            options: option name to value; the values each one takes are on its reference page
                and in ``npu-config explain NAME``.
        """
        place = caller_place()
        entries = self._entries
        for name, value in options.items():
            entries[name] = Setting(value, None, place)
        if self._side_files or self._found:
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
        return [found for several in self._found.values() for found in several]

    # accuracy: dump, overflow detection, precision, fusion

    def data_dump(
        self: Self,
        path: "Directory",
        steps: Optional["Steps"] = None,
        mode: Optional["Literal['input', 'output', 'all']"] = None,
        data: Optional["Literal['tensor', 'stats']"] = None,
        layers: Optional[Sequence[str]] = None,
    ) -> Self:
        """Dump inputs or outputs of operators.

        Sets ``enable_dump`` and ``dump_path``.

        Args:
            path: directory that exists on the host.
            steps: iterations to dump, e.g. ``[0, 5, (10, 20)]``; None: all.
            mode: which side of an operator; None: its outputs.
            data: whole tensors or statistics; None: tensors.
            layers: operator names; None: every operator.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        return self._put(
            {"enable_dump": True, "dump_path": path},
            dump_step=steps,
            dump_mode=mode,
            dump_data=data,
            dump_layer=layers,
        )

    def overflow_detection(
        self: Self,
        path: "Directory",
        mode: Optional["Literal['aicore_overflow', 'atomic_overflow', 'all']"] = None,
    ) -> Self:
        """Look for overflow and underflow; not together with :meth:`data_dump`.

        Sets ``enable_dump_debug`` and ``dump_path``.

        Args:
            path: directory that exists on the host.
            mode: kind of overflow; None: all.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        return self._put({"enable_dump_debug": True, "dump_path": path}, dump_debug_mode=mode)

    def precision(self: Self, mode: "PrecisionMode") -> Self:
        """Choose the precision policy, in either vocabulary.

        Sets ``precision_mode_v2`` for the words of that option, else ``precision_mode``, and
        takes away the other one, which excludes it.

        Args:
            mode: e.g. ``"origin"``, ``"mixed_float16"`` or ``"allow_mix_precision"``.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md
        """
        self._precision(mode, caller_place())
        return self

    def mixed_precision(
        self: Self,
        mode: "MixedMode" = "allow_mix_precision",
        black_list: Sequence[str] = (),
        white_list: Sequence[str] = (),
        gray_list: Sequence[str] = (),
        mixlist_path: Optional["Directory"] = None,
    ) -> Self:
        """Mixed precision, with changes to the operator lists where some are given.

        Sets ``precision_mode`` or ``precision_mode_v2``, and ``modify_mixlist`` when there is a
        list or a path.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            mode: a mixed mode, e.g. ``"allow_mix_precision_bf16"`` or ``"mixed_float16"``.
            black_list: operator types that keep their precision.
            white_list: operator types whose precision may be reduced.
            gray_list: operator types that follow the operator before them.
            mixlist_path: the file; with lists it defaults to ``"ops_info.json"``, without
                lists it is a file of yours.

        Source: docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md
        """
        self._precision(mode, caller_place())
        if black_list or white_list or gray_list:
            from npu_config.sidefiles import mixlist

            return self._carry(
                "modify_mixlist",
                mixlist_path or "ops_info.json",
                lambda: mixlist.render(
                    mixlist.Mixlist.of(
                        black_list=black_list, white_list=white_list, gray_list=gray_list
                    )
                ),
            )
        return self._put({}, modify_mixlist=mixlist_path)

    def op_precision(
        self: Self,
        by_type: Optional[Mapping[str, str]] = None,
        by_name: Optional[Mapping[str, str]] = None,
        path: "Directory" = "op_precision.ini",
    ) -> Self:
        """Choose precision or speed for single operators.

        Sets ``op_precision_mode``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            by_type: operator type to mode, e.g. ``{"Pooling": "high_performance"}``.
            by_name: node name to mode; beats ``by_type``.
            path: the file; without ``by_type`` and ``by_name`` it is a file of yours.

        Source: docs/en/tfadapter_1/apiref/session_config/performance_tuning.md
        """
        if by_type or by_name:
            from npu_config.sidefiles import op_precision

            return self._carry(
                "op_precision_mode",
                path,
                lambda: op_precision.render(
                    op_precision.OpPrecision.of(by_type or {}, by_name=by_name or {})
                ),
            )
        return self._put({"op_precision_mode": path})

    def fusion_off(self: Self, path: "Directory" = "fusion_off.cfg") -> Self:
        """Switch every fusion pass off that can be switched off, to find one that harms.

        Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        from npu_config.sidefiles import fusion_switch

        return self._carry(
            "fusion_switch_file",
            path,
            lambda: fusion_switch.render(fusion_switch.FusionSwitch.off()),
        )

    def fusion_switch(
        self: Self,
        graph: Optional[Mapping[str, Union[str, bool]]] = None,
        ub: Optional[Mapping[str, Union[str, bool]]] = None,
        path: "Directory" = "fusion_switch.cfg",
    ) -> Self:
        """Switch single fusion passes on or off.

        Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool.
            ub: the same for UB fusion passes.
            path: the file; without ``graph`` and ``ub`` it is a file of yours.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        if graph or ub:
            from npu_config.sidefiles import fusion_switch

            return self._carry(
                "fusion_switch_file",
                path,
                lambda: fusion_switch.render(
                    fusion_switch.FusionSwitch.of(graph or {}, ub=ub or {})
                ),
            )
        return self._put({"fusion_switch_file": path})

    def deterministic(self: Self, enabled: bool = True) -> Self:
        """Make operators give identical outputs for identical inputs, at the cost of speed.

        Source: docs/en/tfadapter_1/apiref/session_config/basic_options.md
        """
        return self._put({"deterministic": number(enabled)})

    # iteration offload and mixed computing

    def iteration_offload(self: Self, iterations_per_loop: int) -> Self:
        """Run several training iterations on the device in each session.run.

        Sets ``iterations_per_loop`` and ``enable_data_pre_proc``, which it requires.  The loop
        itself is made by ``set_iteration_per_loop`` or ``SetIterationsVarHook``.

        Args:
            iterations_per_loop: iterations for each call, from 1 on.

        Source: docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md
        """
        return self._put(
            {"iterations_per_loop": iterations_per_loop, "enable_data_pre_proc": True}
        )

    def data_pre_processing(self: Self, enabled: bool = True) -> Self:
        """Offload GetNext, the hand-over of preprocessed data, to the device.

        Sets ``enable_data_pre_proc``; the data must come from tf.data.

        Source: docs/en/tfadapter_1/apiref/session_config/deprecated_options.md
        """
        return self._put({"enable_data_pre_proc": enabled})

    def mixed_computing(
        self: Self,
        variable_placement: Optional["Literal['Device', 'Host']"] = None,
        in_out_pair: Optional[Tuple[Sequence[str], Sequence[str]]] = None,
        offload_pair: Optional[bool] = None,
    ) -> Self:
        """Keep operators on the host that the device cannot run.

        Sets ``mix_compile_mode``.

        Args:
            variable_placement: where variables live.
            in_out_pair: the operators that begin and end one subgraph (online inference).
            offload_pair: True offloads that subgraph, False keeps it on the host.

        Source: docs/en/tfadapter_1/migration/others/mixed_computing.md
        """
        return self._put(
            {"mix_compile_mode": True},
            variable_placement=variable_placement,
            in_out_pair=in_out_pair,
            in_out_pair_flag=offload_pair,
        )

    # debugging, profiling, tuning

    def debugging(
        self: Self,
        exception_dump: Optional["Literal[0, 1, 2]"] = None,
        op_debug_config: Optional["Directory"] = None,
        debug_dir: Optional["Directory"] = None,
        export_compile_stat: Optional["Literal[0, 1, 2]"] = None,
    ) -> Self:
        """What is kept of failing operators and of operator compilation.

        Args:
            exception_dump: 0 off, 1 common, 2 light.
            op_debug_config: file of operator-compile debug switches.
            debug_dir: directory for .o, .json and .cce files.
            export_compile_stat: when fusion_result.json is written: 0 never, 1 at normal exit,
                2 right after compilation.

        Source: docs/en/tfadapter_1/apiref/session_config/debugging.md
        """
        return self._put(
            {},
            enable_exception_dump=exception_dump,
            op_debug_config=op_debug_config,
            debug_dir=debug_dir,
            export_compile_stat=export_compile_stat,
        )

    def exception_dump(
        self: Self, level: "Literal[0, 1, 2]" = 1, path: Optional["Directory"] = None
    ) -> Self:
        """Keep the data of an operator that fails.

        Sets ``enable_exception_dump``, and with a path ``ASCEND_WORK_PATH`` in
        :attr:`environment`.

        Args:
            level: 0 off, 1 common, 2 light.
            path: where the data goes (``NPU_COLLECT_PATH`` has precedence); None: below
                ``./extra-info``.

        Source: docs/en/tfadapter_1/apiref/session_config/debugging.md
        """
        if path is not None:
            self._environment["ASCEND_WORK_PATH"] = os.fspath(path)
        return self._put({"enable_exception_dump": level})

    def graph_dump(
        self: Self,
        path: "Directory",
        content: "Literal[1, 2, 3]" = 2,
        level: "Literal[1, 2, 3, 4]" = 3,
    ) -> Self:
        """Have the graph engine write its graphs.

        Sets no option, only variables in :attr:`environment`.

        Args:
            path: where the graphs go, below ``pid_<pid>_deviceid_<id>`` (``DUMP_GRAPH_PATH``).
            content: ``DUMP_GE_GRAPH``: 1 everything, 2 without weights, 3 structure only.
            level: ``DUMP_GRAPH_LEVEL``: which stages.

        Source: cann/ge:docs/zh/user_guides/env_vars/DUMP_GE_GRAPH.md
        """
        self._environment.update(
            DUMP_GE_GRAPH=str(content),
            DUMP_GRAPH_LEVEL=str(level),
            DUMP_GRAPH_PATH=os.fspath(path),
        )
        return self

    def profiling(
        self: Self,
        output: Optional["Directory"] = None,
        **options: "Unpack[ProfilingArguments]",
    ) -> Self:
        """Collect profile data.

        Sets ``profiling_mode``, and ``profiling_options`` when there is an argument; without
        one the adapter uses options of its own.

        Args:
            output: directory for the results.
            options: keys of the profiling options, e.g. ``training_trace=True``,
                ``task_time="l1"``, ``aic_metrics="PipeUtilization"``.

        Source: docs/en/tfadapter_1/apiref/session_config/Profiling.md
        """
        self._put({"profiling_mode": True})
        if output is not None or options:
            from npu_config.sidefiles import profiling

            place = caller_place()
            given: Dict[str, Any] = dict(options)
            if output is not None:
                given["output"] = os.fspath(output) if isinstance(output, os.PathLike) else output
            self._put_all({"profiling_options": Setting(UNKNOWN, None, place)})
            text = self._content(
                "profiling_options",
                place,
                lambda: profiling.render(profiling.ProfilingOptions.of(**given)),
            )
            if text is not None:
                self._entries["profiling_options"] = Setting(text, None, place)
        return self

    def aoe(
        self: Self,
        mode: "Literal['1', '2', '4']",
        work_path: Optional["Directory"] = None,
        config_file: Optional["Directory"] = None,
    ) -> Self:
        """Tune operators, subgraphs or gradient splitting with AOE.

        Args:
            mode: ``"1"`` subgraph, ``"2"`` operator, ``"4"`` gradient splitting.
            work_path: directory that exists; None: the run directory.
            config_file: JSON file that says which operators to tune.

        Source: docs/en/tfadapter_1/apiref/session_config/AOE.md
        """
        return self._put({"aoe_mode": mode}, work_path=work_path, aoe_config_file=config_file)

    # shapes, memory, time, machines

    def dynamic_shape(
        self: Self,
        input_shape: Union[str, Mapping[str, Sequence[int]]],
        dynamic_dims: Union[str, Sequence[Sequence[int]]],
        node_type: "Literal['dataset', 'placeholder']" = "placeholder",
        hybrid: Optional[bool] = None,
    ) -> Self:
        """Give the profiles of sizes that a dynamic-shape graph runs with (online inference).

        Args:
            input_shape: shape of each input, names in alphabetical order, -1 where it varies.
            dynamic_dims: at least two profiles; each gives a size for every -1, in order.
            node_type: what feeds the dynamic inputs.
            hybrid: True also compiles a dynamic-shape graph and picks one for each run.

        Source: docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md
        """
        numbers = {"dataset": 0, "placeholder": 1}
        known = isinstance(node_type, str) and node_type in numbers
        return self._put(
            {
                "input_shape": input_shape,
                "dynamic_dims": dynamic_dims,
                "dynamic_node_type": numbers[node_type] if known else node_type,
            },
            compile_hybrid_mode=number(hybrid),
        )

    def online_inference(
        self: Self,
        frozen_variable: Optional[bool] = None,
        parallel_models: Optional[int] = None,
    ) -> Self:
        """Run the graph for inference.

        Sets ``graph_run_mode`` to 0.

        Args:
            frozen_variable: True turns the variables of a checkpoint into constants.
            parallel_models: most threads that run one graph at the same time, from 1 on.

        Source: docs/en/tfadapter_1/apiref/session_config/basic_options.md
        """
        return self._put(
            {"graph_run_mode": 0},
            frozen_variable=frozen_variable,
            graph_max_parallel_model_num=parallel_models,
        )

    def memory(
        self: Self,
        static_policy: Optional["Literal[0, 2, 3, 4]"] = None,
        atomic_clean_policy: Optional["Literal[0, 1]"] = None,
        variable_use_1g_huge_page: Optional["Literal[0, 1, 2]"] = None,
        external_weight: Optional[bool] = None,
        input_fusion_size: Optional[int] = None,
        input_batch_cpy: Optional[bool] = None,
    ) -> Self:
        """How device memory is allocated and inputs are copied.

        Args:
            static_policy: 0 dynamic, 2 static-shape expansion with reuse, 3 dynamic-shape
                expansion, 4 both.
            atomic_clean_policy: 1 clears the workspace of memset operators one by one.
            variable_use_1g_huge_page: 1 uses 1-GB pages or fails, 2 falls back to 2-MB pages.
            external_weight: True keeps constants in files that models of a session share.
            input_fusion_size: inputs up to this many bytes are copied together; 0: none.
            input_batch_cpy: True copies several inputs in one batch.

        Source: docs/en/tfadapter_1/apiref/session_config/memory_management.md
        """
        return self._put(
            {},
            static_memory_policy=static_policy,
            atomic_clean_policy=atomic_clean_policy,
            variable_use_1g_huge_page=variable_use_1g_huge_page,
            external_weight=external_weight,
            input_fusion_size=input_fusion_size,
            input_batch_cpy=input_batch_cpy,
        )

    def timeouts(
        self: Self,
        hccl: Optional[int] = None,
        op_wait: Optional[int] = None,
        op_execute: Optional[int] = None,
        stream_sync: Optional[int] = None,
        event_sync: Optional[int] = None,
    ) -> Self:
        """How long the runtime waits before it gives up.

        Args:
            hccl: collective communication, in seconds.
            op_wait: an operator waiting, in seconds.
            op_execute: an operator running, in seconds.
            stream_sync: stream synchronisation, in milliseconds; -1: for ever.
            event_sync: event synchronisation, in milliseconds; -1: for ever.

        Source: docs/en/tfadapter_1/apiref/session_config/exception_remedy.md
        """
        return self._put(
            {},
            hccl_timeout=hccl,
            op_wait_timeout=op_wait,
            op_execute_timeout=op_execute,
            stream_sync_timeout=stream_sync,
            event_sync_timeout=event_sync,
        )

    def distributed(
        self: Self,
        hcom_parallel: Optional[bool] = None,
        local_rank_id: Optional[int] = None,
        local_device_list: Optional[Sequence[int]] = None,
        is_tailing_optimization: Optional[bool] = None,
        hccl_timeout: Optional[int] = None,
    ) -> Self:
        """Options of training on several devices.

        Args:
            hcom_parallel: True overlaps AllReduce with computation.
            local_rank_id: local rank of the process that feeds several devices, 0 to 7.
            local_device_list: the devices that it feeds.
            is_tailing_optimization: True hides the last AllReduce (BERT).
            hccl_timeout: collective communication, in seconds.

        Source: docs/en/tfadapter_1/migration/model_training/distributed_training.md
        """
        return self._put(
            {},
            hcom_parallel=hcom_parallel,
            local_rank_id=local_rank_id,
            local_device_list=local_device_list,
            is_tailing_optimization=is_tailing_optimization,
            hccl_timeout=hccl_timeout,
        )

    # how options are kept

    def _precision(self, mode: str, place: Place) -> None:
        v2 = isinstance(mode, str) and mode in _V2_MODES
        self.unset("precision_mode" if v2 else "precision_mode_v2")
        name = "precision_mode_v2" if v2 else "precision_mode"
        self._entries[name] = Setting(mode, None, place)

    def _forget_contents(self, names: Iterable[str]) -> None:
        for name in names:
            self._side_files.pop(name, None)
            self._found.pop(name, None)

    def _put_all(self, entries: Mapping[str, Setting]) -> None:
        self._forget_contents(entries)
        self._entries.update(entries)

    def _put(self: Self, options: Mapping[str, Any], **more: Any) -> Self:
        """Set options at the place of the task method's caller; of ``more`` what is not None."""
        place = caller_place()
        given = {**options, **{name: v for name, v in more.items() if v is not None}}
        self._put_all({name: Setting(value, None, place) for name, value in given.items()})
        return self

    def _carry(self: Self, option: str, path: "Directory", make: Callable[[], str]) -> Self:
        """Point an option to a file, and keep the file's content."""
        place = caller_place()
        self._put_all({option: Setting(path, None, place)})
        text = self._content(option, place, make)
        if text is not None and isinstance(path, (str, os.PathLike)):
            self._side_files[option] = SideFile(os.fspath(path), text)
        return self

    def _content(self, option: str, place: Place, make: Callable[[], str]) -> Optional[str]:
        """A content made from arguments; what is wrong with them is kept for ``build``."""
        try:
            return make()
        except NpuConfigError as error:
            self._found[option] = [found.in_option(option, place) for found in error.diagnostics]
            return None
