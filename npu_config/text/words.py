"""The words of messages: what is legal, what was perhaps meant, where the other one stands."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import join, listed, phrase

_LEAST = 0.75
"""The similarity of two words, as difflib counts it, from which on one may be meant."""

SLIP = 0.85
"""The similarity from which on a word can only be a slip of the pen for the other one."""

_SHORT = 3
"""Words of so few letters begin too many names."""

_NUMBERS = lazy_pattern("[0-9]+")


def joined(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return words[0] if len(words) == 1 else phrase("{} and {}", listed(words[:-1]), words[-1])


def shown(value: Any) -> str:
    """A value in double quotes, cut when it is long, without characters that do not print."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= 60 else text[:60] + "..."
    return '"{}"'.format(text if text.isprintable() else "".join(map(_printable, text)))


def spelled(value: Any) -> str:
    """A value as configuration files write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return ("'{}'" if '"' in value and "'" not in value else '"{}"').format(value)


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def near(word: str, legal: Iterable[str], least: float = _LEAST) -> Optional[str]:
    """The legal word that a misspelt one was perhaps meant to be.

    Case, outer blanks and the choice of ``-`` or ``_`` make no difference.

    Args:
        word: the word that is there.
        legal: the words to choose from.
        least: how much alike the two must be, 0 to 1.
    """
    return _near(word[:80], tuple(legal), least)


def meant_names(word: str, legal: Iterable[str], most: int = 3) -> List[str]:
    """The names of functions that may be meant: the near one, and those that say the word.

    A name says a word when each part of the word, between ``_``, begins a part of the name.

    Args:
        word: the word that is there.
        legal: the names to choose from.
        most: as many as one may choose from; of more none is told.
    """
    names = list(legal)
    nearest = near(word, names)
    said = [name for name in names if len(word) > _SHORT and _says(name, word)]
    found = list(dict.fromkeys(([] if nearest is None else [nearest]) + said))
    return found if len(found) <= most else found[:1] if nearest else []


def no_name(module: str, name: str, legal: Iterable[str]) -> str:
    """What is said of a name that a module does not have."""
    text = phrase("module {!r} has no attribute {!r}", module, name)
    meant = [] if name.startswith("_") else meant_names(name, legal)
    return phrase("{}; {}", text, did_you_mean_one_of(meant)) if meant else text


def did_you_mean_one_of(names: Iterable[str]) -> str:
    """The help for a misspelt name that may be one of these."""
    return phrase("did you mean {}?", join(" or ", ['"{}"'.format(name) for name in names]))


def _says(name: str, word: str) -> bool:
    parts = name.lower().split("_")
    return all(any(part.startswith(each) for part in parts) for each in word.lower().split("_"))


def likeness(word: str, other: str) -> float:
    """How much two words are alike, 0 to 1, compared as :func:`near` does."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, _plain(word[:80]), _plain(other)).ratio()


def is_typo(word: str, meant: str) -> bool:
    """True for a word that differs in case, in ``-`` and ``_``, or in a letter or two."""
    return numbers_agree(word, meant) and likeness(word, meant) >= SLIP


def numbers_agree(word: str, meant: str) -> bool:
    """True when the same numbers are in both: another number is another thing, and no slip."""
    return _NUMBERS.findall(word) == _NUMBERS.findall(meant)


@lru_cache(maxsize=1000)
def _near(word: str, legal: Tuple[str, ...], least: float) -> Optional[str]:
    from difflib import get_close_matches

    names = _plain_names(legal)
    plain = _plain(word)
    if plain in names:
        return names[plain][0]
    letters, length = _letters(plain), len(plain)
    likely = []
    for name, (_, others) in names.items():
        # Letters that only one of them has are not matched; so many may be.
        alike = least / 2 * (length + len(name))
        if len(name) >= alike and bin(letters & ~others).count("1") <= length - alike:
            likely.append(name)
    found = get_close_matches(plain, likely, 1, least)
    return names[found[0]][0] if found else None


@lru_cache(maxsize=100)
def _plain_names(legal: Tuple[str, ...]) -> Dict[str, Tuple[str, int]]:
    """Each word in its plain form, with the word itself and its letters."""
    return {_plain(name): (name, _letters(_plain(name))) for name in legal}


def _letters(word: str) -> int:
    """The characters of a word as a set of bits; some share one."""
    found = 0
    for character in word:
        found |= 1 << (ord(character) & 63)
    return found


def did_you_mean(word: str, legal: Iterable[str]) -> Optional[str]:
    """The help for a misspelt word."""
    found = near(word, legal)
    return None if found is None else phrase('did you mean "{}"?', found)


def _plain(word: str) -> str:
    return word.strip().lower().replace("_", "-")
