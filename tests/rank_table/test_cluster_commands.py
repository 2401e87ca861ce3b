"""``npu-config ranktable`` and ``npu-config env``: exit codes, output, files."""

import json
import os
import re
from pathlib import Path

import pytest

pytest.importorskip("click")

from click.testing import CliRunner

from npu_config import rank_table
from npu_config.cli.app import app
from npu_config.cli.env import command as env
from npu_config.cli.ranktable import command as ranktable
from npu_config.launch.environment.variables import VARIABLES

OLD = json.dumps(
    {
        "status": "completed",
        "group_count": "1",
        "group_list": [
            {
                "group_name": "g",
                "instance_count": "1",
                "device_count": "1",
                "instance_list": [
                    {
                        "pod_name": "a",
                        "server_id": "n",
                        "devices": [{"device_id": "0", "device_ip": "10.0.0.1"}],
                    }
                ],
            }
        ],
    }
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in an empty directory: exit code, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(command, *arguments, **kwargs):
        result = CliRunner().invoke(app, [command.name, *arguments], **kwargs)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.output

    return call


def build(run, *arguments):
    """The two-server walk-through."""
    return run(
        ranktable, "build", "--server", "10.0.0.1", "--server", "10.0.0.2",
        "--device-ips", "10.20.0.2", "--target", "atlas_training", *arguments,
    )  # fmt: skip


def test_build_and_check(run):
    """A table that is built is right."""
    assert build(run, "-o", "rank_table.json") == (0, "")
    code, text = run(ranktable, "check", "rank_table.json", "--target", "atlas_training")
    assert (code, text) == (0, "no problem found in 1 file\n")
    assert rank_table.load("rank_table.json").model.rank_size == 16


def test_build_does_not_overwrite(run):
    """A file that exists is overwritten with --force only."""
    build(run, "-o", "rank_table.json")
    code, text = build(run, "-o", "rank_table.json")
    assert code == 2
    assert "--force" in text
    assert build(run, "-o", "rank_table.json", "--force") == (0, "")


def test_build_of_every_version(run):
    """1.2 with super nodes, 2.0 with layers."""
    code, text = run(
        ranktable, "build", "--server", "a", "--server", "b", "--devices", "2",
        "--device-ips", "fd00::1", "--super-pod", "p=a,b", "--sdid", "a=0,1",
        "--sdid", "b=2,3", "--host-ip", "a=10.0.0.1", "--target", "atlas_a3",
    )  # fmt: skip
    assert (code, json.loads(text)["version"]) == (0, "1.2")
    code, text = run(
        ranktable, "build", "--server", "a", "--devices", "0-1",
        "--layer", "layer=0;id=rack{server};first=172.16.0.1;ports=1/0",
        "--layer", "layer=1;id=az;addrs=fd00::1,fd00::2,fd00::3,fd00::4;"
        "ports=0/4,0/5+1/5;planes=x,y",
    )  # fmt: skip
    assert (code, json.loads(text)["rank_count"]) == (0, 2)


def test_build_from_hccn_conf(run):
    """Devices and addresses are taken from copies of hccn.conf."""
    with open("hccn.conf", "w") as stream:
        stream.write("address_0=10.20.0.2\naddress_5=10.20.0.3\n")
    code, text = run(ranktable, "build", "--hccn-conf", "n0=hccn.conf", "--target", "atlas_a2")
    devices = json.loads(text)["server_list"][0]["device"]
    assert (code, [device["device_id"] for device in devices]) == (0, ["0", "5"])
    with open("hccn.conf", "a") as stream:
        stream.write("address_6=10.20\n")
    assert run(ranktable, "build", "--hccn-conf", "n0=hccn.conf")[0] == 1
    code, text = run(ranktable, "build", "--hccn-conf", "n0=none")
    assert (code, "none does not exist" in text) == (2, True)


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (1, ("--server", "a", "--devices", "9", "--device-ips", "10.0.0.1",
             "--target", "atlas_training")),
        (2, ("--server", "a", "--device-ips", "10.0.0.1,10.0.0.2")),
        (2, ("--server", "a", "--device-ips", "fe80::1%eth0")),
    ],
)  # fmt: skip
def test_build_refuses(run, expected, arguments):
    """What cannot become a table is an error with a reason, and nothing is written.

    A description that is none is a wrong call; what a product does not have is a finding.
    """
    code, text = run(ranktable, "build", "-o", "out.json", *arguments)
    assert code == expected
    assert "error: " in text
    assert os.listdir(".") == []


