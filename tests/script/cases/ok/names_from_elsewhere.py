"""A star import, wherever it stands, may bring every name."""

try:
    from npu_bridge.npu_init import *
except ImportError:
    print("no NPU")

hooks = npu_hooks_append([])
session = set_keras_session_npu_config()
rank = get_npu_rank_id()
