"""The readers as functions of bytes: none of them may raise, or report a fault of ours.

``READERS`` says for every module of the package that reads files which target covers it; a
module that is missing there is found by ``test_targets.py``.
"""

import contextlib
import importlib.util
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

from npu_config import dumps
from npu_config.catalogue import OPTIONS
from npu_config.cli._fix import difference, fixed
from npu_config.core.diagnostics import NpuConfigError, Report
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.diagnosis.fusion_result import _sum_up
from npu_config.diagnosis.graph import diagnose
from npu_config.diagnosis.loss_report import Series, _read
from npu_config.diagnosis.op_summary import read_op_summary
from npu_config.diagnosis.profile import read_profile
from npu_config.dumps.overflow import units
from npu_config.dumps.reference import open_references
from npu_config.dumps.search import load_search, outcome
from npu_config.dumps.statistics import statistics_of_row
from npu_config.editor.completion import complete
from npu_config.editor.hover import hover
from npu_config.editor.lines import Lines
from npu_config.editor.links import links
from npu_config.judging import judge as judge_input
from npu_config.judging.comments import Suppressions
from npu_config.launch.environment.check import check_job
from npu_config.launch.environment.dotenv import parse_dotenv
from npu_config.launch.pod import devices_of, read_table
from npu_config.lint.baseline import Baseline, _counts_of
from npu_config.lint.gitignore import Patterns
from npu_config.lint.project import read_project
from npu_config.logs import read_logs
from npu_config.logs.bundle import bundle
from npu_config.logs.redact import Redactor
from npu_config.logs.report import Follower
from npu_config.logs.text import text_report
from npu_config.migration.engine import migrate
from npu_config.migration.project import FileToMigrate, migrate_files
from npu_config.precision_tool.export import export_tfdbg
from npu_config.proto.event_files import EventFileError, parse_event, raw_content, read_events
from npu_config.rank_table.building import parse_hccn
from npu_config.readers import KINDS, read
from npu_config.reporters import FORMATS, Summary, render
from npu_config.rulebook import load_all
from npu_config.rules.case import judge
from npu_config.rules.toolkit import installed_cann
from npu_config.runner.script import CannotRunError
from npu_config.runner.script import _compiled as compiled

RAM = "/dev/shm" if os.path.isdir("/dev/shm") else None
TESTS = Path(__file__).resolve().parents[1]
CORPUS = sorted(
    path
    for path in (*TESTS.rglob("cases/**/*"), *TESTS.glob("data/dump/**/*"))
    if path.is_file() and path.suffix != ".out" and path.stat().st_size < 20_000
)
KNOWN = tuple((rule.id, rule.name) for rule in load_all())


class FaultOfOursError(AssertionError):
    """A finding that only a fault of npu_config's own yields."""


def _refuse(diagnostics):
    for diagnostic in diagnostics:
        if diagnostic.rule == "NPU700":
            raise FaultOfOursError(diagnostic.message)


def _reader(kind):
    def target(data):
        _refuse(read("fuzz", kind, data).judge())

    return target


def _whole(kind):
    """All that ``check`` does with a file: ignore comments, reports, baselines."""

    def target(data):
        judged = judge_input("fuzz", as_kind=kind, content=data, known_rules=load_all)
        _refuse(judged.found)
        report = Report(judged.found)
        text = judged.text or ""
        sources = {"fuzz": text}
        for name in FORMATS:
            render(name, report, Summary.of(report, 1, 0), sources)
        Baseline.of(report, sources).new(report, sources)
        difference("fuzz", text, fixed(text, report)[0])

    return target


def _text(data):
    return data.decode("utf-8", "replace")


def _references(path):
    found = open_references(str(path.parent))
    for folder in found.folders:
        found.open(folder)


_INDEX = (
    "run,file,node,output,occurrence,debug_op,device,dtype,shape,time_us,status\n"
    "0,a1.npy,n1,0,0,output,,float32,2,1,ok\n0,a2.npy,n2,0,0,output,,float32,2,1,ok\n"
)


def _network(path):
    """The table that says what the files of an index stand for."""
    path.with_name("index.csv").write_text(_INDEX, encoding="utf-8")
    _references(path)


def _log(data):
    _read("fuzz", io.BufferedReader(io.BytesIO(data)), Series(), None)


def _event(data):
    for value in parse_event(data).values:
        if value.tensor is not None:
            raw_content(value.tensor)