@pytest.mark.parametrize(
    ("named", "arguments"),
    [
        ("--devices", ("--devices", "x")),
        ("--devices", ("--devices", "5-3")),
        ("--devices", ("--devices", "0")),
        ("--super-pod", ("--super-pod", "p")),
        ("--host-ip", ("--host-ip", "a=1", "--host-ip", "a=2")),
        ("--hccn-conf", ("--hccn-conf", "a")),
        ("--server", ("--server", "a")),
        ("--server", ("--server", "b,c")),
        ("--server", ("--server", "")),
        ("--server", ("--server", "10.0.0.300")),
        ("--server", ("--server", "010.0.0.3")),
        ("--devices", ("--devices", "3,3")),
        ("--super-pod", ("--super-pod", "p=a", "--super-pod", "q=a")),
        ("--layer", ("--layer", "layer=0,1;id=a;ports=0/1;first=172.16.0.1")),
        ("--server", ("--super-pod", "p=b")),
        ("--server", ("--sdid", "a=1", "--super-pod", "p=a")),
        ("--layer", ("--layer", "layer=0")),
        ("--layer", ("--layer", "layer=0;id=a;ports=0/1;first=x;colour=red")),
        ("--layer", ("--layer", "layer=0;id=a;ports=0/1;first=172.16.0.1;addrs=a")),
        ("--layer", ("--table-version", "2.0")),
        ("--layer", ("--target", "ascend_950")),
    ],
)
def test_build_is_called_wrongly(run, named, arguments):
    """An option that says nothing is a wrong call, and the option is named."""
    code, text = run(ranktable, "build", "-o", "out.json", "--server", "a", *arguments)
    assert (code, named in text.splitlines()[-1]) == (2, True), text
    assert os.listdir(".") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--device-ips", "10.0.0.1"),
        ("--super-pod", "p=a"),
        ("--hccn-conf", "a=b"),
        ("--target", "atlas_a2"),
        ("--table-version", "1.0"),
    ],
)
def test_layers_are_for_version_2(run, arguments):
    """What says nothing in a table of version 2.0 is wrong usage."""
    layer = ("--layer", "layer=0;id=a;ports=0/1;first=172.16.0.1")
    code, text = run(ranktable, "build", "--server", "a", "--devices", "1", *layer, *arguments)
    assert code == 2
    assert arguments[0] in text or "ascend_950" in text


def test_check_exit_codes(run):
    """1 for errors, with --strict for warnings; the others are still checked."""
    build(run, "-o", "good.json")
    good = Path("good.json").read_text()
    with open("warning.json", "w") as stream:
        stream.write(good.replace('"rank_id": "1"', '"rank_id": " 1"'))
    assert run(ranktable, "check", "warning.json")[0] == 0
    assert run(ranktable, "check", "warning.json", "--strict")[0] == 1
    code, text = run(ranktable, "check", "none.json", "-", "good.json", input=good + "// x")
    assert code == 2
    assert "none.json: error: " in text
    assert "<stdin>:" in text
    assert "1 error, 1 warning: 2 files checked, 1 not checked" in text
    assert run(ranktable, "check")[0] == 2
    assert run(ranktable, "check", "good.json", "--target", "atlas_a1")[0] == 2


def test_check_as_json(run):
    """One object of version 1."""
    code, text = run(ranktable, "check", "-", "--format", "json", input="[]")
    document = json.loads(text)
    assert (code, document["version"], document["diagnostics"][0]["rule"]) == (1, 1, "NPU641")
    assert (document["summary"]) == {
        "files": 1,
        "errors": 1,
        "warnings": 0,
        "infos": 0,
        "skipped": 0,
    }


def test_check_with_hccn_conf(run):
    """The addresses of a server are compared with those of the machine."""
    build(run, "-o", "rank_table.json")
    with open("hccn.conf", "w") as stream:
        stream.write("address_0=10.20.0.2\naddress_1=10.20.9.9\n")
    code, text = run(ranktable, "check", "rank_table.json", "--hccn-conf", "10.0.0.1=hccn.conf")
    assert code == 1
    assert 'device 1 of "10.0.0.1" has the address "10.20.9.9"' in text


