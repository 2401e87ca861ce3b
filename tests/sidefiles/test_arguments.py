"""Models made from friendly arguments, and what is said of wrong ones."""

import pytest

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.target import Target
from npu_config.sidefiles import (
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

FusionSwitch = fusion_switch.FusionSwitch
Mixlist = mixlist.Mixlist
OpPrecision = op_precision.OpPrecision
ProfilingOptions = profiling.ProfilingOptions


def faults(make):
    """The rules and messages of what is raised."""
    with pytest.raises(NpuConfigError) as raised:
        make()
    return [(d.rule, d.message) for d in raised.value.diagnostics if d.severity.value == "error"]


def rules(make):
    """The rules of what is raised."""
    return [rule for rule, _ in faults(make)]


def test_mixlist():
    """Lists by name, moves from one list to another, each name once."""
    model = Mixlist.of(
        black_list=["ReduceSum", "ReduceSum"], white_list=iter(["Pow"]), remove_from_black=["Pow"]
    )
    assert model.black == mixlist.Moves(add=["ReduceSum"], remove=["Pow"])
    assert model == Mixlist(mixlist.Moves(["ReduceSum"], ["Pow"]), mixlist.Moves(["Pow"]))
    assert list(model.moves()) == [
        ("ReduceSum", ("to-add", "black-list")),
        ("Pow", ("to-remove", "black-list")),
        ("Pow", ("to-add", "white-list")),
    ]


def test_mixlist_faults():
    """Every wrong argument is reported at once, without lines, for there are none."""
    found = faults(
        lambda: Mixlist.of(
            black_list=["A", "B"], white_list=["A"], gray_list="B", remove_from_gray=[3]
        )
    )
    assert sorted(rule for rule, _ in found) == ["NPU720", "NPU720", "NPU721"]
    assert any(
        '"A" is added to "black-list" and added to "white-list", which is contradictory' in message
        for _, message in found
    )


def test_legal_moves_are_those_of_the_documentation():
    """The eleven sets of moves that the graph engine allows, and no other."""
    expected = """
        to-remove black
        to-remove white
        to-add gray
        to-add gray + to-remove black
        to-add gray + to-remove white
        to-add white
        to-add white + to-remove gray
        to-add white + to-remove black
        to-add black
        to-add black + to-remove gray
        to-add black + to-remove white
    """
    sets = {
        frozenset(tuple(move.split()) for move in row.split(" + "))
        for row in expected.strip().splitlines()
    }
    legal = {frozenset((m.action, m.list[:-5]) for m in moves) for moves in mixlist.LEGAL_MOVES}
    assert {frozenset(map(tuple, moves)) for moves in sets} == legal


def test_fusion_switch():
    """Bools and texts, the presets of the accuracy workflow, and what holds for a pass."""
    model = FusionSwitch.of({"ALL": "off", "PoolingFusionPass": True}, {"ALL": " on "})
    assert model.graph == {"ALL": False, "PoolingFusionPass": True}
    assert model.state("PoolingFusionPass") is True
    assert model.state("ConvConcatFusionPass") is False
    assert model.state("AnyPass", ub=True) is True
    assert FusionSwitch().state("AnyPass") is None
    assert FusionSwitch(passes={"APass": "off"}).state("APass") is False
    assert FusionSwitch.off() == FusionSwitch.of({"ALL": "off"}, {"ALL": "off"})
    assert FusionSwitch.off(Target("ascend_950")) == FusionSwitch.of({"ALL": "off"})
    assert fusion_switch.check(FusionSwitch.off(), Target("ascend_950")) != ()
    assert fusion_switch.check(FusionSwitch.off(), Target("atlas_a2")) == ()


def test_fusion_switch_priorities():
    """Integers in the range of their level; a pass has one."""
    model = FusionSwitch(graph_priority={"Top": {"APass": 0}}, ub_priority={"Down": {"B": 2999}})
    assert '"Top": {\n        "APass": "0"' in fusion_switch.render(model)
    assert rules(lambda: FusionSwitch(graph_priority={"Top": {"APass": 1000}})) == ["NPU727"]
    assert rules(lambda: FusionSwitch(graph_priority={"Topp": {"APass": 1}})) == ["NPU725"]
    twice = {"Top": {"A": 1}, "Main": {"A": 1000}}
    assert rules(lambda: FusionSwitch(graph_priority=twice)) == ["NPU727"]


def test_fusion_switch_faults():
    """Every wrong switch at once; the two syntaxes do not mix."""
    assert rules(lambda: FusionSwitch.of({"A": "maybe", "B": 1}, {"": True})) == [
        "NPU725", "NPU726",
    ]  # fmt: skip
    assert rules(lambda: FusionSwitch.of(["APass"])) == ["NPU725"]
    assert rules(lambda: FusionSwitch({"A": True}, passes={"A": True})) == ["NPU725"]
    assert rules(lambda: FusionSwitch(passes={"A:B": True, "C": "x"})) == ["NPU725", "NPU726"]


def test_fusion_unclosable():
    """A pass that the user knows to be unclosable is told when it is switched off."""
    model = FusionSwitch.of({"APass": "off", "BPass": "on", "CPass": "off"})
    (found,) = fusion_switch.check(model, unclosable={"APass", "BPass"})
    assert (found.rule, found.message) == (
        "NPU730",
        '"APass" cannot be switched off; the pass stays on',
    )


def test_op_precision():
    """By type and by name."""
    model = OpPrecision.of({"Pooling": "high_performance"}, by_name={"net/a": "high_precision"})
    assert op_precision.render(model) == (
        "[ByOpType]\nPooling=high_performance\n[ByNodeName]\nnet/a=high_precision\n"
    )
    assert OpPrecision.of().by_type == {}


def test_op_precision_faults():
    """What a file would only skip with a warning is an error in an argument."""
    found = rules(lambda: OpPrecision.of({"A": "fast", "#B": "keep_fp16"}, {"a=b": "keep_fp16"}))
    assert found == ["NPU731", "NPU731", "NPU732"]
    assert rules(lambda: OpPrecision.of({"A": 3}, ["x"])) == ["NPU731", "NPU732"]


def test_op_precision_products():
    """float32 execution exists on three products; the other mode on none."""
    model = OpPrecision.of({"A": "enable_float_32_execution"})
    for product in ("ascend_950", "atlas_a3", "atlas_a2"):
        assert op_precision.check(model, Target(product)) == ()
    for product in ("atlas_training", "atlas_inference", "atlas_300i_duo"):
        assert [d.rule for d in op_precision.check(model, Target(product))] == ["NPU734"]
    assert op_precision.check(model) == ()


def test_customize_dtypes():
    """Pairs of lists; any case; the end of a list may be left out."""
    model = customize_dtypes.CustomizeDtypes.of(
        {"net/Relu": (["Float16", ""], [])}, {"AddN": (["", "float"], ["bfloat16"])}
    )
    assert customize_dtypes.render(model) == (
        "net/Relu::InputDtype:float16\nOpType::AddN:InputDtype:,float,OutputDtype:bfloat16\n"
    )


def test_customize_dtypes_faults():
    """Names that a line cannot hold, types that do not exist, lines that are too long."""
    make = customize_dtypes.CustomizeDtypes.of
    assert rules(lambda: make({"a:b": ([], [])})) == ["NPU735"]
    assert rules(lambda: make({"# a": ([], [])})) == ["NPU735"]
    assert rules(lambda: make({"OpType": ([], [])})) == ["NPU735"]
    assert rules(lambda: make({"a": (["bf16"], ["x"])}, {"b": "float"})) == [
        "NPU735", "NPU737", "NPU737",
    ]  # fmt: skip
    assert rules(lambda: make({"a": (["float16"] * 200, [])})) == ["NPU735"]
    assert rules(lambda: make({"a": ("float", [])})) == ["NPU737"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (3, "must be text"),
        ("", "must not be empty"),
        (" a", "must not start or end with whitespace"),
        ("a\nb", "must not contain line breaks"),
        ("a=b", 'must not contain "="'),
        ("; a", "would be read as a comment"),
    ],
)
def test_names_of_lines(name, fault):
    """A name that would not read back is refused, with the reason."""
    ((_, message),) = faults(lambda: OpPrecision.of({name: "keep_fp16"}))
    assert message.endswith(fault)


