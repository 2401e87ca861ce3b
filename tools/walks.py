"""How many modules an answer passes through: ``python -m tools.walks [--list]``.

Each walk is made twice in one process and the second time is traced, so that what is imported or
computed once does not count: how many modules of the package are entered, and how often a call
leads from one module into another.
"""

import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

PACKAGE = "npu_config"

CONFIGURATION = """\
version: 1
target:
  product: atlas_a2
precision_mode: allow_mix_precision
iterations_per_loop: 10
enable_data_pre_proc: true
dump_step: "0|5|10-20"
"""
SCRIPT = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iteration_per_loop"].i = 10
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
with tf.Session(config=config) as sess:
    sess.run(tf.constant(1))
"""
RANK_TABLE = """\
{
  "status": "completed", "version": "1.0", "server_count": "1",
  "server_list": [
    {"server_id": "10.0.0.1", "device": [
      {"device_id": "0", "device_ip": "192.168.100.100", "rank_id": "0"},
      {"device_id": "1", "device_ip": "192.168.100.101", "rank_id": "0"}
    ]}
  ]
}
"""
LAUNCH_SCRIPT = """\
#!/bin/bash
export RANK_SIZE=8
export RANK_TABLE_FILE=/home/job/rank_table.json
for i in 0 1 2 3 4 5 6 7; do
  export RANK_ID=$i DEVICE_ID=$i
  python3 train.py &
done
export RANK_SIZE=eight
python3 train.py
"""


class Walk(NamedTuple):
    """What one answer passed through."""

    modules: List[str]
    changes: int


def trace(action: Callable[[], Any]) -> Walk:
    """The modules that an action enters, in order of first entry."""
    entered: Dict[str, None] = {}
    changes = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal changes
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.split(".")[0] == PACKAGE:
            entered.setdefault(name)
            caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back else ""
            changes += caller != name

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return Walk(list(entered), changes)


def walks(folder: Path) -> Iterator["tuple[str, Callable[[], Any]]"]:
    """The name and the action of each walk, on files in a folder."""
    import npu_config as npu

    def written(name: str, text: str) -> str:
        path = folder / name
        path.write_text(text, "utf-8")
        return str(path)

    configuration = written("config.yaml", CONFIGURATION)
    yield "YAML to bytes", lambda: npu.NpuConfig.load(configuration).to_bytes()
    script = written("train.py", SCRIPT)
    yield "script to diagnostics", lambda: list(npu.check(script))
    table = written("rank_table.json", RANK_TABLE)
    yield "rank table to finding", lambda: list(npu.check(table))

    wrong: Any = {"dump_mode": "ALL", "enable_dump": True, "dump_path": "/d"}

    def refused() -> None:
        try:
            npu.NpuConfigBuilder().set(**wrong).build()
        except npu.NpuConfigError:
            return
        raise AssertionError("the value was accepted")

    yield "set() to error", refused
    launch = written("run.sh", LAUNCH_SCRIPT)
    yield "launch script to finding", lambda: list(npu.check(launch))


def main(arguments: List[str]) -> int:
    """Print each walk; with ``--list`` its modules, too."""
    print("{:<26} {:>8} {:>8}".format("walk", "modules", "changes"))
    with tempfile.TemporaryDirectory() as folder:
        for name, action in walks(Path(folder)):
            action()
            walk = trace(action)
            print("{:<26} {:>8} {:>8}".format(name, len(walk.modules), walk.changes))
            if "--list" in arguments:
                print("".join("    {}\n".format(module) for module in walk.modules), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
