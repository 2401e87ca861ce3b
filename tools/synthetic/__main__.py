"""``python -m tools.synthetic KIND PATH [--seed N] [name=value ...]``."""

import argparse
import sys
from pathlib import Path

from tools.synthetic.kinds import KINDS, make


def main() -> int:
    """Make one data set; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.synthetic",
        description="Make a small synthetic data set.",
        epilog="\n".join(
            "{:13}{}".format(name, (kind.__doc__ or "").split("\n")[0])
            for name, kind in sorted(KINDS.items())
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=sorted(KINDS), metavar="KIND")
    parser.add_argument("path", type=Path, metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("values", nargs="*", metavar="name=value")
    arguments = parser.parse_intermixed_args()
    try:
        make(arguments.kind, arguments.path, arguments.values, arguments.seed)
    except ValueError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
