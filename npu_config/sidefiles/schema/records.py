"""Objects of a JSON file as frozen models, and back, without losing a key.

A model class has a field ``origin``, the object that it was read from.  Written back, every
key stays in its place: one that the model knows with the model's value, in the spelling of the
origin where that says the same, and any other as it was.
"""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, Type, TypeVar

import attr

from npu_config.sidefiles.schema.kinds import NOTHING, BadValueError, NumberText

M = TypeVar("M")
_NOTHING: Mapping[str, Any] = {}
_NUMBER = NumberText()


class RecordField(NamedTuple):
    """How a key of an object and a field of a model become each other.

    ``name`` is the field; None for a key that ``write`` derives from the whole model, e.g. a
    count, or does not (None).  ``optional``: an empty array is not written where none was.
    """

    key: str
    name: Optional[str]
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    optional: bool = False


RECORDS: Dict[type, Tuple[RecordField, ...]] = {}


def origin() -> Any:
    """The attrs field of the object that a model was read from."""
    return attr.ib(default=_NOTHING, eq=False, repr=False, hash=False, kw_only=True)


def record(*fields: RecordField) -> Callable[[Type[M]], Type[M]]:
    """Decorate a model class with how it is read and written."""

    def enter(cls: Type[M]) -> Type[M]:
        RECORDS[cls] = fields
        return cls

    return enter


def _same(value: Any) -> Any:
    return value


def plain(key: str) -> RecordField:
    """A key whose value is kept as it is."""
    return RecordField(key, key, _same, _same)


def number_of(value: Any) -> Any:
    """The number that HCCL reads in a text; what is not one, where it is not read, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return _NUMBER.parse(value)
    except BadValueError as wrong:
        return value if wrong.read_as is NOTHING else wrong.read_as


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else value


def number_text(key: str) -> RecordField:
    """A number that is written as text."""
    return RecordField(key, key, number_of, str)


def number(key: str) -> RecordField:
    """A number."""
    return RecordField(key, key, _whole, int)


def texts(key: str, optional: bool = False) -> RecordField:
    """An array of texts."""
    return RecordField(key, key, tuple, list, optional)


def derived(
    key: str, write: Callable[[Any], Any], read: Callable[[Any], Any] = _same
) -> RecordField:
    """A key that follows from the others, such as a count."""
    return RecordField(key, None, read, write)


def count(key: str, many: Callable[[Any], int]) -> RecordField:
    """A key that holds, as text, how many parts the model has."""
    return derived(key, lambda model: str(many(model)), number_of)


def objects(key: str, name: str, cls: type) -> RecordField:
    """An array of objects."""
    return RecordField(
        key,
        name,
        lambda values: tuple(load(cls, value) for value in values),
        lambda models: [dump(model) for model in models],
    )


def object_(key: str, cls: type) -> RecordField:
    """One object."""
    return RecordField(key, key, lambda value: load(cls, value), dump)


class IncompleteError(TypeError):
    """An object lacks what its model needs, in a text that was only read in part."""


def load(cls: Type[M], value: Mapping[str, Any]) -> M:
    """The model of an object in which nothing is wrong.

    Raises:
        IncompleteError: something that the model needs is missing.
    """
    build: Any = cls
    found = {
        field.name: field.read(value[field.key])
        for field in RECORDS[cls]
        if field.name is not None and field.key in value
    }
    needed = (field for field in attr.fields(build) if field.default is attr.NOTHING)
    missing = [field.name for field in needed if field.name not in found and field.init]
    if missing:
        raise IncompleteError(", ".join(missing))
    model: M = build(origin=value, **found)
    return model


def dump(model: Any) -> Dict[str, Any]:
    """The object of a model."""
    source: Mapping[str, Any] = model.origin
    fields = RECORDS[type(model)]
    written: Dict[str, Any] = {}
    for field in fields:
        key, given = field.key, field.key in source
        value = field.write(model) if field.name is None else getattr(model, field.name)
        if field.name is None:
            if given and (value is None or field.read(source[key]) == field.read(value)):
                value = source[key]
            if value is not None and (given or not source):
                written[key] = value
        elif given and field.read(source[key]) == value:
            written[key] = source[key]
        elif value is not None and (given or value != () or not field.optional):
            written[key] = field.write(value)
    known = {field.key for field in fields}
    kept = {
        key: written.get(key, value)
        for key, value in source.items()
        if key in written or key not in known
    }
    return {**kept, **{key: value for key, value in written.items() if key not in kept}}


def unknown_keys(model: Any) -> Dict[str, Any]:
    """The keys of the origin that the model does not know."""
    known = {field.key for field in RECORDS[type(model)]}
    return {key: value for key, value in model.origin.items() if key not in known}
