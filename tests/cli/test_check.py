"""``npu-config check``."""

import errno
import json
import os
import stat
import sys

import pytest

from npu_config.config import NpuConfig
from npu_config.readers import read
from npu_config.text.source import apply_edits
from tests.cli.conftest import GOOD


def rules(result):
    """The ids in a JSON report."""
    return [entry["rule"] for entry in json.loads(result.out)["diagnostics"]]


def test_nothing_wrong(npu, good):
    """Exit code 0, one line."""
    assert npu("check", good) == (0, "no problem found in 1 file\n", "")


def test_errors(npu, bad):
    """Exit code 1, every error with its line."""
    result = npu("check", bad)
    assert result.code == 1
    assert "    2 | hcl_timeout: 1800 # note\n      | ^~~~~~~~~~~\n" in result.out
    assert '    help: did you mean "hccl_timeout"?\n' in result.out
    assert "[NPU104 value-not-allowed]" in result.out
    assert result.err == ""


def test_warnings_fail_only_when_strict(npu, tmp_path):
    """An empty file is a warning."""
    path = tmp_path / "empty.yaml"
    path.write_text("")
    assert npu("check", path).code == 0
    assert npu("check", path, "--strict").code == 1


def test_a_file_that_cannot_be_read_hides_no_other(npu, tmp_path, good, bad):
    """It is a finding, and the others are checked."""
    result = npu("check", tmp_path / "nope.yaml", bad, good, tmp_path / "x.toml", "--format=json")
    document = json.loads(result.out)
    assert result.code == 2
    assert rules(result).count("NPU701") == 2
    assert {"NPU101", "NPU104"} < set(rules(result))
    assert document["summary"]["files"] == 4
    assert document["summary"]["skipped"] == 2


def test_json(npu, bad):
    """The contract: one object, these keys."""
    document = json.loads(npu("check", bad, "--format", "json").out)
    assert document["version"] == 1
    assert set(document) == {"version", "diagnostics", "summary", "unchecked", "job_ends"}
    assert set(document["summary"]) == {"files", "errors", "warnings", "infos", "skipped"}
    first = document["diagnostics"][0]
    assert list(first) == [
        "path", "line", "column", "end_line", "end_column", "rule", "name", "severity", "option",
        "message", "help", "url", "fix", "meant", "consequence", "situation",
    ]  # fmt: skip
    assert (first["line"], first["column"], first["end_column"]) == (2, 1, 12)


@pytest.mark.parametrize("format_", ["sarif", "github"])
def test_other_formats(npu, bad, format_):
    """They are printed, with the same exit code."""
    result = npu("check", bad, "--format", format_)
    assert result.code == 1
    assert "NPU104" in result.out


def test_standard_input(npu):
    """Known by its content, or by --as."""
    assert npu("check", "-", stdin=GOOD.encode()).code == 0
    result = npu("check", "-", "--as", "toml", stdin=GOOD.encode())
    assert result.code == 1
    assert "<stdin>:1:8: error:" in result.out
    assert npu("check", "-", stdin=NpuConfig.from_dict({}).to_bytes()).code == 0


def test_the_target_of_the_command_line_wins(npu, good):
    """--target and --mode replace what the file says."""
    good.write_text(GOOD + "aicore_num: 24|48\n")
    assert "NPU107" not in rules(npu("check", good, "--format=json"))
    assert "NPU107" in rules(npu("check", good, "--target", "atlas_training", "--format=json"))
    good.write_text(GOOD + "quant_dumpable: '1'\ngraph_run_mode: 0\n")
    assert "NPU110" in rules(npu("check", good, "--mode", "training", "--format=json"))


