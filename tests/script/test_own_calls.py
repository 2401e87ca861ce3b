"""Calls of npu_config itself: the tables that they are judged by, and whose module it is."""

import inspect

import npu_config
from npu_config.catalogue.own_api import CONSTRUCTORS, NAMES
from npu_config.rules.value import ConfigValue
from npu_config.script import judge_script
from npu_config.script.builders import SIGNATURES

WRONG = "from npu_config import NpuConfig\nconfig = NpuConfig(hccl_timeout=1800)\n"


def parameters(signature):
    """The names of parameters, their kinds, and whether they must be given; without self."""
    empty = inspect.Parameter.empty
    return [
        (p.name, p.kind, p.default is empty)
        for p in signature.parameters.values()
        if p.name != "self"
    ]


def test_names_are_those_of_the_package():
    """What scripts may import is what the package says that it has."""
    assert list(NAMES) == npu_config.__all__


def test_constructors_have_their_parameters():
    """The table of constructors says what Python takes."""
    for name, signature in CONSTRUCTORS.items():
        owner, _, method = name.partition(".")
        made = getattr(npu_config, owner)
        real = inspect.signature(getattr(made, method) if method else made)
        assert (name, parameters(real)) == (name, parameters(signature))


def test_methods_have_their_parameters():
    """The tables of methods are the public methods of both classes, with their parameters."""
    classes = npu_config.NpuConfigBuilder, npu_config.NpuConfig, ConfigValue
    public = {
        name: inspect.signature(function)
        for cls in classes
        for name, function in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }
    assert SIGNATURES.keys() == public.keys()
    for name, signature in SIGNATURES.items():
        assert (name, parameters(public[name])) == (name, parameters(signature))


def test_module_of_the_users_own(tmp_path):
    """A file npu_config.py beside a script is what the script imports; its calls are its own."""
    path = str(tmp_path / "train.py")
    rules = {found.rule for found in judge_script(WRONG, path)}
    assert rules == {"NPU868"}
    (tmp_path / "npu_config.py").write_text("")
    assert judge_script(WRONG, path) == []
    text = "from npu_config import NpuConfgBuilder, NpuConfig\nNpuConfig.from_yml(1)\n"
    assert judge_script(text, path) == []


def test_names_like_none_are_reported_where_the_package_is_ours():
    """Without another name of ours the module may be another one that is not near."""
    alone = "from npu_config import settings_of_mine\n"
    assert judge_script(alone) == []
    found = judge_script(alone + "from npu_config import NpuConfig\n")
    assert [each.rule for each in found] == ["NPU869"]


def test_misspelt_import_is_renamed_with_its_uses():
    """The fix of an import changes what it binds, too, unless the right name is there already."""
    text = "from npu_config import NpuConfigBilder\nx = NpuConfigBilder()\n"
    (found,) = judge_script(text)
    assert [(e.line, e.column, e.text) for e in found.fix.edits] == [
        (1, 24, "NpuConfigBuilder"),
        (2, 5, "NpuConfigBuilder"),
    ]
    (found,) = judge_script(text + "from npu_config import NpuConfigBuilder\n")
    assert found.fix is None
