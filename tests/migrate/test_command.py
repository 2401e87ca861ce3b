"""``npu-config migrate``: what is written and where, the reports, the exit codes."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest
from click.testing import CliRunner

from npu_config.cli.app import app

PLAIN = "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print(sess)\n"
DONE = (
    "from npu_config.npu_init import *\nimport tensorflow as tf\n\n"
    "with tf.Session(config=npu_config_proto()) as sess:\n    print(sess)\n"
)


def npu(*arguments):
    """Run the command; its result has ``exit_code``, ``stdout`` and ``stderr``."""
    return RUNNER.invoke(app, ["migrate", *map(str, arguments)])


try:
    RUNNER = CliRunner(mix_stderr=False)
except TypeError:  # click 8.2 always keeps them apart
    RUNNER = CliRunner()


@pytest.fixture
def script(tmp_path):
    """A script that needs nothing by hand."""
    path = tmp_path / "train.py"
    path.write_text(PLAIN, encoding="utf-8")
    return path


def test_nothing_is_written(script):
    """The diff on standard output can be applied; the report is on standard error."""
    result = npu(script)
    assert (result.exit_code, script.read_text()) == (0, PLAIN)
    assert "+from npu_config.npu_init import *\n" in result.stdout
    assert "line 3, session-config" in result.stderr
    if shutil.which("patch") is None:
        return
    done = subprocess.run(
        ["patch", "-p0", str(script)], input=result.stdout.encode(), stdout=subprocess.PIPE
    )
    assert (done.returncode, script.read_text()) == (0, DONE)


def test_write(script):
    """The file is replaced, with its mode."""
    script.chmod(0o751)
    assert npu("--write", script).exit_code == 0
    assert script.read_text() == DONE
    assert stat.S_IMODE(script.stat().st_mode) == 0o751


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_byte_outside_of_the_edits_stays(script, encoding, newline):
    """Encoding, byte order mark and line ends."""
    comment = "# -*- coding: {} -*- é\n".format(encoding) if encoding == "latin-1" else "# é\n"
    script.write_bytes((comment + PLAIN).replace("\n", newline).encode(encoding))
    assert npu("--write", script).exit_code == 0
    expected = (comment + DONE).replace("\n", newline).encode(encoding)
    assert script.read_bytes() == expected


def test_output(tmp_path, script):
    """A copy of the tree: migrated files and all others; the input stays."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "labels.txt").write_text("a\n")
    output = tmp_path.parent / (tmp_path.name + "-out")
    assert npu("--output", output, tmp_path).exit_code == 0
    assert (output / "train.py").read_text() == DONE
    assert (output / "data" / "labels.txt").read_text() == "a\n"
    assert script.read_text() == PLAIN
    again = npu("--output", output, tmp_path)
    assert (again.exit_code, "exists and is not empty" in again.stderr) == (2, True)
    below = npu("--output", output / "train.py" / "below", tmp_path)
    assert (below.exit_code, "cannot be created" in below.stderr) == (2, True)


def test_output_inside_of_the_input(tmp_path, script):
    """A copy that would hold itself is refused."""
    result = npu("--output", tmp_path / "out", tmp_path)
    assert (result.exit_code, "is inside" in result.stderr) == (2, True)


def test_json(tmp_path, script):
    """The contract: version, files with path, status and entries."""
    (tmp_path / "run.sh").write_text("mpirun -np 8 python train.py\n")
    (tmp_path / "old.py").write_text("import tensorflow\nprint 'x'\n")
    result = npu("--report", "json", tmp_path)
    whole = json.loads(result.stdout)
    assert (result.exit_code, whole["version"]) == (1, 1)
    status = {os.path.basename(file["path"]): file["status"] for file in whole["files"]}
    assert status == {"train.py": "changed", "run.sh": "unchanged", "old.py": "refused"}
    entries = [entry for file in whole["files"] for entry in file["entries"]]
    assert {"line", "id", "kind", "severity", "note", "url", "situation"} == set(entries[0])
    (edits,) = [file["edits"] for file in whole["files"] if file["status"] == "changed"]
    assert {"line", "column", "end_line", "end_column", "text"} == set(edits[0])
    assert [one["npu"] for one in whole["scripts"]] == ["refused", "edited"]
    assert {entry["kind"] for entry in entries} == {"changed", "refused", "manual"}


def test_html(script):
    """One page that needs nothing else; what a file holds is text in it."""
    script.write_text(PLAIN + "# <script>alert(1)</script>\ntf.Session(**kw)  # </td>\n")
    result = npu("--report", "html", script)
    assert result.exit_code == 1
    assert "<script" not in result.stdout
    assert not re.search(r"<(?:link|img)|src=", result.stdout)
    assert "tf.Session(config=npu_config_proto())" in result.stdout
    assert "&lt;/td&gt;" in result.stdout


