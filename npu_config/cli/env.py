"""``npu-config env``: the environment that a job is launched with, and its check."""

import json
import os
from shlex import quote
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import click
from click.core import ParameterSource

from npu_config.cli._options import INPUT, form_option, missing, product_option, told_by
from npu_config.cli._output import DONE, FINDINGS, WRONG_CALL, Failure, deliver, say, unwritable
from npu_config.cli._report import (
    InputFile,
    fails,
    print_file_findings,
    read_side_file,
    refusals,
    table_of,
)
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import localized
from npu_config.readers import kind_of_suffix, suffix_of
from npu_config.reporters import FORMATS
from npu_config.text.source import attempted

FORMS = ("export", "dotenv", "json", "launcher", "ssh", "slurm", "kubernetes")
STARTING = FORMS[3:]
"""The forms that start a command."""

_CHOOSING, _CHECK = FORMS[:4], ("check",)
_FORMS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("rank", "server"), _CHOOSING),
    **dict.fromkeys(("image", "namespace"), ("kubernetes",)),
    **dict.fromkeys(("port", "chief_device"), FORMS[:-1]),
    **dict.fromkeys(("format_", "strict"), _CHECK),
    **dict.fromkeys(
        ("table_path", "workers", "job_id", "devices", "extra", "to", "out", "force"), FORMS
    ),
    "sources": STARTING,
}
"""Option to the forms that use it; those that are not here are used by all."""

_KINDS = {
    "table_path": "rank_table",
    **dict.fromkeys(("devices", "port", "chief_device"), "workers"),
}
"""Option to the one that it goes with."""


