"""What bash itself refuses: blocks and quotes without an end, ends without a beginning.

The grammar also stumbles over scripts that bash takes.  Only what is wrong however the place of
the error is read is reported: more beginnings than ends, an end where a command begins, a quote
after which there is none.
"""

import re
from collections import Counter
from typing import Dict, Iterator, List, Optional

from npu_config.cluster.shell import _rules as rules
from npu_config.cluster.shell.syntax import Node, Script
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import phrase

_ENDS = {"do": "done", "if": "fi", "case": "esac"}
_NEEDED = {
    "done": "do", "do": "for", "fi": "if", "then": "if", "else": "if", "elif": "if",
    "esac": "case",
}  # fmt: skip
_LOOPS = frozenset(("for", "while", "until", "select"))
_QUIET = frozenset(("comment", "heredoc_body", "heredoc_content"))
_IN_QUOTES = frozenset(("string_content", "raw_string"))
_BEHIND = re.compile(rb"\b(?:done|do|fi|then|else|elif|esac)\b")
_WORDS = re.compile(rb"\b(?:do|done|if|fi|case|esac)\b")


def syntax_fault(script: Script) -> Optional[Diagnostic]:
    """The first certain syntax error; None when there is none."""
    if not script.root.has_error:
        return None if _even(script.data) else _stray(script)
    leaves = list(_leaves(script.root))
    return _quote(script, leaves) or _open(script, leaves)


def _even(data: bytes) -> bool:
    """Whether the words of blocks come in pairs, wherever they stand."""
    found = Counter(_WORDS.findall(data))
    return all(found[begin.encode()] == found[end.encode()] for begin, end in _ENDS.items())


def _leaves(root: Node) -> Iterator[Node]:
    rest = [root]
    while rest:
        node = rest.pop()
        if node.children:
            rest.extend(reversed(node.children))
        else:
            yield node


def _stray(script: Script) -> Optional[Diagnostic]:
    """A word that ends or divides a block, as a command."""
    for match in _BEHIND.finditer(script.data):
        leaf = script.root.descendant_for_byte_range(*match.span())
        if leaf.type != "word" or (leaf.start_byte, leaf.end_byte) != match.span():
            continue
        name = leaf.parent
        if name.type == "command_name" and name.parent.children[0].start_byte == match.start():
            message = phrase(
                '"{}" without "{}" before it: bash stops here with a syntax error',
                script.text(leaf),
                _NEEDED[script.text(leaf)],
            )
            return rules.SYNTAX.diagnostic(message, script.place(leaf))
    return None


def _quote(script: Script, leaves: List[Node]) -> Optional[Diagnostic]:
    """A quote that opens in an error, and after which there is none to the end of the file."""
    for leaf in leaves:
        if leaf.is_missing and leaf.type == '"':
            leaf = leaf.parent.children[0]
        mark = script.text(leaf)[:1]
        if mark not in ("'", '"') or leaf.parent is None:
            continue
        ends = leaf.parent.children[-1]
        if leaf.type == "ERROR" or leaf.parent.type == "ERROR" or ends.is_missing:
            if mark in script.source[leaf.start_byte + 1 :]:
                return None
            message = phrase("the quote {} is not closed to the end of the script", mark)
            place = script.place(leaf)
            place = place._replace(end_line=place.line, end_column=(place.column or 0) + 1)
            return rules.SYNTAX.diagnostic(message, place)
    return None


def _open(script: Script, leaves: List[Node]) -> Optional[Diagnostic]:
    """A block that begins and does not end: the innermost one."""
    begins: Dict[str, List[Node]] = {begin: [] for begin in _ENDS}
    loop: Optional[Node] = None
    for leaf in leaves:
        text = script.text(leaf)
        if leaf.type in _LOOPS:
            loop = leaf
        elif leaf.type in begins and text == leaf.type:
            begins[leaf.type].append(loop if leaf.type == "do" and loop is not None else leaf)
        else:
            for begin, end in _ENDS.items():
                for _ in range(_count(leaf, text, end)):
                    if begins[begin]:
                        begins[begin].pop()
    left = [(nodes[-1], _ENDS[begin]) for begin, nodes in begins.items() if nodes]
    if not left:
        return None
    node, end = max(left, key=lambda one: one[0].start_byte)
    message = phrase('"{}" without "{}": bash refuses it', script.text(node), end)
    return rules.SYNTAX.diagnostic(message, script.place(node))


def _count(leaf: Node, text: str, end: str) -> int:
    """How often a part of the script may end a block."""
    if end not in text or leaf.type in _QUIET:
        return 0
    if leaf.type in _IN_QUOTES and "\n" not in text:
        return 0
    command = leaf.parent
    same_line = leaf.start_point[0] == command.start_point[0]
    if leaf.type == "word" and command.type == "command" and same_line and not command.has_error:
        return 0  # an argument
    return len(re.findall(r"\b{}\b".format(end), text))
