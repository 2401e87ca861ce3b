"""The dialects of rank tables: their keys, what each holds, and where that is known from.

HCCL chooses the dialect by the chip, then by ``version``, then by whether there is a key
``deploy_mode``.  ``source`` of a key abbreviates a file, see :data:`SOURCES`, and gives its lines.
"""

from typing import Any, FrozenSet, Mapping, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Choice
from npu_config.core.diagnostics import Severity
from npu_config.core.versions import Product
from npu_config.sidefiles.schema.kinds import (
    Anything,
    CutInteger,
    IpAddress,
    IpAddresses,
    Items,
    Key,
    LimitedText,
    NumberText,
    Object,
    Objects,
    Schema,
)

_TOPO = "hcomm:src/legacy/ascend910/framework/common/src/topo/topoinfo_ranktable"
SOURCES: Mapping[str, str] = {
    "PA": _TOPO + "Parser.cc",
    "CO": _TOPO + "Concise.cc",
    "ST": _TOPO + "Standard.cc",
    "CF": "hcomm:src/legacy/ascend910/framework/common/src/config.cc",
    "CAP": "hcomm:src/legacy/ascend910/platform/common/device_capacity.cc",
    "AT": "hcomm:src/legacy/ascend910/framework/communicator/impl/hccl_communicator_attrs_host.cc",
    "R2": "hcomm:src/coll_communicator_mgr/rank_graph/rank_table_info",
    "RG": "hcomm:src/coll_communicator_mgr/rank_graph/rank_graph_builder/rank_graph_builder.cc",
    "J2": "hcomm:src/coll_communicator_mgr/rank_graph/common/json_parser.cc",
    "GL": "ge:compiler/engines/hccl_engine/hcom_graph_adaptor/ge_plugin/common/hcom_base_funs.cc",
}

LARGEST = 40 * 1024 * 1024
LARGEST_2_0 = 1 << 30
BACKUP_LOCAL_ID = 64
NO_SUPER_DEVICE = 0xFFFFFFFF
ADDRESS_TYPES = ("EID", "IPV4", "IPV6")
NET_TYPES = ("TOPO_FILE_DESC", "CLOS")

FOUR = frozenset(
    (
        Product.ATLAS_TRAINING,
        Product.ATLAS_A2,
        Product.ATLAS_A3,
        Product.ATLAS_300I_DUO,
    )
)
"""The products that read every dialect but 2.0."""

EVEN = frozenset((Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO))
"""Those that want as many devices on every server."""

_HIGHEST_DEVICE = {
    Product.ATLAS_TRAINING: 7,
    Product.ATLAS_A2: 15,
    Product.ATLAS_A3: 15,
    Product.ATLAS_300I_DUO: 31,
}


def highest_device(products: FrozenSet[Product]) -> int:
    """The last device of a server, on the product of these that has most."""
    return max(_HIGHEST_DEVICE.get(product, 31) for product in products)


_ANY = LimitedText(0)
_COUNT = NumberText()
_PORT = NumberText(1, 65535)
_SERVER_ID = LimitedText(1, 64)
_NAME = LimitedText(0, 127)

_STATUS = Key(
    _ANY,
    True,
    "GL:166-188, PA:176-205",
    needed_by="the graph engine reads this key before HCCL gets the table, and fails without it",
)
_VERSION = Key(_ANY, True, "PA:293-305")


def _devices_1(version: str, products: FrozenSet[Product], lenient: bool) -> Schema:
    wrong_address = Severity.WARNING if lenient else None
    keys = {
        "device_id": Key(NumberText(0, highest_device(products)), True, "CO:418-445, CAP:238-267"),
        "super_device_id": Key(NumberText(), False, "CO:835-862"),
        "device_ip": Key(IpAddresses(), False, "CO:488-570, CO:348-363", severity=wrong_address),
        "device_port": Key(_PORT, False, "CO:659-693"),
        "device_vnic_port": Key(Anything(), False, "CO:695-723"),
        "backup_device_ip": Key(Anything(), False, "CO:572-620"),
        "backup_device_port": Key(Anything(), False, "CO:732-771"),
        "host_port": Key(_PORT, False, "CO:622-657"),
        "net_position": Key(_ANY, False, "CO:368-384"),
        "net_protocol": Key(_ANY, False, "CO:386-400"),
        "rank_id": Key(_COUNT, True, "CO:411, CO:459-467"),
    }
    if version == "1.0":
        del keys["super_device_id"]
        return Schema(keys, {"super_device_id": "version 1.2"})
    return Schema(keys)


