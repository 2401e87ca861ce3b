"""Planted differences: the verdict and the reason that an expert would give, by data type."""

import re

import pytest

pytest.importorskip("numpy")

import numpy

from npu_config.dumps import verdicts
from npu_config.dumps.data_types import BY_NAME
from npu_config.dumps.verdicts import (
    COSINE,
    ELEMENT,
    KINDS,
    RELATIVE,
    Bounds,
    judge,
    kind_of,
    limits_of,
    place_of,
)

FLOATS = {"DT_FLOAT": "f4", "DT_FLOAT16": "f2", "DT_BF16": "bf16", "DT_DOUBLE": "f8"}
INTEGERS = {"DT_INT32": "i4", "DT_INT64": "i8", "DT_UINT8": "u1", "DT_INT16": "i2"}
SHAPE = (16, 24)


def rounded(values, kind):
    """What a type holds of numbers, as a copy."""
    if kind == "bf16":
        bits = numpy.asarray(values, "f4").view("u4")
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view("f4")
    with numpy.errstate(over="ignore"):
        return numpy.asarray(values).astype(kind).copy()


def tf32(values):
    """Ten bits of fraction."""
    bits = numpy.asarray(values, "f4").view("u4")
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000).view("f4")


def pairs_of(x, y):
    """One piece."""
    return lambda: iter([(numpy.asarray(x).reshape(-1), numpy.asarray(y).reshape(-1))])


def verdict(x, y, data_type, kind="activation", bounds=None, shape=None):
    """Of a tensor of that type on the device."""
    limits = limits_of(kind, data_type, str(y.dtype), bounds or Bounds())
    return judge(pairs_of(x, y), limits, y.shape if shape is None else shape)[1]


def one(values, place, by):
    """One element that is another."""
    values = values.copy()
    values.reshape(-1)[place] += by
    return values


def some(values, places, what):
    """Some elements that are something else."""
    values = values.copy()
    values.reshape(-1)[places] = what
    return values


