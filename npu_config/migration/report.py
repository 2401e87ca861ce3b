"""Reports of migrations: text for people, JSON for programs, one page of HTML for both."""

import json
import os
import re
import shlex
import textwrap
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import DOCS_URL
from npu_config.core.message import join, language, localized, phrase, printable
from npu_config.migration import rules
from npu_config.migration.engine import Migration
from npu_config.migration.program import FileOutcome
from npu_config.migration.work import CHANGED, MANUAL, REFUSED, Note
from npu_config.reporters.page import escaped, page
from npu_config.reporters.text import finding

__all__ = ["next_commands", "render"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_TITLES = (
    (CHANGED, False, "changed"),
    (REFUSED, True, "refused: these lines are unchanged, for the reason given"),
    (MANUAL, True, "manual work"),
    (REFUSED, False, "unchanged"),
    (MANUAL, False, phrase("notes")),
)
"""The parts of a report: a kind of entries, whether something has to be done, and its title."""
_ENTRIES = {
    "edited": "runs on the NPU once these edits are written",
    "open": "runs on the NPU once these edits are written and the open points (errors) are "
    "resolved",
    "already": "runs on the NPU already",
    "begun": "is already for the NPU; resolve its open points (errors) by hand",
    "not-needed": "creates no session of its own to train or predict (sessions of tests, "
    "freeze_graph and similar tools are left unchanged)",
    "refused": "is not migrated: some of its code is refused",
    "unknown": "the place where its session is created was not found",
}
_STATUSES = {
    "changed": "changed",
    "unchanged": "unchanged",
    "refused": "nothing is edited",
}


def _status(outcome: FileOutcome) -> str:
    """What is said of a file at the head of its notes."""
    if outcome.diagnostics:
        return "not migrated"
    if outcome.migration is not None and outcome.migration.is_blocked:
        return "the whole file is left unchanged"
    return _STATUSES[outcome.status]


def render(form: str, outcomes: Sequence[FileOutcome], commands: Sequence[str]) -> str:
    """A report.

    Args:
        form: ``"text"``, ``"json"`` or ``"html"``.
        outcomes: every file.
        commands: what to run next.
    """
    return {"text": _text, "json": _json, "html": _html}[form](outcomes, commands)


def next_commands(
    paths: Sequence[str],
    outcomes: Sequence[FileOutcome],
    output: Optional[str] = None,
    writing: str = "",
) -> List[str]:
    """The commands that come after a migration, none where nothing was changed.

    Args:
        paths: what was migrated.
        outcomes: every file.
        output: the directory of the migrated copy, where there is one.
        writing: the options that write what only was shown so far, as a shell takes them.
    """
    done = [outcome for outcome in outcomes if outcome.status == "changed"]
    if not done:
        return []
    shown = [output] if output is not None else list(paths)
    names = " ".join(shlex.quote(path) for path in shown[:3]) + (" ..." if len(shown) > 3 else "")
    entries = [
        one
        for one in outcomes
        if one.entry is not None and (one.entry.how, one.is_imported) == ("edited", False)
    ]
    run = localized("npu-config run {}", "TRAINING_SCRIPT")
    if len(entries) == 1:
        ((path, root, _), *_) = entries[0]
        name = os.path.basename(path) if root is None else os.path.relpath(path, root)
        path = path if output is None else os.path.join(output, name)
        run = _running(path, entries[0].before or "")
    return [
        *([localized("npu-config migrate {} {}", writing, names)] if writing else []),
        *([] if _are_notebooks(shown) else [localized("npu-config check {}", names)]),
        "npu-config env --help",
        run,
    ]


def _are_notebooks(paths: Sequence[str]) -> bool:
    """Whether all of it is notebooks, which check does not read."""
    return all(path.endswith(".ipynb") for path in paths)


_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\.|\w+)", re.M)


