"""The package: what it exports, what it costs to import, and what a text is."""

import subprocess
import sys

import pytest

import npu_config.sidefiles as sidefiles
from npu_config.core.diagnostics import REGISTRY
from npu_config.sidefiles import FORMATS, recognise


def test_exports():
    """Every public name is there, formats have the names of their modules."""
    for name in sidefiles.__all__:
        assert getattr(sidefiles, name) is not None
    assert set(sidefiles.__all__) <= set(dir(sidefiles))
    for name, entry in FORMATS.items():
        module = getattr(sidefiles, name)
        assert entry is module.FORMAT
        for function in ("parse", "check", "render", "load", "save"):
            assert callable(getattr(module, function))
    with pytest.raises(AttributeError):
        sidefiles.nothing  # noqa: B018


def test_import_is_lazy():
    """Importing the package imports no format, and no format imports YAML or protobuf."""
    code = (
        "import sys, npu_config.sidefiles as s; "
        "assert not [m for m in sys.modules if m.startswith('npu_config.sidefiles.')]; "
        "s.FORMATS; "
        "bad = {'yaml', 'google.protobuf', 'tensorflow'}; "
        "assert not bad & set(sys.modules), bad & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=sidefiles_root())


def sidefiles_root():
    """The directory that holds the package npu_config."""
    from pathlib import Path

    return str(Path(sidefiles.__file__).parents[2])


def test_rules():
    """Every rule of side files has a page with a wrong and a right example, and a source."""
    assert FORMATS
    rules = [rule for rule in REGISTRY.values() if "NPU710" <= rule.id < "NPU770"]
    assert len(rules) > 50
    for rule in rules:
        assert rule.page.count("\n\n") >= 2, rule.id
        assert "Wrong" in rule.page, rule.id
        assert "Right" in rule.page or "right:" in rule.page, rule.id
        assert rule.source, rule.id
        assert not rule.summary.endswith(":"), rule.id


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("", "ops_info.json", "mixlist"),
        ("", "/data/op_precision.ini", "op_precision"),
        ("", "C:\\x\\op_cache.ini", "op_cache"),
        ("", "readme.txt", None),
        ("{}", None, None),
        ('// c\n{"black-list": {', None, "mixlist"),
        ('{"white_list": {"to-add": []}}', None, "mixlist"),
        ("\ufeff{'Switch': {'GraphFusion': {}}}", None, "fusion_switch"),
        ('{"Swich": {}}', None, "fusion_switch"),
        ("# c\nAFusionPass:off\n", None, "fusion_switch"),
        ("enable_dump: on\nx: off\n", None, None),
        ("[byoptype]\nA=b\n", None, "op_precision"),
        ("A=high_precision\n", None, "op_precision"),
        ("key=value\n[section]\n", None, None),
        ("# c\nnet::inputdtype:float\n", None, "customize_dtypes"),
        ("op_debug_list=a\n", None, "op_debug"),
        ('{"output": "./", "task_time": "on", "x": 1}', None, "profiling"),
        ('{"output": "./", "model": 1, "x": 1}', None, None),
        ('{"tune_ops_names": []}', None, "aoe"),
        ('{"feature": ["deeper_opat"]}', None, "aoe"),
        ('{"feature": "fast"}', None, None),
        ("max_op_cache_size=500\n", None, "op_cache"),
        ('{\n  "properties": {\n    "op_compiler_cache_dir": {\n', "schema.json", None),
        ("aipp_op{\n", None, "insert_op"),
        ('{"host_ip": ["10.0.0.1"]}', None, "hccl_whitelist"),
        ('{"rank_table_file": "x", "rank_size": 8', None, "job_start"),
        ('{"server_list": [{"host_ip": "10.0.0.1", "device": []}], "status": "completed"}',
         "rank_table.json", None),
        ('{"rank_list": [], "rank_count": 0, "version": "2.0"}', None, None),
        ('{"group_list": [{"device_count": "1"}], "status": "completed"}', None, None),
        ('{"precision_mode": "allow_mix_precision", "enable_data_pre_proc": true}', None, None),
        ("import tensorflow as tf\nx = 1\n", "train.py", None),
        ("precision_mode: allow_mix_precision\n", "config.yaml", None),
        ("[options]\nprecision_mode = \"x\"\n", "config.toml", None),
    ],
)  # fmt: skip
def test_recognition(text, name, expected):
    """The content decides, also when it is a little broken; else the usual name."""
    found = recognise(text, name)
    assert expected == (found.name if found else None)
