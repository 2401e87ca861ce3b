"""The other commands, and what all have in common."""

import json
import os
import re
import stat
import subprocess
import sys
import textwrap

import pytest
import yaml

from npu_config.__main__ import main
from npu_config.catalogue import OPTIONS
from npu_config.cli import _topics
from npu_config.cli.app import COMMANDS
from npu_config.config import NpuConfig
from npu_config.core.message import LANGUAGES
from npu_config.migration.facts import facts as migration_facts
from npu_config.readers import read
from npu_config.rulebook import load_all
from npu_config.writers import FORMATS
from tests.forks import ended
from tools import topics

# generate


@pytest.mark.parametrize("to", ["yaml", "toml", "json", "pbtxt", "pb"])
def test_generate_round_trip(npu, good, tmp_path, to):
    """Into a file and back; bytes cannot say what the target is."""
    out = tmp_path / ("out." + to)
    result = npu("generate", good, "--to", to, "-o", out)
    assert result[:2] == (0, "")
    assert ("--target atlas_a2" in result.err) == (to == "pb")
    again = NpuConfig.load(out)
    assert again.options == NpuConfig.load(good).options
    if not to.startswith("pb"):
        assert again.target == NpuConfig.load(good).target


@pytest.mark.parametrize("name", ["bad.yaml", "none.yaml"])
def test_generate_says_that_nothing_is_written(npu, bad, tmp_path, name):
    """A configuration with errors is not generated, which is said."""
    (tmp_path / "none.yaml").write_text("\0")
    result = npu("generate", tmp_path / name, "-o", tmp_path / "a.pbtxt")
    assert (result.code, result.err.splitlines()[-1]) == (1, "nothing is written")
    assert not (tmp_path / "a.pbtxt").exists()


def test_diagnose_a_directory_without_a_graph(npu, tmp_path):
    """One finding, which holds no other."""
    result = npu("diagnose", tmp_path)
    assert result.code == 1
    assert "error: no saved_model.pb, *.meta or graph.pbtxt in this directory" in result.out
    assert "1 error in" in result.out.splitlines()[-1]


def test_headings_in_chinese(npu, tmp_path):
    """Columns stand below their headings, which take two columns for each character."""
    table = tmp_path / "rank_table.json"
    npu("ranktable", "build", "--server", "10.0.0.1", "--devices", "2", "--device-ips",
        "10.20.0.2", "--target", "atlas_training", "-o", table)  # fmt: skip
    lines = npu("ranktable", "show", "--lang", "zh", table).out.splitlines()
    assert lines[-3:] == [
        "rank  服务器    设备  地址",
        "0     10.0.0.1  0     10.20.0.2",
        "1     10.0.0.1  1     10.20.0.3",
    ]


@pytest.mark.parametrize("to", [name for name in FORMATS if name != "pb"])
def test_generate_prints(npu, good, to):
    """To standard output, text alone."""
    result = npu("generate", good, "--to", to)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\n")


def test_generate_bytes_to_a_pipe(good, capsysbinary):
    """As they are."""
    assert main(["generate", str(good), "--to", "pb"]) == 0
    assert capsysbinary.readouterr().out == NpuConfig.load(good).to_bytes()


def test_generate_prints_no_bytes_to_a_terminal(npu, good, monkeypatch):
    """It would be garbled."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    result = npu("generate", good, "--to", "pb")
    assert result.code == 2
    assert "use -o FILE" in result.err


def test_generate_by_the_suffix(npu, good, tmp_path):
    """Without --to, the output says what is wanted."""
    assert npu("generate", good, "-o", tmp_path / "x.pbtxt").code == 0
    assert "NpuOptimizer" in (tmp_path / "x.pbtxt").read_text()
    assert npu("generate", good, "-o", tmp_path / "x.txt").code == 2
    assert npu("generate", good).code == 2


def test_generate_refuses_errors(npu, bad, tmp_path):
    """Findings go to standard error, nothing is written."""
    out = tmp_path / "out.pbtxt"
    result = npu("generate", bad, "--to", "pbtxt", "-o", out)
    assert (result.code, result.out) == (1, "")
    assert "NPU104" in result.err
    assert not out.exists()


def test_generate_tells_warnings(npu, tmp_path):
    """And goes on; what is merely worth knowing is left out."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\nsoc_config: x\nop_debug_level: 0\n")
    result = npu("generate", path, "--to", "json")
    assert result.code == 0
    assert json.loads(result.out)["internal"] == {"soc_config": "x"}
    assert "warning: " in result.err
    assert "info: " not in result.err


