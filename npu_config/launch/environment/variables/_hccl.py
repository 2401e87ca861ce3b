"""Variables of the collective communication library HCCL."""

from npu_config.catalogue.kinds import Choice, Path
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.launch.environment.kinds import (
    NIC_NAMES,
    NUMBER,
    Algorithms,
    IpText,
    PortList,
    Whole,
    filled,
)
from npu_config.launch.environment.variables._variable import COLLECTIVE, Variable, family

_HCCL = "cann/hccl:docs/zh/user_guide/hccl_env/"
_SWITCH = Choice(("0", "1"))
_REFUSED = "HCCL refuses it when it is initialised (EI0001)"
_hccl = family(_HCCL, products=COLLECTIVE, read_by=("HCCL",), consequence=_REFUSED)

HCCL = (
    _hccl(
        "HCCL_EXEC_TIMEOUT",
        "how long a collective operation waits for the other devices",
        NUMBER,
        default="1836",
        unit="s",
        interactions=(
            "the option hccl_timeout takes precedence",
            "stream_sync_timeout must be larger",
            "at most 1091 with HCCL_OP_EXPANSION_MODE=AIV",
        ),
        facts=("hccl-timeout-priority", "stream-sync-gt-hccl"),
    ),
    _hccl(
        "HCCL_CONNECT_TIMEOUT",
        "how long devices wait for each other's sockets; 20 s are added",
        Whole(120, 7200),
        default="120",
        unit="s",
    ),
    _hccl(
        "HCCL_SOCKET_FAMILY",
        "version of IP that devices communicate with",
        Choice(("AF_INET", "AF_INET6")),
        default="AF_INET",
        interactions=("the interfaces that there are decide when the wish cannot be met",),
    ),
    _hccl(
        "HCCL_NPU_SOCKET_PORT_RANGE",
        "ports of HCCL on the NPU",
        PortList(),
        default="16666",
        products=frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)),
        interactions=("needed when several processes share an NPU; set on all cards",),
        facts=("hccl-port-single-device-multi-process",),
    ),
    _hccl(
        "HCCL_IF_IP",
        "address of the host that HCCL uses, for jobs without a rank table",
        IpText(),
        interactions=("takes precedence over HCCL_SOCKET_IFNAME",),
    ),
    _hccl(
        "HCCL_SOCKET_IFNAME",
        "interfaces of the host that HCCL uses",
        NIC_NAMES,
        interactions=("HCCL_IF_IP takes precedence",),
    ),
    _hccl(
        "HCCL_IF_BASE_PORT", "first of 32 ports on the host", Whole(1024, 65520), default="60000"
    ),
    _hccl(
        "HCCL_WHITELIST_DISABLE",
        "0 checks who may communicate, 1 does not",
        _SWITCH,
        default="1",
        interactions=("0 needs HCCL_WHITELIST_FILE",),
    ),
    _hccl(
        "HCCL_WHITELIST_FILE",
        "path of the list of hosts that may communicate",
        Path("whitelist"),
        interactions=("read when HCCL_WHITELIST_DISABLE is 0",),
    ),
    _hccl(
        "HCCL_BUFFSIZE",
        "shared buffer of each communicator; twice as much is allocated",
        Whole(1),
        default="200",
        unit="MB",
    ),
    _hccl(
        "HCCL_INTRA_PCIE_ENABLE",
        "PCIe between the devices of a server",
        _SWITCH,
        default="1",
        products=frozenset((Product.ATLAS_A2, Product.ATLAS_TRAINING)),
        interactions=(
            "not 1 together with HCCL_INTRA_ROCE_ENABLE=1",
            "0 needs HCCL_INTRA_ROCE_ENABLE",
        ),
    ),
    _hccl(
        "HCCL_INTRA_ROCE_ENABLE",
        "RoCE between the devices of a server",
        _SWITCH,
        default="0",
        products=frozenset((Product.ATLAS_A2, Product.ATLAS_TRAINING, Product.ATLAS_A3)),
        interactions=("0 needs HCCL_INTRA_PCIE_ENABLE",),
    ),
    _hccl(
        "HCCL_ALGO", "algorithms of the collective operations", Algorithms(), default="automatic"
    ),
    Variable(
        "HCCL_OP_EXPANSION_MODE",
        "where collective operations are expanded; decides what a timeout may be",
        filled("AI_CPU, AIV, HOST, HOST_TS or another mode of the product"),
        products=COLLECTIVE,
        read_by=("HCCL",),
        interactions=("with AIV, HCCL_EXEC_TIMEOUT is at most 1091 s",),
        page=_HCCL + "HCCL_OP_EXPANSION_MODE.md",
        severity=Severity.WARNING,
    ),
)