def test_imports(script):
    """The vendor's names, where only its package will be there."""
    npu("--write", "--imports", "npu_bridge", script)
    assert script.read_text() == DONE.replace("npu_config.npu_init", "npu_bridge.npu_init")


def test_twice(script):
    """The second run changes nothing, and says nothing."""
    npu("--write", script)
    result = npu("--write", script)
    assert (result.exit_code, script.read_text()) == (0, DONE)
    assert "0 changed" in result.stdout


def test_a_path_that_does_not_exist(script):
    """2, before anything is written."""
    result = npu("--write", script, script.parent / "nowhere.py")
    assert (result.exit_code, script.read_text()) == (2, PLAIN)
    assert "nowhere.py does not exist" in result.stderr


def test_two_ways_to_write(script):
    """2: --write and --output cannot be combined."""
    assert npu("--write", "--output", "x", script).exit_code == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("old.py", b"import tensorflow\nprint 'x'\n", "Python 2"),
        ("notes.py", b"this is no Python at all\n", "as Python 3"),
        ("cut.py", b"import tensorflow as tf\nsess = tf.Session(\n", "as Python 3"),
        ("latin.py", b"import tensorflow\nx = '\xff'\n", "not text"),
        ("train.ipynb", b"tensorflow", "not a notebook of format version 4"),
        ("new.py", b"import tensorflow as tf\n@tf.function\ndef f(): pass\n", "TensorFlow 2 only"),
        ("eager.py", b"import tensorflow as tf\ntf.enable_eager_execution()\n", "graph mode"),
        ("keras.py", b"import keras\n", "port to tf.keras"),
    ],
)
def test_what_cannot_be_migrated(tmp_path, script, name, content, words):
    """One reason, exit code 1, no edit; the other files are migrated."""
    path = tmp_path / name
    path.write_bytes(content)
    result = npu("--write", tmp_path if name != "notes.py" else path, script)
    assert (result.exit_code, path.read_bytes()) == (1, content)
    assert words in result.stdout
    assert script.read_text() == DONE


def test_a_directory_without_python(tmp_path):
    """A warning, as of ``check``: there is nothing to do; it is not counted as a file."""
    (tmp_path / "readme.txt").write_text("x")
    result = npu(tmp_path)
    assert (result.exit_code, "warning: there is no Python file" in result.stderr) == (0, True)
    assert "0 files: 0 changed" in result.stderr


def test_what_is_next(script):
    """First what writes it, with the same names imported; written, that is done."""
    shown = npu("--imports", "npu_bridge", script).stderr
    assert "next: npu-config migrate --write --imports npu_bridge {}\n".format(script) in shown
    script.write_text(PLAIN + "tf.Session(**kw)\n")
    written = npu("--write", script).stdout
    assert "next: npu-config check {}\n".format(script) in written
    assert "line 5, session-star" in written
    assert "keep this list" in written
    assert "next:" not in npu("--write", script).stdout


def test_a_read_only_file(script):
    """1, the file stays, and the others are written."""
    other = script.parent / "other.py"
    other.write_text(PLAIN)
    script.chmod(0o444)
    result = npu("--write", script, other)
    assert (result.exit_code, script.read_text()) == (1, PLAIN)
    assert "read-only" in result.stdout
    heads = re.findall(r"^  (?:would be )?changed$", result.stdout, re.M)
    assert heads == ["  would be changed", "  changed"]
    assert other.read_text() == DONE


