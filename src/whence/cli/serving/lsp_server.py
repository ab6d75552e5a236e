"""The language server: it locates the failing case when it is asked to, and shows what was found beside the source.

Two commands of the protocol ask, ``whence.locate`` and ``whence.fix``. One search runs at a time: a new one ends the
one before. Nothing is run but what ``whence.toml`` says, and only when asked; files are changed by the editor alone.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from whence import __version__
from whence.cli.serving.located import Located
from whence.cli.serving.question import Question
from whence.cli.serving.search import ask
from whence.errors import WhenceError
from whence.report.text import visible
from whence.run.config import FILE_NAME

LOCATE, FIX = "whence.locate", "whence.fix"
BUDGET = 30.0  # seconds, where the editor's settings say nothing


def make_server() -> LanguageServer:
    """The server, not yet started."""
    server = LanguageServer("whence", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    editor = _Editor(server)
    quick = types.CodeActionOptions([types.CodeActionKind.QuickFix])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, quick)(_function(editor.actions))
    for feature, method in editor.features().items():
        server.feature(feature)(_function(method))
    for command, method in ((LOCATE, editor.locate), (FIX, editor.fix)):
        server.command(command)(_function(method))
    return server


def _function(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as the kit takes it, which writes attributes into what it is given."""
    if inspect.iscoroutinefunction(method):

        async def awaited(*given: Any) -> Any:
            return await method(*given)

        return awaited
    return lambda *given: method(*given)


