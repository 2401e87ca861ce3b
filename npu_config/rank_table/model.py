"""Rank tables as frozen values: what every dialect of them says, how it is read and written.

:class:`RankTable` is the form of versions 1.0 and 1.2 (servers that hold devices),
:class:`RankTable2` that of version 2.0 (ranks with their network levels), :class:`GroupTable`
template 2.  The values hold numbers as numbers; how each dialect spells them is written beside
each class, in fields of :func:`record`.

A class has a field ``origin``, the JSON object that it was read from.  Written back, every key
stays in its place: one that the model knows with the model's value, in the spelling of the origin
where that says the same, and any other as it was.  :func:`show` writes a table for people.
"""

import json
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import attr

from npu_config.core.message import in_columns, localized, phrase
from npu_config.rank_table.dialects import V2_0, dialect_of
from npu_config.sidefiles.schema.kinds import NOTHING, BadValueError, NumberText

M = TypeVar("M")
_NOTHING: Mapping[str, Any] = {}
_NUMBER = NumberText()


class RecordField(NamedTuple):
    """How a key of an object and a field of a model become each other.

    ``name`` is the field; None for a key that ``write`` derives from the whole model, e.g. a
    count, or does not (None).  ``optional``: an empty array is not written where none was.
    """

    key: str
    name: Optional[str]
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    optional: bool = False


RECORDS: Dict[type, Tuple[RecordField, ...]] = {}


def origin() -> Any:
    """The attrs field of the object that a model was read from."""
    return attr.ib(default=_NOTHING, eq=False, repr=False, hash=False, kw_only=True)


def record(*fields: RecordField) -> Callable[[Type[M]], Type[M]]:
    """Decorate a model class with how it is read and written."""

    def enter(cls: Type[M]) -> Type[M]:
        RECORDS[cls] = fields
        return cls

    return enter


def _same(value: Any) -> Any:
    return value


def plain(key: str) -> RecordField:
    """A key whose value is kept as it is."""
    return RecordField(key, key, _same, _same)


