"""The facts of a migration: what each entry of the report is about, and where it is explained."""

import functools
import pkgutil
from typing import Any, Dict, Mapping, NamedTuple, Optional

from npu_config.core.diagnostics import DOCS_URL, Severity
from npu_config.core.message import phrase

__all__ = ["LABELS", "Fact", "facts", "url_of"]


class Fact(NamedTuple):
    """One thing that a migration changes, refuses or reports.

    ``source`` is the page of the vendor's documentation below ``docs/en/tfadapter_1``, where
    there is one; ``details`` is what is said of it, by the keys of :data:`LABELS`.
    ``severity`` is ``INFO`` where nothing has to be done; ``situation`` is the documented trouble
    that it prevents, if it is one.
    """

    id: str
    group: str
    title: str
    source: str
    details: Dict[str, str]
    severity: Severity = Severity.WARNING
    situation: Optional[str] = None

    @property
    def url(self) -> str:
        """Its place on the page about migration."""
        return url_of(self.id)


LABELS: Mapping[str, str] = {
    "when": phrase("when"),
    "before": phrase("before"),
    "after": phrase("after"),
    "left": "not migrated, but reported",
}
"""What is said of a fact, in this order, and how it is headed."""


def url_of(id: str) -> str:
    """The place of a fact on the page about migration."""
    return "{}/migration.html#{}".format(DOCS_URL, id)


@functools.lru_cache(maxsize=None)
def facts() -> Mapping[str, Fact]:
    """Every fact by its id, in the order of the page (``facts.yaml``)."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    read = yaml.load(pkgutil.get_data(__name__, "facts.yaml") or b"", loader)
    return {id: _fact(id, **entry) for id, entry in read.items()}


def _fact(
    id: str,
    group: str,
    title: str,
    source: str = "",
    severity: str = "warning",
    situation: Optional[str] = None,
    **details: str,
) -> Fact:
    said = {key: details[key] for key in LABELS if key in details}
    return Fact(id, group, title, source, said, Severity(severity), situation)
