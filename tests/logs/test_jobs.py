"""Jobs of several ranks: who stopped first, who only waited, who is missing."""

import errno
import gzip
import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npu_config.logs.lines
from npu_config.logs import read_logs
from npu_config.logs.lines import between
from npu_config.logs.text import text_report
from tests.logs.jobs import MEMORY, WAITED, raised, slog, started, write


def ranks(folder, size, outputs, late=None):
    """A job whose ranks print these; ``late`` gives the seconds by which a clock is wrong."""
    for rank in range(size):
        text = outputs(rank)
        if text is None:
            continue
        shift = (late or {}).get(rank, 0)
        write(
            folder,
            {
                "log/run/plog/plog-{0}_20240506070809000.log".format(4000 + rank): started(
                    rank, size, 4000 + rank, shift
                ),
                "out/{0}/train_{0}.log".format(rank): text,
            },
        )
    return read_logs([str(folder)])


def waited(at, rank=0):
    """What a rank prints that waited in vain."""
    return slog(
        "HCCL", "wait socket establish timeout, role[1] rank[{}] timeout[120]".format(rank), at
    ) + raised(WAITED)


def test_one_stops_and_the_others_wait(tmp_path):
    """The rank with an error of its own, whatever was printed first."""
    report = ranks(tmp_path, 4, lambda rank: raised(MEMORY) if rank == 2 else waited(1, rank))
    assert (report.first_cause.code, report.first_cause.rank) == ("EL0004", 2)
    assert [state.first_error.code for state in report.ranks] == [
        "EI0006",
        "EI0006",
        "EL0004",
        "EI0006",
    ]
    assert not report.verdict.no_root


def test_one_left_nothing(tmp_path):
    """Seven of eight logs: the eighth is to blame."""
    report = ranks(tmp_path, 8, lambda rank: None if rank == 5 else waited(130 + rank, rank))
    assert (report.first_cause.code, report.first_cause.rank, report.verdict.missing) == (
        "EI0006",
        5,
        [5],
    )


def test_all_wait(tmp_path):
    """Nobody can be named, which is said."""
    report = ranks(tmp_path, 4, lambda rank: waited(130 + rank, rank))
    assert (report.first_cause.rank, report.verdict.no_root) == (None, True)


def test_one_ended_before_the_others(tmp_path):
    """A rank whose data ended earlier: the others wait for it in vain."""
    done = (
        "2024-05-06 07:09:00.000000: I tf_adapter/kernels/geop_npu.cc:1] [GEOP] Out of range: "
        "End of sequence.\n"
        "INFO:tensorflow:Loss for final step: 0.5.\n"
    )
    report = ranks(tmp_path, 4, lambda rank: done if rank == 1 else waited(1900 + rank, rank))
    assert (report.first_cause.rank, report.first_cause.class_) == (1, "data-pipeline")
    assert report.first_cause.file.endswith("train_1.log")
    assert report.first_cause.line == 1


def test_the_same_on_all(tmp_path):
    """One cause for the job, with all ranks."""
    report = ranks(tmp_path, 4, lambda rank: raised(MEMORY))
    assert (report.first_cause.rank, list(report.verdict.ranks)) == (None, [0, 1, 2, 3])


def test_clocks_that_differ(tmp_path):
    """A host whose clock is eight hours behind is not the first because of that."""

    def output(rank):
        shift = -8 * 3600 if rank == 3 else 0
        text = "tvm failed" if rank != 3 else "other failed"
        at = {0: 100, 3: 200}.get(rank)
        return slog("TEFUSION", text, at + shift, 4000 + rank) if at else waited(400, rank)

    report = ranks(tmp_path, 4, output, {3: -8 * 3600})
    assert (report.first_cause.rank, report.first_cause.message) == (0, "tvm failed")


def test_compressed_and_twice(tmp_path):
    """Rotated logs are read; the same file by two names counts once."""
    text = slog("GE", "x") + raised(MEMORY)
    write(tmp_path, {"a.log.gz": gzip.compress(text.encode())})
    (tmp_path / "b.log.gz").symlink_to(tmp_path / "a.log.gz")
    report = read_logs([str(tmp_path), str(tmp_path / "a.log.gz")])
    assert (report.first_cause.code, report.files, len(report.ranks)) == ("EL0004", 1, 1)


