"""Notebooks: the code cells are migrated, and every other byte of the file stays."""

import json
from pathlib import Path

import pytest

import npu_config
from npu_config.migration.notebook import open_notebook
from tests.migrate.test_command import npu

IMPORT = "from npu_config.npu_init import *\n"


def cell(*lines, kind="code"):
    """A cell with something to lose."""
    made = {"cell_type": kind, "metadata": {"tags": ["é"]}, "source": list(lines)}
    if kind == "code":
        made.update(execution_count=3, outputs=[{"output_type": "stream", "text": ["x\n"]}])
    return made


CELLS = [
    cell("# About tf.Session()\n", "text", kind="markdown"),
    cell("%matplotlib inline\n", "!pip \\\n", "  x\n", "import os\n", "import tensorflow as tf"),
    cell("%%bash\n", "mpirun tf.Session()"),
    cell("for i in [1]:\n", "    !ls\n", "sess = tf.Session()\n", "%time 1\n", "sess.close()"),
    cell("tf.Session?"),
    cell(),
]  # fmt: skip


def notebook(cells, indent=1, **metadata):
    """The text of a notebook."""
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 2}
    return json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("indent", [1, None, 4])
@pytest.mark.parametrize("is_list", [True, False])
def test_cells(tmp_path, indent, is_list):
    """Code changes, with magics left alone; all else, and a second run, changes nothing."""
    cells = [one if is_list else dict(one, source="".join(one["source"])) for one in CELLS]
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(cells, indent), encoding="utf-8")
    result = npu("--write", path, "--report", "json")
    expected = json.loads(notebook(cells, indent))
    for number, old, new in (
        (1, "import os\n", IMPORT + "import os\n"),
        (3, "tf.Session()", "tf.Session(config=npu_config_proto())"),
    ):
        source = "".join(expected["cells"][number]["source"]).replace(old, new)
        parts = source.splitlines(True) if is_list else source
        expected["cells"][number]["source"] = parts
    assert json.loads(path.read_text(encoding="utf-8")) == expected
    assert path.read_text(encoding="utf-8") == notebook(expected["cells"], indent)
    (file,) = json.loads(result.stdout)["files"]
    lines = notebook(cells, indent).split("\n")
    places = [(one["id"], lines[one["line"] - 1]) for one in file["entries"]]
    assert [id for id, _ in places] == ["import-npu", "session-config"]
    assert "sess = tf.Session()" in places[1][1]
    assert file["entries"][1]["note"].startswith("cell 4: ")
    before = path.read_bytes()
    assert npu("--write", path).exit_code == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "not a notebook of format version 4"),
        ('{"cells": [', "not a notebook of format version 4"),
        (
            notebook([cell("import tensorflow as tf\n", "print 1")]),
            "cell 1 cannot be analysed as Python 3",
        ),
        (
            notebook([cell("tensorflow")], language_info={"name": "R"}),
            "the notebook is written in R",
        ),
        (notebook([dict(cell(), source=[1])]), "cell 1 has no text"),
        (notebook([cell("x = 1", "y = 2\n")]), "cell 1 has several lines in one string"),
        (notebook([cell("x = 1\ry = 2\n")]), "cell 1 has several lines in one string"),
    ],
)
def test_what_cannot_be_migrated(tmp_path, text, words):
    """One finding with what to do, exit code 1; the file stays."""
    path = tmp_path / "train.ipynb"
    path.write_text(text, encoding="utf-8")
    result = npu("--write", path)
    assert (result.exit_code, path.read_text(encoding="utf-8")) == (1, text)
    assert words in result.stdout
    assert "jupyter nbconvert" in result.stdout


def test_what_is_not_concerned(tmp_path):
    """A notebook without TensorFlow, and one whose text mentions it only, stay."""
    for cells in ([cell("print(1)")], [CELLS[0]], []):
        path = tmp_path / "notes.ipynb"
        path.write_text(notebook(cells), encoding="utf-8")
        assert npu("--check", path).exit_code == 0
        assert "nothing-to-migrate" not in npu("--check", tmp_path).stdout


