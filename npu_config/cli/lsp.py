"""``npu-config lsp``."""

import sys
from typing import Any, Callable, List, Optional, Tuple

import click

from npu_config.cli._output import Failure

_OLDEST = (3, 8)


@click.command("lsp")
@click.option("--stdio", is_flag=True, hidden=True, expose_value=False)
def command() -> int:
    """Start the language server: editors show findings while you type.

    An editor starts the server, which uses the Language Server Protocol on standard input and
    output; the documentation (editors) tells how to set up each editor.  The findings are those of
    `npu-config check --if-ours` on the saved files, with the settings of pyproject.toml.

    The server needs Python 3.8 or newer and the extra "lsp": pip install "npu_config[lsp]".
    """
    if sys.version_info < _OLDEST:
        raise Failure(
            "the language server requires Python {} or newer, this is {}; install it in another "
            "environment: it checks files for Python 3.7 all the same",
            ".".join(map(str, _OLDEST)),
            ".".join(map(str, sys.version_info[:2])),
        )
    try:
        from npu_config.editor.server import run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Failure(
            'the language server requires pygls, which is not installed: pip install "{}"',
            "npu_config[lsp]",
        ) from None
    if sys.stdin is None or sys.stdin.isatty():
        raise Failure("the language server is started by an editor; see the page on editors")
    return run(_checker, _page, _rules)


def _checker() -> Callable[..., Any]:
    """What checks open files, in a process of its own."""
    from npu_config.cli._session import OpenFileChecker

    return OpenFileChecker()


def _page(word: str) -> Optional[str]:
    """The page of ``explain`` on a name; None for a word that is none."""
    from npu_config.cli._failures import failure_called
    from npu_config.cli._topics import called, former

    found = called(word) or failure_called(word)
    return found[0].page if found else former(word) or None


def _rules() -> List[Tuple[str, str]]:
    """Id and name of every rule."""
    from npu_config.cli._topics import topics

    return [(each.name, each.also[0]) for each in topics() if each.kind == "rule"]
