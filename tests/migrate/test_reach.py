"""What of a program is reached and what is left to do in it: over files, flags and frameworks."""

import ast
import re

import pytest

import npu_config
from npu_config.core.diagnostics import Severity
from npu_config.migration.engine import is_entry
from npu_config.migration.libraries import is_known
from npu_config.migration.project import FileToMigrate, migrate_files
from npu_config.migration.report import next_commands

TF = "import tensorflow as tf\n"
SESSION = "with tf.Session() as s:\n    pass\n"
FLAG = TF + "tf.app.flags.DEFINE_bool('{0}', False, '')\nF = tf.app.flags.FLAGS\nif F.{0}:\n"
BATCH = "    x = tf.train.batch([1], 2, num_threads=F.n)\n"


def program(folder, **files):
    """The outcomes of some files, by name, migrated as one program."""
    for name, text in files.items():
        (folder / (name + ".py")).write_text(text, encoding="utf-8")
    targets = [FileToMigrate(str(folder / (name + ".py")), str(folder)) for name in files]
    return dict(zip(files, migrate_files(targets, processes=1)))


def asked(source):
    """The facts about which something is left to do."""
    return [note.id for note in npu_config.migrate(source).notes if note.must]


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        ([], FLAG.format("augment") + BATCH),
        (["train-batch"], FLAG.format("do_train") + BATCH),
        (["train-batch"], FLAG.format("augment").replace("False", "True") + BATCH),
        ([], TF + "class A:\n    def __init__(self):\n        self.s = tf.Session()\n"
             "    def end(self):\n        self.s.close()\n"),
        ([], TF + "tf.estimator.RunConfig(train_distribute=None, protocol=None)\n"),
    ],
)  # fmt: skip
def test_what_asks(expected, source):
    """What is off by default asks for nothing; what a program does not do this time is not off."""
    assert expected == asked(source)


def test_a_session_from_another_file(tmp_path):
    """Who is given a session by a function of another file is told to close it, and only then."""
    made = TF + "def make():\n    s = tf.Session()\n    return s\ndef number():\n    return 1\n"
    main = "import made as m\nfrom made import make\na = m.make()\nb = make()\nc = m.number()\n"
    main += "with make() as d:\n    pass\nb.close()\n"
    found = program(tmp_path, made=made, main=main)
    notes = found["main"].migration.notes
    assert [note.line for note in notes if note.id == "session-close"] == [3]
    assert not any(note.id == "session-close" for note in found["made"].migration.notes)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *(("x = 1", False), ("def f(): pass", False), ("import os", False), ("'text'", False)),
        *(
            ("print(1)", True),
            ("x.y.main()", True),
            ("with x: pass", True),
            ("for x in y: z", True),
        ),
        *(
            ("while x: pass", True),
            ("if x: main()", False),
            ("if __name__ == '__main__': f()", True),
        ),
        *(("flags.DEFINE_bool(1)", False), ("logging.set_verbosity(1)", False)),
        *(
            ("parser.add_argument(1)", False),
            ("sys.path.append(1)", False),
            ("np.random.seed()", False),
        ),
        *(("DEFINE()", True), ("tf.app.run()", True), ("tf.reset_default_graph()", True)),
        *(("x = m.fit(1)", True), ("x = fit(1)", False), ("x = sess.run(y)", True)),
        *(
            ("def f(): pass\nx = f()", True),
            ("def f(): pass\nx = a.f()", False),
            ("x = f()", False),
        ),
        *(("x: int = m.train()", True), ("x += m.predict()", True), ("x = m.compile()", False)),
    ],
)
def test_what_does_something_when_it_is_run(source, expected):
    """Beside settings and definitions, loops and calls whose result is not kept."""
    assert is_entry(ast.parse(source)) is expected


