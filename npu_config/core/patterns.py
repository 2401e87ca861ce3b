"""Regular expressions of modules that every run imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


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
