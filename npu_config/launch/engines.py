"""Jobs as the texts that start them: bash scripts for servers, for ssh, for Slurm, and Kubernetes.

A launcher starts the processes of one server, each with its own environment and log file, and
waits for all.  When one ends badly, or the script gets a signal, it says which and how, ends the
others, and passes the code on.  ssh starts the launchers of all servers.  A batch script for Slurm
has the ranks as its tasks: with a rank table every task finds its server by the addresses of the
machine, and takes the rank of its device from the table; without one the ranks are Slurm's own
(``SLURM_PROCID``), and the first node of the allocation is the master.  A job for Volcano on
Kubernetes has a pod for each server.

What a person still has to do is on the page about distributed jobs.
Source: mind-cluster:docs/zh/scheduling (Volcano jobs, rings-config), volcano.sh/docs/vcjob.
"""

import json
import os
import pkgutil
import re
import shlex
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase, printable
from npu_config.core.paths import PathLike
from npu_config.core.versions import Product
from npu_config.launch.environment.job import Job
from npu_config.rank_table.building import refusal
from npu_config.rank_table.model import Process
from npu_config.text.files import write_atomic
from npu_config.text.plain_text import is_plain_yaml, is_utf8

_PART = lazy_pattern(r"@(\w+)@")


def filled_script(template: str, **parts: object) -> str:
    """A script of the folder ``scripts`` with each part in the place of its name (``@part@``)."""
    text = pkgutil.get_data(__package__, "scripts/{}.sh".format(template))
    assert text is not None
    return _PART.sub(lambda match: str(parts[match.group(1)]), text.decode("utf-8"))


def launcher_script(
    job: Job,
    processes: Sequence[Process],
    command: Sequence[str] = (),
    sources: Sequence[str] = (),
    name: str = "launch.sh",
) -> str:
    """The bash script that starts processes of one server.

    Args:
        job: the job.
        processes: those to start, e.g. ``job.of_server("node_0")``.
        command: what each process runs; arguments of the script replace it.
        sources: scripts that are sourced before, e.g. ``/usr/local/Ascend/cann/set_env.sh``.
        name: the name of the script, for its usage line.

    Raises:
        NpuConfigError: the ranks are certainly of several servers.
    """
    devices = [process.device_id for process in processes]
    if processes[0].server_id is None and len(set(devices)) != len(devices):
        raise refusal(
            "several ranks have the same device, so they belong to several servers, but a table "
            "of version 2.0 does not name servers",
            "choose the ranks of one server",
        )
    first = dict(job.variables(processes[0]))
    own = {"RANK_ID": "${ranks[$1]}", "ASCEND_DEVICE_ID": "${devices[$1]}"}
    pods = [process.pod_name for process in processes]
    if pods[0] is not None:
        own["POD_NAME"] = "${pods[$1]}"
    exports = [
        '  export {}="{}"'.format(variable, own[variable])
        if variable in own
        else "  export {}={}".format(variable, shlex.quote(text))
        for variable, text in first.items()
    ]
    return filled_script(
        "launcher",
        what=_what(job, processes),
        name=printable(shlex.quote(name)),
        usage="[COMMAND [ARGUMENT...]]" if command else "COMMAND [ARGUMENT...]",
        command=" ".join(map(shlex.quote, command)),
        ranks=" ".join(str(process.rank_id) for process in processes),
        devices=" ".join(map(str, devices)),
        pods="pods=({})\n".format(" ".join(shlex.quote(pod or "") for pod in pods))
        if pods[0] is not None
        else "",
        absent=" ".join(job.absent),
        exports="\n".join(exports),
        sources=sourcing(sources),
        table=filled_script("launcher_table") if "RANK_TABLE_FILE" in first else "",
    )


def sourcing(paths: Sequence[str]) -> str:
    """Lines for bash that source scripts, and end with code 2 when one cannot be read."""
    return "".join(filled_script("source", path=shlex.quote(path)) for path in paths)


