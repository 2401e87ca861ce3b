"""Files of other programs in a project, and rank tables that look like configurations."""

import json

import pytest

from npu_config.readers import read, read_if_ours

TABLE = {
    "version": "1.0",
    "status": "completed",
    "server_count": "1",
    "server_list": [{"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]}],
}


@pytest.mark.parametrize(
    "content",
    [
        {"version": "7", "server_list": ["10.0.0.1", "10.0.0.2"]},
        {"version": "1.0", "rank_list": [{"player": "x", "rank": 1}]},
        {"status": "ok", "group_list": [1, 2]},
        {"whitelist": ["example.org"], "blacklist": []},
        {"dump": {"dump_list": [{"model_name": "m"}], "dump_path": "/x", "dump_mode": "output"}},
    ],
)
def test_a_file_of_another_program_in_a_directory_is_passed_over(content):
    """A list of the same name, or an acl.json, is not a broken file of ours."""
    assert read_if_ours("found.json", content=json.dumps(content).encode()) is None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("found.json", {}),
        ("found.json", {"version": 1.0}),
        ("found.json", {"version": None}),
        ("found.json", {"server_list": [{"server_id": "a", "devices": []}]}),
        ("hccl_8p.json", {"server_list": ["a"], "server_count": 1, "status": "x"}),
    ],
)
def test_a_broken_rank_table_in_a_directory_is_one(name, change):
    """A version that is a number makes no configuration of it."""
    content = json.dumps({**TABLE, **change}, indent=1).encode()
    found, named = read_if_ours(name, content=content), read(name, content=content)
    assert {"rank-table"} == {found.kind, named.kind}


def test_a_table_whose_list_is_misspelt_is_told_the_name():
    """What stands beside the list says what the file is; nothing is said of options."""
    table = {key.replace("server_list", "sever_list"): TABLE[key] for key in TABLE}
    reading = read("t.json", content=json.dumps(table, indent=1))
    found = reading.judge()
    expected = [("NPU641", 'did you mean "server_list"?')]
    assert expected == [(each.rule, each.help) for each in found]


def test_a_number_that_no_reader_takes_is_not_put_in_quotes():
    """The runtime's reader refuses 1e400; a fix would write another value."""
    text = json.dumps(TABLE).replace('"rank_id": "0"', '"rank_id": 1e400')
    (found,) = read("t.json", content=text).judge()
    expected = ("NPU711", "the number 1e400 is too large", None)
    assert expected == (found.rule, found.message, found.fix)
