"""What the tests of the training side share: the vectors, a small model, what is in a graph."""

import json
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "tf1"
LOOP_VARIABLES = ("iterations_per_loop", "loop_cond", "zero", "one")


def vectors(name):
    """The measured vectors of a file, one a line."""
    with open(str(DATA / name), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def deviations():
    """What is answered otherwise on purpose, with the reasons."""
    return json.loads((DATA / "deviations.json").read_text(encoding="utf-8"))


class Model:
    """One variable x with the loss x * x, trained by gradient descent: x shrinks by 0.8.

    With ``ordered`` the loss is computed before the step, so that a fetch of both does not race.
    """

    def __init__(self, tf, global_step=False, ordered=False):
        self.tf = tf
        self.graph = tf.get_default_graph()
        self.x = tf.Variable(1.0, name="x", use_resource=False)
        self.loss = tf.square(self.x, name="loss")
        self.global_step = tf.train.get_or_create_global_step() if global_step else None
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        with tf.control_dependencies([self.loss] if ordered else []):
            self.train_op = optimizer.minimize(self.loss, self.global_step)
        self.init = tf.global_variables_initializer()

    def session(self, **kwargs):
        """A session in which the variables are initialised."""
        session = self.tf.Session(**kwargs)
        session.run(self.init)
        return session


def loop_values(session):
    """The loop variables of a session's graph by name, as they are loaded."""
    return {
        variable.op.name: int(session.run(variable))
        for name in LOOP_VARIABLES
        for variable in session.graph.get_collection("npu_runconfig_" + name)
    }


def operations(graph):
    """The operations of a graph in the form of the vectors."""
    described = []
    for operation in graph.get_operations():
        entry = {
            "name": operation.name,
            "type": operation.type,
            "inputs": [tensor.name for tensor in operation.inputs],
            "control_inputs": [control.name for control in operation.control_inputs],
        }
        attributes = {
            name: content
            for name, content in (
                ("_class", [text.decode() for text in operation.colocation_groups()]),
                ("container", _attribute(operation, "container")),
                ("shared_name", _attribute(operation, "shared_name")),
            )
            if content is not None and content != [b"loc:@" + operation.name.encode()]
        }
        own = ["loc:@" + operation.name]
        if attributes.get("_class") == own and "_class" not in operation.node_def.attr:
            del attributes["_class"]
        if attributes:
            entry["attrs"] = attributes
        described.append(entry)
    return described


def _attribute(operation, name):
    if name not in operation.node_def.attr:
        return None
    return operation.node_def.attr[name].s.decode()


def collections(graph):
    """The collections of a graph by name, with the names of what is in them."""
    return {
        name: [item.name for item in graph.get_collection(name)]
        for name in graph.get_all_collection_keys()
        if name != "while_context"
    }


def variables(graph):
    """The loop variables of a graph in the form of the vectors."""
    described = []
    for name in LOOP_VARIABLES:
        for variable in graph.get_collection("npu_runconfig_" + name):
            described.append(
                {
                    "class": type(variable).__name__,
                    "collections": sorted(
                        key
                        for key in graph.get_all_collection_keys()
                        if any(item is variable for item in graph.get_collection(key))
                    ),
                    "dtype": variable.dtype.name,
                    "initializer_op": variable.initializer.name,
                    "name": variable.name,
                    "op": variable.op.name,
                    "op_type": variable.op.type,
                    "shape": variable.shape.as_list(),
                    "trainable": variable.trainable,
                }
            )
    return described
