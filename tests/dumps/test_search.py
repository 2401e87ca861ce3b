"""The search that ends: on a simulated device, killed, and with whatever is wrong around it."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import attr
import pytest

pytest.importorskip("numpy")

import numpy
from dumps.simulated_device import Device

from npu_config import NpuConfigError
from npu_config.core.message import phrase
from npu_config.dumps import search as s
from tests.cli.conftest import npu

__all__ = ["npu"]
BASE = """\
version: 1
precision:
  precision_mode: allow_mix_precision
dump:
  dump_path: /data/dump
"""
PASSES = ["Pass{}FusionPass".format(number) for number in range(59)] + ["TbePoolFusionPass"]


def solved(suspects, agrees):
    """The end of a search whose runs a function judges."""
    search = s.Search("base.yaml", "", tuple(suspects), "overflow")
    result = s.outcome(search)
    while result.state == s.SEARCHING:
        verdict = s.AGREES if agrees(result.cures) else s.DIVERGES
        run = s.SearchRun(len(search.runs) + 1, result.cures, verdict)
        search = attr.evolve(search, runs=(*search.runs, run))
        result = s.outcome(search)
    return search, result


SUSPECTS = tuple(s.Suspect(s.GRAPH, name) for name in PASSES)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        phrase("{} of {}", 1, "two"),
        phrase("{}: {}", phrase("{} {:.2f}", "a", 0.5), None),
        phrase("{} in {}", True, phrase("step {}", phrase("{}", "b"))),
        phrase("{} files", Path("a")),
    ],
)
def test_sentences_that_are_kept(text):
    """A later call has them with their parts, where these still give the text."""
    kept = json.loads(json.dumps(s._kept(text)))
    said = s._said(kept, str(text))
    assert said == text
    assert getattr(said, "template", None) == getattr(text, "template", None)
    assert s._said(kept, "another") == "another"


@pytest.mark.parametrize("seed", range(50))
def test_random_faults_are_found(seed):
    """One to three faulty passes of sixty: exactly they, in 2 log2(60) runs each at most."""
    chance = random.Random(seed)
    faulty = frozenset(chance.sample(SUSPECTS, 1 + seed % 3))
    search, result = solved(SUSPECTS, lambda cures: cures >= faulty)
    assert (result.state, result.cures) == (s.FOUND, faulty)
    assert len(search.runs) <= 2 * math.log2(len(SUSPECTS)) * len(faulty)
    assert search.runs[result.runs[0] - 1].verdict == s.AGREES


@pytest.mark.parametrize("seed", range(30))
def test_faults_of_several_together(seed):
    """Where a fault needs two passes, one of them is enough; each that is named is needed."""
    chance = random.Random(seed)
    pairs = [set(chance.sample(SUSPECTS[:20], chance.choice((1, 2, 3)))) for _ in range(4)]

    def agrees(cures):
        return all(cures & pair for pair in pairs)

    search, result = solved(SUSPECTS[:20], agrees)
    assert result.state == s.FOUND
    assert agrees(result.cures)
    assert not any(agrees(result.cures - {each}) for each in result.cures)
    assert result.runs, search


def test_the_precision_mode_comes_last():
    """It is tried only when everything else together does not help."""
    mode = s.Suspect(s.PRECISION, "origin")
    search, result = solved((*SUSPECTS, mode), lambda cures: SUSPECTS[7] in cures)
    assert result.cures == {SUSPECTS[7]}
    assert not any(mode in run.cures for run in search.runs)
    _, result = solved((*SUSPECTS, mode), lambda cures: {SUSPECTS[7], mode} <= cures)
    assert result.cures == {SUSPECTS[7], mode}
    _, result = solved((*SUSPECTS, mode), lambda cures: False)
    assert result.state == s.NOT_AMONG


def test_nothing_is_wrong():
    """A base that agrees needs no change."""
    search, result = solved(SUSPECTS, lambda cures: True)
    assert (result.state, result.cures, len(search.runs)) == (s.FOUND, frozenset(), 2)


@pytest.mark.parametrize("seed", range(30))
def test_runs_that_differ_by_chance(seed):
    """Whatever the verdicts are, the search ends, and what it names a run has confirmed."""
    chance = random.Random(seed)
    search, result = solved(SUSPECTS, lambda cures: chance.random() < 0.5)
    assert result.state in (s.FOUND, s.NOT_AMONG)
    assert len(search.runs) < 400
    assert all(search.runs[number - 1].cures == result.cures for number in result.runs)
    assert bool(result.runs) is (result.state == s.FOUND)


def cures(names):
    """Suspects by one letter."""
    return frozenset(s.Suspect(s.GRAPH, name) for name in names)


@pytest.mark.parametrize(
    ("runs", "asked", "itself", "known"),
    [
        ("ab+", "ab", False, True),
        ("ab-", "ab", False, False),
        ("ab+", "ab", True, True),
        ("ab-", "ab", True, False),
        ("a+", "ab", False, True),
        ("a+", "ab", True, None),
        ("ab+", "a", False, None),
        ("ab-", "a", False, False),
        ("ab-", "a", True, False),
        ("a-", "ab", False, None),
        ("b+", "a", False, None),
        ("b-", "a", False, None),
        ("a- ab+", "ab", False, True),
        ("", "", False, None),
        ("+", "", True, True),
        ("+", "a", False, True),
    ],
)
def test_what_earlier_runs_say(runs, asked, itself, known):
    """More than what agrees agrees, less than what diverges diverges; else a run is wanted."""
    verdicts = {"+": s.AGREES, "-": s.DIVERGES}
    made = [
        s.SearchRun(number, cures(run[:-1]), verdicts[run[-1]])
        for number, run in enumerate(runs.split(), 1)
    ]
    history = s._History(made, ())
    if known is None:
        with pytest.raises(s._RunWanted):
            history.agrees(cures(asked), itself)
    else:
        assert history.agrees(cures(asked), itself) is known


RUN = {
    "number": 1, "verdict": "agrees", "how": "x", "runs": [], "float32": [],
    "off": {"graph": ["a"], "ub": []}, "precision_mode": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"kind": "other"}, "not a STATE file"),
        ({"version": 2}, "not a STATE file"),
        ({"version": "1"}, "not a STATE file"),
        ({"records": "other"}, "not a STATE file"),
        (
            {"suspects": [{"kind": "other", "name": "a"}]},
            "not a STATE file|not in the list of suspects",
        ),
        ({"suspects": 1}, "not a STATE file"),
        ({"runs": [RUN]}, None),
        ({"runs": [RUN, {**RUN, "number": 2}]}, None),
        ({"runs": [{**RUN, "number": 2}]}, "numbered"),
        ({"runs": [RUN, RUN]}, "numbered"),
        ({"runs": [{**RUN, "verdict": None}]}, None),
        (
            {"runs": [{**RUN, "verdict": None}, {**RUN, "number": 2}]},
            "the verdict of a run is missing",
        ),
        ({"runs": [{**RUN, "verdict": "other"}]}, "run 1"),
        ({"runs": [{**RUN, "off": {"graph": ["b"], "ub": []}}]}, "run 1"),
        ({"runs": [{**RUN, "off": {"graph": [], "ub": ["a"]}}]}, "run 1"),
        ({"runs": [{**RUN, "precision_mode": "origin"}]}, "run 1"),
    ],
)
def test_states(tmp_path, change, words):
    """A state is read as it was written, or it is said what is wrong with it."""
    path = tmp_path / "state.json"
    before = s.Search("base.yaml", "hash", (s.Suspect(s.GRAPH, "a"),), "overflow", "tf")
    s.save_search(before, path)
    assert s.load_search(path) == before
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    if words is None:
        assert [run.number for run in s.load_search(path).runs] == [
            run["number"] for run in change.get("runs", ())
        ]
    else:
        with pytest.raises(NpuConfigError, match=words):
            s.load_search(path)


@pytest.fixture
def begin(npu, tmp_path, monkeypatch):
    """Begins a search in a folder of its own; returns what the command printed as JSON."""
    monkeypatch.chdir(tmp_path)

    def call(*more, base=BASE, passes=PASSES):
        Path("base.yaml").write_text(base)
        suspects = [word for name in passes for word in ("--suspect", name)]
        return search(npu, "--config", "base.yaml", *suspects, *more)

    return call


def search(npu, *call):
    """One call of the command, which must not fail; its JSON."""
    result = npu("dump", "search", "state.json", *call, "--format", "json")
    assert result.out, result
    return json.loads(result.out)


def run_to_the_end(npu, device, found, judge):
    """Do what the command says until it ends."""
    while found["state"] == "searching":
        right = device.job(Path(found["config"]))
        found = search(npu, *judge(found, right))
    return found


@pytest.mark.parametrize("count", [1, 3])
def test_overflows_decide(npu, begin, tmp_path, count):
    """Records decide; a run that leaves nothing is not judged by an old one; no file is edited."""
    faulty = frozenset(random.Random(count).sample(PASSES, count))
    device = Device(tmp_path / "dump", faulty, frozenset(["Exp"]))
    seen = set()

    def judge(found, right):
        if not right:
            return ("--dump", device.root)
        again = npu("dump", "search", "state.json", "--dump", device.root)
        if again.code == 1:
            seen.add("there is no new run" in again.err)
        return ("--agrees", str(found["number"]))

    device.root.mkdir()
    found = run_to_the_end(npu, device, begin("--type", "Exp", "--type", "Mul"), judge)
    assert set(found["off"]["graph"] + found["off"]["ub"]) == faulty
    assert (found["float32"], found["precision_mode"]) == (["Exp"], None)
    assert found["off"]["ub"] == [name for name in sorted(faulty) if name.startswith("Tbe")]
    assert len(found["runs"]) <= 2 * math.log2(len(PASSES)) * (count + 1)
    options, left = device.faults(Path(found["config"]))
    assert (left, options["dump_path"], "enable_dump_debug" in options) == (
        set(), "/data/dump", False,
    )  # fmt: skip
    assert seen <= {True}


def test_a_comparison_decides(npu, begin, tmp_path):
    """With a reference the dumps of the runs are compared with it."""
    reference = tmp_path / "tf"
    reference.mkdir()
    for name in ("a", "b"):
        numpy.save(str(reference / (name + ".0.1.npy")), numpy.array([1, -2, 3, 4], "f4"))
    device = Device(tmp_path / "dump", frozenset(["TbePoolFusionPass"]))
    found = begin("--reference", reference, passes=PASSES[-6:])
    assert "enable_dump: true" in Path(found["config"]).read_text()
    end = run_to_the_end(npu, device, found, lambda found, right: ("--dump", device.root))
    assert end["off"] == {"graph": [], "ub": ["TbePoolFusionPass"]}
    assert "b diverges" in " ".join(run["how"] for run in end["runs"])
    chinese = npu("--lang", "zh", "dump", "search", "state.json").out
    assert "b 与参考数据不一致" in chinese
    assert "diverges" not in chinese
    text = npu("dump", "search", "state.json")
    assert (text.code, "UB fusion passes off: TbePoolFusionPass" in text.out) == (0, True)


def test_a_dump_of_the_base_begins(npu, begin, tmp_path):
    """The overflow that was there is the first run, and its operator types are suspects."""
    device = Device(tmp_path / "dump", types=frozenset(["Exp"]))
    Path("base.yaml").write_text(BASE + "  enable_dump_debug: true\n")
    device.job(Path("base.yaml"))
    base = BASE + "  enable_dump_debug: true\n"
    found = begin("--dump", device.root, base=base, passes=PASSES[:3])
    assert [run["verdict"] for run in found["runs"]] == ["diverges", None]
    assert found["float32"] == ["Exp"]
    end = run_to_the_end(
        npu, device, found,
        lambda found, right: ("--agrees" if right else "--diverges", str(found["number"])),
    )  # fmt: skip
    assert (end["float32"], end["off"]["graph"]) == (["Exp"], [])


def test_the_base_keeps_its_own(npu, begin):
    """Its options, its switches and its lists stay; what it changes already is no suspect."""
    switches = {"Switch": {"GraphFusion": {PASSES[0]: "off", "X": "on"}}}
    Path("my.cfg").write_text(json.dumps(switches))
    Path("ops.json").write_text('{"white-list": {"to-add": ["Mul", "Add"]}}')
    base = BASE.replace(
        "dump:\n", "  modify_mixlist: ops.json\ndump:\n  fusion_switch_file: my.cfg\n"
    )
    found = begin("--type", "Mul", base=base, passes=PASSES[:3])
    assert found["off"]["graph"] == PASSES[1:3]
    switch, lists = (json.loads(Path(file).read_text()) for file in found["files"][1:])
    off = {name for name, state in switch["Switch"]["GraphFusion"].items() if state == "off"}
    assert off == set(PASSES[:3])
    assert lists == {"black-list": {"to-add": ["Mul"]}, "white-list": {"to-add": ["Add"]}}
    assert Path("my.cfg").read_text().count("off") == 1
    Path("state.json").unlink()
    Path("my.cfg").write_text('{"Switch": {"GraphFusion": {"ALL": "off"}}}')
    nothing = npu("dump", "search", "state.json", "--config", "base.yaml", "--suspect", "X")
    assert (nothing.code, "no suspect is left" in nothing.err) == (1, True)


def test_verdicts(npu, begin):
    """A verdict counts once, for its run; another one is refused; the last is taken back."""
    first = begin(passes=PASSES[:4])
    assert begin(passes=PASSES[:4]) == first  # the same call once more, as after a kill
    call = ("dump", "search", "state.json")
    other = npu(*call, "--config", "base.yaml", "--suspect", PASSES[7])
    assert (other.code, "its suspects and its reference cannot be changed" in other.err) == (
        2,
        True,
    )
    assert search(npu, "--agrees", "1")["number"] == 2
    assert search(npu, "--agrees", "1")["number"] == 2
    wrong = npu(*call, "--diverges", "1")
    assert (wrong.code, "--undo" in wrong.err) == (2, True)
    late = npu(*call, "--agrees", "5")
    assert (late.code, "there is no run 5; run 2 is waiting for its verdict" in late.err) == (
        2,
        True,
    )
    assert search(npu, "--diverges", "2")["number"] == 3
    assert search(npu, "--undo")["number"] == 2
    both = npu(*call, "--undo", "--agrees", "1")
    assert both.code == 2
    search(npu, "--undo")
    end = npu(*call, "--diverges", "1")
    assert end.code == 0, end  # the precision mode is tried, too
    end = npu(*call, "--diverges", "2")
    assert (end.code, "NPU3012" in end.out) == (1, True)


def test_a_configuration_that_was_edited_is_not_overwritten(npu, begin):
    """What the user changed in a configuration of a run stays without --force."""
    found = begin(passes=PASSES[:4])
    Path(found["config"]).write_text("version: 1\n")
    refused = npu("dump", "search", "state.json")
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert Path(found["config"]).read_text() == "version: 1\n"
    assert npu("dump", "search", "state.json", "--force").code == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "{", "not JSON"),
        (lambda text: "[]", "not a STATE file of npu-config dump search"),
        (lambda text: text.replace('"runs": [', '"runs": [{}, ', 1), "not a STATE file"),
        (lambda text: text.replace('"number": 1', '"number": 7'), "not numbered from 1"),
        (
            lambda text: text.replace('"base_sha256": "', '"base_sha256": "0'),
            "has changed since the search",
        ),
        (
            lambda text: text.replace(PASSES[0] + '"\n', 'Mine"\n', 1),
            "not in the list of suspects",
        ),
    ],
)
def test_wrong_states(npu, begin, change, words):
    """Each is one finding with its place, and the state stays as it is."""
    begin(passes=PASSES[:1])
    state = Path("state.json")
    text = change(state.read_text())
    state.write_text(text)
    result = npu("dump", "search", "state.json")
    assert (result.code, result.out.count("NPU3011"), words in result.out) == (1, 1, True), result
    assert state.read_text() == text


def test_another_network_and_another_base(npu, begin, tmp_path):
    """A dump of other operators judges nothing; a base that changed ends the search."""
    device = Device(tmp_path / "dump", frozenset(PASSES[:1]), frozenset(["Exp"]))
    device.jobs = 20
    found = begin("--type", "Exp", passes=PASSES[1:3])
    device.job(Path(found["config"]))
    assert search(npu, "--dump", device.root)["number"] == 2
    other = Device(tmp_path / "other", frozenset(PASSES[4:5]))
    other.job(Path(found["config"]))
    refused = npu("dump", "search", "state.json", "--dump", other.root)
    assert (refused.code, "another network" in refused.out) == (1, True)
    Path("base.yaml").write_text(BASE + "  dump_step: 3\n")
    refused = npu("dump", "search", "state.json", "--agrees", "2")
    assert (refused.code, "NPU3011" in refused.out) == (1, True)


@pytest.mark.slow
def test_it_is_killed(begin, tmp_path):
    """Whenever the command is killed, the state is whole, and the search goes on."""
    found = begin(passes=PASSES[:3])
    device = Device(tmp_path / "dump", frozenset(PASSES[1:2]))
    chance = random.Random(1)
    command = [
        sys.executable,
        "-m",
        "npu_config",
        "dump",
        "search",
        "state.json",
        "--format",
        "json",
    ]
    root = str(Path(__file__).parents[2])
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    while found["state"] == "searching":
        verdict = "--agrees" if device.job(Path(found["config"])) else "--diverges"
        told = [*command, verdict, str(found["number"])]
        process = subprocess.Popen(told, stdout=subprocess.DEVNULL, env=env)
        time.sleep(chance.uniform(0.2, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        s.load_search("state.json")
        found = json.loads(
            subprocess.run(told, stdout=subprocess.PIPE, env=env, check=True).stdout
        )
    assert found["off"]["graph"] == PASSES[1:2]


def test_names_of_suspects(tmp_path, npu):
    """A slip of the pen is refused with the near name; what nothing is known of is noted."""
    (tmp_path / "base.yaml").write_text("dump:\n  dump_path: ./d\n")
    (tmp_path / "fusion_result.json").write_text(
        json.dumps(
            {
                "session_and_graph_id_0_0": {
                    "graph_fusion": {"MulAddPass": {"match_times": "1", "effect_times": "1"}}
                }
            }
        )
    )
    arguments = ("dump", "search", tmp_path / "s.json", "--config", tmp_path / "base.yaml")
    known = ("--fusion-result", tmp_path / "fusion_result.json")
    result = npu(*arguments, *known, "--suspect", "MulAddPas")
    assert (result.code, 'did you mean "MulAddPass"' in result.err) == (2, True), result
    assert not (tmp_path / "s.json").exists()
    result = npu(*arguments, "--suspect", "MulAddPas")
    assert "it is unknown whether these passes took effect: MulAddPas" in result.out
    assert "undecided: 1 (MulAddPas" in result.out or "MulAddPas, " in result.out
