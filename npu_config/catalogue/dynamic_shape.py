"""Dynamic shape."""

import functools

from npu_config.catalogue.kinds import Bool, Choice, Int
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.catalogue.structured import DynamicDims, InputShape
from npu_config.core.versions import since

PAGE = "dynamic_shape"
TITLE = "Dynamic shape"
DOC = "docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md"

_PROFILES = {
    "graph_run_mode": 0,
    "input_shape": "data:1,3,-1,-1;label:-1",
    "dynamic_dims": "64,64,1;128,128,4",
    "dynamic_node_type": 1,
}

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="input_shape",
            kind=InputShape(),
            summary=(
                "Shapes of the (dynamic) network inputs, -1 marks the dimensions driven by "
                "dynamic_dims."
            ),
            modes="online_inference",
            run_config="dynamic_input_config.input_shape",
            scope="graph",
            outcome=Outcome.ABORT,
            versions=since("r1.2.0"),
            sample=_PROFILES,
            source=("npu_attrs.cc:2326", "npu_estimator.py:693"),
        ),
        option(
            name="dynamic_dims",
            kind=DynamicDims(),
            summary="List of size profiles that fill the -1 places of input_shape.",
            modes="online_inference",
            run_config="dynamic_input_config.dynamic_dims",
            scope="graph",
            outcome=Outcome.ABORT,
            versions=since("r1.2.0"),
            sample=_PROFILES,
            source=("npu_attrs.cc:2326", "npu_estimator.py:694"),
        ),
        option(
            name="dynamic_node_type",
            kind=Int(allowed=(0, 1)),
            summary="Which kind of input is dynamic: 0 dataset, 1 placeholder.",
            modes="online_inference",
            run_config="dynamic_input_config.dynamic_node_type",
            scope="graph",
            outcome=Outcome.ABORT,
            versions=since("r1.2.0"),
            sample=_PROFILES,
            source=("npu_attrs.cc:2327", "npu_estimator.py:695"),
        ),
        option(
            name="compile_hybrid_mode",
            kind=Int(allowed=(0, 1)),
            summary=(
                "1 compiles both a profile graph and a dynamic-shape graph and picks one per"
                " run; 0 does not."
            ),
            default=0,
            modes="online_inference",
            run_config="dynamic_input_config.compile_hybrid_mode",
            scope="graph",
            notes="Turns on weight externalisation by itself when 1. Integer, not bool.",
            outcome=Outcome.REJECT,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2345", "npu_estimator.py:696"),
        ),
        option(
            name="ac_parallel_enable",
            kind=Choice(("0", "1")),
            summary=(
                '"1" lets AI CPU and AI Core operators of a dynamic-shape graph run in parallel.'
            ),
            default="0",
            run_config_default=None,
            notes='String option; unset sends an empty string, equal to "0".',
            outcome=Outcome.GE,
            versions=since("r1.15.0"),
            source=("npu_attrs.cc:2114", "npu_estimator.py:640"),
        ),
        option(
            name="compile_dynamic_mode",
            kind=Bool(),
            summary=(
                "True generalises every input shape of the graph to -1 (static graphs become"
                " dynamic ones)."
            ),
            default=False,
            run_config_default=None,
            notes=(
                "Internally the adapter hands GE compile_dynamic_mode=1 whenever this is "
                'False and (jit_compile is not "true", or shape_generalization_mode is not '
                "STRICT)."
            ),
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2265", "npu_estimator.py:857"),
        ),
        option(
            name="all_tensor_not_empty",
            kind=Bool(),
            summary="True drops the empty-tensor check nodes of dynamic-shape graphs.",
            default=False,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2608", "npu_estimator.py:871"),
        ),
    )
)