def servers_schema(version: str, products: FrozenSet[Product], lenient: bool = True) -> Schema:
    """The keys of version 1.0 or 1.2.

    Args:
        version: ``"1.0"`` or ``"1.2"``.
        products: those that the table is for.
        lenient: whether HCCL takes a ``device_ip`` that is not text as if it were missing.
    """
    devices = _devices_1(version, products, lenient)
    server = Schema(
        {
            "server_id": Key(_SERVER_ID, True, "CO:289-306"),
            "host_ip": Key(IpAddress(), False, "CO:312-320"),
            "device": Key(Objects(devices), True, "CO:336-346"),
        }
    )
    keys = {
        "status": _STATUS,
        "version": _VERSION,
        "server_count": Key(_COUNT, False, "CO:233-269"),
        "server_list": Key(Objects(server), True, "CO:226-275, PA:349-365"),
    }
    if version == "1.2" and products == frozenset((Product.ATLAS_A3,)):
        member = Schema({"server_id": Key(_ANY, True, "CO:942-995")})
        pod = Schema(
            {
                "super_pod_id": Key(_NAME, True, "CO:898-926"),
                "server_list": Key(Objects(member), False, "CO:928-940"),
            }
        )
        keys["super_pod_list"] = Key(Objects(pod), False, "CO:864-896, CAP:213-236")
        return Schema(keys)
    return Schema(keys, {"super_pod_list": "version 1.2 on atlas_a3"})


def _groups(group: Mapping[str, Key], **more: Key) -> Schema:
    keys = {
        "status": _STATUS,
        **more,
        "group_count": Key(_COUNT, True, "ST:172-186, ST:279-289"),
        "group_list": Key(
            Objects(
                Schema(
                    {
                        "group_name": Key(_NAME, True, "ST:433-439"),
                        "instance_count": Key(_COUNT, True, "ST:441-452, ST:516-524"),
                        **group,
                    }
                )
            ),
            True,
            "ST:414-427",
        ),
    }
    return Schema(keys)


def cloud_schema() -> Schema:
    """The keys of template 2 without ``deploy_mode``: groups of pods."""
    device = Schema(
        {
            "device_id": Key(NumberText(0, 7), True, "ST:538-549"),
            "device_ip": Key(Anything(), False, "ST:552-570"),
        }
    )
    instance = Schema(
        {
            "pod_name": Key(_NAME, True, "ST:529-537"),
            "server_id": Key(_SERVER_ID, True, "ST:478-503"),
            "devices": Key(Objects(device), True, "ST:505-511"),
        }
    )
    return _groups(
        {
            "device_count": Key(_COUNT, True, "ST:355-375"),
            "instance_list": Key(Objects(instance), True, "ST:455-476"),
        }
    )


def deploy_mode_schema(products: FrozenSet[Product]) -> Schema:
    """The keys of template 2 with ``deploy_mode``: groups of single devices with their ranks."""
    highest = 7 if products == frozenset((Product.ATLAS_TRAINING,)) else 31
    device = Schema(
        {
            "device_id": Key(NumberText(0, highest), True, "ST:604-613, AT:633-642"),
            "device_ip": Key(IpAddresses(single=True), True, "ST:619-630"),
        }
    )
    instance = Schema(
        {
            "rank_id": Key(_COUNT, True, "ST:597-598, ST:639-651"),
            "server_id": Key(_SERVER_ID, True, "ST:478-503"),
            "devices": Key(Objects(device, most=1), True, "ST:639-651"),
        }
    )
    return _groups(
        {
            "device_num": Key(_COUNT, True, "ST:355-375"),
            "server_num": Key(_COUNT, True, "ST:385-399, PA:73-95"),
            "instance_list": Key(Objects(instance), True, "ST:455-476"),
        },
        deploy_mode=Key(Anything(), True, "ST:659-663"),
        para_plane_nic_location=Key(Choice(("device",)), True, "ST:150-171, AT:660-671"),
    )


def _address_2(**more: Key) -> Mapping[str, Key]:
    return {
        "addr_type": Key(Choice(ADDRESS_TYPES), True, "R2/address_info.cc:25-37"),
        "addr": Key(LimitedText(1, 256), True, "R2/address_info.cc:39-65"),
        **more,
    }


