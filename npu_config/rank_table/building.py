"""Rank tables from a short description of the servers, or from what a machine knows of itself.

The result is checked like any other table, so what a builder returns is right for its
product, and what it refuses it refuses with every reason.  A machine knows the numbers of its
devices, and their addresses from ``/etc/hccn.conf``; tables are compared with those, too.
"""

import ipaddress
import re
import socket
from collections import Counter
from itertools import islice
from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity, declare
from npu_config.core.message import listed, localized, phrase
from npu_config.core.target import Target
from npu_config.core.versions import Product
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
from npu_config.sidefiles.format import Parsed, path_given, refuse
from npu_config.sidefiles.schema.kinds import family_of, pieces
from npu_config.text.lines import lines


@declare(
    "NPU669",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",),
)
def cluster_description() -> None:
    """A rank table or a job cannot be built from the specified servers, devices and addresses.

    To build a table, specify the names of the servers, their devices and the addresses of the
    devices: list each of them, or count up from the first address.  Either every device or no
    device must have an address, there must be enough addresses, and the product must support this
    kind of table.

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
    pool = _AddressPool(device_ips)
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


class _AddressPool:
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
                "specify an address for every device",
            )
        return address

    def close(self) -> None:
        """Refuse listed addresses that nobody took."""
        left = list(self._addresses) if self._listed and self._addresses is not None else []
        if left:
            raise refusal(
                phrase(
                    '{} address is left over: "{}"'
                    if len(left) == 1
                    else '{} addresses are left over; the first is "{}"',
                    len(left),
                    left[0],
                ),
                "list as many addresses as devices",
            )


def _counted(given: str) -> Iterator[str]:
    try:
        if "/" in given:
            return map(str, ipaddress.ip_network(given).hosts())
        return consecutive(given)
    except ValueError as error:
        raise refusal(
            phrase('"{}" is neither an address nor a network: {}', given, error),
            'write an address such as "10.20.0.2" or a network such as "10.20.0.0/16"',
        ) from None


def consecutive(first: str) -> Iterator[str]:
    """The addresses from ``first`` on, to the last one that there is.

    Raises:
        ValueError: ``first`` is no address.
    """
    if "%" in first:
        raise ValueError("the first of consecutive addresses must not contain an interface (%)")
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
            message = "{} is used as the address of a device, but is reserved in a /24 network"
            help = 'list the addresses, or specify the network, e.g. "10.20.0.0/16"'
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
                "specify one plane for each address",
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
                    "write the first of consecutive IP addresses, or list all addresses",
                ) from None
        else:
            listed = list(self.addrs)
        if len(listed) != wanted:
            raise refusal(
                phrase(
                    "layer {} needs {:,} addresses ({:,} devices, {} each), but {:,} are listed",
                    self.net_layer,
                    wanted,
                    devices,
                    len(self.ports),
                    len(listed),
                ),
                "list one address for each entry of ports and each device",
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
        raise refusal("a table of version 2.0 needs network layers", "describe at least layer 0")
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


_SPAN = re.compile(r"(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?\Z")
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){3}\Z")
_LAYER_KEYS = ("layer", "id", "type", "first", "addrs", "ports", "planes")


def numbers(text: str) -> Tuple[int, ...]:
    """Numbers and spans joined by commas: ``0-3,6`` is 0, 1, 2, 3, 6.

    Raises:
        NpuConfigError: the text is not one.
    """
    found: List[int] = []
    for part in text.split(","):
        match = _SPAN.match(part.strip())
        first = int(match.group("first")) if match else 0
        last = int(match.group("last") or first) if match else -1
        if last < first:
            raise refusal(
                localized('"{}" is not a list of numbers', text),
                'write numbers and ranges: "0-3,6"',
            )
        found.extend(range(first, last + 1))
    if len(set(found)) < len(found):
        raise refusal(localized('"{}" contains a number twice', text), "list each number once")
    return tuple(found)


def device_choice(text: str) -> Devices:
    """``8`` for the devices 0 to 7, or a list such as ``0-3`` or ``4,``.

    Raises:
        NpuConfigError: the text is not one.
    """
    if text.strip().isdecimal() and len(text) < 6 and int(text):
        return int(text)
    if text.strip() == "0":
        raise refusal(
            "at least one device is required",
            'write a number of devices or a list of them: "8" or "0-3,6"',
        )
    return numbers(text.strip().rstrip(","))


def device_addresses(text: Optional[str]) -> Union[str, List[str], None]:
    """One address to count from, a network, or addresses joined by commas."""
    if text is None or "," not in text:
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def assignments(texts: Iterable[str]) -> Dict[str, str]:
    """``NAME=VALUE`` each, by name.

    Raises:
        NpuConfigError: one has no ``=``, or a name is given twice.
    """
    found: Dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise refusal(localized('"{}" has no "="', text), "write NAME=VALUE")
        if name in found:
            raise refusal(localized('"{}" is specified twice', name), "specify it only once")
        found[name] = value
    return found


def lists(texts: Iterable[str]) -> Dict[str, List[str]]:
    """``NAME=A,B,C`` each, by name.

    Raises:
        NpuConfigError: one has no ``=``, or a name is given twice.
    """
    return {name: value.split(",") for name, value in assignments(texts).items()}


def super_nodes(texts: Iterable[str]) -> Dict[str, List[str]]:
    """``POD=SERVER,SERVER`` each, by super node.

    Raises:
        NpuConfigError: as :func:`lists`, or a server is in two super nodes.
    """
    found = lists(texts)
    pod_of: Dict[str, str] = {}
    for pod, members in found.items():
        for name in members:
            if pod_of.setdefault(name, pod) != pod:
                message = '"{}" is in the super nodes "{}" and "{}"'
                raise refusal(
                    localized(message, name, pod_of[name], pod),
                    "list the server in one super node only",
                )
    return found


def distinct(names: Sequence[str]) -> Sequence[str]:
    """The names of servers.

    Raises:
        NpuConfigError: a server is given twice, or a name is empty, a list or a wrong address.
    """
    for name in names:
        if not name.strip() or "," in name:
            raise refusal(
                localized('"{}" is not the name of one server', name),
                "specify one server at a time, without commas",
            )
        if _DOTTED.match(name) and family_of(name) is None:
            raise refusal(
                localized('"{}" is not a valid IPv4 address', name),
                "write four numbers from 0 to 255 without leading zeros, or a name",
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise refusal(
            localized('the server "{}" is specified twice', repeated[0]), "specify it only once"
        )
    return names


def server_plans(
    names: Sequence[str],
    addresses: Mapping[str, Mapping[int, str]],
    devices: Devices,
    host_ips: Mapping[str, str],
    super_pods: Mapping[str, Sequence[str]],
    super_device_ids: Mapping[str, Sequence[str]],
) -> List[ServerPlan]:
    """The plans of servers.

    Args:
        names: the servers in order; those that only ``addresses`` names follow.
        addresses: server to the addresses of its devices.
        devices: the devices of every server that ``addresses`` does not have.
        host_ips: server to the address of its host.
        super_pods: super node to the servers in it.
        super_device_ids: server to the SDIDs of its devices, in order.

    Raises:
        NpuConfigError: something is said of a server that is not there.
    """
    servers = list(dict.fromkeys([*names, *addresses]))
    pod_of = {name: pod for pod, members in super_pods.items() for name in members}
    for name in (*host_ips, *super_device_ids, *pod_of):
        if name not in servers:
            raise refusal(
                localized('"{}" is not a server of the table', name),
                localized("specify a server of the table: {}", ", ".join(servers[:8])),
            )
    everyone = range(devices) if isinstance(devices, int) else devices
    plans = []
    for name in servers:
        plan = ServerPlan(
            name, dict(addresses.get(name, {})), None, host_ips.get(name), pod_of.get(name)
        )
        sdids = super_device_ids.get(name)
        if sdids is not None:
            ids = plan.ids(tuple(everyone))
            if len(ids) != len(sdids):
                raise refusal(
                    localized(
                        '"{}" has {} devices, but {} SDIDs are specified',
                        name,
                        len(ids),
                        len(sdids),
                    ),
                    "specify one SDID for each device",
                )
            plan = attr.evolve(plan, super_device_ids=dict(zip(ids, sdids)))
        plans.append(plan)
    return plans


def layer(text: str) -> Layer:
    """A network layer: ``layer=1;id=az0;first=172.16.0.1;ports=0/4,0/5+1/5``.

    The parts are ``layer`` (0 to 7), ``id`` (``{server}`` in it is the number of the server),
    ``ports`` (those of one address joined by ``,``, addresses of one device by ``+``), the
    addresses (``first`` of consecutive ones, or ``addrs`` joined by ``,``), and if wished
    ``type`` and ``planes`` (joined by ``,``).

    Raises:
        NpuConfigError: the text is not one.
    """
    parts = assignments(part for part in text.split(";") if part.strip())
    for name in parts:
        if name not in _LAYER_KEYS:
            raise refusal(
                localized('a layer has no "{}"', name),
                localized("legal: {}", ", ".join(_LAYER_KEYS)),
            )
    missing = [name for name in ("layer", "id", "ports") if name not in parts]
    if ("first" in parts) == ("addrs" in parts):
        missing.append('either "first" or "addrs"')
    if missing:
        raise refusal(
            localized('the layer "{}" needs {}', text, ", ".join(missing)),
            "write e.g. layer=0;id=rack{server};first=172.16.0.1;ports=1/0",
        )
    number = numbers(parts["layer"])
    if len(number) > 1:
        raise refusal(
            localized('"{}" contains several layer numbers, but a layer has only one', text),
            "describe each layer separately",
        )
    return Layer(
        number[0],
        parts["id"],
        tuple(tuple(group.split(",")) for group in parts["ports"].split("+")),
        parts["addrs"].split(",") if "addrs" in parts else parts["first"],
        parts.get("type"),
        tuple(parts["planes"].split(",")) if "planes" in parts else (),
    )


_LINE = re.compile(r"\s*(?P<key>address_(?P<device>[0-9]{1,4}))\s*=\s{0,40}(?P<address>\S*)\s*\Z")
_DEVICE = re.compile(r"(?:.*/)?davinci(?P<number>[0-9]{1,4})\Z")


@declare(
    "NPU666",
    Severity.ERROR,
    facts=("rank-table-device-ip",),
    source=("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",),
)
def hccn_conf_address() -> None:
    """An address in `/etc/hccn.conf` is invalid.

    The line `address_N=...` contains the address of device N, which is written to the rank table
    as `device_ip`.  A value that is not an address cannot be used, nor can a device with two
    addresses.  All other lines (`netmask_N`, `gateway_N`, `netdetect_N` ...) are skipped.

    Wrong: `address_0=10.20.0`

    Right: `address_0=10.20.0.2`
    """


@declare(
    "NPU665",
    Severity.ERROR,
    facts=("rank-table-device-ip",),
    source=(
        "docs/en/tfadapter_1/migration/faq/hccl_init_ret_-17_error.md",
        "cann/hccl:docs/zh/user_guide/fault_diagnosis/rank_table_load_fail.md",
    ),
)
def rank_table_address_mismatch() -> None:
    """The address of a device in the rank table differs from its address on the machine.

    `device_ip` must be the address of the device's own interface, as `/etc/hccn.conf` and
    `hccn_tool -i N -ip -g` show it.  HCCL compares the two addresses; if they differ, it fails
    with `ra rdev init failed, ret[-17]`.

    Wrong: `"device_ip": "10.20.0.3"` for device 0, with `address_0=10.20.0.2`

    Right: `"device_ip": "10.20.0.2"`
    """


def parse_hccn(text: str, path: Optional[str] = None) -> Parsed[Dict[int, str]]:
    """The addresses of ``/etc/hccn.conf``: device id to address.

    Args:
        text: the content of the file.
        path: its name, for the diagnostics.

    Raises:
        TypeError: ``text`` is no text.
    """
    refused = path_given(text, path, "parse_hccn(open(path).read(), path)")
    if refused:
        return Parsed(None, refused)
    addresses: Dict[int, str] = {}
    found: List[Diagnostic] = []
    for line in lines(text, path):
        match = _LINE.match(line.text)
        if match is None:
            continue
        device, key, address = (
            int(match.group("device")),
            match.group("key"),
            match.group("address"),
        )
        place = line.place(*match.span("address"))
        if family_of(address, zone=False) is None:
            message = phrase('{} is "{}"; it must be an IPv4 or IPv6 address', key, address)
            found.append(hccn_conf_address.diagnostic(message, place))
        elif addresses.setdefault(device, address) != address:
            message = phrase(
                '{} is "{}", but an earlier line has "{}"', key, address, addresses[device]
            )
            help = phrase(
                "keep the line with the address that hccn_tool -i {} -ip -g prints", device
            )
            found.append(hccn_conf_address.diagnostic(message, place, help=help))
    return Parsed(addresses, Report(found))


def device_numbers(names: Iterable[str]) -> Tuple[int, ...]:
    """The device ids in a listing of ``/dev``: 0 for ``davinci0`` or ``/dev/davinci0``."""
    matches = map(_DEVICE.match, names)
    return tuple(sorted({int(match.group("number")) for match in matches if match is not None}))


def plan_of_machine(
    server_id: str,
    addresses: Mapping[int, str],
    names: Optional[Iterable[str]] = None,
) -> ServerPlan:
    """A server as it knows itself, for :func:`~npu_config.rank_table.build.build`.

    Args:
        server_id: its name in the table.
        addresses: what :func:`parse_hccn` found.
        names: a listing of ``/dev``; only the devices in it are taken.  None: every device
            that has an address.
    """
    devices = None if names is None else device_numbers(names)
    return ServerPlan(server_id, dict(addresses), devices)


def _same(one: str, other: str) -> bool:
    """Whether two texts are one address."""
    family = socket.AF_INET6 if family_of(one, zone=False) == "IPv6" else socket.AF_INET
    try:
        return socket.inet_pton(family, one) == socket.inet_pton(family, other.split("%")[0])
    except (OSError, ValueError):
        return False


def check_addresses_of(table: RankTable, server_id: str, addresses: Mapping[int, str]) -> Report:
    """Compare a server of a rank table with the addresses that the machine has.

    Args:
        table: the rank table.
        server_id: the server that the machine is.
        addresses: what :func:`parse_hccn` found there.
    """
    found: List[Diagnostic] = []
    servers = [server for server in table.servers if server.server_id == server_id]
    if not servers:
        message = phrase(
            'the rank table has no server "{}"; it has {} ...'
            if len(table.servers) > 8
            else 'the rank table has no server "{}"; it has {}',
            server_id,
            listed('"{}"'.format(server.server_id) for server in table.servers[:8]),
        )
        found.append(rank_table_address_mismatch.diagnostic(message))
    for server in servers:
        for device in server.devices:
            real = addresses.get(device.device_id)
            if real is None or not isinstance(device.device_ip, str) or not device.device_ip:
                continue
            if not any(_same(real, piece) for piece in pieces(device.device_ip)):
                message = phrase(
                    'device {} of "{}" has the address "{}", but the rank table has "{}"',
                    device.device_id,
                    server_id,
                    real,
                    device.device_ip,
                )
                help = phrase('write "{}"', real)
                found.append(rank_table_address_mismatch.diagnostic(message, help=help))
    return Report(found)
