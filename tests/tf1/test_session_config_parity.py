"""Session configurations against the vendor's front end (``session_config_parity.jsonl``).

Whatever is answered otherwise is in ``tests/data/tf1/deviations.json``, with the reason.
"""

import inspect
import json
import re
import warnings

import pytest

from tests.tf1.support import DATA, deviations, vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

DEFAULTS, *VECTORS = vectors("session_config_parity.jsonl")
DEVIATIONS = deviations()


def of(api):
    """The vectors of one function."""
    return [vector for vector in VECTORS if vector["api"] == api]


def value_of(described, tf):
    """An argument as the vector describes it."""
    if isinstance(described, list):
        return [value_of(item, tf) for item in described]
    if not isinstance(described, dict):
        return described
    if "__bytes__" in described:
        return described["__bytes__"].encode("latin1")
    if "__np__" in described:
        return getattr(numpy, described["__np__"])(described["v"])
    if "__strategy__" in described:
        return tf.distribute.OneDeviceStrategy("/cpu:0")
    if "__dict__" in described:
        return described["__dict__"]
    kind = described.get("__class__")
    fields = {k: value_of(v, tf) for k, v in described.items() if k not in ("__class__", "text")}
    if kind is None:
        return fields
    if kind == "tf.estimator.RunConfig":
        return tf.estimator.RunConfig(**fields)
    if kind in ("ConfigProto", "GraphOptions", "OptimizerOptions"):
        return message(kind, described["text"], tf)
    import npu_config.tf1

    return getattr(npu_config.tf1, kind)(**fields)


def message(kind, text, tf):
    """A message of TensorFlow's from its text form."""
    from google.protobuf import text_format

    makers = {
        "ConfigProto": tf.ConfigProto,
        "GraphOptions": tf.GraphOptions,
        "OptimizerOptions": lambda: tf.GraphOptions().optimizer_options,
    }
    made = makers[kind]()
    text_format.Parse(text, made)
    return made


def assert_same_config(vector, config, tf):
    """The whole ConfigProto is that of the vector, but for the wrong enumeration value.

    The vendor writes it only where it adds the NpuOptimizer entry.
    """
    expected = message("ConfigProto", vector["result"]["config_text"], tf)
    rewrite = expected.graph_options.rewrite_options
    if not re.search(r"name: .{1,2}NpuOptimizer", json.dumps(vector["input"])):
        assert rewrite.memory_optimization == rewrite.MANUAL
        rewrite.memory_optimization = rewrite.NO_MEM_OPT
    assert expected == config


def options_of(config):
    """The parameter map of the one NpuOptimizer entry, in the form of the vectors."""
    entries = config.graph_options.rewrite_options.custom_optimizers
    (entry,) = [entry for entry in entries if entry.name == "NpuOptimizer"]
    options = {}
    for name, content in entry.parameter_map.items():
        field = content.WhichOneof("value")
        value = getattr(content, field)
        if isinstance(value, bytes):
            value = value.decode("utf-8")
        options[name] = {field: value}
    return options


