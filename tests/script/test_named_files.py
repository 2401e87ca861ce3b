"""Which file a script loads: what Python makes of the words, the check makes of them."""

import os
import pathlib

import pytest

from npu_config.script import read_script

EXPRESSIONS = """
os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "conf", "npu.yaml")
os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "conf/npu.yaml")
os.path.dirname(os.path.realpath(__file__)) + "/../../conf/" + "npu.yaml"
os.path.dirname(__file__) + "/../../conf/{}.yaml".format("npu")
os.path.dirname(__file__) + "/../../conf/%s.yaml" % "npu"
f"{os.path.dirname(__file__)}/../../conf/npu.yaml"
pathlib.Path(__file__).parent / ".." / ".." / "conf" / "npu.yaml"
pathlib.Path(__file__).parent.parent.parent / "conf/npu.yaml"
pathlib.Path(__file__).parents[2] / "conf" / "npu.yaml"
pathlib.Path(__file__).resolve().parents[0] / "../../conf/npu.yaml"
pathlib.Path(__file__).parents[1].parent.joinpath("conf", "npu.yaml")
pathlib.Path(__file__).absolute().with_name("x").parents[2] / "conf" / "npu.yaml"
pathlib.Path(os.path.dirname(__file__), "..", "../conf", "npu.yaml")
str(pathlib.Path(__file__).parents[2] / "conf" / "npu.yaml")
os.fspath(pathlib.Path(__file__).parents[2]) + "/conf/npu.yaml"
os.path.join(str(pathlib.Path(__file__).parents[2]), os.getenv("NO_SUCH", "conf"), "npu.yaml")
os.path.join(str(pathlib.Path(__file__).parents[2]), os.environ.get("NO_SUCH", "conf"), "npu.yaml")
os.path.normpath(os.path.join(__file__, "../../../conf/npu.yaml"))
f"/home/user/{'conf'}/npu.yaml"
f"/home/user/conf/{'np'}{'u'!s}.yaml"
f"/home/{'u' + 'ser'}/conf/npu.yaml"
""".strip().split("\n")
UNKNOWN = """
pathlib.Path(__file__).parents
pathlib.Path(__file__).suffix
os.path.join(os.path.dirname(__file__), name)
os.path.dirname(__file__) + name
pathlib.Path(name).parent / "npu.yaml"
pathlib.Path(__file__).parents[number] / "npu.yaml"
os.getenv("NO_SUCH")
os.path.dirname(__file__) * 2
f"{name}/npu.yaml"
f"/home/user/conf/{other:>8}.yaml"
""".strip().split("\n")
SCRIPT = """\
import os, pathlib, sys
import tensorflow as tf
from npu_bridge.npu_init import *
import npu_config

name, number = sys.argv[1], len(sys.argv)
config = npu_config.NpuConfig.load({})
with tf.Session(config=config.to_config_proto()) as sess:
    sess.run(1)
"""


SCRIPT_FILE, LOADED = "/home/user/a/b/train.py", "/home/user/conf/npu.yaml"


def files(expression):
    """The files that the script loads, as far as it says."""
    reading = read_script(SCRIPT.format(expression), SCRIPT_FILE)
    return [os.path.normpath(each.file) for each in reading.loads()]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_file_that_is_named(expression):
    """The words name it from the script on, with the functions of os.path, pathlib and texts."""
    real = eval(expression, {"os": os, "pathlib": pathlib, "__file__": SCRIPT_FILE})
    assert os.path.normpath(str(real)) == LOADED
    assert files(expression) == [LOADED]


@pytest.mark.parametrize("expression", UNKNOWN)
def test_a_file_that_is_not_known(expression):
    """What depends on the run names none."""
    assert files(expression) == []
