"""Many edits in one build: each does there what the edited source does; what does not compile is counted."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cli_tool import subject_folder

from whence.build.edited import DoesNotCompile, Rebuild
from whence.program.c_source import CSource, Place
from whence.program.source_edits import Kind, SourceEdit, edited
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.runner import Runner
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject import candidate_edits
from whence.subject.candidate_edits import CandidateRuns
from whence.subject.chosen_edit import choosing
from whence.subject.runs import run_all
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.suspects import Suspects

# All places of an edit: conditions, a for's steps, initialisers of several types, a switch, bodies without braces.
PLACES = """\
#include <stdio.h>
#include <stdlib.h>
#define LIMIT 3
#define REPEAT(n) for (int r = 0; r < (n); r++)
enum colour { RED, GREEN, BLUE };
struct pair { unsigned char small; long large; };
static int used;
static int twice(int n) { return n * 2; }
static int thrice(int n) { used++; return n * 3; }
static const char *name_of(enum colour c)
{
    switch (c + 0) {
    case RED: return "red";
    case GREEN:
        used += 1;
        break;
    default: used -= 2;
    }
    return c == BLUE ? "blue" : "green";
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : -1, left = n & 3;
    const unsigned char low = n + 250;
    const char *text = name_of(n % 3 < 0 ? RED : (enum colour)(n % 3));
    double half = n / 2.0; struct pair p = { 1, 2 };
    int i = 0, sum = 0;
    for (i = 0; i < LIMIT && i != n; i++)
        if (i % 2 == 0)
            sum += twice(i);
        else if (left)
            sum -= thrice(i);
    REPEAT(2)
        sum++;
    do
        p.large = p.large * 3 - low;
    while (p.large > 0 && !left);
    while (n > 0) {
        n--;
        if (n == 5)
            continue;
        p.small += n;
    }
    printf("%d %d %s %.1f %d %ld %d\\n", sum, low, text, half, p.small, p.large, used); /* not "%d" // */
    return sum > 4;
}
"""
# Tables: static ones of functions and files, of constants, with designators and comments; local ones.
TABLES = """\
#include <stdio.h>
#include <stdlib.h>
enum { SMALL = 2, LARGE = 40 };
static int twice(int n) { return n * 2; }
static int half(int n) { return n / 2; }
static const struct row { const char *name; int (*way)(int); double share; } rows[] = {
    { "twice", twice, 0.5 }, /* a comment */
    { .name = "half", .way = half, .share = 1.5 }, // another one: "{ }"
};
int limits[2][2] = { { 1, LARGE }, { [1] = 0x10 } }, last[] = { 7, -8 };
int main(int argc, char **argv)
{
    static const unsigned char days[] = { 31,
        28, 31 };
    int weights[] = { argc, SMALL, 5 };
    int at = atoi(argv[1]);
    const struct row *row = &rows[at % 2];
    printf("%s %d %.1f\\n", row->name, row->way(limits[1][1] + at), row->share);
    printf("%d %d %d %d\\n", limits[0][0], limits[0][1], last[at % 2], limits[1][0]);
    printf("%d %d\\n", days[at % 3], weights[1] * weights[2] + weights[0]);
    return 0;
}
"""
# Variables without a first value, also in the head of a loop, and what an `else` may stand in front of.
BEGUN = """\
#include <stdio.h>
#include <stdlib.h>
static int sum_to(int n)
{
    int sum;
    for (int i; i < n && i < 9; i++) {
        sum += i;
        if (i == 3)
            sum += 100;
    }
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]), kind = 0;
    if (n > 5)
        kind = 1; // a comment
    else if (n > 2) {
        kind = 2;
    }
    kind += 10;
    if (n > 4) {
        kind *= 2;
    }
    if (n > 3) /* another one */
        kind++;
    printf("%d %d\\n", kind, n < 0 ? sum_to(-n) : 0);
    return 0;
}
"""
# Right from 10 on; the fault is in the condition.
DISCOUNT = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int count = atoi(argv[1]), price = 7;
    if (count > 10)
        price = 5;
    printf("%d\\n", count * price);
    return 0;
}
"""


