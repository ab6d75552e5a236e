"""``whence dap`` driven by a client, as an editor drives it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_programs import line_of
from cli_tool import subject_folder
from dap_client import DapClient, Failed

from whence.debug.protocol import WrongMessage, read_message, write_message

LISTS = """\
#include <stdio.h>
#include <stdlib.h>
struct node { int count; struct node *next; char name[8]; };
struct list { struct node *head; int length; };
static struct list all;

static void add(struct list *list, int count)
{
    struct node *node = malloc(sizeof *node);
    node->count = count;
    node->next = list->head;
    snprintf(node->name, sizeof node->name, "n%d", count);
    list->head = node;
    list->length++;
}

static int sum(const struct node *node)
{
    if (!node->count) /* CRASH */
        return 0;
    return node->count + sum(node->next); /* RECURSION */
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int number = atoi(argv[i]);
        add(&all, number); /* CALL */
        printf("%d added\\n", number);
    }
    fflush(stdout);
    int total = sum(all.head); /* TOTAL */
    printf("%d\\n", total);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder() -> Path:
    return subject_folder("dap lists ü", lists_c=LISTS)


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[DapClient]:
    with DapClient(folder) as client:
        client.launch(sources=["lists.c"], fails=["5 7 9"], cflags="-w")
        yield client


def at(part: str) -> int:
    return line_of(LISTS, part)


