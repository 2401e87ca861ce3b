"""Checks of single assignments, arguments, switches and defaults of flags, beyond the value."""

import ast
import contextlib
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple, Union

from npu_config.catalogue import OPTIONS, InvalidValue
from npu_config.catalogue.api import ARGUMENT_VERSIONS, CLASSES, OPTION_OF, PARAMETERS
from npu_config.catalogue.kinds import written_int
from npu_config.core.diagnostics import Fix, Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.python_flow.scopes import UNCLEAR, literal, literal_text, name_of
from npu_config.script.checks._check import Context, check
from npu_config.script.objects import (
    Argument,
    Block,
    Constructed,
    Entry,
    Fails,
    Unknown,
    is_known,
    origins,
)
from npu_config.script.reading import written
from npu_config.script.script import DEFINITION, destination
from npu_config.text.words import is_typo, joined, near, shown

_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"
_CONFIG = "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py"
_LEAST = 0.8
"""How much alike an argument must be: TensorFlow's ``tpu_config`` is no ``dump_config``."""

_ONE_LITERAL = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\Z""")
_MODES = frozenset(
    value
    for name in (
        "dump_mode",
        "dump_debug_mode",
        "dump_data",
        "precision_mode",
        "precision_mode_v2",
    )
    for value in getattr(OPTIONS[name].kind, "values", ())
)


@check(
    "NPU835",
    Severity.WARNING,
    facts=("dump-path-required",),
    source=("docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md",),
)
def mode_in_place_of_path(context: Context) -> None:
    """``dump_path`` is set to the value of another option, such as ``"all"``.

    The dump is written to a directory of that name, or fails; probably ``dump_mode`` or
    ``dump_debug_mode`` was meant.

    Wrong:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("all")

    Right:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
        custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("all")
    """
    for block in context.run.blocks:
        for entry in block.all_entries:
            if entry.name == "dump_path" and entry.value in _MODES and is_known(entry.value):
                context.report(
                    entry.place,
                    '"dump_path" is "{}", which is a mode, not a directory',
                    entry.value,
                    guards=entry.path,
                    option="dump_path",
                    help='set "dump_mode" or "dump_debug_mode" to this value, and '
                    '"dump_path" to a directory',
                )
                _report_swapped(context, block, str(entry.value))


def _report_swapped(context: Context, block: Block, mode: str) -> None:
    """The path that is most likely swapped with the mode."""
    for name in ("dump_mode", "dump_debug_mode"):
        entry = block.entries.get(name)
        if entry is not None and isinstance(entry.value, Unknown):
            flag = entry.value.flag or ""
            if flag.endswith(("path", "dir")):
                context.report(
                    entry.place,
                    '"{}" is set to the flag "{}", and "dump_path" to "{}"; the two values seem '
                    "to be swapped",
                    name,
                    flag,
                    mode,
                    guards=entry.path,
                    option=name,
                    help="swap the two values",
                )


@check(
    "NPU836",
    Severity.ERROR,
    facts=("string-is-bytes",),
    source=(_INTRODUCTION,),
)
def assignment_raises(context: Context) -> None:
    """A value of the wrong type is assigned to a field of AttrValue.

    protobuf raises TypeError.  ``.s`` needs bytes; ``tf.compat.as_bytes`` needs text and returns
    bytes.

    Wrong:

        custom_op.parameter_map["precision_mode"].s = "allow_mix_precision"

    Right:

        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
    """
    for node, failure, guards in context.run.failures:
        place = context.place(node)
        meant = _meant(failure)
        fix = None
        if failure.field == "s":
            fix = _as_literal_bytes(context, place)
        elif meant is not None:
            fix = written(place, meant, context.run, context.script.source)
        help = _help_for(failure) if meant is None else phrase("write {}", meant)
        context.report(place, failure.reason, guards=guards, help=help, fix=fix)


_FORMS = {"b": "True or False", "i": "an integer", "f": "a number"}


def _meant(failure: Fails) -> Union[bool, int, None]:
    """The value of a text that is assigned to another field, where it holds one."""
    text = failure.value.strip() if isinstance(failure.value, str) else ""
    if failure.field == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return written_int(text) if failure.field == "i" else None


def _help_for(failure: Fails) -> str:
    """What to write in the place of a value that raises, as far as that is clear."""
    field, value = failure.field, failure.value
    if value is None:
        return "set it only when the value is not None"
    if field is None or field == "s":
        is_text = field == "s" and isinstance(value, str)
        return phrase("write tf.compat.as_bytes({})", "..." if is_text else "str(...)")
    return phrase("set the value to {}", _FORMS[field])


def _as_literal_bytes(context: Context, place: Place) -> Optional[Fix]:
    """Put a ``b`` before a plain literal of ASCII characters."""
    text = context.script.source.at(place)
    if text[:1] not in ("'", '"') or not text.isascii() or _ONE_LITERAL.match(text) is None:
        return None
    return Fix.writing(place, "b" + text, "write the string as bytes")


@check(
    "NPU838",
    Severity.WARNING,
    facts=("string-is-bytes",),
    source=(_INTRODUCTION,),
)
def bytes_of_unset_variable(context: Context) -> None:
    """``as_bytes(os.getenv(...))`` is called without a default for the variable.

    If the variable is not set, os.getenv returns None and as_bytes raises TypeError.

    Wrong:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(os.getenv("DUMP_PATH"))

    Right:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(
            os.getenv("DUMP_PATH", "/tmp/dump")
        )
    """
    for node, value, guards in context.run.environment:
        if _is_named(context, value.parts[1]):
            continue
        context.report(
            node,
            "{} is None if the environment variable is not set, and as_bytes raises TypeError",
            value.key,
            guards=guards,
            help="add a default, or set the option only when the environment variable is set",
        )


def _is_named(context: Context, variable: Any) -> bool:
    """True when the path rests on a condition that names an environment variable."""
    assert context.path is not None
    tests = (each.node for each in context.path.trace if each.node is not None)
    return any(variable in map(literal_text, ast.walk(test)) for test in tests)


@check(
    "NPU839",
    Severity.ERROR,
    facts=("run-config-no-field",),
    source=(_CONFIG,),
)
def unknown_argument(context: Context) -> None:
    """A constructor of npu_bridge is called with an argument that does not exist.

    The call raises TypeError.

    Wrong:

        NPURunConfig(auto_tune_mode="RL,GA")

    Right:

        NPURunConfig(aoe_mode="2")
    """
    for made in context.run.constructed:
        if made.kind not in CLASSES:
            continue
        if isinstance(made.node, ast.Call) and context.is_from_elsewhere(
            made.node.func, made.kind
        ):
            continue
        names = PARAMETERS[made.kind]
        foreign: Dict[str, Argument] = {}
        for name, argument in made.arguments.items():
            if name in names or _was_argument(context, made.kind, name):
                continue
            close = near(name, names, _LEAST)
            option = OPTIONS.get(name)
            help = None
            fix = None
            if close:
                help = phrase('did you mean "{}"?', close)
                is_written = context.script.source.at(argument.name_place) == name
                if is_written and is_typo(name, close) and close not in made.arguments:
                    title = phrase('rename to "{}"', close)
                    fix = Fix.writing(argument.name_place, close, title)
            elif option is not None and option.replacement:
                help = phrase("use {}", option.replacement)
            elif option is not None:
                help = "set it on the NpuOptimizer of session_config"
            else:
                foreign[name] = argument
                continue
            context.report(
                argument.name_place,
                '{} has no argument "{}"; the call raises TypeError',
                made.kind,
                name,
                guards=made.path,
                help=help,
                fix=fix,
            )
        if foreign:
            _report_foreign(context, made, foreign)


def _report_foreign(context: Context, made: Constructed, foreign: Dict[str, Argument]) -> None:
    """The arguments of one call that are like none there is: one finding, for one TypeError."""
    names = PARAMETERS[made.kind]
    several = len(foreign) > 1
    context.report(
        next(iter(foreign.values())).name_place,
        "{} has no arguments {}; the call raises TypeError"
        if several
        else "{} has no argument {}; the call raises TypeError",
        made.kind,
        joined([shown(name) for name in foreign]),
        guards=made.path,
        help=phrase(
            "remove the unknown arguments; legal arguments: {}"
            if several
            else "remove the unknown argument; legal arguments: {}",
            listed(names[:8]) + (" ..." if len(names) > 8 else ""),
        ),
    )


def _was_argument(context: Context, kind: str, name: str) -> bool:
    """True for an argument of NPURunConfig that the adapter of the target still had."""
    versions = ARGUMENT_VERSIONS.get(name) if kind == "NPURunConfig" else None
    return versions is not None and context.version is not None and versions.has(context.version)


@check(
    "NPU884",
    Severity.WARNING,
    facts=("custom-op-duplicate",),
    source=(_INTRODUCTION,),
)
def option_set_twice(context: Context) -> None:
    """A later assignment always replaces the earlier value of an option.

    The first value is lost.  If the earlier assignment is under a condition, the condition has no
    effect.  (A default value that is overridden under a condition is not reported.)

    Wrong:

        if args.dynamic_input == "1":
            custom_op.parameter_map["dynamic_graph_execute_mode"].s = b"dynamic_execute"
        custom_op.parameter_map["dynamic_graph_execute_mode"].s = b"lazy_recompile"

    Right:

        mode = b"dynamic_execute" if args.dynamic_input == "1" else b"lazy_recompile"
        custom_op.parameter_map["dynamic_graph_execute_mode"].s = mode
    """
    for block in context.run.blocks:
        by_name = {(entry.name, entry.name_place): entry for entry in reversed(block.all_entries)}
        by_name.update(
            ((entry.name, entry.name_place), entry) for entry in reversed(block.shadowed)
        )
        for first in block.shadowed:
            second = by_name.get((first.name, first.shadowed_by))
            if second is None or first.built_in or second.built_in:
                continue
            if first.function != second.function:
                continue
            if second.path != first.path[: len(second.path)]:
                continue
            if _is_used_between(block, first, second):
                continue
            same = (
                is_known(first.value)
                and first.wire == second.wire
                and repr(first.value) == repr(second.value)
            )
            conditional = len(first.path) > len(second.path)
            context.report(
                second.name_place,
                '"{}" is already set in line {}{}',
                second.name,
                first.name_place.line,
                phrase(", to the same value")
                if same
                else phrase("; the condition in that line has no effect")
                if conditional
                else phrase("; the earlier value is lost"),
                guards=second.path,
                option=second.name,
                help="set it once",
                severity=Severity.INFO if same else None,
            )


def _is_used_between(block: Block, first: Entry, second: Entry) -> bool:
    """True when something got the configuration while it held the first value."""
    uses = list(block.uses)
    if block.message is not None:
        uses += block.message.root.uses
    return any(first.moment < use.moment < second.moment for use in uses)


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
    """An option is set from a flag or an environment variable whose default is not legal.

    If the flag is not specified, or the variable is not set, the runtime gets the default value.
    An option that is set from a table is reported if no value of the table is legal, whichever
    item is selected.

    Wrong:

        flags.DEFINE_string("over_dump_path", "./overflow", "where to dump")
        custom_op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes(FLAGS.over_dump_path)

    Right:

        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(FLAGS.over_dump_path)
    """
    for name, value, place, guards in _known_at_run_time(context):
        default = (
            _default_of_variable(context, value)
            or _default_of_flag(context, value)
            or _item_of_table(name, value)
        )
        refused = None if default is None else _refused(name, default)
        if default is None or refused is None or default.is_overruled():
            continue
        legal = OPTIONS[name].kind.describe()
        message = phrase(default.sentence, name, *default.source, refused.problem, legal)
        context.report(place, message, guards=guards, option=name, help=default.help)


class _Default(NamedTuple):
    """What an option gets where nothing is given.

    ``is_overruled`` is asked last: it looks through the text of the script.
    """

    value: Any
    is_overruled: Callable[[], bool]
    sentence: str
    source: Tuple[Any, ...]
    help: str
    of_str: bool = False


def _default_of_flag(context: Context, value: Unknown) -> Optional[_Default]:
    flag = value.flag
    default = None if flag is None else context.script.flags.get(flag)
    if flag is None or default is None or default.value is None:
        return None
    name, line = flag, default.line
    return _Default(
        default.value,
        lambda: _is_guarded(context, name) or _is_given_otherwise(context, name, line),
        '"{}" is set from the flag "{}", whose default in line {} is illegal: it {}; legal: {}',
        (flag, line),
        "set a legal default for the flag",
        _is_of_str(value),
    )


def _default_of_variable(context: Context, value: Unknown) -> Optional[_Default]:
    """The same for a variable of the environment."""
    found = _variable_of(value)
    if found is None:
        return None
    variables, default = found
    return _Default(
        default,
        lambda: any(_is_named(context, v) or _is_set_here(context, v) for v in variables),
        '"{}" has an illegal default, used when the environment variable {} is not set: it '
        "{}; legal: {}"
        if len(variables) == 1
        else '"{}" has an illegal default, used when none of the environment variables {} is '
        "set: it {}; legal: {}",
        (", ".join(variables),),
        "set a legal default",
    )


def _item_of_table(name: str, value: Unknown) -> Optional[_Default]:
    """The first value of the table that a value is certainly taken from, if none is legal."""
    while value.convert is not None and isinstance(value.parts[-1], Unknown):
        value = value.parts[-1]
    table = value.parts[0] if value.parts else None
    if not isinstance(table, (dict, list, tuple)) or not table or not is_known(table):
        return None
    values = [*(table.values() if isinstance(table, dict) else table), *value.parts[2:]]
    found = [
        _Default(
            each,
            lambda: False,
            '"{}" is set to a value of a list or dict that has no legal value; '
            "its first value {}; legal: {}",
            (),
            "use only legal values in the list or dict",
        )
        for each in values
    ]
    return found[0] if all(_refused(name, each) for each in found) else None


_Given = Tuple[str, Unknown, Place, Tuple[int, ...]]


def _known_at_run_time(context: Context) -> Iterator[_Given]:
    """The options whose value is known at run time only: its name, the value, its place."""
    for block in context.run.blocks:
        for entry in block.entries.values():
            option = OPTIONS.get(entry.name)
            if option and option.wire == entry.wire and isinstance(entry.value, Unknown):
                yield entry.name, entry.value, entry.place, entry.path
    for made in context.run.constructed:
        if made.kind == "NPURunConfig":
            yield from _of_run_config(made, "")
    yield from (each for each in context.run.given if each[0] in OPTIONS)


def _of_run_config(made: Constructed, prefix: str) -> Iterator[_Given]:
    for argument, (value, place, _, _) in made.arguments.items():
        name = OPTION_OF.get(prefix + argument)
        if isinstance(value, Constructed):
            yield from _of_run_config(value, prefix + argument + ".")
        elif name is not None and isinstance(value, Unknown):
            yield name, value, place, made.path


def _refused(name: str, default: _Default) -> Optional[InvalidValue]:
    """Why an option does not take the default of what it is set to."""
    option = OPTIONS[name]
    given = _as_stored(default.value, option.wire, default.of_str)
    if given is not None:
        try:
            option.kind.parse(given)
        except InvalidValue as refused:
            return refused
    return None


_GETS = ("os.getenv", "os.environ.get")
_NUMBERS: Dict[str, Callable[[Any], Any]] = {"int": int, "float": float}


def _variable_of(value: Unknown) -> Optional[Tuple[Tuple[str, ...], Any]]:
    """The variables of the environment that a value is, and what it is where none is set."""
    function = value.parts[0] if value.parts else None
    convert = value.convert
    if convert is None and isinstance(function, Unknown) and len(value.parts) == 2:
        convert = _NUMBERS.get(function.key)
    if convert is not None:
        inner = value.parts[-1]
        found = _variable_of(inner) if isinstance(inner, Unknown) else None
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return None if found is None else (found[0], convert(found[1]))
        return None
    if not isinstance(function, Unknown) or function.key not in _GETS or len(value.parts) != 3:
        return None
    _, variable, default = value.parts
    if not isinstance(variable, str):
        return None
    inner = _variable_of(default) if isinstance(default, Unknown) else None
    if inner is not None:
        return (variable, *inner[0]), inner[1]
    return ((variable,), default) if is_known(default) else None


_SETS = re.compile(r"setdefault|putenv|update|\benviron[ ]?\[[^\]]{0,99}\][ \t]{0,9}=(?!=)")


def _is_set_here(context: Context, variable: str) -> bool:
    """True when a line with the variable may set it."""
    source = context.script.source
    return any(_SETS.search(source.lines[n - 1]) for n in source.mentions(variable))


def _is_of_str(value: Unknown) -> bool:
    """True for ``as_bytes(str(...))``."""
    return any(part.key == "str" for origin in value.parts for part in origins(origin))


def _as_stored(value: Any, wire: str, of_str: bool) -> Any:
    """What the field holds when the flag is not given; None when that cannot be said."""
    if wire == "s":
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
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
    """A script sets ``profiling_mode`` to False under ``if profiling:``.

    The flag of the script requests profiling (or a dump), but the only assignment under the flag
    disables it: it can never be enabled.  The same happens if the condition compares a text flag
    with True: argparse returns text for a flag without ``type`` and ``action``.

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
                    entry.place,
                    '"{}" is set to False when "{}" is true, and no code sets the option to '
                    "True in that case",
                    entry.name,
                    decision.text,
                    guards=entry.path,
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
                    decision.node,
                    'the condition "{}" is never true, so "{}" is never switched on: the '
                    "value of the flag in line {} is text, or the default {}",
                    decision.text,
                    name,
                    line,
                    '"{}"'.format(default) if isinstance(default, str) else default,
                    guards=guards,
                    option=name,
                    help='define the flag with action="store_true", or compare it with a string',
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
            if made.value(name) is True:
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
    found = [call for call in context.calls("add_argument") if destination(call) == node.attr]
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
