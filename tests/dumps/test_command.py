"""``npu-config dump``: every command on the vectors, and what it says of wrong input."""

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from tests.cli.conftest import npu

DATA = Path(__file__).parents[1] / "data/dump"
NET = (DATA / "net/npu", DATA / "net/tf", "--graph", DATA / "net/graph")
__all__ = ["npu"]


def document(result):
    """What a command printed as JSON."""
    found = json.loads(result.out)
    assert found["version"] == 1
    return found


def test_list(npu):
    """Runs, devices, steps and operators; strays and missing files; files that are not whole."""
    result = npu("dump", "list", DATA / "tree")
    assert result.code == 0
    for words in (
        "20260102032045",
        "conv1/Conv2D",
        "the file name is a hash",
        "notes.txt",
        "gone.missing",
    ):
        assert words in result.out
    damaged = npu("dump", "list", DATA / "damaged", "--format", "json")
    assert damaged.code == 1
    found = document(damaged)
    assert 9 == len(found["files"]) == len(found["diagnostics"])
    assert {False} == {file["whole"] for file in found["files"]}
    some = npu("dump", "list", DATA / "tree", "--step", "5", "--type", "Conv*", "--device", "1")
    assert ("conv1_Relu" in some.out, "conv1_Conv2D" in some.out) == (False, True)
    limited = npu("dump", "list", DATA / "tree", "--limit", "2")
    assert "and 17 more" in limited.out


def test_list_of_nothing(npu, tmp_path):
    """An empty folder is a finding; a choice that fits nothing is a wrong call."""
    empty = npu("dump", "list", tmp_path)
    assert (empty.code, "NPU320" in empty.out) == (1, True)
    assert npu("dump", "list", tmp_path, "--format", "json").code == 1
    none = npu("dump", "list", DATA / "tree", "--step", "99")
    assert (none.code, "the steps 0, 5" in none.err) == (2, True)


def test_show(npu):
    """Header, statistics and histogram of a file; an operator is found by its name."""
    file = DATA / "dumps/Add.Default_Add-op0.2.7.1634155934514051"
    result = npu("dump", "show", file)
    assert result.code == 0
    assert "at the type's limit 2" in result.out
    named = npu("dump", "show", "conv1/Conv2D_fused", "--in", DATA / "net/npu")
    assert named.code == 0
    for words in ("conv1/Relu:0", "NC1HWC0 2x2x4x4x16, in the network 2x4x4x24", "zeros 50.5%"):
        assert words in named.out
    found = document(npu("dump", "show", file, "--format", "json"))
    (tensor,) = [t for t in found["files"][0]["tensors"] if t["side"] == "output"][:1]
    assert tensor["statistics"]["maximum"] == 65504


def test_show_of_what_is_not_decoded(npu):
    """Types that are not documented are shown as bytes."""
    result = npu("dump", "show", DATA / "dumps/Cast.dtypes_dt_int4.28.3.1767323045000028")
    assert (result.code, "bytes 00 01 02" in result.out) == (0, True)


def test_show_of_tables_and_records(npu):
    """Statistics are shown as a table, records of overflows in words."""
    folder = DATA / "tree/dump/20260102030405/0/ge_default_20260102030405_1/1/5"
    table = npu("dump", "show", folder / "Mul.stats_mul.8.2.1767323045000100.csv")
    assert (table.code, "Max Value" in table.out) == (0, True)
    record = npu("dump", "show", "Node_OpDebug", "--in", DATA / "overflow", "--step", "1")
    assert "0x100 float32 or int32 converted to float16" in record.out


def test_show_of_wrong_things(npu):
    """A damaged file is shown as far as it goes, with code 1; a name that is none is a hint."""
    cut = npu("dump", "show", DATA / "damaged/Add.payload_cut.1.1.1767323045000000")
    assert cut.code == 1
    assert "DT_FLOAT ND 4x3" in cut.out
    assert "NPU314" in cut.out
    wrong = npu("dump", "show", "conv1_Rely", "--in", DATA / "tree")
    assert (wrong.code, 'did you mean "conv1_Relu"' in wrong.err) == (2, True)


