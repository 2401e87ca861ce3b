"""Jobs for ssh, Slurm and Kubernetes: what is written, and what it does with stand-ins."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest
import yaml

from npu_config.cluster import chief_job, launchers, rank_table, save_launchers, table_job
from npu_config.cluster.engines import pod
from npu_config.cluster.engines.kubernetes import (
    TABLE,
    kubernetes_objects,
    kubernetes_yaml,
)
from npu_config.cluster.engines.slurm import slurm_script
from npu_config.cluster.engines.ssh import ssh_script
from npu_config.cluster.rank_table.model import to_document
from npu_config.cluster.shell.check import check_script
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.target import Product

SHOW = "echo rank=$RANK_ID device=$ASCEND_DEVICE_ID of=${RANK_SIZE:-$CM_WORKER_SIZE} job=$JOB_ID"
COMMAND = ["bash", "-c", SHOW]


@pytest.fixture
def table(tmp_path):
    """A rank table of two servers with two devices, on disk."""
    built = rank_table.build(["10.0.0.1", "10.0.0.2"], 2, "10.20.0.2", "atlas_training")
    path = tmp_path / "rank_table.json"
    rank_table.save(built, path)
    return built, str(path)


def executable(path, text):
    """A program of the test's own."""
    path.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def run(arguments, **environ):
    """A command with further variables: code, output, errors."""
    done = subprocess.run(
        arguments,
        env={**os.environ, **environ},
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def syntax_is_right(text, path):
    """Bash takes the script, and so does our own check of launch scripts."""
    path.write_text(text, encoding="utf-8")
    assert run(["bash", "-n", str(path)])[0] == 0
    assert [each for each in check_script(text, str(path))[0] if each.severity.rank == 2] == []


# ssh


def ssh_folder(tmp_path, table, command):
    """Launchers of two servers, the script that starts them, and a stand-in for ssh and scp."""
    job = table_job(*table, "resnet")
    folder = tmp_path / "start"
    scripts = launchers(job, command)
    hosts = dict(zip(job.servers, scripts))
    save_launchers(
        {**scripts, "start_all.sh": ssh_script(hosts, table[1], "start_all.sh")}, folder
    )
    syntax_is_right((folder / "start_all.sh").read_text("utf-8"), tmp_path / "syntax.sh")
    ssh = executable(
        tmp_path / "ssh",
        """
        #!/bin/bash
        host=$1; shift
        trap 'kill $child; wait $child; exit 129' TERM
        SSH_HOST=$host bash -c "$*" & child=$!
        wait $child
        """,
    )
    return folder, {"NPU_SSH": ssh, "NPU_COPY": "none", "NPU_LAUNCH_GRACE": "2"}


def test_ssh_starts_every_server(tmp_path, table):
    """Every rank runs once, on its server, and its log is where the messages say."""
    folder, environ = ssh_folder(tmp_path, table, COMMAND)
    code, _, errors = run(["bash", str(folder / "start_all.sh")], **environ)
    assert code == 0, errors
    logs = sorted(folder.glob("npu_logs/*/rank_*.log"))
    lines = {path.name: path.read_text("utf-8").strip() for path in logs}
    assert lines == {
        "rank_{}.log".format(rank): "rank={} device={} of=4 job=resnet".format(rank, rank % 2)
        for rank in range(4)
    }
    assert sorted(path.name for path in folder.glob("npu_logs/*/10*")) == [
        "10.0.0.1.log",
        "10.0.0.2.log",
    ]


def test_ssh_stops_the_others(tmp_path, table):
    """One rank that fails ends all servers, and its code is the code of the whole."""
    command = ["bash", "-c", 'if [ "$RANK_ID" = 3 ]; then exit 7; else sleep 60; fi']
    folder, environ = ssh_folder(tmp_path, table, command)
    code, _, errors = run(["bash", str(folder / "start_all.sh")], **environ)
    assert code == 7, errors
    assert "10.0.0.2 ended with code 7" in errors


AT_START = """
trap '[ "${0##*/}" != start_all.sh ] || [ "$BASH_COMMAND" != "pids[i]=\\$!" ] || kill $$' DEBUG
"""


def test_ssh_gets_a_signal_while_it_starts(tmp_path, table):
    """The servers that were started are ended, and no more are started."""
    folder, environ = ssh_folder(tmp_path, table, ["sleep", "60"])
    (tmp_path / "at.sh").write_text(AT_START)
    start = ["bash", str(folder / "start_all.sh")]
    code, _, errors = run(start, BASH_ENV=str(tmp_path / "at.sh"), **environ)
    assert code == 143, errors
    assert ("10.0.0.1 ended" in errors, "10.0.0.2" in errors) == (True, False)


def test_ssh_copies_first(tmp_path, table):
    """Launchers and table are copied before anything starts; a failure says where."""
    folder, environ = ssh_folder(tmp_path, table, COMMAND)
    copy = executable(tmp_path / "scp", '#!/bin/bash\necho "$@" >> "$COPIED"\n[ "$FAIL" != 1 ]\n')
    environ.update(NPU_COPY=copy, COPIED=str(tmp_path / "copied"), NPU_DIRECTORY=str(folder))
    assert run(["bash", str(folder / "start_all.sh")], **environ)[0] == 0
    copied = (tmp_path / "copied").read_text("utf-8").splitlines()
    assert "launch_0_10.0.0.1.sh 10.0.0.1:{}/".format(folder) in copied
    assert "{0} 10.0.0.2:{0}".format(table[1]) in copied
    code, _, errors = run(["bash", str(folder / "start_all.sh")], FAIL="1", **environ)
    assert code == 2
    assert "cannot be copied to 10.0.0.1" in errors


# Slurm


def slurm(tmp_path, text, hosts, devices):
    """A batch script run with stand-ins of srun and scontrol: the output of its tasks."""
    script = tmp_path / "job.sbatch"
    syntax_is_right(text, script)
    tools = tmp_path / "bin"
    tools.mkdir()
    executable(
        tools / "srun",
        """
        #!/bin/bash
        while [ "${1#--}" != "$1" ]; do case $1 in --nodelist=*) only=${1#*=};; esac; shift; done
        if [ -n "$only" ]; then HOST=$only exec "$@"; fi
        rank=0; code=0
        for HOST in $HOSTS; do
          for ((i=0; i<$DEVICES; i++)); do
            HOST=$HOST SLURM_PROCID=$rank SLURM_LOCALID=$i "$@" || code=$?
            rank=$((rank+1))
          done
        done
        exit $code
        """,
    )
    executable(tools / "scontrol", '#!/bin/bash\nprintf "%s\\n" $HOSTS\n')
    executable(tools / "hostname", '#!/bin/bash\necho "$HOST "\n')
    return run(
        ["bash", str(script)],
        PATH="{}:{}".format(tools, os.environ["PATH"]),
        HOSTS=" ".join(hosts),
        DEVICES=str(devices),
        SLURM_NTASKS=str(len(hosts) * devices),
        SLURM_JOB_NODELIST="x",
    )


def test_slurm_with_a_table(tmp_path, table):
    """Ranks and devices are those of the table, whatever the order in which nodes are given."""
    text = slurm_script(table_job(*table, "resnet"), COMMAND)
    assert "#SBATCH --nodes=2\n" in text
    assert "#SBATCH --ntasks-per-node=2\n" in text
    code, output, errors = slurm(tmp_path, text, ["10.0.0.2", "10.0.0.1"], 2)
    assert (code, errors) == (0, "")
    assert output.splitlines() == [
        "rank={} device={} of=4 job=resnet".format(rank, rank % 2) for rank in (2, 3, 0, 1)
    ]


def test_slurm_on_a_strange_node(tmp_path, table):
    """A node that the table does not name says so and fails."""
    text = slurm_script(table_job(*table, "resnet"), COMMAND)
    code, _, errors = slurm(tmp_path, text, ["10.9.9.9"], 2)
    assert code == 2
    assert "is not a server of the rank table" in errors


def test_slurm_without_a_table(tmp_path):
    """The first node of the allocation is the master, and the size is Slurm's."""
    job = chief_job(["10.0.0.1", "10.0.0.2"], "resnet", devices=2)
    show = (
        "echo chief=$CM_CHIEF_IP worker=$CM_WORKER_IP device=$ASCEND_DEVICE_ID of=$CM_WORKER_SIZE"
    )
    text = slurm_script(job, ["bash", "-c", show])
    code, output, errors = slurm(tmp_path, text, ["10.0.0.7", "10.0.0.8"], 2)
    assert (code, errors) == (0, "")
    assert output.splitlines() == [
        "chief=10.0.0.7 worker={} device={} of=4".format(host, device)
        for host in ("10.0.0.7", "10.0.0.8")
        for device in (0, 1)
    ]


def test_slurm_refusals(table):
    """Servers of different sizes and a missing command are refused."""
    with pytest.raises(NpuConfigError, match="needs the command"):
        slurm_script(table_job(*table, "resnet"), [])
    uneven = chief_job(["10.0.0.1"], "x", devices=[0, 1, 2])
    uneven = uneven.__class__(
        (*uneven.processes, *chief_job(["10.0.0.2"], "x", devices=1).processes),
        uneven.common,
        uneven.absent,
    )
    with pytest.raises(NpuConfigError, match="same number"):
        slurm_script(uneven, ["x"])


# Kubernetes

POD = {
    "type": "object",
    "required": ["containers", "volumes"],
    "properties": {
        "restartPolicy": {"enum": ["Never", "Always", "OnFailure"]},
        "containers": {
            "type": "array",
            "items": {"type": "object", "required": ["name", "image", "command", "resources"]},
        },
    },
}
JOB = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "batch.volcano.sh/v1alpha1"},
        "kind": {"const": "Job"},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "minAvailable": {"type": "integer", "minimum": 1},
                "schedulerName": {"const": "volcano"},
                "policies": {
                    "items": {
                        "additionalProperties": False,
                        "required": ["event", "action"],
                        "properties": {
                            "event": {"enum": ["PodFailed", "PodEvicted", "TaskCompleted", "*"]},
                            "action": {"enum": ["AbortJob", "RestartJob", "CompleteJob"]},
                        },
                    }
                },
                "tasks": {
                    "items": {
                        "required": ["name", "replicas", "template"],
                        "properties": {
                            "template": {"required": ["spec"], "properties": {"spec": POD}}
                        },
                    }
                },
            },
        },
    },
}
"""The public schemas of a Volcano job and of a pod, as far as this job uses them."""


