"""What ends a job without a word of its own is no all-clear; what only looks like it is none."""

import gzip
import io
import json

import pytest

from npu_config.logs import read_logs
from npu_config.logs.text import text_report

TRAINED = (
    "INFO:tensorflow:loss = 0.31, step = 100 (3.1 sec)\nINFO:tensorflow:global_step/sec: 31.2\n"
)
FINAL = "INFO:tensorflow:Loss for final step: 0.5.\n"
CUT_OFF = 'Traceback (most recent call last):\n  File "a.py", line 2, in f\n    g()\n'
CAUGHT = 'Traceback (most recent call last):\n  File "a.py", line 2, in f\nValueError: x\n'
OUT_OF_RANGE = "tensorflow.python.framework.errors_impl.OutOfRangeError: End of sequence"
ROOTS = (
    "tensorflow.python.framework.errors_impl.OutOfRangeError: 2 root error(s) found.\n"
    "  (0) Out of range: End of sequence\n\t [[node IteratorGetNext (defined at t.py:3) ]]"
)
BLOCK = (
    "EI0006: [PID: 2211] 2026-11-20-10:32:07.123.456 Communication_Error_Connect(EI0006): Getting "
    "socket times out.\n        Possible Cause: 1. The remote NPU exited abnormally.\n"
)
SLURM = "slurmstepd: error: *** {} ON node12 CANCELLED AT 2024-05-06T07:08:09 {}***"
ENDED = {
    SLURM.format("JOB 123", "DUE TO TIME LIMIT "): "job-time-limit",
    SLURM.format("JOB 123", "DUE TO PREEMPTION "): "job-preempted",
    SLURM.format("STEP 123.0", ""): "job-cancelled",
    "srun: error: node12: task 0: Out Of Memory": "py-oom-killer",
    "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.0.": "py-oom-killer",
    "srun: error: node12: task 3: Exited with exit code 1": "job-exit-code",
    "      Reason:       OOMKilled": "py-oom-killer",
    "npu_train_1 exited with code 137": "py-oom-killer",
    "mpirun noticed that process rank 3 with PID 47 on node n1 exited on signal 9 (Killed).": (
        "py-oom-killer"
    ),
    "Process 3 exit with status code 1.": "job-exit-code",
    "  exitcode  : -9 (pid: 4711)": "py-oom-killer",
    "Killed": "py-oom-killer",
    "Terminated": "job-terminated",
    "run.sh: line 9: 1234 Terminated              python3 train.py": "job-terminated",
    "Segmentation fault (core dumped)": "job-crashed",
    "Bus error": "job-bus-error",
    "mpirun noticed that process rank 3 exited on signal 7 (Bus error).": "job-bus-error",
    "DataLoader: might be caused by insufficient shared memory (shm).": "py-shared-memory",
    "ImportError: libGL.so.1: cannot open shared object file: No such file": "py-lib-system",
    "Aborted": "job-crashed",
    "run.sh: 第 5 行\uff1a 1234 已杀死               python3 train.py": "py-oom-killer",
    "run.sh\uff1a行 5\uff1a1234 段错误 \uff08核心已转储\uff09 python3": "job-crashed",
    "bash: train.sh: 没有那个文件或目录": "job-no-file",
    "bash: python3.7: 未找到命令": "job-no-command",
    "ModuleNotFoundError: No module named foo": "py-no-module",
    "  Reason: Evicted": "job-evicted",
    "Message: The node was low on resource: memory.": "job-evicted",
    "run.py: error: unrecognized arguments: --batch 32": "job-arguments",
    "main.py: error: argument --lr: invalid float value: 'x'": "job-arguments",
    "python: /a/b.cc:2: int g(): Assertion `k != 0' failed.\nAborted": "job-crashed",
    "bash: python3.7: command not found": "job-no-command",
    "python3: can't open file 'train.py': [Errno 2] No such file or directory": "job-no-file",
    "bash: ./train.sh: Permission denied": "job-not-permitted",
    "tee: train.log: No space left on device": "py-no-space",
    "MemoryError": "py-host-memory",
    "PermissionError: [Errno 13] Permission denied: '/dev/davinci0'": "py-permission",
    "INFO:tensorflow:loss = nan, step = 300 (3.0 sec)": "py-nan-loss",
    "NaN loss during training": "py-nan-loss",
    CUT_OFF: "py-cut-off",
    "AbortedError (see above for traceback): Horovod has been shut down.": "py-horovod-shut-down",
    "The error from device(chipId:0), an exception occurred during AICPU execution, x": (
        "rt-aicpu-error"
    ),
    "Call rtMalloc fail, purpose:feature map, size:6861537792, device_id:6": "rt-oom",
    "ctx is NULL!": "rt-ctx-null",
    "[node-0:391803] *** Process received signal ***": "job-crashed",
    "^C" + CAUGHT.replace("ValueError: x", "KeyboardInterrupt"): "py-interrupted",
    "ERROR: No matching distribution found for tensorflow==1.15.0": "job-pip",
    "ERROR: pip's dependency resolver does not currently take into account all": "job-pip",
    "make: *** [Makefile:3: a.o] Error 1": "job-program",
    "FAILED tests/test_a.py::test_foo - assert 1 == 2": "job-program",
    "CMake Error at CMakeLists.txt:3 (find_package):": "job-program",
    "docker: Error response from daemon: could not select device driver": "job-program",
    CAUGHT.replace("ValueError: x", ROOTS): "py-out-of-range",
    "sbatch: error: Batch job submission failed: Invalid account": "job-program",
    CAUGHT.replace("ValueError: x", OUT_OF_RANGE): "py-out-of-range",
    "[W] NPU out of memory. NPUWorkspaceAllocator tried to allocate 7.38 GiB": "py-npu-memory",
}
HARMLESS = (
    "Terminated worker pool gracefully",
    "loss = nan_to_num(loss)",
    "killed: 0, failed: 0, errors: 0",
    '"OOMKilled": false,',
    "Process finished with exit code 0",
    "Namespace(kill_on_nan=True, time_limit=3600, on_error='Terminated')",
    "2024-05-06 07:08:09.000000: W tensorflow/core/x.cc:1] Permission denied: /proc/x",
    "WARNING:tensorflow:no cache: [Errno 13] Permission denied: '/home/u/.cache'",
    "run.sh: line 3: npu-smi: command not found",
    "loss = nan, step = 1",
    CAUGHT,
    "Exception ignored in: <function G.__del__ at 0x7f>\n" + CAUGHT,
    "ERROR: could not read a.jpg, skipping",
    '10.0.0.2 - - [20/Nov/2026:10:00:02] "GET /explain?code=EZ9999: HTTP/1.1" 200 512',
    "see https://a.example/explain?code=EZ9999: for it",
    "epoch 1 loss 0.5 val_loss nan",
)
KEPT = {CAUGHT: "3 ValueError: x", HARMLESS[-4]: "1 ERROR: could not read a.jpg, skipping"}