def test_convert(run):
    """Old tables become new; comments are gone; what is impossible is said."""
    code, text = run(ranktable, "convert", "-", "-o", "first.json", input=OLD)
    assert (code, json.loads(Path("first.json").read_text())["version"]) == (0, "1.0")
    assert "group_list[0].instance_list[0].pod_name is dropped" in text
    code, text = run(ranktable, "convert", "-", "-o", "new.json", input=OLD + " // old")
    assert code == 0
    assert list(rank_table.load("new.json").diagnostics) == []
    code, text = run(ranktable, "convert", "new.json", "--to", "1.2", "--super-pod", "p=n",
                     "--sdid", "n=7")  # fmt: skip
    assert (code, json.loads(text)["server_list"][0]["device"][0]["super_device_id"]) == (0, "7")
    assert run(ranktable, "convert", "new.json", "--to", "2.0")[0] == 1
    assert run(ranktable, "convert", "-", input="{}")[0] == 1
    assert run(ranktable, "convert", "new.json", "-o", "new.json")[0] == 2


def test_convert_says_what_is_lost(run):
    """Keys that nobody read and that would count in the new table; ranks are HCCL's."""
    table = json.loads(OLD)
    group = table["group_list"][0]
    second = {**group["instance_list"][0], "server_id": "a", "rank_id": "0", "pod_name": "b"}
    second["devices"] = [{"device_id": "0", "device_ip": "10.0.0.2", "rank_id": "7"}]
    group["instance_list"][0].update(rank_id="1", host_ip="10.1.0.1", note="kept")
    group["instance_list"].append(second)
    group.update(instance_count="2", device_count="2")
    Path("old.json").write_text(json.dumps(table))
    code, text = run(ranktable, "convert", "old.json")
    lost = re.findall(r"([^ ]+)(?: \(and [0-9]+ more\))? is dropped", text)
    at = "group_list[0].instance_list[{}].{}".format
    expected = [
        "group_list[0].group_name",
        at(0, "host_ip"),
        at(0, "pod_name"),
        at(1, "devices[0].rank_id"),
    ]
    assert (0, expected) == (code, sorted(lost))
    assert '"note": "kept"' in text


def test_comments_are_wrong_where_hccl_reads_the_file(run):
    """Shown and converted is what the table says; an environment would name the file itself."""
    text = rank_table.render(rank_table.build(["n"], 1, "10.0.0.1"))
    Path("t.json").write_text(text.replace("{", "{ // ours\n", 1))
    code, shown = run(ranktable, "show", "t.json")
    assert (code, "NPU710" in shown) == (0, False)
    assert (0, text) == run(ranktable, "convert", "t.json")
    code, refused = run(env, "--rank-table", "t.json", "--job-id", "j")
    assert (code, "NPU710" in refused, "export" in refused) == (1, True, False)


def test_convert_to_1_2(run):
    """What a table of 1.2 without super nodes lacks is told; a strange server is refused."""
    run(ranktable, "build", "--server", "n", "--devices", "1", "-o", "old.json")
    code, text = run(ranktable, "convert", "old.json", "--to", "1.2", "-o", "new.json")
    assert (code, "no super node is specified" in text) == (0, True)
    code, text = run(ranktable, "convert", "new.json", "--to", "1.2")
    assert (code, "no super node is specified" in text) == (0, False)
    code, text = run(ranktable, "convert", "old.json", "--to", "1.2", "--sdid", "z=0")
    assert (code, '"z" is not a server of the table' in text) == (1, True)
    code, text = run(ranktable, "convert", "old.json", "--super-pod", "p=n")
    assert (code, "--super-pod and --sdid require --to 1.2" in text) == (2, True)


def test_a_name_that_no_job_reads(run):
    """A table under a name that RANK_TABLE_FILE does not take is written, and that is told."""
    code, text = build(run, "-o", "my.table")
    assert (code, '".json" at its end' in text, os.listdir(".")) == (0, True, ["my.table"])


