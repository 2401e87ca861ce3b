"""``make dist``: the source distribution and the wheel in dist/, and what has to be in them.

``python -m tools.dist`` builds both with ``python -m build``; ``--check`` only looks at those
that are there.
"""

import glob
import os
import subprocess
import sys
import tarfile
import zipfile
from typing import List, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(ROOT, "dist")


def main(arguments: Sequence[str]) -> int:
    """Build, look inside; returns the exit code."""
    if "--check" not in arguments:
        for old in made():
            os.remove(old)
        subprocess.run([sys.executable, "-m", "build", "-o", DIST, ROOT], check=True)
    wheels = [path for path in made() if path.endswith(".whl")]
    sources = [path for path in made() if path.endswith(".tar.gz")]
    if len(wheels) != 1 or len(sources) != 1:
        print("dist/ does not hold one wheel and one source distribution")
        return 1
    wrong = wrong_in_wheel(names_of_wheel(wheels[0])) + wrong_in_source(names_of(sources[0]))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def made() -> List[str]:
    """The files of dist/ that this makes; bundles are others'."""
    found = glob.glob(os.path.join(DIST, "*.whl")) + glob.glob(os.path.join(DIST, "*.tar.gz"))
    return [path for path in found if "-bundle-" not in os.path.basename(path)]


def names_of_wheel(path: str) -> List[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def names_of(path: str) -> List[str]:
    """The files of a source distribution, without the folder that all are in."""
    with tarfile.open(path) as archive:
        return [m.name.split("/", 1)[1] for m in archive.getmembers() if m.isfile()]


def modules() -> List[str]:
    """Every file of the package that users need."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "npu_config"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    return list(filter(None, listed.stdout.decode("utf-8").split("\0")))


def wrong_in_wheel(names: Sequence[str]) -> List[str]:
    """What a wheel lacks, or holds too much."""
    needed = [*modules(), *(po[:-3] + ".mo" for po in modules() if po.endswith(".po"))]
    wrong = ["the wheel lacks " + name for name in needed if name not in names]
    wrong += [
        "the wheel holds " + name
        for name in names
        if not name.startswith("npu_config/") and ".dist-info/" not in name
    ]
    return wrong


def wrong_in_source(names: Sequence[str]) -> List[str]:
    """What a source distribution lacks."""
    needed = [*modules(), "setup.py", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"]
    return ["the source distribution lacks " + name for name in needed if name not in names]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
