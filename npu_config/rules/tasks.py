"""The methods that set options: any by its name, and one for each documented task.

Each call remembers the file and line of the user's, so that a diagnostic points at it.
"""

import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from npu_config.core.caller import caller_place
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.rules._accuracy_tasks import AccuracyTasks, number

if TYPE_CHECKING:
    from typing_extensions import Literal

    Directory = Union[str, "os.PathLike[str]"]

Self = TypeVar("Self", bound="Tasks")


class Tasks(AccuracyTasks):
    """The options collected so far; :class:`~npu_config.builder.NpuConfigBuilder` judges them."""

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

    def profiling(
        self: Self, output: Optional["Directory"] = None, **options: Union[str, bool, int]
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