def test_magics_that_take_python(tmp_path):
    """Their Python is migrated where it stands; what is not looked at is said."""
    new = "tf.Session(config=npu_config_proto())"
    cells = [
        cell(
            "import tensorflow as tf\n",
            "%time tf.Session().run(1)\n",
            "if 1:\n",
            "    %timeit -n 9 -r3 tf.Session()\n",
            "!python3 train.py --x\n",
            "%run -i other.py",
        ),
        cell("%%time\n", "with tf.Session() as s:\n", "    pass"),
        cell("%%capture out\n", "tf.Session()"),
        cell("%%timeit s = tf.Session()\n", "s.close()"),
        cell("%%writefile x.py\n", "import tensorflow as tf\n", "tf.Session()"),
        cell("%%writefile notes.txt\n", "nothing"),
    ]  # fmt: skip
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(cells), encoding="utf-8")
    (file,) = json.loads(npu("--write", path, "--report", "json").stdout)["files"]
    after = [
        "".join(one["source"]) for one in json.loads(path.read_text(encoding="utf-8"))["cells"]
    ]
    before = ["".join(one["source"]) for one in cells]
    assert after[0] == IMPORT + before[0].replace("tf.Session()", new)
    assert after[1:4] == [one.replace("tf.Session()", new) for one in before[1:4]]
    assert after[4:] == before[4:]
    notes = [one["note"] for one in file["entries"] if "not migrated" in one["note"]]
    assert [(one.split(":")[0], one.split()[2]) for one in notes] == [
        ("cell 1", "train.py"),
        ("cell 1", "other.py"),
        ("cell 5", "the"),
    ]


def test_statements_that_go_leave_the_magic(tmp_path):
    """``%time`` keeps something to do where the statement behind it is removed."""
    cells = [
        cell("import tensorflow as tf\n", "%time import horovod.tensorflow as hvd"),
        cell("hvd.init()"),
        cell("if True:\n", "    %time hvd.shutdown()"),
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(notebook(cells), encoding="utf-8")
    npu("--write", path)
    after = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert [one["source"][-1] for one in (after[0], after[2])] == ["%time pass", "    %time pass"]


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("is_list", [True, False])
def test_the_end_of_a_cell(end, is_list):
    """It stays as it is where its last line changes, goes, or gets another one behind it."""
    lines = [
        ["import tensorflow as tf"],
        ["a = 1\n", "b = 2\n", "import horovod.tensorflow as hvd"],
        ["hvd.init()"],
        ["s = tf.Session()"],
        ["hvd.shutdown()\n", "s.close()\n", "hvd.shutdown()"],
        ["hvd.shutdown()\n", "c = 3\n", "d = 4\n", "hvd.shutdown()\n", "e = 5"],
        ["hvd.shutdown()"],
    ]
    sources = [[*one[:-1], one[-1] + end] for one in lines]
    cells = [cell(*one) if is_list else dict(cell(), source="".join(one)) for one in sources]
    text = notebook(cells)
    book = open_notebook(text)
    after = json.loads(book.migrated(npu_config.migrate(book.script)).text)["cells"]
    found = ["".join(one["source"]) for one in after]
    assert found == [
        IMPORT + "import atexit\nimport tensorflow as tf" + end,
        "a = 1\nb = 2" + end,
        "npu_sess, npu_shutdown = init_resource()\natexit.register(lambda: "
        "(shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))" + end,
        "s = tf.Session(config=npu_config_proto())" + end,
        "s.close()" + end,
        "c = 3\nd = 4\ne = 5" + end,
        "",
    ]


def test_what_cannot_be_read_is_a_script_that_stays(tmp_path):
    """Python 2 and notebooks that are none are among the scripts of the report."""
    (tmp_path / "a.py").write_text("import tensorflow\nprint 'x'\n", encoding="utf-8")
    (tmp_path / "b.ipynb").write_text('{"cells": tensorflow', encoding="utf-8")
    (tmp_path / "c.py").write_text("import tensorflow\ndef f():\n    print 1\n", encoding="utf-8")
    scripts = json.loads(npu(tmp_path, "--report", "json").stdout)["scripts"]
    assert [(Path(one["path"]).name, one["npu"]) for one in scripts] == [
        ("a.py", "refused"),
        ("b.ipynb", "refused"),
    ]


def test_the_line_of_each_note():
    """The first and the last lines of cells are theirs, of cells that are one text, too."""
    one_text = dict(cell(), source="z = tf.Session()\nprint(2)")
    text = notebook(
        [
            cell("import tensorflow as tf\n", "x = tf.Session()"),
            cell("y = tf.Session()\n", "print(1)"),
            one_text,
        ]
    )
    book = open_notebook(text)
    notes = book.migrated(npu_config.migrate(book.script)).notes
    lines = text.split("\n")
    assert [
        (lines[note.line - 1].strip().strip(","), str(note.note).partition(":")[0])
        for note in notes
        if note.id == "session-config"
    ] == [
        ('"x = tf.Session()"', "cell 1"),
        (r'"y = tf.Session()\n"', "cell 2"),
        (r'"source": "z = tf.Session()\nprint(2)"', "cell 3"),
    ]
