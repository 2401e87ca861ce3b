"""Near words: what was perhaps meant, and what can only be a slip of the pen."""

import pytest

from npu_config.text.words import SLIP, is_typo, likeness, near

OPTIONS = ("hccl_timeout", "op_wait_timeout", "dump_path")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("hccl_timeout", "hccl_timeout"),
        (" HCCL-Timeout ", "hccl_timeout"),
        ("hcl_timeout", "hccl_timeout"),
        ("op_wait_time", "op_wait_timeout"),
        ("path", None),
        ("", None),
        ("dump_path" * 1000, None),
    ],
)
def test_near(word: str, meant: str) -> None:
    """Case, blanks, ``-`` and ``_`` make no difference; some letters may be wrong."""
    assert meant == near(word, OPTIONS)


def test_how_near_is_said() -> None:
    """A caller that corrects without asking wants more likeness than one that asks."""
    assert near("wait_time", OPTIONS) == "op_wait_timeout"
    assert near("wait_time", OPTIONS, SLIP) is None


def test_likeness() -> None:
    """Equal words are alike by 1, whatever their case; a slip is below and above the limit."""
    assert likeness("Dump-Path", "dump_path") == 1.0
    assert SLIP < likeness("dump_pth", "dump_path") < 1.0
    assert likeness("", "dump_path") == 0.0


@pytest.mark.parametrize(
    ("word", "meant", "slip"),
    [
        ("atlas_trainnig", "atlas_training", True),
        ("ATLAS-TRAINING", "atlas_training", True),
        ("ascend_910", "ascend_950", False),
        ("float61", "float16", False),
        ("", "atlas_a2", False),
    ],
)
def test_is_typo(word: str, meant: str, slip: bool) -> None:
    """A letter or two may be wrong; another number is another thing."""
    assert is_typo(word, meant) is slip
