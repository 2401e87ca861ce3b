"""Calls that Python refuses, refused in the words of the user's own classes.

Python names the class that defines a method, not the one that the user has, before 3.10 none at
all, and stops at the first fault.  Nothing is looked at before a call was refused.
"""

import functools
from types import FunctionType
from typing import Any, Callable, Optional, Sequence, TypeVar

__all__ = ["explained"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Help = Callable[[str, Sequence[str]], Optional[str]]
"""What to do about a keyword that a call does not take, among those that it does."""


def explained(help: Optional[Help] = None) -> Callable[[Decorated], Decorated]:
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
            if isinstance(member, FunctionType):
                setattr(decorated, name, _told(member, True, help))
            elif isinstance(member, classmethod):
                setattr(decorated, name, classmethod(_told(member.__func__, True, help)))
        return decorated

    return decorate


def _told(
    function: Callable[..., Any], has_owner: bool, help: Optional[Help]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the function was called, and something in it is wrong
            from npu_config.core.call_faults import problem

            message = problem(function, has_owner, args, keywords, help) or str(error)
        raise TypeError(message)

    return call