def _ignored(data):
    patterns = Patterns("/r", _text(data).split("\n"))
    for name in ("a", "a/b.py", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbb"):
        patterns.verdict("/r/" + name, False)


def _suppress(data):
    for is_script in (True, False):
        Suppressions(_text(data), "fuzz", is_script).apply((), KNOWN)


def _values(data):
    """The text as the value of every option."""
    text = _text(data)
    entries = {name: Setting(text) for name, option in OPTIONS.items() if option.offered}
    judge(Settings(entries, source_kind=SourceKind.FILE))


def _environment(data):
    parsed = parse_dotenv(_text(data), "fuzz")
    check_job({"fuzz": parsed.variables}, places={"fuzz": parsed.places})


def _migrated(data):
    after = migrate(data)
    assert (after.status == "unchanged") or after.notes


def _notebook(path):
    """Cells of code differ, in lines that are no magics, and nothing else of a notebook does."""
    (outcome,) = migrate_files([FileToMigrate(str(path))])
    migration = outcome.migration
    if migration is None or not migration.edits:
        return
    before, after = json.loads(path.read_bytes()), json.loads(migration.text)
    for old, new in zip(before["cells"], after["cells"]):
        if old != new:
            assert (old["cell_type"], type(old["source"])) == ("code", type(new["source"]))
            lines = "".join(old["source"]).splitlines()
            kept = [line for line in lines if line.lstrip().startswith(("%", "!"))]
            assert set(kept) <= set("".join(new["source"]).splitlines())
            old["source"] = new["source"]
    assert before == after
    path.write_bytes(migration.text.encode("utf-8"))
    (again,) = migrate_files([FileToMigrate(str(path))])
    assert again.migration is not None
    assert not again.migration.edits


def _in_file(read_file, name="Add.a.1.2.1767323045000000"):
    """A reader that takes a path."""

    def target(data):
        folder = tempfile.mkdtemp(dir=RAM)
        try:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            read_file(path)
        finally:
            shutil.rmtree(folder)

    return target


def _dump(path):
    opened = dumps.open_dump(path)
    if opened.dump is not None and importlib.util.find_spec("numpy"):
        for _, _, tensor in opened.dump.tensors():
            for layout in ("device", "original"):
                with contextlib.suppress(NpuConfigError):
                    tensor.array(layout)


def _folder(read_folder, up=0):
    return lambda path: read_folder(path.parents[up])


def _exported(folder):
    export_tfdbg(folder, folder / "out")


def _re_exported(folder):
    with contextlib.suppress(FileExistsError):
        dumps.export_dumps(dumps.find_dumps(folder), folder)


def _of_pod(path):
    table = read_table(str(path))
    if table is not None:
        devices_of(table, {"10.0.0.1"})


def _compile(path):
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(CannotRunError):
        compiled(str(path))


def _edited(data):
    """What an editor asks of a text, at its end and at its middle."""
    text = _text(data)
    for name in ("x.yaml", "x.toml", "x.json", "x.py", "x.sh", "x.pbtxt", "ops_info.json"):
        for offset in (len(text), len(text) // 2):
            complete(name, text, offset)
            hover(name, text, offset, str)
        list(links(name, text))
    lines = Lines(text)
    offset = lines.offset(*lines.position(len(text) // 2))
    assert offset <= len(text)


def _job(path):
    report = read_logs([str(path)])
    Redactor().text(text_report(report, everything=True))
    bundle(report, str(path), Redactor())


def _growing(path):
    follower = Follower([str(path)])
    while follower.grow():
        follower.certain(at_once=True)
    follower.report()


TARGETS = {
    "editor": _edited,
    **{"read-" + kind: _reader(kind) for kind in KINDS},
    "read-any": _reader(None),
    "check-yaml": _whole("yaml"),
    "check-script": _whole("script"),
    "values": _values,
    "environment": _environment,
    "hccn": lambda data: parse_hccn(_text(data), "fuzz"),
    "migrate": _migrated,
    "migrate-notebook": _in_file(_notebook, "a.ipynb"),
    "graph": _in_file(diagnose, "graph.pbtxt"),
    "graph-binary": _in_file(diagnose, "graph.pb"),
    "op-summary": _in_file(lambda path: read_op_summary([path]), "op_summary_1.csv"),
    "profile": _in_file(lambda path: read_profile([path]), "a.csv"),
    "fusion-result": lambda data: _sum_up("fuzz", _text(data)),
    "log": _in_file(_job, "train_0.log"),
    "log-growing": _in_file(_growing, "train_0.log"),
    "loss-scale": _log,
    "event": _event,
    "events": lambda data: list(read_events(io.BytesIO(data))),
    "tfdbg": _in_file(
        _folder(_exported, 2), "run_1_1/_tfdbg_device_,job_a/node_0_DebugIdentity_123"
    ),
    "gitignore": _ignored,
    "suppress": _suppress,
    "project": _in_file(lambda path: read_project(str(path), load_all), "pyproject.toml"),
    "baseline": lambda data: _counts_of(json.loads(_text(data))),
    "toolkit": _in_file(
        lambda path: installed_cann({"ASCEND_HOME_PATH": str(path.parent)}), "version.info"
    ),
    "pod": _in_file(_of_pod),
    "dump": _in_file(_dump),
    "dump-mapping": _in_file(_folder(dumps.find_dumps), "20260101000000/0/n/1/0/mapping.csv"),
    "dump-statistics": _in_file(
        lambda path: [*map(statistics_of_row, dumps.read_statistics(path))]
    ),
    "dump-result": _in_file(dumps.read_result),
    "dump-search": _in_file(lambda path: outcome(load_search(path)), "state.json"),
    "dump-index": _in_file(_folder(_re_exported), "index.csv"),
    "reference": _in_file(_references, "index.csv"),
    "reference-network": _in_file(_network, "network.csv"),
    "ge-graph": _in_file(dumps.read_ge_graph),
    "compile": _in_file(_compile, "train.py"),
    "overflow-record": _in_file(lambda path: units(dumps.read_overflow(path))),
}

_EXPECTED = {
    "baseline": (ValueError, RecursionError),
    "event": (EventFileError,),
    "events": (EventFileError,),
    "loss-scale": (EventFileError, ValueError),
}


def execute(name, data):
    """Run one target once."""
    with contextlib.suppress(NpuConfigError, *_EXPECTED.get(name, ())):
        TARGETS[name](data)


READERS = {
    "launch/pod.py": "pod",
    "launch/shell/check.py": "read-shell",
    "cli/_report.py": "command: ranktable check",
    "cli/dump.py": "command: dump show",
    "cli/migrate.py": "command: migrate --write",
    "text/files.py": "command: check --fix .yaml",
    "rules/toolkit.py": "toolkit",
    "diagnosis/graph/load.py": "graph",
    "diagnosis/loss_report.py": "loss-scale",
    "diagnosis/fusion_result.py": "fusion-result",
    "diagnosis/op_summary.py": "op-summary",
    "dumps/dump.py": "dump",
    "dumps/export.py": "dump-index",
    "dumps/graph.py": "ge-graph",
    "dumps/reference.py": "reference",
    "dumps/result.py": "dump-result",
    "dumps/search.py": "dump-search",
    "dumps/statistics.py": "dump-statistics",
    "dumps/tree.py": "dump-mapping",
    "judging/__init__.py": "command: check, a sourced file",
    "judging/batch.py": "command: check .py",
    "lint/baseline.py": "baseline",
    "lint/gitignore.py": "gitignore",
    "lint/project.py": "project",
    "logs/bundle.py": "log",
    "logs/report.py": "log-growing",
    "logs/lines.py": "log",
    "migration/program.py": "command: migrate --write",
    "migration/resolve.py": "migrate",
    "migration/project.py": "migrate-notebook",
    "precision_tool/export.py": "tfdbg",
    "readers/__init__.py": "read-any",
    "readers/shell_file.py": "read-shell",
    "runner/script.py": "compile",
    "script/neighbours.py": "command: check, an import",
    "sidefiles/format.py": "read-profiling",
}
"""Module that reads files to the target that covers it."""

NO_READERS = {
    "cli/app.py": "reads what tools.generate wrote into the package",
    "cli/_topics.py": "reads what tools.generate wrote into the package",
    "cli/_dump_next.py": "compares a file with what was written",
    "cli/_dump_search.py": "hashes files that others have read",
    "editor/server.py": "counts the lines of a file that another reader found something in",
    "text/files.py": "compares a file with what is to be written, and writes",
    "logs/facts.py": "reads the facts of the package",
    "records/document.py": "digests of files; a record is read by read-record",
    "records/writing.py": "looks whether a file is a record that may be renamed",
    "runner/hub.py": "what the system says of a process",
    "runner/ranks.py": "what the ranks of this run wrote",
    "script/checks/loops.py": "searches for one pattern, which tests/linear proves",
    "sidefiles/library.py": "gives the text to the readers of side files",
    "text/source.py": "reads bytes for the others",
    "tf1/vendor.py": "reads the table of the package",
    "tf1/estimator.py": "json.load, as the vendor's; whoever calls it has TensorFlow",
}
"""Module that opens files and has no target, and why."""
