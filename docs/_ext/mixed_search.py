"""The search of a site in English and Chinese.

Sphinx searches one language, and a Chinese text has no blanks between its words.  Runs of
Chinese characters are indexed by their pairs (溢出检测: 溢出, 出检, 检测), and what a reader
types is cut in the same way by the splitter that runs in the browser.
"""

import re
from typing import Any, Dict, List

from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.en import SearchEnglish

_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


class SearchMixed(SearchEnglish):
    """English words by their stems, Chinese by pairs of characters."""

    lang = "mixed"
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


def setup(app: Sphinx) -> Dict[str, Any]:
    """Enter the language."""
    languages[SearchMixed.lang] = SearchMixed
    return {"parallel_read_safe": True, "parallel_write_safe": True}
