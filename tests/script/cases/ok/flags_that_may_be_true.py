"""Flags that are compared with True, and may be True."""

import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--one", default=1)
parser.add_argument("--on", default=True)
parser.add_argument("--stored", default=None)
parser.add_argument("--switch", action="store_true")
parser.add_argument("--typed", type=lambda text: text == "True", default=False)
parser.add_argument("--optional", nargs="?", const=True)
parser.add_argument("--computed", default=parser.prog == "npu")
parser.add_argument("--twice", default=False)
parser.add_argument("--twice", action="store_true")
parser.add_argument("--given", **{"action": "store_true"})
parser.add_argument("--text", default="False")
parser.add_argument("--other", default=False)
args = parser.parse_args()
args.stored = args.stored == "True"


def main(settings):
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
    if args.one == True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.on is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.stored is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.switch is True or args.typed is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.optional is True or args.computed is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.twice is True or args.given is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.text == "True":
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif settings.other is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    elif args.other is not True:
        custom_op.parameter_map["enable_dump_debug"].b = True
    config.graph_options.rewrite_options.memory_optimization = 1
    return tf.Session(config=config)