@pytest.mark.parametrize(
    "vector", of("NPURunConfig+NPUEstimator"), ids=lambda vector: vector["id"]
)
def test_run_config(vector, tf):
    """The same options and fields, or a refusal by a rule that the data file lists."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.tf1 import NPURunConfig

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            config = NPURunConfig(**value_of(vector["input"]["kwargs"], tf))
        except NpuConfigError as error:
            rules = {finding.rule for finding in error.diagnostics.errors}
            assert rules <= set(DEVIATIONS["refused_by_rule"])
            return
    result = vector["result"]
    actual = options_of(config.session_config)
    fields = {**DEFAULTS["run_config"], **result.get("run_config", {})}
    assert fields == {name: getattr(config, name) for name in fields}
    if vector["id"] in DEVIATIONS["vectors"]:
        assert set(DEFAULTS["parameter_map"]) - set(DEVIATIONS["not_written"]) <= set(actual)
        return
    options = {**DEFAULTS["parameter_map"], **result.get("set", {})}
    left_out = {*result.get("unset", ()), *DEVIATIONS["not_written"]}
    assert {k: v for k, v in options.items() if k not in left_out} == actual


def test_defaults_and_repetition(tf):
    """A second Estimator of the same configuration adds nothing to it."""
    from npu_config.tf1 import NPUEstimator, NPURunConfig

    config = NPURunConfig(model_dir="unused")
    before = config.session_config.SerializeToString(deterministic=True)
    for _ in range(2):
        NPUEstimator(lambda features: None, config=config)
    assert before == config.session_config.SerializeToString(deterministic=True)
    options = {
        name: value
        for name, value in DEFAULTS["parameter_map"].items()
        if name not in DEVIATIONS["not_written"]
    }
    assert options == options_of(config.session_config)


@pytest.mark.parametrize("vector", of("npu_config_proto"), ids=lambda vector: vector["id"])
def test_npu_config_proto(vector, tf):
    """The same ConfigProto, edited in place when one is given."""
    from npu_config.tf1 import npu_config_proto

    given = [value_of(vector["input"]["arg"], tf)] if "arg" in vector["input"] else []
    returned = npu_config_proto(*given)
    for _ in range(vector["input"].get("repeat", 1) - 1):
        returned = npu_config_proto(returned)
    assert vector["result"]["returns_same_object"] == (bool(given) and returned is given[0])
    assert_same_config(vector, returned, tf)


@pytest.mark.parametrize("vector", of("npu_run_config_init"), ids=lambda vector: vector["id"])
def test_npu_run_config_init(vector, tf):
    """The same RunConfig object with the same session configuration, the given proto untouched."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.tf1 import npu_run_config_init

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = [value_of(vector["input"]["arg"], tf)] if "arg" in vector["input"] else []
        except NpuConfigError as error:
            rules = {finding.rule for finding in error.diagnostics.errors}
            assert rules <= set(DEVIATIONS["refused_by_rule"])
            return
    is_config = bool(given) and isinstance(given[0], tf.estimator.RunConfig)
    proto = given[0].session_config if is_config else None
    before = None if proto is None else proto.SerializeToString(deterministic=True)
    returned = npu_run_config_init(*given)
    for _ in range(vector["input"].get("repeat", 1) - 1):
        returned = npu_run_config_init(returned)
    assert is_config == (bool(given) and returned is given[0])
    if before is not None:
        assert before == proto.SerializeToString(deterministic=True)
    if "NPURunConfig" in str(vector["input"]):
        options_of(returned.session_config)
    else:
        assert_same_config(vector, returned.session_config, tf)


@pytest.mark.parametrize(
    "vector", of("set_keras_session_npu_config"), ids=lambda vector: vector["id"]
)
def test_keras_session(vector, tf):
    """Keras gets a session with the same configuration, the given proto untouched."""
    from npu_config.tf1 import set_keras_session_npu_config

    given = [value_of(vector["input"]["arg"], tf)] if "arg" in vector["input"] else []
    is_proto = bool(given) and isinstance(given[0], tf.ConfigProto)
    before = given[0].SerializeToString(deterministic=True) if is_proto else None
    session = set_keras_session_npu_config(*given)
    try:
        assert session is tf.keras.backend.get_session()
        assert_same_config(vector, session._config, tf)
        if is_proto:
            assert before == given[0].SerializeToString(deterministic=True)
    finally:
        tf.keras.backend.set_session(None)
        session.close()


@pytest.mark.parametrize("vector", of("tf.Session"), ids=lambda vector: vector["id"])
def test_patched_session(vector, tf):
    """A patched tf.Session has the same configuration, the given proto untouched."""
    from npu_config.tf1 import patch_sessions

    patch_sessions()
    args = value_of(vector["input"]["args"], tf)
    kwargs = value_of(vector["input"]["kwargs"], tf)
    if "error" in vector and vector["id"] not in DEVIATIONS["vectors"]:
        with pytest.raises((TypeError, AttributeError)):
            tf.Session(*args, **kwargs)
        return
    protos = [p for p in (*args, *kwargs.values()) if isinstance(p, tf.ConfigProto)]
    before = [proto.SerializeToString(deterministic=True) for proto in protos]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = tf.Session(*args, **kwargs)
    assert before == [proto.SerializeToString(deterministic=True) for proto in protos]
    if "result" in vector:
        assert_same_config(vector, session._config, tf)
    session.close()


@pytest.mark.parametrize(
    "vector",
    of("npu_graph_options") + of("npu_optimizer_options"),
    ids=lambda vector: vector["id"],
)
def test_parts_of_the_config(vector, tf):
    """GraphOptions and OptimizerOptions are edited in place, anything else is replaced."""
    import npu_config.tf1

    given = [value_of(vector["input"]["arg"], tf)] if "arg" in vector["input"] else []
    returned = getattr(npu_config.tf1, vector["api"])(*given)
    result = vector["result"]
    assert result["returns_same_object"] == (bool(given) and returned is given[0])
    assert message(result["type"], result["text"], tf) == returned


def test_every_listed_deviation_is_used():
    """Each listed vector is one, and each listed rule is a rule."""
    from npu_config.rulebook import RULES

    assert set(DEVIATIONS["vectors"]) <= {vector["id"] for vector in VECTORS}
    assert set(DEVIATIONS["refused_by_rule"]) <= {rule.id for rule in RULES}


