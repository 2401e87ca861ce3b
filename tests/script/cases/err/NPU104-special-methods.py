import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"


class Attributes(object):
    def __init__(self, entry):
        object.__setattr__(self, "entry", entry)

    def __setattr__(self, name, value):
        self.entry.parameter_map[name].s = tf.compat.as_bytes(value)


class Items(object):
    def __init__(self, entry):
        self.entry = entry

    def __setitem__(self, name, value):
        self.entry.parameter_map[name].i = value

    def __call__(self, name, value):
        self.entry.parameter_map[name].b = value


attributes = Attributes(custom_op)
attributes.precision_mode = "allow_mix"
items = Items(custom_op)
items["graph_run_mode"] = 7
items("hcom_paralel", True)
text = lambda name: custom_op.parameter_map[name]
text("dump_mode").s = tf.compat.as_bytes("al")
put = lambda name, value: setattr(custom_op.parameter_map[name], "i", value)
put("deterministic", 5)
getattr(custom_op, "parameter_map")["jit_compile"].s = tf.compat.as_bytes("maybe")
with tf.Session(config=config) as sess:
    sess.run(train_op)
