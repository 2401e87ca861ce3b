"""The next free id of each band of rules: ``python -m tools.rule_ids [BAND]``.

New ids have four digits (NPU1001); those of three digits are the old ones.
"""

import sys
from typing import Iterable

from npu_config.core.diagnostics import REGISTRY
from npu_config.rulebook import load_all
from tools.reference.rules import BANDS


def next_id(band: str, ids: Iterable[str]) -> str:
    """The id of four digits behind the last one of a band."""
    numbers = [int(id[3:]) for id in ids if id[3] == band and len(id) == len("NPU1001")]
    return "NPU{}".format(max([int(band) * 1000, *numbers]) + 1)


def main() -> int:
    """Print the next free id of the bands that were named, or of all."""
    load_all()
    wanted = sys.argv[1:] or list(BANDS)
    unknown = [band for band in wanted if band not in BANDS]
    if unknown:
        print("no such band: {}; there are {}".format(", ".join(unknown), ", ".join(BANDS)))
        return 2
    for band in wanted:
        print("{}  {}".format(next_id(band, REGISTRY), BANDS[band]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
