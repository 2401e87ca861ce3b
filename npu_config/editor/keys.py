"""The keys that configurations, side files and rank tables may have, and what each takes."""

from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import Int, Kind
from npu_config.catalogue.layout import VERSION
from npu_config.core.message import localized
from npu_config.core.target import MODES
from npu_config.core.versions import SNAPSHOTS, Product
from npu_config.sidefiles.format import Sample
from npu_config.sidefiles.schema import kinds
from npu_config.sidefiles.schema.kinds import Key, Schema

__all__ = ["CONFIGURATIONS", "described", "key_of", "schema_of", "schema_at", "values_of"]

CONFIGURATIONS = ("yaml", "toml", "json")
_FEW = 10
_HEADER: Mapping[Tuple[str, ...], Sequence[Any]] = {
    ("version",): (VERSION,),
    ("target", "product"): tuple(product.value for product in Product),
    ("target", "mode"): MODES,
    ("target", "adapter"): tuple(snapshot.adapter for snapshot in SNAPSHOTS),
}


def schema_of(kind: Optional[str], text: str = "") -> Optional[Schema]:
    """The keys of a side file or a rank table; None for what has no such keys."""
    if kind == "rank-table":
        from npu_config.rank_table.dialects import schema_of as of_document

        return of_document(Sample(text).top)
    from npu_config.sidefiles import FORMATS

    form = FORMATS.get(kind or "")
    return None if form is None else form.schema


def schema_at(schema: Schema, keys: Sequence[str]) -> Optional[Schema]:
    """The keys of what is below some keys; None where anything may be."""
    for name in keys:
        key = schema.keys.get(name)
        inner = None if key is None else key.kind
        while isinstance(inner, kinds.Names):
            inner = inner.item
        if not isinstance(inner, (kinds.Object, kinds.Objects)):
            return None
        schema = inner.object
    return schema


def key_of(schema: Schema, name: str, keys: Sequence[str] = ()) -> Optional[Key]:
    """The declaration of a key: below some keys, else the first of its name."""
    at = schema_at(schema, keys)
    if at is not None and name in at.keys:
        return at.keys[name]
    return next((key for each, key in _all(schema) if each == name), None)


def _all(schema: Schema) -> Iterator[Tuple[str, Key]]:
    """Every key of a schema, outer ones first."""
    yield from schema.keys.items()
    for key in schema.keys.values():
        if isinstance(key.kind, (kinds.Object, kinds.Objects)):
            yield from _all(key.kind.object)


def values_of(keys: Sequence[str], schema: Optional[Schema] = None) -> List[Any]:
    """The legal values of a key where they are few; of an option also its default.

    Args:
        keys: the key, after those that it is below.
        schema: the keys of the file; None for a configuration.
    """
    if schema is not None:
        key = key_of(schema, keys[-1], keys[:-1])
        if key is None and keys[1:]:  # a name of the user's
            key = key_of(schema, keys[-2], keys[:-2])
        inner = None if key is None else key.kind
        while isinstance(inner, (kinds.Items, kinds.Names)):
            inner = inner.item
        return [] if inner is None else list(_few(inner))
    if tuple(keys) in _HEADER:
        return list(_HEADER[tuple(keys)])
    option = OPTIONS.get(keys[-1])
    if option is None:
        return []
    found = list(_few(option.kind))
    if not found and option.default is not None and option.kind.plain:
        found.append(option.default)
    return found


def _few(kind: Kind) -> Iterator[Any]:
    """The values of a kind, where they can be listed."""
    pending = [kind.schema()]
    while pending:
        schema = pending.pop(0)
        pending.extend(schema.get("anyOf", ()))
        yield from filter(lambda value: value != "", schema.get("enum", ()))
        if "const" in schema:
            yield schema["const"]
        if schema.get("type") == "boolean":
            yield from (True, False)
    if isinstance(kind, Int):
        low, high = kind.schema().get("minimum"), kind.schema().get("maximum")
        if low is not None and high is not None and high - low < _FEW:
            yield from range(low, high + 1)


def described(kind: Kind) -> str:
    """What a key takes, in words."""
    if isinstance(kind, (kinds.Items, kinds.Names)):
        words = (
            "a list; each item: {}"
            if isinstance(kind, kinds.Items)
            else ("a mapping of names; each value: {}")
        )
        return localized(words, described(kind.item))
    return localized(kind.describe())
