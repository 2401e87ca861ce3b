"""Every format of side files, and which of them a text is."""

from typing import Any, Mapping, Optional

from npu_config.sidefiles import (
    aoe,
    customize_dtypes,
    fusion_switch,
    hccl_whitelist,
    insert_op,
    job_start,
    mixlist,
    op_cache,
    op_debug,
    op_precision,
    profiling,
)
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles.format import Format, Sample

FORMATS: Mapping[str, Format[Any]] = Table(
    (module.FORMAT.name, module.FORMAT)
    for module in (
        mixlist,
        fusion_switch,
        op_precision,
        customize_dtypes,
        op_debug,
        profiling,
        aoe,
        op_cache,
        insert_op,
        hccl_whitelist,
        job_start,
    )
)


def recognise(text: str, name: Optional[str] = None) -> Optional[Format[Any]]:
    """The format that a text is meant to be, though it may be broken.

    Args:
        text: the content; only its beginning is looked at.
        name: the name of the file; decides where the content does not.

    Returns:
        The one format that claims the text, or None.
    """
    sample = Sample(text)
    claims = [entry for entry in FORMATS.values() if entry.looks_like(sample)]
    if len(claims) == 1:
        return claims[0]
    base = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    named = [entry for entry in claims or FORMATS.values() if entry.default_name == base]
    return named[0] if named else None
