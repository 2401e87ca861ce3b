import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
rate = 0.5
x = tf.ones([2, 2])
y = tf.nn \
    .dropout(x, \
             rate \
             = 0.0, seed=(1))
z = tf.nn.dropout(rate=(  # (the rate) = 0
    (rate - 0.5)
), x=(x), seed=2,)  # last
optimizer = hvd.DistributedOptimizer(
    name="outer",  # the name
    optimizer=(  # the (inner) one
        tf.train.GradientDescentOptimizer(0.1)),
    device_dense="",  # where
)
hook = hvd.BroadcastGlobalVariablesHook(device="", root_rank  # (
                                        =(0))
total = hvd.allreduce(average=False, tensor=tf.constant([1.0])
                      * (2.0))
every = hvd.allgather(name="every", tensor=(total))
sent = hvd.broadcast((every),  # what
                     name="sent",
                     root_rank=0)
(
    hvd.shutdown()
)
with tf.Session(graph=tf.get_default_graph(), config  # which
                =tf.ConfigProto()) as sess:
    print([value.tolist() for value in sess.run([y, z, total, every, sent])])
