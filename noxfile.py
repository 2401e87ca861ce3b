"""The test matrix: ``make test``, or ``nox`` (``nox -l`` lists the sessions).

Every test session builds the wheel once, installs it with the dependencies under test and
runs the suite on it from a copy of the repository that lacks the package, so that what is
tested is what users install.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

import nox

ROOT = Path(__file__).resolve().parent
sys.path.append(str(ROOT))
os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # uv compiles nothing: the first import does
os.environ["UV_PYTHON_DOWNLOADS"] = "never"
os.environ["UV_SYSTEM_CERTS"] = "1"

from tools import pythons  # noqa: E402 - found through the line above

TEST_TOOLS = [
    "pytest",
    "pytest-timeout",
    "hypothesis",
    "jsonschema",
    "numpy",
    "babel",
]
GUARD = "--timeout=900"
"""Seconds after which a test hangs: far above what any needs."""

APART = (
    "cli/test_commands.py::test_explain_facts_of_migrations",
    "cli/test_commands.py::test_explain_finds_words_of_both_languages",
    "cli/test_commands.py::test_explain_options",
    "cli/test_commands.py::test_explain_rules",
    "cli/test_output.py::test_one_way_out",
    "core/test_optimized.py",
    "docs",
    "fuzz",
    "linear",
    "tools",
    "judging/test_doors.py",
    "judging/test_one_fault.py",
    "rank_table/test_large_rank_table.py",
    "script/test_growth.py",
    "test_facts_map.py",
    "test_habits.py",
    "test_help_and_fixes.py",
    "test_layers.py",
    "test_messages.py",
    "test_module_sizes.py",
    "test_named_options.py",
    "test_strategies.py",
)
"""Tests of pages, of damaged input, of growth and size, of tools, of doors that say the same, and
of what the source, the words of findings and ``explain`` say: they take half the time of the
oldest Python, and depend on no package; they run on the newest."""

TENSORFLOW = ("-m", "tensorflow")
"""What touches TensorFlow."""

THE_REST = ("-m", "not tensorflow")
"""It runs on the oldest and on the newest Python."""

TENSORFLOW_2 = ("-m", "tensorflow and not further")
"""What compat.v1 may do otherwise: a shape of each thing that runs of scripts show."""


def left_out(test: str) -> str:
    """The option of pytest that leaves out a folder, a file, or a function of one."""
    return ("--deselect=tests/" if "::" in test else "--ignore=tests/") + test


ON_115 = ("docs", "migrate", "tools")
"""Tests that run whole scripts and pages as users of TensorFlow 1.15 do; they run on 1.15.5."""


def backend() -> str:
    """uv, which installs in a fifth of the time; without it, or with an index of pip's own, pip.

    (virtualenv no longer makes environments of Python 3.7; uv does not read the settings of pip.)
    """
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, check=False
    )
    own_index = re.search(rb"^\S*[.]index.url=", settings.stdout, re.MULTILINE)
    return "venv" if own_index else "uv|venv"


nox.options.sessions = [
    "lint",
    "tests_tf115",
    "tests_oldest",
    "tests_newest",
    "tests_tf215",
    "docs",
    "package",
    "vscode",
]
nox.options.default_venv_backend = backend()
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True


def interpreter(version: str) -> str:
    """The path of the interpreter, or its plain name, which nox then reports as missing."""
    return pythons.find(version) or version


def require(session: nox.Session, version: str) -> None:
    """Fail, and say what to install, when the interpreter is missing."""
    if pythons.find(version) is None:
        session.error(pythons.explain(version))


def the_wheel(session: nox.Session) -> str:
    """The wheel of the working tree: the one that ``make test`` built, else a new one."""
    return os.environ.get("NPU_CONFIG_WHEEL") or build_wheel(session)


def build_wheel(session: nox.Session) -> str:
    """Build the wheel of the working tree."""
    target = ROOT / ".nox" / "wheel-{}".format(os.getpid())
    shutil.rmtree(str(ROOT / "build"), ignore_errors=True)
    words = ("-m", "pip", "wheel", "-q", "--no-deps", "-w", str(target), str(ROOT))
    session.run_install(sys.executable, *words, external=True)  # also with --install-only
    shutil.rmtree(str(ROOT / "build"), ignore_errors=True)
    return str(next(target.glob("*.whl")))


def copy_without_package(target: Path) -> None:
    """Copy the repository's files, except the package itself."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=str(ROOT)
    )
    for name in filter(None, listed.decode("utf-8").split("\0")):
        source = ROOT / name
        if name.startswith("npu_config/") or not source.is_file():
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(str(source), str(target / name))


