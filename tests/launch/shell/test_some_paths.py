"""Values that a variable has on some of the paths of a launch script only."""

import pytest

from npu_config.__main__ import main

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
