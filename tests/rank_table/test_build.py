"""Rank tables from short descriptions."""

import pytest

from npu_config import NpuConfigError, rank_table
from npu_config.core.target import Target
from npu_config.rank_table.building import (
    Layer,
    ServerPlan,
    build,
    build_ranks,
    check_addresses_of,
    device_numbers,
    parse_hccn,
    plan_of_machine,
)
from npu_config.rank_table.conversion import convert
from npu_config.rank_table.model import (
    Device,
    GroupDevice,
    GroupTable,
    Pod,
    RankGroup,
    RankTable,
    Server,
    SuperPod,
)

HCCN = """\
# written by hccn_tool
address_0=10.20.0.2
netmask_0=255.255.0.0
netdetect_0=10.20.0.1
gateway_0=10.20.0.1
 address_1 = fd00::3
address_10=10.20.0.12
"""


def rules(error):
    """The rules that an exception names."""
    return {diagnostic.rule for diagnostic in error.value.diagnostics.errors}


def test_walk_through():
    """Two servers of eight devices: sixteen ranks, numbered server by server."""
    table = build(["10.0.0.1", "10.0.0.2"], 8, "10.20.0.2", "atlas_training")
    assert table.rank_size == 16
    assert [(rank, rank % 8, "10.0.0.1" if rank < 8 else "10.0.0.2") for rank in range(16)] == [
        (process.rank_id, process.device_id, process.server_id) for process in table.processes
    ]
    assert table.servers[1].devices[7].device_ip == "10.20.0.17"
    assert list(rank_table.parse(rank_table.render(table)).diagnostics) == []


@pytest.mark.parametrize("devices", [1, 2, 4, 8])
@pytest.mark.parametrize("first", ["10.20.0.2", "fd00::2"])
@pytest.mark.parametrize("servers", [1, 2, 3])
def test_devices_of_a_server(servers, devices, first):
    """1, 2, 4 and 8 devices on each server are right for atlas_training, IPv4 and IPv6."""
    names = ["node_{}".format(number) for number in range(servers)]
    table = build(names, devices, first, "atlas_training")
    assert servers * devices == table.rank_size
    parsed = rank_table.parse(rank_table.render(table), None, Target(product="atlas_training"))
    assert list(parsed.diagnostics) == []


def test_chosen_devices():
    """Devices may be chosen by number."""
    table = build(["a"], [4, 6], "10.20.0.2", "atlas_training")
    assert [process.device_id for process in table.processes] == [4, 6]


def test_network():
    """Hosts of a network are taken in order."""
    table = build(["a"], 2, "10.20.0.0/24")
    assert [d.device_ip for d in table.servers[0].devices] == ["10.20.0.1", "10.20.0.2"]


def test_without_addresses():
    """One server of atlas_a2 needs no addresses; several do."""
    assert build(["a"], 3, product="atlas_a2").servers[0].devices[0].device_ip is None
    with pytest.raises(NpuConfigError) as error:
        build(["a", "b"], 3, product="atlas_a2")
    assert {"NPU607"} == rules(error)


