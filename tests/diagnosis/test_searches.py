"""The order of the searches that alter runs."""

from __future__ import annotations

from cli_programs import line_of
from trace_readers import subject_of

from whence.diagnosis.searches import near_switches
from whence.findings import Entry, Findings, Statement

TEXT = """\
static int odd(int n)
{
    int rest = n % 2; /* FIRST */
    return rest != 0; /* SECOND */
}
int main(int argc, char **argv)
{
    if (odd(argc)) /* BRANCH */
        return 3; /* LAST */
    return 4;
}
"""


def entry(marker: str, place: int, critical: int = 0) -> Entry:
    return Entry(Statement("p.c", line_of(TEXT, marker)), 1 / place, place, place, {"critical": critical})


def told(entries: list[Entry]) -> list[int]:
    return [e.statement.line for e in sorted(entries, key=lambda e: -e.score)]


def test_rules_of_functions_with_a_switch_that_mends_all_come_first() -> None:
    subject = subject_of(TEXT)
    order = [entry("FIRST", 1), entry("BRANCH", 2), entry("SECOND", 3), entry("LAST", 4)]
    ranked = [line_of(TEXT, marker) for marker in ("FIRST", "BRANCH", "SECOND", "LAST")]
    for critical, expected in ((2, [1, 3, 0, 2]), (1, [0, 1, 2, 3])):
        switches = Findings("switch", "p", [entry("BRANCH", 1, critical), entry("FIRST", 2)])
        assert told(near_switches(subject, order, switches, 2)) == [ranked[at] for at in expected]
