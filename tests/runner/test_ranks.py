"""``npu-config run --ranks``: processes, environments, output, exit codes, ends."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("click")


def start(tmp_path, text, *options):
    """``npu-config run`` of a script, with its private folders below ``tmp``."""
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "npu_config", "run", *options, "train.py", "--a", "-b", "c d"],
        cwd=str(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TMPDIR": str(tmp_path / "tmp"),
            "CM_WORKER_SIZE": "8",
            "RANK_ID": "17",
        },
    )


def ended(process, tmp_path):
    """Exit code, sorted lines of output, and errors of what was started; nothing is left."""
    output, errors = process.communicate()
    assert os.listdir(str(tmp_path / "tmp")) == []
    return process.returncode, sorted(output.decode().splitlines()), errors.decode()


def run(tmp_path, text, *options):
    """What a whole run does."""
    return ended(start(tmp_path, text, *options), tmp_path)


def test_environment(tmp_path):
    """Each rank has the variables of a job with a rank table that is right, and no others."""
    text = """
        import os, sys
        from npu_config import rank_table
        from npu_config.launch import check_environment
        names = ("RANK_ID", "DEVICE_ID", "ASCEND_DEVICE_ID", "RANK_SIZE", "JOB_ID")
        table = rank_table.load(os.environ["RANK_TABLE_FILE"])
        assert not table.diagnostics, table.diagnostics
        assert check_environment(os.environ, table=table.model).ok
        from hccl.manage.api import get_rank_id, get_local_rank_id, get_rank_size
        from hccl.manage.api import get_local_rank_size
        print(*map(os.environ.get, names), "CM_WORKER_SIZE" in os.environ, sys.argv[1:])
        print(get_rank_id(), get_rank_size(), get_local_rank_id(), get_local_rank_size())
    """
    code, output, errors = run(tmp_path, text, "--ranks", "3")
    notes = "npu-config run: ranks: 3, sharing CPU cores: {}\n".format(os.cpu_count())
    assert code == 0
    said = [line for line in errors.replace(notes, "").splitlines() if line[:4] != "    "]
    (finding,) = said  # this very script asks too early
    assert "NPU6003" in finding
    arguments = "['--a', '-b', 'c d']"
    expected = [
        line
        for rank in range(3)
        for line in (
            "[rank {0}] {0} {0} {0} 3 npu-config-run False {1}".format(rank, arguments),
            "[rank {0}] {0} 3 {0} 3".format(rank),
        )
    ]
    assert sorted(expected) == output


def test_the_first_that_fails(tmp_path):
    """It ends the others and what they have started; its code is that of the job."""
    text = """
        import os, subprocess, sys, time
        if os.environ["RANK_ID"] == "1":
            while len(os.listdir(".")) < 4:
                time.sleep(0.02)
            print("something is wrong", file=sys.stderr)
            sys.exit(7)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        open("pid{}".format(child.pid), "w").close()
        time.sleep(300)
    """
    code, output, errors = run(tmp_path, text, "--ranks", "3", "--report", "seen.json")
    assert (code, output) == (7, [])
    assert "[rank 1] something is wrong\n" in errors
    assert "rank 1 failed first, with exit code 7; its last output:\n" in errors
    pids = [int(name[3:]) for name in os.listdir(str(tmp_path)) if name.startswith("pid")]
    assert len(pids) == 2
    assert [pid for pid in pids if runs(pid)] == []
    report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert (report["exit_code"], report["first_failed"]) == (7, 1)
    assert [rank["exit_code"] for rank in report["ranks"]] == [143, 7, 143]
    assert report["ranks"][1]["ended"] == "finished"


def runs(pid):
    """Whether a process runs, and is more than an entry that nobody has fetched."""
    try:
        with open("/proc/{}/stat".format(pid)) as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_progress_bars(tmp_path):
    """Backspaces and empty lines of progress bars leave what a terminal shows."""
    text = r"""
        import sys, time
        parts = ["\r1/2 [>.] - loss: 0.5", "\b" * 21 + "\r2/2", " [==]", "\b\b]\n"]
        for part in (*parts, "\n", "a\bb\n"):
            sys.stdout.write(part)
            sys.stdout.flush()
    """
    code, output, _ = run(tmp_path, text, "--ranks", "1")
    expected = ["", "1/2 [>.] - loss: 0.5", "2/2 [=]]", "b"]
    assert (code, output) == (0, ["[rank 0] " + line for line in expected])


def test_a_script_that_fails(tmp_path):
    """The last line and the report say that it failed, and why."""
    for text, code, error, line in (
        ("raise ValueError('no\\n data')", 1, "ValueError: no data", ":1"),
        ("raise ValueError(170 * 'a')", 1, "ValueError: " + 160 * "a" + " ...", ":1"),
        ("import json\njson.loads('')", 1, "JSONDecodeError: Expecting value: line 1 ", ":2"),
        ("import sys\nsys.exit(3)", 3, "SystemExit: 3", ":2"),
        ("import sys\nsys.exit('no')", 1, "SystemExit: no", ":2"),
        ("def f(:", 1, "SyntaxError", ""),
    ):
        found, _, errors = run(tmp_path, text, "--report", "seen.json")
        report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
        (tmp_path / "seen.json").unlink()
        last = "train.py{} failed (exit code {}: {}".format(line, code, error)
        assert last in errors.splitlines()[-1]
        assert ") after 0 session runs with 0 training steps\n" in errors
        assert found == code
        assert (report["exit_code"], report["ended"]) == (code, "finished")
        assert report["error"].startswith(error)
        assert (report["error_place"] or "train.py").endswith("train.py" + line)


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)", "import sys\nsys.exit()", "pass"])
def test_a_script_that_ends_well(tmp_path, text):
    """Nothing is said of a failure."""
    code, _, errors = run(tmp_path, text, "--report", "seen.json")
    assert (code, "failed" in errors) == (0, False)
    assert json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))["error"] is None


def test_a_rank_that_a_signal_ends(tmp_path):
    """The exit code is 128 and the signal, as in a shell."""
    text = "import os\nos.kill(os.getpid(), 9)\n"
    code, output, errors = run(tmp_path, text, "--ranks", "1")
    assert (code, output) == (137, [])
    assert "rank 0 failed first, with exit code 137" in errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt(tmp_path, number, code):
    """Ctrl-C and SIGTERM end all ranks, which may tidy up."""
    text = """
        import signal, sys, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            print("ready", flush=True)
            while True:  # a signal just before a sleep does not end it
                time.sleep(0.05)
        except KeyboardInterrupt:
            print("tidied up")
            sys.exit(1)
    """
    process = start(tmp_path, text, "--ranks", "2")
    first = [process.stdout.readline() for _ in range(2)]
    process.send_signal(number)
    found, output, errors = ended(process, tmp_path)
    assert {b"[rank 0] ready\n", b"[rank 1] ready\n"} == set(first)
    assert (code, ["[rank 0] tidied up", "[rank 1] tidied up"]) == (found, output)
    assert "Traceback" not in errors


def test_a_module_of_the_script(tmp_path):
    """A script's own module npu_config is not taken for this package."""
    (tmp_path / "npu_config.py").write_text("x = 5\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("import npu_config\nprint(npu_config.x)\n")
    code = "from npu_config.__main__ import main; main(['run', '--ranks', '1', 'train.py'])"
    path = "import sys; sys.path[:] = {!r}; ".format(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", path + code],
        cwd=str(tmp_path),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == b"[rank 0] 5\n", done.stderr.decode()


def test_output(tmp_path):
    """Lines stay whole; progress bars and a last line without an end are shown."""
    text = "import sys\nsys.stdout.write('10%\\r20%\\r\\nend')\n"
    code, output, _ = run(tmp_path, text, "--ranks", "2")
    lines = ["10%", "20%", "end"]
    assert code == 0
    assert ["[rank {}] {}".format(rank, each) for rank in (0, 1) for each in lines] == output


def test_a_line_whose_end_comes_in_two_parts(tmp_path):
    """A return that ends a line and a new line that is read later are one end."""
    text = """
        import sys, time
        for part in ("one\\r", "\\ntwo\\r", "\\n", "\\n", "three\\r", "four"):
            sys.stdout.write(part)
            sys.stdout.flush()
            time.sleep(0.2)
    """
    code, output, errors = run(tmp_path, text, "--ranks", "1")
    assert code == 0, errors
    lines = ["one", "two", "", "three", "four"]
    assert sorted("[rank 0] " + each for each in lines) == output


@pytest.mark.parametrize(("lang", "said"), [("en", "npu-config run: the"), ("zh", "脚本")])
def test_the_language_of_the_ranks(tmp_path, lang, said):
    """What a rank says is in the language that was asked for."""
    code, _, errors = run(tmp_path, "pass", "--ranks", "1", "--lang", lang, "--dry-run")
    assert code == 0, errors
    assert said in errors


def test_a_reader_that_leaves(tmp_path):
    """When nobody reads the output any more, the job ends."""
    text = "import time\nwhile True:\n    print('x')\n    time.sleep(0.05)\n"
    process = start(tmp_path, text, "--ranks", "2")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 2
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert os.listdir(str(tmp_path / "tmp")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "0", "train.py"], "Invalid value for '--ranks'"),
        (["--ranks", "-1", "train.py"], "Invalid value for '--ranks'"),
        (["--ranks", "33", "train.py"], "Invalid value for '--ranks'"),
        (["--ranks", "two", "train.py"], "Invalid value for '--ranks'"),
        (["--ranks", "2", "missing.py"], "missing.py does not exist"),
        (["--ranks", "2", "--report", "train.py", "train.py"], "train.py exists"),
    ],
)
def test_wrong_calls(tmp_path, arguments, message):
    """What cannot work is refused before a rank starts."""
    (tmp_path / "train.py").write_text("print('ran')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "npu_config", "run", *arguments],
        cwd=str(tmp_path),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
