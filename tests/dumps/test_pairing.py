"""What of two sides belongs together: runs, devices, models and steps, without any file."""

import pytest

from npu_config import NpuConfigError
from npu_config.dumps.matching import Selection, paired, paired_ranks
from npu_config.dumps.reference import References
from npu_config.dumps.tree import DumpFile, DumpTree, FileName, Folder

NUMBERS = {"d": "device", "i": "model_id", "s": "step"}


def files_of(text):
    """Files: ``d0 s1, d0 s2 a b`` is one of a device and a step, and two operators of another.

    ``r`` is the run, ``m`` the model, ``i`` its id; an operator is one letter.
    """
    for folder in text.split(","):
        words = folder.split()
        where = dict.fromkeys(("run", "device", "model", "model_id", "step"))
        for word in words:
            if word[0] in NUMBERS and word[1:].isdigit():
                where[NUMBERS[word[0]]] = int(word[1:])
            elif len(word) > 1:
                where[{"r": "run", "m": "model"}[word[0]]] = word[1:]
        for name in [word for word in words if len(word) == 1] or ["x"]:
            parts = FileName("Add", name, 1, 2, 5, None, None, None, False)
            yield DumpFile(text, 1, Folder(**where), parts)


def short(folder):
    """A folder in the same words; "-" for one of which nothing is known."""
    parts = zip("rdmis", folder)
    return " ".join("{}{}".format(*part) for part in parts if part[1] is not None) or "-"


def said(texts):
    """Of what is left out which it is, and on which side alone it is."""
    return [
        "{} {}".format(text.partition(":")[0], "-" if "reference" in text else "+")
        for text in texts
    ]


