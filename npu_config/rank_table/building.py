"""Rank tables from a short description of the servers, or from what a machine knows of itself.

The result is checked like any other table, so what a builder returns is right for its
product, and what it refuses it refuses with every reason.
"""

import ipaddress
from itertools import islice
from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NpuConfigError, Report, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.target import Product, Target
from npu_config.rank_table.judging import check_document
from npu_config.rank_table.model import (
    Address,
    Device,
    Level,
    Rank,
    RankTable,
    RankTable2,
    Server,
    SuperPod,
    to_document,
)
from npu_config.sidefiles.format import refuse
from npu_config.sidefiles.schema.kinds import family_of


@declare(
    "NPU669",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",),
)
def cluster_description() -> None:
    """A description of servers cannot become a rank table.

    The builders take the names of the servers, their devices and the addresses of the
    devices: listed, or counted up from a first address.  There must be an address for each
    device or for none, the addresses must not run out, and the product must have such a table.

    Wrong: two servers of 8 devices and 8 addresses

    Right: two servers of 8 devices and 16 addresses, or a first address
    """


Devices = Union[int, Sequence[int]]


def refusal(message: str, help: Optional[str] = None) -> NpuConfigError:
    """The exception for a description that cannot become a table."""
    return NpuConfigError([cluster_description.diagnostic(message, help=help)])


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ServerPlan:
    """What is known of one server.

    Args:
        server_id: its name, unique, at most 64 characters.
        device_ips: device id to address, for the devices whose address is known.
        devices: the device ids to use; None: those of ``device_ips``, else what the builder
            is reported for all servers.
        host_ip: IPv4 address of the host (atlas_a3, for HCCL's retry).
        super_pod: the super node that it is in (atlas_a3).
        super_device_ids: device id to SDID, for version 1.2.
    """

    server_id: str
    device_ips: Mapping[int, str] = attr.ib(factory=dict)
    devices: Optional[Sequence[int]] = None
    host_ip: Optional[str] = None
    super_pod: Optional[str] = None
    super_device_ids: Mapping[int, str] = attr.ib(factory=dict)

    def ids(self, otherwise: Sequence[int]) -> Tuple[int, ...]:
        """The device ids to use."""
        if self.devices is not None:
            return tuple(self.devices)
        return tuple(sorted(self.device_ips)) or tuple(otherwise)


def build(
    servers: Iterable[Union[str, ServerPlan]],
    devices: Devices = 8,
    device_ips: Union[str, Iterable[str], None] = None,
    product: Union[Product, str, None] = None,
    version: Optional[str] = None,
    device_port: Optional[int] = None,
) -> RankTable:
    """Make a rank table of version 1.0 or 1.2 (:func:`build_ranks` makes 2.0).

    Ranks are numbered server by server in the order given, and device by device.

    Args:
        servers: names, or plans where there is more to say.
        devices: how many devices each server has (0 to n-1), or which, for the servers whose
            plan does not say.
        device_ips: addresses for the devices whose plan has none, in rank order: a list, or
            the first of consecutive addresses (``"10.20.0.2"``), or a network whose hosts are
            taken in order (``"10.20.0.0/16"``).  None: such devices have no address.
        product: the product that the table is for; it is checked for it.
        version: ``"1.0"`` or ``"1.2"``; None: 1.2 when a server is in a super node, else 1.0.
        device_port: the port of every device's interface (atlas_a2, atlas_a3); None: not written.

    Raises:
        NpuConfigError: with every error that the table would have.
        ValueError: for an unknown product, naming the legal ones.
    """
    target = Target.named(product)
    plans = [ServerPlan(one) if isinstance(one, str) else one for one in servers]
    everyone = device_list(devices)
    pool = _Pool(device_ips)
    rank = 0
    built: List[Server] = []
    for plan in plans:
        mine = []
        for device_id in plan.ids(everyone):
            address = plan.device_ips.get(device_id)
            if address is None:
                address = pool.next(device_id, plan.server_id)
            sdid = plan.super_device_ids.get(device_id)
            mine.append(Device(device_id, rank, address, device_port, sdid))
            rank += 1
        built.append(Server(plan.server_id, tuple(mine), plan.host_ip))
    pool.close()
    pods = _super_pods(plans)
    if version is None:
        version = "1.2" if pods else "1.0"
    table = RankTable(tuple(built), version, super_pods=pods)
    refuse(check_document(to_document(table), target))
    return table


