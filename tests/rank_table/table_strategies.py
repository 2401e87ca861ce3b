"""Random rank tables of every version in which nothing is wrong."""

import ipaddress

from hypothesis import strategies as st

from npu_config.rank_table.model import (
    Address,
    Device,
    GroupDevice,
    GroupTable,
    Level,
    Pod,
    Rank,
    RankGroup,
    RankTable,
    RankTable2,
    Server,
    SuperPod,
)

NAMES = st.text(min_size=1, max_size=16)  # at most 64 bytes
PORTS = st.integers(1024, 65535)
STATUSES = st.just("completed")


@st.composite
def addresses(draw, count):
    """``count`` different addresses of one family."""
    if draw(st.booleans()):
        kind, most = ipaddress.IPv4Address, 2**32 - 1
    else:
        kind, most = ipaddress.IPv6Address, 2**128 - 1
    numbers = draw(st.lists(st.integers(0, most), min_size=count, max_size=count, unique=True))
    return [str(kind(number)) for number in numbers]


@st.composite
def sizes(draw, most=4):
    """How many devices each server has."""
    return draw(st.lists(st.integers(1, 4), min_size=1, max_size=most))


@st.composite
def rank_tables(draw):
    """A table of version 1.0, 1.2 in server mode, or 1.2 with super nodes."""
    counts = draw(sizes())
    names = draw(st.lists(NAMES, min_size=len(counts), max_size=len(counts), unique=True))
    mode = draw(st.sampled_from(["1.0", "server mode", "super nodes"]))
    ips = draw(addresses(sum(counts)))
    has_port = mode != "1.0" and draw(st.booleans())
    servers, rank = [], 0
    for name, count in zip(names, counts):
        devices = []
        for device_id in draw(st.permutations(range(8)))[:count]:
            devices.append(
                Device(
                    device_id,
                    rank,
                    ips[rank],
                    draw(PORTS) if has_port else None,
                    str(rank) if mode == "super nodes" else None,
                    host_port=2000 + rank if has_port else None,
                )
            )
            rank += 1
        host_ip = "10.0.0.1" if mode != "1.0" and draw(st.booleans()) else None
        servers.append(Server(name, tuple(devices), host_ip))
    pods = ()
    if mode == "super nodes":
        cut = draw(st.integers(1, len(names)))
        parts = [part for part in (names[:cut], names[cut:]) if part]
        pods = tuple(SuperPod(str(index), tuple(part)) for index, part in enumerate(parts))
    version = "1.0" if mode == "1.0" else "1.2"
    return RankTable(tuple(servers), version, draw(STATUSES), pods)


@st.composite
def rank_tables_2(draw):
    """A table of version 2.0."""
    count = draw(st.integers(1, 5))
    layers = [0, *sorted(draw(st.sets(st.integers(1, 7), max_size=2)))]
    sizes = [draw(st.integers(0, 3)) for _ in layers]
    local_ids = draw(st.permutations(range(64)))
    ranks = []
    for rank in range(count):
        levels = []
        for layer, many in zip(layers, sizes):
            found = tuple(
                Address(
                    "EID",
                    draw(st.text("0123456789abcdef", min_size=32, max_size=32)),
                    ("{}/{}".format(layer, index), "d2h") if index == 0 else ("0/9",),
                    draw(st.sampled_from([None, "0", "plane1"])),
                )
                for index in range(many)
            )
            levels.append(
                Level(
                    layer,
                    draw(NAMES),
                    draw(st.sampled_from(["TOPO_FILE_DESC", "CLOS"][: 1 + bool(layer)])),
                    found,
                    draw(st.sampled_from([None, "", "x"])),
                )
            )
        ranks.append(
            Rank(
                rank,
                local_ids[rank],
                draw(st.integers(0, 64)),
                tuple(levels),
                draw(st.none() | PORTS),
                draw(st.none() | PORTS),
            )
        )
    return RankTable2(tuple(ranks), draw(STATUSES))


@st.composite
def group_tables(draw):
    """A table of the old template 2."""
    counts = draw(sizes())
    ips = iter(draw(addresses(sum(counts))))
    pods = draw(st.lists(NAMES, min_size=len(counts), max_size=len(counts), unique=True))
    instances = tuple(
        Pod(
            pod,
            "server-{}".format(index),
            tuple(GroupDevice(device, next(ips)) for device in range(count)),
        )
        for index, (pod, count) in enumerate(zip(pods, counts))
    )
    cut = draw(st.integers(1, len(instances)))
    parts = [part for part in (instances[:cut], instances[cut:]) if part]
    return GroupTable(tuple(RankGroup(part, name) for part, name in zip(parts, ["", "b"])))


@st.composite
def deploy_mode_tables(draw):
    """A table of template 2 with ``deploy_mode``: one device and its rank an instance."""
    servers = draw(st.integers(1, 3))
    each = draw(st.sampled_from([1, 2, 4]))
    ips = iter(draw(addresses(servers * each)))
    ranks = iter(draw(st.permutations(range(servers * each))))
    instances = [
        Pod(None, str(server), (GroupDevice(device, next(ips)),), next(ranks))
        for server in range(servers)
        for device in range(each)
    ]
    return GroupTable(
        (RankGroup(tuple(draw(st.permutations(instances)))),),
        deploy_mode=draw(st.sampled_from(["lab", "", 3])),
        para_plane_nic_location="device",
    )


TABLES = rank_tables() | rank_tables_2() | group_tables() | deploy_mode_tables()
