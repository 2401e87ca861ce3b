"""The header of a configuration file: its version and its target."""

from typing import Any, Dict, Optional

from npu_config.catalogue import layout
from npu_config.catalogue.kinds import name_of_type, shorten
from npu_config.core.diagnostics import Place
from npu_config.core.message import listed, phrase
from npu_config.core.target import MODES, Product, Target
from npu_config.readers import _rules as rules
from npu_config.readers._document import BROKEN, Document, Path
from npu_config.readers._findings import Findings, quoting, renaming, writing
from npu_config.text.words import near, numbers_agree

_VERSION_LINES = {
    "yaml": 'add the line "version: 1"',
    "toml": 'add the line "version = 1" at the top',
    "json": 'add "version": 1',
}
_LEGAL = {"product": [product.value for product in Product], "mode": list(MODES)}


def read_version(document: Document, findings: Findings, root: Dict[str, Any]) -> None:
    """Report a version that is missing or not ours."""
    if "version" not in root:
        if root and document.complete:
            findings.report(
                rules.missing_version,
                Place(document.source.path, 1, 1),
                phrase(
                    "the file does not say its version; it is read as version {}", layout.VERSION
                ),
                _VERSION_LINES[document.kind],
            )
        return
    version = root["version"]
    if version is BROKEN or (type(version) is int and version == layout.VERSION):
        return
    shown = "nothing" if version is None else name_of_type(version)
    findings.report(
        rules.wrong_header,
        document.places.place(("version",)),
        phrase(
            '"version" is {}; this npu_config reads version {}',
            version if type(version) is int else shown,
            layout.VERSION,
        ),
        phrase("write {}", layout.VERSION),
        writing(document.places.place(("version",)), layout.VERSION),
    )


def read_target(document: Document, findings: Findings, value: Any) -> Optional[Target]:
    """What a file says of the machine it is meant for, as far as it can be understood."""
    if value is BROKEN or value is None:
        return None
    if not isinstance(value, dict):
        findings.report(
            rules.wrong_header,
            document.places.place(("target",)),
            phrase(
                '"target" takes a mapping of {}, got {}',
                listed(layout.TARGET_KEYS),
                name_of_type(value),
            ),
            'put the product under "product"',
        )
        return None
    found: Dict[str, str] = {}
    for key, content in value.items():
        path: Path = ("target", key)
        if path in document.bad_keys or content is BROKEN:
            continue
        if key not in layout.TARGET_KEYS:
            place = document.key_place(path)
            close = near(key, layout.TARGET_KEYS)
            findings.report(
                rules.wrong_header,
                place,
                phrase(
                    '"{}" is not a part of the target; legal: {}',
                    shorten(key),
                    listed(layout.TARGET_KEYS),
                ),
                fix=None if close is None or close in value else renaming(place, close),
                meant=close,
            )
        elif _is_legal(document, findings, path, content):
            found[key] = content
    try:
        return Target.named(**found) if found else None
    except ValueError as error:
        findings.report(rules.wrong_header, document.places.place(("target",)), str(error))
        return None


def _is_legal(document: Document, findings: Findings, path: Path, content: Any) -> bool:
    key = str(path[1])
    place = document.places.place(path)
    legal = _LEGAL.get(key)
    source = document.doubts.get(path)
    if source is not None:
        message = phrase(
            '"{}" is read as {} by YAML; "{}" takes text',
            shorten(source),
            name_of_type(content),
            key,
        )
        help = phrase('write "{}" in quotes', source)
        findings.report(rules.yaml_trap, place, message, help, quoting(place, source))
        return False
    if not isinstance(content, str):
        shown = "nothing" if content is None else name_of_type(content)
        words = "text" if legal is None else phrase("one of {}", listed(legal))
        message = phrase('"{}" takes {}, got {}', key, words, shown)
        if type(content) in (int, float) and (legal is None or _is_name(key, str(content))):
            quotes = phrase('write "{}" in quotes', content)
            findings.report(
                rules.wrong_header, place, message, quotes, writing(place, str(content))
            )
        else:
            findings.report(rules.wrong_header, place, message)
        return False
    try:
        Target.named(**{key: content})
    except ValueError as error:
        meant = near(content.replace(" ", "_"), legal or ())
        if meant is not None and not numbers_agree(content, meant):
            meant = None
        fix = None if meant is None else writing(place, meant)
        findings.report(rules.wrong_header, place, str(error), fix=fix, meant=meant)
        return False
    return True


def _is_name(key: str, text: str) -> bool:
    """True for a part of a target in digits, such as the product 910."""
    try:
        Target.named(**{key: text})
    except ValueError:
        return False
    return True
