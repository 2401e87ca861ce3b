"""Reads the examples of rule pages and case files, and judges them.

A page has blocks that begin with ``Wrong:`` or ``Right:``, perhaps with a remark before the
colon.  A remark that begins with ``in a script`` marks code of another input; the other blocks
are config files: options by name, and ``target``.  Comments say what surrounds them:

    # environment: RANK_SIZE=8 TF_CONFIG={}
    # host: a_directory/ a_file=one_line\\nanother a_link->a_directory empty_file locked/!
"""

import contextlib
import os
import re
import textwrap
from typing import NamedTuple, Optional
from unittest import mock

from npu_config.core.diagnostics import Report
from npu_config.readers import read
from npu_config.rules.case import judge
from npu_config.script import read_script

_HEAD = re.compile(r"(Wrong|Right)(?:, (.*))?:$")


class Example(NamedTuple):
    """One block of a page."""

    wrong: bool
    remark: str
    text: str

    @property
    def is_code(self) -> bool:
        """True for what is no config file."""
        return self.remark.startswith("in a script")


def examples(page):
    """The blocks of a rule's page."""
    found = []
    lines = page.splitlines()
    for index, line in enumerate(lines):
        head = _HEAD.match(line)
        if head is None:
            continue
        block = []
        for following in lines[index + 1 :]:
            if following and not following.startswith("    "):
                break
            block.append(following)
        text = textwrap.dedent("\n".join(block)).strip("\n") + "\n"
        found.append(Example(head.group(1) == "Wrong", head.group(2) or "", text))
    return found


def _comment(text, word):
    match = re.search(r"^# {}(?::|$) *(.*)$".format(word), text, re.MULTILINE)
    return None if match is None else match.group(1).split()


def environment(text) -> Optional[dict]:
    """The environment that the comments describe, None without such a comment."""
    words = _comment(text, "environment")
    return None if words is None else dict(word.split("=", 1) for word in words)


@contextlib.contextmanager
def host(text, directory):
    """The run directory that the comments describe; yields False without such a comment."""
    words = _comment(text, "host")
    if words is None:
        yield False
        return
    locked = set()
    for word in words:
        name, _, content = word.partition("=")
        if name.endswith("!"):
            name = name[:-1]
            locked.add(name.rstrip("/"))
        if "->" in name:
            name, _, behind = name.partition("->")
            os.symlink(behind, os.path.join(directory, name))
        elif name.endswith("/"):
            os.mkdir(os.path.join(directory, name))
        else:
            with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
                stream.write(content.replace("\\n", "\n"))
    before = os.getcwd()
    os.chdir(directory)
    access = os.access
    try:
        with mock.patch("os.access", lambda path, mode: path not in locked and access(path, mode)):
            yield True
    finally:
        os.chdir(before)


def findings(text, directory, name="npu.yaml"):
    """What is said of a file, in the surroundings that its comments describe."""
    reading = read_script(text, name) if name.endswith(".py") else read(name, content=text)
    target = getattr(reading, "target", None)
    with host(text, directory) as on_host:
        found = [
            diagnostic
            for settings in reading.settings
            for diagnostic in judge(settings, target, environment(text), on_host)
        ]
    return Report([*reading.diagnostics, *found])
