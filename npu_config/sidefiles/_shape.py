"""The shape of plain JSON values: which keys, which kinds; every deviation is reported."""

from typing import Any, Dict, Iterable, List, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Fix, NpuConfigError, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.text.json import BROKEN, kind_of
from npu_config.text.source import Path, Places
from npu_config.text.words import listed, near, shown


class Shape:
    """Judges one value.

    What could not be read (``BROKEN``) is passed over: it has its finding already.

    Args:
        rule: the rule that deviations of structure break.
        places: where the parts of the value stand.
    """

    def __init__(self, rule: Rule, places: Places) -> None:
        self.rule = rule
        self.places = places
        self.found: List[Diagnostic] = []

    def report(
        self,
        message: str,
        place: Place,
        help: Optional[str] = None,
        rule: Optional[Rule] = None,
        meant: Optional[str] = None,
        fix: Optional[Fix] = None,
    ) -> None:
        """Add a finding."""
        found = (rule or self.rule).diagnostic(message, place, help=help, meant=meant, fix=fix)
        self.found.append(found)

    def object(self, value: Any, path: Path, what: str) -> Dict[str, Any]:
        """The value if it is an object, else an empty one."""
        if isinstance(value, dict):
            return value
        self._kind(value, path, what, "an object")
        return {}

    def array(self, value: Any, path: Path, what: str) -> List[Any]:
        """The value if it is an array, else an empty one."""
        if isinstance(value, (list, tuple)):
            return list(value)
        self._kind(value, path, what, "an array")
        return []

    def text(self, value: Any, path: Path, what: str) -> Optional[str]:
        """The value if it is text."""
        if isinstance(value, str):
            return value
        self._kind(value, path, what, "text in double quotes")
        return None

    def texts(self, value: Any, path: Path, what: str) -> List[Tuple[Path, str]]:
        """The texts of an array, with their paths."""
        found = []
        for index, item in enumerate(self.array(value, path, what)):
            at = (*path, index)
            word = self.text(item, at, phrase("an entry of {}", what))
            if word is not None:
                found.append((at, word))
        return found

    def keys(self, value: Dict[str, Any], path: Path, legal: Iterable[str], where: str) -> None:
        """Report keys that are not legal."""
        names = list(legal)
        for key in value:
            if key not in names:
                self.report(
                    phrase("unknown key {} {}; legal: {}", shown(key), where, listed(names)),
                    self.places.key_place((*path, key)),
                    meant=near(str(key), [name for name in names if name not in value]),
                )

    def _kind(self, value: Any, path: Path, what: str, expected: str) -> None:
        if value is not BROKEN:
            self.report(
                phrase("{} must be {}, not {}", what, expected, kind_of(value)),
                self.places.place(path),
            )


def refuse(found: Iterable[Diagnostic]) -> None:
    """Raise what is wrong with the arguments of a model.

    Raises:
        NpuConfigError: with every finding, when one of them is an error.
    """
    diagnostics = list(found)
    if any(d.severity is Severity.ERROR for d in diagnostics):
        raise NpuConfigError(diagnostics)


def is_wrong(found: Iterable[Diagnostic]) -> bool:
    """True when one of the findings is an error."""
    return any(d.severity is Severity.ERROR for d in found)
