"""Every option that names a path, with every thing that may be there."""

import errno
import os
import stat
from unittest import mock

import pytest

from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.rules.case import judge
from tests.rules.rule_examples import host

STRICT = ("dump_path", "work_path")
MADE = ("op_compiler_cache_dir",)
DIRECTORIES = (*STRICT, *MADE, "graph_compiler_cache_dir", "debug_dir")
WARNED = (
    "debug_dir",
    "distribute_config",
    "insert_op_file",
    "compress_weight_conf",
    "resource_config_path",
    "graph_parallel_option_path",
)
FILES = (
    *("modify_mixlist", "op_precision_mode", "customize_dtypes", "op_debug_config"),
    *("fusion_switch_file", "aoe_config_file", *WARNED[1:]),
)
HOST = (
    "# host: directory/ locked/! file=x closed!=x empty link->directory loose->nothing to->file\n"
)

# what is there, what of directories, what of those that may be no link, what of files
THERE = [
    ("directory", None, None, "NPU771"),
    ("directory/", None, None, "NPU771"),
    ("locked", "NPU773", "NPU773", "NPU771"),
    ("file", "NPU771", "NPU771", None),
    ("closed", "NPU771", "NPU771", "NPU773"),
    ("empty", "NPU771", "NPU771", "NPU774"),
    ("link", None, "NPU772", "NPU771"),
    ("link/", None, None, "NPU771"),
    ("to", "NPU771", "NPU772", None),
    ("loose", "NPU770", "NPU772", "NPU770"),
    ("nothing", "NPU770", "NPU770", "NPU770"),
    ("file/below", "NPU770", "NPU770", "NPU770"),
    ("x" * 300, "NPU770", "NPU770", "NPU770"),
]


def found(options, environ=None, on_host=True):
    """The findings about paths."""
    settings = Settings({k: Setting(v) for k, v in options.items()}, SourceKind.FILE)
    return [
        each
        for each in judge(settings, environ=environ, on_host=on_host)
        if "NPU770" <= each.rule <= "NPU775"
    ]


@pytest.mark.parametrize(("path", "directory", "strict", "file"), THERE)
def test_what_is_there(tmp_path, path, directory, strict, file):
    """One finding of one rule, an error where the job ends, or none."""
    with host(HOST, str(tmp_path)):
        for name in (*DIRECTORIES, *FILES):
            options = {name: path, "enable_dump": True}
            options.update({} if name == "dump_path" else {"dump_path": "directory"})
            options.update({} if name == "work_path" else {"work_path": "directory"})
            rule = strict if name in STRICT else directory if name in DIRECTORIES else file
            if name in MADE and path in ("loose", "nothing", "file/below"):
                rule = None
            severity = "warning" if name in WARNED else "error"
            expected = [] if rule is None else [(rule, name, severity)]
            said = found({**options, "aoe_mode": "2"})
            assert expected == [(e.rule, e.option, e.severity.value) for e in said]
            assert found({**options, "aoe_mode": "2"}, on_host=False) == []


@pytest.mark.parametrize(
    ("options", "environ", "rules"),
    [
        ({"dump_path": "nothing"}, None, []),
        ({"dump_path": "nothing", "enable_dump": False}, None, []),
        ({"dump_path": "nothing", "enable_dump_debug": True}, None, ["NPU770"]),
        ({"work_path": "nothing"}, None, []),
        ({"work_path": "nothing"}, {}, []),
        ({"work_path": "nothing"}, {"AOE_MODE": ""}, []),
        ({"work_path": "nothing"}, {"AOE_MODE": "2"}, ["NPU770"]),
        ({"distribute_config": "nothing"}, None, []),
        ({"distribute_config": "nothing", "aoe_mode": "1"}, None, ["NPU770"]),
        ({"aoe_mode": "2"}, None, []),
        ({"aoe_config_file": "nothing"}, None, ["NPU770"]),
    ],
)
def test_what_is_looked_at(tmp_path, options, environ, rules):
    """A path that nothing reads is not looked at; the run directory is there."""
    with host(HOST, str(tmp_path)):
        assert rules == [each.rule for each in found(options, environ)]


