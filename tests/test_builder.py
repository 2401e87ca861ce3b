"""The typed builder: tasks, options by name, places, every fault at once."""

import inspect
import os
import re
import subprocess
import sys

import pytest

import npu_config as npu
from npu_config.core.settings import Setting
from npu_config.rules import tasks

THIS_FILE = os.path.abspath(__file__)


def build(builder):
    """The options of a builder as they stand on the wire."""
    return builder.build().to_dict()


def test_every_fault_is_reported_at_once_with_its_own_line():
    """One NpuConfigError holds every diagnostic; each points at the call that set the option."""
    builder = npu.NpuConfigBuilder().data_dump("/tmp/dump")
    with pytest.raises(npu.NpuConfigError) as caught:
        (builder.set(dump_mode="ALL", presicion_mode="x").set(iterations_per_loop=0).build())
    found = {(d.option, d.name): d for d in caught.value.diagnostics.errors}
    assert set(found) >= {
        ("dump_mode", "value-not-allowed"),
        ("presicion_mode", "unknown-option"),
        ("iterations_per_loop", "out-of-range"),
    }
    with open(THIS_FILE, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    for diagnostic in found.values():
        assert os.path.abspath(diagnostic.path) == THIS_FILE
        assert "build" in "".join(lines[diagnostic.line - 2 : diagnostic.line + 2])
    text = str(caught.value)
    assert (
        text.startswith("3 errors in the configuration") or "errors in the configuration" in text
    )
    assert all(d.message in text for d in caught.value.diagnostics)


def test_a_task_method_points_at_its_caller():
    """A finding about an option of a task method stands at the line that called the method."""
    builder = npu.NpuConfigBuilder()
    builder.deterministic(True)
    builder.timeouts(hccl=-5)
    with pytest.raises(npu.NpuConfigError) as caught:
        builder.build()
    (diagnostic,) = caught.value.diagnostics.errors
    with open(THIS_FILE, encoding="utf-8") as stream:
        assert "timeouts(hccl=-5)" in stream.read().splitlines()[diagnostic.line - 1]


def test_iteration_offload_sets_what_it_requires():
    """iteration_offload(n) also offloads GetNext."""
    assert build(npu.NpuConfigBuilder().iteration_offload(10)) == {
        "iterations_per_loop": 10,
        "enable_data_pre_proc": True,
    }


def test_dump_steps_are_typed():
    """Steps are numbers and pairs; the wire gets the vendor's text."""
    options = build(npu.NpuConfigBuilder().data_dump("/d", steps=[0, 5, (10, 20)], mode="all"))
    assert options["dump_step"] == "0|5|10-20"
    assert options["enable_dump"] is True
    assert options["dump_mode"] == "all"


def test_precision_picks_the_vocabulary():
    """A word of precision_mode_v2 goes there, any other to precision_mode; the later call wins."""
    assert build(npu.NpuConfigBuilder().precision("origin")) == {"precision_mode_v2": "origin"}
    assert build(npu.NpuConfigBuilder().precision("origin").precision("allow_mix_precision")) == {
        "precision_mode": "allow_mix_precision"
    }


def test_unset_takes_options_away():
    """unset() forgets options; names that were not set are no fault."""
    builder = npu.NpuConfigBuilder().set(deterministic=1, jit_compile="auto")
    assert build(builder.unset("deterministic", "no_such_name")) == {"jit_compile": "auto"}


def test_update_takes_builders_configurations_and_mappings():
    """update() sets what the other one holds."""
    first = npu.NpuConfigBuilder().set(deterministic=1)
    assert build(npu.NpuConfigBuilder().update(first)) == {"deterministic": 1}
    assert build(npu.NpuConfigBuilder().update(first.build())) == {"deterministic": 1}
    assert build(npu.NpuConfigBuilder().update({"deterministic": 0})) == {"deterministic": 0}


def test_a_builder_can_go_on_after_build():
    """A configuration does not change with the builder that made it."""
    builder = npu.NpuConfigBuilder().set(deterministic=1)
    config = builder.build()
    builder.set(deterministic=0)
    assert config.to_dict() == {"deterministic": 1}


def test_strict_refuses_warnings():
    """build(strict=True) raises for a configuration that only has warnings."""
    builder = npu.NpuConfigBuilder().set(dump_step="0")
    assert builder.build().diagnostics.warnings
    with pytest.raises(npu.NpuConfigError):
        builder.build(strict=True)


def test_the_options_stand_in_catalogue_order():
    """The order of calls does not show in the result."""
    one = npu.NpuConfigBuilder().set(jit_compile="auto", deterministic=1).build()
    other = npu.NpuConfigBuilder().set(deterministic=1, jit_compile="auto").build()
    assert list(one.options) == list(other.options)
    assert one == other
    assert hash(one) == hash(other)


def test_target_narrows_the_rules():
    """A value that the target's product does not support is an error only with that target."""
    options = {"precision_mode": "allow_mix_precision_bf16"}
    assert npu.NpuConfigBuilder().update(options).build()
    target = npu.Target(product="atlas_training")
    with pytest.raises(npu.NpuConfigError, match="supported on"):
        npu.NpuConfigBuilder(target).update(options).build()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda b: b.mixed_computing(), {"mix_compile_mode": True}),
        (lambda b: b.deterministic(), {"deterministic": 1}),
        (lambda b: b.data_pre_processing(), {"enable_data_pre_proc": True}),
        (lambda b: b.overflow_detection("/o"), {"enable_dump_debug": True, "dump_path": "/o"}),
        (lambda b: b.profiling(), {"profiling_mode": True}),
        (lambda b: b.aoe("2", "/w"), {"aoe_mode": "2", "work_path": "/w"}),
        (lambda b: b.timeouts(hccl=1800), {"hccl_timeout": 1800}),
        (lambda b: b.memory(static_policy=2), {"static_memory_policy": 2}),
        (lambda b: b.distributed(hcom_parallel=False), {"hcom_parallel": False}),
        (
            lambda b: b.distributed(local_rank_id=0, local_device_list=[0, 1]),
            {"local_rank_id": 0, "local_device_list": "0,1"},
        ),
        (lambda b: b.debugging(exception_dump=1), {"enable_exception_dump": 1}),
        (
            lambda b: b.online_inference(frozen_variable=True),
            {"graph_run_mode": 0, "frozen_variable": True},
        ),
        (
            lambda b: b.online_inference().dynamic_shape({"data": [1, -1]}, [[2], [4]]),
            {
                "graph_run_mode": 0,
                "input_shape": "data:1,-1",
                "dynamic_dims": "2;4",
                "dynamic_node_type": 1,
            },
        ),
    ],
)
def test_task_methods(make, expected):
    """Each task sets the options that the vendor's documentation names for it."""
    assert build(make(npu.NpuConfigBuilder())) == expected


