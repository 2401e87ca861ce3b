"""docs/benchmarks.md: the tables of a run, the machine, the date."""

import datetime
import os
import platform
from typing import Dict, List

from benchmarks._measure import Row

HEAD = """\
# Benchmarks

Made by `make bench` on {date}: Python {python}, {machine}, {cores} cores, load {load:.1f} before.
Every line compares with a named baseline in the same run; the ratio is what counts,
and what the budget limits. `OVER` marks a ratio above its budget. A load above 1 is other
work on the machine: what is compared with a second or with another process is then too slow.
"""
VENDOR = """\

## Beside the vendor's tools

Measured once on a machine of the same kind; their code is not part of this repository.

| what | npu_config | the vendor's |
| --- | --- | --- |
| build 20 options, against bare assignments | *core* above | NPURunConfig, checks little: 12 x |
| migrate one script | *migrate* above | `convert_tf2npu`: 0.34 s, stops at the first bad file |
"""


def render(tables: Dict[str, List[Row]], titles: Dict[str, str], load: float) -> str:
    """The page; ``load`` is that of the machine before the first benchmark."""
    parts = [
        HEAD.format(
            date=datetime.date.today().isoformat(),
            python=platform.python_version(),
            machine=platform.machine(),
            cores=os.cpu_count(),
            load=load,
        )
    ]
    for name, rows in tables.items():
        if not rows:
            continue  # it needs TensorFlow
        parts.append("\n## {}\n\n{}\n".format(name, titles[name]))
        parts.append(
            "| what | ours | baseline | | ratio | budget |\n| --- | --- | --- | --- | --- | --- |"
        )
        for row in rows:
            over = " OVER" if row.ours > row.budget * row.baseline else ""
            parts.append(
                "| {} | {:.1f} {} | {} | {:.1f} {} | {:.2f}{} | {:.2f} |".format(
                    row.what,
                    row.ours,
                    row.unit,
                    row.baseline_name,
                    row.baseline,
                    row.unit,
                    row.ours / row.baseline,
                    over,
                    row.budget,
                )
            )
    return "\n".join(parts) + "\n" + VENDOR
