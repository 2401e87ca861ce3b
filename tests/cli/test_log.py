"""``npu-config log`` as users call it."""

import io
import json
import subprocess
import sys
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.logs import read_logs
from npu_config.logs.redact import Redactor
from npu_config.logs.report import Follower
from tests import golden
from tests.logs.jobs import MEMORY, WAITED, raised, slog, write

CAUSE = {
    "file", "line", "time", "rank", "device", "component", "code", "pattern", "class", "message",
    "cause", "todo", "leads_to", "places",
}  # fmt: skip


@pytest.fixture
def log(tmp_path):
    """The output of a job that ran out of memory."""
    text = slog("GE", "first line", level="INFO") + raised(MEMORY) * 2
    write(tmp_path, {"train.log": text})
    return tmp_path / "train.log"


def test_json(npu, log):
    """The document of the contract."""
    result = npu("log", log, "--format", "json")
    document = json.loads(result.out)
    assert (result.code, document["version"], result.err) == (1, 1, "")
    assert set(document) == {"version", "first_cause", "others", "follow_ups", "ranks", "unread"}
    assert set(document["first_cause"]) == CAUSE
    assert set(document["ranks"][0]) == {
        "rank",
        "device",
        "host",
        "file",
        "first_error",
        "last_time",
    }
    assert document["first_cause"]["code"] == "EL0004"
    assert document["first_cause"]["leads_to"]["options"][0] == "graph_memory_max_size"
    assert document["follow_ups"] >= 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_text(npu, log, language):
    """The cause first, with its place, what it means and what to do; it fits a screen."""
    result = npu("log", log, "--lang", language)
    lines = result.out.splitlines()
    assert result.code == 1
    assert "EL0004" in lines[0]
    assert "{}:7".format(log) in result.out
    assert len(lines) < 40
    assert "graph_memory_max_size" in result.out


def test_config(npu, log, tmp_path):
    """Values and places of the options that it leads to, or that they are not set."""
    config = tmp_path / "train.yaml"
    config.write_text(
        "version: 1\ngraph_memory_max_size: 1000\nprecision_mode: allow_mix_precision\n"
    )
    result = npu("log", log, "--config", config)
    assert "{}:2 sets graph_memory_max_size to 1000".format(config) in result.out
    assert "variable_memory_max_size is not set" in result.out
    places = json.loads(npu("log", log, "--config", config, "--format", "json").out)[
        "first_cause"
    ]["places"]
    assert {"path": str(config), "line": 2, "option": "graph_memory_max_size"} in places


def test_a_configuration_that_cannot_be_read(npu, log):
    """It is said, and the log is reported all the same."""
    result = npu("log", log, "--config", log)
    assert "this is a log" in result.err
    assert "EL0004" in result.out


def test_commands_name_what_is_known(npu, tmp_path):
    """The option and the configuration stand in the commands that are to be run next."""
    block = "E10001: Value [7] for parameter [ge.exec.staticMemoryPolicy] is invalid. Reason: x"
    write(tmp_path, {"a.log": raised(block), "npu.yaml": "version: 1\nstatic_memory_policy: 7\n"})
    result = npu("log", tmp_path / "a.log", "--config", tmp_path / "npu.yaml")
    assert "npu-config explain static_memory_policy" in result.out
    assert "npu-config check {}".format(tmp_path / "npu.yaml") in result.out


def test_standard_input(npu, log):
    """``-`` is standard input; nothing failed: exit code 0."""
    result = npu("log", "-", stdin=log.read_bytes())
    assert (result.code, "-:7" in result.out) == (1, True)
    result = npu("log", "-", stdin=b"INFO:tensorflow:loss = 1.0, step = 1\n")
    assert (result.code, "no end of the job either" in result.out) == (0, True)
    text = b"INFO:tensorflow:loss = 1.0, step = 1\nINFO:tensorflow:Loss for final step: 1.0.\n"
    result = npu("log", "-", stdin=text)
    assert (result.code, result.out) == (0, "nothing failed in 1 log\n")


SECRETS = (
    "10.1.2.3",
    "alice",
    "secret-project",
    "gpuhost7",
    "alice@corp.com",
    "fe80:0:0:0:1:2:3:4",
)


