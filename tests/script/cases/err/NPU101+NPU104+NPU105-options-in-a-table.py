import tensorflow as tf
from npu_bridge.npu_init import *

OPTIONS = {
    "op_select_implmode": "high_performance",
    "precision_mode": "allow_fp16",
}
SWITCHES = dict(enable_data_pre_proc=True, mix_compile_mod=False)
PAIRS = [("graph_run_mode", "i", 7), ("task_indx", "i", 0)]
NAMES = ("use_off_lin", "hcom_parallel")
LIMIT = -3


def put(op, name, value):
    op.parameter_map[name].i = value


def switch(op, **options):
    for name, value in options.items():
        op.parameter_map[name].b = value


config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
for name, value in OPTIONS.items():
    op.parameter_map[name].s = tf.compat.as_bytes(value)
for name in SWITCHES:
    op.parameter_map[name].b = SWITCHES[name]
for name, field, value in PAIRS:
    setattr(op.parameter_map[name], field, value)
for name in NAMES:
    op.parameter_map[name].b = True
put(op, "iterations_per_loop", 0)
put(op, "op_wait_timeout", LIMIT)
switch(op, enable_exception_dum=True)
with tf.Session(config=config) as sess:
    sess.run(tf.constant(1))
