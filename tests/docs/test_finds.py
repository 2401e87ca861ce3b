"""The page of what nothing else finds: each script draws exactly the lines below it."""

import re
from pathlib import Path

import pytest

from npu_config import check

PAGE = Path(__file__).parents[2] / "docs" / "finds.md"
CASE = re.compile(r"^## \d+\. (.*?)$.*?```python\n(.*?)```\n\n```text\n(.*?)\n```", re.M | re.S)
CASES = CASE.findall(PAGE.read_text("utf-8"))


def test_there_are_ten():
    """Every section with a number has a script and what is found in it."""
    assert len(CASES) == 10


@pytest.mark.parametrize(("script", "found"), [case[1:] for case in CASES], ids=lambda _: "")
def test_the_script_draws_what_the_page_says(script, found, tmp_path, monkeypatch):
    """Word for word, and no other error or warning."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(script, "utf-8")
    report = check("train.py")
    assert found == "\n".join(map(str, [*report.errors, *report.warnings]))
