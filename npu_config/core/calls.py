"""The user's call into the package: where it is, what is said there, and what is wrong with it.

Of a call that it refuses, Python names the class that defines a method, not the one that the user
has, before 3.10 none at all, and stops at the first fault.  Nothing is looked at before a call was
refused.

A Python warning is one face of a finding, and many scripts switch warnings off: whoever listens is
told of every finding, and one that a filter for all warnings hides is logged instead.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from dataclasses import replace
from types import FrameType, FunctionType
from typing import (
    Any,
    Callable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Type,
    TypeVar,
)

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.findings import tell
from npu_config.core.message import join, listed, phrase

_PACKAGE = __name__.partition(".")[0]

FRAMEWORKS = (
    *("keras", "six", "tensorflow", "tensorflow_core", "tensorflow_estimator"),
    *("contextlib", "importlib", "threading"),
)
"""Packages that make sessions and run them on behalf of a script."""


def _outside(
    also: Tuple[str, ...], frame: Optional[FrameType] = None
) -> Tuple[Optional[FrameType], int]:
    """The innermost frame that is not of these packages, and its distance from our caller.

    Without such a frame, the innermost one that is not of this package.

    Args:
        also: packages beside this one.
        frame: the innermost frame; None: that of our caller's caller.
    """
    frame = frame or sys._getframe(2)
    depth = 1
    first: Tuple[Optional[FrameType], int] = (None, 0)
    while frame is not None:
        package = str(frame.f_globals.get("__name__") or "").partition(".")[0]
        if package != _PACKAGE:
            if package not in also:
                return frame, depth
            first = first if first[1] else (frame, depth)
        frame = frame.f_back
        depth += 1
    return first if first[1] else (None, depth)


def caller_place(*also: str) -> Place:
    """File and line of the user's call.

    Args:
        also: further packages whose frames are not the user's, e.g. ``"tensorflow"``.
    """
    frame, _ = _outside(also)
    return Place() if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def script_place() -> Place:
    """File and line of the script that leads here.

    Of this thread, or else of the main one: TensorFlow calls Python in threads of its own.
    """
    frame, _ = _outside(FRAMEWORKS)
    if frame is None or str(frame.f_globals.get("__name__")).partition(".")[0] in FRAMEWORKS:
        import threading

        main = sys._current_frames().get(threading.main_thread().ident or 0)
        frame, _ = _outside(FRAMEWORKS, main)
    return Place() if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def caller_level(*also: str) -> int:
    """The ``stacklevel`` with which :func:`warnings.warn` points at the user's call.

    Args:
        also: further packages whose frames are not the user's, e.g. ``"tensorflow"``.
    """
    return _outside(also)[1]


Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Help = Callable[[str, Sequence[str]], Optional[str]]
"""What to do about a keyword that a call does not take, among those that it does."""


def explained(help: Optional[Help] = None, module: str = "") -> Callable[[Decorated], Decorated]:
    """Make calls with wrong arguments say every fault, of the user's class, and what is legal.

    Args:
        help: says what to do about a keyword that is not taken.
        module: what users write before the name of a function.

    Returns:
        A decorator of a function, or of a class with its public methods and its constructor.
    """

    def decorate(decorated: Decorated) -> Decorated:
        if not isinstance(decorated, type):
            function: Any = _with_own_errors(decorated, module, help)
            return function  # type: ignore[no-any-return]
        for name, member in list(vars(decorated).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if isinstance(member, FunctionType):
                setattr(decorated, name, _with_own_errors(member, None, help))
            elif isinstance(member, classmethod):
                setattr(
                    decorated, name, classmethod(_with_own_errors(member.__func__, None, help))
                )
        return decorated

    return decorate


def _with_own_errors(
    function: Callable[..., Any], module: Optional[str], help: Optional[Help]
) -> Callable[..., Any]:
    layers = 2 if hasattr(function, "__wrapped__") else 1

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            trace = error.__traceback__
            for _ in range(layers):
                trace = trace and trace.tb_next
            if trace is not None:
                raise  # the function was called, and something in it is wrong
            message = problem(function, module, args, keywords, help) or str(error)
        raise TypeError(message)

    return call


def checked_text(value: object, reader: str) -> None:
    """Refuse what is not text where the content of a file is expected.

    Args:
        value: what was given.
        reader: what takes the path of a file, as code.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(value, str):
        message = "expected the text of a file, got {}; for a path: {}"
        raise TypeError(phrase(message, type(value).__name__, reader))


def checked_mapping(value: object, what: str, help: str) -> None:
    """Refuse what is not a mapping.

    Args:
        value: what was given.
        what: the name of the parameter.
        help: where such a mapping comes from.

    Raises:
        TypeError: it is no mapping.
    """
    if not isinstance(value, Mapping):
        message = "{} must be a mapping of name to value, not {}; {}"
        raise TypeError(phrase(message, what, type(value).__name__, help))


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
        message = phrase("{} takes only these positional arguments: {}", call, listed(names))
        if not names:
            message = phrase("{} takes only keyword arguments", call)
        found.append(CallFault("extra", message, position=len(names)))
    unknown: Sequence[str] = ()
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [keyword for keyword in keywords if keyword not in names]
    for keyword in unknown:
        message = phrase('{} has no argument "{}"', call, keyword)
        found.append(CallFault("unknown", message, keyword))
    for number, name in enumerate(names[:values]):
        if name in keywords:
            message = phrase('{} gets the argument "{}" twice', call, name)
            found.append(CallFault("twice", message, name, number))
    for name in () if unknown else names[values:]:
        if parameters[name].default is inspect.Parameter.empty and name not in keywords:
            message = phrase('{} requires the argument "{}", which is missing', call, name)
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
            text = "{} must be called on an object; write {}(...).{}(...)"
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


_logged: Set[str] = set()


def warn(finding: Diagnostic, category: Type[Warning], text: Optional[str] = None) -> None:
    """Say a finding at the user's line, and tell the listeners.

    Args:
        finding: what was found.
        category: of the warning.
        text: of the warning; None: that of the finding.
    """
    tell(finding)
    text = str(finding) if text is None else text
    if _is_hidden(text, category):
        _log(finding)
    warnings.warn(text, category, stacklevel=caller_level(*FRAMEWORKS))


def placed(finding: Diagnostic) -> Diagnostic:
    """A finding; one without a place gets that of the user's call."""
    if finding.path is not None or finding.line is not None:
        return finding
    place = script_place()
    return replace(finding, path=place.path, line=place.line)


def _is_hidden(text: str, category: Type[Warning]) -> bool:
    """Whether a filter ignores all warnings; one for ours alone was meant for them."""
    for action, message, kind, module, line in warnings.filters:
        about_all = module is None and not line
        if about_all and issubclass(category, kind) and (message is None or message.match(text)):
            return action == "ignore" and message is None and kind is not category
    return False


def _log(finding: Diagnostic) -> None:
    """Log a finding, once."""
    import logging

    text = str(placed(finding))
    if text not in _logged:
        _logged.add(text)
        level = logging.ERROR if finding.severity is Severity.ERROR else logging.WARNING
        logging.getLogger("npu_config").log(level, "%s", text)
