"""One dump: its tensors, and their values where they are asked for.

Values are mapped from the file, so a tensor of any size costs what is looked at.

Source: facts dump.yaml, ``container``, ``formats``.
"""

import mmap
from typing import Any, Iterable, Iterator, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import reading
from npu_config.core.message import phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.data_types import DataType, decode
from npu_config.dumps.formats import PLAIN
from npu_config.dumps.header import OriginalOp
from npu_config.dumps.layouts import LayoutError, Plan, arranged, blocks, math_prod, plan
from npu_config.text.loading import unreadable

BLOCK = 1 << 14
"""How many elements are decoded at a time; a few blocks of float64 fit a processor's cache."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Tensor:
    """An input or output of a dumped operator.

    Args:
        data_type: e.g. ``"DT_FLOAT16"``.
        format: the layout on the device, e.g. ``"NC1HWC0"``.
        shape: on the device.
        original_shape: in the network; empty where the header does not say.
        size: bytes on the device; may be more than the shape needs.
        path: the file.
        offset: where its bytes begin in the file; None when the file does not hold them.
        kind: how the values are stored.
        sub_format: the groups of a filter in FRACTAL_Z.
        original_op: the operator of the network whose output this is; None for inputs, and
            where the header does not say.
        fault: why the values cannot be read, else None.
    """

    data_type: str
    format: str
    shape: Tuple[int, ...]
    original_shape: Tuple[int, ...]
    size: int
    path: str
    offset: Optional[int]
    kind: DataType = attr.ib(repr=False)
    sub_format: int = 0
    original_op: Optional[OriginalOp] = None
    fault: Optional[Diagnostic] = None

    @property
    def elements(self) -> int:
        """How many elements the shape has; a shape without dimensions has one."""
        return math_prod(self.shape)

    def array(self, layout: str = "device", steps: Optional[Plan] = None) -> Any:
        """The values as a numpy array.

        bfloat16 and the floats of eight bits become float32, complex32 becomes complex64; all
        other types are views of the mapped file that cannot be written to.

        Args:
            layout: ``"device"`` as stored, with the stored shape; ``"original"`` in the layout
                and shape of the network, without padding.
            steps: how it gets there; None: what :meth:`steps` says.

        Raises:
            NpuConfigError: the values or the layout are not documented, or the file does not
                hold the tensor.
            ImportError: numpy is missing.
        """
        if layout not in ("device", "original"):
            raise ValueError(phrase('layout is {!r}; legal: "device", "original"', layout))
        stored = self._stored()
        if layout == "device":
            return decode(stored, self.kind)
        steps = steps or self.steps()
        shape = self.original_shape or self.shape
        return decode(arranged(stored, steps), self.kind).reshape(shape)

    def blocks(
        self, original: bool = False, limit: int = BLOCK, steps: Optional[Plan] = None
    ) -> Iterator[Any]:
        """The values piece by piece, as flat numpy arrays in C order.

        Args:
            original: in the layout of the network; else as stored.
            limit: about how many elements a piece has.
            steps: how it gets there; None: what :meth:`steps` says.

        Raises:
            NpuConfigError: as :meth:`array` does.
        """
        stored = self._stored()
        if original:
            pieces: Iterable[Any] = blocks(stored, steps or self.steps(), limit)
        else:
            flat = stored.reshape(-1)
            pieces = (flat[start : start + limit] for start in range(0, flat.size, limit))
        for piece in pieces:
            yield decode(piece, self.kind)

    def raw(self) -> bytes:
        """The bytes of the tensor as they are in the file, padding included.

        Raises:
            NpuConfigError: the file does not hold them.
        """
        offset = self._offset()
        try:
            with open(self.path, "rb", opener=reading) as stream:
                stream.seek(offset)
                return stream.read(self.size)
        except OSError as error:
            raise NpuConfigError([unreadable(self.path, error)]) from None

    def steps(self, original_format: Optional[str] = None) -> Plan:
        """How the values get into the layout of the network.

        Args:
            original_format: what another source, such as the graph, says of that layout; what
                the header says comes first.

        Raises:
            NpuConfigError: the layout is not documented, or the shapes contradict it.
        """
        named = None if self.original_op is None else self.original_op.format
        wanted = named if named in PLAIN else original_format
        shape = self.original_shape
        if not shape and self.format in (*PLAIN, "ND"):
            shape = self.shape
        try:
            return plan(self.format, self.shape, shape, wanted, self.sub_format)
        except LayoutError as error:
            found = rules.layout_cannot_be_converted.diagnostic(
                str(error),
                Place(self.path),
                help='use the layout "device"',
            )
            raise NpuConfigError([found]) from None

    def _offset(self) -> int:
        if self.offset is None:
            message = "the file holds no bytes of this tensor"
            raise NpuConfigError(
                [self.fault or rules.tensor_without_data.diagnostic(message, Place(self.path))]
            )
        return self.offset

    def _stored(self) -> Any:
        """The elements as they are stored, mapped from the file."""
        offset = self._offset()
        if self.fault is not None:
            raise NpuConfigError([self.fault])
        if self.kind.storage is None:
            message = "it is not documented how the values of {} are stored"
            found = rules.values_cannot_be_decoded.diagnostic(
                phrase(message, self.data_type),
                Place(self.path),
                help="the bytes can be read as they are (raw)",
            )
            raise NpuConfigError([found])
        import numpy

        dtype = numpy.dtype(self.kind.storage)
        if not self.elements:
            return numpy.empty(self.shape, dtype)
        try:
            with open(self.path, "rb", opener=reading) as stream:
                content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise NpuConfigError([unreadable(self.path, error)]) from None
        if len(content) < offset + self.elements * dtype.itemsize:
            message = "the file has become shorter since its header was read"
            raise rules.dump_file_incomplete.error(message, Place(self.path))
        return numpy.frombuffer(content, dtype, self.elements, offset).reshape(self.shape)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Dump:
    """One execution of an operator on the device.

    Args:
        path: the file.
        version: of the format.
        dump_time: when it was written, in microseconds.
        op_name: the operator, with its real name (file names replace ``/`` and ``.``).
        inputs: in the order of the operator.
        outputs: in the order of the operator.
        attributes: further texts of the header, by name.
        diagnostics: what is wrong with the file; empty for those that :func:`read_dump` gives.
    """

    path: str
    version: str
    dump_time: int
    op_name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    attributes: Tuple[Tuple[str, str], ...] = ()
    diagnostics: Tuple[Diagnostic, ...] = ()

    @property
    def original_op(self) -> Optional[OriginalOp]:
        """The operator of the network that the first output stands for, if the header says."""
        return next((t.original_op for t in self.outputs if t.original_op is not None), None)

    def tensors(self) -> Iterator[Tuple[str, int, Tensor]]:
        """Every tensor with ``"input"`` or ``"output"`` and its number."""
        for side, tensors in (("input", self.inputs), ("output", self.outputs)):
            for index, tensor in enumerate(tensors):
                yield side, index, tensor
