"""A file run as ``python FILE ARGUMENTS`` runs it: names, paths, exit codes, tracebacks."""

import functools
import os
import sys
import threading
from shlex import quote
from types import FrameType, ModuleType, TracebackType
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.message import localized, phrase
from npu_config.core.paths import is_text, reading

_TENSORFLOW = "tensorflow"
_HOROVOD = "horovod"


def failed_import(error: BaseException) -> Optional[ModuleNotFoundError]:
    """The failed import of TensorFlow or Horovod that an exception is about, if any."""
    for each in (error, error.__cause__):
        if isinstance(each, ModuleNotFoundError) and each.name in (_TENSORFLOW, _HOROVOD):
            return each
    return None


def advice(error: ModuleNotFoundError) -> str:
    """What to do, on one line."""
    if error.name == _HOROVOD:
        text = "npu-config run: there is no Horovod for the NPU; npu-config migrate {} replaces it"
        return localized(text, quote(sys.argv[0]))
    package = '"tensorflow<2.16"' if sys.version_info < (3, 12) else _TENSORFLOW
    if sys.version_info < (3, 8):
        package = "tensorflow==1.15.5"
    text = "npu-config run: TensorFlow is not installed for {}; pip install {}"
    return localized(text, sys.executable, package)


_LARGEST = 1 << 26
_HERE = os.path.dirname(os.path.abspath(__file__))


class Stopped(SystemExit):
    """Ends the script, or one of its threads, in silence; ``except Exception`` lets it pass."""


class CannotRunError(Exception):
    """The file cannot be run at all: it is not there, or is not a script."""


class NoScriptError(CannotRunError):
    """There is no such file, or it is clearly something else: the call is wrong."""


def find(path: str) -> str:
    """The file that ``python PATH`` would run.

    Raises:
        CannotRunError: there is none; the text says why.
    """
    if os.path.isdir(path):
        main = os.path.join(path, "__main__.py")
        if os.path.isfile(main):
            return main
        raise CannotRunError(
            phrase("{} is a directory without __main__.py; pass the path of the script", path)
        )
    if not os.path.exists(path):
        if is_text(path):
            text = "expected the path of a script, but got its text: {!r} ..."
            raise NoScriptError(phrase(text, path[:40]))
        raise NoScriptError(phrase("{} does not exist", path))
    return path


_LONGEST = 160


class ScriptEnd(NamedTuple):
    """How a script ended.

    Attributes:
        code: the exit code that ``python`` would end with.
        error: what was raised, in one line, where that is why the code is not 0.
        place: the last line of the script, or of a module beside it, that led there.
        found: the findings that what was raised carries.
        is_interrupt: whether that was Ctrl-C.
    """

    code: int
    error: Optional[str] = None
    place: Optional[Tuple[str, int]] = None
    found: Tuple[Any, ...] = ()
    is_interrupt: bool = False


_WELL = ScriptEnd(0)

IsMine = Callable[[FrameType], bool]
"""Whether a frame is of the script that runs, or of a module beside it."""


