"""What is wrong with the arguments of a call, by the signature of what is called."""

import inspect
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

from npu_config.core.message import join, listed, phrase

__all__ = ["CallFault", "call_faults", "named_parameters", "problem"]

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


def problem(
    function: Callable[..., Any],
    module: Optional[str],
    args: Sequence[Any],
    keywords: Any,
    help: Optional[Callable[[str, Sequence[str]], Optional[str]]],
) -> Optional[str]:
    """Every fault of a call, and how it is written; None where none is seen.

    Args:
        function: what is called.
        module: what users write before the name of a function; None: it is a method.
        args: the values without names, of a method with what it is called on.
        keywords: the others.
        help: what to do about a keyword that is not taken.
    """
    signature = inspect.signature(function)
    name = (module or "") + function.__name__
    if module is None:
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
