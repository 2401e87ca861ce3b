"""Strategies for the models of every format."""

from pathlib import Path

from hypothesis import strategies as st

from npu_config.catalogue.kinds import Bool, Choice, Int, Text
from npu_config.sidefiles import (
    FORMATS,
    aoe,
    customize_dtypes,
    fusion_switch,
    insert_op,
    mixlist,
    op_cache,
    op_debug,
    op_precision,
    profiling,
)
from npu_config.sidefiles.format import RawDocument
from npu_config.sidefiles.profiling import EXCLUDED_BY_INSTR, KEYS, AicMetrics, Size, Words
from tests import golden

free_text = st.text(max_size=12)


def line_names(forbidden=""):
    """Names that may stand in a line."""
    return st.text(max_size=12).map(
        lambda text: "".join(c for c in text if c not in forbidden + "\n\r").strip() or "x"
    )


@st.composite
def mixlists(draw):
    """Any legal set of moves."""
    operators = draw(st.lists(free_text, unique=True, max_size=6))
    legal = sorted(sorted(moves) for moves in mixlist.LEGAL_MOVES)
    fields = {(action, name): [] for action in mixlist.ACTIONS for name in mixlist.LISTS}
    for operator in operators:
        for move in draw(st.sampled_from(legal)):
            fields[move].append(operator)
    return mixlist.Mixlist(
        *(
            mixlist.Moves(*(fields[action, name] for action in mixlist.ACTIONS))
            for name in mixlist.LISTS
        )
    )


@st.composite
def fusion_switches(draw):
    """Both syntaxes."""
    names = free_text.map(str.strip).filter(bool)
    if draw(st.booleans()):
        word = st.text(max_size=12).map(
            lambda text: "P" + "".join(c for c in text if not c.isspace() and c not in ":{}\"'")
        )
        passes = draw(st.dictionaries(word, st.booleans()))
        return fusion_switch.FusionSwitch(passes=passes)
    switches = st.dictionaries(names | st.just("ALL"), st.booleans(), max_size=4)
    ranked = draw(st.lists(names, unique=True, max_size=4))
    priorities = [{}, {}]
    for name in ranked:
        level, (low, high) = draw(st.sampled_from(sorted(fusion_switch.LEVELS.items())))
        passes = priorities[draw(st.integers(0, 1))].setdefault(level, {})
        passes[name] = draw(st.integers(low, high))
    return fusion_switch.FusionSwitch(
        draw(switches), draw(switches), *priorities, draw(st.lists(free_text, max_size=3))
    )


def op_precisions():
    """Modes by type and by name."""
    names = line_names("=").map(lambda name: name.lstrip("#;/ \t") or "x").map(str.strip)
    modes = st.dictionaries(names.filter(bool), st.sampled_from(op_precision.MODES), max_size=4)
    return st.builds(op_precision.OpPrecision, modes, modes)


def custom_dtypes():
    """Data types by name and by type."""
    names = line_names(":").map(lambda name: name.lstrip("#").strip() or "x")
    side = st.lists(st.sampled_from(("", *customize_dtypes.DTYPES)), max_size=4)
    entries = st.dictionaries(names, st.builds(customize_dtypes.Dtypes, side, side), max_size=4)
    return st.builds(customize_dtypes.CustomizeDtypes, entries, entries)


def op_debugs():
    """Switches, also unknown ones, with or without a list of operators."""
    names = line_names(",").map(lambda name: name.replace(":", "").strip() or "x")
    switches = st.sampled_from(sorted(op_debug.SWITCHES)) | names
    return st.builds(
        op_debug.OpDebug,
        st.lists(switches, max_size=4),
        st.lists(names, max_size=3),
        st.lists(names, max_size=3),
    )


def profile_value(name):
    """Any legal value of one profiling option."""
    kind = KEYS[name].kind
    if name == "output":
        return st.text("abc/.-_ \u00e9", min_size=1, max_size=9)
    if isinstance(kind, Words):
        return st.lists(st.sampled_from(kind.values), min_size=1, unique=True)
    if isinstance(kind, AicMetrics):
        registers = st.lists(st.integers(1, 0x6E).map(hex), min_size=1, max_size=8)
        custom = registers.map(lambda numbers: "Custom:" + ",".join(numbers))
        return st.sampled_from(kind.values) | custom
    if isinstance(kind, Choice):
        switch = [True, False] if "on" in kind.values else []
        return st.sampled_from([*kind.values, *switch])
    if isinstance(kind, Int):
        return st.integers(kind.minimum, kind.maximum)
    if isinstance(kind, Size):
        return st.integers(kind.least, kind.most)
    return free_text


