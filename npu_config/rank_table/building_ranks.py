"""Rank tables of version 2.0 from a short description of servers and network layers."""

from itertools import islice
from typing import Iterator, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.message import phrase
from npu_config.core.target import Product, Target
from npu_config.rank_table.building import (
    Devices,
    consecutive,
    device_list,
    refusal,
)
from npu_config.rank_table.judging import check_document
from npu_config.rank_table.model import (
    Address,
    Level,
    Rank,
    RankTable2,
    to_document,
)
from npu_config.sidefiles.format import refuse
from npu_config.sidefiles.schema.addresses import family_of


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