def device_list(devices: Devices) -> Tuple[int, ...]:
    """The device ids that are meant: 0 to n-1 for a number n."""
    return tuple(range(devices)) if isinstance(devices, int) else tuple(devices)


class _Pool:
    """The addresses for the devices whose plan has none."""

    def __init__(self, given: Union[str, Iterable[str], None]) -> None:
        self._listed = given is not None and not isinstance(given, str)
        self._addresses: Optional[Iterator[str]] = None
        if isinstance(given, str):
            self._addresses = _counted(given)
        elif given is not None:
            self._addresses = iter(list(given))

    def next(self, device_id: int, server_id: str) -> Optional[str]:
        """The next address; None when there are none at all."""
        if self._addresses is None:
            return None
        address = next(self._addresses, None)
        if address is None:
            raise refusal(
                phrase('there is no address left for device {} of "{}"', device_id, server_id),
                "give an address for every device",
            )
        return address

    def close(self) -> None:
        """Refuse listed addresses that nobody took."""
        left = list(self._addresses) if self._listed and self._addresses is not None else []
        if left:
            raise refusal(
                phrase(
                    '{} address is left over, from "{}" on'
                    if len(left) == 1
                    else '{} addresses are left over, from "{}" on',
                    len(left),
                    left[0],
                ),
                "give as many addresses as devices",
            )


def _counted(given: str) -> Iterator[str]:
    try:
        if "/" in given:
            return map(str, ipaddress.ip_network(given).hosts())
        return consecutive(given)
    except ValueError as error:
        raise refusal(
            phrase('"{}" is neither an address nor a network: {}', given, error),
            'give an address such as "10.20.0.2" or a network such as "10.20.0.0/16"',
        ) from None


def consecutive(first: str) -> Iterator[str]:
    """The addresses from ``first`` on, to the last one that there is.

    Raises:
        ValueError: ``first`` is no address.
    """
    if "%" in first:
        raise ValueError("addresses that are counted name no interface")
    address: Union[ipaddress.IPv4Address, ipaddress.IPv6Address] = ipaddress.ip_address(first)
    last = 2**address.max_prefixlen
    kind = type(address)
    return (str(kind(number)) for number in range(int(address), last))


def doubtful(device_ips: Union[str, Iterable[str], None], table: RankTable) -> Report:
    """What is doubtful about addresses that :func:`build` counted up from a first one."""
    found = []
    if isinstance(device_ips, str) and "/" not in device_ips:
        devices = (device for server in table.servers for device in server.devices)
        addresses = (device.device_ip or "" for device in devices)
        odd = next((a for a in addresses if a.endswith((".0", ".255"))), None)
        if odd is not None:
            message = "{} is counted as the address of a device; in a network of 256 it is none"
            help = 'list the addresses, or name the network, e.g. "10.20.0.0/16"'
            found.append(
                cluster_description.diagnostic(
                    phrase(message, odd), help=help, severity=Severity.WARNING
                )
            )
    return Report(found)


