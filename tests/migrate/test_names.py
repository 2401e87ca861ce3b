"""Names are resolved, not matched; a script's own names are never clobbered."""

import subprocess
import sys
from pathlib import Path

import pytest

import npu_config
from npu_config.migration import names
from npu_config.migration.engine import analyse
from npu_config.migration.facts import facts
from npu_config.migration.resolve import may_borrow

ROOT = Path(npu_config.__file__).parent


def entries(source):
    """The entries about a script, without their notes."""
    return [(note.line, note.id, note.kind) for note in npu_config.migrate(source).notes]


def edited(source, **options):
    """The lines that the migrated script has and the script had not."""
    before = source.splitlines()
    after = npu_config.migrate(source, **options).text.splitlines()
    return [line for line in after if line not in before]


@pytest.mark.tensorflow
def test_the_star_names_are_those_of_npu_init():
    """The list says what the star import binds."""
    code = "from npu_config.npu_init import *; print(*(n for n in dir() if n[0] != '_'))"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert set(done.stdout.decode().split()) == names.STAR_NAMES


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import tensorflow as flow", "flow.Session()"),
        ("import tensorflow.compat.v1 as tf", "tf.Session()"),
        ("import tensorflow", "tensorflow.compat.v1.Session()"),
        ("from tensorflow import Session as S", "S()"),
        ("from tensorflow.python.client import session", "session.Session()"),
        ("from tensorflow import *", "Session()"),
        ("import tensorflow as tf\ntf = tf.compat.v1", "tf.Session()"),
        ("import tensorflow as tf\nv1 = tf.compat.v1", "v1.Session()"),
        ("try:\n  import tensorflow as tf\nexcept ImportError:\n  tf = None", "tf.Session()"),
        ("from lib import *\nimport tensorflow as tf", "tf.Session()"),
    ],
)
def test_sessions_by_any_name(head, call):
    """Aliases, compat.v1, conditional imports and stars."""
    source = "{}\nwith {} as sess:\n    pass\n".format(head, call)
    wanted = "with {} as sess:".format(call.replace("()", "(config=npu_config_proto())"))
    assert wanted in edited(source)


@pytest.mark.parametrize(
    "source",
    [
        "import requests\ns = requests.Session()\n",
        "import tensorflow as tf\nimport requests\ns = requests.Session()\n",
        "import tensorflow as tf\nclass Session: pass\ns = Session()\n",
        "import tensorflow as tf\ndef f():\n    import other as tf\n    return tf.Session()\n",
        "import tensorflow as tf\nx = [tf.Session() for tf in things]\n",
        "import tensorflow as tf\nf = lambda tf: tf.Session()\n",
        "from .tensorflow import Session\ns = Session()\n",
        "import tensorflow as tf\nloader.batch(3)\nown.nn.dropout(x, rate=0.5)\n",
    ],
)
def test_look_alikes(source):
    """What is not certainly TensorFlow's is not edited."""
    assert edited(source) == []


def test_a_name_for_two_things_is_reported():
    """It is reported with its line, and the patch of npu_init covers its session."""
    source = "import tensorflow as tf\nif x:\n    import other as tf\ns = tf.Session()\n"
    assert edited(source) == ["from npu_config.npu_init import *"]
    assert (4, "import-aliases", "manual") in entries(source)


