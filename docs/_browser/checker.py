"""What the page "In the browser" asks; it runs there, in the worker of ``try-worker.js``."""

import json

from npu_config.core.diagnostics import Place, Report
from npu_config.core.message import localized, speaking
from npu_config.editor.lines import Lines
from npu_config.judging import judge
from npu_config.rulebook import load_all


def check(name: str, text: str, language: str) -> str:
    """Judge a text as the file of some name; the answer is JSON.

    Its ``findings`` are those of ``npu-config check --format json``, with ``span`` and ``edits``
    in positions as the browser counts them: lines from 0, characters in units of UTF-16.

    Args:
        name: the name of the file, which need not exist.
        text: its content.
        language: of the messages.
    """
    with speaking(language):
        judgement = judge(name, content=text, known_rules=load_all)
        lines = Lines(text)
        findings = [
            {
                **found.to_dict(),
                "span": lines.of_place(found.place),
                "edits": [
                    (*lines.of_place(Place(None, *edit[:4])), edit.text)
                    for edit in (found.fix.edits if found.fix else ())
                ],
            }
            for found in Report(judgement.found).localized(language)
        ]
        unchecked = judgement.unchecked and localized(judgement.unchecked)
    return json.dumps({"findings": findings, "unchecked": unchecked})
