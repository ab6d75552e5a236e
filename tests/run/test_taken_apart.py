"""What the verdict of a test says about its invocations, where one of them reads what another one made."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.run.invocations import Invocation
from whence.run.outcome import Kind, Outcome
from whence.run.taken_apart import GIVEN, Judged, TestRun, take_apart

FAILS = Outcome(Kind.WRONG_STATUS, "")


class Script:
    """A failing test in the making: invocations that print into files, and comparisons of these."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0
        self.invocations: list[Invocation] = []
        self.judges: list[Invocation] = []

    def prints(self, into: str, output: bytes, *, stdin: bytes = b"", **reads: bytes) -> None:
        self.invocations.append(self._run(("tool",), f"/w/{into}", stdin, output, 0, reads))

    def compares(self, **contents: bytes) -> None:
        different = len(set(contents.values())) > 1
        self.judges.append(self._run(("cmp", *contents), "", b"", b"", int(different), contents))

    def _run(
        self, words: tuple[str, ...], output: str, stdin: bytes, stdout: bytes, status: int, files: dict[str, bytes]
    ) -> Invocation:
        self._number += 1
        copies = {}
        for name, content in files.items():
            copies[f"/w/{name}"] = self._folder / f"{self._number}-{name}"
            copies[f"/w/{name}"].write_bytes(content)
        order = f"{self._number:03}"
        return Invocation(order, words, {}, "/w", stdin, output, 0, stdout, b"", status, 0, files=copies)

    def judged(self) -> list[Judged]:
        return take_apart([TestRun("t", FAILS, self.invocations, self.judges)])


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


@pytest.mark.parametrize("is_piped", [True, False])
def test_what_reads_a_wrong_output_is_not_said_to_fail(script: Script, is_piped: bool) -> None:
    script.prints("first", b"wrong\n")
    script.compares(first=b"wrong\n", right=b"good\n")
    script.prints("second", b"of wrong\n", **({"stdin": b"wrong\n"} if is_piped else {"first": b"wrong\n"}))
    script.compares(second=b"of wrong\n", wanted=b"of good\n")
    first, second = script.judged()
    assert first.failed and not second.failed
    assert second.expected is None and second.open and second.why == GIVEN


def test_what_reads_an_output_that_is_right_fails(script: Script) -> None:
    script.prints("first", b"good\n")
    script.compares(first=b"good\n", right=b"good\n")
    script.prints("second", b"of wrong\n", first=b"good\n")
    script.compares(second=b"of wrong\n", wanted=b"of good\n")
    assert [one.failed for one in script.judged()] == [False, True]


@pytest.mark.parametrize("is_other_failure", [True, False])
def test_what_reads_an_output_of_which_nothing_is_known_fails_where_nothing_else_does(
    script: Script, is_other_failure: bool
) -> None:
    script.prints("packed", b"packed\n", plain=b"text\n")
    script.prints("unpacked", b"texx\n", packed=b"packed\n")
    script.compares(unpacked=b"texx\n", plain=b"text\n")
    script.prints("other", b"3\n")
    script.compares(other=b"3\n", wanted=b"4\n" if is_other_failure else b"3\n")
    assert [one.failed for one in script.judged()] == [False, not is_other_failure, is_other_failure]


def test_of_two_outputs_that_differ_neither_is_right(script: Script) -> None:
    script.prints("one", b"3\n")
    script.prints("two", b"4\n")
    script.compares(one=b"3\n", two=b"4\n")
    script.prints("three", b"5\n")
    script.compares(three=b"5\n", one=b"5\n")  # not the output any more
    assert [one.expected is None for one in script.judged()] == [True, True, False]
