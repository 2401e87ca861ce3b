"""What is made when it is first used: names of packages, patterns, properties, answers."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from typing import Any, AnyStr, Callable, Generic, List, Mapping, Tuple, TypeVar, cast, overload

_Value = TypeVar("_Value")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def lazy(
    package: str, homes: Mapping[str, str]
) -> Tuple[Callable[[str], Any], Callable[[], List[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        homes: public name to the module of the package that has it; a module of its own name is
            the name itself.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError("module {!r} has no attribute {!r}".format(package, name))
        module = importlib.import_module("{}.{}".format(package, homes[name]))
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> List[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names


class _LazyPattern:
    """Looks like ``re.compile(...)``; each method is the compiled pattern's from its first use."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As ``re.compile``, when it is first used: one run needs few of a module's patterns.

    Args:
        pattern: the regular expression.
        flags: as for ``re.compile``.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class cached_property(Generic[_Value]):  # noqa: N801 - functools has it from Python 3.8 on
    """A property that is found once for each object.

    Args:
        find: finds it.
    """

    def __init__(self, find: Callable[[Any], _Value]) -> None:
        self._find = find
        self.__doc__ = find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[_Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: Any, owner: type) -> cached_property[_Value] | _Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._find(instance)
        return value


def asked_once(method: _Method) -> _Method:
    """A method that finds its answer once for the same arguments of the same object."""
    name = "_answers_of_" + method.__name__

    @functools.wraps(method)
    def ask(self: Any, *arguments: Any) -> Any:
        known = self.__dict__.setdefault(name, {})
        if arguments not in known:
            known[arguments] = method(self, *arguments)
        return known[arguments]

    return cast(_Method, ask)