def _what(job: Job, processes: Sequence[Process]) -> str:
    ranks = [process.rank_id for process in processes]
    span = str(ranks[0]) if len(ranks) == 1 else "{}-{}".format(min(ranks), max(ranks))
    server = processes[0].server_id
    return "Rank{} {} of {:,}{}, one process for each device.".format(
        "" if len(ranks) == 1 else "s",
        span,
        len(job.processes),
        "" if server is None else " on server {}".format(printable(server)),
    )


def launchers(
    job: Job,
    command: Sequence[str] = (),
    sources: Sequence[str] = (),
    processes: Optional[Sequence[Process]] = None,
) -> Dict[str, str]:
    """One script for each server of a job: file name to text.

    A version 2.0 table names no servers: give it the ranks of one.

    Args:
        job: the job.
        command: what each process runs; arguments of a script replace it.
        sources: scripts that are sourced before.
        processes: those to start; None: all of the job.
    """
    by_server: Dict[Optional[str], List[Process]] = {}
    for process in job.processes if processes is None else processes:
        by_server.setdefault(process.server_id, []).append(process)
    width = len(str(len(by_server) - 1))
    scripts = {}
    for number, (server, mine) in enumerate(by_server.items()):
        name = "launch.sh"
        if server is not None:
            safe = re.sub(r"[^A-Za-z0-9_.-]+", "_", server)[:64]
            name = "launch_{:0{}}_{}.sh".format(number, width, safe)
        scripts[name] = launcher_script(job, mine, command, sources, name)
    return scripts


def save_launchers(
    scripts: Dict[str, str], directory: PathLike, overwrite: bool = False
) -> Tuple[str, ...]:
    """Write scripts, executable; none is written when one of them exists already.

    Args:
        scripts: what :func:`launchers` made.
        directory: where to; it is made when it does not exist.
        overwrite: replace files that exist.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: a file exists and ``overwrite`` is False.
        OSError: a file cannot be written; it is not left half written.
    """
    paths = {name: os.path.join(os.fspath(directory), name) for name in scripts}
    for path in paths.values():
        if os.path.lexists(path) and not overwrite:
            message = "{} exists and is not overwritten"
            raise FileExistsError(message.format(path))
    os.makedirs(directory, exist_ok=True)
    for name, path in paths.items():
        write_atomic(path, scripts[name], overwrite)
        os.chmod(path, os.stat(path).st_mode | 0o111)
    return tuple(paths.values())


_HOST = re.compile(r"[^\s/-][^\s/]*\Z")


def ssh_script(scripts: Mapping[str, str], table: Optional[str], name: str) -> str:
    """The script that starts the launcher of every server.

    Args:
        scripts: host to the file name of its launcher.
        table: the rank table, which stands at the same path on every server; None without one.
        name: the name of the script, for its usage line.

    Raises:
        NpuConfigError: a server has a name that ssh would not take for one.
    """
    for host in scripts:
        if _HOST.match(host) is None:
            raise refusal(
                '"{}" is not the name or address of a machine that ssh could reach'.format(host),
                "name the servers in the rank table as they are reached",
            )
    return filled_script(
        "ssh",
        count=len(scripts),
        name=printable(shlex.quote(name)),
        hosts=" ".join(map(shlex.quote, scripts)),
        copies=" ".join(shlex.quote(_for_scp(host)) for host in scripts),
        scripts=" ".join(map(shlex.quote, scripts.values())),
        table=shlex.quote(table or ""),
    )


def _for_scp(host: str) -> str:
    """A server as scp wants it before the colon of a path."""
    return "[{}]".format(host) if ":" in host else host