def test_paths_are_looked_at_on_the_host_only(npu, tmp_path):
    """--on-host."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "version: 1\nmodify_mixlist: /no/such/file\nprecision_mode: allow_mix_precision\n"
    )
    assert npu("check", path).code == 0
    assert npu("check", path, "--on-host").code == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--select", "NPU104"], ["NPU104"]),
        (["--select", "value-not-allowed"], ["NPU104"]),
        (["--select", "NPU1", "--ignore", "npu104"], ["NPU101"]),
        (["--select", "NPU104,unknown-option"], ["NPU101", "NPU104"]),
        (["--select", "NPU104", "--select", "NPU101"], ["NPU101", "NPU104"]),
        (["--select", "NPU5"], []),
    ],
)
def test_selection(npu, bad, arguments, expected):
    """Ids, beginnings of ids, names; what is not told does not fail."""
    result = npu("check", bad, "--format=json", *arguments)
    assert rules(result) == expected
    assert result.code == (1 if expected else 0)


def test_a_file_that_cannot_be_read_is_told_whatever_is_selected(npu, tmp_path):
    """Unless it is ignored by name."""
    path = tmp_path / "nope.yaml"
    assert npu("check", path, "--select", "NPU104").code == 2
    assert npu("check", path, "--ignore", "NPU701").code == 0


@pytest.mark.parametrize("word", ["NPU999", "value-not-alowed", "x"])
def test_a_rule_that_does_not_exist(npu, good, word):
    """Wrong usage, with a word on what may have been meant."""
    result = npu("check", good, "--ignore", word)
    assert result.code == 2
    assert '"{}" is not a rule'.format(word) in result.err
    assert ("value-not-allowed" in result.err) is (word == "value-not-alowed")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--format", "xml", "x"],
        ["check", "--target", "a22", "x"],
        ["check", "--target", "310P", "x"],
        ["check", "--target-cann", "eight", "x"],
        ["check", "--as", "ini", "x"],
        ["check", "--no-such-option", "x"],
        ["chek", "x"],
        ["--no-such-option"],
    ],
)
def test_wrong_usage(npu, arguments):
    """Exit code 2, and nothing on standard output."""
    result = npu(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Error: " in result.err


# Directories


def test_a_directory(npu, tmp_path, good, bad):
    """What is meant for us in it is checked, in order; the rest is let alone."""
    (tmp_path / "compose.yaml").write_text("version: 1\nservices: {}\n")
    (tmp_path / "broken.yaml").write_text("a: b: c")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.toml").write_text("version = 1\nhccl_timeout = 'x'\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.toml").write_text("version = 1\nhccl_timeout = 'x'\n")
    result = npu("check", tmp_path, "--format=json")
    document = json.loads(result.out)
    assert result.code == 1
    assert document["summary"]["files"] == 3
    assert {
        os.path.relpath(entry["path"], str(tmp_path)) for entry in document["diagnostics"]
    } == {
        "bad.yaml",
        os.path.join("sub", "x.toml"),
    }


def test_a_directory_without_anything_to_check(npu, tmp_path, good):
    """It is a warning, beside the files that were checked."""
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "readme.txt").write_text("x")
    result = npu("check", empty, good)
    assert result.code == 0
    assert "warning: the directory contains no file that can be checked [NPU709" in result.out
    assert npu("check", empty, "--strict").code == 1


def test_a_file_is_checked_once(npu, tmp_path, bad):
    """However often it is named."""
    document = json.loads(npu("check", bad, bad, tmp_path, "--format=json").out)
    assert document["summary"]["files"] == 1


# Fixes


def test_fix(npu, bad):
    """Exactly the characters of the mistake are replaced; what remains is told."""
    bad.chmod(0o640)
    result = npu("check", bad, "--fix")
    assert (
        bad.read_text() == "version: 1\nhccl_timeout: 1800 # note\nop_select_implmode: sideways\n"
    )
    assert stat.S_IMODE(bad.stat().st_mode) == 0o640
    assert result.code == 1
    assert "NPU101" not in result.out
    assert "NPU104" in result.out
    assert result.err == "1 fixed\n"


def test_fix_is_idempotent(npu, bad):
    """A second time there is nothing to do."""
    npu("check", bad, "--fix")
    before = bad.read_bytes(), bad.stat().st_mtime_ns
    assert npu("check", bad, "--fix").err == ""
    assert (bad.read_bytes(), bad.stat().st_mtime_ns) == before


def test_diff_changes_nothing(npu, bad):
    """It prints what --fix would do."""
    before = bad.read_bytes()
    result = npu("check", bad, "--diff")
    assert bad.read_bytes() == before
    assert result.code == 1
    assert result.out.splitlines()[2:] == [
        "@@ -1,3 +1,3 @@",
        " version: 1",
        "-hcl_timeout: 1800 # note",
        "+hccl_timeout: 1800 # note",
        " op_select_implmode: sideways",
    ]


def test_diff_of_a_file_without_a_last_newline(npu, tmp_path):
    """As diff(1) has it."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\nhcl_timeout: 1")
    assert npu("check", path, "--diff").out.endswith(
        "-hcl_timeout: 1\n\\ No newline at end of file\n"
        "+hccl_timeout: 1\n\\ No newline at end of file\n"
    )