def test_a_parameter_is_reported():
    """A parameter that is called like the module."""
    source = "import tensorflow as tf\ndef f(tf):\n    return tf.Session()\n"
    assert entries(source) == [(3, "import-aliases", "manual")]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""Doc."""\nimport os\nimport tensorflow as tf\ntf.Session()\n', 2),
        ("# c\nfrom __future__ import division\nimport tensorflow as tf\ntf.Session()\n", 3),
        ("import os\nos.environ['TF_X'] = '1'\nimport tensorflow as tf\ntf.Session()\n", 3),
        (
            "import os\nos.putenv('A', '1')\nimport tensorflow\ntensorflow.Session()\n",
            3,
        ),
        ("def f():\n    import tensorflow as tf\n    return tf.Session()\n", 1),
        (
            "x = 1\ntry: import os\nfinally: y = 2\nimport tensorflow\ntensorflow.Session()\n",
            2,
        ),
        ("x = 1\ndef f():\n    import os\nimport tensorflow\ntensorflow.Session()\n", 4),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    raise\ntf.Session()\n", 1),
    ],
)
def test_where_the_import_goes(source, line):
    """Behind docstring, __future__ and the environment; before the first import."""
    after = npu_config.migrate(source).text.splitlines()
    assert after.index("from npu_config.npu_init import *") + 1 == line


@pytest.mark.parametrize(
    ("head", "is_own"),
    [
        ("", False),
        ("import os, sys", False),
        ("import tensorflow.compat.v1 as tf", False),
        ("from tensorflow import *", False),
        ("from tensorflow.contrib.slim import *", False),
        ("from lib import *", True),
        ("from . import *", True),
        ("from lib import util", True),
        ("import util", True),
        ("import os as util", True),
        ("import posixpath as os", True),
        ("RewriterConfig = 1", True),
        ("def npu_run_config_init(): pass", True),
        ("class NPULossScaleOptimizer: pass", True),
        ("for os in (): pass", True),
    ],
)
def test_own_names_before_the_import(head, is_own):
    """The star import never rebinds a name that the script has bound."""
    source = "import os\nos.environ['TF_X'] = '1'\n{}\nimport tensorflow as tf\ns = tf.Session()\n"
    star, by_name = (
        "from npu_config.npu_init import " + name for name in ("*", "npu_config_proto")
    )
    lines = edited(source.format(head))
    assert (star in lines, by_name in lines) == (not is_own, is_own)


def test_every_fact_is_explained():
    """The page that the report links to says of each fact when it applies and what is left."""
    page = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
    assert [fact for fact in facts() if page.count('<a id="{}"></a>'.format(fact)) != 1] == []


def test_wrong_calls():
    """What the function refuses."""
    with pytest.raises(ValueError, match='"npu_config" or "npu_bridge"'):
        npu_config.migrate("", imports="other")
    with pytest.raises(TypeError, match="text or bytes"):
        npu_config.migrate(None)


def test_the_function_and_the_room():
    """The function is there whatever was imported before."""
    import npu_config.migration

    assert npu_config.migrate is npu_config.migration.migrate
    assert npu_config.migrate("x = 1\n").text == "x = 1\n"


@pytest.mark.parametrize("run", ['tf.app.run(main, ["a\\n"])', 'tf.app.run(main, ["""a\\n"""])'])
def test_a_run_of_one_line_is_indented(run):
    """A text with line ends, written in one line, stays as it is when the line is indented."""
    source = "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef main(_):\n"
    source += "    hvd.init()\nif __name__ == '__main__':\n    {}\n".format(run)
    assert "    with npu_resources():\n        " + run in npu_config.migrate(source).text


def test_a_run_of_several_lines_is_indented():
    """All of its lines, and none behind it."""
    source = "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef main(_):\n"
    source += "    hvd.init()\nif __name__ == '__main__':\n    tf.app.run(\n        main,\n"
    text = npu_config.migrate(source + "        ['#1'],\n    )\n    end()\n").text
    assert text.endswith(
        "    with npu_resources():\n        tf.app.run(\n            main,\n"
        "            ['#1'],\n        )\n    end()\n"
    )


def test_the_import_of_a_script_without_one():
    """Where functions import TensorFlow, npu_init stands behind the docstring, before all else."""
    rest = 'print("x")\ndef f():\n    import tensorflow as tf\n    return tf.Session('
    text = npu_config.migrate('"""What it does."""\n' + rest + ")\n").text
    head = '"""What it does."""\nfrom npu_config.npu_init import *\n'
    assert text.replace("\n\n", "\n") == head + rest + "config=npu_config_proto())\n"


def test_vendor_names_have_no_npu_resources():
    """With the vendor's package the device is given back at exit."""
    source = (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef main(_):\n"
        "    hvd.init()\nif __name__ == '__main__':\n    tf.app.run()\n"
    )
    assert "    with npu_resources():" in edited(source)
    assert not any("npu_resources" in line for line in edited(source, imports="npu_bridge"))
    assert any("atexit.register" in line for line in edited(source, imports="npu_bridge"))