def in_memory() -> Optional[str]:
    """A folder in memory, where files cost no time of a disk; None where none has room."""
    folder = "/dev/shm"
    try:
        status = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    fits = status.f_bavail * status.f_frsize > 4 << 30 and os.access(folder, os.W_OK)
    return folder if fits and not status.f_flag & os.ST_NOEXEC else None


def run_tests(session: nox.Session, *requirements: str, options: Sequence[str] = ()) -> None:
    """Install the wheel with ``requirements`` and run the suite on it."""
    session.install(the_wheel(session) + "[all]", *requirements, *TEST_TOOLS)
    with tempfile.TemporaryDirectory(prefix="npu_config-", dir=in_memory()) as folder:
        repository, temporary = Path(folder) / "repository", Path(folder) / "tmp"
        copy_without_package(repository)
        temporary.mkdir()
        session.chdir(str(repository))
        ended = Path(folder) / "ended"
        environ = {"TMPDIR": str(temporary), "NPU_CONFIG_ENDED": str(ended)}
        session.run("pytest", GUARD, *options, *session.posargs, env=environ)
        if not ended.exists():  # os._exit(0) in a test would pass for success
            session.error("a test ended pytest before its last test")
        session.chdir(str(ROOT))


@nox.session(venv_backend="none")
def wheel(session: nox.Session) -> None:
    """Build the wheel and leave its path in .nox/wheel.txt."""
    (ROOT / ".nox" / "wheel.txt").write_text(build_wheel(session), "utf-8")


@nox.session(python=interpreter("3.7"))
def tests_tf115(session: nox.Session) -> None:
    """Real TensorFlow 1.15.5 on Python 3.7."""
    require(session, "3.7")
    requirements = ("tensorflow==1.15.5", "protobuf<3.21", "typing_extensions")
    run_tests(session, *requirements, options=TENSORFLOW)
    session.run("python", "-c", "import tensorflow as tf; assert tf.__version__ == '1.15.5'")


@nox.session(python=interpreter("3.7"))
def tests_oldest(session: nox.Session) -> None:
    """No TensorFlow, oldest Python, oldest dependencies."""
    require(session, "3.7")
    session.env["NPU_CONFIG_EXAMPLES"] = "15"  # properties are tried in full on the newest
    run_tests(
        session,
        "attrs==21.3.0",
        "protobuf==3.11.0",
        "PyYAML==5.4.1",
        "tomli==1.1.0",
        "click==8.0.0",
        "rich==12.0.0",
        "typing_extensions",
        options=[*THE_REST, *map(left_out, APART)],
    )


@nox.session(python=interpreter("3.13"))
def tests_newest(session: nox.Session) -> None:
    """No TensorFlow, newest Python, newest dependencies."""
    require(session, "3.13")
    run_tests(session, "mypy", "sarif-pydantic", options=THE_REST)


@nox.session(python=interpreter("3.13"))
def coverage(session: nox.Session) -> None:
    """The lines that the tests without TensorFlow run; not part of ``make test``."""
    require(session, "3.13")
    session.env["COVERAGE_CORE"] = "sysmon"  # half the time of tracing
    options = ["--cov=npu_config", "--cov-report=term:skip-covered"]
    run_tests(session, "mypy", "sarif-pydantic", "pytest-cov", options=options)


@nox.session(python=interpreter("3.11"))
def tests_tf215(session: nox.Session) -> None:
    """compat.v1 of TensorFlow 2.15.1 on Python 3.11."""
    require(session, "3.11")
    session.env["NPU_CONFIG_EXAMPLES"] = "15"  # properties are tried in full on 1.15.5
    options = (*TENSORFLOW_2, *map(left_out, ON_115))
    run_tests(session, "tensorflow-cpu==2.15.1", options=options)


@nox.session(python=None)
def tests_here(session: nox.Session) -> None:
    """No TensorFlow, the Python that runs nox: for machines with none of the matrix."""
    run_tests(session)


@nox.session(python=interpreter("3.11"))
def lint(session: nox.Session) -> None:
    """ruff, mypy --strict, generated files up to date."""
    require(session, "3.11")
    session.install("-e", str(ROOT) + "[all]", "ruff", "mypy", "babel")
    session.install("types-PyYAML", "types-protobuf", "pytest")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", "--strict", "npu_config", "tools", "benchmarks")
    session.run("python", "-m", "tools.generate", "--check")
    session.run("python", "-m", "tools.messages", "check")