def test_launchers_prefixes(tmp_path):
    """Interleaved ranks in one output are taken apart."""
    texts = {
        rank: (raised(MEMORY) if rank == 1 else raised(WAITED)).splitlines() for rank in range(3)
    }
    lines = [
        "[1,{}]<stderr>:{}".format(rank, lines[number])
        for number in range(20)
        for rank, lines in texts.items()
        if number < len(lines)
    ]
    write(tmp_path, {"mpirun.log": "\n".join(lines)})
    report = read_logs([str(tmp_path / "mpirun.log")])
    assert (report.first_cause.code, report.first_cause.rank) == ("EL0004", 1)


def test_other_frameworks(tmp_path):
    """The code is explained, and no option of ours is blamed."""
    write(
        tmp_path,
        {
            "a.log": "import torch_npu\n"
            + raised(MEMORY)
            .replace("tensorflow", "torch")
            .replace("GEOP", "x")
            .replace("GeOp", "x")
        },
    )
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.code, cause.leads_to["options"], cause.leads_to["rules"]) == ("EL0004", [], [])
    assert cause.cause


def test_several_processes_in_one_output(tmp_path):
    """Lines of plogs of all ranks on one screen: they are told apart by their process."""
    lines = [started(rank, 4, 4000 + rank) for rank in range(4)]
    lines.append(
        slog("RUNTIME", "[drv api] halMemAlloc failed:size=2(Byte), device_id=2!", 5, 4002)
    )
    lines += [slog("HCCL", "wait socket establish timeout, x", 130, 4000 + r) for r in (0, 1, 3)]
    write(tmp_path, {"nohup.out": "".join(lines)})
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.pattern, cause.rank, cause.line) == ("rt-oom", 2, 5)


@pytest.mark.parametrize("name", ["{}.log", "{}/train.log", "log_{}", "rank-{}.txt"])
def test_ranks_by_names(tmp_path, name):
    """Outputs that only their names tell apart."""
    report = {name.format(rank): raised(MEMORY if rank == 2 else WAITED) for rank in range(4)}
    write(tmp_path, report)
    assert read_logs([str(tmp_path)]).first_cause.rank == 2


@pytest.mark.parametrize(
    "line", ["Segmentation fault (core dumped)", "x.sh: line 3: 7 Killed   python3 t"]
)
def test_a_rank_that_crashed(tmp_path, line):
    """It stopped, the others waited."""
    report = ranks(tmp_path, 4, lambda rank: "step 1\n" + line if rank == 1 else waited(130, rank))
    assert (report.first_cause.rank, report.first_cause.line) == (1, 2)


def test_an_exception_that_was_caught(tmp_path):
    """The job came to its end behind it: nothing failed."""
    text = 'Traceback (most recent call last):\n  File "a.py", line 2, in f\nValueError: x\n'
    write(tmp_path, {"a.log": text + "INFO:tensorflow:Loss for final step: 0.5.\n"})
    assert read_logs([str(tmp_path)]).first_cause is None
    write(tmp_path, {"a.log": "INFO:tensorflow:Loss for final step: 0.5.\n" + text})
    assert read_logs([str(tmp_path)]).first_cause.line == 4


def compiled(graphs, at=20):
    """What the adapter prints of graphs."""
    line = (
        "{}: I tf_adapter/kernels/geop_npu.cc:712] The model has been compiled on the Ascend AI "
        "processor, current graph id is:{}\n"
    )
    time = "2024-05-06 07:08:{:02d}.000000"
    return "".join(line.format(time.format(at), graph) for graph in graphs)


def test_a_graph_that_one_rank_has(tmp_path):
    """Nobody failed by itself, and one rank runs what the others do not: it is named."""
    report = ranks(
        tmp_path, 4, lambda rank: compiled([1, 11, 21][: 2 + (rank == 2)]) + waited(200, rank)
    )
    cause = report.first_cause
    assert (cause.pattern, cause.class_) == ("faq-graph-ids-differ", "communication")
    assert (cause.rank, cause.line, report.verdict.graphs) == (2, 3, True)
    assert {state.first_error.code for state in report.ranks} == {"EI0006"}
    report = ranks(tmp_path, 4, lambda rank: compiled([1, 11]) + waited(200, rank))
    assert (report.first_cause.code, report.verdict.no_root) == ("EI0006", True)


