"""More shapes of files for each target: what is repeated inside of one thing, or names one thing.

``%d`` in a piece is its number.
"""

from tests.fuzz.seeds import SEEDS, Seed


def _text(head, piece, joint="\n", tail="\n"):
    return Seed(head.encode(), piece.encode(), joint.encode(), tail.encode())


_HEAD = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
_CONFIG = _HEAD + (
    "config = tf.ConfigProto()\n"
    "c = config.graph_options.rewrite_options.custom_optimizers.add()\n"
    'c.name = "NpuOptimizer"\n'
)
_SESSION = "\ntf.Session(config=config).run(x)\n"
_YAML = "version: 1\n"
_TOML = "version = 1\n"
_BASH = "#!/bin/bash\n"
_OPTIMIZER = 'graph_options { rewrite_options { custom_optimizers { name: "NpuOptimizer" '
_TABLE = SEEDS["op-summary"].head.decode()

SHAPES = {
    "read-yaml": {
        "one option again": _text(_YAML, "hccl_timeout: 1"),
        "one group again": _text(_YAML, "dump:\n  dump_step: '1'"),
        "groups that are none": _text(_YAML, "group_%d:\n  a: 1"),
        "anchors": _text(_YAML, "a%d: &a%d x\nb%d: *a%d"),
        "a folded text": _text(_YAML + "x: >\n", "  aaa bbb"),
        "a text over lines": _text(_YAML + 'x: "', "a\n\n b", tail='"\n'),
        "steps": _text(_YAML + "dump:\n  enable_dump: true\n  dump_step: '", "%d", "|", "'\n"),
        "shapes": _text(_YAML + "input_shape: '", "a%d:1,-1", ";", "'\n"),
        "types": _text(_YAML + "optypelist_for_implmode: '", "Op%d", ",", "'\n"),
        "JSON in a text": _text(
            _YAML + "profiling_options: '{",
            '"a%d":"on"',
            ",",
            "}'\n",
        ),
        "documents": _text("", "---\nversion: 1"),
    },
    "read-toml": {
        "dotted keys": _text(_TOML, "dump.x%d = 1"),
        "a table in line": _text(_TOML + "x = {", "a%d = {b = 1}", ",", "}\n"),
        "a long text": _text(_TOML + "x = '''", "a%d", tail="'''\n"),
        "a long array": _text(_TOML + "x = [\n", "1, # a", tail="]\n"),
        "texts not closed": _text(_TOML, 'x = "a'),
        "arrays of tables": _text("", "[[a]]\n[[a.b]]"),
    },
    "read-pbtxt": {
        "one key": _text(_OPTIMIZER, 'parameter_map { key: "a" value { s: "1" } }', tail="}}}"),
        "optimizers": _text(
            "graph_options { rewrite_options {", 'custom_optimizers { name: "a" }', tail="}}"
        ),
        "messages that join": _text("", _OPTIMIZER + "}}}"),
        "texts that join": _text(_OPTIMIZER + "name: ", "\"a\" 'b'", tail="}}}"),
        "list": _text(
            _OPTIMIZER + 'parameter_map { key: "a" value { list { ', 's: "a"', tail="}}}}}}"
        ),
    },
    "read-script": {
        "one option again": _text(_CONFIG, "c.parameter_map['dump_step'].s = b'1'", tail=_SESSION),
        "statements of a line": _text(_CONFIG, "c.parameter_map['a%d'].b = 1", "; ", _SESSION),
        "sessions": _text(_CONFIG, "tf.Session(config=config).run(x)"),
        "functions with sessions": _text(
            _CONFIG,
            "def f%d(config):\n  with tf.Session(config=config) as s:\n    s.run(x)\nf%d(c)",
        ),
        "a function called often": _text(
            _CONFIG + "def f(a):\n  c.parameter_map['dump_stp'].s = a\n", "f(b'%d')", tail=_SESSION
        ),
        "arguments of NPURunConfig": _text(_HEAD + "NPURunConfig(", "no_%d=1", ", ", ")\n"),
        "classes": _text(
            _HEAD,
            "class A%d(object):\n  def __init__(self):\n    self.c = tf.ConfigProto()\n"
            "  def run(self):\n    tf.Session(config=self.c)\nA%d().run()",
        ),
        "arguments of the script": _text(
            _CONFIG + "import argparse\np = argparse.ArgumentParser()\n",
            "p.add_argument('--a%d', type=int, default=1)\nc.parameter_map['a'].i = F.a%d",
        ),
        "a dict": _text(
            _CONFIG + "d = {", "'a%d': 1", ", ", "}\nfor k in d:\n  c.parameter_map[k].i = 1\n"
        ),
        "imports that fail": _text(_HEAD, "try:\n  import a%d as b\nexcept ImportError:\n  b = 0"),
    },
    "read-shell": {
        "variables of a command": _text(_BASH, "RANK_ID=%d RANK_SIZE=8 python3 x.py &"),
        "branches of case": _text(_BASH + "case $1 in\n", "a%d) export A=%d;;", tail="\nesac\n"),
        "branches of if": _text(
            _BASH + "if [ $1 = a ]; then A=1\n",
            "elif [ $1 = a%d ]; then export RANK_ID=%d",
            tail="\nfi\npython3 x.py\n",
        ),
        "here-documents": _text(_BASH, 'cat > a.json <<EOF\n{"a": $A}\nEOF'),
        "functions": _text(_BASH, "f%d() { export A%d=1; }\nf%d"),
        "blocks without an end": _text(_BASH, "if true; then", " "),
        "loops": _text(_BASH, "for i in 0 1; do export RANK_ID=$i; python3 x.py & done"),
        "a Python text": _text(
            _BASH + "python3 - <<'EOF'\nimport os\n", "os.environ['A%d'] = '1'", tail="\nEOF\n"
        ),
        "programs of a command": _text(_BASH + "watch ", "a.sh", " "),
    },
    "migrate": {
        "ranks": _text(
            "import horovod.tensorflow as hvd\nhvd.init()\n", "x = hvd.rank() + hvd.size()"
        ),
        "sessions of a line": _text("import tensorflow as tf\n", "tf.Session()", "; "),
        "imports": _text("", "from tensorflow.a%d import b%d"),
        "estimators": _text(
            "import tensorflow as tf\n",
            "e%d = tf.estimator.Estimator(f%d, config=tf.estimator.RunConfig(model_dir='a'))",
        ),
    },
    "check-yaml": {"comments used": _text(_YAML, "hccl_timeou_%d: 1  # npu: ignore[NPU101]")},
    "graph": {
        "one input of all": _text("", 'node { name: "n%d" op: "Assign" input: "a" }'),
        "a circle": _text("", 'node { name: "n%d" op: "Merge" input: "n%d" }'),
        "inputs": _text('node { name: "a" op: "AddN"\n', 'input: "b%d"', tail="}"),
        "functions": _text(
            "library {", 'function { signature { name: "f" } node_def { op: "f" } }', tail="}"
        ),
    },
    "op-summary": {"fields": _text(_TABLE, "a", ","), "quotes": _text(_TABLE, '"a""b"', "")},
    "project": {"keys": _text("[tool.npu-config]\n", "no_%d = 1")},
    "suppress": {"names": _text("x = 1  # npu: ignore[", "NPU%d", ",", "]\n")},
    "environment": {
        "one name": _text("", "RANK_ID=%d"),
        "a list": _text("ASCEND_RT_VISIBLE_DEVICES=", "%d", ","),
        "a path": _text("RANK_TABLE_FILE=", "a", "/"),
    },
    "read-insert_op": {"one field": _text("aipp_op { ", "matrix_r0c0: 1", tail="}")},
    "read-customize_dtypes": {"types": _text("OpType::Add:InputDtype:", "float16", ",")},
    "values": {"steps": _text("", "%d", "|"), "ranges": _text("", "1~%d", ",")},
}
"""Target to name to what is repeated."""