LIMIT = RELATIVE["activation"]
PLANTS = {
    # name: (what the device has of y, cause)
    "scale up": (lambda y: y * (1 + 2 * LIMIT), "scale"),
    "scale down": (lambda y: y * (1 - 2 * LIMIT), "scale"),
    "scale 2": (lambda y: y * 2, "scale"),
    "scale 1024": (lambda y: y * 1024, "scale"),
    "opposite and larger": (lambda y: y * -3, "scale"),
    "sign": (lambda y: -y, "sign"),
    "offset": (lambda y: y + 0.2, "offset"),
    "one element": (lambda y: one(y, 37, 2 * ELEMENT * LIMIT * 5), "elements"),
    "two elements": (lambda y: some(y, [3, 90], 9.0), "elements"),
    "quarter of zeros": (lambda y: some(y, slice(0, None, 4), 0), "zeros"),
    "first row of zeros": (lambda y: some(y, slice(0, 48), 0), "zeros"),
    "all zeros": (lambda y: y * 0, "zeros"),
    "constant": (lambda y: y * 0 + 0.75, "constant"),
    "permutation": (
        lambda y: numpy.random.RandomState(5).permutation(y.reshape(-1)),
        "permutation",
    ),
    "backwards": (lambda y: y.reshape(-1)[::-1], "permutation"),
    "reversed": (lambda y: y[:, ::-1].reshape(-1), "reversed"),
    "transposed": (lambda y: y.T.reshape(-1), "transposed"),
    "moved by one": (lambda y: numpy.roll(y.reshape(-1), 1), "shifted"),
    "noise": (
        lambda y: y + numpy.random.RandomState(6).standard_normal(y.shape) * 0.3,
        "relative",
    ),
    "other values": (lambda y: numpy.random.RandomState(7).standard_normal(y.shape), "cosine"),
    "NaN": (lambda y: some(y, [5], numpy.nan), "nan"),
    "infinite": (lambda y: some(y, [5], numpy.inf), "infinite"),
    "saturation": (lambda y: numpy.clip(y * 1e6, -65504, 65504), "saturation"),
    "absolute values": (numpy.abs, "absolute"),
    "cut off": (lambda y: numpy.clip(y, -1, 1), "clipped"),
    "one row": (lambda y: some(y, slice(48, 72), y.reshape(-1)[48:72] * 2), "elements"),
    "half wrong": (lambda y: some(y, slice(0, 192), 1.0), "cosine"),
}


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("data_type", FLOATS)
def test_planted_in_floats(name, data_type):
    """Every difference above the documented limit is found, with its reason."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4")
    plant, cause = PLANTS[name]
    reference = y * 1e6 if name == "saturation" else y
    if name == "saturation" and data_type != "DT_FLOAT16":
        return
    x = rounded(plant(y.astype("f8")), FLOATS[data_type])
    found = verdict(x, reference.astype("f4"), data_type)
    assert (found.verdict, cause in found.causes) == ("diverges", True), found
    assert cause in (found.causes[0], "relative", "cosine"), found
    assert found.reason


SAME = {
    "same": lambda y, kind: y,
    "rounding": rounded,
    "twice rounded": lambda y, kind: rounded(tf32(rounded(y, kind)), kind),
    "noise of a clean network": lambda y, kind: (
        y * (1 + numpy.random.RandomState(3).standard_normal(y.shape) * 0.02)
    ),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("data_type", FLOATS)
def test_rounding_agrees(name, data_type):
    """Rounding of every size of numbers agrees, down to those that the type cannot hold."""
    for seed, scale in enumerate((1.0, 1e-3, 3e-5, 1e-6, 1e-8, 1e4)):
        y = numpy.random.RandomState(seed).standard_normal(SHAPE) * scale
        x = rounded(SAME[name](y.astype("f4"), FLOATS[data_type]), FLOATS[data_type])
        found = verdict(x, y.astype("f4"), data_type)
        assert (found.verdict, found.causes) == ("agrees", ()), (scale, found)


WHOLE = {
    "off by one": (lambda y: y + 1, "offset"),
    "one off by one": (lambda y: one(y, 7, 1), "elements"),
    "permutation": (
        lambda y: numpy.random.RandomState(5).permutation(y.reshape(-1)),
        "permutation",
    ),
    "transposed": (lambda y: y.T.reshape(-1), "transposed"),
    "zeros": (lambda y: y * 0, "zeros"),
    "twice": (lambda y: y * 2, "elements"),
    "clipped": (lambda y: numpy.minimum(y, 50), "clipped"),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("data_type", INTEGERS)
def test_integers_are_exact(name, data_type):
    """Integers agree when they are equal."""
    y = numpy.random.RandomState(1).randint(1, 100, SHAPE).astype(INTEGERS[data_type])
    plant, cause = WHOLE[name]
    x = plant(y).astype(INTEGERS[data_type])
    found = verdict(x, y, data_type, "index")
    assert ("diverges", cause) == (found.verdict, found.causes[0])
    assert verdict(y.copy(), y, data_type, "index").verdict == "agrees"
    near = Bounds(absolute=1)
    expected = "agrees" if "off by one" in name else "diverges"
    assert verdict(x, y, data_type, "index", near).verdict == expected


def test_integers_beyond_what_a_float_holds():
    """2^60 and 2^60 + 1 are two numbers; so are -1 and 2^64 - 1."""
    y = numpy.full(4, 1 << 60, "i8")
    assert verdict(y + 1, y, "DT_INT64", "index").verdict == "diverges"
    other = numpy.full(4, -1, "i8")
    assert verdict(other.view("u8"), other, "DT_UINT64", "index").verdict == "diverges"


def test_truth_values():
    """One in a thousand may differ; more, and all, may not."""
    y = numpy.arange(4000) % 3 == 0
    few, more = y.copy(), y.copy()
    few[:4] = ~few[:4]
    more[:5] = ~more[:5]
    assert verdict(few, y, "DT_BOOL", "flag").verdict == "agrees"
    assert verdict(more, y, "DT_BOOL", "flag").causes == ("elements",)
    assert verdict(~y, y, "DT_BOOL", "flag").causes == ("inverted",)
    assert verdict(~y, y.astype("f4"), "DT_BOOL", "flag").verdict == "diverges"


def test_gradients_with_a_loss_scale():
    """A power of two is named as what it mostly is."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4")
    found = verdict(y * 1024, y, "DT_FLOAT", "gradient")
    assert (found.causes[0], "1,024 times" in found.reason) == ("scale", True)
    assert "loss scale" in found.reason
    assert "loss scale" not in verdict(y * 1000, y, "DT_FLOAT", "gradient").reason
    assert "loss scale" in verdict(y * 2, y, "DT_FLOAT", "gradient").reason
    assert "loss scale" in verdict(y / 256, y, "DT_FLOAT", "gradient").reason
    assert "loss scale" not in verdict(y * 1028, y, "DT_FLOAT", "gradient").reason
    assert "loss scale" not in verdict(y * 1024, y, "DT_FLOAT", "activation").reason


