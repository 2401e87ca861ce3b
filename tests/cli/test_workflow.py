"""The commands of the accuracy and failure workflow."""

import json
import struct
from pathlib import Path

import pytest

from tests.proto import event_messages

GRAPHS = Path(__file__).parents[1] / "data" / "graphs"

TABLE = """\
Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
a/Sum,ReduceSum,AI_CORE,1500.5,1,"8,8",FLOAT16;INT32
b/Mul,Mul,AI_CORE,20,1,"8",FLOAT16;FLOAT16
c/Mul,Mul,AI_CORE,20,32,"8",FLOAT16;FLOAT16
d/Add,Add,AI_CORE,N/A,1,"8",FLOAT16;FLOAT16
"""


class TestDiagnose:
    """``npu-config diagnose``."""

    def test_findings_and_changes(self, npu):
        """The finding, then what can be applied."""
        path = GRAPHS / "case1_contrib_hashtable_map.pbtxt"
        result = npu("diagnose", path)  # mixed computing, which is right for it, may be on
        assert (result.code, npu("diagnose", "--strict", path).code) == (0, 1)
        assert "NPU480" in result.out
        assert "option:      mix_compile_mode: True" in result.out
        result = npu("diagnose", GRAPHS / "case3_while_v1_dynamic.pbtxt")
        assert "environment: ENABLE_FORCE_V2_CONTROL=1" in result.out

    def test_an_innocent_graph(self, npu):
        """Exit code 0."""
        assert npu("diagnose", GRAPHS / "case3_v2_dynamic.pbtxt").code == 0

    def test_strict(self, npu):
        """A warning fails only when asked."""
        path = GRAPHS / "case3_ref_switch.pbtxt"
        assert npu("diagnose", path).code == 0
        assert npu("diagnose", "--strict", path).code == 1

    def test_json(self, npu):
        """The fixed contract."""
        result = npu("diagnose", "--format", "json", GRAPHS / "case2_resvar_in_map.pbtxt")
        (found,) = json.loads(result.out)["diagnostics"]
        assert (found["rule"], found["line"]) == ("NPU481", 40)

    def test_the_changed_configuration_is_written(self, npu, tmp_path):
        """With the options that mend what options can mend; never over another file."""
        graph = GRAPHS / "case1_contrib_hashtable_map.pbtxt"
        config, changed = tmp_path / "job.yaml", tmp_path / "changed.yaml"
        config.write_text("version: 1\nhccl_timeout: 1800\n")
        result = npu("diagnose", graph, "--config", config, "-o", changed)
        assert result.code == 1
        assert "mix_compile_mode: true" in changed.read_text()
        assert npu("diagnose", graph, "--config", changed).code == 0
        assert npu("diagnose", graph, "--config", config, "-o", changed).code == 2
        assert npu("diagnose", graph, "--config", config, "-o", changed, "--force").code == 1

    def test_a_conflict_prevents_the_change(self, npu, tmp_path):
        """Mixed computing and iteration offload exclude each other."""
        config = tmp_path / "job.yaml"
        config.write_text("version: 1\niterations_per_loop: 10\nenable_data_pre_proc: true\n")
        graph = GRAPHS / "case1_contrib_hashtable_map.pbtxt"
        result = npu("diagnose", graph, "--config", config, "-o", tmp_path / "x.yaml")
        assert result.code == 1
        assert "conflict:    iterations_per_loop is 10" in result.out
        assert not (tmp_path / "x.yaml").exists()

    def test_bad_input(self, npu, tmp_path):
        """One finding each; -o alone is wrong usage."""
        (tmp_path / "x.png").write_bytes(b"\x89PNG\x00")
        result = npu("diagnose", tmp_path / "x.png")
        assert (result.code, result.out.count("NPU795")) == (1, 1)
        assert npu("diagnose", tmp_path / "x.png", "-o", "y.yaml").code == 2


