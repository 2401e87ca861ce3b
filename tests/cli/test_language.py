"""The command line in Chinese: messages, help, formats; English where nobody asked."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npu_config.cli import run
from npu_config.cli._language import wrapped
from npu_config.core.message import width

ERR = Path(__file__).parents[1] / "cases" / "err"
CHINESE = re.compile("[\u4e00-\u9fff]")
_DATA = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\([^()]*\)|（[^（）]*）")  # noqa: RUF001
_ENGLISH = re.compile(
    r"\b(?:is|are|not|the|of|has|with|cannot|must|does|takes|legal|which|because)\b"
)


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    for name in ("NPU_CONFIG_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")  # as Python itself where none is set (PEP 538)


@pytest.fixture
def broken(tmp_path):
    """A configuration with one fault."""
    path = tmp_path / "npu.yaml"
    path.write_text('version: 1\nprecision_mode_v2: "mixed_float"\n')
    return str(path)


def test_init_and_schema_in_chinese(capsys, tmp_path):
    """Every comment and description is Chinese; what the files mean is the same as in English."""

    def written(language, *command):
        assert run(["--lang", language, *command]) == 0
        return capsys.readouterr().out

    english, chinese = written("en", "init"), written("zh", "init")
    comments = re.findall(r"(?m)^ *# +(?!\w+: )(.*)$", chinese)
    assert len(comments) > 200
    assert [line for line in comments if _ENGLISH.search(_DATA.sub("", line))] == []
    options = re.compile(r"(?m)^  # \w+: .*$|^\w+:.*$")
    assert options.findall(chinese) == options.findall(english)
    assert max(width(line) for line in chinese.splitlines() if CHINESE.search(line)) < 100
    path = tmp_path / "npu.yaml"
    path.write_text(chinese, "utf-8")
    assert run(["check", str(path)]) == 0
    capsys.readouterr()

    english, chinese = written("en", "schema"), written("zh", "schema")
    described = re.compile(r'(?m)^ *"(?:title|description)": "(.*)"')
    assert [text for text in described.findall(chinese) if not CHINESE.search(text)] == [
        "Profiling"
    ]
    assert described.sub("", chinese) == described.sub("", english)


@pytest.mark.parametrize("before", [True, False])
def test_messages_in_chinese(broken, capsys, before):
    """``--lang zh`` stands before the command or behind it."""
    lang = ["--lang", "zh"]
    code = run([*lang, "check", broken] if before else ["check", *lang, broken])
    out = capsys.readouterr().out
    assert code == 1
    assert "合法取值" in out
    assert '您是否要写 "mixed_float16"' in out
    assert "[NPU104 value-not-allowed]" in out
    assert "legal" not in out


def test_the_locale_decides(broken, capsys, monkeypatch):
    """LANG makes it Chinese, NPU_CONFIG_LANG goes before LANG, --lang before both."""
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    run(["check", broken])
    assert "合法取值" in capsys.readouterr().out
    run(["check", "--lang", "en", broken])
    assert "legal" in capsys.readouterr().out
    monkeypatch.setenv("NPU_CONFIG_LANG", "en")
    run(["check", broken])
    assert "legal" in capsys.readouterr().out


def test_one_run_does_not_change_the_next(broken, capsys):
    """After a Chinese run another one in the same process is English, also click's words."""
    run(["--lang", "zh", "check", broken])
    run(["check", "--nonsense"])
    assert not CHINESE.search(capsys.readouterr().err)


def test_json_keeps_its_fields(broken, capsys):
    """Only sentences differ between the languages; rule, place and fix are the same."""
    run(["check", "--format", "json", broken])
    english = json.loads(capsys.readouterr().out)
    run(["check", "--format", "json", "--lang", "zh", broken])
    chinese = json.loads(capsys.readouterr().out)
    words = {"message", "help", "consequence"}
    for before, after in zip(english["diagnostics"], chinese["diagnostics"]):
        assert {k: v for k, v in before.items() if k not in words} == {
            k: v for k, v in after.items() if k not in words
        }
        assert CHINESE.search(after["message"])
    assert english["summary"] == chinese["summary"]


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_formats_in_chinese(broken, capsys, form):
    """SARIF and annotations hold the Chinese message."""
    run(["check", "--format", form, "--lang", "zh", broken])
    out = capsys.readouterr().out
    text = json.dumps(json.loads(out), ensure_ascii=False) if form == "sarif" else out
    assert "合法取值" in text


@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "--help"], ["dump", "--help"], ["dump", "show", "--help"]]
)
def test_help_in_chinese(capsys, arguments):
    """Every level of commands; lines fit the terminal, where Chinese takes two columns."""
    assert run(["--lang", "zh", *arguments]) == 0
    out = capsys.readouterr().out
    assert "用法" in out
    assert "显示本帮助并退出" in out
    assert max(map(width, out.splitlines())) <= 99


@pytest.mark.parametrize(
    ("words", "chinese"),
    [
        (["run", "--help", "--lang", "zh"], True),
        (["run", "--steps", "3", "--dry-run", "--help", "--lang=zh"], True),
        (["run", "--report", "run", "--help", "--lang", "zh"], True),
        (["run", "--help", "train.py", "--lang", "zh"], False),
        (["run", "--help", "--", "--lang", "zh"], False),
    ],
)
def test_what_stands_before_a_script(capsys, words, chinese):
    """The language counts behind ``--help``, too; what belongs to the script does not."""
    assert run(words) == 0
    assert ("运行训练脚本" in capsys.readouterr().out) == chinese


@pytest.mark.parametrize("lang", [["--lang", "zh"], ["--lang=zh"]])
def test_the_language_may_follow_help(capsys, lang):
    """The order of --help and --lang makes no difference."""
    assert run(["check", "--help", *lang]) == 0
    assert "用法" in capsys.readouterr().out


def test_a_wrong_call_in_chinese(capsys):
    """What click says of a call is Chinese, too."""
    assert run(["--lang", "zh", "check", "--nonsense"]) == 2
    error = capsys.readouterr().err
    assert "用法" in error
    assert "没有选项" in error


def test_explain_finds_chinese_words(capsys):
    """Topics are searched in the language that is spoken."""
    assert run(["--lang", "zh", "explain", "溢出检测"]) == 0
    assert "enable_dump_debug" in capsys.readouterr().out


def test_lines_are_cut_between_chinese_signs():
    """No line is wider than asked for, and none begins with a closing mark."""
    text = "检查文件，说明哪里有错、错在何处：training scripts (.py)、配置文件。" * 3  # noqa: RUF001
    lines = wrapped(text, 30)
    assert text == "".join(lines) or text.replace(" ", "") == "".join(lines).replace(" ", "")
    assert max(map(width, lines)) <= 30
    assert not any(line[0] in "，。：、" for line in lines)  # noqa: RUF001


def test_no_english_sentence_is_left():
    """Over the golden cases of configurations and scripts: what is not quoted is Chinese."""
    paths = sorted(str(path) for path in ERR.rglob("*") if path.suffix in (".yaml", ".py"))
    done = subprocess.run(
        [sys.executable, "-m", "npu_config", "check", "--lang", "zh", "--format", "json", *paths],
        stdout=subprocess.PIPE,
        check=False,
    )
    left = []
    for found in json.loads(done.stdout.decode("utf-8"))["diagnostics"]:
        for text in filter(None, (found["message"], found["help"])):
            if _ENGLISH.search(_DATA.sub("", text)):
                left.append((found["rule"], text))
    assert left == []
