"""The vendor's modules, served under their own names."""

import importlib
import sys

import pytest

import npu_config
from npu_config.core.diagnostics import NpuConfigError
from npu_config.runner import finder
from npu_config.tf1 import vendor
from npu_config.tf1.vendor import MODULES


@pytest.fixture(autouse=True)
def _clean():
    """Nothing is served before and after."""
    finder.uninstall_npu_bridge()
    yield
    finder.uninstall_npu_bridge()


def test_install_and_undo():
    """Served modules can be imported until it is undone; twice is once."""
    undo = npu_config.install_npu_bridge()
    npu_config.install_npu_bridge()
    module = importlib.import_module("npu_bridge.estimator.npu")
    assert module.__spec__.origin == vendor.SERVED
    assert sum(isinstance(each, finder.Finder) for each in sys.meta_path) == 1
    undo()
    assert "npu_bridge" not in sys.modules
    with pytest.raises(ImportError):
        importlib.import_module("npu_bridge")


@pytest.mark.parametrize("path", sorted(MODULES))
def test_every_module_can_be_imported(path):
    """Each path of the table is a module, and another name below it is not."""
    if path == "npu_bridge.npu_init":
        pytest.importorskip("tensorflow")
    npu_config.install_npu_bridge()
    assert path == importlib.import_module(path).__name__
    with pytest.raises(ImportError):
        importlib.import_module(path + ".no_such_module")


def test_unknown_names():
    """A name that the vendor's module does not have is no attribute of the served one."""
    npu_config.install_npu_bridge()
    module = importlib.import_module("hccl.manage.api")
    with pytest.raises(AttributeError):
        module.no_such_name  # noqa: B018 - the access is the test


def test_the_vendors_package_stays(monkeypatch):
    """Where the vendor's package is installed nothing is served, unless it is forced."""
    monkeypatch.setattr(vendor, "is_available", lambda: True)
    with pytest.raises(NpuConfigError, match="is installed here"):
        npu_config.install_npu_bridge()
    assert finder.installed() is None
    npu_config.install_npu_bridge(force=True)
    assert finder.installed() is not None


def test_an_empty_folder_is_not_the_vendors(tmp_path, monkeypatch):
    """A folder npu_bridge on the path is in nobody's way."""
    (tmp_path / "npu_bridge").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("npu_bridge")
    npu_config.install_npu_bridge()
    assert importlib.import_module("npu_bridge").__spec__.origin == vendor.SERVED