def test_op_debug():
    """Known switches only, while a file may hold others."""
    model = op_debug.OpDebug.of(["oom"], nodes=["net/a"], types=["MatMul"])
    assert op_debug.render(model) == ("op_debug_config=oom\nop_debug_list=net/a,OpType::MatMul\n")
    assert not model.everywhere
    assert op_debug.OpDebug.of(["oom"]).everywhere
    assert rules(lambda: op_debug.OpDebug.of(["oom", "ccec_O0", "x"], "net", ["a::b"])) == [
        "NPU741", "NPU741", "NPU742", "NPU743",
    ]  # fmt: skip


def test_profiling():
    """Typed arguments: bools, numbers, lists, or the texts of the JSON object."""
    model = ProfilingOptions.of(
        output="/data/prof", training_trace=True, task_time="l1", storage_limit=500,
        sys_hardware_mem_freq=50, host_sys=["cpu", "mem"], hccl=False, dvpp_freq="7",
    )  # fmt: skip
    assert profiling.render(model) == (
        '{"output":"/data/prof","storage_limit":"500MB","training_trace":"on","task_time":"l1",'
        '"hccl":"off","sys_hardware_mem_freq":50,"dvpp_freq":7,"host_sys":"cpu,mem"}'
    )
    assert model == ProfilingOptions.of(**eval(profiling.render(model)))


