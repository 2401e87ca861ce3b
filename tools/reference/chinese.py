"""The options and the rules in Chinese: names, summaries and titles, with links to the pages."""

from typing import List

from npu_config.catalogue import PAGES
from npu_config.core.message import catalogue, translate
from npu_config.rulebook import load_all
from tools.reference import options
from tools.reference.markdown import NOTE, filter_box, table

SEVERITIES = {"error": "错误", "warning": "警告", "info": "提示"}


def _zh(text: str) -> str:
    return translate(text, catalogue("zh"))


def options_page() -> str:
    """Every option with its summary, under the page that documents it."""
    lines: List[str] = [
        NOTE,
        "# 选项\n",
        "类型、默认值、产品和版本见英文参考页。`npu-config --lang zh explain NAME` 是中文的。",
    ]
    for entry in PAGES:
        lines.append("\n## {}\n".format(_zh(entry.title)))
        lines += [
            "- {}: {}".format(options.link(option, "../options/"), _zh(option.summary))
            for option in entry.options.values()
        ]
    return "\n".join(lines) + "\n"


def rules_page() -> str:
    """Every rule with its title, by band."""
    lines: List[str] = [NOTE, "# 规则\n", "编号永不重复使用。\n", filter_box("按词过滤")]
    for band, title in BANDS.items():
        rows = [
            (
                "[{0}](../rules/{0}.md)".format(rule.id),
                rule.name,
                SEVERITIES[rule.severity.value],
                _zh(rule.summary),
            )
            for rule in load_all()
            if rule.id[3] == band
        ]
        lines += ["\n## {}xx: {}\n".format(band, title), table(HEAD, rows)]
    return "\n".join(lines) + "\n"


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
