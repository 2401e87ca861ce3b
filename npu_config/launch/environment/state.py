"""One environment under check: what is set, known or not, and the findings about it."""

from typing import FrozenSet, List, Mapping, Optional, Union

import attr

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.core.settings import UNKNOWN, Unknown
from npu_config.core.target import Product, Target
from npu_config.rank_table.model import AnyRankTable

Value = Union[str, Unknown]


def _places(given: Optional[Mapping[str, Place]]) -> Mapping[str, Place]:
    return given or {}


@attr.s(slots=True, auto_attribs=True, eq=False)
class EnvironmentCheck:
    """One environment under check.

    Attributes:
        environ: the variables that are set; a value that cannot be known is ``UNKNOWN``.
        target: the product and mode, as far as known.
        table: the rank table that ``RANK_TABLE_FILE`` names, when it is at hand.
        places: where variables are set, for environments that come from a file.
        unset: None when every variable that is not in ``environ`` is certainly not set; else the
            names of which that is certain: others may come from outside (a shell script).
        used: names that something is known to read, though no declaration here says so.
        found: the findings.
    """

    environ: Mapping[str, Value]
    target: Target
    table: Optional[AnyRankTable] = None
    places: Mapping[str, Place] = attr.ib(default=None, converter=_places)
    unset: Optional[FrozenSet[str]] = None
    used: FrozenSet[str] = frozenset()
    found: List[Diagnostic] = attr.ib(factory=list, init=False)

    def get(self, name: str) -> Optional[str]:
        """The text of a variable; None when it is not set or not known."""
        text = self.environ.get(name)
        return None if text is UNKNOWN else text

    def absent(self, name: str) -> bool:
        """True when a variable is certainly not set."""
        return name not in self.environ and (self.unset is None or name in self.unset)

    def whole(self, name: str) -> Optional[int]:
        """The number that a variable holds; None when it is not set, not known or not a number."""
        text = self.get(name)
        if text is None or not text.isdecimal() or not text.isascii() or len(text) > 18:
            return None
        return int(text)

    def given(self, *names: str) -> List[str]:
        """Those of the variables that are set."""
        return [name for name in names if name in self.environ]

    def only_on(self, *products: Product) -> bool:
        """True when the job certainly runs on one of the products."""
        return self.target.products <= frozenset(products)

    def report(
        self,
        rule: Rule,
        name: str,
        sentence: str,
        *values: object,
        help: Optional[str] = None,
        severity: Optional[Severity] = None,
    ) -> None:
        """Report a finding about a variable: a sentence, and the values that fill it."""
        message = phrase(sentence, *values) if values else sentence
        place = self.places.get(name, NOWHERE)
        self.found.append(rule.diagnostic(message, place, None, help, severity))


def assigned(name: str, text: str) -> str:
    """``NAME="text"``, short and on one line."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return '{}="{}"'.format(name, "".join(c if c.isprintable() else "?" for c in shown))
