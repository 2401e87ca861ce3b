"""Launch scripts that are checked together: a place in a job that two of them take."""

import json

import pytest

from npu_config.launch.shell.syntax import parser

pytestmark = pytest.mark.skipif(parser() is None, reason="the parser of bash is not installed")

SCRIPT = """\
#!/bin/bash
export RANK_TABLE_FILE={table}
export RANK_SIZE={size} JOB_ID={job}
export ASCEND_DEVICE_ID={device}
export RANK_ID={rank}
{before}
{command}
"""
USUAL = {
    "table": "/data/rank_table.json",
    "size": "2",
    "job": "resnet",
    "device": "0",
    "rank": "0",
    "before": "",
    "command": "python3 train.py --data=/data",
}
CM = """\
export CM_CHIEF_IP=10.0.0.1 CM_CHIEF_PORT=6000 CM_CHIEF_DEVICE=0
export CM_WORKER_SIZE=4 CM_WORKER_IP={} JOB_ID=resnet
export ASCEND_DEVICE_ID={}
python3 train.py
"""


def script(**other):
    """A launch script of one rank."""
    return SCRIPT.format(**{**USUAL, **other})


def clashes(npu, folder, texts):
    """Severity, path, line and message of what is found between scripts, in order."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    found = npu("check", "--format", "json", *texts)
    return [
        (each["severity"], each["path"], each["line"], each["message"])
        for each in json.loads(found.out)["diagnostics"]
        if each["rule"] == "NPU675"
    ]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SAME = (
    '"0" is also set in a.sh:5, with the same rank table; every process of a job needs its own '
    "value"
)
WRONG = {
    "copies": ({}, "warning"),
    "the rank written otherwise": ({"rank": "'0'"}, "warning"),
    "another device": ({"device": "1"}, "error"),
    "the device as an argument": (
        {"device": "1", "command": "python3 train.py --data=/data"},
        "error",
    ),
    "a table by another way": ({"table": "/data/../data/rank_table.json"}, "warning"),
    "a job that is not known": ({"job": "$1"}, "warning"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_rank_that_two_scripts_take(npu, tmp_path, name):
    """The later one has the finding, which names the place in the other."""
    other, severity = WRONG[name]
    found = clashes(npu, tmp_path, {"a.sh": script(), "b.sh": script(**other)})
    expected = [(severity, "b.sh", 5, "RANK_ID=" + SAME)]
    assert expected == found


@pytest.mark.parametrize(
    "words",
    ["--rank_id=0 --rank_id=0", "--device 0 --device 1", "-worker-index=1 -worker-index=2"],
)
def test_arguments_that_tell_processes_apart(npu, tmp_path, words):
    """The number of a device or a rank may differ; the scripts are of one job all the same."""
    half = len(words.split()) // 2
    texts = {
        name: script(command="python3 train.py " + " ".join(part))
        for name, part in (("a.sh", words.split()[:half]), ("b.sh", words.split()[half:]))
    }
    assert len(clashes(npu, tmp_path, texts)) == 1


def test_a_folder_of_four(npu, tmp_path):
    """Each copy is named once, beside the first one; a comment in a script silences it."""
    for name in "abcd":
        (tmp_path / (name + ".sh")).write_text(script(rank="1" if name == "b" else "0"))
    found = npu("check", ".")
    assert found.code == 0
    assert [line.split(":")[0] for line in found.out.splitlines() if "[NPU675" in line] == [
        "c.sh",
        "d.sh",
    ]
    assert npu("check", "--strict", ".").code == 1
    for name in "cd":
        text = script().replace("RANK_ID=0", "RANK_ID=0 # npu: ignore[NPU675]")
        (tmp_path / (name + ".sh")).write_text(text)
    assert npu("check", "--strict", "--notes", ".").code == 0
    assert "NPU" not in npu("check", "--strict", "--notes", ".").out
    assert "NPU675" not in npu("check", "--ignore", "NPU675", "a.sh", "b.sh").out


def test_a_job_without_rank_table(npu, tmp_path):
    """Two processes of one server take one device."""
    texts = {"a.sh": CM.format("10.0.0.2", 1), "b.sh": CM.format("10.0.0.2", 1)}
    [(severity, path, line, message)] = clashes(npu, tmp_path, texts)
    assert (severity, path, line) == ("error", "b.sh", 3)
    assert 'ASCEND_DEVICE_ID="1" is also set in a.sh:3, on the same server' in message
    texts = {"a.sh": CM.format("10.0.0.2", 1), "b.sh": CM.format("10.0.0.3", 1)}
    assert clashes(npu, tmp_path, texts) == []


SEVERAL = "for i in 0 1 {}; do RANK_ID=$i ASCEND_DEVICE_ID=$i python3 train.py & done"
SILENT = {
    "different ranks": [{}, {"rank": "1"}],
    "different tables": [{}, {"table": "/data/other.json"}],
    "different jobs": [{}, {"job": "bert"}],
    "different sizes": [{}, {"size": "4"}],
    "one rank": [{"size": "1"}, {"size": "1"}],
    "a rank from outside": [{}, {"rank": "$1"}],
    "a default": [{}, {"rank": "${RANK_ID:-0}"}],
    "a table from outside": [{"table": "$1"}, {"table": "$1"}],
    "another program": [{}, {"command": "python3 eval.py --data=/data"}],
    "another mode": [{}, {"command": "python3 train.py --data=/eval"}],
    "another size of batches": [
        {"command": "python3 train.py --batch_size=32"},
        {"command": "python3 train.py --batch_size=64"},
    ],
    "a mode from outside": [{"command": "python3 train.py $1"}, {"command": "python3 train.py"}],
    "one runs the other": [{}, {"before": "bash a.sh"}],
    "one reads the other": [{}, {"before": ". ./a.sh"}],
    "a table that is written": [{}, {"before": "python3 make.py > /data/rank_table.json"}],
    "whole jobs": [{"command": SEVERAL.format("")}, {"command": SEVERAL.format("")}],
    "PyTorch": [{"command": "torchrun train.py"}, {"command": "torchrun train.py"}],
    "a condition": [{}, {"before": 'if [ -n "$1" ]; then export RANK_ID=1; fi'}],
    "nothing that is started": [{"command": "echo"}, {"command": "echo"}],
    "not bash": [{}, {"before": "if"}],
}


@pytest.mark.parametrize("name", sorted(SILENT))
def test_scripts_that_only_look_alike(npu, tmp_path, name):
    """Nothing is said where the scripts need not be processes of one job."""
    one, two = SILENT[name]
    assert clashes(npu, tmp_path, {"a.sh": script(**one), "b.sh": script(**two)}) == []
    assert clashes(npu, tmp_path, {"b.sh": script(**two), "a.sh": script(**one)}) == []


def test_half_of_the_ranks_each(npu, tmp_path):
    """Two scripts that start the ranks of a server each, with the same ranks."""
    texts = {
        name: script(size="4", command=SEVERAL.format("")).replace("export RANK_ID=0\n", "")
        for name in ("a.sh", "b.sh")
    }
    found = clashes(npu, tmp_path, texts)
    assert [(path, message[:11]) for _, path, _, message in found] == [
        ("b.sh", 'RANK_ID="0"'),
        ("b.sh", 'RANK_ID="1"'),
    ]


def test_scripts_of_different_folders(npu, tmp_path):
    """They may be of different jobs."""
    assert clashes(npu, tmp_path, {"one/a.sh": script(), "two/a.sh": script()}) == []
