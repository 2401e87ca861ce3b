"""Modules stay small: 400 lines at most."""

from pathlib import Path

import npu_config

PACKAGE = Path(npu_config.__file__).parent


def test_no_module_is_long():
    """A module of more than 400 lines has more than one meaning."""
    sizes = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert [name for name, size in sizes.items() if size > 400] == []