def test_mixed_precision_carries_the_mixlist(tmp_path):
    """The lists become a file that save_side_files writes and the option points to."""
    config = (
        npu.NpuConfigBuilder()
        .mixed_precision("allow_mix_precision", black_list=["ReduceSumD"])
        .build()
    )
    assert config["modify_mixlist"] == "ops_info.json"
    saved = config.save_side_files(tmp_path)
    written = tmp_path / "ops_info.json"
    assert saved["modify_mixlist"] == str(written)
    assert '"ReduceSumD"' in written.read_text()
    assert saved.save_side_files(tmp_path) == saved


def test_a_side_file_at_no_path():
    """What is no path is a finding about the option, as with any other value."""
    with pytest.raises(npu.NpuConfigError) as caught:
        npu.NpuConfigBuilder().op_precision({"Pooling": "high_precision"}, path=3).build()
    assert [d.name for d in caught.value.diagnostics] == ["wrong-type"]


def test_side_files_are_not_overwritten(tmp_path):
    """A file with another content stays as it is, and none of the others is written."""
    (tmp_path / "fusion_off.cfg").write_text("mine")
    config = npu.NpuConfigBuilder().mixed_precision(black_list=["Cast"]).fusion_off().build()
    with pytest.raises(FileExistsError):
        config.save_side_files(tmp_path)
    assert sorted(os.listdir(str(tmp_path))) == ["fusion_off.cfg"]
    assert (tmp_path / "fusion_off.cfg").read_text() == "mine"
    config.save_side_files(tmp_path, overwrite=True)
    assert "off" in (tmp_path / "fusion_off.cfg").read_text()


def test_a_side_file_that_is_not_written_yet_is_a_warning_on_the_host(tmp_path, monkeypatch):
    """On the host, build() reminds of save_side_files; the finished configuration is an error."""
    monkeypatch.chdir(tmp_path)
    config = npu.NpuConfigBuilder().fusion_off().build(on_host=True)
    (reminder,) = [d for d in config.diagnostics if d.option == "fusion_switch_file"]
    assert reminder.severity is npu.Severity.WARNING
    assert "save_side_files" in reminder.help
    report = npu.check(config, on_host=True)
    assert [d.option for d in report.errors] == ["fusion_switch_file"]


def test_setting_options_does_not_touch_the_values():
    """The builder keeps what it was given until build()."""
    builder = npu.NpuConfigBuilder().set(dump_step=[0, 1])
    assert isinstance(builder._entries["dump_step"], Setting)
    assert builder._entries["dump_step"].value == [0, 1]


