"""Runs that end from outside: signals, ``--timeout``, and what is said and written then."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytest.importorskip("click")

WAITS = """
    import sys, time
    print("ready", flush=True)
    while True:
        time.sleep(0.05)
"""


def start(tmp_path, text, *options):
    """``npu-config run`` of a script, with a report; signals end it, also below ``nohup``."""

    def as_from_a_terminal():
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    command = [sys.executable, "-m", "npu_config", "run", "--report", "seen.json", *options]
    return subprocess.Popen(
        [*command, "train.py"],
        cwd=str(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=as_from_a_terminal,
    )


def ended(process, tmp_path):
    """Exit code, errors, and the report."""
    _, errors = process.communicate()
    report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    return process.returncode, errors.decode(), report


def place(report):
    """Where the script was, in a line of its own."""
    path, _, line = report["error_place"].rpartition(":")
    assert (os.path.basename(path), line in "345") == ("train.py", True)
    return report["error_place"]


@pytest.mark.parametrize(
    ("number", "code", "error"),
    [
        (signal.SIGTERM, 143, "SIGTERM"),
        (signal.SIGHUP, 129, "SIGHUP"),
        (signal.SIGINT, 130, "KeyboardInterrupt"),
    ],
)
def test_a_signal(tmp_path, number, code, error):
    """It ends the run with its exit code, a report and a last line, which say where."""
    process = start(tmp_path, WAITS)
    process.stdout.readline()
    process.send_signal(number)
    found, errors, report = ended(process, tmp_path)
    assert code == found
    assert "{} was terminated by {} (exit code {})".format(place(report), error, code) in errors
    assert (report["ended"], report["exit_code"], report["error"]) == ("signal", code, error)


@pytest.mark.parametrize("ends", ["os._exit(3)", "sys.stdout.close(); sys.exit(3)"])
@pytest.mark.parametrize("streams", ["", "sys.stdout, sys.stderr = io.StringIO(), io.StringIO()"])
def test_an_end_past_python_and_other_streams(tmp_path, ends, streams):
    """The last line and the report are there, on the streams that the command was given."""
    process = start(tmp_path, "import io, os, sys\n{}\n{}\n".format(streams, ends))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert (report["ended"], report["exit_code"]) == ("finished", 3)
    assert "train.py:3 failed (exit code 3" in errors.decode()
    assert "Traceback" not in errors.decode()


def test_a_signal_while_the_main_thread_does_not_listen(tmp_path):
    """A call that never comes back to Python does not keep the report from being written."""
    text = """
        import threading
        print("ready", flush=True)
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    """
    process = start(tmp_path, text)
    process.stdout.readline()
    time.sleep(0.5)  # until it waits
    process.send_signal(signal.SIGTERM)
    code, _, report = ended(process, tmp_path)
    assert (code, report["ended"]) == (143, "signal")
    assert report["error_place"].endswith("train.py:6")


def test_a_script_with_a_handler_of_its_own(tmp_path):
    """Its handler is called, and nothing else ends the run."""
    text = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        print("ready", flush=True)
        while True:
            time.sleep(0.05)
    """
    process = start(tmp_path, text)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    code, _, report = ended(process, tmp_path)
    assert (code, report["ended"]) == (7, "finished")


@pytest.mark.parametrize("end", ["terminate", "os.kill"])
def test_processes_of_the_script(tmp_path, end):
    """A signal to a process that the script forks is that process's, and not the run's."""
    how = "child.terminate()" if end == "terminate" else "os.kill(child.pid, signal.SIGTERM)"
    text = """
        import multiprocessing, os, signal, time
        multiprocessing.set_start_method("fork")
        child = multiprocessing.Process(target=time.sleep, args=(60,))
        child.start()
        time.sleep(0.3)
        {}
        child.join()
        assert child.exitcode == -signal.SIGTERM, child.exitcode
    """.format(how)
    code, errors, report = ended(start(tmp_path, text), tmp_path)
    assert (code, report["ended"]) == (0, "finished"), errors


def test_threads_are_those_of_the_script(tmp_path):
    """What listens is no thread that a script would wait for."""
    text = "import threading\nassert len(threading.enumerate()) == 1, threading.enumerate()\n"
    code, errors, _ = ended(start(tmp_path, text), tmp_path)
    assert code == 0, errors


def test_the_time_of_a_run(tmp_path):
    """``--timeout`` ends it with 124, and says where it was."""
    code, errors, report = ended(start(tmp_path, WAITS, "--timeout", "2"), tmp_path)
    assert (code, report["ended"], report["error"]) == (124, "timeout", "timeout of 2 s")
    assert place(report) + " was terminated by timeout of 2 s (exit code 124)" in errors


def test_the_time_of_ranks(tmp_path):
    """All are ended; the report and the last lines say where each of them was."""
    text = """
        import os, time
        while os.environ["RANK_ID"] == "1":
            time.sleep(0.05)
    """
    process = start(tmp_path, text, "--timeout", "4", "--ranks", "2")
    code, errors, report = ended(process, tmp_path)
    assert (code, report["ended"], report["exit_code"]) == (124, "timeout", 124)
    assert "rank 0 had already ended" in errors
    assert "train.py:4 was not waiting for other ranks" in errors
    assert [(r["exit_code"], r["waits_in"]) for r in report["ranks"]] == [(0, []), (143, [])]
    assert report["ranks"][1]["error_place"].endswith("train.py:4")


def test_a_report_is_replaced_when_asked(tmp_path):
    """``--overwrite`` does; without it nothing runs."""
    (tmp_path / "seen.json").write_text("old", encoding="utf-8")
    process = start(tmp_path, "print('ran')")
    output, errors = process.communicate()
    assert (process.returncode, output) == (2, b"")
    assert b"seen.json exists; pass another file name for the report, or add --overwrite" in errors
    assert (tmp_path / "seen.json").read_text(encoding="utf-8") == "old"
    code, _, report = ended(start(tmp_path, "print('ran')", "--overwrite"), tmp_path)
    assert (code, report["ended"]) == (0, "finished")


@pytest.mark.parametrize("line", ["os.environ['NO_SUCH']", "Target(product='x')"])
def test_an_error_inside_of_python_is_placed_in_the_script(tmp_path, line):
    """Frames of frozen modules and of generated methods are in no file."""
    text = "import os\nfrom npu_config import Target\n{}\n".format(line)
    code, _, report = ended(start(tmp_path, text), tmp_path)
    assert (code, report["error_place"].endswith("train.py:3")) == (1, True), report["error_place"]
