"""Checks against an operator library of the user's."""

import json

from npu_config.sidefiles import customize_dtypes, library, mixlist
from npu_config.sidefiles.library import LibraryOperator

LIBRARY = {
    "Pow": {
        "input0": {"name": "x1", "paramType": "required", "dtype": "float16,float,int32"},
        "input1": {"name": "x2", "paramType": "required", "dtype": "float16,float,int32"},
        "output0": {"name": "y", "dtype": "float16,float"},
        "precision_reduce": {"flag": "true"},
    },
    "ReduceSumD": {"input0": {"dtype": "float"}, "precision_reduce": {"flag": "false"}},
    "AddN": {"input0": {"paramType": "dynamic", "dtype": "float16"}},
    "Odd": {"input0": {"dtype": 3}, "precision_reduce": "true"},
}


LOST = 'no node of the compiled graph is named "net/Pow"; this entry of the file has no effect'


def read():
    """The library."""
    return library.parse(json.dumps(LIBRARY)).model


def test_reading():
    """Lists, and data types as far as the position of an input says something."""
    assert read().operators == {
        "Pow": LibraryOperator(
            "white-list",
            (frozenset({"float16", "float", "int32"}), frozenset({"float16", "float", "int32"})),
            (frozenset({"float16", "float"}),),
        ),
        "ReduceSumD": LibraryOperator("black-list", (frozenset({"float"}),)),
        "AddN": LibraryOperator("gray-list"),
        "Odd": LibraryOperator("gray-list", (frozenset(),)),
    }


def test_mixlist():
    """Names that do not exist, and removals from a list that the operator is not in."""
    text = """{"black-list": {"to-remove": ["ReduceSumD", "Pow"]},
 "white-list": {"to-add": ["ReduceSumDD"], "to-remove": ["AddN"]},
 "gray-list": {"to-add": ["Pow"]}}"""
    parsed = mixlist.parse(text)
    found = mixlist.check(parsed.model, places=parsed.places, library=read())
    told = [(d.line, d.column, d.rule, d.message, d.help) for d in found if d.rule != "NPU722"]
    assert told == [
        (1, 45, "NPU724",
         '"Pow" is not in "black-list" but in "white-list"; the removal is ignored with a warning',
         None),
        (2, 28, "NPU723", 'the operator library has no operator type "ReduceSumDD"',
         'did you mean "ReduceSumD"?'),
        (2, 58, "NPU724",
         '"AddN" is not in "white-list" but in "gray-list"; the removal is ignored with a warning',
         None),
    ]  # fmt: skip


def test_mixlist_places_with_repeated_names():
    """A name that appears twice in an array does not shift the places of those behind it."""
    parsed = mixlist.parse('{"black-list": {"to-add": ["Pow", "Pow", "Powr"]}}')
    (found,) = mixlist.check(parsed.model, places=parsed.places, library=read())
    assert (found.column, found.end_column) == (42, 48)


def test_customize_dtypes():
    """Data types that an operator does not have, by type; names are checked by nodes."""
    text = (
        "OpType::Pow:InputDtype:float32,int8,OutputDtype:int32\n"
        "OpType::AddN:InputDtype:int8\n"
        "OpType::Pwo:InputDtype:float\n"
        "net/Pow::InputDtype:int8\n"
    )
    parsed = customize_dtypes.parse(text)
    found = customize_dtypes.check(
        parsed.model, places=parsed.places, library=read(), nodes=["net/Pow_1", "net/Relu"]
    )
    assert [(d.line, d.rule, d.message) for d in sorted(found, key=lambda d: d.line)] == [
        (1, "NPU740", 'input 1 of "Pow" cannot be int8; legal: float, float16, int32'),
        (1, "NPU740", 'output 0 of "Pow" cannot be int32; legal: float, float16'),
        (3, "NPU740", 'the operator library has no operator type "Pwo"'),
        (4, "NPU739", LOST),
    ]  # fmt: skip


def test_loading(tmp_path):
    """Files and directories together; what is unreadable is told, and then there is no model."""
    for name, operators in (("a", ["Pow"]), ("b", ["AddN", "Odd"])):
        path = tmp_path / "aic-ascend910-ops-info-{}.json".format(name)
        path.write_text(json.dumps({key: LIBRARY[key] for key in operators}))
    (tmp_path / "other.json").write_text("[]")
    single = tmp_path / "mine.json"
    single.write_text(json.dumps({"Mine": {}}))
    loaded = library.load(tmp_path, single)
    assert sorted(loaded.model.operators) == ["AddN", "Mine", "Odd", "Pow"]
    wrong = library.load(tmp_path / "other.json", tmp_path / "missing")
    assert wrong.model is None
    assert [d.rule for d in wrong.diagnostics] == ["NPU715", "NPU716"]
    (tmp_path / "empty").mkdir()
    assert [d.rule for d in library.load(tmp_path / "empty").diagnostics] == ["NPU715"]
