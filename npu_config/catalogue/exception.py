"""Exception remedy: timeouts."""

import functools

from npu_config.catalogue.kinds import INT32_MAX, Int
from npu_config.catalogue.option import Option, Outcome, Status, products, table
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.core.versions import since

PAGE = "exception"
TITLE = "Exception remedy: timeouts"
DOC = "docs/en/tfadapter_1/apiref/session_config/exception_remedy.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="hccl_timeout",
            kind=Int(minimum=0, maximum=INT32_MAX),
            summary="Inter-device synchronisation timeout of collective communication.",
            default=1836,
            unit="s",
            products=products(
                Product.ASCEND_950,
                Product.ATLAS_A3,
                Product.ATLAS_A2,
                Product.ATLAS_TRAINING,
                Product.ATLAS_300I_DUO,
            ),
            run_config_default=None,
            scope="process+session",
            notes=(
                "0 means never time out (only where 0 is allowed). On atlas_training and "
                "atlas_300i_duo the effective value is floor(v/68)*68, at least 68. Unset "
                "sends an empty string, then HCCL_EXEC_TIMEOUT or 1836 applies."
            ),
            outcome=Outcome.UNCHECKED,
            ranges={
                Product.ASCEND_950: (0, INT32_MAX),
                Product.ATLAS_A3: (0, INT32_MAX),
                Product.ATLAS_A2: (0, INT32_MAX),
                Product.ATLAS_TRAINING: (1, 17340),
                Product.ATLAS_300I_DUO: (1, 17340),
            },
            versions=since("r1.7.0"),
            source=("npu_attrs.cc:2489", "npu_estimator.py:841"),
        ),
        option(
            name="op_wait_timeout",
            kind=Int(),
            summary="Operator wait timeout.",
            default=120,
            unit="s",
            run_config_default=None,
            scope="process",
            versions=since("r1.7.0"),
            source=("npu_attrs.cc:2492", "npu_estimator.py:843"),
        ),
        option(
            name="op_execute_timeout",
            kind=Int(),
            summary="Operator execution timeout.",
            unit="s",
            scope="process",
            versions=since("r1.7.0"),
            sample={"op_execute_timeout": 90},
            source=("npu_attrs.cc:2495", "npu_estimator.py:845"),
        ),
        option(
            name="stream_sync_timeout",
            kind=Int(minimum=-1, maximum=INT32_MAX),
            summary=(
                "Stream synchronisation timeout during graph execution; -1 disables the limit."
            ),
            default=-1,
            unit="ms",
            scope="process",
            outcome=Outcome.SILENT,
            severity=Severity.WARNING,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2573", "npu_estimator.py:862"),
        ),
        option(
            name="event_sync_timeout",
            kind=Int(minimum=-1, maximum=INT32_MAX),
            summary=(
                "Event synchronisation timeout during graph execution; -1 disables the limit."
            ),
            default=-1,
            unit="ms",
            scope="process",
            outcome=Outcome.SILENT,
            severity=Severity.WARNING,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2576", "npu_estimator.py:863"),
        ),
        option(
            name="graph_exec_timeout",
            kind=Int(),
            summary="Graph execution timeout handed to GE.",
            default=600000,
            unit="ms",
            run_config=None,
            scope="process",
            status=Status.UNDOCUMENTED,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2507",),
        ),
    )
)
