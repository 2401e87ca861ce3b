"""Situations whose code stands in another file: told where the script names the function."""

import ast
import os
import re
from functools import partial
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Rule, Severity
from npu_config.core.message import phrase
from npu_config.python_flow.module import Site, Value
from npu_config.python_flow.scopes import last_line, name_of
from npu_config.python_flow.source import ScriptSource, words_of
from npu_config.script.checks._check import CHECKS, Check, Context, recognises
from npu_config.script.checks.network import (
    PYTHON,
    TANH,
    TRAINING,
    is_of_gelu,
    operator_in_loop,
)
from npu_config.script.checks.numbers import double_in_network
from npu_config.script.checks.pipeline import (
    KERAS_VARIABLES,
    NOT_TRAINING,
    OF_ALL_VARIABLES,
    TOGETHER,
    Initialisers,
    argument_from_variable,
    captured,
    initialised_together,
    is_for_training,
    keras_variable_in_input,
    many_threads,
    queues,
    runs_of_both,
    short_last_batch,
    variable_captured,
)
from npu_config.script.checks.ranks import (
    NOT_BROADCAST,
    SENDING,
    WRAPPERS,
    broadcasts,
    has_seed,
)
from npu_config.script.elsewhere import Elsewhere, Program
from npu_config.script.meaning import DATASETS, is_of_input
from npu_config.script.neighbours import has, once_for, text_of
from npu_config.script.vocabulary import SESSIONS
from npu_config.situations import host, pipeline, precision, ranks, shapes


@recognises(pipeline.variable_in_preprocessing, DATASETS, elsewhere=True)
def variable_captured_elsewhere(context: Context) -> None:
    """A function of another file that reads a variable of that file."""
    seen = set()
    for each in context.program("Variable", "get_variable", "get_or_create_global_step").given():
        for part, variable in captured(each.meaning, each.function):
            if id(part.node) in seen or each.meaning.makes(*variable, KERAS_VARIABLES):
                continue
            seen.add(id(part.node))
            context.report(
                each.node,
                'a dataset function uses the variable "{}" ({}): the function runs on the '
                "host, but the variable is initialised on the device",
                name_of(part.node),
                each.says(part.node),
            )
            break  # one finding for a function


@recognises(pipeline.keras_backend_variable_in_input, DATASETS, elsewhere=True)
def keras_variable_elsewhere(context: Context) -> None:
    """``keras.backend.zeros`` in a function of another file that a dataset is given."""
    for each in context.program("backend").given():
        for part in Program.inside(each):
            made = part.node.func if isinstance(part.node, ast.Call) else None
            if made is not None and each.meaning.tf(part.scope, made) in KERAS_VARIABLES:
                context.report(
                    each.node,
                    "keras.backend.{} creates a variable in the input pipeline ({}): the "
                    "variable is never initialised on the host",
                    name_of(made),
                    each.says(part.node),
                )
                break


class _Look(NamedTuple):
    """What is looked for in functions of other files."""

    rule: Rule
    function: Callable[[Context], None]
    is_of_network: bool = False


_Found = Tuple[_Look, Diagnostic]


def _tell_elsewhere(
    context: Context,
    look: Callable[[Context], None],
    words: Sequence[str],
    may_find: Callable[[str], bool] = bool,
) -> None:
    """Report what a check finds in functions of other files, at the first call that leads there.

    Args:
        context: of the script.
        look: the check.
        words: one of them is in each file in which it finds something.
        may_find: False for a text in which it certainly finds nothing.
    """
    assert context.rule is not None
    program, asked = context.program(*words), _Look(context.rule, look)

    def found_in(path: str) -> List[_Found]:
        is_looked_at = may_find(text_of(path)) and not _is_of_npu(path)
        meaning = program.opened(path) if is_looked_at else None
        return [] if meaning is None else _found_by(asked, Context(meaning.script, ()))

    told: Set[Diagnostic] = set()
    for site, each, _, one in _where_called(program, look, found_in):
        if one not in told:
            told.add(one)
            context.report(site.node, "{} ({})", one.message, each.says_line(one.line))


def _where_called(
    program: Program, key: object, found_in: Callable[[str], List[_Found]]
) -> Iterator[Tuple[Site, Elsewhere, _Look, Diagnostic]]:
    """What is found in other files, at each call of the script that leads there.

    Args:
        program: the script and the files that its names lead to.
        key: what is looked for: a file is asked once, for all scripts.
        found_in: what is found in a file.
    """
    files = {path: once_for(path, key, found_in) for path in program.files}
    for site, each in program.called() if any(files.values()) else ():
        found = files.get(each.meaning.script.source.path or "")
        if not found:
            continue
        bodies = [function.node for function in each.meaning.reached([each.function])]
        for look, one in found:
            if any(body.lineno <= (one.line or 0) <= last_line(body) for body in bodies):
                yield site, each, look, one


