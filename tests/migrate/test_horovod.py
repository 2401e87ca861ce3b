"""Horovod: what is said of uses that are optional, stored, never run, or resume a run."""

import pytest

import npu_config

HEAD = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\n"


def said(source, id):
    """What is said of a fact: line, kind, text."""
    notes = npu_config.migrate(source).notes
    return [(note.line, note.kind, note.note) for note in notes if note.id == id]


@pytest.mark.parametrize(
    "otherwise",
    [
        "hvd = None",
        "class hvd: rank = size = staticmethod(lambda: 0)",
        "import fake as hvd",
        "pass",
    ],
)
def test_uses_of_an_optional_horovod(otherwise):
    """Every line that uses it is listed with what replaces it, whatever stands in for it."""
    source = (
        "import tensorflow as tf\ntry:\n    import horovod.tensorflow as hvd\n"
        "except ImportError:\n    {}\n\n\ndef f():\n    return hvd.rank(), hvd.size()\n"
    ).format(otherwise)
    text = (
        "for several ranks: replace the try block and this line with get_npu_rank_id() and "
        "get_npu_rank_size()"
    )
    assert [(9, "manual", text)] == said(source, "hvd-rank")


@pytest.mark.parametrize(
    "handler", ["raise", "raise RuntimeError()", "print(1)\n    sys.exit(1)", "os._exit(1)"]
)
def test_a_horovod_that_is_needed(handler):
    """What ends without Horovod does not run on one rank: Horovod is replaced."""
    source = (
        "import os, sys\nimport tensorflow as tf\ntry:\n    import horovod.tensorflow as hvd\n"
        "except ImportError:\n    {}\nhvd.init()\nprint(hvd.rank())\n"
    )
    migration = npu_config.migrate(source.format(handler))
    compile(migration.text, "train.py", "exec")
    assert "horovod" not in migration.text
    assert "try:\n    pass\nexcept ImportError:" in migration.text
    assert "print(get_npu_rank_id())" in migration.text


def test_names_of_an_optional_horovod():
    """Where it is given another value it is not used."""
    source = (
        "import tensorflow as tf\ntry:\n    from horovod.tensorflow import rank\n"
        "except ImportError:\n    rank = lambda: 0\nprint(rank())\n"
    )
    ((line, _, _),) = said(source, "hvd-rank")
    assert line == 6


@pytest.mark.parametrize("use", ["Opt = hvd.DistributedOptimizer", "f(hvd.DistributedOptimizer)"])
def test_a_function_that_is_stored(use):
    """It has a counterpart, which a call is needed for."""
    text = (
        '"DistributedOptimizer" is not called directly with plain arguments: write an explicit '
        "call"
    )
    assert [(4, "refused", text)] == said(HEAD + use + "\n", "hvd-optimizer")


@pytest.mark.parametrize("given", ["Mine", "tf.train.AdamOptimizer"])
def test_a_class_in_the_place_of_an_optimizer(given):
    """It is no optimizer, and nothing of Horovod is edited."""
    source = HEAD + "class Mine: pass\no = hvd.DistributedOptimizer({})\n".format(given)
    expected = [(5, "refused", "the argument is a class, not an optimizer object")]
    assert expected == said(source, "hvd-optimizer")
    assert source == npu_config.migrate(source).text


@pytest.mark.parametrize(
    ("lines", "is_run"),
    [
        ("hvd.broadcast_global_variables(0)", False),
        ("op = hvd.broadcast_global_variables(0)", False),
        ("op = hvd.broadcast_global_variables(0)\nsess.run(op)", True),
        ("sess.run(hvd.broadcast_global_variables(0))", True),
    ],
)
def test_a_broadcast_that_nothing_runs(lines, is_run):
    """The operation does nothing until a session runs it."""
    (entry,) = [one for one in said(HEAD + lines + "\n", "hvd-broadcast") if one[1] == "manual"]
    assert is_run != ("never run in this script" in entry[2])


