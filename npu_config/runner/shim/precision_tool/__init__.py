"""Serves precision_tool in processes that a script under ``npu-config run`` starts."""

import sys

from npu_config.runner.finder import fill, install_npu_bridge

if __name__ == "precision_tool":  # found through PYTHONPATH, not as a module of npu_config
    install_npu_bridge(force=True)
    fill(sys.modules[__name__])