def test_generate_reports_what_is_lost(npu, tmp_path):
    """NPURunConfig cannot carry everything."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\nuse_off_line: false\n")
    result = npu("generate", path, "--to", "run-config")
    assert (result.code, result.out) == (1, "")
    assert '"use_off_line" is lost in NPURunConfig' in result.err


def test_generate_from_a_proto(npu, tmp_path):
    """What stands around the options is not carried over, and is no reason to refuse."""
    path = tmp_path / "x.pbtxt"
    path.write_text(
        "graph_options { rewrite_options { custom_optimizers { name: 'NpuOptimizer' "
        "parameter_map { key: 'hccl_timeout' value { i: 1800 } } } } }"
    )
    assert npu("check", path).code == 1
    assert npu("generate", path, "--to", "toml") == (
        0,
        "version = 1\n\n[timeouts]\nhccl_timeout = 1800\n",
        "",
    )


def test_generate_from_a_proto_without_our_optimizer(npu, tmp_path):
    """Nothing is written: there is nothing of NpuOptimizer."""
    path = tmp_path / "x.pbtxt"
    path.write_text(
        "graph_options { rewrite_options { custom_optimizers { name: 'NpuOptimiser' "
        "parameter_map { key: 'hccl_timeout' value { i: 1800 } } } } }"
    )
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.out) == (1, "")
    assert 'the optimizer is named "NpuOptimiser"' in result.err
    path.write_text("allow_soft_placement: true")
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.out) == (1, "")
    assert 'no custom optimizer is named "NpuOptimizer"' in result.err


def test_generate_from_standard_input(npu):
    """``-``."""
    result = npu("generate", "-", "--to", "toml", "--as", "json", stdin=b'{"hccl_timeout": 1}')
    assert result.code == 0
    assert "hccl_timeout = 1" in result.out


def test_generate_with_a_target(npu, good):
    """It is written, too."""
    result = npu("generate", good, "--to", "json", "--target", "atlas_a3", "--mode", "training")
    assert json.loads(result.out)["target"] == {"product": "atlas_a3", "mode": "training"}


SCRIPT = """\
import os
import sys
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
custom_op.parameter_map["hccl_timeout"].i = int(os.environ["TIMEOUT"])
if len(sys.argv) > 1:
    custom_op.parameter_map["enable_exception_dump"].i = 1
with tf.Session(config=config) as sess:
    sess.run(train_op)
"""


@pytest.mark.parametrize("to", ["yaml", "toml", "pbtxt", "python"])
def test_generate_from_a_script(npu, tmp_path, to):
    """What is certain becomes the configuration, the rest a comment."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    result = npu("generate", path, "--to", to)
    assert result.code == 0, result
    comments = [line for line in result.out.splitlines() if line.startswith("# ")]
    assert [line for line in comments if "npu_bridge" not in line] == [
        "# Not written:",
        "# enable_exception_dump: 1 when len(sys.argv) > 1 (line 11); otherwise not set",
        '# hccl_timeout: known at run time only, int(os.environ["TIMEOUT"]) (line 9)',
    ]
    if to != "python":
        reading = read("x." + to, None, result.out)
        assert {n: s.value for n, s in reading.settings[0].entries.items()} == {
            "precision_mode": "allow_mix_precision"
        }
        assert reading.diagnostics == ()


