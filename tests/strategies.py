"""Hypothesis strategies over the catalogue: legal values, sets of options, configurations."""

import json
import random

from hypothesis import strategies as st

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import Bool, Choice, FilePath, Int, Text
from npu_config.config import NpuConfig
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.settings import Settings
from npu_config.core.target import MODES, Target
from npu_config.core.versions import Product
from npu_config.rules.value import from_settings

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_/]{0,8}", fullmatch=True)
COUNTS = st.integers(0, 2**31 - 1)
STEPS = st.one_of(COUNTS, st.tuples(st.integers(0, 999), st.integers(1000, 2**31 - 1)))
DIMS = st.one_of(
    st.just(-1), st.integers(0, 512), st.tuples(st.integers(0, 9), st.integers(9, 99))
)
PRECISIONS = st.sampled_from(["fast", "fast1"])
# Everything that UTF-8 can carry, but NUL; with a liking for what text formats stumble over.
TEXTS = st.one_of(
    st.text(st.characters(min_codepoint=1, blacklist_categories=["Cs"]), max_size=20),
    st.sampled_from(
        [
            "", "on", "off", "no", "y", "null", "~", "true", "010", "1.0", "8.50", "1e5", "0x1f",
            "1:30", "2024-01-01", "- a", "a: b", "#c", "a #c", "'", '"', "\\", "a\nb", "\t", " ",
            "!t", "&a", "*a", "{a", "[a", "|", ">", "%", "@", "`", "?", "<<", "=", ".inf", "---",
            "\u2028", "\x85", "\ufeff", "\x7f", "\U0001f600", "路径",
        ]
    ),
)  # fmt: skip
PATHS = st.one_of(
    st.from_regex(r"(\./|/)?[A-Za-z0-9_.\-/]{1,20}", fullmatch=True),
    st.sampled_from(["/home/test/output", "./out dir", "C:\\x", "/数据/输出", "~/x", "no", "1"]),
)

_STRUCTURED = {
    "dump_step": st.lists(STEPS, min_size=1, max_size=10),
    "local_device_list": st.lists(COUNTS, min_size=1, max_size=8, unique=True),
    "input_shape": st.dictionaries(
        NAMES,
        st.lists(st.one_of(st.just(-1), st.integers(1, 999)), max_size=4),
        min_size=1,
        max_size=3,
    ),
    "dynamic_dims": st.lists(
        st.tuples(st.integers(1, 999), st.integers(1, 999)), min_size=2, max_size=5, unique=True
    ),
    "dynamic_inputs_shape_range": st.dictionaries(
        st.sampled_from(["getnext", "data"]),
        st.lists(st.lists(DIMS, max_size=3), min_size=1, max_size=3),
        min_size=1,
    ),
    "stream_max_parallel_num": st.dictionaries(
        st.sampled_from(["DNN_VM_AICPU", "AIcoreEngine"]), st.integers(1, 64), min_size=1
    ),
    "aicore_num": st.tuples(st.integers(1, 99), st.integers(1, 99)),
    "experimental_accelerate_train_mode": st.one_of(
        st.tuples(PRECISIONS, st.just("step"), st.floats(0.2, 0.9)),
        st.tuples(PRECISIONS, st.just("loss"), st.floats(1.01, 1.5)),
        st.tuples(PRECISIONS, st.sampled_from(["step", "loss"])),
    ),
    "auto_multistream_parallel_mode": st.one_of(
        st.just("cv"),
        st.tuples(st.sampled_from(["LoadBalance", "MainStream"]), st.integers(1, 64)),
    ),
    "in_out_pair": st.tuples(
        st.lists(NAMES, min_size=1, max_size=3), st.lists(NAMES, min_size=1, max_size=3)
    ),
    "dump_layer": st.lists(NAMES, min_size=1, max_size=4),
    "enable_scope_fusion_passes": st.lists(NAMES, min_size=1, max_size=4),
    "optypelist_for_implmode": st.lists(
        st.sampled_from(["Pooling", "SoftmaxV2", "LRN", "ROIAlign"]), min_size=1, max_size=4
    ),
    "optimization_switch": st.dictionaries(NAMES, st.booleans(), min_size=1, max_size=3),
    "profiling_options": st.fixed_dictionaries(
        {"output": st.just("/home/test/output"), "task_trace": st.sampled_from(["on", "off"])}
    ).map(json.dumps),
}


def values(name):
    """Legal values of an option, as users give them."""
    option = OPTIONS[name]
    kind = option.kind
    if name in _STRUCTURED:
        return _STRUCTURED[name]
    if isinstance(kind, Bool):
        return st.booleans()
    if isinstance(kind, Int):
        return (
            st.sampled_from(kind.allowed)
            if kind.allowed
            else st.integers(kind.minimum, kind.maximum)
        )
    if isinstance(kind, Choice):
        return st.sampled_from(kind.values)
    if isinstance(kind, FilePath):
        restricted = st.from_regex(r"(\./|/)[A-Za-z0-9_.\-/]{1,20}", fullmatch=True)
        return PATHS if kind.characters is None else restricted
    assert isinstance(kind, Text), name
    assert kind.pattern is None, name
    return TEXTS


def option_dicts(names=None, max_size=12):
    """Mappings of option name to a legal value; together they may break rules."""

    @st.composite
    def draw_options(draw):
        known = sorted(names or OPTIONS)
        size = draw(st.integers(0, min(max_size, len(known))))
        chosen = random.Random(draw(st.integers(0, 2**32))).sample(known, size)
        return {name: draw(values(name)) for name in chosen}

    return draw_options()


def targets():
    """Targets with any of their parts."""
    return st.builds(
        Target,
        product=st.one_of(st.none(), st.sampled_from(list(Product))),
        mode=st.one_of(st.none(), st.sampled_from(MODES)),
        cann=st.one_of(st.none(), st.sampled_from(["8.5.0", "8.0", "7.0.RC1"])),
    )


def configs(names=None, max_size=12):
    """Valid configurations: what breaks a rule together with the rest is taken out."""

    @st.composite
    def draw_config(draw):
        options = draw(option_dicts(names, max_size))
        target = draw(targets())
        while True:
            try:
                return from_settings(NpuConfig, Settings.of(options), target)
            except NpuConfigError as error:
                wrong = [d.option for d in error.diagnostics.errors if d.option in options]
                for name in wrong or list(options)[-1:]:
                    options.pop(name, None)
                if not wrong and not options:
                    return NpuConfig.from_dict({})

    return draw_config()
