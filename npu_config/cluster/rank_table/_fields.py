"""Reading the keys of one level: which are missing, which unknown, which values wrong."""

import difflib
import re
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence

from npu_config.cluster.rank_table._findings import Findings, dotted, shown
from npu_config.cluster.rank_table._levels import HOLE, NO_COLUMN, Column, Level, Path
from npu_config.cluster.rank_table.formats import Need, Overlay, home_of
from npu_config.cluster.rank_table.values import BadValueError, Kind
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_PAGES = tuple(
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_{}.md".format(name)
    for name in ("910", "300i_duo", "a2", "a3", "a5")
)

MISSING_KEY = declare(
    "NPU643",
    "rank-table-missing-key",
    Severity.ERROR,
    """
    A rank table lacks a key that its format needs.

    HCCL reads the whole table when it is initialised and fails when a key is missing; the
    job ends, or the other ranks wait for this one.  Which keys are needed depends on the
    version and the product: `device_ip` is always needed on atlas_training and
    atlas_300i_duo, only with several servers on atlas_a2 and in version 1.0 on atlas_a3,
    and only with several super nodes in version 1.2.

    Wrong: `{"device_id": "0", "device_ip": "10.20.0.2"}`

    Right: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0"}`
    """,
    facts=("rank-table-file",),
    source=_PAGES,
)

UNKNOWN_KEY = declare(
    "NPU644",
    "rank-table-unknown-key",
    Severity.WARNING,
    """
    A rank table has a key that its format does not know.

    HCCL does not read it.  A key that is almost a known one is a warning, because what it
    should say is not said; one that belongs to another version likewise.  Any other key is
    an information: tools write keys of their own, such as `host_nic_ip`, and they do no harm.

    Wrong: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0", "devce_port": "16666"}`

    Right: `{"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0", "device_port": "16666"}`
    """,
    facts=("rank-table-file",),
    source=_PAGES,
)

VALUE_TYPE = declare(
    "NPU645",
    "rank-table-value-type",
    Severity.ERROR,
    """
    A value of a rank table is of the wrong JSON type.

    Versions 1.0 and 1.2 and template 2 write numbers as text (`"rank_id": "0"`), version 2.0
    writes them as numbers (`"rank_id": 0`).  HCCL refuses the other.

    Wrong, in version 1.0: `"server_count": 2`

    Right: `"server_count": "2"`
    """,
    facts=("rank-table-file",),
    source=_PAGES,
)

VALUE = declare(
    "NPU646",
    "rank-table-value",
    Severity.ERROR,
    """
    A value of a rank table is outside what its key takes.

    `status` is `completed` or `initializing`; ids are whole numbers from 0; ports go from 1
    to 65535; addresses are IPv4 or IPv6; `server_id` has at most 64 characters.  In version
    2.0 `local_id` and `device_id` go from 0 to 64, `net_layer` from 0 to 7, `net_type` is
    `TOPO_FILE_DESC` or `CLOS` and `addr_type` is `EID`, `IPV4` or `IPV6`.  HCCL refuses
    anything else when it is initialised.

    Wrong: `"device_ip": "10.20.0.256"`

    Right: `"device_ip": "10.20.0.25"`
    """,
    facts=("rank-table-file",),
    source=_PAGES,
)

_WORDS = {str: "a text", int: "a whole number", list: "an array", dict: "an object"}


def nearest(key: str, names: Iterable[str]) -> Optional[str]:
    """The name that a key is probably meant to be; None when none is near."""
    plain = {name.replace("_", ""): name for name in names}
    close = difflib.get_close_matches(re.sub("[-_ ]", "", key.lower()), list(plain), 1, 0.85)
    return plain[close[0]] if close else None


