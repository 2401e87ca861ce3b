"""Configuration files that extend others: the settings of all of them, each at its own place."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import npu_config as npu
from npu_config.catalogue import OPTIONS
from npu_config.catalogue.layout import grouped
from npu_config.readers import read
from npu_config.rules.overrides import REMOVE
from tests import golden
from tests.strategies import option_dicts

FLAT = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=golden.tries(60)
)
NAMES = [name for name, option in OPTIONS.items() if option.kind.wire in ("b", "i")][:8]


def write(folder, **texts):
    """Files of a folder: name with ``_`` for the dot, to its lines."""
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text("version: 1\n" + text if path.suffix == ".yaml" else text)


def found(path):
    """Rule, name of the file and line of everything that is wrong."""
    base = str(path.parent)
    return [
        (each.rule, each.path[len(base) + 1 :], each.line)
        for each in npu.check(path)
        if each.severity is not npu.Severity.INFO
    ]


def values(path):
    """Option to value, as they are read."""
    return {name: each.value for name, each in read(path).settings[0].entries.items()}


def test_later_files_and_the_file_itself_win(tmp_path):
    """Groups merge option by option; every value has the place where it is written."""
    write(
        tmp_path,
        a_yaml="dump:\n  enable_dump: true\n  dump_path: /a\nhccl_timeout: 5\n",
        b_toml='version = 1\nhccl_timeout = 6\n[dump]\ndump_step = "0"\n',
        c_json='{"version": 1, "extends": ["a.yaml", "b.toml"], "dump": {"dump_path": "/c"}}',
    )
    entries = read(tmp_path / "c.json").settings[0].entries
    assert {
        name: (each.value, each.place.path[len(str(tmp_path)) + 1 :], each.place.line)
        for name, each in entries.items()
    } == {
        "enable_dump": (True, "a.yaml", 3),
        "dump_path": ("/c", "c.json", 1),
        "hccl_timeout": (6, "b.toml", 2),
        "dump_step": ("0", "b.toml", 4),
    }


def test_null_takes_an_option_away(tmp_path):
    """Also in a base, where it takes away what is below; in a file without layers it is none."""
    write(
        tmp_path,
        a_yaml="enable_dump: true\ndump_path: /a\nhccl_timeout: 5\n",
        b_yaml="dump:\n  enable_dump: null\n  dump_path:\n",
        c_yaml="extends: [a.yaml, b.yaml]\nhccl_timeout: null\nop_wait_timeout: 9\n",
    )
    assert values(tmp_path / "c.yaml") == {"op_wait_timeout": 9}
    assert found(tmp_path / "b.yaml") == [("NPU706", "b.yaml", 3), ("NPU706", "b.yaml", 4)]


def test_targets_merge_part_by_part(tmp_path):
    """The product of one file and the version of another."""
    write(
        tmp_path,
        a_yaml='target:\n  product: atlas_a2\n  cann: "8.0.0"\n',
        b_yaml='extends: a.yaml\ntarget:\n  cann: "9.0.0"\n',
    )
    assert read(tmp_path / "b.yaml").target == npu.Target("atlas_a2", cann="9.0.0")


def test_findings_name_the_file_that_set_the_value(tmp_path):
    """Faults of a base are said where they are; two layers that exclude each other name both."""
    write(
        tmp_path,
        base_yaml="precision_mode: allow_mix_precision\nhcl_timeout: 5\ndump:\n",
        job_yaml="extends: base.yaml\nprecision_mode_v2: mixed_float16\n",
    )
    assert found(tmp_path / "job.yaml") == [
        ("NPU201", "base.yaml", 2),
        ("NPU101", "base.yaml", 3),
    ]
    both = next(d for d in npu.check(tmp_path / "job.yaml") if d.rule == "NPU201")
    assert both.help.endswith('"precision_mode_v2" is set at {}:3'.format(tmp_path / "job.yaml"))


def test_two_bases_that_disagree(tmp_path):
    """The later one wins, and a note names both places; the file itself may decide."""
    write(
        tmp_path,
        a_yaml="hccl_timeout: 5\n",
        b_yaml="hccl_timeout: 6\n",
        c_yaml="extends:\n  - a.yaml\n  - b.yaml\n",
        d_yaml="extends: [a.yaml, b.yaml]\nhccl_timeout: 7\n",
    )
    (note,) = npu.check(tmp_path / "c.yaml")
    assert (note.rule, note.line, note.option) == ("NPU7062", 4, "hccl_timeout")
    assert "a.yaml:2" in note.message
    assert "b.yaml:2" in note.message
    assert list(npu.check(tmp_path / "d.yaml")) == []


@pytest.mark.parametrize(
    ("extends", "where", "words"),
    [
        ("nope.yaml", "job.yaml", "does not exist"),
        ("train.py", "job.yaml", "is a training script"),
        ("config.pbtxt", "job.yaml", "is a ConfigProto"),
        ("ops_info.json", "job.yaml", "is not a configuration"),
        (".", "job.yaml", "this is a directory"),
        ("job.yaml", "job.yaml", "extends itself"),
        ("circle.yaml", "circle.yaml", "extends this file, directly or through"),
        ("5", "job.yaml", "got the integer 5"),
        ("[7]", "job.yaml", "got the integer 7"),
        ("", "job.yaml", "got nothing"),
    ],
)
def test_what_cannot_be_extended(tmp_path, extends, where, words):
    """One error at its place; the options of the file itself are judged all the same."""
    write(
        tmp_path,
        job_yaml="extends: {}\niterations_per_loop: 0\n".format(extends),
        circle_yaml="extends: job.yaml\n",
        train_py="import tensorflow as tf\n",
        config_pbtxt="graph_options {}\n",
    )
    (tmp_path / "ops_info.json").write_text('{"black-list": {"to-add": ["ReduceSum"]}}')
    errors = npu.check(tmp_path / "job.yaml").errors
    refused = next(each for each in errors if each.rule == "NPU7061")
    assert (refused.path, refused.line) == (str(tmp_path / where), 2)
    assert words in refused.message
    assert sorted(each.rule for each in errors) == ["NPU105", "NPU7061"]


def test_deep_layers_end(tmp_path):
    """So many files are not followed."""
    for index in range(50):
        write(tmp_path, **{"f{}_yaml".format(index): "extends: f{}.yaml\n".format(index + 1)})
    write(tmp_path, f50_yaml="hccl_timeout: 5\n")
    (refused,) = npu.check(tmp_path / "f0.yaml")
    assert (refused.rule, "more than 32 files" in refused.message) == ("NPU7061", True)


def test_each_file_is_read_once(tmp_path, monkeypatch):
    """Also where many extend the same one."""
    from npu_config import readers

    write(tmp_path, f0_yaml="hccl_timeout: 5\n")
    for index in range(20):
        base = "f{}.yaml".format(index)
        text = "extends: [{}, {}]\n".format(base, base)
        write(tmp_path, **{"f{}_yaml".format(index + 1): text})
    seen = []
    alone = readers._alone
    monkeypatch.setattr(readers, "_alone", lambda name, *rest: seen.append(name) or alone(name))
    assert values(tmp_path / "f20.yaml") == {"hccl_timeout": 5}
    assert len(seen) == 21


def document(options, extends=()):
    """A JSON file of options, in groups, with None for those that are taken away."""
    root = {"version": 1, **({"extends": list(extends)} if extends else {})}
    for group, names in grouped(tuple(options)):
        root[group.key] = {name: options[name] for name in names}
    return json.dumps(root)


@st.composite
def layers(draw):
    """Some layers of options, None among the values, with few names so that they meet."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        options = dict(draw(option_dicts(NAMES, 5)))
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
            options[name] = None
        made.append(options)
    return made