@pytest.mark.parametrize(
    ("addresses", "told"), [("10.20.0.253", True), ("10.20.0.1", False), ("10.20.0.0/16", False)]
)
def test_addresses_at_the_end_of_a_network(run, addresses, told):
    """Counting over .255 is doubtful; a network that is named says where it ends."""
    arguments = ("--server", "a", "--devices", "4", "--device-ips", addresses)
    code, text = run(ranktable, "build", *arguments)
    assert (code, "is reserved in a /24 network" in text) == (0, told)


def test_merge(run):
    """Tables of several servers become one, numbered file by file; the same server is refused."""
    for name, first in (("a", "10.20.0.2"), ("b", "10.20.1.2")):
        run(ranktable, "build", "--server", name, "--devices", "2", "--device-ips", first,
            "-o", name + ".json")  # fmt: skip
    code, text = run(ranktable, "merge", "b.json", "a.json", "--target", "atlas_training")
    assert code == 0
    table = rank_table.parse(text).model
    assert [(process.rank_id, process.server_id) for process in table.processes] == [
        (0, "b"),
        (1, "b"),
        (2, "a"),
        (3, "a"),
    ]
    code, text = run(ranktable, "merge", "a.json", "b.json", "a.json")
    assert code == 1
    assert 'a.json is specified twice, so the server "a"' in text
    assert run(ranktable, "merge", "a.json", "none.json")[0] == 2


def test_show(run):
    """A table is printed with a row for each rank, as text and as JSON."""
    build(run, "-o", "table.json")
    code, text = run(ranktable, "show", "table.json")
    lines = text.splitlines()
    assert (code, lines[0]) == (0, "version 1.0, 2 servers, 16 ranks")
    assert lines[2].split() == ["rank", "server", "device", "address"]
    assert lines[11].split() == ["8", "10.0.0.2", "0", "10.20.0.10"]
    code, text = run(ranktable, "show", "table.json", "--format", "json")
    assert (code, json.loads(text)["ranks"]) == (0, 16)
    assert run(ranktable, "show", "-", input="{}")[0] == 1


def test_env_of_a_process(run):
    """Export lines, a file of variables and JSON hold the environment of a process."""
    build(run, "-o", "rank_table.json")
    common = ("--rank-table", "rank_table.json", "--job-id", "job", "--rank", "9")
    code, text = run(env, *common)
    assert code == 0
    assert text.startswith("unset CM_CHIEF_IP ")
    assert "export RANK_ID=9\nexport ASCEND_DEVICE_ID=1\n" in text
    assert "RANK_TABLE_FILE={}\n".format(os.path.abspath("rank_table.json")) in text
    code, text = run(env, *common, "--to", "dotenv", "--table-path", "/data/t.json")
    assert "RANK_TABLE_FILE=/data/t.json\n" in text
    code, text = run(env, *common, "--to", "json", "--set", "X=1")
    (process,) = json.loads(text)
    assert (
        process["server"],
        process["environment"]["X"],
        process["environment"]["RANK_ID"],
    ) == ("10.0.0.2", "1", "9")


def test_launchers(run):
    """One script for each server, in a directory; one alone on standard output."""
    build(run, "-o", "rank_table.json")
    common = ("--rank-table", "rank_table.json", "--job-id", "job", "--to", "launcher")
    code, text = run(env, *common, "-o", ".", "--", "python3", "train.py", "--epochs", "3")
    assert (
        code,
        sorted(os.path.basename(line) for line in text.splitlines()),
    ) == (0, ["launch_0_10.0.0.1.sh", "launch_1_10.0.0.2.sh"])
    assert "command=(python3 train.py --epochs 3)\n" in Path("launch_1_10.0.0.2.sh").read_text()
    assert run(env, *common, "-o", ".")[0] == 2
    assert run(env, *common, "-o", ".", "--force")[0] == 0
    assert run(env, *common)[0] == 2
    code, text = run(env, *common, "--server", "10.0.0.2")
    assert (code, "ranks=(8 9 10 11 12 13 14 15)\n" in text) == (0, True)
    assert run(env, *common, "--server", "10.0.0.3")[0] == 2
    code, text = run(env, *common, "--rank", "4-7")
    assert (code, "ranks=(4 5 6 7)\n" in text) == (0, True)
    assert run(env, *common, "--rank", "x")[0] == 2


