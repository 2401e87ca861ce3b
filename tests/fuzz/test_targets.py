"""Every reader takes any bytes: a small budget here, a long one with ``make fuzz``."""

import ast
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.run import ALL, OWN, execute, mutated
from tests.fuzz.targets import NO_READERS, READERS, TARGETS
from tests.package_trees import modules


@pytest.mark.parametrize("name", sorted(ALL))
def test_any_bytes(name):
    """Arbitrary bytes, and files of the golden cases with a few bytes changed."""

    @settings(max_examples=15, deadline=None)
    @given(st.binary(max_size=200) | st.integers(0, 2**32).map(lambda seed: mutated(seed, name)))
    def check(data):
        execute(name, data)

    check()


@pytest.mark.parametrize("name", sorted(ALL))
def test_very_long_numbers(name):
    """Python 3.11 refuses to convert more than 4,300 digits; no file brings it to that.

    The readers get most places; the commands, which call them, some.  Of places between the
    same characters one stands for all.
    """
    places = list(
        {
            re.sub(rb"[0-9]+", b"0", data[max(0, match.start() - 24) : match.end() + 8]): (
                data,
                match.span(),
            )
            for data in OWN[name]
            for match in itertools.islice(re.finditer(rb"[0-9]+", data[:6000]), 40)
        }.values()
    )
    many = 150 if name in TARGETS else 40
    for data, (start, end) in places[:: 1 + len(places) // many]:
        execute(name, data[:start] + b"1" * 5000 + data[end:])


def opens_files(nodes):
    """Whether a module opens files, or has their content from the modules that do."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module in (
            "npu_config.text.source",
            "npu_config.sidefiles.format",
        ):
            if {"load", "loaded", "text_of", "read_text"} & {alias.name for alias in node.names}:
                return True
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "open":
                return True
            if isinstance(node.func, ast.Attribute) and (
                node.func.attr in ("read_bytes", "read_text")
                or getattr(node.func.value, "id", "") == "loading"
            ):
                return True
    return False


def test_no_reader_is_forgotten():
    """Every module that opens files has a target, or a reason why it needs none."""
    found = {module.name for module in modules() if opens_files(module.nodes)}
    assert sorted({**READERS, **NO_READERS}) == sorted(found)
    assert set(READERS.values()) <= set(ALL)
