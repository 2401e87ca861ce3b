"""Serves precision_tool in processes that a script under ``npu-config run`` starts."""

from npu_config.runner.finder import serve

serve(__name__)
