"""The table of the vendor's modules: their names, and what stands for each.

``modules.txt`` has the module paths of ``npu_bridge`` and ``hccl``.

Under each path, the sources of its names:

- a module of this package (``hooks``), for what it offers under the same name;
- ``npu_init: *``, for every name of ``npu_config.npu_init``;
- ``operators``, for the object with every operator of the adapter's library;
- ``device``, for what only the vendor's library can do: a function that raises when called;
- ``import``, for other modules of the vendor's;
- another path of the table, for what the vendor imports from there.

``name=other`` is a name that its source calls otherwise.

Source: facts modules.yaml, the module paths and names of npu_bridge 2021 to 2026 and hccl.
"""

import os
from typing import Dict, Mapping, NamedTuple


class Home(NamedTuple):
    """Where a name of a vendor's module comes from.

    Attributes:
        source: what the table says.
        name: its name there.
    """

    source: str
    name: str


_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.txt")


def _read(path: str) -> Dict[str, Dict[str, Home]]:
    modules: Dict[str, Dict[str, Home]] = {}
    names: Dict[str, Home] = {}
    source = ""
    with open(path, encoding="utf-8") as table:
        for line in table.read().splitlines():
            if not line.startswith(" "):
                names = modules.setdefault(line, {})
                continue
            head, colon, rest = line.rpartition(": ")
            source = head.strip() if colon else source
            for word in rest.split():
                name, _, there = word.partition("=")
                names[name] = Home(source, there or name)
    return modules


MODULES: Mapping[str, Mapping[str, Home]] = _read(_TABLE)
"""Path of a vendor's module to its names and their homes."""


def is_package(path: str) -> bool:
    """True for a path that has other paths of the table below it."""
    return any(other.startswith(path + ".") for other in MODULES)
