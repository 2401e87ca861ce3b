"""Rank tables: text to model, model to text, files read and written, built and converted.

``parse``, ``check``, ``render``, ``load`` and ``save`` are those that every side-file format
has; :data:`FORMAT` bundles them.
"""

import contextlib
from typing import Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rank_table.building import (
    Layer,
    ServerPlan,
    build,
    build_ranks,
    check_addresses_of,
    parse_hccn,
    plan_of_machine,
)
from npu_config.rank_table.conversion import convert, merge, not_held
from npu_config.rank_table.judging import LIST_KEYS, check_document, judge
from npu_config.rank_table.model import (
    AnyRankTable,
    Device,
    GroupTable,
    IncompleteError,
    Process,
    RankTable,
    RankTable2,
    Server,
    SuperPod,
    from_document,
    layout,
    render,
    to_document,
)
from npu_config.sidefiles.format import Format, Parsed, Sample
from npu_config.text.json import BROKEN

__all__ = [
    "FORMAT", "build", "build_ranks", "check", "convert", "load", "merge", "not_held", "parse",
    "render", "save",
    "AnyRankTable", "Device", "GroupTable", "Process", "RankTable", "RankTable2", "Server",
    "SuperPod",
    "Layer", "ServerPlan", "check_addresses_of", "parse_hccn", "plan_of_machine",
]  # fmt: skip


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[AnyRankTable]:
    value, found = judge(text, path, target)
    wrong = any(d.severity is Severity.ERROR and not d.name.startswith("json-") for d in found)
    model: Optional[AnyRankTable] = None
    if not wrong and value is not BROKEN:
        with contextlib.suppress(IncompleteError):
            model = from_document(value)
    return Parsed(model, Report(found))


def check(model: AnyRankTable, target: Target = ANY_TARGET) -> Tuple[Diagnostic, ...]:
    """What is wrong with a model, e.g. one that was put together by hand."""
    return tuple(check_document(to_document(model), target))


_COUNTS = ("server_count", "rank_count", "group_count")
_VERSIONS = ("1.0", "1.1", "1.2", "2.0")


def _looks_like(sample: Sample) -> bool:
    """One of the lists, or what stands beside a list that is missing or misspelt."""
    top = {str(key).lower(): value for key, value in sample.top.items()}
    beside = ("status" in top) + (top.get("version") in _VERSIONS)
    return (
        any(key in top for key in LIST_KEYS)
        or beside == 2
        or (beside == 1 and any(key in top for key in (*_COUNTS, "super_pod_list")))
    )


FORMAT: Format[AnyRankTable] = Format(
    name="rank-table",
    title="rank table of HCCL",
    default_name="rank_table.json",
    options=("RANK_TABLE_FILE",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    names=r"(?:jobstart_)?(?:rank_?table|hccl)[\w.-]*\.json",
    layout=layout,
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save
