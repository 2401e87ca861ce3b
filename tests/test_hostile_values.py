"""Any object at all as the value or the name of an option: diagnostics, never an exception."""

import collections.abc
import enum
import fractions
import pathlib

import pytest

import npu_config as npu
from npu_config.catalogue import OPTIONS
from tests import golden


class Word(str, enum.Enum):
    """Texts."""

    MODE = "allow_mix_precision"
    STEPS = "0|5-9"


class Number(enum.IntEnum):
    """A number."""

    ONE = 1


class Text(str):
    """A text whose own str() says something else."""

    def __str__(self):
        return "something else"


def raising(method):
    """An object whose method raises."""

    def fail(self, *arguments):
        raise RuntimeError("no {}".format(method))

    return type("Raising", (), {method: fail, "__hash__": None})()


class Endless(collections.abc.Sequence):
    """A list that gives no item."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise RuntimeError("no item")


class Closed(collections.abc.Mapping):
    """A mapping that gives no key."""

    def __len__(self):
        return 1

    def __iter__(self):
        raise RuntimeError("no key")

    def __getitem__(self, key):
        raise RuntimeError("no item")


def nested(depth):
    """A list in a list in a list ..."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


LOOP = []
LOOP.append(LOOP)

VALUES = [
    None,
    raising("__repr__"),
    raising("__eq__"),
    raising("__index__"),
    raising("__fspath__"),
    raising("to_text"),
    [raising("__eq__"), raising("__repr__")],
    Endless(),
    Closed(),
    LOOP,
    nested(1500),
    {"data": nested(1500)},
    2**70,
    -(2**70),
    10**5000,
    [10**5000, (1, 10**5000)],
    ("fast", "step", 10**5000),
    ("LoadBalance", 10**5000),
    {"AIcoreEngine": 10**5000},
    {"data": [10**5000]},
    {"output": 10**5000},
    "9" * 5000,
    float("nan"),
    float("inf"),
    ("fast", "step", float("nan")),
    {"output": float("nan")},
    fractions.Fraction(1, 2),
    1j,
    b"\xff",
    bytearray(b"1"),
    memoryview(b"1"),
    "\ud800",
    ["a\ud800"],
    "a\0b",
    ["a\0"],
    {"a\0": [1]},
    {"a\0": True},
    [["a\0"], ["b"]],
    {1: 2},
    {None: None},
    [[[1]], {}],
    ([[]], []),
    (n for n in range(3)),
    range(5),
    range(10**9),
    {"data": range(10**9)},
    set("ab"),
    object(),
    type,
    npu.UNKNOWN,
    [npu.UNKNOWN],
    {"data": [npu.UNKNOWN]},
    pathlib.PurePosixPath("/data"),
]


SHAPED = ["precision_mode", "deterministic", "dump_layer", "input_shape", "profiling_options"]
"""Options of other kinds: a text, a number, a list, shapes, JSON."""


def outputs(config):
    """Whatever a configuration can be turned into."""
    hash(config), repr(config), config.to_bytes(), config.to_pbtxt()
    return npu.NpuConfig.from_dict(config.to_dict(), config.target)


@pytest.mark.parametrize("name", list(OPTIONS)[:: golden.STRIDE])
def test_any_value_of_any_option(name):
    """A value is taken, and then goes on the wire and comes back, or it is refused."""
    is_taken_or_refused(name, VALUES)


@pytest.mark.parametrize("name", SHAPED)
def test_lists_far_too_deep(name):
    """The same of lists in lists whose text alone takes Python as long as all others together."""
    is_taken_or_refused(name, [nested(5000), {"data": nested(5000)}])


def is_taken_or_refused(name, values):
    """An option with each of these values."""
    for value in values:
        report = npu.check({name: value})
        assert [str(d) for d in report] == [str(d) for d in npu.check({name: value})]
        try:
            config = npu.NpuConfigBuilder().update({name: value}).build()
        except npu.NpuConfigError as error:
            assert str(error)
        else:
            assert report.ok
            assert outputs(config) == config


@pytest.mark.parametrize("name", [1, None, 2.5, b"x", (1, 2), frozenset("a"), "", "\ud800", "a\0"])
def test_any_name(name):
    """A name that is no option, or no text, is one finding."""
    (diagnostic,) = npu.check({name: 1})
    assert diagnostic.rule == "NPU101"
    assert isinstance(diagnostic.option, str)
    with pytest.raises(npu.NpuConfigError):
        npu.NpuConfig.from_dict({name: 1, 7: 2, "deterministic": 1})


def test_a_subclass_is_read_as_its_base():
    """Members of enums with text or integer values, and such objects, are plain values."""
    options = {
        "precision_mode": Word.MODE,
        "dump_step": Word.STEPS,
        "deterministic": Number.ONE,
        "enable_dump": True,
        "dump_path": Text("/data"),
    }
    config = npu.NpuConfig.from_dict(options)
    assert config.to_dict() == {
        "precision_mode": "allow_mix_precision",
        "enable_dump": True,
        "dump_path": "/data",
        "dump_step": "0|5-9",
        "deterministic": 1,
    }
    assert {type(value) for value in config.to_dict().values()} == {str, bool, int}


def test_a_name_that_is_a_subclass_of_text():
    """Names become plain text, too."""
    name = Text("deterministic")
    assert [type(key) for key in npu.NpuConfig.from_dict({name: 1}).options] == [str]


def test_numpy():
    """numpy's scalars are plain values; its arrays are refused like other objects."""
    np = pytest.importorskip("numpy")
    config = npu.NpuConfig.from_dict(
        {
            "precision_mode": np.str_("allow_mix_precision"),
            "deterministic": np.int8(1),
            "aicore_num": (np.int64(24), np.int32(48)),
            "hcom_parallel": np.bool_(True),
        }
    )
    assert outputs(config) == config
    arrays = [np.array([1, 2]), [np.array([1, 2]), 3], (np.array(["fast"]), "step"), np.array(1.5)]
    for name in OPTIONS:
        for value in arrays:
            report = npu.check({name: value})
            assert not [d for d in report if "cannot be read" in d.message]


@pytest.mark.parametrize("options", [None, 5, "deterministic", [("deterministic", 1)]])
def test_options_that_are_no_mapping(options):
    """Anything but a mapping is a wrong call."""
    with pytest.raises(TypeError, match="mapping"):
        npu.NpuConfig.from_dict(options)
    with pytest.raises(TypeError, match="mapping"):
        npu.NpuConfigBuilder().update(options)


def test_a_target_that_is_none():
    """The text of a product is no Target, which the error says."""
    with pytest.raises(TypeError, match="Target"):
        npu.NpuConfig.from_dict({"deterministic": 1}, target="atlas_a2")
    with pytest.raises(TypeError, match="Target"):
        npu.NpuConfigBuilder(target="atlas_a2").build()
