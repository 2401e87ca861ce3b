"""How many small faults the tests find: ``python -m tools.mutants --count 100 --seed 30``.

A mutant is the package with one fault: ``and`` for ``or``, a comparison turned round, a number
one too high, a condition negated.  A sample of them, as many from each room, is tried one by one
in a copy of the repository.  The tests of a room are collected once, and run once without a
fault, which tells which of them run the line of a mutant, and which pass; those are tried on it,
or where none does others of its module, in a copy of the process (``tools.mutant_forks``).
A mutant that passes them is tried on all tests of its room by a new pytest, those of its line
first: it may have been used at import, be kept in a cache, or run where no line is seen.  One
that passes these, too, survives, and is printed with its line.  A test that takes longer than
two minutes fails; one that fails without the fault, too, finds nothing.
``tools/mutants.yaml`` lists those that change nothing, with reasons: they do not count.  The
score is what was found of the others; below ``--least`` exits with 1.  Needs Python 3.12.
"""

import argparse
import ast
import contextlib
import functools
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import yaml

from tools import covering

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = Path(__file__).with_suffix(".yaml")

_TOP = tuple(
    "tests/test_{}.py".format(name)
    for name in ("builder", "config", "given_arguments", "help_and_fixes", "presets")
)
"""Tests of the configuration as a whole."""

ROOMS = {
    "rules": (
        "tests/rules",
        "tests/cli/test_show_and_diff.py",
        "tests/core/test_toolkit.py",
        "tests/test_golden.py",
        *_TOP,
    ),
    "launch": (
        "tests/launch",
        "tests/cli/test_env_inputs.py",
        "tests/cli/test_job_ends.py",
        "tests/cli/test_launchers_together.py",
        "tests/test_golden.py",
    ),
    "script": (
        "tests/script",
        "tests/cli/test_imports_of_scripts.py",
        "tests/cli/test_scripts.py",
        "tests/cli/test_silent_no_more.py",
        "tests/cli/test_targets_of_scripts.py",
        "tests/test_golden.py",
    ),
    "migration": ("tests/migrate", "tests/cli/test_rewrite.py"),
    "dumps": ("tests/dumps",),
}
"""The rooms of the package, each with the tests that hold it, those of its doors too."""

NEITHER = "not slow and not tensorflow"

SECONDS = 120
"""A test that takes longer fails."""

COMPARISONS = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*"}


class Mutant(NamedTuple):
    """One fault: what stands in a file, and what is put there."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return "{}:{}: {} -> {}".format(self.path, self.line, self.old, self.new)


def mutants(path: str, text: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line.encode("utf-8")))
    source = text.encode("utf-8")

    def span(node: ast.AST) -> Tuple[int, int]:
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        return offsets[line - 1] + column, offsets[end - 1] + end_column

    def mutant(start: int, end: int, new: str) -> Mutant:
        old = source[start:end].decode("utf-8")
        return Mutant(path, source.count(b"\n", 0, start) + 1, start, end, old, new)

    def between(left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[Mutant]:
        """The operator between two operands, where it stands there once."""
        start, end = span(left)[1], span(right)[0]
        gap = source[start:end].decode("utf-8")
        if gap.count(old) == 1 and "#" not in gap:
            at = start + len(gap[: gap.index(old)].encode("utf-8"))
            yield mutant(at, at + len(old), new)

    for node in _code(ast.parse(text)):
        if isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:]):
                yield from between(left, right, old, new)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator = type(node.ops[0])
            yield from between(
                node.left, node.comparators[0], _TEXT[operator], COMPARISONS[operator]
            )
        elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            sign = type(node.op)
            yield from between(node.left, node.right, _TEXT[sign], SIGNS[sign])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start = span(node)[0]  # a bracket behind it stays: the operand begins within
            yield mutant(start, start + (4 if source[start : start + 4] == b"not " else 3), "")
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            start, end = span(node.test)
            words = source[start:end].decode("utf-8")
            yield mutant(start, end, "not ({})".format(words))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield mutant(*span(node), new=str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield mutant(*span(node), new=str(node.value + 1))


_TEXT = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//",
}  # fmt: skip


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: no annotations, no decorators, nothing for type checkers only."""
    work: List[ast.AST] = [tree]
    while work:
        node = work.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        left_out: Set[int] = set()
        for field in ("annotation", "returns", "decorator_list"):
            value = getattr(node, field, None)
            left_out.update(map(id, value if isinstance(value, list) else [value]))
        work.extend(child for child in ast.iter_child_nodes(node) if id(child) not in left_out)


