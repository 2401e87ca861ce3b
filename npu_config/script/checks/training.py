"""Checks of what a training is given: lists of hooks and callbacks, functions of Datasets."""

import ast
import itertools
from bisect import bisect_right
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.python_flow.module import Function, Value
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    FunctionNode,
    argument,
    blocks,
    in_brackets,
    literal,
    name_of,
)
from npu_config.script.checks._check import Context, check, dotted
from npu_config.script.elsewhere import Program
from npu_config.script.meaning import DATASETS, VARIABLES, Meaning
from npu_config.script.vocabulary import TABLES

_INIT = "tf_adapter/python/npu_bridge/npu_init.py"
_FAQ = "docs/en/tfadapter_1/migration/faq/hook_index_error_fix.md"

_APPENDING = {
    "npu_hooks_append": ("hooks_list", "NPUBroadcastGlobalVariablesHook"),
    "npu_callbacks_append": ("callbacks_list", "NPUBroadcastGlobalVariablesCallback"),
}
_CHANGES = ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort")
_PLAIN = (
    *(ast.Expr, ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith, ast.withitem),
    *(ast.expr, ast.keyword),
)
_PERHAPS = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.GeneratorExp)


@check(
    "NPU864",
    Severity.WARNING,
    facts=("hook-index-shift",),
    source=(_FAQ, _INIT),
    whole=True,
    situation="last-hook-after-append",
    needs=(tuple(_APPENDING),),
)
def last_hook_is_appended(context: Context) -> None:
    """The last item of a hook list is read after ``npu_hooks_append`` appended a hook.

    npu_hooks_append and npu_callbacks_append append to the list that is passed to them: its last
    item is then the hook that broadcasts the variables.  A script that reads its own hook from the
    end of the list gets this hook, and an AttributeError when it reads an attribute.

    Wrong:

        hooks = []
        hooks.append(LogHook())
        estimator.train(input_fn, hooks=npu_hooks_append(hooks_list=hooks))
        print(hooks[-1].total_time)

    Right:

        log_hook = LogHook()
        hooks = [log_hook]
        estimator.train(input_fn, hooks=npu_hooks_append(hooks_list=hooks))
        print(log_hook.total_time)
    """
    own = {function.name for _, function in context.script.functions}
    seen: Set[int] = set()
    events: Dict[str, Dict[Optional[FunctionNode], List[Event]]] = {}
    for call in context.calls(*_APPENDING):
        name = name_of(call.func)
        if name in own:
            continue
        for item in _lists(context, call):
            if item not in events:
                events[item] = _events(context, item)
            function = context.script.function_of(call.lineno)
            index = _first_taken(context, call, events[item].get(function, ()))
            if index is not None and id(index) not in seen:
                seen.add(id(index))
                context.report(
                    index,
                    '"{}[-1]" is {} here, because {} in line {} appended it to the list',
                    item,
                    _APPENDING[name][1],
                    name,
                    call.lineno,
                    help="store the object in a separate variable",
                )


def _lists(context: Context, call: ast.Call) -> Iterator[str]:
    """The names of the list that a call extends, where that is certain."""
    statement = context.unread.around(call)[-1]
    result = ""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            result = target.id
            yield result
    given = argument(call, _APPENDING[name_of(call.func)][0], 0)
    if isinstance(given, ast.Name) and given.id != result and _is_list(context, given):
        yield given.id
    elif isinstance(given, ast.Attribute) and dotted(given) and _is_given_lists(context, given):
        yield dotted(given)


def _is_list(context: Context, name: ast.Name) -> bool:
    """True when its function binds a name to lists, and to nothing else."""
    function = context.script.function_of(name.lineno)
    stores = 0
    lists = 0
    for node in context.script.nodes(name.id):
        if not isinstance(node, (ast.Name, ast.arg, ast.Assign)):
            continue
        if context.script.function_of(node.lineno) is not function:
            continue
        if isinstance(node, ast.Assign):
            names = [name_of(target) for target in node.targets]
            lists += names == [name.id] and _makes_list(node.value)
        elif isinstance(node, ast.arg):
            stores += node.arg == name.id
            lists += node.arg == name.id and _is_given_lists(context, name)
        else:
            stores += node.id == name.id and not isinstance(node.ctx, ast.Load)
    return 0 < stores == lists


def _is_given_lists(context: Context, name: ast.expr) -> bool:
    """True for a parameter, or an attribute of ``self``, that is certainly given lists."""
    outer, function = next(context.script.functions_around(name.lineno), (None, None))
    if outer is None or function is None:
        return False
    given = context.meaning.values(outer.child(function), name)
    found = [None if each is None else context.meaning.value(*each) for each in given]
    return bool(found) and all(each is not None and _makes_list(each.node) for each in found)


def _makes_list(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and _makes_list(node.left)
    if isinstance(node, ast.Call):
        return name_of(node.func) in ("list", *_APPENDING)
    return isinstance(node, (ast.List, ast.ListComp))


Event = Tuple[int, bool, int, ast.expr]
"""A line, whether the last item is taken there (else the list is changed), a column, a node."""


def _events(context: Context, name: str) -> Dict[Optional[FunctionNode], List[Event]]:
    """What each function does with a list, in order."""
    found: Dict[Optional[FunctionNode], List[Event]] = {}
    for node in context.script.nodes(name.rpartition(".")[2]):
        takes = False
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node) == name:
            changes = not isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Attribute):
            changes = dotted(node.value) == name and node.attr in _CHANGES
        elif isinstance(node, ast.Subscript) and dotted(node.value) == name:
            changes = not isinstance(node.ctx, ast.Load)
            takes = not changes and _is_last(node)
        else:
            continue
        if changes or takes:
            event = (node.lineno, takes, node.col_offset, node)
            found.setdefault(context.script.function_of(node.lineno), []).append(event)
    for events in found.values():
        events.sort(key=lambda event: event[:3])
    return found


