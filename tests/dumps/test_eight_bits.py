"""Floats of eight bits: NaN, infinities and saturation, through ``dump scan`` and ``compare``."""

import json

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from tests.cli.conftest import npu

__all__ = ["npu"]
TYPES = {
    # code: (a plain number, NaN, infinity, largest number, that number)
    33: (0x08, 0x80, 0x6F, 0x6E, 32768.0),
    34: (0x3C, 0x7F, 0x7C, 0x7B, 57344.0),
    35: (0x38, 0x7F, None, 0x7E, 448.0),
    36: (0x7F, 0xFF, None, None, None),
}


def dump(root, codes, code):
    """A dump of one operator with these bytes."""
    data = bytes(codes)
    w.operator(w.step_folder(root), "q", [w.tensor("output", data, (len(data),), code)], "Cast")
    return root


@pytest.mark.parametrize("code", TYPES)
def test_odd_values(tmp_path, npu, code):
    """Each is counted by scan, and diverges from a reference that has it not."""
    plain, nan, infinite, largest, number = TYPES[code]
    values = [plain] * 30
    clean = dump(tmp_path / "clean", values, code)
    assert npu("dump", "scan", clean).code == 0
    (tmp_path / "tf").mkdir()
    for odd, name in ((nan, "nan"), (infinite, "infinite"), (largest, "at_limit")):
        if odd is None:
            continue
        there = dump(tmp_path / name, [*values[:-1], odd], code)
        (found,) = json.loads(npu("dump", "scan", there, "--format", "json").out)["tensors"]
        counts = {each: found[each] for each in ("nan", "infinite", "at_limit")}
        assert counts == {**dict.fromkeys(counts, 0), name: 1}
        result = npu("dump", "compare", there, clean, "--format", "json")
        (row,) = json.loads(result.out)["rows"]
        assert (result.code, row["verdict"]) == (1, "diverges"), row
        if name != "at_limit":
            assert row["causes"][0] == name
    if largest is None:
        return
    reference = numpy.full(30, number * 8, "f4")
    numpy.save(str(tmp_path / "tf/q.0.1.npy"), reference)
    saturated = dump(tmp_path / "full", [largest] * 30, code)
    found = json.loads(npu("dump", "compare", saturated, tmp_path / "tf", "--format", "json").out)
    assert found["rows"][0]["causes"][0] == "saturation"
