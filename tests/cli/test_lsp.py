"""``whence lsp``, asked by the client of its own kit."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from cli_tool import whence, write
from lsprotocol import types
from priced import FAULT, priced_folder, program
from pygls.lsp.client import LanguageClient

PRINTED = r"sum | `%d`\n"
PROGRAM = program(PRINTED)
PATIENCE = 60.0  # seconds, on a machine that does something else


@pytest.fixture(scope="module")
def folder() -> Path:
    return priced_folder("lsp", PRINTED)


class Editor:
    """An editor that has a file of the folder open, from code that does not wait by itself."""

    def __init__(self, portal: BlockingPortal, folder: Path) -> None:
        self._portal, self.folder, self.uri = portal, folder, (folder / "sum.c").as_uri()
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.progress: list[Any] = []
        self._client = LanguageClient("test", "1")
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: self._published(given))
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(lambda given: self.messages.append(given.message))
        self._client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda given: None)
        self._client.feature(types.PROGRESS)(lambda given: self.progress.append(given.value))
        self._version = 0

    def _published(self, given: types.PublishDiagnosticsParams) -> None:
        self.diagnostics[given.uri] = list(given.diagnostics)

    def start(self, **settings: Any) -> types.InitializeResult:
        self._portal.call(lambda: self._client.start_io(sys.executable, "-m", "whence", "lsp", env=dict(os.environ)))
        window = types.WindowClientCapabilities(work_done_progress=True)
        given = types.InitializeParams(
            types.ClientCapabilities(window=window),
            root_uri=self.folder.as_uri(),
            workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "program")],
            initialization_options=settings,
        )
        found: types.InitializeResult = self._portal.call(lambda: self._client.initialize_async(given))
        self._portal.call(lambda: self._notify(self._client.initialized, types.InitializedParams()))
        return found

    async def _notify(self, what: Any, given: Any) -> None:
        what(given)

    def notify(self, name: str, given: Any) -> None:
        self._portal.call(lambda: self._notify(getattr(self._client, name), given))

    def ask(self, name: str, given: Any) -> Any:
        """The answer to a request."""
        return self._portal.call(lambda: getattr(self._client, f"{name}_async")(given))

    def do(self, command: str, *arguments: Any) -> Any:
        return self.ask("workspace_execute_command", types.ExecuteCommandParams(command, list(arguments)))

    def show(self, text: str) -> None:
        """Open the file with this text, or change it."""
        self._version += 1
        if self._version == 1:
            document = types.TextDocumentItem(self.uri, "c", 1, text)
            return self.notify("text_document_did_open", types.DidOpenTextDocumentParams(document))
        changed = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(self._version, self.uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        return self.notify("text_document_did_change", changed)

    def hover(self, line: int) -> str:
        at = types.Position(line - 1, 4)
        found = self.ask("text_document_hover", types.HoverParams(types.TextDocumentIdentifier(self.uri), at))
        return found.contents.value if found else ""

    def actions(self, line: int) -> list[Any]:
        place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 3))
        given = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri), place, types.CodeActionContext(diagnostics=[])
        )
        found: list[Any] = self.ask("text_document_code_action", given) or []
        return found

    def stop(self) -> None:
        self._portal.call(lambda: self._client.shutdown_async(None))
        self.notify("exit", None)
        self._portal.call(self._client.stop)


def until(holds: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def editor(folder: Path) -> Iterator[Editor]:
    """An editor in which the failure has been located."""
    with start_blocking_portal() as portal:
        made = Editor(portal, folder)
        made.start(budget=100)
        made.show(PROGRAM)
        assert "sum.c:8" in made.do("whence.locate")
        until(lambda: made.diagnostics.get(made.uri))
        yield made
        made.stop()


def edited(text: str, change: types.TextEdit) -> str:
    """A text with a change of an editor (all of whose characters count as one)."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    first, last = (starts[at.line] + at.character for at in (change.range.start, change.range.end))
    return text[:first] + change.new_text + text[last:]


def test_the_failure_and_the_first_statements_are_diagnostics(editor: Editor) -> None:
    failure, first = editor.diagnostics[editor.uri][:2]
    assert failure.severity == types.DiagnosticSeverity.Error and "sum | `80`" in failure.message
    assert (first.code, first.range.start.line) == ("rank 1", FAULT - 1)
    line = PROGRAM.splitlines()[FAULT - 1]
    assert line[first.range.start.character : first.range.end.character] == line.strip()
    assert [one["kind"] for one in editor.progress[:2]] == ["begin", "report"]


def test_a_hover_has_the_rank_and_the_values_as_code(editor: Editor) -> None:
    text = editor.hover(FAULT)
    assert "**Whence: rank 1 of" in text and "| `price` | `100` |" in text
    assert editor.hover(2) == ""


def test_of_a_text_that_was_changed_nothing_is_shown_until_it_is_undone(editor: Editor) -> None:
    editor.show("/* new */\n" + PROGRAM)
    until(lambda: editor.diagnostics[editor.uri] == [])
    assert editor.hover(FAULT) == "" and editor.actions(FAULT) == []
    editor.show(PROGRAM)
    until(lambda: editor.diagnostics[editor.uri])
    assert editor.hover(FAULT)


def test_changes_that_were_compiled_are_offered_and_let_the_cases_pass(editor: Editor, tmp_path: Path) -> None:
    assert editor.do("whence.fix", editor.uri, FAULT) >= 1
    *changes, more = editor.actions(FAULT)
    assert more.command == "whence.fix" and list(more.arguments) == [editor.uri, FAULT]
    offered = {action.title: action.edit.changes[editor.uri] for action in changes}
    assert any("all 5 cases pass" in title for title in offered)
    for number, (change,) in enumerate(offered.values()):
        copy = shutil.copytree(editor.folder, tmp_path / str(number))
        (copy / "sum.c").write_text(edited(PROGRAM, change))
        done = whence(copy, "locate")
        assert done.status == 2 and "all of them passed" in done.err
    assert (editor.folder / "sum.c").read_text() == PROGRAM


def test_a_search_that_is_cancelled_ends_and_the_next_one_answers(folder: Path) -> None:
    with start_blocking_portal() as portal:
        editor = Editor(portal, folder)
        editor.start(budget=5)
        first = portal.start_task_soon(
            lambda: editor._client.workspace_execute_command_async(types.ExecuteCommandParams("whence.locate", []))
        )
        until(lambda: editor.progress)
        assert "sum.c:8" in editor.do("whence.locate")
        assert first.result() is None
        editor.stop()


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(PROGRAM)
    with start_blocking_portal() as portal:
        editor = Editor(portal, tmp_path)
        editor.start()
        editor.show(PROGRAM)
        assert editor.do("whence.locate") is None and editor.do("whence.fix", editor.uri, 3) is None
        until(lambda: len(editor.messages) == 2)
        assert "no whence.toml" in editor.messages[0] and "locate the failure first" in editor.messages[1]
        write(tmp_path / "whence.toml", "[program\n")
        assert editor.do("whence.locate") is None
        until(lambda: len(editor.messages) == 3)
        assert "whence.toml" in editor.messages[2] and "Traceback" not in editor.messages[2]
        editor.stop()


def test_without_the_kit_one_line_says_what_to_install(tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"pygls.lsp.server": None}):
        sys.modules.pop("whence.cli.serving.lsp_server", None)
        done = whence(tmp_path, "lsp")
    assert done.status == 2 and "pip install 'whence[editors]'" in done.err