def objects(**changes):
    """The objects of a job of two servers."""
    given = {"name": "resnet", "servers": 2, "devices": 8, "image": "tf:1", "command": ["x"]}
    given.update(product=Product.ATLAS_TRAINING, extra={"HCCL_CONNECT_TIMEOUT": "600"})
    return kubernetes_objects(**{**given, **changes})


def test_kubernetes_objects():
    """The job has a pod for each server, with its devices, and the operator's ConfigMap."""
    jsonschema = pytest.importorskip("jsonschema")
    rings, launch, job = yaml.safe_load_all(kubernetes_yaml(objects()))
    jsonschema.validate(job, JOB)
    assert rings["metadata"]["name"] == "rings-config-resnet"
    assert rings["metadata"]["labels"] == {"ring-controller.atlas": "ascend-910"}
    assert json.loads(rings["data"]["hccl.json"]) == {"status": "initializing"}
    (task,) = job["spec"]["tasks"]
    assert (job["spec"]["minAvailable"], task["replicas"]) == (2, 2)
    (container,) = task["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"huawei.com/Ascend910": 8}
    assert container["command"] == ["python3", "/npu-launch/pod.py", "x"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["JOB_ID"] == "resnet"
    assert env["NPU_RANK_TABLE"] == TABLE
    assert env["HCCL_CONNECT_TIMEOUT"] == "600"
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    assert mounts == {volume["name"] for volume in task["template"]["spec"]["volumes"]}
    assert compile(launch["data"]["pod.py"], "pod.py", "exec")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Res_Net"}, "cannot be the name"),
        ({"command": []}, "needs the command"),
        ({"product": None}, "no resource name"),
        ({"product": Product.ATLAS_300I_DUO}, "no resource name"),
    ],
)
def test_kubernetes_refusals(change, message):
    """What Kubernetes or the operator would refuse is refused before."""
    with pytest.raises(NpuConfigError, match=message):
        objects(**change)


