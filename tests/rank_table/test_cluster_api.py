"""The public names of the package, and that they cost nothing before they are used."""

import subprocess
import sys

import pytest

from npu_config import cluster


def test_every_name_is_there():
    """All names can be had, and dir() shows them."""
    assert set(cluster.__all__) <= set(dir(cluster))
    for name in cluster.__all__:
        assert getattr(cluster, name) is not None


def test_names_of_tables():
    """The module of tables has the functions of every side-file format, and more."""
    for name in cluster.rank_table.__all__:
        assert getattr(cluster.rank_table, name) is not None


@pytest.mark.parametrize("name", ["ranktable", "launcher_scripts"])
def test_no_other_name(name):
    """Another name is an AttributeError that says so."""
    with pytest.raises(AttributeError, match="no attribute '{}'".format(name)):
        getattr(cluster, name)


def test_lazy():
    """Importing the package loads none of its modules."""
    code = (
        "import sys, npu_config.cluster; "
        "print([name for name in sys.modules if name.startswith('npu_config.cluster.')])"
    )
    assert subprocess.check_output([sys.executable, "-c", code]).decode().strip() == "[]"