@pytest.mark.parametrize(("to", "other"), [("json", "yaml or toml"), ("pb", "pbtxt")])
def test_generate_from_a_script_without_comments(npu, tmp_path, to, other):
    """A format that cannot say what is not certain does not drop it: it is refused."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    result = npu("generate", path, "--to", to)
    assert (result.code, result.out) == (1, "")
    assert "train.py:9:" in result.err
    assert (
        "cannot contain comments, so this would be lost: hccl_timeout: known at run time only"
        in result.err
    )
    assert "write {}, which can hold the unknown value as a comment".format(other) in result.err


def test_generate_from_a_script_with_an_error(npu, tmp_path):
    """Nothing is written; the finding names the line of the script."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.replace("allow_mix_precision", "nonsense"))
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.out) == (1, "")
    assert "train.py:8:" in result.err
    path.write_text("print(1)\n")
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, "sets no option" in result.err) == (1, True)
    path.write_text("print 'Python 2'\nNpuOptimizer\n")
    assert npu("generate", path, "--to", "yaml").code == 1


def test_generate_from_a_script_with_a_wrong_field(npu, tmp_path):
    """The finding is that of ``check``."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT + 'custom_op.parameter_map["iterations_per_loop"].s = b"10"\n')
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.out) == (1, "")
    assert 'write parameter_map["iterations_per_loop"].i = 10' in result.err
    assert "NPU103" not in result.err


@pytest.mark.parametrize("to", ["yaml", "run-config", "pbtxt"])
def test_generate_from_a_run_config(npu, tmp_path, to):
    """What NPURunConfig sets by itself is set."""
    path = tmp_path / "train.py"
    start = "from npu_bridge.npu_init import *\n"
    path.write_text(start + "run_config = NPURunConfig(iterations_per_loop=10)\n")
    result = npu("generate", path, "--to", to)
    assert (result.code, result.err) == (0, "")
    assert "enable_data_pre_proc" in result.out
    given = "NPURunConfig(iterations_per_loop=10, enable_data_pre_proc=False)\n"
    path.write_text(start + "run_config = " + given)
    assert npu("generate", path, "--to", to).code == 1


def test_generate_from_arguments_that_are_not_known(npu, tmp_path):
    """What may be set at run time is not missing: no rule says that it is not set."""
    path = tmp_path / "train.py"
    start = "import sys\nfrom npu_bridge.npu_init import *\n"
    path.write_text(start + "config = NPURunConfig(iterations_per_loop=10, **vars(sys))\n")
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.err) == (0, "")
    assert "\n# iterations_per_loop: 10 (line 3); " in result.out  # alone it would be an error
    assert "[NPU402]" in result.out
    assert "may set more options" in result.out
    known = "config = NPURunConfig(iterations_per_loop=10, enable_data_pre_proc={})\n"
    path.write_text(start + known.format("sys.argv[1]"))
    result = npu("generate", path, "--to", "yaml")
    assert (result.code, result.err) == (0, "")
    assert "# enable_data_pre_proc: known at run time only, sys.argv[1] (line 3)" in result.out


def test_diff_of_a_script_says_what_to_do(npu, tmp_path):
    """A script is no configuration; ``generate`` makes one of it."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    result = npu("diff", path, path)
    assert "npu-config generate {} -o config.yaml".format(path) in result.err


def test_generate_from_nothing(npu, tmp_path):
    """A file that does not exist."""
    result = npu("generate", tmp_path / "nope.yaml", "--to", "json")
    assert (result.code, result.out) == (2, "")
    assert "nope.yaml does not exist" in result.err


@pytest.mark.parametrize("command", [["init"], ["schema"], ["generate", None, "--to", "json"]])
def test_files_are_not_overwritten(npu, good, tmp_path, command):
    """Unless --force is given; then the permissions stay."""
    out = tmp_path / "out.txt"
    out.write_text("mine")
    out.chmod(0o600)
    arguments = [good if word is None else word for word in command]
    result = npu(*arguments, "-o", out)
    assert result.code == 2
    assert "--force overwrites it" in result.err
    assert out.read_text() == "mine"
    assert npu(*arguments, "-o", out, "--force").code == 0
    assert out.read_text() != "mine"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.parametrize("where", ["nope/out.yaml", "."])