def _super_pods(plans: Sequence[ServerPlan]) -> Tuple[SuperPod, ...]:
    pods: Dict[str, List[str]] = {}
    for plan in plans:
        if plan.super_pod is not None:
            pods.setdefault(plan.super_pod, []).append(plan.server_id)
    return tuple(SuperPod(name, tuple(members)) for name, members in pods.items())


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Layer:
    """One network layer of every device.

    Args:
        net_layer: 0 to 7.
        net_instance_id: which network of that layer a device is in; ``{server}`` in it stands
            for the number of the server, from 0.
        ports: for each address of a device the ports that it has, e.g.
            ``[("0/4", "0/5"), ("1/5",)]`` for two addresses.
        addrs: the addresses of all devices, device by device: listed, or the first of
            consecutive IP addresses.
        net_type: ``"TOPO_FILE_DESC"`` or ``"CLOS"``; None: the first on layer 0, else the second.
        plane_ids: the plane of each address of a device; none: plane 0.
    """

    net_layer: int
    net_instance_id: str
    ports: Sequence[Sequence[str]]
    addrs: Union[str, Sequence[str]]
    net_type: Optional[str] = None
    plane_ids: Sequence[str] = ()

    def levels(self, servers: Sequence[int]) -> Iterator[Level]:
        """The level of each device, for the number of the server that each is in."""
        addresses = self._addresses(len(servers))
        net_type = self.net_type or ("CLOS" if self.net_layer else "TOPO_FILE_DESC")
        for server in servers:
            mine = tuple(
                Address(_type(addr), addr, tuple(ports), plane)
                for ports, plane, addr in zip(self.ports, self._planes(), addresses)
            )
            name = self.net_instance_id.replace("{server}", str(server))
            yield Level(self.net_layer, name, net_type, mine)

    def _planes(self) -> Sequence[str]:
        planes = self.plane_ids or ("0",) * len(self.ports)
        if len(planes) != len(self.ports):
            raise refusal(
                phrase(
                    "layer {} has {} addresses for each device, but {} planes",
                    self.net_layer,
                    len(self.ports),
                    len(planes),
                ),
                "give one plane for each address",
            )
        return planes

    def _addresses(self, devices: int) -> Iterator[str]:
        wanted = devices * len(self.ports)
        if isinstance(self.addrs, str):
            try:
                listed = list(islice(consecutive(self.addrs), wanted))
            except ValueError as error:
                raise refusal(
                    phrase(
                        'layer {}: "{}" is not an IP address: {}',
                        self.net_layer,
                        self.addrs,
                        error,
                    ),
                    "give the first of consecutive IP addresses, or list all addresses",
                ) from None
        else:
            listed = list(self.addrs)
        if len(listed) != wanted:
            raise refusal(
                phrase(
                    "layer {} needs {:,} addresses ({:,} devices, {} each), {:,} are given",
                    self.net_layer,
                    wanted,
                    devices,
                    len(self.ports),
                    len(listed),
                ),
                "give one address for each entry of ports and each device",
            )
        return iter(listed)


def _type(addr: str) -> str:
    return {"IPv4": "IPV4", "IPv6": "IPV6"}.get(family_of(addr, zone=False) or "", "EID")


def build_ranks(
    servers: int,
    layers: Sequence[Layer],
    devices: Devices = 8,
    first_device_port: Optional[int] = None,
    first_host_port: Optional[int] = None,
) -> RankTable2:
    """Make a rank table of version 2.0 (ascend_950).

    Ranks are numbered server by server and device by device; ``local_id`` is the device id.

    Args:
        servers: how many servers there are.
        layers: the network layers that every device has, from layer 0 on.
        devices: how many devices each server has (0 to n-1), or which.
        first_device_port: port of the first rank's device; the others count on. None: none.
        first_host_port: port of the first rank's host interface; the others count on.

    Raises:
        NpuConfigError: with every error that the table would have.
    """
    if not layers:
        raise refusal("a table of version 2.0 needs network layers", "describe layer 0 at least")
    ids = device_list(devices)
    places: List[Tuple[int, int]] = [(server, one) for server in range(servers) for one in ids]
    columns = [layer.levels([server for server, _ in places]) for layer in layers]
    ranks = tuple(
        Rank(
            rank,
            device_id,
            device_id,
            tuple(mine),
            None if first_device_port is None else first_device_port + rank,
            None if first_host_port is None else first_host_port + rank,
        )
        for rank, ((_, device_id), mine) in enumerate(zip(places, zip(*columns)))
    )
    table = RankTable2(ranks)
    refuse(check_document(to_document(table), Target(product=Product.ASCEND_950)))
    return table
