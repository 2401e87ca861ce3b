"""Several files as one program, and what cannot be migrated."""

import os

import pytest

from npu_config.migration import project
from npu_config.migration.project import FileToMigrate, migrate_files

LAYERS = "import tensorflow as tf\n\n\ndef dense(x):\n    return tf.layers.dense(x, 3)\n"
KERAS = "import tensorflow as tf\n\n\ndef build():\n    return tf.keras.Sequential([])\n"
MAIN = 'import tensorflow as tf\nimport model\n\nif __name__ == "__main__":\n    model.build()\n'


def migrated(folder, files, imports="npu_config", processes=1):
    """The migrations of some files, by name."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    targets = [FileToMigrate(str(folder / name), str(folder)) for name in files]
    return {
        os.path.relpath(outcome.target.path, str(folder)): outcome
        for outcome in migrate_files(targets, imports, processes)
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are to have what is patched")
def test_a_script_that_ends_its_process(tmp_path, monkeypatch):
    """What ends the process that reads it is a finding; the other scripts are migrated."""
    real = project._look

    def look(work):
        if any(target.path.endswith("bad.py") for target in work.targets):
            os._exit(3)
        return real(work)

    look.__module__, look.__qualname__ = real.__module__, real.__qualname__
    monkeypatch.setattr(project, "_look", look)
    monkeypatch.setattr(project, "_WORTH_SHARING", 2)
    found = migrated(tmp_path, {"bad.py": LAYERS, "good.py": KERAS}, processes=2)
    (fault,) = found.pop("bad.py").diagnostics
    assert (fault.rule, "ended" in fault.message) == ("NPU454", True)
    assert found["good.py"].migration is not None


def test_layers_stay(tmp_path):
    """A module that only builds layers is not touched."""
    found = migrated(tmp_path, {"layers.py": LAYERS})
    assert found["layers.py"].migration.edits == ()


def test_the_entry_script_imports(tmp_path):
    """The entry script imports npu_init, and the module that it reaches does not."""
    found = migrated(tmp_path, {"model.py": KERAS, "main.py": MAIN})
    assert found["model.py"].migration.edits == ()
    assert found["main.py"].migration.text == "from npu_config.npu_init import *\n" + MAIN


def test_a_package_that_makes_sessions_in_the_project(tmp_path):
    """Its own modules are left alone where they stand in a folder of the project, too."""
    module = "import tensorflow as tf\nfrom tensorpack import train\nx = tf.zeros(1)\n"
    found = migrated(tmp_path, {"lib/tensorpack/a.py": module, "lib/other/a.py": module})
    assert found["lib/tensorpack/a.py"].migration.edits == ()
    assert found["lib/other/a.py"].migration.edits


def test_a_module_alone_imports(tmp_path):
    """A module that nothing reaches imports npu_init itself."""
    found = migrated(tmp_path, {"model.py": KERAS})
    assert found["model.py"].migration.text == "from npu_config.npu_init import *\n" + KERAS


def test_packages(tmp_path):
    """Relative imports and packages are followed."""
    main = MAIN.replace("import model", "from net import model")
    files = {"net/__init__.py": "", "net/model.py": KERAS, "main.py": main}
    found = migrated(tmp_path, files)
    assert found["net/model.py"].migration.edits == ()
    assert found["main.py"].migration.text.startswith("from npu_config.npu_init import *\n")


def test_the_entry_that_is_refused(tmp_path):
    """Where the entry script is not edited, the module keeps its import."""
    main = MAIN.replace("import model", "import model\ntf.enable_eager_execution()")
    found = migrated(tmp_path, {"model.py": KERAS, "main.py": main})
    assert found["main.py"].migration.status == "refused"
    assert found["model.py"].migration.edits != ()


def test_horovod_stays_in_a_whole_program(tmp_path):
    """All of Horovod, or nothing: in a program, too."""
    ops = "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nx = hvd.join()\n"
    main = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nimport ops\n\nhvd.init()\n"
    found = migrated(tmp_path, {"ops.py": ops, "main.py": main, "other.py": main[:-22]})
    assert found["main.py"].migration.status == "refused"
    assert "ops.py still uses Horovod" in found["main.py"].migration.notes[0].note


OFF = """import argparse
import tensorflow as tf
import horovod.tensorflow as hvd
import ops
p = argparse.ArgumentParser()
p.add_argument("--hvd", action="store_true")
if p.parse_args().hvd:
    hvd.init()
    x = hvd.join()