def test_a_link_out_of_the_tree(tmp_path, script):
    """Neither edited nor copied."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "linked.py").symlink_to(script)
    (project / "own.py").write_text(PLAIN)
    result = npu("--write", project)
    assert (result.exit_code, script.read_text()) == (1, PLAIN)
    assert "points outside of" in result.stdout
    assert (project / "own.py").read_text() == DONE
    output = tmp_path / "output"
    npu("--output", output, project)
    assert sorted(path.name for path in output.iterdir()) == ["own.py"]


def test_two_inputs_of_one_name(tmp_path, script):
    """2: the copy has room for one file of a name."""
    other = tmp_path / "sub" / "train.py"
    other.parent.mkdir()
    other.write_text(PLAIN)
    result = npu("--output", tmp_path / "out", script, other)
    assert (result.exit_code, "same output file" in result.stderr) == (2, True)


def test_what_was_not_written_is_not_changed(script):
    """A file that is read-only is not reported as changed; no command follows."""
    script.chmod(0o444)
    found = npu("--write", str(script), "--report", "json")
    whole = json.loads(found.stdout)
    assert [one["status"] for one in whole["files"]] == ["refused"]
    assert found.exit_code == 1
    assert whole["summary"]["changed"] == 0
    assert whole["summary"]["not_read"] == 1


def test_the_next_commands_name_the_entry_script(tmp_path):
    """Of a directory the script that can be run; of a copy that in the copy."""
    folder = tmp_path / "project"
    folder.mkdir()
    module = "import tensorflow as tf\ndef f():\n    return tf.Session()\n"
    (folder / "aaa.py").write_text(module, encoding="utf-8")
    entry = module + 'if __name__ == "__main__":\n    f()\n'
    (folder / "train.py").write_text(entry, encoding="utf-8")
    here = json.loads(npu(str(folder), "--report", "json").stdout)["next"]
    assert "npu-config run {}".format(folder / "train.py") == here[-1]
    output = tmp_path / "copy"
    there = json.loads(npu(str(folder), "--output", str(output), "--report", "json").stdout)[
        "next"
    ]
    assert "npu-config run {}".format(output / "train.py") == there[-1]


def test_the_page_shows_the_import(script):
    """The row of the import shows what was inserted."""
    assert (
        "<pre>from npu_config.npu_init import *</pre>"
        in npu(str(script), "--report", "html").stdout
    )


def test_standard_input():
    """``-`` is read, shown and reported; there is no file to write."""
    result = RUNNER.invoke(app, ["migrate", "-"], input=PLAIN)
    assert result.exit_code == 0
    assert "+with tf.Session(config=npu_config_proto()) as sess:\n" in result.stdout
    assert "<stdin>: changed" in result.stderr
    assert "next:" not in result.stderr
    for options in (["--write"], ["--output", "there"]):
        result = RUNNER.invoke(app, ["migrate", *options, "-"], input=PLAIN)
        assert (result.exit_code, result.stdout) == (2, "")
        assert (
            "--write cannot write to standard input: pass the path of the script" in result.stderr
        )


def test_a_migrated_script_is_counted(script):
    """A second run says why there is nothing to do."""
    npu("--write", script)
    assert "already for the NPU, and not reported again: 1 (" in npu(script).stderr


def test_a_file_and_a_line_that_are_refused(script):
    """What is refused is the whole file, or lines of it."""
    script.write_text(PLAIN + "d = tf.data.Dataset.range(4).batch(3)\n")
    result = npu(script).stderr
    assert "  unchanged\n    line 5, drop-remainder" in result
    assert "1 changed, 0 refused as a whole; manual work: 0, notes: 1\n" in result
    script.write_text("import tensorflow as tf\ntf.enable_eager_execution()\n")
    result = npu(script).stderr
    assert "{}: the whole file is left unchanged\n".format(script) in result
    assert "0 changed, 1 refused as a whole" in result


def test_a_line_that_is_refused_alone(script):
    """Where one line is refused and there is nothing else to edit, the file is not refused."""
    script.write_text(
        "import tensorflow as tf\ntry:\n    import horovod.tensorflow as hvd\n"
        "except ImportError:\n    hvd = None\n"
    )
    result = npu(script).stderr
    assert "{}: nothing is edited\n".format(script) in result
    assert "0 changed, 0 refused as a whole; manual work: 1, notes: 0\n" in result


def test_files_with_two_names(script, tmp_path):
    """The head of each file and the summary say the same: neither is migrated, or refused."""
    os.link(str(script), str(tmp_path / "other.py"))
    result = npu("--write", tmp_path).stdout
    assert result.count(".py: not migrated\n") == 2
    assert "0 changed, 0 refused as a whole; manual work: 0, notes: 0; 2 not migrated\n" in result


GUARDED = '\nif __name__ == "__main__":\n    run()\n'
LIBRARY = "import tensorflow as tf\ndef run():\n    with tf.Session() as sess: pass\n"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"a.py": LIBRARY, "b.py": PLAIN}, "b.py"),
        ({"a.py": LIBRARY + GUARDED, "b.py": "import a\n" + PLAIN}, "b.py"),
        ({"a.py": PLAIN, "b.py": PLAIN}, None),
        ({"a.py": LIBRARY + GUARDED, "b.py": PLAIN}, None),
        ({"a.py": LIBRARY, "b.py": LIBRARY}, None),
        ({"a.py": LIBRARY + "'''__main__'''\n", "b.py": LIBRARY + GUARDED}, "b.py"),
    ],
)
def test_the_script_to_run(tmp_path, files, named):
    """One that nothing imports and that does something when it is run; of several, none."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    expected = str(tmp_path / named) if named else "TRAINING_SCRIPT"
    command = json.loads(npu(tmp_path, "--report", "json").stdout)["next"][-1]
    assert "npu-config run " + expected == command


