"""Functions of other files that are given what is followed: run there, or said not to be.

What such a function sets is told where it sets it, in the other file; what it does that checks of
this script would look at in this text is told at the call.
"""

import ast
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from npu_config.catalogue.api import CLASSES, KEPT
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import name_of
from npu_config.python_flow.source import Unparsable
from npu_config.script.effects import READERS, definition, invoke, pass_on
from npu_config.script.neighbours import (
    configuring,
    definer,
    is_unread,
    text_of,
)
from npu_config.script.objects import (
    Block,
    BlockList,
    Class,
    Constructed,
    Function,
    Instance,
    Message,
    ParameterMap,
    Subscript,
    Unknown,
    origins,
)
from npu_config.script.paths import Call, Run, anonymous
from npu_config.script.script import Script
from npu_config.script.vocabulary import LOADING, PICKLES

HELD = (Block, Message, ParameterMap, Subscript, BlockList)
"""What options are set on."""

_LOCAL = (Function, Instance, Class, Subscript)
_GIVEN = "the configuration is passed to {} of {}, which may set options that are not checked here"
_GIVEN_AWAY = "the configuration is passed to {}, which may set options that are not checked here"
_MADE = "the configuration is created by {} of {}; its options are not checked here"
_UNREAD = "the configuration is created by {}, which was not found; its options are not checked"
_UNPICKLED = "the configuration is read by {} at run time; its options are not checked"
_SAFE = frozenset(
    (
        *READERS,
        *["hasattr", "getattr", "dict", "list", "tuple", "sorted", "any", "all", "iter", "next"],
    )
)


def note_made_elsewhere(run: Run, value: Any, node: ast.AST) -> None:
    """Note a session whose configuration a function of another file, or pickle, makes."""
    for each in origins(value):
        function = each.parts[0] if each.parts else None
        if isinstance(function, Unknown):
            if function.name in LOADING and function.path[0] in PICKLES:
                run.script.unfollowed[node] = phrase(_UNPICKLED, ".".join(function.path))
                return
            if _note(run, function, node, _MADE):
                return
        for source in (each, function):
            if isinstance(source, Unknown) and _note_imported(run, source, node):
                return


def _note_imported(run: Run, value: Unknown, node: ast.AST) -> bool:
    """Note a configuration that comes from a module of the program, or from one not found."""
    path = value.path
    if len(path) > 1 and _is_imported(run, path[0]):
        modules = [path]
    elif len(path) == 1 and path[0] == value.key:  # of an import of everything
        modules = [(*each.lstrip(".").split("."), *path) for each in run.script.star_imports]
    else:
        return False
    for module in modules:
        if _note(run, value, node, _MADE, module):
            return True
    unread = next((each for each in modules if is_unread(run.script.source.path, each)), None)
    if unread is not None:
        run.script.unfollowed[node] = phrase(_UNREAD, ".".join(unread))
    return unread is not None


def defined_elsewhere(run: Run, callee: Unknown, call: Call) -> Optional[Union[Function, Class]]:
    """The function or class of another file that is called, where it is worth following."""
    values = call.given
    held = _held(values)
    own = run.script.source.path
    makes = not held and any(configuring(own, name) for name in _names(run, callee))
    if not (held or makes) or any(isinstance(value, _LOCAL) for value in values):
        return None
    found = _definition(run, callee)
    if found is None or held:
        return found
    relevance = found.frame.script.relevance
    if isinstance(found, Function):
        return found if relevance.is_hot_function(found.node) else None
    hot = (relevance.is_hot_function(s.node) for each in found.scope.stores.values() for s in each)
    return found if any(hot) else None


def _held(values: Sequence[Any]) -> List[Any]:
    """Those of some values that options are set on."""
    return [each for each in values if isinstance(each, HELD) or _has_options(each)]


