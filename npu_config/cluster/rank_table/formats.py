"""The rank-table formats, each declared once: its version, products, keys and what they hold.

A key is declared with the situations in which a format needs it.  Where the product is
not known, the formats of one version are laid over each other: a key is known when any of
them knows it, and missing only when all of them need it.
"""

import enum
from typing import Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple

import attr

from npu_config.cluster.rank_table.values import (
    Choice,
    Decimal,
    Integer,
    IpAddress,
    Kind,
    ListOf,
    Text,
)
from npu_config.core.target import Product

STATUSES = ("completed", "initializing")
NET_TYPES = ("TOPO_FILE_DESC", "CLOS")
ADDRESS_TYPES = ("EID", "IPV4", "IPV6")

MOST_RANKS_2_0 = 65536
MOST_LEVELS = 8
MOST_ADDRESSES = 24
MOST_PORTS = 16
LONGEST_PORT = 32
LARGEST_2_0 = 1 << 30


class Need(enum.Enum):
    """When a format needs a key."""

    ALWAYS = "always"
    OPTIONAL = "never"
    SEVERAL_SERVERS = "with several servers"
    SEVERAL_PODS = "with several super nodes"
    SUPER_NODE = "in super-node mode"


_ID = Decimal()
_PORT = Decimal(1, 65535)
_PORT_2_0 = Integer(1, 65535)
_NAME = Text()
_SERVER_ID = Text(64)
_STATUS = Choice(STATUSES)
_LIST = ListOf()

TABLE_1: Mapping[str, Kind] = {
    "status": _STATUS,
    "version": _NAME,
    "server_count": Decimal(),
    "server_list": _LIST,
    "super_pod_list": _LIST,
}
SERVER: Mapping[str, Kind] = {
    "server_id": _SERVER_ID,
    "host_ip": IpAddress(only_ipv4=True),
    "device": _LIST,
}
DEVICE: Mapping[str, Kind] = {
    "device_id": _ID,
    "super_device_id": _NAME,
    "device_ip": IpAddress(),
    "device_port": _PORT,
    "backup_device_ip": IpAddress(),
    "backup_device_port": _PORT,
    "host_port": _PORT,
    "rank_id": _ID,
}
SUPER_POD: Mapping[str, Kind] = {"super_pod_id": _NAME, "server_list": _LIST}
SUPER_POD_SERVER: Mapping[str, Kind] = {"server_id": _NAME}

TABLE_2: Mapping[str, Kind] = {
    "status": _STATUS,
    "version": _NAME,
    "rank_count": Integer(1, MOST_RANKS_2_0),
    "rank_list": _LIST,
}
RANK: Mapping[str, Kind] = {
    "rank_id": Integer(0, MOST_RANKS_2_0 - 1),
    "local_id": Integer(0, 64),
    "device_id": Integer(0, 64),
    "device_port": _PORT_2_0,
    "host_port": _PORT_2_0,
    "level_list": ListOf(may_be_empty=True, longest=MOST_LEVELS),
}
LEVEL: Mapping[str, Kind] = {
    "net_layer": Integer(0, 7),
    "net_instance_id": Text(1024),
    "net_type": Choice(NET_TYPES),
    "net_attr": Text(may_be_empty=True),
    "rank_addr_list": ListOf(may_be_empty=True, longest=MOST_ADDRESSES),
}
ADDRESS: Mapping[str, Kind] = {
    "addr_type": Choice(ADDRESS_TYPES, (("IPv4", "IPV4"), ("IPv6", "IPV6"))),
    "addr": Text(256),
    "ports": ListOf(may_be_empty=True, longest=MOST_PORTS),
    "plane_id": Text(),
}

TABLE_GROUPS: Mapping[str, Kind] = {
    "status": _STATUS,
    "group_count": Decimal(),
    "group_list": _LIST,
}
GROUP: Mapping[str, Kind] = {
    "group_name": Text(may_be_empty=True),
    "instance_count": Decimal(),
    "device_count": Decimal(),
    "instance_list": _LIST,
}
INSTANCE: Mapping[str, Kind] = {"pod_name": _NAME, "server_id": _SERVER_ID, "devices": _LIST}
GROUP_DEVICE: Mapping[str, Kind] = {"device_id": _ID, "device_ip": IpAddress()}

Needs = Mapping[str, Need]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Format:
    """One rank-table format of the vendor's documentation.

    Args:
        name: its name in the facts.
        version: the text of ``version``; None for template 2, which has none.
        products: the products that read it.
        keys: the keys of each kind of object and when they are needed.
        source: the page that describes it.
    """

    name: str
    version: Optional[str]
    products: FrozenSet[Product]
    keys: Mapping[str, Needs]
    source: str


_ALWAYS, _OPTIONAL = Need.ALWAYS, Need.OPTIONAL
_HCCL = "cann/hccl:docs/zh/user_guide/cluster_info_config/"


def _always(*names: str, **others: Need) -> Needs:
    needs = dict.fromkeys(names, _ALWAYS)
    needs.update(others)
    return needs


