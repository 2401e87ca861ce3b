"""How well ``npu-config log`` finds first causes: points over folders of logs with their answers.

``python -m tools.log_scores FOLDER [--half 0|1] [--verbose]``; FOLDER holds one folder of logs for
each case, with its ``expected.json``.  A case is worth 2 points: file and line of the first cause,
its rank, its class and the words that the report has to mention; 1 for file and class; 0 when what
must not be named is named, or something is found in the log of a job that succeeded.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

from npu_config.logs import read_logs
from npu_config.logs.text import text_report


def score(folder: Path) -> Tuple[int, str]:
    """Points of a case, and what is wrong."""
    expected: Dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))
    report = read_logs([str(folder)])
    text = text_report(report) + json.dumps(report.as_json(), ensure_ascii=False)
    cause, wanted = report.first_cause, expected["first_cause"]
    if wanted is None or cause is None:
        same = (wanted is None) == (cause is None)
        return (
            (2, "")
            if same
            else (0, "found {}".format(cause and (cause.file, cause.line, cause.message[:80])))
        )
    file = Path(cause.file).relative_to(folder).as_posix()
    for word in expected["must_not_be_first_cause"]:
        if word in (cause.code, "line {}".format(cause.line)) or (
            len(word) > 8 and word in cause.message
        ):
            return 0, "names {}".format(word)
    places = [(each["file"], each["line"]) for each in (wanted, *expected["also_acceptable"])]
    wrong: List[str] = []
    if (file, cause.line) not in places:
        wrong.append("{}:{} is not {}".format(file, cause.line, places[:3]))
    if cause.class_ != wanted["class"]:
        wrong.append("class {} is not {}".format(cause.class_, wanted["class"]))
    if wanted["rank"] is not None and report.verdict.rank != wanted["rank"]:
        wrong.append("rank {} is not {}".format(report.verdict.rank, wanted["rank"]))
    wrong += ["no {}".format(word) for word in expected["must_mention"] if word not in text]
    if not wrong:
        return 2, ""
    near = file in [place[0] for place in places] and cause.class_ == wanted["class"]
    return int(near), "; ".join(wrong)


def main(arguments: List[str]) -> int:
    """Print the points of each case that is not right, and of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1))
    given = parser.parse_args(arguments)
    cases = sorted(path.parent for path in given.folder.glob("*/expected.json"))
    if given.half is not None:
        cases = cases[given.half :: 2]
    total = 0
    for case in cases:
        points, why = score(case)
        total += points
        if points < 2:
            print(points, case.name, why)
    print("{} of {} points ({:.0f} %)".format(total, 2 * len(cases), 50 * total / len(cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
