"""Edits of a library whose failing test is a program of its own: tests that are others say which edits are wrong."""

from __future__ import annotations

from tests.support.cli_tool import whence
from tests.support.program_suite import program_suite

SCALE = "int scale(int value, int by)\n{\n    return value + by;\n}\n"
HEAD = "int scale(int, int);\n"
TESTS = {
    "nothing": "int main(void) { return scale(0, 5) != 0; }",
    "twice": "int main(void) { return scale(2, 2) != 4; }",
}


def test_what_breaks_another_program_of_the_suite_is_no_fix() -> None:
    subject, _ = program_suite("scale", SCALE, HEAD, TESTS)
    found = whence(subject.folder, "fix", "--at", "lib.c:3", "--budget", "60s", "--json")
    edits = found.json["edits"]
    assert edits[0]["passes"] and "+    return value * by;" in edits[0]["diff"]
    assert edits[0]["checks"]["elsewhere"]["runs"] == 1
    assert edits[0]["checked"].endswith("1 test of other programs of the suite passes")
    assert not any("return value & by" in edit["diff"] or "return 0;" in edit["diff"] for edit in edits)
    assert any(
        "all cases pass, and tests of other programs of the suite fail" in line for line in found.json["summary"]
    )