def test_super_nodes():
    """Servers in super nodes make a table of version 1.2."""
    plans = [
        ServerPlan(
            "node_{}".format(number),
            super_pod="pod_{}".format(number // 2),
            super_device_ids={device: str(number % 2 * 4 + device) for device in range(4)},
        )
        for number in range(4)
    ]
    table = build(plans, 4, "10.20.0.2", "atlas_a3", device_port=16666)
    assert table.version == "1.2"
    assert (
        SuperPod("pod_0", ("node_0", "node_1")),
        SuperPod("pod_1", ("node_2", "node_3")),
    ) == table.super_pods
    assert table.servers[0].devices[0].device_port == 16666


def test_ranks_of_version_2():
    """Version 2.0 has layers, with addresses counted device by device."""
    layers = [
        Layer(0, "rack{server}", [("1/0",)], "172.16.0.10"),
        Layer(1, "az0", [("0/4", "0/5"), ("1/5",)], "172.17.0.1", plane_ids=("p0", "p1")),
    ]
    table = build_ranks(2, layers, 2, 16666, 60001)
    assert [rank.local_id for rank in table.ranks] == [0, 1, 0, 1]
    assert [rank.levels[0].net_instance_id for rank in table.ranks] == [
        "rack0",
        "rack0",
        "rack1",
        "rack1",
    ]
    assert [address.addr for address in table.ranks[3].levels[1].addresses] == [
        "172.17.0.7",
        "172.17.0.8",
    ]
    assert (table.ranks[3].device_port, table.ranks[3].host_port) == (16669, 60004)
    parsed = rank_table.parse(rank_table.render(table), None, Target(product="ascend_950"))
    assert list(parsed.diagnostics) == []
    assert table == parsed.model


def test_eids():
    """Addresses that are not IP addresses are EIDs."""
    table = build_ranks(
        1, [Layer(0, "pod", [("0/4",)], ["{:032x}".format(number) for number in (32, 40)])], 2
    )
    assert {"EID"} == {a.addr_type for rank in table.ranks for a in rank.levels[0].addresses}


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"servers": []}, "NPU646"),
        ({"servers": ["a"], "devices": []}, "NPU646"),
        ({"servers": ["a", "a"], "device_ips": "10.0.0.1"}, "NPU649"),
        ({"servers": ["a"], "device_ips": ["10.0.0.1"]}, "NPU669"),
        ({"servers": ["a"], "devices": 1, "device_ips": ["10.0.0.1", "10.0.0.2"]}, "NPU669"),
        ({"servers": ["a"], "device_ips": "10.0.0.300"}, "NPU669"),
        ({"servers": ["a"], "device_ips": "255.255.255.250"}, "NPU669"),
        ({"servers": ["a"], "device_ips": "10.0.0.0/30"}, "NPU669"),
        ({"servers": ["a"], "devices": 16, "product": "atlas_training"}, "NPU646"),
        ({"servers": ["a"], "device_ips": "10.0.0.1", "product": "ascend_950"}, "NPU642"),
        ({"servers": ["a"], "devices": 1, "device_port": 65536}, "NPU646"),
        ({"servers": ["s" * 65], "devices": 1}, "NPU646"),
        ({"servers": ["a"], "devices": [-1]}, "NPU646"),
    ],
)  # fmt: skip
def test_refusals(arguments, rule):
    """What cannot become a right table is refused, with the reason."""
    with pytest.raises(NpuConfigError) as error:
        build(**arguments)
    assert {rule} == rules(error)


@pytest.mark.parametrize(
    "layer",
    [
        Layer(0, "x", [("0/4",)], "no address"),
        Layer(0, "x", [("0/4",)], ["172.16.0.1"]),
        Layer(0, "x", [("0/4",)], "172.16.0.1", plane_ids=("a", "b")),
    ],
)
def test_refused_layers(layer):
    """A layer whose addresses or planes do not suffice is refused."""
    with pytest.raises(NpuConfigError) as error:
        build_ranks(1, [layer], 2)
    assert {"NPU669"} == rules(error)


def test_unknown_product():
    """A wrong product name says which there are."""
    with pytest.raises(ValueError, match="legal: ascend_950"):
        build(["a"], 1, product="atlas_a1")


def test_machine():
    """A server as it knows itself: its devices and the addresses of hccn.conf."""
    parsed = parse_hccn(HCCN, "hccn.conf")
    assert list(parsed.diagnostics) == []
    assert parsed.model == {0: "10.20.0.2", 1: "fd00::3", 10: "10.20.0.12"}
    names = ["davinci0", "davinci10", "davinci_manager", "davinci", "null"]
    assert device_numbers(names) == (0, 10)
    table = build([plan_of_machine("here", parsed.model, names)], product="atlas_a2")
    assert (
        Server("here", (Device(0, 0, "10.20.0.2"), Device(10, 1, "10.20.0.12"))),
    ) == table.servers