def test_export(npu, tmp_path):
    """Tensors and an index; again is no fault; another folder is not touched."""
    for _ in range(2):
        result = npu("dump", "export", DATA / "net/npu", tmp_path / "out")
        assert (result.code, "tensors exported: 19, not exported: 0" in result.out) == (0, True)
    with (tmp_path / "out/index.csv").open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 19
    one = npu("dump", "export", DATA / "net/npu", tmp_path / "one", "--select", "probs/*")
    assert "tensors exported: 2," in one.out
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a").write_text("mine")
    refused = npu("dump", "export", DATA / "net/npu", tmp_path / "mine")
    assert (refused.code, "not from an export" in refused.err) == (2, True)
    damaged = npu("dump", "export", DATA / "damaged", tmp_path / "damaged")
    assert damaged.code == 1


def test_overflow(npu, tmp_path):
    """Every overflow with words and advice; reports, mixlist and next configuration."""
    files = {name: tmp_path / name for name in ("o.html", "o.json", "ops_info.json", "next.yaml")}
    result = npu(
        "dump", "overflow", DATA / "overflow",
        "--html", files["o.html"], "--json", files["o.json"],
        "--write-mixlist", tmp_path / "m.json", "--next-config", files["next.yaml"],
    )  # fmt: skip
    assert result.code == 1
    for words in ("1. loss/mul (Mul), step 0", "computed here", "(uncertain)", "15 overflows"):
        assert words in result.out
    assert len(json.loads(files["o.json"].read_text())["overflows"]) == 15
    page = files["o.html"].read_text()
    assert "<!DOCTYPE html>" in page
    assert not re.search(r"(src|href)\s*=", page)
    assert json.loads((tmp_path / "m.json").read_text()) == {"black-list": {"to-add": ["Mul"]}}
    config = files["next.yaml"].read_text()
    for words in ("enable_dump_debug: true", "modify_mixlist:", "dump_path: "):
        assert words in config
    assert files["ops_info.json"].exists()
    assert npu("check", files["next.yaml"]).code == 0
    again = npu("dump", "overflow", DATA / "overflow", "--html", files["o.html"])
    assert (again.code, "--force" in again.err) == (2, True)
    assert (
        len(document(npu("dump", "overflow", DATA / "overflow", "--format", "json"))["overflows"])
        == 15
    )
    found = document(npu("dump", "overflow", DATA / "overflow", "--format", "json"))
    assert {finding["rule"] for finding in found["diagnostics"]} == {"NPU322"}


def test_no_overflow(npu):
    """A dump without records is fine."""
    result = npu("dump", "overflow", DATA / "tree")
    assert (result.code, "no overflow" in result.out) == (0, True)


def test_compare(npu, tmp_path):
    """The table, the first operator, the reports, and the next configuration."""
    table, page, config = (tmp_path / name for name in ("r.csv", "r.html", "n/next.yaml"))
    config.parent.mkdir()
    result = npu("dump", "compare", *NET, "--csv", table, "--html", page, "--next-config", config)
    assert result.code == 1
    assert "whose outputs differ: dense/MatMul_fused" in result.out
    assert "x -> trans_TransData_0 -> conv1/Conv2D_fused" in result.out
    with table.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][:6] == ["Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth"]
    assert len(rows) == 20
    assert '"conv1/Conv2D,conv1/BiasAdd,conv1/Relu"' in table.read_text()
    text = page.read_text()
    assert "<svg" in text
    assert "dense/MatMul_fused" in text
    assert not re.search(r"(src|href)\s*=", text)
    assert 'dump_layer: "dense/MatMul dense/BiasAdd"' in config.read_text()
    assert "MatMulBiasAddFusionPass" in (tmp_path / "n/fusion_switch.cfg").read_text()
    assert npu("check", config).code == 0
    found = document(npu("dump", "compare", *NET, "--format", "json"))
    assert (found["first_diverging"], len(found["rows"])) == ("dense/MatMul_fused", 19)
    (finding,) = found["diagnostics"]
    assert finding["rule"] == "NPU329"
    assert "dense/MatMul_fused" in finding["message"]
    low = npu("dump", "compare", *NET, "--threshold", "0.5", "--all")
    assert (low.code, "input:0" in low.out) == (0, True)
    ignored = npu("dump", "compare", *NET, "--ignore", "[dpt]*")
    assert (ignored.code, "ignored" in ignored.out) == (0, True)


