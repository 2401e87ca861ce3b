from npu_bridge.npu_init import *

hooks = [NPUOutputTensorHook(["loss:0"], output_fn=print), TellMeStepOrLossHook(total_step=100)]
manager = FixedLossScaleManager(loss_scale=0.5)
optimizer = NPUOptimizer(optimizer, is_loss_scale=True)
with npu_scope.limit_core_num_scope():
    pass
