"""What ``check`` finds in a migrated script is mended or left to do, at its line before.

The scripts are in ``situations.txt``.
"""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from npu_config.cli.app import app

try:
    RUNNER = CliRunner(mix_stderr=False)
except TypeError:  # click 8.2
    RUNNER = CliRunner()

HEAD = """\
import tensorflow as tf
from elsewhere import make, other

v = tf.Variable(0.0)
data = tf.data.Dataset.range(8)
it = tf.data.make_initializable_iterator(data)
x = it.get_next()
sess = tf.Session()
"""
TEXT = (Path(__file__).parent / "situations.txt").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^@ ([^\n]*)\n(.*?)(?=^@|\Z)", TEXT, re.M | re.S)


def run(*arguments):
    """The output of the command, and its exit code."""
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.stdout, result.exit_code


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """Every script and its copy, and the report by the names of the files."""
    folder = tmp_path_factory.mktemp("situations")
    (folder / "in").mkdir()
    for number, (_, source) in enumerate(SCRIPTS):
        (folder / "in" / "{:02}.py".format(number)).write_text(HEAD + source, encoding="utf-8")
    out = folder / "out"
    report, _ = run("migrate", folder / "in", "--output", out, "--report", "json")
    found, _ = run("check", "--format", "json", out)
    again, _ = run("migrate", out, "--report", "json")
    assert all(one["status"] != "changed" for one in json.loads(again)["files"])
    return out, json.loads(report), json.loads(found)


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_situation(migrated, number):
    """Mended, left to do at its line with its page, or not mentioned at all."""
    out, report, found = migrated
    expected, source = SCRIPTS[number]
    name = "{:02}.py".format(number)
    entries = next(one["entries"] for one in report["files"] if one["path"].endswith(name))
    entries = [one for one in entries if one["situation"]]
    left = [one for one in entries if one["kind"] != "changed"]
    text = (out / name).read_text(encoding="utf-8")
    if expected.startswith("mended: "):
        assert expected[len("mended: ") :].replace("\\n", "\n") in text
        assert [one["kind"] for one in entries] == ["changed"]
        assert name not in json.dumps([one for one in found["diagnostics"] if one["situation"]])
    else:
        assert text.endswith(
            source.replace("tf.Session()", "tf.Session(config=npu_config_proto())")
        )
        assert [one["id"] for one in left] == expected.split()[1:]
        assert all(one["severity"] != "info" for one in left)
    lines = (HEAD + source).split("\n")
    assert all(re.search("run|zeros|variable|Variable", lines[e["line"] - 1]) for e in entries)
