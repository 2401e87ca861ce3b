"""A module ends where its idea ends; one of more than 800 lines gives its reason here."""

from pathlib import Path

import npu_config

PACKAGE = Path(npu_config.__file__).parent

LONG = {
    "catalogue/options.py": "one table: every option, page by page as the vendor documents them",
    "catalogue/structured.py": "one kind after the other, all on the same few functions",
    "launch/shell/follow.py": "one interpreter of one language: each statement needs the others",
    "launch/shell/syntax.py": "the tree of the grammar, and the reading of bash that mends it",
    "launch/shell/words.py": "what a word comes to: its parts are words, and the state they read",
    "migration/horovod.py": "all of Horovod in a file or nothing: its names, calls and imports",
    "script/checks/loops.py": "ten rules about one feature; half of it is their pages",
    "script/checks/session.py": "what is around the options of a session, and their pages",
}
"""Modules of more than 800 lines, each with the reason why it is one idea."""


def test_long_modules_have_a_reason():
    """No module grows beyond 800 lines unnoticed, and no reason outlives its module."""
    sizes = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert sorted(LONG) == sorted(name for name, size in sizes.items() if size > 800)
