"""``python -m tools.browser SITE WHEEL``: what the page "Try it" of a built site loads.

Into ``SITE/_browser`` go Python for browsers (pyodide, from npm, as the lock file in
``docs/_browser`` has it) and one archive of the wheel and of the packages that it needs, their
parts in Python only, as they are installed here.  Nothing of it is in the repository.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Iterator, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs" / "_browser"
PYODIDE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
NEEDLESS = (".so", ".pyd", ".pyc", ".pyi", "RECORD", ".po", "topics.en.jsonl", "topics.zh.jsonl")
"""Ends of names: what is not for Python alone, translations' sources, the pages of explain."""


def main(arguments: Sequence[str]) -> int:
    """Write the folder; returns the exit code."""
    site, wheel = map(Path, arguments)
    if shutil.which("npm") is None:
        print("npm is not installed: the page that checks in the browser says that it is left out")
        return 1 if os.environ.get("CI") else 0
    build, target = ROOT / "build" / "browser", site / "_browser"
    for folder in (build, target):
        shutil.rmtree(str(folder), ignore_errors=True)
    target.mkdir()
    shutil.copytree(str(SOURCE), str(build))
    subprocess.run(["npm", "ci", "--silent"], cwd=str(build), check=True)
    for name in PYODIDE:
        shutil.copy2(str(build / "node_modules" / "pyodide" / name), str(target / name))
    lock = json.loads((build / "node_modules" / "pyodide" / "pyodide-lock.json").read_text())
    (target / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}))
    with zipfile.ZipFile(str(target / "packages.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_of_wheel(wheel)):
            archive.writestr(name, content)
        for requirement in distribution("npu_config").requires or ():
            if ";" not in requirement:  # neither an extra nor for old Pythons
                for name, content in sorted(_installed(requirement)):
                    archive.writestr(name, content)
        archive.write(str(SOURCE / "checker.py"), "checker.py")
    weights = {each.name: each.stat().st_size for each in target.iterdir()}
    print("{}: {:,} bytes".format(target, sum(weights.values())), weights)
    return 0


def _of_wheel(wheel: Path) -> Iterator[Tuple[str, bytes]]:
    with zipfile.ZipFile(str(wheel)) as archive:
        for name in archive.namelist():
            if not name.endswith(NEEDLESS):
                yield name, archive.read(name)


def _installed(requirement: str) -> Iterator[Tuple[str, bytes]]:
    """The files of a package that is installed, without its compiled parts."""
    for path in distribution(re.split("[<>=!~ ]", requirement)[0]).files or ():
        text = path.as_posix()
        if not (text.startswith("..") or text.endswith(NEEDLESS)):
            yield text, path.read_binary()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
