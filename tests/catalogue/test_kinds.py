"""Kinds: strict, and read(write(x)) == x for everything they accept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import Bool, Choice, Int, InvalidValue
from tests import golden

integers = st.integers(0, 2**31 - 1)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_/]{0,8}", fullmatch=True)
pairs = st.tuples(st.integers(0, 999), st.integers(1000, 2**31 - 1))
ranges = st.one_of(
    st.just(-1), st.integers(0, 512), st.tuples(st.integers(0, 9), st.integers(9, 99))
)

VALUES = {
    "dump_step": st.lists(st.one_of(integers, pairs), min_size=1, max_size=100),
    "local_device_list": st.lists(integers, min_size=1, unique=True),
    "input_shape": st.dictionaries(
        names, st.lists(st.one_of(st.just(-1), st.integers(1, 999)), max_size=4), min_size=1
    ),
    "dynamic_dims": st.lists(
        st.lists(st.integers(1, 999), min_size=2, max_size=2),
        min_size=2,
        max_size=20,
        unique_by=tuple,
    ),
    "dynamic_inputs_shape_range": st.dictionaries(
        st.sampled_from(["getnext", "data"]),
        st.lists(st.lists(ranges, max_size=3), min_size=1, max_size=3),
        min_size=1,
    ),
    "stream_max_parallel_num": st.dictionaries(
        st.sampled_from(["DNN_VM_AICPU", "AIcoreEngine"]), st.integers(1, 64), min_size=1
    ),
    "aicore_num": st.tuples(st.integers(1, 99), st.integers(1, 99)),
    "experimental_accelerate_train_mode": st.one_of(
        st.tuples(st.sampled_from(["fast", "fast1"]), st.just("step"), st.floats(0.2, 0.9)),
        st.tuples(st.sampled_from(["fast", "fast1"]), st.just("loss"), st.floats(1.01, 1.5)),
        st.tuples(st.sampled_from(["fast", "fast1"]), st.sampled_from(["step", "loss"])),
    ),
    "auto_multistream_parallel_mode": st.one_of(
        st.just("cv"),
        st.tuples(st.sampled_from(["LoadBalance", "MainStream"]), st.integers(1, 64)),
    ),
    "in_out_pair": st.tuples(
        st.lists(names, min_size=1, max_size=3), st.lists(names, min_size=1, max_size=3)
    ),
    "dump_layer": st.lists(names, min_size=1),
    "enable_scope_fusion_passes": st.lists(names, min_size=1),
    "optimization_switch": st.dictionaries(names, st.booleans(), min_size=1),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_structured_values_survive_the_wire(name):
    """The canonical form of a friendly value is the canonical form of its text."""

    @given(VALUES[name])
    def check(value):
        kind = OPTIONS[name].kind
        canonical = kind.parse(value)
        assert kind.parse(kind.to_wire(canonical)) == canonical
        assert kind.parse(canonical) == canonical

    check()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_kinds_refuse_and_never_raise(name):
    """Whatever is given, a kind accepts it or says why not."""

    @settings(max_examples=golden.tries(20))
    @given(
        st.one_of(
            st.text(),
            st.integers(),
            st.booleans(),
            st.floats(),
            st.none(),
            st.binary(),
            st.lists(st.one_of(st.integers(), st.text(), st.lists(st.integers()))),
            st.dictionaries(st.text(), st.integers()),
            st.text(alphabet="0123456789-|,;:[]~'\" .xfast", max_size=30),
        )
    )
    def check(value):
        kind = OPTIONS[name].kind
        try:
            canonical = kind.parse(value)
        except InvalidValue as refused:
            assert refused.rule in (
                "wrong-type",
                "value-not-allowed",
                "out-of-range",
                "bad-syntax",
            )
            assert refused.problem
        else:
            assert kind.parse(kind.to_wire(canonical)) == canonical

    check()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_kind_describes_itself(name):
    """Words, schema and annotation exist, and the default is a legal value."""
    option = OPTIONS[name]
    assert option.kind.describe()
    assert option.kind.annotation
    assert option.kind.schema()
    if option.default is not None:
        assert option.kind.parse(option.default) == option.default


@pytest.mark.parametrize("value", [1, 0, "true", None, 1.0])
def test_bool_is_strict(value):
    """1 is not True and "true" is not True."""
    with pytest.raises(InvalidValue):
        Bool().parse(value)


@pytest.mark.parametrize("value", [True, "1", 1.0, None, 2**63])
def test_int_is_strict(value):
    """True is not 1, "1" is not 1, and 64 bits are the limit."""
    with pytest.raises(InvalidValue):
        Int().parse(value)


def test_numpy_values_are_taken_as_users_pass_them():
    """numpy integers and bools count as int and bool, and not as each other."""
    numpy = pytest.importorskip("numpy")
    assert Int().parse(numpy.int32(3)) == 3
    assert type(Int().parse(numpy.int64(3))) is int
    assert Bool().parse(numpy.bool_(True)) is True
    with pytest.raises(InvalidValue):
        Int().parse(numpy.bool_(True))
    with pytest.raises(InvalidValue):
        Bool().parse(numpy.int64(1))


def test_a_choice_says_what_was_meant():
    """Another case or blanks around are told."""
    with pytest.raises(InvalidValue) as caught:
        Choice(("input", "all")).parse(" ALL")
    assert caught.value.help == 'write "all"; case and whitespace matter'


@pytest.mark.parametrize(
    "name",
    [
        "dump_step",
        "input_shape",
        "dynamic_dims",
        "in_out_pair",
        "dynamic_inputs_shape_range",
        "dump_layer",
        "local_device_list",
        "stream_max_parallel_num",
        "optimization_switch",
    ],
)
@pytest.mark.parametrize("unit", ["1|", "a:1;", "'", "[[", "1,", "data:[1],", " ", "x:on;"])
def test_long_texts_are_read_in_linear_time(name, unit):
    """Texts of 100,000 characters are read or refused at once (quadratic ones would hang)."""
    try:
        OPTIONS[name].kind.parse(unit * (100_000 // len(unit)))
    except InvalidValue as refused:
        assert len(refused.problem) < 500
