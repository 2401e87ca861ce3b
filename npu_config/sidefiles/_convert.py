"""Converters of model fields; what is no list or mapping stays as it is for the judgement."""

from typing import Any, Iterable, Mapping, Tuple

from npu_config.sidefiles._frozen import Table


def texts(value: Iterable[str]) -> Tuple[str, ...]:
    """A sequence as a tuple."""
    given: Any = value
    sequence = isinstance(given, Iterable) and not isinstance(given, str)
    found: Tuple[str, ...] = tuple(given) if sequence else given
    return found


def text_table(value: Mapping[str, str]) -> Mapping[str, str]:
    """A mapping as a frozen one."""
    return Table(value) if isinstance(value, Mapping) else value
