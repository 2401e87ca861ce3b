"""Profiling."""

import functools

from npu_config.catalogue.kinds import Bool
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.catalogue.structured import JsonText

PAGE = "profiling"
TITLE = "Profiling"
DOC = "docs/en/tfadapter_1/apiref/session_config/Profiling.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="profiling_mode",
            kind=Bool(),
            summary="Turns on profile data collection.",
            default=False,
            run_config="profiling_config.enable_profiling",
            scope="process",
            source=("npu_attrs.cc:2124", "npu_estimator.py:500"),
        ),
        option(
            name="profiling_options",
            kind=JsonText(),
            summary="JSON object with the collection options.",
            default_note=(
                "when profiling_mode is True and this is absent or empty: "
                '{"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on","aic_metrics":"PipeUtilization","msproftx":"off"}'
            ),
            run_config="profiling_config.profiling_options",
            scope="process",
            read_when=("profiling_mode",),
            notes=(
                "Absent or empty while profiling_mode is True: the adapter sends the "
                "default_when_enabled text."
            ),
            outcome=Outcome.ABORT,
            sample={"profiling_mode": True},
            source=("npu_attrs.cc:2128", "npu_estimator.py:504"),
        ),
    )
)
