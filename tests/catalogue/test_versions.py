"""Versions of the adapter: the facts, the declarations and the judgement agree."""

from pathlib import Path

import pytest
import yaml

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, REMOVED
from npu_config.catalogue.api import ARGUMENT_VERSIONS, EXPORT_VERSIONS, PARAMETERS
from npu_config.checking import check
from npu_config.core.diagnostics import Severity
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import NEWEST, SNAPSHOTS, Versions, spans
from npu_config.rules.case import judge
from npu_config.rules.value import ConfigValue, from_settings
from npu_config.script import judge_script

FACTS = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "facts" / "versions.yaml").read_text(encoding="utf-8")
)
VERSIONS = range(len(SNAPSHOTS))
OF_VERSIONS = {"NPU101", "NPU102", "NPU111", "NPU112"}


def declared(facts):
    """Spans of the facts as versions."""
    return spans(*((span.get("since"), span.get("until")) for span in facts))


def test_the_snapshots_are_those_of_the_facts():
    """Label, date and version of CANN, and whether that is certain."""
    expected = [
        (
            fact["adapter"],
            str(fact["date"]),
            fact.get("cann", fact.get("cann_about")),
            "cann_about" in fact,
        )
        for fact in FACTS["snapshots"]
    ]
    assert expected == [tuple(snapshot) for snapshot in SNAPSHOTS]


def test_every_option_has_the_spans_of_the_facts():
    """No option without a span, no span without an option."""
    facts = {name: [{}] for name in FACTS["options"]["in_every_version"]}
    facts.update(FACTS["options"]["changing"])
    assert set(facts) == {name for name, option in ALL_OPTIONS.items() if option.is_read}
    assert {name: declared(fact) for name, fact in facts.items()} == {
        name: ALL_OPTIONS[name].versions for name in facts
    }


def test_the_number_of_options_of_each_snapshot():
    """Each adapter reads as many options as were counted in it."""
    expected = [fact["options_read"] for fact in FACTS["snapshots"]]
    found = [sum(o.versions.has(version) for o in ALL_OPTIONS.values()) for version in VERSIONS]
    assert expected == found


def test_removed_options_are_not_current():
    """The newest adapter reads every option of the catalogue and no removed one."""
    assert {True} == {o.versions.has(NEWEST) for o in OPTIONS.values() if o.is_read}
    assert {False} == {o.versions.has(NEWEST) for o in REMOVED.values()}


def test_the_lists_of_values_are_those_of_the_facts():
    """Every value that came or went is known to the versions whose list has it."""
    for name, lists in FACTS["values"].items():
        option = ALL_OPTIONS[name]
        for fact in lists:
            if isinstance(fact["values"], str):
                continue
            for version in VERSIONS:
                if declared([fact]).has(version) and option.wire_in(version) == option.wire:
                    everything = {value for each in lists for value in each["values"]}
                    known = {value for value in everything if knows(option, value, version)}
                    assert set(fact["values"]) & everything == known, (name, version)


def knows(option, value, version):
    """True when the option takes the value there."""
    found = judge(Settings.of({option.name: value}), Target(adapter=SNAPSHOTS[version].adapter))
    return not {"NPU104", "NPU112"} & {diagnostic.rule for diagnostic in found}


def sample(option):
    """The default of an option, or a value of its kind."""
    if option.default is not None:
        return option.default
    for value in ("1", "x", "a/b", "-1,1", "high_precision", 1, True):
        try:
            return option.kind.parse(value)
        except Exception:
            continue
    return UNSURE


UNSURE = object()


@pytest.mark.parametrize("name", [name for name, o in ALL_OPTIONS.items() if o.is_read])
def test_an_option_is_accepted_by_just_the_versions_that_read_it(name):
    """With its default and in the right field; the others report it, and so for a wrong field."""
    option = ALL_OPTIONS[name]
    value = sample(option)
    for version in VERSIONS:
        adapter = SNAPSHOTS[version].adapter
        wire = option.wire_in(version)
        if value is UNSURE:
            content = Settings({name: Setting("x", wire)}, SourceKind.PROTO)
        elif wire != option.wire:
            content = Settings({name: Setting(True, wire)}, SourceKind.PROTO)
        else:
            wired = option.kind.to_wire(value)
            content = Settings({name: Setting(wired, wire)}, SourceKind.PROTO)
        found = {d.rule for d in judge(content, Target(adapter=adapter))} & OF_VERSIONS
        if value is UNSURE:
            found -= {"NPU102"}
        assert (set() if option.versions.has(version) else {"NPU111"}) == found, adapter
        other = Settings({name: Setting(1, "i" if wire != "i" else "s")}, SourceKind.PROTO)
        found = {d.rule for d in judge(other, Target(adapter=adapter))} & OF_VERSIONS
        assert ({"NPU102"} if option.versions.has(version) else {"NPU111"}) == found, adapter


