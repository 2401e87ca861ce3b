"""The keys of each dialect beside the facts about what HCCL reads (tests/data/files)."""

import json
from pathlib import Path

import pytest

from npu_config.core.versions import Product
from npu_config.rank_table import dialects
from npu_config.sidefiles.schema.kinds import Object, Objects

FACTS = json.loads(
    (Path(__file__).parents[1] / "data" / "files" / "rank_table_keys.json").read_text("utf-8")
)
A3 = frozenset((Product.ATLAS_A3,))
SCHEMAS = {
    "1.0": dialects.servers_schema("1.0", A3),
    "1.2": dialects.servers_schema("1.2", A3),
    "cloud": dialects.cloud_schema(),
    "laboratory": dialects.deploy_mode_schema(A3),
    "2.0": dialects.RANKS_SCHEMA,
}


def keys_of(schema):
    """Every key of a schema with its declaration."""
    for name, key in schema.keys.items():
        yield name, key
        if isinstance(key.kind, (Object, Objects)):
            yield from keys_of(key.kind.object)


@pytest.mark.parametrize("dialect", sorted(SCHEMAS))
def test_every_key_that_hccl_reads_is_declared(dialect):
    """The dialect has the keys of the facts and the lists around them, each with its source."""
    declared = dict(keys_of(SCHEMAS[dialect]))
    assert set(FACTS[dialect]) | {"group_list", "instance_list"} >= set(declared)
    assert set(FACTS[dialect]) <= set(declared)
    files = tuple(dialects.SOURCES)
    assert [name for name, key in declared.items() if not key.source.startswith(files)] == []


@pytest.mark.parametrize("dialect", sorted(SCHEMAS))
def test_required_keys(dialect):
    """What the facts require without a condition is required."""
    required = {name for name, always in FACTS[dialect].items() if always}
    assert required <= {name for name, key in keys_of(SCHEMAS[dialect]) if key.required}
