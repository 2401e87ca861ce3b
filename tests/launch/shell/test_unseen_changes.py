"""A variable that a statement may change has no known value after it."""

import json
import textwrap

import pytest

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.check import check_script
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript

CHANGES = [
    ": $((A /= 2))",
    "echo $((A <<= 1))",
    "x=$((A--))",
    "let A/=2",
    'let "A -= 4" B=1',
    "declare -i A=2+2",
    "A[0]=4",
    "printf -v A %x 4",
    "x=$1; printf -v $x 4",
    'f() { printf -v "$1" %q 4; }; f A',
    'f() { read -r "$1"; }; f $2',
    "declare -n r=A; r=4",
    "f() { local -n r=$1; r=4; }; f A",
    'while read -r k v; do export "$k=$v"; done < job.env',
    "export $(cat job.env)",
    "export $(grep -v '^#' job.env | xargs)",
    'declare -x "$1=$2"',
]

IS_GONE = [
    "export -n A; python3 x.py",
    "declare +x A; python3 x.py",
    "env -u A python3 x.py",
    "env -uA B=1 nohup python3 x.py",
    "env --unset=A python3 x.py",
    "env -i B=1 python3 x.py",
    "unset A; export $(cat job.env); python3 x.py",
]

IS_KEPT = [
    "declare -i B=2+2 A=8",
    "[ $A == 9 ] || x=$((A - 1))",
    'read -p "$1" B',
    "printf '%s' $A; echo A++",
    "export -n B; env -u B true",
    "((A == 9))",
]


def last(text):
    """What the last command gets, of variables that are known to be exported."""
    return follow(ShellScript(text, None), {}.get)[0].launches[-1].environment


@pytest.mark.parametrize("change", CHANGES)
def test_a_variable_that_may_be_changed_is_not_known(change):
    """It may be another number now."""
    found = last("export A=8\n{}\npython3 x.py\n".format(change))
    assert found["A"] is UNKNOWN


@pytest.mark.parametrize("text", IS_GONE)
def test_a_variable_that_is_taken_away_is_not_passed_on(text):
    """Nothing is known of it: another ``A`` may come from outside."""
    run, _ = follow(ShellScript("export A=8; " + text, None), {}.get)
    assert "A" not in run.launches[-1].environment


@pytest.mark.parametrize("text", IS_KEPT)
def test_a_variable_that_stays_is_known(text):
    """A comparison, an option's word and another name change nothing."""
    found = last("export A=8\n{}\npython3 x.py\n".format(text))
    expected = "8"
    assert expected == found["A"]


def test_a_variable_that_env_removes_is_not_set():
    """``env -u RANK_ID`` is known to remove it."""
    launch = follow(ShellScript("export A=1\nenv -u A python3 x.py", None), {}.get)[0].launches[0]
    assert {"A"} == set(launch.unset)


TABLE = {
    "version": "1.0",
    "status": "completed",
    "server_count": "1",
    "server_list": [
        {"server_id": "a", "device": [{"device_id": str(n), "rank_id": str(n)} for n in range(2)]}
    ],
}


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("true", True),
        ("cat table.json", True),
        ("python3 make.py ./table.json", False),
        ("scp host:/table.json $T", False),
        ("cp other.json $T", False),
        ("make_table --output table.json", False),
    ],
)
def test_a_table_that_a_program_may_write_is_not_the_one_that_is_there(tmp_path, line, known):
    """RANK_SIZE is compared with the table only when it is still the same."""
    (tmp_path / "table.json").write_text(json.dumps(TABLE))
    script = """\
    T={}/table.json
    {}
    export RANK_TABLE_FILE=$T RANK_SIZE=4 RANK_ID=0 JOB_ID=a
    python3 train.py
    """
    text = textwrap.dedent(script).format(tmp_path, line)
    found, _ = check_script(text, str(tmp_path / "run.sh"))
    assert (["NPU676"] if known else []) == [each.rule for each in found]


def test_a_table_that_only_hccl_refuses_is_reported(tmp_path):
    """A comment in it is read here, but not there."""
    (tmp_path / "table.json").write_text("// ours\n" + json.dumps(TABLE))
    script = "export RANK_TABLE_FILE={}/table.json RANK_SIZE=2 RANK_ID=0 JOB_ID=a\npython3 x.py\n"
    found, _ = check_script(script.format(tmp_path), str(tmp_path / "run.sh"))
    expected = ["NPU622"]
    assert expected == [each.rule for each in found]