"""


@pytest.mark.parametrize("ops", ["", "import horovod.tensorflow as hvd\nx = hvd.join()\n"])
def test_horovod_that_is_off_in_a_program(tmp_path, ops):
    """It stays as it is, whether or not another file of the program keeps Horovod."""
    found = migrated(tmp_path, {"ops.py": "import tensorflow as tf\n" + ops, "main.py": OFF})
    assert found["main.py"].migration.edits == ()
    assert [note[:3] for note in found["main.py"].migration.notes] == [
        (3, "hvd-import", "manual"),
        (8, "hvd-init", "manual"),
        (9, "hvd-refused", "manual"),
    ]


@pytest.mark.parametrize(
    "lines", ["tf.enable_eager_execution()\n", "print hvd.rank()\n", "x = (\n"]
)
def test_horovod_stays_with_a_file_that_is_refused_as_a_whole(tmp_path, lines):
    """Eager execution, Python 2 and faults keep Horovod in their file, and so in the program."""
    step = "import horovod.tensorflow as hvd\nimport tensorflow as tf\n" + lines
    main = "import horovod.tensorflow as hvd\nimport tensorflow as tf\nimport step\nhvd.init()\n"
    found = migrated(tmp_path, {"step.py": step, "main.py": main})
    assert found["main.py"].migration.edits == ()
    assert "step.py still uses Horovod" in found["main.py"].migration.notes[0].note
    step = step.replace("import horovod.tensorflow as hvd\n", "")
    found = migrated(tmp_path, {"step.py": step, "main.py": main})
    assert found["main.py"].migration.edits


def test_several_processes_give_the_same(tmp_path):
    """Who does the work makes no difference."""
    files = {"model.py": KERAS, "main.py": MAIN}
    for number in range(50):
        files["script_{}.py".format(number)] = "import tensorflow as tf\ns = tf.Session()\n"
    assert migrated(tmp_path, files) == migrated(tmp_path, files, processes=2)


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ("mpirun -np 8 python train.py", "launch"),
        ('"/opt/my mpi/mpirun" -np 8 python train.py', "launch"),
        ("if ! /opt/mpirun -np 8 python train.py; then exit 1; fi", "launch"),
        ("MPIRUN=/opt/mpirun", "launch"),
        ("  horovodrun -np 8 python train.py", "launch"),
        ("srun -n 4 ./job.sh", "launch"),
        ("X=1 torchrun --nproc_per_node=4 t.py", "launch"),
        ("if true; then mpiexec -n 4 python a.py; fi", "launch"),
        ("nvidia-smi", "nvidia-smi"),
        ("export CUDA_VISIBLE_DEVICES=0,1", "cuda-visible-devices"),
    ],
)
def test_shell_scripts_are_reported(tmp_path, line, id):
    """Lines that start ranks or name GPUs, with their number; comments are not."""
    found = migrated(tmp_path, {"run.sh": "#!/bin/sh\n# {0}\n{0}\n".format(line)})
    assert [(note.line, note.id) for note in found["run.sh"].migration.notes] == [(3, id)]
    assert found["run.sh"].migration.edits == ()


def test_what_vanishes_is_reported(tmp_path):
    """A file that is gone, among others that are migrated."""
    (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.Session()\n")
    targets = [
        FileToMigrate(str(tmp_path / "gone.py"), str(tmp_path)),
        FileToMigrate(str(tmp_path / "a.py")),
    ]
    gone, other = migrate_files(targets)
    assert gone.migration is None
    assert "does not exist" in gone.diagnostics[0].message
    assert other.migration.edits


GRAPH = "import tensorflow as tf\n"
OURS = "from npu_config.npu_init import *\n"
GAN = "import tensorflow_gan\n"
EAGERLY = GRAPH + "tf.enable_eager_execution()\n"
GUARDED = GRAPH + "if __name__ == '__main__':\n    tf.enable_eager_execution()\n"
RUN = 'if __name__ == "__main__":\n    run()\n'
TRAINER = GRAPH + "def run():\n    with tf.Session() as sess:\n        pass\n"


def entries(found):
    """What becomes of the process of each script that is run."""
    return {name: (one.entry.how, one.entry.by) for name, one in found.items() if one.entry}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": TRAINER + RUN}, {"a.py": ("edited", "a.py")}),
        ({"a.py": "import b\nb.run()\n" + RUN, "b.py": TRAINER}, {"a.py": ("edited", "b.py")}),
        ({"a.py": OURS + TRAINER + RUN}, {"a.py": ("already", "a.py")}),
        ({"a.py": GRAPH + "from tensorpack import X\n" + RUN}, {"a.py": ("edited", "a.py")}),
        ({"a.py": "import tensorpack.dataflow\n" + RUN}, {"a.py": ("not-needed", "")}),
        ({"a.py": "import numpy\n" + RUN}, {}),
        ({"a.py": "import b\nb.run()\n" + RUN, "b.py": GAN}, {"a.py": ("edited", "a.py")}),
        ({"a.py": GRAPH + "tf.contrib.gan.gan_train(1)\n"}, {"a.py": ("edited", "a.py")}),
        ({"a.py": GRAPH + "import c\nc.run(tf.zeros(1))\n"}, {"a.py": ("unknown", "c")}),
        ({"a.py": GRAPH + "import c\nc.run(tf.train.Example())\n"}, {"a.py": ("not-needed", "")}),
        ({"a.py": GRAPH + "import numpy, os\nprint(tf.zeros(1))\n"}, {"a.py": ("not-needed", "")}),
        ({"a.py": GRAPH + "x = tf.zeros(1)\ndef f():\n    pass\n"}, {}),
        ({"a.py": GRAPH + "import c\ntf.app.run(c.train)\n"}, {"a.py": ("unknown", "c")}),
        ({"a.py": "import c  # as of tensorflow 1.15\nc.run()\n"}, {"a.py": ("unknown", "c")}),
        ({"a.py": "import mpl_toolkits  # tensorflow\n" + RUN}, {"a.py": ("not-needed", "")}),
        ({"a.py": TRAINER + "x = run()\n"}, {"a.py": ("edited", "a.py")}),
        ({"a.py": "import b\nx = b.run()\n", "b.py": TRAINER}, {"a.py": ("edited", "b.py")}),
        ({"a.py": TRAINER + "x = print\ny = len([])\n"}, {}),
        (  # a directory that the script adds to sys.path
            {"t/a.py": "import m.b\n" + RUN, "lib/m/b.py": TRAINER},
            {"t/a.py": ("edited", "lib/m/b.py")},
        ),
        (  # of two, the nearer one
            {"p/t/a.py": "import b\n" + RUN, "p/lib/b.py": LAYERS, "q/lib/b.py": TRAINER},
            {"p/t/a.py": ("not-needed", "")},
        ),
        (  # a module of the standard library, and one of another package
            {"t/a.py": "import json\n" + GRAPH + RUN, "lib/json.py": TRAINER},
            {"t/a.py": ("not-needed", "")},
        ),
        (
            {"t/a.py": GRAPH + "import n.b\ntf.zeros(1)\n" + RUN, "lib/m/b.py": TRAINER},
            {"t/a.py": ("unknown", "n.b")},
        ),
        (  # packages are imported before their modules
            {"a.py": "import m.n.c\n" + RUN, "m/__init__.py": "from m import b\n",
             "m/b.py": TRAINER, "m/n/c.py": GRAPH + "tf.zeros(1)\n"},
            {"a.py": ("edited", "m/b.py")},
        ),
        (
            {"a.py": GAN + "f()\n", "tensorflow_gan/__init__.py": GRAPH + "tf.zeros(1)"},
            {"a.py": ("edited", "a.py")},
        ),
        (
            {"a.py": "import b\n" + TRAINER + RUN, "b.py": GUARDED},
            {"a.py": ("edited", "a.py"), "b.py": ("refused", "b.py")},
        ),
        (
            {"a.py": "import b\n" + RUN, "b.py": EAGERLY},
            {"a.py": ("refused", "b.py")},
        ),
        (
            {"a.py": "import c\n" + TRAINER + RUN, "b.py": "import c\n" + EAGERLY, "c.py": KERAS},
            {"a.py": ("edited", "a.py"), "b.py": ("refused", "b.py")},
        ),
    ],
)  # fmt: skip
def test_scripts_that_are_run(tmp_path, files, expected):
    """Each process ends up with the NPU's initialisation, or it is said that it does not."""
    found = migrated(tmp_path, files)
    named = {
        name: (how, str(tmp_path / by) if by.endswith(".py") else by)
        for name, (how, by) in expected.items()
    }
    assert named == entries(found)
    for name, (how, _) in expected.items():
        said = [note for note in found[name].migration.notes if note.must]
        assert bool(said) == (how in ("unknown", "refused"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "import my_keras\nmy_keras.run()\n"}, {}),
        ({"a.py": "import b\nb.run()\n", "b.py": "def run(): return my_keras\n"}, {}),
        (  # what an unknown package does with the graph of a module that is refused is not known
            {"a.py": GRAPH + "import b, c\nc.run(tf.train.Example())\n", "b.py": GUARDED},
            {"a.py": ("unknown", "c"), "b.py": ("refused", "b.py")},
        ),
        (
            {"a.py": "from tensorflow import zeros\n" + GAN + "f()\n",
             "tensorflow_gan/__init__.py": ""},
            {"a.py": ("edited", "a.py")},
        ),
        ({"a.py": GAN + "f()\n", "tensorflow_gan/__init__.py": ""}, {"a.py": ("edited", "a.py")}),
        (  # of the root before those of other folders, though they are nearer
            {"t/a.py": "import b\n" + RUN, "b.py": TRAINER, "t/lib/b.py": LAYERS},
            {"t/a.py": ("edited", "b.py")},
        ),
        (  # modules of the folders above
            {"p/q/a.py": "from ..n import b\n" + RUN, "p/n/b.py": TRAINER},
            {"p/q/a.py": ("edited", "p/n/b.py")},
        ),
        (
            {"p/q/r/a.py": "from ...b import run\n" + RUN, "p/b.py": TRAINER, "b.py": LAYERS},
            {"p/q/r/a.py": ("edited", "p/b.py")},
        ),
        (
            {"p/q/a.py": "from .b import run\n" + RUN, "p/q/b.py": TRAINER, "p/b.py": LAYERS},
            {"p/q/a.py": ("edited", "p/q/b.py")},
        ),
    ],
)  # fmt: skip
def test_scripts_that_are_run_beside_others(tmp_path, files, expected):
    """What only looks like a package of ours, guarded modules, and relative imports."""
    test_scripts_that_are_run(tmp_path, files, expected)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"a.py": "import os\nimport b\n" + RUN, "b.py": EAGERLY}, 1),
        ({"a.py": GRAPH + "import os\nimport c\nc.run(tf.zeros(1))\n"}, 3),
        ({"a.py": GRAPH + "import os\nfrom c.d import run\nrun(tf.zeros(1))\n"}, 3),
    ],
)
def test_the_line_of_what_is_left_to_do(tmp_path, files, line):
    """The import of a package that is not known; the first where a module is refused."""
    notes = migrated(tmp_path, files)["a.py"].migration.notes
    assert [(note.line, note.id) for note in notes if note.must] == [(line, "import-npu")]


