"""The catalogue, field by field against a snapshot of the facts."""

from pathlib import Path

import pytest
import yaml

from npu_config.catalogue import OPTIONS, PAGES, Status
from npu_config.catalogue.kinds import Choice, Int
from npu_config.core.versions import ALL_PRODUCTS

FACTS = {
    entry["name"]: entry
    for entry in yaml.safe_load(
        (Path(__file__).parents[1] / "data" / "facts" / "options.yaml").read_text(encoding="utf-8")
    )
}
READ_WHEN = {
    None: (),
    "enable_dump is True": ("enable_dump",),
    "enable_dump_debug is True": ("enable_dump_debug",),
    "enable_dump or enable_dump_debug is True": ("enable_dump", "enable_dump_debug"),
    "profiling_mode is True": ("profiling_mode",),
    "aoe_mode (or AOE_MODE) is non-empty": ("aoe_mode",),
    "dynamic_input is True": ("dynamic_input",),
}

option = pytest.mark.parametrize("name", list(FACTS))


def test_names():
    """Exactly the names of the facts are declared, each on the page of its category."""
    assert set(FACTS) == set(OPTIONS)
    assert {name: entry["category"] for name, entry in FACTS.items()} == {
        name: declared.page for name, declared in OPTIONS.items()
    }
    for page in PAGES:
        assert all(declared.page == page.name for declared in page.options.values())
    assert len(OPTIONS) == sum(len(page.options) for page in PAGES)


@option
def test_plain_fields(name):
    """Wire, default, unit, modes, scope, status, replacement and page are those of the facts."""
    fact, declared = FACTS[name], OPTIONS[name]
    expected = {
        field: fact.get(field) for field in ("wire", "default", "unit", "modes", "scope", "doc")
    }
    assert expected == {field: getattr(declared, field) for field in expected}
    assert fact["status"] == declared.status.value
    assert fact["replacement"] == declared.replacement
    assert tuple(fact["source"]) == declared.source


@option
def test_products(name):
    """The products are those of the facts, of the option and of single values and ranges."""
    fact, declared = FACTS[name], OPTIONS[name]
    every = {product.value for product in ALL_PRODUCTS}
    expected = every if fact["products"] == "all" else set(fact["products"])
    assert expected == {product.value for product in declared.products}
    by_value = {value: set(known) for value, known in fact.get("allowed_products", {}).items()}
    for product, values in fact.get("allowed_by_product", {}).items():
        for value in set(fact["allowed"]) - set(values):
            by_value.setdefault(value, set(every)).discard(product)
    assert by_value == {
        value: {product.value for product in known}
        for value, known in declared.value_products.items()
    }
    assert {p: tuple(limits) for p, limits in fact.get("range_by_product", {}).items()} == {
        product.value: limits for product, limits in declared.ranges.items()
    }


@option
def test_legal_values(name):
    """The allowed values and the ranges are those of the facts."""
    fact, kind = FACTS[name], OPTIONS[name].kind
    if "allowed" in fact:
        assert isinstance(kind, (Choice, Int))
        assert tuple(fact["allowed"]) == (
            kind.values if isinstance(kind, Choice) else kind.allowed
        )
    elif "range" in fact:
        low, high = fact["range"]
        assert low == kind.minimum
        assert kind.maximum == (2**31 - 1 if high is None else high)
    else:
        assert not isinstance(kind, Choice)


@option
def test_run_config(name):
    """The NPURunConfig argument and its default are those of the facts."""
    fact, declared = FACTS[name], OPTIONS[name]
    assert fact["run_config"] == declared.run_config
    if fact["run_config"] is not None:
        assert fact.get("run_config_default", fact["default"]) == declared.run_config_default


@option
def test_read_when(name):
    """The switches under which the adapter looks at the option are those of the facts."""
    assert READ_WHEN[FACTS[name].get("read_when")] == OPTIONS[name].read_when


@option
def test_value_aliases(name):
    """Values of the same meaning are those of the facts."""
    assert FACTS[name].get("aliases", {}) == dict(OPTIONS[name].aliases)


@option
def test_default_is_legal(name):
    """A default is a value of the kind, in canonical form."""
    declared = OPTIONS[name]
    if declared.default is not None:
        assert declared.default == declared.kind.parse(declared.default)


def test_internal_options_are_marked():
    """What no documentation describes is not offered."""
    for declared in OPTIONS.values():
        undocumented = declared.status in (Status.UNDOCUMENTED, Status.NO_EFFECT)
        assert undocumented is not declared.offered