def subject_of(name: str, text: str, fails: dict[str, str], passes: list[str]) -> Subject:
    folder = subject_folder(f"edits-{name}", p_c=text)
    failing = [Case(a, tuple(a.split()), expected=Expected(stdout=o.encode())) for a, o in fails.items()]
    passing = [Case(a, tuple(a.split())) for a in passes]
    return subject_from_sources([folder / "p.c"], ["-w"], [*failing, *passing], replace(DEFAULT_LIMITS, time=5.0))


def candidates(text: str) -> tuple[CSource, list[SourceEdit]]:
    source = CSource(text.encode())
    lines = [("p.c", line) for line in range(1, text.count("\n") + 1)]
    return source, list(Suspects({"p.c": FileCandidates(source, "p.c")}, lines, {}).edits())


def divides_by_zero(edit: SourceEdit) -> bool:
    """Whether what an edit does is undefined: what a compiler makes of it may differ from build to build."""
    return any(re.search(rb"[/%] *\(?0\b", part.text) for part in edit.parts)


def leaves_without_result(source: CSource, edit: SourceEdit) -> bool:
    """Whether a function can end without the value that it returns, which is undefined as well."""
    conditional = (part for part in edit.parts if part.kind in (Kind.GUARD, Kind.DELETE))
    return any(source.text[part.start : part.end].startswith(b"return") for part in conditional)


def prints_an_address(edit: SourceEdit) -> bool:
    """Whether an edit gives a format once more, as a number: where it lies differs from build to build."""
    return any(part.text.count(b'"%d') > 1 for part in edit.parts)


@pytest.fixture(scope="module")
def places() -> Subject:
    return subject_of("places", PLACES, {"7": "wrong\n"}, ["4", "-5"])


def check_the_same(subject: Subject, source: CSource, edits: list[SourceEdit], folder: Path, cases: set[str]) -> None:
    """Each edit of one build does what the program with the edited source does."""
    path = subject.folder / "p.c"
    with CandidateRuns(subject, run_all(subject), time.monotonic() + 200) as tried:
        executable, chosen, _ = tried.build(source, edits)
        limits, mine = replace(DEFAULT_LIMITS, time=0.5), [case for case in subject.cases if case.name in cases]
        with Runner(executable, limits, name=subject.name) as runner:
            together = {n: runner.run_cases([choosing(case, n) for case in mine]) for n in chosen}
    for number, edit in chosen.items():
        alone = Rebuild(subject.capture, folder).build(path, edited(source, edit), f"alone-{number}")
        with Runner(alone, limits, name=subject.name) as runner:
            for one, other in zip(runner.run_cases(mine), together[number], strict=True):
                if one.timed_out or other.timed_out:  # how far an endless run comes is chance
                    continue
                assert (one.stdout, one.code) == (other.stdout, other.code), edited(source, edit).decode()


def test_edits_that_are_long_in_making_keep_none_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    source = CSource(b"int main(int argc, char **argv)\n{\n    int n = argc;\n    n += 2;\n    return n;\n}\n")
    files = {"p.c": FileCandidates(source, "p.c")}
    edits = list(Suspects(files, [("p.c", 4)], {}).edits())[:6]
    assert len(edits) == 6
    given = list[SourceEdit]()

    def slowly():  # type: ignore[no-untyped-def]
        for edit in edits:
            given.append(edit)
            yield edit

    assert [len(batch) for _, batch in candidate_edits._batches({"p.c": source}, slowly())] == [6]
    monkeypatch.setattr(candidate_edits, "WAITING", -1.0)
    given.clear()
    batches = candidate_edits._batches({"p.c": source}, slowly())
    assert len(next(batches)[1]) == len(given) == 1
    assert sum(len(batch) for _, batch in batches) == 5


