"""What is said of a ConfigProto text or bytes that cannot be read."""

from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

from npu_config.text.source import FaultLog, Source

MAX_CHARACTERS = 4 * 1024 * 1024


class Fault(NamedTuple):
    """One fault; lines and columns count from 1, the end is exclusive, None for bytes."""

    reason: str
    line: Optional[int] = None
    column: Optional[int] = None
    end_line: Optional[int] = None
    end_column: Optional[int] = None


class ProtoSyntaxError(ValueError):
    """Text or bytes are not a message; ``faults`` holds everything that is wrong.

    ``line``, ``column`` (integers for text, None for bytes) and ``reason`` are those of
    the first fault.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults: Tuple[Fault, ...] = tuple(faults)
        first = self.faults[0]
        self.line = first.line
        self.column = first.column
        self.reason = first.reason
        super().__init__(str(self))

    def __str__(self) -> str:
        return "\n".join(
            fault.reason
            if fault.line is None
            else "{}:{}: {}".format(fault.line, fault.column, fault.reason)
            for fault in self.faults
        )

    def __reduce__(self) -> Tuple[Any, ...]:
        return (type(self), (self.faults,))


def log_of(text: Union[str, bytes], limit: Optional[int] = None) -> FaultLog:
    """A log for the faults of a text.

    Args:
        text: the text; bytes are decoded as UTF-8, what is not stays as surrogate escapes,
            which may stand in strings (a bytes field takes any byte).
        limit: how many characters it may have; None: :data:`MAX_CHARACTERS`.

    Raises:
        ProtoSyntaxError: when it is longer than the limit.
    """
    limit = MAX_CHARACTERS if limit is None else limit
    if len(text) > limit:
        what = "bytes" if isinstance(text, bytes) else "characters"
        reason = "the text has {:,} {}; at most {:,} are read".format(len(text), what, limit)
        raise ProtoSyntaxError([Fault(reason, 1, 1)])
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return FaultLog(Source(text))


def refuse(log: FaultLog) -> None:
    """Raise what a log holds, in order of place.

    Raises:
        ProtoSyntaxError: when it holds anything.
    """
    if log.diagnostics:
        faults = [Fault(d.message, *d.place[1:]) for d in log.diagnostics]
        raise ProtoSyntaxError(sorted(faults, key=lambda f: (f.line or 0, f.column or 0)))