def test_files_that_cannot_be_written(npu, tmp_path, where):
    """A missing folder, a folder in the place of the file."""
    result = npu("init", "-o", tmp_path / where, "--force")
    assert result.code == 2
    assert "cannot be written" in result.err


# explain


@pytest.mark.parametrize("words", [["overflow"], ["NPU104"], ["no_such_word"], ["--list"]])
def test_explain_imports_no_rules(words):
    """A search is answered from that file: neither rules nor the catalogue are imported."""
    code = (
        "import sys; from npu_config.__main__ import main; main(sys.argv[1:]);"
        "print(sorted(m for m in sys.modules if m.startswith(('npu_config.rule', "
        "'npu_config.script', 'npu_config.catalogue', 'npu_config.migration', 'google.p'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "explain", *words], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_explain_options(npu, name):
    """Every option has a page, with an example that can be used."""
    result = npu("explain", name)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("# {}\n\n{}".format(name, OPTIONS[name].summary))
    example = re.search(
        r"In a configuration file:\n\n(.*?)\n\nIn a script:", result.out, re.DOTALL
    )
    reading = read("x.yaml", None, "version: 1\n" + textwrap.dedent(example.group(1)) + "\n")
    assert reading.diagnostics == ()
    OPTIONS[name].kind.parse(reading.settings[0].entries[name].value)


def test_explain_rules(npu):
    """Every rule has a page, by id and by name."""
    for rule in load_all():
        by_id = npu("explain", rule.id.lower())
        by_name = npu("explain", "--kind", "rule", rule.name)
        assert (by_id.code, by_id.out) == (0, by_name.out)
        assert npu("explain", rule.name).out.startswith(by_id.out)
        assert by_id.out.startswith("# {} {}\n".format(rule.id, rule.name))


@pytest.mark.parametrize(
    ("word", "meant"),
    [("dumpstep", "dump_step"), ("NPU1044", "NPU104"), ("xyzzy", None)],
)
def test_explain_what_does_not_exist(npu, word, meant):
    """Exit code 2, with a word on what may have been meant."""
    result = npu("explain", word)
    assert (result.code, result.out) == (2, "")
    assert '"{}" is not the name of an option or a rule'.format(word) in result.err
    assert ("did you mean" in result.err) is (meant is not None)
    if meant is not None:
        assert meant in result.err


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("iteration_per_loop", "iterations_per_loop"),
        ("dump_stp", "dump_step"),
        ("RANK_IDS", "RANK_ID"),
        ("yaml-trp", "NPU705 yaml-trap"),
    ],
)
def test_explain_a_misspelt_name(npu, word, name):
    """A name that is one or two letters off is explained; standard error says so."""
    result = npu("explain", word)
    assert result.code == 0
    assert result.out.startswith("# {}\n".format(name))
    assert 'there is no name "{}"; showing "{}"'.format(word, name.split()[-1]) in result.err


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("exit codes", "guide     command-line#exit-codes"),
        ("退出码", "guide     command-line#exit-codes"),
        ("noqa", "guide     checking-scripts"),
        ("suppress", "guide     checking-scripts"),
        ("which product", "guide     versions"),
        ("迭代下沉", "option    iterations_per_loop"),
        ("溢出检测功能", "option    enable_dump_debug"),
        ("资源配置文件", "variable  RANK_TABLE_FILE"),
        ("断点续训", "rule      NPU810"),
        ("集合通信失败", "option    hccl_timeout"),
        ("报错", "guide     logs"),
        ("inf", "rule      NPU2007"),
        ("port", "rule      NPU655"),
        ("blacklist", "option    precision_mode_v2"),
        ("训练报错怎么办", "guide     logs"),
        ("SIGKILL exit 137", "guide     logs"),
        ("fp16", "option    precision_mode_v2"),
        ("how do I use 8 devices", "guide     distributed"),
        ("set random seed", "option    deterministic"),
    ],
)
def test_explain_finds_words_of_both_languages(npu, language, words, first):
    """What users search for finds its option, rule or section, whatever language is spoken."""
    result = npu("--lang", language, "explain", words)
    assert result.code == 0
    assert result.out.startswith(first)