_PORT_2 = CutInteger(1, 65535, wraps=True)
_ADDRESS_2 = Schema(
    _address_2(
        ports=Key(Items(LimitedText(1, 32), 1, 16, True), True, "R2/address_info.cc:77-92"),
        plane_id=Key(LimitedText(0, 1024), False, "R2/address_info.cc:70-75"),
        backup_addr=Key(Items(LimitedText(1, 256), 0, 16), False, "R2/address_info.cc:115-159"),
    )
)
_LEVEL_2 = Schema(
    {
        "net_layer": Key(CutInteger(0, 7), True, "R2/rank_level_info.cc:39-42"),
        "net_instance_id": Key(LimitedText(1, 1024), True, "R2/rank_level_info.cc:43-46"),
        "net_type": Key(Choice(NET_TYPES), False, "R2/rank_level_info.cc:22-28, RG:640-652"),
        "net_attr": Key(_ANY, False, "R2/rank_level_info.cc:48"),
        "rank_addr_list": Key(Objects(_ADDRESS_2, 0, 24), True, "R2/rank_level_info.cc:60-73"),
    }
)
_CONTROL_2 = Schema(
    _address_2(listen_port=Key(CutInteger(1, 65536), True, "R2/control_plane.cc:26-66"))
)
_RANK_2 = Schema(
    {
        "rank_id": Key(CutInteger(0, 65535), True, "R2/rank_table_info.cc:68-125"),
        "local_id": Key(CutInteger(0, BACKUP_LOCAL_ID), True, "R2/new_rank_info.cc:47-63"),
        "replaced_local_id": Key(Anything(), False, "R2/new_rank_info.cc:52-63"),
        "device_id": Key(CutInteger(0, 64), True, "R2/new_rank_info.cc:22-27"),
        "device_port": Key(_PORT_2, False, "R2/new_rank_info.cc:67-72"),
        "host_port": Key(_PORT_2, False, "R2/new_rank_info.cc:70-76"),
        "level_list": Key(Objects(_LEVEL_2, 1, 8), True, "R2/new_rank_info.cc:34-40, RG:655-665"),
        "control_plane": Key(Object(_CONTROL_2), False, "R2/new_rank_info.cc:105-110"),
    }
)
RANKS_SCHEMA = Schema(
    {
        "status": _STATUS,
        "version": Key(_ANY, True, "R2/rank_table_info.cc:24-33"),
        "detour": Key(Choice(("true", "false", "")), False, "R2/rank_table_info.cc:153-163"),
        "rank_count": Key(CutInteger(1, 65536), True, "R2/rank_table_info.cc:35-63"),
        "rank_list": Key(Objects(_RANK_2), True, "J2:91-110"),
    }
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Dialect:
    """One dialect of rank tables.

    Args:
        form: its name in messages.
        version: the text of ``version``; None where there is none.
        products: the products that read it.
        documented: those that its documentation is for; a table whose product is not known is
            taken to be for one of them.
    """

    form: str
    version: Optional[str]
    products: FrozenSet[Product]
    documented: FrozenSet[Product]


_A3 = frozenset((Product.ATLAS_A3,))
_950 = frozenset((Product.ASCEND_950,))
V1_0 = Dialect("version 1.0", "1.0", FOUR, FOUR)
V1_2 = Dialect("version 1.2", "1.2", FOUR, _A3)
CLOUD = Dialect("template 2", None, FOUR, FOUR)
DEPLOY_MODE = Dialect("template 2 with deploy_mode", None, FOUR, FOUR)
V2_0 = Dialect("version 2.0", "2.0", _950, _950)

DIALECTS = (V1_0, V1_2, CLOUD, DEPLOY_MODE, V2_0)
BY_VERSION: Mapping[str, Dialect] = {
    dialect.version: dialect for dialect in DIALECTS if dialect.version is not None
}


def dialect_of(document: Mapping[str, Any]) -> Optional[Dialect]:
    """The dialect that a document is read as; None for a version that HCCL does not know.

    The chip decides first; that a product does not read a dialect is not judged here.
    """
    if "version" in document:
        version = document["version"]
        return BY_VERSION.get(version) if isinstance(version, str) else None
    return DEPLOY_MODE if "deploy_mode" in document else CLOUD


def versions_of(product: Product) -> Tuple[str, ...]:
    """The versions that a product reads, template 2 aside."""
    return tuple(
        version for version, dialect in BY_VERSION.items() if product in dialect.documented
    )


def schema_of(document: Mapping[str, Any]) -> Schema:
    """The keys of the dialect that a document is nearest to, with the texts to be written."""
    schema = _nearest(document)
    keys = dict(schema.keys)
    for name, legal in (("status", ("completed",)), ("version", tuple(BY_VERSION))):
        if name in keys:
            keys[name] = keys[name]._replace(kind=Choice(legal))
    return attr.evolve(schema, keys=keys)


def _nearest(document: Mapping[str, Any]) -> Schema:
    dialect = dialect_of(document)
    if dialect is V2_0:
        return RANKS_SCHEMA
    if dialect is DEPLOY_MODE:
        return deploy_mode_schema(FOUR)
    if dialect is CLOUD and "group_list" in document:
        return cloud_schema()
    return servers_schema("1.0" if dialect is V1_0 else "1.2", FOUR)