def slurm_script(
    job: Job, command: Sequence[str], name: str = "job.sbatch", sources: Sequence[str] = ()
) -> str:
    """The batch script of a job.

    Args:
        job: the job; every server has the same number of devices, as ``--ntasks-per-node`` wants.
        command: what each rank runs.
        name: the name of the script, for its usage line.
        sources: scripts that are sourced on the first node; srun hands their variables to all.

    Raises:
        NpuConfigError: the servers differ in their number of devices, are not named, or there is
            no command.
    """
    if not command:
        raise refusal("a batch script needs the command of the ranks", "pass it after --")
    by_server: Dict[Optional[str], List[int]] = {}
    for number, process in enumerate(job.processes):
        by_server.setdefault(process.server_id, []).append(number)
    if None in by_server:
        raise refusal(
            "a rank table of version 2.0 names no servers, and Slurm starts by server",
            "convert the table, or start the ranks of each server with --to launcher",
        )
    counts = {len(numbers) for numbers in by_server.values()}
    if len(counts) != 1:
        raise refusal(
            "the servers have {} devices; Slurm starts the same number on each".format(
                " and ".join(map(str, sorted(counts)))
            ),
            "use the same number of devices on every server, or --to ssh",
        )
    common = {
        variable: text
        for variable, text in job.common.items()
        if not job.chief or variable not in ("CM_CHIEF_IP", "CM_WORKER_SIZE")
    }
    head = filled_script(
        "slurm",
        job_name=re.sub(r"[^A-Za-z0-9_.-]", "_", job.common["JOB_ID"]),
        nodes=len(by_server),
        devices=counts.pop(),
        name=printable(shlex.quote(name)),
        sources=sourcing(sources),
        absent=" ".join(job.absent),
        exports="\n".join(
            "export {}={}".format(variable, shlex.quote(text)) for variable, text in common.items()
        ),
    )
    words = " ".join(map(shlex.quote, command))
    if job.chief:
        return head + filled_script("slurm_chief", command=words)
    return head + filled_script("slurm_table", cases=_cases(job, by_server), command=words)


def _cases(job: Job, by_server: Dict[Optional[str], List[int]]) -> str:
    lines = []
    for server, numbers in by_server.items():
        processes = [job.processes[number] for number in numbers]
        lines.append(
            '      {}) ranks="{}" devices="{}" ;;'.format(
                _pattern(server or ""),
                " ".join(str(process.rank_id) for process in processes),
                " ".join(str(process.device_id) for process in processes),
            )
        )
    return "\n".join(lines)


def _pattern(text: str) -> str:
    """A text as a pattern of ``case`` inside single quotes: every character stands for itself."""
    return "".join(
        character if character.isalnum() or character in "._:-" else "?" for character in text
    )


TABLE_FOLDER = "/user/serverid/devindex/config"
TABLE = TABLE_FOLDER + "/hccl.json"
_LAUNCH_FOLDER = "/npu-launch"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?\Z")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_RING = "ring-controller.atlas"
_EXPANDED = re.compile(r"\$(?=[$(])")

RESOURCES: Mapping[Product, Tuple[str, str]] = {
    Product.ATLAS_TRAINING: ("huawei.com/Ascend910", "ascend-910"),
    Product.ATLAS_A2: ("huawei.com/Ascend910", "ascend-910b"),
}
"""Product to the name of its devices as a resource, and the value of the operator's label."""


