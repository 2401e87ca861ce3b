"""Mixed computing."""

import functools

from npu_config.catalogue.kinds import Bool, Text
from npu_config.catalogue.option import Option, Outcome, Status, table
from npu_config.catalogue.structured import InOutPair
from npu_config.core.versions import since

PAGE = "mixed_computing"
TITLE = "Mixed computing"
DOC = "docs/en/tfadapter_1/apiref/session_config/mixed_computing.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="mix_compile_mode",
            kind=Bool(),
            summary=(
                "True keeps unsupported operators on the host (mixed computing); False "
                "offloads every compute operator."
            ),
            default=False,
            scope="graph",
            source=("npu_attrs.cc:2224", "npu_estimator.py:791"),
        ),
        option(
            name="in_out_pair_flag",
            kind=Bool(),
            summary=(
                "Says whether the range given by in_out_pair is offloaded (True) or is the "
                "part kept on the host (False)."
            ),
            default=True,
            modes="online_inference",
            run_config=None,
            scope="graph",
            versions=since("r1.3.0"),
            source=("npu_attrs.cc:2287",),
        ),
        option(
            name="in_out_pair",
            kind=InOutPair(),
            summary=(
                "Input-layer and output-layer operator names delimiting one subgraph for "
                "in_out_pair_flag."
            ),
            modes="online_inference",
            run_config=None,
            scope="graph",
            outcome=Outcome.REJECT,
            versions=since("r1.3.0"),
            sample={"graph_run_mode": 0, "mix_compile_mode": True},
            source=("npu_attrs.cc:2290",),
        ),
        option(
            name="const_input",
            kind=Text(),
            summary=(
                "Reserved: names of inputs to treat as constants; read only by the graph "
                "pass options."
            ),
            run_config=None,
            scope="graph",
            status=Status.UNDOCUMENTED,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:980",),
        ),
    )
)
