"""The environment of each process, handed over in every form; launchers that really start."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.launch.engines import launcher_script, launchers, ssh_script
from npu_config.launch.environment.dotenv import parse_dotenv, quote, render_dotenv
from npu_config.launch.environment.job import (
    Worker,
    chief_job,
    dotenv_text,
    export_lines,
    process_environment,
    table_job,
)
from npu_config.rank_table.building import Layer, build, build_ranks
from npu_config.rank_table.model import GroupDevice, GroupTable, Pod, RankGroup

TABLE = build(["node_0", "node_1"], 2, "10.20.0.2", "atlas_training")
JOB = table_job(TABLE, "/data/rank table.json", "job_1")
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(
    BASH is None or not sys.platform.startswith("linux"), reason="needs bash on Linux"
)


def test_variables_of_a_table():
    """A process has exactly the variables of a job with a rank table."""
    assert JOB.variables(JOB.process(3)) == {
        "JOB_ID": "job_1",
        "RANK_TABLE_FILE": "/data/rank table.json",
        "RANK_SIZE": "4",
        "RANK_ID": "3",
        "ASCEND_DEVICE_ID": "1",
    }


def test_variables_without_a_table():
    """A process has exactly the variables of a job without a rank table."""
    job = chief_job(["10.0.0.1", "10.0.0.2"], "job_2", 6000, devices=2, product="atlas_a2")
    assert job.variables(job.process(3)) == {
        "JOB_ID": "job_2",
        "CM_CHIEF_IP": "10.0.0.1",
        "CM_CHIEF_PORT": "6000",
        "CM_CHIEF_DEVICE": "0",
        "CM_WORKER_SIZE": "4",
        "CM_WORKER_IP": "10.0.0.2",
        "ASCEND_DEVICE_ID": "1",
    }


def test_chosen_devices_without_a_table():
    """Devices may be chosen, servers named, and variables added."""
    extra = {"HCCL_SOCKET_FAMILY": "AF_INET6"}
    workers = [Worker("fd00::1", [4, 5], "a")]
    job = chief_job(workers, "job", extra=extra, product="atlas_training")
    variables = job.variables(job.processes[1])
    assert (
        variables["HCCL_SOCKET_FAMILY"],
        variables["CM_CHIEF_DEVICE"],
        variables["ASCEND_DEVICE_ID"],
    ) == ("AF_INET6", "4", "5")


def test_never_both():
    """What an environment starts from loses the variables of the other kind of job."""
    chief = chief_job(["10.0.0.1"], "job", devices=1)
    inherited = {"CM_CHIEF_IP": "10.9.9.9", "RANK_SIZE": "9", "PATH": "/bin", "POD_NAME": "x"}
    with_table = process_environment(JOB, JOB.processes[0], inherited)
    without = process_environment(chief, chief.processes[0], inherited)
    assert (with_table["RANK_SIZE"], with_table["PATH"]) == ("4", "/bin")
    assert {"CM_CHIEF_IP", "POD_NAME"}.isdisjoint(with_table)
    assert (without["CM_CHIEF_IP"], without["PATH"]) == ("10.0.0.1", "/bin")
    assert {"RANK_SIZE", "RANK_ID", "RANK_TABLE_FILE", "POD_NAME"}.isdisjoint(without)


def test_template_2():
    """Processes of the old template are known by their container, too."""
    devices = (GroupDevice(0, "10.0.0.1"), GroupDevice(1, "10.0.0.2"))
    table = GroupTable((RankGroup((Pod("pod-a", "node_0", devices),)),))
    job = table_job(table, "/data/t.json", "job")
    assert tuple(job.variables(job.processes[1])[name] for name in ("POD_NAME", "RANK_ID")) == (
        "pod-a",
        "1",
    )
    script = launcher_script(job, job.processes, ["true"])
    assert 'export POD_NAME="${pods[$1]}"' in script
    names = " ".join(str(process.pod_name) for process in job.processes)
    assert "\npods=({})\n".format(names) in script


def test_version_2():
    """Version 2.0 names no servers: the ranks of a server are chosen by number."""
    table = build_ranks(2, [Layer(0, "x{server}", [("0/4",)], "172.16.0.1")], 2)
    job = table_job(table, "/data/t.json", "job")
    assert job.servers == (None,)
    assert [process.device_id for process in tuple(map(job.process, [2, 3]))] == [0, 1]
    (script,) = launchers(job, processes=tuple(map(job.process, [2, 3]))).values()
    assert "ranks=(2 3)\ndevices=(0 1)\n" in script
    assert "Ranks 2-3 of 4, one process for each device." in script
    (script,) = launchers(job, processes=tuple(map(job.process, [3]))).values()
    assert "Rank 3 of 4, one process for each device." in script
    with pytest.raises(NpuConfigError):
        launchers(job)


@pytest.mark.parametrize(
    ("make", "message", "help_"),
    [
        (
            lambda: table_job(TABLE, "/t.json", "j" * 129),
            "JOB_ID has 129 characters",
            "shorten it",
        ),
        (
            lambda: table_job(TABLE, "/t.json", "job", {"RANK_SIZE": "4"}),
            "RANK_SIZE is set by npu_config itself",
            "remove it",
        ),
        (
            lambda: table_job(TABLE, "/t.json", "job", {"CM_CHIEF_IP": "10.0.0.1"}),
            "CM_CHIEF_IP must not be set in this job",
            "remove it from the variables",
        ),
        (
            lambda: table_job(TABLE, "/t.json", "job", {"no name": "1"}),
            '"no name" is not a variable that can be set',
            None,
        ),
        (
            lambda: table_job(TABLE, "/t.json", "job", {"A": "x\0"}),
            '"A" is not a variable that can be set',
            None,
        ),
        (
            lambda: table_job(TABLE, "/t.json", "job", {"HCCL_CONNECT_TIMEOUT": "1"}),
            "HCCL_CONNECT_TIMEOUT is 1",
            "write 120 or more",
        ),
        (
            lambda: table_job(TABLE, "", "job"),
            'RANK_TABLE_FILE is ""',
            "unset it, or set a value",
        ),
        (
            lambda: chief_job([], "job"),
            "a job needs at least one server",
            "pass the address of the master",
        ),
        (
            lambda: chief_job(["10.0.0.1", "10.0.0.1"], "job"),
            'two servers have the name "10.0.0.1"',
            "use a different name for each server",
        ),
        (
            lambda: chief_job(["10.0.0"], "job"),
            'CM_CHIEF_IP is "10.0.0"; legal: an IPv4 or IPv6 address',
            "set a legal value, or unset the variable",
        ),
        (
            lambda: chief_job(["10.0.0.1"], "job", 70000),
            "CM_CHIEF_PORT is 70000; legal: an integer from 0 to 65520",
            "write 65520 or less",
        ),
        (
            lambda: chief_job(["10.0.0.1"], "job", chief_device=9),
            "the master does not use device 9",
            "choose one of: 0, 1, 2, 3, 4, 5, 6, 7",
        ),
        (
            lambda: chief_job(["10.0.0.1", Worker("10.0.0.2", 4)], "job", 1, 2, devices=[0, 1]),
            "the master does not use device 2",
            "choose one of: 0, 1",
        ),
        (
            lambda: chief_job(["10.0.0.1"], "job", devices=[6, 8, 9], product="atlas_training"),
            "device 8 does not exist: the devices of a server are 0 to 7",
            "use fewer devices, or other device ids",
        ),
        (
            lambda: chief_job(["10.0.0.1"], "job", devices=0),
            "the job has no processes",
            "list at least one device",
        ),
        (
            lambda: chief_job(["10.0.0.1"], "job", product="atlas_a3"),
            "CM_CHIEF_IP, CM_CHIEF_PORT, CM_CHIEF_DEVICE, CM_WORKER_SIZE, CM_WORKER_IP are set,",
            "write a rank table, and set RANK_TABLE_FILE, RANK_ID and RANK_SIZE",
        ),
        (lambda: JOB.process(4), "the job has no rank 4", "choose a rank from 0 to 3"),
        (lambda: JOB.process(-1), "the job has no rank -1", "choose a rank from 0 to 3"),
        (
            lambda: JOB.of_server("node_2"),
            'the job has no server "node_2"',
            "choose one of: node_0, node_1",
        ),
    ],
)
def test_refusals(make, message, help_):
    """An environment that would be wrong is refused; what is wrong and what to do is said."""
    with pytest.raises(NpuConfigError) as caught:
        make()
    found = caught.value.diagnostics[0]
    assert found.message.startswith(message)
    assert found.help == help_


@pytest.mark.parametrize(
    ("given", "device", "size", "last"),
    [
        ({}, "0", "16", "7"),
        ({"devices": 2}, "0", "4", "1"),
        ({"devices": [3, 5, 7]}, "3", "6", "7"),
        ({"devices": [3, 5, 7], "chief_device": 5}, "5", "6", "7"),
    ],
)
def test_what_is_not_given_without_a_table(given, device, size, last):
    """Port 60001, 8 devices on each server, and the first of the master collects."""
    job = chief_job(["10.0.0.1", "10.0.0.2"], "job", **given)
    assert job.variables(job.processes[-1]) == {
        "JOB_ID": "job",
        "CM_CHIEF_IP": "10.0.0.1",
        "CM_CHIEF_PORT": "60001",
        "CM_CHIEF_DEVICE": device,
        "CM_WORKER_SIZE": size,
        "CM_WORKER_IP": "10.0.0.2",
        "ASCEND_DEVICE_ID": last,
    }


@needs_bash
def test_export_lines():
    """A shell that sources the lines has exactly the environment."""
    process = JOB.process(2)
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    script = export_lines(JOB, process) + '"$1" -c "{}"'.format(program)
    base = dict(os.environ, CM_WORKER_SIZE="8", RANK_ID="7")
    out = subprocess.check_output([BASH, "-c", script, "bash", sys.executable], env=base)
    seen = json.loads(out.decode())
    assert JOB.variables(process) == {name: seen.get(name) for name in JOB.variables(process)}
    assert set(JOB.absent).isdisjoint(seen)


def test_dotenv():
    """A file of variables holds exactly the environment."""
    process = JOB.process(1)
    read = parse_dotenv(dotenv_text(JOB, process))
    assert (JOB.variables(process), []) == (read.variables, list(read.diagnostics))


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))


@given(st.dictionaries(NAMES, TEXTS, max_size=4))
def test_dotenv_round_trip(variables):
    """Whatever the values are, they are read as they were written."""
    read = parse_dotenv(render_dotenv(variables, ("RANK_ID",)))
    assert (variables, []) == (read.variables, list(read.diagnostics))


@given(st.text())
def test_dotenv_of_any_text(text):
    """No text raises."""
    parse_dotenv(text)


@needs_bash
@pytest.mark.parametrize(
    "value",
    [
        "",
        "a b",
        "it's",
        'say "x"',
        "$HOME",
        "`id`",
        "a\\b",
        "é\n\tx",
        "a;id",
        "~",
        "~/a:~",
        "a|b",
        "a^b",
        "a&b",
        "*",
        "a<b>c",
        "(a)",
        "#a",
        "a=b,c@d%e+f:g/h-1",
    ],
)
def test_dotenv_in_a_shell(tmp_path, value):
    """A shell reads a bare or quoted value as it is meant."""
    path = tmp_path / "x.env"
    path.write_text("X={}\n".format(quote(value)), encoding="utf-8")
    out = subprocess.check_output([BASH, "-c", '. "$0"; printf %s "$X"', str(path)])
    assert value == out.decode("utf-8")
    assert value == parse_dotenv(path.read_text(encoding="utf-8")).variables["X"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("RANK_ID 0\n", [(1, 1)]),
        ("A=1\n  2B=x # y\n", [(2, 3)]),
        ('A="x\nB=1', [(1, 1)]),
        ("A='x' y\n", [(1, 1)]),
        ("A=1\nexport A=2\n", [(2, 8)]),
    ],
)
def test_wrong_dotenv(text, places):
    """What is no line of variables is found with its place."""
    assert places == [(d.line, d.column) for d in parse_dotenv(text, "x").diagnostics]


def test_dotenv_forms():
    """Comments, blank lines, ``export``, ``unset`` and quotes are read."""
    text = '# c\r\n\r\nexport A=1 # one\nunset X Y\nB=\'#x y\'\nC="a\\"b"\nD=\n'
    assert parse_dotenv(text).variables == {"A": "1", "B": "#x y", "C": 'a"b', "D": ""}


PROGRAM = """
import json, os, sys, time
names = ("JOB_ID", "RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "ASCEND_DEVICE_ID", "CM_CHIEF_IP")
seen = {name: os.environ.get(name) for name in names}
print(json.dumps(dict(seen, pid=os.getpid())), flush=True)
code = {rank: int(c) for rank, c in (part.split("=") for part in sys.argv[1:])}
mine = code.get(os.environ["RANK_ID"], 0)
if mine < 0:
    time.sleep(60)
sys.exit(mine)
"""


SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Launched:
    """A launcher of two processes that has been started.

    Signals that the process of the tests ignores (it may run under nohup, or in the background)
    are not ignored by the launcher, which could not trap them; those in ``ignored`` are.
    """

    def __init__(self, tmp_path, *arguments, ignored=(), **environment):
        table = tmp_path / "rank_table.json"
        table.write_text("{}")
        job = table_job(TABLE, str(table), "job_1")
        script = tmp_path / "launch.sh"
        command = [sys.executable, "-c", PROGRAM, *arguments]
        script.write_text(launcher_script(job, job.of_server("node_1"), command))
        self.logs = tmp_path / "logs"
        base = dict(os.environ, CM_CHIEF_IP="10.9.9.9", NPU_LAUNCH_LOGS=str(self.logs))
        base.update(environment)
        self.process = subprocess.Popen(
            [BASH, str(script)],
            stderr=subprocess.PIPE,
            env=base,
            cwd=str(tmp_path),
            preexec_fn=lambda: [
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
                for number in SIGNALS
            ],
        )

    def log(self, rank):
        """The log of a rank, once it has said what it sees."""
        path = self.logs / "rank_{}.log".format(rank)
        for _ in range(600):
            if path.exists() and path.read_text().endswith("\n"):
                return json.loads(path.read_text())
            time.sleep(0.05)
        raise AssertionError("rank {} says nothing".format(rank))

    def end(self):
        """Code and messages."""
        err = self.process.communicate(timeout=60)[1].decode()
        return self.process.returncode, err


@needs_bash
def test_launcher_starts_processes(tmp_path):
    """Two processes run, each with its own environment and log; the launcher waits for both."""
    launched = Launched(tmp_path)
    code, err = launched.end()
    assert code == 0
    assert "all 2 processes have finished" in err
    for rank, device in ((2, "0"), (3, "1")):
        assert {
            "JOB_ID": "job_1",
            "RANK_ID": str(rank),
            "RANK_SIZE": "4",
            "RANK_TABLE_FILE": str(tmp_path / "rank_table.json"),
            "ASCEND_DEVICE_ID": device,
            "CM_CHIEF_IP": None,
            "pid": launched.log(rank)["pid"],
        } == launched.log(rank)


@needs_bash
def test_launcher_tells_of_a_failure(tmp_path):
    """A process that fails is named with its code, the other is ended, the code is passed on."""
    launched = Launched(tmp_path, "2=-1", "3=7")
    code, err = launched.end()
    assert code == 7
    assert "rank 3 (device 1, process " in err
    assert "failed with code 7" in err
    assert "rank 2 (device 0, process " in err
    assert "was terminated by SIGTERM" in err


@needs_bash
def test_launcher_tells_of_a_killed_process(tmp_path):
    """A process that is killed is named with the signal, and the other is ended."""
    launched = Launched(tmp_path, "2=-1", "3=-1")
    launched.log(3)
    os.kill(launched.log(2)["pid"], signal.SIGKILL)
    code, err = launched.end()
    assert code == 128 + signal.SIGKILL
    assert "rank 2 (device 0, process " in err
    assert "was terminated by SIGKILL" in err
    assert len([line for line in err.splitlines() if line.startswith("npu-launch: ")]) == 5
    assert [line for line in err.splitlines() if not line.startswith("npu-launch: ")] == []


@needs_bash
@pytest.mark.parametrize("number", SIGNALS)
def test_launcher_passes_signals_on(tmp_path, number):
    """A signal to the launcher ends all processes."""
    launched = Launched(tmp_path, "2=-1", "3=-1")
    pids = [launched.log(rank)["pid"] for rank in (2, 3)]
    launched.process.send_signal(number)
    code, err = launched.end()
    assert 128 + number == code
    assert "got {}; stopping".format(signal.Signals(number).name) in err
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


AT_COMMAND = """
set -T
count=0
trap '[ "${{0##*/}}" != {script} ] || [ $((count += 1)) -ne {at} ] || kill -{number} $$' DEBUG
"""


@needs_bash
@pytest.mark.parametrize("at", range(1, 80, 4))
def test_launcher_gets_a_signal_at_any_command(tmp_path, at):
    """A signal before any command of the launcher ends it and all that it has started."""
    number = SIGNALS[at // 4 % 3]
    (tmp_path / "at.sh").write_text(
        AT_COMMAND.format(script="launch.sh", at=at, number=int(number))
    )
    mark = "mark-{}".format(tmp_path)
    launched = Launched(tmp_path, "2=-1", "3=-1", BASH_ENV=str(tmp_path / "at.sh"), MARK=mark)
    code, err = launched.end()
    assert code in (-number, 128 + number)
    if "got " in err:
        assert 128 + number == code
    assert [line for line in err.splitlines() if not line.startswith("npu-launch: ")] == []
    assert living(mark) == []


def living(mark):
    """The numbers of processes that have a text in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and mark.encode() in (path / "environ").read_bytes():
                found.append(path.name)
    return found


@needs_bash
def test_launcher_gets_an_interrupt_before_it_starts(tmp_path):
    """An INT to the launcher alone, while it waits for a command, is not forgotten."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mkdir").write_text('#!/bin/sh\nkill -INT $PPID\nexec /bin/mkdir "$@"\n')
    (folder / "mkdir").chmod(0o755)
    path = "{}:{}".format(folder, os.environ["PATH"])
    code, err = Launched(tmp_path, "2=-1", "3=-1", PATH=path).end()
    assert (code, err) == (130, "")


def test_no_command_substitution_while_signals_are_awaited():
    """Bash may lose a signal that comes while it makes one."""
    script = launcher_script(JOB, JOB.of_server("node_1"), ["true"])
    assert re.findall(r"`|\$\((?!\()", script.partition("\nprintf -v logs")[2]) == []
    script = ssh_script({"a": "a.sh", "b": "b.sh"}, None, "start.sh")
    assert re.findall(r"`|\$\((?!\()", script.partition("\nstop() {")[2]) == []


@needs_bash
def test_launcher_survives_its_terminal(tmp_path):
    """Under nohup the end of the terminal (HUP) does not end the job; TERM still does."""
    launched = Launched(tmp_path, "2=-1", "3=-1", ignored=[signal.SIGHUP])
    pids = [launched.log(rank)["pid"] for rank in (2, 3)]
    launched.process.send_signal(signal.SIGHUP)
    launched.process.send_signal(signal.SIGTERM)
    code, err = launched.end()
    assert (code, "SIGHUP" in err) == (128 + signal.SIGTERM, False)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@needs_bash
def test_launcher_needs_its_files(tmp_path):
    """Without the rank table nothing is started."""
    job = table_job(TABLE, str(tmp_path / "none.json"), "job_1")
    script = launcher_script(job, job.processes, ["true"], name="x.sh")
    done = subprocess.run([BASH, "-c", script], stderr=subprocess.PIPE, cwd=str(tmp_path))
    assert done.returncode == 2
    assert b"the rank table cannot be read: " in done.stderr
    assert os.listdir(str(tmp_path)) == []


@needs_bash
def test_launcher_sources_scripts(tmp_path):
    """Scripts such as set_env.sh are sourced before; a missing one ends the launcher."""
    (tmp_path / "set env.sh").write_text("export FROM_SETUP=$NOT_SET_ANYWHERE.yes\n")
    (tmp_path / "t.json").write_text("{}")
    job = table_job(build(["a"], 1), str(tmp_path / "t.json"), "job_1")
    command = ["bash", "-c", "echo $FROM_SETUP"]
    script = launcher_script(job, job.processes, command, [str(tmp_path / "set env.sh")])
    environment = dict(os.environ, NPU_LAUNCH_LOGS=str(tmp_path / "logs"))
    subprocess.run([BASH, "-c", script], env=environment, check=True, stderr=subprocess.PIPE)
    assert (tmp_path / "logs" / "rank_0.log").read_text() == ".yes\n"
    missing = launcher_script(job, job.processes, command, [str(tmp_path / "none.sh")])
    done = subprocess.run([BASH, "-c", missing], env=environment, stderr=subprocess.PIPE)
    assert (done.returncode, b"cannot be read: " in done.stderr) == (2, True)


@needs_bash
def test_names_cannot_break_a_launcher(tmp_path):
    """Names with line ends, quotes and dollar signs stay what they are."""
    evil = "a\n$(touch hit)'\"`touch hit`"
    (tmp_path / "t.json").write_text("{}")
    job = table_job(build([evil], 1), str(tmp_path / "t.json"), "job_1", {"EVIL": evil})
    ((name, script),) = launchers(job, ["bash", "-c", 'printf %s "$EVIL"']).items()
    assert name == "launch_0_a_touch_hit_touch_hit_.sh"
    environment = dict(os.environ, NPU_LAUNCH_LOGS=str(tmp_path / "logs"))
    run = [BASH, "-c", script]
    subprocess.run(run, env=environment, check=True, stderr=subprocess.PIPE, cwd=str(tmp_path))
    assert evil == (tmp_path / "logs" / "rank_0.log").read_text()
    assert not (tmp_path / "hit").exists()
