"""Names that come from other modules of the project."""

import pytest

from npu_config.migration.project import FileToMigrate, migrate_files

UTILS = """\
import tensorflow as tf
from tensorflow import Session as Opened
import horovod.tensorflow as hvd
limit = 3
"""


def migrated(folder, **files):
    """The migration of main.py among other modules."""
    for name, text in files.items():
        path = folder / (name.replace("-", "/") + ".py")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    targets = [FileToMigrate(str(path), str(folder)) for path in sorted(folder.rglob("*.py"))]
    outcomes = migrate_files(targets, processes=1)
    return next(one.migration for one in outcomes if one.target.path.endswith("main.py"))


@pytest.mark.parametrize(
    "head",
    [
        "from utils import *",
        "from math import *\nfrom utils import *",
        "from utils import *\nfrom os.path import *",
        "from utils import tf",
        "from more import *",
        "from further import tf",
    ],
)
def test_tensorflow_of_another_module(tmp_path, head):
    """``tf`` is TensorFlow where the module that it comes from says so."""
    main = head + "\nwith tf.Session() as s:\n    print(limit)\n"
    utils = "import tensorflow as tf\nlimit = 3\n"
    text = migrated(
        tmp_path,
        main=main,
        utils=utils,
        more="from utils import *\n",
        further="from more import tf\n",
    ).text
    assert "with tf.Session(config=npu_config_proto()) as s:" in text


def test_something_else_of_that_name(tmp_path):
    """A ``tf`` of the project's own is no TensorFlow, and nothing is said of it."""
    main = "import tensorflow\nfrom utils import *\nwith tf.Session() as s:\n    pass\n"
    migration = migrated(tmp_path, main=main, utils="class tf:\n    Session = open\n")
    assert (migration.edits, migration.notes) == ((), ())


def test_a_module_that_is_not_there(tmp_path):
    """What cannot be known is reported, not edited."""
    main = "import tensorflow\nfrom elsewhere import *\nwith tf.Session() as s:\n    pass\n"
    migration = migrated(tmp_path, main=main)
    entries = [(note.line, note.id, note.kind) for note in migration.notes]
    assert entries == [(1, "import-npu", "changed"), (3, "import-aliases", "manual")]


@pytest.mark.parametrize("module", [".elsewhere", "elsewhere"])
def test_tensorflow_of_a_module_that_is_not_there(tmp_path, module):
    """A ``tf`` that no file at hand binds is reported, not edited."""
    main = "from {} import tf\nwith tf.Session() as s:\n    pass\n".format(module)
    entries = [(note.line, note.id) for note in migrated(tmp_path, main=main).notes]
    assert entries == [(1, "import-npu"), (2, "import-aliases")]


def test_relative_stars(tmp_path):
    """Packages and relative imports are followed, modules that import one another too."""
    files = {
        "model-__init__": "from .layers import *\n",
        "model-layers": "from . import *\nimport tensorflow.compat.v1 as tf\n",
        "main": "from model import *\nwith tf.Session() as s:\n    pass\n",
    }
    assert "npu_config_proto()" in migrated(tmp_path, **files).text


@pytest.mark.parametrize("head", ["pkg.utils", ".pkg.utils"])
def test_one_name_of_a_package(tmp_path, head):
    """``tf`` of a module within a package."""
    files = {
        "pkg-utils": "import tensorflow as tf\n",
        "main": "from {} import tf\nwith tf.Session() as s:\n    pass\n".format(head),
    }
    assert "npu_config_proto()" in migrated(tmp_path, **files).text


@pytest.mark.parametrize(
    ("utils", "known"),
    [
        ("import tensorflow\ntf = tensorflow.compat.v1\n", True),
        ("import tensorflow.compat\ntf = tensorflow.compat.v1\n", True),
        ("from tensorflow import compat\ntf = compat.v1\n", True),
        ("tf = own.tensorflow\n", False),
        ("own = 1\ntf = own\n", False),
        ("import own\ntf = own.v1\n", False),
        ("tf = load()\n", False),
        ("import tensorflow as tf\nif x:\n    import own as tf\n", False),
        ("def tf(): pass\n", False),
    ],
)
def test_what_another_module_binds(tmp_path, utils, known):
    """TensorFlow by its import, or by a part of it that is bound to another name."""
    main = "from utils import tf\nwith tf.Session() as s:\n    pass\n"
    text = migrated(tmp_path, main=main, utils=utils).text
    assert ("npu_config_proto()" in text) == known