def sample(rooms: Sequence[str], count: int, seed: int) -> List[Mutant]:
    """``count`` mutants, as many from each room; the same ones for the same seed and code."""
    known = equivalent()
    chosen: List[Mutant] = []
    for number, room in enumerate(rooms):
        every = [
            each
            for path in sorted((ROOT / "npu_config" / room).rglob("*.py"))
            for each in mutants(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
            if _key(each) not in known
        ]
        share = count // len(rooms) + (number < count % len(rooms))
        generator = random.Random("{} {}".format(seed, room))
        chosen += generator.sample(every, min(share, len(every)))
    return chosen


def of_line(path: str, line: str) -> List[Mutant]:
    """Every mutant that begins in a line of a module."""
    return [
        each for each in mutants(path, (ROOT / path).read_text("utf-8")) if each.line == int(line)
    ]


def equivalent() -> Set[Tuple[str, str, str, str]]:
    """The mutants that change nothing anybody could see: path, line of code, old, new."""
    listed: List[Dict[str, str]] = yaml.safe_load(EQUIVALENT.read_text("utf-8")) or []
    return {(each["path"], each["code"].strip(), each["old"], each["new"]) for each in listed}


def _key(mutant: Mutant) -> Tuple[str, str, str, str]:
    return mutant.path, code(mutant), mutant.old, mutant.new


def code(mutant: Mutant) -> str:
    """The line of code that a mutant begins in."""
    return _lines(ROOT / mutant.path)[mutant.line - 1].strip()


@functools.lru_cache(maxsize=None)
def _lines(path: Path) -> List[str]:
    return path.read_text("utf-8").splitlines()


def room_of(mutant: Mutant) -> str:
    """The room of a mutant."""
    return mutant.path.split("/")[1]


class Interest(NamedTuple):
    """Lines of a module: those that a mutant changes, none where it is in no function."""

    own: Set[int]
    module: Set[int]


def interest(mutant: Mutant) -> Interest:
    """The statement of a mutant, and where the functions of its module begin."""
    tree = ast.parse((ROOT / mutant.path).read_text("utf-8"))
    own: Set[int] = set()
    module: Set[int] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        body = [node for node in function.body if not _is_docstring(node)] or function.body
        module.update((body[0].lineno, body[-1].lineno))
        for node in ast.walk(function):
            if not isinstance(node, ast.stmt) or node is function:
                continue
            inner = getattr(node, "body", None)
            end = inner[0].lineno if inner else getattr(node, "end_lineno", node.lineno) + 1
            lines = range(node.lineno, max(end, node.lineno + 1))
            if mutant.line in lines:
                own.update(lines)
    return Interest(own, module)


def _is_docstring(node: ast.stmt) -> bool:
    """True for a text alone, which never runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def tests_of(mutant: Mutant, recorded: Sequence[Dict[str, Any]], limit: float) -> List[str]:
    """The tests that run the line of a mutant; where none does, those that run its module.

    Those first whose file names the module, then the cheapest; ``limit`` is in seconds.
    """
    for lines in interest(mutant):
        wanted = {"{}:{}".format(mutant.path, line) for line in lines}
        running: Dict[str, List[Dict[str, Any]]] = {}
        for each in recorded:
            if each["passed"] and wanted.intersection(each["ran"]):
                running.setdefault(each["test"].partition("::")[0], []).append(each)
        name = Path(mutant.path).stem.lstrip("_")
        files = sorted(
            running, key=lambda file: (name not in file, sum(t["seconds"] for t in running[file]))
        )
        chosen: List[str] = []
        for file in files:
            for each in sorted(running[file], key=lambda test: test["seconds"]):
                if each["seconds"] < limit:
                    limit -= each["seconds"]
                    chosen.append(each["test"])
        if chosen:
            return chosen
    return []


def copy(target: Path) -> None:
    """Copy the repository as it is in the working tree."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=str(ROOT)
    )
    for name in filter(None, listed.decode("utf-8").split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(ROOT / name), str(target / name))


