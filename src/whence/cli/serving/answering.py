"""The process that answers one question: ``python -m whence.cli.serving.answering PARENT``.

The question comes as a line on standard input, and messages go out as lines of JSON: ``{"busy": ...}`` while it works,
at last ``{"result": ...}`` (findings as in docs/json.md) or ``{"error": ..., "help": ...}``. It is supervised as any
command is: its time is kept, and the best findings so far are told where it has to be ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from whence.cli import guarded
from whence.cli.serving.question import CASES, Question
from whence.cli.supervisor import clock, line, supervise
from whence.errors import WhenceError
from whence.findings import Findings
from whence.investigation.investigation import Setup
from whence.investigation.watcher import Progress, Watcher
from whence.project import Project, open_folder
from whence.run.parent import end_with_parent


def main() -> None:
    """Answer the question on standard input; ends with the exit status that a command would have."""
    end_with_parent(signal.SIGTERM)
    if os.getppid() == int(sys.argv[1]):  # else it has ended already, and nobody wants the answer
        question = Question.of_text(sys.stdin.readline())
        messages = os.dup(1)
        os.dup2(2, 1)  # what anything prints is no message
        sys.exit(supervise(lambda: guarded(partial(answer, question, messages))))


def answer(question: Question, messages: int) -> int:
    """Answer a question by messages on a descriptor; the exit status."""
    clock.start(question.budget)
    try:
        with open_folder(Path(), Setup(case=question.case), _ServerWatcher(messages), clock) as project:
            found = _cases(project) if question.technique == CASES else _found(project, question)
            line.best(found, partial(_show, messages))
            return _show(messages, found)
    except WhenceError as error:
        line.showing()
        _tell(messages, {"error": str(error), "help": error.hint})
        return error.exit_status


def _found(project: Project, question: Question) -> Findings:
    import whence

    technique = getattr(whence, question.technique)(**question.options)
    return project.find(technique, clock.left)


def _cases(project: Project) -> Findings:
    """The cases with their verdicts, failing ones first."""
    runs = project.investigation.runs
    cases = [
        {"name": tested.case.name, "verdict": str(tested.outcome.kind), "text": tested.outcome.text}
        for tested in sorted(runs.tested, key=lambda tested: not tested.outcome.failed)
    ]
    total = f"ran {len(runs.tested)} cases ({len(runs.passing)} passed, {len(runs.failing)} failed)"
    left_out = [f"left out: {why}" for why in runs.left_out]
    return Findings(
        CASES.lower(), project.investigation.subject.name, summary=[total, *left_out], parts={"cases": cases}
    )


def _show(messages: int, findings: Findings) -> int:
    """Tell the result; the exit status."""
    from whence.report.json import to_json

    line.showing()
    _tell(messages, {"result": to_json(findings)})
    return 0


def _tell(messages: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(messages, data) :]


class _ServerWatcher(Watcher):
    """Tells the server what is being done, and the process that watches the best findings so far."""

    def __init__(self, messages: int) -> None:
        self._messages = messages

    def busy(self, what: str) -> None:
        """Tell it both."""
        line.busy(what)
        _tell(self._messages, {"busy": what})

    def best(self, findings: Findings, folder: Path) -> None:
        """Leave the findings with the process that watches."""
        line.best(findings, partial(_show, self._messages))

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Progress]:
        """Tell what begins."""
        _tell(self._messages, {"busy": text})
        yield lambda done, total: None

    @contextmanager
    def search(self, text: str) -> Iterator[Progress]:
        """Tell what begins."""
        with self.progress(text, 0) as report:
            yield report


if __name__ == "__main__":
    main()