class TestOpSummary:
    """``npu-config op-summary``."""

    @pytest.fixture
    def table(self, tmp_path):
        """A table with one slow ReduceSum."""
        path = tmp_path / "op_summary_0.csv"
        path.write_text(TABLE)
        return path

    def test_ranking_and_advice(self, npu, table):
        """ReduceSum first, with its share; what follows for mixed precision."""
        result = npu("op-summary", table)
        assert result.code == 0
        assert "tables: op_summary x 1; rows: 3, without a time: 1" in result.out
        assert result.out.index("a/Sum") < result.out.index("b/Mul")
        assert "black-list to-add): ReduceSum (97.4% of the time)" in result.out
        assert "other operator types that run on a single core: Mul" in result.out

    def test_the_mixlist_is_written_on_request(self, npu, table, tmp_path):
        """A file that the engine accepts, never over another one."""
        path = tmp_path / "ops_info.json"
        assert npu("op-summary", table, "--write-mixlist", path).code == 0
        assert json.loads(path.read_text()) == {"black-list": {"to-add": ["ReduceSum"]}}
        assert npu("op-summary", table, "--write-mixlist", path).code == 2
        result = npu("op-summary", table, "--type", "Mul", "--write-mixlist", path, "--force")
        assert result.code == 0
        assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Mul"]}}
        other = tmp_path / "other.json"
        assert npu("op-summary", table, "--type", "Conv2D", "--write-mixlist", other).code == 1
        assert not other.exists()

    def test_a_graph_tells_casts(self, npu, table, tmp_path):
        """Where the network itself is float16, the block list does not help."""
        graph = tmp_path / "graph.pbtxt"
        graph.write_text(
            'node { name: "a/Sum" op: "Sum" attr { key: "T" value { type: DT_HALF } } }'
        )
        result = npu("op-summary", table, "--graph", graph)
        assert 'cast the input of "a/Sum"' in result.out
        assert "black-list" not in result.out

    def test_bad_input(self, npu, table):
        """A finding and exit code 1."""
        table.write_text("a,b\n")
        result = npu("op-summary", table)
        assert (result.code, result.out.count("NPU797")) == (1, 1)


def test_fusion_result(npu, tmp_path):
    """The passes that changed something, or all."""
    path = tmp_path / "fusion_result.json"
    passes = {"A": {"match_times": "3", "effect_times": "2"}, "B": {"match_times": "1"}}
    path.write_text(json.dumps({"session_and_graph_id_0_0": {"graph_fusion": passes}}))
    result = npu("fusion-result", path)
    assert result.code == 0
    assert result.out.splitlines()[0] == "graphs: 1, passes: 1"
    assert "graphs: 1, passes: 2" in npu("fusion-result", path, "--all").out
    path.write_text("x")
    assert npu("fusion-result", path).code == 1


def test_loss_scale(npu, tmp_path):
    """Facts, findings, and the exit code with --strict."""
    path = tmp_path / "train.log"
    scales = [2.0 ** (16 - step) for step in range(17)] + [1.0] * 10
    path.write_text(
        "\n".join("loss_scale = {}, step = {}".format(s, i) for i, s in enumerate(scales))
    )
    result = npu("loss-scale", path)
    assert result.code == 0
    assert "curve:       collapsed" in result.out
    assert "NPU280" in result.out
    assert npu("loss-scale", "--strict", path).code == 1
    path.write_text("")
    result = npu("loss-scale", path)
    assert (result.code, result.out.count("NPU799")) == (1, 1)


def test_tfdbg_export(npu, tmp_path):
    """Files and index; a used directory is refused."""
    folder = tmp_path / "dump" / "run_1_0" / "_tfdbg_device_,job_a"
    folder.mkdir(parents=True)
    tensor = event_messages.tensor(1, (), struct.pack("<f", 1.0))
    (folder / "a_0_DebugIdentity_5").write_bytes(
        event_messages.event(0, [event_messages.field(8, tensor)])
    )
    out = tmp_path / "out"
    result = npu("tfdbg-export", tmp_path / "dump", out)
    assert result.code == 0
    assert "tensors exported: 1, not exported: 0" in result.out
    assert (out / "run_0" / "a.0.0.npy").exists()
    assert npu("tfdbg-export", tmp_path / "dump", out).code == 2
    assert npu("tfdbg-export", tmp_path / "none", tmp_path / "out2").code == 2


class TestDoctor:
    """``npu-config doctor``."""

    def test_a_configuration(self, npu, tmp_path):
        """Each check with its outcome and reason; 1 when one failed."""
        path = tmp_path / "job.yaml"
        path.write_text("version: 1\nprecision_mode_v2: mixed_float16\n")
        result = npu("doctor", path)
        assert result.code == 0
        assert 'mixed-precision          the precision mode is "mixed_float16"' in result.out
        assert "cannot be checked here" in result.out
        path.write_text("version: 1\nhccl_timeout: 1800\n")
        result = npu("doctor", path)
        assert result.code == 0
        assert "advice" in result.out
        assert "help: set precision_mode_v2" in result.out

    def test_without_a_source(self, npu):
        """Only the machine."""
        assert npu("doctor").code in (0, 1)
        assert npu("doctor", "--target", "nonsense").code == 2
