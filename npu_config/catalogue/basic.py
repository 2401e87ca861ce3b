"""Basic options."""

import functools

from npu_config.catalogue.kinds import INT32_MAX, Int
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.core.versions import since

PAGE = "basic"
TITLE = "Basic options"
DOC = "docs/en/tfadapter_1/apiref/session_config/basic_options.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="graph_run_mode",
            kind=Int(allowed=(0, 1)),
            summary="Selects the graph run mode: 0 online inference, 1 training.",
            default=1,
            scope="process",
            notes=(
                "Adapter default 1 although GE itself documents 0 as its default. Drives the"
                " default precision mode and forces enable_small_channel=1 when 0."
            ),
            outcome=Outcome.ABORT,
            source=("npu_attrs.cc:2137", "npu_estimator.py:802"),
        ),
        option(
            name="session_device_id",
            kind=Int(minimum=0, maximum=INT32_MAX),
            summary=(
                "Logical device a session runs on, so one script can drive several devices "
                "with one session each."
            ),
            notes=(
                "Unset is -1 internally and means: use ASCEND_DEVICE_ID, then DEVICE_ID, then 0."
            ),
            outcome=Outcome.ABORT,
            versions=since("r1.3.0"),
            source=("npu_attrs.cc:2415", "npu_estimator.py:483"),
        ),
        option(
            name="deterministic",
            kind=Int(allowed=(0, 1)),
            summary=(
                "1 makes operators return identical outputs for identical inputs (slower); 0"
                " does not."
            ),
            default=0,
            scope="process",
            notes="Integer option, not bool. Adapter does not check it; GE accepts only 0/1.",
            outcome=Outcome.GE,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2387", "npu_estimator.py:812"),
        ),
    )
)
