"""Files are written in place only when nothing else can be hurt by it."""

import os
import sys

import pytest

from npu_config.cli._fix import rewrite
from npu_config.text import files
from tests.cli.edits import COMMANDS, race

WRONG = "version: 1\nop_wait_timeout: 120\nhcl_timeout: 1800\n"
RIGHT = WRONG.replace("hcl_", "hccl_")


@pytest.fixture
def wrong(tmp_path):
    """A configuration with a fault that --fix corrects."""
    path = tmp_path / "project" / "npu.yaml"
    path.parent.mkdir()
    path.write_text(WRONG)
    return path


def test_a_plain_file_is_written(npu, wrong):
    """The mode stays."""
    wrong.chmod(0o640)
    result = npu("check", "--fix", wrong.parent)
    assert (result.code, wrong.read_text()) == (0, RIGHT), result
    assert wrong.stat().st_mode & 0o777 == 0o640


def test_a_link_out_of_the_directory_is_not_followed(npu, wrong, tmp_path):
    """A link that was found leaves the file outside alone; one that is named is followed."""
    outside = tmp_path / "outside.yaml"
    outside.write_text(WRONG)
    wrong.unlink()
    wrong.symlink_to(outside)
    result = npu("check", "--fix", wrong.parent)
    assert (result.code, outside.read_text()) == (1, WRONG)
    assert "NPU792" in result.out
    assert "points outside" in result.out
    assert npu("check", "--fix", wrong).code == 0
    assert (wrong.is_symlink(), outside.read_text()) == (True, RIGHT)


def test_a_link_within_the_directory_is_followed(npu, wrong):
    """It stays a link."""
    link = wrong.with_name("a.yaml")
    link.symlink_to("npu.yaml")
    assert npu("check", "--fix", wrong.parent).code == 0
    assert (link.is_symlink(), wrong.read_text()) == (True, RIGHT)


@pytest.mark.parametrize("command", [["check", "--fix"], ["format"]])
def test_hard_links_stay_one_file(npu, tmp_path, command):
    """A file with two names is not replaced by one of them."""
    path, other = tmp_path / "ops_info.json", tmp_path / "other.json"
    text = '{"black-list": {"to-add": ["ReduceSum"],}}'
    path.write_text(text)
    os.link(str(path), str(other))
    result = npu(*command, path)
    assert result.code != 0
    assert "hard links" in result.out + result.err
    assert (path.read_text(), path.stat().st_ino) == (text, other.stat().st_ino)


def test_a_link_to_a_directory_outside(npu, wrong, tmp_path):
    """What lies behind a linked directory is outside, too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "npu.yaml").write_text(WRONG)
    (wrong.parent / "linked").symlink_to(outside)
    npu("check", "--fix", wrong.parent)
    assert (wrong.read_text(), (outside / "npu.yaml").read_text()) == (RIGHT, WRONG)
    assert "points outside" in rewrite(
        str(wrong.parent / "linked" / "npu.yaml"), WRONG, RIGHT, root=str(wrong.parent)
    )


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root gives files away")
def test_the_owner_stays(npu, wrong, monkeypatch):
    """Root keeps the owner; whoever cannot leaves the file alone."""
    os.chown(str(wrong), 12345, 12346)
    assert npu("check", "--fix", wrong).code == 0
    status = wrong.stat()
    assert (wrong.read_text(), status.st_uid, status.st_gid) == (RIGHT, 12345, 12346)
    wrong.write_text(WRONG)

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(files.os, "chown", refused)
    result = npu("check", "--fix", wrong)
    assert (result.code, wrong.read_text()) == (1, WRONG)
    assert "belongs to another user" in result.out


def test_an_edit_in_between_is_kept(tmp_path):
    """What somebody else wrote since the file was read is not lost."""
    path = tmp_path / "x"
    path.write_text("new")
    assert "changed while" in rewrite(str(path), "old", "mine")
    assert path.read_text() == "new"
    assert rewrite(str(path), "new", "mine") is None
    assert path.read_text() == "mine"


def test_format_keeps_an_edit_in_between(npu, tmp_path, monkeypatch):
    """``format`` looks again before it writes."""
    from npu_config.cli import format as formatting

    path = tmp_path / "ops_info.json"
    path.write_text('{"black-list": {"to-add": ["ReduceSum"],}}')
    cleaned = formatting._cleaned

    def edited(*arguments):
        path.write_text("{}")
        return cleaned(*arguments)

    monkeypatch.setattr(formatting, "_cleaned", edited)
    result = npu("format", path)
    assert (result.code, path.read_text()) == (2, "{}")
    assert "changed while" in result.err


def test_a_full_disk_leaves_the_file(npu, wrong, monkeypatch):
    """And says so."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    result = npu("check", "--fix", wrong)
    assert (result.code, wrong.read_text()) == (1, WRONG)
    assert os.listdir(str(wrong.parent)) == ["npu.yaml"]
    assert "No space left" in result.out


def test_a_device_is_not_written():
    """Only regular files are."""
    assert "not a regular file" in rewrite("/dev/null", "", "x")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_edit_is_lost(command):
    """Edits of another process in every way, while the command rewrites the file over and over."""
    done, lost, _, left = race(command, 120)
    assert (sum(done.values()), lost, left) == (120, [], [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs leases")
@pytest.mark.parametrize("is_old_edited", [False, True])
def test_an_edit_of_the_new_file(tmp_path, monkeypatch, is_old_edited):
    """It stays where the old file was open, too; with an edit in each both are kept."""
    path = tmp_path / "x"
    path.write_text("old")
    exchange, opened = files._exchange, []

    def edited(one, other):
        exchange(one, other)
        if not opened:
            opened.append(os.open(one, os.O_WRONLY | os.O_APPEND))
            path.write_text("theirs")
        elif opened[0] is not None:
            os.write(opened[0], b"er" if is_old_edited else b"")
            os.close(opened[0])
            opened[0] = None

    monkeypatch.setattr(files, "_exchange", edited)
    reason = rewrite(str(path), "old", "mine")
    left = {each.read_text() for each in tmp_path.iterdir()}
    if is_old_edited:
        assert "changed twice" in reason
        assert (path.read_text(), left) == ("older", {"older", "theirs"})
    else:
        assert "changed while" in reason or "open for writing" in reason
        assert (path.read_text(), left) == ("theirs", {"theirs"})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs leases")
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_file_that_is_being_written(npu, tmp_path, command):
    """It is left to whoever has it open; the command says so, and the exit code is not 0."""
    name, template, _, _ = COMMANDS[command]
    path = tmp_path / name
    path.write_text(template.format(1))
    with open(str(path), "a"):
        result = npu(*command.split(), path)
    said = result.out + result.err
    assert (result.code != 0, path.read_text()) == (True, template.format(1)), said
    assert (
        "another process has the file open for writing, so npu_config does not write the file"
        in said
    )
    assert npu(*command.split(), path).code == 0
    assert path.read_text() != template.format(1)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_attributes_stay(npu, tmp_path, command):
    """Extended attributes are those of the file that was there."""
    name, template, _, _ = COMMANDS[command]
    path = tmp_path / name
    path.write_text(template.format(1))
    try:
        os.setxattr(str(path), "user.origin", b"x")
    except (AttributeError, OSError):
        pytest.skip("needs extended attributes")
    assert npu(*command.split(), path).code == 0
    assert (os.listxattr(str(path)), path.read_text() != template.format(1)) == (
        ["user.origin"],
        True,
    )
