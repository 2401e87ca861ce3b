"""What a user gives `npu-config env` by mistake, and files of variables as shells read them."""

import pytest

from npu_config import rank_table

FILE = "RANK_ID=0\nRANK_SIZE=2\nRANK_TABLE_FILE={}\nJOB_ID=a\nASCEND_DEVICE_ID={}\n"


@pytest.fixture(name="table")
def table_fixture(tmp_path):
    """A rank table with two ranks."""
    path = tmp_path / "table.json"
    rank_table.save(rank_table.build(["10.0.0.1"], 2, "10.1.0.1"), str(path))
    return path


@pytest.mark.parametrize("value", ["$RANK_ID", "${LOCAL_RANK}", '"$(nproc)"', "`id -u`"])
def test_what_a_shell_fills_in_is_not_known(npu, tmp_path, value):
    """The file may be sourced: nothing is said of the value."""
    path = tmp_path / "job.env"
    path.write_text(FILE.format("/data/table.json", value))
    result = npu("env", "--check", str(path))
    expected = 0
    assert expected == result.code


def test_a_byte_order_mark_is_told(npu, tmp_path):
    """It is not called a line without a value, and the first variable is read."""
    path = tmp_path / "job.env"
    path.write_text("\ufeff" + FILE.format("/data/table.json", "0"), encoding="utf-8")
    result = npu("env", "--check", str(path))
    expected = (1, 1)
    assert expected == (result.code, result.out.count("error:"))
    assert "a byte order mark: it becomes a part of the first name" in result.out


def test_the_rank_table_is_not_overwritten(npu, table):
    """Not with --force either: the environment names this very file."""
    before = table.read_bytes()
    words = ["--rank-table", str(table), "--job-id", "a", "--rank", "0"]
    result = npu("env", *words, "-o", str(table), "--force")
    assert (2, before) == (result.code, table.read_bytes())


@pytest.mark.parametrize(
    "words", [["--namespace", "Bad Name"], ["--image", ""], ["--image", "two words"]]
)
def test_names_that_kubernetes_refuses_are_wrong_calls(npu, table, words):
    """A manifest with them cannot be applied."""
    job = ["--rank-table", str(table), "--job-id", "a", "--to", "kubernetes", "--target", "910"]
    result = npu("env", *job, "--image", "x:1", *words, "--", "python3", "a.py")
    expected = (2, "")
    assert expected == (result.code, result.out)