def test_redacted(npu, tmp_path):
    """No address, name or path is left, and the same always becomes the same."""
    text = raised(
        "EI0004: The ranktable or rank is invalid,Reason:[x]. Please check the configured "
        "ranktable."
        " [/home/alice/secret-project/rank.json] host: gpuhost7 10.1.2.3 10.1.2.3 alice@corp.com "
        "fe80:0:0:0:1:2:3:4"
    )
    write(tmp_path, {"secret-project/train.log": text})
    for form in ("text", "json", "html"):
        result = npu("log", tmp_path / "secret-project", "--redact", "--format", form)
        assert result.code == 1
        assert not [word for word in SECRETS if word in result.out]
        assert "ip-1 ip-1" in result.out
        assert "ip-2" in result.out
        assert "EI0004" in result.out


_NAME = st.text("bcdfghjkm0123456789", min_size=3, max_size=9)
_BYTE = st.integers(1, 254)


@settings(max_examples=golden.tries(60), deadline=None)
@given(
    st.tuples(_NAME, _NAME, _NAME, _NAME),
    st.tuples(*[_BYTE] * 4),
    st.sampled_from(
        (
            "/home/{user}/{project}/{file}.py", "host: {host} ip[{ip}]", "{user}@{host}.corp.com",
            "server[{ip}%eth0], /data/{project}/{file}/x", "obs://{project}/{user}/a from {ip}:80",
            "https://{host}/{user}/{project}/a?by={user}",
            "node: {host}, path /mnt/{project}/{host}/rank.json",
        )
    ),
)  # fmt: skip
def test_nothing_that_identifies_is_left(names, address, form):
    """Whatever people, hosts, folders and addresses are called; the same stays the same."""
    user, host, project, file = map("{}{}".format, ("us", "ho", "pro", "fi"), names)
    ip = "198.{}.{}.{}".format(*address[:3])
    values = {"user": user, "host": host, "project": project, "file": file, "ip": ip}
    text = form.format(**values)
    redactor = Redactor()
    once = redactor.text("[ERROR] HCCL(7,python):2024-05-06-07:08:09.000.000 [a.cc:1] " + text)
    left = [values[name] for name in ("user", "host", "project", "ip") if values[name] in once]
    assert left == []
    assert redactor.text(text) in once
    assert redactor.document({"message": text, "code": "EI0004"})["code"] == "EI0004"


def test_an_address_in_the_name_of_a_communicator():
    """HCCL joins the operator, the address and more by underscores."""
    text = "tag[HcomAllReduce_10.20.3.4%eth0_60000_0_1699], tag[AllReduce_10.20.3.4]"
    assert "10.20.3.4" not in Redactor().text(text)


TRACEBACK = (
    "epoch failed",
    "Traceback (most recent call last):",
    '  File "train.py", line 58, in main',
    "    do_it()",
    "IndexError: list index out of range",
)
WRAPPED = {
    "json-file of Docker": lambda line: json.dumps({"log": line + "\n", "stream": "stderr"}),
    "logging": "2026-03-03 12:03:00,123 - trainer - ERROR - {}".format,
    "logging, in brackets": "2026-03-03 12:03:00.123 [trainer] [ERROR] {}".format,
}


@pytest.mark.parametrize("name", WRAPPED)
def test_tracebacks_that_were_wrapped(npu, tmp_path, name):
    """A traceback is seen behind what a logger or Docker writes around each of its lines."""
    lines = [WRAPPED[name](line) for line in TRACEBACK]
    write(tmp_path, {"train.log": "\n".join(lines) + "\n"})
    result = npu("log", tmp_path / "train.log", "--format", "json")
    cause = json.loads(result.out)["first_cause"]
    assert (result.code, cause["line"], cause["class"]) == (1, 5, "script")
    assert cause["message"] == "IndexError: list index out of range"


def test_short_names_of_hosts():
    """Two signs are a name, too; our own words are none."""
    redactor = Redactor()
    assert "w2" not in redactor.text("process rank 1 with PID 0 on node w2 exited on signal 6")
    assert redactor.text("does not fit this host: path, JSON").endswith("path, JSON")


