# -*- coding: utf-8 -*-
import tensorflow as tf
from npu_bridge.npu_init import *

配置 = tf.ConfigProto()
优化器 = 配置.graph_options.rewrite_options.custom_optimizers.add()
优化器.name = "NpuOptimizer"
说明 = "数据"; 优化器.parameter_map["dump_mode"].s = tf.compat.as_bytes("全部")  # 全部
优化器.parameter_map["精度"].s = tf.compat.as_bytes("混合"); 优化器.parameter_map["x"].b = True
with tf.Session(config=配置) as 会话:
    会话.run(说明)
