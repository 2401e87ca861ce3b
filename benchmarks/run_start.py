"""The start of a script by ``npu-config run``, which may take 60 ms more than ``python``."""

import os
import tempfile
from typing import List

from benchmarks._measure import Row, processes

_MORE = 60.0
_COMMAND = "import sys; from npu_config.__main__ import main; sys.exit(main())"


def rows() -> List[Row]:
    """One row for the command, and one for ``python -m npu_config``."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "s.py")
        with open(script, "w", encoding="utf-8") as stream:
            stream.write("print(1)\n")
        plain, *ours = processes(
            [
                [script],
                ["-c", _COMMAND, "run", script],
                ["-m", "npu_config", "run", script],
            ]
        )
    return [
        Row(what, took * 1e3, "python s.py + 60 ms", plain * 1e3 + _MORE, "ms", 1.0)
        for what, took in zip(("npu-config run s.py", "python -m npu_config run s.py"), ours)
    ]
