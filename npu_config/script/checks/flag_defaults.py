"""The check of flags: a default that the option refuses."""

import re
from typing import Any

from npu_config.catalogue import OPTIONS, InvalidValue
from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.flags import DEFINITION
from npu_config.script.objects import Unknown, origins

_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"

_STORE = r"""(?:\.{0}|\[["']{0}["']\](?:\.value)?)\s*=(?!=)"""
_QUOTED = r"""["']{0}["']"""
_REQUIRED = re.compile(r"\brequired\s*=\s*True\b")
_LINES_OF_DEFINITION = 6


@check(
    "NPU834",
    Severity.WARNING,
    facts=("string-flag-values",),
    source=(_INTRODUCTION,),
)
def flag_default_not_allowed(context: Context) -> None:
    """An option takes its value from a command-line flag whose default is not legal.

    When the flag is not given, the runtime gets that value.

    Wrong:

        flags.DEFINE_string("over_dump_path", "./overflow", "where to dump")
        custom_op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes(FLAGS.over_dump_path)

    Right:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(FLAGS.over_dump_path)
    """
    for block in context.run.blocks:
        for entry in block.entries.values():
            option = OPTIONS.get(entry.name)
            value = entry.value
            if option is None or option.wire != entry.wire or not isinstance(value, Unknown):
                continue
            default = None if value.flag is None else context.script.flags.default(value.flag)
            if value.flag is None or default is None or default.value is None:
                continue
            given = _as_stored(default.value, entry.wire, _is_of_str(value))
            if given is None:
                continue
            try:
                option.kind.parse(given)
            except InvalidValue as refused:
                if _is_guarded(context, value.flag) or _is_given_otherwise(
                    context, value.flag, default.line
                ):
                    continue
                context.report(
                    phrase(
                        '"{}" is the flag "{}", whose default in line {} is refused: it {}; '
                        "legal: {}",
                        entry.name,
                        value.flag,
                        default.line,
                        refused.problem,
                        option.kind.describe(),
                    ),
                    entry.place,
                    entry.path,
                    option=entry.name,
                    help="give the flag a default that is legal",
                )


def _is_of_str(value: Unknown) -> bool:
    """True for ``as_bytes(str(...))``."""
    return any(part.key == "str" for origin in value.parts for part in origins(origin))


def _as_stored(value: Any, wire: str, of_str: bool) -> Any:
    """What the field holds when the flag is not given; None when that cannot be said."""
    if wire == "s":
        if isinstance(value, str) and value:
            return value
        return str(value) if isinstance(value, int) and of_str else None
    if wire == "i" and isinstance(value, int) and not isinstance(value, bool):
        return value
    return None


def _is_guarded(context: Context, flag: str) -> bool:
    """True when the path rests on a condition about the flag."""
    assert context.path is not None
    trace = context.path.trace
    return any(part.flag == flag for decision in trace for part in origins(decision.condition))


def _is_given_otherwise(context: Context, flag: str, line: int) -> bool:
    """True when the script sets the flag itself, or demands it on the command line."""
    source = context.script.source
    if context.mentions("set_defaults", "set_default"):
        return True
    stores = re.compile(_STORE.format(re.escape(flag)))
    quoted = re.compile(_QUOTED.format(re.escape(flag)))
    for text in (source.lines[number - 1] for number in source.mentions(flag)):
        if stores.search(text) or ("setattr(" in text and quoted.search(text)):
            return True
    definition = " ".join(source.lines[line - 1 : line + _LINES_OF_DEFINITION])
    return _REQUIRED.search(DEFINITION.split(definition)[1]) is not None