TASKS = [name for name, _ in inspect.getmembers(npu.NpuConfigBuilder, inspect.isfunction)]
TASKS = [name for name in TASKS if not name.startswith("_")]
PRESETS = [name for name, f in inspect.getmembers(npu.presets, inspect.isfunction)]
PRESETS = [
    n for n in PRESETS if not n.startswith("_") and n != "applied" and n in dir(npu.presets)
]
PRESETS = [n for n in PRESETS if getattr(npu.presets, n).__module__ == npu.presets.__name__]
METHODS = [("NpuConfigBuilder." + name, getattr(npu.NpuConfigBuilder(), name)) for name in TASKS]
METHODS += [("presets." + name, getattr(npu.presets, name)) for name in PRESETS]


def test_the_builder_is_one_class():
    """Its own name is in every error, and a task is written once for builder and presets."""
    assert (npu.NpuConfigBuilder, object) == npu.NpuConfigBuilder.__mro__
    assert set(tasks.TASKS) == set(TASKS) - {"build", "set", "unset", "update"}
    assert set(PRESETS) <= set(tasks.TASKS)


class MyBuilder(npu.NpuConfigBuilder):
    """A builder of a user's."""


def refusal(call, *args, **keywords):
    """The text of the TypeError that a call is refused with."""
    with pytest.raises(TypeError) as caught:
        call(*args, **keywords)
    return str(caught.value)


@pytest.mark.parametrize(("name", "call"), METHODS, ids=[name for name, _ in METHODS])
def test_wrong_arguments_are_told_in_the_users_words(name, call):
    """Every task and preset: the class that the user has, what is wrong, and how to call it."""
    parameters = inspect.signature(call).parameters.values()
    kinds = [parameter.kind for parameter in parameters]
    if name != "NpuConfigBuilder.unset":
        text = refusal(call, *range(20))
        starts = (" takes only these positional arguments: ", " takes only keyword arguments")
        assert text.startswith(tuple(name + each for each in starts))
        assert "; call it as {}(".format(name) in text
    named = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        text = refusal(call, *([1] * len(named)), no_such_argument=1)
        assert text.startswith(name + ' has no argument "no_such_argument"; call it as ' + name)
        for parameter in named:
            wrong = parameter.name[:-1] + "_"
            if len(wrong) > 3:
                text = refusal(call, **{wrong: 1})
                assert 'has no argument "{}" (did you mean "'.format(wrong) in text
    needed = [p.name for p in named if p.default is p.empty]
    if needed:
        text = refusal(call)
        assert text.startswith(
            '{} requires the argument "{}", which is missing; '.format(name, needed[0])
        )


def test_every_fault_of_a_call_is_told_at_once():
    """Too many values, unknown names, a name given twice."""
    text = refusal(npu.NpuConfigBuilder().data_dump, "/d", path="/e", step=0, dump_mode="all")
    assert text == (
        'NpuConfigBuilder.data_dump has no argument "step" (did you mean "steps"?); '
        'NpuConfigBuilder.data_dump has no argument "dump_mode" (options are set by '
        "NpuConfigBuilder().set(dump_mode=...).build()); "
        'NpuConfigBuilder.data_dump gets the argument "path" twice; call it as '
        "NpuConfigBuilder.data_dump(path, steps=None, mode=None, data=None, layers=None)"
    )


@pytest.mark.parametrize(
    ("call", "begin"),
    [
        (
            lambda: npu.NpuConfigBuilder().set("x"),
            "NpuConfigBuilder.set takes only keyword arguments",
        ),
        (lambda: MyBuilder().set("x"), "MyBuilder.set takes only keyword arguments; call it as "),
        (lambda: MyBuilder(taget=1), 'MyBuilder has no argument "taget" (did you mean "target"?)'),
        (
            lambda: npu.NpuConfigBuilder.set(a=1),
            "NpuConfigBuilder.set must be called on an object; ",
        ),
        (
            lambda: npu.NpuConfigBuilder(product="atlas_a2"),
            'NpuConfigBuilder has no argument "product" (write target=npu_config.Target(product=',
        ),
        (
            lambda: npu.NpuConfig(),
            'NpuConfig requires the argument "options", which is missing; call it as Npu',
        ),
        (
            lambda: npu.NpuConfig(hccl_timeout=1800),
            'NpuConfig has no argument "hccl_timeout" (options are set by NpuConfigBuilder().set(',
        ),
        (
            lambda: npu.NpuConfig.load("x", taget=1),
            'NpuConfig.load has no argument "taget" (did y',
        ),
        (
            lambda: npu.NpuConfig({}).save(),
            'NpuConfig.save requires the argument "path", which is missing; ',
        ),
        (lambda: npu.NpuConfig({}).to_pbtxt(1), "NpuConfig.to_pbtxt takes only keyword arg"),
        (lambda: npu.NpuConfig({}).to_dict(x=1), 'NpuConfig.to_dict has no argument "x"; call it'),
        (
            lambda: npu.presets.Preset(),
            'Preset requires the argument "config", which is missing; call it as Pr',
        ),
        (
            lambda: npu.presets.fusion_off().apply(1, 2),
            "Preset.apply takes only these positional arguments: c",
        ),
        (lambda: npu.check({}, tagret=1), 'check has no argument "tagret" (did you mean "target'),
        (lambda: npu.Target(prodct="x"), 'Target has no argument "prodct"; call it as Target(pro'),
    ],
)
def test_calls_of_the_other_classes(call, begin):
    """Constructors, class methods, configurations, presets and functions, and derived classes."""
    assert refusal(call).startswith(begin)