def give(run: Run, callee: Unknown, call: Call) -> None:
    """Give what is followed to a function that is not."""
    held = _held(call.given)
    pass_on(run, call, callee.key)
    if not held or _note(run, callee, call.node, _GIVEN) or callee.name in _SAFE:
        return
    first = (*callee.path, "")[0]
    is_not_found = _is_imported(run, first) and is_unread(run.script.source.path, callee.path)
    if is_not_found or any(not isinstance(value, (Message, Constructed)) for value in held):
        name = ".".join(callee.path).lstrip(".") or "a function"
        run.script.unfollowed[call.node] = phrase(_GIVEN_AWAY, name)


def _is_imported(run: Run, name: str) -> bool:
    """True for the first name of a module that the script imports."""
    return any(each.partition(".")[0] == name for each in run.script.imported(name))


def _has_options(value: Any) -> bool:
    """True for an NPURunConfig, or an object that it is given."""
    return isinstance(value, Constructed) and value.kind in KEPT


def _note(
    run: Run,
    callee: Unknown,
    node: ast.AST,
    words: str,
    path: Optional[Sequence[str]] = None,
) -> bool:
    """Note that a function of another file of the program, which sets options, is not followed."""
    path = path or callee.path
    file = configuring(run.script.source.path, path)
    if file is not None:
        name = ".".join(path)
        run.script.unfollowed[node] = phrase(words, name, os.path.basename(file))
    return file is not None


def _names(run: Run, callee: Unknown) -> List[Tuple[str, ...]]:
    """What the name of a function may be in full: an import of everything may have brought it."""
    if len(callee.path) != 1:
        return [callee.path]
    return [(*star.split("."), *callee.path) for star in run.script.star_imports]


def _definition(run: Run, callee: Unknown) -> Optional[Union[Function, Class]]:
    """The function or class of another file of the program."""
    own = run.script.source.path
    if own is None or not callee.path or "" in callee.path:
        return None
    for name in _names(run, callee):
        found = definer(own, name)
        if found is None or len(found.name) > 1:
            continue
        other = _script(run.script, own, found.file)
        stores = () if other is None else other.module.stores.get(found.name[0], ())
        if other is not None and len(stores) == 1:
            kept, run.script = run.script, other
            frame = run.new_frame(other.module, None, other.source.path)
            run.script = kept
            made = definition(frame, stores[0].node)
            return None if isinstance(made, Unknown) else made
    return None


def _script(script: Script, own: str, file: str) -> Optional[Script]:
    """Another file of the program, parsed once."""
    known: Dict[str, Optional[Script]] = script.others
    if file not in known:
        known[file] = None
        home = os.path.dirname(own)
        name = os.path.normpath(os.path.join(home, os.path.relpath(file, home or os.curdir)))
        try:
            known[file] = other = Script(text_of(file), name, script.environ)
        except (Unparsable, RecursionError):
            return None
        other.others = known
    return known[file]


def visit(run: Run, function: Function, call: Call) -> Any:
    """Run a function of another file with what it is given; what it gives."""
    other: Script = function.frame.script
    lists: Tuple[List[Any], ...] = (
        run.calls,
        run.constructed,
        run.builders,
        run.messages,
    )
    counts = [len(each) for each in lists]
    failures, environment = len(run.failures), len(run.environment)
    outer, other.unfollowed = other.unfollowed, {}
    try:
        found = invoke(run, function, call.values, call.named, call.open)
    finally:
        unfollowed, other.unfollowed = other.unfollowed, outer
    grown = len(run.builders) > counts[2]
    run.elsewhere += [each for each in run.constructed[counts[1] :] if each.kind in CLASSES]
    for each, count in zip(lists, counts):
        del each[count:]
    run.failures[failures:] = [(call.node, *rest) for _, *rest in run.failures[failures:]]  # type: ignore[misc]
    run.environment[environment:] = [
        (call.node, *rest)  # type: ignore[misc]
        for _, *rest in run.environment[environment:]
    ]
    if unfollowed or grown:
        file = os.path.basename(other.source.path or "")
        words = _GIVEN if _held(call.given) else _MADE
        run.script.unfollowed[call.node] = phrase(words, name_of(call.node.func), file)
    if isinstance(found, Instance):
        found.cls.is_special = True  # its methods are not among those that this script names
    return anonymous(call.node) if isinstance(found, Subscript) else found