def test_what_cannot_be_judged_does_not_agree():
    """No elements, and nothing finite on both sides."""
    nothing = numpy.zeros((0, 3), "f4")
    assert verdict(nothing, nothing, "DT_FLOAT").verdict == "not compared"
    nan = numpy.full(4, numpy.nan, "f4")
    assert verdict(nan, nan, "DT_FLOAT").verdict == "not compared"
    assert verdict(nan, numpy.ones(4, "f4"), "DT_FLOAT").causes == ("nan",)


def test_limits_of_the_user():
    """What is given replaces the defaults; a lower cosine loosens them in proportion."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4")
    x = y * numpy.float32(1.1)
    assert verdict(x, y, "DT_FLOAT").verdict == "diverges"
    assert verdict(x, y, "DT_FLOAT", bounds=Bounds(relative=0.11)).verdict == "agrees"
    assert verdict(x, y, "DT_FLOAT", bounds=Bounds(cosine=0.9)).verdict == "agrees"
    assert verdict(x, y, "DT_FLOAT", bounds=Bounds(cosine=0.9999)).verdict == "diverges"
    rough = rounded(y, "f2")
    assert verdict(rough, y, "DT_FLOAT16", bounds=Bounds(absolute=1e-6)).causes == ("elements",)
    assert verdict(rough, y, "DT_FLOAT16", bounds=Bounds(relative=1e-6)).causes == ("relative",)
    assert verdict(rough, y, "DT_FLOAT16", bounds=Bounds(cosine=1 - 1e-12)).causes == ("cosine",)


def test_kinds():
    """Each kind by its type and name; what is copied has narrower limits."""
    assert (
        kind_of("gradients/conv/BiasAddGrad", "BiasAddGrad", "DT_FLOAT", "float32") == "gradient"
    )
    assert kind_of("a/gradients_1/b", "Mul", "DT_FLOAT16", "float32") == "gradient"
    assert kind_of("graduate/x", "Mul", "DT_FLOAT16", "float32") == "activation"
    assert kind_of("ids", "GatherV2", "DT_INT32", "int64") == "index"
    assert kind_of("mask", "Greater", "DT_BOOL", "bool") == "flag"
    limits = {kind: limits_of(kind, "DT_FLOAT16", "float32").relative for kind in KINDS[:4]}
    assert sorted(limits.values()) == list(limits.values()) == list(RELATIVE.values())
    wide = limits_of("data", "DT_BF16", "float32")
    assert (wide.relative, wide.cosine) == (4 * 2.0**-8, COSINE)


def test_ranks_are_exact():
    """Between ranks the last bit counts."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4")
    limits = limits_of("weight", "DT_FLOAT", "DT_FLOAT")
    x = y.copy()
    x.reshape(-1)[3:4] = numpy.nextafter(x.reshape(-1)[3], numpy.float32(9))
    found = judge(pairs_of(x, y), limits, SHAPE, exact=True)[1]
    assert found.verdict == "diverges"
    ours, theirs = (
        found.reason.split("largest difference at [0, 3]: ")[1].split(";")[0].split(" instead of ")
    )
    assert ours != theirs
    assert judge(pairs_of(y, y), limits, SHAPE, exact=True)[1].verdict == "agrees"


