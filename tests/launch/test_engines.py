"""Jobs for ssh, Slurm and Kubernetes: what is written, and what it does with stand-ins."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest
import yaml

from npu_config import rank_table
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.versions import Product
from npu_config.launch import chief_job, launchers, pod, save_launchers, table_job
from npu_config.launch.engines import (
    TABLE,
    kubernetes_objects,
    kubernetes_yaml,
    slurm_script,
    ssh_script,
)
from npu_config.launch.shell.check import check_script
from npu_config.rank_table.model import to_document

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


def run(arguments, cwd=None, **environ):
    """A command with further variables: code, output, errors."""
    done = subprocess.run(
        arguments,
        cwd=None if cwd is None else str(cwd),
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


def ssh_job(tmp_path, table, command, servers=None):
    """A folder `start` as `--to ssh -o start` writes it, and a stand-in for ssh.

    Every server sees the files of this machine, except for the folder OWN: each has its own.
    """
    job = table_job(*table, "resnet")
    folder = tmp_path / "start"
    scripts = launchers(job, command)
    hosts = dict(zip(servers or job.servers, scripts))
    save_launchers(
        {**scripts, "start_all.sh": ssh_script(hosts, table[1], "start_all.sh")}, folder
    )
    syntax_is_right((folder / "start_all.sh").read_text("utf-8"), tmp_path / "syntax.sh")
    ssh = executable(
        tmp_path / "ssh",
        """
        #!/bin/bash
        host=$1; shift
        command=$*
        [ -z "$OWN" ] || command=${command//$OWN/$ROOT\\/$host}
        trap 'kill $!; wait $!; exit 129' TERM
        SSH_HOST=$host bash -c "$command" &
        wait $!
        """,
    )
    copy = executable(
        tmp_path / "scp",
        """
        #!/bin/bash
        echo "$@" >>"$COPIED"
        [ "$FAIL" != 1 ] || exit 1
        paths=()
        for word in "$@"; do
          if [[ $word == *:$OWN/* ]]; then
            host=${word%%:/*}; host=${host#[}; word=$ROOT/${host%]}${word#*:$OWN}
          fi
          paths+=("$word")
        done
        [ "$FAIL" != fetch ] || [ "$1" != -r ] || exit 1
        cp "${paths[@]}"
        """,
    )
    environ = {"NPU_SSH": ssh, "NPU_COPY": copy, "NPU_LAUNCH_GRACE": "2"}
    environ.update(COPIED=str(tmp_path / "copied"), ROOT=str(tmp_path / "root"))
    return ["bash", str(folder / "start_all.sh")], environ


def copied(tmp_path):
    """What the stand-in for scp was asked to copy, without the name of this run."""
    path = tmp_path / "copied"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [re.sub(r"npu_logs/[0-9_]+", "LOGS", line) for line in lines]


def lines_of(folder, pattern):
    """The last lines of log files, by path below the folder of the run."""
    (run_folder,) = folder.glob("npu_logs/*")
    return {
        str(path.relative_to(run_folder)): path.read_text("utf-8").strip()
        for path in run_folder.glob(pattern)
    }


def ranks_of_two_servers():
    """What each of four ranks says, by the name of its log."""
    said = "rank={} device={} of=4 job=resnet"
    return {"rank_{}.log".format(rank): said.format(rank, rank % 2) for rank in range(4)}


@pytest.mark.parametrize("none", [False, True])
def test_ssh_in_a_shared_folder(tmp_path, table, none):
    """Every rank runs once, and where the folder is the same one nothing is copied over itself."""
    start, environ = ssh_job(tmp_path, table, COMMAND)
    environ.update({"NPU_COPY": "none"} if none else {})
    code, _, errors = run(start, cwd=tmp_path, **environ)
    assert code == 0, errors
    assert copied(tmp_path) == []
    assert lines_of(tmp_path, "**/rank_*.log") == ranks_of_two_servers()
    assert sorted(lines_of(tmp_path, "10*.log")) == ["10.0.0.1.log", "10.0.0.2.log"]


def test_ssh_with_folders_apart(tmp_path, table):
    """Launchers are copied to folders that are made, and log files fetched, for IPv6 too."""
    start, environ = ssh_job(tmp_path, table, COMMAND, ["10.0.0.1", "fd00::2"])
    environ.update(OWN="/srv/job", NPU_DIRECTORY="/srv/job")
    code, _, errors = run(start, cwd=tmp_path, **environ)
    assert code == 0, errors
    assert copied(tmp_path) == [
        "LOGS/launch_0_10.0.0.1.sh 10.0.0.1:/srv/job/LOGS/",
        "LOGS/launch_1_10.0.0.2.sh [fd00::2]:/srv/job/LOGS/",
        "-r 10.0.0.1:/srv/job/LOGS LOGS/10.0.0.1",
        "-r [fd00::2]:/srv/job/LOGS LOGS/fd00::2",
    ]
    ranks = ranks_of_two_servers()
    servers = ["10.0.0.1", "10.0.0.1", "fd00::2", "fd00::2"]
    assert lines_of(tmp_path, "**/rank_*.log") == {
        "{}/{}".format(server, name): text for server, (name, text) in zip(servers, ranks.items())
    }


def test_ssh_without_its_logs(tmp_path, table):
    """Log files that cannot be fetched are no success."""
    start, environ = ssh_job(tmp_path, table, COMMAND)
    environ.update(OWN="/srv/job", NPU_DIRECTORY="/srv/job", FAIL="fetch")
    code, _, errors = run(start, cwd=tmp_path, **environ)
    assert (code, "the log files of 10.0.0.2 cannot be fetched" in errors) == (2, True)


def test_ssh_copies_a_table_that_differs(tmp_path, table):
    """The table goes to servers that have none or another, into a folder that is made."""
    path = tmp_path / "data" / "table.json"
    path.parent.mkdir()
    shutil.copy(table[1], str(path))
    start, environ = ssh_job(tmp_path, (table[0], str(path)), COMMAND)
    environ.update(OWN=str(path.parent))
    theirs = tmp_path / "root" / "10.0.0.2" / "table.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}")
    calls = ["{0} {1}:{0}".format(path, server) for server in ("10.0.0.1", "10.0.0.2")]
    for _ in range(2):  # the second time both have it
        code, _, errors = run(start, cwd=tmp_path, **environ)
        assert (code, copied(tmp_path)) == (0, calls), errors
    assert theirs.read_text("utf-8") == path.read_text("utf-8")


def test_ssh_runs_where_it_is_called(tmp_path, table):
    """The documented line finds a script of the folder that holds `start`."""
    (tmp_path / "train.sh").write_text("echo trained\n")
    environ = ssh_job(tmp_path, table, ["bash", "train.sh"])[1]
    code, _, errors = run(["bash", "start/start_all.sh"], cwd=tmp_path, **environ)
    assert code == 0, errors
    assert set(lines_of(tmp_path, "rank_*.log").values()) == {"trained"}
    assert sorted(path.name for path in (tmp_path / "start").iterdir()) == [
        "launch_0_10.0.0.1.sh",
        "launch_1_10.0.0.2.sh",
        "start_all.sh",
    ]


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "node 0", "a/b", ""])
def test_ssh_refuses_names(name):
    """A name that ssh would take for an option, or that is no file name, is refused."""
    with pytest.raises(NpuConfigError, match="is not the name or address"):
        ssh_script({name: "a.sh"}, None, "start_all.sh")


