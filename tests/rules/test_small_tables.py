"""Small decisions as tables: versions, origins, layers, names of arguments, files around."""

import os
from dataclasses import replace

import pytest

from npu_config.catalogue import OPTIONS
from npu_config.core.diagnostics import REGISTRY, Place, Severity
from npu_config.core.settings import UNKNOWN, SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import INDEX
from npu_config.rules import contents
from npu_config.rules.case import Case, _about, _subjects, judge, line_of, writing
from npu_config.rules.compatibility import NOT_READ, READ, OptionUse, oldest
from npu_config.rules.names import _forms, _is_legal_as_text
from npu_config.rules.origin import KINDS, Origin, origin_of
from npu_config.rules.overrides import Override
from npu_config.rules.own_names import help_for_keyword, hint_for_keyword
from npu_config.rules.paths import _paths
from npu_config.rules.reading import ALONE, Around, Reading, with_other_layers
from npu_config.rules.unwritten import is_there
from npu_config.rules.value import _canonical, _pending
from npu_config.text.rules import json_syntax
from npu_config.text.source import unsaved
from tests.rules.rule_cases_in_code import around

VERSIONS = sorted(INDEX, key=INDEX.__getitem__)


@pytest.mark.parametrize("number", range(1, len(VERSIONS) - 1))
def test_since_an_adapter(number):
    """The adapter itself and those after it; an unknown one may be any and is not older."""
    made = Case(Settings({}), Target(adapter=VERSIONS[number]))
    known = [made.since(each) for each in VERSIONS]
    assert known == [True] * (number + 1) + [False] * (len(VERSIONS) - number - 1)
    assert all(Case(Settings({})).since(each) for each in VERSIONS)


@pytest.mark.parametrize(
    ("verdicts", "version"),
    [
        ([], 4),
        (["r r r"], 4),
        (["- r r"], 6),
        (["- r r", "r - r"], 9),
        (["- r r", "r - -"], None),
        (["r r -", "- - r"], None),
        (["x x x"], 4),
        (["x x x", "- r r"], 6),
    ],
)
def test_the_oldest_version(verdicts, version):
    """The first that reads everything; what nothing reads does not count."""
    words = {"r": READ, "-": NOT_READ, "x": NOT_READ}
    found = [
        OptionUse("a", Place(), tuple(map(words.get, each.split())), "x" not in each)
        for each in verdicts
    ]
    assert version == oldest(found, (4, 6, 9))


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_origins(kind):
    """The place, what set it there, or else what it is."""
    bare, placed, by, both = (
        str(Origin(kind, *where, by=what))
        for what in (None, "XYZ")
        for where in ((), ("a.yaml", 3))
    )
    has_place = kind not in ("set", "adapter")
    has_by = kind != "extends"
    assert bare
    assert (placed.startswith("a.yaml:3"), both.startswith("a.yaml:3")) == (has_place,) * 2
    assert ("XYZ" in by, "XYZ" in both) == (has_by,) * 2
    assert (placed == "a.yaml:3") is (has_place and has_by)
    assert ("a.yaml" in bare + by, "XYZ" in bare + placed) == (False, False)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"kind": "file", "path": "a", "line": 3, "by": "x"}, ("file", "a", 3, "x")),
        ({"kind": "other", "path": 1, "line": "3", "by": 2}, ("record", None, None, None)),
        ({"kind": "set", "line": True}, ("set", None, None, None)),
        ({}, ("record", None, None, None)),
    ],
)
def test_origins_of_json(found, expected):
    """What is of another type is left out."""
    assert Origin(*expected) == Origin.of(found)


HERE, THERE = Place("a.yaml", 3), Place("b.yaml", 4)


