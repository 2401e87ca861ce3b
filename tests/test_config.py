"""NpuConfig: frozen, equal by value, back and forth between its forms."""

import pickle
import warnings

import pytest

import npu_config as npu
from npu_config.proto import stub_config_proto

OPTIONS = {
    "iterations_per_loop": 10,
    "enable_data_pre_proc": True,
    "dump_step": "0|5|10-20",
    "enable_dump": True,
    "dump_path": "/d",
}


def test_options_cannot_be_changed():
    """A configuration is frozen, and so is its mapping."""
    config = npu.NpuConfig.from_dict({"deterministic": 1})
    with pytest.raises(AttributeError):
        config.options = {}
    with pytest.raises(TypeError):
        config.options["deterministic"] = 0


def test_structured_options_are_canonical_values():
    """Text and typed values give the same configuration."""
    text = npu.NpuConfig.from_dict(OPTIONS)
    typed = npu.NpuConfig.from_dict(dict(OPTIONS, dump_step=[0, 5, (10, 20)]))
    assert text == typed
    assert text["dump_step"] == (0, 5, (10, 20))
    assert text.to_dict() == {**OPTIONS, "dump_step": "0|5|10-20"}


def test_evolve_changes_adds_and_takes_away():
    """evolve() gives a new configuration; None takes an option away."""
    config = npu.NpuConfig.from_dict({"deterministic": 1, "jit_compile": "auto"})
    changed = config.evolve(deterministic=None, oo_level="O1")
    assert changed.to_dict() == {"jit_compile": "auto", "oo_level": "O1"}
    assert config.to_dict() == {"deterministic": 1, "jit_compile": "auto"}
    with pytest.raises(npu.NpuConfigError):
        config.evolve(deterministic=7)


def test_config_proto_of_the_stub_comes_back():
    """from_config_proto(to bytes) is the identity on options."""
    config = npu.NpuConfig.from_dict(OPTIONS)
    message = stub_config_proto()()
    message.ParseFromString(config.to_bytes())
    assert npu.NpuConfig.from_config_proto(message) == config
    assert message.allow_soft_placement


def test_the_base_is_not_touched_and_overwritten_values_are_reported():
    """to_config_proto(base) copies; each replaced value is a warning that names it."""
    base = stub_config_proto()(log_device_placement=True)
    entry = base.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    entry.parameter_map["deterministic"].i = 0
    before = base.SerializeToString()
    with pytest.warns(npu.OverwrittenWarning, match="deterministic was 0"):
        made = npu.NpuConfig.from_dict({"deterministic": 1}).to_config_proto(base)
    assert base.SerializeToString() == before
    assert made.log_device_placement
    assert len(made.graph_options.rewrite_options.custom_optimizers) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = npu.NpuConfig.from_dict({"deterministic": 1}).to_config_proto(made)
    assert again == made


def test_memory_optimization_is_off_for_real():
    """The field gets NO_MEM_OPT (1), not the 2 that means MANUAL there."""
    message = stub_config_proto()()
    message.ParseFromString(npu.NpuConfig.from_dict({}).to_bytes())
    rewrite = message.graph_options.rewrite_options
    assert rewrite.memory_optimization == 1
    assert rewrite.remapping == 2
    assert message.graph_options.optimizer_options.global_jit_level == -1


def test_from_config_proto_reports_wrong_fields():
    """A value in the wrong field of a ConfigProto is an error."""
    message = stub_config_proto()()
    entry = message.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    entry.parameter_map["iterations_per_loop"].b = True
    with pytest.raises(npu.NpuConfigError, match=r'read from "\.i"'):
        npu.NpuConfig.from_config_proto(message)


@pytest.mark.parametrize("suffix", ["yaml", "toml", "json", "pbtxt", "pb"])
def test_save_and_load(tmp_path, suffix):
    """Every format that save() writes, load() reads; an existing file is refused."""
    path = tmp_path / ("config." + suffix)
    config = npu.NpuConfig.from_dict(OPTIONS)
    config.save(path)
    assert npu.NpuConfig.load(path) == config
    with pytest.raises(FileExistsError):
        config.save(path)
    config.evolve(deterministic=1).save(path, overwrite=True)
    assert npu.NpuConfig.load(path)["deterministic"] == 1


def test_an_unknown_suffix_names_the_known_ones(tmp_path):
    """save() to a suffix without a format says which there are."""
    with pytest.raises(ValueError, match="yaml"):
        npu.NpuConfig.from_dict({}).save(tmp_path / "config.ini")


def test_the_error_survives_pickling():
    """An NpuConfigError can cross a process boundary with its diagnostics."""
    with pytest.raises(npu.NpuConfigError) as caught:
        npu.NpuConfig.from_dict({"deterministic": 2})
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.diagnostics == caught.value.diagnostics
    assert str(copy) == str(caught.value)


def test_the_constructor_checks():
    """A configuration that is wrong cannot be made, whatever the way."""
    config = npu.NpuConfig({"dump_path": "/d", "enable_dump": True, "dump_step": [0, (5, 8)]})
    assert npu.NpuConfig.from_dict(config.to_dict()) == config
    assert list(config) == ["enable_dump", "dump_path", "dump_step"]
    with pytest.raises(npu.NpuConfigError, match="precision_modee"):
        npu.NpuConfig({"precision_modee": 1})
    with pytest.raises(TypeError, match="must be a mapping"):
        npu.NpuConfig([("dump_path", "/d")])
    with pytest.raises(npu.NpuConfigError, match="atlas_training"):
        npu.NpuConfig(
            {"precision_mode_v2": "mixed_bfloat16"}, npu.Target(product="atlas_training")
        )


def test_a_proto_is_read_leniently():
    """What is wrong beside the options is among the findings, and is set right when written."""
    stub = pytest.importorskip("npu_config.proto").stub_config_proto()
    proto = stub()
    optimizer = proto.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    optimizer.parameter_map["hccl_timeout"].i = 1836
    config = npu.NpuConfig.from_config_proto(proto)
    assert dict(config.options) == {"hccl_timeout": 1836}
    assert "NPU803" in {d.rule for d in config.diagnostics.warnings}
    assert config.diagnostics.ok
    assert npu.NpuConfig.from_config_proto(config.to_config_proto(proto)).options == config.options
    optimizer.parameter_map["hccl_timeout"].s = b"x"
    with pytest.raises(npu.NpuConfigError, match="hccl_timeout"):
        npu.NpuConfig.from_config_proto(proto)
