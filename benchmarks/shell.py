"""Launch scripts of 1,000 lines: the check against tree-sitter's bare parse of the same text.

One family of lines each, all that a launch script is made of; CPU time of both in turns.
"""

import time
from typing import Any, Dict, List

from benchmarks._measure import Row, best
from npu_config.launch.shell.syntax import parser
from npu_config.readers.shell_file import read

LINES = 1000
HEAD = "#!/bin/bash\nexport RANK_SIZE=8\nexport RANK_TABLE_FILE=/x/rank_table.json\n"
BLOCKS: Dict[str, str] = {
    "commands": "echo step {0} of the training > log_{0}.txt 2>&1\ncp -r ${{HOME}}/a{0} ./out/\n",
    "exports": "export VAR{0}=value_{0}\nOTHER{0}=${{VAR{0}}}/x\n",
    "if": 'if [ "$1" == "a{0}" ]; then\n  export DEVICE_ID=$((RANK_ID - {0}))\n  X{0}=1\nfi\n',
    "case": "case $1 in\n a{0}) VAL{0}=1;;\n *) echo no;;\nesac\n",
    "for, three rounds": "for i in 0 1 2; do\n  export DEVICE_ID=$i\n  echo $i\ndone\n",
    "functions": "set_{0}() {{\n  export VAR{0}=$1\n}}\nset_{0} {0}\n",
    "processes": "python3 train.py --data=$HOME/x --idx={0} > log_{0}.txt 2>&1 &\nwait\n",
    "exports and processes": "export VAR{0}=1\npython3 train.py --idx={0}\n",
    "a usual script": """# part {0}
export JOB_ID=job_{0}
for para in $*; do
  if [[ $para == --data_path* ]]; then
    data_path=`echo ${{para#*=}}`
  elif [[ $para == --steps* ]]; then
    steps=`echo ${{para#*=}}`
  fi
done
if [ ! -d "$data_path" ]; then
  mkdir -p ${{data_path}}/ckpt
else
  rm -rf ${{data_path}}/ckpt
fi
cd $cur_path/../
echo "step {0}: ${{data_path}}"
python3 train.py --id {0} --data ${{data_path}} > log_{0}.txt 2>&1
wait
""",
}


def script(block: str) -> bytes:
    """A thousand lines of one kind."""
    count = LINES // block.count("\n")
    return (HEAD + "".join(map(block.format, range(count)))).encode()


def rows() -> List[Row]:
    """A row for each family; none without the parser."""
    tool = parser()
    return [] if tool is None else [_row(tool, *family) for family in BLOCKS.items()]


def _row(tool: Any, name: str, block: str) -> Row:
    data = script(block)
    checked, parsed = best(
        [lambda: read(data, "x.sh").judge(), lambda: tool.parse(data)], 1, 15, time.process_time
    )
    return Row(name, checked * 1e3, "tree_sitter parses", parsed * 1e3, "ms", 2.0)