def test_ssh_stops_the_others(tmp_path, table):
    """One rank that fails ends all servers, and its code is the code of the whole."""
    command = ["bash", "-c", 'if [ "$RANK_ID" = 3 ]; then exit 7; else sleep 60; fi']
    start, environ = ssh_job(tmp_path, table, command)
    code, _, errors = run(start, cwd=tmp_path, **environ)
    assert code == 7, errors
    assert "10.0.0.2 ended with code 7" in errors


AT_START = """
trap '[ "${0##*/}" != start_all.sh ] || [ "$BASH_COMMAND" != "pids[i]=\\$!" ] || kill $$' DEBUG
"""


def test_ssh_gets_a_signal_while_it_starts(tmp_path, table):
    """The servers that were started are ended, and no more are started."""
    start, environ = ssh_job(tmp_path, table, ["sleep", "60"])
    (tmp_path / "at.sh").write_text(AT_START)
    code, _, errors = run(start, cwd=tmp_path, BASH_ENV=str(tmp_path / "at.sh"), **environ)
    assert code == 143, errors
    assert ("10.0.0.1 ended" in errors, "10.0.0.2" in errors) == (True, False)


def test_ssh_copies_first(tmp_path, table):
    """A copy that fails ends all before anything starts, and says where."""
    start, environ = ssh_job(tmp_path, table, COMMAND)
    environ.update(OWN="/srv/job", NPU_DIRECTORY="/srv/job", FAIL="1")
    code, _, errors = run(start, cwd=tmp_path, **environ)
    assert code == 2
    assert "cannot be copied to 10.0.0.1" in errors
    code, _, errors = run(start, cwd=tmp_path, **{**environ, "NPU_DIRECTORY": "/dev/null/x"})
    assert (code, "/dev/null/x cannot be made on 10.0.0.1" in errors) == (2, True)


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


