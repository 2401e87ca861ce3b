import npu_config
import npu_config as npu
from npu_config import NpuConfigBilder, NpuConfg as Config, Product
from npu_config import something_else

builder = NpuConfigBilder(target=npu.Traget(product=Product.ATLAS_A22))
config = npu.NpuConfig.from_dct({})
again = npu.presets.Training, npu.__version__, npu.tf1.plan_loops


def other(npu_config):
    return npu_config.anything
