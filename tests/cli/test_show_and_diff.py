"""``show`` and ``diff`` of configurations, scripts and records."""

import json

import pytest

import npu_config as api
from npu_config.records import writing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A base, a job on top of it, scripts and two records."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(writing, "_WRITTEN", {})
    monkeypatch.setattr(writing, "_watch_the_end", lambda: None)
    texts = {
        "base.yaml": "version: 1\ntarget:\n  product: atlas_training\nhccl_timeout: 1768\n",
        "job.yaml": "version: 1\nextends: base.yaml\nop_wait_timeout: 60\n",
        "train.py": (
            "import sys\nfrom npu_config import NpuConfigBuilder\n"
            "NpuConfigBuilder().set(hccl_timeout=700, op_wait_timeout=int(sys.argv[1])).build()\n"
        ),
        "loads.py": 'from npu_config import NpuConfig\nNpuConfig.load("job.yaml")\n',
        "estimator.py": (
            "from npu_bridge.npu_init import *\n"
            'config = NPURunConfig(precision_mode="allow_mix_precision")\n'
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    api.record(api.NpuConfig.load("job.yaml"), "one", "train.py")
    monkeypatch.setattr(writing, "_WRITTEN", {})
    monkeypatch.setenv("HCCL_CONNECT_TIMEOUT", "300")
    api.record(api.NpuConfig.load("job.yaml", overrides=["op_wait_timeout=9"]), "two", "train.py")
    return tmp_path


def shown(npu, *arguments):
    """Option to value, kind, place and what set it."""
    document = json.loads(npu("show", "--format", "json", *arguments).out)
    assert list(document) == ["version", "target", "options"]
    return {
        each["option"]: (
            each["value"],
            each["origin"]["kind"],
            each["origin"]["path"],
            each["origin"]["line"],
            each["origin"]["by"],
        )
        for each in document["options"]
    }


def test_origins(npu, folder):
    """File, extended file, override, adapter, script, NPURunConfig, default, record."""
    assert shown(npu, "job.yaml", "--set", "hccl_timeout=700") == {
        "hccl_timeout": (680, "adapter", None, None, "rounded to a multiple of 68"),
        "op_wait_timeout": (60, "file", "job.yaml", 3, None),
    }
    assert shown(npu, "job.yaml")["hccl_timeout"] == (1768, "extends", "base.yaml", 4, None)
    assert shown(npu, "job.yaml", "--set", "hccl_timeout=680")["hccl_timeout"] == (
        *(680, "set", None, None),
        "hccl_timeout=680",
    )
    assert shown(npu, "train.py") == {
        "hccl_timeout": (700, "builder", "train.py", 3, None),
        "op_wait_timeout": (None, "builder", "train.py", 3, None),
    }
    assert shown(npu, "loads.py") == shown(npu, "job.yaml")
    estimator = shown(npu, "estimator.py")
    assert estimator["precision_mode"][1:] == ("script", "estimator.py", 2, None)
    assert estimator["enable_data_pre_proc"] == (
        *(True, "implied", "estimator.py", 2),
        "NPURunConfig",
    )
    every = shown(npu, "job.yaml", "--all", "--target-cann", "8.0.0")
    assert every["deterministic"][:2] == (0, "default")
    assert every["deterministic"][4].startswith("adapter ")
    for source in ("one", "one/npu_config.json"):
        assert shown(npu, source) == {
            "hccl_timeout": (1768, "extends", "base.yaml", 4, None),
            "op_wait_timeout": (60, "file", "job.yaml", 3, None),
        }


def test_inference_sets_an_option(npu, folder):
    """Implied by another option, as the adapter does; ``--set`` takes a list as JSON."""
    found = shown(npu, "job.yaml", "--set", "graph_run_mode=0", "--set", "dump_step=[0, 5]")
    assert found["enable_small_channel"][:2] == (1, "adapter")
    assert found["dump_step"][0] == "0|5"


def test_a_value_in_a_field_that_is_not_read(npu, folder):
    """What is shown is what the runtime reads; what was set stands beside it."""
    entry = 'parameter_map {{ key: "{}" value {{ {} }} }}\n'.format
    entries = [
        entry("enable_dump", "i: 0"),
        entry("iterations_per_loop", "b: true"),
        entry("hcom_parallel", ""),
        entry("jit_compile", "b: false"),
        entry("oo_constant_folding", "i: 0"),
    ]
    (folder / "job.pbtxt").write_text(
        "graph_options { rewrite_options { custom_optimizers {\n"
        'name: "NpuOptimizer"\n' + "".join(entries) + "} } }\n"
    )
    values = {name: found[0] for name, found in shown(npu, "job.pbtxt").items()}
    assert values == {
        "enable_dump": False,
        "iterations_per_loop": 0,
        "hcom_parallel": False,
        "jit_compile": "",
        "oo_constant_folding": True,
    }
    lines = npu("show", "job.pbtxt").out.splitlines()
    said = {line.split()[0]: line.partition("the adapter: ")[2] for line in lines}
    assert said == {
        "enable_dump": (
            'the adapter reads field ".b", but the value is in ".i"; the runtime reads False; '
            "set to 0"
        ),
        "iterations_per_loop": (
            'the adapter reads field ".i", but the value is in ".b"; the runtime reads 0; set '
            "to True"
        ),
        "hcom_parallel": (
            'the adapter reads field ".b", which has no value; the runtime reads False'
        ),
        "jit_compile": (
            'the adapter reads field ".s", but the value is in ".b"; session.run raises an '
            "exception; set to False"
        ),
        "oo_constant_folding": (
            'the adapter reads field ".b", but the value is in ".i"; the option is skipped; set '
            "to 0"
        ),
    }
    (folder / "session.py").write_text(
        "import sys\nimport tensorflow as tf\n"
        "config = tf.ConfigProto()\n"
        "op = config.graph_options.rewrite_options.custom_optimizers.add()\n"
        'op.name = "NpuOptimizer"\n'
        'op.parameter_map["hccl_timeout"].s = tf.compat.as_bytes(sys.argv[1])\n'
        'if len(sys.argv) > 2:\n    op.parameter_map["op_wait_timeout"].b = True\n'
        "tf.Session(config=config)\n"
    )
    found = shown(npu, "session.py")
    assert found["hccl_timeout"][:4] == (0, "adapter", "session.py", 6)
    assert found["op_wait_timeout"][:2] == (None, "script")
    assert "; set to known at run time only" in npu("show", "session.py").out


def test_deprecated_and_still_required(npu, folder):
    """A file and ``explain`` say why an option that is deprecated is set."""
    (folder / "loop.yaml").write_text(
        "version: 1\nuse_off_line: true\niterations_per_loop: 10\nenable_data_pre_proc: true\n"
    )
    required = "deprecated, but still required for iteration offload"
    for form in ("yaml", "toml"):
        lines = npu("generate", "loop.yaml", "--to", form).out.splitlines()
        line = next(n for n, line in enumerate(lines) if "enable_data_pre_proc" in line)
        assert lines[line - 1].strip() == "# " + required
    assert "- Status: " + required in npu("explain", "enable_data_pre_proc").out
    assert "Deprecated, but still required for iteration offload." in npu("init").out


def test_yaml_and_text(npu, folder):
    """YAML is a configuration with the same values; text is a table."""
    (folder / "shown.yaml").write_text(npu("show", "job.yaml", "--format", "yaml").out)
    assert npu("diff", "job.yaml", "shown.yaml").code == 0
    lines = npu("show", "job.yaml").out.splitlines()
    assert lines == [
        "target: atlas_training",
        "hccl_timeout     1768  base.yaml:4 (base file)",
        "op_wait_timeout  60    job.yaml:3",
    ]
    assert "不" not in npu("show", "job.yaml").out


def test_show_ends_with_what_is_wrong(npu, folder):
    """Findings go to standard error, and to --findings as those of check."""
    (folder / "job.yaml").write_text("version: 1\nextends: none.yaml\nhccl_timeout: 5\n")
    done = npu("show", "job.yaml", "--findings", "found.json")
    assert (done.code, "does not exist" in done.err) == (1, True)
    assert done.out == "hccl_timeout  5  job.yaml:3\n"
    found = json.loads((folder / "found.json").read_text())["diagnostics"]
    assert [each["rule"] for each in found] == ["NPU7061"]
    assert npu("show", ".").code == 1
    assert npu("show", "nothing.yaml").code == 2


def test_two_jobs(npu, folder):
    """What explains the difference, and that everything else is equal."""
    done = npu("diff", "one", "two")
    assert done.code == 1
    assert done.out.splitlines()[2:] == [
        "options:",
        "- op_wait_timeout: 60  (job.yaml:3)",
        "+ op_wait_timeout: 9  (--set op_wait_timeout=9)",
        "environment variables:",
        "- HCCL_CONNECT_TIMEOUT: not set",
        '+ HCCL_CONNECT_TIMEOUT: "300"',
        done.out.splitlines()[-1],
    ]
    assert done.out.splitlines()[-1].startswith("2 differences; everything else is equal (options")
    document = json.loads(npu("diff", "one", "two", "--format", "json").out)
    assert [(each["part"], each["name"]) for each in document["differences"]] == [
        ("options", "op_wait_timeout"),
        ("environment", "HCCL_CONNECT_TIMEOUT"),
    ]
    same = npu("diff", "one", "one/npu_config.json")
    assert (same.code, same.out.startswith("no difference: options")) == (0, True)
    with_file = npu("diff", "one", "job.yaml")
    assert (with_file.code, "not compared" in with_file.out) == (0, True)
    refused = npu("diff", "one", ".")
    assert (refused.code, "contains no record" in refused.err) == (1, True)


def test_defaults_of_versions_differ(npu, folder):
    """A default that another version has otherwise explains a difference, too."""
    path = folder / "two" / "npu_config.json"
    document = json.loads(path.read_text())
    document["defaults"]["stream_sync_timeout"] = 600
    path.write_text(json.dumps(document))
    found = json.loads(npu("diff", "one", "two", "--format", "json").out)["differences"]
    assert ("stream_sync_timeout", -1, 600) in [
        (each["name"], each["old"], each["new"]) for each in found
    ]


def test_a_record_goes_everywhere(npu, folder):
    """check and generate take one; a walk passes it over."""
    assert npu("check", "one/npu_config.json").code == 0
    made = json.loads(npu("generate", "one/npu_config.json", "--to", "json").out)
    assert made["timeouts"] == {"hccl_timeout": 1768, "op_wait_timeout": 60}
    walked = npu("check", "one", "--show-skipped")
    assert (
        "skipped one/npu_config.json: this file is the record of the options of a job"
        in walked.err
    )