def test_places():
    """The indices of an element; complex numbers count twice."""
    assert place_of(7, 24, (2, 3, 4)) == [0, 1, 3]
    assert place_of(14, 48, (2, 3, 4)) == [0, 1, 3]
    assert place_of(0, 1, ()) == []


def test_many_random_tensors():
    """Rounding to any type, of any distribution and size: none diverges."""
    random = numpy.random.RandomState(11)
    shapes = ((1,), (7,), (3, 5), (40, 25), (2, 9, 4), (300,))
    false = []
    for number in range(600):
        y = any_values(random, number % 8, shapes[number % len(shapes)])
        data_type = list(FLOATS)[random.randint(4)]
        kind = KINDS[random.randint(4)]
        found = verdict(rounded(y, FLOATS[data_type]), y, data_type, kind)
        if found.verdict != "agrees":
            false.append((number, data_type, kind, found))
        kind = ("activation", "gradient")[number % 2]
        noise = 0.02 if data_type in ("DT_FLOAT16", "DT_BF16") else 0.01
        noisy = y * (1 + random.standard_normal(y.shape) * noise)
        noisy = rounded(numpy.clip(noisy, -65000, 65000).astype("f4"), FLOATS[data_type])
        found = verdict(noisy, y, data_type, kind)
        if found.verdict != "agrees":
            false.append((number, data_type, kind, found, "noise"))
    assert false == []


def test_plants_in_random_tensors():
    """Whatever the values are: a plant of 1.5 times a documented limit is found."""
    random = numpy.random.RandomState(12)
    shapes = ((7,), (3, 5), (40, 25), (2, 9, 4), (300,))
    missed = []
    for number in range(300):
        y = any_values(random, number % 8, shapes[number % len(shapes)])
        data_type = list(FLOATS)[random.randint(4)]
        kind = KINDS[random.randint(4)]
        limits = limits_of(kind, data_type, "float32")
        size = float(numpy.sqrt(numpy.mean(y.astype("f8") ** 2)))
        if size < 1000 * limits.smallest or size > 1000:
            continue
        relative = 1.5 * limits.relative * (1 + limits.few)
        place = int(numpy.argmax(abs(y)))
        element = 1.5 * limits.element * max(abs(float(y.flat[place])), size)
        direction = random.standard_normal(y.shape)
        direction *= size / numpy.sqrt(numpy.mean(direction**2))
        for x in (y * (1 + relative), y + relative * direction, one(y, place, element)):
            found = verdict(rounded(x.astype("f4"), FLOATS[data_type]), y, data_type, kind)
            if found.verdict != "diverges" or not found.reason:
                missed.append((number, data_type, kind, found))
    assert missed == []


def test_few_elements():
    """A single float16 may be off by twice as much; a float32, weights, given limits may not."""
    y = numpy.asarray([2.0], "f4")
    for by, kind, bounds, expected in (
        (1.09, "activation", None, "agrees"), (1.11, "activation", None, "diverges"),
        (1.15, "gradient", None, "agrees"), (1.02, "weight", None, "diverges"),
        (1.09, "activation", Bounds(relative=0.05), "diverges"),
    ):  # fmt: skip
        found = verdict(rounded(y * by, "f2"), y, "DT_FLOAT16", kind, bounds)
        assert found.verdict == expected
        assert ("with so few values" in found.reason) is (expected == "agrees")
    one_large = numpy.asarray([100.0, *[0.1] * 99], "f4")
    larger = rounded(one_large * 1.08, "f2")
    assert verdict(larger, one_large, "DT_FLOAT16").verdict == "agrees"
    for kind in ("DT_FLOAT", "DT_DOUBLE"):  # a loss that is 6 % off
        assert verdict(y * numpy.float32(1.06), y, kind).causes == ("single",)
        assert verdict(y * numpy.float32(1.04), y, kind).verdict == "agrees"
    even = numpy.ones(100, "f4")
    assert verdict(even * numpy.float32(1.06), even, "DT_FLOAT").verdict == "diverges"


