"""Files to the lines that are worth reading: in blocks, one pass, whatever their size.

Most of a plog are lines of INFO and the like.  Those are passed over by one expression, except
the few that tell the rank of a process; everything else is decoded and given on.
"""

import codecs
import gzip
import io
import re
import tempfile
from typing import IO, Generator, Iterator, List, NamedTuple, Optional, cast

from npu_config.core.paths import reading

__all__ = [
    "LONGEST",
    "Copied",
    "LogLine",
    "UnreadableError",
    "between",
    "lines",
    "opened",
    "unpacked",
]

BLOCK = 1 << 20
LONGEST = 1 << 16
"""Characters of a line that are looked at; a line of a log is far shorter."""

_WORTH = re.compile(rb"\n(?!\[(?:INFO|DEBUG|EVENT|TRACE|WARN)|\n|\r\n|\Z)")
_ASKED_FOR = (
    b"rankNum[",
    b"Entry-HcclCommInitRootInfo",
    b", fault op_name=",
    b"GetNext error may be caused by",
    b"might result `GetNext` timeout",
)
"""What lines hold that are read although they are of INFO or warnings: the longer, the faster."""

_ENCODINGS = ("utf-8", "gb18030")
_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAMPLE = 4096
_TEXT = bytes(range(32, 127)) + b"\n\r\t\x1b\x08\x0c"


class LogLine(NamedTuple):
    """A line, without its end; the first has number 1."""

    number: int
    text: str


class UnreadableError(ValueError):
    """What is no log: why."""


def opened(path: str) -> IO[bytes]:
    """A file for reading, decompressed when it is compressed by gzip.

    Raises:
        OSError: it cannot be read.
    """
    return unpacked(open(path, "rb", opener=reading))


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """A stream in UTF-8, decompressed when it is compressed by gzip; else itself."""
    if isinstance(stream, io.BufferedReader) and stream.peek(2)[:2] == _GZIP:
        return _plain(io.BufferedReader(gzip.GzipFile(fileobj=stream)))
    return _plain(stream)


class Copied:
    """A stream that is read once, and what was read of it in a file of its own, as far as it fits.

    Attributes:
        copy: the file, which goes away with the process; None where the disk has no place.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.copy: Optional[IO[bytes]] = None
        try:
            self.copy = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the report is made
        except OSError:
            return

    def read(self, size: int) -> bytes:
        """The next bytes."""
        block = self._stream.read(size)
        keep(self.copy, block)
        return block


def keep(copy: Optional[IO[bytes]], block: bytes) -> None:
    """Add to a copy; where the disk is full it ends there."""
    try:
        if copy is not None:
            copy.write(block)
    except OSError:
        return


def _plain(stream: IO[bytes]) -> IO[bytes]:
    """A stream in UTF-8 where it says that it is in UTF-16, as Windows writes it; else itself."""
    if not isinstance(stream, io.BufferedReader):
        return stream
    start = stream.peek(2)[:_SAMPLE]
    if start[:2] not in _UTF_16:
        return stream
    text = start[: len(start) // 2 * 2].decode("utf-16", "replace")
    if len(text) > 5 * sum(character < "\x80" for character in text):
        return stream  # a log has times and names; these are other bytes
    return cast(IO[bytes], codecs.EncodedFile(stream, "utf-8", "utf-16", "replace"))


def decoded(raw: bytes) -> str:
    """A line as text: UTF-8, else GBK, else what cannot be read is escaped."""
    raw = raw[:LONGEST]
    for encoding in _ENCODINGS:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            if len(raw) == LONGEST and error.start > LONGEST - 4:
                return raw[: error.start].decode(encoding)
    return raw.decode("utf-8", "backslashreplace")


def _is_binary(block: bytes) -> bool:
    """Whether a block is not text: a file of zeros, a core dump, a picture."""
    sample = block[:_SAMPLE]
    strange = len(sample.translate(None, _TEXT))
    return strange > len(sample) * 0.3 and decoded(sample).count("\\x") + sample.count(0) > (
        len(sample) // 10
    )


def lines(stream: IO[bytes]) -> Iterator[LogLine]:
    """The lines that are worth reading, and the last one of every block.

    Raises:
        UnreadableError: the stream holds no text.
        OSError: it cannot be read.
    """
    block = stream.read(BLOCK)
    if _is_binary(block):
        raise UnreadableError
    number, rest = 1, b""
    while block:
        block = rest + block if rest else block
        end = block.rfind(b"\n") + 1
        block, rest = block[:end], block[end:]
        if block:
            number = yield from _worth(block, number)
        elif len(rest) > BLOCK:  # the rest of a line without end is passed over
            rest = rest[:LONGEST]
        block = stream.read(BLOCK)
    if rest:
        yield LogLine(number, _last_part(rest))


def between(stream: IO[bytes], first: int, last: int) -> List[bytes]:
    """Some lines of a stream by their numbers, each as far as it is looked at."""
    found: List[bytes] = []
    number, rest = 1, b""
    for block in iter(lambda: stream.read(BLOCK), b""):
        count = block.count(b"\n")
        if number + count < first:
            number += count
            rest = (block[block.rfind(b"\n") + 1 :] if count else rest + block)[:LONGEST]
            continue
        *whole, rest = (rest + block).split(b"\n")
        found += [raw[:LONGEST] for raw in whole[max(first - number, 0) : last + 1 - number]]
        number, rest = number + len(whole), rest[:LONGEST]
        if number > last:
            return found
    return [*found, rest] if rest and number >= first else found


def _worth(block: bytes, number: int) -> Generator[LogLine, None, int]:
    """Those of some whole lines, of which the first has a number; the number of the next."""
    position, counted = 0, number
    wanted: List[int] = [] if block.startswith((b"[INFO", b"[DEBUG", b"[EVENT", b"\n")) else [0]
    wanted += [match.end() for match in _WORTH.finditer(block)]
    extra = {
        block.rfind(b"\n", 0, found) + 1 for word in _ASKED_FOR for found in _all(block, word)
    }
    if extra:
        wanted = sorted(extra.union(wanted))
    last = block.rfind(b"\n", 0, len(block) - 1) + 1
    if not wanted or wanted[-1] != last:
        wanted.append(last)
    for start in wanted:
        counted += block.count(b"\n", position, start)
        position = start
        end = block.find(b"\n", start)
        yield LogLine(counted, _last_part(block[start:end]))
    return counted + 1


def _all(block: bytes, word: bytes) -> Iterator[int]:
    at = block.find(word)
    while at >= 0:
        yield at
        at = block.find(word, at + 1)


def _last_part(raw: bytes) -> str:
    """What stands last on a line that a progress bar has written over, or the error before it."""
    raw = raw.rstrip(b"\r\n")
    if b"\r" in raw:
        parts = [part for part in raw[:LONGEST].split(b"\r") if part]
        raw = next((part for part in parts if b"rror" in part or b"xception" in part), parts[-1])
    if b"\x00" in raw:
        raw = raw.replace(b"\x00", b"")
    return decoded(raw)