def test_the_import_moves_to_a_module_that_nothing_imports(tmp_path):
    """It is the entry though it does nothing by itself."""
    files = {"model.py": KERAS, "lib.py": "import model\n\ndef f():\n    return model.build()\n"}
    found = migrated(tmp_path, files)
    assert found["model.py"].migration.edits == ()
    assert found["lib.py"].migration.text == OURS + files["lib.py"]


@pytest.mark.parametrize(("count", "how"), [(1, "edited"), (32, "edited"), (33, "unknown")])
def test_modules_of_one_name(tmp_path, count, how):
    """Of up to 32 that only sys.path leads to the nearest are taken, of more none."""
    files = {"d{}/b.py".format(number): TRAINER for number in range(count)}
    files["t/a.py"] = "import b\n" + GRAPH + RUN
    assert migrated(tmp_path, files)["t/a.py"].entry.how == how


@pytest.mark.parametrize(
    ("before", "after", "encoding", "data", "expected"),
    [
        ("a", "ab", "ascii", b"a", False),
        ("a", "é", "ascii", b"a", True),
        ("é", "é", "latin-1", b"\xe9", False),
        ("é", "é", "utf-8", b"e\xcc\x81", True),
        ("a", "a", "utf-16", b"a", True),
    ],
)
def test_what_cannot_be_written_back(before, after, encoding, data, expected):
    """What the encoding has no letters for, and a text that other bytes would stand for."""
    assert project._lossy(before, after, encoding, data) is expected


