"""Golden cases of side files: an input beside its ``.out``.

``ok/<format>/<name>`` must be silent; ``err/<format>/<name>`` yields the lines of its
``.out``.  Words after ``@`` in the name say the target: ``switch@ascend_950.cfg``,
``trace@training.json``.  ``python -m tests.sidefiles.sidefile_cases --update`` writes the
``.out`` files anew.
"""

import argparse
from pathlib import Path

from npu_config.core.target import MODES, Target
from npu_config.sidefiles import FORMATS

ROOT = Path(__file__).parent / "cases"


def inputs(verdict):
    """Every input of a verdict, ``ok`` or ``err``."""
    return sorted(
        path for path in (ROOT / verdict).glob("*/*") if path.is_file() and path.suffix != ".out"
    )


def target_of(path):
    """The target that the name of a case says."""
    words = path.name.split(".")[0].split("@")[1:]
    mode = next((word for word in words if word in MODES), None)
    return Target(next((word for word in words if word not in MODES), None), mode)


def parsed(path):
    """The input as its format reads it."""
    return FORMATS[path.parent.name].parse(read(path), path.name, target_of(path))


def read(path):
    """The exact text of an input."""
    return path.read_bytes().decode("utf-8")


def rendered(report):
    """The text of a ``.out``."""
    rows = []
    for d in report:
        rows.append(
            "{}:{}-{}:{} {} {} [{} {}]".format(
                d.line, d.column, d.end_line, d.end_column, d.severity.value, d.message, d.rule,
                d.name,
            )
        )  # fmt: skip
        if d.help:
            rows.append("    help: " + d.help)
    return "".join(row + "\n" for row in rows)


def main():
    """Write the outputs of all cases."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--update", action="store_true", required=True)
    options.parse_args()
    for path in inputs("err"):
        output = rendered(parsed(path).diagnostics)
        Path(str(path) + ".out").write_bytes(output.encode("utf-8"))


if __name__ == "__main__":
    main()