def test_a_crash_is_walked_back_from(session: DapClient, folder: Path) -> None:
    """One walk, since launching takes a second or two; each step of it is where an editor's user would be."""
    client, path = session, folder / "lists.c"
    assert client.capabilities["supportsStepBack"] and client.capabilities["supportsConditionalBreakpoints"]
    rows = client.breakpoints(path, at("list->length++"), at("static int sum") - 1, 1000)
    assert [(row["verified"], row.get("line")) for row in rows] == [
        (True, at("list->length++")),
        (True, at("CRASH")),  # the next line with a statement
        (False, None),
    ]
    stopped = client.begin()
    assert stopped["reason"] == "exception" and "SIGSEGV" in stopped["text"]
    info = client.ask("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "crash" and "`node->count`" in info["description"]
    stack = [(frame["name"], frame["line"]) for frame in client.stack()]
    assert stack == [("sum", at("CRASH")), *[("sum", at("RECURSION"))] * 3, ("main", at("TOTAL"))]
    assert client.stack()[0]["source"]["path"] == str(path)
    assert client.output == "5 added\n7 added\n9 added\n"

    # Values: of the innermost call, of callers, static ones; parts of what they point to.
    assert client.variables("Arguments")["node"]["value"] == "NULL"
    outer = client.variables("Arguments", frame=1)["node"]
    assert client.parts(outer["variablesReference"])["count"]["value"] == "5"
    statics = client.variables("Static variables")
    inner = client.parts(statics["all"]["variablesReference"])
    assert (inner["length"]["value"], statics["all"]["type"]) == ("3", "struct list")
    assert inner["head"]["evaluateName"] == "all.head"
    assert client.value("all.head->next->count", "hover") == "7"
    assert client.value("all.head->next->next->next == 0 && all.length > 2") == "1"
    third = client.stack()[3]["id"]
    assert client.value("node->count", frameId=third) == "9"
    assert client.value("all.head->name") == "not known: written by a library call, which tells no value"
    with pytest.raises(Failed, match="is NULL here"):
        client.value("all.head->next->next->next->count")

    # Backwards over the line, out of the recursion, and through the loop.
    assert client.go("stepBack") == ("step", "sum", at("CRASH"))
    assert client.go("stepBack") == ("step", "sum", at("RECURSION"))
    client.breakpoints(path, at("list->length++"))
    assert client.go("reverseContinue") == ("breakpoint", "add", at("list->length++"))
    assert client.value("list->length") == "2"
    assert client.go("stepOut") == ("step", "main", at("CALL"))
    assert client.value("all.length") == "3"
    assert client.go("stepBack") == ("step", "main", at("CALL"))
    assert client.value("all.length") == "2"
    assert client.go("stepIn") == ("step", "add", at("struct node *node = malloc"))
    assert client.go("next") == ("step", "add", at("node->count = count"))
    assert client.variables()["node"]["value"].endswith(f"that lists.c:{at('struct node *node = malloc')} allocated")
    assert client.go("reverseContinue") == ("breakpoint", "add", at("list->length++"))
    client.breakpoints(path)
    assert client.go("reverseContinue") == ("pause", "main", at("for (int i"))
    assert client.value("all.length") == "0"
    assert client.go("stepBack") == ("step", "main", at("for (int i"))
    assert client.go("next") == ("step", "main", at("int number"))
    assert client.variables()["number"]["value"] == "not known: never given a value"
    assert client.go("next") == ("step", "main", at("CALL"))
    assert client.variables()["number"]["value"] == "5"

    # Conditions and numbers of hits mean the same in both directions; functions; messages.
    client.breakpoints(path, {"line": at("list->length++"), "condition": "list->length == 1 && node->count == 7"})
    assert client.go("continue") == ("breakpoint", "add", at("list->length++"))
    assert client.value("count") == "7"
    client.breakpoints(path, {"line": at("list->length++"), "hitCondition": "3"})
    assert client.go("continue") == ("breakpoint", "add", at("list->length++"))
    assert client.value("count") == "9"
    client.breakpoints(path, {"line": at("int number"), "logMessage": "i is {i}, {nothing}"})
    assert client.ask("setFunctionBreakpoints", breakpoints=[{"name": "sum"}, {"name": "none"}])["breakpoints"] == [
        {"id": 8, "verified": True},
        {"id": 9, "verified": False, "message": "the program defines no function `none`"},
    ]
    assert client.go("reverseContinue")[0] == "pause"
    assert client.go("continue") == ("breakpoint", "sum", at("CRASH"))
    assert client.console.endswith("i is 3, (there is no `nothing` here)\n")
    client.ask("setFunctionBreakpoints", breakpoints=[])
    client.breakpoints(path)
    assert client.output == "5 added\n7 added\n9 added\n"  # each once

    # Where a value came from; times of a line.
    came = client.value("whence origin node->count", "repl")
    assert came == f"`node->count` came from lists.c:{at('node->count = count')}, which gave `node->count` the value 9"
    assert client.wait("stopped")["reason"] == "goto"
    assert client.stack()[0]["line"] == at("node->count = count")
    assert client.ask("whence/origin", expression="count")["result"].startswith(
        f"`count` came from lists.c:{at('CALL')}"
    )
    client.wait("stopped")
    assert client.stack()[0]["name"] == "main"
    assert "was never given" in client.value("whence origin i", "repl") or client.wait("stopped")
    targets = client.ask("gotoTargets", source={"path": str(path)}, line=at("RECURSION"))["targets"]
    assert [target["label"].partition(", ")[2] for target in targets] == ["the next time", "the last time"]
    client.ask("goto", threadId=1, targetId=targets[1]["id"])
    client.wait("stopped")
    assert client.value("node->count") == "5"
    assert client.value("whence symptom", "repl").startswith("killed by SIGSEGV")
    client.wait("stopped")
    assert client.go("next")[0] == "exception"  # there is nothing behind it
    assert client.leave() == (0, "")


def test_what_cannot_be_done_is_refused_in_one_line(folder: Path) -> None:
    (folder / "broken.c").write_text("int main(void) { return nothing; }\n")
    with DapClient(folder) as client:
        for settings, why in [
            ({}, "there is no whence.toml here"),
            ({"folder": "/nowhere"}, "there is no whence.toml in /nowhere"),
            ({"sources": ["missing.c"], "fails": ["1"]}, "missing.c"),
            ({"sources": ["broken.c"], "fails": ["1"]}, "nothing|broken.c"),
            ({"sources": ["lists.c"], "fail": ["1"]}, 'did you mean "fails"'),
            ({"sources": ["lists.c"], "fails": [1]}, '"fails" is no list of texts'),
            ({"sources": ["lists.c"], "fails": ["1"], "timeout": "soon"}, "'soon' is not a valid float"),
            ({"sources": ["lists.c"], "fails": ["5 7"], "case": "other"}, "no case is named 'other'"),
            ({"sources": ["lists.c"], "fails": ["5 0"]}, "no case fails"),
            ({"sources": ["lists.c"], "fails": ["5"], "stopAt": "lists.c:9@7"}, "1 times, not 7"),
        ]:
            with pytest.raises(Failed, match=why) as refused:
                client.launch(**settings)
            assert "\n" not in str(refused.value)
        for command, arguments, why in [
            ("stackTrace", {"threadId": 1}, "no run was launched"),
            ("next", {"threadId": 1}, "no run was launched"),
            ("setVariable", {}, "`setVariable` is not something that a recording can do"),
            ("attach", {}, "a recording is made by a launch"),
        ]:
            with pytest.raises(Failed, match=why):
                client.ask(command, **arguments)
        (folder / "wrong.json").write_text('{"ranking": [1]}')
        with pytest.raises(Failed, match="holds no result of `whence locate --json`"):
            client.launch(sources=["lists.c"], fails=["5"], passes=["5 0"], case="passes 1", locate="wrong.json")
        ranking = [{"file": "lists.c", "line": at("list->length++"), "evidence": {"text": "counts"}}]
        (folder / "found.json").write_text(json.dumps({"ranking": ranking}))
        settings = {"case": "passes 1", "locate": "found.json", "stopAt": "suspect"}
        client.launch(sources=["lists.c"], fails=["5"], passes=["5 0"], **settings)
        client.begin()
        assert client.stack()[0]["line"] == at("list->length++") and client.value("count") == "0"
        assert f"suspect 1: lists.c:{at('list->length++')}  counts\n" in client.console
        assert client.go("reverseContinue")[0] == "pause"
        assert client.value("whence suspect", "repl").endswith("counts")
        client.wait("stopped")
        assert client.value("whence start", "repl") == "the beginning of the run"
        client.wait("stopped")
        for command, arguments, why in [
            ("stackTrace", {}, "the argument `threadId` is missing"),
            ("stackTrace", {"threadId": 7}, "thread 7 does not run here"),
            ("scopes", {"frameId": 99}, "another instant"),
            ("variables", {"variablesReference": 99}, "another instant"),
            ("evaluate", {"expression": "whence nonsense", "context": "repl"}, "commands: whence origin"),
            ("evaluate", {"expression": "whence suspect 2", "context": "repl"}, "there is no suspect 2, of 1"),
            ("evaluate", {"expression": "whence symptom", "context": "repl"}, "at no place"),
            ("evaluate", {"expression": "whence origin 3 + 4", "context": "repl"}, "lies at no place"),
            ("gotoTargets", {"source": {"path": "/etc/passwd"}, "line": 1}, "does not come to this line"),
            ("exceptionInfo", {"threadId": 1}, "does not show here"),
        ]:
            with pytest.raises(Failed, match=why):
                client.ask(command, **arguments)
        assert client.breakpoints(Path("/etc/passwd"), 1)[0]["verified"] is False
        assert client.go("continue")[0] == "pause"
        assert client.output.splitlines() == ["5 added", "0 added", "0"]
        assert client.leave() == (0, "")


def test_a_client_that_goes_ends_what_it_began() -> None:
    endless = subject_folder("dap endless", endless_c="int main(void) { for (;;) ; }\n")
    with DapClient(endless) as client:
        client.send("launch", sources=["endless.c"], fails=[""], timeout=60)
        time.sleep(1)
        began = time.monotonic()
        client.send("disconnect")
        client.adapter.communicate(timeout=30)
        assert time.monotonic() - began < 15 and client.adapter.returncode == 0


def test_what_is_no_protocol_is_told_in_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "whence", "dap"]
    done = subprocess.run(command, input=b"hello\r\n\r\n", capture_output=True, cwd=folder, timeout=60, check=False)
    assert done.returncode == 2 and done.stdout == b""
    assert "no stream of the Debug Adapter Protocol" in done.stderr.decode() and done.stderr.count(b"\n") == 1


def test_messages_are_read_as_they_were_written() -> None:
    stream = io.BytesIO()
    for message in ({"seq": 1, "text": "ü\n"}, {"seq": 2}):
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream) for _ in range(3)] == [{"seq": 1, "text": "ü\n"}, {"seq": 2}, None]
    for text, why in {
        b"Content-Length: 3\r\n\r\n{x}": "is no JSON",
        b"Content-Length: 2\r\n\r\n[]": "no JSON object",
        b"Content-Length: -2\r\n\r\n[]": "no Content-Length",
        b"Content-Length: 99999999999\r\n\r\n[]": "no Content-Length",
        b"\r\n": "no Content-Length",
    }.items():
        with pytest.raises(WrongMessage, match=why):
            read_message(io.BytesIO(text))
    assert read_message(io.BytesIO(b"Content-Length: 20\r\n\r\n{}")) is None  # cut off
