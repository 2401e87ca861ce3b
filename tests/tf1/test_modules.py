"""The table of the vendor's modules: complete, and every name stands for something."""

import ast
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
    "npu_bridge.estimator.npu.util.check_profiling_options": "its default is refused",
}
OF_KERAS = ("KerasDistributeOptimizer", "PReLU")  # with one rank the optimizer itself
WITH_MORE = ("compute_gradients",)
SYMBOLS = ("V2", "DYNAMIC_RNN_UNIDIRECTION")


def test_every_module(tf):
    """The table has the paths and names of the facts, and no others."""
    from npu_config import npu_init
    from npu_config.runner.finder import MODULES, names_of

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

    from npu_config.runner import finder as modules

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
    from npu_config.runner.finder import MODULES, resolve

    for path, names in MODULES.items():
        for name, home in names.items():
            if home.source == "device" and not name.isupper():
                with pytest.raises(RuntimeError, match=re.escape(name)):
                    resolve(path, name)()


REQUIRED = "no default"


def written(text):
    """Names and defaults of the parameters of a signature that is written down."""
    inside = text.partition("(")[2].rpartition(")")[0]
    found = ast.parse("def f({}): pass".format(inside)).body[0].args
    missing = [None] * (len(found.args) - len(found.defaults))
    places = [*found.args, found.vararg, *found.kwonlyargs, found.kwarg]
    values = [*missing, *found.defaults, None, *found.kw_defaults, None]
    return [
        (place.arg, REQUIRED if value is None else plain(value))
        for place, value in zip(places, values)
        if place is not None and place.arg != "self"
    ]


def plain(value):
    """A default that is written down; the last name of one that is an expression."""
    try:
        return ast.literal_eval(value)
    except ValueError:
        return Symbol(getattr(value, "attr", getattr(value, "id", "")))


class Symbol(str):
    """The name of a type or of a constant."""

    def __eq__(self, other):
        return str(self) in SYMBOLS or self.lower() == getattr(other, "name", other).lower()

    def __hash__(self):
        return str.__hash__(self)


def taken(function):
    """Names and defaults of the parameters of a function or a class."""
    if isinstance(function, type) and not hasattr(function, "__signature__"):
        own_init = function.__init__ is not object.__init__
        function = function.__init__ if own_init else function.__new__
    found = list(inspect.signature(function).parameters.values())
    return [
        (each.name, REQUIRED if each.default is each.empty else each.default)
        for each in found
        if each.name not in ("self", "cls")
    ]


def same(expected, actual):
    """Whether parameters are the same, or whatever comes is taken."""
    return expected == actual or (len(actual) == 2 and actual[0][0] == "args")


def signatures():
    """Path, name and written signature of what this package offers itself."""
    from npu_config.runner.finder import MODULES

    for path, facts in FACTS.items():
        for name, text in {**facts["names"], **facts.get("operators", {})}.items():
            home = MODULES[path].get(name)
            if not text or (home and home.source in ("device", "operators", "tf_adapter")):
                continue
            if "{}.{}".format(path, name) not in OTHERWISE:
                yield path, name, text


def test_signatures(tf):
    """Parameters and defaults of what this package offers are the vendor's, in order."""
    from npu_config.runner.finder import resolve
    from npu_config.tf1 import npu_unary_ops

    checked, different = 0, {}
    for path, name, text in signatures():
        operators = FACTS[path].get("operators", {})
        found = getattr(npu_unary_ops, name) if name in operators else resolve(path, name)
        if not same(written(text), taken(found)):
            different["{}.{}".format(path, name)] = (written(text), taken(found))
        checked += 1
    assert different == {}
    assert checked > 100


def test_methods(tf):
    """The classes that this package offers have the vendor's methods, with their parameters."""
    from npu_config.runner.finder import MODULES, resolve

    checked, different = 0, {}
    for path, facts in FACTS.items():
        for name, methods in facts.get("methods", {}).items():
            if MODULES[path][name].source == "device" or name in OF_KERAS:
                continue
            for text in methods:
                method = getattr(resolve(path, name), text.partition("(")[0], None)
                checked += 1
                if "[property]" in text or text.partition("(")[0] in WITH_MORE:
                    continue  # set when an object is made; takes whatever comes
                if method is None or not same(written(text), taken(method)):
                    different["{}.{}".format(name, text)] = method
    assert different == {}
    assert checked > 30
