"""One small right file for each target, as a piece that can be repeated."""

import struct
from pathlib import Path
from typing import NamedTuple

from tests.dumps.dump_writer import dump
from tests.dumps.dump_writer import tensor as dump_tensor
from tests.proto.event_messages import event, scalar_value, scalars, tensor

DATA = Path(__file__).resolve().parents[1] / "data" / "dump"


class Seed(NamedTuple):
    """A head, a piece in which ``%d`` stands for its number, what joins pieces, and a tail."""

    head: bytes
    piece: bytes
    joint: bytes = b"\n"
    tail: bytes = b"\n"

    def of(self, count):
        """A file of so many pieces."""
        pieces = [self.piece.replace(b"%d", str(number).encode()) for number in range(count)]
        return self.head + self.joint.join(pieces) + self.tail


def _text(head, piece, joint="\n", tail="\n"):
    return Seed(head.encode(), piece.encode(), joint.encode(), tail.encode())


_SCRIPT = """\
config = tf.ConfigProto()
custom = config.graph_options.rewrite_options.custom_optimizers.add()
custom.name = "NpuOptimizer"
custom.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix")
custom.parameter_map["no_option_%d"].b = True
with tf.Session(config=config) as sess:
    sess.run(train_op)
"""
_HEAD = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
_NODE = 'node { name: "n%d" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
_ENTRY = 'parameter_map { key: "no_option_%d" value { b: true } }'
_RANK = '{"device_id": "%d", "rank_id": "%d", "device_ip": "10.0.0.1"}'
_TENSOR = struct.pack("<f", 1.0)
_SHELL = 'export RANK_ID=%d\nexport NO_NAME="$(echo a)"\nif [ $1 = a ]; then\n  python3 x.py &\nfi'
_OP = 'op { name: "o%d" type: "Add" input: "o%d:0" id: %d output_desc { dtype: DT_FLOAT } }'
_LOG = _text(
    "Error Message is : \nEI0006: Getting socket times out. Reason: x\n",
    "[ERROR] HCCL(%d,python):2024-01-10-02:32:25.634.412 [a.cc:4][%d][Wait]wait socket establish "
    "timeout, role[1] rank[%d]\n[1,%d]<stderr>:E40021: Failed to compile Op [a%d]. /home/u%d/a.py",
)
_RECORD = next(DATA.rglob("Opdebug.*")).read_bytes()

