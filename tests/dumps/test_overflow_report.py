"""Reports of overflows by their numbers: groups, steps, trends, another run, the page."""

import re

import attr
import pytest

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.dumps import overflow_report as r
from npu_config.dumps.overflow import Overflow, OverflowReport, TensorReport, Unit
from npu_config.dumps.statistics import Statistics

ADD = (Unit("AI Core", (0x20,), {}, (("0x20 floating", True),)),)
CAST = (Unit("AI Core", (0x100,), {}, (("0x100 float32", False),)),)
PLAIN = Overflow(
    "record", "run", 0, "net", 0, 5, ADD, "a", "Add", "dump", 3, 2, (), "computed here", ()
)  # fmt: skip


def made(*changes):
    """Overflows that differ from a plain one."""
    return tuple(attr.evolve(PLAIN, **change) for change in changes)


SAME = [{"step": 7}, {"device": 7}, {"time": 9}, {"record": "x"}, {"run": "x"}, {"dump": "x"},
        {"task": 9}, {"stream": 9}, {"advice": ("x",)}, {"step": None}]  # fmt: skip
OTHER = [{"op_name": "b"}, {"op_type": "Mul"}, {"model": "x"}, {"units": CAST},
         {"origin": "came in"}, {"came_in_with": (1,)}, {"op_name": None}]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "count"), [*((each, 1) for each in SAME), *((each, 2) for each in OTHER)]
)
def test_what_makes_overflows_equal(change, count):
    """The operator, its model, its status and its origin; not when and where."""
    assert len(r.grouped(made({}, change, {}))) == count


def test_tasks_without_an_operator():
    """They are told apart by the ids of the task."""
    none = {"op_name": None, "op_type": None}
    groups = r.grouped(made(none, {**none, "task": 4}, {**none, "stream": 4}, none))
    assert [(len(g.members), g.first.task, g.first.stream) for g in groups] == [
        (2, 3, 2), (1, 4, 2), (1, 3, 4)
    ]  # fmt: skip
    assert [r.name_of(group) for group in groups[:2]] == [
        "task 3 of stream 2",
        "task 4 of stream 2",
    ]


def test_the_numbers_of_a_group():
    """Steps and devices once each and sorted, what is not known left out."""
    (group,) = r.grouped(
        made({"step": 9, "device": 1}, {"step": 2}, {"step": None, "device": None})
    )
    assert (group.steps, group.devices, len(group.members)) == ((2, 9), (0, 1), 3)
    assert (group.first.step, r.name_of(group)) == (9, "a")
    found = r.plain_group(group)
    assert [found[key] for key in ("op_name", "op_type", "count", "steps", "devices")] == [
        "a", "Add", 3, [2, 9], [0, 1]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "way"),
    [
        ((), None),
        ((3,), None),
        ((3, 3), r.STEADY),
        ((3, 3, 3), r.STEADY),
        ((3, 4), r.GROWING),
        ((3, 3, 4), r.GROWING),
        ((4, 3), r.FALLING),
        ((4, 3, 3), r.FALLING),
        ((3, 4, 3), r.CHANGING),
        ((4, 3, 4), r.CHANGING),
    ],
)
def test_trends(counts, way):
    """Steps in order of their numbers, and where their counts go."""
    steps = [{"step": 10 * n} for n, count in enumerate(counts) for _ in range(count)]
    found = r.by_step(made(*reversed(steps), {"step": None}))
    assert list(found.items()) == [(10 * n, count) for n, count in enumerate(counts)]
    assert way == r.trend(found)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ("", "", "")),
        ("ab", "", ("ab", "", "")),
        ("", "ab", ("", "", "ab")),
        ("ab", "bc", ("a", "b", "c")),
        ("ab", "ba", ("", "ba", "")),
    ],
)
def test_two_runs(before, after, expected):
    """Which operators overflow no more, still and newly, and the sentence of each case."""
    one, other = (made(*({"op_name": name} for name in names)) for names in (before, after))
    found = r.compare_runs(one, other)
    assert expected == tuple("".join(map(r.name_of, groups)) for groups in found)
    gone, left, new = map(len, expected)
    sentence = r.verdict_on(found)
    if left:
        assert re.findall(r"\d+", sentence) == [str(left), str(left + gone)]
    elif new:
        assert "another operator" in sentence
    else:
        assert ("none of" if gone else "neither") in sentence


