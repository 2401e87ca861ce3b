"""Each wrong case once more with one thing changed: which findings come, and which go.

An option is left out, or its value is not known or the one beside it, or more options may be set;
the input is of another kind, the target another product, mode or version, a variable of the
environment is empty or another one.  ``changed_cases.txt`` has below each case the changes that
matter, those with the same outcome together; ``--update-cases`` writes it.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from npu_config.catalogue import OPTIONS
from npu_config.core.settings import UNKNOWN, SourceKind
from npu_config.core.target import MODES, Target
from npu_config.core.versions import Product
from npu_config.readers import read
from npu_config.rules.case import judge
from tests import golden
from tests.rules.rule_examples import environment, host

CASES = Path(__file__).parents[1] / "cases"
EXPECTED = Path(__file__).parent / "changed_cases.txt"
INPUTS = [p for p in golden.inputs(CASES, "err") if p.suffix != ".py" and p.stem[-1] not in "234"]
VERSIONS = ("r1.1.1", "r1.5.0", "r1.8.0", "r1.12.0", "r1.15.0")


def blocks():
    """The expected lines of each case, by its name."""
    text = EXPECTED.read_text(encoding="utf-8") if EXPECTED.is_file() else ""
    return dict(re.findall(r"^== (\S+)\n((?:(?!== ).*\n)*)", text, re.M))


def near(name, value):
    """Values beside one: both neighbours of a number, the other switch, the default."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    default = OPTIONS[name].default if name in OPTIONS else None
    return [default] if isinstance(default, str) else []


def changes(settings, target, environ):
    """What is changed, in words, and the arguments of :func:`judge`."""
    entries = settings.entries
    given = settings._replace
    for name, setting in entries.items():
        rest = {other: entries[other] for other in entries if other != name}
        unknown = {**entries, name: setting._replace(value=UNKNOWN)}
        yield "no " + str(name), (given(entries=rest), target, environ)
        yield str(name) + "?", (given(entries=unknown), target, environ)
        for value in near(name, setting.value):
            changed = {**entries, name: setting._replace(value=value)}
            yield (
                "{}={!r}".format(name, value),
                (given(entries=changed), target, environ),
            )
    yield "open", (given(open=True), target, environ)
    for kind in SourceKind:
        yield kind.value, (given(source_kind=kind), target, environ)
    for product in Product:
        yield product.value, (settings, Target(product), environ)
    for mode in MODES:
        yield mode, (settings, Target(mode=mode), environ)
    for adapter in VERSIONS:
        yield adapter, (settings, Target(adapter=adapter), environ)
    yield "other environment", (settings, target, {} if environ is None else None)
    for variable, text in (environ or {}).items():
        yield "no " + variable, (settings, target, {**environ, variable: ""})
        for other in (int(text) - 1, int(text) + 1) if text.isdigit() else ("0", "x"):
            changed = {**environ, variable: str(other)}
            yield "{}={}".format(variable, other), (settings, target, changed)


def said(found, own):
    """Severity and rule of a finding, and its words where it is of a rule of the case."""
    words = (found.message, found.help) if found.rule in own else ()
    return found.severity.value, found.rule, " | ".join(filter(None, words)).replace("\n", " ")


def difference(before, after):
    """What came and what went, each rule once; its words where they are new."""
    old = defaultdict(lambda: {""})
    for _, rule, words in before:
        old[rule].add(words)
    came = [
        "+{} {}{}".format(severity, rule, ": " + words if words not in old[rule] else "")
        for severity, rule, words in after - before
    ]
    went = ["-{} {}".format(severity, rule) for severity, rule, _ in before - after]
    return "; ".join(dict.fromkeys(sorted(went) + sorted(came)))


def outcomes(path, directory):
    """The lines below a case."""
    text, own = golden.text_of(path), golden.rules_of(path)
    reading = read(path.name, content=text)
    target, environ = getattr(reading, "target", None), environment(text)
    by_outcome = {}
    with host(text, directory) as on_host:
        for settings in reading.settings:
            same = [("", (settings, target, environ))]
            before = None
            for words, arguments in [*same, *changes(settings, target, environ)]:
                found = judge(*arguments, on_host=on_host)
                after = Counter(said(each, own) for each in found)
                before = after if before is None else before
                by_outcome.setdefault(difference(before, after), {})[words] = None
    by_outcome.pop("", None)
    return "".join("{}: {}\n".format(", ".join(by), o) for o, by in by_outcome.items())


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_changed(path, tmp_path):
    """What each change brings and takes away."""
    found = outcomes(path, tmp_path)
    if golden.update:
        texts = {**blocks(), path.name: found}
        known = sorted(each.name for each in INPUTS)
        written = "".join("== {}\n{}".format(n, texts[n]) for n in known if texts.get(n))
        EXPECTED.write_text(written, encoding="utf-8")
    assert blocks().get(path.name, "") == found