def test_slurm_sources_scripts(tmp_path, table):
    """Every rank has the variables of the scripts of `--source`; a missing one is told."""
    toolkit = tmp_path / "set env.sh"
    toolkit.write_text("export TOOLKIT=$NOT_SET_ANYWHERE.yes\nfalse\n")
    job = table_job(*table, "resnet")
    text = slurm_script(job, ["bash", "-c", "echo $TOOLKIT"], sources=[str(toolkit)])
    code, output, errors = slurm(tmp_path, text, ["10.0.0.2", "10.0.0.1"], 2)
    assert (code, output.split(), errors) == (0, [".yes"] * 4, "")
    toolkit.unlink()
    code, _, errors = run(["bash", str(tmp_path / "job.sbatch")])
    assert (code, "set env.sh" in errors) == (2, True)


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


@pytest.mark.parametrize(
    ("server", "pattern"),
    [("node-0_a.b:c", "node-0_a.b:c"), ("a*b'c d", "a?b?c?d"), ("n\u00f6de", "n\u00f6de")],
)
def test_slurm_knows_a_server_by_its_name(tmp_path, server, pattern):
    """Every character of a name stands for itself, and none ends the text of the shell."""
    job = table_job(rank_table.build([server], 2, "10.20.0.2"), "/t.json", "j.b:1")
    lines = slurm_script(job, ["x y", "z"], "my job.sbatch").splitlines()
    assert '      {}) ranks="0 1" devices="0 1" ;;'.format(pattern) in lines
    assert "#SBATCH --job-name=j.b_1" in lines
    assert any("sbatch 'my job.sbatch'" in line for line in lines)


# Launchers


def names_of(*servers):
    """The names of the launchers of some servers."""
    return [
        *launchers(table_job(rank_table.build(list(servers), 1, "10.20.0.2"), "/t.json", "job"))
    ]


def test_the_names_of_launchers():
    """They sort as the servers do, and hold no character that a shell would take otherwise."""
    ten, eleven = ("n{}".format(number) for number in range(10)), range(11)
    assert names_of(*ten)[-1] == "launch_9_n9.sh"
    found = names_of(*("n{}".format(number) for number in eleven))
    assert (found[0], found[9], found[10]) == (
        "launch_00_n0.sh",
        "launch_09_n9.sh",
        "launch_10_n10.sh",
    )
    assert names_of("a/b c'd") == ["launch_0_a_b_c_d.sh"]


