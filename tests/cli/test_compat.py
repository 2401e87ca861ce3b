"""Versions on the command line: ``compat``, ``--target-cann``, ``--drop-unknown``."""

import json

import pytest

from npu_config.core.message import width
from npu_config.core.versions import SNAPSHOTS

NEW = "version: 1\ndeterministic: 1\niterations_per_loop: 10\nenable_data_pre_proc: true\n"
JIT = 'version: 1\njit_compile: "false"\n'
SCRIPT = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
custom_op.parameter_map["jit_compile"].s = tf.compat.as_bytes("auto")
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
"""


@pytest.fixture
def new(tmp_path):
    """A configuration that older adapters do not read as a whole."""
    path = tmp_path / "new.yaml"
    path.write_text(NEW)
    return str(path)


def test_compat_json_is_the_contract(npu, new):
    """Each option with its place and one verdict for each adapter; the oldest that runs it."""
    result = npu("compat", new, "--format", "json")
    document = json.loads(result.out)
    assert (result.code, document["version"], document["oldest"]) == (0, 1, "v0.0.3")
    first = document["options"][0]
    assert ("deterministic", new, 2) == (first["option"], first["path"], first["line"])
    assert {"option", "path", "line", "adapters"} == set(first)
    assert [s.adapter for s in SNAPSHOTS] == [each["adapter"] for each in first["adapters"]]
    assert first["adapters"][0] == {
        "adapter": "r1.1.1",
        "cann": "3.2",
        "about": True,
        "verdict": "not-read",
    }
    assert {"not-read", "read"} == {each["verdict"] for each in first["adapters"]}


def test_compat_of_a_script_knows_the_field(npu, tmp_path):
    """An option in the field of another version is not read there."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    document = json.loads(npu("compat", path, "--format", "json").out)
    (jit,) = [each for each in document["options"] if each["option"] == "jit_compile"]
    verdicts = {each["adapter"]: each["verdict"] for each in jit["adapters"]}
    assert (
        verdicts["r1.1.1"],
        verdicts["r1.11.0"],
        verdicts["r1.13.0"],
    ) == ("not-read", "other-field", "read")
    assert document["oldest"] == "r1.13.0"


@pytest.mark.parametrize(
    ("cann", "why"),
    [
        (
            "8.0.RC2",
            "adapter r1.15.0 (about CANN 7.0.0), the closest older version that was measured\n",
        ),
        ("99", "adapter master-2026-07, the newest\n"),
        ("2.0", "adapter r1.1.1 (about CANN 3.2), the oldest\n"),
        ("7.0", ""),
        ("9.0.0", ""),
    ],
)
def test_compat_says_why_another_version_is_shown(npu, new, cann, why):
    """A version that was not measured is one of the others, which is named with the reason."""
    out = npu("compat", "--cann", cann, new).out
    assert ("were not measured; its column shows" in out, out.endswith(why)) == (
        bool(why),
        True,
    )


def test_compat_joins_versions_that_agree(npu, new, tmp_path):
    """Neighbours that agree in every row share a column; a chosen version has its own."""
    path = tmp_path / "old.yaml"
    path.write_text("version: 1\nhccl_timeout: 1836\n", encoding="utf-8")
    lines = npu("compat", path).out.splitlines()
    assert lines[0].split() == ["r1.1.1..r1.6.0", "r1.7.0..master-2026-07"]
    assert lines[1].split()[1:] == ["hccl_timeout", "-", "+"]
    chosen = npu("compat", path, "--cann", "9.0.0", "--cann", "8.0").out.splitlines()
    assert chosen[1].split()[1:] == ["hccl_timeout", "+", "+"]


def test_compat_for_chosen_versions(npu, new):
    """Only these columns; the code says whether all is read in each."""
    result = npu("compat", new, "--cann", "9.0.0", "--cann", "5.1")
    assert result.code == 1
    assert "r1.9.0 v0.0.48" in result.out
    assert (
        "the oldest version that supports every option as it is set: adapter v0.0.48" in result.out
    )
    assert npu("compat", new, "--cann", "9.0.0").code == 0


