"""The check of a rank table of any dialect, from its text or as plain JSON values."""

import json
import re
from functools import partial
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity, declare
from npu_config.core.message import join, listed, phrase
from npu_config.core.processes import without_collector
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.rank_table import dialects
from npu_config.rank_table._common import check_status
from npu_config.rank_table._ranks import check_ranks
from npu_config.rank_table._servers import check_groups, check_servers, rank_table_template_2
from npu_config.rank_table.dialects import CLOUD, DEPLOY_MODE, V2_0, Dialect
from npu_config.sidefiles.format import first_value
from npu_config.sidefiles.schema.reading import FileFindings, Reader, Rules, shown
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Path, Places, Source
from npu_config.text.words import is_typo

_BLANK = re.compile(r"[ \t\n\r]*")
_STANDARD_DECODER = json.JSONDecoder()

Wanted = Dict[Union[str, int], Any]


class Span(NamedTuple):
    """The offsets of a key (of the value itself in an array) and of its value."""

    key: int
    key_end: int
    start: int
    end: int


class SomePlaces(Places):
    """The places of some parts of a text that is strict JSON.

    Args:
        source: the text.
        paths: what will be asked for; a part that is not there has the place of the part
            around it.
    """

    __slots__ = ("_source", "_spans", "_text")

    def __init__(self, source: Source, paths: Iterable[Path]) -> None:
        self._source = source
        self._text = source.text
        self._spans: Dict[Path, Span] = {}
        wanted: Wanted = {}
        for path in paths:
            branch = wanted
            for step in path:
                branch = branch.setdefault(step, {})
        start = self._blank(0)
        end = self._visit(start, wanted, ())
        self._spans[()] = Span(start, end, start, end)

    def _blank(self, position: int) -> int:
        match = _BLANK.match(self._text, position)
        assert match is not None
        return match.end()

    def _visit(self, start: int, wanted: Wanted, path: Path) -> int:
        """Note the wanted parts of the value at ``start``; the offset after it."""
        text = self._text
        if not wanted or text[start] not in "{[":
            return _STANDARD_DECODER.raw_decode(text, start)[1]
        step: Union[str, int] = -1
        position = self._blank(start + 1)
        while text[position] not in "}]":
            key = position
            if text[start] == "{":
                step, key_end = _STANDARD_DECODER.raw_decode(text, key)
                value = self._blank(self._blank(key_end) + 1)
            else:
                assert isinstance(step, int)
                step, value, key_end = step + 1, key, 0
            branch = wanted.get(step)
            end = self._visit(value, branch or {}, (*path, step))
            if branch is not None:
                self._spans[(*path, step)] = Span(key, key_end or end, value, end)
            position = self._blank(end)
            if text[position] == ",":
                position = self._blank(position + 1)
        return position + 1

    def _find(self, path: Sequence[Union[str, int]]) -> Span:
        for size in range(len(path), 0, -1):
            span = self._spans.get(tuple(path[:size]))
            if span is not None:
                return span
        return self._spans[()]

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """The place of the value at ``path``."""
        span = self._find(path)
        return self._source.place(span.start, span.end)

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """The place of the key that ends ``path``."""
        span = self._find(path)
        return self._source.place(span.key, span.key_end)


_SOURCE = tuple(
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_{}.md".format(name)
    for name in ("910", "300i_duo", "a2", "a3", "a5")
)

_rule = partial(declare, facts=("rank-table-file",), source=_SOURCE)


@_rule(
    "NPU641",
    Severity.ERROR,
    help="build a table of the servers and devices: npu-config ranktable build",
)
def not_a_rank_table() -> None:
    """The file is JSON, but not a rank table.

    A rank table is an object with `server_list` (versions 1.0 and 1.2), `rank_list` (version
    2.0) or `group_list` (template 2).

    Wrong: `[{"device_id": "0", "rank_id": "0"}]`

    Right: `{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [...]}`
    """


@_rule(
    "NPU642",
    Severity.ERROR,
    source=(*_SOURCE, dialects.SOURCES["CF"] + ":44-60", dialects.SOURCES["PA"] + ":293-305"),
    help=(
        "convert the table to another version (npu-config ranktable convert), or correct the "
        "product"
    ),
)
def rank_table_version() -> None:
    """The version of the rank table is missing, unknown, or not supported by the product.

    ascend_950 reads only version `"2.0"`.  All other products read `"1.0"`, `"1.2"` (for super
    nodes of atlas_a3; other products read it as 1.0, which is a note) and template 2, which has no
    `version`.  HCCL rejects any other text, and a version that is not text.  No format is
    documented for atlas_inference (a warning).

    Wrong, on atlas_a2: `"version": "2.0"`

    Right: `"version": "1.0"`
    """


