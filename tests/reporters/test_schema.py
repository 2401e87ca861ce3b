"""The schema of the JSON output describes what is printed, and nothing is printed without it."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from npu_config import check
from npu_config.reporters import Summary, render
from npu_config.reporters.schema import schema

ROOT = Path(__file__).parents[2]
INPUTS = sorted((ROOT / "tests" / "cases" / "err").glob("*.yaml"))


def printed(path):
    """The document that --format json prints of a file."""
    report = check(path)
    return json.loads(render("json", report, Summary.of(report, 1)))


def test_it_is_a_schema():
    """The draft that it names accepts it."""
    Draft202012Validator.check_schema(schema())


def test_output_fits():
    """What is found in the golden cases is as the schema says, fixes included."""
    assert len(INPUTS) > 50
    validator = Draft202012Validator(schema())
    fixes = 0
    for path in INPUTS:
        document = printed(path)
        validator.validate(document)
        fixes += sum(found["fix"] is not None for found in document["diagnostics"])
    assert fixes > 0


def test_every_field_is_described():
    """No field is printed that the schema does not have."""
    document = printed(ROOT / "examples" / "quickstart" / "broken.yaml")
    described = schema()["properties"]
    assert set(document) == set(described)
    for found in document["diagnostics"]:
        assert set(found) == set(described["diagnostics"]["items"]["properties"])
    assert set(document["summary"]) == set(described["summary"]["properties"])


@pytest.mark.parametrize(("field", "value"), [("severity", "fatal"), ("line", 0), ("rule", "E1")])
def test_it_refuses(field, value):
    """A wrong document does not fit."""
    document = printed(ROOT / "examples" / "quickstart" / "broken.yaml")
    document["diagnostics"][0][field] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(schema()).validate(document)