@pytest.mark.parametrize(
    ("places", "cause", "box"),
    [
        ([0, 999], "elements", None),
        (numpy.linspace(0, 999, 10).astype(int), "elements", None),
        (numpy.linspace(0, 999, 11).astype(int), "cosine", None),
        (range(100, 600), "elements", "[100:600]"),
        (range(100, 601), "cosine", None),
        ([7], "elements", None),
    ],
)
def test_how_few_elements_are_off(places, cause, box):
    """One of a hundred wherever they are, or what half of the tensor holds."""
    y = numpy.random.RandomState(3).standard_normal(1000).astype("f4")
    noise = numpy.random.RandomState(4).standard_normal(len(places)) * 50
    x = y.copy()
    x[list(places)] += noise.astype("f4")
    found = verdict(x, y, "DT_FLOAT", shape=(1000,))
    assert found.causes[0] == cause
    assert ("within {}".format(box) in found.reason) == (box is not None)
    assert ("within" in found.reason) == (box is not None)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(
    ("noise", "bare", "cut"),
    [(0, "absolute", "clipped"), (1e-3, "absolute", "clipped"), (0.2, "cosine", "cosine")],
)
def test_what_is_cut_off_or_without_signs(size, noise, bare, cut):
    """Up to the limit of a relative distance, whatever the size of the values is."""
    y = numpy.random.RandomState(3).standard_normal(1000) * size
    noise = numpy.random.RandomState(4).standard_normal(1000) * size * noise
    for x, cause in ((abs(y), bare), (numpy.maximum(y, 0), cut), (y.clip(-size, size), cut)):
        x, other = (x + noise).astype("f4"), y.astype("f4")
        for sides in ((x, other), (other, x)):
            assert verdict(*sides, "DT_FLOAT").causes[0] == cause


@pytest.mark.parametrize(("most", "cause"), [(384, "permutation"), (383, "cosine")])
def test_the_largest_tensor_that_is_sorted(monkeypatch, most, cause):
    """Whether a larger one is another order of the reference is not looked at."""
    monkeypatch.setattr(verdicts, "_ARRANGED", most)
    y = numpy.random.RandomState(3).standard_normal(384).astype("f4")
    x = numpy.random.RandomState(5).permutation(y)
    assert verdict(x, y, "DT_FLOAT").causes[0] == cause


def test_another_order_beside_what_is_not_finite():
    """What is compared is not all of it: nothing is said of an order."""
    y = numpy.random.RandomState(3).standard_normal(384).astype("f4")
    x = numpy.random.RandomState(5).permutation(y)
    found = verdict(some(x, 7, numpy.nan), some(y, 7, numpy.nan), "DT_FLOAT")
    assert found.causes == ("cosine", "relative")


@pytest.mark.parametrize("data_type", ["DT_FLOAT", "DT_BF16", "DT_HIFLOAT8"])
def test_two_samples_are_no_permutation(data_type):
    """Other values of the same distribution are not the reference in another order."""
    for count in (200, 20000):
        x, y = numpy.random.RandomState(count).standard_normal((2, count)).astype("f4")
        assert "permutation" not in verdict(x, y, data_type).causes


def any_values(random, way, shape):
    """Numbers as networks have them, within what float16 holds."""
    y = random.standard_normal(shape) * 10.0 ** random.uniform(-9, 3)
    if way == 1:
        y = numpy.maximum(y, 0)
    elif way == 2:
        y = y * (random.uniform(size=shape) < 0.05)
    elif way == 3:
        y = numpy.exp(numpy.clip(random.standard_normal(shape) * 4, -9, 9))
    elif way == 4:
        y = random.uniform(size=shape) * 10.0 ** random.uniform(-7, 2)
    elif way == 5:
        y = random.standard_cauchy(shape)
    elif way == 6:
        y = y + 10.0 ** random.uniform(-3, 3)
    elif way == 7:
        y = numpy.full(shape, random.uniform(-3, 3))
    return numpy.clip(y, -65000, 65000).astype("f4")