@_rule("NPU643", Severity.ERROR)
def rank_table_missing_key() -> None:
    """A rank table lacks a required key.

    HCCL reads the whole table during initialisation and fails if a key is missing; the job ends,
    or the other ranks wait for this one.  The required keys depend on the version; a table without
    `version` is template 2.  The documentation of HCCL calls `status` optional, and HCCL does not
    need it.  But in a TensorFlow job the graph engine first reads the file until `status` is
    `completed`, and it fails immediately if `status` is missing.

    Wrong: `{"device_id": "0", "device_ip": "10.20.0.2"}`

    Right: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0"}`
    """


@_rule("NPU644", Severity.WARNING)
def rank_table_unknown_key() -> None:
    """A rank table has a misspelled key, or a key of another version.

    HCCL ignores every unknown key, so a misspelt key has no effect.  Other unknown keys are not
    reported: tools write their own keys, such as `host_nic_ip`, and these do no harm; no command
    of npu-config removes them.

    Wrong: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0", "devce_port": "16666"}`

    Right: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0", "device_port": "16666"}`
    """


@_rule(
    "NPU645",
    Severity.ERROR,
    help="write a value of the named type; versions 1.0 and 1.2 and template 2 write numbers "
    "as strings, version 2.0 as numbers",
)
def rank_table_value_type() -> None:
    """A value of a rank table is of the wrong JSON type.

    In versions 1.0 and 1.2 and in template 2, numbers are written as text (`"rank_id": "0"`); in
    version 2.0 they are written as numbers (`"rank_id": 0`).  In version 2.0 HCCL rejects text in
    place of a number; in the other versions it rejects everything but text.

    Wrong, in version 1.0: `"server_count": 2`

    Right: `"server_count": "2"`
    """


@_rule(
    "NPU646", Severity.ERROR, help=("npu-config explain NPU646 lists the legal values of each key")
)
def rank_table_value() -> None:
    """A value of a rank table is not legal for its key.

    Ids must be whole numbers of at least 0, and `device_id` at most that of the product's last
    device; ports must be 1 to 65535; addresses must be IPv4 or IPv6; `server_id` must have 1 to 64
    bytes.  In version 2.0 `local_id` and `device_id` must be 0 to 64, `net_layer` 0 to 7,
    `net_type` `TOPO_FILE_DESC` or `CLOS`, and `addr_type` `EID`, `IPV4` or `IPV6`.  HCCL rejects
    other values during initialisation.  A number with other characters before or after its digits
    (`"2 servers"`, `" 2"`, `"1e2"`) is parsed up to the first non-digit: a warning.

    Wrong: `"device_ip": "10.20.0.256"`

    Right: `"device_ip": "10.20.0.25"`
    """


RULES = Rules(
    rank_table_missing_key, rank_table_unknown_key, rank_table_value_type, rank_table_value
)
LIST_KEYS = ("server_list", "rank_list", "group_list")


