"""What all tests share: hypothesis without time limits (and without chance in CI), markers."""

import contextlib
import gc
import importlib.util
import os
import pathlib
import re

import pytest
from hypothesis import HealthCheck, settings

from tests import golden

settings.register_profile(
    "npu_config",
    deadline=None,
    max_examples=golden.EXAMPLES,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
settings.register_profile(
    "ci", settings.get_profile("npu_config"), derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "npu_config")

ENDED = os.environ.pop("NPU_CONFIG_ENDED", None)  # not for what tests start
HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None


def pytest_addoption(parser):
    """``--update-cases`` writes the outputs of all golden cases anew."""
    parser.addoption("--update-cases", action="store_true", help="write the golden cases anew")


def pytest_configure(config):
    """Before the tests are collected: what the runner of golden cases does, and the .mo file."""
    golden.update = config.getoption("--update-cases")
    with contextlib.suppress(ImportError):  # without Babel a build has to have made it
        from tools.messages import compile_in_checkout

        compile_in_checkout()


_IS_MARKED = re.compile(rb"^pytestmark = \[?pytest[.]mark[.]tensorflow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """With ``-m tensorflow`` a file without the mark is not imported: five of six have none.

    With ``-m "not tensorflow"`` one that is marked as a whole is not.
    """
    expression = config.option.markexpr or ""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    if expression.startswith("tensorflow"):
        return b"mark.tensorflow" not in collection_path.read_bytes() or None
    if expression.startswith("not tensorflow"):
        return bool(_IS_MARKED.search(collection_path.read_bytes())) or None
    return None


def pytest_sessionfinish():
    """Tell whoever asks that pytest came to its end (noxfile.py)."""
    if ENDED is not None:
        pathlib.Path(ENDED).touch()


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """What is collected stays to the end: garbage is not looked for in it, now or later."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Tests that need TensorFlow are skipped only where the environment has none."""
    if HAS_TENSORFLOW:
        return
    skip = pytest.mark.skip(reason="needs TensorFlow, which this environment leaves out")
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(skip)


RATES = pytest.StashKey()


@pytest.fixture
def rates(request):
    """Adds a row to the table of rates that ends the test output: words, all, listed or missed."""
    return lambda words, total, misses: request.config.stash.setdefault(RATES, []).append(
        (words, total, misses)
    )


def pytest_terminal_summary(terminalreporter, config):
    """The rates on the measured vectors as a table."""
    rows = config.stash.get(RATES, [])
    if rows:
        terminalreporter.section("measured vectors")
        for words, total, misses in rows:
            terminalreporter.write_line(
                "{:<52} {:>4} of {:>4} = {:5.1f} %{}".format(
                    words,
                    total - misses,
                    total,
                    100.0 * (total - misses) / total,
                    "  ({} listed)".format(misses) if misses else "",
                )
            )
