from npu_config.npu_init import *
import atexit
import tensorflow as tf

npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
rate = 0.5
x = tf.ones([2, 2])
y = npu_ops.dropout(x, \
             keep_prob \
             = 1 - (0.0), seed=(1))
z = npu_ops.dropout(keep_prob=1 - (  # (the rate) = 0
    (rate - 0.5)
), x=(x), seed=2,)  # last
optimizer = npu_distributed_optimizer_wrapper(
    # the name
    (  # the (inner) one
        tf.train.GradientDescentOptimizer(0.1)),  # where
)
hook = NPUBroadcastGlobalVariablesHook(# (
                                        (0))
total = npu_allreduce(tf.constant([1.0])
                      * (2.0), reduction="sum")
every = hccl_ops.allgather((total), rank_size=get_npu_rank_size())
sent = hccl_ops.broadcast(([every]),  # what
                     root_rank=0)[0]
with tf.Session(graph=tf.get_default_graph(), config  # which
                =npu_config_proto(config_proto=tf.ConfigProto())) as sess:
    print([value.tolist() for value in sess.run([y, z, total, every, sent])])