OF_FLOATS = KINDS[:4]


@pytest.mark.parametrize(
    ("data_type", "relative", "few", "largest"),
    [
        ("DT_FLOAT", (0.005, 0.01, 0.05, 0.08), 0, 3.4028234663852886e38),
        ("DT_FLOAT16", (0.005, 0.01, 0.05, 0.08), 1, 65504),
        ("DT_BF16", (2**-6, 2**-6, 2**-4, 0.08), 1, 3.3895313892515355e38),
        ("DT_FLOAT8_E4M3FN", (0.25,) * 4, 0, 448),
        ("DT_FLOAT8_E5M2", (0.5,) * 4, 0, 57344),
        ("DT_INT32", (0.005, 0.01, 0.05, 0.08), 0, None),
    ],
)
def test_limits_of_types(data_type, relative, few, largest):
    """Of each kind: the documented limit, or what rounding of the coarser type takes."""
    for kind, expected in zip(OF_FLOATS, relative):
        for found in (
            limits_of(kind, data_type, "float32"),
            limits_of(kind, "DT_FLOAT", data_type),
            limits_of(kind, data_type, data_type, Bounds(cosine=0.99)),
        ):
            assert found.relative == pytest.approx(expected)
            assert found.element == pytest.approx(min(5 * expected, 0.9))
            assert found.few == (few if kind in ("activation", "gradient") else 0)
            assert (found.absolute, found.flags) == (None, 0.001)
    found = limits_of("activation", data_type, "float32").largest
    assert (None if largest is None else pytest.approx(largest)) == (found and found[0])
    if found is not None:
        assert found[1] == pytest.approx(found[0] * (1 + BY_NAME[data_type].rounding / 2))


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (Bounds(cosine=0.96), (0.96, 0.1, 0.5, None, 0.002)),
        (Bounds(cosine=0.9), (0.9, 0.25, 1.25, None, 0.005)),
        (Bounds(cosine=0.999), (0.999, 0.05, 0.25, None, 0.001)),
        (Bounds(relative=0.3), (0.98, 0.3, 1.5, None, 0.001)),
        (Bounds(relative=0.0), (0.98, 0.0, 0.0, None, 0.001)),
        (Bounds(absolute=2.0), (0.98, 0.05, 0.25, 2.0, 0.001)),
        (Bounds(cosine=0.96, relative=0.3), (0.96, 0.3, 1.5, None, 0.002)),
    ],
)
def test_given_limits(bounds, expected):
    """A lower cosine loosens the others in proportion, a higher one does not tighten them."""
    found = limits_of("activation", "DT_FLOAT", "float32", bounds)
    limits = found.cosine, found.relative, found.element, found.absolute, found.flags
    assert limits == pytest.approx(expected)
    assert found.few == 0


@pytest.mark.parametrize(
    ("elements", "differ", "causes"),
    [
        (1000, 0, None),
        (1000, 1, ()),
        (1000, 2, ("elements",)),
        (999, 1, ("elements",)),
        (2000, 2, ()),
        (2, 1, ("elements",)),
        (2, 2, ("inverted",)),
        (1, 1, ("elements",)),
    ],
)
def test_how_many_truth_values(elements, differ, causes):
    """One in a thousand; where some differ the reason has both numbers."""
    y = numpy.zeros(elements, bool)
    found = verdict(numpy.arange(elements) < differ, y, "DT_BOOL", "flag")
    assert (found.verdict, found.causes) == (
        "diverges" if causes else "agrees", causes or ()
    )  # fmt: skip
    numbers = re.findall(r"\d[\d,]*", found.reason.partition(";")[0])
    assert numbers == ([] if causes is None or "inverted" in causes else
                       ["{:,}".format(differ), "{:,}".format(elements)])  # fmt: skip