def test_bundle(npu, log, tmp_path):
    """An archive with a list of what is in it; one that exists is not written."""
    out = tmp_path / "help.zip"
    result = npu("log", log, "--bundle", out)
    assert result.code == 1
    with zipfile.ZipFile(str(out)) as archive:
        names = set(archive.namelist())
        assert {
            "report.txt",
            "report.json",
            "versions.txt",
            "CONTENTS.txt",
            "logs/001-train.log",
        } == names
        assert str(tmp_path).encode() not in b"".join(archive.read(name) for name in names)
    assert all(name in result.out for name in names - {"CONTENTS.txt"})
    assert npu("log", log, "--bundle", out).code == 2


def test_page(npu, tmp_path):
    """One page that loads nothing, with a line of time for several ranks."""
    write(
        tmp_path,
        {
            "rank_0/a.log": raised("EL0004: Failed to allocate <b>memory</b>."),
            "rank_1/a.log": slog("HCCL", "wait socket establish timeout", 60) + raised(WAITED),
        },
    )
    page = npu("log", tmp_path, "--format", "html").out
    assert "<svg" in page
    assert "&lt;b&gt;" in page
    assert "src=" not in page
    assert "href=" not in page


def test_follow(log, tmp_path):
    """The first cause of a stream is told before the stream ends."""
    call = [sys.executable, "-m", "npu_config", "log", "--follow", "-"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(log.read_bytes() + b"INFO:tensorflow:more\n" * 200)
        process.stdin.flush()
        assert b"EL0004" in process.stdout.readline()
        process.stdin.close()
        process.stdout.read()
    assert process.returncode == 1


def test_follow_learns_what_a_launcher_writes():
    """What the batch reader makes of the whole log, the follower makes of it line by line."""
    text = "INFO:tensorflow:start\n" * 3 + slog("GE", "warm", level="WARNING") * 40
    parts = {0: text + raised(WAITED), 1: text + raised(MEMORY)}
    lines = [
        "trainer-{}  | {}\n".format(rank, line)
        for rank, part in parts.items()
        for line in part.splitlines()
    ]
    follower = Follower(["-"])
    for line in lines:
        follower.add("-", line.encode())
    grown = follower.report()
    whole = read_logs(["-"], io.BytesIO("".join(lines).encode()))
    assert grown.first_cause == whole.first_cause
    assert [state.first_error.code for state in grown.ranks] == ["EI0006", "EL0004"]


def test_follow_a_file_that_grows(log, tmp_path):
    """The command ends by itself when the first cause is certain, while the job still runs."""
    growing = tmp_path / "growing.log"
    growing.write_bytes(b"INFO:tensorflow:loss = 1.0, step = 1\n")
    call = [sys.executable, "-m", "npu_config", "log", "--follow", str(growing)]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as process:
        with growing.open("ab") as stream:
            stream.write(log.read_bytes())
        assert b"EL0004" in process.stdout.readline()
        process.stdout.read()
    assert process.returncode == 1


BAD = {
    "empty.log": b"",
    "binary.log": bytes(range(256)) * 64,
    "core.log": b"\x7fELF" + bytes(9000),
    "long.log": b"x" * 5_000_000 + b" Error\n",
    "times.log": b"12:00:00 a\n2024/01/02 b\n[ERROR] GE(1,):2024-13-41-99:00:00.000.000 c\n",
    "cut.log": raised(MEMORY).encode()[:-120],
    "unknown.log": raised("EQ1234: Something new happened in the fusion of stars.").encode(),
    "cut.log.gz": b"\x1f\x8b\x08\x00" + b"0" * 20,
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input(npu, tmp_path, name):
    """One clear answer, no traceback; what is not text is said."""
    (tmp_path / name).write_bytes(BAD[name])
    result = npu("log", tmp_path / name)
    assert result.code == (0 if name == "long.log" else 1), result
    assert "Traceback (most" not in result.err
    assert "NPU700" not in result.err
    if name in ("binary.log", "core.log"):
        assert "this is not a text file" in result.out
    if name in ("binary.log", "core.log", "empty.log"):
        assert "no result: no line of these files" in result.out
        assert "nothing failed" not in result.out
    if name == "unknown.log":
        assert "EQ1234" in result.out
        assert "fusion of stars" in result.out


def test_folder_of_many(npu, tmp_path):
    """Two thousand logs, one of which failed."""
    write(tmp_path, {"{}/a.log".format(number): "fine\n" for number in range(2000)})
    write(tmp_path, {"1500/a.log": raised(MEMORY)})
    result = npu("log", tmp_path)
    assert (result.code, "1500/a.log:6" in result.out) == (1, True)
    assert len(result.out.splitlines()) < 60


BEFORE = "[ERROR] HCCL(12,python3):2024-05-06-10:05:00.000.001 [a.cc:1][12][Init][Network] {}\n"
RAISED = (
    'Traceback (most recent call last):\n  File "train.py", line 44, in <module>\n'
    "    sess.run(train_op)\n"
    "tensorflow.python.framework.errors_impl.InternalError: GeOp2_0GEOP::DoRunAsync Failed\n"
    "Error Message is :\n"
)
CODE = "EI0006: Getting socket times out. Reason: Remote rank did not send the data in time.\n"


@pytest.mark.parametrize("raised", ["", RAISED])
@pytest.mark.parametrize("said", ["timeout", "create link failed"])
def test_a_code_behind_a_line_of_its_own_software(npu, tmp_path, said, raised):
    """The code says what the line of errors before it does not; alone that line is the cause."""
    (tmp_path / "a.log").write_text(BEFORE.format(said) + raised + CODE)
    (tmp_path / "b.log").write_text(BEFORE.format(said))
    coded, bare = (npu("log", tmp_path / name).out.split("\n")[0] for name in ("a.log", "b.log"))
    assert ("EI0006" in coded, bare.startswith("first cause: HCCL")) == (True, True)


def test_options_without_effect(npu, tmp_path):
    """Advice says of an option that only older versions use what its own page says."""
    (tmp_path / "a.log").write_text("Call rtMalloc fail, purpose:feature map, size:1, device_id:6")
    for result in (npu("log", tmp_path / "a.log"), npu("explain", "rt-oom")):
        assert "static_memory_policy, graph_memory_max_size (no longer effective)" in result.out
        assert "up to TF Adapter r1.11.0 also lower graph_memory_max_size" in result.out


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("EI0006", "EI0006"),
        ("e30008", "E30008"),
        ("507018", "507018"),
        ("0x7020009", "0x7020009"),
        ("faq-ra-rdev-17", "faq-ra-rdev-17"),
        ("Getting socket times out. Reason: Remote Rank did not send the data", "EI0006"),
        ("dump mode should be one of the list:[input, output, all]", "ref-dump-mode"),
    ],
)
def test_explain(npu, word, name):
    """A code, a number, a failure, and the words of a message, in both languages."""
    for language in ("en", "zh"):
        result = npu("explain", word, "--format", "json", "--lang", language)
        assert result.code == 0
        assert json.loads(result.out)["topics"][0]["name"] == name


