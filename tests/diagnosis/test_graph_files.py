"""Files that are no graphs, cut graphs, graphs that are too large."""

import contextlib
import functools
import os
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.diagnosis.graph import diagnose
from npu_config.proto.schema import graph_message
from tests import golden

SOURCE = Path(__file__).parents[1] / "data" / "graphs" / "case3_dynamic_rnn.pbtxt"


def fault(path):
    """The one diagnostic of reading ``path``."""
    with pytest.raises(NpuConfigError) as caught:
        diagnose(path)
    (found,) = caught.value.diagnostics
    assert str(path) == found.path
    return found


@pytest.fixture
def binary():
    """A binary GraphDef."""
    graph_def = text_format.Parse(SOURCE.read_text(), graph_message("GraphDef")())
    return graph_def.SerializeToString()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_binary_graph_cut_in_the_middle(tmp_path, binary, share):
    """InvalidValue as a whole, with the place of the cut and the last node that is complete."""
    path = tmp_path / "graph.pb"
    path.write_bytes(binary[: int(len(binary) * share)])
    found = fault(path)
    assert found.rule == "NPU795"
    assert "the graph is truncated: the file ends at byte" in found.message
    assert "the last complete node is" in found.message


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_text_graph_cut_in_the_middle(tmp_path, share):
    """One diagnostic with the line of the end."""
    text = SOURCE.read_text()
    path = tmp_path / "graph.pbtxt"
    path.write_text(text[: int(len(text) * share)])
    found = fault(path)
    assert "the graph is truncated" in found.message
    assert found.line is not None


def test_a_fault_in_the_text_has_its_line(tmp_path):
    """What is wrong in the middle is not called a cut."""
    lines = SOURCE.read_text().splitlines()
    at = next(index for index, line in enumerate(lines) if index > 40 and "  op: " in line)
    lines[at] = "  op: = oops"
    path = tmp_path / "graph.pbtxt"
    path.write_text("\n".join(lines))
    found = fault(path)
    assert "the text is not a graph" in found.message
    assert found.line == at + 1


def test_fields_of_a_newer_tensorflow_are_no_fault(tmp_path):
    """A graph that TensorFlow 2 wrote is read all the same."""
    path = tmp_path / "graph.pbtxt"
    path.write_text(
        'node { name: "a" op: "Const" experimental_type { type_id: TFT_PRODUCT } } '
        "debug_info { files: 'x' }"
    )
    assert not diagnose(path)


def test_more_than_2_gb(tmp_path):
    """The limit is named before anything is read; the file here is a hole."""
    path = tmp_path / "graph.pb"
    with open(path, "wb") as stream:
        stream.truncate(1 << 31)
    found = fault(path)
    assert found.rule == "NPU796"
    assert "2,147,483,648 bytes" in found.message
    assert "constants" in found.help


def test_a_live_graph_over_2_gb():
    """TensorFlow refuses to export such a graph; its refusal becomes the same diagnostic."""

    class Graph:
        def as_graph_def(self, add_shapes):
            raise ValueError("GraphDef cannot be larger than 2GB.")

    with pytest.raises(NpuConfigError, match="larger than 2 GB") as caught:
        diagnose(Graph())
    assert caught.value.diagnostics[0].rule == "NPU796"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("graph.pb", b"", "the file is empty"),
        ("graph.pbtxt", b" \n\n", "the file is empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "does not hold a graph"),
        ("a.csv", b"a,b\n1,2\n", "does not hold a graph"),
        ("a.json", b'{"node": []}', "does not hold a graph"),
        (
            "config.pbtxt",
            b"graph_options {\n  rewrite_options {\n  }\n}\n",
            "does not hold a graph",
        ),
        ("versions.pbtxt", b"versions {\n  producer: 134\n}\n", "does not hold a graph"),
        ("run.py", b"import tensorflow as tf\n", "does not hold a graph"),
        ("x.pbtxt", b"node { name: 'a' op: 'b' }\nnode: 5\n", "the text is not a graph"),
    ],
)
def test_wrong_files_are_one_diagnostic(tmp_path, name, content, message):
    """Each says once what is wrong."""
    path = tmp_path / name
    path.write_bytes(content)
    found = fault(path)
    assert message in found.message
    assert found.rule == "NPU795"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((("y", "x:1"),), 'the node "y" reads "x", which is not in the graph'),
        ((("x", ""), ("y", "^z")), 'the node "y" reads "z", which is not in the graph'),
        ((("x", ""), ("y", "x"), ("x", "")), 'two nodes have the name "x"'),
    ],
)
@pytest.mark.parametrize("is_text", [True, False])
def test_a_graph_that_tensorflow_refuses(tmp_path, nodes, message, is_text):
    """One that was cut between two nodes, or put together by hand, draws no all-clear."""
    graph_def = graph_message("GraphDef")()
    for name, read in nodes:
        graph_def.node.add(name=name, op="Identity", input=[read] if read else [])
    path = tmp_path / "graph.pb"
    text = text_format.MessageToString(graph_def).encode()
    path.write_bytes(text if is_text else graph_def.SerializeToString())
    assert fault(path).message == message


def test_the_other_files_of_a_checkpoint_point_to_the_meta(tmp_path):
    """Data and index hold values, not the graph."""
    for name in ("model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"):
        (tmp_path / name).write_bytes(b"\x00\x01\x02\x03" * 10)
        assert "model.ckpt-1.meta" in fault(tmp_path / name).help


def test_missing_files_and_directories(tmp_path):
    """What is not there, and a directory without a graph."""
    assert "No such file" in fault(tmp_path / "none.pb").message
    assert "no saved_model.pb" in fault(tmp_path).message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_read_permission(tmp_path):
    """The system's reason is in the message."""
    path = tmp_path / "graph.pb"
    path.write_bytes(b"x")
    path.chmod(0)
    assert "Permission denied" in fault(path).message


@settings(max_examples=golden.tries(80), deadline=None)
@given(
    st.one_of(
        st.binary(max_size=120),
        st.lists(st.sampled_from(["node", "{", "}", " name", ": 'a'", " op: 'b'", "\n", "attr"]))
        .map("".join)
        .map(str.encode),
    )
)
def test_arbitrary_bytes_never_raise_anything_else(tmp_path_factory, data):
    """Any content gives a diagnosis or diagnostics."""
    path = tmp_path_factory.getbasetemp() / "graph.pb"
    path.write_bytes(data)
    with contextlib.suppress(NpuConfigError):
        diagnose(path)


@functools.lru_cache(maxsize=None)
def whole_graph():
    """The bytes of a real graph."""
    graph_def = text_format.Parse(SOURCE.read_text(), graph_message("GraphDef")())
    return graph_def.SerializeToString()


@settings(max_examples=golden.tries(40), deadline=None)
@given(st.data())
def test_a_damaged_graph_never_raises_anything_else(tmp_path_factory, data):
    """Bytes changed anywhere in a real graph."""
    content = bytearray(whole_graph())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "graph.pb"
    path.write_bytes(bytes(content))
    with contextlib.suppress(NpuConfigError):
        diagnose(path)


@pytest.mark.parametrize("ending", ["txt", "json"])
def test_a_graph_of_the_engine(ending):
    """What the graph engine wrote is named, and the command that reads it."""
    path = Path(__file__).parents[1] / "data/dump/net/graph/ge_proto_00012_Build.{}".format(ending)
    with pytest.raises(NpuConfigError, match="graph engine") as caught:
        diagnose(path)
    assert "dump compare" in caught.value.diagnostics[0].help
