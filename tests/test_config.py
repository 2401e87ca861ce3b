"""NpuConfig: frozen, equal by value, back and forth between its forms."""

import copy
import os
import pickle
import warnings
from collections.abc import Mapping

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


CARRIES_FILES = npu.NpuConfigBuilder(npu.Target("atlas_a2")).fusion_off().deterministic().build()


@pytest.mark.parametrize(
    "config",
    [npu.NpuConfig({}), npu.NpuConfig(OPTIONS), npu.NpuConfig(OPTIONS).evolve(dump_mode="all")],
)
def test_a_configuration_is_a_mapping(config):
    """Everything that takes a mapping takes a configuration, and sees its canonical values."""
    plain = dict(config)
    assert isinstance(config, Mapping)
    assert plain == dict(config.options) == {**config} == {name: config[name] for name in config}
    assert list(plain) == list(config.keys())
    assert list(plain.values()) == list(config.values())
    assert list(plain.items()) == list(config.items())
    assert len(plain) == len(config)
    assert bool(plain) == bool(config)
    assert all(name in config and config.get(name) == plain[name] for name in plain)
    assert "no_such" not in config
    assert config.get("no_such", 7) == 7
    with pytest.raises(KeyError, match="no_such"):
        config["no_such"]
    assert npu.NpuConfig(plain) == config
    assert npu.NpuConfigBuilder().update(config).build() == config


def test_a_configuration_equals_configurations_only():
    """By options and target; a dict has no target, so it is compared with dict(config)."""
    config, other = npu.NpuConfig(OPTIONS), npu.NpuConfig(OPTIONS, npu.Target("atlas_a2"))
    assert config == npu.NpuConfig(OPTIONS)
    assert hash(config) == hash(npu.NpuConfig(OPTIONS))
    assert config != other
    assert dict(config) == dict(other)
    assert config != dict(config)
    for same in (copy.copy(other), copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert (same, hash(same)) == (other, hash(other))


def test_a_configuration_of_a_configuration_loses_nothing():
    """Its target and its side files come along; a target of one's own replaces the target."""
    for made in (npu.NpuConfig(CARRIES_FILES), npu.NpuConfig.from_dict(CARRIES_FILES)):
        assert made == CARRIES_FILES
        assert made.side_files == CARRIES_FILES.side_files
    target = npu.Target("atlas_training")
    assert npu.NpuConfig(CARRIES_FILES, target).target == target


def test_a_configuration_is_printed_as_its_options_and_target():
    """Not with the content of its side files, which may be long."""
    options = dict(CARRIES_FILES)
    expected = "NpuConfig(options={!r}, target={!r})".format(options, CARRIES_FILES.target)
    assert repr(CARRIES_FILES) == expected


def _files_into(folder):
    """Every function of the library that writes a file of this name, and the name."""
    table = npu.cluster.rank_table.build(["10.0.0.1"], 8, "10.20.0.2", "atlas_training")
    mixlist = npu.sidefiles.mixlist.Mixlist.of(black_list=["Cast"])
    switches = os.path.join(folder, "off.cfg")
    yield "x.yaml", lambda path: npu.NpuConfig({}).save(path)
    yield "x.pb", lambda path: npu.NpuConfig({}).save(path, overwrite=True)
    yield "r.json", lambda path: npu.cluster.rank_table.save(table, path)
    yield "m.json", lambda path: npu.sidefiles.mixlist.save(mixlist, path, overwrite=True)
    yield "off.cfg", lambda path: npu.presets.fusion_off(switches).write_files()


@pytest.mark.parametrize("number", range(5))
def test_an_error_of_writing_names_the_file_that_was_asked_for(tmp_path, number):
    """And why: no directory, a file in the place of one, or what the system says."""
    missing = str(tmp_path / "missing")
    (name, write) = list(_files_into(missing))[number]
    with pytest.raises(FileNotFoundError) as caught:
        write(os.path.join(missing, name))
    assert caught.value.filename == os.path.join(missing, name)
    assert caught.value.filename2 is None
    assert caught.value.strerror == "there is no directory " + missing
    plain = tmp_path / "plain"
    plain.write_text("")
    (name, write) = list(_files_into(str(plain)))[number]
    with pytest.raises(NotADirectoryError) as caught:
        write(str(plain / name))
    assert caught.value.filename == str(plain / name)
    assert caught.value.strerror == "{} is not a directory".format(plain)
    if name == "x.yaml":
        with pytest.raises(OSError, match="name too long") as caught:
            write(str(tmp_path / ("x" * 400 + ".yaml")))
        assert caught.value.filename == str(tmp_path / ("x" * 400 + ".yaml"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk_and_a_directory_without_rights_name_the_file(tmp_path, monkeypatch):
    """Errors of writing, which have no name, and of renaming, which have that of the draft."""
    path = str(tmp_path / "x.yaml")
    npu.NpuConfig({}).save(path)

    def refuse(*names, **_):
        raise PermissionError(13, "Permission denied", *names[:1])

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        with pytest.raises(PermissionError) as caught:
            npu.NpuConfig({"deterministic": 1}).save(path, overwrite=True)
    assert caught.value.filename == path
    with open("/dev/full", "wb", 0) as full, monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", lambda descriptor, _: os.close(descriptor) or full)
        with pytest.raises(OSError, match="No space left") as caught:
            npu.NpuConfig({"deterministic": 1}).save(path, overwrite=True)
    assert caught.value.filename == path
    assert os.listdir(str(tmp_path)) == ["x.yaml"]
    assert npu.NpuConfig.load(path) == npu.NpuConfig({})