PROTO = (
    "graph_options {{ rewrite_options {{ custom_optimizers {{ name: 'NpuOptimizer' "
    "parameter_map {{ key: '{}' value {{ i: 1800 }} }} }} }} }}\n"
)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.yaml", "version: 1\njit_compile: on\n", 'version: 1\njit_compile: "true"\n'),
        ("a.yaml", "version: 1\ndump_path: no\n", 'version: 1\ndump_path: "no"\n'),
        ("a.yaml", "target: {cann: 8.50}\r\n", 'target: {cann: "8.50"}\r\n'),
        ("a.yaml", "profling: {}\n", "profiling: {}\n"),
        ("a.yaml", "targt: {product: atlas_a2}\n", "target: {product: atlas_a2}\n"),
        ("a.yaml", "target: {prodct: atlas_a2}\n", "target: {product: atlas_a2}\n"),
        ("a.yaml", "\ufeffhcl_timeout: 1\n", "\ufeffhccl_timeout: 1\n"),
        ("a.toml", "precision_mode = force_fp32\n", 'precision_mode = "force_fp32"\n'),
        ("a.toml", "enable_dump = False # x\n", "enable_dump = false # x\n"),
        ("a.json", '{"enable_dump": False,}\n', '{"enable_dump": false}\n'),
        ("a.json", "{'hccl_timeout': 1} // x\n", '{"hccl_timeout": 1}\n'),
        ("a.json", '{"hcl_timeout": 1}\n', '{"hccl_timeout": 1}\n'),
        ("a.json", '{"profling": {}}\n', '{"profiling": {}}\n'),
        ("a.yaml", "'hcl_timeout': 1\n", "'hccl_timeout': 1\n"),
        ("a.toml", '"hcl_timeout" = 1\n', '"hccl_timeout" = 1\n'),
        ("a.toml", "timeouts . hcl_timeout = 1\n", "timeouts . hccl_timeout = 1\n"),
        ("a.toml", "[timouts]\nhccl_timeout = 1\n", "[timeouts]\nhccl_timeout = 1\n"),
        ("a.pbtxt", PROTO.format("hcl_timeout"), PROTO.format("hccl_timeout")),
    ],
)
def test_fixes_of_files(npu, tmp_path, name, before, after):
    """Each mechanical fix, with line ends and byte order mark as they were."""
    path = tmp_path / name
    path.write_bytes(before.encode("utf-8"))
    npu("check", path, "--fix")
    assert path.read_bytes().decode("utf-8") == (before if after is None else after)


def test_fixes_touch_nothing_else():
    """Outside the spans of the edits every character stays."""
    text = "version: 1\nhcl_timeout: 1800 # note\nprofling: {}\n"
    edits = [
        edit
        for diagnostic in read("x.yaml", None, text).judge()
        if diagnostic.fix
        for edit in diagnostic.fix.edits
    ]
    assert len(edits) == 2
    assert apply_edits(text, edits) == text.replace("hcl_", "hccl_").replace(
        "profling", "profiling"
    )


def test_a_fix_that_cannot_be_written(npu, bad, monkeypatch):
    """It is a finding; the file stays as it was."""
    before = bad.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("npu_config.text.files._exchange", fail)
    result = npu("check", bad, "--fix")
    assert result.code == 1
    assert "the file cannot be written: No space left on device [NPU792" in result.out
    assert bad.read_bytes() == before
    assert os.listdir(str(bad.parent)) == [bad.name]


def test_a_file_that_changes_while_it_is_checked(npu, bad, monkeypatch):
    """It is not overwritten."""
    from npu_config.cli import _session

    real = _session.fixed

    def fixed(text, diagnostics):
        bad.write_text("somebody else was here\n")
        return real(text, diagnostics)

    monkeypatch.setattr(_session, "fixed", fixed)
    assert "the file changed while it was checked" in npu("check", bad, "--fix").out
    assert bad.read_text() == "somebody else was here\n"


def test_standard_input_is_not_fixed(npu):
    """There is nothing to write to."""
    result = npu("check", "-", "--fix", stdin=b"version: 1\nhcl_timeout: 1\n")
    assert result.code == 1
    assert "NPU101" in result.out


# Terminals


