import tensorflow as tf
from npu_bridge.npu_init import *
import concurrent.futures
import multiprocessing as mp
from multiprocessing import Pool, Process


def load(name):
    return name


if __name__ == "__main__":
    with Pool(4) as pool:
        pool.map(load, ["a"])
    worker = Process(target=load, args=("a",))
    other = mp.Process(target=load)
    executor = concurrent.futures.ProcessPoolExecutor(max_workers=2)
    with tf.Session(config=npu_config_proto()) as sess:
        pass
