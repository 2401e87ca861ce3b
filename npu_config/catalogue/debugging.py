"""Debugging."""

import functools

from npu_config.catalogue.kinds import Int, Path
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.core.versions import since

PAGE = "debugging"
TITLE = "Debugging"
DOC = "docs/en/tfadapter_1/apiref/session_config/debugging.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="enable_exception_dump",
            kind=Int(allowed=(0, 1, 2)),
            summary=(
                "Dump of failing operators: 0 off, 1 common ExceptionDump, 2 LiteExceptionDump."
            ),
            default=2,
            scope="process",
            notes="GE default is 0; the adapter always sends 2 when unset.",
            outcome=Outcome.REJECT,
            source=("npu_attrs.cc:2294", "npu_estimator.py:808"),
        ),
        option(
            name="op_debug_config",
            kind=Path("file"),
            summary=(
                "Path of a cfg file that turns on operator-compile debug switches (oom, "
                "dump_cce, ...)."
            ),
            scope="process",
            outcome=Outcome.GE,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2504", "npu_estimator.py:851"),
        ),
        option(
            name="debug_dir",
            kind=Path("directory"),
            summary="Directory for operator-compile debug files (.o, .json, .cce).",
            scope="process",
            notes="Unset: ASCEND_WORK_PATH, then the current directory.",
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2409", "npu_estimator.py:823"),
        ),
        option(
            name="export_compile_stat",
            kind=Int(allowed=(0, 1, 2)),
            summary=(
                "When fusion_result.json is written: 0 never, 1 at normal exit, 2 right "
                "after compilation."
            ),
            default=1,
            scope="process",
            notes="A value stored in another oneof field is ignored silently.",
            outcome=Outcome.REJECT,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2588", "npu_estimator.py:722"),
        ),
    )
)
