"""A strict client of the Debug Adapter Protocol over ``whence dap``, a process of its own.

Each message, in both directions, has to be one of the protocol's own schema (as ``dap_types`` has it) without anything
beside; messages are numbered in order, and a request is answered before what it leads to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, Self

import dap_types
from pydantic import BaseModel


class Failed(Exception):
    """The adapter refused a request."""


def checked(name: str, message: dict[str, Any]) -> None:
    """Check a message by its class of the schema."""
    found = getattr(dap_types, name).model_validate(message, strict=True)
    assert_nothing_more(found)


def assert_nothing_more(model: Any) -> None:
    """Check that a message has nothing that the schema does not know."""
    if isinstance(model, BaseModel):
        assert not model.model_extra, (type(model).__name__, model.model_extra)
        for name in type(model).model_fields:
            assert_nothing_more(getattr(model, name))
    elif isinstance(model, list):
        for item in model:
            assert_nothing_more(item)


class DapClient:
    """One session; use it in a ``with`` statement. ``adapter`` is the process."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "whence", "dap"]
        pipe = subprocess.PIPE
        self.adapter = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(os.environ))
        self._sent = self._seen = 0
        self._events: deque[dict[str, Any]] = deque()
        self.output = ""  # what the run printed
        self.console = ""  # what the adapter said
        self.capabilities = self.ask("initialize", adapterID="whence", clientID="test", supportsProgressReporting=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.adapter.kill()
        self.adapter.communicate()

    def leave(self) -> tuple[int, str]:
        """Disconnect; the adapter's exit status, and what it wrote to standard error."""
        self.ask("disconnect")
        _, errors = self.adapter.communicate(timeout=30)
        return self.adapter.returncode, errors.decode()

    # ---- Messages ----------------------------------------------------------------------------------------------------

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request, which may be a wrong one; its number."""
        self._sent += 1
        message = {"seq": self._sent, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        assert self.adapter.stdin is not None
        self.adapter.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.adapter.stdin.flush()
        return self._sent

    def _receive(self) -> dict[str, Any]:
        stream = self.adapter.stdout
        assert stream is not None
        header = stream.readline()
        assert header.startswith(b"Content-Length: ") and header.endswith(b"\r\n"), header
        assert stream.readline() == b"\r\n"
        message: dict[str, Any] = json.loads(stream.read(int(header[16:])))
        self._seen += 1
        assert message["seq"] == self._seen
        return message

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of the answer to a request. Raises Failed where it is refused."""
        return self._answer(self.send(command, **arguments), command)

    def _answer(self, number: int, command: str) -> dict[str, Any]:
        while (message := self._receive())["type"] == "event":
            self._note(message)
        assert (message["type"], message["request_seq"], message["command"]) == ("response", number, command)
        if not message["success"]:
            checked("ErrorResponse", message)
            raise Failed(message["message"])
        checked(f"{command[0].upper()}{command[1:]}Response" if "/" not in command else "Response", message)
        body: dict[str, Any] = message.get("body", {})
        return body

    def _note(self, message: dict[str, Any]) -> None:
        name = message["event"]
        checked(f"{name[0].upper()}{name[1:]}Event", message)
        if name == "output":
            is_console = message["body"]["category"] == "console"
            self.console += message["body"]["output"] if is_console else ""
            self.output += "" if is_console else message["body"]["output"]
        self._events.append(message)

    def wait(self, name: str) -> dict[str, Any]:
        """The body of the next event of a name; those before it are passed over."""
        while True:
            while self._events:
                message = self._events.popleft()
                if message["event"] == name:
                    return message.get("body", {})
            message = self._receive()
            assert message["type"] == "event", message
            self._note(message)

    # ---- What an editor does -----------------------------------------------------------------------------------------

    def launch(self, **settings: Any) -> None:
        """Launch a run; breakpoints can be set then."""
        self.ask("launch", name="a test", type="whence", request="launch", **settings)
        self.wait("initialized")

    def begin(self) -> dict[str, Any]:
        """All is configured; where the run stops then."""
        self.ask("configurationDone")
        return self.wait("stopped")

    def go(self, command: str, thread: int = 1, **arguments: Any) -> tuple[str, str, int]:
        """Move; the reason of the stop, function and line."""
        self.ask(command, threadId=thread, **arguments)
        stopped = self.wait("stopped")
        assert stopped["allThreadsStopped"]
        top = self.stack(stopped["threadId"])[0]
        return stopped["reason"], top["name"], top["line"]

    def stack(self, thread: int = 1) -> list[dict[str, Any]]:
        """The calls of a thread, the innermost first."""
        found = self.ask("stackTrace", threadId=thread)
        assert found["totalFrames"] == len(found["stackFrames"])
        return list(found["stackFrames"])

    def variables(self, scope: str = "Locals", frame: int = 0, thread: int = 1) -> dict[str, dict[str, Any]]:
        """A list of variables of a call, by name."""
        scopes = self.ask("scopes", frameId=self.stack(thread)[frame]["id"])["scopes"]
        reference = next(s["variablesReference"] for s in scopes if s["name"] == scope)
        return self.parts(reference)

    def parts(self, reference: int, **arguments: Any) -> dict[str, dict[str, Any]]:
        """What a reference leads to, by name."""
        return {
            row["name"]: row for row in self.ask("variables", variablesReference=reference, **arguments)["variables"]
        }

    def value(self, expression: str, context: str = "watch", **arguments: Any) -> str:
        """What an expression is."""
        return str(self.ask("evaluate", expression=expression, context=context, **arguments)["result"])

    def breakpoints(self, path: Path, *asked: int | dict[str, Any]) -> list[dict[str, Any]]:
        """Set the breakpoints of a file."""
        rows = [{"line": each} if isinstance(each, int) else each for each in asked]
        return list(self.ask("setBreakpoints", source={"path": str(path)}, breakpoints=rows)["breakpoints"])