def _running(path: str, text: str) -> str:
    """The command that runs a script, a module of a package as such, or a notebook."""
    outer, base = os.path.split(os.path.abspath(path))
    stem, ending = os.path.splitext(base)
    if ending == ".ipynb":
        script = os.path.splitext(path)[0] + ".py"
        made = localized("jupyter nbconvert --to script {}", shlex.quote(path))
        return " && ".join((made, localized("npu-config run {}", shlex.quote(script))))
    parts = [] if stem == "__main__" else [stem]
    while os.path.isfile(os.path.join(outer, "__init__.py")):
        outer, package = os.path.split(outer)
        parts.insert(0, package)
        is_own = any(name in (".", package) for name in _IMPORTED.findall(text))
        if os.path.isfile(os.path.join(outer, "__init__.py")) or not is_own:
            continue
        folder = os.path.relpath(outer)
        commands = [] if folder == "." else [localized("cd {}", shlex.quote(folder))]
        return " && ".join((*commands, localized("python -m {}", ".".join(parts))))
    return localized("npu-config run {}", shlex.quote(path))


def _text(outcomes: Sequence[FileOutcome], commands: Sequence[str]) -> str:
    lines: List[str] = []
    for outcome in outcomes:
        migration = outcome.migration
        for found in outcome.diagnostics:
            lines.append(finding(found.localized(language())).rstrip("\n"))
        if migration is None or not migration.notes:
            continue
        status = localized(_status(outcome))
        lines.append("{}: {}".format(printable(outcome.target.path), status))
        for kind, must, title in _TITLES:
            groups = _groups(
                note for note in migration.notes if note.kind == kind and note.must == must
            )
            if groups:
                is_unwritten = kind == CHANGED and outcome.diagnostics
                lines.append("  " + localized("would be changed" if is_unwritten else title))
            for (id, text, url), numbers in groups.items():
                where = localized(
                    "lines {}" if len(numbers) > 1 else "line {}", ", ".join(map(str, numbers))
                )
                lines.append("    {}, {}: {}".format(where, id, printable(localized(text))))
                if kind != CHANGED:
                    lines.append("        {}".format(url))
    lines += _scripts(outcomes)
    lines += [localized("note: {}", remark) for remark in _remarks(outcomes)]
    lines.append(_summary(outcomes))
    if commands:
        lines.append(localized("next: {}", "\n      ".join(map(printable, commands))))
    return "\n".join(lines) + "\n"


