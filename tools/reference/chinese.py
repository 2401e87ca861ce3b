"""The options and the rules in Chinese: the tables of all, and what each page says.

A page has the options, or the rules, of a page in English; what it says of each is what
``npu-config --lang zh explain`` says.
"""

import re
from typing import List

from npu_config.catalogue import OPTIONS, PAGES, Option
from npu_config.catalogue.option import Page
from npu_config.core.diagnostics import Rule
from npu_config.core.message import catalogue, listed, localized, speaking, translate
from npu_config.rulebook import load_all
from tools import explained, rule_pages
from tools.reference import rules
from tools.reference.markdown import NOTE, filter_box, table, toctree

SEVERITIES = {"error": "错误", "warning": "警告", "info": "提示"}

_RULE = re.compile(r"^- (NPU\d+) ([\w-]+)：", re.M)


def _zh(text: str) -> str:
    return translate(text, catalogue("zh"))


def options_page() -> str:
    """Every option with its summary, under the page that documents it."""
    lines: List[str] = [
        NOTE,
        "# 选项\n",
        "NpuOptimizer 的 {} 个选项，按昇腾文档分组。"
        "`npu-config --lang zh explain NAME` 在终端中显示同样的内容。\n".format(len(OPTIONS)),
        toctree("options/" + page.name for page in PAGES),
    ]
    for entry in PAGES:
        lines.append("\n## [{}](options/{}.md)\n".format(_zh(entry.title), entry.name))
        lines += [
            "- {}：{}".format(_option_link(option, "options/"), _zh(option.summary))
            for option in entry.options.values()
        ]
    return "\n".join(lines) + "\n"


def option_page(entry: Page) -> str:
    """The options of one page."""
    lines = [NOTE, "# {}".format(_zh(entry.title))]
    with speaking("zh"):
        for option in entry.options.values():
            said = _below_title(explained.option_page(option))
            lines.append("\n## {}\n\n{}".format(option.name, _RULE.sub(_rule_link, said)))
    return "\n".join(lines) + "\n"


def _rule_link(match: "re.Match[str]") -> str:
    rule, name = match.groups()
    return "- [{0} {1}](../rules/{2}xx.md#{3}-{1})：".format(rule, name, rule[3], rule.lower())


def _option_link(option: Option, folder: str) -> str:
    return "[{}]({}{}.md#{})".format(option.name, folder, option.page, option.name.lower())


def _below_title(page: str) -> str:
    return page.partition("\n\n")[2].rstrip("\n")


def rules_page() -> str:
    """Every rule with its title, by band."""
    lines: List[str] = [
        NOTE,
        "# 规则\n",
        "{} 条规则，按编号的首位数字分组，编号永不重复使用。`npu-config --lang zh explain NPU101` "
        "在终端中显示一条规则的说明，`npu-config --lang zh explain 溢出检测` 按词搜索。\n".format(
            len(load_all())
        ),
        toctree("rules/{}xx".format(band) for band in BANDS),
        "",
        filter_box("按词过滤"),
    ]
    for band, title in BANDS.items():
        rows = [
            (
                "[{0}](rules/{1}xx.md#{2}-{3})".format(rule.id, band, rule.id.lower(), rule.name),
                rule.name,
                SEVERITIES[rule.severity.value],
                _zh(rule.summary),
            )
            for rule in rules.of_band(band)
        ]
        lines += ["\n## {}xx：{}\n".format(band, title), table(HEAD, rows)]
    return "\n".join(lines) + "\n"


def band_page(band: str) -> str:
    """What each rule of a band finds, why it matters, and the right way."""
    lines = [NOTE, "# {}xx：{}".format(band, BANDS[band])]
    with speaking("zh"):
        for rule in rules.of_band(band):
            lines.append("\n## {} {}\n\n{}".format(rule.id, rule.name, _rule_text(rule)))
    return "\n".join(lines) + "\n"


def _rule_text(rule: Rule) -> str:
    said = _below_title(explained.rule_page(rule, rule_pages.translation))
    links = [
        _option_link(OPTIONS[name], "../options/") if name in OPTIONS else name
        for name in rule.named
    ]
    plain, linked = (localized("Options: {}", listed(names)) for names in (rule.named, links))
    return said.replace(plain, linked)


HEAD = ("规则", "名字", "级别", "内容")
BANDS = {
    "1": "名字、字段、类型和取值",
    "2": "精度",
    "3": "dump、溢出检测、性能数据采集",
    "4": "训练迭代循环下沉、混合计算、迁移",
    "5": "shape、编译和内存",
    "6": "集群和环境",
    "7": "文件",
    "8": "会话、Estimator、脚本和图",
    "9": "已废弃和没有作用的选项",
}
