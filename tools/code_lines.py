"""Lines of code of a package: ``python -m tools.code_lines [FOLDER]``.

A line counts when it holds a token that is neither comment nor docstring; a string that is a
statement of its own is a docstring.
"""

import collections
import io
import sys
import tokenize
from pathlib import Path
from typing import Counter, List, Set

LAYOUT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
IGNORED = {tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """The number of lines of code in a module's text."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in IGNORED
    ]
    lines: Set[int] = set()
    starts = True
    for index, token in enumerate(tokens):
        if token.type in LAYOUT:
            starts = True
            continue
        alone = index + 1 == len(tokens) or tokens[index + 1].type == tokenize.NEWLINE
        if not (starts and alone and token.type == tokenize.STRING):
            lines.update(range(token.start[0], token.end[0] + 1))
        starts = False
    return len(lines)


def main(arguments: List[str]) -> int:
    """Print the lines and modules of each room, and of all."""
    root = Path(arguments[0] if arguments else "npu_config")
    lines: Counter[str] = collections.Counter()
    modules: Counter[str] = collections.Counter()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        room = parts[0] if len(parts) > 1 else "."
        lines[room] += code_lines(path.read_text("utf-8"))
        modules[room] += 1
    print("{:>7} {:>8}  room".format("lines", "modules"))
    for room, count in lines.most_common():
        print("{:>7} {:>8}  {}".format(count, modules[room], room))
    print("{:>7} {:>8}  all".format(sum(lines.values()), sum(modules.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
