"""Modules stay small: 400 lines at most, but for a list that may only get shorter."""

from pathlib import Path

import npu_config

PACKAGE = Path(npu_config.__file__).parent
LARGE = {
    "catalogue/kinds/lists.py",
    "cluster/environment/_interplay.py",
    "cluster/environment/placement.py",
    "cluster/rank_table/model.py",
    "readers/_toml_scan.py",
    "rules/environment.py",
    "rules/precision.py",
    "rules/shapes.py",
    "rules/tasks.py",
    "rules/values.py",
    "sidefiles/customize_dtypes.py",
    "sidefiles/fusion_switch.py",
    "sidefiles/profiling.py",
    "sidefiles/schema/kinds.py",
    "text/json_parser.py",
}


def test_no_module_is_long():
    """No other module has more than 400 lines, and none at all more than 600."""
    sizes = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name for name, size in sizes.items() if size > 400} <= LARGE
    assert max(sizes.values()) <= 600
