import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--over_dump", default=False, help="whether to detect overflow")
parser.add_argument("-p", "--profiling", type=str)
parser.add_argument("--data-dump", dest="dump", default="False")


def parse():
    args, _ = parser.parse_known_args()
    return args


def main(model_dir):
    args = parse()
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    if model_dir and args.over_dump is True:
        custom_op.parameter_map["enable_dump_debug"].b = True
        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
    if args.profiling == True:
        options = '{"output": "/tmp", "task_time": "on"}'
        custom_op.parameter_map["profiling_mode"].b = True
        custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes(options)
    if args.dump is not True:
        dump_config = None
    else:
        dump_config = DumpConfig(enable_dump=True, dump_path="/tmp/dump")
    run_config = NPURunConfig(dump_config=dump_config, session_config=config)
    return NPUEstimator(model_fn=model_fn, config=run_config)
