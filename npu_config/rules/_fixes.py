"""Fixes that put something in the place of what the user wrote."""

import json
from typing import Optional, Union

from npu_config.core.diagnostics import Fix
from npu_config.core.message import phrase
from npu_config.core.settings import Setting, SourceKind
from npu_config.rules.case import Case


def writing(
    case: Case,
    setting: Setting,
    value: Union[bool, int, float, str, None],
    field: Optional[str] = None,
) -> Optional[Fix]:
    """The fix that writes a value as YAML, TOML, JSON and protobuf text all read it.

    Args:
        case: what is judged.
        setting: the option; a value that goes over several lines is left alone.
        value: what to write; None: there is no fix.
        field: the field of AttrValue to write it in, if it is in another one.
    """
    place = setting.place
    if value is None or place.line != place.end_line:
        return None
    written = json.dumps(value, ensure_ascii=False)
    if case.source_kind is SourceKind.PROTO:
        if setting.field_place is None:
            return None
        if field is not None:
            place, written = setting.field_place, phrase("{}: {}", field, written)
    return Fix.writing(place, written, value=value)
