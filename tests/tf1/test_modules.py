"""The table of the vendor's modules: complete, and every name stands for something."""

import inspect
import json
import re

import pytest

from tests.tf1.support import DATA

pytestmark = pytest.mark.tensorflow

FACTS = json.loads((DATA / "modules.json").read_text(encoding="utf-8"))
OTHERWISE = {
    "npu_bridge.estimator.npu.npu_config.NPURunConfig": "the facts leave its arguments out",
    "npu_bridge.estimator.npu.npu_config.NpuExecutePlacement": "an enumeration",
    "npu_bridge.estimator.npu.npu_estimator.NPUEstimatorSpec": "the facts leave them out",
    "npu_bridge.estimator.npu.npu_saver.NPUSaver": "takes those of tf.train.Saver",
    "npu_bridge.estimator.npu.npu_optimizer.allreduce": "also takes the arguments of r1.2.0",
}


def test_every_module(tf):
    """The table has the paths and names of the facts, and no others."""
    from npu_config import npu_init
    from npu_config.tf1.modules import MODULES, names_of

    assert sorted(FACTS) == sorted(MODULES)
    for path, facts in FACTS.items():
        expected = {*facts["names"], *facts["also"]} - {"*", "npu_embedding"}
        if path == "npu_bridge.npu_init":
            assert expected <= set(npu_init.__all__)
        else:
            assert expected <= set(names_of(path)), path
            assert set(names_of(path)) <= expected | {"__version__", "npu_bridge_handle"}, path


def test_the_names_of_the_checks():
    """What the checks of scripts know of npu_init is what it exports."""
    from npu_config import npu_init
    from npu_config.catalogue.api import MODULES, NPU_INIT

    known = {name for name, module in MODULES.items() if module == NPU_INIT}
    assert known <= set(npu_init.__all__)


@pytest.mark.parametrize("path", sorted(FACTS))
def test_every_name_resolves(path, tf, monkeypatch):
    """Every name stands for something; another one is no attribute."""
    import importlib

    from npu_config.tf1 import modules

    real = importlib.import_module
    monkeypatch.setattr(
        modules.importlib,
        "import_module",
        lambda name: name if name in modules.MODULES else real(name),
    )
    for name in modules.names_of(path):
        found = modules.resolve(path, name)
        assert found is not None
        if modules.MODULES[path].get(name, ("",))[0] == "import":
            assert found in modules.MODULES
    with pytest.raises(AttributeError, match="no_such_name"):
        modules.resolve(path, "no_such_name")


def test_the_device(tf):
    """What only the device can do raises when it is called, and names itself."""
    from npu_config.tf1.modules import MODULES, resolve

    for path, names in MODULES.items():
        for name, home in names.items():
            if home.source == "device" and not name.isupper():
                with pytest.raises(RuntimeError, match=re.escape(name)):
                    resolve(path, name)()


def parameters(text):
    """The parameter names of a signature that is written down."""
    inside = text.partition("(")[2].rpartition(")")[0]
    depth, words, word = 0, [], ""
    for sign in inside:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            words.append(word)
            word = ""
        else:
            word += sign
    names = [each.partition("=")[0].strip() for each in [*words, word]]
    return [name for name in names if name and name != "*"]


def signatures():
    """Path, name and written signature of what this package offers itself."""
    from npu_config.tf1.modules import MODULES

    for path, facts in FACTS.items():
        for name, text in {**facts["names"], **facts.get("operators", {})}.items():
            home = MODULES[path].get(name)
            if not text or (home and home.source in ("device", "operators", "tf_adapter")):
                continue
            if "{}.{}".format(path, name) not in OTHERWISE:
                yield path, name, text


def test_signatures(tf):
    """The parameters of what this package offers are the vendor's, in order."""
    from npu_config.tf1 import npu_unary_ops
    from npu_config.tf1.modules import resolve

    checked, different = 0, {}
    for path, name, text in signatures():
        operators = FACTS[path].get("operators", {})
        found = getattr(npu_unary_ops, name) if name in operators else resolve(path, name)
        if isinstance(found, type) and not hasattr(found, "__signature__"):
            own_init = found.__init__ is not object.__init__
            found = found.__init__ if own_init else found.__new__
        taken = list(inspect.signature(found).parameters)
        taken = taken[1:] if taken[0:1] in (["self"], ["cls"]) else taken
        expected = [each.lstrip("*") for each in parameters(text)]
        expected = expected[1:] if expected[0:1] == ["self"] else expected
        if (expected or taken != ["args", "kwargs"]) and expected != taken:
            different["{}.{}".format(path, name)] = (expected, taken)
        checked += 1
    assert different == {}
    assert checked > 100