def test_what_a_launcher_starts():
    """The ranks of its server, of how many, and the server, in one line above."""
    job = table_job(rank_table.build(["a", "b"], 2, "10.20.0.2"), "/t.json", "job")
    first, second = launchers(job).values()
    (only,) = launchers(job, processes=job.processes[3:]).values()
    for text, said in (
        (first, "Ranks 0-1 of 4 on server a, one process for each device."),
        (second, "Ranks 2-3 of 4 on server b, one process for each device."),
        (only, "Rank 3 of 4 on server b, one process for each device."),
    ):
        assert said in text


def test_launchers_are_written_once(tmp_path):
    """All of them or none: one that exists is kept, unless it is to be replaced."""
    scripts = {"a.sh": "a", "b.sh": "b"}
    (tmp_path / "b.sh").write_text("mine")
    with pytest.raises(FileExistsError, match=r"b\.sh exists"):
        save_launchers(scripts, tmp_path)
    assert (sorted(os.listdir(str(tmp_path))), (tmp_path / "b.sh").read_text()) == (
        ["b.sh"],
        "mine",
    )
    paths = save_launchers(scripts, tmp_path, overwrite=True)
    assert [os.path.basename(path) for path in paths] == ["a.sh", "b.sh"]
    assert [(tmp_path / name).read_text() for name in scripts] == ["a", "b"]
    assert all(os.access(path, os.X_OK) for path in paths)


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