def _first_taken(context: Context, call: ast.Call, events: Sequence[Event]) -> Optional[ast.expr]:
    """The first place behind a call, and certainly run after it, where ``name[-1]`` is taken."""
    before = context.unread.around(call)
    lines = [event[0] for event in events]
    for _, takes, _, node in itertools.islice(events, bisect_right(lines, call.lineno), None):
        if not takes:
            return None
        if _is_after((*before, call), (*context.unread.around(node), node)):
            return node
    return None


def _is_last(node: ast.Subscript) -> bool:
    """True for ``name[-1]``, and for ``name[len(name) - 1]``."""
    index = in_brackets(node)
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub):
        counted = index.left.args if isinstance(index.left, ast.Call) else []
        return (
            literal(index.right) == 1
            and name_of(getattr(index.left, "func", index)) == "len"
            and [dotted(each) for each in counted] == [dotted(node.value)]
        )
    return bool(literal(index) == -1)


def _is_after(before: Sequence[ast.AST], after: Sequence[ast.AST]) -> bool:
    """True when a node is only run after another one was, by the bodies that they are in."""
    shared = 0
    while before[shared] is after[shared]:
        shared += 1
    way = before[shared:]
    if any(not isinstance(n, _PLAIN) or isinstance(n, (*_PERHAPS, *DEFINITIONS)) for n in way):
        return False
    around = before[shared - 1]
    bodies: List[Sequence[ast.AST]] = list(blocks(around))
    if isinstance(around, (ast.Module, *DEFINITIONS)):
        bodies.append(around.body)
    return any(before[shared] in body and after[shared] in body for body in bodies)


@check(
    "NPU889",
    Severity.ERROR,
    facts=("preprocess-tf-variable",),
    source=("docs/en/tfadapter_1/migration/faq",),
    whole=True,
    situation="dataset-function-captures-variable",
    needs=(("Variable", "get_variable"), DATASETS),
)
def variable_in_dataset_function(context: Context) -> None:
    """A tf.Variable is created in a function that is passed to Dataset.map.

    Preprocessing runs on the host, but the variable is initialised on the device: training fails.

    Wrong:

        def parse(record):
            scale = tf.Variable(255.0)
            return record / scale

        dataset = dataset.map(parse)

    Right:

        def parse(record):
            return record / tf.constant(255.0)

        dataset = dataset.map(parse)
    """
    for function in _mapped_functions(context):
        for part in context.meaning.body(function):
            if not isinstance(part.node, ast.Call):
                continue
            if context.meaning.tf(part.scope, part.node.func) in VARIABLES:
                context.report(
                    part.node,
                    "preprocessing uses a variable: preprocessing runs on the host, but the "
                    "variable is initialised on the device, so training fails",
                    help="use a constant, or create the variable outside of the dataset",
                )


def _mapped_functions(context: Context) -> List[Function]:
    """The functions that datasets are given, and those that they call."""
    given = [function for _, function in context.meaning.given_functions]
    return context.meaning.reached(given)


def _table(meaning: Meaning, part: Value) -> Optional[Value]:
    """The call that makes the table that a name certainly is."""
    if not isinstance(part.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    made = meaning.result(part.scope, part.node)
    if made is None or not isinstance(made.node, ast.Call):
        return None
    name = meaning.tf(made.scope, made.node.func) or ""
    return made if name.rpartition(".")[2] in TABLES else None


@check(
    "NPU890",
    Severity.ERROR,
    facts=("mix-compile-resource-tables",),
    source=("docs/en/tfadapter_1/apiref/session_config/mixed_computing.md",),
    whole=True,
    also=("mix_compile_mode",),
    situation="dataset-function-uses-table",
    needs=(DATASETS,),
)
def table_in_dataset_function(context: Context) -> None:
    """A lookup table is used in preprocessing, and mixed computing is off.

    The table is initialised on the device but used on the host, which fails unless
    ``mix_compile_mode`` keeps both on the host.

    Wrong:

        table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
        dataset = dataset.map(lambda text: table.lookup(text))

    Right:

        custom_op.parameter_map["mix_compile_mode"].b = True
        table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
        dataset = dataset.map(lambda text: table.lookup(text))
    """
    from_elsewhere = list(context.program(*TABLES).given())
    if not (from_elsewhere or context.mentions(*TABLES)) or not context.is_offloaded:
        return
    for elsewhere in from_elsewhere:
        for part in Program.inside(elsewhere):
            if _table(elsewhere.meaning, part):
                context.report(
                    elsewhere.node,
                    'preprocessing uses a lookup table ({}) without "mix_compile_mode": the '
                    "table is initialised on the device but used on the host",
                    elsewhere.says(part.node),
                    option="mix_compile_mode",
                    help='set "mix_compile_mode" to True',
                )
                break
    meaning = context.meaning
    seen: Set[int] = set()
    places = [
        part
        for function in _mapped_functions(context)
        for part in meaning.body(function)
        if isinstance(part.node, (ast.Name, ast.Attribute, ast.Subscript))
    ]
    for site, value in meaning.function_values():
        if isinstance(value, ast.Attribute) and value.attr == "lookup":
            places.append(Value(site.scope, value.value))
    for part in places:
        made = _table(meaning, part)
        if made is not None and id(made.node) not in seen:
            seen.add(id(made.node))
            context.report(
                part.node,
                'preprocessing uses a lookup table without "mix_compile_mode": the table is '
                "initialised on the device but used on the host",
                option="mix_compile_mode",
                help='set "mix_compile_mode" to True',
            )