def number_of(value: Any) -> Any:
    """The number that HCCL reads in a text; what is not one, where it is not read, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return _NUMBER.parse(value)
    except BadValueError as wrong:
        return value if wrong.read_as is NOTHING else wrong.read_as


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else value


def number_text(key: str) -> RecordField:
    """A number that is written as text."""
    return RecordField(key, key, number_of, str)


def number(key: str) -> RecordField:
    """A number."""
    return RecordField(key, key, _whole, int)


def texts(key: str, optional: bool = False) -> RecordField:
    """An array of texts."""
    return RecordField(key, key, tuple, list, optional)


def derived(
    key: str, write: Callable[[Any], Any], read: Callable[[Any], Any] = _same
) -> RecordField:
    """A key that follows from the others, such as a count."""
    return RecordField(key, None, read, write)


def count(key: str, many: Callable[[Any], int]) -> RecordField:
    """A key that holds, as text, how many parts the model has."""
    return derived(key, lambda model: str(many(model)), number_of)


def objects(key: str, name: str, cls: type) -> RecordField:
    """An array of objects."""
    return RecordField(
        key,
        name,
        lambda values: tuple(load(cls, value) for value in values),
        lambda models: [dump(model) for model in models],
    )


def object_(key: str, cls: type) -> RecordField:
    """One object."""
    return RecordField(key, key, lambda value: load(cls, value), dump)


class IncompleteError(TypeError):
    """An object lacks what its model needs, in a text that was only read in part."""


def load(cls: Type[M], value: Mapping[str, Any]) -> M:
    """The model of an object in which nothing is wrong.

    Raises:
        IncompleteError: something that the model needs is missing.
    """
    build: Any = cls
    found = {
        field.name: field.read(value[field.key])
        for field in RECORDS[cls]
        if field.name is not None and field.key in value
    }
    needed = (field for field in attr.fields(build) if field.default is attr.NOTHING)
    missing = [field.name for field in needed if field.name not in found and field.init]
    if missing:
        raise IncompleteError(", ".join(missing))
    model: M = build(origin=value, **found)
    return model


def dump(model: Any) -> Dict[str, Any]:
    """The object of a model."""
    source: Mapping[str, Any] = model.origin
    fields = RECORDS[type(model)]
    written: Dict[str, Any] = {}
    for field in fields:
        key, given = field.key, field.key in source
        value = field.write(model) if field.name is None else getattr(model, field.name)
        if field.name is None:
            if given and (value is None or field.read(source[key]) == field.read(value)):
                value = source[key]
            if value is not None and (given or not source):
                written[key] = value
        elif given and field.read(source[key]) == value:
            written[key] = source[key]
        elif value is not None and (given or value != () or not field.optional):
            written[key] = field.write(value)
    known = {field.key for field in fields}
    kept = {
        key: written.get(key, value)
        for key, value in source.items()
        if key in written or key not in known
    }
    return {**kept, **{key: value for key, value in written.items() if key not in kept}}


def unknown_keys(model: Any) -> Dict[str, Any]:
    """The keys of the origin that the model does not know."""
    known = {field.key for field in RECORDS[type(model)]}
    return {key: value for key, value in model.origin.items() if key not in known}


class Process(NamedTuple):
    """One process of a job: the rank it is and the device it runs on."""

    rank_id: int
    device_id: int
    server_id: Optional[str] = None
    pod_name: Optional[str] = None


@record(number_text("device_id"), plain("device_ip"))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupDevice:
    """One device of a template 2 table."""

    device_id: int
    device_ip: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(
    number_text("rank_id"),
    plain("pod_name"),
    plain("server_id"),
    objects("devices", "devices", GroupDevice),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Pod:
    """One pod of a template 2 table; with ``deploy_mode`` one device and its rank."""

    pod_name: Optional[str] = None
    server_id: str = ""
    devices: Tuple[GroupDevice, ...] = ()
    rank_id: Optional[int] = None
    origin: Mapping[str, Any] = origin()


def _devices(group: "RankGroup") -> int:
    return sum(len(instance.devices) for instance in group.instances)


def _has_ranks(group: "RankGroup") -> bool:
    return any(instance.rank_id is not None for instance in group.instances)


def _device_count(group: "RankGroup") -> Optional[str]:
    return None if _has_ranks(group) else str(_devices(group))


def _device_num(group: "RankGroup") -> Optional[str]:
    return str(_devices(group)) if _has_ranks(group) else None


def _server_num(group: "RankGroup") -> Optional[str]:
    names = {instance.server_id for instance in group.instances}
    return str(len(names)) if _has_ranks(group) else None


@record(
    plain("group_name"),
    count("instance_count", lambda group: len(group.instances)),
    derived("device_count", _device_count, number_of),
    derived("device_num", _device_num, number_of),
    derived("server_num", _server_num, lambda _: None),  # not that of the list, on some products
    objects("instance_list", "instances", Pod),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankGroup:
    """One group of a template 2 table; HCCL merges all groups into one."""

    instances: Tuple[Pod, ...]
    group_name: str = "hccl_world_group"
    origin: Mapping[str, Any] = origin()


@record(
    plain("status"),
    plain("deploy_mode"),
    plain("para_plane_nic_location"),
    count("group_count", lambda table: len(table.groups)),
    objects("group_list", "groups", RankGroup),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupTable:
    """Template 2 (``group_list``): of pods, or with ``deploy_mode`` of single devices.

    HCCL counts the ranks of pods over the servers in the order of their ``server_id`` as text
    and the devices of each; with ``deploy_mode`` each instance has its rank.
    """

    groups: Tuple[RankGroup, ...]
    status: str = "completed"
    deploy_mode: Any = None
    para_plane_nic_location: Optional[str] = None
    origin: Mapping[str, Any] = origin()

    @property
    def has_deploy_mode(self) -> bool:
        """Whether the instances have ranks of their own."""
        return self.deploy_mode is not None or "deploy_mode" in self.origin

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(map(_devices, self.groups))

    @property
    def places(self) -> Iterator[Tuple[int, Pod, GroupDevice]]:
        """Every device with its rank and its instance, in the order of the ranks."""
        devices = [
            (instance, device)
            for group in self.groups
            for instance in group.instances
            for device in instance.devices
        ]
        if self.has_deploy_mode:
            devices.sort(key=lambda pair: pair[0].rank_id or 0)
        else:
            devices.sort(
                key=lambda pair: (
                    pair[0].server_id.encode("utf-8", "surrogatepass"),
                    pair[1].device_id,
                )
            )
        for rank, (instance, device) in enumerate(devices):
            yield rank, instance, device

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the ranks."""
        for rank, instance, device in self.places:
            yield Process(rank, device.device_id, instance.server_id, instance.pod_name)