def pod_run(tmp_path, table, command, host="10.0.0.2", seconds="20", before=None):
    """What a pod does, as the job runs it: its text alone, without this package."""
    alone = tmp_path / "pod.py"
    shutil.copy(pod.__file__, str(alone))
    path = tmp_path / "hccl.json"
    path.write_text(before or json.dumps(table), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-I", str(alone), *command],
        env={
            **os.environ,
            "NPU_RANK_TABLE": str(path),
            "NPU_HOST_IP": host,
            "NPU_TABLE_SECONDS": seconds,
            "JOB_ID": "resnet",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ), path


def test_pod_starts_its_ranks(tmp_path, table):
    """A pod waits for the complete table and starts one process for each of its devices."""
    document = to_document(table[0])
    process, path = pod_run(
        tmp_path, document, COMMAND, before=json.dumps({"status": "initializing"})
    )
    time.sleep(0.5)
    assert process.poll() is None
    path.write_text(json.dumps(document), encoding="utf-8")
    output, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert sorted(output.decode().splitlines()) == [
        "rank={} device={} of=4 job=resnet".format(rank, rank - 2) for rank in (2, 3)
    ]


def test_pod_ends_together(tmp_path, table):
    """A rank that fails ends the others of its pod, and its code is the pod's."""
    document = to_document(table[0])
    command = ["bash", "-c", 'if [ "$RANK_ID" = 3 ]; then exit 5; else exec sleep 60; fi']
    process, _ = pod_run(tmp_path, document, command)
    process.communicate()
    assert process.returncode == 5


def test_pod_passes_signals_on(tmp_path, table):
    """What Kubernetes sends when it ends a pod reaches the ranks."""
    document = to_document(table[0])
    process, _ = pod_run(tmp_path, document, ["bash", "-c", "echo up; exec sleep 60"])
    assert process.stdout.readline() == b"up\n"
    assert process.stdout.readline() == b"up\n"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("host", "before", "message"),
    [
        ("10.9.9.9", None, b"does not name"),
        ("10.0.0.2", '{"status": "initializing"}', b"is not complete"),
        ("10.0.0.2", "not json", b"is not complete"),
    ],
)
def test_pod_without_its_table(tmp_path, table, host, before, message):
    """A table that does not come, or does not name the host, ends the pod with a reason."""
    document = to_document(table[0])
    process, _ = pod_run(tmp_path, document, COMMAND, host, "0", before)
    _, errors = process.communicate()
    assert process.returncode == 2
    assert message in errors