OPENED = "import tensorflow as tf\ntf.Session()\n"
RENAMED = "npu_config_proto as npu_config_proto_1"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "import os\nsession = 1\nos.environ['A'] = ''\n" + OPENED,
            "the script already uses these names, so only the needed names are imported: session",
        ),
        (
            "def npu_config_proto(): pass\nimport tensorflow as tf\ntf.Session()\n",
            "imported under another name, because the script already uses this name: " + RENAMED,
        ),
        (
            "try:\n    import tensorflow as tf\nexcept ImportError:\n    raise\ntf.Session()\n",
            "placed at the top, because the import of TensorFlow below is conditional",
        ),
        (
            "import tensorflow as tf\nmodel = tf.keras.Sequential()\n",
            "Keras creates its session from the patched class",
        ),
    ],
)
def test_the_reasons_of_the_import(source, text):
    """The entry of the import says what is special about it, as the facts do."""
    (note,) = [note for note in npu_config.migrate(source).notes if note.id == "import-npu"]
    assert text in note.note.split("; ")


PROTO = "npu_config_proto"


@pytest.mark.parametrize(
    ("line", "is_bound"),
    [
        *(("{} = 1", True), ("def {}(): pass", True), ("class {}: pass", True)),
        *(("def f({}): pass", True), ("lambda *, {}: 1", True), ("for {} in (): pass", True)),
        *(("import {}", True), ("import {}.b", True), ("import b.{}", False)),
        *(("import b as {}", True), ("import {} as b", False), ("from b import {}", True)),
        *(("from b import c as {}", True), ("from b import {} as c", False)),
        *(("def f():\n    {} = 1", True), ("print({})", False), ("b.{} = 1", False)),
        *(("# {}", False), ("'{}'", False), ("f({}=1)", False)),
    ],
)
def test_a_name_that_the_script_binds(line, is_bound):
    """Wherever it does, ours is imported under another name; a mention binds nothing."""
    source = "import tensorflow as tf\n" + line.format(PROTO) + "\ns = tf.Session()\n"
    used = PROTO + "_1" if is_bound else PROTO
    assert npu_config.migrate(source).text.endswith("\ns = tf.Session(config={}())\n".format(used))


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("", "{}"),
        ("# a", "# a\n{}"),
        ("# a\n", "# a\n{}"),
        ("# a\r", "# a\r{}"),
        ('"""a"""', '"""a"""\n{}'),
        ('"""a"""\r\n', '"""a"""\r\n{}'),
        ("from __future__ import b", "from __future__ import b\n{}"),
        ("x = 1", "{}x = 1"),
        ("'a'; x = 1", "'a'; {}x = 1"),
    ],
)
def test_the_import_of_a_script_that_does_nothing(source, after):
    """It stands behind the docstring and __future__, on a line of its own where it can."""
    line = "from npu_config.npu_init import *"
    end = (
        "; "
        if "; " in source
        else "\r\n"
        if "\r\n" in source
        else "\r"
        if "\r" in source
        else "\n"
    )
    text = analyse(source, session_import=True).migration.text
    assert text == after.format(line + end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("from b import *\ntf.x", True), ("from b import *\nhvd.x", True)),
        *(("from b import *\nx", False), ("  from b.c import (d, tf)", True)),
        *(("from . import hvd", True), ("from b import c, tfv1, d", True)),
        *(("from b import tf2", False), ("from b import c  # tf", False)),
        *(("from npu_bridge import *\ntf.x", False), ("import tf", False)),
        *(("x = 1; from b import tf", False), ("from b import tensorflow as tf", True)),
    ],
)
def test_what_may_be_borrowed(text, expected):
    """TensorFlow and Horovod by their usual names, and everything where those are mentioned."""
    assert may_borrow(text) is expected


def test_statements_on_one_line():
    """Every statement of a line is looked at."""
    source = "import os; import tensorflow as tf; sess = tf.Session()\n"
    assert "tf.Session(config=npu_config_proto())" in npu_config.migrate(source).text