@contextlib.contextmanager
def mutated(folder: Path, mutant: Mutant) -> Iterator[str]:
    """Puts a fault into its module, also for processes that tests start; gives the text."""
    file = folder / mutant.path
    source, before = file.read_bytes(), file.stat().st_mtime
    text = source[: mutant.start] + mutant.new.encode("utf-8") + source[mutant.end :]
    file.write_bytes(text)
    moment = zlib.crc32(repr(mutant).encode("utf-8"))  # so that no .pyc of another is taken
    os.utime(str(file), (moment, moment))
    try:
        yield text.decode("utf-8")
    finally:
        file.write_bytes(source)
        os.utime(str(file), (before, before))


def start(folder: Path, plan: Dict[str, Any], words: Sequence[str]) -> "subprocess.Popen[bytes]":
    """pytest in a copy, by a plan; what it prints goes to a file."""
    aside = folder / ".covering"
    aside.mkdir(exist_ok=True)
    (aside / "sitecustomize.py").write_text(covering.SITE, "utf-8")
    (aside / "plan.json").write_text(json.dumps(plan), "utf-8")
    paths = [str(aside)] * ("lines" in plan) + [str(folder)]  # of the processes that tests start
    environ = {"CI": "1", "PYTHONPATH": os.pathsep.join(paths)}
    environ[covering.VARIABLE] = str(aside / "plan.json")
    command = [sys.executable, "-m", "pytest", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    command += ["--basetemp={}".format(aside / "tmp"), *words]
    with (aside / "log").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=str(folder),
            env={**os.environ, **environ},
            stdout=log,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def end(process: "subprocess.Popen[bytes]") -> None:
    """End pytest and what its tests have left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stderr is not None
    process.stderr.close()


def log_of(folder: Path) -> str:
    """What pytest printed last in a copy."""
    return (folder / ".covering" / "log").read_text("utf-8", "replace")


def tried(folder: Path, chosen: Sequence[Mutant], limit: float) -> Iterator[Tuple[int, Any]]:
    """The number of each mutant of one room, with the test that finds it in a copy of pytest."""
    lines: Dict[str, Set[int]] = {}
    for each in chosen:
        own, module = interest(each)
        lines.setdefault(each.path, set()).update(own | module)
    plan = {
        "root": str(folder),
        "folder": str(folder / ".covering"),
        "lines": {path: sorted(numbers) for path, numbers in lines.items()},
        "record": str(folder / ".covering" / "tests.json"),
        "mutants": chosen,
        "limit": limit,
    }
    places = ROOMS[room_of(chosen[0])]
    words = ["-m", NEITHER, "-p", "tools.mutant_forks", "--timeout={}".format(SECONDS), *places]
    process = start(folder, plan, words)
    assert process.stderr is not None
    try:
        for said in process.stderr:
            if said.startswith(b"["):
                number, result = json.loads(said.decode("utf-8"))
                if number is None:
                    return
                yield number, result
    finally:
        end(process)
    print(log_of(folder)[-2000:])
    raise SystemExit("pytest has ended before all mutants were tried")


def judged(
    folder: Path, chosen: Sequence[Mutant], limit: float
) -> Iterator[Tuple[Mutant, Optional[str]]]:
    """The mutants of one room, each with the test that finds it; None when it survives."""
    later = []
    for number, finder in tried(folder, chosen, limit):
        if finder is None:
            later.append(chosen[number])
        else:
            yield chosen[number], finder
    recorded = json.loads((folder / ".covering" / "tests.json").read_text("utf-8"))
    for mutant in later:  # pytest has ended: only one may change the copy
        first = tests_of(mutant, recorded, limit)
        every = dict.fromkeys([*first, *(each["test"] for each in recorded if each["passed"])])
        yield mutant, found_by(folder, mutant, list(every))


def failing(folder: Path, tests: Sequence[str]) -> Optional[str]:
    """The first of these tests that fails in a copy, one that hangs, too."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    words = ["-x", "-p", "tools.covering_plugin", "--timeout={}".format(SECONDS), *files]
    process = start(folder, {"chosen": list(tests)}, words)
    try:
        process.communicate(timeout=1800)
    except subprocess.TimeoutExpired:
        return "pytest"
    finally:
        end(process)
    output = log_of(folder)
    found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output, re.M)
    if found is not None:
        return found.group(1)
    return None if re.search(r"\b\d+ passed", output) else "pytest"