def test_compat_looks_at_all_files(npu, new, tmp_path):
    """A file that cannot be read is reported, and the others are still looked at."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [")
    result = npu("compat", broken, new)
    assert result.code == 1
    assert "deterministic" in result.out
    assert "broken.yaml:1" in result.err
    assert npu("compat", tmp_path / "missing.yaml").code == 2
    assert npu("compat", new, "--cann", "eight").code == 2


def test_check_for_a_version(npu, new):
    """An option that its adapter does not read is an error."""
    result = npu("check", new, "--target-cann", "5.1")
    assert result.code == 1
    assert '"deterministic" is not read by adapter r1.9.0 (about CANN 5.1.RC2)' in result.out
    assert npu("check", new, "--target-cann", "6.3.RC1").code == 0
    assert npu("check", new, "--target-cann", "CANN 8.0").code == 0
    assert npu("check", new, "--target-cann", "eight").code == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cann: 8.5", 'write "8.5" in quotes'),
        ("cann: eight", '"eight" is not a version of CANN; write it like "8.0.0"'),
        ("adapter: r1.14.0", 'unknown adapter "r1.14.0"; legal: r1.1.1'),
        ("cann: 8.0.0\n  adapter: r1.8.0", "not adapter r1.8.0"),
    ],
)
def test_a_version_that_cannot_be_read(npu, tmp_path, line, words):
    """The finding says what is legal."""
    path = tmp_path / "npu.yaml"
    path.write_text("version: 1\ntarget:\n  {}\ndeterministic: 1\n".format(line))
    result = npu("check", path)
    assert result.code == 1
    assert words in result.out


@pytest.mark.parametrize("cann", ["8.0.RC1.alpha003", "CANN 8.0", "5.1.rc2", "8"])
def test_versions_as_people_write_them(npu, tmp_path, cann):
    """Small letters and a leading CANN are accepted."""
    path = tmp_path / "npu.yaml"
    path.write_text('version: 1\ntarget: {{cann: "{}"}}\nhccl_timeout: 1836\n'.format(cann))
    assert npu("check", path).code == 0


def test_generate_for_a_version(npu, new, tmp_path):
    """What is not read is an error where ``check`` says so, or is left out and reported."""
    result = npu("generate", new, "--to", "yaml", "--target-cann", "5.1")
    assert (result.code, result.out) == (1, "")
    assert "deterministic" in result.err
    result = npu("generate", new, "--to", "yaml", "--target-cann", "5.1", "--drop-unknown")
    assert result.code == 0
    assert "deterministic" not in result.out
    assert "the value is left out" in result.err
    pbtxt = tmp_path / "new.pbtxt"
    assert npu("generate", new, "-o", pbtxt).code == 0
    result = npu("generate", pbtxt, "--to", "yaml", "--target-cann", "5.1")
    assert result.code == 0  # a warning in a ConfigProto, an error in a file
    assert "\n# deterministic: 1 (line " in result.out
    assert "deterministic" in npu("generate", pbtxt, "--to", "json", "--target-cann", "5.1").err


@pytest.mark.parametrize(("cann", "field"), [("6.0.1", "b: false"), ("7.0.0", 's: "false"')])
def test_generate_writes_the_field_of_the_version(npu, tmp_path, cann, field):
    """``jit_compile`` was a bool before it became a text; both can be read back."""
    path = tmp_path / "jit.yaml"
    path.write_text(JIT)
    text = npu("generate", path, "--to", "pbtxt", "--target-cann", cann).out
    assert field in text
    pbtxt = tmp_path / "jit.pbtxt"
    pbtxt.write_text(text)
    back = npu("generate", pbtxt, "--to", "yaml", "--target-cann", cann).out
    assert 'jit_compile: "false"' in back


def test_a_removed_option_goes_round(npu, tmp_path):
    """What only older adapters read can be set, written and read for such a target."""
    path = tmp_path / "old.yaml"
    path.write_text('version: 1\ntarget: {cann: "5.0.1"}\nmstune_mode: "1"\n')
    again = tmp_path / "again.yaml"
    assert npu("generate", path, "-o", again).code == 0
    assert 'mstune_mode: "1"' in again.read_text()
    assert 's: "1"' in npu("generate", again, "--to", "pbtxt").out


def test_an_option_without_a_place(npu, tmp_path):
    """Defaults that a call sets stand in no line."""
    path = tmp_path / "train.py"
    path.write_text(
        "from npu_bridge.npu_init import *\nconfig = NPURunConfig(settings)\n"
        "estimator = NPUEstimator(model_fn, config=config)\n"
    )
    result = npu("compat", path)
    assert result.code == 0, result
    assert "\n  iterations_per_loop  " in result.out


def test_columns_of_wide_names_line_up(npu, tmp_path):
    """A character of two columns counts twice, and one that no terminal shows is written out."""
    names = ["配置.yaml", "a\tb.yaml"]
    for name in names:
        (tmp_path / name).write_text("version: 1\ndeterministic: 1\n")
    out = npu("compat", *[tmp_path / name for name in names]).out.splitlines()
    starts = [width(line[: line.index("deterministic")]) for line in out[1:3]]
    assert starts[0] == starts[1]
    assert "a\\tb.yaml:2" in out[2]
