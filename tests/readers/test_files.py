"""Files that cannot be read, files of other kinds, files that are too large."""

import os
import stat

import pytest

from npu_config import check
from npu_config.readers import KINDS, is_ours, read, read_if_ours
from npu_config.text.source import decode, load

MIB = 1024 * 1024


def only(reading):
    """The one diagnostic of a reading that has no settings."""
    assert reading.settings == ()
    assert reading.skipped
    (diagnostic,) = reading.diagnostics
    return diagnostic


def test_a_file_that_does_not_exist(tmp_path):
    """It is a diagnostic, with the path."""
    found = only(read(tmp_path / "nope.yaml"))
    assert ("NPU701", str(tmp_path / "nope.yaml")) == (found.rule, found.path)
    assert found.message == "the file does not exist"


def test_a_directory(tmp_path):
    """It cannot be read as a file."""
    assert only(read(tmp_path, "yaml")).message == "this is a directory"


def test_a_name_with_nul():
    """No file has such a name."""
    found = only(read("a\0b.yaml"))
    assert "NUL" in found.message
    assert "\0" not in (found.path or "")


def test_a_file_without_read_permission(tmp_path, monkeypatch):
    """It is told as such; the superuser of a build machine may read everything."""
    path = tmp_path / "secret.yaml"
    path.write_text("version: 1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):

        def refuse(*args, **kwargs):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    found = only(read(path))
    assert (found.rule, found.message) == ("NPU701", "this user is not allowed to read the file")


def test_a_link_to_itself(tmp_path):
    """It leads nowhere."""
    path = tmp_path / "loop.yaml"
    path.symlink_to(path)
    assert only(read(path)).message == "the link points to itself"


def test_a_file_that_vanishes(tmp_path, monkeypatch):
    """Any failure of the file system is a diagnostic."""

    def fail(*args, **kwargs):
        raise OSError(5, "Input/output error")

    path = tmp_path / "x.yaml"
    path.write_text("version: 1\n")
    monkeypatch.setattr("builtins.open", fail)
    assert only(read(path)).message == "the file cannot be read: Input/output error"


@pytest.mark.parametrize(
    ("data", "line", "column", "help"),
    [
        (b"version: 1\nx: \xff\n", 2, 4, "save it as UTF-8"),
        (b"\xe8\xb7\xaf\xe5\xbe\x84: \xb7\n", 1, 5, "save it as UTF-8"),
        ("version: 1".encode("utf-16"), 1, 1, "the file seems to be UTF-16; save it as UTF-8"),
    ],
)
def test_text_that_is_not_utf_8(data, line, column, help):
    """The first byte that is none is shown, in characters."""
    found = only(read("x.yaml", None, data))
    assert ("NPU701", line, column, help) == (found.rule, found.line, found.column, found.help)


def test_files_of_ten_megabytes(tmp_path):
    """They are refused, with the limit."""
    for kind in ("yaml", "toml", "json", "pbtxt"):
        path = tmp_path / ("large." + kind)
        path.write_bytes(b"# " + b"x" * 10 * MIB)
        found = only(read(path))
        assert found.rule == "NPU703"
        limit = 4 * MIB if kind == "pbtxt" else MIB
        assert "the file is larger than {:,} bytes and is not read".format(limit) == found.message


def test_an_endless_file():
    """It is not opened."""
    if not os.path.exists("/dev/zero"):
        pytest.skip("needs /dev/zero")
    assert "this is a device, not a file" in load("/dev/zero", MIB).message


def test_strings_of_a_hundred_thousand_characters():
    """They are values like any other."""
    text = "x" * 100000
    for kind, content in (
        ("yaml", "version: 1\ndump_path: {}\n"),
        ("toml", 'version = 1\ndump_path = "{}"\n'),
        ("json", '{{"version": 1, "dump_path": "{}"}}'),
    ):
        reading = read("x", kind, content.format(text))
        assert reading.diagnostics == ()
        assert text == reading.settings[0].entries["dump_path"].value


def test_a_byte_order_mark():
    """YAML and TOML are read past it; JSON has a word to say."""
    assert read("x.yaml", None, "\ufeffversion: 1\n").diagnostics == ()
    assert read("x.toml", None, "\ufeffversion = 1\n").diagnostics == ()
    assert [d.rule for d in read("x.json", None, '\ufeff{"version": 1}').diagnostics] == ["NPU714"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("version: 1\nhccl_timeout: 1800\n", "yaml"),
        ("# a comment\n\nversion: 1\n", "yaml"),
        ("---\nversion: 1\n", "yaml"),
        ("version = 1\nhccl_timeout = 1800\n", "toml"),
        ("# a comment\n[dump]\nenable_dump = true\n", "toml"),
        ('{"version": 1}', "json"),
        ("allow_soft_placement: true\n", "pbtxt"),
        ("graph_options {\n}\n", "pbtxt"),
    ],
)
def test_text_is_known_by_its_content(content, kind):
    """A name without a suffix, or standard input."""
    assert kind == read("config", None, content).kind


