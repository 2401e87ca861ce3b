"""fusion_result.json: the forms it comes in, and what is no such file."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.diagnosis.fusion_result import read_fusion_result
from tests import golden

FIRST = {
    "session_and_graph_id_0_0": {
        "graph_fusion": {
            "PassA": {"effect_times": "1", "match_times": "4"},
            "PassB": {"effect_times": "0", "match_times": "2"},
        },
        "ub_fusion": {
            "PassC": {"effect_times": "3", "match_times": "3", "repository_hit_times": "2"}
        },
    },
    "session_and_graph_id_0_1": {
        "graph_fusion": {"PassA": {"effect_times": "2", "match_times": "2"}}
    },
}
SECOND = {"session_and_graph_id_1_7": {"graph_fusion": {"PassB": {"effect_times": 5}}}}


def content(path):
    """The summary as plain values."""
    result = read_fusion_result(path)
    return result.graphs, [
        (each.kind, each.name, each.match_times, each.effect_times, each.graphs)
        for each in result.passes
    ]


def test_several_objects_in_one_file_are_summed(tmp_path):
    """Each compilation appends an object; the passes are summed over all graphs."""
    path = tmp_path / "fusion_result.json"
    path.write_text(json.dumps(FIRST, indent=4) + "\n" + json.dumps(SECOND) + "\n\n")
    assert content(path) == (
        ("0_0", "0_1", "1_7"),
        [
            ("graph_fusion", "PassB", 2, 5, ("0_0", "1_7")),
            ("graph_fusion", "PassA", 6, 3, ("0_0", "0_1")),
            ("ub_fusion", "PassC", 3, 3, ("0_0",)),
        ],
    )
    assert read_fusion_result(path).passes[-1].repository_hit_times == 2


def test_ineffective_passes_are_told_apart(tmp_path):
    """Only a pass that changed a graph can be the cause of a wrong result."""
    path = tmp_path / "fusion_result.json"
    path.write_text(json.dumps(FIRST))
    assert [each.name for each in read_fusion_result(path).effective] == ["PassA", "PassC"]


def test_the_older_forms(tmp_path):
    """A list of records that name their graph inside."""
    record = dict(FIRST["session_and_graph_id_0_0"], session_and_graph_id="3_4")
    path = tmp_path / "fusion_result.json"
    path.write_text(json.dumps([record, SECOND]))
    assert read_fusion_result(path).graphs == ("3_4", "1_7")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "the file is empty", None),
        ("{}", "holds no fusion record", None),
        ('{"dataset": [1, 2]}', "holds no fusion record", None),
        ("epoch,loss\n1,2\n", "this is not fusion_result.json", 1),
        (json.dumps(FIRST) + "\n" + json.dumps(SECOND)[:40], "truncated or damaged", 2),
    ],
)
def test_bad_files_are_one_diagnostic(tmp_path, text, message, line):
    """What is wrong is said once, with the line."""
    path = tmp_path / "fusion_result.json"
    path.write_text(text)
    with pytest.raises(NpuConfigError) as caught:
        read_fusion_result(path)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert (str(path), line) == (found.path, found.line)


def test_a_missing_file(tmp_path):
    """The system's reason is in the message."""
    with pytest.raises(NpuConfigError, match="does not exist"):
        read_fusion_result(tmp_path / "none.json")


@settings(max_examples=golden.tries(60), deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text('[]{}",:1 session_and_graph_id', max_size=80)))
def test_arbitrary_bytes_never_raise_anything_else(tmp_path_factory, data):
    """Any content gives a summary or diagnostics."""
    path = tmp_path_factory.getbasetemp() / "fusion_result.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with contextlib.suppress(NpuConfigError):
        read_fusion_result(path)
