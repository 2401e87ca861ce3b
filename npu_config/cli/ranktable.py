"""``npu-config ranktable``: build, check, convert, merge and show rank tables."""

import os
import socket
from dataclasses import replace
from typing import Any, Dict, Iterable, Iterator, Optional, Tuple

import click

from npu_config.cli._language import CommandGroup
from npu_config.cli._options import (
    form_option,
    missing,
    out_options,
    product_option,
    together,
    told_by,
)
from npu_config.cli._output import Failure, deliver, say
from npu_config.cli._report import (
    InputFile,
    check_files,
    format_option,
    print_file_findings,
    read_side_file,
    refusals,
    strict_option,
    table_of,
    tables_of,
)
from npu_config.core.message import localized

HCCN_CONF = "/etc/hccn.conf"


_super_node_options = together(
    click.option(
        "--super-pod",
        "super_pods",
        multiple=True,
        metavar="POD=SERVER,SERVER...",
        help="A super node and the servers in it (version 1.2).",
    ),
    click.option(
        "--sdid",
        "sdids",
        multiple=True,
        metavar="SERVER=ID,ID...",
        help="The SDIDs of a server's devices, in order (npu-smi info -t spod-info).",
    ),
)


@click.group("ranktable", cls=CommandGroup)
def command() -> None:
    """Build, check, convert, merge and show rank tables of HCCL."""


@command.command("build")
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="NAME",
    help=("The name of a server; repeat the option for each server, in rank order."),
)
@click.option(
    "--devices",
    default="8",
    show_default=True,
    metavar="N|LIST",
    help="The number of devices of each server, or a list of them: 0-3,6.",
)
@click.option(
    "--device-ips",
    metavar="FIRST|NETWORK|LIST",
    help="Addresses in rank order: the first of consecutive ones, a network (10.20.0.0/16), "
    "or a list joined by commas.",
)
@click.option(
    "--hccn-conf",
    "hccn_confs",
    multiple=True,
    metavar="SERVER=FILE",
    help="Read the devices and addresses of a server from a copy of its /etc/hccn.conf.",
)
@click.option(
    "--local",
    metavar="SERVER",
    help="Use the devices and addresses of this machine, under this name ('' for the host name).",
)
@click.option(
    "--host-ip", "host_ips", multiple=True, metavar="SERVER=IP", help="The IP address of a host."
)
@_super_node_options
@click.option(
    "--device-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="The port of every device.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="LAYER",
    help='A network layer of version 2.0: "layer=0;id=rack{server};first=172.16.0.1;ports=1/0".',
)
@click.option(
    "--table-version",
    type=click.Choice(["1.0", "1.2", "2.0"]),
    help="The version of the rank table.",
)
@product_option
@out_options
@click.pass_context
def build_command(
    ctx: click.Context,
    servers: Tuple[str, ...],
    devices: str,
    device_ips: Optional[str],
    hccn_confs: Tuple[str, ...],
    local: Optional[str],
    host_ips: Tuple[str, ...],
    super_pods: Tuple[str, ...],
    sdids: Tuple[str, ...],
    device_port: Optional[int],
    layers: Tuple[str, ...],
    table_version: Optional[str],
    product: Optional[str],
    out: Optional[str],
    force: bool,
) -> None:
    """Build a rank table from a short description.

    \b
    npu-config ranktable build --server 10.0.0.1 --server 10.0.0.2 \\
        --device-ips 10.20.0.2 --target atlas_training -o rank_table.json
    """
    from npu_config.rank_table import building, conversion

    if not layers and (product == "ascend_950" or table_version == "2.0"):
        raise click.UsageError(
            "a table of version 2.0 (ascend_950) needs network layers: set --layer"
        )
    of_ranks = bool(layers)
    if of_ranks:
        _only_for_servers(ctx, product, table_version)
    if not (servers or (not of_ranks and (hccn_confs or local is not None))):
        raise click.UsageError("there is no server: set --server (or --hccn-conf, --local)")
    told_by("--server", building.distinct, servers)
    choice = told_by("--devices", building.device_choice, devices)
    networks = [told_by("--layer", building.layer, text) for text in layers]
    hosts = told_by("--host-ip", building.assignments, host_ips)
    pods = told_by("--super-pod", building.super_nodes, super_pods)
    ids = told_by("--sdid", building.lists, sdids)
    from_files = bool(hccn_confs) or local is not None
    with refusals(of_call=None if from_files else building.cluster_description):
        if of_ranks:
            table: Any = building.build_ranks(len(servers), networks, choice, device_port)
        else:
            known = _addresses(hccn_confs, local)
            plans = told_by(
                "--server", building.server_plans, servers, known, choice, hosts, pods, ids
            )
            addresses = building.device_addresses(device_ips)
            table = building.build(plans, choice, addresses, product, table_version, device_port)
            tell_if_any(
                (*building.doubtful(addresses, table), *conversion.missing_super_nodes(table))
            )
    tell_warnings(table, product)
    _deliver(table, out, force)