def _scripts(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    """What becomes of the scripts that are run."""
    found: Dict[str, List[str]] = {}
    for outcome in outcomes:
        if outcome.entry is not None:
            how = outcome.entry.how
            how = (
                {"edited": "open", "already": "begun"}.get(how, how)
                if outcome.entry.is_open
                else how
            )
            found.setdefault(how, []).append(outcome.target.path)
    for how, text in _ENTRIES.items():
        names = found.get(how, [])
        if names:
            shown = ", ".join(map(printable, names[:8]))
            more = (
                localized(" and {} more (--report json lists all)", len(names) - 8)
                if len(names) > 8
                else ""
            )
            yield localized("script: {}: {}{}", localized(text), shown, more)


_SEED = re.compile(r"\b(?:set_random_seed|tf_random_seed|set_seed)\b")
_SHIFTING = {
    "hvd-init": "init_resource adds two operations to the graph",
    "drop-remainder": "drop_remainder makes shapes static",
    "dropout": "npu_ops.dropout has its own random generator",
}


def _remarks(outcomes: Sequence[FileOutcome]) -> List[str]:
    """What is said once of all files: that random numbers change where a seed is set, and why."""
    found = {
        note.id
        for outcome in outcomes
        if outcome.migration is not None and _SEED.search(outcome.before or "")
        for note in outcome.migration.notes
        if note.kind == CHANGED
        and (note.id != "hvd-init" or "npu_bridge.npu_init" in outcome.migration.text)
    }
    reasons = [text for id, text in _SHIFTING.items() if id in found]
    if not reasons:
        return []
    text = "the same seed now gives different random numbers: {}"
    return [phrase(text, join("; ", reasons))]


def _groups(notes: Iterator[Note]) -> Dict[Tuple[str, str, str], List[int]]:
    """Lines by what is said of them, and where it is explained."""
    found: Dict[Tuple[str, str, str], List[int]] = {}
    for note in notes:
        found.setdefault((note.id, note.text, note.url), []).append(note.line)
    return found


def _counts(outcomes: Sequence[FileOutcome]) -> Dict[str, int]:
    outcomes = [outcome for outcome in outcomes if not outcome.has(rules.nothing_to_migrate)]
    done = [outcome.migration for outcome in outcomes if outcome.migration is not None]
    statuses = [outcome.status for outcome in outcomes if not outcome.diagnostics]
    return {
        "files": len(outcomes),
        "changed": statuses.count("changed"),
        "refused": statuses.count("refused"),
        "by_hand": sum(note.kind != CHANGED for migration in done for note in migration.notes),
        "to_do": sum(note.must for migration in done for note in migration.notes),
        "not_read": sum(bool(outcome.diagnostics) for outcome in outcomes),
        "done": sum(outcome.is_done for outcome in outcomes),
    }


def _summary(outcomes: Sequence[FileOutcome]) -> str:
    counts = _counts(outcomes)
    return localized(
        "{}: {changed} changed, {blocked} refused as a whole; manual work: {to_do}, "
        "notes: {to_know}{}{}",
        localized("1 file") if counts["files"] == 1 else localized("{files} files", **counts),
        localized("; {not_read} not migrated", **counts) if counts["not_read"] else "",
        localized(
            "; already for the NPU, and not reported again: {done} (use npu-config check "
            "for these files)",
            **counts,
        )
        if counts["done"]
        else "",
        blocked=sum(
            outcome.migration is not None and outcome.migration.is_blocked for outcome in outcomes
        ),
        to_know=counts["by_hand"] - counts["to_do"],
        **counts,
    )


_OF_DIAGNOSTICS = (
    *("path", "line", "rule", "name", "severity", "message", "help", "url", "situation"),
)


def _json(outcomes: Sequence[FileOutcome], commands: Sequence[str]) -> str:
    files: List[Dict[str, Any]] = []
    found: List[Dict[str, Any]] = []
    for outcome in outcomes:
        for one in (each.localized(language()) for each in outcome.diagnostics):
            values = {name: getattr(one, name) for name in _OF_DIAGNOSTICS}
            found.append({**values, "severity": one.severity.value})
        migration = outcome.migration
        if outcome.has(rules.nothing_to_migrate) or (
            migration is None and not outcome.diagnostics
        ):
            continue
        files.append(
            {
                "path": outcome.target.path,
                "status": outcome.status,
                "entries": [
                    {
                        "line": note.line,
                        "id": note.id,
                        "kind": note.kind,
                        "severity": note.severity.value,
                        "note": localized(note.note) if note.note else "",
                        "url": note.url,
                        "situation": note.situation,
                    }
                    for note in (migration.notes if migration else ())
                ],
                "edits": [edit._asdict() for edit in (migration.edits if migration else ())],
            }
        )
    whole = {
        "version": 1,
        "files": files,
        "scripts": [
            {"path": one.target.path, "npu": one.entry.how, "by": one.entry.by or None}
            for one in outcomes
            if one.entry is not None
        ],
        "remarks": _remarks(outcomes),
        "diagnostics": found,
        "summary": _counts(outcomes),
        "next": list(commands),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


_STYLE = """
h2{overflow-wrap:anywhere}
table{width:100%;margin-bottom:2em;table-layout:fixed}
td,th{border:1px solid #bbb;vertical-align:top;white-space:normal;overflow-wrap:anywhere}
th:nth-child(1){width:3em}th:nth-child(2){width:5em}th:nth-child(3){width:10em}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.changed{background:#eaf6ea}.refused{background:#fbe9e9}.manual{background:#fdf6e3}
@media (prefers-color-scheme:dark){.changed{background:#12261e}.refused{background:#3c1618}
.manual{background:#2d2410}a{color:#79c0ff}}
@media (max-width:50em){thead{display:none}
tr{display:block;margin-bottom:.8em;border:1px solid #bbb;padding:.4em}
td{display:block;border:0;padding:.15em 0}td:empty{display:none}
td:nth-child(-n+3){display:inline;margin-right:.6em;font-weight:bold}
td:nth-child(1)::before{content:"line "}
.changed td:nth-child(4) pre::before{content:"- "}
.changed td:nth-child(5) pre::before{content:"+ "}}
"""
_ROW = (
    '<tr class="{kind}"><td>{line}</td><td>{kind}</td><td><a href="{url}">{id}</a></td>'
    "<td><pre>{old}</pre></td><td>{new}</td><td>{why}</td></tr>"
)
_HEAD = (
    "<thead><tr><th>line</th><th>kind</th><th>fact</th><th>before</th><th>after</th>"
    "<th>why, or what to do</th></tr></thead>"
)


def _html(outcomes: Sequence[FileOutcome], commands: Sequence[str]) -> str:
    title = "npu-config migrate"
    parts = ["<h1>{}</h1>".format(title), "<p>{}</p>".format(_safe(_summary(outcomes)))]
    for outcome in outcomes:
        migration = outcome.migration
        for found in outcome.diagnostics:
            text = "{} [{}] {}".format(
                localized(found.message), found.rule, localized(found.help or "")
            )
            parts.append("<h2>{}</h2><p>{}</p>".format(_safe(found.path or ""), _safe(text)))
        if migration is None or not migration.notes:
            continue
        parts.append(
            localized(
                "<h2>{}: {}</h2><table>{}",
                _safe(outcome.target.path),
                localized(_status(outcome)),
                localized(_HEAD),
            )
        )
        rows = _Rows(outcome.before or "", migration)
        parts += [rows.row(note) for note in migration.notes]
        parts.append("</table>")
    if commands:
        head = escaped(localized("Next"))
        parts.append("<h2>{}</h2><pre>{}</pre>".format(head, _safe("\n".join(commands))))
    more = '<p><a href="{}/migration.html">{}</a></p>'
    parts.append(more.format(DOCS_URL, escaped(localized("Changes and reasons"))))
    return page(title, parts, _STYLE, script="")


def _safe(text: str) -> str:
    return escaped("\n".join(printable(line) for line in _LINE_END.split(text)))


class _Rows:
    """The rows of one file: each line before, and what became of it."""

    def __init__(self, before: str, migration: Migration) -> None:
        self._before = before
        self._after = migration.text
        self._texts = [edit.text for edit in migration.edits]
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(before))]
        self._moves: List[Tuple[int, int, int]] = []
        shift = 0
        for edit in migration.edits:
            start = self._starts[edit.line - 1] + edit.column - 1
            end = self._starts[edit.end_line - 1] + edit.end_column - 1
            shift += len(edit.text) - (end - start)
            self._moves.append((start, end, shift))

    def row(self, note: Note) -> str:
        first = self._starts[note.line - 1] if note.line <= len(self._starts) else 0
        last = self._starts[note.line] if note.line < len(self._starts) else len(self._before)
        old = self._before[first:last].strip()
        new = ""
        if note.id == "import-npu":
            new = next((text for text in self._texts if ".npu_init" in text), "").strip()
        elif note.kind == CHANGED:
            new = self._after[self._moved(first) : self._moved(last)]
            new = textwrap.dedent(_LINE_END.sub("\n", new)).strip()
        return _ROW.format(
            kind=note.kind,
            line=note.line,
            url=note.url,
            id=note.id,
            old=_safe(old),
            new="<pre>{}</pre>".format(_safe(new)) if new else "",
            why=_safe(localized(note.text)),
        )

    def _moved(self, offset: int) -> int:
        """Where an offset is after the edits that begin before it, each of them as a whole."""
        import bisect

        index = bisect.bisect_left(self._moves, (offset,))
        _, end, shift = self._moves[index - 1] if index else (0, 0, 0)
        return max(offset, end) + shift
