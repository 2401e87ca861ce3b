import tensorflow as tf
from npu_bridge.npu_init import *
import multiprocessing

if __name__ == "__main__":
    multiprocessing.set_start_method("forkserver")
    pool = multiprocessing.Pool(4)
    with tf.Session(config=npu_config_proto()) as sess:
        pass
