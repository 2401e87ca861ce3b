"""Reports of migrations: the rows of the page, remarks, and the commands that come next."""

import html
import json
import re

import pytest

from npu_config.migration.project import FileToMigrate, migrate_files
from npu_config.migration.report import next_commands, render

TF = "import tensorflow as tf\n"
SESSION = "with tf.Session() as s:\n    pass\n"


def migrated(folder, **files):
    """The outcomes of some scripts of a folder; ``__`` in a name is a folder within it."""
    targets = []
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        targets.append(FileToMigrate(str(path), str(folder)))
    return migrate_files(targets, processes=1)


LAYOUT = """\
import tensorflow as tf; a = tf.Session()
import horovod.tensorflow as hvd
b = hvd.allreduce(x,  # <first>
                  name="é",
                  average=False); c = hvd.rank()
def main(_):
    hvd.init()
    d = tf.Session(
        config=None)
    e = tf.train.batch([1], 2, num_threads=n)
if __name__ == "__main__":
    tf.app.run()"""
FIRST = LAYOUT.split("\n")[0]
IMPORT = "from npu_config.npu_init import *"
ROWS = [
    (
        "1",
        "session-config",
        FIRST,
        IMPORT + "\n" + FIRST.replace("()", "(config=npu_config_proto())"),
    ),
    ("1", "session-close", FIRST, ""),
    ("1", "import-npu", FIRST, IMPORT),
    ("2", "hvd-import", "import horovod.tensorflow as hvd", ""),
    (
        "3",
        "hvd-allreduce",
        "b = hvd.allreduce(x,  # <first>",
        'b = npu_allreduce(x, reduction="sum"  # <first>',
    ),
    ("5", "hvd-rank", "average=False); c = hvd.rank()", "); c = get_npu_rank_id()"),
    ("5", "NPU6003", "average=False); c = hvd.rank()", ""),
    ("7", "hvd-init", "hvd.init()", ""),
    ("8", "session-config", "d = tf.Session(", "d = tf.Session("),
    ("8", "session-close", "d = tf.Session(", ""),
    ("10", "train-batch", "e = tf.train.batch([1], 2, num_threads=n)", ""),
    ("10", "queue-input", "e = tf.train.batch([1], 2, num_threads=n)", ""),
    ("12", "app-run", "tf.app.run()", "with npu_resources():\n    tf.app.run()"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_rows_of_the_page(newline):
    """Each line before and after, where edits before it, on it and over its end move the text."""
    source = LAYOUT.replace("\n", newline).encode("utf-8")
    page = render("html", migrate_files([FileToMigrate("a.py", content=source)]), [])
    rows = re.findall(r'<tr class="\w+"><td>(\d+)</td>(.*?)</tr>', page, re.S)
    found = [
        (
            line,
            *(html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in cells.split("</td>")[1:4]),
        )
        for line, cells in rows
    ]
    assert found == ROWS


HVD = "import horovod.tensorflow as hvd\nhvd.init()\n"
BATCH = "tf.data.Dataset.range(9).repeat().batch(2)\n"
SHIFTING = ("init_resource", "drop_remainder", "npu_ops.dropout")
DROPOUT = "y = tf.nn.dropout(x, 0.5)\n"


@pytest.mark.parametrize(
    ("source", "imports", "reasons"),
    [
        ("tf.set_random_seed(1)\n" + DROPOUT, "npu_config", ["npu_ops.dropout"]),
        ("c = RunConfig(tf_random_seed=1)\n" + BATCH, "npu_config", ["drop_remainder"]),
        (
            "own.set_seed(1)\n" + DROPOUT + BATCH,
            "npu_config",
            ["drop_remainder", "npu_ops.dropout"],
        ),
        ("tf.set_random_seed(1)\n" + HVD, "npu_bridge", ["init_resource"]),
        ("tf.set_random_seed(1)\n" + HVD, "npu_config", []),
        ("tf.set_random_seed(1)\n" + HVD + DROPOUT, "npu_config", ["npu_ops.dropout"]),
        ("tf.set_random_seed(1)\n" + SESSION, "npu_config", []),
        ("tf.set_random_seed(1)\ntf.data.Dataset.range(9).batch(2)\n", "npu_config", []),
        (DROPOUT + BATCH, "npu_config", []),
    ],
)
def test_what_changes_random_numbers(source, imports, reasons):
    """Where a seed is set, what gives other numbers is named, and what does not is not."""
    content = (TF + source).encode("utf-8")
    outcomes = migrate_files([FileToMigrate("a.py", content=content)], imports)
    remarks = json.loads(render("json", outcomes, []))["remarks"]
    assert len(remarks) == bool(reasons)
    assert [name for name in SHIFTING if name in "".join(remarks)] == reasons
    assert ("\nnote: " in render("text", outcomes, [])) == bool(reasons)


def test_names_of_any_letters(tmp_path):
    """JSON has them as they are."""
    found = render("json", migrated(tmp_path, é=TF + SESSION), [])
    assert str(tmp_path / "é.py") in found


def commands(folder, names, **options):
    """What to run next after the migration of scripts that make a session each."""
    outcomes = migrated(folder, **dict.fromkeys(names, TF + SESSION))
    return next_commands([str(folder)], outcomes, **options)


def test_what_is_run_of_a_copy(tmp_path):
    """The script at its place in the copy; one that was named by itself is at its top."""
    last = commands(tmp_path, ["sub__train"], output="out")[-1]
    assert last == "npu-config run out/sub/train.py"
    alone = FileToMigrate(str(tmp_path / "sub" / "train.py"))
    outcomes = migrate_files([alone])
    assert next_commands([alone.path], outcomes, output="out")[-1] == "npu-config run out/train.py"
    assert next_commands([alone.path], outcomes)[-1] == "npu-config run " + alone.path


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["a"], "a"),
        (["a b", "c"], "'a b' c"),
        (["a", "b", "c"], "a b c"),
        (["a", "b", "c", "d"], "a b c ..."),
    ],
)
def test_how_many_paths_are_named(tmp_path, paths, shown):
    """Up to three, as a shell takes them."""
    outcomes = migrated(tmp_path, a=TF + SESSION, b=TF + SESSION)
    found = next_commands(paths, outcomes, writing="--write")
    assert found == [
        "npu-config migrate --write " + shown,
        "npu-config check " + shown,
        "npu-config env --help",
        "npu-config run TRAINING_SCRIPT",
    ]
    assert next_commands(paths, outcomes) == found[1:]
    assert next_commands(paths, migrated(tmp_path, a="x = 1\n")) == []