def test_a_chinese_word_within_another(npu):
    """Where the word itself finds something, longer words that hold it do not count."""
    assert "static_memory_policy" not in npu("explain", "溢出").out
    assert "static_memory_policy" in npu("explain", "内存溢出").out


def test_a_letter_is_no_word(npu):
    """What is in every page is not searched for; one sign of Chinese is a word."""
    assert npu("explain", "--", "-x").code == 2
    assert npu("explain", "内").code == 0


def test_search_words_lead_somewhere():
    """Every target of tools/search_words.yaml is something that explain knows."""
    known = {name for topic in _topics.topics() for name in (topic.name, *topic.also)}
    with open(topics.SEARCH_WORDS, encoding="utf-8") as stream:
        assert {name for targets in yaml.safe_load(stream).values() for name in targets} <= known


def test_explain_searches(npu):
    """A word that is not a name finds what is about it, the nearest first."""
    result = npu("explain", "overflow")
    assert result.code == 0
    assert re.search(r"^option +enable_dump_debug ", result.out, re.MULTILINE)
    assert re.search(r"^rule +NPU304 +overflow-mode-without-detection: ", result.out, re.MULTILINE)
    found = npu("explain", "iterations").out
    assert found.splitlines()[0].split()[1] == "iterations_per_loop"
    assert npu("explain", "loss-scale-overflows").out.startswith("# NPU281 ")
    assert npu("explain", "iterations-per-loop").out.startswith("# iterations_per_loop")
    assert npu("explain", "drop_remainder").out.startswith("rule      NPU482 ")


def test_explain_a_name_of_another_kind(npu):
    """A rule is no option; it is said what it is, and not proposed for itself."""
    found = npu("explain", "--kind", "option", "NPU104")
    assert found.code == 2
    assert '"NPU104" is of the kind rule; leave out "--kind option"' in found.err


@pytest.mark.parametrize("fact", migration_facts())
def test_explain_facts_of_migrations(npu, fact):
    """Every id of the report of ``migrate`` is explained: what it is, and what is done."""
    result = npu("explain", fact)
    assert result.code == 0
    assert (
        "# {}\n\nHow npu-config migrate handles: {}.\n".format(fact, migration_facts()[fact].title)
        in result.out
    )
    assert migration_facts()[fact].details
    assert "/migration.html#" + fact in result.out


def test_explain_writes_names_as_markdown_does(npu):
    """Names are in single backticks, in lists, pages and JSON; docstrings have double ones."""
    for arguments in (
        ["--list"],
        ["NPU402"],
        ["--format", "json", "NPU402"],
        ["iterations_per_loop"],
    ):
        assert re.search("(?<!`)``(?!`)", npu("explain", *arguments).out) is None


def test_explain_a_name_of_two_things(npu):
    """An option goes before what migrate calls alike; a kind says which of them is meant."""
    pages = npu("explain", "precision-mode").out
    assert pages.startswith("# precision_mode\n")
    assert "\n# precision-mode\n" in pages
    only = npu("explain", "--kind", "migration", "precision-mode").out
    assert only.startswith("# precision-mode\n")
    listed = npu("explain", "--list", "--kind", "migration").out.splitlines()
    assert [line.split()[1] for line in listed] == list(migration_facts())
    (topic,) = json.loads(npu("explain", "--format", "json", "hvd-rank").out)["topics"]
    assert (topic["kind"], topic["group"]) == ("migration", "horovod")
    assert topic["before"] == migration_facts()["hvd-rank"].details["before"]


