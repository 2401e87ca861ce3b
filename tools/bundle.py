"""``make bundle``: all that a host without a network needs, one archive for each machine type.

Each ``dist/npu_config-VERSION-bundle-py37-MACHINE.tar.gz`` holds the wheel of the working tree
with the wheels of every extra for Python 3.7, and ``install.sh``.  protobuf stays below 3.21,
which TensorFlow 1.15 needs.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Sequence

from npu_config.core.version import __version__
from tools import pythons

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.7"
MACHINES = ("x86_64", "aarch64")
PINS = ("protobuf<3.21",)
INSTALL = """\
#!/bin/sh
# Installs npu_config from this folder; no network is used.  PYTHON names another interpreter.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
exec "${PYTHON:-python3}" -m pip install --no-index --find-links "$here/wheels" \\
    "npu_config[all]" "$@"
"""


def main(arguments: Sequence[str]) -> int:
    """Make the archives of the machine types that are named, or of all; returns the exit code."""
    python = pythons.find(PYTHON)
    if python is None:
        print(pythons.explain(PYTHON))
        return 1
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder, "build")
        _pip(python, "wheel", "-q", "--no-deps", "-w", str(build), str(ROOT))
        (wheel,) = build.glob("*.whl")
        for machine in arguments or MACHINES:
            print(bundle(python, wheel, machine, Path(folder)))
    return 0


def bundle(python: str, wheel: Path, machine: str, folder: Path) -> Path:
    """Make one archive; returns its path."""
    name = "npu_config-{}-bundle-py{}-{}".format(__version__, PYTHON.replace(".", ""), machine)
    wheels = folder / name / "wheels"
    platforms = ("manylinux2014_", "manylinux_2_17_", "manylinux2010_", "manylinux1_")
    options = [o for platform in platforms for o in ("--platform", platform + machine)]
    options += ["--only-binary=:all:", "--python-version", PYTHON, "--implementation", "cp"]
    options += [o for abi in ("cp37m", "abi3", "none") for o in ("--abi", abi)]
    _pip(python, "download", "-q", "-d", str(wheels), *options, str(wheel) + "[all]", *PINS)
    script = folder / name / "install.sh"
    script.write_text(INSTALL, encoding="utf-8")
    script.chmod(0o755)
    (ROOT / "dist").mkdir(exist_ok=True)
    archive = ROOT / "dist" / (name + ".tar.gz")
    with tarfile.open(str(archive), "w:gz") as stream:
        stream.add(str(folder / name), name)
    shutil.rmtree(str(folder / name))
    return archive


def _pip(python: str, *arguments: str) -> None:
    environ = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    subprocess.run([python, "-m", "pip", *arguments], check=True, env=environ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