def test_every_rule_that_can_refuse_is_listed():
    """Every error about options that NPURunConfig carries is listed, or cannot refuse it."""
    from npu_config.core.diagnostics import Severity
    from npu_config.rulebook import RULES
    from npu_config.sidefiles import profiling
    from npu_config.text import rules
    from npu_config.tf1.run_config_options import carried

    names = {option.name for option in carried()}
    errors = {
        rule.id
        for rule in RULES
        if rule.check is not None and rule.severity is Severity.ERROR and not rule.on_host
        if not rule.options or names & set(rule.options)
    }
    in_texts = {
        rule.id
        for module in (profiling, rules)
        for rule in vars(module).values()
        if getattr(rule, "severity", None) is Severity.ERROR
    }
    errors |= in_texts | {"NPU109"}  # which is an error where graph_run_mode is written
    listed = set(DEVIATIONS["refused_by_rule"])
    assert errors == listed | set(DEVIATIONS["cannot_refuse"])
    assert not listed & set(DEVIATIONS["cannot_refuse"])


def arguments_of(settings):
    """The arguments of NPURunConfig that carry the options of a file; None when some do not."""
    import npu_config.tf1 as tf1
    from npu_config.catalogue import OPTIONS
    from npu_config.tf1.run_config_parts import PARTS

    tree = {}
    for name, setting in settings.entries.items():
        option = OPTIONS.get(name)
        if option is None or option.run_config is None:
            return None
        argument, _, field = option.run_config.partition(".")
        if "." in field:
            return None
        if field:
            tree.setdefault(argument, {})[field] = setting.value
        else:
            tree[argument] = setting.value
    for field in ("input_shape", "dynamic_dims", "dynamic_node_type", "compile_hybrid_mode"):
        if "dynamic_input_config" in tree:
            tree["dynamic_input_config"].setdefault(field, None)
    return {
        name: getattr(tf1, PARTS[name].__name__)(**value) if name in PARTS else value
        for name, value in tree.items()
    }


def test_the_cases_of_the_rules(tf):
    """What the golden cases of rules make NPURunConfig refuse is listed; they reach most of it."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.readers import read
    from npu_config.tf1 import NPURunConfig

    refusing = set()
    for path in sorted((DATA.parent.parent / "cases" / "err").glob("NPU*.yaml")):
        for settings in read(str(path)).settings:
            arguments = arguments_of(settings)
            if arguments is None:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    NPURunConfig(**arguments)
                except NpuConfigError as error:
                    refusing |= {finding.rule for finding in error.diagnostics.errors}
    assert refusing <= set(DEVIATIONS["refused_by_rule"])
    assert {"NPU109", "NPU208", "NPU301", "NPU506", "NPU517", "NPU748"} <= refusing


def test_the_signatures_are_those_of_the_table(tf):
    """NPURunConfig and its parts take the parameters of the API table, with declared defaults."""
    import npu_config.tf1 as tf1
    from npu_config.catalogue import OPTIONS
    from npu_config.catalogue.api import OPTION_OF, PARAMETERS, PARTS

    parts = {"NPURunConfig": "", **{name: path + "." for path, name in PARTS.items()}}
    for name, prefix in parts.items():
        signature = inspect.signature(getattr(tf1, name))
        assert tuple(signature.parameters) == PARAMETERS[name]
        for argument, parameter in signature.parameters.items():
            option = OPTIONS.get(OPTION_OF.get(prefix + argument))
            if option is not None and parameter.default is not inspect.Parameter.empty:
                assert parameter.default == option.run_config_default, argument


def test_every_signature_of_the_table(tf):
    """What this package offers of the API takes the parameters of the table, in order."""
    import npu_config.tf1 as tf1
    from npu_config.catalogue.api import PARAMETERS
    from npu_config.tf1 import scopes, util

    homes = (tf1, util, util.IterationPerLoop, scopes)
    for name, parameters in PARAMETERS.items():
        (found, *_) = [getattr(home, name) for home in homes if hasattr(home, name)]
        if isinstance(found, type) and not hasattr(found, "__signature__"):
            found = found.__init__  # a metaclass and __new__ take anything
        taken = [each for each in inspect.signature(found).parameters if each != "self"]
        assert tuple(taken) == parameters, name


def test_arguments_by_position(tf, tmp_path):
    """Arguments go by position as in the vendor's signature, and unknown ones are refused."""
    from npu_config.tf1 import NPURunConfig

    config = NPURunConfig(1, None, str(tmp_path), 7)
    assert (config.model_dir, config.tf_random_seed) == (str(tmp_path), 7)
    with pytest.raises(TypeError, match="modle_dir"):
        NPURunConfig(modle_dir="x")