def test_each_edit_of_one_build_does_what_the_edited_source_does(places: Subject, tmp_path: Path) -> None:
    source, edits = candidates(PLACES)
    known = (edit for edit in edits if not divides_by_zero(edit) and not prints_an_address(edit))
    defined = (edit for edit in known if not leaves_without_result(source, edit))
    edits = [edit for edit in defined if edit.is_choice][::29][:60]
    assert len({edit.line for edit in edits}) > 15
    check_the_same(places, source, edits, tmp_path, {"7", "-5"})


def test_a_table_has_the_entries_of_the_chosen_edit(tmp_path: Path) -> None:
    subject = subject_of("tables", TABLES, {"3": "wrong\n"}, ["4", "5"])
    source, edits = candidates(TABLES)
    edits = [edit for edit in edits if edit.is_choice and edit.parts[0].place in (Place.TABLE, Place.LOCAL_TABLE)]
    of_line = {line: [edit for edit in edits if edit.line == line] for line in sorted({edit.line for edit in edits})}
    chosen = [edit for mine in of_line.values() for edit in (mine[0], mine[-1])]
    assert len(of_line) >= 6 and {edit.parts[0].place for edit in chosen} == {Place.TABLE, Place.LOCAL_TABLE}
    check_the_same(subject, source, chosen, tmp_path, {"3", "4", "5"})
    with CandidateRuns(subject, run_all(subject), time.monotonic() + 200) as tried:
        _, left, _ = tried.build(source, edits[:300])
        assert len(left) > 0.9 * len(edits[:300])


def test_an_edit_that_is_written_otherwise_does_what_it_does_when_it_is_chosen(tmp_path: Path) -> None:
    subject = subject_of("begun", BEGUN, {"7": "wrong\n"}, ["4", "3"])
    source, edits = candidates(BEGUN)
    joined = [edit for edit in edits if edit.otherwise]
    assert [edit.line for edit in joined] == [21, 25, 27] and all(edit.is_choice for edit in joined)
    assert b"else kind += 10;" in edited(source, joined[0]) and b"else if (n > 3)" in edited(source, joined[1])
    check_the_same(subject, source, joined, tmp_path, {"7", "4", "3"})
    begun = [edit for edit in FileCandidates(source, "p.c").completing if edit.otherwise]
    whole = BEGUN.replace("int sum;", "int sum = 0;")
    assert {edit.line for edit in begun} == {6} and any(edited(source, edit).decode() == whole for edit in begun)
    subject = subject_of("begun-sum", whole, {"7": "wrong\n"}, ["-4", "-8"])
    source = CSource(whole.encode())
    begun = [edit for edit in FileCandidates(source, "p.c").completing if edit.otherwise]
    assert {edited(source, edit).decode().count("int i = 0") for edit in begun} == {0, 1}
    check_the_same(subject, source, begun, tmp_path, {"7", "-4", "-8"})


def test_a_block_that_stands_alone_is_done_only_under_the_condition_that_is_chosen(tmp_path: Path) -> None:
    whole = BEGUN.replace("    if (n > 4) {\n", "    {\n")
    subject = subject_of("alone", whole, {"7": "wrong\n"}, ["4", "3"])
    source = CSource(whole.encode())
    asked = [edit for edit in FileCandidates(source, "p.c").asked_for if edit.parts[0].kind is Kind.GUARD]
    assert {edit.line for edit in asked} == {23} and len(asked) > 60
    assert any(b"    if (n > 5) {\n        kind *= 2;" in edited(source, edit) for edit in asked)
    check_the_same(subject, source, asked[::7], tmp_path, {"7", "4", "3"})