def test_a_type_error_from_within_is_left_alone():
    """What a user's object raises while a method runs is not taken for a wrong call."""

    class Path(os.PathLike):
        def __fspath__(self):
            raise TypeError("of the user")

    assert refusal(npu.NpuConfigBuilder().fusion_off, Path()) == "of the user"


@pytest.mark.parametrize(
    ("get", "help"),
    [
        (lambda: npu.NpuConfigBuilder().dump, 'did you mean "data_dump" or "exception_dump" or '),
        (lambda: npu.NpuConfigBuilder().dump_data, "write set(dump_data=...)"),
        (lambda: npu.NpuConfigBuilder().computing_mix, 'did you mean "mixed_computing"?'),
        (lambda: npu.NpuConfigBuilder().profile, 'did you mean "profiling"?'),
        (lambda: npu.NpuConfigBuilder().mixedPrecision, 'did you mean "mixed_precision"?'),
        (lambda: npu.NpuConfigBuilder().fusion, 'did you mean "fusion_off" or "fusion_switch"?'),
        (lambda: npu.NpuConfigBuilder().dump_path, "write set(dump_path=...)"),
        (lambda: npu.NpuConfigBuilder().hccl_timeot, "write set(hccl_timeout=...)"),
        (lambda: npu.NpuConfigBuilder().to_config_proto, "write build().to_config_proto(...)"),
        (lambda: npu.NpuConfigBuilder().nothing_like_it, "legal: aoe, build, data_dump, "),
        (lambda: npu.NpuConfig({}).deterministic, 'write config["deterministic"]'),
        (
            lambda: npu.NpuConfig({}).iteration_offload,
            "change a configuration with evolve(NAME=VALUE)",
        ),
        (lambda: npu.NpuConfig({}).to_configproto, 'did you mean "to_config_proto"?'),
        (lambda: npu.presets.fusion_off().aply, 'did you mean "apply"?'),
        (lambda: npu.presets.overflow, 'did you mean "overflow_detection"?'),
        (lambda: npu.NpuConfgBuilder, 'did you mean "NpuConfigBuilder"?'),
        (lambda: npu.preset, 'did you mean "presets"?'),
    ],
)
def test_an_unknown_name_says_what_was_meant(get, help):
    """A near name, one that says the word, an option, a method of the other class, or all."""
    with pytest.raises(AttributeError, match="has no attribute .*" + re.escape(help)):
        get()


def test_names_with_an_underscore_are_only_refused():
    """What copy, pickle and notebooks ask for costs no search; hasattr and getattr work."""
    builder = npu.NpuConfigBuilder()
    with pytest.raises(AttributeError, match=r'^NpuConfigBuilder has no attribute "_repr_html_"$'):
        builder._repr_html_  # noqa: B018
    assert not hasattr(builder, "dump")
    assert getattr(builder, "dump", 7) == 7


def test_a_builder_shows_what_is_set():
    """With its target; what is long is cut, and what cannot be shown is not fatal."""

    class Silent:
        def __repr__(self):
            raise ValueError

    builder = npu.NpuConfigBuilder
    assert repr(builder()) == "<NpuConfigBuilder: empty>"
    shown = repr(builder(npu.Target("atlas_a2")).data_dump("/d", steps=[0, (5, 8)]))
    assert shown.startswith("<NpuConfigBuilder for Target(product=")
    assert shown.endswith(": enable_dump=True, dump_path='/d', dump_step=[0, (5, 8)]>")
    assert "dump_path=<Silent>" in repr(builder().set(dump_path=Silent()))
    many = builder().update({"option_{}".format(n) * 30: "x" * 9999 for n in range(5000)})
    assert len(repr(many)) < 600
    assert repr(many).endswith("more>")
    assert "\n" not in repr(builder().set(dump_path="a\nb"))


def test_help_is_imported_when_something_is_wrong():
    """A right program does not pay for the words about wrong calls."""
    code = (
        "import sys, npu_config as npu; npu.NpuConfigBuilder().iteration_offload(10).build();"
        "print('npu_config.catalogue.own_api' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().strip() == "False"
