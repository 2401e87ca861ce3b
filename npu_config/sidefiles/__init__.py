# Written by tools/side_files.py (`python -m tools.generate`): change that, not this.
"""The files that options point to: one module per format.

Each module has a frozen model, ``parse`` (text to model and diagnostics), ``check`` (what
depends on the target or on other files of the user's), ``render`` (the canonical text),
``load`` and ``save``.  Submodules are imported when they are first used.
"""

from typing import TYPE_CHECKING

from npu_config.core.lazy import lazy

if TYPE_CHECKING:
    from npu_config.sidefiles import (
        aoe,
        customize_dtypes,
        fusion_switch,
        hccl_whitelist,
        insert_op,
        job_start,
        library,
        mixlist,
        op_cache,
        op_debug,
        op_precision,
        profiling,
    )
    from npu_config.sidefiles._formats import FORMATS, recognise
    from npu_config.sidefiles.format import Format, Parsed

__all__ = [
    "FORMATS",
    "Format",
    "KINDS",
    "Parsed",
    "recognise",
    "aoe",
    "customize_dtypes",
    "fusion_switch",
    "hccl_whitelist",
    "insert_op",
    "job_start",
    "library",
    "mixlist",
    "op_cache",
    "op_debug",
    "op_precision",
    "profiling",
]

KINDS = (
    "aoe",
    "customize_dtypes",
    "fusion_switch",
    "hccl_whitelist",
    "insert_op",
    "job_start",
    "mixlist",
    "op_cache",
    "op_debug",
    "op_precision",
    "profiling",
)
"""The names of the formats; each is that of its module, and the KIND of ``check --as KIND``."""

MARKS = (
    r"tune_op",
    r"(?:in|out)putdtype|op(?:type|name)::",
    r"(?:graph|ub)_?fusion",
    r"aipp_op",
    r"rank_table_file",
    r"(?:black|white|gray)[-_]list",
    r"max_op_cache",
    r"op_debug_(?:config|list)",
    r"by(?:optype|nodename)|=\s?(?:(?:high|super)_p|enable_(?:hi_)?float|support_o|norm_c|keep_f)",
    r"(?:training|task)_trac|aic_metrics",
)
"""One of these is in every side file that is looked at because it lies in a directory."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "FORMATS": "_formats",
            "recognise": "_formats",
            "Format": "format",
            "Parsed": "format",
            **{name: name for name in (*KINDS, "library")},
        },
    )
