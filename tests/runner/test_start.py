"""A script starts soon: what is imported before it, and how its call is read."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("click")

from hypothesis import given
from hypothesis import strategies as st

from npu_config.cli._run import OPTIONS, read, words_of
from npu_config.cli.run_script import command

SLOW = {"attr", "click", "datetime", "inspect", "json", "platform", "traceback", "uuid", "yaml"}
"""Modules that cost more than what a start may cost, or a good part of it."""


def outcome(folder, *arguments):
    """Exit code, output, errors of a Python process."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=str(folder),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("options", [[], ["--loops", "once", "--report=seen.json", "--force"]])
def test_what_is_imported_before_a_script(tmp_path, options):
    """Nothing that is slow, and nothing of TensorFlow; threading brings its own."""
    text = "import sys, threading; print(*sys.modules)"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    plain = outcome(tmp_path, "train.py")[1].split()
    code, output, errors = outcome(tmp_path, "-m", "npu_config", "run", *options, "train.py")
    assert code == 0, errors
    assert (SLOW | {"tensorflow"}) & set(output.split()) - set(plain) == set()


def test_without_click(tmp_path):
    """A script runs; what only click can answer says what to install."""
    (tmp_path / "train.py").write_text("print('ran')", encoding="utf-8")
    code = (
        "import sys; sys.modules['click'] = None\n"
        "from npu_config.__main__ import main\n"
        "sys.exit(main(['run', *sys.argv[1:]]))"
    )
    assert outcome(tmp_path, "-c", code, "train.py")[:2] == (0, "ran\n")
    code, _, errors = outcome(tmp_path, "-c", code, "--help")
    assert (code, "pip install" in errors) == (2, True)


def by_click(words):
    """What click reads; None where it refuses the call, or answers by itself."""
    try:
        return dict(command.make_context("run", list(words)).params)
    except Exception:
        return None


VALUES = ("device", "once", "yaml", "json", "1", "3", "32", "33", "0", "-1", "x", "", "--", "1_0")
WORDS = st.one_of(
    st.sampled_from([option.flag for option in OPTIONS]),
    st.sampled_from(VALUES),
    st.builds("{}={}".format, st.sampled_from([o.flag for o in OPTIONS]), st.sampled_from(VALUES)),
    st.sampled_from(("s.py", "-h", "--help", "--lang", "zh", "-", "-x", "--step", " 3", "٣", "=")),
    st.text(max_size=4),
)


@given(st.lists(WORDS, max_size=8))
def test_a_call_is_read_as_click_reads_it(words):
    """Whatever is read without click is what click would have read."""
    values = read(words)
    assert values is None or values == by_click(words)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_each_option_is_read_without_click(option):
    """With a legal value, in one word and in two, and as by default."""
    if option.legal is bool:
        calls = [([option.flag], True)]
    else:
        legal = option.legal[-1:] if isinstance(option.legal, tuple) else ("2",)
        calls = [([option.flag, legal[0]], legal[0]), ([option.flag + "=" + legal[0]], legal[0])]
    for words, value in calls:
        whole = [*words, "--", "s.py", "-x", "--", "y"]
        values = read(whole)
        expected = (value,) if option.legal is list else value
        assert str(expected) == str(values[option.name])
        assert by_click(whole) == values
        assert read([*words_of(values), "s.py", *values["arguments"]]) == values
    assert by_click(["s.py"]) == read(["s.py"])
    assert read(["s.py"])[option.name] == option.default
