"""The table of what ``npu-config check`` says about public scripts, and whether it is true.

``python -m tools.corpus TREE LIST`` checks the scripts of a copy of Ascend/ModelZoo-TensorFlow
that a file lists, looks every error and warning up in docs/corpus_verdicts.csv, which holds what
somebody who read the script says of it, and prints docs/corpus.md anew.  A finding that nobody
has judged yet is printed on standard error, and the exit code is 1.
"""

import argparse
import csv
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Counter as Counts
from typing import Dict, Iterator, List, NamedTuple, Tuple

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.judging.batch import judge_scripts

VERDICTS = Path(__file__).parent.parent / "docs" / "corpus_verdicts.csv"
TRUE, FALSE = "true", "false"

TEXT = """\
# Scripts checked

`npu-config check` on {files} public training scripts that name NpuOptimizer
(Ascend/ModelZoo-TensorFlow, those listed for this project). The script of every error and every
warning was read: the configuration with its surroundings, where it goes, and the branches, flags
and neighbouring files that the finding rests on.
[corpus_verdicts.csv](corpus_verdicts.csv) has
the verdict and the reason for each; `python -m tools.corpus` makes this page, and fails for a
finding without one.

| | |
| --- | --- |
| files | {files}, of which {skipped} cannot be read as Python 3 and is reported as not checked |
| errors | {errors}, false: {false_errors} |
| warnings | {warnings}, false: {false_warnings} |
| information | {infos} |

## Errors

{error_table}
## Warnings

{warning_table}
What could not be decided draws no finding: values of flags and of the environment, options that
another file sets.
"""


class Verdict(NamedTuple):
    """What a reader said of one finding."""

    verdict: str
    reason: str


Key = Tuple[str, str, str]


def verdicts() -> Dict[Key, Verdict]:
    """The verdicts by path, line and rule."""
    with VERDICTS.open(encoding="utf-8", newline="") as stream:
        return {
            (row["path"], row["line"], row["rule"]): Verdict(row["verdict"], row["reason"])
            for row in csv.DictReader(stream)
        }


def findings(tree: str, names: List[str]) -> Iterator[Tuple[str, Diagnostic]]:
    """Every finding with the path of its script below the tree."""
    for checked in judge_scripts([os.path.join(tree, name) for name in names]):
        for diagnostic in checked.found:
            yield os.path.relpath(checked.path or "", tree).replace(os.sep, "/"), diagnostic


def table(counts: Counts[Tuple[str, str, str]]) -> str:
    """One row for each rule."""
    lines = ["| rule | reported | true | false |", "| --- | --- | --- | --- |"]
    for rule, name in sorted({(rule, name) for rule, name, _ in counts}):
        true, false = counts[rule, name, TRUE], counts[rule, name, FALSE]
        lines.append(
            "| [{0}](rules/{0}.md) {1} | {2} | {3} | {4} |".format(
                rule, name, true + false, true, false
            )
        )
    return "".join(line + "\n" for line in lines)


def main() -> int:
    """Print the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", help="the copy of the repository")
    parser.add_argument("list", help="a file with one path below it in each line")
    arguments = parser.parse_args()
    names = Path(arguments.list).read_text(encoding="utf-8").split("\n")
    names = [name for name in names if name]
    known = verdicts()
    counts: Dict[Severity, Counts[Tuple[str, str, str]]] = {s: Counter() for s in Severity}
    unjudged = 0
    for path, found in findings(arguments.tree, names):
        verdict = TRUE
        if found.severity is not Severity.INFO:
            judged = known.get((path, str(found.line or ""), found.rule))
            if judged is None:
                unjudged += 1
                print("not judged: {}".format(found), file=sys.stderr)
            elif judged.verdict != TRUE:
                verdict = FALSE
        counts[found.severity][found.rule, found.name, verdict] += 1
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    print(
        TEXT.format(
            files=len(names),
            skipped=sum(n for (rule, _, _), n in errors.items() if rule in ("NPU830", "NPU831")),
            errors=sum(errors.values()),
            false_errors=sum(n for (_, _, verdict), n in errors.items() if verdict == FALSE),
            warnings=sum(warnings.values()),
            false_warnings=sum(n for (_, _, verdict), n in warnings.items() if verdict == FALSE),
            infos=sum(counts[Severity.INFO].values()),
            error_table=table(errors),
            warning_table=table(warnings),
        ),
        end="",
    )
    return 1 if unjudged else 0


if __name__ == "__main__":
    sys.exit(main())
