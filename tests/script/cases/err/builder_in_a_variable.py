import npu_config as npu
import tensorflow as tf

builder = npu.NpuConfigBuilder()
builder.set(hcom_paralel=True)
builder.data_dump("/home/test/output", steps="20-10")
if FLAGS.debug:
    builder.update({"dump_mode": "ALL"})


def made(**options):
    return npu.NpuConfigBuilder().set(**options).build()


sess = tf.Session(config=builder.build().to_config_proto())
other = tf.Session(config=made(dump_mode="ALL", enable_dump=True).to_config_proto())
