"""What expressions are worth in the runs of cases: the program does as always, and what has no value is said to."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from cli_tool import subject_folder

from whence.build.edited import DoesNotCompile
from whence.program.c_source import CSource
from whence.program.observation import RING, Expression, Spot, Values
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.observations import Observations
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources

# The sum of a list; the last element is not there for the third case, and the sum is too large by one for the second.
LISTS = """\
#include <stdio.h>
#include <stdlib.h>
struct list { int n; double share; struct list *next; };
static int length(const char *s) { int n = 0; while (*s++) n++; return n; }
static int sum(struct list *l, const char *name)
{
    int found = 0;
    while (l->n != 0 && (l->n > 0 || name))
    {
        found += l->n;
        if (found > 9)
            found++;
        else if (l->share < 0.5) found += 0;
        l = l->next;
    }
    return found;
}
int main(int argc, char **argv)
{
    struct list all[400] = { { 0 } };
    for (int n = 1; n < argc; n++)
        all[n - 1] = (struct list){ atoi(argv[n]), n / 4.0, n < argc - 1 || argc != 5 ? &all[n] : NULL };
    printf("%d\\n", sum(all, argc > 2 ? "x" : NULL));
    return 0;
}
"""
SOURCE = CSource(LISTS.encode())
CASES = {"one": ("3",), "two": ("4", "6"), "none": ("1", "2", "3", "4"), "many": tuple("1" for _ in range(300))}


def spot(text: str, *expressions: str, real: str = "", **what: bool) -> Spot:
    start = LISTS.index(text)
    return Spot(start, start + len(text), tuple(Expression(e, e == real) for e in expressions), **what)


SPOTS = [
    spot("l->n != 0 && (l->n > 0 || name)", "l->n", "found", "l", tests=True),
    spot("found += l->n;", "found", "l->next->n", "l->share", "nonsense", "length(name)", real="l->share"),
    spot("found++;", "found", "name", listed=False),
    spot("if (l->share < 0.5) found += 0;", "l->share", real="l->share", listed=False),
    spot("found++;", "found", listed=False, behind=True),
    spot("l = l->next;", "l == 0", behind=True),
]


@pytest.fixture(scope="module")
def lists() -> tuple[Subject, Runs]:
    folder = subject_folder("observed-lists", lists_c=LISTS)
    right = {"two": "10\n", "none": "10\n"}
    cases = [Case(n, a, expected=Expected(right[n].encode()) if n in right else None) for n, a in CASES.items()]
    subject = subject_from_sources([folder / "lists.c"], [], cases, replace(Subject.limits, time=5.0))
    return subject, run_all(subject)


def observed(found: tuple[Subject, Runs]) -> dict[str, list[Values]]:
    subject, runs = found
    with Observations(subject, runs, time.monotonic() + 60) as observations:
        seen = observations.of(SOURCE, "lists.c", SPOTS, range(len(CASES)))
        return {runs.tested[row].case.name: values for row, values in seen}


def test_values_are_those_of_each_time(lists: tuple[Subject, Runs]) -> None:
    seen = observed(lists)
    test, added, beyond, share, more, moved = seen["two"]
    assert test.values[:, [0, 1, 3]].tolist() == [[4, 0, 1], [6, 4, 1], [0, 11, 0]]
    assert test.known.all()
    assert added.values[:, [0, 1, 4]].tolist() == [[0, 6, 1], [4, 0, 1]]
    assert added.values[:, 2].tolist() == [0.25, 0.5]
    assert beyond.values[:, 0].tolist() == [10]
    assert share.values.tolist() == [[0.25]]
    assert more.values.tolist() == [[11]]
    assert moved.values.tolist() == [[0], [0]]
    assert seen["one"][2].came == 0


def test_what_leads_to_nowhere_or_does_not_compile_has_no_value(lists: tuple[Subject, Runs]) -> None:
    seen = observed(lists)
    assert seen["none"][1].known[:, 1].tolist() == [True, True, True, False]  # the last one has no next
    assert not any(values[1].known[:, 3].any() for values in seen.values())
    assert seen["one"][1].known[:, 4].tolist() == [False]  # the length of no name


def test_a_fault_of_the_program_ends_it_where_it_always_did(lists: tuple[Subject, Runs]) -> None:
    _, runs = lists
    assert [runs.tested[row].case.name for row in runs.failing] == ["two", "none"]
    test = observed(lists)["none"][0]
    assert test.came == 5
    assert test.values[-1, 2] == 0
    assert test.known[-1].tolist() == [False, True, True, False]  # the condition came to nothing: it ends the program


def test_the_last_times_are_kept(lists: tuple[Subject, Runs]) -> None:
    many = observed(lists)["many"][1]
    assert many.came == 300
    assert len(many.values) == RING
    assert max(many.values[:, 2]) == 300 / 4.0
    assert min(many.values[:, 2]) == (300 - RING + 1) / 4.0


def test_after_the_deadline_nothing_is_built(lists: tuple[Subject, Runs]) -> None:
    subject, runs = lists
    with Observations(subject, runs, time.monotonic() - 1) as observations, pytest.raises(TimeoutError):
        list(observations.of(SOURCE, "lists.c", SPOTS, [0]))


def test_what_cannot_stand_at_a_place_at_all_is_refused(lists: tuple[Subject, Runs]) -> None:
    subject, runs = lists
    wrong = [spot("struct list *next;", "1")]  # a member is no statement
    with Observations(subject, runs, time.monotonic() + 60) as observations, pytest.raises(DoesNotCompile):
        list(observations.of(SOURCE, "lists.c", wrong, [0]))


# It comes back from faults by itself, before it has set up where to.
HANDLED = """\
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
static jmp_buf back;
static void handle(int number) { (void)number; longjmp(back, 1); }
static int first(const char *text)
{
    return text[0];
}
int main(int argc, char **argv)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_NODEFER;
    INSTALLED
    argv[argc] = NULL;
    puts("begins");
    if (setjmp(back) == 0)
        printf("%d\\n", first(argv[1]));
    else
        puts("nothing");
    return 0;
}
"""


@pytest.mark.parametrize("installed", ["signal(SIGSEGV, handle);", "sigaction(SIGSEGV, &action, NULL);"])
def test_a_program_that_handles_faults_itself_does_so(installed: str) -> None:
    text = HANDLED.replace("INSTALLED", installed)
    folder = subject_folder(f"observed-{installed[:6]}", handled_c=text)
    cases = [Case("none", (), expected=Expected(b"0\n")), Case("some", ("5",))]
    subject = subject_from_sources([folder / "handled.c"], [], cases, replace(Subject.limits, time=5.0))
    runs = run_all(subject)
    spots = [('puts("begins");', "argv[1][0]"), ("return text[0];", "text[0]"), ('puts("nothing");', "argc")]
    found = [
        Spot(text.index(at), text.index(at) + len(at), (Expression(what),), listed="nothing" not in at)
        for at, what in spots
    ]
    with Observations(subject, runs, time.monotonic() + 60) as observations:
        none, some = (values for _, values in observations.of(CSource(text.encode()), "handled.c", found, [0, 1]))
    assert [one.came for one in none] == [1, 1, 1]
    assert [one.known.tolist() for one in none] == [[[False]], [[False]], [[True]]]
    assert [one.came for one in some] == [1, 1, 0]
    assert some[0].values.tolist() == some[1].values.tolist() == [[ord("5")]]


def test_what_an_expression_does_to_errno_is_undone() -> None:
    text = (
        "#include <errno.h>\n#include <math.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n"
        "    double x = argc > 1 ? atof(argv[1]) : 4;\n    int kept;\n    errno = 0;\n    x -= 1;\n    kept = errno;\n"
        "    return kept ? 3 : x < 0;\n}\n"
    )
    folder = subject_folder("observed-errno", errno_c=text)
    cases = [Case("negative", ("-4",)), Case("positive", ())]
    subject = subject_from_sources([folder / "errno.c"], [], cases, replace(Subject.limits, time=5.0))
    found = [
        Spot(text.index(at), text.index(at) + len(at), (Expression(what, what != "kept"),))
        for at, what in (("x -= 1;", "sqrt(x)"), ("return kept", "kept"))
    ]
    with Observations(subject, run_all(subject), time.monotonic() + 60) as observations:
        negative, positive = (v for _, v in observations.of(CSource(text.encode()), "errno.c", found, [0, 1]))
    assert positive[0].values.tolist() == [[2]]
    assert negative[0].values[0, 0] != negative[0].values[0, 0]  # no number
    assert negative[1].values.tolist() == [[0]]
