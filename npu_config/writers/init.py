"""A commented configuration file to start from, made from the catalogue."""

import re
from typing import Any, Dict, Iterator, List

from npu_config.catalogue import OPTIONS, InvalidValue, Option, Status
from npu_config.catalogue.layout import GROUPS, VERSION
from npu_config.catalogue.structured import JsonText
from npu_config.core.message import listed, localized, phrase, width
from npu_config.core.target import MODES
from npu_config.core.versions import ALL_PRODUCTS, Product
from npu_config.writers import scalar

_WIDTH = 95
_INDENT = "  #   "
_WORD = "[^ {0}]+[ {0}]*".format("\uff0c\u3002\uff1b\uff1a\u3001")
_ABOUT = (
    'A configuration of npu_config.  Remove the "# " before the options that you want to set.',
    "Check it with `npu-config check FILE`, look an option up with `npu-config explain OPTION`,",
    "convert it to a ConfigProto with `npu-config generate FILE --to pbtxt`.",
    "A schema lets editors complete it: `npu-config schema -o npu-config.schema.json`.",
)
_HEAD = """\
# yaml-language-server: $schema=npu-config.schema.json
# {about}
version: {version}

# {extends}
# extends: base.yaml

# {target}
target:
  # {products}
  # product: {product}
  # {modes}
  # mode: {mode}
  # {cann}
  # cann: "9.0.0"
"""


_ORDER = {name: index for index, name in enumerate(OPTIONS)}


def render() -> str:
    """Every offered option in the order of the catalogue: summary, legal values, default."""
    blocks = [
        _HEAD.format(
            about="\n# ".join(map(localized, _ABOUT)),
            extends=localized(
                "Files to extend (relative paths). Options set here override extended ones; "
                "null removes one."
            ),
            target=localized(
                "The product, mode and version that the job runs with; narrows the checks."
            ),
            cann=localized("The version of CANN."),
            version=VERSION,
            products=", ".join(product.value for product in Product),
            product=Product.ATLAS_A2.value,
            modes=", ".join(MODES),
            mode=MODES[0],
        )
    ]
    for group in GROUPS:
        options = [OPTIONS[name] for name in group.options if OPTIONS[name].offered]
        if options:
            lines = ["# {}".format(localized(group.title)), "{}:".format(group.key)]
            lines.extend(line for option in options for line in _lines(option))
            blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _lines(option: Option) -> Iterator[str]:
    yield ""
    yield from _comment(localized(option.summary))
    yield from _comment(localized("Legal: {}", legal(option)))
    if option.default is not None:
        yield from _comment(localized("Default: {}", _shown(option, option.default)))
    elif option.default_note:
        yield from _comment(localized("Default: {}", option.default_note))
    for note in _limits(option):
        yield from _comment(note)
    yield "  # {}: {}".format(option.name, _shown(option, example(option)))


def legal(option: Option) -> str:
    """The values that a file may hold, in words, without those that are not offered."""
    offered = [
        value
        for value in option.kind.schema().get("enum", ())
        if value not in option.undocumented_values
    ]
    if option.wire == "b":
        return phrase("true or false")
    words = listed(scalar(value) for value in offered) or option.kind.describe()
    return phrase("{} ({})", words, option.unit) if option.unit else words


def _limits(option: Option) -> List[str]:
    notes = []
    if option.products != ALL_PRODUCTS:
        names = sorted(product.value for product in option.products)
        notes.append(localized("Only on {}.", listed(names)))
    if option.modes != "both":
        notes.append(localized("Only in {}.", option.modes.replace("_", " ")))
    if option.status is Status.EXPERIMENTAL:
        notes.append(localized("Experimental."))
    elif option.needed_for:
        notes.append(
            localized("Deprecated, but still required for {}.", phrase(option.needed_for))
        )
    elif option.status is Status.DEPRECATED:
        new = option.replacement
        notes.append(localized("Deprecated; use {}.", new) if new else localized("Deprecated."))
    return notes


def _comment(text: str) -> List[str]:
    """Lines of a comment, broken at blanks and behind the punctuation of Chinese."""
    lines = [""]
    for word in re.findall(_WORD, text):
        if lines[-1] and width(lines[-1] + word.rstrip()) > _WIDTH - len(_INDENT):
            lines.append("")
        lines[-1] += word
    return [_INDENT + line.rstrip() for line in lines]


def _shown(option: Option, value: Any) -> str:
    return scalar(value if option.kind.plain else option.kind.to_wire(value))


def sample(option: Option) -> Dict[str, Any]:
    """A complete configuration that sets the option, as it is on the wire."""
    values = {**option.sample, option.name: example(option)}
    return {
        name: OPTIONS[name].kind.to_wire(OPTIONS[name].kind.parse(value))
        for name, value in sorted(values.items(), key=lambda item: _ORDER[item[0]])
    }


def example(option: Option) -> Any:
    """A legal value of the option: the default, or one that its description or schema names."""
    kind = option.kind
    schema = kind.schema()
    candidates: List[Any] = [
        option.sample.get(option.name),
        option.default,
        *schema.get("enum", ()),
    ]
    shown = re.search(r'e\.g\. "(.*)"', kind.describe())
    candidates.extend([shown.group(1)] if shown else re.findall(r'"([^"]+)"', kind.describe()))
    candidates.append(max(schema.get("minimum", 1), 0))
    candidates.append(False)
    candidates.append('{"output": "/home/test/output"}' if isinstance(kind, JsonText) else None)
    candidates.append("/home/test/{}".format(option.name))
    for candidate in candidates:
        try:
            if candidate is not None:
                return kind.parse(candidate)
        except InvalidValue:
            continue
    raise LookupError(option.name)
