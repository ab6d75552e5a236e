"""Messages of the Debug Adapter Protocol over two streams: JSON behind a header that tells its length."""

from __future__ import annotations

import json
import queue
import signal
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from whence.errors import WhenceError

LONGEST = 64 << 20  # bytes of a message
ENDING = frozenset({"disconnect", "terminate"})
LENGTH = b"content-length"


class WrongMessage(WhenceError):
    """Bytes that are no message of the protocol."""


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream. Raises WrongMessage."""
    length = -1
    while True:
        line = stream.readline(LONGEST)
        if not line:
            return None
        if not line.strip():
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == LENGTH and value.strip().isdigit():
            length = int(value)
    if not 0 <= length <= LONGEST:
        raise WrongMessage("standard input is no stream of the Debug Adapter Protocol: a header has no Content-Length")
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body)
    except ValueError as error:
        raise WrongMessage(f"a message is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise WrongMessage("a message is no JSON object")
    return message


def write_message(stream: BinaryIO, message: Mapping[str, Any]) -> None:
    """Write one message."""
    body = json.dumps(message, separators=(",", ":")).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()


class Connection:
    """One client: its messages in order, and what is sent to it.

    Messages are read by a thread, so that a client which ends the session interrupts what is going on (as Ctrl-C does).
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._messages: queue.SimpleQueue[dict[str, Any] | WrongMessage | None] = queue.SimpleQueue()
        self._sent = 0
        self.is_busy = False  # with something that takes long
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                message = read_message(self._incoming)
            except WrongMessage as error:
                self._messages.put(error)
                return
            self._messages.put(message)
            if self.is_busy and (message is None or message.get("command") in ENDING):
                signal.raise_signal(signal.SIGINT)
            if message is None:
                return

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the client has gone. Raises WrongMessage."""
        message = self._messages.get()
        if isinstance(message, WrongMessage):
            raise message
        return message

    def _send(self, kind: str, **fields: Any) -> None:
        self._sent += 1
        write_message(self._outgoing, {"seq": self._sent, "type": kind, **fields})

    def event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        """Send an event."""
        self._send("event", event=name, **({} if body is None else {"body": dict(body)}))

    def respond(self, request: Mapping[str, Any], body: Mapping[str, Any] | None = None) -> None:
        """Answer a request."""
        answer = {} if body is None else {"body": dict(body)}
        self._send("response", request_seq=request["seq"], success=True, command=request["command"], **answer)

    def refuse(self, request: Mapping[str, Any], text: str, show: bool = False) -> None:
        """Answer a request with what is wrong; ``show``: the user is to see it."""
        body = {"error": {"id": 1, "format": text.replace("{", "(").replace("}", ")"), "showUser": show}}
        self._send(
            "response",
            request_seq=request["seq"],
            success=False,
            command=request["command"],
            message=text,
            body=body,
        )