def test_colours(npu, bad, monkeypatch):
    """Only on a terminal, and not with NO_COLOR."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in npu("check", bad).out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert "\x1b[1;31merror" in npu("check", bad).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in npu("check", bad).out
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b[" in npu("check", bad).out
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in npu("check", bad).out


def test_what_was_left_out_is_listed(npu, good):
    """Counted, and with the reason on demand, on standard error; the report stays as it is."""
    folder = good.parent
    (folder / "notes.txt").write_text("x")
    (folder / "build").mkdir()
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "a.log").write_text("x")
    plain, listed = npu("check", folder), npu("check", "--show-skipped", folder)
    assert (plain.code, plain.out) == (0, listed.out)
    assert plain.err == "4 skipped; --show-skipped lists them\n"
    assert npu("check", "--format", "json", folder).err == ""
    for name, reason in (("notes.txt", "type"), ("build", "build directory"), ("a.log", "ignore")):
        (line,) = [line for line in listed.err.splitlines() if "/{}: ".format(name) in line]
        assert reason in line


def test_a_directory_that_cannot_be_listed(npu, good, monkeypatch):
    """It is a finding: what is in it may be wrong."""
    folder = good.parent
    (folder / "closed").mkdir()
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = npu("check", folder)
    assert result.code == 1
    assert "closed: error: the directory cannot be listed: Permission denied" in result.out
    assert "NPU701" in result.out


@pytest.mark.parametrize("text", ["def f(:\n", "print 'x'\n", "x = '\xff'\n"])
def test_a_named_script_that_is_no_python(npu, tmp_path, text):
    """It is reported though the file sets no option of the NPU; one that was only found is not."""
    script = tmp_path / "train.py"
    script.write_bytes(text.encode("latin-1"))
    named = npu("check", script)
    assert named.code == 1
    assert "NPU83" in named.out
    assert "1 error: 0 files checked, 1 not checked" in named.out
    assert npu("check", tmp_path).code == 0
    assert npu("check", "--if-ours", script).code == 0


@pytest.mark.parametrize("named", ["./env.sh", "$(cd $(dirname $0); pwd)/env.sh"])
def test_a_sourced_file(npu, tmp_path, monkeypatch, named):
    """What is wrong in it is said once, with its line, and its own comments count."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text("source {}\npython train.py\n".format(named))
    sourced = tmp_path / "env.sh"
    sourced.write_text("export RANK_SIZE=0\n")
    alone, both = npu("check", "run.sh"), npu("check", "run.sh", "env.sh")
    assert alone.out.startswith("env.sh:1:8: error: RANK_SIZE is 0;")
    assert "    1 | export RANK_SIZE=0\n" in alone.out
    assert alone.out == both.out.replace("in 2 files", "in 1 file")
    sourced.write_text("export RANK_SIZE=0  # npu: ignore[NPU670]\n")
    assert npu("check", "run.sh").code == 0
    assert npu("check", "run.sh", "env.sh").code == 0
    (tmp_path / "run.sh").write_text("source {}  # npu: ignore\n".format(named))
    sourced.write_text("export RANK_SIZE=0\n")
    assert npu("check", "run.sh").code == 1


NOTHING = {
    "empty.py": "",
    "comments.py": "# Copyright\n\n# nobody\n",
    "empty.sh": "",
    "comments.sh": "#!/bin/bash\n# later\n",
}


def test_a_script_without_code(npu, tmp_path, monkeypatch):
    """It is said of one that is named; the file of a package may be empty, a walk is silent."""
    monkeypatch.chdir(tmp_path)
    for name, text in {**NOTHING, "__init__.py": ""}.items():
        (tmp_path / name).write_text(text)
    result = npu("check", "--format=json", *NOTHING, "__init__.py")
    found = [(each["path"], each["rule"]) for each in json.loads(result.out)["diagnostics"]]
    assert sorted((name, "NPU709") for name in NOTHING) == sorted(found)
    assert npu("check", "--strict", "empty.sh").code == 1
    assert json.loads(npu("check", "--format=json", ".").out)["diagnostics"] == []


@pytest.mark.parametrize(
    ("written", "number"),
    [("1_000", 1000), ("-1_0", -10), ("0b11", 3), ("0x1_0", 16), ("1_0.5", 10.5), ("0o17", 15)],
)
def test_numbers_of_one_yaml_only(npu, tmp_path, written, number):
    """What YAML 1.1 and 1.2 read as a number and as text is not guessed."""
    (tmp_path / "job.yaml").write_text("version: 1\nop_wait_timeout: {}\n".format(written))
    (found,) = json.loads(npu("check", "--format=json", tmp_path / "job.yaml").out)["diagnostics"]
    assert (found["rule"], found["line"], found["column"]) == ("NPU705", 2, 18)
    assert "the number {} in YAML 1.".format(number) in found["message"]


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ('{"version": "1.0"}', "NPU708"),
        ('{"version": 2}', "NPU708"),
        ('{"version": "1.0", "status": "completed"}', "NPU641"),
        ('{"version": "1.2", "super_pod_list": []}', "NPU641"),
    ],
)
def test_a_version_alone_is_no_configuration(npu, tmp_path, content, rule):
    """A rank table begins so, too; --fix leaves it alone."""
    path = tmp_path / "rt.json"
    path.write_text(content)
    found = json.loads(npu("check", "--fix", "--format=json", path).out)["diagnostics"]
    assert ([rule], content) == ([each["rule"] for each in found], path.read_text())


def test_a_key_twice_on_one_line(npu, tmp_path):
    """The columns are said where the line says nothing."""
    for name, text, key in (
        ("a.yaml", "{version: 1, hccl_timeout: 5, hccl_timeout: 6}\n", (14, 31)),
        ("a.json", '{"version": 1, "hccl_timeout": 5, "hccl_timeout": 6}\n', (16, 35)),
    ):
        (tmp_path / name).write_text(text)
        said = npu("check", tmp_path / name).out
        assert "twice, on line 1 (columns {} and {})".format(*key) in said