FORMATS: Tuple[Format, ...] = (
    Format(
        "rank_table_v1_0_atlas_training",
        "1.0",
        frozenset((Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO)),
        {
            "table": _always("status", "version", "server_count", "server_list"),
            "server": _always("server_id", "device"),
            "device": _always("device_id", "device_ip", "rank_id"),
        },
        _HCCL + "rank_table_config_910.md",
    ),
    Format(
        "rank_table_v1_0_a2",
        "1.0",
        frozenset((Product.ATLAS_A2,)),
        {
            "table": _always("status", "version", "server_count", "server_list"),
            "server": _always("server_id", "device"),
            "device": _always(
                "device_id",
                "rank_id",
                device_ip=Need.SEVERAL_SERVERS,
                device_port=_OPTIONAL,
            ),
        },
        _HCCL + "rank_table_config_a2.md",
    ),
    Format(
        "rank_table_v1_0_a3",
        "1.0",
        frozenset((Product.ATLAS_A3,)),
        {
            "table": _always("status", "version", "server_count", "server_list"),
            "server": _always("server_id", "device", host_ip=_OPTIONAL),
            "device": _always(
                "device_id",
                "rank_id",
                device_ip=Need.SEVERAL_SERVERS,
                device_port=_OPTIONAL,
                host_port=_OPTIONAL,
            ),
        },
        _HCCL + "rank_table_config_a3.md",
    ),
    Format(
        "rank_table_v1_2_a3",
        "1.2",
        frozenset((Product.ATLAS_A3,)),
        {
            "table": _always(
                "status",
                "version",
                "server_list",
                server_count=_OPTIONAL,
                super_pod_list=_OPTIONAL,
            ),
            "server": _always("server_id", "device", host_ip=_OPTIONAL),
            "device": _always(
                "device_id",
                "rank_id",
                super_device_id=Need.SUPER_NODE,
                device_ip=Need.SEVERAL_PODS,
                device_port=_OPTIONAL,
                backup_device_ip=_OPTIONAL,
                backup_device_port=_OPTIONAL,
                host_port=_OPTIONAL,
            ),
            "super_pod": _always("super_pod_id", "server_list"),
            "super_pod_server": _always("server_id"),
        },
        _HCCL + "rank_table_config_a3.md",
    ),
    Format(
        "rank_table_v2_0_950",
        "2.0",
        frozenset((Product.ASCEND_950,)),
        {
            "table": _always("version", "rank_count", "rank_list", status=_OPTIONAL),
            "rank": _always(
                "rank_id",
                "local_id",
                "device_id",
                "level_list",
                device_port=_OPTIONAL,
                host_port=_OPTIONAL,
            ),
            "level": _always(
                "net_layer",
                "net_instance_id",
                "net_type",
                "rank_addr_list",
                net_attr=_OPTIONAL,
            ),
            "address": _always("addr_type", "addr", "ports", plane_id=_OPTIONAL),
        },
        _HCCL + "rank_table_config_a5.md",
    ),
    Format(
        "rank_table_template2_atlas_training",
        None,
        frozenset((Product.ATLAS_TRAINING,)),
        {
            "table": _always("status", "group_count", "group_list"),
            "group": _always(
                "instance_count", "device_count", "instance_list", group_name=_OPTIONAL
            ),
            "instance": _always("pod_name", "server_id", "devices"),
            "group_device": _always("device_id", "device_ip"),
        },
        _HCCL + "rank_table_config_910.md",
    ),
)

VERSIONS: Tuple[str, ...] = ("1.0", "1.2", "2.0")


def formats_of(version: Optional[str], products: Iterable[Product]) -> Tuple[Format, ...]:
    """The formats of a version (None: template 2) that one of the products reads."""
    wanted = frozenset(products)
    return tuple(
        format for format in FORMATS if format.version == version and format.products & wanted
    )


def versions_of(product: Product) -> List[str]:
    """The versions that a product reads, template 2 aside."""
    return [
        format.version
        for format in FORMATS
        if product in format.products and format.version is not None
    ]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Overlay:
    """The formats that a table may be of, laid over each other.

    Args:
        formats: at least one.
        products: the products that may read the table.
    """

    formats: Tuple[Format, ...]
    products: FrozenSet[Product]

    def known(self, level: str) -> FrozenSet[str]:
        """The keys of that kind of object that any of the formats knows."""
        return frozenset(name for format in self.formats for name in format.keys.get(level, ()))

    def required(self, level: str, situation: FrozenSet[Need]) -> Tuple[str, ...]:
        """The keys that every one of the formats needs in a situation."""
        first = self.formats[0].keys.get(level, {})
        return tuple(
            name
            for name in first
            if all(
                format.keys.get(level, {}).get(name, _OPTIONAL) in situation
                for format in self.formats
            )
        )

    def only(self, *products: Product) -> bool:
        """True when no other product can read the table."""
        return self.products <= frozenset(products)


def overlay(version: Optional[str], products: FrozenSet[Product]) -> Overlay:
    """What may be said of a table of ``version`` on ``products``.

    A product that does not read the version does not narrow it: that it does not is a
    finding of its own.
    """
    formats = formats_of(version, products) or formats_of(version, Product)
    readers = frozenset(product for format in formats for product in format.products)
    return Overlay(formats, (readers & products) or readers)


def home_of(level: str, name: str) -> Dict[str, List[str]]:
    """The versions, and their products, that know a key of that kind of object."""
    homes: Dict[str, List[str]] = {}
    for format in FORMATS:
        if name in format.keys.get(level, ()) and format.version is not None:
            products = sorted(product.value for product in format.products)
            homes.setdefault(format.version, []).extend(products)
    return homes