@nox.session(python=interpreter("3.11"))
def docs(session: nox.Session) -> None:
    """The site builds without a warning; its links lead somewhere; a browser shows its pages."""
    built = the_wheel(session)
    session.install("-r", str(ROOT / "docs" / "requirements.txt"), built + "[all]")
    session.install("pytest", "pytest-timeout", "selenium")
    site = ROOT / "build" / "site"
    shutil.rmtree(str(site), ignore_errors=True)
    session.run("sphinx-build", "-W", "-q", "-b", "html", "docs", str(site))
    session.run("python", "-m", "tools.browser", str(site), built)
    environ = {"NPU_CONFIG_SITE": str(site), "NPU_CONFIG_SCREENSHOTS": str(site.parent / "pages")}
    session.run("pytest", GUARD, "--noconftest", "tests/site", env=environ)


@nox.session(python=interpreter("3.11"))
def package(session: nox.Session) -> None:
    """The wheel and the source distribution hold what they must, and the wheel works alone."""
    session.install("build", "pytest", "pytest-timeout", "hypothesis", "pre-commit")
    session.run("python", "-m", "tools.dist")
    (found,) = (ROOT / "dist").glob("*.whl")
    session.install("--force-reinstall", str(found) + "[cli]")
    with tempfile.TemporaryDirectory(prefix="npu_config-") as folder:
        shutil.copy2(str(ROOT / "examples" / "quickstart" / "config.yaml"), folder)
        session.chdir(folder)
        session.run("npu-config", "check", "config.yaml")
        session.run(
            "npu-config", "generate", "config.yaml", "--to", "pbtxt", "-o", "session.pbtxt"
        )
        session.run("npu-config", "diff", "config.yaml", "session.pbtxt")
        session.run("npu-config", "explain", "NPU101")
        session.chdir(str(ROOT))
    session.run("pytest", GUARD, "tests/test_pre_commit.py")  # in a clone


@nox.session(python=interpreter("3.11"))
def vscode(session: nox.Session) -> None:
    """The extension for VS Code: linted, compiled, tested under node, packaged."""
    if shutil.which("npm") is None:
        explain = "node and npm are needed for the extension of VS Code"
        session.error(explain) if os.environ.get("CI") else session.skip(explain)
    session.install("pytest", "pytest-timeout")
    session.chdir(str(ROOT / "editors" / "vscode"))
    for words in (["ci"], ["test"], ["run", "package"]):
        session.run("npm", *words, "--silent", external=True)
    session.chdir(str(ROOT))
    session.run("pytest", GUARD, "--noconftest", "tests/vscode")


@nox.session(python=interpreter("3.7"), venv_backend="venv")  # it asks pip
def bundle(session: nox.Session) -> None:
    """Archives for hosts without a network; that of this machine is installed without one."""
    require(session, "3.7")
    session.install("-e", str(ROOT))
    session.run("python", "-m", "tools.bundle", *session.posargs)
    name = "npu_config-*-bundle-py37-{}.tar.gz".format(platform.machine())
    for archive in (ROOT / "dist").glob(name):
        with tempfile.TemporaryDirectory(prefix="npu_config-") as folder:
            shutil.unpack_archive(str(archive), folder)
            session.run("python", "-m", "venv", folder + "/venv")
            (script,) = Path(folder).glob("*/install.sh")
            environ = {"PYTHON": folder + "/venv/bin/python"}
            session.run("sh", str(script), env=environ, external=True)
            session.run(folder + "/venv/bin/npu-config", "--version", external=True)


@nox.session(python=interpreter("3.11"))
def generate(session: nox.Session) -> None:
    """Write what follows from the declarations."""
    session.install("-e", str(ROOT) + "[cli]", "ruff", "babel")
    session.run("python", "-m", "tools.messages", "update")
    session.run("python", "-m", "tools.generate")


@nox.session(python=interpreter("3.11"))
def translate(session: nox.Session) -> None:
    """Enter new sentences into the .po file, and list those that wait for their Chinese."""
    session.install("-e", str(ROOT) + "[cli]", "babel")
    session.run("python", "-m", "tools.messages", "update")


@nox.session(python=interpreter("3.11"))
def fuzz(session: nox.Session) -> None:
    """An hour of any bytes for every reader, guided by atheris where it installs."""
    session.install("-e", str(ROOT) + "[all]", "hypothesis", "numpy")
    session.install("atheris", success_codes=range(256))
    session.run("python", "-m", "tests.fuzz.run", *(session.posargs or ("--seconds", "3600")))


@nox.session(python=interpreter("3.11"))
def bench(session: nox.Session) -> None:
    """The benchmarks of the budget table, printed as ratios; all of them make the page, too."""
    session.install("-e", str(ROOT) + "[all]")
    page = () if session.posargs else ("--page", "docs/benchmarks.md")
    session.run("python", "-m", "benchmarks", *page, *session.posargs)
