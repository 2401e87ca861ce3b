"""Names that will go: the one list of them, and the warning that says so.

A public name goes in three steps: it is an alias of its successor (``since`` is None), it warns
for one release at least (``since`` is that release), it is removed together with its line here.
"""

from typing import Dict, NamedTuple, Optional


class Deprecation(NamedTuple):
    """What replaces a name, and the release from which its use warns."""

    successor: str
    since: Optional[str]


DEPRECATED: Dict[str, Deprecation] = {
    "cluster": Deprecation("npu_config.rank_table and npu_config.launch", None),
}
"""By the path of the name behind ``npu_config.``."""


def deprecated(name: str, stacklevel: int = 3) -> None:
    """Called where a deprecated name is used: warns the code that does, or does nothing yet.

    Args:
        name: a key of :data:`DEPRECATED`.
        stacklevel: frames from here to the code of the user, as for ``warnings.warn``.
    """
    successor, since = DEPRECATED[name]
    if since is None:
        return
    import warnings

    text = "npu_config.{} is deprecated since npu_config {}; use {}"
    warnings.warn(text.format(name, since, successor), DeprecationWarning, stacklevel)
