"""Logs of jobs, written by the tests from the templates of the facts."""

import datetime

START = datetime.datetime(2024, 5, 6, 7, 8, 9)


def moment(seconds):
    """A time of a plog, so many seconds after the job began."""
    time = START + datetime.timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%d-%H:%M:%S.") + "{:03d}.000".format(time.microsecond // 1000)


def slog(module, text, at=0.0, pid=4000, level="ERROR"):
    """A line of a plog."""
    return "[{}] {}({},python3.7):{} [file.cc:10]{} Work:{}\n".format(
        level, module, pid, moment(at), pid + 1, text
    )


def started(rank, size, pid, at=0.0):
    """The line by which a process says which rank it is."""
    return (
        "[TRACE] HCCL({pid},python3.7):{time} [status:init] [hcom.cc:196][hccl][5]hcom init by "
        "file "
        "success,take time [4]us, rankTablePath[/t.json], rankNum[{size}], rank[{rank}],"
        "server[10.0.0.{host}], device[{device}]\n"
    ).format(pid=pid, time=moment(at), size=size, rank=rank, host=rank // 8, device=rank % 8)


def raised(block, node="GeOp11_0"):
    """What TensorFlow prints when the adapter fails with a block."""
    return (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.7/site-packages/tensorflow_core/python/client/session.py", '
        "line 1365, in _do_call\n"
        "    return fn(*args)\n"
        "tensorflow.python.framework.errors_impl.InternalError: {0}GEOP::::DoRunAsync Failed\n"
        "Error Message is : \n{1}\n\n\t [[{{{{node {0}}}}}]]\n"
    ).format(node, block)


def write(folder, files):
    """Files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return folder


WAITED = (
    "EI0006: Getting socket times out. Reason: Remote Rank did not send the data in time. Please "
    "check the reason for the rank being stuck\n        Solution: 1. Check the rank.\n"
    "        TraceBack (most recent call last):\n        Call hcom executor "
    "fail[FUNC:D][FILE:h.cc][LINE:3]"
)
MEMORY = (
    "EL0004: Failed to allocate memory.\n        Possible Cause: Available memory is "
    "insufficient.\n"
    "        TraceBack (most recent call last):\n        Call rtMalloc fail, purpose:feature "
    "map, size:28285996544, device_id:5"
    "[FUNC:M][FILE:g.cc][LINE:56]"
)
