import npu_config as npu
import tensorflow as tf
from npu_config import NpuConfig, Target

wrong = NpuConfig(iteration_per_loop=10, precision_mode="allow_mix_precison")
also = npu.NpuConfig({"iterations_per_loop": "10", "enable_data_pre_proc": True}, targt=None)
last = NpuConfig.from_dict(dict(dump_path="/tmp"), None, False, True)
none = NpuConfig()
item = NpuConfig(["iterations_per_loop"])
away = NpuConfig({}, Target(product="atlas_a22", mode="train", cann="8.0.0"))
both = NpuConfig({}, target=Target("atlas_a2", product="atlas_a3"))
odds = NpuConfig({}, target=Target(cann="8.0.0", adapter="r1.2.0"))
many = NpuConfig.load(**{"file": "x.yaml"})
part = npu.NpuConfigBuilder(cann="8.0.0").iteration_offlaod(10).build(stric=True)
data = npu.NpuConfigBuilder().data_dump(steps="0").profiling("/tmp", trainig_trace="on")
next_ = NpuConfig({"hccl_timeout": 1800}).evolve(hccl_timeout="1800", dump_mode="ALL")
sess = tf.Session(config=next_.to_config_proto(None, None))
made = npu.NpuConfigBuilder().update(["dump_path"]).set("dump_path")