SEEDS = {
    "editor": _text("version: 1\n", "hccl_timeou_%d: 1\nno_option_%d: [a, {b: c}]"),
    "read-any": _text("version: 1\n", "no_option_%d: 1"),
    "read-yaml": _text("version: 1\n", "hccl_timeou_%d: 1\nno_option_%d: [a, {b: c}]"),
    "read-toml": _text("version = 1\n", 'no_option_%d = "a"\n[table_%d]\nx = [1, 2]'),
    "read-json": _text('{"version": 1,', '"no_option_%d": {"a": [1, "b"]}', ",\n", "}"),
    "read-record": _text(
        '{"version": 1, "tool": "npu_config 1", "defaults": {}, "options": {',
        '"hccl_timeout": %d, "no_option_%d": [1]',
        ",\n",
        "}}",
    ),
    "read-pbtxt": _text(
        'graph_options { rewrite_options { custom_optimizers { name: "NpuOptimizer"\n',
        _ENTRY,
        tail="\n}}}\n",
    ),
    "read-pb": Seed(
        b"", b"R 2\x1e*\x1c\n\x0cNpuOptimizer\x12\x0c\n\x06dump_a\x12\x02(\x01", b"", b""
    ),
    "read-script": _text(_HEAD, _SCRIPT),
    "read-shell": _text("#!/bin/bash\n", _SHELL),
    "read-mixlist": _text('{"black-list": {"to-add": [', '"Op%d", "Add"', ",", "]}}"),
    "read-fusion_switch": _text('{"Switch": {"GraphFusion": {', '"Pass%d": "of"', ",\n", "}}}"),
    "read-op_precision": _text("[ByOpType]\n", "Op%d=high_precisio\nAdd=a"),
    "read-customize_dtypes": _text("", "OpType::Op%d:InputDtype:float17,OutputDtype:float16"),
    "read-op_debug": _text("", "op_debug_config=oom,no_%d\nop_debug_list=OpType::Op%d"),
    "read-profiling": _text('{"output": "/a",', '"no_%d": "on"', ",\n", "}"),
    "read-aoe": _text('{"a": 1,', '"no_%d": "on"', ",\n", "}"),
    "read-op_cache": _text("[op_compiler_cache]\n", "max_op_cache_size=%d\nno_%d=1"),
    "read-insert_op": _text("", "aipp_op { aipp_mode: static no_%d: 1 csc_switch: maybe }"),
    "read-hccl_whitelist": _text('{"host_ip": [', '"10.0.0.1", "x%d"', ",", "]}"),
    "read-job_start": _text('{"rank_size": 1,', '"no_%d": {"a": 1}', ",", "}"),
    "read-rank-table": _text(
        '{"version": "1.0", "status": "completed", "server_count": "1", "server_list": '
        '[{"server_id": "a", "device": [',
        _RANK,
        ",\n",
        "]}]}",
    ),
    "check-yaml": _text("version: 1\n", "hccl_timeou_%d: 1  # npu: ignore[NPU101, no-%d]"),
    "check-script": _text(_HEAD, "# npu: ignore[NPU%d]\n" + _SCRIPT),
    "values": _text("", "a%d:1,2;3|4-5"),
    "environment": _text("", "RANK_ID=%d\nexport NAME_%d=\"a b\"\nHCCL_NO_%d='x'"),
    "hccn": _text("", "address_%d=10.0.0.1\nnetmask_%d=255.255.255.0"),
    "migrate": _text(
        "import tensorflow as tf\n",
        "def f%d(x):\n    with tf.Session() as sess:\n        sess.run(tf.nn.dropout(x, 0.5))",
    ),
    "migrate-notebook": _text(
        '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "outputs": [], "source": '
        '"import tensorflow as tf"}',
        ', {"cell_type": "code", "source": ["%time %d\\n", "s = tf.Session()\\n", "!ls"]},'
        ' {"cell_type": "markdown", "source": "tf.Session() %d"}',
        "\n",
        "]}",
    ),
    "graph": _text("", _NODE),
    "graph-binary": Seed(b"", b"\n\x0b\n\x02nn\x12\x05Const", b"", b""),
    "op-summary": _text(
        "Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types\n",
        'a%d/Sum,ReduceSum,AI_CORE,1500.5,1,"8,8",FLOAT16;INT32',
    ),
    "fusion-result": _text(
        "[",
        '{"session_and_graph_id_%d_0": {"graph_fusion": {"P%d": {"match_times": "1", '
        '"effect_times": "1"}}, "ub_fusion": {}}}',
        ",\n",
        "]",
    ),
    "log": _LOG,
    "log-growing": _LOG,
    "loss-scale": _text("", "step = %d loss scale 1024 overflow: false"),
    "event": Seed(b"", event(1, [scalar_value("loss_scale", 2.0)]), b"", b""),
    "events": Seed(b"", scalars([(1, 2.0), (2, 1.0)]), b"", b""),
    "tfdbg": Seed(
        event(
            1,
            [b"\n\x01a\x42" + bytes([len(tensor(1, (1,), _TENSOR))]) + tensor(1, (1,), _TENSOR)],
        ),
        b"",
        b"",
        b"",
    ),
    "gitignore": _text("", "*.pyc\n!/a/**/b%d?[a-z]"),
    "suppress": _text("", "x = 1  # npu: ignore[NPU%d]\n# npu: ignore-file[no]"),
    "project": _text("[tool.npu-config]\nignore = [", '"NPU%d", "no-rule"', ",\n", "]\n"),
    "baseline": _text(
        '{"version": 1, "findings": [',
        '{"rule": "NPU%d", "path": "a", "option": "", "line": "", "count": 1}',
        ",\n",
        "]}",
    ),
    "toolkit": _text("", "Version=%d.0.0\nx_version=[1:2]"),
    "pod": _text(
        '{"status": "completed", "server_list": [',
        '{"server_id": "10.0.0.%d", "device": [{"rank_id": "%d"}]}',
        ",",
        "]}",
    ),
    "dump": Seed(
        dump("a", [dump_tensor("input", bytes(8), (2,)), dump_tensor("output", bytes(8), (2,))]),
        b"\0",
        b"",
        b"",
    ),
    "dump-mapping": _text("", "%d,Add.a.1.2.3"),
    "dump-statistics": _text(
        "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Count\n",
        "Input,%d,8,DT_FLOAT,ND,2x1,1,2",
    ),
    "profile": _text("OP Type,Core Type,Count,Total Time(us)\n", "Conv%d,AI_CORE,1,2.5"),
    "dump-search": _text(
        '{"version": 1, "kind": "npu_config.dump_search", "base": "b", "base_sha256": "", '
        '"records": "base", "reference": null, "known_runs": [], "operators": [], "runs": [], '
        '"suspects": [',
        '{"kind": "graph", "name": "P%d"}',
        ",",
        "]}",
    ),
    "dump-result": _text("LeftOp,RightOp,TensorIndex,CosineSimilarity\n", "a%d,a,a:output:%d,1.0"),
    "dump-index": _text(
        "run,file,node,output,occurrence,debug_op,device,dtype,shape,time_us,status\n",
        "0,a%d.npy,n%d,0,0,output,,float32,2,1,ok",
    ),
    "reference": _text(
        "run,file,node,output,occurrence,debug_op,device,dtype,shape,time_us,status\n",
        "0,a%d.npy,n%d,0,0,output,,float32,2,1,ok",
    ),
    "reference-network": _text("file,node,output\n", "a%d.npy,scope/n%d,0"),
    "compile": _text(_HEAD, _SCRIPT),
    "ge-graph": _text('graph { name: "g"\n', _OP, tail="\n}\n"),
    "overflow-record": Seed(_RECORD, b"\0", b"", b""),
}
"""Target to its seed."""
