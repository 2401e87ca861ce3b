import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
x = tf.constant([1.0, 3.0])
total = hvd.allreduce(
    x,
    average=False)
whole = [hvd.allreduce(one, op=hvd.Average) for one in (x, x + 1)]
gathered = hvd.allgather(x)
shared = hvd.broadcast(x, root_rank=0)
with tf.Session() as sess:
    print(*[value.tolist() for value in sess.run([total, gathered, shared] + whole)])