def test_explain_several_names(npu):
    """One page after the other; what is unknown is said in the end."""
    result = npu("explain", "dump_step", "NPU104", "RANK_ID", "dump_config")
    assert result.code == 0
    heads = [line for line in result.out.splitlines() if line.startswith("# ")]
    assert heads == [
        "# dump_step",
        "# NPU104 value-not-allowed",
        "# RANK_ID",
        "# NPURunConfig: dump_config",
    ]
    result = npu("explain", "dump_step", "xyzzy")
    assert (result.code, result.out.splitlines()[0]) == (2, "# dump_step")


def test_explain_lists(npu):
    """Every option, rule, environment variable and argument of NPURunConfig."""
    lines = npu("explain", "--list").out.splitlines()
    names = {tuple(line.split()[:2]) for line in lines}
    assert {("option", name) for name in OPTIONS} <= names
    assert {("rule", rule.id) for rule in load_all()} <= names
    assert ("variable", "RANK_TABLE_FILE") in names
    assert ("argument", "NPURunConfig.dump_config.dump_step") in names
    only = npu("explain", "--list", "--kind", "variable").out.splitlines()
    assert {line.split()[0] for line in only} == {"variable"}
    assert npu("explain").code == 2


def test_explain_as_json(npu):
    """For editors: the facts beside the page."""
    document = json.loads(npu("explain", "--format", "json", "dump_mode", "NPU104").out)
    option, rule = document["topics"]
    assert document["version"] == 1
    assert (option["kind"], option["wire"], option["legal"]) == (
        "option",
        "s",
        "input, output, all",
    )
    assert (rule["name"], rule["also"], rule["severity"]) == (
        "NPU104",
        ["value-not-allowed"],
        "error",
    )
    assert rule["page"].startswith("# NPU104")
    everything = json.loads(npu("explain", "--list", "--format", "json").out)["topics"]
    assert len(everything) > 400
    assert "page" not in everything[0]


def test_explain_a_former_name(npu):
    """What became of it."""
    result = npu("explain", "master_slave_mode")
    assert result.code == 0
    assert "only older adapters read this option" in result.out


def test_explain_on_a_terminal(npu, monkeypatch):
    """Formatted, if rich is there; plain, if it is not."""
    pytest.importorskip("rich")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    formatted = npu("explain", "dump_step")
    assert formatted.code == 0
    assert not formatted.out.startswith("# dump_step")
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert npu("explain", "dump_step").out.startswith("# dump_step")


# init, schema, diff


def test_init_and_schema(npu, tmp_path):
    """Their output can be used at once."""
    assert npu("init", "-o", tmp_path / "x.yaml").code == 0
    assert npu("check", tmp_path / "x.yaml").code == 0
    assert json.loads(npu("schema").out)["properties"]["version"] == {"const": 1}


def test_diff(npu, tmp_path, good):
    """What changed, was added and taken away; the target is not an option."""
    other = tmp_path / "other.toml"
    other.write_text(
        'version = 1\ntarget.product = "atlas_a3"\nhccl_timeout = 1800\n'
        'precision_mode = "force_fp32"\n[dump]\ndump_step = [0, 5]\n'
    )
    result = npu("diff", good, other)
    assert result.code == 1
    assert result.out.splitlines()[2:] == [
        "-precision_mode: allow_mix_precision",
        "+precision_mode: force_fp32",
        '+dump_step: "0|5"',
    ]


def test_diff_compares_values(npu, tmp_path):
    """Not spellings: flat or grouped, text or list, YAML or JSON."""
    (tmp_path / "a.yaml").write_text("dump_step: 0|5-8\nhccl_timeout: 0x708\n")
    (tmp_path / "b.json").write_text(
        '{"timeouts": {"hccl_timeout": 1800}, "dump_step": [0, [5, 8]]}'
    )
    assert npu("diff", tmp_path / "a.yaml", tmp_path / "b.json") == (0, "", "")
    (tmp_path / "c.yaml").write_text("enable_dump: true\n")
    (tmp_path / "d.yaml").write_text("enable_dump: 1\n")
    assert npu("diff", tmp_path / "c.yaml", tmp_path / "d.yaml").code == 1


