"""Baselines: what old code may keep."""

import json

import pytest

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.lint.baseline import Baseline, BaselineError

TEXT = "first\n  second\nthird\nsecond\n"


def finding(path, line, rule="NPU104", option="dump_mode"):
    """A finding on a line."""
    return Diagnostic(rule, "x", Severity.ERROR, "m", option=option, path=str(path), line=line)


@pytest.fixture
def script(tmp_path):
    """A file with findings."""
    path = tmp_path / "脚本" / "train.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def new(baseline, script, text, *findings):
    """The lines of the findings that the baseline does not allow."""
    return [f.line for f in baseline.new(findings, {str(script): text})]


def test_round_trip(tmp_path, script):
    """What was written is allowed, and nothing else."""
    path = tmp_path / "baseline.json"
    texts = {str(script): TEXT}
    Baseline.of([finding(script, 2), finding(script, 3)], texts, str(tmp_path)).save(path)
    known = Baseline.load(path)
    assert len(known) == 2
    assert new(known, script, TEXT, finding(script, 2), finding(script, 3)) == []
    others = [
        finding(script, 1),
        finding(script, 2, rule="NPU105"),
        finding(script, 2, option="dump_path"),
        finding(tmp_path / "other.py", 2),
    ]
    assert known.new(others, texts) == others
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["version"] == 1
    assert {entry["path"] for entry in content["findings"]} == {"脚本/train.py"}


def test_moved_lines(tmp_path, script):
    """A finding keeps its place in the baseline when lines are added or indented."""
    known = Baseline.of([finding(script, 2)], {str(script): TEXT}, str(tmp_path))
    assert new(known, script, "new\n" + TEXT, finding(script, 3)) == []
    assert new(known, script, "new\nsecond\n", finding(script, 2)) == []
    assert new(known, script, "new\nanother\n", finding(script, 2)) == [2]


def test_counts(tmp_path, script):
    """One more on a line of the same text is new."""
    known = Baseline.of([finding(script, 2)], {str(script): TEXT}, str(tmp_path))
    assert new(known, script, TEXT, finding(script, 2), finding(script, 4)) == [4]
    two = Baseline.of([finding(script, 2)] * 2, {str(script): TEXT}, str(tmp_path))
    assert new(two, script, TEXT, finding(script, 2), finding(script, 4)) == []


def test_without_place(tmp_path):
    """Findings without a path, a line or an option."""
    bare = Diagnostic("NPU104", "x", Severity.ERROR, "m")
    known = Baseline.of([bare], {}, str(tmp_path))
    assert known.new([bare], {}) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "findings": []}',
        '{"version": true, "findings": []}',
        '{"version": 1.0, "findings": []}',
        '{"version": 1, "findings": [{"rule":"", "path":3, "option":"", "line":"", "count":1}]}',
        '{"version": 1}',
        '{"version": 1, "findings": [{}]}',
        '{"version": 1, "findings": [3]}',
        '{"version": 1, "findings": {"a": 1}}',
        '{"version": 1, "findings": [{"rule":"", "path":"", "option":"", "line":"", "count":0}]}',
        '{"version": 1, "findings": [{"rule":"","path":"","option":"","line":"","count":true}]}',
        "[" * 100000,
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
    ids=range(15),
)
def test_unusable(tmp_path, content):
    """What is no baseline is refused as a whole."""
    path = tmp_path / "baseline.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    with pytest.raises(BaselineError) as caught:
        Baseline.load(path)
    assert caught.value.diagnostic.rule == "NPU899"
    assert caught.value.diagnostic.path == str(path)


def test_words_of_what_is_wrong(tmp_path):
    """The reason is told in words, not in those of Python."""
    path = tmp_path / "baseline.json"
    for content, words in (
        ("[]", "the content is not an object with a version"),
        ('{"version": 1, "findings": {}}', "the file has no list of findings"),
        ('{"version": 1, "findings": [{"rule": ""}]}', "finding 1 must have the keys"),
    ):
        path.write_text(content)
        with pytest.raises(BaselineError, match=words):
            Baseline.load(path)


def test_never_overwritten(tmp_path):
    """A file that is there is replaced only when that is asked for."""
    path = tmp_path / "baseline.json"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        Baseline({}).save(path)
    assert path.read_text() == "mine"
    Baseline({}).save(path, overwrite=True)
    assert len(Baseline.load(path)) == 0


def test_unreadable_files_are_no_old_code(tmp_path):
    """That a file is missing is told every time."""
    missing = Diagnostic("NPU701", "unreadable-file", Severity.ERROR, "m", path="x.py")
    assert len(Baseline.of([missing], {})) == 0


def test_names_that_are_no_text(tmp_path, script):
    """File names and options may hold bytes that are not UTF-8."""
    found = Diagnostic("NPU101", "x", Severity.ERROR, "m", "\ud800模式", "\udcff.py", 1)
    path = tmp_path / "baseline.json"
    Baseline.of([found], {}, str(tmp_path)).save(path)
    assert "模式" in path.read_text(encoding="utf-8")
    assert Baseline.load(path).new([found], {}) in ([], [found])
    assert Baseline.of([found], {}, str(tmp_path))._counts == Baseline.load(path)._counts


def test_missing(tmp_path):
    """A baseline that is not there."""
    with pytest.raises(BaselineError):
        Baseline.load(tmp_path / "no.json")
    with pytest.raises(BaselineError):
        Baseline.load(tmp_path)
