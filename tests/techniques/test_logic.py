"""Rules that exchange ``&&`` and ``||``: where the operands are one condition each; and true to the edited source."""

from __future__ import annotations

import subprocess
from functools import cache
from itertools import product

import numpy as np
import pytest
from rule_programs import Program
from trace_readers import subject_of

from whence.alter.changes import EVENT, EVERY, Batch, Op, Verdict
from whence.alter.check import check
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.alter.session import Session
from whence.alter.work import Work
from whence.build.toolchain import find_toolchain
from whence.errors import UsageError
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.techniques.rules.candidates import Candidates, change_records
from whence.techniques.rules.rules import rules
from whence.techniques.rules.suggestions import Suggestions

TEXT = """\
#include <stdio.h>
#define BOTH(x, y) ((x) && (y))
static int is(char c) { return c == '1'; }
int main(int argc, char **argv)
{
    int a = is(argv[1][0]), b = is(argv[1][1]), c = is(argv[1][2]), sum = 0;
    if (a && b) sum += 1;
    if (a || !b) sum += 2;
    if (a && b && c) sum += 4;
    if (!(a || b) && c) sum += 8;
    if ((a && b) || c) sum += 16;
    int value = a && is(argv[1][1]);
    sum += value * 32 + 64 * (!a || b == c);
    sum += 128 * (a || b || c);
    for (int i = 0; i < 9 && !(a && c); i++) sum += 256;
    if (a)
        if (b) sum += 8192;
    if (BOTH(b, c)) sum += 16384;
    printf("%d\\n", sum);
    return 0;
}
"""
EXCHANGED = {
    7: {"if (a || b) sum += 1;"},
    8: {"if (a && !b) sum += 2;"},
    9: {"if ((a || b) && c) sum += 4;", "if (a && (b || c)) sum += 4;"},
    10: {"if (!(a && b) && c) sum += 8;"},
    11: {"if ((a || b) || c) sum += 16;"},
    12: {"int value = a || is(argv[1][1]);"},
    13: {"sum += value * 32 + 64 * (!a && b == c);"},
    14: {"sum += 128 * ((a && b) || c);", "sum += 128 * (a || (b && c));"},
    15: {"for (int i = 0; i < 9 && !(a || c); i++) sum += 256;"},
    18: {None},  # what a macro holds is told in words alone
}
WORDS = ["".join(bits) for bits in product("01", repeat=3)]


@cache
def found():
    """The rules by line and edited line."""
    subject = subject_of(TEXT)
    describer = Describer(subject)
    candidates, told = (
        Candidates(subject, Profile.of(subject.alter_plan.sites, [np.zeros(0, EVENT)])),
        Suggestions(describer),
    )
    sites = np.flatnonzero(describer.statements >= 0).tolist()
    exchanging = [rule for site in sites for rule in candidates.of(site) if rule.op is Op.EXCHANGE]
    return subject, [(rule, told.of(rule)) for rule in exchanging]


def test_operators_with_one_condition_on_either_side_are_exchanged():
    lines: dict[int, set[str | None]] = {}
    for _, suggestion in found()[1]:
        lines.setdefault(suggestion.statement.line, set()).add(suggestion.after)
    assert lines == EXCHANGED


@cache
def outputs() -> dict[str, list[bytes | None]]:
    """By edited line what the program with the rule prints in each case; None: the operator was not reached."""
    subject, told = found()
    records = change_records([rule for rule, _ in told], subject.alter_plan.sites)
    check(Batch.single(records), subject.alter_plan)
    printed: dict[str, list[bytes | None]] = {}
    for word in WORDS:
        with Session(subject, Case(word, (word,), expected=Expected(stdout=b"none"))) as session:
            results = session.run(Batch.single(records), outputs=True)
        for (_, suggestion), record, (output, _) in zip(told, results.records, results.outputs, strict=True):
            reached = record["verdict"] != Verdict.NOT_REACHED
            printed.setdefault(suggestion.after, []).append(output if reached else None)
    return printed


@pytest.mark.parametrize("line", sorted(line for lines in EXCHANGED.values() for line in lines if line))
def test_a_rule_does_what_the_edited_source_does(line, tmp_path):
    number = next(number for number, lines in EXCHANGED.items() if line in lines)
    text = TEXT.split("\n")
    text[number - 1] = line
    (tmp_path / "edited.c").write_text("\n".join(text))
    toolchain = find_toolchain("bundled")
    command = toolchain.call(["-w", "-O0", "-o", "edited", "edited.c"])
    subprocess.run(command, cwd=tmp_path, env=toolchain.environment(), check=True)
    done = [subprocess.run([tmp_path / "edited", word], stdout=subprocess.PIPE, check=True).stdout for word in WORDS]
    pairs = list(zip(outputs()[line], done, strict=True))
    assert sum(printed is not None for printed, _ in pairs) >= len(WORDS) / 2
    assert all(printed in (None, right) for printed, right in pairs)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("clock", 3, "an operator is exchanged at every instance"),
        ("address", 1 << 40, "is no right operand of it"),
        ("guard", 0, "is no right operand of it"),
        ("operation", 2, "a condition is 0 or 1"),
    ],
)
def test_an_exchange_that_makes_no_sense_is_refused(field, value, text):
    subject, told = found()
    records = change_records([told[0][0]], subject.alter_plan.sites)
    assert records["clock"][0] == EVERY
    records[field] = value
    with pytest.raises(UsageError, match=text):
        check(Batch.single(records), subject.alter_plan)


WRONG_OPERATOR = Program(
    "operator",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), low = atoi(argv[2]), high = atoi(argv[3]);
    if (n < low && n > high) { /* FAULT */
        puts("outside");
        return 0;
    }
    puts("inside");
    return 0;
}
""",
    {"1 2 5": "outside\n", "9 2 5": "outside\n", "-3 0 0": "outside\n", "6 4 5": "outside\n"},
    ["3 2 5", "2 2 5", "5 2 5", "0 0 0", "4 1 9", "7 7 9"],
)


def test_the_other_operator_repairs_its_fault():
    subject, runs = WRONG_OPERATOR.run()
    with Work(subject, workers=1) as work:
        best = rules(subject, runs, work).parts["rules"]
    clean = [row for row in best if row["score"] == 1]
    assert [row["rule"] for row in clean] == ["`||` instead of `&&` between `n < low` and `n > high`"]
    assert clean[0]["after"].startswith("if (n < low || n > high) {")
    assert (clean[0]["line"], clean[0]["family"]) == (WRONG_OPERATOR.line, "operator")
