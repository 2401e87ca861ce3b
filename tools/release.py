"""``make release-check``: everything that must be true before a version is published.

Runs every check, however many fail, and ends with one table: its word, its seconds, and for
what failed what to do.  ``python -m tools.release NAME ...`` runs only the checks of these
names.  Needs git, nox, build and twine, Python 3.7, 3.11 and 3.13, and a package index.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from email.parser import HeaderParser
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from npu_config.core.version import __version__
from tools import dist, pythons

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = ROOT / "editors" / "vscode"
PYTHONS = ("3.7", "3.13")
EXTRAS = ("", "[cli]", "[all]")
SMOKE = """\
import npu_config as npu
config = npu.NpuConfigBuilder().iteration_offload(10).build()
assert npu.NpuConfig.from_dict(config.to_dict()) == config
assert npu.__version__ == "{}", npu.__version__
""".format(__version__)
"""What every environment must be able to do; with an extra, the command runs, too."""

PERMISSIVE = re.compile(
    r"\b(0BSD|Apache|BSD|Blue ?Oak|CC0|Expat|ISC|MIT|MPL[- ]?2|Mozilla Public License 2|PSF|"
    r"Python Software Foundation|Unlicense)",
    re.I,
)
"""Licences that a dependency may have: users keep the choice of their own."""

COPYLEFT = re.compile(r"\b(A?GPL|GNU (Affero )?General)", re.I)


class Check(NamedTuple):
    """A thing that must be true: how it is found out, and what to do where it is not."""

    name: str
    find: Callable[[], List[str]]
    advice: str


class Outcome(NamedTuple):
    """How a check ended."""

    check: Check
    wrong: List[str]
    seconds: float


def worktree() -> List[str]:
    """Files that git does not know, or knows otherwise."""
    found = _output("git", "status", "--porcelain").splitlines()
    return ["not committed: " + line[3:] for line in found]


def versions() -> List[str]:
    """Places that name another version than ``npu_config.__version__``."""
    lock = json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))
    said = {
        "editors/vscode/package.json": json.loads((EXTENSION / "package.json").read_text("utf-8")),
        "editors/vscode/package-lock.json": lock,
        'editors/vscode/package-lock.json, packages[""]': lock["packages"][""],
    }
    wrong = [
        "{} has version {}, not {}".format(place, each["version"], __version__)
        for place, each in said.items()
        if each["version"] != __version__
    ]
    return wrong + wrong_in_changelog((ROOT / "CHANGELOG.md").read_text("utf-8"))


def wrong_in_changelog(text: str) -> List[str]:
    """What the first heading of the changelog lacks: this version, and the day."""
    heading = re.search(r"^## (\S+) \((.*)\)$", text, re.M)
    if heading is None or heading.group(1) != __version__:
        return ["the first heading of CHANGELOG.md is not of version " + __version__]
    if not re.match(r"\d{4}-\d\d-\d\d\Z", heading.group(2)):
        return ["CHANGELOG.md: {} ({}) has no date".format(*heading.groups())]
    return []


def translations() -> List[str]:
    """Whether a sentence waits for its Chinese."""
    return _run(sys.executable, "-m", "tools.messages", "check", "--release")


def generated() -> List[str]:
    """Whether a file is older than the declarations it is made from."""
    return _nox("lint")


def archives() -> List[str]:
    """The wheel and the source distribution: built, and what is in them."""
    return _nox("package")


def metadata() -> List[str]:
    """What the index would refuse."""
    made = dist.made()
    return _run("twine", "check", "--strict", *made) if made else ["dist/ is empty"]


def site() -> List[str]:
    """The site: no warning, no dead link, pages as a browser shows them."""
    return _nox("docs")


def offline() -> List[str]:
    """The archives for hosts without a network, one of them installed without one."""
    return _nox("bundle")


def extension() -> List[str]:
    """The extension of VS Code: tested and packaged."""
    return _nox("vscode")


def installs() -> List[str]:
    """A fresh environment of the oldest and the newest Python, without extras and with them."""
    wrong: List[str] = []
    for version in PYTHONS:
        python = pythons.find(version)
        if python is None:
            wrong.append(pythons.explain(version))
            continue
        for extra in EXTRAS:
            name = "npu_config{} on Python {}".format(extra, version)
            with tempfile.TemporaryDirectory(prefix="npu_config-release-") as folder:
                done = _install(python, extra, Path(folder))
                wrong += ["{}: {}".format(name, line) for line in done]
                if extra == "[all]" and not done:
                    wrong += wrong_licences(licences_in(Path(folder)))
    return wrong


def _install(python: str, extra: str, folder: Path) -> List[str]:
    """Install the wheel into a new environment and try it, away from the repository."""
    wheels = [path for path in dist.made() if path.endswith(".whl")]
    if len(wheels) != 1:
        return ["dist/ does not hold one wheel: run make dist"]
    programs = folder / "bin"
    calls: List[Sequence[str]] = [
        (python, "-m", "venv", str(folder)),
        (str(programs / "python"), "-m", "pip", "install", "-q", wheels[0] + extra),
        (str(programs / "python"), "-m", "pip", "check"),
        (str(programs / "python"), "-c", SMOKE),
    ]
    if extra:
        calls.append((str(programs / "npu-config"), "explain", "NPU101"))
    for call in calls:
        wrong = _run(*call, folder=str(folder))
        if wrong:
            return wrong
    return []


def licences_in(environment: Path) -> Iterator[Tuple[str, str]]:
    """The name of each package of an environment, and what its metadata says of its licence."""
    for path in sorted(environment.glob("lib/python*/site-packages/*.dist-info/METADATA")):
        said = HeaderParser().parsestr(path.read_text("utf-8"))
        classifiers = said.get_all("Classifier") or []
        words = [each for each in classifiers if each.startswith("License ::")]
        words += [said.get("License-Expression") or "", (said.get("License") or "")[:200]]
        yield said["Name"], " ".join(words).strip()


def wrong_licences(found: Iterator[Tuple[str, str]]) -> List[str]:
    """Packages whose licence is not one of those allowed, or that name none."""
    return [
        'the licence of {} is "{}"'.format(name, licence or "not named")
        for name, licence in found
        if not PERMISSIVE.search(licence) or COPYLEFT.search(licence)
    ]


def licences_of_extension() -> List[str]:
    """What the extension carries along: packages of node that are not for development."""
    lock = json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))
    found = (
        (path.rpartition("node_modules/")[2], str(each.get("license", "")))
        for path, each in lock["packages"].items()
        if path and not each.get("dev")
    )
    return wrong_licences(found)


CHECKS = (
    Check("worktree", worktree, "commit it, or remove it"),
    Check("versions", versions, "write the version and the day into these files"),
    Check("translations", translations, "translate what `make translate` lists"),
    Check("lint", generated, "run `make generate`, then `nox -s lint`"),
    Check("archives", archives, "mend MANIFEST.in or package_data of setup.py; `nox -s package`"),
    Check("metadata", metadata, "mend setup.py; `make dist`, then `twine check --strict dist/*`"),
    Check("installs", installs, "mend the requirements of setup.py, or replace the dependency"),
    Check("node", licences_of_extension, "replace the dependency of editors/vscode"),
    Check("extension", extension, "run `nox -s vscode`"),
    Check("site", site, "run `make site`"),
    Check("offline", offline, "run `make bundle`"),
)
"""In order: ``metadata`` and ``installs`` look at what ``archives`` has built."""


def main(arguments: Sequence[str]) -> int:
    """Run the checks, print the table; returns the exit code."""
    unknown = sorted(set(arguments) - {check.name for check in CHECKS})
    if unknown:
        print("no check is called", ", ".join(unknown) + "; there are:")
        print("".join("  {}\n".format(check.name) for check in CHECKS), end="")
        return 2
    outcomes = []
    for check in CHECKS:
        if not arguments or check.name in arguments:
            print("release-check:", check.name, flush=True)
            start = time.monotonic()
            outcomes.append(Outcome(check, check.find(), time.monotonic() - start))
    print(table(outcomes), end="")
    return 1 if any(outcome.wrong for outcome in outcomes) else 0


def table(outcomes: Sequence[Outcome]) -> str:
    """A line for each check, and below what failed why, and what to do."""
    lines = ["\n===== release-check of {} =====".format(__version__)]
    for outcome in outcomes:
        word = "FAILED" if outcome.wrong else "passed"
        lines.append("{:<13} {:<7} {:5.0f} s".format(outcome.check.name, word, outcome.seconds))
        lines += ["    " + line for line in outcome.wrong]
        if outcome.wrong:
            lines.append("    do: " + outcome.check.advice)
    failed = sum(bool(outcome.wrong) for outcome in outcomes)
    lines.append("{} passed, {} failed".format(len(outcomes) - failed, failed))
    return "\n".join(lines) + "\n"


def _nox(session: str) -> List[str]:
    return _run(sys.executable, "-m", "nox", "-s", session, last=12)


def _run(*command: str, folder: str = str(ROOT), last: int = 6) -> List[str]:
    """What a command has printed last, when it fails; nothing when it succeeds."""
    environ: Dict[str, str] = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    if folder != str(ROOT):
        environ.pop("PYTHONPATH", None)  # the wheel is tried, not the checkout
    else:
        programs = os.path.dirname(sys.executable)
        environ["PATH"] = os.pathsep.join([programs, environ.get("PATH", "")])
    try:
        done = subprocess.run(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        return ["{}: {}".format(command[0], error.strerror)]
    if done.returncode == 0:
        return []
    said = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    return said[-last:] or ["{} ended with {}".format(command[0], done.returncode)]


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=str(ROOT), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
