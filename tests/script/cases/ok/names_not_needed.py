"""Names of npu_init that need not be there: caught, never run, or no names at all."""

import os
from typing import TYPE_CHECKING

import npu_bridge
import requests.session as util

try:
    on_npu = bool(npu_config_proto)
except NameError:
    on_npu = False

try:
    if os.environ["RANK_SIZE"]:
        hccl_ops.broadcast([], 0)
except (KeyError, NameError):
    print("no ranks")

try:
    init_resource()
except:
    print("no NPU")

if False:
    npu_hooks_append([])

while 0:
    npu_callbacks_append([])

if TYPE_CHECKING:
    print(NPURunConfig)

USE_NPU = False
if USE_NPU:
    init_resource(NPURunConfig)


def not_yet(hooks):
    raise NotImplementedError
    return npu_hooks_append(hooks)


def early(hooks):
    for hook in hooks:
        continue
        npu_ops.dropout(hook)
    return hooks
    hccl_ops.broadcast([], 0)


class Config:
    dump: "DumpConfig"
    """Made by DumpConfig(), or by npu_bridge.npu_init.DumpConfig."""


def profile(bridge, npu_scope=None):
    """``npu_config_proto(...)`` in words."""
    return bridge.ProfilingConfig(npu_scope), util.of(bridge), "npu_tf_optimizer"


print(profile(npu_bridge.npu_init, npu_bridge.npu_ops))