def test_one_left_nothing_and_no_size_is_known(tmp_path):
    """Numbers of the others have a gap."""
    write(tmp_path, {"train_{}.log".format(rank): raised(WAITED) for rank in (0, 1, 3)})
    report = read_logs([str(tmp_path)])
    assert (report.first_cause.rank, list(report.verdict.missing)) == (2, [2])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_sixteen_bits(tmp_path, encoding):
    """Logs that Windows has written, compressed or not."""
    text = "第一行\r\n" + raised(MEMORY).replace("\n", "\r\n")
    raw = ("\ufeff" if encoding == "utf-16-be" else "") + text
    write(
        tmp_path, {"a.log": raw.encode(encoding), "b.log.gz": gzip.compress(raw.encode(encoding))}
    )
    for name in ("a.log", "b.log.gz"):
        cause = read_logs([str(tmp_path / name)]).first_cause
        assert (cause.code, cause.line) == ("EL0004", 7)


def test_an_exception_that_only_wraps_a_block(tmp_path):
    """A framework puts the block into its own exception: the block is the cause."""
    block = "EZ9999: Inner Error!\nEZ9999  [Init][Env]init env failed![FUNC:R][FILE:l.cc][LINE:1]"
    text = (
        'Traceback (most recent call last):\n  File "run.py", line 7, in main\n'
        "RuntimeError: Exec graph failed\n\n---\n- Ascend Error Message:\n---\n" + block
    )
    write(tmp_path, {"a.log": text})
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.code, cause.line) == ("EZ9999", 9)
    assert [(place.path, place.line) for place in cause.places] == [("run.py", 7)]
    write(tmp_path, {"a.log": text.replace("RuntimeError: Exec graph failed", "KeyError: 'x'")})
    assert read_logs([str(tmp_path)]).first_cause.line == 3


@pytest.mark.parametrize(
    "prefix",
    [
        *("ERROR 03-11 14:48:04 engine.py:387] ", "> ", "[rank 3]: ", "(Worker pid=7) "),
        *("1: ", " 1: ", "01: ", "[1] ", "[1]<stderr>:", "[default1]:", "[pod/x/main] "),
        *("2026-11-26T22:00:01.123456789Z ", "2026-11-26T22:00:01.1+01:00 stdout F "),
        *("worker-1  | ", "n3: ", "[node1:4121] ", "Nov 26 22:00:01 host train[44]: "),
    ],
)
def test_prefixes(tmp_path, prefix):
    """Of loggers that print what others said, of launchers, and of quoted text."""
    lines = raised(MEMORY).splitlines()
    write(tmp_path, {"a.log": "".join(prefix + line + "\n" for line in lines)})
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.code, cause.line) == ("EL0004", 6)


def test_numbers_of_steps_are_no_ranks(tmp_path):
    """What a launcher names comes again; and where it stands on a few lines only, it is text."""
    steps = "".join("{}: loss 0.5\n".format(100 * step) for step in range(50))
    write(tmp_path, {"a.log": steps + "1: \n" * 9 + "KeyError: 'k'\n"})
    assert [rank.rank for rank in read_logs([str(tmp_path)]).ranks] in ([], [None])


def test_the_rank_behind_a_number_of_srun(tmp_path):
    """The one whose script failed, not the one that waited for it."""
    lines = (
        "1: Traceback (most recent call last):\n1:   File 'train.py', line 9\n1: KeyError: 'k'\n"
    )
    waited = "0: EI0006: Getting socket times out. Reason: 1. The remote does not initiate it.\n"
    text = "0: step 100\n1: step 100\n" + lines + waited + "srun: error: n2: task 1: Exited\n"
    write(tmp_path, {"a.log": text})
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.rank, cause.line) == (1, 5)


def test_numbers_of_the_graph_engine_and_of_collectives(tmp_path):
    """They tell class and meaning where nothing else does."""
    lines = (
        slog("GE", "ErrorNo: 145000(Parameter invalid.) [FINAL]Output size mismatch"),
        slog("HCCL", "errNo[0x0000000005000002]HcclCommInitRootInfo failed."),
    )
    said = []
    for line in lines:
        write(tmp_path, {"a.log": line})
        said.append(read_logs([str(tmp_path)]).first_cause)
    assert [each.class_ for each in said] == ["configuration", "communication"]
    assert "pointer is null" in said[1].cause


