"""The version of CANN that is installed, from a mock of the toolkit's folder."""

import sys

import pytest

import npu_config as npu
from npu_config.core.settings import Settings
from npu_config.rules.case import judge
from npu_config.rules.reading import Around
from npu_config.rules.toolkit import installed_cann
from npu_config.script import read_script

VERSION_CFG = """\
# version: 1.0
runtime_running_version=[7.0.0.5.242:{0}]
toolkit_running_version=[7.0.0.5.242:{0}]
"""


@pytest.mark.parametrize(
    ("name", "text", "cann"),
    [
        (
            "ascend_toolkit_install.info",
            "package_name=Ascend-cann-toolkit\nversion=8.0.0\n",
            "8.0.0",
        ),
        (
            "aarch64-linux/ascend_toolkit_install.info",
            "version=7.0.RC1.alpha003\n",
            "7.0.RC1.alpha003",
        ),
        ("version.cfg", VERSION_CFG.format("6.3.RC2"), "6.3.RC2"),
        ("compiler/version.info", "Version=5.1.RC2\n", "5.1.RC2"),
        ("version.info", "Version=V100R001C15SPC001B223\n", None),
        ("version.info", "\n" * 70000 + "Version=8.0.0\n", None),
        ("version.info", "", None),
    ],
)
@pytest.mark.parametrize("variable", ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"])
def test_the_files_of_the_toolkit(tmp_path, variable, name, text, cann):
    """The first that says a version of CANN counts; nothing is run."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert cann == installed_cann({variable: str(tmp_path)})


@pytest.mark.parametrize("root", ["", "/none", "a\0b", "/etc/passwd"])
def test_no_toolkit(root):
    """A folder that is not one says nothing."""
    assert installed_cann({"ASCEND_HOME_PATH": root}) is None


def test_the_package_of_the_vendor(tmp_path, monkeypatch):
    """Without a toolkit the version is that of the plugin that npu_bridge is part of."""
    plugin = tmp_path / "tfplugin" / "latest"
    package = plugin / "python" / "site-packages" / "npu_bridge"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the package is not run')\n")
    (plugin / "version.info").write_text("Version=6.3.RC2\n")
    monkeypatch.delitem(sys.modules, "npu_bridge", raising=False)
    monkeypatch.syspath_prepend(str(package.parent))
    assert installed_cann({}) == "6.3.RC2"
    (tmp_path / "version.cfg").write_text(VERSION_CFG.format("8.0.0"))
    assert installed_cann({"ASCEND_HOME_PATH": str(tmp_path)}) == "8.0.0"


IMPORT = "from npu_bridge.npu_init import SetIterationsVarHook\n"
BUILDER = """
import npu_config as npu
config = npu.NpuConfigBuilder(target=npu.Target(cann="5.0.2")).set(hcom_parallel=True).build()
"""


def test_scripts_know_the_version(tmp_path):
    """Checks of a script as such speak of the installed adapter, or of the script's own target."""
    (tmp_path / "version.cfg").write_text(VERSION_CFG.format("5.0.2"))
    environ = {"ASCEND_HOME_PATH": str(tmp_path)}

    def rules(text, environ=None, on_host=False, target=None):
        return {
            d.rule for d in read_script(text, "t.py").judge(Around(target, None, environ, on_host))
        }

    assert "NPU807" not in rules(IMPORT)
    assert "NPU807" in rules(IMPORT, environ, on_host=True)
    assert "NPU807" not in rules(IMPORT, environ, True, npu.Target(cann="9.0.0"))
    assert "NPU807" in rules(IMPORT + BUILDER)
    assert "NPU807" not in rules(IMPORT + BUILDER, target=npu.Target(cann="9.0.0"))


def test_the_host_says_its_version(tmp_path, monkeypatch):
    """On the training host the rules speak of the adapter that is installed there."""
    (tmp_path / "version.cfg").write_text(VERSION_CFG.format("5.1.RC1"))
    environ = {"ASCEND_HOME_PATH": str(tmp_path)}
    settings = Settings.of({"deterministic": 1})
    assert "NPU111" in {d.rule for d in judge(settings, environ=environ, on_host=True)}
    newer = npu.Target(cann="8.0.0")
    assert "NPU111" not in {d.rule for d in judge(settings, newer, environ, on_host=True)}
    assert "NPU111" not in {d.rule for d in judge(settings, environ=environ)}
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    with pytest.raises(npu.NpuConfigError, match=r"about CANN 5\.1\.RC1"):
        npu.NpuConfigBuilder().set(deterministic=1).build(on_host=True)
    assert (
        npu.NpuConfigBuilder().set(hccl_timeout=1836).build(on_host=True).target.cann == "5.1.RC1"
    )
