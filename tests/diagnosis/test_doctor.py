"""The check-up: each check passes, fails, or says why it cannot be made here."""

import pytest

from npu_config import OPTIONS, NpuConfig, Target, check
from npu_config.diagnosis.doctor import CheckOutcome, examine
from npu_config.proto import stub_config_proto

PASSED, FAILED, UNKNOWN = CheckOutcome.PASSED, CheckOutcome.FAILED, CheckOutcome.UNKNOWN
ADVICE = CheckOutcome.ADVICE

SCRIPT = """
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes({mode})
config.graph_options.rewrite_options.remapping = RewriterConfig.{remapping}
{more}
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session(config=config) as sess:
    sess.run(train_op)
"""


def outcomes(source, environ=(), **arguments):
    """Check to outcome."""
    checkup = examine(source, environ=dict(environ), **arguments)
    return {check.name: check.outcome for check in checkup.checks}


def script(tmp_path, mode='"allow_mix_precision"', remapping="OFF", more=""):
    """A training script on disk."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.format(mode=mode, remapping=remapping, more=more))
    return path


def test_without_a_source_only_the_machine_is_looked_at():
    """What needs a configuration cannot be checked, and says so."""
    checkup = examine(environ={}, on_host=False)
    assert checkup["mixed-precision"].outcome is UNKNOWN
    assert checkup["mixed-precision"].reason == "no configuration or script was given"
    assert checkup.ok


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"precision_mode_v2": "mixed_float16"}, PASSED),
        ({"precision_mode": "allow_mix_precision_fp16"}, PASSED),
        ({"precision_mode": "allow_fp32_to_fp16"}, ADVICE),
        ({"precision_mode": "must_keep_origin_dtype"}, ADVICE),
        ({"hccl_timeout": 1800}, ADVICE),
        ({"graph_run_mode": 0}, PASSED),
    ],
)
def test_mixed_precision(options, expected):
    """On, off, absent, and inference."""
    assert outcomes(NpuConfig.from_dict(options))["mixed-precision"] is expected
    assert outcomes(options)["mixed-precision"] is expected


def test_loss_scale_goes_with_mixed_precision(tmp_path):
    """A script that scales, one that does not, one that needs none; a configuration cannot say."""
    scaled = "opt = NPULossScaleOptimizer(opt, ExponentialUpdateLossScaleManager(1024, 100))"
    assert outcomes(script(tmp_path, more=scaled))["loss-scale"] is PASSED
    checkup = examine(script(tmp_path, more="# NPULossScaleOptimizer"), environ={})
    assert checkup["loss-scale"].outcome is FAILED
    assert "NPULossScaleOptimizer" in checkup["loss-scale"].help
    inner = "opt = NPUOptimizer(opt, is_loss_scale=False, loss_scale_manager=None)"
    assert outcomes(script(tmp_path, more=inner))["loss-scale"] is FAILED
    for mode in ("must_keep_origin_dtype", "force_fp32", "allow_fp32_to_fp16"):
        plain = script(tmp_path, mode='"{}"'.format(mode))
        assert outcomes(plain)["loss-scale"] is PASSED
    plain = script(tmp_path, mode='"must_keep_origin_dtype"')
    assert outcomes(plain)["loss-scale"] is PASSED
    assert outcomes(script(tmp_path, mode='"allow_mix_precision_bf16"'))["loss-scale"] is PASSED
    assert outcomes({"precision_mode_v2": "mixed_float16"})["loss-scale"] is UNKNOWN


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("sess.run(loss)", PASSED),
        ("sess.run(train_op)", UNKNOWN),
        ("model.fit(data)", UNKNOWN),
        ("model.compile(optimizer='sgd')", FAILED),
        ("from plain_model import train_op", FAILED),
        ("from scaled_model import train_op", PASSED),
        ("import unheard_of", PASSED),
    ],
)
def test_loss_scale_goes_with_an_optimizer(tmp_path, lines, expected):
    """Without one nothing is missing; one in another file decides, where the file can be read."""
    (tmp_path / "plain_model.py").write_text("train_op = tf.train.AdamOptimizer().minimize(x)\n")
    (tmp_path / "scaled_model.py").write_text(
        "opt = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)\n"
        "train_op = opt.minimize(x)\n"
    )
    path = script(tmp_path, more=lines)
    text = path.read_text()
    path.write_text(text[: text.index("train_op = tf.train.Adam")])
    assert outcomes(path)["loss-scale"] is expected


def test_loss_scale_where_the_precision_mode_is_not_known(tmp_path):
    """A flag, a script without options, inference: nothing fails."""
    assert outcomes(script(tmp_path, mode="FLAGS.mode"))["loss-scale"] is UNKNOWN
    path = tmp_path / "other.py"
    path.write_text("import tensorflow as tf\ntf.train.AdamOptimizer(0.1).minimize(loss)\n")
    assert outcomes(path)["loss-scale"] is UNKNOWN
    inference = 'custom_op.parameter_map["graph_run_mode"].i = 0'
    assert outcomes(script(tmp_path, more=inference))["loss-scale"] is PASSED


@pytest.mark.parametrize("made", ['npu.NpuConfigBuilder().set(deterministic=1).build()',
                                  'npu.NpuConfig.load("npu.yaml")', "helper()"])  # fmt: skip
def test_a_script_that_lets_npu_config_make_the_proto(tmp_path, made):
    """What to_config_proto does is known, also where the options come from somewhere else."""
    path = tmp_path / "train.py"
    path.write_text(
        "import npu_config as npu\nimport tensorflow as tf\nfrom helpers import helper\n\n"
        "with tf.Session(config={}.to_config_proto(tf.ConfigProto())) as sess:\n"
        "    sess.run(x)\n".format(made)
    )
    found = outcomes(path)
    names = ("npu-used", "remapping-off", "memory-optimization-off", "xla-off")
    assert {name: found[name] for name in names} == dict.fromkeys(names, PASSED)


def test_a_value_known_at_run_time_is_unknown(tmp_path):
    """A flag is neither on nor off."""
    path = script(tmp_path, mode="FLAGS.precision_mode")
    assert outcomes(path)["mixed-precision"] is UNKNOWN


@pytest.mark.parametrize("field", ["b: true", "i: 7", "f: 1.5", 's: "\\000"', "list { i: 1 }", ""])
def test_values_of_another_kind(tmp_path, field):
    """An option in a wrong field, or without a value, is no value that a check may look at."""
    options = "".join(
        'parameter_map {{ key: "{}" value {{ {} }} }}\n'.format(name, field)
        for name in OPTIONS
        if not name.startswith("enable_dump")
    )
    path = tmp_path / "session.pbtxt"
    path.write_text(
        'graph_options { rewrite_options { custom_optimizers { name: "NpuOptimizer"\n'
        'parameter_map { key: "enable_dump" value { b: true } }\n' + options + "} } }\n"
    )
    assert outcomes(path)["dump-directories"] is UNKNOWN


def test_what_stands_around_the_options(tmp_path):
    """Remapping, memory optimization and XLA, by where the session comes from."""
    fields = ("remapping-off", "memory-optimization-off", "xla-off")
    found = outcomes({"hccl_timeout": 1800})
    assert [found[name] for name in fields] == [PASSED] * 3
    found = outcomes(NpuConfig.from_dict({"hccl_timeout": 1800}).to_config_proto())
    assert [found[name] for name in fields] == [PASSED] * 3
    proto = stub_config_proto()()
    proto.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    proto.graph_options.rewrite_options.memory_optimization = 2
    proto.graph_options.optimizer_options.global_jit_level = 1
    errors = {found.rule for found in check(proto).errors}
    checkup = examine(proto, environ={})
    assert [checkup[name].outcome for name in fields] == [
        FAILED if rule in errors else ADVICE for rule in ("NPU803", "NPU804", "NPU805")
    ]
    assert checkup["memory-optimization-off"].reason == (
        "memory_optimization is MANUAL, not NO_MEM_OPT"
    )
    path = script(tmp_path, remapping="ON")
    assert outcomes(path)["remapping-off"] is PASSED  # npu_init's session switches it off
    plain = "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig"
    path.write_text(path.read_text().replace("from npu_bridge.npu_init import *", plain))
    assert outcomes(path)["remapping-off"] is FAILED
    environ = {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"}
    assert outcomes({"hccl_timeout": 1800}, environ)["xla-off"] is FAILED


def test_whether_the_npu_is_used():
    """The entry's name, and the switch that turns everything off."""
    assert outcomes({"use_off_line": False})["npu-used"] is FAILED
    proto = stub_config_proto()()
    proto.graph_options.rewrite_options.custom_optimizers.add(name="Npuoptimizer")
    assert outcomes(proto)["npu-used"] is FAILED
    assert outcomes({"hccl_timeout": 1800})["npu-used"] is PASSED