@pytest.mark.parametrize(
    ("how", "source"),
    [
        ("runs on the NPU once these edits are written: ", TF + SESSION),
        ("creates no session of its own", TF + "print(tf.zeros(1))\n"),
        ("is not migrated", TF + "tf.enable_eager_execution()\n"),
        ("was not found", TF + "import c\nc.run(tf.zeros(1))\n"),
        ("runs on the NPU already", "from npu_config.npu_init import *\n" + TF + SESSION),
        ("(errors) are resolved", TF + SESSION + "tf.contrib.cudnn_rnn.CudnnLSTM(1, 2)\n"),
    ],
)
@pytest.mark.parametrize("count", [1, 8, 9, 10])
def test_what_becomes_of_scripts(tmp_path, how, source, count):
    """Up to eight are named, and the others counted."""
    if "Cudnn" in source:
        source = source.replace("tf.contrib", "if tf.test.is_gpu_available(): tf.contrib")
    names = ["n{}".format(number) for number in range(count)]
    text = render("text", migrated(tmp_path, **dict.fromkeys(names, source)), [])
    (line,) = [line for line in text.split("\n") if line.startswith("script: ")]
    assert how in line
    assert line.count(".py") == min(count, 8)
    assert ("{} more".format(count - 8) in line) == (count > 8)


def test_lines_of_which_the_same_is_said(tmp_path):
    """They are told together; each file by itself."""
    source = TF + 's = tf.Session("grpc://a")\nt = tf.Session("grpc://a")\n' + SESSION
    text = render("text", migrated(tmp_path, a=source, b=TF + SESSION), [])
    assert re.findall(r"^    (lines? [\d, ]+), session-config", text, re.M) == [
        "line 4",
        "lines 2, 3",
        "line 2",
    ]
