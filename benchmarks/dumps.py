"""Dumps: comparing, reading headers, converting layouts, against numpy and plain reading.

The sizes are smaller than a real dump's unless NPU_CONFIG_BENCH_MIB says otherwise; the ratios
do not depend on them.  Seconds are those of the processor: comparing is bound by it.
"""

import functools
import os
import struct
import subprocess
import sys
import tempfile
import time
from typing import Callable, List, Tuple

from benchmarks._measure import Row
from npu_config.proto import varint_bytes

MIB = int(os.environ.get("NPU_CONFIG_BENCH_MIB", "256"))
"""Size of each of the two tensors that are compared; the goal names 1024."""
HEADERS = 10_000
ROUNDS = 3


def _cpu(function: Callable[[], object]) -> float:
    """The best processor time of some rounds."""
    result = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        function()
        result = min(result, time.process_time() - start)
    return result


def _field(number: int, content: bytes) -> bytes:
    return varint_bytes(number << 3 | 2) + varint_bytes(len(content)) + content


def _shape(number: int, sizes: Tuple[int, ...]) -> bytes:
    return _field(number, _field(1, b"".join(map(varint_bytes, sizes))))


def header(name: str, size: int, shape: Tuple[int, ...], original: Tuple[int, ...]) -> bytes:
    """The length and the header of a dump with one float32 output in ND."""
    output = b"\x08\x01\x10\x02" + _shape(3, shape)
    output += b"\x30" + varint_bytes(size) + _shape(7, original)
    text = _field(1, b"2.0") + b"\x10" + varint_bytes(1767323045000000)
    text += _field(3, output) + _field(6, name.encode())
    return struct.pack("<Q", len(text)) + text


def _folder(root: str) -> str:
    path = os.path.join(root, "20260102030405", "0", "net", "1", "0")
    os.makedirs(path)
    return path


def compare_rows(scratch: str) -> List[Row]:
    """Six and ten metrics of two large tensors, and the memory that they take."""
    import numpy

    count = MIB << 18
    values = numpy.random.RandomState(1).standard_normal(1 << 20).astype("f4")
    folder = _folder(os.path.join(scratch, "npu"))
    dump = os.path.join(folder, "Add.a.1.2.1767323045000000")
    reference = os.path.join(scratch, "tf")
    os.makedirs(reference)
    mine, theirs = os.path.join(scratch, "mine.npy"), os.path.join(reference, "a.0.1.npy")
    with open(dump, "wb") as stream:
        stream.write(header("a", 4 * count, (count,), (count,)))
        for _ in range(count >> 20):
            values.tofile(stream)
    for path, factor in ((mine, 1.0), (theirs, 1.001)):
        whole = numpy.lib.format.open_memmap(path, mode="w+", dtype="<f4", shape=(count,))
        for start in range(0, count, values.size):
            whole[start : start + values.size] = values * numpy.float32(factor)
        del whole

    from npu_config.dumps.alignment import aligned
    from npu_config.dumps.dump import read_dump
    from npu_config.dumps.metrics import measure
    from npu_config.dumps.reference import Array, open_npy

    def ours(divergence: bool) -> None:
        tensor = read_dump(dump).outputs[0]
        array = Array("a", 0, "float32", (count,), open_npy(theirs))
        measure(aligned(tensor, array).pairs, divergence=divergence)

    def plain() -> None:
        x = numpy.load(mine).astype("f8")
        y = numpy.load(theirs).astype("f8")
        numpy.dot(x, y) / numpy.linalg.norm(x) / numpy.linalg.norm(y)

    baseline = _cpu(plain)
    what = "compare 2 x {} MiB, {} metrics"
    name = "np.load x 2 + float64 cosine"
    rows = []
    for number, divergence, budget in (("nine", False, 1.0), ("ten", True, 4.0)):
        seconds = _cpu(functools.partial(ours, divergence))
        rows.append(Row(what.format(MIB, number), seconds, name, baseline, "s", budget))
    extra = _extra_memory(os.path.join(scratch, "npu"), reference) - 2 * MIB
    rows.append(Row("memory beyond the mapped files", max(extra, 0.0), "limit", 200, "MB", 1.0))
    return rows


def _extra_memory(npu: str, reference: str) -> float:
    """How much a process grows by a comparison, in MB, mapped files included."""
    code = (
        "import resource, sys, numpy\n"
        "from npu_config.dumps import compare_dumps\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); compare_dumps(sys.argv[1], sys.argv[2]); print(peak() - before)\n"
    )
    command = [sys.executable, "-c", code, npu, reference]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) / 1024


def header_rows(scratch: str) -> List[Row]:
    """Many small dumps, listed with their headers."""
    from npu_config.dumps import find_dumps

    folder = _folder(os.path.join(scratch, "many"))
    paths = []
    for number in range(HEADERS):
        path = os.path.join(folder, "Add.n{}.1.2.{}".format(number, 1767323045000000 + number))
        with open(path, "wb") as stream:
            stream.write(header("scope/n{}".format(number), 64, (4, 4), (4, 4)) + bytes(64))
        paths.append(path)

    def ours() -> None:
        for file in find_dumps(folder):
            file.open()

    def plain() -> None:
        for path in paths:
            with open(path, "rb") as stream:
                stream.read()

    what = "{:,} headers, found and read".format(HEADERS)
    return [Row(what, _cpu(ours), "reading the bytes", _cpu(plain), "s", 12.0)]


def layout_rows() -> List[Row]:
    """Blocks of channels and of matrices, put in order."""
    import numpy

    from npu_config.dumps import to_original_layout

    rows = []
    for name, shape, original in (
        ("NC1HWC0", (32, 16, 64, 64, 16), (32, 64, 64, 256)),
        ("FRACTAL_NZ", (256, 512, 16, 16), (8192, 4096)),
    ):
        device = numpy.arange(int(numpy.prod(shape)), dtype="f4").reshape(shape)
        convert = functools.partial(to_original_layout, device, name, original)
        rows.append(
            Row(
                "{} -> network, {} MiB".format(name, device.nbytes >> 20),
                _cpu(convert) * 1e3,
                "numpy copy",
                _cpu(device.copy) * 1e3,
                "ms",
                6.0,
            )
        )
    return rows


def rows() -> List[Row]:
    """Every row; none without numpy."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        return [*compare_rows(scratch), *header_rows(scratch), *layout_rows()]