@pytest.mark.parametrize("line", ENDED)
def test_a_job_that_was_ended(npu, line):
    """By a scheduler, a launcher, the kernel, a shell: it is named, with what to do."""
    result = npu("log", "-", "--format", "json", stdin=(TRAINED + line + "\n").encode())
    cause = json.loads(result.out)["first_cause"]
    assert (result.code, cause["pattern"]) == (1, ENDED[line])
    assert "read the lines before it" not in cause["todo"][0]


@pytest.mark.parametrize("line", HARMLESS)
def test_a_job_that_succeeded(npu, line):
    """Whatever it printed before it went on and came to its end."""
    text = line + "\n" + TRAINED + FINAL
    result = npu("log", "-", stdin=text.encode())
    assert (result.code, result.out.splitlines()[0]) == (0, "nothing failed in 1 log")
    kept = KEPT.get(line, "")
    survived = [each for each in result.out.splitlines() if "logged, but the job went on" in each]
    assert survived == ["logged, but the job went on, so not the cause: -:" + kept] * bool(kept)


def test_an_end_that_follows_a_line_of_an_error(npu):
    """The end that the script says behind it counts; the time that a shell tells does not."""
    text = TRAINED + "[ERROR] 0 samples skipped\n{}\n"
    codes = [
        npu("log", "-", stdin=text.format(end).encode()).code for end in ("Done.", "real\t3m1s")
    ]
    assert codes == [0, 1]


def test_a_rank_that_was_only_late(npu, tmp_path):
    """It is not said to have stopped with the code of the rank that waited for it."""
    wait = (
        "2026-11-26 22:31:01 ERROR EI0002: The wait execution of the Notify register times out. "
        "Reason: The Notify register has not received the Notify record from remote rank [1].\n"
    )
    (tmp_path / "rank_0.log").write_text(wait)
    (tmp_path / "rank_1.log").write_text("2026-11-26 22:31:41 INFO step 101\n")
    out = npu("log", tmp_path).out
    assert "rank 0 waited for rank 1 until the timeout, and the log of rank 1 shows no" in out
    assert "rank 1 stopped" not in out


def test_what_failed_before_it_was_ended(npu):
    """A launcher that ends what is left of a job is not the cause."""
    text = TRAINED + CAUGHT + "srun: error: n1: task 3: Exited with exit code 1\n"
    text += SLURM.format("JOB 1", "DUE TO TIME LIMIT ") + "\n"
    result = npu("log", "-", "--format", "json", stdin=text.encode())
    document = json.loads(result.out)
    assert document["first_cause"]["line"] == 5
    assert [each["pattern"] for each in document["others"]] == ["job-time-limit"]