def test_operators_of_another_fusion():
    """They are the same where they stand for the same operators; tasks by their ids."""
    old, new = made(
        {"op_name": "ab", "stands_for": ("a", "b")}, {"op_name": "bc", "stands_for": ("b",)}
    )
    none, other = made({"op_name": None}, {"op_name": None, "task": 9})
    found = r.compare_runs([old, none], [new, other])
    assert [len(groups) for groups in found] == [1, 1, 1]
    assert (found.left[0].first, found.gone[0].first, found.new[0].first) == (new, none, other)


def report(*overflows, **more):
    """A report of overflows."""
    return OverflowReport(tuple(overflows), **more)


def numbers_in(report, path="dump"):
    """The numbers of each sentence that a report comes to."""
    return [re.findall(r"\d+", line) for line in r.outcome(report, path)]


FAULT = Diagnostic("NPU321", "x", Severity.ERROR, "x")


def test_the_sentences_of_a_report():
    """How many overflows and operators, the counts of the steps, and what is beside them."""
    assert numbers_in(report(PLAIN)) == [["1"]]
    two = made({}, {"step": 1}, {"op_name": "b", "step": 1})
    assert numbers_in(report(*two)) == [["3"], ["2"], ["0", "1", "1", "2"]]
    assert numbers_in(report(*two[1:])) == [["2"], ["2"]]
    more = {"suspicious": ("p", "q"), "strays": ("x", "y", "z")}
    assert numbers_in(report(PLAIN, **more)) == [["1"], ["2"], ["3"]]
    assert r.outcome(report(PLAIN, **more), "dump")[1].endswith("; p")


@pytest.mark.parametrize(
    ("faults", "counted"),
    [((), True), ((FAULT,), False), ((Diagnostic("NPU321", "x", Severity.WARNING, "x"),), True)],
)
def test_no_overflow_is_not_said_of_broken_records(faults, counted):
    """Where a record cannot be read nobody knows; the values were not looked at either way."""
    first, second = r.outcome(report(diagnostics=faults), "my/dump")
    assert ("no overflow" in first, "cannot be counted" in first) == (counted, not counted)
    assert second.endswith("npu-config dump scan my/dump")


@pytest.mark.parametrize(
    ("count", "shown"),
    [(2, "0: 1, 1: 1"), (20, "18: 1, 19: 1"), (21, "9: 1, ..., 11: 1"), (99, "9: 1, ..., 89: 1")],
)
def test_many_steps(count, shown):
    """Of more than twenty the first and the last ten."""
    line = r.outcome(report(*made(*({"step": n} for n in range(count)))), "dump")[2]
    assert shown in line
    assert line.count(": 1") == min(count, 20)


@pytest.mark.parametrize(
    ("runs", "older", "expected"),
    [
        ([], [], []),
        ([(0, None)], [], []),
        ([(None, "r1")], [], ["r1"]),
        ([(0, "r1"), (1, "r2")], [], ["r1 (device 0), r2 (device 1)"]),
        ([(0, "r1"), (1, None)], [], ["r1 (device 0), ? (device 1)"]),
        ([(0, "r3")], [(0, "r2"), (1, "r1"), (1, "r2")], ["r3 (device 0)", "r1, r2"]),
        ([(0, "r3")], [(0, None)], ["r3 (device 0)", ": ?"]),
    ],
)
def test_which_runs_were_looked_at(runs, older, expected):
    """With their devices, and the others once each; nothing where no path names a run."""
    found = r.looked_at(report(runs=tuple(runs), older=tuple(older)))
    assert len(expected) == len(found)
    assert all(words in line for words, line in zip(expected, found))


def cells(html):
    """The texts of the cells of each row."""
    return [
        [re.sub("<.*?>", "", cell) for cell in re.findall("<t[dh].*?</t[dh]>", row)]
        for row in re.findall("<tr.*?</tr>", html)
    ]


def page(*overflows, compared=None, **more):
    """The body of a page."""
    text = r.overflow_page(report(*overflows, **more), "title", "dump", compared)
    return text.partition("<body>")[2].partition("<script")[0]