def test_adapter_default():
    """The text that the adapter takes when the option is absent or empty, to the letter."""
    assert profiling.render(profiling.ADAPTER_DEFAULT) == (
        '{"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on",'
        '"aic_metrics":"PipeUtilization","msproftx":"off"}'
    )
    assert profiling.parse("").model == profiling.ADAPTER_DEFAULT


def test_profiling_faults():
    """Every wrong option at once, unknown ones too."""
    found = faults(
        lambda: ProfilingOptions.of(
            traning_trace=True,
            training_trace=3,
            dvpp_freq=101,
            host_sys=["cpu", "gpu"],
            storage_limit=True,
        )
    )
    assert sorted(rule for rule, _ in found) == ["NPU746", "NPU747", "NPU747", "NPU747", "NPU748"]
    assert rules(lambda: ProfilingOptions.of(training_trace="yes", l2=object(), hccl={})) == [
        "NPU747", "NPU747", "NPU747",
    ]  # fmt: skip


def test_profiling_dynamic_shapes():
    """With dynamic shapes the points of the training trace have to be named."""
    model = ProfilingOptions.of(training_trace=True, fp_point="net/conv", bp_point="")
    assert profiling.check(model) == ()
    (found,) = profiling.check(model, dynamic=True)
    assert (found.rule, "bp_point must be set explicitly" in found.message) == ("NPU752", True)
    assert profiling.check(ProfilingOptions.of(training_trace=False), dynamic=True) == ()


def test_aoe():
    """Features and the mode that they need."""
    model = RawDocument.of(tune_ops_type=["Conv2D"], feature=["deeper_opat"])
    assert aoe.check(model) == ()
    assert aoe.check(model, aoe_mode="2") == ()
    (found,) = aoe.check(model, aoe_mode="1")
    assert (found.rule, found.message) == (
        "NPU757", 'the feature "deeper_opat" requires aoe_mode "2", but aoe_mode is "1"',
    )  # fmt: skip
    assert aoe.check(RawDocument.of(feature=["nonhomo_split"]), aoe_mode="1") == ()


def test_op_cache():
    """Integers in their ranges; a bool is none."""
    assert op_cache.OpCache().max_op_cache_size == 500
    assert rules(lambda: op_cache.OpCache(-2, 101)) == ["NPU759", "NPU759"]
    assert rules(lambda: op_cache.OpCache(True, "50")) == ["NPU759", "NPU759"]


def test_aipp():
    """Fields by name; ints become floats where a field holds floats."""
    op = insert_op.AippOp.of(input_format="RGB888_U8", mean_chn_0=104, var_reci_chn_0=1)
    assert op.fields["var_reci_chn_0"] == 1.0
    assert "  mean_chn_0: 104\n  var_reci_chn_0: 1.0\n" in insert_op.render(
        insert_op.InsertOp([op])
    )
    assert rules(lambda: insert_op.AippOp.of(input_formt="x", mean_chn_0=256)) == [
        "NPU761", "NPU762", "NPU763",
    ]  # fmt: skip
    assert rules(lambda: insert_op.AippOp.of("dynamic", csc_switch=1)) == ["NPU762", "NPU763"]
    assert rules(lambda: insert_op.AippOp.of(input_format="RGB888_U8", mean_chn_0=True)) == [
        "NPU762"
    ]