def test_layers_are_one_file_on_the_other(tmp_path):
    """Whatever the layers are, what is read is what a dict of the dicts holds."""

    @FLAT
    @given(layers(), st.booleans())
    def check(made, chain):
        expected = {}
        for index, options in enumerate(made):
            below = ["f{}.json".format(index - 1)] if chain and index else []
            text = document(options, below or (["nothing.json"] if chain else []))
            (tmp_path / "f{}.json".format(index)).write_text(text)
            expected.update(options)
        (tmp_path / "nothing.json").write_text('{"version": 1}')
        names = ["f{}.json".format(index) for index in range(len(made))]
        job = names[-1] if chain else "job.json"
        if not chain:
            (tmp_path / job).write_text(document({}, names))
        kept = {name: value for name, value in expected.items() if value is not None}
        assert values(tmp_path / job) == kept

    check()


def test_overrides_are_an_edited_file(tmp_path):
    """A value of the command line is what the file would say, whatever the option."""

    @FLAT
    @given(option_dicts(max_size=4), option_dicts(max_size=4), st.booleans())
    def check(options, changes, removes):
        written = {
            n: OPTIONS[n].kind.to_wire(OPTIONS[n].kind.parse(v)) for n, v in options.items()
        }
        new = {n: OPTIONS[n].kind.to_wire(OPTIONS[n].kind.parse(v)) for n, v in changes.items()}
        new = {n: v for n, v in new.items() if v != REMOVE}
        taken = list(options)[:1] if removes else []
        overrides = [
            "{}={}".format(n, json.dumps(v) if isinstance(v, bool) else v) for n, v in new.items()
        ] + [name + "=null" for name in taken if name not in new]
        edited = {**written, **new}
        for name in taken:
            if name not in new:
                del edited[name]
        (tmp_path / "a.json").write_text(document(written))
        (tmp_path / "b.json").write_text(document(edited))
        outcomes = []
        for path, given_overrides in ((tmp_path / "a.json", overrides), (tmp_path / "b.json", ())):
            try:
                outcomes.append(npu.NpuConfig.load(path, overrides=given_overrides))
            except npu.NpuConfigError as error:
                outcomes.append(sorted((d.rule, d.option or "") for d in error.diagnostics))
        assert outcomes[0] == outcomes[1]

    check()