@pytest.mark.parametrize(
    ("off", "absolute", "cause"),
    [
        ([0, 0, 0, 0, 0, 0], None, None),
        ([0, 0, 0, 2, 0, 0], 2.0, None),
        ([-2, 2, 2, 0, 1, 0], 2.0, None),
        ([0, 0, 0, 3, 0, 0], 2.0, "elements"),
        ([0, 0, 0, 1, 0, 0], 0.0, "elements"),
        ([0, 0, 0, 1, 0, 0], None, "elements"),
        ([1, 1, 1, 1, 1, 1], None, "offset"),
        ([-1, -1, -1, -1, -1, -1], None, "offset"),
        ([1, 1, 1, 1, 1, 2], None, "elements"),
        ([1, 1, 1, 1, 1, 0], None, "elements"),
    ],
)
def test_integers_that_are_off(off, absolute, cause):
    """None may be, but within a limit that is given; the same everywhere is an offset."""
    y = numpy.array([5, 50, 7, 20, 31, 100], "i8")
    found = verdict(y + off, y, "DT_INT64", "index", Bounds(absolute=absolute))
    assert found[:2] == (("diverges", (cause,)) if cause else ("agrees", ()))
    if cause == "offset":
        assert "{:+d}".format(off[0]) in found.reason
    elif cause:
        different = sum(map(bool, off))
        assert re.findall(r"\d+", found.reason)[:2] == [str(different), "6"]


ROW = numpy.arange(1, 25, dtype="f4").reshape(4, 6)