def _only_for_servers(
    ctx: click.Context, product: Optional[str], table_version: Optional[str]
) -> None:
    """Refuse what says nothing in a table of version 2.0."""
    names = ("device_ips", "hccn_confs", "local", "host_ips", "super_pods", "sdids")
    given = [name for name in names if ctx.params[name]]
    if given:
        raise click.UsageError(
            localized(
                "version 2.0 takes its addresses from --layer; remove --{}",
                given[0].rstrip("s").replace("_", "-").replace("device-ip", "device-ips"),
            )
        )
    if product not in (None, "ascend_950") or table_version not in (None, "2.0"):
        raise click.UsageError("--layer requires version 2.0, which is for ascend_950")


def tell_warnings(table: Any, product: Optional[str]) -> None:
    """Print to standard error what is worth knowing about a table without errors."""
    from npu_config import rank_table
    from npu_config.core.target import Target

    tell_if_any(rank_table.check(table, Target.named(product)))


def tell_if_any(found: Iterable[Any]) -> None:
    """Print findings to standard error, when there are any."""
    found = list(found)
    if found:
        print_file_findings(found, err=True)


def _deliver(table: Any, out: Optional[str], force: bool) -> None:
    """Write a table; a name that no job can read it by is told."""
    from npu_config import rank_table
    from npu_config.launch.environment.kinds import TABLE_PATH

    deliver(rank_table.render(table), out, force)
    if out is not None and TABLE_PATH.problem_of(os.path.abspath(out)) is not None:
        legal = TABLE_PATH.describe()
        say(localized("{}: RANK_TABLE_FILE must be {} (NPU670)\n", out, legal), err=True)


def _addresses(hccn_confs: Tuple[str, ...], local: Optional[str]) -> Dict[str, Dict[int, str]]:
    """Server to the addresses of its devices."""
    from npu_config.rank_table import building

    files = told_by("--hccn-conf", building.assignments, hccn_confs)
    addresses = {name: _hccn(path) for name, path in files.items()}
    if local is not None:
        name = local or socket.gethostname()
        try:
            present = building.device_numbers(os.listdir("/dev"))
        except OSError as error:
            raise Failure("/dev cannot be read: {}", error.strerror) from None
        known = _hccn(HCCN_CONF)
        missing = [number for number in present if number not in known]
        if not present or missing:
            raise Failure(
                localized("{} has no address for device {}", HCCN_CONF, missing[0])
                if missing
                else "this machine has no device: there is no /dev/davinci*"
            )
        addresses[name] = {number: known[number] for number in present}
    return addresses


def _hccn(path: str) -> Dict[int, str]:
    from npu_config.rank_table import building

    if missing([path]):
        raise Failure("{} does not exist", path)
    source = read_side_file(path)
    parsed = None if source.text is None else building.parse_hccn(source.text, source.name)
    found = source.diagnostics if parsed is None else tuple(parsed.diagnostics)
    if found:
        print_file_findings(found, [source], err=True)
        raise click.exceptions.Exit(1)
    assert parsed is not None
    if not parsed.model:
        raise Failure("{} has no line address_N=...", path)
    return parsed.model


