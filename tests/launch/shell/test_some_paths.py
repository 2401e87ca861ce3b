"""Values that a variable has on some of the paths of a launch script only."""

import pytest

from npu_config.__main__ import main
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript
from npu_config.launch.shell.words import NOT_KNOWN

pytest.importorskip("click")

LAUNCH = """\
[ -n "$X" ] && export HCCL_CONNECT_TIMEOUT=long
case $1 in
  a) export RANK_SIZE=1 ;;
  b) export RANK_SIZE=eight ;;
  c) export RANK_SIZE=never; exit 1 ;;
esac
if [ "$2" = x ]; then export ASCEND_GLOBAL_LOG_LEVEL=loud; fi
: ${HCCL_BUFFSIZE:=200M}; export HCCL_BUFFSIZE
export HCCL_WHITELIST_DISABLE=${3-yes}
ASCEND_GLOBAL_LOG_LEVEL=1
eval 'export ASCEND_DEVICE_ID=-1'
python3 train.py
"""


@pytest.mark.parametrize(
    ("imported", "lines"),
    [
        ("npu_bridge.npu_init", {1, 4, 8, 9, 11}),
        (None, {1, 4, 8, 9, 11}),
        ("torch", set()),
    ],
)
def test_some_paths(tmp_path, monkeypatch, capsys, imported, lines):
    """A wrong value is found in its branch, unless the branch ends or another value follows.

    So is a wrong default, whether the started script is there or not; jobs of other frameworks
    are not judged.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(LAUNCH)
    if imported is not None:
        (tmp_path / "train.py").write_text("import {}\n".format(imported))
    assert main(["check", "launch.sh"]) == bool(lines)
    said = capsys.readouterr().out.splitlines()
    assert {int(line.split(":")[1]) for line in said if line.startswith("launch.sh:")} == lines


@pytest.mark.parametrize(
    ("before", "certain", "possible"),
    [
        ("set -a; A=1", "1", set()),
        ("set -a; set +a; A=1", None, set()),
        ("if foo; then set -a; fi; A=1", None, {"1"}),
        ("if foo; then set -a; else set -a; fi; A=1", "1", set()),
        ("foo && set -a; A=1; A=2", None, {"2"}),
        ("foo && set -a; export A=1", "1", set()),
        ("set -a; foo && set +a; A=1", None, {"1"}),
        ("foo && set -a; set -a; A=1", "1", set()),
        ("A=1; if foo; then export A; fi", None, {"1"}),
        ("A=1; if foo; then export A; fi; A=2", None, {"2"}),
        ("A=1; if foo; then export A; fi; export A", "1", set()),
        ("if foo; then export A=1; fi; A=2", None, {"2"}),
        ("export A=1; if foo; then export -n A; fi", None, {"1"}),
        ("export A=1; if foo; then A=2; fi", UNKNOWN, {"1", "2"}),
        ("export A; A=1", "1", set()),
        ("while foo; do export A=1; done", UNKNOWN, {"1"}),
        ("while foo; do A=1; done", None, set()),
        ("export A=1; export B=2 | A=3", "1", set()),
        ("export A=1; A=2 | { A=3; foo; }", "1", set()),
    ],
)
def test_what_a_program_gets(before, certain, possible):
    """What it certainly gets, and what it gets on some of the paths."""
    (launch,) = follow(ShellScript(before + "; python3 x.py", "a.sh"), lambda _: None)[0].launches
    assert launch.environment.get("A") == certain
    assert "A" not in launch.unset
    assert {value for value, _ in launch.doubtful.get("A", NOT_KNOWN).maybe} == possible


def test_what_a_part_of_a_pipeline_sets():
    """The others do not get it, and nothing has it behind the pipeline."""
    text = "export A=1 | python3 x.py --a\nA=2 | export A | python3 x.py --b\npython3 x.py --c\n"
    launches = follow(ShellScript("unset A\n" + text, "a.sh"), lambda _: None)[0].launches
    assert [each.environment for each in launches] == [{}, {}, {}]
    assert all("A" in each.unset for each in launches)
