"""The protocol: what the editor asks is answered from the open files.

Only this module knows pygls, in its version 1 (the one for Python 3.8) and 2.  What answers is
imported when it is asked: an editor waits for the server to start.
"""

import asyncio
import contextlib
import functools
import importlib
import logging
import os
import sys
import tempfile
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol

try:
    from pygls.lsp.server import LanguageServer
except ImportError:  # pygls 1
    from pygls.server import LanguageServer  # type: ignore[attr-defined, no-redef, unused-ignore]

from npu_config.core.diagnostics import Diagnostic, Edit, Place, Report, Severity
from npu_config.core.message import LANGUAGES, language_of, localized, speaking
from npu_config.core.version import __version__
from npu_config.editor.files import Files, OpenFile
from npu_config.editor.lines import Lines, Span
from npu_config.editor.worker import WorkerProcess
from npu_config.text.files import write_atomic

if TYPE_CHECKING:
    from npu_config.editor.hover import Pages

__all__ = ["EXPLAIN", "run"]

EXPLAIN = "npu-config.explain"
"""The command that shows a page; its argument is the name, its result the text."""

_SOURCE = "npu-config"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_ITEMS = {
    "option": types.CompletionItemKind.Property,
    "key": types.CompletionItemKind.Property,
    "group": types.CompletionItemKind.Module,
    "value": types.CompletionItemKind.EnumMember,
    "variable": types.CompletionItemKind.Variable,
    "rule": types.CompletionItemKind.Reference,
    "method": types.CompletionItemKind.Method,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
}
_TRIGGERS = ['"', "'", "[", ".", "(", "=", ",", " ", ":", "/"]
_LARGEST = 1 << 24


class Protocol(LanguageServerProtocol):
    """The protocol of pygls, which also answers a question whose arguments are wrong."""

    def structure_message(self, data: Any) -> Any:
        """As that of pygls 2."""
        return self._structured(super().structure_message, data)

    def _deserialize_message(self, data: Any) -> Any:
        """As that of pygls 1."""
        older: Any = super()
        return self._structured(older._deserialize_message, data)

    def _structured(self, structure: Callable[[Any], Any], data: Any) -> Any:
        try:
            return structure(data)
        except Exception:
            if isinstance(data, dict) and "id" in data and "method" in data:
                error = types.ResponseError(JsonRpcInvalidParams.CODE, "invalid arguments")
                self._send_response(data["id"], error=error)
            raise


class NpuLanguageServer(LanguageServer):
    """A language server; a client that sends nonsense is told so in the log, not in a window."""

    files: Optional[Files] = None
    language = "en"
    is_shut_down = False
    is_told_to_exit = False

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what could not be done."""
        logging.getLogger(__name__).error("%s: %s", getattr(source, "__name__", source), error)

    def file(self, uri: str) -> Optional[OpenFile]:
        """An open file."""
        path = _path(uri)
        return None if self.files is None or path is None else self.files.get(path)

    def notify(self, method: str, params: Any) -> None:
        """Tell the client something."""
        self._connection.notify(method, params)

    def ask(self, method: str, params: Any) -> None:
        """Ask the client for something; what it answers does not matter."""
        self._connection.send_request(method, params)

    @property
    def _connection(self) -> Any:
        return getattr(self, "protocol" if hasattr(self, "protocol") else "lsp")


def run(
    make_checker: Callable[[], Callable[..., Any]],
    pages: "Pages",
    rules: Callable[[], Sequence[Tuple[str, str]]],
) -> int:
    """Serve an editor on standard input and output; returns the exit code.

    Args:
        make_checker: makes, in another process, what checks a file, see :class:`Files`.
        pages: gives the pages of ``explain``.
        rules: gives id and name of every rule.
    """
    worker = WorkerProcess(make_checker)
    server = _server(worker, pages, rules)
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
        try:
            server.start_io(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
        finally:
            worker.end()
    return 1 if server.is_told_to_exit and not server.is_shut_down else 0


def _path(uri: str) -> Optional[str]:
    """The absolute path of a file; None for what is none."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.abspath(path) if path and "\0" not in path else None