@click.command("env", context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="[FILE...|COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--check",
    "checking",
    is_flag=True,
    help=("Check environment variables instead of writing them."),
)
@click.option("--rank-table", metavar="FILE", type=INPUT, help="The rank table of the job.")
@click.option("--table-path", metavar="PATH", help="Path of the rank table on the servers.")
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="IP",
    help="A server of a job without a rank table; the first one is the master.  Repeatable.",
)
@click.option("--job-id", metavar="NAME", help="The name of the job.")
@click.option(
    "--devices",
    default="8",
    show_default=True,
    metavar="N|LIST",
    help="With --worker: the number of devices of each server, or a list of them.",
)
@click.option("--port", type=int, default=60001, show_default=True, help="The master's port.")
@click.option(
    "--chief-device",
    type=int,
    help=("With --worker: the device of the master that acts as chief."),
)
@click.option(
    "--set",
    "extra",
    multiple=True,
    metavar="NAME=VALUE",
    help="An additional environment variable.",
)
@click.option("--rank", metavar="N|LIST", help="Only the processes of these ranks: 3 or 0-7.")
@click.option("--server", metavar="NAME", help="Only the processes of this server.")
@click.option(
    "--to",
    type=click.Choice(FORMS),
    default="export",
    show_default=True,
    help="Output format: lines for a shell, a file of variables, JSON, bash scripts that start "
    "all processes, or files that start the processes on all servers with ssh, Slurm or "
    "Kubernetes.",
)
@click.option("--image", metavar="NAME", help="With --to kubernetes: the container image.")
@click.option(
    "--namespace",
    default="default",
    show_default=True,
    help=("With --to kubernetes: the namespace of the job."),
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="SCRIPT",
    help=(
        "With a format that starts the job: a script to source first, e.g. the toolkit's "
        "set_env.sh."
    ),
)
@form_option("With --check: how the findings are printed.", tuple(FORMATS))
@click.option("--strict", is_flag=True, help="With --check: fail on warnings, too.")
@product_option
@click.option(
    "-o",
    "--output",
    "out",
    metavar="FILE|DIRECTORY",
    help="The output file; a directory for launchers of several servers.",
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
def command(**given: Any) -> int:
    """Write the exact environment of each process of a job, or check an environment.

    \b
    npu-config env --rank-table rank_table.json --job-id resnet --rank 0
    npu-config env --rank-table rank_table.json --job-id resnet --to launcher -o . \\
        -- python3 train.py
    npu-config env --worker 10.0.0.1 --worker 10.0.0.2 --job-id resnet --to launcher -o .
    npu-config env --check
    npu-config env --check rank0.env rank1.env --rank-table rank_table.json

    With --check: check the environment of this command and the files that it names, or files of
    variables; those of several processes are compared.  Exit code 0: no errors; 1: errors were
    found; 2: wrong usage.
    """
    ctx = click.get_current_context()
    _refuse_ignored(ctx, given)
    if given["checking"]:
        return _check(given)
    _write(given)
    return DONE


def _refuse_ignored(ctx: click.Context, given: Dict[str, Any]) -> None:
    """Refuse options that have no effect."""
    form = "check" if given["checking"] else given["to"]
    for option in ctx.command.params:
        name = option.name or ""
        forms, kind = _FORMS.get(name, (form,)), _KINDS.get(name)
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if form not in forms:
            here = "--check" if given["checking"] else "--to " + form
            others = "--check" if forms is _CHECK else "--to " + "|".join(forms)
            raise click.UsageError(
                localized(
                    "{0} has no effect with {1}; use {0} with {2}", option.opts[0], here, others
                )
            )
        if kind is not None and not given[kind]:
            needed = kind.rstrip("s").replace("_", "-")
            raise click.UsageError(localized("{} requires --{}", option.opts[0], needed))


def _check(given: Dict[str, Any]) -> int:
    from npu_config.core.target import Target
    from npu_config.launch.environment import check as envcheck
    from npu_config.launch.environment import dotenv
    from npu_config.launch.environment.variables import VARIABLES

    target = Target.named(given["product"])
    files: Tuple[str, ...] = given["words"]
    sources: List[InputFile] = []
    names = set(os.environ)
    if not files:
        environ = dict(os.environ)
        if given["rank_table"] is not None:
            environ["RANK_TABLE_FILE"] = given["rank_table"]
        found: List[Diagnostic] = []
        found.extend(attempted(found, None, envcheck.check_host, environ, target) or ())
        named = environ.get("RANK_TABLE_FILE")
        sources = [read_side_file(named)] if named and os.path.isfile(named) else []
    else:
        table = None
        if given["rank_table"] is not None:
            table = table_of(given["rank_table"], given["product"], for_hccl=True)
        sources = [read_side_file(path) for path in dict.fromkeys(files)]
        found = [each for source in sources for each in source.diagnostics]
        texts = {each.name: each.text for each in sources if each.text is not None}
        parsed = {}
        for name, text in texts.items():
            one = attempted(found, name, dotenv.parse_dotenv, text, name)
            if one is not None:
                parsed[name] = one
        found.extend(each for one in parsed.values() for each in one.diagnostics)
        variables = {name: dotenv.as_shell(one.variables) for name, one in parsed.items()}
        places = {name: one.places for name, one in parsed.items()}
        check = envcheck.check_job
        found.extend(attempted(found, None, check, variables, target, table, places) or ())
        names = {name for each in variables.values() for name in each}
    report = print_file_findings(found, sources, given["format_"])
    for name in sorted({each.path for each in found if each.rule == "NPU690" and each.path}):
        if kind_of_suffix(suffix_of(name)) == "shell":
            text = "{} is a launch script; npu-config check {} reads all of it, as bash does\n"
            say(localized(text, name, quote(name)), err=True)
    if not found and all(name.startswith("PYTHON") for name in names.intersection(VARIABLES)):
        say("no environment variable of an NPU job is set\n", err=True)
    if missing(files):
        return WRONG_CALL
    return FINDINGS if fails(report, given["strict"]) else DONE


def _is_same(one: Optional[str], two: Optional[str]) -> bool:
    return None not in (one, two) and os.path.exists(one) and os.path.samefile(one, two)  # type: ignore[arg-type]


def _write(given: Dict[str, Any]) -> None:
    from npu_config.core.diagnostics import Severity
    from npu_config.core.target import Target
    from npu_config.launch.environment import job as environment
    from npu_config.rank_table import building

    if bool(given["workers"]) == (given["rank_table"] is not None):
        raise click.UsageError("use either --rank-table or --worker (or --check)")
    if not given["job_id"]:
        raise click.UsageError("set --job-id: the distributed optimizers need it")
    if "" in given["words"][:1] or "" in given["sources"]:
        raise click.UsageError("the command is empty")
    if given["words"] and given["to"] not in STARTING:
        raise click.UsageError(
            localized("a command is only accepted with --to {}", "|".join(STARTING))
        )
    if not given["words"] and given["to"] in ("slurm", "kubernetes"):
        raise click.UsageError(
            localized(
                "--to {} requires the command that each rank runs: pass it after --", given["to"]
            )
        )
    if _is_same(given["out"], given["rank_table"]):
        raise click.UsageError("--output is the path of the rank table itself; pass another path")
    if given["rank"] is not None and given["server"] is not None:
        raise click.UsageError("use --rank or --server, not both")
    described = building.cluster_description
    with refusals(of_call=described if given["workers"] else None):
        job = _job(given)
        found = environment.judge(job, Target.named(given["product"]))
        loud = [each for each in found if each.severity is not Severity.INFO]
        if loud:
            print_file_findings(loud, err=True)
        with refusals(of_call=described):
            chosen = _chosen(job, given)
        if given["to"] == "launcher":
            _launchers(job, chosen, given)
        elif given["to"] in STARTING:
            _ENGINES[given["to"]](job, given)
        else:
            deliver(_text(job, chosen, given), given["out"], given["force"])


def _job(given: Dict[str, Any]) -> Any:
    from npu_config.core.target import Target
    from npu_config.launch.environment import job as environment
    from npu_config.rank_table import building

    extra = told_by("--set", building.assignments, given["extra"])
    if given["workers"]:
        return environment.chief_job(
            told_by("--worker", building.distinct, given["workers"]),
            given["job_id"],
            given["port"],
            given["chief_device"],
            told_by("--devices", building.device_choice, given["devices"]),
            extra,
            given["product"],
        )
    path = given["rank_table"]
    if path == "-" and given["table_path"] is None:
        raise click.UsageError("set --table-path: the path of the rank table on the servers")
    table = table_of(path, given["product"], for_hccl=True)
    where = given["table_path"] or os.path.abspath(path)
    target = Target.named(given["product"])
    return environment.table_job(table, where, given["job_id"], extra, target)


def _chosen(job: Any, given: Dict[str, Any]) -> Any:
    from npu_config.rank_table import building

    if given["rank"] is not None:
        return tuple(map(job.process, told_by("--rank", building.numbers, given["rank"])))
    if given["server"] is not None:
        return job.of_server(given["server"])
    return job.processes


def _text(job: Any, chosen: Any, given: Dict[str, Any]) -> str:
    from npu_config.launch.environment import job as environment

    if given["to"] == "json":
        processes = [
            {
                "rank": process.rank_id,
                "server": process.server_id,
                "environment": job.variables(process),
                "unset": list(job.absent),
            }
            for process in chosen
        ]
        return json.dumps(processes, indent=2) + "\n"
    if len(chosen) != 1:
        raise click.UsageError(
            localized(
                "there are {} processes: choose one with --rank, or use --to json or --to "
                "launcher",
                len(chosen),
            )
        )
    write = environment.export_lines if given["to"] == "export" else environment.dotenv_text
    return write(job, chosen[0])


def _launchers(job: Any, chosen: Any, given: Dict[str, Any]) -> None:
    from npu_config.launch import engines

    command, sources, out = given["words"], given["sources"], given["out"]
    servers = {process.server_id for process in chosen}
    if len(servers) == 1 and (out is None or not os.path.isdir(out)):
        name = os.path.basename(out) if out else "launch.sh"
        deliver(engines.launcher_script(job, chosen, command, sources, name), out, given["force"])
        return
    if out is None:
        raise click.UsageError(
            localized(
                "there are {} servers: pass a directory with -o, or choose one server with "
                "--server",
                len(servers),
            )
        )
    scripts = engines.launchers(job, command, sources, chosen)
    _save(scripts, given)


def _save(scripts: Dict[str, str], given: Dict[str, Any]) -> None:
    from npu_config.launch import engines

    out = given["out"]
    taken = [
        path for path in (os.path.join(out, name) for name in scripts) if os.path.lexists(path)
    ]
    if taken and not given["force"]:
        raise Failure("{} exists; --force overwrites it", ", ".join(taken))
    try:
        for path in engines.save_launchers(scripts, out, given["force"]):
            say(path + "\n")
    except OSError as error:
        raise Failure(unwritable(out, error)) from None


def _ssh(job: Any, given: Dict[str, Any]) -> None:
    from npu_config.launch import engines

    if given["out"] is None:
        raise click.UsageError("pass a directory with -o: a script is written for every server")
    if None in job.servers:
        raise click.UsageError("a rank table of version 2.0 names no servers to log in to")
    scripts = engines.launchers(job, given["words"], given["sources"])
    hosts = dict(zip((str(server) for server in job.servers), scripts))
    scripts["start_all.sh"] = engines.ssh_script(
        hosts, job.common.get("RANK_TABLE_FILE"), "start_all.sh"
    )
    _save(scripts, given)


def _slurm(job: Any, given: Dict[str, Any]) -> None:
    from npu_config.launch.engines import slurm_script

    name = os.path.basename(given["out"]) if given["out"] else "job.sbatch"
    script = slurm_script(job, given["words"], name, given["sources"])
    deliver(script, given["out"], given["force"])


def _kubernetes(job: Any, given: Dict[str, Any]) -> None:
    from npu_config.core.target import Target
    from npu_config.launch.engines import kubernetes_objects, kubernetes_yaml
    from npu_config.rank_table import building

    if given["image"] is None:
        raise click.UsageError("set --image: the container image in which the ranks run")
    if given["product"] is None:
        raise click.UsageError("set --target: the names of the devices depend on it")
    counts = {len(job.of_server(server)) for server in job.servers}
    if len(counts) != 1:
        raise click.UsageError(
            "all pods must have the same number of devices, but the servers differ"
        )
    objects = told_by(
        "--to kubernetes",
        kubernetes_objects,
        given["job_id"],
        len(job.servers),
        counts.pop(),
        given["image"],
        given["words"],
        Target(product=given["product"]).product,
        building.assignments(given["extra"]),
        given["namespace"],
        given["sources"],
    )
    deliver(kubernetes_yaml(objects), given["out"], given["force"])


_ENGINES = {"ssh": _ssh, "slurm": _slurm, "kubernetes": _kubernetes}