@pytest.mark.parametrize("tail", ["", "INFO:tensorflow:loss = 0.2", "Training finished\nstep 7\n"])
def test_no_end_is_seen(npu, tail):
    """A log that stops in the middle is no all-clear."""
    result = npu("log", "-", stdin=(TRAINED + tail).encode())
    assert (result.code, "nothing failed" in result.out) == (0, False)
    assert "no end of the job either" in result.out
    result = npu("log", "-", "--format", "json", stdin=(TRAINED + tail).encode())
    assert "no end of the job either" in result.err
    assert json.loads(result.out)["end_not_seen"] == ["-"]


def test_lines_around_on_standard_input(npu):
    """The line before and the line behind, as for a file."""
    result = npu("log", "-", stdin=(TRAINED + "Killed\nlast line\n").encode())
    assert "| INFO:tensorflow:global_step/sec: 31.2\n  >      3 | Killed\n" in result.out
    assert "4 | last line" in result.out


SECRETS = (
    ("cannot reach remote gpuhost7 now", "gpuhost7"),
    ("reading ~alice/data/a.tfrecord", "alice"),
    ("export TOKEN=abcdef123456", "abcdef123456"),
    ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
    ("key AKIAABCDEFGHIJKLMNOP is used", "AKIAABCDEFGHIJKLMNOP"),
    ('"password": "hunter2x"', "hunter2x"),
    ("mail to bob.smith@corp.example.com", "bob.smith"),
    ("listen on [fe80::1a2b]:29500", "fe80::1a2b"),
    ("bind 2001:db8::5 failed", "2001:db8::5"),
    ("https://bob:pw12345@git.corp.com/x/y", "pw12345"),
    ("srun: error: gpunode12: task 0: Out Of Memory", "gpunode12"),
)


def test_redacted_secrets(npu, tmp_path):
    """Hosts, users, tokens and addresses in the forms in which logs have them."""
    text = "".join("ValueError: {}\n".format(line) for line, _ in SECRETS)
    (tmp_path / "a.log").write_text(text)
    out = tmp_path / "out.zip"
    result = npu("log", tmp_path, "--redact", "--all", "--bundle", out)
    assert [secret for _, secret in SECRETS if secret in result.out] == []
    import zipfile

    with zipfile.ZipFile(str(out)) as archive:
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    assert [s for _, s in SECRETS if s in "".join(contents.values())] == []
    assert contents["report.txt"] in result.out


def test_numbers_have_advice(npu):
    """Each says what to do, of itself or of its class."""
    topics = json.loads(npu("explain", "507018", "507025", "0x7020016", "--format", "json").out)
    assert all("What to do: " in topic["page"] for topic in topics["topics"])
    assert "kernel_name" in topics["topics"][0]["page"]


def test_a_folder_of_logs_for_check(npu, tmp_path):
    """The command that reads it is named."""
    (tmp_path / "train_0.log").write_text(CAUGHT)
    assert "npu-config log {}".format(tmp_path) in npu("check", tmp_path).out


def test_no_english_label_in_chinese(npu):
    """Classes, titles of columns and labels are those of the language."""
    out = npu("--lang", "zh", "log", "-", stdin=(TRAINED + "Killed\n").encode()).out
    assert "类别：内存 memory" in out  # noqa: RUF001
    out = npu("--lang", "zh", "explain", "EI0004").out
    assert [label for label in ("Variables:", "Rules:", "Options:") if label in out] == []


def test_a_rank_that_a_launcher_names(npu, tmp_path):
    """Horovod tells the others that one stopped; mpirun tells which."""
    shut = (
        "tensorflow.python.framework.errors_impl.UnknownError: Horovod has been shut down. This "
        "was caused by an exception on one of the ranks"
    )
    lines = ["[1,{}]<stderr>:{}".format(rank, shut) for rank in (0, 1, 3)]
    end = "mpirun noticed that process rank 2 with PID 0 on node n1 exited on signal 9 (Killed)."
    (tmp_path / "a.log").write_text("\n".join([*lines, end]) + "\n")
    cause = json.loads(npu("log", tmp_path, "--format", "json").out)["first_cause"]
    assert (cause["pattern"], cause["rank"], cause["line"]) == ("py-oom-killer", 2, 4)


def test_a_rank_that_a_launcher_names_and_that_left_no_line(npu, tmp_path):
    """Lines of one rank only, and the end of another: it is the one that is named."""
    end = "mpirun noticed that process rank 3 with PID 0 on node n3 exited on signal 9 (Killed)."
    (tmp_path / "a.log").write_text("[1,0]<stdout>:step 100 loss 2.0\n" + end + "\n")
    cause = json.loads(npu("log", tmp_path, "--format", "json").out)["first_cause"]
    assert (cause["rank"], cause["line"]) == (3, 2)


