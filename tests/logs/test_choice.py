"""The first cause is chosen, whatever stands around it: failures planted into many jobs."""

import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.logs import read_logs
from tests import golden
from tests.logs.jobs import MEMORY, WAITED, raised, slog, started, write
from tests.logs.test_recognised import ROWS

FOLLOWERS = (
    "ErrorNo: 4294967295(failed) [COMP][SUB_OPT][Call][OptimizeFusedGraph] failed, ret:-1",
    "ErrorNo: 1343242270(Prepare Graph infershape failed) [COMP][SUB_OPT]subgraph 1 failed",
    "ErrorNo: 1343242268(PreRun failed.) [COMP][DEFAULT]PreRun Failed, thread_id:2816",
    "error report, E19999",
)
HARMLESS = (
    "2024-05-06 07:08:09.000000: E tensorflow/stream_executor/cuda/cuda_driver.cc:318] failed "
    "call to cuInit: UNKNOWN ERROR (303)\n"
    "2024-05-06 07:08:10.000000: W tf_adapter/util/infershape_util.cc:313] The InferenceContext "
    "of node _SOURCE is null.\nINFO:tensorflow:loss = 7.1, step = 3 (0.3 sec)\n"
)
OF_THE_ENGINE = [
    row
    for row in ROWS["patterns"]
    if row.get("first", True)
    and row["id"] not in ("py-generic", "py-oom-killer", "py-interrupted", "hccl-topo-missing")
]
_HEAD = re.compile(r"^\[ERROR\] (?:\w+\([^)]*\)\S* \[[^]]*\])?")
WRAPPED = raised(
    "E19999: Inner Error!\nE19999  call subgraph failed[FUNC:A][FILE:b.cc][LINE:3]\n"
    "        TraceBack (most recent call last):\n        Call x failed"
)


def aborted(text):
    """The process ends at once."""
    return (
        "2024-05-06 07:09:09.000000: F tf_adapter/util/npu_attrs.cc:1034] {}\nFatal Python error: "
        "Aborted\n\nThread 0x1 (most recent call first):\nrun.sh: line 44: 21034 Aborted       "
        "          (core dumped) python3 train.py\n"
    ).format(text)


def thrown(text):
    """TensorFlow's session throws."""
    return raised("x").split("tensorflow.python")[0] + text + "\n"


def inner(code):
    """A block of a family, in one of its three generations."""
    forms = {
        "EZ9999": "EZ9999: Inner Error!\nEZ9999  {}[FUNC:F][FILE:f.cc][LINE:1]",
        "E39999": "E39999: Inner Error!\nE39999: [PID: 7] 2024-05-06-07:09:00.000.000  {}[FUNC:F]",
        "E19999": "E19999: Inner Error!\nE19999[PID: 7] 2024-05-06-07:09:00.000.000 (E19999):  {}",
    }
    return lambda text: raised(forms[code].format(text))


FORMS = {"abort": aborted, "exception": thrown}
FORMS.update((code, inner(code)) for code in ("EZ9999", "E39999", "E19999"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for the logs of this module."""
    return tmp_path_factory.mktemp("choice")


@pytest.mark.parametrize("form", sorted(FORMS))
def test_failures_in_every_form(folder, form):
    """Each known failure, as an abort, an exception, and in a block; its class is told."""
    for row in OF_THE_ENGINE:
        text = row["example"]
        write(folder, {"a.log": HARMLESS + FORMS[form](text)})
        report = read_logs([str(folder / "a.log")])
        got = (folder / "a.log").read_text("utf-8").splitlines()[report.first_cause.line - 1]
        assert (report.first_cause.class_, text in got) == (row["class"], True), row


def test_failures_before_their_followers(folder):
    """In the plog, with callers below and a block of a family in the output."""
    for row in OF_THE_ENGINE:
        text = _HEAD.sub("", row["example"])
        lines = slog("GE", text, 30) + "".join(slog("GE", each, 31) for each in FOLLOWERS)
        name = "log/debug/plog/plog-4000_20240506070809000.log"
        write(folder / "p", {"train_0.log": HARMLESS + WRAPPED, name: lines})
        cause = read_logs([str(folder / "p")]).first_cause
        assert (cause.file.endswith(name), cause.line, cause.class_) == (True, 1, row["class"])


WAITS = {
    "link": "wait socket establish timeout, role[1] rank[{0}] timeout[120]",
    "old": "errNo[0x000000000500000b] client : device[{0}] rank[{0}] get sokcet timeout, total[3]",
    "notify": "Notify wait execute failed, device_id={0}, stream_id=3, task_id=7",
}
CULPRITS = {
    "memory": (slog("RUNTIME", "[drv api] halMemAlloc failed:size=2, drvRetCode=6!", 50), MEMORY),
    "script": ("", "Traceback (most recent call last):\n  File 't.py', line 1\nValueError: x"),
    "killed": ("", "run.sh: line 12: 4711 Killed                  python3 train.py"),
    "crash": ("", "Segmentation fault (core dumped)"),
    "abort": ("", aborted("dump mode should be one of the list:[input, output, all]")),
    "stops": ("", "INFO:tensorflow:loss = 1.0, step = 1 (0.3 sec)"),
    "missing": None,
}


@settings(max_examples=golden.tries(40), deadline=None)
@given(st.data())
def test_who_failed_first(tmp_path_factory, data):
    """The rank that failed by itself, or left nothing, in every layout, whatever clocks say."""
    size = data.draw(st.integers(3, 9), "size")
    who = data.draw(st.integers(0, size - 1), "who")
    culprit = CULPRITS[data.draw(st.sampled_from(sorted(CULPRITS)), "culprit")]
    wait = WAITS[data.draw(st.sampled_from(sorted(WAITS)), "wait")]
    layout = data.draw(st.sampled_from(("one log", "plogs", "outputs", "launcher")), "layout")
    shift = data.draw(st.sampled_from((0, -8 * 3600, 8 * 3600, -75)), "shift")
    compress = data.draw(st.booleans(), "compress")
    files = {}
    launched = []
    for rank in range(size):
        late = shift if rank == who and layout != "launcher" else 0
        plog, output = slog("HCCL", wait.format(rank), 200 + rank / 9, 4000 + rank), raised(WAITED)
        if rank == who:
            if culprit is None:
                continue
            plog, output = culprit
            plog = plog and slog("RUNTIME", plog.split("Work:")[1].strip(), 50 + late, 4000 + rank)
            output = raised(output) if output is MEMORY else output + "\n"
        text = started(rank, size, 4000 + rank, late)
        name = "-{0}_20240506070809000.log".format(4000 + rank)
        if layout == "plogs":
            files["log/run/plog/plog" + name] = text
            files["log/debug/plog/plog" + name] = plog
            files["out/{0}/train_{0}.log".format(rank)] = HARMLESS + output
        elif layout == "outputs":
            files["rank_{}/train.log".format(rank)] = HARMLESS + text + plog + output
        else:
            launched.append((rank, (text + plog + output).splitlines()))
    if launched:
        prefix = "[1,{}]<stdout>:" if layout == "launcher" else "[rank{}]: "
        longest = max(len(lines) for _, lines in launched)
        files["run.log"] = "".join(
            prefix.format(rank) + lines[number] + "\n"
            for number in range(longest)
            for rank, lines in launched
            if number < len(lines)
        )
    if compress:
        files = {name + ".gz": gzip.compress(text.encode()) for name, text in files.items()}
    report = read_logs([str(write(tmp_path_factory.mktemp("job"), files))])
    assert report.first_cause is not None
    assert report.verdict.rank == who
