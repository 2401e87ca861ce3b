"""Old names: what warns, and from when."""

import sys
import warnings
from pathlib import Path

import pytest

from npu_config import cluster, rank_table
from npu_config.core import deprecation
from npu_config.core.deprecation import DEPRECATED, Deprecation

DOCS = Path(__file__).parents[2] / "docs"


def test_an_alias_is_silent():
    """Before a release is named the old name is the new one, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cluster.rank_table is rank_table


@pytest.mark.parametrize(
    "way", ["cluster.rank_table", "from npu_config.cluster import rank_table"]
)
def test_a_deprecated_name_warns_its_user(monkeypatch, way):
    """The warning names the release and the successor, at the line that uses the old name."""
    entry = Deprecation("npu_config.rank_table", "0.2.0")
    monkeypatch.setitem(DEPRECATED, "cluster", entry)
    with pytest.warns(DeprecationWarning, match="0.2.0") as caught:
        exec(compile(way, "train.py", "exec"), {"cluster": cluster})
    assert {
        "npu_config.cluster is deprecated since npu_config 0.2.0; use npu_config.rank_table"
    } == {str(each.message) for each in caught}
    if sys.version_info >= (3, 8):  # before, the frame of an exec names no file here
        assert {each.filename for each in caught} == {"train.py"}


def test_the_promise_lists_every_old_name():
    """The page of the promise names what is an alias or deprecated, in both languages."""
    for page in (DOCS / "stability.md", DOCS / "zh" / "stability.md"):
        text = page.read_text("utf-8")
        assert [
            name for name in deprecation.DEPRECATED if "`npu_config.{}`".format(name) not in text
        ] == []
