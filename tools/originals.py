"""Migrate a folder of public originals, and say what became of them.

python -m tools.originals FOLDER           files, edited, refused, errors, time
python -m tools.originals FOLDER --ids     and how often each fact was met
python -m tools.originals FOLDER --changes FILE     and what people changed in some of them: what
    of it was wanted and found, and what of it was wrong and is made here, too

The originals themselves are not part of the repository.  Nothing is written.
"""

import ast
import os
import sys
import time
import warnings
from collections import Counter
from typing import Dict, Iterator, List, Sequence

from npu_config.lint.walk import walk
from npu_config.migration.engine import migrate
from npu_config.migration.project import FileOutcome, FileToMigrate, migrate_files


def scripts(folder: str) -> List[FileToMigrate]:
    """Every Python file of a folder."""
    return [FileToMigrate(path, folder) for path in walk(folder) if path.endswith(".py")]


def faults(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    """What must not be: a failure, a result that does not parse, a second run that edits."""
    for outcome in outcomes:
        for found in outcome.diagnostics:
            yield "{}: {}".format(found.path, found.message)
        migration = outcome.migration
        if migration is None or not migration.edits:
            continue
        try:
            ast.parse(migration.text)
        except (SyntaxError, ValueError) as error:
            yield "{}: the result is not Python: {}".format(outcome.target.path, error)
        if migrate(migration.text).edits:
            yield "{}: a second run edits again".format(outcome.target.path)


def parsing(targets: Sequence[FileToMigrate]) -> float:
    """Seconds that reading and parsing the same files alone takes."""
    start = time.perf_counter()
    for target in targets:
        with open(target.path, "rb") as stream:
            data = stream.read()
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            continue
    return time.perf_counter() - start


def compared(outcomes: Sequence[FileOutcome], path: str) -> Iterator[str]:
    """What people changed in some originals, against what was changed here, one line each."""
    import yaml

    with open(path, encoding="utf-8") as stream:
        pairs = yaml.safe_load(stream)["pairs"]
    for pair in pairs:
        repository, name = pair["original"].split(" ")
        found = next(
            (
                outcome.migration
                for outcome in outcomes
                if outcome.migration
                and outcome.target.path.endswith(os.sep + name)
                and any(part in outcome.target.path for part in _spellings(repository))
            ),
            None,
        )
        if found is None:
            yield "  {}: not there".format(pair["original"])
            continue
        changed = {note.id for note in found.notes if note.kind == "changed"}
        if "session-config" in changed:
            changed.add("remapping-off")  # npu_config_proto switches it off
        kinds: Dict[str, List[str]] = {"wanted": [], "wrong": []}
        for change in pair["changes"]:
            kinds.get(change["kind"], []).append(change["id"])
        yield "  {}: wanted {}, found {}; wrong made {}".format(
            pair["original"],
            len(kinds["wanted"]),
            sum(id in changed for id in kinds["wanted"]),
            sum(id in changed for id in kinds["wrong"]),
        )


def _spellings(repository: str) -> List[str]:
    return [repository, repository.replace("/", "+"), repository.split("/")[1]]


def main(arguments: Sequence[str]) -> int:
    """Print the numbers; 1 when something is wrong."""
    arguments = list(arguments)
    changes = None
    if "--changes" in arguments[:-1]:
        index = arguments.index("--changes")
        changes = arguments.pop(index + 1)
    folders = [argument for argument in arguments if not argument.startswith("--")]
    if len(folders) != 1 or not os.path.isdir(folders[0]):
        print(__doc__)
        return 2
    warnings.simplefilter("ignore")
    targets = scripts(folders[0])
    start = time.perf_counter()
    outcomes = migrate_files(targets)
    seconds = time.perf_counter() - start
    done = Counter(outcome.migration.status for outcome in outcomes if outcome.migration)
    wrong = list(faults(outcomes))
    print(
        "files {}, edited {}, refused {}, unchanged {}, errors {}, "
        "{:.2f} s (reading and parsing alone: {:.2f} s)".format(
            len(targets),
            done["changed"],
            done["refused"],
            done["unchanged"],
            len(wrong),
            seconds,
            parsing(targets),
        )
    )
    if "--ids" in arguments:
        notes = Counter(
            (note.id, note.kind)
            for outcome in outcomes
            if outcome.migration
            for note in outcome.migration.notes
        )
        for (id, kind), count in sorted(notes.items()):
            print("  {:<28} {:<8} {}".format(id, kind, count))
    for line in compared(outcomes, changes) if changes is not None else ():
        print(line)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