@st.composite
def profiling_options(draw):
    """Any legal options."""
    chosen = draw(st.lists(st.sampled_from(sorted(KEYS)), unique=True))
    if "instr_profiling_freq" in chosen:
        chosen = [name for name in chosen if name not in EXCLUDED_BY_INSTR]
    return profiling.ProfilingOptions.of(**{name: draw(profile_value(name)) for name in chosen})


def contents(**keys):
    """Objects with some of these keys."""
    return st.fixed_dictionaries({}, optional=keys).map(lambda value: RawDocument.of(**value))


def aoe_configs():
    """Any legal configuration."""
    names = st.lists(free_text.filter(bool), max_size=3)
    return contents(
        tune_ops_name=names,
        tune_ops_type=names,
        tune_optimization_level=st.sampled_from(aoe.LEVELS),
        feature=st.sampled_from(sorted(aoe.FEATURES)).map(lambda name: [name]),
    )


def op_caches():
    """Any legal limits."""
    return st.builds(op_cache.OpCache, st.integers(-1, 10**15), st.integers(1, 100))


def aipp_value(kind):
    """Any legal value of a field of AIPP."""
    if isinstance(kind, Choice):
        return st.sampled_from(kind.values)
    if isinstance(kind, Bool):
        return st.booleans()
    if isinstance(kind, Text):
        return free_text.map(lambda text: text.replace("\0", ""))
    if isinstance(kind, Int):
        return st.integers(kind.minimum, min(kind.maximum, 2**31))
    return st.floats(kind.minimum, kind.maximum)


@st.composite
def aipp_ops(draw):
    """A block without geometry, which is checked by examples."""
    geometry = ("crop", "padding", "src_image_size_w", "src_image_size_h", "input_format")
    names = [name for name in insert_op.FIELDS if name not in (*geometry, "aipp_mode")]
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=8))
    fields = {name: draw(aipp_value(insert_op.FIELDS[name])) for name in chosen}
    if draw(st.booleans()):
        return insert_op.AippOp.of("static", input_format="RGB888_U8", **fields)
    fields["max_src_image_size"] = draw(st.integers(1, 2**31))
    return insert_op.AippOp.of("dynamic", **fields)


def whitelists():
    """Any addresses."""
    addresses = st.lists(st.ip_addresses(v=4).map(str), max_size=4)
    return contents(host_ip=addresses, device_ip=addresses)


def job_starts():
    """Any legal job, with keys that nobody knows."""
    return st.builds(
        lambda index, path, size, more: RawDocument.of(
            **more, device_info={"Index": index}, rank_table_file=path, rank_size=size
        ),
        st.integers(0, 2**31),
        free_text,
        st.integers(1, 2**31),
        st.dictionaries(st.sampled_from(["x", "y", "local_checkpoint_dir"]), free_text),
    )


CASES = Path(__file__).parent / "cases"


def examples(name):
    """The models of the right cases of a format."""
    parsed = [
        FORMATS[name].parse(golden.text_of(path))
        for path in golden.inputs(CASES, "ok")
        if path.parent.name == name
    ]
    found = [each.model for each in parsed if each.model is not None]
    assert found, "add a right file to tests/sidefiles/cases/ok/{}/".format(name)
    return found


def models(name):
    """Models of a format: those of its strategy, else those of its right cases."""
    return MODELS[name] if name in MODELS else st.sampled_from(examples(name))


MODELS = {
    "mixlist": mixlists(),
    "fusion_switch": fusion_switches(),
    "op_precision": op_precisions(),
    "customize_dtypes": custom_dtypes(),
    "op_debug": op_debugs(),
    "profiling": profiling_options(),
    "aoe": aoe_configs(),
    "op_cache": op_caches(),
    "insert_op": st.lists(aipp_ops(), min_size=1, max_size=3).map(insert_op.InsertOp),
    "hccl_whitelist": whitelists(),
    "job_start": job_starts(),
}