def _server(
    worker: WorkerProcess, pages: "Pages", rules: Callable[[], Sequence[Tuple[str, str]]]
) -> NpuLanguageServer:
    whole = types.TextDocumentSyncKind.Full
    server = NpuLanguageServer(
        _SOURCE, __version__, text_document_sync_kind=whole, protocol_cls=Protocol
    )

    def spoken(handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler, which answers in the language of the editor."""

        @functools.wraps(handler)
        def answer(*arguments: Any) -> Any:
            with speaking(server.language):
                return handler(*arguments)

        return answer

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.language = _language(params)
        root = _root(params)
        if root is not None and os.path.isdir(root):
            os.chdir(root)
        server.files = Files(worker, publish)
        asyncio.get_running_loop().call_soon(_prepare, worker, pages)  # after the answer

    def publish(path: str, report: Report) -> None:
        file = None if server.files is None else server.files.get(path)
        lines = Lines("") if not report and file is None else _lines(path, file)
        found = [_diagnostic(each, lines) for each in report.localized(server.language)]
        version = None if file is None else file.version
        uri = uris.from_fs_path(path) if file is None else file.uri
        params = types.PublishDiagnosticsParams(uri or "", found, version)
        server.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = _path(document.uri)
        if server.files is not None and path is not None:
            lines = Lines(document.text)
            server.files.open(OpenFile(document.uri, path, lines, document.version))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        file = server.file(params.text_document.uri)
        if server.files is not None and path is not None and file is not None:
            lines = functools.reduce(_changed, params.content_changes, file.lines)
            server.files.change(path, lines.text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if server.files is not None and path is not None:
            server.files.close(path)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        if server.files is not None:
            server.files.saved(_path(params.text_document.uri))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        if server.files is not None:
            server.files.disk_changed()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: Any) -> None:
        server.is_shut_down = True
        if server.files is not None:
            server.files.end()

    @server.feature(types.EXIT)
    def leave(_: Any) -> None:
        server.is_told_to_exit = True

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    @spoken
    def on_hover(params: types.HoverParams) -> Optional[types.Hover]:
        from npu_config.editor.hover import has_pages, hover

        file = server.file(params.text_document.uri)
        if file is None or not (has_pages(file.path) or file.ours):
            return None
        found = hover(file.path, file.text, _offset(file, params.position), pages)
        if found is None:
            return None
        page = types.MarkupContent(types.MarkupKind.Markdown, found.page)
        return types.Hover(page, _range(file.lines.span(found.start, found.end)))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=_TRIGGERS, resolve_provider=True),
    )
    @spoken
    def on_completion(params: types.CompletionParams) -> types.CompletionList:
        from npu_config.editor.completion import complete

        file = server.file(params.text_document.uri)
        if file is None:
            return types.CompletionList(False, [])
        offset = _offset(file, params.position)
        found = complete(file.path, file.text, offset, rules())
        span, start, end = file.lines.span, offset - found.length, offset + found.after
        typed, word = _range(span(start, offset)), _range(span(start, end))

        def written(text: str) -> Union[types.TextEdit, types.InsertReplaceEdit]:
            if found.after and _can_insert_or_replace(server):
                return types.InsertReplaceEdit(text, typed, word)
            return types.TextEdit(word, text)

        items = [
            types.CompletionItem(
                label=each.label,
                kind=_ITEMS[each.what],
                detail=each.detail or None,
                tags=[types.CompletionItemTag.Deprecated] if each.deprecated else None,
                sort_text="{}{:04}".format(int(each.deprecated), number),
                filter_text=each.label,
                text_edit=written(each.text),
                data=each.page or None,
            )
            for number, each in enumerate(found.items)
        ]
        return types.CompletionList(is_incomplete=found.length == 0, items=items)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    @spoken
    def on_resolve(item: types.CompletionItem) -> types.CompletionItem:
        page = pages(item.data) if isinstance(item.data, str) else None
        if page is not None:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, page)
        return item

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    def on_links(params: types.DocumentLinkParams) -> List[types.DocumentLink]:
        from npu_config.editor.links import links

        file = server.file(params.text_document.uri)
        if file is None or not file.ours:
            return []
        return [
            types.DocumentLink(
                _range(file.lines.span(each.start, each.end)),
                uris.from_fs_path(each.target) if each.is_file else each.target,
            )
            for each in links(file.path, file.text)
        ]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    @spoken
    def on_code_action(params: types.CodeActionParams) -> List[types.CodeAction]:
        file = server.file(params.text_document.uri)
        if file is None or server.files is None:
            return []
        only = params.context.only
        if only and not any(types.CodeActionKind.QuickFix.startswith(kind) for kind in only):
            return []
        first, last = params.range.start.line, params.range.end.line
        found: List[types.CodeAction] = []
        for each in server.files.found_in(file.path):
            (start, _), (end, _) = file.lines.of_place(each.place)
            if start <= last and first <= end:
                found.extend(_actions(each.localized(server.language), file))
        return _once(found)

    @server.command(EXPLAIN)
    @spoken
    def explain(*arguments: Any) -> Optional[str]:
        words = arguments[-1] if arguments else None
        name = words[0] if isinstance(words, (list, tuple)) and words else words
        page = pages(name) if isinstance(name, str) else None
        if page is not None:
            _show(server, str(name), page)
        return page

    return server


def _prepare(worker: WorkerProcess, pages: "Pages") -> None:
    """Start what checks and make ready what answers, before anything is asked."""
    worker.start()
    threading.Thread(target=_prepare_answers, args=(pages,), daemon=True).start()


def _prepare_answers(pages: "Pages") -> None:
    """Import what answers, and read the pages."""
    for name in ("actions", "completion", "hover", "links"):
        importlib.import_module("npu_config.editor." + name)
    pages("")


def _language(params: types.InitializeParams) -> str:
    """The language of the answers: a setting, else that of the editor, else of the environment."""
    options = params.initialization_options
    chosen = options.get("language") if isinstance(options, Mapping) else None
    if chosen in LANGUAGES:
        return str(chosen)
    if params.locale and not os.environ.get("NPU_CONFIG_LANG"):
        return language_of({"LANG": params.locale})
    return language_of(os.environ)


def _root(params: types.InitializeParams) -> Optional[str]:
    """The folder that is open in the editor."""
    folders = params.workspace_folders
    uri = folders[0].uri if folders else params.root_uri
    return params.root_path if uri is None else _path(uri)


def _can_insert_or_replace(server: NpuLanguageServer) -> bool:
    """Whether the editor lets its user choose if the rest of the word stays."""
    document = server.client_capabilities.text_document
    completion = None if document is None else document.completion
    item = None if completion is None else completion.completion_item
    return item is not None and bool(item.insert_replace_support)


def _lines(path: str, file: Optional[OpenFile]) -> Lines:
    """The text of a file, open or not."""
    if file is not None:
        return file.lines
    from npu_config.text.source import load

    data = load(path, _LARGEST)
    return Lines(data.decode("utf-8", "replace") if isinstance(data, bytes) else "")


def _changed(lines: Lines, change: Any) -> Lines:
    """A text after a change: the whole of it, as is asked for, or what stands in a range."""
    place: Optional[types.Range] = getattr(change, "range", None)
    if place is None:
        return Lines(change.text)
    start = lines.offset(place.start.line, place.start.character)
    end = max(start, lines.offset(place.end.line, place.end.character))
    return Lines(lines.text[:start] + change.text + lines.text[end:])


def _offset(file: OpenFile, position: types.Position) -> int:
    return file.lines.offset(position.line, position.character)


def _range(span: Span) -> types.Range:
    return types.Range(types.Position(*span[0]), types.Position(*span[1]))


def _diagnostic(found: Diagnostic, lines: Lines) -> types.Diagnostic:
    """A finding as the editor shows it: what to do is on a line of its own."""
    message = found.message
    if found.help is not None:
        message = "{}\n{}".format(message, found.help)
    url = found.url
    return types.Diagnostic(
        range=_range(lines.of_place(found.place)),
        message=message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        code_description=None if url is None else types.CodeDescription(url),
        source=_SOURCE,
    )


def _actions(found: Diagnostic, file: OpenFile) -> Iterator[types.CodeAction]:
    """What the editor offers at a finding: its fix, the comment that silences it, its page."""
    from npu_config.editor.actions import ignoring
    from npu_config.editor.cursor import kind_of

    diagnostics = [_diagnostic(found, file.lines)]
    kind = types.CodeActionKind.QuickFix
    fixes = [found.fix, ignoring(kind_of(file.path, file.text), file.text, found)]
    for number, fix in enumerate(fixes):
        if fix is not None:
            edits = [_edit(each, file.lines) for each in fix.edits]
            yield types.CodeAction(
                title="{}: {}".format(found.rule, localized(fix.title)),
                kind=kind,
                diagnostics=diagnostics,
                is_preferred=number == 0 and fix.safe,
                edit=types.WorkspaceEdit(changes={file.uri: edits}),
            )
    title = localized("{}: explain this rule", found.rule)
    command = types.Command(title=title, command=EXPLAIN, arguments=[found.rule])
    yield types.CodeAction(title=title, kind=kind, diagnostics=diagnostics, command=command)


def _edit(edit: Edit, lines: Lines) -> types.TextEdit:
    place = Place(None, edit.line, edit.column, edit.end_line, edit.end_column)
    return types.TextEdit(_range(lines.of_place(place)), edit.text)


def _once(actions: Iterable[types.CodeAction]) -> List[types.CodeAction]:
    """The actions without those that do what an earlier one does."""
    by_deed = {(each.title, repr(each.edit)): each for each in reversed(list(actions))}
    return list(reversed(list(by_deed.values())))


def _show(server: NpuLanguageServer, name: str, page: str) -> None:
    """Open a page in the editor where it can open one; else a message holds it."""
    window = server.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        message = types.ShowMessageParams(types.MessageType.Info, page)
        server.notify(types.WINDOW_SHOW_MESSAGE, message)
        return
    folder = os.path.join(tempfile.gettempdir(), "npu-config-pages-{}".format(os.getpid()))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, name + ".md")
    write_atomic(path, page, overwrite=True, durable=False)
    params = types.ShowDocumentParams(uris.from_fs_path(path) or "", take_focus=True)
    server.ask(types.WINDOW_SHOW_DOCUMENT, params)
