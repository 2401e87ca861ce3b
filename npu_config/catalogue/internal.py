"""Internal options, not in the documentation."""

import functools

from npu_config.catalogue.kinds import INT32_MAX, Bool, Int, Path, Text
from npu_config.catalogue.option import Option, Outcome, Status, table
from npu_config.core.versions import NEVER, since

PAGE = "internal"
TITLE = "Internal options, not in the documentation"

option = functools.partial(Option)

option = functools.partial(Option, page=PAGE)

OPTIONS = table(
    (
        option(
            name="job",
            kind=Text(),
            summary=('TensorFlow job name; "ps" and "default" make the pass skip offloading.'),
            default="localhost",
            scope="graph",
            status=Status.UNDOCUMENTED,
            notes="NPUEstimator writes TF_CONFIG task.type, else localhost.",
            source=(
                "tf_adapter/util/npu_attrs.cc:2238",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:664",
            ),
        ),
        option(
            name="task_index",
            kind=Int(minimum=0, maximum=INT32_MAX),
            summary="TensorFlow task index used to build the device name.",
            default=0,
            scope="graph",
            status=Status.UNDOCUMENTED,
            notes="NPUEstimator writes TF_CONFIG task.index, else 0.",
            outcome=Outcome.ABORT,
            source=(
                "tf_adapter/util/npu_attrs.cc:2243",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:665",
            ),
        ),
        option(
            name="device_type",
            kind=Text(),
            summary="Device type tag handed to GE.",
            default="default_device_type",
            run_config="device_type",
            run_config_default="default_device_type",
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("r1.7.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2486",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:837",
            ),
        ),
        option(
            name="soc_config",
            kind=Text(),
            summary="SoC version handed to GE.",
            run_config="soc_config",
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("r1.8.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2212",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:839",
            ),
        ),
        option(
            name="hcom_multi_mode",
            kind=Bool(),
            summary="Internal collective communication mode flag.",
            default=False,
            run_config="hcom_multi_mode",
            run_config_default=False,
            scope="process+session",
            status=Status.UNDOCUMENTED,
            versions=since("r1.3.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2412",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:824",
            ),
        ),
        option(
            name="lower_functional_ops",
            kind=Bool(),
            summary="Lowers functional control-flow operators before partitioning.",
            default=False,
            scope="graph",
            status=Status.UNDOCUMENTED,
            source=("tf_adapter/util/npu_attrs.cc:2235",),
        ),
        option(
            name="topo_sorting_mode",
            kind=Int(allowed=(0, 1, 2, 3)),
            summary="Topological sort: 0 BFS, 1 DFS, 2 reverse DFS, 3 stable reverse DFS.",
            run_config="topo_sorting_mode",
            status=Status.UNDOCUMENTED,
            notes="Forwarded only when present; GE default is 1.",
            outcome=Outcome.UNCHECKED,
            versions=since("r1.10.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2540",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:853",
            ),
        ),
        option(
            name="insert_op_file",
            kind=Path("file"),
            summary="Path of an AIPP (insert-op) prototxt configuration.",
            run_config="insert_op_file",
            status=Status.UNDOCUMENTED,
            versions=since("r1.11.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2545",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:855",
            ),
        ),
        option(
            name="HCCL_algorithm",
            kind=Text(),
            summary="Collective algorithm string handed to HCCL.",
            run_config="HCCL_algorithm",
            scope="process+session",
            status=Status.UNDOCUMENTED,
            versions=since("r1.8.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2501",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:847",
            ),
        ),
        option(
            name="resource_config_path",
            kind=Path("file"),
            summary="Heterogeneous resource configuration path.",
            run_config="experimental_config.resource_config_path",
            status=Status.UNDOCUMENTED,
            versions=since("r1.10.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2550",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:609",
            ),
        ),
        option(
            name="graph_parallel_option_path",
            kind=Path("file"),
            summary="Graph parallel configuration path.",
            run_config="experimental_config.graph_parallel_option_path",
            status=Status.UNDOCUMENTED,
            versions=since("v0.0.3"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2553",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:615",
            ),
        ),
        option(
            name="enable_graph_parallel",
            kind=Bool(),
            summary="Automatic graph parallel switch.",
            default=False,
            run_config="experimental_config.enable_graph_parallel",
            status=Status.UNDOCUMENTED,
            versions=since("v0.0.3"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2556",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:618",
            ),
        ),
        option(
            name="enable_compress_weight",
            kind=Bool(),
            summary="Global weight compression switch.",
            default=False,
            run_config="enable_compress_weight",
            run_config_default=False,
            status=Status.UNDOCUMENTED,
            versions=since("r1.2.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2393",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:815",
            ),
        ),
        option(
            name="compress_weight_conf",
            kind=Path("file"),
            summary="Path of a weight compression configuration.",
            run_config="compress_weight_conf",
            status=Status.UNDOCUMENTED,
            versions=since("r1.2.0"),
            source=(
                "tf_adapter/util/npu_attrs.cc:2393",
                "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:817",
            ),
        ),
        option(
            name="min_group_size",
            kind=Bool(),
            summary="Written by NPUEstimator as 1, never read.",
            status=Status.NO_EFFECT,
            notes="Field b assigned the integer 1.",
            is_read=False,
            versions=NEVER,
            source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:795",),
        ),
        option(
            name="enable_reduce_precision",
            kind=Bool(),
            summary="Written by NPUEstimator, never read.",
            run_config="enable_reduce_precision",
            run_config_default=False,
            status=Status.NO_EFFECT,
            is_read=False,
            versions=NEVER,
            source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:541",),
        ),
    )
)
