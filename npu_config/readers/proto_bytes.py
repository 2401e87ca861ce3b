"""The binary form of a ConfigProto."""

from typing import Optional

from npu_config.core.diagnostics import Place
from npu_config.core.settings import Settings, SourceKind
from npu_config.proto import ProtoSyntaxError, decode, parse_bytes
from npu_config.readers import _rules as rules
from npu_config.rules.reading import CANNOT_BE_PARSED, Reading


def read(data: bytes, path: Optional[str] = None) -> Reading:
    """Read a serialized ConfigProto; any bytes give a reading."""
    if not data:
        message = "the file is empty; no option is set"
        empty = rules.nothing_to_check.diagnostic(message, Place(path))
        return Reading("pb", path, (Settings({}, SourceKind.PROTO),), (empty,))
    try:
        config = parse_bytes(data)
    except ProtoSyntaxError:
        message = "the bytes are not a serialized ConfigProto"
        help = "write the file with config.SerializeToString(), or name another one"
        fault = rules.unparsable_file.diagnostic(message, Place(path), help=help)
        return Reading("pb", path, diagnostics=(fault,), unchecked=CANNOT_BE_PARSED)
    return Reading("pb", path, (decode(config, path),), proto=config)