@pytest.mark.parametrize(
    ("lines", "reported"),
    [
        ("tf.estimator.Estimator(f, model_dir='x' if hvd.rank() == 0 else None)", [5]),
        ("tf.estimator.RunConfig(\n    model_dir=None if hvd.rank() else 'x')", [6]),
        ("w = 'x' if not hvd.rank() else None\ntf.estimator.Estimator(f, model_dir=w)", [5]),
        ("c = hvd.rank() == 0\ntf.estimator.Estimator(f, model_dir='x' if c else None)", [6]),
        (
            "def c(): return hvd.rank()\ntf.estimator.Estimator(f, model_dir=None if c() else '')",
            [6],
        ),
        ("c = 1\ntf.estimator.Estimator(f, model_dir='x' if c else None)", []),
        ("tf.estimator.Estimator(f, model_dir='x')", []),
        ("tf.estimator.Estimator(f, model_dir='x' if hvd.rank() == 0 else 'y')", []),
        ("own.Estimator(f, model_dir='x' if hvd.rank() == 0 else None)", []),
    ],
)
def test_checkpoints_of_one_rank(lines, reported):
    """Its hook does not send global_step, so that ranks which do not restore it differ."""
    source = HEAD + "hooks = [hvd.BroadcastGlobalVariablesHook(0)]\n" + lines + "\n"
    found = [one for one in said(source, "hvd-broadcast-hook") if one[1] == "manual"]
    assert reported == [line for line, _, _ in found]
    assert all("global_step" in text for _, _, text in found)


@pytest.mark.parametrize(
    ("optimizer", "reported"),
    [
        ("plain = tf.train.AdamOptimizer()", [5]),
        ("plain = hvd.DistributedOptimizer(tf.train.AdamOptimizer())", []),
        ("plain = tf.train.AdamOptimizer(); plain = hvd.DistributedOptimizer(plain)", []),
        ("plain = make()", [5]),
        ("plain = make(hvd.DistributedOptimizer(tf.train.AdamOptimizer()))", []),
    ],
)
def test_gradients_that_nothing_reduces(optimizer, reported):
    """Where an optimizer applies them that Horovod has not wrapped."""
    step = "g = tf.gradients(x, v)\nplain.apply_gradients(zip(g, v))\n"
    assert reported == [line for line, _, _ in said(HEAD + optimizer + "\n" + step, "gradients")]


@pytest.mark.parametrize(
    ("lines", "is_edited"),
    [
        ("class T:\n    def __init__(self):\n        hvd.init()\nT()", True),
        ("class T:\n def __init__(self): self.f()\n def f(self):\n  hvd.init()\nT()", True),
        ("class T:\n    def __init__(self):\n        hvd.init()\nclass U(T): pass", False),
        ("def f():\n    hvd.init()", False),
        (
            "'''T()'''\n__all__ = ['T']\nclass T:\n    def __init__(self):\n        hvd.init()",
            False,
        ),
        ("def f():\n    (\n        hvd.init()\n    )\nf()", True),
        ("def f():\n    hvd.init()\nx.f = 1", False),
        ("def f():\n    hvd.init()\ng(x.f)", True),
    ],
)
def test_where_the_resources_are_taken(lines, is_edited):
    """In a function that the script calls; a constructor is called by the name of its class."""
    after = npu_config.migrate(HEAD.replace("hvd.init()\n", "") + lines + "\n").text
    assert is_edited == ("init_resource()" in after)
    assert is_edited != ("hvd.init()" in after)


