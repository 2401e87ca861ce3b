"""The check of a rank table of any version, from its text or as plain JSON values."""

import gc
import json
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from npu_config.cluster.rank_table import formats
from npu_config.cluster.rank_table._fields import VALUE, Reader
from npu_config.cluster.rank_table._findings import Findings, shown
from npu_config.cluster.rank_table._groups import TEMPLATE_2, check_groups
from npu_config.cluster.rank_table._network_levels import check_ranks
from npu_config.cluster.rank_table._places import SomePlaces
from npu_config.cluster.rank_table._servers import check_servers
from npu_config.cluster.rank_table.formats import VERSIONS, overlay, versions_of
from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Source

_SOURCE = tuple(
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_{}.md".format(name)
    for name in ("910", "300i_duo", "a2", "a3", "a5")
)

NOT_A_TABLE = declare(
    "NPU641",
    "not-a-rank-table",
    Severity.ERROR,
    """
    The file is JSON, but no rank table.

    A rank table is an object with `server_list` (versions 1.0 and 1.2), `rank_list` (version
    2.0) or `group_list` (the old template 2).

    Wrong: `[{"device_id": "0", "rank_id": "0"}]`

    Right: `{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [...]}`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

VERSION = declare(
    "NPU642",
    "rank-table-version",
    Severity.ERROR,
    """
    The version is missing, unknown, or not one that the product reads.

    `version` chooses the format: `"1.0"` for atlas_training, atlas_300i_duo, atlas_a2 and
    servers of atlas_a3; `"1.2"` for super nodes of atlas_a3; `"2.0"` for ascend_950.  Only
    the old template 2 of atlas_training has none.  No format is documented for
    atlas_inference.

    Wrong, on atlas_a2: `"version": "1.2"`

    Right: `"version": "1.0"`
    """,
    facts=("rank-table-file",),
    source=(*_SOURCE, "article:001"),
)

LIST_KEYS = {"server_list": "1.0", "rank_list": "2.0", "group_list": None}


def is_rank_table(value: Any) -> bool:
    """Whether a JSON value is meant as a rank table of any version."""
    return isinstance(value, dict) and any(key in value for key in LIST_KEYS)


def check(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Report:
    """Check the text of a rank table.

    Args:
        text: the content of the file.
        path: its name, for the diagnostics.
        target: the product narrows what is checked; without one only what holds for every
            product that reads the version is said.
    """
    with _no_collector():
        diagnostics = judge(text, path, target).diagnostics
    return Report(diagnostics)


def check_document(document: Any, target: Target = ANY_TARGET) -> Report:
    """Check a rank table given as plain JSON values; the findings have no places."""
    findings = Findings()
    check_value(document, target, findings)
    return Report(findings.diagnostics(ANYWHERE))


class Judged(NamedTuple):
    """The value of a text (``BROKEN`` where there is none) and what is wrong with it."""

    value: Any
    diagnostics: List[Diagnostic]


def _constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)


def judge(text: str, path: Optional[str], target: Target) -> Judged:
    """Read and check a text.

    The standard library's scanner reads a good table fastest, but does not tell of a key that
    stands twice; such a text has marks that the keys and texts found do not explain.  Then,
    and when the text is no strict JSON, the reader of :mod:`npu_config.text.json` has
    the word.
    """
    findings = Findings()
    try:
        value = _plain(text)
    except (ValueError, RecursionError):
        return _judge_slowly(text, path, target)
    check_value(value, target, findings)
    _check_size(text, value, findings)
    doubled: Sequence[Diagnostic] = ()
    if not findings.explain(text):
        doubled = _json.read(text, path).diagnostics
    if findings:
        places = SomePlaces(Source(text, path), findings.paths())
        return Judged(value, [*doubled, *findings.diagnostics(places)])
    return Judged(value, list(doubled))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Hold the cyclic garbage collector off.

    It would run over the objects of a large table again and again, a quarter of the whole
    time, and find nothing: JSON values have no cycles.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _plain(text: str) -> Any:
    """The value of a strict text without escapes; raises ValueError for any other."""
    if "\\" in text:
        raise ValueError("escapes need the slow reader")
    return _DECODER.decode(text)


def _judge_slowly(text: str, path: Optional[str], target: Target) -> Judged:
    reading = _json.read(text, path)
    told = list(reading.diagnostics)
    if not reading.complete:
        return Judged(_json.BROKEN, told)
    findings = Findings()
    check_value(reading.value, target, findings)
    _check_size(text, reading.value, findings)
    return Judged(reading.value, told + findings.diagnostics(reading))


def _check_size(text: str, value: Any, findings: Findings) -> None:
    too_large = len(text) > formats.LARGEST_2_0
    if too_large and isinstance(value, dict) and value.get("version") == "2.0":
        findings.add(
            VALUE,
            (),
            "the file has {:,} characters; HCCL reads at most 1 GB of version 2.0".format(
                len(text)
            ),
        )


def check_value(value: Any, target: Target, findings: Findings) -> None:
    """Note what is wrong with a rank table given as plain JSON values."""
    if not isinstance(value, dict) or not is_rank_table(value):
        findings.add(
            NOT_A_TABLE,
            (),
            "this is {}; a rank table is an object with server_list, rank_list or "
            "group_list".format(_what(value)),
        )
        return
    version = _version(value, target, findings)
    reader = Reader(overlay(version, target.products), findings)
    if version is None:
        check_groups(value, reader)
    elif version == "2.0":
        check_ranks(value, reader)
    else:
        check_servers(value, reader)


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "an object without any of its lists"
    return shown(value) if isinstance(value, list) else "the value {}".format(shown(value))


def _version(document: Dict[str, Any], target: Target, findings: Findings) -> Optional[str]:
    """The version to read the document by; None for template 2."""
    stated = document.get("version")
    known = str(stated) if isinstance(stated, (str, float)) else None
    if "version" in document and known not in VERSIONS:
        findings.add(
            VERSION,
            ("version",),
            "version is {}; legal: {}".format(shown(stated), ", ".join(VERSIONS)),
            "write the version of your product",
        )
        known = None
    if known is not None:
        _check_product(known, target, findings)
        return known
    return _guess(document, target, findings)


def _guess(document: Dict[str, Any], target: Target, findings: Findings) -> Optional[str]:
    guess = next(LIST_KEYS[key] for key in LIST_KEYS if key in document)
    if guess == "1.0" and "super_pod_list" in document:
        guess = "1.2"
    if guess is not None:
        return guess
    if target.product in (None, Product.ATLAS_TRAINING):
        findings.add(
            TEMPLATE_2,
            ("group_list",),
            "this is the old template 2; version 1.0 is recommended",
            "npu-config ranktable convert writes it",
            at_key=True,
        )
    else:
        assert target.product is not None
        findings.add(
            VERSION,
            ("group_list",),
            "{} does not read the old template 2; only atlas_training does".format(
                target.product.value
            ),
            "npu-config ranktable convert writes version 1.0",
            at_key=True,
        )
    return None


def _check_product(version: str, target: Target, findings: Findings) -> None:
    product = target.product
    if product is None or version in versions_of(product):
        return
    legal = versions_of(product)
    findings.add(
        VERSION,
        ("version",),
        'version is "{}", but {}'.format(
            version,
            "{} reads {}".format(product.value, " and ".join(legal))
            if legal
            else "no rank table is documented for {}".format(product.value),
        ),
        "write a table of version {}".format(" or ".join(legal)) if legal else None,
    )


__all__ = ["check", "check_document", "is_rank_table", "judge", "Judged"]
