"""The file to start from, and the JSON Schema, follow from the catalogue."""

import json
import re

import pytest
from hypothesis import given

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.layout import GROUP_OF_KEY, GROUPS
from npu_config.checking import check
from npu_config.core.target import Target
from npu_config.readers import read
from npu_config.writers import render
from npu_config.writers.init import render as init
from npu_config.writers.init import sample
from npu_config.writers.schema import schema
from tests.strategies import configs

OPTION_LINE = re.compile(r"(?m)^  # (\w+): (.*)$")
OFFERED = [name for name, option in OPTIONS.items() if option.offered]


def test_init_is_a_configuration_without_options():
    """As it stands, it sets nothing and nothing is wrong with it."""
    reading = read("x.yaml", None, init())
    assert reading.diagnostics == ()
    assert dict(reading.settings[0].entries) == {}


def test_init_holds_every_offered_option_in_order():
    """And none that is not offered."""
    found = [name for name, _ in OPTION_LINE.findall(init()) if name in OPTIONS]
    assert found == OFFERED


def test_every_line_of_init_can_be_used():
    """With the marks taken away every option has a legal value in its group."""
    reading = read("x.yaml", None, OPTION_LINE.sub(r"  \1: \2", init()))
    assert reading.diagnostics == ()
    assert sorted(reading.settings[0].entries) == sorted(OFFERED)
    for name, setting in reading.settings[0].entries.items():
        OPTIONS[name].kind.parse(setting.value)
    assert reading.target == Target("atlas_a2", "training", "9.0.0")


def test_init_is_not_too_wide():
    """It fits a terminal of a hundred columns, but for a value that cannot be broken."""
    assert [line for line in init().splitlines() if len(line) > 99 and " " in line[8:]] == []


def test_groups_have_names_of_their_own():
    """No key is a group and an option, and no two groups share one."""
    assert not set(GROUP_OF_KEY) & set(OPTIONS)
    assert len(GROUP_OF_KEY) == sum(1 + len(group.aliases) for group in GROUPS)
    assert [name for group in GROUPS for name in group.options] == list(OPTIONS)


@pytest.fixture(scope="module")
def validator():
    """A validator of configuration files."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def test_schema_accepts_what_is_written(validator):
    """Grouped and flat, whatever the configuration."""

    @given(configs())
    def check(config):
        grouped = json.loads(render(config, "json"))
        assert validator.is_valid(grouped)
        assert validator.is_valid(config.to_dict())

    check()


@pytest.mark.parametrize(
    "document",
    [
        {"version": 2},
        {"no_such_option": 1},
        {"enable_dump": 1},
        {"iterations_per_loop": True},
        {"precision_mode": "fast"},
        {"dump": {"hccl_timeout": 1800}},
        {"dump": True},
        {"target": {"product": "a2"}},
        {"dump_step": "5-"},
        {"dump_step": [-1]},
        [],
    ],
)
def test_schema_refuses(validator, document):
    """What the reader or the rules refuse on context."""
    assert not validator.is_valid(document)


def test_schema_marks_what_is_deprecated():
    """Editors strike it through."""
    definitions = schema()["$defs"]
    assert definitions["option.op_debug_level"]["deprecated"] is True
    assert definitions["option.hccl_timeout"]["default"] == 1836
    assert definitions["option.dump_step"]["description"].startswith("Iterations to dump")


@pytest.mark.parametrize("name", list(OPTIONS))
def test_the_sample_of_an_option_passes(name):
    """It is complete: nothing is wrong with it but what the option itself is."""
    found = check(sample(OPTIONS[name]))
    assert name in sample(OPTIONS[name])
    assert found.ok, str(found)
    assert {d.option for d in found.warnings} <= {name}
    assert {d.rule for d in found.warnings} <= {"NPU902", "NPU903", "NPU904"}