def kubernetes_objects(
    name: str,
    servers: int,
    devices: int,
    image: str,
    command: Sequence[str],
    product: Optional[Product],
    extra: Optional[Mapping[str, str]] = None,
    namespace: str = "default",
    sources: Sequence[str] = (),
) -> List[Dict[str, Any]]:
    """The ConfigMaps and the Volcano job.

    Args:
        name: the name of the job; it is ``JOB_ID`` too.
        servers: how many pods.
        devices: how many devices each has.
        image: the container image with TensorFlow, the adapter and the training script.
        command: what each rank runs.
        product: decides the resource and the label.
        extra: further variables for every process.
        namespace: of all objects.
        sources: scripts of the image that are sourced before.

    Raises:
        NpuConfigError: a name that Kubernetes refuses, a product without such devices, or no
            command.
    """
    if _NAME.match(name) is None:
        raise refusal(
            '"{}" cannot be the name of a Kubernetes job'.format(name),
            "use lower-case letters, digits and -, at most 42 characters",
        )
    if _NAMESPACE.match(namespace) is None:
        raise refusal(
            phrase('"{}" cannot be a Kubernetes namespace', namespace),
            "use lower-case letters, digits and -, at most 63 characters",
        )
    if not image or re.search(r"\s", image):
        raise refusal(
            phrase('"{}" cannot be the name of a container image', image),
            "write the name of the image in its registry, without blanks",
        )
    if not command:
        raise refusal("a job needs the command of the ranks", "pass it after --")
    if product is None or product not in RESOURCES:
        raise refusal(
            "the resource name of the devices of {} is not known".format(
                "an unknown product" if product is None else product.value
            ),
            "specify --target: {}".format(", ".join(each.value for each in RESOURCES)),
        )
    for text in (image, *command, *sources, *(extra or {}).values()):
        if not is_utf8(text):
            raise refusal(phrase('"{}" is not UTF-8; YAML cannot contain it', text), "rename it")
    resource, ring = RESOURCES[product]
    labels = {_RING: ring}
    rings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rings-config-" + name, "namespace": namespace, "labels": labels},
        "data": {"hccl.json": json.dumps({"status": "initializing"})},
    }
    source = pkgutil.get_data(__package__, "pod.py")
    assert source is not None
    launch = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name + "-launch", "namespace": namespace},
        "data": {"pod.py": source.decode("utf-8")},
    }
    variables: List[Dict[str, Any]] = [
        {"name": variable, "value": _literal(text)}
        for variable, text in {"JOB_ID": name, "NPU_RANK_TABLE": TABLE, **(extra or {})}.items()
    ]
    for variable, field in (("NPU_HOST_IP", "status.hostIP"), ("NPU_NODE", "spec.nodeName")):
        variables.append({"name": variable, "valueFrom": {"fieldRef": {"fieldPath": field}}})
    start = ["python3", _LAUNCH_FOLDER + "/pod.py"]
    if sources:
        start = ["bash", "-c", sourcing(sources) + 'exec "$@"\n', "npu-launch", *start]
    container = {
        "name": "ascend",
        "image": image,
        "command": [_literal(word) for word in (*start, *command)],
        "env": variables,
        "resources": {"limits": {resource: devices}, "requests": {resource: devices}},
        "volumeMounts": [
            {"name": "rank-table", "mountPath": TABLE_FOLDER, "readOnly": True},
            {"name": "launch", "mountPath": _LAUNCH_FOLDER, "readOnly": True},
            {"name": "driver", "mountPath": "/usr/local/Ascend/driver", "readOnly": True},
            {"name": "memory", "mountPath": "/dev/shm"},
        ],
    }
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"npu-job": name}},
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
    pod = {
        "metadata": {"labels": {**labels, "npu-job": name}},
        "spec": {
            "restartPolicy": "Never",
            "affinity": apart,
            "containers": [container],
            "volumes": [
                {"name": "rank-table", "configMap": {"name": "rings-config-" + name}},
                {"name": "launch", "configMap": {"name": name + "-launch"}},
                {"name": "driver", "hostPath": {"path": "/usr/local/Ascend/driver"}},
                {"name": "memory", "emptyDir": {"medium": "Memory"}},
            ],
        },
    }
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "minAvailable": servers,
            "schedulerName": "volcano",
            "policies": [
                {"event": "PodFailed", "action": "AbortJob"},
                {"event": "TaskCompleted", "action": "CompleteJob"},
            ],
            "tasks": [{"name": "worker", "replicas": servers, "template": pod}],
        },
    }
    return [rings, launch, job]


def _literal(text: str) -> str:
    """A text of a container as Kubernetes has to get it, which fills in ``$(NAME)``.

    Source: kubernetes.io/docs, Container v1 core, ``command`` and ``env.value``.
    """
    return _EXPANDED.sub("$$", text)


def kubernetes_yaml(objects: Sequence[Mapping[str, Any]]) -> str:
    """The objects as one YAML text for ``kubectl apply``."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts of several lines stay such, to be read and edited; others are never numbers."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None if is_plain_yaml(value) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return str(yaml.dump_all(objects, Dumper=Dumper, sort_keys=False))
