"""What the writers share: comments beside values, text in quotes, what an output cannot carry."""

import re
from typing import Collection, Container, List, Mapping, Sequence, Tuple

import attr

from npu_config.core.diagnostics import NpuConfigError, Severity, declare
from npu_config.core.message import localized, phrase, printable
from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_utf8


@declare(
    "NPU791",
    Severity.ERROR,
    facts=("run-config-no-field", "run-config-dynamic-input-complete"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:460-880",),
)
def lost_in_output() -> None:
    """The requested output format cannot contain an option that is set.

    NPURunConfig has no argument for some options, passes some options on only together with
    others (`work_path` with `aoe_mode`, `profiling_options` with `profiling_mode`, the four of
    `DynamicInputConfig` together or not at all), and always sets some options itself.  Text
    files cannot contain bytes that are not UTF-8.  For a setting that it cannot write,
    ``npu-config generate`` writes a comment: an option that a script sets only on some paths,
    a value that is known only at run time, an option that the output must not contain.  JSON
    and the bytes of a ConfigProto cannot contain comments.

    Wrong:

        npu_config.NpuConfig.from_dict({"use_off_line": False}).to_run_config_kwargs()

    Right: pass such options in a ConfigProto, `NPURunConfig(session_config=...)`.
    """


_OBEYED = re.compile(r"npu:(?=\s*ignore)")
"""What would silence findings if it stood in a comment."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Notes:
    """Sentences that an output carries as comments.

    Args:
        options: option, set in the output or not, to what is said of it.
        whole: what is said of the configuration as a whole.
        origins: option to where its value comes from, for code.
    """

    options: Mapping[str, Sequence[str]] = attr.ib(factory=dict)
    whole: Tuple[str, ...] = ()
    origins: Mapping[str, str] = attr.ib(factory=dict)

    def behind(self, name: str) -> str:
        """The comment at the end of a line of code: where its value comes from."""
        return "  " + comment(self.origins[name]) if name in self.origins else ""

    def head(self) -> List[str]:
        """The comments about the whole."""
        return [comment(text) for text in self.whole]

    def beside(self, name: str) -> List[str]:
        """The comments about an option."""
        return [comment(text) for text in self.options.get(name, ())]

    def rest(self, written: Container[str] = ()) -> List[str]:
        """The comments about options that are not written, under a heading."""
        found = [
            comment(text)
            for name, texts in self.options.items()
            if name not in written
            for text in texts
        ]
        return ["", comment("Not written:"), *found] if found else []

    def comments(self, written: Collection[str] = ()) -> List[str]:
        """Every comment, for outputs that have one place for all."""
        beside = [line for name in written for line in self.beside(name)]
        rest = self.rest(written)[1:]
        return [*self.head(), *beside, *rest]


NO_NOTES = Notes()


def comment(text: str) -> str:
    """A comment of one line, whatever the text holds."""
    return "# " + _OBEYED.sub(r"npu\\x3a", printable(localized(text)))


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
                phrase(
                    '"{}" contains bytes that are not UTF-8; {} cannot store them', name, output
                ),
                option=name,
                help="keep the value in a .pb or .pbtxt file",
            )
            for name in found
        )


def refuse_removals(names: Sequence[str], output: str) -> None:
    """Refuse options that are taken away, in a format that has no null.

    Raises:
        NpuConfigError: naming each such option.
    """
    if names:
        raise NpuConfigError(
            lost_in_output.diagnostic(
                phrase('"{}" is set to null, which {} cannot express', name, output),
                option=name,
                help="write YAML or JSON, or leave out --keep-layers",
            )
            for name in names
        )