GELU = """\
import tensorflow as tf
def gelu(x):
    \"\"\"Doc.\"\"\"
    cdf = 0.5 * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3))))
    return (x
            * cdf)
"""


def test_gelu_for_the_vendor():
    """With the vendor's package the body becomes its operator; its docstring stays."""
    text = npu_config.migrate(GELU, imports="npu_bridge").text
    assert text.endswith('    """Doc."""\n    return npu_unary_ops.gelu(x)\n')
    commented = GELU.replace("    return", "    # a comment that would be lost\n    return")
    assert npu_config.migrate(commented, imports="npu_bridge").text == commented


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hvd.rank() is {hvd.rank()}", "hvd.rank() is {get_npu_rank_id()}"),
        ("{{hvd.rank()}} {hvd.rank():{hvd.size()}d}", None),
        ("tf.Session() {tf.Session().run(x)}", "tf.Session() {tf.Session().run(x)}"),
        ("{tf.Session()}{tf.Session()}", "{tf.Session()}{tf.Session()}"),
        ("{tf.Session()}", "{tf.Session(config=npu_config_proto())}"),
    ],
)
def test_f_strings(text, expected):
    """The text of an f-string stays, and what is twice in it is not edited but for ranks."""
    expected = expected or "{{hvd.rank()}} {get_npu_rank_id():{get_npu_rank_size()}d}"
    head = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
    after = npu_config.migrate(head + 'print(f"' + text + '")\n').text
    assert 'print(f"' + expected + '")' == after.splitlines()[-1]


def test_an_f_string_that_is_left_is_reported():
    """With its line, and the patch covers its sessions."""
    source = 'import tensorflow as tf\nprint(f"{tf.Session()} {tf.Session()}")\n'
    assert edited(source) == ["from npu_config.npu_init import *"]
    assert (2, "import-aliases", "manual") in entries(source)


@pytest.mark.parametrize("imported", ["loss_scale_optimizer", "mixed_precision"])
def test_where_mixed_precision_is_defined(imported):
    """The modules that define its classes are known beside the public names."""
    name = "tensorflow.python.training.experimental"
    call = {
        "loss_scale_optimizer": "MixedPrecisionLossScaleOptimizer(o, 128)",
        "mixed_precision": "enable_mixed_precision_graph_rewrite(o, 128.)",
    }[imported]
    head = "from tensorflow import train\no = train.AdamOptimizer()\n"
    source = head + "from {} import {}\nx = {}.{}\n".format(name, imported, imported, call)
    assert "x = NPULossScaleOptimizer(o, Fixed" in npu_config.migrate(source).text


def test_a_rewrite_that_is_stored():
    """It is reported where it is stored: what calls it by the other name is not edited."""
    line = "f = tf.train.experimental.enable_mixed_precision_graph_rewrite\nopt = f(opt)\n"
    (note,) = npu_config.migrate("import tensorflow as tf\n" + line).notes
    assert (note.line, note.id, note.kind) == (2, "amp-rewrite", "refused")


def test_a_policy_of_keras():
    """Types of layers are left to the precision mode of the session."""
    line = 'tf.keras.mixed_precision.experimental.set_policy("mixed_float16")\n'
    (note,) = npu_config.migrate("import tensorflow as tf\n" + line).notes
    assert (note.line, note.id, note.kind) == (2, "precision-mode", "manual")


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ("e = mine.TPUEstimator(use_tpu=FLAGS.use_tpu)", True),
        ("e = mine.TPUEstimator(use_tpu=False)", False),
        ("e = mine.TPUEstimator(model_fn=f)", False),
        ("e = mine.TPUEstimator", False),
        ("e = tf.contrib.tpu.TPUEstimator(f, use_tpu=True)", False),
    ],
)
def test_a_copy_of_tpu_estimator(line, is_said):
    """It is left as it is, and its flag is named."""
    found = entries("import tensorflow as tf\nimport mine\n" + line + "\n")
    assert is_said == ((3, "tpu-off", "manual") in found)