@pytest.mark.parametrize(
    ("setting", "source", "expected"),
    [
        (Setting(1, place=HERE), SourceKind.FILE, ("file", "a.yaml", 3, None)),
        (Setting(1, place=THERE), SourceKind.FILE, ("extends", "b.yaml", 4, None)),
        (Setting(1, place=THERE), SourceKind.SCRIPT, ("script", "b.yaml", 4, None)),
        (Setting(1, place=THERE), SourceKind.BUILDER, ("builder", "b.yaml", 4, None)),
        (Setting(1, place=HERE), SourceKind.RUN_CONFIG, ("script", "a.yaml", 3, "NPURunConfig")),
        (Setting(1, place=HERE, by="x"), SourceKind.RUN_CONFIG, ("script", "a.yaml", 3, "x")),
        (Setting(1, place=HERE, is_implied=True), SourceKind.FILE, ("implied", "a.yaml", 3, None)),
        (Setting(1, place=HERE, origin=("default", "c")), SourceKind.FILE,
         ("default", "c", None, None)),
    ],
)  # fmt: skip
def test_where_a_value_comes_from(setting, source, expected):
    """By the input, by the file within it, and by what set it."""
    settings = Settings({"a": setting}, source, place=Place("a.yaml", 1))
    assert Origin(*expected) == origin_of(setting, settings)
    bare = Settings({"a": Setting(1)}, SourceKind.PROTO)
    assert origin_of(bare.entries["a"], bare) == Origin("script", by="ConfigProto")


LAYERED = REGISTRY["NPU301"]


@pytest.mark.parametrize(
    ("others", "option", "help", "expected"),
    [
        ({}, "dump_path", "do", "do"),
        ({"enable_dump": THERE}, "dump_path", "do", 'do; "enable_dump" is set at b.yaml:4'),
        ({"enable_dump": THERE}, "dump_path", None, '"enable_dump" is set at b.yaml:4'),
        ({"enable_dump": HERE}, "dump_path", "do", "do"),
        ({"enable_dump": Place()}, "dump_path", "do", "do"),
        ({"enable_dump": THERE}, "enable_dump", "do", "do"),
        ({"enable_dump": THERE}, None, "do", "do"),
        ({"op_debug_level": THERE}, "dump_path", "do", "do"),
    ],
)
def test_options_of_other_layers(others, option, help, expected):
    """The help names the other options of the rule that stand in another file."""
    assert "enable_dump" in LAYERED.named
    found = LAYERED.diagnostic("x", HERE, option, help)
    settings = Settings({name: Setting(True, place=place) for name, place in others.items()})
    assert with_other_layers(found, settings).help == expected


def test_layers_are_named_only_where_there_are_some():
    """A file alone has no other places to name."""
    entries = {"enable_dump": Setting(True, place=HERE), "dump_mode": Setting("all", place=THERE)}
    settings = Settings(entries, SourceKind.FILE, place=Place("a.yaml", 1))
    alone = Reading("yaml", "a.yaml", (settings,))
    both = Reading("yaml", "a.yaml", (settings,), layers=("b.yaml",))
    judged = (
        alone.judge(),
        both.judge(),
        alone.judge(Around(overrides=(Override("a", 1, "a=1"),))),
    )
    helps = [" ".join(each.help or "" for each in found) for found in judged]
    assert ["is set at" in text for text in helps] == [False, True, True]
    assert (ALONE.on_host, ALONE.environ, Around().overrides) == (False, None, ())


@pytest.mark.parametrize(
    ("keyword", "names", "meant", "is_option"),
    [
        ("targett", ("target",), "target", False),
        ("product", ("target",), None, False),
        ("product", ("other",), None, False),
        ("dump_path", ("other",), None, True),
        ("dump_pathh", ("other",), None, True),
        ("zzzz", ("other",), None, False),
        ("zzzz", (), None, False),
    ],
)
def test_keywords_that_a_call_does_not_take(keyword, names, meant, is_option):
    """The argument that was meant, a part of the target, an option, or nothing."""
    found = hint_for_keyword(keyword, names)
    assert (meant, is_option) == (found[0], found[2])
    text = help_for_keyword(keyword, names)
    if meant is not None:
        assert '"{}"'.format(meant) in text
    elif is_option:
        assert "set(dump_path=" in text
    elif names == ("target",):
        assert "Target({}=".format(keyword) in text
    else:
        assert text is None