@record(
    number_text("device_id"),
    plain("super_device_id"),
    plain("device_ip"),
    number_text("device_port"),
    plain("backup_device_ip"),
    number_text("backup_device_port"),
    number_text("host_port"),
    number_text("rank_id"),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Device:
    """One device of a server; it is one rank.

    Args:
        device_id: physical id, the number in ``/dev/davinci*``.
        rank_id: its rank in the job, from 0.
        device_ip: address of its network interface, ``address_N`` of ``/etc/hccn.conf``, or
            several joined by ``,``.
        device_port: port of that interface, 1 to 65535.
        super_device_id: SDID of ``npu-smi info -t spod-info`` (version 1.2).
        backup_device_ip: address of the other die of the same NPU (atlas_a3).
        backup_device_port: port on that interface (atlas_a3).
        host_port: port of the host's interface.
    """

    device_id: int
    rank_id: int
    device_ip: Optional[str] = None
    device_port: Optional[int] = None
    super_device_id: Optional[str] = None
    backup_device_ip: Optional[str] = None
    backup_device_port: Optional[int] = None
    host_port: Optional[int] = None
    origin: Mapping[str, Any] = origin()


@record(plain("server_id"), plain("host_ip"), objects("device", "devices", Device))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Server:
    """One server of the job.

    Args:
        server_id: unique name, at most 64 bytes; often its IP address.
        devices: its devices, in the order of the table.
        host_ip: address of the host.
    """

    server_id: str
    devices: Tuple[Device, ...]
    host_ip: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(
    plain("super_pod_id"),
    RecordField(
        "server_list",
        "server_ids",
        lambda members: tuple(member["server_id"] for member in members),
        lambda names: [{"server_id": name} for name in names],
    ),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class SuperPod:
    """One super node of a version 1.2 table and the servers that it holds."""

    super_pod_id: str
    server_ids: Tuple[str, ...]
    origin: Mapping[str, Any] = origin()


def _super_pods(value: Any) -> Tuple[SuperPod, ...]:
    """The super nodes; none where the key is not read and holds something else."""
    try:
        return tuple(load(SuperPod, entry) for entry in value)
    except (KeyError, TypeError):
        return ()


@record(
    plain("status"),
    plain("version"),
    count("server_count", lambda table: len(table.servers)),
    objects("server_list", "servers", Server),
    RecordField(
        "super_pod_list", "super_pods", _super_pods, lambda pods: list(map(dump, pods)), True
    ),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable:
    """A rank table of version 1.0 or 1.2.

    Args:
        servers: the servers; those of one super node are next to each other.
        version: ``"1.0"``, or ``"1.2"`` for super nodes (atlas_a3).
        status: ``"completed"``.
        super_pods: the super nodes (version 1.2); empty in server mode.
    """

    servers: Tuple[Server, ...]
    version: str = "1.0"
    status: str = "completed"
    super_pods: Tuple[SuperPod, ...] = ()
    origin: Mapping[str, Any] = origin()

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(len(server.devices) for server in self.servers)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the table."""
        for server in self.servers:
            for device in server.devices:
                yield Process(device.rank_id, device.device_id, server.server_id)


@record(
    plain("addr_type"),
    plain("addr"),
    texts("ports"),
    plain("plane_id"),
    texts("backup_addr", optional=True),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Address:
    """One network address of a rank on one level.

    Args:
        addr_type: ``"EID"``, ``"IPV4"`` or ``"IPV6"``.
        addr: the address; an EID has 32 hexadecimal digits.
        ports: ``"<die>/<port>"`` each, or ``"d2h"`` for a host interface; 1 to 16.
        plane_id: network plane; None: plane 0.
        backup_addr: addresses of the same type, at most 16.
    """

    addr_type: str
    addr: str
    ports: Tuple[str, ...]
    plane_id: Optional[str] = None
    backup_addr: Tuple[str, ...] = ()
    origin: Mapping[str, Any] = origin()


@record(
    number("net_layer"),
    plain("net_instance_id"),
    plain("net_type"),
    plain("net_attr"),
    objects("rank_addr_list", "addresses", Address),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Level:
    """One network level of a rank.

    Args:
        net_layer: 0 to 7.
        net_instance_id: which network of that layer, at most 1024 bytes.
        net_type: ``"TOPO_FILE_DESC"`` or ``"CLOS"``; None: CLOS.
        addresses: at most 24.
        net_attr: reserved text.
    """

    net_layer: int
    net_instance_id: str
    net_type: Optional[str] = None
    addresses: Tuple[Address, ...] = ()
    net_attr: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(plain("addr_type"), plain("addr"), number("listen_port"))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class ControlPlane:
    """Where a rank of version 2.0 listens for the others."""

    addr_type: str
    addr: str
    listen_port: int
    origin: Mapping[str, Any] = origin()


@record(
    number("rank_id"),
    number("local_id"),
    number("replaced_local_id"),
    number("device_id"),
    number("device_port"),
    number("host_port"),
    objects("level_list", "levels", Level),
    object_("control_plane", ControlPlane),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Rank:
    """One rank of a version 2.0 table.

    Args:
        rank_id: its rank in the job, from 0.
        local_id: number of the NPU within its server, 0 to 63; 64: the backup rank.
        device_id: physical id of the NPU, 0 to 64.
        levels: its network levels in ascending order, at most 8.
        device_port: port of the device's interface.
        host_port: port of the host's interface.
        replaced_local_id: the NPU that a backup rank replaces.
        control_plane: where it listens for the others.
    """

    rank_id: int
    local_id: int
    device_id: int
    levels: Tuple[Level, ...] = ()
    device_port: Optional[int] = None
    host_port: Optional[int] = None
    replaced_local_id: Optional[int] = None
    control_plane: Optional[ControlPlane] = None
    origin: Mapping[str, Any] = origin()


@record(
    plain("status"),
    plain("version"),
    plain("detour"),
    derived("rank_count", lambda table: len(table.ranks), int),
    objects("rank_list", "ranks", Rank),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable2:
    """A rank table of version 2.0 (ascend_950).

    Args:
        ranks: the ranks.
        status: ``"completed"``.
        detour: ``"true"``: detour links are built.
    """

    ranks: Tuple[Rank, ...]
    status: str = "completed"
    detour: Optional[str] = None
    version: str = "2.0"
    origin: Mapping[str, Any] = origin()

    @property
    def rank_size(self) -> int:
        """Number of ranks, the ``RANK_SIZE`` of the job."""
        return len(self.ranks)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the table; the dialect names no servers."""
        for rank in self.ranks:
            yield Process(rank.rank_id, rank.device_id)


AnyRankTable = Union[RankTable, RankTable2, GroupTable]


def to_document(table: AnyRankTable) -> Dict[str, Any]:
    """The JSON object of a rank table, with every key that it was read with.

    Raises:
        TypeError: ``table`` is another thing: a path, or all that came of parsing one.
    """
    if not hasattr(table, "rank_size"):
        text = "expected a rank table, got {}; load(path).model is a rank table"
        raise TypeError(phrase(text, type(table).__name__))
    return dump(table)


def from_document(document: Dict[str, Any]) -> AnyRankTable:
    """The rank table of a JSON object in which nothing is wrong."""
    dialect = dialect_of(document)
    if dialect is V2_0:
        return load(RankTable2, document)
    if dialect is not None and dialect.version is None:
        return load(GroupTable, document)
    return load(RankTable, document)


def render(table: AnyRankTable) -> str:
    """The text of the file; the same table always has the same text."""
    return layout(to_document(table))


def layout(document: Any) -> str:
    """The text of plain JSON values."""
    return "".join(_write(document, "\n")) + "\n"


def _write(value: Any, line: str) -> Iterator[str]:
    """The pieces of a value; ``line`` is a line end with the blanks before the next line."""
    if _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    inner = line + "  "
    mark = "{" if isinstance(value, dict) else "["
    for entry in value:
        yield mark + inner
        mark = ","
        if isinstance(value, dict):
            yield json.dumps(entry, ensure_ascii=False) + ": "
            entry = value[entry]
        yield from _write(entry, inner)
    yield line + ("}" if isinstance(value, dict) else "]")


def _is_flat(value: Any) -> bool:
    """Whether a value is written on one line: it holds no object, at most lists of texts."""
    if isinstance(value, dict):
        return not any(
            isinstance(entry, dict) or (isinstance(entry, list) and not _is_flat(entry))
            for entry in value.values()
        )
    if isinstance(value, list):
        return not any(isinstance(entry, (dict, list)) for entry in value)
    return True


Row = Tuple[str, ...]


def facts(table: AnyRankTable) -> Dict[str, Any]:
    """What a table holds, as plain values: its version, counts, columns and rows."""
    heads, rows = _rows(table)
    filled = [index for index, _ in enumerate(heads) if any(row[index] for row in rows)]
    return {
        "version": None if isinstance(table, GroupTable) else table.version,
        "servers": len({process.server_id for process in table.processes} - {None}),
        "ranks": table.rank_size,
        "columns": [heads[index] for index in filled],
        "rows": [[row[index] for index in filled] for row in rows],
    }


def show(table: AnyRankTable) -> str:
    """Lines of text: what the table is, and a row for each rank, in order.

    Servers, super nodes and pods are named; for version 2.0 so are the network levels, each
    with its network and addresses.
    """
    found = facts(table)
    version = found["version"]
    parts = [localized("template 2") if version is None else localized("version {}", version)]
    for what, one, several in (
        ("servers", "{:,} server", "{:,} servers"),
        ("ranks", "{:,} rank", "{:,} ranks"),
    ):
        count = found[what]
        if count:
            parts.append(localized(one if count == 1 else several, count))
    heads = [localized(head) for head in found["columns"]]
    lines = [localized(", ").join(parts), "", *in_columns([heads, *found["rows"]])]
    return "\n".join(lines) + "\n"


def _text(value: Optional[object]) -> str:
    return "" if value is None else str(value)


def _rows(table: AnyRankTable) -> Tuple[Row, List[Row]]:
    if isinstance(table, RankTable):
        return _servers(table)
    if isinstance(table, GroupTable):
        heads: Row = ("rank", phrase("server"), "pod", phrase("device"), phrase("address"))
        return heads, [
            (
                str(rank),
                instance.server_id,
                _text(instance.pod_name),
                str(device.device_id),
                _text(device.device_ip),
            )
            for rank, instance, device in table.places
        ]
    return _ranks(table)


def _servers(table: RankTable) -> Tuple[Row, List[Row]]:
    pod_of = {name: pod.super_pod_id for pod in table.super_pods for name in pod.server_ids}
    devices = [(server, device) for server in table.servers for device in server.devices]
    rows: List[Row] = [
        (
            str(device.rank_id),
            pod_of.get(server.server_id, ""),
            server.server_id,
            _text(server.host_ip),
            str(device.device_id),
            _text(device.super_device_id),
            _text(device.device_ip),
            _text(device.device_port),
        )
        for server, device in sorted(devices, key=lambda pair: pair[1].rank_id)
    ]
    heads = (
        "rank",
        phrase("super node"),
        phrase("server"),
        phrase("host"),
        phrase("device"),
        "sdid",
        phrase("address"),
        phrase("port"),
    )
    return heads, rows


def _ranks(table: RankTable2) -> Tuple[Row, List[Row]]:
    layers = sorted({level.net_layer for rank in table.ranks for level in rank.levels})
    rows: List[Row] = []
    for rank in sorted(table.ranks, key=lambda one: one.rank_id):
        levels = {level.net_layer: level for level in rank.levels}
        local = str(rank.local_id)
        if rank.replaced_local_id is not None:
            local += localized(" (replaces {})", rank.replaced_local_id)
        networks: List[str] = []
        for layer in layers:
            level = levels.get(layer)
            networks.append(
                ""
                if level is None
                else "{}: {}".format(level.net_instance_id, _joined(level.addresses))
            )
        rows.append((str(rank.rank_id), local, str(rank.device_id), *networks))
    layers_ = (phrase("layer {}", one) for one in layers)
    return ("rank", "local", phrase("device"), *layers_), rows


def _joined(addresses: Iterable[Any]) -> str:
    return ", ".join("{} {}".format(one.addr, "+".join(one.ports)) for one in addresses)
