"""What was meant by a name or an argument that npu_config's own classes do not have.

Nobody asks before something is wrong; what the answer needs is imported then.
"""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.message import listed, phrase

__all__ = ["help_for_keyword", "hint_for_keyword", "no_attribute"]


Hint = Tuple[Optional[str], Optional[str], bool]


def hint_for_keyword(keyword: str, names: Sequence[str]) -> Hint:
    """What is known about a keyword that is not one of the names that a call takes.

    Returns:
        The argument that was meant; what to do where that is something else than renaming; whether
        it is about options, all of which one call sets.
    """
    from npu_config.catalogue.own_api import CONSTRUCTORS
    from npu_config.text.words import near

    meant = near(keyword, names)
    if meant is not None:
        return meant, None, False
    if keyword in CONSTRUCTORS["Target"].parameters and "target" in names:
        return None, phrase("write target=npu_config.Target({}=...)", keyword), False
    option = keyword if keyword in OPTIONS else near(keyword, OPTIONS)
    if option is None:
        return None, None, False
    help = phrase("options are set by NpuConfigBuilder().set({}=...).build()", option)
    return None, help, True


def help_for_keyword(keyword: str, names: Sequence[str]) -> Optional[str]:
    """The same as a sentence."""
    meant, help, _ = hint_for_keyword(keyword, names)
    return help if meant is None else phrase('did you mean "{}"?', meant)


def no_attribute(owner: object, name: str) -> str:
    """What is said of a name that a builder, a configuration or a preset does not have."""
    kind = type(owner).__name__
    text = phrase('{} has no attribute "{}"', kind, name)
    return text if name.startswith("_") else phrase("{}; {}", text, _instead(type(owner), name))


def _instead(kind: type, name: str) -> str:
    """What to write in its place: what another class has, an option, a near name, a legal one."""
    from npu_config.catalogue.own_api import BUILDER_METHODS, CONFIG_METHODS
    from npu_config.rules.tasks import TASKS
    from npu_config.text.words import did_you_mean_one_of, meant_names, near

    offered = [each for each in dir(kind) if not each.startswith("_")]
    if "build" in offered and name in CONFIG_METHODS:
        return phrase(
            "this attribute belongs to NpuConfig, which build() returns: write build().{}(...)",
            name,
        )
    option = name if name in OPTIONS else None
    if option is None:
        if "evolve" in offered and (name in TASKS or name in BUILDER_METHODS):
            return (
                "this attribute belongs to NpuConfigBuilder; change a configuration with "
                "evolve(NAME=VALUE)"
            )
        meant = meant_names(name, offered)
        if meant:
            return did_you_mean_one_of(meant)
        option = near(name, OPTIONS)
    if option is not None and "build" in offered:
        return phrase('"{}" is an option: write set({}=...)', option, option)
    if option is not None and "evolve" in offered:
        return phrase('"{}" is an option: write config["{}"]', option, option)
    return phrase("legal: {}", listed(offered))
