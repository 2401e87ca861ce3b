"""The check of switches of the script that switch nothing on."""

import ast
import re
from typing import Any, Iterator, List, Optional, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.scopes import UNCLEAR, literal, literal_text, name_of

_DENIALS = frozenset(("no", "not", "non", "disable", "disabled", "without", "skip", "off", "stop"))
_SWITCHES = {
    "profiling_mode": frozenset(("prof", "profile", "profiler", "profiling")),
    "enable_dump": frozenset(("dump", "dumping")),
    "enable_dump_debug": frozenset(("dump", "dumping", "overflow")),
}
_ON = {
    "DumpConfig": ("enable_dump", "enable_dump_debug"),
    "ProfilingConfig": ("enable_profiling",),
}
_PARSING = ("parse_args", "parse_known_args")
_REPLACING = ("set_defaults", "set_default", "setattr", "__dict__", "vars")


@check(
    "NPU885",
    Severity.WARNING,
    facts=("profiling-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:2127-2133",),
)
def switch_never_on(context: Context) -> None:
    """``if profiling:`` sets ``profiling_mode`` to False.

    The flag of the script asks for profiling (or for a dump), and the only assignment under it
    switches it off: it can never be switched on.  So it is where the condition compares a flag
    that holds text with True: argparse gives text for a flag without ``type`` and ``action``.

    Wrong:

        if args.profiling:
            custom_op.parameter_map["profiling_mode"].b = False
            custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes(options)

    Right:

        if args.profiling:
            custom_op.parameter_map["profiling_mode"].b = True
            custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes(options)

    Wrong:

        parser = argparse.ArgumentParser()
        parser.add_argument("--over_dump", default=False)
        args = parser.parse_args()
        if args.over_dump is True:
            custom_op.parameter_map["enable_dump_debug"].b = True

    Right:

        parser = argparse.ArgumentParser()
        parser.add_argument("--over_dump", action="store_true")
        args = parser.parse_args()
        if args.over_dump is True:
            custom_op.parameter_map["enable_dump_debug"].b = True
    """
    assert context.path is not None
    _report_never_true(context)
    for block in context.run.blocks:
        for entry in block.entries.values():
            words = _SWITCHES.get(entry.name)
            if words is None or entry.value is not False or not entry.path:
                continue
            decision = context.path.trace[entry.path[-1]]
            asks = set(re.findall("[a-z]+", decision.text.lower()))
            if decision.asks_for and words & asks and not _DENIALS & asks:
                context.report(
                    phrase(
                        '"{}" is False where "{}" holds: nothing here switches it on',
                        entry.name,
                        decision.text,
                    ),
                    entry.place,
                    entry.path,
                    option=entry.name,
                    help="set it to True",
                    named=entry.path[-1],
                )


def _report_never_true(context: Context) -> None:
    """Report conditions that never hold, and that a switch is under."""
    assert context.path is not None
    trace = context.path.trace
    for name, guards in _switched_on(context):
        for index in guards:
            decision = trace[index]
            flag = _compared_with_true(decision.node, decision.node_holds)
            found = None if flag is None else _text_flag(context, *flag)
            if found is not None:
                assert decision.node is not None
                default, line = found
                context.report(
                    phrase(
                        '"{}" never holds, and "{}" under it is never on: the flag of line {} is '
                        "text, or its default {}",
                        decision.text,
                        name,
                        line,
                        '"{}"'.format(default) if isinstance(default, str) else default,
                    ),
                    context.place(decision.node),
                    guards,
                    option=name,
                    help='define the flag with action="store_true", or compare it with text',
                    named=index,
                )
                break


def _switched_on(context: Context) -> Iterator[Tuple[str, Tuple[int, ...]]]:
    """The switches that are on, with the decisions that they are under."""
    for block in context.run.blocks:
        for entry in block.entries.values():
            if entry.name in _SWITCHES and entry.value is True:
                yield entry.name, entry.path
    for made in context.run.constructed:
        for name in _ON.get(made.kind, ()):
            argument = made.arguments.get(name)
            if argument is not None and argument.value is True:
                yield name, made.path


def _compared_with_true(node: Optional[ast.expr], holds: bool) -> Optional[Tuple[ast.expr, bool]]:
    """What is compared with True, and whether by ``is``, where the two are the same."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    kinds = (ast.Is, ast.Eq) if holds else (ast.IsNot, ast.NotEq)
    if not isinstance(node.ops[0], kinds) or literal(node.comparators[0]) is not True:
        return None
    return node.left, isinstance(node.ops[0], (ast.Is, ast.IsNot))


def _text_flag(context: Context, node: ast.expr, identical: bool) -> Optional[Tuple[Any, int]]:
    """The default and the line of a flag that is never True: text, or a default other than that.

    Args:
        context: what the check sees.
        node: the expression.
        identical: a default that equals True, as 1 does, is not True.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    if context.mentions(*_REPLACING) or _is_stored(context, node.attr):
        return None
    if not any(name.split(".")[0] == "argparse" for name in context.script.imported("argparse")):
        return None
    if node.value.id not in _parsed(context):
        return None
    found = [call for call in context.calls("add_argument") if _destination(call) == node.attr]
    if len(found) != 1 or not _gives_text(found[0]):
        return None
    defaults = [keyword.value for keyword in found[0].keywords if keyword.arg == "default"]
    default = literal(defaults[0]) if defaults else None
    if default is UNCLEAR or default is True or (not identical and default == 1):
        return None
    return default, found[0].lineno


def _gives_text(call: ast.Call) -> bool:
    """True for an argument of argparse that is text when it is given."""
    return all(
        keyword.arg in ("default", "dest", "help", "metavar", "required", "choices")
        or (keyword.arg == "type" and name_of(keyword.value) == "str")
        for keyword in call.keywords
    )


def _is_stored(context: Context, attribute: str) -> bool:
    """True when the script itself gives an attribute a value."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and not isinstance(node.ctx, ast.Load)
        for node in context.script.nodes(attribute)
    )


def _parsed(context: Context) -> Set[str]:
    """The names that hold parsed arguments."""
    functions = [context.script.function_of(call.lineno) for call in context.calls(*_PARSING)]
    callees = {*_PARSING, *(function.name for function in functions if function is not None)}
    names: List[str] = []
    for node in context.script.nodes(*callees):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and name_of(value.func) in callees:
            assert isinstance(node, ast.Assign)
            for target in node.targets:
                first = target.elts[0] if isinstance(target, ast.Tuple) else target
                names.append(name_of(first))
    return set(names) - {""}


def _destination(call: ast.Call) -> str:
    """The attribute that an argument of argparse becomes."""
    for keyword in call.keywords:
        if keyword.arg == "dest":
            return literal_text(keyword.value) or ""
    names = [name for name in map(literal, call.args) if isinstance(name, str)]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else ""
