"""Calls that Python refuses: what is wrong with the arguments, and how the call is written.

Python names the class that defines a method, not the one that the user has, before 3.10 none at
all, and stops at the first fault.
"""

import functools
import inspect
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, TypeVar

from npu_config.core.message import join, listed, phrase

__all__ = ["CallFault", "UnknownKeyword", "call_faults", "explained", "named_parameters"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
UnknownKeyword = Callable[[str, Sequence[str]], Optional[str]]
"""What to do about a keyword that a call does not take, among those that it does."""

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class CallFault(NamedTuple):
    """One thing that is wrong with a call.

    Args:
        kind: ``"extra"``, ``"unknown"``, ``"twice"`` or ``"missing"``.
        message: in words.
        name: of the argument; of none when it is extra.
        position: of the value, where it has no name.
    """

    kind: str
    message: str
    name: str = ""
    position: int = 0


def named_parameters(signature: inspect.Signature) -> List[str]:
    """The parameters that can be given by name."""
    return [name for name, each in signature.parameters.items() if each.kind in _NAMED]


def call_faults(
    call: str, signature: inspect.Signature, values: int, keywords: Sequence[str]
) -> List[CallFault]:
    """What is wrong with a call; of the arguments that are missing the first is named.

    None is missing where there is an unknown one, which may be it.

    Args:
        call: what is called, as the user writes it.
        signature: what it takes, without ``self``.
        values: how many arguments are given without a name.
        keywords: the names of the others.
    """
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    names = named_parameters(signature)
    found: List[CallFault] = []
    if values > len(names) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        message = phrase("{} takes no more values than {}", call, listed(names))
        if not names:
            message = phrase("{} takes no value without a name", call)
        found.append(CallFault("extra", message, position=len(names)))
    unknown: Sequence[str] = ()
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [keyword for keyword in keywords if keyword not in names]
    for keyword in unknown:
        message = phrase('{} has no argument "{}"', call, keyword)
        found.append(CallFault("unknown", message, keyword))
    for number, name in enumerate(names[:values]):
        if name in keywords:
            message = phrase('{} is given "{}" twice', call, name)
            found.append(CallFault("twice", message, name, number))
    for name in () if unknown else names[values:]:
        if parameters[name].default is inspect.Parameter.empty and name not in keywords:
            message = phrase('{} needs "{}", which is not given', call, name)
            found.append(CallFault("missing", message, name))
            break
    return found


def explained(help: Optional[UnknownKeyword] = None) -> Callable[[Decorated], Decorated]:
    """Make calls with wrong arguments say every fault, of the user's class, and what is legal.

    Args:
        help: says what to do about a keyword that is not taken.

    Returns:
        A decorator of a function, or of a class with its public methods and its constructor.
    """

    def decorate(decorated: Decorated) -> Decorated:
        if not isinstance(decorated, type):
            told: Any = _told(decorated, False, help)
            return told  # type: ignore[no-any-return]
        for name, member in list(vars(decorated).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if inspect.isfunction(member):
                setattr(decorated, name, _told(member, True, help))
            elif isinstance(member, classmethod):
                setattr(decorated, name, classmethod(_told(member.__func__, True, help)))
        return decorated

    return decorate


def _told(
    function: Callable[..., Any], has_owner: bool, help: Optional[UnknownKeyword]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the function was called, and something in it is wrong
            problem = _problem(function, has_owner, args, keywords, help) or str(error)
        raise TypeError(problem)

    return call


def _problem(
    function: Callable[..., Any],
    has_owner: bool,
    args: Sequence[Any],
    keywords: Any,
    help: Optional[UnknownKeyword],
) -> Optional[str]:
    """Every fault of a call, and how it is written; None where none is seen."""
    signature = inspect.signature(function)
    name = function.__name__
    if has_owner:
        if not args:
            text = "{} is called on an object; write {}(...).{}(...)"
            return phrase(text, function.__qualname__, *function.__qualname__.rsplit(".", 1))
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        name = owner.__name__ + ("" if name == "__init__" else "." + name)
        args = args[1:]
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    faults = call_faults(name, signature, len(args), list(keywords))
    if not faults:
        return None
    names = named_parameters(signature)
    said = []
    for each in faults:
        told = help(each.name, names) if help and each.kind == "unknown" else None
        said.append(each.message if told is None else phrase("{} ({})", each.message, told))
    return phrase("{}; call it as {}", join("; ", said), _usage(name, signature))


def _usage(name: str, signature: inspect.Signature) -> str:
    """``NpuConfigBuilder.data_dump(path, steps=None)``."""
    words = []
    for each in signature.parameters.values():
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            words.append("NAME=VALUE, ...")
        elif each.kind is inspect.Parameter.VAR_POSITIONAL:
            words.append("*" + each.name)
        elif each.default is inspect.Parameter.empty:
            words.append(each.name)
        else:
            words.append("{}={!r}".format(each.name, each.default))
    return "{}({})".format(name, ", ".join(words))
