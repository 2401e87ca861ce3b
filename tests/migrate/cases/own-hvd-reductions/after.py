from npu_config.npu_init import *
import atexit
import tensorflow as tf

npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
x = tf.constant([1.0, 3.0])
total = npu_allreduce(
    x, reduction="sum")
whole = [npu_allreduce(one) for one in (x, x + 1)]
gathered = hccl_ops.allgather(x, rank_size=get_npu_rank_size())
shared = hccl_ops.broadcast([x], root_rank=0)[0]
with tf.Session(config=npu_config_proto()) as sess:
    print(*[value.tolist() for value in sess.run([total, gathered, shared] + whole)])
