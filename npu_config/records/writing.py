"""A record is written whole or not at all, once for each configuration, and told of the end."""

import atexit
import contextlib
import json
import logging
import os
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name, reading
from npu_config.records.document import content_of, hash_of, options_of, render, stamp
from npu_config.text.files import replace_content, write_atomic

__all__ = ["VARIABLE", "name_of", "record", "set_exit"]

VARIABLE = "NPU_CONFIG_RECORD"
"""Names the directory that the sessions of the drop-in record themselves in."""

_RUN = "NPU_CONFIG_RUN"
"""Holds the process in which ``npu-config run`` runs a script."""

_ATTEMPTS = 20


class _Written(NamedTuple):
    """A record of this process."""

    path: str
    text: str
    content: Mapping[str, Any]
    process: int


_WRITTEN: Dict[Tuple[str, str], _Written] = {}
"""Directory and hash of the options to the record."""

_EXIT: List[Optional[int]] = []
"""How the process ends, as soon as that is known."""


def record(config: Any, directory: PathLike, script: Optional[PathLike] = None) -> str:
    """Write what a job runs with to ``npu_config.json`` in a directory.

    The file holds the options with their origins, the defaults of the version, the variables of
    the catalogue that are set (no others), the side files, and, when the process ends in order,
    the time and the exit code.  It is written whole or not at all.  An earlier job's record stays,
    under a name with its time; other ranks than 0 write ``npu_config.rankN.json``.

    Args:
        config: a NpuConfig, or the ConfigProto of a session.
        directory: is made where it is missing; the folder of the checkpoints is a good one.
        script: the script of the job; None: the one that Python was started with.

    Returns:
        The path of the record.

    Raises:
        FileExistsError: there is a file of the name that is no record.
        OSError: it cannot be written; nothing is left behind.
        TypeError: ``config`` is neither of these.
    """
    folder = path_name(directory)
    name = hash_of(options_of(config)[1])
    key = os.path.realpath(folder), name
    known = _WRITTEN.get(key)
    if known is not None and known.process == os.getpid() and os.path.exists(known.path):
        return known.path
    content = content_of(config, None if script is None else path_name(script))
    os.makedirs(folder, exist_ok=True)
    mine = [each for each in _WRITTEN.values() if each.process == os.getpid()]
    count = sum(os.path.dirname(os.path.realpath(each.path)) == key[0] for each in mine)
    path = os.path.join(folder, name_of(content["rank"], count + 1))
    text = render(content)
    _write(path, text)
    if not _WRITTEN:
        _watch_the_end()
    _WRITTEN[key] = _Written(path, text, content, os.getpid())
    _logger().info("npu_config: options %s recorded in %s", name, path)
    return path


def name_of(rank: int, number: int = 1) -> str:
    """The name of the record of a rank, or of a further configuration of the same process."""
    words = ["npu_config"]
    if rank:
        words.append("rank{}".format(rank))
    if number > 1:
        words.append("session{}".format(number))
    return ".".join([*words, "json"])


def _logger() -> logging.Logger:
    return logging.getLogger("tensorflow" if "tensorflow" in sys.modules else "npu_config")


def _write(path: str, text: str) -> None:
    """Write a record; an earlier one gets a name with its time, whoever writes meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            write_atomic(path, text, durable=False)
        except FileExistsError:
            _put_aside(path)
        else:
            return
    raise FileExistsError(phrase("other jobs keep overwriting {}", path))


def _put_aside(path: str) -> None:
    """Rename the record of an earlier job.

    Raises:
        FileExistsError: the file is no record.
    """
    from npu_config.readers.record_file import is_record

    try:
        with open(path, encoding="utf-8", errors="replace", opener=reading) as stream:
            text = stream.read()
    except FileNotFoundError:
        return
    if not is_record(text):
        raise FileExistsError(
            phrase("{} exists and is not a record of a job; specify another directory", path)
        )
    stem = path[: -len(".json")]
    for number in range(1, _ATTEMPTS):
        parts = [stem, _time_of(text), *([str(number)] if number > 1 else []), "json"]
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            os.link(path, ".".join(parts))  # fails where there is one, as rename does not
            os.unlink(path)
            return


def _time_of(text: str) -> str:
    """The time of a record as a part of a name."""
    try:
        time = json.loads(text)["time"]
    except (ValueError, KeyError, TypeError):
        time = "earlier"
    return "".join(each for each in str(time)[:32] if each.isalnum() or each == "-")


def set_exit(code: Optional[int]) -> None:
    """Say how the process ends, for the records that it wrote."""
    _EXIT[:] = [code]


def _watch_the_end() -> None:
    """Learn the exit code: of ``sys.exit``, and of an exception that nobody catches.

    Where ``npu-config run`` runs the script, it says the code itself.
    """
    atexit.register(add_end)
    if os.environ.get(_RUN) == str(os.getpid()):
        return
    leave, tell = sys.exit, sys.excepthook

    def exit(status: Any = None) -> Any:
        code = 0 if status is None else status if isinstance(status, int) else 1
        set_exit(code & 0xFF)
        leave(status)

    def excepthook(kind: Any, error: Any, trace: Any) -> None:
        set_exit(130 if issubclass(kind, KeyboardInterrupt) else 1)
        tell(kind, error, trace)

    sys.exit = exit
    sys.excepthook = excepthook


def add_end() -> None:
    """Add the end to every record of this process that is still as it was written."""
    for key, known in list(_WRITTEN.items()):
        if known.process != os.getpid() or known.content["end"] is not None:
            continue
        end = {"time": stamp(), "exit": _EXIT[0] if _EXIT else 0}
        content = {**known.content, "end": end}
        text = render(content)
        with contextlib.suppress(OSError):
            replace_content(known.path, known.text.encode("utf-8"), text.encode("utf-8"))
        _WRITTEN[key] = known._replace(text=text, content=content)
