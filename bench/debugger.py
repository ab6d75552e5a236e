"""What a step in the debugger takes, over recordings of about ten million events: ``python -m bench.debugger``.

A client speaks to ``whence dap`` as an editor does: each step counts from its request until the stack and the arguments
and locals of the innermost call have been listed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from whence.debug.protocol import read_message, write_message

PROGRAMS = {
    "a hash table, few blocks": (
        """\
#include <stdio.h>
#include <stdlib.h>
struct node { int key, count; struct node *next; };
static struct node *buckets[64];
static void add(int key)
{
    struct node *at = buckets[key % 64];
    while (at != NULL && at->key != key)
        at = at->next;
    if (at == NULL) {
        at = calloc(1, sizeof *at);
        at->key = key;
        at->next = buckets[key % 64];
        buckets[key % 64] = at;
    }
    at->count++;
}
int main(int argc, char **argv)
{
    unsigned seed = 1;
    for (int i = 0; i < atoi(argv[1]); i++) {
        seed = seed * 1103515245u + 12345u;
        add((seed >> 16) % 500);
    }
    abort();
}
""",
        "170000",
    ),
    "140,000 blocks, arrays on the stack": (
        """\
#include <stdio.h>
#include <stdlib.h>
struct item { int sum; struct item *next; };
static struct item *all;
static int sum_of(int n)
{
    char text[16];
    sprintf(text, "%d", n);
    int total = 0;
    for (char *at = text; *at; at++)
        total += *at - '0';
    return total;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    for (int i = 0; i < n; i++) {
        struct item *item = malloc(sizeof *item);
        item->sum = sum_of(i);
        item->next = all;
        all = item;
    }
    abort();
}
""",
        "140000",
    ),
}
STEPS = {"stepBack": 100, "stepIn": 50, "next": 50, "stepOut": 10, "reverseContinue": 1}


class Client:
    """Speaks to one ``whence dap``."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "whence", "dap"]
        self._process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._sent = 0

    def ask(self, command: str, until: str = "", **arguments: Any) -> dict[str, Any]:
        """The body of the answer, or of the event ``until`` that follows it."""
        self._sent += 1
        message = {"seq": self._sent, "type": "request", "command": command, "arguments": arguments}
        assert self._process.stdin is not None
        write_message(self._process.stdin, message)
        while True:
            got = self._receive()
            if got.get("success") is False:
                raise SystemExit(f"{command}: {got['message']}")
            if got.get("event") == until if until else got["type"] == "response":
                return dict(got.get("body", {}))

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        message = read_message(self._process.stdout)
        if message is None:
            raise SystemExit("the adapter has ended")
        return message

    def step(self, command: str) -> float:
        """Milliseconds of a step."""
        began = time.perf_counter()
        self.look(self.ask(command, "stopped", threadId=1))
        return 1000 * (time.perf_counter() - began)

    def look(self, stopped: dict[str, Any]) -> None:
        """List what an editor lists where the run stops."""
        frames = self.ask("stackTrace", threadId=stopped["threadId"], startFrame=0, levels=20)["stackFrames"]
        scopes = self.ask("scopes", frameId=frames[0]["id"])["scopes"]
        for scope in scopes:
            if not scope["expensive"]:
                self.ask("variables", variablesReference=scope["variablesReference"])


def measure(name: str, text: str, argument: str) -> None:
    """Print a program's rows."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.c").write_text(text)
        client = Client(Path(folder))
        client.ask("initialize", adapterID="whence")
        client.ask("launch", sources=["p.c"], fails=["10"])  # builds the variants
        client.ask("disconnect")
        client = Client(Path(folder))
        client.ask("initialize", adapterID="whence")
        began = time.perf_counter()
        client.ask("launch", "initialized", sources=["p.c"], fails=[argument])
        launched = time.perf_counter() - began
        client.look(client.ask("configurationDone", "stopped"))
        print(f"\n{name}: launched in {launched:.1f} s\n\n| step | median, ms | most, ms |\n| --- | ---: | ---: |")
        for command, count in STEPS.items():
            times = [client.step(command) for _ in range(count)]
            print(f"| {command} | {statistics.median(times):.1f} | {max(times):.1f} |")
        client.ask("disconnect")


if __name__ == "__main__":
    for name, (text, argument) in PROGRAMS.items():
        measure(name, text, argument)
