"""The pages of the Python API: complete, and every task of the builder is tried as it is shown."""

import sys

import pytest

pytest.importorskip("tools.api")

import npu_config as npu
from npu_config import dumps, launch, presets
from tools import api

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 9), reason="the pages are made with the ast of Python 3.9"
)

MEMBERS = (
    {member.name: member for member in api.all_members()} if sys.version_info >= (3, 9) else {}
)
BUILDER = [name for name in dir(npu.NpuConfigBuilder) if not name.startswith("_")]


def test_every_public_name_has_a_place():
    """Names of the package, of dumps and launch, presets, methods of the builder."""
    names = [*npu.__all__, *("NpuConfigBuilder." + name for name in BUILDER)]
    names += ["dumps." + name for name in dumps.__all__]
    names += ["launch." + name for name in launch.__all__ if name[0].islower()]
    names += ["presets." + name for name, value in vars(presets).items() if is_preset(value)]
    elsewhere = {"launch.parse_dotenv", "launch.render_dotenv"}
    assert sorted(set(names) - set(MEMBERS) - elsewhere) == []
    assert len(names) > 80


def is_preset(value):
    """Whether a name of the module makes a preset."""
    return getattr(value, "__qualname__", "").startswith("presets.")


def test_everything_is_described():
    """Each name has a sentence, and each class and function a signature."""
    assert [name for name, member in MEMBERS.items() if not member.summary] == []
    assert [name for name, member in MEMBERS.items() if "self" in member.signature] == []


def test_arguments_have_types():
    """Arguments of the builder's tasks are described with their types."""
    for name in api.declared()["tasks"]:
        member = MEMBERS["NpuConfigBuilder." + name]
        said = api.entries(api.sections(member.doc).get("Args", ""))
        for argument, kind, _ in member.arguments:
            assert kind, (name, argument)
            assert argument.lstrip("*") in said, (name, argument)


@pytest.mark.parametrize("call", sorted(api.declared()["tasks"].values()))
def test_tasks(call):
    """The call that a page shows is a right one: the builder builds with it."""
    builder = eval("npu.NpuConfigBuilder()." + call, {"npu": npu})
    assert [each for each in builder.build().diagnostics if each.severity.value == "error"] == []


def test_every_task_is_shown():
    """Every method of the builder that is a task has its call."""
    own = {"build", "set", "unset", "update", "entries", "environment", "refused", "side_files"}
    assert sorted(set(BUILDER) - own) == sorted(api.declared()["tasks"])
