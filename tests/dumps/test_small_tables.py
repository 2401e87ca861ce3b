"""Small decisions as tables: kinds of tensors, the first that diverges, order, headers."""

import itertools
import random
from types import SimpleNamespace

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

from npu_config.dumps.compare import First, first_of
from npu_config.dumps.dump import HeaderError, parse_header
from npu_config.dumps.matching import _order
from npu_config.dumps.tree import DumpFile, FileName, Folder
from npu_config.dumps.verdicts import kind_of

KINDS = {
    ("mask", "Greater", "DT_BOOL", "bool"): "flag",
    ("mask", "Greater", "DT_BOOL", "int32"): "flag",
    ("mask", "Greater", "DT_INT8", "bool"): "flag",
    ("ids", "GatherV2", "DT_INT32", "int64"): "index",
    ("ids", "GatherV2", "DT_UINT8", "uint8"): "index",
    ("ids", "GatherV2", "DT_INT32", "float32"): "activation",
    ("ids", "GatherV2", "DT_FLOAT", "int64"): "activation",
    ("gradients/a/b", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a/grad", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a_grads_2_b", "Mul", "DT_FLOAT", "float32"): "gradient",
    ("a", "ReluGrad", "DT_FLOAT", "float32"): "gradient",
    ("a", "ReluGradV2", "DT_FLOAT", "float32"): "gradient",
    ("a", "Conv2DBackpropInput", "DT_FLOAT", "float32"): "gradient",
    ("gradients/ids", "Cast", "DT_INT32", "int32"): "index",
    ("graduate/a", "Gradient", "DT_FLOAT", "float32"): "activation",
    ("a", "Relu", "DT_FLOAT", "float32"): "activation",
}


@pytest.mark.parametrize("tensor", KINDS)
def test_kinds_of_tensors(tensor):
    """By the types on either side, then by the names of gradients."""
    assert KINDS[tensor] == kind_of(*tensor)


AGREES, DIVERGES, NOT = "agrees", "diverges", "not compared"


def rows_of(text):
    """Rows in order: ``a<+`` is an input of a that agrees, ``a>-`` an output that diverges.

    ``b<a-`` is an input that the producer a made.
    """
    verdicts = {"+": AGREES, "-": DIVERGES, "?": NOT}
    for word in text.split():
        side = "input" if "<" in word else "output"
        producer = word[2:-1]
        yield SimpleNamespace(
            op_name=word[0], side=side, verdict=verdicts[word[-1]], producer=producer, role=""
        )


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ("a<+ a>+ b<+ b>+", First()),
        ("a<+ a>- b<- b>-", First("a", True)),
        ("a<- a>- b<- b>-", First()),
        ("a>+ b>- c>-", First("b")),
        ("a>- b>-", First("a")),
        ("a<? a>- b<- b>-", First("a")),
        ("a<- a>+ b>-", First()),
        ("a<- a>+ b<+ b>-", First("b", True)),
        ("a<+ a<- a>-", First()),
        ("a<+ a>+ a>-", First("a", True)),
        ("a>? b<+ b>-", First("b", True)),
        ("a<+ b<a- b>-", First("a", True)),
        ("a<+ a>? b<a- b>-", First("a", True)),
        ("a<+ a>+ b<a- b>-", First()),
        ("", First()),
    ],
)
def test_the_first_that_diverges(rows, first):
    """Its outputs do and its inputs do not, or nothing has before it."""
    assert first == first_of(list(rows_of(rows)))


def mixed(items):
    """The same in another order."""
    return random.Random(1).sample(items, len(items))


def test_the_order_of_files():
    """By run, device, model, step, time and path; what a path does not say comes first."""
    name = FileName("Add", "a", 1, 2, 5, None, None, None, False)
    parts = [(None, "1", "2"), (None, 0, 1), (None, "a", "b"), (None, 0, 1), (None, 0, 1)]
    folders = [Folder(*each) for each in itertools.product(*parts)]
    files = [DumpFile("p", 1, folder, name) for folder in folders]
    assert [each.folder for each in sorted(mixed(files), key=lambda file: file.order)] == folders
    later = [name._replace(time=time) for time in (4, 5, 6)]
    files = [DumpFile(path, 1, folders[0], each) for each in later for path in "ab"]
    assert sorted(mixed(files), key=lambda file: file.order) == files


def test_the_order_of_comparisons():
    """By step, device and model; what is not known comes first."""
    steps = itertools.product((None, 0, 1), (None, 0, 1), (None, "a", "b"), (None, 1, 2))
    folders = [Folder(None, device, model, id, step) for step, device, model, id in steps]
    assert sorted(mixed(folders), key=_order) == folders


def test_the_fields_of_a_header():
    """Any field of an operator or a tensor makes a header; the time alone does not."""
    for number in range(1, 12):
        data = memoryview(w.number_field(2, 7) + w.bytes_field(number, b"\n\x01x"))
        if number in (1, 3, 4, 5, 6, 7, 8):
            assert (number, 2) in parse_header(data)
        else:
            with pytest.raises(HeaderError, match="neither an operator nor a tensor"):
                parse_header(data)
