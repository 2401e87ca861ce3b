"""Names that come from where no statement shows it."""

import npu_bridge

globals().update(vars(npu_bridge.npu_init))
hooks = npu_hooks_append([])
