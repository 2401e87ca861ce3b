"""The public namespace: what it holds and what importing it costs."""

import subprocess
import sys

import pytest

import npu_config as npu

PUBLIC = [
    "Diagnostic",
    "NpuConfig",
    "NpuConfigBuilder",
    "NpuConfigError",
    "OPTIONS",
    "OverwrittenWarning",
    "Product",
    "RULES",
    "Report",
    "Severity",
    "Target",
    "UNKNOWN",
    "add_arguments",
    "check",
    "diagnose",
    "install_npu_bridge",
    "migrate",
    "record",
    "run_path",
]


def test_public_names_are_pinned():
    """The namespace holds exactly the names that users may rely on."""
    assert sorted(npu.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_loads(name):
    """Each public name can be reached, and dir() lists it."""
    assert getattr(npu, name) is not None
    assert name in dir(npu)


@pytest.mark.parametrize(
    "name", ["cluster", "dumps", "launch", "presets", "rank_table", "sidefiles", "tf1"]
)
def test_modules_need_no_import_of_their_own(name):
    """``import npu_config as npu`` is enough for ``npu.tf1``, and loads it only then."""
    code = (
        "import sys, npu_config as npu; name = 'npu_config.{0}'; assert name not in sys.modules;"
        "assert npu.{0}.__name__ == name and 'tensorflow' not in sys.modules"
    ).format(name)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error():
    """A name that does not exist says so."""
    with pytest.raises(AttributeError, match="no attribute 'NpuConfg'"):
        npu.NpuConfg  # noqa: B018


def test_import_is_light():
    """Importing the package imports neither TensorFlow nor protobuf nor YAML, nor attrs."""
    code = (
        "import sys; before = set(sys.modules); import npu_config;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new & {'tensorflow', 'google', 'yaml', 'attr', 'click', 'rich'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().strip() == "[]"


def test_building_needs_little():
    """Building and judging takes neither protobuf nor YAML nor attrs, nor what reads files."""
    code = (
        "import sys; import npu_config as npu;"
        "npu.NpuConfigBuilder().iteration_offload(10).build();"
        "rooms = {'npu_config.' + name for name in ('cluster', 'readers', 'script', 'sidefiles')};"
        "heavy = {'google.protobuf', 'yaml', 'tensorflow', 'attr', *rooms};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().strip() == "[]"
