"""The JSON Schema of ``--format json``, as a file of the documentation."""

import json

from npu_config.reporters import schema as findings

SCHEMA = "docs/reference/output.schema.json"


def schema() -> str:
    """The file."""
    return json.dumps(findings.schema(), indent=2) + "\n"
