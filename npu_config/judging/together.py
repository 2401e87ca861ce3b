"""Inputs that are judged beside each other: what no one of them shows alone."""

from typing import List, Optional, Sequence

import attr

from npu_config.judging import ALONE, Around, Judgement, KnownRules, judge_reading
from npu_config.launch.shell.together import conflicts
from npu_config.readers.shell_file import ShellReading

__all__ = ["judge_together"]


def judge_together(
    judged: Sequence[Judgement],
    around: Around = ALONE,
    known_rules: Optional[KnownRules] = None,
) -> List[Judgement]:
    """The same judgements; a launch script that clashes with one before it is judged anew.

    Args:
        judged: what was said of each input alone.
        around: what they are judged for, and with which surroundings.
        known_rules: as :func:`npu_config.judging.judge`.
    """
    scripts = [each for each in judged if isinstance(each.reading, ShellReading)]
    if len(scripts) < 2:
        return list(judged)
    claims = [each.reading.claims() for each in scripts if isinstance(each.reading, ShellReading)]
    found = conflicts(claims)
    paths = {each.path for each in found}
    return [
        each
        if each.reading is None or each.path not in paths
        else judge_reading(
            attr.evolve(
                each.reading,
                diagnostics=(
                    *each.reading.diagnostics,
                    *(one for one in found if one.path == each.path),
                ),
            ),
            around,
            known_rules,
        )
        for each in judged
    ]