class Reader:
    """Reads levels by the formats that a table may be of, and notes what is wrong.

    Args:
        overlay: the formats.
        findings: where it is noted.
        situation: the needs that the table has, see ``formats.Need``.
    """

    __slots__ = ("findings", "overlay", "situation")

    def __init__(self, overlay: Overlay, findings: Findings) -> None:
        self.overlay = overlay
        self.findings = findings
        self.situation: FrozenSet[Need] = frozenset((Need.ALWAYS,))

    def need(self, *needs: Need) -> None:
        """Add to the situation."""
        self.situation |= frozenset(needs)

    def fields(self, name: str, level: Level, kinds: Mapping[str, Kind]) -> Dict[str, Column]:
        """The columns of a level in canonical form, without what is wrong.

        Args:
            name: the kind of object, as :attr:`Format.keys` names it.
            level: the objects.
            kinds: what each key holds.
        """
        columns = level.uniform_columns()
        if columns is None:
            self._punch_holes(level)
            columns = level.columns()
        unknown = [key for key in columns if key not in self.overlay.known(name)]
        missing = self._missing(name, level, columns, unknown)
        for key in unknown:
            if key not in missing:
                self._unknown(name, level, key, columns.pop(key))
        read: Dict[str, Column] = {}
        for key, column in columns.items():
            if key not in kinds or not column.values:
                continue
            self.findings.keys += len(column.values)
            if kinds[key].python is str:
                self.findings.texts += len(column.values)
            read[key] = self._read(level, key, kinds[key], column)
        return read

    def children(self, level: Level, key: str, columns: Mapping[str, Column]) -> Level:
        """The items of the arrays under ``key``."""
        return level.children(key, columns.get(key, NO_COLUMN))

    def _punch_holes(self, level: Level) -> None:
        """Note the items that are not objects, and pass over them from now on."""
        for index, item in enumerate(level.items):
            if type(item) is not dict:
                self._wrong_type(level.path(index), item, dict)
                level.items[index] = HOLE

    def _missing(
        self,
        name: str,
        level: Level,
        columns: Mapping[str, Column],
        unknown: Sequence[str],
    ) -> List[str]:
        """Note the missing keys; the unknown ones that stand in their place."""
        explained = []
        count = len(level.items)
        for key in self.overlay.required(name, self.situation):
            if len(columns.get(key, NO_COLUMN).values) == count:
                continue
            close = nearest(key, unknown)
            lacking = [
                index
                for index, item in enumerate(level.items)
                if key not in item and item is not HOLE
            ]
            if close is not None:
                explained.append(close)
                lacking = self._misspelt(level, key, close, lacking)
            if len(lacking) == count:
                self._lacks(name, level, key, lacking[0], count - 1)
                continue
            for index in lacking:
                self._lacks(name, level, key, index)
        return explained

    def _misspelt(self, level: Level, key: str, close: str, lacking: List[int]) -> List[int]:
        """Note the objects that have ``close`` instead of ``key``; returns the others."""
        others = []
        for index in lacking:
            if close not in level.items[index]:
                others.append(index)
                continue
            path = level.path(index)
            self.findings.add(
                MISSING_KEY,
                (*path, close),
                '{} has no "{}" but "{}"'.format(dotted(path), key, close),
                'write "{}"'.format(key),
                at_key=True,
            )
        return others

    def _lacks(self, name: str, level: Level, key: str, index: int, more: int = 0) -> None:
        path = level.path(index)
        self.findings.add(
            MISSING_KEY,
            path,
            '{}{} has no "{}"{}'.format(
                dotted(path),
                " (and {:,} more)".format(more) if more else "",
                key,
                self._why(name, key),
            ),
            'add "{}"'.format(key),
        )

    def _why(self, name: str, key: str) -> str:
        need = self.overlay.formats[0].keys[name][key]
        if need is Need.ALWAYS:
            return ""
        return ", which is needed {}".format(need.value)

    def _unknown(self, name: str, level: Level, key: str, column: Column) -> None:
        owner = column.owners[0]
        path = (*level.path(owner), key)
        count = len(column.values)
        where = (
            dotted(path) if count == 1 else "{} (and {:,} more)".format(dotted(path), count - 1)
        )
        known = sorted(self.overlay.known(name))
        close = nearest(key, known)
        homes = home_of(name, key)
        severity = Severity.WARNING
        if close is not None:
            help: Optional[str] = 'did you mean "{}"?'.format(close)
        elif homes:
            help = "it belongs to {}".format(
                "; ".join(
                    "version {} ({})".format(version, ", ".join(products))
                    for version, products in sorted(homes.items())
                )
            )
        else:
            severity = Severity.INFO
            help = None
        self.findings.add(
            UNKNOWN_KEY,
            path,
            "{} is a key that HCCL does not read here; it reads {}".format(
                where, ", ".join(known)
            ),
            help,
            severity,
            at_key=True,
        )

    def _read(self, level: Level, key: str, kind: Kind, column: Column) -> Column:
        values = column.values
        try:
            canonical = kind.read_all(values)
        except TypeError:
            canonical = None
        if canonical is not None:
            self.findings.colons |= isinstance(canonical[0], bytes)
            return Column(column.owners, canonical)
        owners, good = [], []
        for owner, value in zip(column.owners, values):
            path = (*level.path(owner), key)
            if type(value) is not kind.python:
                self._wrong_type(path, value, kind.python)
                continue
            try:
                good.append(kind.parse(value))
                owners.append(owner)
            except BadValueError as wrong:
                self.findings.add(
                    VALUE,
                    path,
                    "{} is {}; {}".format(dotted(path), shown(value), wrong.problem),
                    wrong.help,
                    instead=wrong.instead,
                )
        return Column(owners, good)

    def _wrong_type(self, path: Path, value: Any, wanted: type) -> None:
        versions = sorted(format.version or "" for format in self.overlay.formats)
        is_number = type(value) in (int, float)
        help = instead = None
        if wanted is str and is_number:
            instead = '"{}"'.format(value)
            help = "put it in quotes"
        elif wanted is int and isinstance(value, str) and value.isdigit() and len(value) < 10:
            instead = str(int(value))
            help = "take the quotes away"
        kind = "the number " if is_number else "the text " if isinstance(value, str) else ""
        self.findings.add(
            VALUE_TYPE,
            path,
            "{} is {}{}; {} has {} here".format(
                dotted(path),
                kind,
                shown(value),
                "version {}".format(versions[0]) if versions[0] else "template 2",
                _WORDS[wanted],
            ),
            help,
            instead=instead,
        )
