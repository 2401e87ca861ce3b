"""Text in quotes, in the form that YAML, TOML and Python share."""

from npu_config.core.diagnostics import NpuConfigError
from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_utf8
from npu_config.writers._rules import lost_in_output

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """``text`` in double quotes; what cannot be printed is escaped."""
    return '"{}"'.format("".join(_ESCAPES.get(c) or _printed(c) for c in text))


def _printed(character: str) -> str:
    if character.isprintable():
        return character
    number = ord(character)
    return "\\u{:04x}".format(number) if number < 0x10000 else "\\U{:08x}".format(number)


def refuse_bytes(config: ConfigValue, output: str) -> None:
    """Refuse text that came from bytes that are not UTF-8; no text file can hold it.

    Raises:
        NpuConfigError: naming each such option.
    """
    found = [
        name
        for name, value in config.to_dict().items()
        if isinstance(value, str) and not is_utf8(value)
    ]
    if found:
        raise NpuConfigError(
            lost_in_output.diagnostic(
                '"{}" holds bytes that are not UTF-8; {} cannot carry them'.format(name, output),
                option=name,
                help="keep it in a .pb or .pbtxt",
            )
            for name in found
        )