def test_explain_finds_chinese_words(npu):
    """Whatever language is spoken."""
    assert "faq-getnext-timeout" in npu("explain", "预处理太慢").out


def test_explain_an_unknown_code(npu):
    """It says so."""
    result = npu("explain", "EQ1234")
    assert (result.code, "EQ1234" in result.err) == (2, True)


COMMANDS = (
    "check,generate --to yaml,migrate,diagnose,ranktable check,doctor,diff good.yaml,op-summary,"
    "format,compat,env --check,mixlist check,loss-scale,run,show,ranktable show,dump list,"
    "dump show,dump overflow,fusion-result"
)


@pytest.mark.parametrize("command", COMMANDS.split(","))
def test_a_log_for_another_command(npu, log, good, monkeypatch, command):
    """The command that reads it is named."""
    monkeypatch.chdir(log.parent)
    more = ["--findings", "out.json"] if command == "doctor" else []
    result = npu(*command.split(), "train.log", *more)
    said = result.out + result.err
    if command == "doctor":
        said += (log.parent / "out.json").read_text()
    assert result.code in (1, 2)
    assert "npu-config log train.log" in said


def test_run_says_what_a_failure_is(npu, tmp_path):
    """The closing lines know what the recognisers know."""
    script = tmp_path / "train.py"
    script.write_text("raise OSError(28, 'No space left on device')\n")
    call = [sys.executable, "-m", "npu_config", "run", str(script)]
    done = subprocess.run(call, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"py-no-space" in done.stderr
