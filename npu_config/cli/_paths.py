"""Types of arguments that name files, with the completion that shells offer for them."""

import os
from typing import TYPE_CHECKING, Any, Iterable, List, Optional

import click

from npu_config.cli._output import Failure

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class InputPath(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A file or directory that is read.

    Args:
        must_exist: refuse a path that names nothing (exit code 2).
        stdin: ``-`` stands for standard input.
    """

    name = "path"

    def __init__(self, must_exist: bool = True, stdin: bool = True) -> None:
        self.must_exist = must_exist
        self.stdin = stdin

    def convert(
        self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]
    ) -> str:
        """The path; a path that names nothing is refused."""
        path = str(value)
        if "\0" in path:
            raise Failure("{} is not a path", path)
        if self.must_exist and not (self.stdin and path == "-") and not os.path.lexists(path):
            raise Failure("{} does not exist", path)
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "List[CompletionItem]":
        """Files, as the shell completes them."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


def missing(paths: Iterable[str]) -> List[str]:
    """The paths that name nothing."""
    return [path for path in paths if path != "-" and not os.path.lexists(path)]


INPUT = InputPath()
FILE = InputPath(stdin=False)
ANY_PATH = InputPath(must_exist=False)
