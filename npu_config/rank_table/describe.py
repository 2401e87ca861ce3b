"""Short descriptions of servers and layers as text, e.g. from a command line."""

import re
from collections import Counter
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.message import localized
from npu_config.rank_table.building import Devices, Layer, ServerPlan, refusal
from npu_config.sidefiles.schema.kinds import family_of

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
                'write numbers and spans: "0-3,6"',
            )
        found.extend(range(first, last + 1))
    if len(set(found)) < len(found):
        raise refusal(localized('"{}" names a number twice', text), "name each once")
    return tuple(found)


def device_choice(text: str) -> Devices:
    """``8`` for the devices 0 to 7, or a list such as ``0-3`` or ``4,``.

    Raises:
        NpuConfigError: the text is not one.
    """
    if text.strip().isdecimal() and len(text) < 6 and int(text):
        return int(text)
    if text.strip() == "0":
        raise refusal("0 devices are none", 'write how many, or which: "8" or "0-3,6"')
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
            raise refusal(localized('"{}" is given twice', name), "give it once")
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
                raise refusal(localized(message, name, pod_of[name], pod), "name it in one")
    return found


def distinct(names: Sequence[str]) -> Sequence[str]:
    """The names of servers.

    Raises:
        NpuConfigError: a server is given twice, or a name is empty, a list or a wrong address.
    """
    for name in names:
        if not name.strip() or "," in name:
            raise refusal(
                localized('"{}" is not the name of one server', name), "give each server by itself"
            )
        if _DOTTED.match(name) and family_of(name) is None:
            raise refusal(
                localized('"{}" looks like an IPv4 address and is none', name),
                "give four numbers from 0 to 255 without leading zeros, or a name",
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise refusal(localized('the server "{}" is given twice', repeated[0]), "give it once")
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
                localized("name one of: {}", ", ".join(servers[:8])),
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
                        '"{}" has {} devices, but {} SDIDs are given', name, len(ids), len(sdids)
                    ),
                    "give one for each device",
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
        missing.append("either first or addrs")
    if missing:
        raise refusal(
            localized('the layer "{}" needs {}', text, ", ".join(missing)),
            "write e.g. layer=0;id=rack{server};first=172.16.0.1;ports=1/0",
        )
    number = numbers(parts["layer"])
    if len(number) > 1:
        raise refusal(
            localized('the layer "{}" has several numbers', text), "write one layer each"
        )
    return Layer(
        number[0],
        parts["id"],
        tuple(tuple(group.split(",")) for group in parts["ports"].split("+")),
        parts["addrs"].split(",") if "addrs" in parts else parts["first"],
        parts.get("type"),
        tuple(parts["planes"].split(",")) if "planes" in parts else (),
    )