def test_a_link_that_is_named(tmp_path):
    """The file behind it is migrated, wherever it is."""
    (tmp_path / "a.py").write_text(TRAINER)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.py").symlink_to(tmp_path / "a.py")
    link = str(tmp_path / "sub" / "link.py")
    named, found = migrate_files([FileToMigrate(link), FileToMigrate(link, str(tmp_path / "sub"))])
    assert named.migration.edits
    assert found.migration is None
    (inside,) = migrate_files([FileToMigrate(link, str(tmp_path))])
    assert inside.migration.edits


@pytest.mark.parametrize(
    ("use", "lines"),
    [
        ("made.make().run(1)", [2]),
        ("made.make()", [2]),
        ("made.make().close()", []),
        ("s = made.make()", [2]),
        ("s = made.make(); s.close()", []),
        ("with made.make() as s: pass", []),
        ("f(made.make())", []),
        ("made.other().run(1)", []),
    ],
)
def test_who_closes_a_session_of_another_file(tmp_path, use, lines):
    """What nothing holds, and what nothing closes; not of a function that its file calls."""
    made = GRAPH + "def make():\n    return tf.Session()\n"
    for end, expected in (("", lines), ("with make() as s: pass\n", [])):
        files = {"made.py": made + end, "main.py": "import made\n" + use + "\n"}
        notes = migrated(tmp_path, files)["main.py"].migration.notes
        assert expected == [note.line for note in notes if note.id == "session-close"]


