import argparse

import npu_config as npu

parser = argparse.ArgumentParser()
parser.add_argument("--timeout", type=int, default=1800)
args = parser.parse_args()

config = (
    npu.NpuConfigBuilder(target=npu.Target(product="atlas_training"))
    .mixed_precision("allow_mix_precision", mixlist_path="ops_info.json")
    .iteration_offload(10)
    .set(hccl_timeout=args.timeout, op_wait_timeout="120", presicion_mode="x")
    .set(aicore_num="24|48", mix_compile_mode=True)
    .build()
)