def test_what_a_pod_is_given():
    """Its host, one pod for each machine, and the folders that it only reads."""
    *_, job = objects(namespace="ns", extra={"A": "$(B) $$ $C"}, command=["$(x)", "y"])
    assert job["metadata"]["namespace"] == "ns"
    template = job["spec"]["tasks"][0]["template"]
    spec = template["spec"]
    (container,) = spec["containers"]
    assert container["command"][-2:] == ["$$(x)", "y"]
    assert container["env"] == [
        {"name": "JOB_ID", "value": "resnet"},
        {"name": "NPU_RANK_TABLE", "value": TABLE},
        {"name": "A", "value": "$$(B) $$$ $C"},
        {"name": "NPU_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
        {"name": "NPU_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    written = [each["name"] for each in container["volumeMounts"] if not each.get("readOnly")]
    assert written == ["memory"]
    (rule,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Res_Net"}, "cannot be the name"),
        ({"name": "a" * 43}, "cannot be the name"),
        ({"name": "a-"}, "cannot be the name"),
        ({"namespace": "a" * 64}, "cannot be a Kubernetes namespace"),
        ({"namespace": ""}, "cannot be a Kubernetes namespace"),
        ({"image": ""}, "cannot be the name of a container image"),
        ({"image": "a b"}, "cannot be the name of a container image"),
        ({"command": []}, "needs the command"),
        ({"command": ["\udcff"]}, "is not UTF-8"),
        ({"image": "\udcff"}, "is not UTF-8"),
        ({"sources": ["\udcff"]}, "is not UTF-8"),
        ({"extra": {"A": "\udcff"}}, "is not UTF-8"),
        ({"product": None}, "resource name of the devices"),
        ({"product": Product.ATLAS_300I_DUO}, "resource name of the devices"),
    ],
)
def test_kubernetes_refusals(change, message):
    """What Kubernetes or the operator would refuse is refused before."""
    with pytest.raises(NpuConfigError, match=message):
        objects(**change)


def test_names_as_long_as_kubernetes_takes_them():
    """A job of 42 characters, a namespace of 63, and a name of one."""
    for name, namespace in (("a" * 42, "b" * 63), ("a", "0"), ("a-1", "b-2")):
        *_, job = objects(name=name, namespace=namespace)
        assert job["metadata"]["name"] == name


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
            "NPU_LAUNCH_GRACE": "1",
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


def test_pod_without_a_table(tmp_path):
    """A table that stays incomplete, or that has no device of this pod, is named: code 2."""
    for text, seconds, words in (
        ('{"status": "initializing"}', "0", "hccl.json is not complete"),
        ("not json", "0", "hccl.json is not complete"),
        ('{"status": "completed", "server_list": []}', "20", "does not name ['10.0.0.2']"),
    ):
        process, _ = pod_run(tmp_path, None, COMMAND, seconds=seconds, before=text)
        _, errors = process.communicate()
        assert process.returncode == 2
        assert errors.decode().startswith("npu-pod: ")
        assert words in errors.decode()
        assert len(errors.splitlines()) == 1


def test_pod_ends_together(tmp_path, table):
    """A rank that fails is named and ends the others, with KILL where TERM is ignored."""
    document = to_document(table[0])
    show = 'trap "" TERM; if [ "$RANK_ID" = 3 ]; then sleep 1; exit 5; else exec sleep 60; fi'
    process, _ = pod_run(tmp_path, document, ["bash", "-c", show])
    _, errors = process.communicate()
    assert process.returncode == 5
    assert errors.decode().splitlines() == [
        "npu-pod: rank 3 failed with code 5",
        "npu-pod: stopping rank 2",
        "npu-pod: rank 2 was terminated by signal 9",
    ]


def test_pod_with_an_unknown_command(tmp_path, table):
    """A command that is not there is one line and the code that shells have for it."""
    document = to_document(table[0])
    for command, code in (("no-such-command", 127), (str(tmp_path), 126)):
        process, _ = pod_run(tmp_path, document, [command])
        _, errors = process.communicate()
        assert process.returncode == code
        assert errors.decode().startswith("npu-pod: {} cannot be started: ".format(command))
        assert len(errors.splitlines()) == 1


def test_pod_sources_scripts(tmp_path):
    """What a pod runs has the variables of the scripts of `--source`."""
    toolkit = tmp_path / "set_env.sh"
    toolkit.write_text("export TOOLKIT=yes\n")
    *_, job = objects(sources=[str(toolkit)])
    (container,) = job["spec"]["tasks"][0]["template"]["spec"]["containers"]
    start, (python, script, command) = container["command"][:-3], container["command"][-3:]
    assert (python, script, command) == ("python3", "/npu-launch/pod.py", "x")
    assert run([*start, "bash", "-c", "echo $TOOLKIT"]) == (0, "yes\n", "")
    toolkit.unlink()
    assert run([*start, "true"])[0] == 2


def test_pod_passes_signals_on(tmp_path, table):
    """What Kubernetes sends when it ends a pod reaches the ranks."""
    document = to_document(table[0])
    process, _ = pod_run(tmp_path, document, ["bash", "-c", "echo up; exec sleep 60"])
    assert process.stdout.readline() == b"up\n"
    assert process.stdout.readline() == b"up\n"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(("ended", "code"), [(0, 0), (7, 7), (-15, 143)])
def test_the_code_of_a_pod(monkeypatch, tmp_path, table, ended, code):
    """That of the rank which ended first; behind a signal what a shell says."""
    path = tmp_path / "hccl.json"
    path.write_text(json.dumps(to_document(table[0])))
    started = []
    monkeypatch.setattr(pod.signal, "signal", lambda *given: None)
    monkeypatch.setattr(pod, "start", lambda *given: started.append(given))
    monkeypatch.setattr(pod, "wait", lambda ranks, ends, grace: ended if grace == 10 else None)
    for name, value in (("NPU_RANK_TABLE", str(path)), ("NPU_HOST_IP", "10.0.0.2")):
        monkeypatch.setenv(name, value)
    for name in ("NPU_NODE", "NPU_LAUNCH_GRACE", "NPU_TABLE_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    assert pod.main(["x"]) == code
    ((_, command, given, devices, total),) = started
    assert (command, given, len(devices), total) == (["x"], str(path), 2, 4)


def test_a_pod_that_starts_nothing(monkeypatch, tmp_path, capsys):
    """Without a table that names it: the code is 2."""
    monkeypatch.setenv("NPU_RANK_TABLE", str(tmp_path / "none.json"))
    monkeypatch.setenv("NPU_TABLE_SECONDS", "0")
    assert pod.main(["x"]) == 2
    (tmp_path / "none.json").write_text('{"status": "completed", "server_list": []}')
    assert pod.main(["x"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("none.json is not complete; does the operator run?")
    assert second.endswith("none.json does not name []")