def check(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Report:
    """Check the text of a rank table.

    Args:
        text: the content of the file.
        path: its name, for the diagnostics.
        target: the product narrows what is checked; without one only what holds for every
            product that reads the dialect is said.
    """
    with without_collector():
        found = judge(text, path, target)[1]  # the value goes before there is a collector again
    return Report(found)


def check_document(document: Any, target: Target = ANY_TARGET) -> Report:
    """Check a rank table given as plain JSON values; the findings have no places."""
    findings = FileFindings()
    check_value(document, target, findings)
    return Report(findings.diagnostics(ANYWHERE))


Judged = Tuple[Any, List[Diagnostic]]
"""The value of a text (``BROKEN`` where there is none) and what is wrong with it."""


def _constant(name: str) -> Any:
    raise ValueError(name)


_RANK_TABLE_DECODER = json.JSONDecoder(parse_float=_json.real, parse_constant=_constant)


def judge(text: str, path: Optional[str], target: Target) -> Judged:
    """Read and check a text.

    The standard library's scanner reads a good table fastest, but does not report a key that
    is there twice; such a text has quotes that the keys and texts found do not explain.  Then,
    and when the text is not strict JSON, the reader of :mod:`npu_config.text.json` has
    the word.
    """
    findings = FileFindings()
    found: List[Diagnostic] = []
    try:
        value = _plain(text)
    except (ValueError, RecursionError):
        text, found = first_value(text, path)
        return _judge_slowly(text, path, target, found)
    check_value(value, target, findings)
    _check_size(text, value, findings)
    if not findings.quotes_add_up(text):
        found.extend(_json.read(text, path).diagnostics)
    if findings:
        places = SomePlaces(Source(text, path), findings.paths())
        found.extend(findings.diagnostics(places))
    return value, found


def _plain(text: str) -> Any:
    """The value of a strict text without escapes; raises ValueError for any other."""
    if "\\" in text:
        raise ValueError("the text contains escapes")
    return _RANK_TABLE_DECODER.decode(text)


def _judge_slowly(
    text: str, path: Optional[str], target: Target, after: List[Diagnostic]
) -> Judged:
    reading = _json.read(text, path)
    reported = [*after, *reading.diagnostics]
    if not reading.complete:
        return _json.BROKEN, reported
    findings = FileFindings()
    check_value(reading.value, target, findings)
    _check_size(text, reading.value, findings)
    return reading.value, reported + findings.diagnostics(reading)


def _check_size(text: str, value: Any, findings: FileFindings) -> None:
    of_ranks = isinstance(value, dict) and value.get("version") == V2_0.version
    limit = dialects.LARGEST_2_0 if of_ranks else dialects.LARGEST
    if len(text) > limit:
        findings.add(
            rank_table_value,
            (),
            phrase(
                "the file has {:,} characters; HCCL reads at most {:,} bytes", len(text), limit
            ),
        )


def check_value(value: Any, target: Target, findings: FileFindings) -> None:
    """Note what is wrong with a rank table given as plain JSON values."""
    if not isinstance(value, dict) or value.keys().isdisjoint(LIST_KEYS):
        status = value.get("status") if isinstance(value, dict) else None
        if isinstance(status, str) and status != "completed":  # not yet written in full
            check_status([status], findings)
            return
        findings.add(
            not_a_rank_table,
            (),
            phrase(
                "this is {}; a rank table is an object with server_list, rank_list or group_list",
                _what(value),
            ),
            help=_list_meant(value),
        )
        return
    dialect = _dialect(value, target, findings)
    products = (dialect.products & target.products) or dialect.documented
    if target.product is None:
        products = dialect.documented
    reader = Reader(findings, RULES, dialect.form)
    if dialect is V2_0:
        check_ranks(value, reader)
    elif dialect.version is None:
        check_groups(value, dialect is DEPLOY_MODE, products, reader)
    else:
        check_servers(value, dialect.version, products, reader)


def _list_meant(value: Any) -> Optional[str]:
    """What to do when the name of a key is a slip of that of a list."""
    for key in value if isinstance(value, dict) else ():
        for name in LIST_KEYS:
            if isinstance(key, str) and is_typo(key, name):
                return phrase('did you mean "{}"?', name)
    return None


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "an object without any of these lists"
    return shown(value) if isinstance(value, list) else phrase("the value {}", shown(value))


def _dialect(document: Dict[str, Any], target: Target, findings: FileFindings) -> Dialect:
    """The dialect to check a document by."""
    dialect = dialects.dialect_of(document)
    guess = dialects.V1_0 if "server_list" in document else V2_0
    if dialect is None:
        stated = document["version"]
        findings.add(
            rank_table_version,
            ("version",),
            phrase(
                "version is {}; legal: {}",
                shown(stated),
                listed('"{}"'.format(name) for name in dialects.BY_VERSION),
            ),
            'set "version" to the rank table version that your product requires',
        )
        read_as = dialects.BY_VERSION.get(str(stated))
        return read_as or (DEPLOY_MODE if "group_list" in document else guess)
    if dialect is CLOUD and "group_list" not in document:
        return guess  # the missing "version" is reported
    _check_product(dialect, target, findings)
    return dialect


def _check_product(dialect: Dialect, target: Target, findings: FileFindings) -> None:
    product = target.product
    if dialect.version is None and product is not Product.ASCEND_950:
        findings.add(
            rank_table_template_2,
            ("group_list",),
            "this is a rank table of template 2, which older jobs use; version 1.0 is recommended",
            "convert the table: npu-config ranktable convert",
            at_key=True,
        )
    if product is None or product in dialect.documented:
        return
    legal = dialects.versions_of(product)
    severity = Severity.ERROR
    if not legal:
        severity = Severity.WARNING
        what = phrase("no rank table is documented for {}", product.value)
    elif product in dialect.products:
        severity = Severity.INFO
        what = phrase("{} reads the table as version 1.0, without super nodes", product.value)
    else:
        what = phrase("{} supports only {}", product.value, join(" and ", legal))
    findings.add(
        rank_table_version,
        ("version",) if dialect.version else ("group_list",),
        phrase("this is a table of {}, but {}", dialect.form, what),
        phrase("write a table of version {}", join(" or ", legal)) if legal else None,
        severity,
    )
