"""ConfigProtos: the text form (pbtxt) and the bytes (pb)."""

from typing import Dict, List, Optional, Union

from npu_config.catalogue.kinds import shorten
from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.settings import Settings, SourceKind
from npu_config.proto import decode, parse_bytes, parse_text, text_positions
from npu_config.proto.faults import ProtoSyntaxError
from npu_config.proto.places import TextPositions
from npu_config.readers import _rules as rules
from npu_config.readers._config_file import inside_quotes
from npu_config.rules.reading import CANNOT_BE_PARSED, Reading
from npu_config.text.source import Source, both_places


def read(content: Union[bytes, str], path: Optional[str] = None) -> Reading:
    """Read a ConfigProto in text form or in bytes; anything gives a reading."""
    text = content if isinstance(content, str) else None
    kind = "pb" if text is None else "pbtxt"
    if not content or (text is not None and not text.strip("\ufeff \t\r\n")):
        message = "the file is empty; no option is set"
        empty = rules.nothing_to_check.diagnostic(message, Place(path))
        return Reading(kind, path, (Settings({}, SourceKind.PROTO),), (empty,), text=text)
    return _read_bytes(content, path) if isinstance(content, bytes) else _read_text(content, path)


def _read_bytes(data: bytes, path: Optional[str]) -> Reading:
    try:
        config = parse_bytes(data)
    except ProtoSyntaxError:
        message = "the bytes are not a serialized ConfigProto"
        help = (
            "the file is text: rename it to .pbtxt, or add --as pbtxt"
            if data.isascii() and b"{" in data
            else "write the file with config.SerializeToString(), or pass another file"
        )
        fault = rules.unparsable_file.diagnostic(message, Place(path), help=help)
        return Reading("pb", path, diagnostics=(fault,), unchecked=CANNOT_BE_PARSED)
    return Reading("pb", path, (decode(config, path),), proto=config)


def _read_text(text: str, path: Optional[str]) -> Reading:
    try:
        config = parse_text(text)
        positions = text_positions(text)
    except ProtoSyntaxError as error:
        faults = tuple(
            rules.unparsable_file.diagnostic(fault.reason, Place(path, *fault[1:]))
            for fault in error.faults
        )
        return Reading("pbtxt", path, diagnostics=faults, text=text, unchecked=CANNOT_BE_PARSED)
    settings = _with_bare_names(decode(config, path, positions), Source(text, path))
    found = tuple(_duplicates(positions, path))
    return Reading("pbtxt", path, (settings,), found, text=text, proto=config)


def _with_bare_names(settings: Settings, source: Source) -> Settings:
    """The settings with the places of names inside their quotes."""
    entries = {}
    for name, setting in settings.entries.items():
        place = setting.name_place
        if place is not None:
            setting = setting._replace(name_place=inside_quotes(source, place))
        entries[name] = setting
    return settings._replace(entries=entries)


def _duplicates(positions: TextPositions, path: Optional[str]) -> List[Diagnostic]:
    """A warning for each option that one entry holds twice: the last value is used."""
    found = []
    for optimizer in positions.optimizers:
        seen: Dict[str, Place] = {}
        for name, places in optimizer.options:
            if name in seen:
                message = phrase(
                    '"{}" appears twice, on {}; the last value is used',
                    shorten(name),
                    both_places(seen[name], places.key),
                )
                place = places.key._replace(path=path)
                found.append(
                    rules.duplicate_key.diagnostic(
                        message, place, name, "keep one of the two", Severity.WARNING
                    )
                )
            seen.setdefault(name, places.key)
    return found
