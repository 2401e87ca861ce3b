"""The migration of one script: every group of facts is asked, then the edits are done."""

import ast
import os
import re
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Edit, Severity
from npu_config.core.message import phrase
from npu_config.core.paths import names_file
from npu_config.migration import (
    data,
    distribution,
    estimator,
    horovod,
    keras,
    launch,
    libraries,
    model,
    precision,
    python2,
    sessions,
    situations,
)
from npu_config.migration.imports import add_import
from npu_config.migration.names import Interest, canonical, is_ours
from npu_config.migration.resolve import Binding, Neighbours, Resolver
from npu_config.migration.work import MANUAL, REFUSED, Note, Replacement, Rules, Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    dotted_parts,
    imported,
    is_main,
    literal_text,
    name_of,
)
from npu_config.python_flow.source import Undecodable, Unparsable, decode, looks_like_python_2

__all__ = ["IMPORTS", "Migration", "is_entry", "migrate", "named_modules", "one_reason"]


def one_reason(work: Work) -> Optional[Note]:
    """Why a whole script is not edited: Keras by itself, eager execution, TensorFlow 2.

    What holds in a part of it only is entered in the report.
    """
    for site in _native_imports(work.script):
        text = "Keras outside of TensorFlow is not supported on the NPU: port to tf.keras first"
        work.depend(site, "native-keras", text)
        if work.blocked:
            return Note(site.line, "native-keras", REFUSED, text)
    for site in work.script.calls_of(*_EAGER):
        text = "TensorFlow 1.15 supports only graph mode on the NPU"
        work.depend(site, "eager", text)
        if work.blocked:
            return Note(site.line, "eager", REFUSED, text)
    return _only_version_2(work.script)


_EAGER = (
    "tensorflow.enable_eager_execution",
    "tensorflow.enable_v2_behavior",
    "tensorflow.compat.v2.enable_v2_behavior",
    "tensorflow.contrib.eager.enable_eager_execution",
    "tensorflow.python.framework.ops.enable_eager_execution",
)
_ONLY_2 = {
    "tensorflow.GradientTape": "gradients in eager mode",
    "tensorflow.random.set_seed": "a function of TensorFlow 2",
    "tensorflow.config.list_physical_devices": "a function of TensorFlow 2",
    "tensorflow.config.set_visible_devices": "a function of TensorFlow 2",
    "tensorflow.summary.create_file_writer": "summaries of TensorFlow 2",
    "tensorflow.function": "functions of TensorFlow 2",
}
_GRAPH_WORDS = (
    *("Session", "InteractiveSession", "MonitoredTrainingSession", "placeholder", "compat"),
    *("get_variable", "Estimator", "global_variables", "contrib", "disable_v2_behavior"),
    "disable_eager_execution",
)


def _only_version_2(script: Resolver) -> Optional[Note]:
    """A script that only TensorFlow 2 can run: it uses its names, and no graph."""
    if not script.words.isdisjoint(_GRAPH_WORDS):
        return None
    text = "a script for TensorFlow 2 only ({}): the NPU needs the graph mode of 1.15"
    for site in script.sites_of({name.rpartition(".")[2] for name in _ONLY_2}):
        name = script.resolved(site)
        if name in _ONLY_2:
            return Note(site.line, "eager", REFUSED, phrase(text, _ONLY_2[name]))
    return None


def _native_imports(script: Resolver) -> Iterator[Site]:
    """The imports of Keras outside of TensorFlow.

    An import that stands in for TensorFlow's where that is missing does not count, nor what reads
    data.
    """
    for site in script.imports if "keras" in script.words else ():
        own = [name for name in libraries.names_of(site) if name.split(".")[0] == "keras"]
        reads = own and all(name.startswith(_READING) for name in own)
        if own and not reads and not site.inside(ast.ExceptHandler):
            yield site


_READING = tuple(
    "keras." + name
    for name in (
        *("datasets", "preprocessing", "utils.np_utils", "utils.to_categorical"),
        *("utils.get_file", "utils.data_utils", "utils.normalize"),
    )
)
"""What of Keras reads data, and makes no model."""


IMPORTS = ("npu_config", "npu_bridge")
"""The packages whose names a migrated script can import."""

_GROUPS = (
    sessions,
    estimator,
    keras,
    distribution,
    model,
    data,
    precision,
)
_RULES: Rules = {name: rule for group in _GROUPS for name, rule in group.RULES.items()}
_INTEREST = Interest(_RULES)

