"""Shell completion: what the programs of bash, zsh and fish are told."""

import sys

import pytest

from npu_config.catalogue import OPTIONS
from npu_config.rulebook import load_all


@pytest.fixture
def complete(npu, monkeypatch):
    """The words that are offered for the last word of a command line."""

    def words(*line):
        monkeypatch.setenv("_NPU_CONFIG_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(("npu-config", *line)))
        monkeypatch.setenv("COMP_CWORD", str(len(line)))
        monkeypatch.setattr("sys.argv", ["npu-config"])
        monkeypatch.setattr("click.core._fast_exit", sys.exit, raising=False)  # click 8.0.0
        result = npu()
        assert result.err == ""
        return [entry.partition(",")[2] for entry in result.out.split("\n") if entry]

    return words


def test_commands_and_their_options(complete):
    """Commands by their beginning, and options of a command."""
    assert complete("dif") == ["diff"]
    assert "--show-skipped" in complete("check", "--s")


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_rules(complete, option):
    """Ids and names; of several the last one, and case does not matter."""
    every = {rule.id for rule in load_all()} | {rule.name for rule in load_all()}
    assert every <= set(complete("check", option, ""))
    assert complete("check", option, "npu10") == ["NPU10{}".format(n) for n in range(1, 10)]
    assert complete("check", option, "NPU101,unknown-op") == ["NPU101,unknown-option"]


def test_names_to_explain(complete):
    """Options, rules, variables and arguments."""
    assert set(OPTIONS) <= set(complete("explain", ""))
    assert "dump_step" in complete("explain", "dump_s")
    assert "RANK_TABLE_FILE" in complete("explain", "RANK_T")
    assert "NPURunConfig.dump_config" in complete("explain", "npurunconfig.dump")
    assert complete("explain", "unknown-opt") == ["unknown-option"]


def test_products(complete):
    """Values of options that take one of a few."""
    assert "atlas_a2" in complete("check", "--target", "atlas_")


def test_nothing_is_printed_for_nothing(complete):
    """An unknown beginning has no continuation."""
    assert complete("explain", "zzz") == []
