"""Small faulty programs, one for each kind of rule that repairs it; a comment ``FAULT`` stands on the faulty line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cli_tool import subject_folder
from trace_readers import hash_of

from whence.findings import Findings
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources


@dataclass(frozen=True, eq=False)
class Program:
    """A program with failing cases (arguments to right output) and passing ones (what they print is right)."""

    family: str
    text: str
    fails: Mapping[str, str]
    passes: Sequence[str]

    @property
    def line(self) -> int:
        """The faulty line."""
        return next(n for n, line in enumerate(self.text.splitlines(), 1) if "FAULT" in line)

    def subject(self) -> Subject:
        """The program with its cases, built."""
        folder = subject_folder(f"rules-{hash_of(self.text)}", p_c=self.text)
        failing = [Case(a, tuple(a.split()), expected=Expected(stdout=o.encode())) for a, o in self.fails.items()]
        passing = [Case(a, tuple(a.split())) for a in self.passes]
        limits = replace(DEFAULT_LIMITS, time=5.0)
        return subject_from_sources([folder / "p.c"], ["-w"], [*failing, *passing], limits)

    def run(self) -> tuple[Subject, Runs]:
        """The program and the runs of its cases, of which as many fail and pass as it says."""
        subject = self.subject()
        runs = run_all(subject)
        assert (len(runs.failing), len(runs.passing)) == (len(self.fails), len(self.passes)), runs.left_out
        return subject, runs


def first_lines(findings: Findings) -> list[int]:
    """The lines that share the first rank."""
    return [entry.statement.line for entry in findings.ranking if entry.rank == 1]


BRANCH = Program(
    "branch",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), a = atoi(argv[2]), b = atoi(argv[3]), total = n - 1;
    if (n > 0 && a < b) /* FAULT: b does not matter */
        total = n * 3 + 2;
    printf("%d %d %d\\n", total, a, b);
    return 0;
}
""",
    {"5 -9 -9": "17 -9 -9\n", "9 60 50": "29 60 50\n", "8 7 3": "26 7 3\n"},
    ("4 1 2", "6 3 8", "-2 5 6", "-7 6 1"),
)

VALUE = Program(
    "value",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int hours = atoi(argv[1]), pay = hours * 20;
    if (hours > 40)
        pay += (hours - 40) * 9; /* FAULT: 10 */
    printf("%d\\n", pay);
    return 0;
}
""",
    {"45": "950\n", "52": "1160\n"},
    ("8", "40", "39"),
)

STORE = Program(
    "store",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int width = atoi(argv[1]), height = atoi(argv[2]), area = width * height;
    if (width > height) {
        area -= height;
        width = height * 2 - area % 5; /* FAULT: not there */
    }
    printf("%d by %d is %d\\n", width, height, area);
    return 0;
}
""",
    {"7 3": "7 by 3 is 18\n", "9 4": "9 by 4 is 32\n", "50 6": "50 by 6 is 294\n"},
    ("2 5", "6 6", "1 9"),
)

CALL = Program(
    "call",
    """\
#include <stdio.h>
#include <stdlib.h>
static int count = 2;
static void grow(int *at)
{
    *at = *at * 3 + count;
}
int main(int argc, char **argv)
{
    int size = atoi(argv[1]), limit = atoi(argv[2]);
    grow(&limit);
    if (size > 10) {
        limit += size;
        grow(&size); /* FAULT: not there */
    }
    printf("%d %d\\n", size, limit);
    return 0;
}
""",
    {"12 4": "12 26\n", "31 5": "31 48\n"},
    ("3 4", "9 9", "10 1"),
)

VARIABLE = Program(
    "variable",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int low = 0, high = 0;
    for (int i = 1; i < argc; i++) {
        int number = atoi(argv[i]);
        if (number > high)
            high = number;
        if (number < low)
            low = high; /* FAULT: number */
    }
    printf("%d to %d\\n", low, high);
    return 0;
}
""",
    {"4 -3": "-3 to 4\n", "-8 9": "-8 to 9\n", "2 -1 7 -5": "-5 to 7\n"},
    ("1 2 3", "5", "9 1"),
)

OPERATOR = Program(
    "operator",
    """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rows = atoi(argv[1]), columns = atoi(argv[2]), cells = 0;
    if (rows > 0)
        cells = rows + columns; /* FAULT: times */
    printf("%d %d %d\\n", rows, columns, cells);
    return 0;
}
""",
    {"3 4": "3 4 12\n", "5 7": "5 7 35\n", "6 1": "6 1 6\n"},
    ("0 5", "2 2", "-1 3"),
)

GUARDED = Program(
    "guarded",
    """\
#include <stdio.h>
#include <stdlib.h>
static const int days[] = {31, 28, 31, 31, 31, 30};
int main(int argc, char **argv)
{
    int month = atoi(argv[1]), sum = 0;
    sum += days[month] * 24; /* FAULT: April has 30 days, where the table says 31 */
    printf("%d\\n", sum + month);
    return 0;
}
""",
    {"3": "723\n"},
    ("0", "1", "2", "4", "5"),
)

PROGRAMS = (BRANCH, VALUE, STORE, CALL, VARIABLE, OPERATOR)