def test_environment_of_a_launch_script(tmp_path):
    """What is set in a shell script: XLA, mixed precision and the GPUs."""
    (tmp_path / "run.sh").write_text(
        "# TF_XLA_FLAGS=1\nexport TF_XLA_FLAGS=--tf_xla_auto_jit=2\necho $X # mpirun -np\n"
        "TF_ENABLE_AUTO_MIXED_PRECISION=1 CUDA_VISIBLE_DEVICES=0 python train.py\n"
        "MY_TF_XLA_FLAGS=2\n"
    )
    (file,) = json.loads(npu(tmp_path / "run.sh", "--report", "json").stdout)["files"]
    assert [(entry["line"], entry["id"]) for entry in file["entries"]] == [
        (2, "xla-off"),
        (4, "cuda-visible-devices"),
        (4, "precision-mode"),
    ]


def test_reasons_in_chinese(tmp_path):
    """Several reasons of one line are sentences of their own, each in the language."""
    path = tmp_path / "a.py"
    path.write_text("import tensorflow as tf\ntf.keras.Sequential([]).fit(1)\n")
    said = RUNNER.invoke(app, ["--lang", "zh", "migrate", str(path)]).stderr
    (line,) = [line for line in said.splitlines() if "import-npu" in line]
    assert "\uff1b" in line
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", line)


def test_html_of_a_script_whose_session_is_not_known(tmp_path):
    """What is to be done by hand has a row, also where no import was written."""
    path = tmp_path / "a.py"
    path.write_text("import tensorflow as tf\nimport elsewhere\nelsewhere.go(tf.constant(1))\n")
    result = npu("--report", "html", str(path))
    assert "import-npu" in result.output
    assert "</html>" in result.output


@pytest.mark.parametrize("given", [".", "sub", "../{}", "{}", "ab s/.."])
def test_the_diff_is_one_that_git_applies(tmp_path, monkeypatch, given):
    """Whatever the path that was given; names with spaces and of any letters."""
    names = ("train.py", "sub/a b.py", "sub/é.py", "ab s/it's.py")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PLAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = given.format(tmp_path.name if given.startswith("..") else tmp_path)
    patch = npu(path).stdout
    headers = re.findall(r'^--- "?a/(.*?)"?\t?$', patch, re.M)
    assert len(headers) == (2 if given == "sub" else 4)
    assert not any(one.startswith((".", "/")) or "/." in one for one in headers)
    if shutil.which("git") is not None:
        done = subprocess.run(["git", "apply", "--check", "-"], input=patch.encode())
        assert done.returncode == 0


CLASS = (
    "class A:\n    def f(self):\n        return tf.Session()\n"
    "    def g(self):\n        self.s = self.f()\n"
)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    return tf.Session()\ns = f()\n", [4]),
        ("def f():\n    s = tf.Session()\n    return s\ns = f()\n", [5]),
        ("def f():\n    return tf.Session()\nf().run(1)\n", [4]),
        (CLASS, [6]),
        ("def f():\n    return tf.Session()\ns = f()\ns.close()\n", []),
        ("def f():\n    return tf.Session()\nwith f() as s:\n    pass\n", []),
        ("def f():\n    return tf.Session()\ns = f()\nfor one in [s]:\n    one.close()\n", []),
        ("def f():\n    return tf.Session()\nx.f()\n", []),
    ],
)  # fmt: skip
def test_a_session_that_a_function_returns_is_closed_by_its_caller(tmp_path, source, lines):
    """Where nothing closes it, that is said of the line that calls the function."""
    path = tmp_path / "train.py"
    path.write_text("import tensorflow as tf\n" + source, encoding="utf-8")
    (file,) = json.loads(npu("--report", "json", path).stdout)["files"]
    assert lines == [one["line"] for one in file["entries"] if one["id"] == "session-close"]


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("from keras.models import Sequential\nm = Sequential()\nm.fit(1)\n", "refused"),
        ("c = tf.train.ClusterSpec({})\nwith tf.Session() as s:\n    s.run(c)\n", "refused"),
        ("with tf.Session() as s:\n    s.run(1)\n", "edited"),
        ("print(tf.__version__)\n", "not-needed"),
    ],
)  # fmt: skip
def test_partial_does_not_say_that_it_runs_on_the_npu(tmp_path, source, verdict):
    """What depends on something that is refused is edited, and its script is called refused."""
    path = tmp_path / "train.py"
    path.write_text("import tensorflow as tf\n" + source, encoding="utf-8")
    whole = json.loads(npu("--partial", "--report", "json", path).stdout)
    assert [verdict] == [one["npu"] for one in whole["scripts"]]
