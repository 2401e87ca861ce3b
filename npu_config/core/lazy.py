"""What is made when it is first used: names of packages, regular expressions."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, AnyStr, Callable, List, Mapping, Tuple, cast


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