@pytest.mark.parametrize(
    ("line", "is_data"),
    [
        *(("from keras import datasets", True), ("from keras.datasets import mnist", True)),
        *(("import keras.datasets.mnist", True), ("from keras.utils import to_categorical", True)),
        *(
            ("from keras import Model, datasets", False),
            ("from keras.utils import plot_model", False),
        ),
        *(
            ("import keras", False),
            ("from keras import *", False),
            ("import keras.datasets, keras", False),
        ),
        *(
            ("from . import keras", True),
            ("from .keras import Model", True),
            ("import kerasx", True),
        ),
        ("try: import tensorflow.keras\nexcept ImportError: import keras", True),
    ],
)
def test_what_of_keras_reads_data(line, is_data):
    """It keeps no script from being edited; what makes models does."""
    found = npu_config.migrate(TF + line + "\n" + SESSION)
    assert found.is_blocked is not is_data


@pytest.mark.parametrize(
    ("line", "makes"),
    [
        *(("import tensorpack", True), ("import tensorpack.dataflow", False)),
        *(("from tensorpack import dataflow", False), ("from tensorpack import *", True)),
        *(
            ("from tensorpack import dataflow, utils", False),
            ("from tensorpack.utils import x", False),
        ),
        *(("from tensorpack import dataflow, train", True), ("import tensorpack.train", True)),
        *(
            ("from tensor2tensor.utils import registry", False),
            ("from tensor2tensor import utils", True),
        ),
        *(("import gpflow.utils", True), ("from . import gpflow", False)),
        *(
            ("from bert_serving.client import BertClient", False),
            ("import bert_serving.server", True),
        ),
    ],
)
def test_packages_that_make_sessions(line, makes):
    """But for the parts of them that make none."""
    found = npu_config.migrate(TF + line + "\nx = tf.zeros(1)\n")
    assert bool(found.edits) is makes


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        ("edited", "from tensorflow.contrib.boosted_trees import BoostedClassifier as C\nC()\n"),
        ("edited", TF + "tf.contrib.learn.SomeNewRegressor()\n"),
        ("not-needed", TF + "class MyEstimator:\n    pass\nMyEstimator()\nprint(tf.zeros(1))\n"),
        ("edited", "from tensorpack import tfv1 as tf\nwith tf.Session() as s:\n    pass\n"),
        ("edited", TF + "def load():\n    import tensorflow as tf\n    return tf\n"
                   "def f():\n    tf = load()\n    with tf.Session() as s:\n        pass\nf()\n"),
        (None, "import horovod.torch as hvd\nimport torch\nimport nobody_knows\nhvd.init()\n"),
        ("edited", "from keras.datasets import mnist\n" + TF + "s = tf.Session()\ns.close()\n"),
        ("refused", "from keras.models import Model\n" + TF + "s = tf.Session()\ns.close()\n"),
    ],
)  # fmt: skip
def test_who_makes_the_session(tmp_path, expected, source):
    """Estimators without a rule, TensorFlow by another name, other frameworks, data of Keras."""
    entry = program(tmp_path, main=source)["main"].entry
    assert entry is not None or expected is None
    assert entry is None or (entry.how == (expected or "not-needed"))


def test_a_module_of_another_project_hides_nothing(tmp_path):
    """A script whose name a nearer module has is one that is run, and not imported."""
    source = TF + "with tf.Session() as s:\n    pass\n"
    (tmp_path / "old").mkdir()
    names = ("train.py", "old/train.py", "old/eval.py")
    for name in names:
        text = "from train import x\n" if "eval" in name else source
        (tmp_path / name).write_text(text + TF, encoding="utf-8")
    targets = [FileToMigrate(str(tmp_path / name), str(tmp_path)) for name in names]
    assert migrate_files(targets, processes=1)[0].entry is not None


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("python2", "print 'x'"),
        ("python2", "try:\n    f()\nexcept (A, B), e:\n    pass"),
        ("python2", "exec 'x'"),
        ("python2", "x = `1`"),
        ("python2", "if a <> b: pass"),
        ("python2", "os.chmod(p, 0777)"),
        ("python2", 'x = ur"x"'),
        ("syntax-error", "def f(:"),
        ("syntax-error", '"""\nprint x\n"""\nx = ['),
        ("syntax-error", "# except A, e:\nx = 'it`s 010"),
        ("syntax-error", "print(a)\nx = (1,"),
    ],
)
def test_why_a_file_does_not_parse(id, text):
    """Python 2 is called so by what only Python 2 knows; all else is a syntax error."""
    (note,) = npu_config.migrate(TF + text + "\n").notes
    assert id == note.id


