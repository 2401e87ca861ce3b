"""Chinese as readers of the vendor's documents know it: terms, blanks, punctuation, structure.

Looks at the messages, the pages of rules and the guides; names, values and code are left out.
"""

import re
from pathlib import Path

import pytest

pytest.importorskip("babel")
pytest.importorskip("tools.messages")

from tests.docs.test_pages import BLOCK, CHINESE, DOCS
from tools import messages, rule_pages

GLOSSARY = {
    "附属文件": "配套文件|伴随文件",
    "Loss Scale": "损失缩放|损失放大",
    "解析为": "读作",
    "您是否要写": "是不是想写",
    "请设置合法取值": "给出合法的值",
    "对应选项": "承载选项",
    "算子": "运算符",
    "集合通信": "集体通信",
    "混合精度": "混合精准",
    "溢出检测": "溢出侦测",
    "混合计算": "混合运算",
    "循环下沉": "循环卸载|迭代卸载",
    "动态分档": "动态档位",
    "数据 dump": "数据 Dump",
    "训练服务器": "训练主机|NPU 主机",
    "命令行用法错误": "命令写错",
    "解析 dump 数据": "dump 留下了",
    "操作示例": "实用配方",
    "目录": "文件夹",
    "无法读取": "读不了",
}
"""The one term of a thing, and words that were or might be written for it."""

CJK = "\u4e00-\u9fff"
KEPT = re.compile(r"``[^`]*``|`[^`]*`|\"[^\"]*\"|\{[^}]*\}|\]\([^)]*\)|https?://\S+|<!--.*?-->")
SHORTER = {
    "migration.md",
}
"""Pages whose Chinese has the guide and leads to the English page for its tables."""


def texts():
    """What a reader sees, by its place."""
    for message in messages.load():
        if message.id:
            said = message.string if isinstance(message.string, str) else message.string[0]
            yield "message {!r}".format(message.id), said
    for paragraph, said in rule_pages._read().items():
        yield "page of a rule {!r}".format(paragraph[:60]), said
    for path in sorted((DOCS / "zh").rglob("*.md")):
        yield path.name, BLOCK.sub("", path.read_text("utf-8"))


TEXTS = list(texts())
STRIPPED = [(place, KEPT.sub("", said)) for place, said in TEXTS]


def test_one_term_for_one_thing():
    """The words of the glossary are used, and no others for the same."""
    wrong = re.compile("|".join(GLOSSARY.values()))
    assert [
        (place, match.group()) for place, said in TEXTS for match in wrong.finditer(said)
    ] == []


def test_blanks_between_chinese_and_latin():
    """A blank stands between a Chinese character and a Latin letter or a number."""
    glued = re.compile("[{0}][A-Za-z0-9]|[A-Za-z0-9][{0}]".format(CJK))
    assert [(p, m.group()) for p, said in STRIPPED for m in glued.finditer(said)] == []


def test_no_blanks_inside_of_chinese():
    """No blank stands between two Chinese characters."""
    apart = re.compile("[{0}] [{0}]".format(CJK))
    assert [(p, m.group()) for p, said in STRIPPED for m in apart.finditer(said)] == []


def test_punctuation_is_full_width():
    """Between Chinese characters, and at the end of a sentence of them."""
    narrow = re.compile("[{0}][,;?!](?=[{0}])|[{0}]\\.(?=\\s|$)".format(CJK), re.M)
    assert [(p, m.group()) for p, said in STRIPPED for m in narrow.finditer(said)] == []


def structure(path):
    """The levels of the headings of a page, and the rows and columns of its tables."""
    text = BLOCK.sub("", Path(path).read_text("utf-8"))
    tables = [
        (len(rows), re.sub(r"`[^`]*`|\\\|", "", rows[0]).count("|"))
        for match in re.finditer(r"(?:^\|.*\n)+", text, re.M)
        for rows in [match.group().splitlines()]
    ]
    return [len(level) for level in re.findall(r"^(#+) ", text, re.M)], tables


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.name)
def test_the_same_headings_and_tables(path):
    """A page has the sections and the tables of its English twin, row by row."""
    if path.name in SHORTER and path.parent.name == "zh":
        assert "](../" + path.name in path.read_text("utf-8")
        assert structure(path) != structure(CHINESE[path])  # else it leaves the list
    else:
        assert structure(path) == structure(CHINESE[path])
