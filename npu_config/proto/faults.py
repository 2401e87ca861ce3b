"""What is said of a ConfigProto text or bytes that cannot be read."""

from typing import Any, NamedTuple, Optional, Sequence, Tuple


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