@pytest.mark.parametrize(("shown", "is_quick"), [("0", True), ("OPTIMISED", False)])
def test_edits_are_built_without_optimisation_only_where_cases_end_alike(shown: str, is_quick: bool) -> None:
    head = '#ifdef __OPTIMIZE__\n#define OPTIMISED 1\nconst char told[] = "optimised build";\n#else\n'
    head += "#define OPTIMISED 0\n#endif\n"
    one = head + DISCOUNT.replace("count * price", f"count * price + {shown}")
    folder = subject_folder(f"edits-quick-{is_quick}", p_c=one)
    right = b"50\n" if is_quick else b"51\n"
    cases = [Case("10", ("10",), expected=Expected(stdout=right)), Case("3", ("3",)), Case("11", ("11",))]
    subject = subject_from_sources([folder / "p.c"], ["-w", "-O2"], cases, replace(DEFAULT_LIMITS, time=5.0))
    source, edits = candidates(one)
    runs = run_all(subject)
    with CandidateRuns(subject, runs, time.monotonic() + 200) as tried:
        built = tried.build(source, [edit for edit in edits if edit.is_choice][:5])[0].read_bytes()
        found = [edited(source, e.edit) for batch in tried.sieve({"p.c": source}, edits, [0]) for e in batch]
    assert (b"optimised build" in built) is not is_quick
    assert one.replace("> 10", ">= 10").encode() in found


def test_an_edit_that_cannot_be_linked_does_not_cost_the_others() -> None:
    subject = subject_of("unlinked", DISCOUNT, {"10": "50\n"}, ["3", "11"])  # with -w, as older C is compiled
    source, edits = candidates(DISCOUNT)
    right = next(edit for edit in edits if edit.parts[0].text == b"count >= 10")
    units = [replace(right.parts[0], text=text) for text in (b"bulk(count) || absent(count)", b"count > 10 && missing")]
    wrong = [SourceEdit("p.c", 6, (unit,), ((b"count > 10", unit.text),)) for unit in units]
    with CandidateRuns(subject, run_all(subject), time.monotonic() + 200) as tried:
        (found,) = (one for batch in tried.sieve({"p.c": source}, [*wrong, right], [0]) for one in batch)
    assert found.edit == right and found.passes(1)
    assert (tried.count.tried, tried.count.refused, tried.count.troubles) == (1, 2, {})


@pytest.mark.parametrize(("own", "refused"), [("0", 1), ("(char *)1", 0)])
def test_a_number_where_a_pointer_belongs_is_refused_unless_the_file_has_such_itself(own: str, refused: int) -> None:
    program = DISCOUNT.replace("int main(", f"static long odd(void) {{ long n = {own}; return n; }}\nint main(", 1)
    subject = subject_of(f"pointers{refused}", program, {"10": "50\n"}, ["3", "11"])
    source, edits = candidates(program)
    right = next(edit for edit in edits if edit.parts[0].text == b"count >= 10")
    unit = replace(right.parts[0], text=b'count >= 10 && (count = "x") != 0')
    odd = SourceEdit("p.c", right.line, (unit,), ((b"count > 10", unit.text),))
    with CandidateRuns(subject, run_all(subject), time.monotonic() + 200) as tried:
        _, left, _ = tried.build(source, [odd, right])
    assert (tried.count.refused, right in left.values()) == (refused, True)


def test_an_edit_that_never_ends_is_ended_by_its_processor_time(places: Subject) -> None:
    source, edits = candidates(PLACES)
    endless = next(
        e for e in edits if e.parts[0].text == b"1" and e.line == PLACES[: PLACES.index("n > 0")].count("\n") + 1
    )
    with CandidateRuns(places, run_all(places), time.monotonic() + 200) as tried:
        executable, left, _ = tried.build(source, [endless])
        with Runner(executable, replace(DEFAULT_LIMITS, time=60.0), name=places.name) as runner:
            case = next(case for case in places.cases if case.name == "4")
            result = runner.run_case(choosing(case, next(iter(left)), 0.02))
            plain = runner.run_case(choosing(case, 0, 0.02))
    assert result.signal == signal.SIGPROF and result.wall < 30
    assert plain.signal == 0 and plain.stdout


