import tensorflow as tf
from npu_bridge.npu_init import *
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.dummy import Pool as Threads
from multiprocessing.pool import ThreadPool

from my_tools import Pool, Process

pool = Threads(4)
other = ThreadPool(4)
executor = ThreadPoolExecutor(4)
thread = threading.Thread(target=print)
lock = multiprocessing.Lock()
count = multiprocessing.cpu_count()
own = Pool(4)
process = Process()
with tf.Session(config=npu_config_proto()) as sess:
    pass
