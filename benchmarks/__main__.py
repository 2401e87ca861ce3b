"""``python -m benchmarks [NAME ...]``: run the benchmarks, all or the named ones."""

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks._measure import show


def main() -> int:
    """Run and print; returns the exit code."""
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]
    chosen = sys.argv[1:] or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        print("no benchmark {}; there are: {}".format(", ".join(unknown), ", ".join(names)))
        return 2
    print("Python {}".format(sys.version.split()[0]))
    for name in chosen:
        module = importlib.import_module("benchmarks." + name)
        print("\n{}: {}".format(name, (module.__doc__ or "").splitlines()[0]))
        show(module.rows())
    return 0


if __name__ == "__main__":
    sys.exit(main())
