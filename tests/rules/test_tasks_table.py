"""Every argument of every task alone: the options, files, variables and faults that follow."""

import re
from pathlib import Path

import pytest

import npu_config as npu
from tests import golden

EXPECTED = Path(__file__).parent / "tasks_table.txt"
ROWS = re.findall(r"^(b\.\S.*)\n((?:    .*\n)*)", EXPECTED.read_text(encoding="utf-8"), re.M)


def outcome(call):
    """What a builder makes of a call, one thing on each line."""
    names = {"b": npu.NpuConfigBuilder(), "Path": Path, "none": None}
    try:
        config = eval(call, names).build()
    except (npu.NpuConfigError, TypeError) as error:
        found = getattr(error, "diagnostics", ())
        said = ((e.severity.value, e.rule, e.message.partition("; ")[0]) for e in found)
        lines = ["{} {}: {}".format(*each) for each in said]
        return lines or ["TypeError"]
    lines = ["{}: {!r}".format(name, value) for name, value in config.to_dict().items()]
    for option, file in config.side_files.items():
        lines.append("{} -> {}: {}".format(option, file.path, " ".join(file.text.split())))
    lines += ["{} {}".format(e.severity.value, e.rule) for e in config.diagnostics]
    return lines


@pytest.mark.parametrize(("call", "expected"), ROWS, ids=[call for call, _ in ROWS])
def test_call(call, expected):
    """The lines below a call in ``tasks_table.txt``; ``--update-cases`` writes them."""
    found = "".join("    {}\n".format(line) for line in outcome(call))
    if golden.update:
        text = EXPECTED.read_text(encoding="utf-8")
        head, _, rest = text.partition("\n{}\n".format(call))
        rest = re.sub(r"\A(?:    .*\n)*", "", rest)
        EXPECTED.write_text("{}\n{}\n{}{}".format(head, call, found, rest), encoding="utf-8")
    assert expected == found