def test_compare_of_wrong_things(npu, tmp_path):
    """Swapped sides, an empty folder, a graph that is none: code 1, one finding each."""
    swapped = npu("dump", "compare", DATA / "net/tf", DATA / "net/npu")
    assert (swapped.code, "reference second" in swapped.out) == (1, True)
    empty = npu("dump", "compare", tmp_path, DATA / "net/tf")
    assert (empty.code, "NPU320" in empty.out) == (1, True)
    graph = npu("dump", "compare", *NET[:2], "--graph", DATA / "net/expected.json")
    assert (graph.code, "NPU323" in graph.out) == (1, True)
    missing = npu("dump", "compare", tmp_path / "no", DATA / "net/tf")
    assert (missing.code, "does not exist" in missing.err) == (2, True)
    assert npu("dump", "compare", *NET, "--threshold", "7").code == 2
    late = npu("dump", "compare", *NET, "--next-config", tmp_path / "x.txt")
    assert late.code == 2


def test_result(npu, tmp_path):
    """Tables of both generations; one that agrees; one that is none."""
    npu("dump", "compare", *NET, "--csv", tmp_path / "r.csv")
    result = npu("dump", "result", tmp_path / "r.csv")
    assert result.code == 1
    assert "5 of 19" in result.out
    assert "dense/MatMul_fused" in result.out
    assert npu("dump", "result", tmp_path / "r.csv", "--threshold", "0.5").code == 0
    found = document(npu("dump", "result", tmp_path / "r.csv", "--format", "json"))
    assert found["first_diverging"] == "dense/MatMul_fused"
    bad = npu("dump", "result", DATA / "net/expected_compare.csv")
    assert (bad.code, "NPU331" in bad.out) == (1, True)


def test_names_are_escaped(npu, tmp_path):
    """A name that holds control characters or markup is text in the terminal and in HTML."""
    evil = "<script>alert(1)</script>\x1b[31m\"'&"
    for side, values in (("one", [1.0, 2.0]), ("two", [2.0, -1.0])):
        folder = w.step_folder(tmp_path / side)
        tensors = [w.array("output", numpy.array(values, "f4"))]
        path = folder / "Add.x.1.2.1767323045000000"
        path.write_bytes(w.dump(evil, tensors))
    page = tmp_path / "r.html"
    result = npu("dump", "compare", tmp_path / "one", tmp_path / "two", "--html", page)
    assert result.code == 1
    assert "\x1b" not in result.out
    assert evil not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()


WITHOUT = """
import sys
from html.parser import HTMLParser
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numpy":
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from npu_config.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("list", DATA / "tree"), 0, "conv1/Conv2D"),
        (("show", DATA / "dumps/Add.corners_unpacked.1.1.1767323045000003"), 0, "4x3"),
        (("overflow", DATA / "overflow"), 1, "0x20 floating"),
        (("overflow", DATA / "overflow", "--graph", DATA / "net/graph"), 1, "loss/mul"),
        (("result", DATA / "../dump/net/expected_compare.csv"), 1, "NPU331"),
        (("compare", *NET), 2, "npu_config[compare]"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_without_numpy(arguments, code, words):
    """Headers, lists, overflows and graphs work without numpy; the rest says what is missing."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "dump", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    text = done.stdout.decode()
    assert "Traceback" not in text
    assert (code, True) == (done.returncode, words in text), text