@command.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_option
@strict_option
@click.option(
    "--hccn-conf",
    "hccn_confs",
    multiple=True,
    metavar="SERVER=FILE",
    help="Compare the addresses of a server with its /etc/hccn.conf.",
)
@product_option
def check_command(
    paths: Tuple[str, ...],
    format_: str,
    strict: bool,
    hccn_confs: Tuple[str, ...],
    product: Optional[str],
) -> int:
    """Check rank tables (- for standard input) and report what is wrong, and where.

    Exit code 0: no errors (with --strict: no warnings either); 1: otherwise; 2: wrong usage.
    """
    from npu_config import rank_table
    from npu_config.core.target import Target
    from npu_config.rank_table import building
    from npu_config.rank_table.model import RankTable

    files = told_by("--hccn-conf", building.assignments, hccn_confs)
    machines = {name: _hccn(path) for name, path in files.items()}

    def judge(source: InputFile) -> Iterator[Any]:
        parsed = rank_table.parse(source.text or "", source.name, Target.named(product))
        yield from parsed.diagnostics
        for name, addresses in machines.items():
            if isinstance(parsed.model, RankTable):
                wrong = building.check_addresses_of(parsed.model, name, addresses)
                yield from (replace(each, path=source.name) for each in wrong)

    return check_files(paths, judge, format_, strict)


@command.command("convert")
@click.argument("path", metavar="PATH")
@click.option(
    "--to",
    "version",
    type=click.Choice(["1.0", "1.2", "2.0"]),
    default="1.0",
    show_default=True,
    help="The version of the new rank table.",
)
@_super_node_options
@product_option
@out_options
def convert_command(
    path: str,
    version: str,
    super_pods: Tuple[str, ...],
    sdids: Tuple[str, ...],
    product: Optional[str],
    out: Optional[str],
    force: bool,
) -> None:
    """Convert a rank table to another version (- for standard input).

    Template 2 becomes version 1.0, with the ranks that HCCL assigns; 1.0 becomes 1.2 with
    --super-pod and --sdid; a table of the same version is written in canonical form, without
    comments.  Keys that HCCL does not read are kept; a field that the new version does not have
    is dropped and reported.
    """
    from npu_config.core.target import Target
    from npu_config.rank_table import building
    from npu_config.rank_table import conversion as convert

    if version != "1.2" and (super_pods or sdids):
        raise click.UsageError("--super-pod and --sdid require --to 1.2")
    table = table_of(path)
    pods = told_by("--super-pod", building.super_nodes, super_pods)
    ids = told_by("--sdid", building.lists, sdids)
    with refusals():
        new = convert.convert(table, version, pods, ids, Target.named(product))
    made = () if getattr(table, "version", None) == version else convert.missing_super_nodes(new)
    tell_if_any((*convert.not_held(table), *made))
    _deliver(new, out, force)


@command.command("merge")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@product_option
@out_options
def merge_command(
    paths: Tuple[str, ...],
    product: Optional[str],
    out: Optional[str],
    force: bool,
) -> None:
    """Merge the rank tables of several servers into one, e.g. those that hccl_tools wrote.

    Ranks are numbered file by file, in the order given.  All tables must have the same version
    and different servers.

    \b
    npu-config ranktable merge node_0.json node_1.json --target atlas_training -o all.json
    """
    from npu_config import rank_table
    from npu_config.core.target import Target

    tables = zip(paths, tables_of(paths))
    with refusals():
        merged, lost = rank_table.merge(tables, Target.named(product))
    tell_if_any(lost)
    _deliver(merged, out, force)


@command.command("show")
@click.argument("path", metavar="PATH")
@form_option("How the table is printed.")
def show_command(path: str, format_: str) -> None:
    """Print the ranks of a rank table (- for standard input) with their servers and networks.

    One row for each rank: server, device, address; super node and SDID in version 1.2; pod in
    template 2, numbered as HCCL numbers them; every network layer in version 2.0.
    """
    import json

    from npu_config.rank_table.model import facts, show

    table = table_of(path)
    if format_ == "json":
        say(json.dumps({"format": 1, **facts(table)}, indent=2, ensure_ascii=False) + "\n")
    else:
        say(_printable(show(table)))


def _printable(text: str) -> str:
    """The text without control characters that its values may have brought."""
    return "".join(c if c.isprintable() or c == "\n" else "\\x{:02x}".format(ord(c)) for c in text)
