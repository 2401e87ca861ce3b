"""Calls of npu_config that Python takes, and those of which nothing is known."""

import sys

import npu_config as npu
from elsewhere import NpuConfig as Theirs
from npu_config import NpuConfig, NpuConfigBuilder, Product, Target

options = {"hccl_timeout": 1800}
target = Target(Product.ATLAS_A2, cann=sys.argv[1])
one = NpuConfig(options, target)
two = NpuConfig.from_dict(sys.argv, on_host=True).evolve(hccl_timeout=int(sys.argv[2]))
three = NpuConfigBuilder(**vars(sys)).set(**options).update(one).update(sys.argv).build(*sys.argv)
four = NpuConfigBuilder(Target(product=Product("910B"))).timeouts(1800).unset("hccl_timeout")
five = npu.NpuConfig.load(sys.argv[3], target=target).to_config_proto()
six = Theirs(iteration_per_loop=10, precision_mode="x")
four.build().save_side_files("/tmp", overwrite=True).to_run_config(model_dir="x")
print(one.options.items(), two["hccl_timeout"], npu.check(one), npu.sidefiles.KINDS)

try:
    from npu_config import NpuConfgBuilder
except ImportError:
    NpuConfgBuilder = NpuConfigBuilder