def test_an_error_that_is_left(tmp_path):
    """A script that is edited, and that an error keeps from running, is not said to run."""
    source = TF + "t = tf.contrib.lookup.index_table_from_tensor(['a'])\n"
    source += (
        "d = tf.data.Dataset.from_tensors('a').map(t.lookup)\nwith tf.Session() as s:\n    pass\n"
    )
    assert program(tmp_path, main=source)["main"].entry.is_open
    assert not program(tmp_path, main=source.replace(".map(t.lookup)", ""))["main"].entry.is_open


def test_troubles_of_refused_scripts():
    """What check finds in a script that is refused is said, too."""
    source = TF + "tf.train.ClusterSpec({})\nwith tf.Session() as s:\n    while True:\n"
    source += "        s.run(tf.assign(v, 1.0))\n"
    found = npu_config.migrate(source)
    assert found.is_blocked
    assert any(note.found is not None and note.must for note in found.notes)


def test_soft_placement_is_said_once():
    """What npu_init switches on is not said to be off."""
    source = TF + "with tf.device('/gpu:0'):\n    x = tf.zeros(1)\n"
    source += (
        "with tf.Session(config=tf.ConfigProto(allow_soft_placement=False)) as s:\n    pass\n"
    )
    (note,) = [note for note in npu_config.migrate(source).notes if note.kind != "changed"]
    assert (note.id, note.severity) == ("device", Severity.INFO)


def test_prefetch_to_a_named_gpu():
    """A device that a variable names once is known."""
    source = TF + "gpu = '/gpu:0'\nd = tf.data.Dataset.range(2)\n"
    source += "d = d.apply(tf.data.experimental.prefetch_to_device(gpu, None))\n"
    assert "d.prefetch(buffer_size=None)" in npu_config.migrate(source).text


HVD = """import argparse
import horovod.tensorflow as hvd
import tensorflow as tf
p = argparse.ArgumentParser()
p.add_argument("--fp16", action="store_true", default={0})
p.add_argument("--adasum", action="store_true")
p.add_argument("--factor", type=float, default=1.0)
a = p.parse_args()
hvd.init()
if a.adasum:
    scale = hvd.nccl_built()
compression = hvd.Compression.fp16 if a.fp16 else hvd.Compression.none
opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(), compression=compression,
                               op=hvd.Adasum if a.adasum else hvd.Average,
                               gradient_predivide_factor=a.factor)
"""


def test_arguments_of_horovod_by_default():
    """What makes no difference by default is dropped, with what it comes from; else it refuses."""
    found = npu_config.migrate(HVD.format("False"))
    assert "npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())" in found.text
    assert "ompression" not in found.text
    assert "hvd" not in found.text
    assert [note for note in found.notes if note.must] == []
    assert npu_config.migrate(HVD.format("True")).is_blocked
    used = HVD.format("False") + "print(compression)\n"
    assert npu_config.migrate(used).is_blocked


def test_what_to_run_next(tmp_path):
    """The script that is run is named, though another file was edited; a notebook is not run."""
    (tmp_path / "made.py").write_text(TF + "def make():\n    return tf.Session()\n")
    (tmp_path / "main.py").write_text("import made\ns = made.make()\ns.close()\n")
    targets = [
        FileToMigrate(str(tmp_path / name), str(tmp_path)) for name in ("made.py", "main.py")
    ]
    found = migrate_files(targets, processes=1)
    assert next_commands(["x"], found)[-1] == "npu-config run " + str(tmp_path / "main.py")