_AFTER: Sequence[Callable[[Work], None]] = (
    sessions.after,
    estimator.after,
    keras.after,
    libraries.after,
    distribution.after,
    data.after,
    model.after,
    precision.after,
    launch.after,
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Migration:
    """What became of a script.

    Args:
        text: the migrated script; where nothing is edited, the script itself.
        edits: the replacements in the script, in order; no two of them touch.
        notes: what was changed, refused, or is left to do by hand, by line of the script.
        is_blocked: something in the script keeps all of it from being edited.
    """

    text: str
    edits: Tuple[Edit, ...] = ()
    notes: Tuple[Note, ...] = ()
    is_blocked: bool = False

    @property
    def status(self) -> str:
        """``changed``, ``unchanged``, or ``refused``: no edit, and the notes say why."""
        if self.edits:
            return "changed"
        return "refused" if any(note.kind == REFUSED for note in self.notes) else "unchanged"

    @property
    def is_complete(self) -> bool:
        """True when nothing is left to do by hand."""
        return not any(note.must for note in self.notes)


class Analysis(NamedTuple):
    """A migration with what the other files of a program need to know of it.

    Attributes:
        migration: the migration.
        needs_patch: sessions are made that only the import of npu_init configures.
        is_patch_only: that import is the only edit.
        modules: the modules that are imported, with a dot for each level of a relative import.
        is_done: it is a script for the NPU already.
        is_entry: it does something when it is run.
        has_guard: it says what it does when it is run.
        is_concerned: something in it may be TensorFlow's, Keras's or Horovod's.
        makes: sessions are made in it, or by a package that it imports.
        has_graph: it uses more of TensorFlow than its files and records.
        unknown: the packages that it imports of which it is not known whether they make
            sessions, with their lines.
        libraries: the packages that make sessions and that are in the project itself.
        is_forced: it is edited though something that the script needs is refused.
        makers: its functions that give a session, and that it does not call itself.
        is_guarded: what it is refused for holds when it is run, and not when it is imported.
        of_horovod: the names that imports bind to Horovod.
    """

    migration: Migration
    needs_patch: bool = False
    is_patch_only: bool = False
    modules: Tuple[str, ...] = ()
    is_done: bool = False
    is_entry: bool = False
    has_guard: bool = False
    is_concerned: bool = True
    makes: bool = False
    has_graph: bool = False
    unknown: Tuple[Tuple[int, str], ...] = ()
    libraries: Tuple[str, ...] = ()
    is_forced: bool = False
    makers: FrozenSet[str] = frozenset()
    is_guarded: bool = False
    of_horovod: FrozenSet[str] = frozenset()


def migrate(source: Union[str, bytes], imports: str = "npu_config") -> Migration:
    """Make a training script for GPUs or CPUs one for the NPU, refusing instead of guessing.

    Args:
        source: the script, as text with its own line ends or as the bytes of its file.
        imports: whose names are imported, ``"npu_config"`` or ``"npu_bridge"``.

    Returns:
        The migrated script with its edits, and what was changed, refused or is left to do.  A
        source that is not Python 3 gives no edit and one note.

    Raises:
        ValueError: ``imports`` is none of the two; ``source`` is the path of a file.
        TypeError: ``source`` is neither text nor bytes.
    """
    if not isinstance(source, (str, bytes)):
        raise TypeError(phrase("{}, got {}", _EXPECTED, type(source).__name__))
    if names_file(source if isinstance(source, str) else os.fsdecode(source[:4096])):
        raise ValueError(phrase("{}, got the path {!r}", _EXPECTED, source))
    return analyse(source, imports).migration


_EXPECTED = (
    'migrate takes a script as text or bytes: open(path, "rb").read() reads a file, and '
    "npu-config migrate takes paths"
)


def analyse(
    source: Union[str, bytes],
    imports: str = "npu_config",
    session_import: Optional[bool] = None,
    keeper: str = "",
    borrowed: str = "",
    neighbours: Optional[Neighbours] = None,
    partial: bool = False,
    path: Optional[str] = None,
    makers: FrozenSet[str] = frozenset(),
) -> Analysis:
    """As :func:`migrate`, for a file of a program.

    Args:
        source: as there.
        imports: as there.
        session_import: True imports npu_init though nothing here needs it; False does not import
            it for sessions alone, since another module of the program does; None: as needed.
        keeper: why Horovod has to stay: another file of the program keeps or takes it.
        borrowed: the name of Horovod that it takes from another file of the program.
        neighbours: the other modules of the program.
        partial: edit what depends on something that is refused, too.
        path: its file.
        makers: the functions of other files that give a session.
    """
    if imports not in IMPORTS:
        raise ValueError(phrase('imports must be "npu_config" or "npu_bridge", got {!r}', imports))
    try:
        text = decode(source).text if isinstance(source, bytes) else source
    except Undecodable as error:
        note = Note(error.line, "syntax-error", REFUSED, phrase("not text: {}", error))
        assert isinstance(source, bytes)
        return Analysis(_refused(source.decode("latin-1"), note))
    try:
        is_asked = session_import is True or bool(makers or borrowed)
        script = Resolver(text, neighbours, _INTEREST, is_asked, path)
        try:
            work = Work(script, imports, keeper, partial, borrowed)
            return _analyse(work, session_import, makers)
        finally:
            script.module.forget()
    except Unparsable as error:
        old = looks_like_python_2(text)
        reason = (
            "Python 2: convert it with 2to3 first"
            if old
            else phrase("this code cannot be analysed as Python 3: {}", error)
        )
        id = "python2" if old else "syntax-error"
        refused = _refused(text, Note(error.line or 1, id, REFUSED, reason))
        has_guard = "__main__" in text
        is_entry = has_guard or _RUNS.search(text) is not None
        of_horovod = frozenset(_HOROVOD.findall(text))
        return Analysis(refused, is_entry=is_entry, has_guard=has_guard, of_horovod=of_horovod)
    except RecursionError:
        note = Note(1, "syntax-error", REFUSED, "nested too deeply to be analysed")
        return Analysis(_refused(text, note))


_HOROVOD = re.compile(r"^[ \t]{0,80}(?:import|from)[ \t]{1,8}(horovod)\b", re.M)
_RUNS = re.compile(r"^(?:for|with|while|print)\b|^[\w.]{1,200}\(", re.M)
"""What a script does at its top that is not Python 3, so that it is one to be run."""


def _refused(text: str, note: Note) -> Migration:
    return Migration(text, notes=(note,), is_blocked=True)


def _analyse(work: Work, session_import: Optional[bool], makers: FrozenSet[str]) -> Analysis:
    script = work.script
    text = script.text
    old = python2.note_of(script)
    if not script.is_concerned:
        return Analysis(Migration(text, notes=(old,) if old else ()), is_concerned=False)
    found = Analysis(
        Migration(text),
        modules=tuple(_modules(script)),
        is_entry=is_entry(script.tree),
        has_guard="__main__" in text,
        unknown=tuple(libraries.unknown(script)),
        of_horovod=frozenset(horovod.bound(script)),
    )
    alone = one_reason(work)
    if alone is not None:
        probe = Work(script, work.package, work.keeper, work.partial, work.borrowed)
        _apply(probe)
        is_guarded = any(
            is_main(test)
            for site in script.calls_of(*_EAGER)
            for test in (site.conditions if site.line == alone.line else ())
        )
        return found._replace(
            migration=_refused(text, alone),
            makes=bool(probe.patch_lines) or not is_guarded,
            has_graph=True,
            is_guarded=is_guarded,
        )
    _apply(work)
    sessions.check_given(work, makers)
    found = found._replace(
        makes=bool(work.patch_lines),
        has_graph=bool(work.patch_lines) or not libraries.is_data_only(script),
        libraries=tuple(libraries.own(script)),
        is_forced=work.forced,
        makers=frozenset(work.makers),
    )
    own = _already(script)
    if own is not None:
        return found._replace(migration=_migrated_already(work, own), is_done=True)
    if old is not None:
        work.manual(old.line, old.id, old.note)
    if work.blocked:
        work.block()
        refused = {note.line for note in work.notes if note.kind == REFUSED}
        asking = [
            one
            for one in situations.found_in(text, script)
            if one.severity is not Severity.INFO and one.line not in refused
        ]
        situations.tell(work, asking, situations.Back(text, len(text), ()))
        return found._replace(migration=_finished(work))
    work.close()
    work.settle_off()
    patch_only = not work.changes
    if not patch_only or session_import or (work.patch_lines and session_import is not False):
        add_import(work)
    return found._replace(
        migration=_looked_over(work),
        needs_patch=bool(work.patch_lines),
        is_patch_only=patch_only,
    )


def is_entry(tree: ast.Module) -> bool:
    """True for a script that does something when it is run, beside settings and definitions."""
    own = {node.name for node in tree.body if isinstance(node, FUNCTIONS)}
    for node in tree.body:
        if isinstance(node, ast.If) and is_main(node.test):
            return True
        if isinstance(node, (ast.With, ast.For, ast.While)):
            return True
        call = getattr(node, "value", None)
        if not isinstance(call, ast.Call):
            continue
        name = name_of(call.func)
        if not isinstance(node, ast.Expr):
            is_running = name in _RUNNING and isinstance(call.func, ast.Attribute)
            if is_running or (name in own and isinstance(call.func, ast.Name)):
                return True
        elif not name.startswith(("DEFINE_", "set_", "add_")) and name not in _SETTINGS:
            return True
    return False


_RUNNING = frozenset(("run", "fit", "fit_generator", "train", "evaluate", "predict", "Session"))
"""Methods whose result is kept where something is run."""
_SETTINGS = frozenset(
    (
        *("append", "insert", "extend", "update", "register", "setdefault", "use", "seed"),
        *("filterwarnings", "simplefilter", "basicConfig", "setLevel", "disable_v2_behavior"),
        *("mark_flag_as_required", "disable_eager_execution", "autolog", "reload"),
    )
)
"""Functions that modules call when they are imported, and that do not make them scripts."""


def _modules(script: Resolver) -> Iterator[str]:
    """Every module that is imported, and every name in one that may be a module."""
    for site in script.imports:
        yield from imported(site.node)
        if isinstance(site.node, ast.ImportFrom):
            (module,) = imported(site.node)
            for alias in site.node.names:
                yield module + ("" if module.endswith(".") else ".") + alias.name
    yield from named_modules(script.text)


_BY_NAME = re.compile(r"\b(?:import_module|__import__)\(\s{0,20}f?[\"']([\w.]{1,200})")


def named_modules(text: str) -> Iterator[str]:
    """The modules that are imported by name; ``models.*`` where only their package is known."""
    is_there = "import_module" in text or "__import__" in text
    for match in _BY_NAME.finditer(text) if is_there else ():
        yield match.group(1) + ("*" if match.group(1).endswith(".") else "")


def _apply(work: Work) -> None:
    """Ask every rule about every place that it is for, then what needs the whole script."""
    script = work.script
    for site in script.sites:
        node = site.node
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        name = script.resolved(site)
        if name is None:
            _uncertain(work, site)
            continue
        rule = _RULES.get(name)
        if rule is not None and _is_placed(work, site):
            rule(work, site, name)
    horovod.horovod(work)
    for after in _AFTER:
        after(work)


def _is_placed(work: Work, site: Site) -> bool:
    """False, and reported, in an f-string that says the same twice: Python may mean the first."""
    script = work.script
    for outer in reversed(site.parents) if "{" in script.text else ():
        if isinstance(outer, ast.stmt):
            break
        if isinstance(outer, ast.JoinedStr):
            text = script.written(site.node)
            whole = script.written(outer)
            if whole.count(text) == 1 and "".join(text.split()) == ".".join(
                dotted_parts(site.node) or ()
            ):
                return True
            work.needs_patch(site)
            reason = (
                "this is inside an f-string, where the exact position is not certain: left "
                "unchanged"
            )
            work.manual(site.line, "import-aliases", reason)
            return False
    return True


def _uncertain(work: Work, site: Site) -> None:
    """Report a name that may be one of TensorFlow's, and may not."""
    parts = dotted_parts(site.node)
    if parts is None or site.call is None:
        return
    script = work.script
    found = script.meaning(parts[0], site.scope)
    if found.binding is Binding.UNCERTAIN:
        stores = script.module.stores.get(parts[0], ())
        known = [canonical(store.text) for store in stores if store.kind == "import"]
        known += [".".join(["tensorflow", *some]) for some in (parts, parts[1:])]
        reason = (
            '"{}" may refer to several things: left unchanged; npu_init configures the sessions'
        )
    elif found.binding is Binding.PARAMETER:
        outer = script.meaning(parts[0], script.module).name
        known = [".".join([str(outer), *parts[1:]])]
        reason = '"{}" is a function parameter here: left unchanged'
    else:
        return
    if _RULES.keys().isdisjoint(known):
        return
    if found.binding is Binding.UNCERTAIN:
        work.needs_patch(site)
    if parts[-1] not in ("Model", "Sequential", "device"):
        work.manual(site.line, "import-aliases", phrase(reason, parts[0]))


def _already(script: Resolver) -> Optional[int]:
    """The line that makes a script one for the NPU already."""
    if not any(literal_text(site.node) == "NpuOptimizer" for site in script.sites):
        return _own_import(script)
    for site in script.sites:
        if isinstance(site.node, ast.Attribute) and site.node.attr == "custom_optimizers":
            return site.line
    return next(site.line for site in script.sites if literal_text(site.node) == "NpuOptimizer")


def _own_import(script: Resolver) -> Optional[int]:
    """The line of the first import of npu_config or npu_bridge."""
    for site in script.imports:
        if any(is_ours(name) for name in imported(site.node)):
            return site.line
    return None


def _migrated_already(work: Work, line: int) -> Migration:
    """Nothing is edited; where something would have been, one line says why."""
    own = any(literal_text(site.node) == "NpuOptimizer" for site in work.script.sites)
    notes = list(_shifted_hooks(work.script))
    notes += [each for each in work.notes if (each.id, each.kind) == ("multi-tower", MANUAL)]
    if own or work.changes:
        text = "the script has an NpuOptimizer entry or imports npu_init: nothing is changed"
        notes.append(Note(line, "already-migrated", REFUSED, text))
    is_blocked = any(note.kind == REFUSED for note in notes)
    return Migration(work.script.text, notes=tuple(sorted(notes)), is_blocked=is_blocked)


def _shifted_hooks(script: Resolver) -> Iterator[Note]:
    """The uses of the last item of a list to which npu_hooks_append has added a hook."""
    source = script.source
    lists: Dict[str, int] = {}
    for line in source.mentions("npu_hooks_append"):
        for name in re.findall(
            r"npu_hooks_append\((?:hooks_list=)?(\w+)\b", source.lines[line - 1]
        ):
            lists.setdefault(name, line)
    for name, appended in lists.items():
        for line in source.mentions(name):
            if line > appended and re.search(name + r"\[-1\]", source.lines[line - 1]):
                text = (
                    "npu_hooks_append added a hook at the end of this list: store your own hook "
                    "in a variable, and use this variable instead of the last item"
                )
                yield Note(line, "hook-index", MANUAL, text)


# The text


def _finished(work: Work) -> Migration:
    script = work.script
    parts: List[str] = []
    edits: List[Edit] = []
    done = 0
    for start, end, text in _ordered(work.changes):
        parts += [script.text[done:start], text]
        edits.append(Edit(*script.position(start), *script.position(end), text))
        done = end
    parts.append(script.text[done:])
    return Migration("".join(parts), tuple(edits), tuple(work.notes), work.blocked)


def _looked_over(work: Work) -> Migration:
    """The migration with the documented troubles that are left in its text, some mended."""
    migration = _finished(work)
    for is_mended in (False, True):
        found = situations.found_in(migration.text, work.script)
        if not found:
            break
        changes = _ordered(work.changes)
        back = situations.Back(migration.text, len(work.script.text), changes)
        if is_mended or not situations.mend(work, found, back):
            situations.tell(work, found, back)
            work.settle_off()
            break
        migration = _finished(work)
    return attr.evolve(migration, notes=tuple(work.notes))


def _ordered(changes: Sequence[Replacement]) -> List[Replacement]:
    """The changes in order; what lies inside of a text that goes as a whole goes with it."""
    numbered = sorted(
        enumerate(changes), key=lambda pair: (pair[1].start, pair[1].end != pair[1].start, pair[0])
    )
    result: List[Replacement] = []
    for _, change in numbered:
        if result and change.start < result[-1].end:
            if change.end <= result[-1].end:
                continue
            result.pop()
        result.append(change)
    return _merged(result)


def _merged(changes: Sequence[Replacement]) -> List[Replacement]:
    """Changes side by side become one, so that no two edits touch."""
    result: List[Replacement] = []
    for change in changes:
        if result and result[-1].end == change.start:
            last = result[-1]
            result[-1] = Replacement(last.start, change.end, last.text + change.text)
        else:
            result.append(change)
    return result