def test_broken_rules_are_counted(tmp_path):
    """The first error is told; a file that cannot be read is one."""
    path = tmp_path / "job.yaml"
    path.write_text("version: 1\nhccl_timeout: -1\nprecision_mode: nonsense\n")
    check = examine(path, environ={})["configuration-valid"]
    assert (check.outcome, check.reason[:8]) == (FAILED, "2 errors")
    for name in ("missing.yaml", "missing.py"):
        check = examine(tmp_path / name, environ={})["configuration-valid"]
        assert (check.outcome, check.reason[:7]) == (FAILED, "1 error")
    (tmp_path / "old.py").write_text("print 'Python 2'\n")
    checkup = examine(tmp_path / "old.py", environ={})
    assert checkup["configuration-valid"].outcome is FAILED
    assert checkup["loss-scale"].outcome is UNKNOWN


def test_dump_directories(tmp_path):
    """There, missing on the host, missing elsewhere, not needed."""
    dump = {"enable_dump": True, "dump_step": "0"}
    assert outcomes({"hccl_timeout": 1800})["dump-directories"] is PASSED
    assert outcomes({**dump, "dump_path": str(tmp_path)})["dump-directories"] is PASSED
    missing = {**dump, "dump_path": str(tmp_path / "none")}
    assert outcomes(missing, on_host=False)["dump-directories"] is UNKNOWN
    checkup = examine(missing, environ={}, on_host=True)
    assert checkup["dump-directories"].outcome is FAILED
    assert "mkdir -p" in checkup["dump-directories"].help
    assert outcomes(dump)["dump-directories"] is FAILED