def found_by(folder: Path, mutant: Mutant, tests: Sequence[str]) -> Optional[str]:
    """What fails of these tests in a new pytest with a mutant, and passes without it.

    A test, the file of tests that cannot be imported, or pytest itself; None when it survives.
    What fails without the fault, too, or not again with it, finds nothing; others are tried.
    """
    left = list(tests)
    while left:
        with mutated(folder, mutant):
            failed = failing(folder, left)
        if failed is None:
            return None
        alone = [test for test in left if test == failed or test.startswith(failed + "::")] or left
        if failing(folder, alone) is None:
            with mutated(folder, mutant):
                if failing(folder, alone) is not None:
                    return failed
        left = [test for test in left if test not in alone]
    return None


def main(arguments: Sequence[str]) -> int:
    """Try a sample; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="how many mutants")
    parser.add_argument("--seed", type=int, default=30, help="another one gives other mutants")
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="of this room only")
    parser.add_argument("--limit", type=float, default=20, help="CPU seconds of tests for one")
    parser.add_argument("--least", type=float, default=90, help="least score, in percent")
    parser.add_argument("--line", action="append", help="FILE:LINE: no sample, all of this line")
    parser.add_argument("--list", action="store_true", help="print the sample, try nothing")
    options = parser.parse_args(arguments)
    if options.line:
        chosen = [each for place in options.line for each in of_line(*place.rsplit(":", 1))]
    else:
        chosen = sample(options.room or list(ROOMS), options.count, options.seed)
    if options.list:
        print("\n".join(map(str, chosen)))
        return 0
    if importlib.util.find_spec("pytest_timeout") is None:
        print("needs pytest-timeout: without it no mutant can be judged")
        return 2
    if not hasattr(sys, "monitoring"):
        print("needs Python 3.12, which says cheaply what a test runs")
        return 2
    survivors = []
    with tempfile.TemporaryDirectory(prefix="npu_config-mutants-") as name:
        folder = Path(name).resolve()
        copy(folder)
        for room in dict.fromkeys(map(room_of, chosen)):
            mine = [each for each in chosen if room_of(each) == room]
            print("{}: {} mutants".format(room, len(mine)), flush=True)
            began = time.monotonic()
            for mutant, finder in judged(folder, mine, options.limit):
                seconds, began = time.monotonic() - began, time.monotonic()
                said = finder or "SURVIVES"
                print("{:4.0f} s {}: {}".format(seconds, mutant, said), flush=True)
                if finder is None:
                    survivors.append(mutant)
    score = 100.0 * (1 - len(survivors) / max(1, len(chosen)))
    print("{} of {} found: {:.0f} %".format(len(chosen) - len(survivors), len(chosen), score))
    for mutant in survivors:
        print("{}\n    {}".format(mutant, code(mutant)))
    return 1 if score < options.least else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
