"""Another module is called util, and a name of npu_bridge is an attribute of another object."""

from project import common as helper
from project.helper import util

train_op = util.set_iteration_per_loop(helper.session, helper.train_op, 1)
helper.npu_config_proto()
helper.npu_ops.dropout(1)
