import tensorflow as tf
from npu_bridge.npu_init import *
from hccl.manage.api import get_rank_id

from my_ranks import get_rank_size

size = get_rank_size()


def shard():
    return get_rank_id()


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(npu_ops.initialize_system())
    print(get_rank_id(), shard())