def test_advice_is_no_failure(tmp_path):
    """What a block advises to look for did not happen."""
    block = WAITED.replace("1. Check the rank.", "1. Look for 'error cqe' in the plog.")
    write(tmp_path, {"a.log": raised(block)})
    cause = read_logs([str(tmp_path)]).first_cause
    assert (cause.code, cause.pattern) == ("EI0006", None)


@pytest.mark.parametrize("ended", [False, True])
def test_getnext_in_a_warning_only(tmp_path, ended):
    """It is the cause when the job fails behind it, and none when the job came to its end."""
    text = "Aicpu kernel execute failed, device_id=0, fault op_name=aicpu_getnext_IteratorGetNext"
    output = (
        "INFO:tensorflow:Loss for final step: 1.0.\n" if ended else raised("E19999: Inner Error!")
    )
    files = {
        "train_0.log": output,
        "log/debug/plog/plog-4000_20240506070809000.log": slog("RUNTIME", text, 5, level="WARNING")
        + slog("GE", "ErrorNo: 507011() [EXEC][EXEC]rtStreamSynchronize failed", 6) * (not ended),
    }
    cause = read_logs([str(write(tmp_path, files))]).first_cause
    assert (cause and cause.pattern) == (None if ended else "faq-getnext-timeout")


def test_who_was_lost_first(tmp_path):
    """Where only heartbeats tell: which process on which server, and its rank."""
    text = "rank [10.0.0.0/0]: rank [10.0.0.0/1] status[LOST] by rank [10.0.0.0/3]"
    report = ranks(tmp_path, 4, lambda rank: "x\n" if rank == 1 else slog("HCCL", text, 9 + rank))
    assert report.verdict.rank == 1
    assert "device 1 of server 10.0.0.0" in text_report(report)


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        (
            (
                "topo exchange server get socket timeout! timeout[120 s]",
                "total connected num is [4],line num is [1]",
                "need connect rankNum is [8]",
                "connected rankinfo[LINE 0]: [0000],[0002],[0004],[0006];",
            ),
            "ranks 1, 3, 5, 7",
        ),
        (('TopoDetect ERROR occur !!! fault_info["Failed to connect agent[9,]"]',), "rank 9"),
    ],
    ids=["the master", "a rank"],
)
def test_who_did_not_connect_to_the_master(tmp_path, lines, missing):
    """Without a rank table: what the master counts, and what it tells the others."""
    text = "".join(slog("HCCL", line, at) for at, line in enumerate(lines))
    report = read_logs([str(write(tmp_path, {"a.log": text}))])
    assert report.first_cause.code == "EI0015"
    assert missing in text_report(report).splitlines()[1]


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    """The ranks in it may have failed: it is said that it was not read."""
    scandir, closed = os.scandir, str(tmp_path / "rank_1")

    def listed(path):
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    write(tmp_path, {"rank_0/train.log": "step 1\n", "rank_1/train.log": raised(MEMORY)})
    monkeypatch.setattr(os, "scandir", listed)
    report = read_logs([str(tmp_path)])
    assert [path for path, _ in report.unread] == [closed]
    assert "not read: " + closed in text_report(report)


def test_only_follow_ups(tmp_path):
    """A number that only follows from another is explained, and it is said what to fetch."""
    line = "2024-05-06 07:08:09.000000: E tf_adapter/kernels/geop_npu.cc:9] failed, error:507011\n"
    cause = read_logs([str(write(tmp_path, {"a.log": line + raised("x")}))]).first_cause
    assert (cause.code, cause.class_) == ("507011", "internal")
    assert "plog-PID" in cause.todo[0]


