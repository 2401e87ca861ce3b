"""Every command with its usage, its arguments, its options; and the first sentence of each."""

import json
from typing import Iterator, List, Optional, Tuple

import click

from npu_config.cli import app
from npu_config.cli._output import EXIT_CODES
from npu_config.core.message import speaking
from tools.reference.markdown import NOTE, table

PROGRAM = "npu-config"


def render() -> str:
    """The page."""
    root = click.Context(app.app, info_name=PROGRAM)
    lines = [
        NOTE,
        "# Commands\n",
        (
            "`npu-config COMMAND --help` prints the same. The guide to them is "
            "[the command line](../command-line.md).\n"
        ),
        "Exit codes of every command:\n",
        table(("code", "meaning"), [(str(code), text) for code, text in EXIT_CODES.items()]),
    ]
    for name in app.app.list_commands(root):
        lines += section(app.app.get_command(root, name), root, 2)
    return "\n".join(lines) + "\n"


def summaries(language: str) -> str:
    """The first sentence of each command's help in a language, for the list of all commands."""
    root = click.Context(app.app)
    with speaking(language):
        helps = [(name, app.app.get_command(root, name)) for name in app.app.list_commands(root)]
    found = {
        name: " ".join(command.help.split("\n\n")[0].split())
        for name, command in helps
        if command is not None and command.help
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def section(command: Optional[click.Command], parent: click.Context, level: int) -> Iterator[str]:
    """One command, and those below it."""
    assert command is not None
    context = click.Context(command, info_name=command.name, parent=parent)
    yield "\n{} {}\n".format("#" * level, context.command_path)
    usage = " ".join(command.collect_usage_pieces(context))
    yield "```text\n{} {}\n```\n".format(context.command_path, usage)
    yield from paragraphs(command.help or "")
    options = list(described(command, context))
    if options:
        yield table(("option", "what it does"), options)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from section(command.get_command(context, name), context, level + 1)


def described(command: click.Command, context: click.Context) -> Iterator[Tuple[str, str]]:
    """The options: how they are written, and their help."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            yield "`{}`".format(record[0]), record[1]


def paragraphs(text: str) -> Iterator[str]:
    """The help of a command; lines that are kept as they are (``\\b``) are a block."""
    for paragraph in text.split("\f")[0].split("\n\n"):
        lines: List[str] = paragraph.splitlines()
        if lines[:1] == ["\b"]:
            yield "```text\n{}\n```\n".format("\n".join(lines[1:]))
        elif lines:
            yield _plain(" ".join(lines)) + "\n"


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing."""
    for character in "\\*_[]<>":
        text = text.replace(character, "\\" + character)
    return text