@pytest.mark.parametrize(
    "error",
    [BLOCK, "[ERROR] HCCL(22,python3):2026-11-20-10:32:07.123.456 [a.cc:120] [23]recv failed\n"],
)
def test_a_job_that_trained_on(npu, error):
    """Behind an error; where it says no success at its end, that it trained on is told."""
    text = TRAINED + error + TRAINED
    done = npu("log", "-", stdin=(text + "Training finished successfully\n").encode())
    assert (done.code, done.out.splitlines()[0]) == (0, "nothing failed in 1 log")
    assert "logged, but the job went on, so not the cause: -:3 " in done.out
    open_ = npu("log", "-", stdin=text.encode())
    assert (open_.code, "lines of training follow" in open_.out) == (1, True)
    failed = npu("log", "-", stdin=(TRAINED + error + "all done\n").encode())
    assert (failed.code, "lines of training follow" in failed.out) == (1, False)


def test_other_programs(npu):
    """What they say is no cause where the job trained behind it; a log of no job is called so."""
    pip = "ERROR: pip's dependency resolver does not currently take into account all\n"
    assert "first cause" not in npu("log", "-", stdin=(pip + TRAINED).encode()).out
    failed = npu("log", "-", stdin=(pip + TRAINED + CAUGHT).encode())
    assert failed.out.startswith("first cause: ValueError")
    web = npu("log", "-", stdin=b'10.0.0.2 - - "GET /explain?code=EZ9999: HTTP/1.1" 200 512\n')
    assert (web.code, "no training job on the NPU either" in web.out) == (0, True)


def test_the_time_of_a_line_before(npu):
    """A line without a time is told to be behind the one that has it."""
    text = "2026-11-20 10:00:05.123456: W tensorflow/core/a.cc:1] slow\n" + TRAINED + CAUGHT
    assert "  -:6  after 2026-11-20 10:00:05.123" in npu("log", "-", stdin=text.encode()).out


def test_dates_in_names_are_no_ranks(npu, tmp_path):
    """``train_0302.log`` is of the second of March; ``train_1.log`` is of rank 1."""
    for name in ("train_0302.log", "train_0303.log", "train_03-02.log"):
        (tmp_path / name).write_text(TRAINED + CAUGHT)
    ranks = json.loads(npu("log", tmp_path, "--format", "json").out)["ranks"]
    assert [each["rank"] for each in ranks] == [None, None, None]


def test_compressed_standard_input():
    """It is read as a file is; the lines around the cause are shown, too."""
    packed = io.BytesIO(gzip.compress((TRAINED + CAUGHT).encode()))
    report = read_logs(["-"], io.BufferedReader(packed))
    assert "  >      5 | ValueError: x" in text_report(report)


PREFIXES = (
    "[modelarts-job-12-worker-0] ",
    "[ModelArts Service Log]2026-11-20 10:00:0{},123 - INFO - ",
    "2026-11-20T10:00:0{}+0800 node12 python3[4711]: ",
    "Nov 20 10:00:0{} ",
    "[2026-11-20 10:00:0{}] ",
    "train-worker-0 npu ",
    "Fri Nov 20 10:00:0{} 2026[1,0]<stderr>:",
    "[prterun-node12-4711@1,0]<stderr>: ",
    "2026-11-20 10:00:0{},123 DEBG 'train' stderr output: ",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_what_platforms_write_before_each_line(npu, prefix):
    """Times, levels and names: what stands behind them is read."""
    lines = (TRAINED + CAUGHT).splitlines()
    text = "".join(prefix.format(at) + line + "\n" for at, line in enumerate(lines))
    cause = json.loads(npu("log", "-", "--format", "json", stdin=text.encode()).out)["first_cause"]
    assert (cause["line"], cause["places"][0]["path"]) == (5, "a.py")


def test_lines_of_json(npu):
    """Those of Fluent Bit and of loggers."""
    lines = (TRAINED + CAUGHT).splitlines()
    text = "".join(json.dumps({"time": "x", "message": line}) + "\n" for line in lines)
    cause = json.loads(npu("log", "-", "--format", "json", stdin=text.encode()).out)["first_cause"]
    assert (cause["line"], cause["places"][0]["path"]) == (5, "a.py")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("No space left", "A disk is full"),
        ("drvRetCode=87", "the meaning of this return code of the driver is not known"),
        ("drvRetCode=7", "this is a return code of the driver: the device is not ready"),
        ("EI7777", "the meaning of this error code of HCCL is not known"),
        ("ret:0x7BC87", "# 507015 "),
    ],
)
def test_explain_of_what_logs_hold(npu, word, said):
    """Words, and numbers as lines have them; what no table has is told by its form."""
    result = npu("explain", word)
    assert (result.code, said in result.out) == (0, True)
