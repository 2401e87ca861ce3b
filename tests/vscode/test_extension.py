"""The extension for VS Code: what is in its repository, and in the package that was built."""

import json
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
PACKAGE = FOLDER / "npu-config.vsix"


def test_the_lock_file_names_no_registry():
    """It holds versions and checksums; where they are fetched from is up to who installs."""
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    packages = [each for name, each in lock["packages"].items() if name]
    assert [each for each in packages if "resolved" in each] == []
    assert [each["version"] for each in packages if "integrity" not in each] == []


def test_the_manifest():
    """What it names is there; it has the version of nothing that it does not need at run time."""
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    assert list(manifest["dependencies"]) == ["vscode-languageclient"]
    source = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")
    for command in manifest["contributes"]["commands"]:
        assert '"{}"'.format(command["command"]) in source
    for name in manifest["contributes"]["configuration"]["properties"]:
        assert '"{}"'.format(name.partition(".")[2]) in source


@pytest.mark.skipif(not PACKAGE.exists(), reason="it is built by the nox session vscode")
def test_the_package():
    """One script with all that it needs, the license, the page, and nothing else."""
    with zipfile.ZipFile(str(PACKAGE)) as package:
        sizes = {each.filename: each.file_size for each in package.infolist()}
        script = package.read("extension/dist/extension.js").decode("utf-8")
    assert sorted(sizes) == [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/LICENSE.txt",
        "extension/dist/extension.js",
        "extension/package.json",
        "extension/readme.md",
    ]
    assert sum(sizes.values()) < 1 << 20
    assert 'require("vscode")' in script
    assert "textDocument/codeAction" in script