@pytest.mark.parametrize(
    ("places", "within"),
    [
        (numpy.s_[0:1, :], "[0, :]"),
        (numpy.s_[0:2, :], "[0:2, :]"),
        (numpy.s_[1:3, :], "[1:3, :]"),
        (numpy.s_[:, 2:4], "[:, 2:4]"),
        (numpy.s_[1:3, 5:], "[1:3, 5]"),
        (numpy.s_[0:3, :], None),
        (numpy.s_[1, 5], None),
    ],
)
@pytest.mark.parametrize("kind", ["f4", "i4"])
def test_where_elements_are_off(places, within, kind):
    """The part that holds them all, where it is at most half of the tensor and more than one."""
    x = ROW.copy()
    x[places] = numpy.arange(x[places].size).reshape(x[places].shape) * 7 + 500
    data_type = {"f4": "DT_FLOAT", "i4": "DT_INT32"}[kind]
    limits = limits_of("index" if kind == "i4" else "activation", data_type, data_type)
    pairs = pairs_of(x.astype(kind), ROW.astype(kind))
    metrics, found = judge(pairs, limits, ROW.shape)
    assert found.verdict == "diverges"
    assert verdicts._within(metrics, ROW.shape) == (
        ["all differences are within " + within] if within else []
    )
    (worst,) = verdicts._at_worst(metrics, ROW.shape)
    index = numpy.unravel_index(abs(x - ROW).argmax(), x.shape)
    assert "{}: {:g} instead of {:g}".format(list(map(int, index)), x[index], ROW[index]) in worst


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1.5, 2.5, ["1.5", "2.5"]),
        (1.0, 1.0000001, ["1", "1.0000001"]),
        (1.0, 1 + 2**-40, ["1", "1.0000000000009095"]),
        (3.0, 3.0, ["3", "3"]),
        (123456789.0, 123456788.0, ["123456789", "123456788"]),
    ],
)
def test_numbers_that_are_told_apart(one, other, expected):
    """Six digits, or as many as it takes."""
    assert verdicts._told_apart(one, other) == expected


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(-1, None, ["below -1"]), (None, 1, ["above 1"]), (-1, 1, ["below -1", "above 1"])],
)
def test_where_values_are_cut_off(low, high, words):
    """On either side; the number is where."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4") * 3
    cut = numpy.clip(y, low, high)
    for x, reference in ((cut, y), (y, cut)):
        found = verdict(x, reference, "DT_FLOAT")
        assert found.causes[0] == "clipped"
        for way in ("below", "above"):
            said = [word for word in words if word.startswith(way)]
            assert (way in found.reason) is bool(said)
            assert not said or said[0] in found.reason


@pytest.mark.parametrize(
    ("place", "elements", "shape", "expected"),
    [
        (0, 24, (2, 3, 4), [0, 0, 0]),
        (23, 24, (2, 3, 4), [1, 2, 3]),
        (13, 24, (2, 3, 4), [1, 0, 1]),
        (13, 48, (2, 3, 4), [0, 1, 2]),
        (12, 48, (2, 3, 4), [0, 1, 2]),
        (5, 6, (6,), [5]),
        (0, 1, (), []),
    ],
)
def test_indices(place, elements, shape, expected):
    """Of a place in C order; complex numbers are counted twice."""
    assert expected == place_of(place, elements, shape)


@pytest.mark.parametrize(
    ("off", "absolute", "agrees"),
    [(0.249, None, True), (0.251, None, False), (-0.251, None, False), (0.5, 0.5, True),
     (0.51, 0.5, False), (0.1, 0.05, False)],
)  # fmt: skip
def test_one_element_at_its_limit(off, absolute, agrees):
    """A quarter of what the others are, or what is given; the reason has the limit."""
    y = numpy.ones(400, "f4")
    y[1::2] = -1
    x = one(y, 3 if off > 0 else 2, off)
    found = verdict(x, y, "DT_FLOAT", bounds=Bounds(absolute=absolute))
    assert found[:2] == (("agrees", ()) if agrees else ("diverges", ("elements",)))
    assert ("1 of 400" in found.reason) is not agrees


@pytest.mark.parametrize(
    ("times", "agrees"), [(1.049, True), (1.051, False), (0.951, True), (0.949, False)]
)
def test_a_scale_at_its_limit(times, agrees):
    """The relative distance of a scale is how far it is from 1."""
    y = numpy.random.RandomState(1).standard_normal(SHAPE).astype("f4")
    found = verdict(y * numpy.float32(times), y, "DT_FLOAT")
    causes = () if agrees else ("scale", "relative")
    assert (found.verdict, found.causes) == ("agrees" if agrees else "diverges", causes)
    assert ("{:.4g} times".format(times) in found.reason) is not agrees


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (abs, "absolute"),
        (lambda y: numpy.clip(y, -20, 20), "clipped"),
        (lambda y: numpy.clip(y, 6, None), "clipped"),
        (lambda y: y[::-1].copy(), "reversed"),
        (lambda y: numpy.roll(y, -1), "shifted"),
        (lambda y: y[[3, 1, 5, 0, 4, 2]], "permutation"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_happened_to_integers(change, cause, swapped):
    """One side is the other without signs, cut off or in another order, exactly."""
    y = numpy.array([5, -50, 7, 20, -31, 100], "i4")
    sides = [change(y), y]
    one_, other = reversed(sides) if swapped else sides
    assert verdict(one_, other, "DT_INT32", "index", shape=(2, 3))[:2][1] == (
        ("permutation",) if cause == "reversed" else (cause,)
    )


@pytest.mark.parametrize("data_type", ["DT_FLOAT", "DT_INT32"])
def test_a_constant_is_no_cut(data_type):
    """A reference of one value has no values of the device that are cut off."""
    y = numpy.full(SHAPE, 3, {"DT_FLOAT": "f4", "DT_INT32": "i4"}[data_type])
    x = y + numpy.arange(y.size).reshape(SHAPE) % 7 - 3
    found = verdict(
        x.astype(y.dtype), y, data_type, "index" if "INT" in data_type else "activation"
    )
    assert (found.verdict, "clipped" in found.causes) == ("diverges", False)


@pytest.mark.parametrize(
    ("x", "y", "causes"),
    [
        (1.01e200, 1e200, ()),
        (1.1e200, 1e200, ("relative",)),
        (1.0, 1e-155, ("scale", "relative")),
        (1e10, 2e-162, ("scale", "relative")),
        (1e-155, 1.0, ("scale", "relative")),
    ],
)
def test_squares_beyond_float64(x, y, causes):
    """Large ones go by the relative error of one element; none is too small to be compared."""
    numbers = numpy.array([1.0, -2.0, 3.0, 4.0])
    found = verdict(numbers * x, numbers * y, "DT_DOUBLE")
    assert (found.verdict, found.causes) == ("diverges" if causes else "agrees", causes)