def test_a_proto_is_known_by_its_content():
    """Bytes that name NpuOptimizer."""
    from npu_config.config import NpuConfig

    content = NpuConfig.from_dict({"hccl_timeout": 1800}).to_bytes()
    assert read("config", None, content).kind == "pb"


@pytest.mark.parametrize("content", [b"hello", b"", b"\x00\x01"])
def test_content_that_says_nothing(content):
    """It is asked for the kind."""
    found = only(read("config", None, content))
    assert found.rule == "NPU708"
    assert "--as yaml|" in found.help


def test_a_kind_that_does_not_exist():
    """It is a mistake of the caller's."""
    with pytest.raises(ValueError, match='unknown kind "ini"'):
        read("x", "ini")


def test_the_suffix_is_not_case_sensitive():
    """As on the systems where files come from."""
    assert read("X.YAML", None, "version: 1").kind == "yaml"


@pytest.mark.parametrize(
    ("name", "content", "ours"),
    [
        ("a.yaml", "version: 1\nhccl_timeout: 1800\n", True),
        ("a.yaml", "version: 1\ntimeouts:\n  hccl_timeout: 1800\n", True),
        ("a.yaml", "hccl_timeout: 1800\n", True),
        ("a.yaml", "version: 1\nservices: {}\n", False),
        ("a.yaml", "version: 1.0\nhccl_timeout: 1\n", True),
        ("a.toml", "version = 1\n[timeouts]\nhccl_timeout = 1800\n", True),
        ("pyproject.toml", "[project]\nversion = '1'\n", False),
        ("a.json", '{"version": 1, "timeouts": {"hccl_timeout": 1800}}', True),
        ("a.json", '{\n  "version": 1,\n  "hccl_timeout": 1800}', True),
        ("package.json", '{"version": 1, "dependencies": {}}', False),
        ("a.pbtxt", 'rewrite_options { custom_optimizers { name: "NpuOptimizer" } }', True),
        ("graph.pbtxt", "node { }", False),
        ("a.txt", "version: 1\nhccl_timeout: 1800\n", False),
        ("switch.txt", "OpType::MatMul:InputDtype:float16,OutputDtype:float32\n", True),
        ("lists.txt", '{"black-list": {"to-add": ["Add"]}}', True),
        ("a.config", "op_debug_config = OpType::MatMul\n", True),
        ("a.aippconfig", "aipp_op { aipp_mode: static }\n", True),
        ("labels.txt", "cat\ndog\n", False),
        ("log.txt", "start\nnode a\nnode b\nnode c InputDtype: float16\n", False),
    ],
)  # fmt: skip
def test_files_that_nobody_named(name, content, ours):
    """In a directory only files that are meant for us are read."""
    reading = read_if_ours(name, None, content.encode("utf-8"))
    assert ours is (reading is not None)


def test_check_takes_a_path(tmp_path):
    """``npu_config.check`` reads, and uses the target of the file unless one is given."""
    from npu_config import Target

    path = tmp_path / "x.yaml"
    path.write_text("version: 1\ntarget: {product: atlas_training}\naicore_num: 24|48\n")
    assert "NPU107" in [d.rule for d in check(str(path))]
    assert "NPU107" not in [d.rule for d in check(path, Target(product="atlas_a2"))]
    assert [d.rule for d in check(tmp_path / "nope.yaml")] == ["NPU701"]


def test_check_takes_a_proto_and_refuses_the_rest():
    """A ConfigProto of the stub's class; nothing else."""
    from npu_config.config import NpuConfig
    from npu_config.proto import parse_bytes

    config = NpuConfig.from_dict({"hccl_timeout": 1800})
    assert check(parse_bytes(config.to_bytes())).ok
    assert check(config).ok
    assert check({"hccl_timeout": "1800"}).errors
    with pytest.raises(TypeError, match="got int"):
        check(5)


def test_permissions_stay_unchanged(tmp_path):
    """Reading opens nothing for writing."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\n")
    path.chmod(0o444)
    read(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_decode_counts_lines():
    """Lines end at a newline, columns count characters."""
    _, fault = decode(b"a\nb\xc3\xa9\xff", "x")
    assert (fault.line, fault.column) == (2, 3)


def test_kinds_are_public():
    """What ``--as`` takes."""
    assert {"yaml", "toml", "json", "pbtxt", "pb"} <= set(KINDS)


@pytest.mark.parametrize("module", ["npu_bridge.npu_init", "npu_config.npu_init"])
def test_a_migrated_script_is_found(module):
    """A walk takes what works with the adapter, whichever package gives its names."""
    lines = ["import tensorflow as tf", "from {} import *", "tf.Session().run([a, b.initializer])"]
    assert is_ours("train.py", "\n".join(lines).format(module).encode())