def test_export_of_plain_layouts_without_numpy(tmp_path):
    """Tensors without blocks are exported by copying their bytes."""
    source = tmp_path / "in"
    values = numpy.arange(6, dtype="f4").reshape(2, 3)
    w.operator(w.step_folder(source), "a", [w.array("output", values, original=(2, 3))])
    out = tmp_path / "out"
    command = [sys.executable, "-c", WITHOUT, "dump", "export", str(source), str(out)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()
    (file,) = out.rglob("*.npy")
    numpy.testing.assert_array_equal(values, numpy.load(str(file)))


class _Tags(HTMLParser):
    """Keeps the tags that are open, and refuses those that are closed wrongly."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        """One more is open, unless it never is."""
        self.seen.add(tag)
        if tag not in ("meta", "line", "circle", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """It is closed already."""
        self.seen.add(tag)

    def handle_endtag(self, tag):
        """The last one that was opened is closed."""
        if tag not in ("meta", "line", "circle", "polyline"):
            assert tag == self.open.pop()


def test_pages_are_whole(npu, tmp_path):
    """Both pages close every tag, sort and chart without anything from elsewhere."""
    npu("dump", "compare", *NET, "--html", tmp_path / "c.html")
    npu("dump", "overflow", DATA / "overflow", "--html", tmp_path / "o.html")
    for name, tags in (("c.html", {"svg", "polyline", "table", "script"}), ("o.html", {"table"})):
        text = (tmp_path / name).read_text()
        parser = _Tags()
        parser.feed(text)
        assert (parser.open, tags <= parser.seen) == ([], True)
        assert "http" not in text
        assert "onclick" in text


def test_the_page_of_a_comparison(npu, tmp_path):
    """Verdict, counts and limits are text; rows are data, each text once; nothing is markup."""
    npu("dump", "compare", *NET, "--max-rel", "0.1", "--html", tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    for words in (
        "whose outputs differ: dense/MatMul_fused",
        "10 agrees, 5 diverges, 4 not compared",
        "step 0, device 0, model ge_default_20260102030405_1, run 20260102030405",
        "limits: cosine 0.98, largest relative difference: 0.1",
        "npu_config 0.",
        'lang="en"',
    ):
        assert words in page
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    data = json.loads(found.group(1))
    assert len(data["rows"]) == 19
    assert len(data["strings"]) == len(set(data["strings"]))
    worst = [row[10] for row in data["rows"] if row[10]]
    assert (len(worst[0]) > 0, worst[0][0][0][0]) == (True, "[")
    npu("--lang", "zh", "dump", "compare", *NET, "--html", tmp_path / "zh.html")
    assert 'lang="zh"' in (tmp_path / "zh.html").read_text("utf-8")


def test_many_rows_as_json_and_in_a_narrow_terminal(npu, tmp_path, monkeypatch):
    """JSON piece by piece is one document; in 80 columns no verdict is cut."""
    npu("dump", "compare", *NET, "--json", tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["version"], len(found["rows"])) == (1, 19)
    assert [part["first_diverging"] for part in found["parts"]] == ["dense/MatMul_fused"]
    monkeypatch.setenv("COLUMNS", "80")
    lines = npu("dump", "compare", *NET, "--all").out.split("\n\n")[1].splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if re.match(r"\d+ ", line)]
    assert (len(rows), all(re.search("agrees|diverges|not compared", row) for row in rows)) == (
        19,
        True,
    )


def test_a_table_without_a_number(npu, tmp_path):
    """A result table in which nothing was compared is not clean."""
    (tmp_path / "r.csv").write_text(
        "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity\n0,a,a,a:output:0,NaN\n1,b,*,NaN,NaN\n"
    )
    result = npu("dump", "result", tmp_path / "r.csv")
    assert (result.code, "nothing was compared" in result.out) == (1, True)


def test_the_page_names_every_option():
    """docs/dumps.md shows each command with exactly the options that it has."""
    from npu_config.cli.dump import command

    page = (DATA.parents[2] / "docs/dumps.md").read_text()
    for name, each in command.commands.items():
        (line,) = re.findall(r"^`npu-config dump {} .*`$".format(name), page, re.M)
        options = {option for param in each.params for option in param.opts if option[:2] == "--"}
        assert options - {"--format", "--lang"} == set(re.findall(r"--[a-z-]+", line))


COLUMNS = "run,file,node,output,occurrence,debug_op,device,dtype,shape,time_us,status"


@pytest.mark.parametrize("where", ["/", "../outside/", "b/../../outside/", ""])
def test_an_index_that_leads_out_of_its_folder(npu, tmp_path, where):
    """A line of index.csv that names a file elsewhere, or none, is no line of it."""
    values = numpy.arange(4, dtype="f4")
    w.operator(w.step_folder(tmp_path / "npu"), "a", [w.array("output", values)])
    for folder in ("outside", "reference"):
        (tmp_path / folder).mkdir()
        numpy.save(str(tmp_path / folder / "a.npy"), values)
    (tmp_path / "reference" / "b").mkdir()
    prefix = str(tmp_path / "outside") + "/" if where == "/" else where
    lines = {
        "named": prefix + "a.npy" if where else "",
        "right": "a.npy",
    }
    for name, file in lines.items():
        line = "0,{},a,0,0,output,,float32,4,1,ok".format(file)
        (tmp_path / "reference" / "index.csv").write_text(COLUMNS + "\n" + line + "\n")
        result = npu("dump", "compare", tmp_path / "npu", tmp_path / "reference")
        assert (result.code, "agrees" in result.out) == (int(name == "named"), name == "right")
        assert ("NPU327" in result.out) is (name == "named")
