"""``npu-config diff``."""

import contextlib
from typing import Any, Dict, List, Optional, Tuple

import click

from npu_config.cli._options import INPUT, as_option, set_option
from npu_config.cli._output import say


@click.command("diff")
@click.argument("old", metavar="A", type=INPUT)
@click.argument("new", metavar="B", type=INPUT)
@as_option
@set_option
def command(old: str, new: str, as_kind: Optional[str], overrides: Tuple[Any, ...]) -> int:
    """Print the options that two configurations set differently; exit code 1 when there are any.

    Values are compared, not their spelling: the steps "0|5" and [0, 5] are the same.  The target
    is not an option, and is not compared.
    """
    if (old, new) == ("-", "-"):
        raise click.UsageError("only one of the two can be standard input")
    before, after = (
        _values(path, as_kind, given) for path, given in ((old, ()), (new, overrides))
    )
    lines = _differences(before, after)
    if lines:
        say("--- {}\n+++ {}\n".format(old, new) + "".join(lines))
    return 1 if lines else 0


def _values(path: str, as_kind: Optional[str], overrides: Tuple[Any, ...] = ()) -> Dict[str, Any]:
    """Every setting of a file by name; exit code 1, with its findings, when it has errors."""
    from npu_config.catalogue import OPTIONS, InvalidValue
    from npu_config.cli._report import complain, read_configuration
    from npu_config.core.settings import UNKNOWN

    reading = read_configuration(path, as_kind).overridden(overrides)
    errors = [d for d in reading.diagnostics if d.severity.rank == 2]
    if errors or not reading.settings:
        complain(reading.diagnostics, reading)
        raise click.exceptions.Exit(1)
    values: Dict[str, Any] = {}
    entries = reading.settings[0].entries
    known = [name for name in OPTIONS if name in entries]
    for name in [*known, *(name for name in entries if name not in OPTIONS)]:
        value = entries[name].value
        option = OPTIONS.get(name)
        if option is not None and value is not UNKNOWN:
            with contextlib.suppress(InvalidValue):
                value = option.kind.to_wire(option.kind.parse(value))
        values[name] = value
    return values


def _differences(before: Dict[str, Any], after: Dict[str, Any]) -> List[str]:
    lines = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if name in before and name in after and type(old) is type(new) and old == new:
            continue
        if name in before:
            lines.append("-{}: {}\n".format(name, _shown(old)))
        if name in after:
            lines.append("+{}: {}\n".format(name, _shown(new)))
    return lines


def _shown(value: Any) -> str:
    from npu_config.writers import scalar

    return scalar(value) if isinstance(value, (bool, int, str)) else repr(value)
