from npu_config.npu_init import *
import os
import subprocess
import tensorflow as tf

os.environ.update(CUDA_VISIBLE_DEVICES="0")
os.environ.setdefault("TF_ENABLE_AUTO_MIXED_PRECISION", "1")
command = "nvidia-smi -q"
print("nvidia-smi tells more about GPUs than", os.environ["CUDA_VISIBLE_DEVICES"])


def start():
    os.system("cd /data && mpirun -np 8 python train.py")
    subprocess.call(["/usr/bin/horovodrun", "-np", "8"])


with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(1)))