@pytest.mark.parametrize(
    ("head", "known"), [("..utils", True), (".utils", False), ("...utils", False), ("..", False)]
)
def test_modules_of_the_folder_above(tmp_path, head, known):
    """Each further dot is one folder up."""
    main = "from {} import tf\nwith tf.Session() as s:\n    pass\n".format(head)
    files = {"p-q-main": main, "p-utils": "import tensorflow as tf\n", "p-__init__": ""}
    assert ("npu_config_proto()" in migrated(tmp_path, **files).text) == known


@pytest.mark.parametrize(("head", "known"), [("utils", True), (".utils", False)])
def test_modules_of_the_root(tmp_path, head, known):
    """A script in a folder has the modules of the project's root, relative imports do not."""
    main = "from {} import *\nwith tf.Session() as s:\n    pass\n".format(head)
    text = migrated(tmp_path, **{"tools-main": main, "utils": "import tensorflow as tf\n"}).text
    assert ("npu_config_proto()" in text) == known


@pytest.mark.parametrize("head", ["from utils import *", "from utils import hvd"])
def test_horovod_of_another_module(tmp_path, head):
    """A script that borrows Horovod is refused, and so is the module that it borrows it from."""
    main = head + "\nimport tensorflow as tf\nhvd.init()\nprint(hvd.rank())\n"
    migration = migrated(tmp_path, main=main, utils=UTILS)
    (entry, *_) = [(note.line, note.id, note.kind) for note in migration.notes]
    assert entry == (3, "hvd-import", "refused")
    assert migration.status == "refused"
    targets = [FileToMigrate(str(tmp_path / "main.py")), FileToMigrate(str(tmp_path / "utils.py"))]
    assert {one.status for one in migrate_files(targets, processes=1)} == {"refused"}


@pytest.mark.parametrize(
    ("utils", "main"),
    [
        (UTILS, "import utils\nprint(utils.hvd.rank())\n"),
        (UTILS, "import utils as u\nhvd = u.hvd\nprint(hvd.rank())\n"),
        ("from horovod.tensorflow import rank\n", "from utils import (\n    rank,  # a\n)\n"),
        ("from horovod.tensorflow import rank\n", "from utils import rank as r\nprint(r())\n"),
        ("from horovod.tensorflow import rank\n", "from utils import *\nprint(rank())\n"),
    ],
)
def test_a_name_of_horovod_that_another_module_takes(tmp_path, utils, main):
    """Neither loses Horovod, whether the taker names TensorFlow or not."""
    migration = migrated(tmp_path, main=main, utils=utils, other="import utils\n")
    assert [(note.id, note.kind) for note in migration.notes] == [("hvd-import", "refused")]
    outcomes = migrate_files([FileToMigrate(str(tmp_path / "utils.py"), str(tmp_path))])
    assert [one.status for one in outcomes] == ["changed"]
    targets = [FileToMigrate(str(path), str(tmp_path)) for path in tmp_path.glob("*.py")]
    assert all(not one.migration.edits for one in migrate_files(targets, processes=1))


def test_names_of_horovod_that_nobody_takes(tmp_path):
    """Other names of the module, and members of other things, keep nothing."""
    main = "import utils\nprint(utils.limit, self.hvd)\n"
    migrated(tmp_path, main=main, utils=UTILS)
    targets = [FileToMigrate(str(path), str(tmp_path)) for path in tmp_path.glob("*.py")]
    (text,) = [one.migration.text for one in migrate_files(targets) if one.migration.edits]
    assert "horovod" not in text


@pytest.mark.parametrize(("use", "status"), [("", "refused"), ("print(rank())\n", "changed")])
def test_names_of_horovod_of_a_package(tmp_path, use, status):
    """A package that binds a name and does not use it does so for other modules."""
    path = tmp_path / "__init__.py"
    path.write_text("from horovod.tensorflow import rank\n" + use, encoding="utf-8")
    (outcome,) = migrate_files([FileToMigrate(str(path), str(tmp_path))])
    assert status == outcome.status