def test_what_one_build_leaves_out_does_not_compile_by_itself(places: Subject, tmp_path: Path) -> None:
    source, edits = candidates(PLACES)
    asked = [edit for edit in edits if edit.is_choice and edit.line in (26, 29)]
    with CandidateRuns(places, run_all(places), time.monotonic() + 200) as tried:
        _, left, _ = tried.build(source, asked)
        refused = [edit for edit in asked if edit not in left.values()]
        assert tried.count.refused == len(refused) > 0
    for number, edit in enumerate(refused[:12]):
        with pytest.raises(DoesNotCompile):
            Rebuild(places.capture, tmp_path).build(
                places.folder / "p.c", edited(source, edit), f"r{number}", flags=["-w"]
            )


def test_edits_that_repair_are_found_with_what_they_break() -> None:
    subject = subject_of("discount", DISCOUNT, {"10": "50\n"}, ["3", "11", "20"])
    source, edits = candidates(DISCOUNT)
    runs = run_all(subject)
    with CandidateRuns(subject, runs, time.monotonic() + 200) as tried:
        batches = tried.sieve({"p.c": source}, edits, runs.failing)
        found = {edited(source, one.edit): one for batch in batches for one in batch}
    assert all(one.repaired == tuple(runs.failing) for one in found.values())
    assert not found[DISCOUNT.replace("> 10", ">= 10").encode()].broken
    assert found[DISCOUNT.replace("count > 10", "1").encode()].broken
    assert DISCOUNT.replace("> 10", "!= 10").encode() not in found


def test_edits_are_tried_also_after_others_were_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_edits, "BATCH", 10)
    subject = subject_of("given-up", DISCOUNT, {"10": "50\n"}, ["3", "11", "20"])
    source, edits = candidates(DISCOUNT)
    runs = run_all(subject)
    mending = [edit for edit in edits if edited(source, edit) == DISCOUNT.replace("> 10", ">= 10").encode()]
    with CandidateRuns(subject, runs, time.monotonic() + 200) as tried:
        given_up = tried.sieve({"p.c": source}, edits, runs.failing)
        next(given_up)
        given_up.close()
        found = [one.edit for batch in tried.sieve({"p.c": source}, mending, runs.failing) for one in batch]
    assert found == mending


def test_what_is_found_first_is_checked_though_there_is_no_time_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_edits, "PORTION", 4)
    subject = subject_of("early", DISCOUNT, {"10": "50\n"}, ["3", "11", "20"])
    source, edits = candidates(DISCOUNT)
    runs = run_all(subject)
    mending = next(edit for edit in edits if edited(source, edit) == DISCOUNT.replace("> 10", ">= 10").encode())
    with CandidateRuns(subject, runs, time.monotonic() + 200) as tried:
        run, passing = tried._verdicts, runs.failing[0]

        def until_the_second_portion(runner: Runner, wanted: list[tuple[int, int]]) -> list[bool]:
            if wanted[0] == (passing, 5):
                tried._deadline = 0.0
            return run(runner, wanted)

        monkeypatch.setattr(tried, "_verdicts", until_the_second_portion)
        (found,) = tried.sieve({"p.c": source}, [mending, *(e for e in edits if e != mending)][:40], runs.failing)
    assert found[0].edit == mending and found[0].checked and found[0].ran == 3
    assert tried.count.tried == 8 and tried.count.late > 8


def test_a_run_without_an_end_may_take_as_long_as_passing_ones_take_when_nothing_delays_them() -> None:
    text = DISCOUNT.replace("    if (count", "    while (count == 10) { }\n    if (count")
    subject = subject_of("delayed", text, {"10": "50\n"}, ["3", "11", "20"])
    runs = run_all(subject)
    (endless,) = runs.failing
    for row in runs.passing:
        runs.tested[row] = replace(runs.tested[row], result=replace(runs.tested[row].result, wall=2.0))
    source, edits = candidates(text)
    with CandidateRuns(subject, runs, time.monotonic() + 200) as tried:
        assert tried._busy(endless) == 10.0
        list(tried.sieve({"p.c": source}, edits[:3], runs.failing))
        assert tried._busy(endless) < 5.0