def test_diff_of_what_cannot_be_read(npu, tmp_path, good):
    """Exit code 2."""
    assert npu("diff", good, tmp_path / "nope.yaml").code == 2
    assert npu("diff", "-", "-").code == 2
    assert npu("diff", good, "-", stdin=good.read_bytes()).code == 0


# All of them


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help(npu, command):
    """Every command explains itself."""
    result = npu(command, "--help")
    assert result.code == 0
    assert result.out.startswith("Usage: npu-config {}".format(command))
    assert "  {}".format(command) in npu("--help").out


def test_version(npu):
    """As the package has it."""
    import npu_config

    assert npu("--version").out == "npu-config {}\n".format(npu_config.__version__)


def python(*arguments, code=None, **environment):
    """A process of its own."""
    command = [sys.executable, *(["-c", code] if code else ["-m", "npu_config"]), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        cwd=os.getcwd(),
        env=dict(os.environ, **environment),
    )


def test_as_a_module(good, bad):
    """``python -m npu_config``, with its exit code."""
    assert python("check", str(good)).returncode == 0
    assert python("check", str(bad)).returncode == 1
    assert python("check", "no-such-file").returncode == 2


def test_the_start_is_light():
    """The list of commands is there before one is imported, or anything that judges or reports."""
    code = "import sys; from npu_config.cli import run; run(['--help']); print(*sys.modules)"
    shown, loaded = python(code=code).stdout.decode().rstrip().rsplit("\n", 1)
    heavy = {"attr", "npu_config.core.diagnostics", "npu_config.reporters"}
    heavy.update("npu_config.cli." + module for module in COMMANDS.values())
    assert set() == heavy & set(loaded.split())
    assert list(COMMANDS) == re.findall(r"^  (\S+)  +[A-Z]", shown.partition("Commands:")[2], re.M)


def test_without_click():
    """It says what to install."""
    code = (
        "import sys; sys.modules['click'] = None\n"
        "from npu_config.__main__ import main\n"
        "sys.exit(main(['check', 'x.yaml']))"
    )
    done = python(code=code)
    assert done.returncode == 2
    assert b'pip install "npu_config[cli]"' in done.stderr
    assert b"Traceback" not in done.stderr


def test_output_that_cannot_encode(tmp_path):
    """A terminal that knows ASCII alone gets escapes, not an exception."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\nop_select_implmode: 全部\n", encoding="utf-8")
    done = python("check", str(path), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert b"\\u5168" in done.stdout
    assert b"Traceback" not in done.stderr


def test_a_file_name_that_is_no_text(tmp_path):
    """Names are bytes on Linux."""
    name = os.fsencode(str(tmp_path)) + b"/\xff.yaml"
    try:
        with open(name, "w") as stream:
            stream.write("version: 1\nop_select_implmode: x\n")
    except OSError:
        pytest.skip("the file system wants names in UTF-8")
    for format_ in ("text", "json", "sarif", "github"):
        done = ended(["check", os.fsdecode(name), "--format", format_], {})
        assert done.code == 1
        assert "Traceback" not in done.errors
    done = python("check", os.fsdecode(name))  # as Python reads its arguments
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe(good):
    """``npu-config explain x | head -1`` ends quietly."""
    process = subprocess.Popen(
        [sys.executable, "-m", "npu_config", "init"], stdout=-1, stderr=-1, cwd=os.getcwd()
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert b"Traceback" not in errors


def test_what_is_imported(good):
    """A schema needs neither YAML nor protobuf, a check of YAML no protobuf and no rich."""
    code = (
        "import sys\n"
        "from npu_config.__main__ import main\n"
        "assert main({!r}) == 0\n"
        "print(*sorted({{'yaml', 'google.protobuf', 'rich', 'tensorflow'}} & set(sys.modules)))"
    )
    schema = python(code=code.format(["schema"])).stdout.splitlines()
    check = python(code=code.format(["check", str(good)])).stdout.splitlines()
    assert schema[-1] == b""
    assert check[-1] == b"yaml"
