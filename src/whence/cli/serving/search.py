"""A question is answered by a process of its own, which ends with the request: when its time is up, the request is
cancelled, or nobody is there any more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from whence.cli.serving.question import Question
from whence.errors import WhenceError

ANSWERING = [sys.executable, "-P", "-m", "whence.cli.serving.answering"]  # -P: no module of the subject's folder
LONGEST = 1 << 28  # bytes of a result
BEAT, LOOK = 1.0, 0.02  # seconds between two words of what is being done, and between two looks at the process
GRACE = 0.5  # seconds that a search has to end by itself
Told = Callable[[str], Awaitable[None]]  # what is being done, in words


async def ask(question: Question, folder: Path, told: Told) -> dict[str, Any]:
    """The findings, as JSON (docs/json.md), that answer a question about the program in ``folder``.

    Raises WhenceError where there are none; what ends the request ends the search.
    """
    with tempfile.TemporaryFile() as said:
        command = [*ANSWERING, str(os.getpid())]
        process = await anyio.open_process(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
        )
        try:
            message = await _last_message(process, question, told)
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        said.seek(0)
        wrong = said.read().decode(errors="replace")
    if "result" in message:
        found: dict[str, Any] = message["result"]
        return found
    if "error" in message:
        raise WhenceError(message["error"], message["help"])
    raise WhenceError(wrong.removeprefix("whence: ") or f"the search ended with status {process.returncode}")


async def _last_message(process: Process, question: Question, told: Told) -> dict[str, Any]:
    """Hand over the question, tell what is being done, and give the message that is the answer; {}: there was none."""
    assert process.stdin and process.stdout
    message: dict[str, Any] = {}
    doing = "beginning"

    async def tell() -> None:
        while True:
            await told(doing)
            await anyio.sleep(BEAT)

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        await process.stdin.send(question.to_text().encode())
        lines = BufferedByteReceiveStream(process.stdout)
        try:
            while not {"result", "error"} & message.keys():
                message = json.loads(await lines.receive_until(b"\n", LONGEST))
                doing = message.get("busy", doing)
        except (anyio.IncompleteRead, anyio.EndOfStream):
            message = {}
        await _ended(process, GRACE)
        group.cancel_scope.cancel()
    return message


async def _end(process: Process) -> None:
    """End a search that still runs: what ends it at first lets it clear up, the second time nothing is waited for."""
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            process.send_signal(number)
            await _ended(process, GRACE)


async def _ended(process: Process, seconds: float) -> None:
    """Wait for the process's end, so long at most (its own ``wait`` also waits for whoever has inherited its pipes)."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await anyio.sleep(LOOK)