class _Editor:
    """What one editor has asked for, and what it was shown."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._settings: dict[str, Any] = {}
        self._located: Located | None = None
        self._shown = set[str]()  # files that have diagnostics
        self._search: asyncio.Task[dict[str, Any]] | None = None

    def features(self) -> Mapping[str, Any]:
        """What answers which message."""
        return {
            types.INITIALIZE: self.begin,
            types.TEXT_DOCUMENT_DID_OPEN: self.look_again,
            types.TEXT_DOCUMENT_DID_CHANGE: self.look_again,
            types.TEXT_DOCUMENT_DID_CLOSE: self.look_again,
            types.TEXT_DOCUMENT_DID_SAVE: self.saved,
            types.TEXT_DOCUMENT_HOVER: self.hover,
        }

    def begin(self, given: types.InitializeParams) -> None:
        """Take in the settings of the editor."""
        options = given.initialization_options
        self._settings = dict(options) if isinstance(options, dict) else {}

    # ---- Commands ----------------------------------------------------------------------------------------------------

    async def locate(self, *_: Any) -> str | None:
        """Locate the failing case, and show what was found; the failure in a sentence, None where there is none."""
        folder = self._folder()
        if folder is None:
            return None
        question = Question("Locate", self._budget, {}, self._case)
        result = await self._answer(folder, question, "locating the failure")
        if result is None:
            return None
        self._located = Located(folder, result)
        self._publish()
        self._tell(types.MessageType.Info, self._located.summary)
        return self._located.summary

    async def fix(self, uri: str, line: int) -> int | None:
        """Look for edits at a line (from 1) of a file, which become code actions; with how many all cases pass."""
        located = self._located
        document = self._server.workspace.get_text_document(uri)
        name = located.name(uri, document.source) if located is not None else None
        if located is None or name is None:
            self._tell(types.MessageType.Warning, "locate the failure first: this text was not searched")
            return None
        question = Question("Fix", self._budget, {"at": f"{name}:{line}"}, self._case)
        result = await self._answer(located.folder, question, f"looking for edits at {visible(name)}:{line}")
        if result is None:
            return None
        count = located.add_edits(result["edits"])
        words = f"edits at {visible(name)}:{line} with which all cases pass: {count or 'none'}"
        self._tell(types.MessageType.Info, words)
        return count

    async def _answer(self, folder: Path, question: Question, doing: str) -> dict[str, Any] | None:
        """The result of a question; None where there is none, which the user is told of."""
        if self._search is not None:
            self._search.cancel()
        self._search = asyncio.create_task(self._ask(folder, question, doing))
        try:
            return await self._search
        except asyncio.CancelledError:
            return None
        except WhenceError as error:
            hint = f" ({error.hint.splitlines()[0]})" if error.hint else ""
            self._tell(types.MessageType.Error, visible(" ".join(str(error).split())) + hint)
            return None

    async def _ask(self, folder: Path, question: Question, doing: str) -> dict[str, Any]:
        progress, token = self._server.work_done_progress, f"whence-{uuid.uuid4()}"
        window = self._server.client_capabilities.window
        is_shown = window is not None and bool(window.work_done_progress)
        if is_shown:
            await progress.create_async(token)
            progress.begin(token, types.WorkDoneProgressBegin(f"Whence: {doing}", cancellable=True))

        async def told(what: str) -> None:
            if is_shown:
                progress.report(token, types.WorkDoneProgressReport(message=visible(what)))
                if progress.tokens[token].cancelled():
                    raise asyncio.CancelledError

        try:
            return await ask(question, folder, told)
        finally:
            if is_shown:
                progress.end(token, types.WorkDoneProgressEnd())

    # ---- What is shown -----------------------------------------------------------------------------------------------

    def look_again(self, _: Any) -> None:
        """A text was opened, changed or closed: what is shown of it may hold again, or no more."""
        self._publish()

    async def saved(self, _: types.DidSaveTextDocumentParams) -> None:
        """Search again where the editor's settings say so."""
        if self._settings.get("onSave"):
            await self.locate()

    def hover(self, given: types.HoverParams) -> types.Hover | None:
        """The rank, reasons and values of a line."""
        name = self._name(given.text_document.uri)
        text = self._located.hover(name, given.position.line + 1) if self._located and name else ""
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    def actions(self, given: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """The changes at some lines, and the command that looks for more of them."""
        uri, name = given.text_document.uri, self._name(given.text_document.uri)
        if self._located is None or name is None:
            return []
        first, last = given.range.start.line + 1, given.range.end.line + 1
        more = types.Command("Whence: look for edits at this line", FIX, arguments=[uri, first])
        return [*self._located.actions(name, first, last), more]

    def _name(self, uri: str) -> str | None:
        """The located name of a file whose text is still the one that was searched."""
        return self._located.name(uri, self._document(uri).source) if self._located is not None else None

    def _document(self, uri: str) -> TextDocument:
        return self._server.workspace.get_text_document(uri)

    def _publish(self) -> None:
        """Show what holds for each file's text."""
        shown = set[str]()
        for uri in self._located.uris if self._located is not None else ():
            name = self._name(uri)
            found = self._located.diagnostics(name) if self._located is not None and name is not None else []
            if found or uri in self._shown:
                self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))
            shown |= {uri} if found else set()
        for uri in self._shown - set(self._located.uris if self._located is not None else ()):
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        self._shown = shown

    # ---- The editor's folder and settings ----------------------------------------------------------------------------

    def _folder(self) -> Path | None:
        """The first folder of the editor with a configuration; None where there is none, which the user is told."""
        workspace = self._server.workspace
        uris = [*workspace.folders, *([workspace.root_uri] if workspace.root_uri else [])]
        folders = [Path(path) for uri in uris if (path := to_fs_path(uri))]
        found = next((folder for folder in folders if (folder / FILE_NAME).is_file()), None)
        if found is None:
            where = visible(str(folders[0])) if folders else "the editor has no folder open"
            self._tell(types.MessageType.Error, f"no {FILE_NAME}: {where} (`whence init` writes one)")
        return found

    @property
    def _budget(self) -> float:
        given = self._settings.get("budget", BUDGET)
        return float(given) if isinstance(given, int | float) and given >= 1 else BUDGET

    @property
    def _case(self) -> str | None:
        """The failing case to explain; None: the one with the shortest run."""
        given = self._settings.get("case")
        return given if isinstance(given, str) and given else None

    def _tell(self, kind: types.MessageType, text: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(kind, f"Whence: {text}"))