@pytest.mark.parametrize(
    ("code", "text", "first"),
    [
        (
            "EI0001",
            "Value [7] for environment variable [HCCL_BUFFSIZE] is invalid.",
            "HCCL_BUFFSIZE",
        ),
        ("E20002", "Value [x] for environment variable [NEW] is invalid. Reason: y.", "NEW"),
        (
            "EI0014",
            "Value [] for ranktable variable [rank_id] is invalid. Expected value: 0.",
            "rank_id",
        ),
    ],
)
def test_what_a_message_names_comes_first(tmp_path, code, text, first):
    """The variable, or the key of the rank table."""
    report = read_logs([str(write(tmp_path, {"a.log": raised(code + ": " + text)}))])
    leads = report.first_cause.leads_to
    assert first in (leads["variables"][0], *leads["rank_table_keys"][:1])


OTHERS = {
    "RuntimeError: x, error code is 507035\n": ("operator-compile", "507035"),
    "(Worker pid=1) ERROR 06-08 14:11:34 [core.py:1136]   failed, runtime result = 507015[F]\n": (
        "operator-compile",
        "507015",
    ),
    'x | {"detail":"[Error]: Failed. \\nE30006: 2025-11-19-11:14:58.516.606 Failed"}\n': (
        "package-or-driver",
        "E30006",
    ),
    "[PID: 3] 2025-12-04-21:59:08.232.310 Execution Error CQE(EI0013): An error CQE\n": (
        "communication",
        "EI0013",
    ),
    slog("GE", "ErrorNo: 1343225860(Internal errors) [INIT] a.so: undefined symbol: _Zx")
    + slog("ASCENDCL", "open device 0 failed, runtime result = 507033.", 1): (
        "package-or-driver",
        None,
    ),
    slog("MD", "might result `GetNext` timeout problem", level="WARNING")
    + slog("DEVICE", "Task fail infos retcode: 507011 ( model execute failed)", 1): (
        "data-pipeline",
        None,
    ),
}


@pytest.mark.parametrize("text", sorted(OTHERS))
def test_forms_of_other_frameworks(tmp_path, text):
    """What stands in public logs of PyTorch, vLLM and MindSpore on the same stack."""
    cause = read_logs([str(write(tmp_path, {"a.log": "torch_npu\n" + text}))]).first_cause
    assert (cause.class_, cause.code) == OTHERS[text]
    assert not cause.leads_to["options"]
    assert "ENABLE_FORCE_V2_CONTROL" not in cause.leads_to["variables"]


def test_whom_the_kernel_killed(tmp_path):
    """The number of the process that dmesg names is that of a rank."""
    write(tmp_path, {"dmesg.log": "Out of memory: Killed process 4002 (python3.7) total-vm:1kB\n"})
    report = ranks(tmp_path, 4, lambda rank: "step 1\n" if rank == 2 else waited(130, rank))
    assert (report.verdict.rank, report.first_cause.pattern) == (2, "py-oom-killer")


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("E tf_adapter/g.cc:9] failed, ge result = 545601\n", "graph_exec_timeout"),
        ("E tf_adapter/g.cc:9] failed, retCode=0x25, [aicore timeout]\n", "op_execute_timeout"),
    ],
)
def test_numbers_lead_to_options(tmp_path, text, option):
    """A time-out that only a number names leads to the option that sets it."""
    log = write(tmp_path, {"a.log": "2024-05-06 07:08:09.000000: " + text + raised("x")})
    cause = read_logs([str(log)]).first_cause
    assert (cause.class_, option in cause.leads_to["options"]) == ("timeout", True)


@given(
    st.lists(st.sampled_from([b"a", b"bb\n", b"\n", b"cccc"]), max_size=30),
    st.sampled_from([1, 3, 7, 50]),
    st.integers(1, 8),
    st.integers(0, 3),
)
def test_some_lines(parts, size, first, more):
    """Those of a stream by their numbers, whatever blocks it is read in."""
    whole = b"".join(parts)
    lines = whole.split(b"\n")[: None if not whole.endswith(b"\n") and whole else -1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npu_config.logs.lines, "BLOCK", size)
        found = between(io.BytesIO(whole), first, first + more)
    assert found == lines[first - 1 : first + more]


def test_the_rank_that_failed_is_in_the_table(tmp_path):
    """Of many ranks those are shown that failed."""
    files = {"train_{}.log".format(rank): "step 1\n" for rank in range(30)}
    files["train_27.log"] = raised(MEMORY)
    text = text_report(read_logs([str(write(tmp_path, files))]))
    assert "\n27 " in text
    assert "... 14 more (--all)" in text
