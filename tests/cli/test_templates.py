"""Rank tables that a script fills in, and ConfigProtos that misspell the name of the entry."""

import json

import pytest


def table(server, first, second):
    """A rank table of two devices."""
    devices = [
        {"device_id": str(rank), "device_ip": address, "rank_id": str(rank)}
        for rank, address in enumerate((first, second))
    ]
    return json.dumps(
        {
            "version": "1.0",
            "server_count": "1",
            "status": "completed",
            "server_list": [{"server_id": server, "device": devices}],
        }
    )


TEMPLATES = [
    ("<server_ip>", "X.X.X.X", "X.X.X.X", "<server_ip>"),
    ("10.0.0.1", "X.X.X.X", "X.X.X.X", "X.X.X.X"),
    ("xx.xx.xx.xx", "192.168.x.x", "192.168.x.x", "xx.xx.xx.xx"),
    ("10.0.0.1", "192.168.100.a", "192.168.100.b", "192.168.100.a"),
    ("10.0.0.1", "***.***.***.***", "***.***.***.***", "***.***.***.***"),
    ("{{ip}}", "{{ip0}}", "{{ ip1 }}", "{{ip}}"),
    ("%SERVER%", "__IP__", "@IP@", "%SERVER%"),
    ("10.0.0.1", "DEVICE_IP_0", "your-ip-address", "DEVICE_IP_0"),
]


@pytest.mark.parametrize(("server", "first", "second", "shown"), TEMPLATES)
def test_a_template(npu, tmp_path, server, first, second, shown):
    """It draws one note, whatever is in it, and is not checked; in a folder, too."""
    path = tmp_path / "rank_table.json"
    path.write_text(table(server, first, second))
    for given in (path, tmp_path):
        found = npu("check", "--format", "json", given)
        document = json.loads(found.out)
        [note] = [each for each in document["diagnostics"] if each["rule"] != "NPU709"]
        assert (note["rule"], shown + " is a placeholder" in note["message"]) == ("NPU787", True)
        assert document["unchecked"] == [{"path": str(path), "why": "a template"}]
    assert npu("check", "--strict", path).code == 1


ENV = ("env", "--job-id", "a", "--rank-table")


def test_a_template_in_commands_for_tables(npu, tmp_path):
    """Each says that the file was not checked, and what to pass in its place."""
    path = tmp_path / "rank_table.json"
    path.write_text(table(*TEMPLATES[0][:3]))
    for words in (("ranktable", "check"), ("ranktable", "show"), ENV):
        found = npu(*words, path)
        assert found.code == (0 if "check" in words else 1)
        assert "0 files checked, 1 not checked" in found.out + found.err
        assert "pass the file that the script makes" in found.out + found.err
    assert npu("ranktable", "check", "--strict", path).code == 1


def test_a_sentence_is_no_placeholder(npu, tmp_path):
    """What is wrong is reported although a key that nobody reads points to a <page>."""
    document = json.loads(table("10.0.0.1", "10.0.0.2", "10.0.0.3"))
    document.update(server_count="2", note="see <the page> of the cluster")
    path = tmp_path / "rank_table.json"
    path.write_text(json.dumps(document))
    found = npu("check", path)
    assert (found.code, "NPU648" in found.out, "template" in found.out) == (1, True, False)


MISTAKES = [
    ("10.0.0.1", "10.0.0.l", "10.0.0.2"),
    ("10.0.0.1", "10.0.O.1", "10.0.0.2"),
    ("10.0.0.1", "10.0.0.300", "10.0.0.2"),
    ("hpc.lab.uni.edu", "10.0.0.300", "10.0.0.2"),
    ("10.0.0.1", "10.0.0.1x", "10.0.0.2"),
]


@pytest.mark.parametrize(("server", "first", "second"), MISTAKES)
def test_an_address_that_is_wrong(npu, tmp_path, server, first, second):
    """A slip in an address is an error."""
    path = tmp_path / "rank_table.json"
    path.write_text(table(server, first, second))
    found = npu("check", path)
    assert (found.code, "NPU646" in found.out, "template" in found.out) == (1, True, False)


PROTO = """\
graph_options {{
  rewrite_options {{
    remapping: OFF
    custom_optimizers {{
      name: "{}"
      parameter_map {{ key: "{}" value {{ s: "allow_mix_precision" }} }}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NpuOptimizr", "precision_mode"),
        ("npuoptimizer", "x"),
        ("NpuOptimiser", "x"),
        ("Npu_Optimizer", "x"),
        ("Optimizer", "precision_mode"),
    ],
)
def test_a_misspelt_entry_in_a_folder(npu, tmp_path, name, key):
    """The adapter would look for another name: the file is ours, and wrong."""
    (tmp_path / "session.pbtxt").write_text(PROTO.format(name, key))
    found = npu("check", tmp_path)
    assert (found.code, 'the adapter looks for "NpuOptimizer"' in found.out) == (1, True)
    assert found.out == npu("check", tmp_path / "session.pbtxt").out


@pytest.mark.parametrize(
    "text",
    [
        PROTO.format("XlaOptimizer", "level"),
        'node { name: "NpuOptimizr" op: "Const" }\n',
        'model { name: "npuoptimizer" }\n',
    ],
)
def test_other_files_of_text_protos(npu, tmp_path, text):
    """A rewriter of somebody else's, a graph and another message are passed over."""
    (tmp_path / "other.pbtxt").write_text(text)
    assert "NPU8" not in npu("check", tmp_path).out