def test_a_session_of_a_class():
    """A session in the body of a class is closed by the name of the class."""
    notes = npu_config.migrate(TF + "class A:\n    sess = tf.Session()\n").notes
    assert [note.note for note in notes if note.id == "session-close"] == [
        'the session is never closed: add "A.sess.close()"'
    ]


def test_eager_execution_of_a_module_that_is_run(tmp_path):
    """What a module does when it is run itself keeps no other script from being edited."""
    box = TF + "def f():\n    return tf.Session()\nif __name__ == '__main__':\n"
    found = program(
        tmp_path, box=box + "    tf.enable_eager_execution()\n", main="import box\nbox.f()\n"
    )
    assert (found["box"].entry.how, found["main"].entry.how) == ("refused", "edited")
    assert not found["main"].entry.is_open


def test_modules_of_every_python():
    """What is of the standard library in one version is of it in all."""
    names = ("math", "unicodedata", "distutils", "dataclasses", "tomllib", "Queue", "os", "lzma")
    assert all(map(is_known, names))


def test_a_session_among_several_values(tmp_path):
    """Who is given it with others may close it: nothing is asked where it is made."""
    made = TF + "def make():\n    s = tf.Session()\n    return s, 1\n"
    main = "import made\ns, one = made.make()\ns.close()\n"
    found = program(tmp_path, made=made, main=main)
    assert not any(note.must for note in found["made"].migration.notes)


OLD = """import cPickle
def f(d):
    for k in d.iteritems():
        print(unicode(k), xrange(3))
"""
NEW = """import six, sys
from six.moves import xrange
try:
    import cPickle as pickle
except ImportError:
    import pickle
try:
    unicode
except NameError:
    unicode = str
if sys.version_info[0] < 3:
    print(raw_input())
def reduce(f, long):
    return six.iteritems(long), tf.reduce_sum, f.long, xrange, unicode
"""


def test_names_of_python_2(tmp_path):
    """They are said once in a file that is reached; a script that asks for its Python is well."""
    run = TF + "import old, new\nwith tf.Session() as s:\n    old.f(s)\n"
    found = program(tmp_path, run=run, old=OLD, new=TF + NEW, alone=OLD)
    (note,) = found["old"].migration.notes
    assert (note.line, note.id, note.must) == (1, "python2", True)
    assert "cPickle, iteritems(), unicode, xrange exists only in Python 2" in str(note.note)
    assert not found["new"].migration.notes
    assert not found["alone"].migration.notes
    assert found["run"].entry.is_open
    assert asked(TF + OLD + "with tf.Session() as s:\n    f(s)\n") == ["python2"]


SIX = "long, reduce, unichr, unicode, execfile, basestring"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("from urllib2 import urlopen", "urllib2"),
        ("import os, urllib2.x as u, StringIO", "urllib2, StringIO"),
        ("from .urllib2 import urlopen", None),
        ("from . import urllib2", None),
        ("import mine.urllib2", None),
        ("d.has_key(1)", "has_key()"),
        ("d.has_key", None),
        ("six.iteritems(d), future.utils.iteritems(d)", None),
        ("def has_key(x): pass\nd.has_key(1)", None),
        ("xrange = range\nxrange(2)", None),
        ("def f(xrange): return xrange(2)", None),
        ("from six.moves import *\nxrange(2)", None),
        ("from tensorflow import *\nxrange(2)", "xrange"),
        ("if sys.version_info < (3,): xrange(2)", None),
        ("if x: xrange(2)", "xrange"),
        ("try: xrange(2)\nexcept NameError: pass", None),
        ("try: xrange(2)\nexcept (KeyError, NameError): pass", None),
        ("try: xrange(2)\nexcept: pass", None),
        ("try: xrange(2)\nexcept KeyError: pass", "xrange"),
        ("try: xrange(2)\nfinally: pass", "xrange"),
        ("try: pass\nexcept KeyError: xrange(2)", None),
        ("try: pass\nexcept NameError: pass\nelse: xrange(2)", "xrange"),
        (SIX, SIX),
        (SIX + ", raw_input", SIX + ", ..."),
    ],
)
def test_what_only_python_2_has(line, names):
    """Modules, methods that are called, and names that nothing binds, six of them by name."""
    source = TF + line + "\n" + SESSION
    found = [note for note in npu_config.migrate(source).notes if note.id == "python2"]
    if names is None:
        assert found == []
        return
    (note,) = found
    first = re.match(r"\w+", names).group()
    assert first in source.split("\n")[note.line - 1]
    assert note.note.startswith(names + " exist")


