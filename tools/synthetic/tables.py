"""Tables: CSV in any form, LibSVM."""

import re
from pathlib import Path
from typing import Iterator

import numpy as np

from tools.synthetic.fields import parse, value

_SERIES = re.compile(r"(?P<stem>.*?)(?P<first>\d+)-(?P<last>\d+)\Z")


def csv(
    path: Path,
    random: np.random.RandomState,
    rows: str = "64",
    sep: str = ",",
    header: str = "yes",
    **columns: str,
) -> None:
    """A table: rows=64 sep=, header=yes COLUMN=FIELD ...; I1-13=float is I1, I2 ... I13."""
    sep = sep.encode().decode("unicode_escape")
    fields = {name: parse(words) for column, words in columns.items() for name in _series(column)}
    lines = [sep.join(fields)] if header == "yes" else []
    for row in range(int(rows)):
        lines.append(sep.join(_cell(value(field, random, row)) for field in fields.values()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def libsvm(
    path: Path,
    random: np.random.RandomState,
    rows: str = "64",
    fields: str = "10",
    features: str = "100",
) -> None:
    """Rows of label and index:value: rows=64 fields=10 features=100."""
    lines = []
    for _ in range(int(rows)):
        chosen = sorted(random.choice(int(features), int(fields), replace=False))
        pairs = " ".join("{}:1".format(index) for index in chosen)
        lines.append("{} {}".format(random.randint(2), pairs))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _series(column: str) -> Iterator[str]:
    match = _SERIES.match(column)
    if match is None:
        yield column
        return
    for number in range(int(match.group("first")), int(match.group("last")) + 1):
        yield "{}{}".format(match.group("stem"), number)


def _cell(made: object) -> str:
    if isinstance(made, float):
        return "{:.6g}".format(made)
    if isinstance(made, np.ndarray):
        return "^".join(str(each) for each in made.ravel())
    return str(made)
