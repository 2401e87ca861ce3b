"""Every fact is reported where it holds, and not where something only looks like it."""

import re
from pathlib import Path

import pytest

import npu_config
from npu_config.migration.facts import facts

TEXT = (Path(__file__).parent / "each_fact.txt").read_text(encoding="utf-8")
SCRIPTS = [
    (id, head, source)
    for id, body in re.findall(r"^@ ([^\n]*)\n(.*?)(?=^@|\Z)", TEXT, re.M | re.S)
    for head, source in re.findall(
        r"^([+-](?: alone)?)\n(.*?)(?=^[+-](?: alone)?\n|\Z)", body, re.M | re.S
    )
]
PARTS = {
    "import-star-names": "the script already uses these names, so only the needed names are",
    "import-conditional": "placed at the top, because the import of TensorFlow below",
    "keras-session": "Keras creates its session from the patched class",
    "keras-set-session": "no config: npu_config_proto() added",
    "runconfig-summary": "checkpoints and summaries stay unchanged",
}
"""The facts that are said in the entry of another one."""


@pytest.mark.parametrize(("id", "head", "source"), SCRIPTS)
def test_fact(id, head, source):
    """The lines and kinds of the fact are those that are marked, or it is part of an entry."""
    text = ("" if head.endswith("alone") else "import tensorflow as tf\n") + source.rstrip("\n")
    marked = re.findall(r"^(.*?)(?:  #! (\w+))?$", text, re.M)
    expected = [(number, kind) for number, (_, kind) in enumerate(marked, 1) if kind]
    notes = npu_config.migrate(text + "\n").notes
    assert expected == [(note.line, note.kind) for note in notes if note.id == id]
    if id in PARTS:
        assert head.startswith("+") == any(PARTS[id] in note.note for note in notes)


def test_every_fact_has_both():
    """No fact is without a script in which it holds; one is about what no script shows."""
    held = {id for id, head, _ in SCRIPTS if head.startswith("+")}
    assert set(facts()) - held == {"reducesum-fp16"}
    assert set(facts()) == {id for id, head, _ in SCRIPTS if head.startswith("-")}
