import tensorflow as tf
from npu_bridge.npu_init import *
from hccl.manage import api
from hccl.manage.api import get_local_rank_id as local

import hccl.manage.api as hccl_api

rank, size = get_npu_rank_id(), get_npu_rank_size()
first = api.get_rank_id()
second = hccl_api.get_rank_size("hccl_world_group")
with tf.Session(config=npu_config_proto()) as sess:
    pass