def test_a_structured_option_takes_its_text_or_json(tmp_path):
    """Lists and mappings as JSON, where the option takes no such text."""
    write(tmp_path, a_yaml="enable_dump: true\ndump_path: /a\n")
    for text, steps in (("0|5-9", (0, (5, 9))), ("[0, [5, 9]]", (0, (5, 9))), ("7", (7,))):
        config = npu.NpuConfig.load(tmp_path / "a.yaml", overrides=["dump_step=" + text])
        assert config["dump_step"] == steps
    with pytest.raises(npu.NpuConfigError) as caught:
        npu.NpuConfig.load(tmp_path / "a.yaml", overrides=["dump_step=[5", "dump_mode=x"])
    assert [d.rule for d in caught.value.diagnostics.errors] == ["NPU104", "NPU106"]
    assert {d.path for d in caught.value.diagnostics.errors} == {"<--set>"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "is neither NAME=VALUE nor an option"),
        ("=b", 'has no name before the "="'),
        ("hccl_timeout", '"hccl_timeout" has no value; legal: an integer'),
        ("hcl_timeout=5", 'did you mean "hccl_timeout"?'),
        ("nothing_like_it=5", "is not an option"),
        ("dump.hccl_timeout=5", "is not an option"),
    ],
)
def test_overrides_that_are_none(tmp_path, text, words):
    """All of them are said, with what was meant."""
    write(tmp_path, a_yaml="")
    with pytest.raises(npu.NpuConfigError) as caught:
        npu.NpuConfig.load(tmp_path / "a.yaml", overrides=[text, "timeouts.hccl_timeout=5"])
    assert words in str(caught.value)
    assert [d.rule for d in caught.value.diagnostics] == ["NPU1161"]
