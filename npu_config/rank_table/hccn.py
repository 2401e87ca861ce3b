"""What a machine knows of its own devices: their numbers, and ``/etc/hccn.conf``."""

import re
import socket
from typing import Dict, Iterable, List, Mapping, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Report, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.rank_table.building import ServerPlan
from npu_config.rank_table.model import RankTable
from npu_config.sidefiles.format import Parsed, path_given
from npu_config.sidefiles.schema.kinds import family_of, pieces
from npu_config.text.lines import lines

_LINE = re.compile(r"\s*(?P<key>address_(?P<device>[0-9]{1,4}))\s*=\s{0,40}(?P<address>\S*)\s*\Z")
_DEVICE = re.compile(r"(?:.*/)?davinci(?P<number>[0-9]{1,4})\Z")


@declare(
    "NPU666",
    Severity.ERROR,
    facts=("rank-table-device-ip",),
    source=("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",),
)
def hccn_conf_address() -> None:
    """An address in `/etc/hccn.conf` cannot be used.

    The line `address_N=...` gives the address of device N; it goes into the rank table as
    `device_ip`.  What is not an address, and a device with two, cannot.  All other lines
    (`netmask_N`, `gateway_N`, `netdetect_N` ...) are passed over.

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
    """The rank table gives a device another address than the machine does.

    `device_ip` is the address of the device's own interface, as `/etc/hccn.conf` and
    `hccn_tool -i N -ip -g` show it.  HCCL compares the two and ends with
    `ra rdev init failed, ret[-17]`.

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
            message = phrase('{} is "{}", but "{}" before', key, address, addresses[device])
            help = phrase("keep the line that hccn_tool -i {} -ip -g confirms", device)
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
                    'device {} of "{}" has the address "{}", the rank table says "{}"',
                    device.device_id,
                    server_id,
                    real,
                    device.device_ip,
                )
                help = phrase('write "{}"', real)
                found.append(rank_table_address_mismatch.diagnostic(message, help=help))
    return Report(found)