def test_environment():
    """Nothing to look at, something right, something wrong."""
    assert outcomes(None)["environment"] is UNKNOWN
    assert outcomes(None, {"JOB_ID": "a1"}, on_host=False)["environment"] is PASSED
    wrong = {"RANK_TABLE_FILE": "/t.json", "CM_CHIEF_IP": "1.2.3.4", "RANK_ID": "0"}
    assert outcomes(None, wrong, on_host=False)["environment"] is FAILED


def test_cann_version(tmp_path):
    """Found below the root that the environment names; compared with the target."""
    (tmp_path / "version.cfg").write_text("toolkit_running_version=[8.0.1:8.5.0]\nVersion=8.5.0\n")
    environ = {"ASCEND_HOME_PATH": str(tmp_path)}
    assert outcomes(None, environ)["cann-version"] is PASSED
    assert outcomes(None, environ, target=Target(cann="8.5"))["cann-version"] is PASSED
    assert outcomes(None, environ, target=Target(cann="8.0.0"))["cann-version"] is FAILED
    assert outcomes(None, {"ASCEND_HOME_PATH": "/none"})["cann-version"] is UNKNOWN
    assert outcomes(None)["cann-version"] is UNKNOWN


def test_the_host_is_recognised():
    """By the vendor's software; then a missing adapter is a fault."""
    environ = {"ASCEND_HOME_PATH": "/usr/local/Ascend"}
    assert outcomes(None, environ)["adapter-installed"] is FAILED
    assert outcomes(None)["adapter-installed"] is UNKNOWN


def test_another_type_is_refused():
    """By name."""
    with pytest.raises(TypeError, match="got list"):
        examine([1])