def test_files_that_are_there(tmp_path, monkeypatch):
    """In the directory of the process, or in that of the script; a link to nothing is there."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a").touch()
    (tmp_path / "link").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    there = [("sub/a", ""), ("a", "sub"), ("link", "")]
    gone = [("a", ""), ("b", "sub"), ("a\0", ""), ("a\0", "sub")]
    assert [is_there(*each) for each in there + gone] == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    ("rule", "option", "exists", "waits"),
    [
        ("NPU701", "modify_mixlist", False, False),
        ("NPU770", "modify_mixlist", False, True),
        ("NPU770", "modify_mixlist", True, False),
        ("NPU770", "other", False, False),
        ("NPU770", None, False, False),
        ("NPU101", "modify_mixlist", False, False),
    ],
)
def test_a_file_that_is_not_written_yet(tmp_path, rule, option, exists, waits):
    """What only lacks a file that the builder carries is a warning until it is saved."""
    from npu_config.rules.paths import MISSING_FILE_RULES

    assert "NPU770" in MISSING_FILE_RULES
    path = tmp_path / "ops.json"
    if exists:
        path.touch()
    found = REGISTRY[rule].diagnostic("x", Place(), option)
    files = {"modify_mixlist": type("File", (), {"path": str(path)})}
    after = _pending(found, files)
    assert (after != found) is waits
    if waits:
        assert after.severity is Severity.WARNING
        assert "save_side_files" in after.help


@pytest.mark.parametrize(
    ("content", "is_read"),
    [("", False), ("{}", True), ("x" * contents.LARGEST_FILE, True),
     ("x" * (contents.LARGEST_FILE + 1), False)],
    ids=["empty", "short", "largest", "larger"],
)  # fmt: skip
def test_which_files_are_read(tmp_path, monkeypatch, content, is_read):
    """Regular files with content up to the largest size; one that an editor has is not kept."""
    loads = []
    monkeypatch.setattr(contents, "_load", lambda name, path, target: loads.append(path) or 5)
    path = tmp_path / "ops.json"
    path.write_text(content)
    target = Target()
    found = [contents._parsed("modify_mixlist", str(path), target) for _ in "ab"]
    assert (found, len(loads)) == ([5, 5] if is_read else [None, None], int(is_read))
    with unsaved({str(path): "{ }"}):
        for _ in "ab":
            contents._parsed("modify_mixlist", str(path), target)
    assert len(loads) == (3 if is_read else 0)
    for other in (tmp_path, tmp_path / "missing", tmp_path / "a\0"):
        assert contents._parsed("modify_mixlist", str(other), target) is None


@pytest.mark.parametrize(
    ("options", "looked_at"),
    [
        ({}, set()),
        ({"aoe_mode": "1"}, {"work_path"}),
        ({"aoe_mode": "1", "work_path": "w"}, {"work_path"}),
        ({"work_path": "w"}, set()),
        ({"aoe_mode": "1", "work_path": UNKNOWN}, set()),
        ({"dump_path": "d"}, set()),
        ({"dump_path": "d", "enable_dump": True}, {"dump_path"}),
        ({"dump_path": "d", "enable_dump_debug": True}, {"dump_path"}),
        ({"debug_dir": "d"}, {"debug_dir"}),
        ({"debug_dir": "", "enable_dump": True}, set()),
    ],
)
def test_which_paths_are_looked_at(options, looked_at):
    """Those that the runtime opens; only the work path of a tuning has a default."""
    settings = Settings({name: Setting(value) for name, value in options.items()})
    found = list(_paths(Case(settings, on_host=True)))
    assert looked_at == {each.name for each in found}
    assert list(_paths(Case(settings))) == []
    default = OPTIONS["work_path"].default
    assert [each.path for each in found if options.get(each.name) is None] == (
        [default] if looked_at == {"work_path"} and "work_path" not in options else []
    )
    assert os.sep not in str(default) or default


@pytest.mark.parametrize(
    ("option", "value", "wire", "forms"),
    [
        ("enable_dump", "1", "s", ["1", True]),
        ("enable_dump", "0", "s", ["0", False]),
        ("enable_dump", 0, "i", [0, False]),
        ("enable_dump", 2, "i", [2]),
        ("enable_dump", " True ", "s", [" True ", True]),
        ("enable_dump", "x", "s", ["x"]),
        ("enable_dump", UNKNOWN, "s", []),
        ("enable_dump", True, None, []),
        ("iterations_per_loop", "7", "s", ["7", 7]),
        ("iterations_per_loop", "x", "s", ["x"]),
        ("graph_run_mode", True, "b", [True, 1]),
        ("iterations_per_loop", True, "b", [True]),
        ("jit_compile", False, "b", [False, "false"]),
        ("aoe_mode", 2, "i", [2, "2"]),
        ("dump_path", 2, "i", [2]),
        ("dump_path", True, "b", [True]),
    ],
)
def test_forms_of_a_value(option, value, wire, forms):
    """As it is, and as what it says in the field that the option is read from."""
    assert repr(forms) == repr(list(_forms(OPTIONS[option], Setting(value, wire))))


@pytest.mark.parametrize(
    ("option", "value", "legal"),
    [
        ("aoe_mode", 1, True),
        ("aoe_mode", 9, False),
        ("jit_compile", True, True),
        ("precision_mode", True, False),
        ("iterations_per_loop", 0, True),
        ("aoe_mode", "9", True),
    ],
)
def test_values_in_quotes(option, value, legal):
    """Quotes are advised only where the value is legal in them."""
    assert _is_legal_as_text(OPTIONS[option], value) is legal


@pytest.mark.parametrize(
    ("target", "source", "more", "expected"),
    [
        ({}, SourceKind.FILE, {}, ()),
        ({"cann": "1.0"}, SourceKind.FILE, {}, ("version",)),
        ({"cann": "5.0.2"}, SourceKind.FILE, {}, ()),
        ({"cann": "99.0.0"}, SourceKind.FILE, {}, ("version",)),
        ({"adapter": VERSIONS[0]}, SourceKind.FILE, {}, ()),
        ({"product": "atlas_a2"}, SourceKind.FILE, {}, ("target",)),
        ({"mode": "training"}, SourceKind.FILE, {}, ("target",)),
        ({}, SourceKind.RUN_CONFIG, {}, ("run_config",)),
        ({}, SourceKind.SCRIPT, {"extra": {"a": Setting(1)}}, ("run_config",)),
        ({}, SourceKind.PROTO, {"session": SessionFacts()}, ("session",)),
        ({}, SourceKind.FILE, {"entries": {"a": Setting(1), "b": Setting(1)}},
         ("unknown-option",)),
    ],
)  # fmt: skip
def test_what_there_is_to_judge(target, source, more, expected):
    """Rules about versions run for those before and behind all that are known, and so on."""
    settings = Settings(**{"entries": {}, "source_kind": source, **more})
    assert ("options", *expected) == _about(Case(settings, Target(**target)))


@pytest.mark.parametrize(
    ("names", "about", "look_around", "expected"),
    [
        ((), ("options",), False, ["options"]),
        ((), ("options",), True, ["options", "surroundings"]),
        (("profiling_options",), ("options",), False, ["options", "surroundings"]),
        ((), ("options", "session", "run_config"), False, ["options", "session", "run_config"]),
        ((), ("options", "version", "target"), False, ["options"]),
    ],
)
def test_which_rules_are_imported(names, about, look_around, expected):
    """Those about something that is there; the options always are."""
    assert expected == list(_subjects(names, about, look_around))


PLACED = Setting("x", "s", Place("a", 3, 5, 3, 8), field_place=Place("a", 3, 1, 3, 8))


@pytest.mark.parametrize(
    ("setting", "value", "source", "field", "edit"),
    [
        (PLACED, "force_fp32", SourceKind.FILE, None, (3, 5, 3, 8, '"force_fp32"')),
        (PLACED, "\u5668", SourceKind.FILE, None, (3, 5, 3, 8, '"\u5668"')),
        (PLACED, True, SourceKind.FILE, None, (3, 5, 3, 8, "true")),
        (PLACED, 7, SourceKind.FILE, "i", (3, 5, 3, 8, "7")),
        (PLACED, 7, SourceKind.PROTO, None, (3, 5, 3, 8, "7")),
        (PLACED, 7, SourceKind.PROTO, "i", (3, 1, 3, 8, "i: 7")),
        (PLACED._replace(field_place=None), 7, SourceKind.PROTO, None, None),
        (PLACED, None, SourceKind.FILE, None, None),
        (PLACED._replace(place=Place("a", 3, 5, 4, 8)), 7, SourceKind.FILE, None, None),
        (PLACED._replace(place=Place("a", 3)), 7, SourceKind.FILE, None, None),
    ],
)
def test_fixes_that_write_a_value(setting, value, source, field, edit):
    """As all formats read it, on one line, in the field where there is one."""
    found = writing(Case(Settings({"a": setting}, source)), setting, value, field)
    assert (None if edit is None else (tuple(edit), value)) == (
        found and (tuple(found.edits[0]), found.value)
    )


@pytest.mark.parametrize(
    ("place", "other", "said"),
    [
        (Place("a", 3), Place("a", 4), " (line 3)"),
        (Place("a", 3), Place("a", 3), ""),
        (Place("a", 3), Place("b", 3), " (line 3)"),
        (Place("a"), Place("a", 3), ""),
        (Place(), Place(), ""),
    ],
)
def test_lines_are_named_where_they_differ(place, other, said):
    """Of an option beside another one."""
    entries = {"dump_path": Setting(1, place=place), "dump_mode": Setting(1, place=other)}
    assert said == line_of(Case(Settings(entries)), "dump_path", "dump_mode")


@pytest.mark.parametrize(
    ("meant", "message", "help"),
    [
        (None, "x", None),
        ("7", "x", None),
        ("path", "x", "path"),
        ("on", "x", None),
        ("args.path", "args.path", "double quotes"),
        ("os.path.join(a)", "os.path.join(a)", "double quotes"),
        ("f(x)", "f(x)", "double quotes"),
        ("a b", "x", None),
    ],
)
def test_bare_words_in_a_literal(meant, message, help):
    """A word may be a variable, what is more is an expression; words of the file are none."""
    found = replace(json_syntax.diagnostic("x", Place()), meant=meant)
    said = contents._in_literal(found)
    assert message in said.message
    assert (said.help == found.help) is (help is None)
    assert help is None or help in said.help
    other = replace(REGISTRY["NPU301"].diagnostic("x", Place()), meant=meant)
    assert contents._in_literal(other) == other


def test_values_that_only_drew_a_warning():
    """They stay as they are; what is not known, or is no option, is left out."""
    entries = {
        "iterations_per_loop": Setting(10),
        "min_group_size": Setting("x"),
        "hccl_timeout": Setting(UNKNOWN),
        "no_such_option": Setting(1),
    }
    found = _canonical(Case(Settings(entries)))
    assert found == {"iterations_per_loop": 10, "min_group_size": "x"}
    assert list(
        _canonical(Case(Settings({"dump_path": Setting("d"), "enable_dump": Setting(True)})))
    ) == [name for name in OPTIONS if name in ("dump_path", "enable_dump")]


@pytest.mark.parametrize(
    ("profiles", "number"), [("1;2", None), ("1,1;2", 1), ("1;2,2", 2), ("1;2;3,3;4,4", 3)]
)
def test_which_profile_is_wrong(profiles, number):
    """The first that has not one size for each ``-1``, by its number, with its sizes."""
    options = {"graph_run_mode": 0, "input_shape": "data:-1,3", "dynamic_node_type": 1}
    entries = {name: Setting(value) for name, value in options.items()}
    entries["dynamic_dims"] = Setting(profiles)
    found = [each.message for each in judge(Settings(entries, SourceKind.FILE))]
    about = [text for text in found if text.startswith("profile")]
    assert len(about) == (number is not None)
    if number is not None:
        sizes = profiles.split(";")[number - 1]
        assert about[0].startswith('profile {} of "dynamic_dims" is "{}"'.format(number, sizes))


@pytest.mark.parametrize(
    ("remapping", "is_said"), [("OFF", False), (UNKNOWN, False), ("ON", True), ("DEFAULT", True)]
)
def test_remapping(remapping, is_said):
    """Only OFF is legal; what cannot be known is no fault."""
    found = {each.rule for each in judge(around(remapping=remapping))}
    assert ("NPU803" in found) is is_said
