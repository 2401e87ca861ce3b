"""Stands in for the NPU: computes a graph in float16, as mixed precision does, and dumps it.

What it is told it reads from the ConfigProto of the session, without any code of npu_config; the
numbers, infinities too, are those of TensorFlow's own kernels.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf
from dumps import dump_writer as w

FLOATING_POINT = 0x20
GIVEN = ("Placeholder", "Const", "VariableV2", "Identity")


class Device:
    """The device of a session.

    Args:
        config: of the session.
    """

    def __init__(self, config):
        (optimizer,) = config.graph_options.rewrite_options.custom_optimizers
        self.options = {
            name: value.s.decode() if value.WhichOneof("value") == "s" else value.b
            for name, value in optimizer.parameter_map.items()
        }
        self.root = Path(self.options["dump_path"])

    def is_half(self, op):
        """Whether an operator is computed in float16."""
        if self.options["precision_mode"] == "must_keep_origin_dtype":
            return False
        path = self.options.get("modify_mixlist")
        lists = json.loads(Path(path).read_text()) if path else {}
        return op.type not in lists.get("black-list", {}).get("to-add", ())

    def run(self, session, fetch, feed):
        """The value of a tensor."""
        graph, given, operators = session.graph, {}, []
        for op in graph.get_operations():
            if op.type in GIVEN:
                given[op.name] = session.run(op.outputs[0], feed)
            elif op.outputs and op.type != "Assign":
                operators.append(op)
        with tf.Graph().as_default(), tf.Session() as device:
            made = {name: tf.constant(value) for name, value in given.items()}
            values = device.run([self.compute(op, made) for op in operators])
        self.write_graph(graph)
        self.write_dumps(operators, values)
        return values[[op.name for op in operators].index(fetch.op.name)][-1]

    def compute(self, op, made):
        """The inputs and the output of an operator."""
        kind = tf.float16 if self.is_half(op) else tf.float32
        inputs = [made[each.op.name] for each in op.inputs]
        inputs = [tf.cast(each, kind) if each.dtype.is_floating else each for each in inputs]
        attrs = {name: value for name, value in op.node_def.attr.items() if name[0] != "_"}
        attrs["T"] = tf.AttrValue(type=kind.as_datatype_enum)
        new = tf.get_default_graph().create_op(op.type, inputs, [kind], attrs=attrs)
        made[op.name] = new.outputs[0]
        return [*inputs, new.outputs[0]]

    def write_dumps(self, operators, values):
        """What the options ask for; overflow detection leaves nothing where nothing overflows."""
        run = "202601020304{:02}".format(len(list(self.root.glob("*"))))
        for task, (op, tensors) in enumerate(zip(operators, values), 1):
            bad = not all(np.isfinite(each).all() for each in tensors)
            is_overflow = bool(bad and self.options.get("enable_dump_debug"))
            if not is_overflow and not self.options.get("enable_dump"):
                continue
            folder = w.step_folder(self.root, 0, run, model="ge_default_1")
            sides = ["input"] * len(op.inputs) + ["output"]
            arrays = [w.array(side, np.asarray(each)) for side, each in zip(sides, tensors)]
            w.operator(folder, op.name, arrays, op.type, task, time=1767323045000000 + task)
            if is_overflow:
                w.opdebug(folder, task, 2, FLOATING_POINT, 1767323045000000 + task)

    def write_graph(self, graph):
        """The graph of the graph engine, in the working directory."""
        types = {"Placeholder": "Data", "VariableV2": "Variable", "Identity": "Variable"}
        lines = []
        for number, op in enumerate(graph.get_operations()):
            inputs = "".join(
                ' input: "{}:{}"'.format(each.op.name, each.value_index) for each in op.inputs
            )
            parts = (op.name, types.get(op.type, op.type), number, inputs)
            lines.append(
                '  op {{ name: "{}" type: "{}" id: {}{} output_desc {{}} }}'.format(*parts)
            )
        text = 'graph {{\n  name: "ge_default_1"\n{}\n}}\n'.format("\n".join(lines))
        Path("ge_proto_00000001_graph_1_Build.txt").write_text(text)
