"""The script has its own function of that name."""

from npu_bridge import npu_init


def npu_hooks_append(hooks_list):
    return [npu_init.NPUBroadcastGlobalVariablesHook(0), *hooks_list]


hooks = npu_hooks_append([])
print(hooks[-1].total_time)
