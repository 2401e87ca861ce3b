"""``make release-check``: what it compares, and the table it ends with."""

import pytest

from npu_config.core.version import __version__
from tools import release


def test_versions_agree():
    """The extension and the changelog name the version of the package; only the day may wait."""
    assert [line for line in release.versions() if not line.endswith("has no date")] == []


@pytest.mark.parametrize(
    ("heading", "wrong"),
    [
        ("## {} (2026-11-27)", False),
        ("## {} (unreleased)", True),
        ("## {}", True),
        ("## {}.1 (2026-11-27)", True),
    ],
)
def test_changelog(heading, wrong):
    """Its first heading has the version and the day."""
    text = "# Changes\n\n" + heading.format(__version__) + "\n\n## 0.0.1 (2020-01-01)\n"
    assert bool(release.wrong_in_changelog(text)) is wrong


@pytest.mark.parametrize(
    ("licence", "legal"),
    [
        ("License :: OSI Approved :: MIT License MIT", True),
        ("BSD-3-Clause", True),
        ("License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)", True),
        ("GPL-3.0-or-later", False),
        ("LGPL-2.1", False),
        ("MIT AND GPL-2.0", False),
        ("", False),
    ],
)
def test_licences(licence, legal):
    """Those that leave users the choice of their own are allowed, unnamed ones are not."""
    assert (release.wrong_licences(iter([("some", licence)])) == []) is legal


def test_table():
    """What failed says why and what to do; the last line counts."""
    checks = {check.name: check for check in release.CHECKS}
    found = [
        release.Outcome(checks["site"], [], 61.2),
        release.Outcome(checks["metadata"], ["dist/ is empty"], 0.1),
    ]
    assert [
        "site          passed     61 s",
        "metadata      FAILED      0 s",
        "    dist/ is empty",
        "    do: " + checks["metadata"].advice,
        "1 passed, 1 failed",
    ] == release.table(found).splitlines()[2:]


def test_unknown_name(capsys):
    """A name that no check has is a wrong call, and the names are listed."""
    assert release.main(["sites"]) == 2
    assert "  site\n" in capsys.readouterr().out
