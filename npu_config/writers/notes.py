"""What is said beside the values of an output, as comments."""

import re
from typing import Collection, Container, List, Mapping, Sequence, Tuple

import attr

from npu_config.core.message import localized
from npu_config.core.terminal import printable

_OBEYED = re.compile(r"npu:(?=\s*ignore)")
"""What would silence findings if it stood in a comment."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Notes:
    """Sentences that an output carries as comments.

    Args:
        options: option, set in the output or not, to what is said of it.
        whole: what is said of the configuration as a whole.
    """

    options: Mapping[str, Sequence[str]] = attr.ib(factory=dict)
    whole: Tuple[str, ...] = ()

    def head(self) -> List[str]:
        """The comments about the whole."""
        return [_comment(text) for text in self.whole]

    def beside(self, name: str) -> List[str]:
        """The comments about an option."""
        return [_comment(text) for text in self.options.get(name, ())]

    def rest(self, written: Container[str] = ()) -> List[str]:
        """The comments about options that are not written, under a heading."""
        found = [
            _comment(text)
            for name, texts in self.options.items()
            if name not in written
            for text in texts
        ]
        return ["", _comment("Not written:"), *found] if found else []

    def comments(self, written: Collection[str] = ()) -> List[str]:
        """Every comment, for outputs that have one place for all."""
        beside = [line for name in written for line in self.beside(name)]
        rest = self.rest(written)[1:]
        return [*self.head(), *beside, *rest]


NO_NOTES = Notes()


def _comment(text: str) -> str:
    """One line, whatever the text holds."""
    return "# " + _OBEYED.sub(r"npu\\x3a", printable(localized(text)))
