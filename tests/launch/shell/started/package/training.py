"""Imports what shows the framework."""

import npu_bridge.npu_init