def test_env_without_a_table(run):
    """CM_ variables, for the products that have them."""
    common = ("--worker", "10.0.0.1", "--worker", "10.0.0.2", "--job-id", "job", "--devices", "1")
    code, text = run(env, *common, "--rank", "1", "--target", "atlas_a2")
    assert code == 0
    assert "unset RANK_TABLE_FILE RANK_ID RANK_SIZE" in text
    assert "export CM_WORKER_IP=10.0.0.2\n" in text
    assert run(env, *common, "--target", "atlas_a3")[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--rank-table", "t.json"),
        ("--rank-table", "t.json", "--worker", "10.0.0.1", "--job-id", "j"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--to", "json", "true"),
        ("--worker", "10.0.0.1", "--job-id", "j"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--rank", "0", "true"),
        ("--rank-table", "-", "--job-id", "j"),
        ("--worker", "10.0.0.1", "--job-id", "", "--rank", "0"),
        ("--worker", "10.0.0.300", "--job-id", "j", "--rank", "0"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--rank", "0,0"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--to", "slurm", "--", ""),
        ("--worker", "10.0.0.1", "--job-id", "j", "--to", "slurm", "--source", "", "x"),
        (
            "--worker", "10.0.0.1", "--job-id", "j", "--target", "atlas_training",
            "--to", "kubernetes", "--image", "", "x",
        ),
        (
            "--worker", "10.0.0.1", "--job-id", "j", "--target", "atlas_training",
            "--to", "kubernetes", "--image", "i", "--namespace", "A_b", "x",
        ),
        ("--worker", "10.0.0.1", "--job-id", "j", "--devices", "7-3", "--rank", "0"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--rank", "x"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--rank", "0", "--set", "FOO"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--rank", "0", "--server", "10.0.0.1"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--to", "slurm"),
        ("--worker", "10.0.0.1", "--worker", "10.0.0.1", "--job-id", "j"),
        ("--worker", "10.0.0.1", "--job-id", "j", "--to", "kubernetes", "--image", "i", "x"),
        (
            "--worker", "10.0.0.1", "--job-id", "Res_Net", "--target", "atlas_training",
            "--to", "kubernetes", "--image", "i", "x",
        ),
    ],
)  # fmt: skip
def test_wrong_usage(run, arguments):
    """Wrong usage is exit code 2."""
    assert run(env, *arguments)[0] == 2


@pytest.mark.parametrize(
    ("form", "arguments", "reason"),
    [
        (
            "slurm",
            ("--rank", "0"),
            "--rank has no effect with --to slurm; use --rank with --to export|",
        ),
        ("ssh", ("--server", "a"), "--server has no effect with --to ssh"),
        (
            "slurm",
            ("--image", "i"),
            "--image has no effect with --to slurm; use --image with --to kube",
        ),
        ("ssh", ("--namespace", "n"), "--namespace has no effect with --to ssh"),
        ("json", ("--source", "s"), "use --source with --to launcher|ssh|slurm|kubernetes"),
        ("kubernetes", ("--port", "60001"), "--port has no effect with --to kubernetes"),
        (
            "json",
            ("--strict",),
            "--strict has no effect with --to json; use --strict with --check",
        ),
        ("json", ("--table-path", "t"), "--table-path requires --rank-table"),
        ("json", ("--check",), "has no effect with --check"),
    ],
)
def test_options_that_say_nothing(run, form, arguments, reason):
    """An option that the form ignores is a wrong call, and the reason is told."""
    job = ("--worker", "10.0.0.1", "--job-id", "j", "--to", form)
    code, text = run(env, *job, *arguments)
    assert (code, reason in text) == (2, True), text


@pytest.mark.parametrize("name", ["a b", "0123"])
def test_a_job_is_judged_before_it_is_written(run, name):
    """What the check would warn of is told when it is written; what it refuses is not written."""
    job = ("--worker", "10.0.0.1", "--rank", "0", "--target", "910A")
    code, text = run(env, *job, "--job-id", name, "-o", "job.sh")
    assert (code, "NPU677" in text, os.listdir(".")) == (0, True, ["job.sh"])
    code, text = run(env, *job, "--job-id", "job", "--devices", "9", "-o", "other.sh")
    assert (code, "device 8 does not exist: the devices of a server are" in text) == (2, True)
    assert os.listdir(".") == ["job.sh"]


def test_check_of_files(run):
    """Files of variables are checked, alone and against each other and the table."""
    build(run, "-o", "rank_table.json")
    common = ("--rank-table", "rank_table.json", "--job-id", "job", "--to", "dotenv")
    for rank in ("0", "1"):
        run(env, *common, "--rank", rank, "-o", rank + ".env")
    table = ("--rank-table", "rank_table.json")
    assert run(env, "--check", "0.env", "1.env", *table)[0] == 0
    code, text = run(env, "--check", "0.env", "-", *table, input=Path("0.env").read_text())
    assert (code, "NPU675" in text) == (1, True)
    with open("1.env", "a") as stream:
        stream.write("CM_CHIEF_PORT=x\n")
    code, text = run(env, "--check", "1.env", "none.env", "--format", "json")
    found = json.loads(text)["diagnostics"]
    assert {"NPU670", "NPU671", "NPU715"} == {diagnostic["rule"] for diagnostic in found}


def test_check_of_an_environment_without_a_job(run):
    """That nothing was there to check is said."""
    code, text = run(env, "--check", env={**dict.fromkeys(VARIABLES), "PYTHONPATH": "."})
    assert (code, "no environment variable of an NPU job is set" in text) == (0, True)
    Path("other.env").write_text("PYTHONPATH=.\nJAVA_HOME=/a\n")
    code, text = run(env, "--check", "other.env")
    assert (code, "no environment variable of an NPU job is set" in text) == (0, True)


def test_check_of_this_environment(run):
    """Without files the environment of the command is checked, with the files it names."""
    build(run, "-o", "rank_table.json")
    right = {
        "RANK_TABLE_FILE": "rank_table.json", "RANK_SIZE": "16", "RANK_ID": "0", "JOB_ID": "job",
    }  # fmt: skip
    assert run(env, "--check", env=right)[0] == 0
    code, text = run(env, "--check", env={**right, "RANK_SIZE": "8"})
    assert (code, "RANK_SIZE is 8, but the rank table has 16 devices" in text) == (1, True)


@pytest.mark.parametrize(
    ("form", "more", "expected"),
    [
        ("ssh", (), "start_all.sh"),
        ("slurm", (), "#SBATCH --ntasks-per-node=2"),
        ("kubernetes", ("--image", "tf:1"), "batch.volcano.sh/v1alpha1"),
    ],
)
def test_engines(run, tmp_path, form, more, expected):
    """A job for an engine is written to a file, or says what is missing."""
    arguments = ["--worker", "10.0.0.1", "--devices", "2", "--job-id", "resnet"]
    arguments += ["--target", "atlas_training", "--to", form, *more]
    code, output = run(env, *arguments, "-o", "out", "--", "python3", "train.py")
    assert code == 0, output
    text = output if form == "ssh" else Path("out").read_text(encoding="utf-8")
    assert expected in text
    assert run(env, *arguments, "-o", "out", "--", "python3", "train.py")[0] == 2
    if form != "ssh":
        assert run(env, *arguments)[0] in (1, 2)


def test_build_asks_for_a_server(run):
    """Without a server the command asks for one, and names the options that give it."""
    code, text = run(ranktable, "build")
    assert code == 2
    assert "set --server" in text


def test_merge_reports_every_file(run):
    """What is wrong with any of the files is said at once, those that do not exist too."""
    build(run, "-o", "one.json")
    with open("count.json", "w", encoding="utf-8") as stream:
        stream.write(OLD.replace('"group_count": "1"', '"group_count": "2"'))
    code, text = run(ranktable, "merge", "one.json", "count.json", "none.json", "no.json")
    assert code == 2
    assert 'group_count is "2", but there is 1 group' in text
    assert "none.json, no.json does not exist" in text


def test_a_template_is_said_to_be_one(run):
    """A table with placeholders is no table yet, and the command says why it has none."""
    with open("template.json", "w", encoding="utf-8") as stream:
        stream.write('{"status": "completed", "version": "1.0", "server_list": [{instance_list}]}')
    code, text = run(ranktable, "show", "template.json")
    assert code == 1
    assert "this is a template: {instance_list} is a placeholder" in text