def pairs_of(ours, theirs, **chosen):
    """The pairs in short, what was left out, and how many pairs are of different steps."""
    references = References("tf", True, list(files_of(theirs)))
    found = paired(DumpTree(files_of(ours)), references, Selection(**chosen), "npu")
    pairs = ["{} = {}".format(short(pair.where), short(pair.other)) for pair in found.pairs]
    return ", ".join(pairs), ", ".join(said(found.left_out)), len(found.notes)


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen", "expected"),
    [
        ("s0, s1", "s1, s0", {}, ("s0 = s0, s1 = s1", "", 0)),
        ("s0, s1, s5", "s0, s1, s9", {}, ("s0 = s0, s1 = s1", "step 5 +, step 9 -", 0)),
        ("s0, s1", "s0, s1, s9", {"step": 1}, ("s1 = s1", "", 0)),
        ("s3", "s7", {}, ("s3 = s7", "", 1)),
        ("s4, s3", "s7", {}, ("s3 = s7", "step 4 -", 1)),
        ("x", "s8, s7", {}, ("- = s7", "", 0)),
        ("x", "y", {}, ("- = -", "", 0)),
        ("s4, s3", "x", {}, ("s3 = -", "step 4 -", 0)),
        ("x, s4", "s4, s7", {}, ("s4 = s4", "step 7 -", 0)),
        ("s3", "s7, s8", {"reference_step": 8}, ("s3 = s8", "", 1)),
        ("s3, s8", "s7, s8", {"reference_step": 8}, ("s8 = s8", "", 0)),
        ("s3, s8", "s7, s8", {"reference_step": 8, "step": 3}, ("s3 = s8", "", 1)),
        ("s0, s1", "s1, s2", {"reference_step": 2}, ("s0 = s2", "", 1)),
    ],
)
def test_steps(ours, theirs, chosen, expected):
    """Those of one number; one step on each side whatever its number; or those asked for."""
    assert expected == pairs_of(ours, theirs, **chosen)


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen", "expected"),
    [
        ("d0, d1", "d0, d1", {}, ("d0 = d0, d1 = d1", "", 0)),
        ("d0, d1", "x", {}, ("d0 = -, d1 = -", "", 0)),
        ("d0, d1", "d0, d1", {"device": 1}, ("d1 = d1", "device 0 -", 0)),
        ("d4", "d0", {}, ("d4 = d0", "", 0)),
        ("x", "d10, d2", {}, ("- = d2", "", 0)),
        ("d0, d1", "d1, d2", {}, ("d1 = d1", "device 0 +, device 2 -", 0)),
        ("d2, d10, d3", "d2", {}, ("d2 = d2", "device 3 +, device 10 +", 0)),
    ],
)
def test_devices(ours, theirs, chosen, expected):
    """Those of one number; a reference that names none is that of all."""
    assert expected == pairs_of(ours, theirs, **chosen)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("mnet i1", "mother i2", ("mnet i1 = mother i2", "", 0)),
        ("mp i1, mq i2", "mp i1, mq i2", ("mp i1 = mp i1, mq i2 = mq i2", "", 0)),
        ("mp i1, mp i2", "mp i1, mp i2", ("mp i1 = mp i1, mp i2 = mp i2", "", 0)),
        ("mp, mq", "x", ("mp = -, mq = -", "", 0)),
        (
            "mp1 a b, mq1 a c",
            "mq2 a c, mp2 a b",
            ("mp1 = mp2, mq1 = mq2", "", 0),
        ),
        (
            "mp a b, mq1 c, mr1 e",
            "mp a b, mq2 c d, mr2 f",
            ("mp = mp, mq1 = mq2", "model r1 +, model r2 -", 0),
        ),
        ("mp a, mq1 a", "mp a, mr b", ("mp = mp", "model q1 +, model r -", 0)),
    ],
)
def test_models(ours, theirs, expected):
    """Those of one name and id, else those with most operators of one name."""
    assert expected == pairs_of(ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen", "expected"),
    [
        ("r1 d0, r2 d0", "x", {}, ("r2 d0 = -", "other runs of device 0 +", 0)),
        ("r1 d0, r2 d0", "x", {"run": "1"}, ("r1 d0 = -", "other runs of device 0 +", 0)),
        (
            "r1 d0, r2 d1",
            "r8 d0, r9 d0, r9 d1",
            {},
            ("r1 d0 = r9 d0, r2 d1 = r9 d1", "other runs of device 0 +", 0),
        ),
        ("r1 d0, r2 d1", "x", {"run": "1"}, ("r1 d0 = -", "", 0)),
        ("r1, r2", "x", {}, ("r2 = -", "other runs of device - +", 0)),
        ("r1 s0, r1 s1", "x, s1", {}, ("r1 s1 = s1", "step 0 +", 0)),
    ],
)
def test_runs(ours, theirs, chosen, expected):
    """Of each device the newest, unless one is chosen; the others are named."""
    assert expected == pairs_of(ours, theirs, **chosen)


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen", "words"),
    [
        ("s3", "s7, s8", {}, "step 3"),
        ("s3", "s7, s8", {"reference_step": 9}, "7, 8"),
        ("s3", "x", {"reference_step": 9}, "none"),
        ("d0, d1", "d2", {}, "device 0"),
        ("mp a, mq b", "mr c, ms d", {}, "model p"),
        ("s3, s10", "x", {"step": 4}, "3, 10"),
        ("d3, d10", "x", {"device": 4}, "3, 10"),
        ("x", "x", {"step": 0}, "none"),
        ("r1, r2", "x", {"run": "3"}, "1, 2"),
        ("x", "x", {"run": "3"}, "none"),
    ],
)
def test_nothing_in_common(ours, theirs, chosen, words):
    """What is there in place of what is asked for stands in the message."""
    with pytest.raises(NpuConfigError, match=words):
        pairs_of(ours, theirs, **chosen)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ("d0, d1, d2", "d1 = d0, d2 = d0"),
        ("d10, d2", "d10 = d2"),
        ("x, d1", "d1 = -"),
        ("d0 s0, d0 s1, d1 s1, d1 s2", "d1 s1 = d0 s1"),
        ("d0 mp a, d0 mq b, d1 mp a, d1 mq b", "d1 mp = d0 mp, d1 mq = d0 mq"),
        ("r1 d0, r2 d1, r0 d1", "r2 d1 = r1 d0"),
    ],
)
def test_ranks(ours, expected):
    """Every device with the first one, by number; the files of the first are given, too."""
    found, first = paired_ranks(DumpTree(files_of(ours)), Selection(), "npu")
    pairs = ["{} = {}".format(short(pair.where), short(pair.other)) for pair in found.pairs]
    assert (expected, ()) == (", ".join(pairs), found.notes)
    assert {pair.other.device for pair in found.pairs} == {file.device for file in first}


@pytest.mark.parametrize(("ours", "device"), [("d3 s0, d3 s1", "3"), ("x", "-")])
def test_one_rank(ours, device):
    """It has nothing to be compared with."""
    with pytest.raises(NpuConfigError, match=r"\({}\)".format(device)):
        paired_ranks(DumpTree(files_of(ours)), Selection(), "npu")
