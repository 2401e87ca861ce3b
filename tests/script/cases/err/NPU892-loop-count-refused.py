from npu_bridge.npu_init import *

train_op = util.set_iteration_per_loop(sess, train_op, "10")
hooks = [SetIterationsVarHook(0), SetIterationsVarHook()]
