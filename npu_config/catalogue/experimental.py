"""Experimental options."""

import functools

from npu_config.catalogue.kinds import Choice, Path, Text
from npu_config.catalogue.option import Option, Outcome, Status, table
from npu_config.catalogue.structured import AccelerateTrainMode, MultistreamMode
from npu_config.core.diagnostics import Severity
from npu_config.core.versions import since, spans

PAGE = "experimental"
TITLE = "Experimental options"
DOC = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="graph_compiler_cache_dir",
            kind=Path("directory"),
            summary="Directory of the graph compile cache; non-empty turns the cache on.",
            run_config="experimental_config.graph_compiler_cache_dir",
            status=Status.EXPERIMENTAL,
            outcome=Outcome.GE,
            versions=since("v0.0.7"),
            source=("npu_attrs.cc:2653", "npu_estimator.py:612"),
        ),
        option(
            name="jit_compile",
            kind=Choice(("true", "false", "auto")),
            summary=(
                "Online operator compilation: true always, false prefer prebuilt binaries, "
                "auto by shape kind (recommendation networks)."
            ),
            default="auto",
            status=Status.EXPERIMENTAL,
            notes=(
                "String on the wire (bool is refused). Sent to GE as 1/0/2. GE default "
                "without the adapter is 1."
            ),
            outcome=Outcome.REJECT,
            versions=spans(("r1.10.0", "r1.11.0"), ("v0.0.4", None)),
            former_wire="b",
            former_wire_versions=spans(("r1.10.0", "r1.11.0"), ("v0.0.4", "v0.0.9")),
            unchecked=spans(("r1.13.0", "v0.0.14")),
            source=("npu_attrs.cc:2633", "npu_estimator.py:860"),
        ),
        option(
            name="shape_generalization_mode",
            kind=Choice(("STRICT", "FULL", "ADAPTIVE")),
            summary="Shape generalisation across iterations when jit_compile is true.",
            default="STRICT",
            status=Status.EXPERIMENTAL,
            outcome=Outcome.REJECT,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2642", "npu_estimator.py:868"),
        ),
        option(
            name="experimental_accelerate_train_mode",
            kind=AccelerateTrainMode(),
            summary="Runs part of the training at reduced precision.",
            modes="training",
            run_config="experimental_config.accelerate_train_mode",
            scope="graph",
            status=Status.EXPERIMENTAL,
            outcome=Outcome.REJECT,
            versions=since("v0.0.16"),
            source=("npu_attrs.cc:2531", "npu_estimator.py:621"),
        ),
        option(
            name="auto_multistream_parallel_mode",
            kind=MultistreamMode(),
            summary=(
                "Parallel execution of Cube and Vector operators on several streams "
                "(recommendation networks)."
            ),
            status=Status.EXPERIMENTAL,
            notes=(
                "Unset/empty runs Cube and Vector serially. Newer GE also knows "
                "WeightedLoadBalance:n (not documented by TF Adapter). The NPURunConfig "
                "docstring claims a bare LoadBalance (8 streams); current GE refuses a value"
                ' without ":n".'
            ),
            outcome=Outcome.GE,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2611", "npu_estimator.py:873"),
        ),
        option(
            name="experimental_logical_device_cluster_deploy_mode",
            kind=Choice(("LB", "SINGLE")),
            summary="Heterogeneous deployment: LB load balance or SINGLE.",
            default="LB",
            run_config="experimental_config.logical_device_cluster_deploy_mode",
            scope="process",
            status=Status.UNDOCUMENTED,
            outcome=Outcome.UNCHECKED,
            severity=Severity.WARNING,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2525", "npu_estimator.py:593"),
        ),
        option(
            name="experimental_logical_device_id",
            kind=Text(),
            summary="Logical device for SINGLE deployment.",
            run_config="experimental_config.logical_device_id",
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2528", "npu_estimator.py:600"),
        ),
        option(
            name="experimental_model_deploy_mode",
            kind=Text(),
            summary="Model deployment mode handed to GE.",
            run_config="experimental_config.model_deploy_mode",
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2534", "npu_estimator.py:603"),
        ),
        option(
            name="experimental_model_deploy_devicelist",
            kind=Text(),
            summary="Device list for model deployment.",
            run_config="experimental_config.model_deploy_devicelist",
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2537", "npu_estimator.py:606"),
        ),
    )
)