def test_wrong_hccn_conf():
    """Addresses that are none, and devices with two, are found with their place."""
    parsed = parse_hccn("address_0=10.20.0\naddress_1=10.20.0.3\naddress_1=10.20.0.4\n", "x")
    assert [(d.path, d.line, d.column) for d in parsed.diagnostics] == [("x", 1, 11), ("x", 3, 11)]
    assert parsed.model == {1: "10.20.0.3"}


def test_addresses_of_a_machine():
    """The table is compared with what the machine says; IPv6 spellings do not matter."""
    table = RankTable((Server("a", (Device(0, 0, "fd00:0::2"), Device(1, 1, "fd00::3"))),))
    assert list(check_addresses_of(table, "a", {0: "fd00::2", 1: "fd00::3", 2: "fd00::4"})) == []
    (wrong,) = check_addresses_of(table, "a", {0: "fd00::2", 1: "fd00::9"})
    assert (
        wrong.message
    ) == 'device 1 of "a" has the address "fd00::9", but the rank table has "fd00::3"'
    (unknown,) = check_addresses_of(table, "b", {0: "fd00::2"})
    assert unknown.message == 'the rank table has no server "b"; it has "a"'


OLD = GroupTable(
    (
        RankGroup(
            (
                Pod("pod-a", "node_0", (GroupDevice(0, "10.20.0.2"),)),
                Pod("pod-b", "node_1", (GroupDevice(0, "10.20.1.2"),)),
            )
        ),
        RankGroup((Pod("pod-c", "node_0", (GroupDevice(1, "10.20.0.3"),)),), "other"),
    )
)


def test_template_2_becomes_1_0():
    """Groups are merged; containers of one server are joined, so that its ranks are a block."""
    assert RankTable(
        (
            Server("node_0", (Device(0, 0, "10.20.0.2"), Device(1, 1, "10.20.0.3"))),
            Server("node_1", (Device(0, 2, "10.20.1.2"),)),
        )
    ) == convert(OLD)


def test_1_0_becomes_1_2():
    """With super nodes and SDIDs; servers are put in the order of the super nodes."""
    table = build(["a", "b", "c"], 1, "10.20.0.2")
    new = convert(
        table,
        "1.2",
        {"p0": ["a", "c"], "p1": ["b"]},
        {"a": ["0"], "b": ["0"], "c": ["1"]},
        Target(product="atlas_a3"),
    )
    assert [server.server_id for server in new.servers] == ["a", "c", "b"]
    assert [server.devices[0].super_device_id for server in new.servers] == ["0", "1", "0"]
    assert convert(table, "1.2").version == "1.2"


@pytest.mark.parametrize(
    ("table", "version"),
    [
        (OLD, "2.0"),
        (build(["a"], 1), "2.0"),
        (build(["a"], 1, version="1.2"), "1.0"),
        (build(["a"], 1), "3.0"),
        (build_ranks(1, [Layer(0, "x", [("0/4",)], "172.16.0.1")], 1), "1.0"),
    ],
)
def test_no_conversion(table, version):
    """What the new format needs and the old one lacks is said, not made up."""
    with pytest.raises(NpuConfigError) as error:
        convert(table, version)
    assert {"NPU664"} == rules(error)


def test_wrong_conversion():
    """SDIDs that do not fit the devices, and super nodes of unknown servers, are refused."""
    table = build(["a"], 2, "10.20.0.2")
    with pytest.raises(NpuConfigError) as error:
        convert(table, "1.2", {"p": ["a"]}, {"a": ["0"]})
    assert {"NPU664"} == rules(error)
    with pytest.raises(NpuConfigError) as error:
        convert(table, "1.2", {"p": ["b"]}, {"a": ["0", "1"]})
    assert {"NPU658"} == rules(error)
