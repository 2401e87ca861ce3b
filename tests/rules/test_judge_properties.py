"""What holds of every judgement, whatever is judged."""

from hypothesis import example, given
from hypothesis import strategies as st

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import Bool, Choice, Int, InvalidValue
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.settings import UNKNOWN, SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import MODES, Target
from npu_config.core.versions import Product
from npu_config.rules.case import Case, judge

TEXTS = (
    "data:1,-1",
    "1;2",
    "1,2;3,4",
    "0|5-9",
    "0,1",
    "fast|step|0.9",
    "fast1|loss",
    "cv",
    "LoadBalance:8",
    "2|4",
    "pass1:on",
    "Pooling",
    "data:[1~2]",
    "[[['a'], ['b']]]",
    "DNN_VM_AICPU:1",
    '{"output": "x", "training_trace": "on"}',
    "[1]",
    "{",
    "path",
    "",
)


def good(name):
    """Legal values of an option, as a user writes them."""
    kind = OPTIONS[name].kind
    if isinstance(kind, Bool):
        return st.booleans()
    if isinstance(kind, Int):
        if kind.allowed:
            return st.sampled_from(kind.allowed)
        return st.integers(kind.minimum, kind.maximum) | st.sampled_from(
            [n for n in (0, 1, 10, 68, 600) if kind.minimum <= n <= kind.maximum]
        )
    if isinstance(kind, Choice):
        return st.sampled_from(kind.values)
    legal = []
    for text in TEXTS:
        try:
            kind.parse(text)
        except InvalidValue:
            continue
        legal.append(text)
    return st.sampled_from(legal)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from([UNKNOWN, object(), SourceKind.FILE, *TEXTS]),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(list(OPTIONS)) | st.sampled_from(["presicion_mode", "Enable_Dump", ""])
LEGAL_ENTRIES = st.lists(
    st.sampled_from(list(OPTIONS)).flatmap(lambda name: st.tuples(st.just(name), good(name))),
    max_size=12,
).map(lambda pairs: {name: Setting(value) for name, value in pairs})
ENTRIES = st.dictionaries(
    NAMES | st.text(),
    st.builds(
        Setting, JUNK, st.sampled_from([None, "", "b", "i", "s", "f", "type", "list", "func"])
    ),
    max_size=8,
)
TARGETS = st.builds(
    Target, st.sampled_from([None, *Product]), st.sampled_from([None, *MODES]), st.none()
)
ENVIRONMENTS = st.none() | st.dictionaries(
    st.sampled_from(
        [
            "RANK_SIZE",
            "CM_WORKER_SIZE",
            "AOE_MODE",
            "TF_CONFIG",
            "TOTAL_STEP",
            "STEP_NOW",
            "LOSS_NOW",
            "HCCL_EXEC_TIMEOUT",
            "NPU_COLLECT_PATH",
            "TE_PARALLEL_COMPILER",
            "ENABLE_HF32_EXECUTION",
            "GE_USE_STATIC_MEMORY",
            "PROFILING_MODE",
        ]
    ),
    st.text() | st.sampled_from(["8", "2", "0.5", '{"cluster": {"ps": []}}', "[" * 9999]),
)
FACT = st.sampled_from([UNKNOWN, "OFF", "ON", "DEFAULT", "MANUAL", "NO_MEM_OPT", "ON_1"])
SESSIONS = st.none() | st.builds(
    SessionFacts,
    st.lists(st.sampled_from(["NpuOptimizer", "npuoptimizer", "", UNKNOWN]), max_size=3).map(
        tuple
    ),
    FACT,
    FACT,
    FACT,
    st.sampled_from([UNKNOWN, True, False]),
)
EXTRAS = st.dictionaries(
    st.sampled_from(
        [
            "save_checkpoints_steps",
            "save_checkpoints_secs",
            "save_summary_steps",
            "log_step_count_steps",
            "horovod_mode",
            "distribute",
            "dump_config",
            "dump_config.dump_mode",
            "model_dir",
            "estimator.model_dir",
            "protocol",
        ]
    ),
    st.builds(Setting, JUNK),
    max_size=4,
)


def pairs(found):
    """Findings by rule and option."""
    return {(diagnostic.rule, diagnostic.option) for diagnostic in found}


@given(
    entries=ENTRIES | LEGAL_ENTRIES,
    source_kind=st.sampled_from(list(SourceKind)),
    open=st.booleans(),
    session=SESSIONS,
    extra=EXTRAS,
    target=TARGETS,
    environ=ENVIRONMENTS,
    on_host=st.booleans(),
)
def test_judge_never_raises(entries, source_kind, open, session, extra, target, environ, on_host):
    """Arbitrary names, values, fields and surroundings give diagnostics, never an exception."""
    settings = Settings(entries, source_kind, open, session, extra=extra)
    found = judge(settings, target, environ, on_host)
    assert all(isinstance(diagnostic, Diagnostic) for diagnostic in found)
    assert all(str(diagnostic) for diagnostic in found)
    assert not [d for d in found if "cannot be read" in d.message]


@given(entries=LEGAL_ENTRIES, hidden=st.sets(st.sampled_from(list(OPTIONS))), target=TARGETS)
@example({"dump_mode": Setting("output")}, {"dump_mode"}, Target())
@example({"precision_mode": Setting("force_fp16")}, {"precision_mode"}, Target())
def test_unknown_values_make_no_finding(entries, hidden, target):
    """A value that cannot be known adds no finding to those of the known one."""
    partly = {
        name: Setting(UNKNOWN) if name in hidden else setting for name, setting in entries.items()
    }
    known = judge(Settings(entries, SourceKind.SCRIPT), target)
    unknown = judge(Settings(partly, SourceKind.SCRIPT), target)
    assert pairs(unknown) <= pairs(known)


@given(entries=LEGAL_ENTRIES, target=TARGETS)
def test_open_settings_make_no_finding(entries, target):
    """Where more may be set than could be read, nothing is said because something is missing."""
    closed = judge(Settings(entries, SourceKind.SCRIPT), target)
    opened = judge(Settings(entries, SourceKind.SCRIPT, open=True), target)
    assert pairs(opened) <= pairs(closed)


@given(entries=LEGAL_ENTRIES, product=st.sampled_from(list(Product)))
def test_without_a_target_every_product_agrees(entries, product):
    """What is said without a product is said for each product."""
    settings = Settings(entries, SourceKind.FILE)
    assert pairs(judge(settings)) <= pairs(judge(settings, Target(product=product)))


@given(entries=ENTRIES)
def test_a_setting_has_one_fault(entries):
    """A setting that is wrong in itself is reported for that, and by nothing else at its place."""
    case = Case(Settings(entries, SourceKind.FILE))
    faulty = {fault.name for fault in case.faults}
    assert faulty.isdisjoint(case.known)
    found = judge(Settings(entries, SourceKind.FILE))
    own = ("NPU101", "NPU102", "NPU103", "NPU104", "NPU105", "NPU106")
    for name in faulty:
        assert len([d for d in found if d.option == name and d.rule in own]) <= 1
