"""A configuration written in any format is read back as the same configuration."""

import json

import pytest
from hypothesis import given

from npu_config.catalogue.api import changed_by_defaults
from npu_config.config import NpuConfig
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Target
from npu_config.readers import read
from npu_config.rules.value import from_settings, from_validated
from npu_config.writers import render
from npu_config.writers.run_config import losses, to_run_config_kwargs
from tests.strategies import configs
from tests.writers.run_config_arguments import options_of


def read_back(content, kind):
    """The configuration of what a writer gave."""
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    reading = read("written." + kind, kind, data)
    found = [d for d in reading.diagnostics if d.severity is not Severity.INFO]
    assert found == []
    return from_settings(NpuConfig, reading.settings[0], reading.target)


@pytest.mark.parametrize("kind", ["yaml", "toml", "json"])
def test_configuration_files(kind):
    """YAML, TOML and JSON carry every value and the target, and read back without a finding."""

    @given(configs())
    def check(config):
        again = read_back(render(config, kind), kind)
        assert (dict(config.options), config.target) == (dict(again.options), again.target)

    check()


@pytest.mark.parametrize("kind", ["yaml", "toml", "json"])
def test_options_of_older_versions(kind):
    """Options that only older adapters read stay options, beside the target and the groups."""
    options = {"mstune_mode": "1", "auto_tune_mode": "RL", "hcom_parallel": True}
    config = NpuConfig.from_dict(options, Target(adapter="r1.3.0"))
    again = read_back(render(config, kind), kind)
    assert (dict(config.options), config.target) == (dict(again.options), again.target)


@pytest.mark.parametrize("kind", ["pbtxt", "pb"])
def test_protos(kind):
    """A ConfigProto carries every value; it has no place for the target."""

    @given(configs())
    def check(config):
        again = read_back(render(config, kind), kind)
        assert dict(config.options) == dict(again.options)

    check()


@given(configs())
def test_dicts(config):
    """``to_dict`` and ``from_dict``, also by way of JSON."""
    again = NpuConfig.from_dict(json.loads(json.dumps(config.to_dict())), config.target)
    assert config == again


@given(configs())
def test_run_config_kwargs(config):
    """NPURunConfig carries what is not reported as lost."""
    lost = {diagnostic.option for diagnostic in losses(config)}
    kept = {
        name: value
        for name, value in config.to_dict().items()
        if name not in lost and name not in ("use_off_line", "min_group_size")
    }
    arguments = to_run_config_kwargs(
        from_validated(NpuConfig, kept_options(config, kept), config.target)
    )
    again = options_of(arguments)
    if "input_shape" in again and "compile_hybrid_mode" not in kept:
        assert again.pop("compile_hybrid_mode") == 0
    assert kept == again


def kept_options(config, kept):
    """The options of a configuration that are in ``kept``, canonical."""
    return {name: value for name, value in config.options.items() if name in kept}


@given(configs())
def test_rendering_is_stable(config):
    """What was written, read and written again is the same text."""
    for kind in ("yaml", "toml", "json"):
        text = render(config, kind)
        assert text == render(read_back(text, kind), kind)


def test_only_one_default_of_run_config_differs():
    """NPURunConfig switches data preprocessing offload on by itself; nothing else changes."""
    assert changed_by_defaults(()) == [("enable_data_pre_proc", False, True)]