def test_the_run_directory_is_looked_at_where_no_other_is_named(tmp_path):
    """The tuning writes there: it may be closed."""
    with host("# host:\n", str(tmp_path)), mock.patch("os.access", return_value=False):
        for options in ({}, {"work_path": "."}):
            assert [each.rule for each in found({"aoe_mode": "2", **options})] == ["NPU773"]


@pytest.mark.parametrize(
    ("options", "words", "help"),
    [
        ({"graph_compiler_cache_dir": "nothing"}, "does not exist", "create the directory"),
        (
            {"modify_mixlist": "nothing"},
            "does not exist",
            "create the file, or correct the path",
        ),
        ({"graph_compiler_cache_dir": "x" * 300}, "is too long", "set another path"),
        ({"op_compiler_cache_dir": "x" * 300}, "is too long", "set another path"),
        (
            {"graph_compiler_cache_dir": "file"},
            "is not a directory",
            "set the path of a directory",
        ),
        ({"modify_mixlist": "directory"}, "is a directory", "set the path of a file"),
        (
            {"graph_compiler_cache_dir": "locked"},
            "cannot be read and written by this user",
            "change its permissions, or use another path",
        ),
        (
            {"modify_mixlist": "closed"},
            "which cannot be read by this user;",
            "change its permissions, or use another path",
        ),
        (
            {"modify_mixlist": "empty"},
            "is empty",
            "write content into the file, or remove the option",
        ),
        (
            {"dump_path": "link", "enable_dump": True},
            "is a symbolic link",
            'write the path as "link/", or write the path that the link points to',
        ),
        (
            {"dump_path": "to", "enable_dump": True},
            "is a symbolic link",
            "set the path of a directory",
        ),
    ],
)
def test_words(tmp_path, options, words, help):
    """What is wrong with it, and what to do."""
    with host(HOST, str(tmp_path)):
        (one,) = found(options)
        assert words in one.message
        assert help == one.help


@pytest.mark.parametrize(
    ("output", "words", "help"),
    [
        ("directory", None, None),
        ("link", None, None),
        ("locked", "cannot be read and written", "change its permissions, or use another path"),
        ("file", "is not a directory", "set the path of a directory"),
        ("nothing", "does not exist", "create the directory first"),
        ("file/below", "does not exist", "create the directory first"),
        ("x" * 300, "is too long", "create the directory first"),
    ],
)
def test_the_output_of_the_profiling(tmp_path, output, words, help):
    """A directory that can be read and written, while the profiling is on."""
    text = '{{"output": "{}", "task_time": "on"}}'.format(output)
    options = {"profiling_mode": True, "profiling_options": text}
    with host(HOST, str(tmp_path)):
        said = found(options)
        assert [help] * (words is not None) == [each.help for each in said]
        assert all(words in each.message for each in said)
        assert found({**options, "profiling_mode": False}) == []
        assert found(options, on_host=False) == []
        assert found({**options, "profiling_options": '{"task_time": "on"}'}) == []


def test_what_cannot_be_asked():
    """The reason of the system is named; what is no file at all is not called empty."""
    refused = OSError(errno.EACCES, "Permission denied")
    with mock.patch("npu_config.rules.paths.os.stat", side_effect=refused):
        (one,) = found({"modify_mixlist": "x"})
    assert (one.rule, one.help) == ("NPU770", "set another path")
    assert "cannot be accessed (Permission denied)" in one.message
    pipe = os.stat_result((stat.S_IFIFO | 0o600, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    with mock.patch("npu_config.rules.paths.os.stat", return_value=pipe), mock.patch(
        "npu_config.rules.paths.os.access", return_value=True
    ):
        assert found({"modify_mixlist": "x"}) == []
