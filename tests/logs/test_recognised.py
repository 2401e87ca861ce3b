"""What the facts know is recognised: every code in every form, every known failure."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npu_config.logs as logs
from npu_config.catalogue import OPTIONS, Status
from npu_config.launch.environment.variables import VARIABLES
from npu_config.logs.causes import arguments_of
from npu_config.logs.facts import (
    CLASSES,
    code_of,
    codes,
    dull,
    known,
    number_of,
    numbers,
    option_of,
    shape,
    table,
)
from npu_config.rulebook import load_all
from tests.logs.jobs import raised, write

FOLDER = Path(logs.__file__).parent
ROWS = {
    name: [
        json.loads(line) for line in (FOLDER / (name + ".jsonl")).read_text("utf-8").splitlines()
    ]
    for name in ("codes", "other_codes", "patterns", "never", "numbers")
}
OUTSIDE = {"LD_LIBRARY_PATH", "PATH", "PYTHONPATH"}
"""Variables that no catalogue of ours has."""


def test_names_are_those_of_the_catalogue():
    """Classes, options, rules; what else the facts lead to is text."""
    rules = {rule.id for rule in load_all()}
    for fact in (*codes().values(), *known()):
        assert fact.class_ in CLASSES, fact
        assert set(fact.leads_to.get("options", ())) <= set(OPTIONS), fact
        assert set(fact.leads_to.get("rules", ())) <= rules, fact
    old = {n: str(o.effective) for n, o in OPTIONS.items() if o.status is Status.NO_EFFECT}
    assert table("without_effect") == old
    assert option_of("ge.exec.opWaitTimeout") == ["op_wait_timeout"]
    assert option_of("ge.no_such_key") == ()
    assert VARIABLES


def test_files_are_small():
    """No file of facts is above 300 kB."""
    assert all(path.stat().st_size < 300_000 for path in FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("row", ROWS["patterns"], ids=lambda row: row["id"])
def test_examples_of_failures(row):
    """Each known failure is found in its example."""
    (each,) = [each for each in known() if each.id == row["id"]]
    assert each.pattern.search(row["example"])


def test_examples_of_lines_that_are_no_cause():
    """Each kind is found in its example."""
    for row, each in zip(ROWS["never"], dull()):
        assert each.pattern.search(row["example"]), row


def test_shapes_do_not_mix():
    """Lines that differ in numbers only are one kind, others are not."""
    assert shape("failed with 1") is shape("failed with 23")
    assert shape("dump mode should be one of the list:[input]").failure.id == "ref-dump-mode"


FORMS = (
    "{code}: {text}",
    "{code}: [PID: 4711] 2025-04-08-18:07:20.444.436 {text}",
    "{code}: 2024-08-05-18:15:21.270.506 {text}",
    "[PID: 749] 2025-12-29-03:16:15.787.356 Some_Title({code}): {text}",
)
_WORD = st.text("abcdefgXYZ_/", min_size=1, max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for the logs of this module."""
    return tmp_path_factory.mktemp("codes")


@given(st.sampled_from(ROWS["codes"]), st.sampled_from(FORMS), st.data())
def test_templates_are_recognised(folder, row, form, data):
    """A message made from a template is found with its code, class and arguments."""
    if row["code"].endswith("8888"):
        return
    count = row.get("template", "").count("%s")
    values = data.draw(st.lists(_WORD, min_size=count, max_size=count))
    text = row.get("template", "") % tuple(values)
    block = form.format(code=row["code"], text=text)
    write(folder, {"a.log": raised(block)})
    report = logs.read_logs([str(folder / "a.log")])
    if row.get("severity") == "warning":
        assert report.first_cause is None or report.first_cause.code is None
        return
    cause = report.first_cause
    assert (cause.code, cause.rank) == (row["code"], None)
    if row.get("own", True):
        assert cause.class_ == row["class"]
        named = row.get("arguments", [])
        assert set(arguments_of(row["code"], text)) in (set(), set(named))


def test_every_code_once(folder):
    """All 544, each template of each in a file, in the forms by turns."""
    rows = [
        (row["code"], template.replace("%s", "x") or "x")
        for row in ROWS["codes"] + ROWS["other_codes"]
        for template in (row.get("template", ""), *row.get("older", ()))
        if row.get("severity") != "warning" and not row["code"].endswith("8888")
    ]
    assert len({code for code, _ in rows}) > 530
    files = {
        "of_{}.{}.log".format(number, code): raised(FORMS[number % 4].format(code=code, text=text))
        for number, (code, text) in enumerate(rows)
    }
    write(folder / "all", files)
    found = {
        Path(state.file).name: state.first_error and state.first_error.code
        for state in logs.read_logs([str(folder / "all")]).ranks
    }
    assert found == {name: name.split(".")[1] for name in files}


def test_numbers():
    """Decimal and hexadecimal ones, with any number of zeros."""
    assert number_of("507018").class_ == "operator-compile"
    assert number_of("0x07020016") is number_of("0x7020016") is not None
    assert number_of("0xg") is None
    assert number_of("1") is None
    assert code_of("ei0006").code == "EI0006"
    assert all(number.meaning for number in numbers().values())
