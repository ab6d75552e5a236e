"""What is likely to be asked for next shares a job with what is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from compared import Change, Compared, compared

from whence.alter.changes import CHANGE, RESULT, Verdict
from whence.alter.session import Session
from whence.techniques.chains.ahead import Sources
from whence.techniques.chains.continuations import Continuations
from whence.techniques.chains.dependence_based import dependence_based

# Fails with 5, since `n > 4` should be `n > 5`.
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int limit = 3, twice, sum, same, shown;
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 4) /* SWITCH */
        limit = 5; /* LIMIT */
    same = n + 1; /* SAME */
    twice = 2 * limit; /* TWICE */
    for (int i = 0; i < 20; i++)
        same += i;
    sum = twice + same + limit; /* SUM */
    for (int i = 0; i < 20; i++)
        same -= i;
    shown = sum - same; /* SHOWN */
    printf("%d\\n", shown);
    return 0;
}
"""


def runs() -> Compared:
    return compared(PROGRAM, "5", "right\n", Change("SWITCH"))


class Reads:
    """Stands for a session: each continuation reads its number among all; those of some numbers are lost at first."""

    def __init__(self, *lost: int) -> None:
        self.jobs: list[int] = []
        self.ticks: list[int] = []
        self._lost = lost

    def read(self, batch, ticks):
        records, first = np.zeros(len(batch), RESULT), sum(self.jobs)
        self.jobs.append(len(batch))
        self.ticks.append(ticks)
        numbers = [first + place for place in range(len(batch))]
        records["verdict"] = [Verdict.LOST if number in self._lost else Verdict.REACHED for number in numbers]
        return records, [b"%d" % number for number in numbers]


def wanted(session: Reads, *ticks: int):
    among = Continuations(session)
    return [among.want(np.zeros(1, CHANGE), count) for count in ticks]


def test_what_is_wanted_is_run_together_once():
    session = Reads()
    one, two, three = wanted(session, 5, 9, 7)
    assert two.outcome()[1] == b"1" and session.jobs == [3] and session.ticks == [9]
    assert one.outcome()[1] == b"0" and three.outcome()[1] == b"2" and session.jobs == [3]


def test_one_that_the_machine_ends_is_run_again_by_itself():
    session = Reads(1)
    one, two = wanted(session, 5, 9)
    assert one.outcome()[1] == b"0" and session.jobs == [2, 1]
    assert two.outcome()[0]["verdict"] == Verdict.REACHED and two.outcome()[1] == b"2"


def test_where_a_job_is_ended_all_stay_wanted():
    session = Reads()
    one, two = wanted(session, 5, 9)
    read, session.read = session.read, interrupted
    with pytest.raises(KeyboardInterrupt):
        one.outcome()
    session.read = read
    assert two.outcome()[1] == b"1" and session.jobs == [2]


def interrupted(batch, ticks):
    raise KeyboardInterrupt


def jobs_of(monkeypatch, both: Compared, is_printed: bool) -> tuple[list[int], int]:
    """The chain by Algorithm 2, and how many jobs it took."""
    jobs, walk, read, run = [], both.walk(), Session.read, Session.run
    with monkeypatch.context() as patched:
        patched.setattr(Session, "read", lambda *given: jobs.append(1) or read(*given))
        patched.setattr(Session, "run", lambda *given, **others: jobs.append(1) or run(*given, **others))
        walk.is_printed, walk.causality.is_shared = is_printed, not is_printed
        dependence_based(walk)
    return walk.definitions, len(jobs)


def test_a_chain_takes_a_half_of_the_jobs_that_it_takes_as_printed(monkeypatch):
    both = runs()
    (found, few), (printed, many) = (jobs_of(monkeypatch, both, is_printed) for is_printed in (False, True))
    assert found == printed and len(found) >= 5
    assert 2 * few < many


def test_what_a_value_was_made_of():
    """The last ones that differ: not ``same``, which both runs have."""
    both = runs()
    sources = Sources(both.pairing)
    (shown,) = (event for event in both.events("SHOWN") if both.pairing.is_definition(event))
    assert both.lines(sources.of(shown, 9)) == [both.line(m) for m in ("SUM", "TWICE", "LIMIT")]
    assert both.lines(sources.of(shown, 1)) == [both.line("SUM")]