def test_a_module_beside_a_script_that_is_named_alone(tmp_path):
    """The session is made in a module that is not migrated: the script imports npu_init."""
    files = {"main.py": "import tensorflow as tf\nfrom lib import run\n" + RUN, "lib.py": TRAINER}
    migrated(tmp_path, files)
    (outcome,) = migrate_files([FileToMigrate(str(tmp_path / "main.py"))])
    assert outcome.migration.text == "from npu_config.npu_init import *\n" + files["main.py"]
    assert outcome.entry.how == "edited"


def test_many_files_that_import_each_other(tmp_path):
    """A program of 500 files with cycles is looked at once."""
    files = {
        "m{}.py".format(n): "import m{}, m{}\n".format((n + 1) % 500, (n * 7) % 500)
        for n in range(500)
    }
    files["m3.py"] += TRAINER
    files["main.py"] = "import m0\n" + RUN
    assert entries(migrated(tmp_path, files)) == {"main.py": ("edited", str(tmp_path / "m3.py"))}


@pytest.mark.parametrize(
    ("text", "count", "rest"),
    [
        ("horovodrun -np 16 -H a:8,b:8 python t.py > l", "16 processes", "--server a --server b"),
        ("mpirun -np 8 \\\n -x A \\\n python t.py | tee o", "8 processes", "-- python t.py"),
        ("srun -N 2 --ntasks-per-node=8 python t.py", "16 processes", "--to slurm -o . -- py"),
        ("torchrun --nproc_per_node=4 --nnodes=2 t.py", "8 processes", "-- python3 t.py"),
        ("python3 -m torch.distributed.launch t.py", "the same number", "-- python3 t.py"),
        ("mpirun -n 1 $CMD; fi", "1 process,", "-- COMMAND"),
    ],
)  # fmt: skip
def test_what_a_launcher_becomes(tmp_path, text, count, rest):
    """The commands that make the same processes for the NPU, with their number and hosts."""
    found = migrated(tmp_path, {"run.sh": text + "\n"})["run.sh"]
    (note,) = found.migration.notes
    assert note.note.startswith("start " + count)
    assert rest in note.note
    assert note.must


@pytest.mark.parametrize(
    "line", ["echo srun is nice", "# srun -n 4 x", "my_srun -n 4 x", "FOO=srun"]
)
def test_what_looks_like_a_launcher(tmp_path, line):
    """Words that are no commands."""
    assert not migrated(tmp_path, {"run.sh": line + "\n"})["run.sh"].migration.notes
