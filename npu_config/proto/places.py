"""Where the text form of a ConfigProto has what: places for diagnostics."""

from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Place
from npu_config.proto.faults import log_of, refuse
from npu_config.text.prototext import Scalar, TextBlock, TextField, parse
from npu_config.text.source import Source

_REWRITE = ("graph_options", "rewrite_options")
_PARENTS = ((), _REWRITE, ("graph_options", "optimizer_options"))


class OptionPlaces(NamedTuple):
    """Where one entry of a parameter_map has its key, its value, and the value with its field."""

    key: Place
    value: Place
    field: Optional[Place] = None


class OptimizerPlaces(NamedTuple):
    """Where one ``custom_optimizers`` entry stands.

    ``place`` is that of its name, or of the word ``custom_optimizers`` when it has none;
    ``options`` holds the entries of its parameter_map in order, a key as often as it is
    written (the last one counts).
    """

    place: Place
    options: Tuple[Tuple[str, OptionPlaces], ...]

    @property
    def by_name(self) -> Dict[str, OptionPlaces]:
        """The places that count, by option name."""
        return dict(self.options)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TextPositions:
    """Places in one text, without its path.

    Args:
        place: the whole: the first character of the text.
        optimizers: one for each ``custom_optimizers`` entry, in order.
        fields: the scalar fields of ConfigProto itself, of rewrite_options and of
            optimizer_options that are written out, by name (``"remapping"``,
            ``"global_jit_level"``, ``"allow_soft_placement"``).
    """

    place: Place
    optimizers: Tuple[OptimizerPlaces, ...]
    fields: Mapping[str, Place]


def find(text: Union[str, bytes]) -> TextPositions:
    """Find the places in the text form of a ConfigProto.

    A place that does not exist (a parameter without a value) is that of what encloses
    it.  Fields that no message has do not matter here.

    Raises:
        ProtoSyntaxError: when it is not text format.
    """
    log = log_of(text)
    root = parse(log)
    refuse(log)
    finder = _Finder(log.source)
    fields: Dict[str, Place] = {}
    for path in _PARENTS:
        for block in _descend(root, path):
            for field in block.fields:
                if isinstance(field.values[-1] if field.values else None, Scalar):
                    fields[field.name] = finder.place(field.values[-1])
    optimizers = tuple(
        finder.optimizer(field, value)
        for block in _descend(root, _REWRITE)
        for field in block.fields
        if field.name == "custom_optimizers"
        for value in field.values
    )
    return TextPositions(Place(None, 1, 1), optimizers, fields)


class _Finder:
    def __init__(self, source: Source) -> None:
        self.source = source

    def place(self, part: Union[TextField, Scalar, TextBlock]) -> Place:
        return self.source.place(part.start, part.end)

    def optimizer(self, field: TextField, value: Union[Scalar, TextBlock]) -> OptimizerPlaces:
        name = _last(value, "name")
        entries = [
            self._option(entry, item)
            for entry in _fields(value)
            if entry.name == "parameter_map"
            for item in entry.values
        ]
        return OptimizerPlaces(self.place(field if name is None else name), tuple(entries))

    def _option(
        self, field: TextField, entry: Union[Scalar, TextBlock]
    ) -> Tuple[str, OptionPlaces]:
        key = _last(entry, "key")
        value = _last(entry, "value")
        held = None
        if isinstance(value, TextBlock) and len(value.fields) == 1 and value.fields[0].values:
            content = value.fields[0].values[-1]
            if isinstance(content, Scalar):
                held = self.source.place(value.fields[0].start, content.end)
                value = content
        name = ""
        if isinstance(key, Scalar) and isinstance(key.value, bytes):
            name = key.value.decode("utf-8", "surrogateescape")
        key_place = self.place(field if key is None else key)
        value_place = key_place if value is None else self.place(value)
        return name, OptionPlaces(key_place, value_place, held)


def _last(value: Union[Scalar, TextBlock], name: str) -> Optional[Union[Scalar, TextBlock]]:
    found = [field for field in _fields(value) if field.name == name and field.values]
    return found[-1].values[-1] if found else None


def _fields(value: Union[Scalar, TextBlock]) -> List[TextField]:
    return value.fields if isinstance(value, TextBlock) else []


def _descend(block: TextBlock, path: Tuple[str, ...]) -> Iterator[TextBlock]:
    if not path:
        yield block
        return
    for field in block.fields:
        if field.name == path[0]:
            for value in field.values:
                if isinstance(value, TextBlock):
                    yield from _descend(value, path[1:])
