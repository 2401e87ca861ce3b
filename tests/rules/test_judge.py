"""The engine: what a case knows, and which rules it runs."""

import pytest

from npu_config.core.diagnostics import Place, Severity
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import Product
from npu_config.rules.case import Case, judge


def case(values, source_kind=SourceKind.FILE, **facts):
    """A case of plain values."""
    entries = {name: Setting(value) for name, value in values.items()}
    return Case(Settings(entries, source_kind, **facts))


def test_effective_values():
    """Known, default, unknown and wrong values are told apart."""
    judged = case({"hccl_timeout": 600, "op_wait_timeout": UNKNOWN, "deterministic": "1"})
    assert judged.effective("hccl_timeout") == 600
    assert judged.effective("iterations_per_loop") == 1
    assert judged.effective("op_wait_timeout") is UNKNOWN
    assert judged.effective("deterministic") is UNKNOWN
    assert judged.effective("dump_path") is None


def test_effective_values_of_open_settings():
    """Where more may be set than could be read, a default is not known to be used."""
    judged = case({"hccl_timeout": 600}, open=True)
    assert judged.effective("iterations_per_loop") is UNKNOWN
    assert not judged.absent("iterations_per_loop")
    assert not judged.never("iterations_per_loop", 10)
    assert not judged.training()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("enable_data_pre_proc", True),
        ("jit_compile", "auto"),
        ("op_compiler_cache_mode", "enable"),
    ],
)
def test_effective_values_of_run_config(name, expected):
    """NPURunConfig writes the defaults of its arguments, and nothing for those that are None."""
    assert expected == case({}, SourceKind.RUN_CONFIG).effective(name)


def test_wrong_values_are_seen_by_no_other_rule():
    """A value of a wrong kind is known to no rule, and reported once."""
    judged = case({"enable_dump": "True", "iterations_per_loop": 10, "nonsense": 1})
    assert judged.known == {"iterations_per_loop": 10}
    assert [fault.rule for fault in judged.faults] == ["wrong-type", "unknown-option"]


def test_products():
    """A case without a product may run on any of them."""
    anywhere = case({})
    assert not anywhere.only_on((Product.ATLAS_A2,))
    assert not anywhere.never_on((Product.ATLAS_A2,))
    on_a2 = Case(Settings({}), Target(product="atlas_a2"))
    assert on_a2.only_on((Product.ATLAS_A2, Product.ATLAS_A3))
    assert on_a2.never_on((Product.ATLAS_TRAINING,))


def test_findings_stand_where_the_option_stands():
    """A finding has the place of its option, or of the whole."""
    here = Place("train.py", 7, 3, 7, 9)
    settings = Settings(
        {"enable_dump": Setting(True, "b", here)},
        SourceKind.SCRIPT,
        place=Place("train.py", 1, 1),
    )
    found = [d for d in judge(settings) if d.severity is Severity.ERROR]
    assert [here] == [diagnostic.place for diagnostic in found]


def test_the_host_is_looked_at_only_when_asked(tmp_path):
    """Neither paths nor variables are looked at without being asked."""
    settings = Settings.of(
        {
            "debug_dir": str(tmp_path / "missing"),
            "static_memory_policy": 2,
        }
    )
    environ = {"GE_USE_STATIC_MEMORY": "2"}
    assert set() == {d.rule for d in judge(settings)}
    assert {"NPU612"} == {d.rule for d in judge(settings, environ=environ)}
    assert {"NPU770"} == {d.rule for d in judge(settings, on_host=True)}
    both = judge(settings, environ=environ, on_host=True)
    assert {"NPU612", "NPU770"} == {d.rule for d in both}