def _is_of_npu(path: str) -> bool:
    """True for a file that says something of the NPU: it is looked at itself."""
    may_be = has(path, _OF_NPU)
    return may_be and any(map(ScriptSource(text_of(path), path).mentions, _OF_NPU))


def _found_by(look: _Look, other: Context) -> List[_Found]:
    """What a check finds in another file."""
    other.rule = look.rule
    look.function(other)
    return [(look, one.diagnostic) for one in other.found]


_LOOKS = (
    _Look(pipeline.variable_in_preprocessing, variable_captured),
    _Look(pipeline.dataset_argument_from_variable, argument_from_variable),
    _Look(pipeline.keras_backend_variable_in_input, keras_variable_in_input),
    _Look(pipeline.batch_without_drop_remainder, short_last_batch),
    _Look(pipeline.queue_input, queues),
    _Look(pipeline.train_batch_with_many_threads, many_threads),
    _Look(precision.type_not_supported, double_in_network, is_of_network=True),
)
_WORDS = (
    *("Dataset", "input_producer", "shuffle_batch", "train.batch", "Queue"),
    *("float64", "complex64", "complex128"),
)
"""One of them is in each file in which one of these is found."""


_AT_WORK = (
    *SESSIONS,
    *("Estimator", "NPUEstimator", "minimize", "apply_gradients", "get_next", "fit", "run"),
)
"""One of them is in each script that uses what other files make."""


def _all_elsewhere(context: Context) -> List[Tuple[_Look, Site, Elsewhere, Diagnostic]]:
    """What is found in the functions that a script calls.

    It is told once for a function, at the first call that leads there.
    """
    program = context.program(*_WORDS)
    result: List[Tuple[_Look, Site, Elsewhere, Diagnostic]] = []
    told: Set[Tuple[str, int]] = set()
    for site, each, look, one in _where_called(program, _all_elsewhere, partial(_all_in, program)):
        key = look.rule.id, id(each.function.node)
        if key not in told and _is_meant(context, look, site):
            told.add(key)
            result.append((look, site, each, one))
    return result


def _all_in(program: Program, path: str) -> List[_Found]:
    """What is found in a file, any of whose functions may be called."""
    words = words_of(text_of(path))
    checks = {each.function: each for each in CHECKS}
    looks = [look for look in _LOOKS if checks[look.function].may_find(words)]
    meaning = program.opened(path) if looks and not _is_of_npu(path) else None
    if meaning is None:
        return []
    meaning.entered.update(id(node) for _, node in meaning.script.functions)
    found: List[_Found] = []
    for look in looks:
        found += _found_by(look, Context(meaning.script, (), meaning=meaning))
    return found


def _is_meant(context: Context, look: _Look, site: Site) -> bool:
    """True where a call of a script does what a situation is about."""
    if look.is_of_network:
        is_offloaded = context.option("mix_compile_mode") <= {None, False}
        return is_offloaded and context.meaning.in_network(site)
    if look.rule is pipeline.batch_without_drop_remainder:
        return context.once(_trains) and is_for_training(site)
    return True


def _trains(context: Context) -> bool:
    """True for a script that trains, or imports what does; not where its name says otherwise."""
    name = os.path.basename(context.script.source.path or "")
    return not any(word in name for word in NOT_TRAINING) and (
        context.mentions(*TRAINING) or context.imports_have(*TRAINING)
    )


def _tell(context: Context) -> None:
    """What is found of the situation that is asked for."""
    assert context.rule is not None
    for look, site, each, found in context.once(_all_elsewhere):
        if look.rule is context.rule:
            context.report(site.node, "{} ({})", found.message, each.says_line(found.line))


for _look in _LOOKS:
    CHECKS.append(Check(_look.rule, _tell, True, (frozenset(_AT_WORK),), is_of_program=True))


_OF_NPU = ("npu_bridge", "NpuOptimizer", "npu_config", "npu_device", "hccl")
_INITIALISING = ("make_initializable_iterator", "from_structure")


@recognises(pipeline.variables_and_iterator_in_one_run, tuple(SESSIONS), elsewhere=True)
def initialised_together_elsewhere(context: Context) -> None:
    """A function or a method of another file initialises variables and an iterator together."""
    _tell_elsewhere(context, initialised_together, _INITIALISING)


@recognises(
    pipeline.variables_and_iterator_in_one_run,
    ("run",),
    [name.rpartition(".")[2] for name in OF_ALL_VARIABLES],
    elsewhere=True,
)
def initialised_with_one_of_another_file(context: Context) -> None:
    """Variables are initialised together with an iterator that another file makes."""
    program = context.program(*_INITIALISING)
    if not program.names:
        return
    initialisers = Initialisers(context, program)
    own: Optional[Set[int]] = None
    for site in runs_of_both(context, initialisers):
        if own is None:  # what the script alone shows is reported without this
            own = {id(each.node) for each in runs_of_both(context, Initialisers(context))}
        if id(site.node) not in own:
            context.report(site.node, "{} ({})", phrase(TOGETHER), *initialisers.told)