@pytest.mark.parametrize(
    "call",
    [
        "importlib.import_module('models.' + sys.argv[1])",
        "import_module(f'models.{name}')",
        "__import__('models.a')",
        'import_module(\n    "models.a")',
    ],
)
def test_modules_that_are_imported_by_name(tmp_path, call):
    """A script that does so is run; what it imports is edited, and its process with it."""
    (tmp_path / "models").mkdir()
    model = TF + "def go():\n    with tf.Session() as s:\n        pass\n"
    main = "import importlib, sys\n" + call + ".go()\n"
    found = program(tmp_path, **{"models/a": model, "main": main})
    assert found["main"].entry[:2] == ("edited", found["models/a"].target.path)


TOWERS = """import tensorflow as tf
tf.flags.DEFINE_integer("gpus", {}, "")
F = tf.flags.FLAGS
for i in range(F.gpus):
    with tf.device("/gpu:%d" % i):
        x = tf.constant(i)
with tf.Session() as s:
    s.run(x)
"""


def test_towers(tmp_path):
    """One by default asks for nothing; several are told again in a script that is migrated."""
    assert asked(TOWERS.format(1)) == []
    text = npu_config.migrate(TOWERS.format(4)).text
    outcome = program(tmp_path, a=text)["a"]
    assert (outcome.entry.how, outcome.entry.is_open) == ("already", True)
    assert [note.id for note in outcome.migration.notes] == ["multi-tower"]


@pytest.mark.parametrize(
    ("expected", "name", "text"),
    [
        ("python -m pkg.train", "pkg/train.py", "from . import model\n"),
        ("python -m pkg", "pkg/__main__.py", "from pkg import model\n"),
        ("npu-config run pkg/train.py", "pkg/train.py", "import model\n"),
    ],
)
def test_how_a_script_of_a_package_is_run(tmp_path, monkeypatch, expected, name, text):
    """As a module where it imports its package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / name).write_text(text + TF + "with tf.Session() as s:\n    s.run(1)\n")
    outcomes = migrate_files([FileToMigrate(name)], processes=1)
    assert next_commands([name], outcomes)[-1] == expected


@pytest.mark.parametrize(("default", "expected"), [("True", ["tpu-only"]), ("None", [])])
def test_a_flag_of_a_tpu(default, expected):
    """One that is on by default is to be switched off; one that is off asks for nothing."""
    text = FLAG.format("use_tpu").replace("False", default)
    assert asked(text + "    opt = tf.contrib.tpu.CrossShardOptimizer(tf.no_op())\n") == expected


@pytest.mark.parametrize(
    ("body", "end", "asks"),
    [
        ("self.s.close()", "must call close() (it does)", False),
        ("pass", "must call close()", True),
    ],
)
def test_a_session_of_an_object(body, end, asks):
    """One that the script closes is only named; one that nothing closes is left to do."""
    source = "import tensorflow as tf\nclass A:\n    def __init__(self):\n"
    source += "        self.s = tf.Session()\n    def end(self):\n        {}\nA().end()\n"
    notes = npu_config.migrate(source.format(body)).notes
    (note,) = [each for each in notes if each.id == "session-close"]
    assert (str(note.note).endswith(end), note.must) == (True, asks)
