"""The files that options point to: one module per format.

Each module has a frozen model, ``parse`` (text to model and diagnostics), ``check`` (what
depends on the target or on other files of the user's), ``render`` (the canonical text),
``load`` and ``save``.  Submodules are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from npu_config.sidefiles import (
        accelerate,
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
    from npu_config.sidefiles._registry import FORMATS, recognise
    from npu_config.sidefiles.format import Format, Parsed

__all__ = [
    "FORMATS", "Format", "Parsed", "recognise",
    "accelerate", "aoe", "customize_dtypes", "fusion_switch", "hccl_whitelist", "insert_op",
    "job_start", "library", "mixlist", "op_cache", "op_debug", "op_precision", "profiling",
]  # fmt: skip

_HOMES = {
    "FORMATS": "_registry",
    "recognise": "_registry",
    "Format": "format",
    "Parsed": "format",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
    home = _HOMES.get(name)
    module = import_module("{}.{}".format(__name__, home or name))
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
