"""The pages of the checks of scripts: what they must hold, and that their examples are true."""

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.core.target import Target
from npu_config.script import judge_script
from npu_config.script.checks import CHECKS
from tests.rules.rule_examples import examples

RULES = [check.rule for check in CHECKS]

WITHOUT_FACTS = ("NPU807", "NPU876", "NPU869")
"""Their facts are those of ``versions.yaml`` and ``modules.yaml``, or this package itself."""

DOUBTFUL = ("NPU8110",)
"""With newer adapters, which these examples import, they are no more than information."""

HEAD = """\
import argparse
import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
TAIL = """\
if __name__ == "__main__":
    print(config, custom_op)
"""


def least_severity(rule):
    """What a finding of a rule has at least, where it is one."""
    is_note = rule.severity is Severity.INFO or rule.id in DOUBTFUL
    return Severity.INFO if is_note else Severity.WARNING


def framed(text):
    """An example in a script, which builds a configuration and opens a session with it."""
    own = "import" in text or "custom_op.name" in text
    body = text + "    pass\n" if text.rstrip().endswith(":") else text
    opened = (
        ""
        if "Session(" in text or "NPURunConfig(" in text
        else "sess = tf.Session(config=config)\n"
    )
    return body + TAIL if own else HEAD + body + opened + TAIL


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_page_is_complete(rule):
    """A page has a summary of one line, the reason, wrong and right examples, and a source."""
    head, _, rest = rule.page.partition("\n\n")
    assert "\n" not in head
    assert head.endswith((".", ":"))
    assert rest.split("Wrong:", 1)[0].strip()
    assert {example.wrong for example in examples(rule.page)} == {True, False}
    assert rule.source
    named = rule.facts or rule.situation or rule.id in WITHOUT_FACTS
    assert named, "name the facts that it applies, facts=(...): docs/facts.yaml lists them"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_examples(rule):
    """The wrong examples of a page break its rule, the right ones do not."""
    for example in examples(rule.page):
        target = Target(cann=example.remark.rpartition("CANN ")[2] or None)
        judged = judge_script(framed(example.text), target=target if target.cann else None)
        least = least_severity(rule)
        found = [f for f in judged if f.severity >= least]
        assert (rule.id in {f.rule for f in found}) is example.wrong, example.text
        assert "NPU830" not in {f.rule for f in found}
