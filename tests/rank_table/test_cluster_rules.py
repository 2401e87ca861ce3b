"""The rules about rank tables and environments: ids, pages, facts."""

import re

import pytest

from npu_config.core.diagnostics import REGISTRY
from npu_config.rulebook import load_all

load_all()
RULES = [rule for id, rule in sorted(REGISTRY.items()) if "NPU640" <= id <= "NPU699"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_page_is_complete(rule):
    """A page has a summary of one line, the reason, a wrong and a right example, a source."""
    head, _, rest = rule.page.partition("\n\n")
    assert "\n" not in head
    assert head.endswith(".")
    reason, wrong, right = re.split(r"^(?:Wrong|Right)", rest, flags=re.MULTILINE)
    assert reason.strip()
    assert wrong.strip()
    assert right.strip()
    assert rule.source


def test_facts_are_covered():
    """Every fact about rank tables and the launch is covered by a rule of these."""
    covered = {fact for rule in RULES for fact in rule.facts}
    assert {
        "rank-table-file", "rank-table-device-ip", "rank-table-device-count-910",
        "rank-table-device-count-a2", "rank-table-balance-a3", "rank-id-matches-table",
        "rank-table-used-when", "cm-used-when", "cm-products", "cm-ranges", "cm-same-chief",
        "resource-info-exclusive", "hccl-port-single-device-multi-process",
        "single-device-hccl", "job-id-format", "estimator-job-id",
        "distributed-optimizer-job-id", "optimizer-wrapper-rank-size", "tf-config-json",
        "hf32-execution-values", "precision-tool-env-switch", "device-id-priority",
        "ascend-device-id-format", "weight-update-sharding",
    } <= covered  # fmt: skip