def test_jit_compile_is_written_into_the_field_of_the_version():
    """A bool for adapters that read a bool, text for the others."""
    facts = FACTS["wire_changes"]["jit_compile"]
    option = OPTIONS["jit_compile"]
    for version in VERSIONS:
        if not option.versions.has(version):
            continue
        (field,) = [fact["field"] for fact in facts if declared([fact]).has(version)]
        target = Target(adapter=SNAPSHOTS[version].adapter)
        config = from_settings(ConfigValue, Settings.of({"jit_compile": "false"}), target)
        expected = ("b", False) if field == "b" else ("s", "false")
        assert {"jit_compile": expected} == config.wire_values()


def test_without_a_version_nothing_is_said_of_versions():
    """The newest adapter is meant, and nothing else is said."""
    for name in ("deterministic", "auto_tune_mode", "mstune_mode"):
        rules = {d.rule for d in check({name: 1})}
        assert not rules & {"NPU111", "NPU112", "NPU113"}


def test_auto_tuning_is_not_wrong_where_it_worked():
    """Adapters until r1.10.0 read it and tuned."""
    for version in VERSIONS:
        rules = {
            d.rule
            for d in check({"auto_tune_mode": "RL,GA"}, Target(adapter=SNAPSHOTS[version].adapter))
        }
        expected = "NPU903" if version >= 10 else "NPU111" if version == 9 else None
        assert {expected} - {None} == rules & {"NPU903", "NPU111"}


def test_words_of_versions():
    """As messages and pages say them."""
    assert str(spans((None, "r1.10.0"), ("v0.0.3", None))) == "until r1.10.0, since v0.0.3"
    assert str(spans(("v0.0.3", "v0.0.3"))) == "in v0.0.3 only"
    assert str(spans(("r1.2.0", "r1.3.0"))) == "from r1.2.0 to r1.3.0"
    assert str(Versions(((0, NEWEST),))) == "in every version"


def test_arguments_and_exports_have_the_spans_of_the_facts():
    """Those of NPURunConfig, and the names of npu_init."""
    for key, found in (
        ("run_config_arguments", ARGUMENT_VERSIONS),
        ("npu_init_exports", EXPORT_VERSIONS),
    ):
        assert {name: declared(fact) for name, fact in FACTS[key]["changing"].items()} == found
        assert not set(FACTS[key]["in_every_version"]) & set(found)
    current = {name for name, versions in ARGUMENT_VERSIONS.items() if versions.has(NEWEST)}
    every = set(FACTS["run_config_arguments"]["in_every_version"])
    assert current | every >= set(PARAMETERS["NPURunConfig"]) - {"device_fn", "protocol"}
    assert set(PARAMETERS["NPURunConfig"]) >= current


def test_a_script_for_an_older_adapter():
    """Arguments and names that it does not have end the job there, and are errors."""
    lines = [
        "from npu_bridge.npu_init import NPURunConfig, SetIterationsVarHook",
        "config = NPURunConfig(deterministic=1, memory_config=None, auto_tune_mode='RL,GA',",
        "                      iterations_per_loop=10, enable_data_pre_proc=True)",
        "estimator = NPUEstimator(f, config=config)",
    ]
    script = "\n".join(lines) + "\n"
    for adapter, expected in (
        ("r1.3.0", {"NPU807", "NPU114"}),
        ("r1.10.0", {"NPU114"}),
        ("v0.0.48", {"NPU839"}),
        (None, {"NPU839"}),
    ):
        found = judge_script(script, "train.py", Target(adapter=adapter))
        rules = {d.rule for d in found if d.severity is Severity.ERROR}
        assert expected == rules & {"NPU807", "NPU114", "NPU839", "NPU111"}, adapter
    old = [d for d in judge_script(script, "t.py", Target(adapter="r1.3.0")) if d.rule == "NPU114"]
    assert [d.option for d in old] == ["deterministic", None]
    assert [(d.line, d.column) for d in old] == [(2, 23), (2, 40)]