def execute(path: str, arguments: Sequence[str], name: Optional[str] = None) -> ScriptEnd:
    """Run a script in this process.

    What is raised is printed as ``python`` does, without the frames of this package.  Threads
    that the script leaves behind are waited for, but for daemons; not when it is stopped.

    Args:
        path: the script, as :func:`find` gave it.
        arguments: its arguments.
        name: what was asked for: the script, or the directory that it is in.

    Raises:
        CannotRunError: it cannot be read or is not Python.
    """
    code = _compiled(_file_of(path))
    if code is None:
        return ScriptEnd(1, "SyntaxError")
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=_file_of(path), __builtins__=__builtins__, __cached__=None, __spec__=None
    )
    before = sys.modules["__main__"], sys.argv, sys.path[0]
    mine = frames_of(path)
    threads = set(threading.enumerate())
    sys.modules["__main__"] = main
    sys.argv = [name or path, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        ended = _ended(lambda: exec(code, main.__dict__), mine)
        if ended is not None:
            ended = _ended(lambda: _wait_for_threads(threads), mine, ended)
    finally:
        sys.modules["__main__"], sys.argv, sys.path[0] = before
    return ended or ScriptEnd(0)


def _ended(run: Callable[[], None], mine: IsMine, well: ScriptEnd = _WELL) -> Optional[ScriptEnd]:
    """How a part of a script ends; None when it was stopped as asked."""
    try:
        run()
    except Stopped:
        return None
    except SystemExit as error:
        code = exit_code(error)
        return _failed(code, error, mine) if code else ScriptEnd(0)
    except BaseException as error:
        _print_exception()
        if isinstance(error, KeyboardInterrupt):
            return _failed(130, error, mine)._replace(is_interrupt=True)
        return _failed(1, error, mine)
    return well


def _failed(code: int, error: BaseException, mine: IsMine) -> ScriptEnd:
    """The end with an exit code that an exception leads to."""
    place = None
    frames = error.__traceback__
    while frames is not None:
        if mine(frames.tb_frame):
            place = frames.tb_frame.f_code.co_filename, frames.tb_lineno
        frames = frames.tb_next
    return ScriptEnd(code, _in_a_line(error), place, tuple(getattr(error, "diagnostics", ())))


def place_now(mine: IsMine) -> Optional[Tuple[str, int]]:
    """The file and the line of a script that its main thread is at.

    Args:
        mine: as of :func:`frames_of`.
    """
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and not mine(frame):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def frames_of(path: str) -> IsMine:
    """A function that knows the frames of a script, and of modules beside it.

    Args:
        path: the script, as :func:`find` gave it; it may change the directory later.
    """
    of_it = files_of(path)
    return lambda frame: of_it(frame.f_code.co_filename)


def files_of(path: str) -> Callable[[str], bool]:
    """A function that knows the file of a script, and of modules beside it, as frames name them.

    Args:
        path: the script, as :func:`find` gave it; it may change the directory later.
    """
    main, folder = _file_of(path), os.path.join(os.path.dirname(os.path.realpath(path)), "")

    @functools.lru_cache(maxsize=None)
    def mine(name: str) -> bool:
        if name.startswith("<"):  # what Python itself or a generated function runs is no file
            return False
        beside = os.path.realpath(name).startswith(folder) and "site-packages" not in name
        return beside or name == main

    return mine


def _in_a_line(error: BaseException) -> str:
    """What an exception says, in one line of moderate length."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a class of the script
        text = ""
    name = type(error).__name__
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
    return "{}: {}".format(name, text) if text else name


def _wait_for_threads(known: Set[threading.Thread]) -> None:
    """Wait for threads, as ``python`` does before it ends.

    Those of executors end only when Python itself does, and are left to it.
    """
    pools: Any = sys.modules.get("concurrent.futures.thread")
    while True:
        left = set(threading.enumerate()) - known
        left -= {thread for thread in left if thread.daemon}
        left -= set(getattr(pools, "_threads_queues", ()))
        if not left:
            return
        for thread in left:
            thread.join()


def _file_of(path: str) -> str:
    """``__main__.__file__``: absolute from Python 3.9 on."""
    return os.path.join(os.getcwd(), path) if sys.version_info >= (3, 9) else path


def exit_code(error: SystemExit) -> int:
    """The exit code of ``sys.exit(...)``; a text is printed."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _compiled(path: str) -> Any:
    """The code of a file; None after what Python says against it, printed as it does."""
    try:
        with open(path, "rb", opener=reading) as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise CannotRunError(
            phrase("{} cannot be read: {}", path, error.strerror or error)
        ) from None
    if len(data) > _LARGEST:
        raise CannotRunError(phrase("{} has more than {:,} bytes", path, _LARGEST))
    try:
        return compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError):
        import re

        if path.endswith(".sh") or re.match(rb"#!.*\b\w*sh\b", data):
            raise NoScriptError(
                phrase("{} is a shell script; pass the Python script that it starts", path)
            ) from None
        _print_exception()
        return None
    except ValueError as error:
        raise CannotRunError(phrase("{} is not Python: {}", path, error)) from None


def _print_exception() -> None:
    """The traceback without the frames of this package, through the script's own hook."""
    kind, error, _ = sys.exc_info()
    assert kind is not None
    assert error is not None
    sys.stdout.flush()
    missing = failed_import(error)
    if missing is not None and missing is not error:  # of a module that is served
        missing.__traceback__ = _of_script(error.__traceback__, os.path.dirname(_HERE))
        kind, error = type(missing), missing
    try:
        for each in _chain(error):
            each.__traceback__ = _of_script(each.__traceback__)
        sys.excepthook(kind, error, error.__traceback__)
    except Exception:
        import traceback

        traceback.print_exc()
    if missing is not None:
        print(advice(missing), file=sys.stderr)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, its causes and what it came up in."""
    seen: List[BaseException] = []
    pending: List[Optional[BaseException]] = [error]
    while pending:
        each = pending.pop()
        if each is not None and not any(each is known for known in seen):
            seen.append(each)
            pending += [each.__cause__, each.__context__]
    return iter(seen)


def _of_script(
    frames: Optional[TracebackType], end: Optional[str] = None
) -> Optional[TracebackType]:
    """The frames of a traceback but for those that run the script and watch its sessions.

    Args:
        frames: the first of them.
        end: a folder; a frame of its files ends the script's, once it has begun.
    """
    kept: List[TracebackType] = []
    while frames is not None:
        path = os.path.abspath(frames.tb_frame.f_code.co_filename)
        if kept and end is not None and path.startswith(end + os.sep):
            break
        if os.path.dirname(path) != _HERE:
            kept.append(frames)
        frames = frames.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else None
