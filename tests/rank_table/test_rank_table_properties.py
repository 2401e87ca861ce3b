"""Properties of the rank-table format: round trips, and nothing raises for any input."""

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from npu_config import rank_table
from npu_config.core.diagnostics import NpuConfigError, Report
from npu_config.core.target import Target
from npu_config.core.versions import Product
from npu_config.rank_table.judging import check, check_document
from npu_config.rank_table.model import (
    GroupTable,
    from_document,
    to_document,
)
from npu_config.sidefiles.schema.kinds import BadValueError, NumberText
from tests.rank_table.table_strategies import TABLES

KEYS = [
    "status", "version", "server_count", "server_list", "super_pod_list", "server_id", "host_ip",
    "device", "device_id", "device_ip", "device_port", "rank_id", "host_port", "super_device_id",
    "super_pod_id", "rank_count", "rank_list", "local_id", "level_list", "net_layer", "net_type",
    "net_instance_id", "rank_addr_list", "addr_type", "addr", "ports", "group_list",
    "group_count", "instance_list", "instance_count", "device_count", "devices", "pod_name",
    "backup_device_ip", "backup_device_port", "deploy_mode", "device_num", "server_num",
    "group_name", "para_plane_nic_location", "replaced_local_id", "control_plane", "backup_addr",
    "detour", "device_vnic_port", "net_position", "listen_port",
]  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["0", "1", "2", "1.0", "1.2", "2.0", "10.0.0.1", "::1", "completed", "EID"])
    | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=30,
)
TARGETS = st.none() | st.sampled_from(list(Product))


@given(TABLES)
def test_round_trip(table):
    """parse(render(x)) is x, and says nothing bad about it."""
    parsed = rank_table.parse(rank_table.render(table))
    assert parsed.diagnostics.errors == []
    assert table == parsed.model


@given(TABLES)
def test_document_round_trip(table):
    """The plain values of a table have its whole content, and are plain JSON."""
    document = to_document(table)
    assert document == json.loads(json.dumps(document))
    assert table == from_document(document)


def objects_in(value):
    """Every object of a JSON value."""
    found = [value] if isinstance(value, dict) else []
    parts = value.values() if isinstance(value, dict) else value
    for part in parts if isinstance(value, (dict, list)) else ():
        found.extend(objects_in(part))
    return found


UNKNOWN = st.dictionaries(
    st.sampled_from(["board_id", "chip_info", "note", "x", "plan\u00e9"]),
    LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.text(max_size=3), LEAVES),
    max_size=3,
)


@given(TABLES, st.data())
def test_no_key_is_lost(table, data):
    """Whatever keys stand beside those of the dialect, they are kept, in their order."""
    document = to_document(table)
    for part in objects_in(document):
        extra = data.draw(UNKNOWN)
        items = data.draw(st.permutations([*part.items(), *extra.items()]))
        part.clear()
        part.update(items)
    text = json.dumps(document)
    parsed = rank_table.parse(text)
    assert parsed.diagnostics.errors == []
    assert text == json.dumps(json.loads(rank_table.render(parsed.model)))


@given(TABLES)
def test_conversion_is_accepted(table):
    """What becomes version 1.0 is right, and has the same processes on the same devices."""
    if isinstance(table, GroupTable):
        new = rank_table.convert(table)
        assert check_document(to_document(new)).errors == []
        places = {(one.rank_id, one.server_id, one.device_id) for one in table.processes}
        assert places == {(one.rank_id, one.server_id, one.device_id) for one in new.processes}


@given(TABLES, TABLES)
def test_merged_tables_are_accepted(one, other):
    """Two tables become one that is right, or are refused with a reason."""
    try:
        merged, _ = rank_table.merge([("a", one), ("b", other)])
    except NpuConfigError as error:
        assert error.diagnostics.errors
        return
    assert check_document(to_document(merged)).errors == []
    assert merged.rank_size == one.rank_size + other.rank_size
    ranks = sorted(process.rank_id for process in merged.processes)
    assert ranks == list(range(merged.rank_size))


@given(TABLES, st.data())
def test_layout_does_not_matter(table, data):
    """However the JSON is laid out, the same is said."""
    document = to_document(table)
    indent = data.draw(st.sampled_from([None, 0, 2]))
    ascii_only = data.draw(st.booleans())
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    expected = [diagnostic.message for diagnostic in check_document(document)]
    assert sorted(expected) == sorted(diagnostic.message for diagnostic in check(text))


@given(st.text(), TARGETS)
def test_any_text(text, product):
    """No text raises."""
    assert isinstance(check(text, None, Target(product=product)), Report)


@given(VALUES, TARGETS, st.sampled_from(["server_list", "rank_list", "group_list"]))
def test_any_value(value, product, key):
    """No JSON value raises, and its text gets the same findings."""
    document = {key: value, "version": "1.0"} if not isinstance(value, dict) else value
    target = Target(product=product)
    text = json.dumps(document)
    told = rank_table.parse(text, None, target)
    assume("NPU787" not in {each.rule for each in told.diagnostics})  # a template is not judged
    plain = check_document(document, target)
    own = [d.message for d in told.diagnostics if not d.name.startswith("json-")]
    assert sorted(own) == sorted(d.message for d in plain)
    assert (told.model is None) == bool(plain.errors)


@given(TABLES, st.data())
def test_broken_tables(table, data):
    """A table with a piece cut out or doubled does not raise."""
    text = rank_table.render(table)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    double = data.draw(st.booleans())
    mangled = text[:end] + text[start:] if double else text[:start] + text[end:]
    parsed = rank_table.parse(mangled)
    assert parsed.model is None or parsed.diagnostics is not None


@given(TABLES, st.data())
def test_a_value_of_another_kind(table, data):
    """One value replaced by anything does not raise, and no finding is told twice."""
    document = to_document(table)
    part = document
    while True:
        entries = list(part.items()) if isinstance(part, dict) else list(enumerate(part))
        if not entries:
            break
        key, inner = data.draw(st.sampled_from(entries))
        if not isinstance(inner, (dict, list)) or data.draw(st.booleans()):
            part[key] = data.draw(LEAVES)
            break
        part = inner
    found = list(rank_table.parse(json.dumps(document)).diagnostics)
    assert len(found) == len(set(found))


NUMBERS = st.integers(0, 30).map(str) | st.sampled_from(
    ["02", "+1", " 2", "1e2", "-1", "1_0", "²", "x", ""]
)


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 5))
def test_a_column_is_read_as_its_values_are(values, times, cut):
    """Number texts read at once, however they repeat, are those read one by one."""
    kind = NumberText(1, 20)
    column = (values * times)[: len(values) * times - cut] or values
    read = kind.read_all(column)
    try:
        single = [kind.parse(value) for value in column]
    except BadValueError:
        single = None
    assert read is None or single == list(read)
    assert read is not None or single is None