@pytest.mark.parametrize(
    "lines",
    [
        "if x:\n    hvd = Fake()\nprint(hvd.rank())",
        "def f():\n    import horovod.tensorflow as hvd\n    for hvd in [hvd]: hvd.rank()",
        "class T:\n    import horovod.tensorflow as hvd\n    def f(self): self.hvd.rank()",
        "import fake as hvd\nprint(hvd.rank())",
        "if x:\n    class hvd: pass\nhvd.rank()",
    ],
)
def test_a_name_that_is_not_always_horovod(lines):
    """The import stays where a use of it may."""
    source = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n" + lines + "\n"
    migration = npu_config.migrate(source)
    assert (migration.status, migration.text) == ("refused", source)


@pytest.mark.parametrize(
    ("call", "id", "dropped"),
    [
        ('hvd.allreduce(x, name="loss")', "hvd-allreduce", "name"),
        ('hvd.allreduce(x, average=False, name="a", device_dense="")', "hvd-allreduce", None),
        ('hvd.allreduce(x, op=hvd.Sum, name="s")', "hvd-allreduce", "name"),
        ('hvd.allgather(x, name="g")', "hvd-allgather", "name"),
        ('hvd.broadcast(x, 0, "b")', "hvd-broadcast", "name"),
        ('hvd.BroadcastGlobalVariablesHook(0, "/gpu:0")', "hvd-broadcast-hook", "device"),
        (
            'hvd.DistributedOptimizer(o, "D", use_locking=True)',
            "hvd-optimizer",
            "name, use_locking",
        ),
    ],
)
def test_arguments_that_are_dropped(call, id, dropped):
    """What has no counterpart and changes nothing is named, on its line."""
    ((line, kind, text),) = said(HEAD + "y = " + call + "\n", id)
    assert (line, kind) == (4, "changed")
    assert text.endswith(
        "; arguments removed, because they are not needed on the NPU: "
        + (dropped or "name, device_dense")
    )


@pytest.mark.parametrize(
    "use",
    [
        "import horovod.tensorflow.keras as hvd\nx = hvd.{}(1, 0)",
        "import horovod.keras\nx = horovod.keras.{}(1, 0)",
        "from horovod.tensorflow.keras import {0}\nx = {0}(1, 0)",
        "def f():\n    import horovod.keras as h\n    return h.{}(1, 0)",
    ],
)
@pytest.mark.parametrize("name", ["allreduce", "allgather", "broadcast"])
def test_horovod_for_keras_computes_at_once(use, name):
    """Its reductions give values, where those of the NPU give tensors: nothing is edited."""
    source = "import tensorflow as tf\n" + use.format(name) + "\n"
    ((_, kind, text),) = said(source, "hvd-" + name)
    assert kind == "refused"
    assert text.startswith("returns a value in Horovod for Keras")
    assert source == npu_config.migrate(source).text


def test_variables_are_sent_at_once_by_horovod_for_keras():
    """What replaces it is an operation, which has to be run."""
    source = (
        HEAD.replace("tensorflow as hvd", "keras as hvd") + "hvd.broadcast_global_variables(0)\n"
    )
    (_, (_, kind, text)) = said(source, "hvd-broadcast")
    assert kind == "manual"
    assert text.startswith(
        "Horovod for Keras runs the collective at once; here the operation is only created"
    )


def test_both_interfaces_of_horovod():
    """The one for tensors is migrated beside the other one."""
    source = (
        HEAD + "import horovod.keras as hk\nx = hvd.allreduce(y)\no = hk.DistributedOptimizer(o)\n"
    )
    assert "x = npu_allreduce(y)\no = npu_dist" in npu_config.migrate(source).text


def test_every_argument_without_counterpart_is_named():
    """Arguments that the NPU has no counterpart for are refused together, each on its line."""
    source = (
        HEAD
        + "x = hvd.allreduce(\n    y,\n    prescale_factor=2.0,\n    postscale_factor=0.5,\n)\n"
    )
    notes = npu_config.migrate(source).notes
    assert [
        note.note for note in notes if note.id == "hvd-allreduce" and note.kind == "refused"
    ] == [
        "prescale_factor has no equivalent on the NPU",
        "postscale_factor has no equivalent on the NPU",
    ]