def test_the_page_of_one_overflow():
    """No table of steps, no summary; one heading with its number."""
    html = page(PLAIN)
    assert re.findall(r'<h2 id="o(\d+)">(\d+)\. <code>(.*?)</code>', html) == [("1", "1", "a")]
    assert ("<table" in html, "Remarks" in html, "Operator types" in html) == (False,) * 3
    assert "Add, step 0, device 0: computed here" in html
    assert '<div class="first">' in html
    assert '<div class="">' in page()


def test_the_page_of_several():
    """A row for each group, bars that are as long as the counts, the list of types."""
    groups = made({}, {"step": 1}, {"op_name": "b", "step": 1, "op_type": None, "device": None})
    html = page(*groups, mixlist=("Add", "Mul"), diagnostics=(FAULT,))
    rows = cells(html)
    assert rows[:3] == [["step", "overflows", ""], ["0", "1", ""], ["1", "2", ""]]
    assert re.findall(r"width:(\d+)px", html) == ["100", "200"]
    assert rows[4:] == [
        ["1", "a", "Add", "2", "0, 1", "0", "computed here"],
        ["2", "b", "?", "1", "1", "?", "computed here"],
    ]
    assert "<p>Add, Mul</p>" in html
    assert "<li>x</li>" in html
    assert len(re.findall("<h2 id", html)) == 2
    assert "<ul><li>2 equal overflows" in html


@pytest.mark.parametrize(("count", "is_open"), [(30, True), (31, False)])
def test_many_bars_are_folded(count, is_open):
    """Thirty steps are open; a bar of few beside many is seen."""
    steps = [{"step": n} for n in range(count)] + [{"step": 0}] * 999
    html = page(*made(*steps))
    assert is_open is ("<details open><summary>Overflows by step" in html)
    assert re.findall(r"width:(\d+)px", html) == ["200"] + ["1"] * (count - 1)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "?"), (8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, 2, 3, ..., 6, 7, 8")],
)
def test_steps_of_a_group(count, shown):
    """Of more than eight the first four and the last three."""
    overflows = made(*({"step": n} for n in range(count))) or made({"step": None})
    assert "Add, step {}, device 0".format(shown) in page(*overflows)


def test_what_a_group_says_of_its_operator():
    """Its words, what it stands for, its passes, its tensors with their numbers."""
    odd = Statistics(4, -1.5, 65504, 2.25, 0.5, 1, 2, 3, 4)
    clean = attr.evolve(odd, nan=0, infinite=0, at_limit=0)
    tensors = (
        TensorReport("input", 0, "DT_FLOAT", (2, 2), clean),
        TensorReport("input", 1, "DT_FLOAT", (2, 2), None, "no bytes"),
        TensorReport("output", 0, "DT_FLOAT16", (), odd),
    )
    html = page(
        attr.evolve(PLAIN, tensors=tensors, stands_for=("p", "q"), passes=("Pass",), units=CAST,
                    advice=("do this", "do that"))
    )  # fmt: skip
    assert cells(html)[1:] == [
        ["input 0", "DT_FLOAT", "2x2", "-1.5", "65504", "2.25", "1", "0", "0", "0", ""],
        ["input 1", "DT_FLOAT", "2x2", *[""] * 7, "no bytes"],
        ["output 0", "DT_FLOAT16", "", "-1.5", "65504", "2.25", "1", "2", "3", "4", ""],
    ]
    assert html.count('<tr class="diverges">') == 1
    items = re.findall("<li>(.*?)</li>", html)
    assert items == [
        "AI Core: 0x100 float32 (uncertain)",
        "corresponds to p, q in the network",
        "created by the fusion passes Pass",
        "do this",
        "do that",
    ]
    assert "equal overflows" not in html


def test_the_page_against_an_earlier_run():
    """Each operator with what became of it; only those that still overflow are marked."""
    names = [made(*({"op_name": name} for name in each)) for each in ("ab", "bc")]
    html = page(PLAIN, compared=r.compare_runs(*names))
    expected = [["still overflowing", "b"], ["newly overflowing", "c"]]
    assert [*expected, ["no longer overflowing", "a"]] == cells(html)[1:4]
    assert html.count('class="diverges"') == 2
    assert "<table" not in page(PLAIN, compared=r.compare_runs((), ()))
