"""What follows from a fault is not reported beside it."""

import pytest

from npu_config import rank_table


def servers(*devices):
    """A table of version 1.0."""
    return {
        "version": "1.0",
        "status": "completed",
        "server_count": str(len(devices)),
        "server_list": [
            {"server_id": "10.0.0.{}".format(number), "device": each}
            for number, each in enumerate(devices)
        ],
    }


def device(number, rank):
    """An entry of a server."""
    address = "10.1.0.{}".format(rank)
    return {"device_id": str(number), "device_ip": address, "rank_id": str(rank)}


SECOND = [device(0, 2), device(1, 3)]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (servers(None, SECOND), ["NPU645"]),
        (servers([], SECOND), ["NPU646"]),
        (servers({"0": device(0, 0)}, SECOND), ["NPU645"]),
        ({**servers(SECOND), "server_list": None}, ["NPU645"]),
        (
            {"version": "2.0", "status": "completed", "rank_count": 4, "rank_list": {"a": 1}},
            ["NPU645"],
        ),
        (
            {
                "status": "completed",
                "group_count": "1",
                "group_list": [
                    {"group_name": "", "instance_count": "2", "device_count": "4",
                     "instance_list": "ab"}
                ],
            },
            ["NPU645", "NPU663"],
        ),
    ],
)  # fmt: skip
def test_what_is_missing_is_not_counted(table, expected):
    """Ranks and counts are right again when the list is: nothing is said of them."""
    found = rank_table.check_document(table)
    assert expected == sorted(each.rule for each in found)


def test_a_missing_list_is_named_alone():
    """``devices`` for ``device``: the ranks of the other server are not too high."""
    table = servers([device(0, 0)], [device(0, 1)])
    table["server_list"][0]["devices"] = table["server_list"][0].pop("device")
    assert {"NPU643"} == {each.rule for each in rank_table.check_document(table)}


def test_ranks_that_are_too_high_are_reported():
    """Where every list is there."""
    table = servers([device(0, 0), device(1, 1)], [device(0, 2), device(1, 5)])
    found = [each for each in rank_table.check_document(table) if each.rule == "NPU650"]
    (message,) = [each.message for each in found]
    assert message.endswith("missing: 3; too high: 5")


def test_an_unknown_type_of_a_network_is_not_called_clos():
    """``CLOS`` is what a missing type means."""
    level = {"net_layer": 0, "net_instance_id": "a", "rank_addr_list": []}
    for given, expected in [({"net_type": "RING"}, "NPU646"), ({}, "NPU661")]:
        rank = {"rank_id": 0, "local_id": 0, "device_id": 0, "level_list": [{**level, **given}]}
        table = {"version": "2.0", "status": "completed", "rank_count": 1, "rank_list": [rank]}
        found = {each.rule for each in rank_table.check_document(table)}
        assert {expected} == found & {"NPU646", "NPU661"}