@recognises(ranks.variables_not_broadcast, ("run", "fit", "train", "main"), elsewhere=True)
def nothing_broadcast_elsewhere(context: Context) -> None:
    """The script calls what wraps an optimizer in another file, and nothing broadcasts."""
    program = context.program(*WRAPPERS)
    if not program.names or not context.script.is_program or broadcasts(context):
        return
    if not context.once(_trains) or context.imports_may_have(*SENDING):
        return
    for site, each in program.called():
        bodies = {id(function.node) for function in each.meaning.reached([each.function])}
        for made in each.meaning.calls(*WRAPPERS):
            is_ours = each.meaning.is_npu(made.scope, made.node.func, *WRAPPERS)
            if is_ours and id(made.function) in bodies and not made.is_conditional:
                context.report(
                    site.node,
                    "{} ({})",
                    phrase(NOT_BROADCAST),
                    each.says(made.node),
                    severity=Severity.WARNING if has_seed(context) else None,
                )
                return


_RUNNING = (".run(",)
_LOOP_OR_RUN = re.compile(
    r"^([ \t]{0,200})(?:async[ \t]{1,9})?(for|while|def|class)\b|\.run\(", re.MULTILINE
)


def _runs_in_loop(text: str) -> bool:
    """False for a text without ``.run(`` in a loop: before a definition that ends the loop."""
    depths: List[int] = []
    for match in _LOOP_OR_RUN.finditer(text):
        if match.group(2) is None:
            if depths:
                return True
            continue
        depth = len(match.group(1).expandtabs())
        if match.group(2) in ("for", "while"):
            depths.append(depth)
        else:
            depths = [each for each in depths if each < depth]
    return False


@recognises(shapes.graph_grows_between_runs, tuple(SESSIONS), elsewhere=True)
def operator_in_loop_elsewhere(context: Context) -> None:
    """A function or a method of another file makes operators in a loop that runs a session."""
    _tell_elsewhere(context, operator_in_loop, _RUNNING, _runs_in_loop)


_QUEUES = (
    "slice_input_producer",
    "string_input_producer",
    "input_producer",
    "batch_join",
    "shuffle_batch",
    "shuffle_batch_join",
    "dequeue",
)
"""What runs an operation in a thread of its own, apart from the network."""


def _called_at_once(each: Elsewhere) -> Iterator[Value]:
    """The calls that a call of a function makes, but for those of functions inside of functions.

    A dataset may be given these; nor does what prepares data count.
    """
    pending, seen = [each.function], set()
    while pending:
        function = pending.pop()
        if id(function.node) in seen or is_of_input(getattr(function.node, "name", "data")):
            continue
        seen.add(id(function.node))
        for part in each.meaning.body(function):
            if part.scope is function.scope and isinstance(part.node, ast.Call):
                yield part
                pending += each.meaning.functions(part.scope, part.node.func)


@recognises(
    shapes.host_function_on_hot_path, ("run", "minimize", "apply_gradients"), elsewhere=True
)
def python_on_device_elsewhere(context: Context) -> None:
    """A function of another file that calls Python, at the first line that calls it."""
    others = context.program(*(name.rpartition(".")[2] for name in PYTHON))
    for site, each in others.called() if others.names and context.is_offloaded else ():
        is_of_queue = any(each.meaning.script.source.mentions(word) for word in _QUEUES)
        if is_of_queue or not context.meaning.in_network(site):
            continue
        for part in _called_at_once(each):
            name = each.meaning.tf(part.scope, part.node.func)
            if name in PYTHON:
                context.report(
                    site.node,
                    "tf.{} ({}) calls Python, which the device cannot run",
                    name,
                    each.says(part.node),
                    option="mix_compile_mode",
                )
                return


@recognises(host.slow_gelu, ("gelu",), elsewhere=True)
def gelu_elsewhere(context: Context) -> None:
    """A function of another file that writes gelu out, at the first line that calls it."""
    for site, each in context.program("044715").called():
        if not context.meaning.in_network(site):
            continue
        for part in Program.inside(each):
            call = part.node
            if (
                isinstance(call, ast.Call)
                and each.meaning.tf(part.scope, call.func) in TANH
                and is_of_gelu(each.meaning, part.scope, call)
            ):
                context.report(
                    site.node,
                    "gelu is computed here by about eight operators ({}); "
                    "npu_unary_ops.gelu is one operator",
                    each.says(call),
                )
                return
