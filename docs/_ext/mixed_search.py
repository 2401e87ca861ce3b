"""The search of a site in English and Chinese.

Sphinx searches one language, and a Chinese text has no blanks between its words.  Runs of
Chinese characters are indexed by their pairs (溢出检测: 溢出, 出检, 检测), and what a reader
types is cut in the same way by the splitter that runs in the browser.

The words of ``tools/search_words.yaml``, by which ``npu-config explain`` finds its topics, are
entries of the index of the page, or the heading, that the topic is on: all of them on Chinese
pages and on those that have no Chinese twin, others than Chinese ones on English pages.
"""

import functools
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import yaml
from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.en import SearchEnglish

_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


class SearchMixed(SearchEnglish):
    """English words by their stems, Chinese by pairs of characters."""

    lang = "mixed"

    @functools.lru_cache(maxsize=None)  # noqa: B019 - there is one, and the build ends with it
    def stem(self, word: str) -> str:
        """The stem of a word, sought once for all pages: it took a tenth of the build."""
        return super().stem(word)

    js_splitter_code = r"""
function splitQuery(query) {
    const found = [];
    for (const word of query.match(/[\u3400-\u9fff]+|[\p{L}\p{N}_]+/gu) || []) {
        if (!/[\u3400-\u9fff]/.test(word) || word.length < 2) { found.push(word); continue; }
        for (let i = 0; i + 1 < word.length; i++) found.push(word.slice(i, i + 2));
    }
    return found;
}
"""

    def split(self, input: str) -> List[str]:
        """The words of a text."""
        found: List[str] = []
        for word in _WORD.findall(input):
            if "\u3400" <= word[0] <= "\u9fff" and len(word) > 1:
                found.extend(word[i : i + 2] for i in range(len(word) - 1))
            else:
                found.append(word)
        return found


_SEARCH_WORDS = Path(__file__).parents[2] / "tools" / "search_words.yaml"
_LONGEST = 3
_PARTS = re.compile(
    "(a|all|an|and|code|does|down|error|first|go|id|in|job|list|machines|message|not|of|off|on|"
    "operator|out|several|start|the|time|to|variables|which|without)"
)
"""Words that say nothing alone, and are no end of several."""


def phrases(line: str, chinese: bool) -> Iterator[str]:
    """What readers may type of a line of words: each Chinese word, up to three others in a row."""
    words = line.lower().split()
    if chinese:
        yield from (word for word in words if re.search("[\u3400-\u9fff]", word))
        return
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
            found = words[start:end]
            if any(re.search("[\u3400-\u9fff]", word) for word in found):
                break
            if len(found) > 1 or not _PARTS.fullmatch(found[0]):
                yield " ".join(found)


@functools.lru_cache(maxsize=None)
def _search_words() -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = yaml.safe_load(_SEARCH_WORDS.read_text(encoding="utf-8"))
    return found


def add_search_words(app: Sphinx, doctree: nodes.document) -> None:
    """Enter into the index of a page the words that lead to it, or to a heading of it."""
    name = app.env.docname
    chinese = name.startswith("zh/")
    here = name[len("zh/") :] if chinese else name
    both = chinese or "zh/" + name not in app.env.found_docs
    sections = list(doctree.findall(nodes.section))
    entries: List[Tuple[str, str, str, str, None]] = []
    for line, targets in _search_words().items():
        for target in targets:
            anchor = _anchor(sections, here, target)
            if anchor is not None:
                for each in (False, True) if both else (False,):
                    words = phrases(line, each)
                    entries += [("single", word, anchor, "main", None) for word in words]
    if entries:
        doctree.insert(0, index(entries=entries))


def _anchor(sections: List[nodes.section], here: str, target: str) -> Any:
    """The id of what a target names on this page, empty for the page itself; None: not on it."""
    page, _, part = target.partition("#")
    if here == page or here == "rules/" + target:
        if not part:
            return ""
        return next((i for each in sections for i in each["ids"] if i == part), "")
    if not here.startswith(("options/", "reference/environment", "rules/")):
        return None
    for section in sections:
        title = section[0].astext().split() if len(section) else []
        if title[:1] == [target] and not here.startswith("rules/NPU"):
            return section["ids"][0]
    return None


def add_scripts(
    app: Sphinx, name: str, template: str, context: Dict[str, Any], doctree: Any
) -> None:
    """The scripts of a page, where it needs them: the first page is light."""
    if name.startswith("zh/") or name == "search":
        app.add_js_file("language.js")
    if name in ("rules/all", "zh/rules"):
        app.add_js_file("filter.js")
    if name == app.config.root_doc:
        scripts = context["script_files"]
        context["script_files"] = [s for s in scripts if "sphinx_highlight" not in s.filename]


def setup(app: Sphinx) -> Dict[str, Any]:
    """Enter the language, and the words."""
    languages[SearchMixed.lang] = SearchMixed
    app.connect("doctree-read", add_search_words)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
