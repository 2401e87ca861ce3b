"""The JSON Schema (draft 2020-12) of configuration files, made from the catalogue."""

from typing import Any, Dict

from npu_config.catalogue import OPTIONS, Option
from npu_config.catalogue.layout import EXTENDS, GROUP_OF_KEY, GROUPS, VERSION
from npu_config.core.diagnostics import DOCS_URL
from npu_config.core.message import localized
from npu_config.core.target import MODES
from npu_config.core.versions import PRODUCT_NAMES, SNAPSHOTS, Product


def schema() -> Dict[str, Any]:
    """The schema: version, target, groups of options, and options outside groups."""
    target = {
        "type": ["object", "null"],
        "description": localized(
            "The product, mode and version that the job runs with; narrows the checks."
        ),
        "properties": {
            "product": {
                "enum": [product.value for product in Product]
                + [name for name, products in PRODUCT_NAMES.items() if len(products) == 1],
            },
            "mode": {"enum": list(MODES)},
            "cann": {"type": "string", "description": localized("The version of CANN.")},
            "adapter": {"enum": [snapshot.adapter for snapshot in SNAPSHOTS]},
        },
        "additionalProperties": False,
    }
    properties: Dict[str, Any] = {
        "$schema": {"type": "string"},
        EXTENDS: {
            "description": localized(
                "Files that this file extends, relative to its folder; later files override "
                "earlier ones."
            ),
            "anyOf": [_PATH, {"type": "array", "items": _PATH}],
        },
        "version": {"const": VERSION},
        "target": target,
    }
    for group in GROUPS:
        properties[group.key] = {"$ref": "#/$defs/group.{}".format(group.key)}
        for alias in group.aliases:
            properties[alias] = {"$ref": "#/$defs/group.{}".format(group.key)}
    for name in OPTIONS:
        properties[name] = _removable(name)
    definitions: Dict[str, Any] = {
        "group.{}".format(group.key): {
            "description": localized(group.title),
            "type": ["object", "null"],
            "properties": {name: _removable(name) for name in group.options},
            "additionalProperties": False,
        }
        for group in GROUPS
    }
    definitions.update(
        ("option.{}".format(name), _option(option)) for name, option in OPTIONS.items()
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "{}/npu_config.schema.json".format(DOCS_URL),
        "title": localized("Configuration of npu_config"),
        "description": localized("Session options of TensorFlow on Ascend NPUs, grouped or flat."),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "if": {"not": {"required": [EXTENDS]}},
        "then": {
            "properties": {
                "target": True,
                **{key: {"additionalProperties": _NOT_NULL} for key in GROUP_OF_KEY},
            },
            "additionalProperties": _NOT_NULL,
        },
        "$defs": definitions,
    }


_PATH = {"type": "string", "minLength": 1}
_NOT_NULL = {"not": {"type": "null"}}


def _removable(name: str) -> Dict[str, Any]:
    """The values of an option, and null, which takes away what an extended file sets."""
    return {"anyOf": [{"$ref": _reference(name)}, {"type": "null"}]}


def _reference(name: str) -> str:
    return "#/$defs/option.{}".format(name)


def _option(option: Option) -> Dict[str, Any]:
    entry = dict(option.kind.schema())
    sentences = [localized(option.summary)]
    if option.unit:
        sentences.append(localized("Unit: {}.", option.unit))
    if option.default_note:
        sentences.append(localized("Default: {}.", option.default_note))
    entry["description"] = " ".join(sentences)
    if option.default is not None:
        kind = option.kind
        entry["default"] = option.default if kind.plain else kind.to_wire(option.default)
    if option.is_outdated:
        entry["deprecated"] = True
    return entry
