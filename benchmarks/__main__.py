"""``python -m benchmarks [--page FILE] [NAME ...]``: run the benchmarks, all or the named ones."""

import importlib
import os
import pkgutil
import sys
from typing import Dict, List

import benchmarks
from benchmarks import _page
from benchmarks._measure import Row, in_own_process, show


def main() -> int:
    """Run and print, and write the page that is asked for; returns the exit code."""
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]
    chosen = sys.argv[1:]
    page = ""
    if chosen[:1] == ["--page"]:
        page, chosen = chosen[1], chosen[2:]
    chosen = chosen or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        print("no benchmark {}; there are: {}".format(", ".join(unknown), ", ".join(names)))
        return 2
    load = os.getloadavg()[0]  # of others: soon it is that of the benchmarks
    print("Python {}, load {:.1f}".format(sys.version.split()[0], load))
    tables: Dict[str, List[Row]] = {}
    titles: Dict[str, str] = {}
    for name in chosen:
        module = importlib.import_module("benchmarks." + name)
        titles[name] = (module.__doc__ or "").splitlines()[0]
        print("\n{}: {}".format(name, titles[name]))
        tables[name] = in_own_process(module.__name__)
        show(tables[name])
    if page:
        with open(page, "w", encoding="utf-8") as stream:
            stream.write(_page.render(tables, titles, load))
    return 0


if __name__ == "__main__":
    sys.exit(main())
