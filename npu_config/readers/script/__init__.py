"""Training scripts: from Python source to settings and findings, without running anything.

:func:`read_script` follows every path through a script and gives the settings of every
configuration block; :func:`judge_script` applies the rules to all of them and says each fault
once.
"""

from typing import List, Optional

from npu_config.diagnostics import Diagnostic
from npu_config.readers.script.judging import judge_reading
from npu_config.readers.script.reading import ScriptReading, run_all, variants_of
from npu_config.readers.script.script import Script
from npu_config.readers.script.source import Unparsable
from npu_config.target import Target


def read_script(text: str, path: Optional[str] = None) -> ScriptReading:
    """The settings of every configuration block of a script, along every path through it."""
    script = Script(text, path)
    groups = run_all(script)
    variants = variants_of(script, groups)
    return ScriptReading(
        "script",
        path,
        settings=tuple(variant.settings for variant in variants),
        text=text,
        script=script,
        variants=tuple(variants),
        paths=tuple(tuple(group) for group in groups),
    )


def judge_script(
    text: str, path: Optional[str] = None, target: Optional[Target] = None
) -> List[Diagnostic]:
    """Every finding about a script."""
    return judge_reading(read_script(text, path), target)
