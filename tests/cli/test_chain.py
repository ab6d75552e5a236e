"""``whence chain``, as a user sees it."""

from __future__ import annotations

import unittest.mock
from collections.abc import Callable

import pytest
from cli_programs import line_of
from cli_tool import Done, subject_folder, whence

from whence.techniques.chains.technique import Comparison

# From 21 on a parcel is heavy.
PARCEL = """\
#include <stdio.h>
#include <stdlib.h>
static int fee = 4, tax, spare;
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    if (weight > 19) /* FAULT */
        fee = 9; /* HEAVY */
    spare = fee * 7; /* SPARE */
    tax = fee + 1; /* TAX */
    printf("tax %d\\n", tax);
    return 0;
}
"""
FAILS = ("--fails", "20", "--expect", "tax 5\n")
CASES = (*FAILS, "--passes", "4", "--passes", "30")


def parcel(*words: str) -> Done:
    return whence(subject_folder("chain", parcel_c=PARCEL), "chain", "parcel.c", *CASES, *words)


@pytest.fixture(scope="module")
def found() -> Done:
    return parcel("--reference", "switch", "--json")


def line(mark: str) -> int:
    return line_of(PARCEL, mark)


def test_the_chain_goes_from_the_fault_to_the_failure(found):
    assert found.status == 0 and found.json["technique"] == "chain"
    steps = found.json["chain"]["steps"]
    assert [step["line"] for step in steps] == [line("FAULT"), line("HEAVY"), line("TAX")]
    assert [entry["line"] for entry in found.json["ranking"]] == [step["line"] for step in steps]
    assert [step["leads_to"] for step in steps] == [[n + 1] for n in range(len(steps) - 1)] + [[]]


def test_what_the_failing_run_left_out_stands_where_it_was_missed():
    text = PARCEL.replace("weight > 19", "weight > 20")
    words = ("chain", "late.c", "--fails", "20", "--expect", "tax 10\n", "--reference", "switch", "--json")
    chain = whence(subject_folder("chain-late", late_c=text), *words).json["chain"]
    assert [step["line"] for step in chain["steps"]] == [line("FAULT"), line("HEAVY"), line("TAX")]
    assert [step["leads_to"] for step in chain["steps"]] == [[1], [2], []]


def test_a_value_that_was_to_be_replaced_is_told_as_one_that_was_kept():
    text = PARCEL.replace("weight > 19", "weight > 20")
    text = text.replace("int weight", "fee = 5 - argc / 2; /* KEPT */\n    int weight")
    words = ("chain", "kept.c", "--fails", "20", "--expect", "tax 10\n", "--reference", "switch", "--json")
    first, second, last = whence(subject_folder("chain-kept", kept_c=text), *words).json["chain"]["steps"]
    lines = [line_of(text, mark) for mark in ("FAULT", "KEPT", "TAX")]
    assert [step["line"] for step in (first, second, last)] == lines
    replaced = f"in the reference run line {line_of(text, 'HEAVY')} replaced it"
    assert (second["text"], second["reference"]) == (f"gave `fee` the value 4, which it kept: {replaced}", "9")
    assert (first["leads_to"], second["leads_to"]) == ([1], [2]) and "kept" not in last["text"]


ZEROED = """\
#include <stdio.h>
#include <stdlib.h>
struct parcel { int weight, fragile, fee; };
int main(int argc, char **argv)
{
    struct parcel *parcel = calloc(1, sizeof *parcel); /* ZERO */
    parcel->weight = atoi(argv[1]);
    if (parcel->weight > 20) /* FAULT */
        parcel->fragile = 3; /* SET */
    int twice = parcel->weight * 2;
    parcel->fee = parcel->fragile + 0 * twice; /* FEE */
    printf("fee %d\\n", parcel->fee);
    return argc != 2;
}
"""


def test_a_member_that_stays_as_the_library_set_it_is_told_by_its_name():
    words = ("chain", "zeroed.c", "--fails", "20", "--expect", "fee 3\n", "--reference", "switch", "--json")
    steps = whence(subject_folder("chain-zeroed", zeroed_c=ZEROED), *words).json["chain"]["steps"]
    assert [step["line"] for step in steps] == [line_of(ZEROED, mark) for mark in ("FAULT", "ZERO", "FEE")]
    kept = f"which it kept: in the reference run line {line_of(ZEROED, 'SET')} replaced it"
    assert steps[1]["text"] == f"`calloc` wrote `parcel->fragile`, which became 0, {kept}"
    assert steps[1]["reference"] == "3"


IN_A_BLOCK = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct parcel { int weight, fee, tax, spare[5]; };
int main(int argc, char **argv)
{
    int fragile = 0;
    while (getopt(argc, argv, "f") != -1)
        fragile++;
    struct parcel *parcel = calloc(1, sizeof *parcel);
    parcel->weight = atoi(argv[optind]);
    parcel->fee = 4;
    if (parcel->weight > 19) /* FAULT */
        parcel->fee = 9;
    parcel->tax = parcel->fee + fragile; /* TAX */
    printf("tax %d\\n", parcel->tax);
    return 0;
}
"""


def test_blocks_lie_alike_in_recorded_and_altered_runs_of_programs_with_options():
    """What a recording keeps of the arguments while it watches getopt is none of the program's blocks."""
    words = ("chain", "block.c", "--fails", "-f 20", "--expect", "tax 5\n", "--reference", "switch", "--json")
    chain = whence(subject_folder("chain-block", block_c=IN_A_BLOCK), *words).json["chain"]
    assert [step["line"] for step in chain["steps"]] == [line_of(IN_A_BLOCK, mark) for mark in ("FAULT", "TAX")]
    assert chain["steps"][-1]["text"] == "gave `parcel->tax` the value 10" and not chain["incomplete"]


# With 20 a loop of parents is never left: the stack is full.
LOOP = """\
#include <stdio.h>
#include <stdlib.h>
static int parent[] = {-1, 0, 1, 2};
static int depth(int node)
{
    int up = parent[node];
    if (up < 0)
        return 0;
    return 1 + depth(up);
}
int main(int argc, char **argv)
{
    if (atoi(argv[1]) > 19) /* FAULT */
        parent[1] = 3; /* LOOP */
    printf("depth %d\\n", depth(3));
    return 0;
}
"""


def test_a_stack_that_altered_runs_fill_earlier():
    """The last value before the crash comes in none of them, not even in the unaltered one."""
    words = ("chain", "loop.c", "--fails", "20", "--expect", "depth 3\n", "--reference", "switch", "--json")
    chain = whence(subject_folder("chain-loop", loop_c=LOOP), *words).json["chain"]
    assert [step["line"] for step in chain["steps"]][:2] == [line_of(LOOP, mark) for mark in ("FAULT", "LOOP")]
    assert not chain["incomplete"]


# The way is chosen by a pointer to a function, which lies elsewhere in the good version.
POINTED = """\
#include <stdio.h>
#include <stdlib.h>
struct way { int (*fee)(int); int (*unused)(int); int tax; };
struct bill { int fee, tax; };
static int light(int weight)
{
    return 4;
}
static int heavy(int weight)
{
    if (weight > 18) /* FAULT */
        return 9; /* NINE */
    return 8;
}
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    struct way *way = malloc(sizeof *way);
    way->fee = weight > 10 ? heavy : light; /* POINTER */
    way->unused = weight > 10 ? light : heavy;
    struct bill bill = {way->fee(weight), 1}, sent; /* CALL */
    sent = bill; /* COPY */
    printf("bill %d\\n", sent.fee + sent.tax);
    return way->unused == NULL;
}
"""


def test_pointers_to_functions_of_a_good_version_are_compared_by_the_function():
    good = POINTED.replace("weight > 18", "weight > 20 || weight < 1").replace("return 4", "return weight / 50 + 4")
    folder = subject_folder("chain-pointed", pointed_c=POINTED, good_c=good)
    words = ("chain", "pointed.c", "--fails", "20", "--expect", "bill 9\n", "--reference", "good.c", "--json")
    steps = whence(folder, *words).json["chain"]["steps"]
    lines = [step["line"] for step in steps]
    assert line_of(POINTED, "POINTER") not in lines and line_of(POINTED, "CALL") in lines
    (copied,) = [step for step in steps if step["line"] == line_of(POINTED, "COPY")]
    assert copied["text"] == "gave `sent` the value {.fee = 9, .tax = 1}"
    assert copied["reference"] == "{.fee = 8, .tax = 1}"


# From 20 on the other row is chosen, and a block in place of none.
CHOSEN = """\
#include <stdio.h>
#include <stdlib.h>
static int rows[2] = {4, 9}, *chosen;
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]), *spare = malloc(16), *kept;
    spare[0] = 3;
    chosen = &rows[weight > 19]; /* FAULT */
    kept = chosen == rows ? NULL : spare; /* BLOCK */
    printf("fee %d\\n", *chosen + (kept ? *kept : 1));
    return 0;
}
"""


def test_a_pointer_is_told_by_what_it_points_to():
    words = ("chain", "chosen.c", "--fails", "20", "--expect", "fee 5\n", "--reference", "rule", "--json")
    folder = subject_folder("chain-chosen", chosen_c=CHOSEN)
    steps = {step["line"]: step for step in whence(folder, *words, "--passes", "4").json["chain"]["steps"]}
    row, block = (steps[line_of(CHOSEN, mark)] for mark in ("FAULT", "BLOCK"))
    assert (row["text"], row["reference"]) == ("gave `chosen` the value &rows[1]", "&rows[0]")
    words = ", the block of 16 bytes that chosen.c:6 allocated"
    assert block["text"].startswith("gave `kept` the value 0x") and block["text"].endswith(words)
    assert block["reference"] == "NULL"


# Row and column are exchanged: no value of one site mends that for all cases.
TABLE = """\
#include <stdio.h>
#include <stdlib.h>
static const int table[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
int main(int argc, char **argv)
{
    int row = atoi(argv[1]), column = atoi(argv[2]);
    if (table[row][column] == 0)
        return 1;
    int found = table[column][row]; /* FAULT */
    int twice = 2 * found; /* TWICE */
    printf("twice %d\\n", twice);
    return 0;
}
"""


NARROW = """\
#include <stdio.h>
#include <stdlib.h>
static int left(int quota, int rounds)
{
    signed char used = 4 * rounds; /* FAULT */
    int rest = quota - used;
    return rest > 0 ? rest : 0;
}
int main(int argc, char **argv)
{
    printf("%d\\n", left(200, atoi(argv[1])));
    return 0;
}
"""


def test_compared_with_the_program_with_a_wider_type():
    folder = subject_folder("chain-narrow", narrow_c=NARROW)
    cases = [
        "--fails",
        "50",
        "--expect",
        "0\n",
        "--fails",
        "40",
        "--expect",
        "40\n",
        "--passes",
        "10",
        "--passes",
        "31",
    ]
    chain = whence(folder, "chain", "narrow.c", *cases, "--reference", "edit", "--json").json["chain"]
    assert (chain["reference"]["kind"], chain["reference"]["line"]) == ("edit", line_of(NARROW, "FAULT"))
    assert "`int` instead of `signed char`" in chain["reference"]["text"]
    told = [(step["line"], step["reference"]) for step in chain["steps"]]
    assert told[0] == (line_of(NARROW, "int rest"), "0")  # the edited line has no counterpart


def test_compared_with_the_program_with_an_edit_of_its_source():
    right = {"0 1": 4, "1 2": 12, "2 0": 14}
    cases = [word for case, twice in right.items() for word in ("--fails", case, "--expect", f"twice {twice}\n")]
    cases += ["--passes", "0 0", "--passes", "1 1", "--passes", "2 2", "--case", "fails 1"]
    folder = subject_folder("chain-table", table_c=TABLE)
    chain = whence(folder, "chain", "table.c", *cases, "--reference", "edit", "--json").json["chain"]
    assert (chain["reference"]["kind"], chain["reference"]["line"]) == ("edit", line_of(TABLE, "FAULT"))
    told = [(step["line"], step["reference"]) for step in chain["steps"]]
    assert told == [(line_of(TABLE, "FAULT"), "2"), (line_of(TABLE, "TWICE"), "4")]


# One of two conditions is missing, and no single value tells that: what does is observed in the runs.
LOADS = """\
#include <stdio.h>
#include <stdlib.h>
struct load { int weight, price, left; };
static int taken(const struct load *all, int count, int room, int least)
{
    int sum = 0;
    for (int n = 0; n < count; n++) {
        const struct load *one = &all[n];
        if (one->weight == 0) /* || one->price < least */
            continue;
        if (one->weight > room)
            break;
        room -= one->weight;
        sum += one->price; /* SUM */
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct load all[8] = { { 0 } };
    int count = argc < 9 ? argc - 1 : 8;
    for (int n = 0; n < count; n++)
        all[n] = (struct load){ atoi(argv[n + 1]) / 10, atoi(argv[n + 1]) % 10, n };
    printf("%d\\n", taken(all, count, 12, 3)); /* PRINTED */
    return 0;
}
"""


def test_compared_with_the_program_with_a_condition_that_was_observed():
    cases = ["--fails", "15 12 24", "--expect", "9\n", "--fails", "31 16", "--expect", "6\n"]
    passing = ["15 25", "33", "15 97", "13 13 19 15", "05 15", "124"]
    cases += [word for case in passing for word in ("--passes", case)]
    folder = subject_folder("chain-loads", loads_c=LOADS)
    chain = whence(folder, "chain", "loads.c", *cases, "--reference", "edit", "--json").json["chain"]
    assert chain["reference"]["kind"] == "edit" and "one->price" in chain["reference"]["text"]
    told = [(step["line"], step["reference"]) for step in chain["steps"]]
    assert told == [(line_of(LOADS, "SUM"), "0"), (line_of(LOADS, "SUM"), "6"), (line_of(LOADS, "PRINTED"), "6")]


def test_it_says_what_it_was_compared_with_and_what_it_took(found):
    chain = found.json["chain"]
    assert chain["reference"]["kind"] == "switch" and chain["reference"]["line"] == line("FAULT")
    assert chain["tests"] > 0 and chain["seconds"] > 0 and not chain["incomplete"]


@pytest.mark.parametrize("algorithm", ["hierarchical", "hierarchical-printed", "dependence-printed", "linear"])
def test_the_other_algorithms_tell_the_same(found, algorithm):
    other = parcel("--reference", "switch", "--json", "--algorithm", algorithm)
    assert other.json["chain"]["algorithm"] == algorithm
    assert other.json["chain"]["steps"] == found.json["chain"]["steps"]


def test_as_text():
    done = parcel("--reference", "switch")
    assert done.status == 0 and "weight > 19" in done.out and "tax" in done.out and "spare" not in done.out


def refusal(done: Done) -> str:
    """What an error says: one clear line, then what helps."""
    assert done.status == 2 and not done.out
    lines = done.err.strip().splitlines()
    assert lines[0].startswith("whence: ") and all(line.startswith("  ") for line in lines[1:])
    return " ".join(done.err.split())


def test_a_window_is_refused():
    said = refusal(parcel("--window", "1M"))
    assert "--window" in said and "whole run" in said


def test_threads_are_refused():
    text = """\
#include <pthread.h>
#include <stdio.h>
static void *work(void *given) { return given; }
int main(int argc, char **argv)
{
    pthread_t one;
    pthread_create(&one, NULL, work, NULL);
    pthread_join(one, NULL);
    printf("%d\\n", argc);
    return 0;
}
"""
    folder = subject_folder("chain-threads", turns_c=text)
    done = whence(folder, "chain", "turns.c", "--cflags", "-pthread", "--fails", "20", "--expect", "tax 5\n")
    assert "starts threads" in refusal(done)


def test_a_run_without_threads_of_a_program_that_has_them_has_a_chain():
    text = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *given) { return given; }
int main(int argc, char **argv)
{
    int price = atoi(argv[1]), tax = price / 5;
    pthread_t one;
    if (argc > 2) {
        pthread_create(&one, NULL, work, NULL);
        pthread_join(one, NULL);
    }
    printf("%d\\n", price + tax);
    return 0;
}
"""
    folder = subject_folder("chain-threads", turns_c=text)
    good = subject_folder("chain-threads-good", turns_c=text.replace("price / 5", "price / 4"))
    options = ["--cflags", "-pthread", "--fails", "20", "--expect", "25\n", "--reference", str(good / "turns.c")]
    done = whence(folder, "chain", "turns.c", *options, "--json")
    steps = done.json["chain"]["steps"]
    assert steps[0]["line"] == 7 and "gave `tax` the value 4" in steps[0]["text"]


def test_a_case_that_runs_a_command_is_refused():
    folder = subject_folder("chain-command", parcel_c=PARCEL)
    (folder / "whence.toml").write_text(
        '[program]\nsources = ["parcel.c"]\n[cases]\ncommand = "./parcel {name} | grep -q 5"\nnames = ["20", "4"]\n'
    )
    said = refusal(whence(folder, "chain"))
    assert "20 runs a command" in said and "--fails" in said


def test_no_run_to_compare_with():
    text = '#include <stdio.h>\nint main(void)\n{\n    puts("1");\n    return 0;\n}\n'
    done = whence(subject_folder("chain-none", none_c=text), "chain", "none.c", "--fails", "", "--expect", "2\n")
    said = refusal(done)
    assert "no run to compare" in said and "--reference" in said


def test_a_reference_that_is_not_there():
    assert "nothing.c" in refusal(parcel("--reference", "nothing.c"))


class Left:
    """Seconds that are left: 1 until it was asked so many times, then others."""

    def __init__(self, asked: int, then: float) -> None:
        self.asked, self.then = asked, then

    def __call__(self) -> float:
        self.asked -= 1
        return 1.0 if self.asked >= 0 else self.then


def stopped(left: Callable[[], float], *words: str) -> Done:
    """The chain of a run where so much time is left once the two runs are recorded."""
    walk = Comparison.walk
    with unittest.mock.patch.object(Comparison, "walk", lambda self, how, _, symptom: walk(self, how, left, symptom)):
        return parcel("--reference", "switch", *words)


def test_out_of_time_the_beginning_is_shown_and_what_was_left_out():
    done = stopped(Left(2, 0.1), "--json")
    chain = done.json["chain"]
    assert done.status == 0 and "time is over" in chain["incomplete"]
    assert [step["line"] for step in chain["steps"]] == [line("FAULT"), line("TAX")]
    assert chain["gap"] == 1 and chain["steps"][0]["leads_to"] == [1]
    assert any("not complete" in warning for warning in done.json["warnings"])


def test_out_of_time_altogether_shows_what_is_there():
    done = stopped(Left(2, 0.0))
    assert "in 1 step:" in done.out and "gave `tax` the value 10" in done.out and "not complete" in done.err + done.out
    nothing = stopped(Left(1, 0.0))
    assert "no step found" in nothing.out and "even with" not in nothing.out


def test_interrupted_it_shows_what_is_there():
    left = unittest.mock.Mock(side_effect=[1.0] * 2 + [KeyboardInterrupt])
    done = stopped(left)
    assert "gave `tax` the value 10" in done.out and "it was interrupted" in done.err + done.out


# A name that the library writes, to memory of the heap where the number is even; from 15 on an id is left out.
LABEL = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct label { int id; char name[12]; struct label *next; };
static struct label *first, shelf[2];
static void name(char *where, int heavy)
{
    strcpy(where, heavy ? "van" : "bike"); /* COPY */
}
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    struct label *made = weight % 2 ? &shelf[1] : calloc(1, sizeof *made);
    first = made;
    name(made->name, weight > 19); /* FAULT */
    if (weight < 15)
        made->id = 7; /* OMITTED */
    made->next = NULL;
    printf("%s %d\\n", first->name, first->id);
    return 0;
}
"""


def test_what_the_library_wrote_is_told_by_its_variable():
    words = ("chain", "label.c", "--fails", "20", "--expect", "bike 0\n", "--reference", "rule", "--json")
    steps = whence(subject_folder("chain-label", label_c=LABEL), *words).json["chain"]["steps"]
    (copied,) = [step for step in steps if step["line"] == line_of(LABEL, "COPY") and "strcpy" in step["text"]]
    assert copied["text"] == '`strcpy` wrote `made->name`, which became "van"' and copied["reference"] == '"bike"'


def test_what_was_left_out_is_told_by_its_variable():
    words = ("chain", "label.c", "--fails", "17", "--expect", "bike 7\n", "--reference", "switch", "--json")
    steps = whence(subject_folder("chain-omitted", label_c=LABEL), *words).json["chain"]["steps"]
    (left_out,) = [step for step in steps if "never given" in step["text"]]
    assert left_out["text"] == "`shelf[1].id` was never given a value before"
    assert left_out["line"] == line_of(LABEL, "OMITTED") and "7" in left_out["reference"]


# A count that is given to heavy items alone.
COUNTED = """\
#include <stdio.h>
#include <stdlib.h>
struct item { int weight, count; };
int main(int argc, char **argv)
{
    struct item *item = malloc(sizeof *item);
    item->weight = atoi(argv[1]);
    if (item->weight > 3) /* FAULT */
        item->count = 1;
    int total = item->weight * item->count; /* READ */
    printf("%d\\n", total + 1);
    return 0;
}
"""


def test_what_was_never_given_a_value_is_named_in_the_step_that_it_led_to():
    words = ("chain", "counted.c", "--fails", "2", "--expect", "3\n", "--passes", "5", "--pattern", "7", "--json")
    steps = whence(subject_folder("chain-counted", counted_c=COUNTED), *words).json["chain"]["steps"]
    never = "made from `item->count`, which was never given a value"
    assert [step["line"] for step in steps if never in step["text"]] == [line_of(COUNTED, "READ")]


# Crashes for a name without a colon; with --help it prints one line.
COLON = """\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    if (strcmp(argv[1], "--help") == 0) { /* HELP */
        puts("name:value");
        return 0;
    }
    char *colon = strchr(argv[1], ':'), *value = argv[0] + 1;
    if (argc > 1) /* CHECK */
        value = colon + 1;
    if (value[-1] == ':')
        printf("%s\\n", value);
    return 0;
}
"""


def test_where_no_output_is_expected_the_run_is_compared_with_one_that_changes_little():
    words = ("chain", "colon.c", "--fails", "name", "--passes", "a:b", "--reference", "switch", "--json")
    chain = whence(subject_folder("chain-colon", colon_c=COLON), *words).json["chain"]
    assert chain["reference"]["line"] != line_of(COLON, "HELP")


LARGE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    char *large = malloc(1 << 20); /* which the C library maps by itself */
    int limit = n > 5; /* FAULT */
    large[0] = limit ? 'b' : 'a';
    large[1] = 0;
    puts(large);
    return 0;
}
"""


def test_a_large_block_lies_in_altered_runs_where_it_was_recorded():
    folder = subject_folder("chain-large", prog_c=LARGE)
    words = ("--fails", "5", "--expect", "b", "--passes", "3", "--passes", "7")
    found = whence(folder, "chain", "prog.c", *words, "--json").json["chain"]
    assert found["incomplete"] == ""
    assert [step["text"] for step in found["steps"]][-1].startswith("gave `large[0]`")


# A FILE lies behind the program's static data, which the good version has more of.
OPENED = """\
#include <stdio.h>
#include <stdlib.h>
static char room[64];
static int fee = 4, tax;
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]);
    FILE *file = fopen("/dev/null", "r");
    if (weight > 19) /* FAULT */
        fee = 9; /* HEAVY */
    room[0] = (char)fgetc(file);
    tax = fee + 1; /* TAX */
    fclose(file);
    printf("tax %d\\n", tax);
    return 0;
}
"""


def test_a_file_that_lies_elsewhere_in_a_good_version_is_no_step():
    good = OPENED.replace("> 19", "> 20").replace("room[64]", "room[1 << 20]")
    folder = subject_folder("chain-opened", opened_c=OPENED, good_c=good)
    words = ("chain", "opened.c", *FAILS, "--reference", "good.c", "--json")
    chain = whence(folder, *words).json["chain"]
    assert [step["line"] for step in chain["steps"]] == [line_of(OPENED, mark) for mark in ("FAULT", "HEAVY", "TAX")]


# The string is none of the program's: what is found in it differs by some bytes, not by pages.
FOUND = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    const char *kept = strerror(2);
    char wanted = atoi(argv[1]) > 4 ? 'h' : 'o'; /* FAULT */
    char *end = strchr(kept, wanted); /* FOUND */
    printf("%d\\n", (int)(end - kept));
    return 0;
}
"""


def test_another_place_in_a_string_of_the_library_is_a_step():
    folder = subject_folder("chain-found", found_c=FOUND, good_c=FOUND.replace("> 4", "> 5"))
    words = ("chain", "found.c", "--fails", "5", "--expect", "1\n", "--reference", "good.c", "--json")
    lines = [step["line"] for step in whence(folder, *words).json["chain"]["steps"]]
    assert line_of(FOUND, "FAULT") in lines and line_of(FOUND, "FOUND") in lines


# What is printed is passed on as a list, by a function that stores no parameter of it.
LISTED = """\
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
static int fee(int weight)
{
    int paid = weight * 3;
    if (weight > 19) /* FAULT */
        paid = paid - 2;
    return paid;
}
int main(int argc, char **argv)
{
    int total = fee(atoi(argv[1])); /* TOTAL */
    say("%d %s %d %d %d %d %.1f %d\\n", 1, "of", 3, 4, 5, 6, total / 4.0, total); /* SAID */
    return argc != 2;
}
"""


@pytest.mark.parametrize("algorithm", ["dependence", "linear"])
def test_what_a_variadic_function_is_given_is_a_part_of_its_state(algorithm: str):
    expected = "1 of 3 4 5 6 15.0 60\n"
    words = ("chain", "listed.c", "--fails", "20", "--expect", expected, "--reference", "switch", "--json")
    found = whence(subject_folder("chain-listed", listed_c=LISTED), *words, "--algorithm", algorithm)
    chain, said = found.json["chain"], line_of(LISTED, "SAID")
    lines = [step["line"] for step in chain["steps"]]
    assert list(dict.fromkeys(lines)) == [line_of(LISTED, mark) for mark in ("FAULT", "TOTAL", "SAID")]
    assert not chain["incomplete"]
    passed = [(step["text"], step["reference"]) for step in chain["steps"] if step["line"] == said]
    assert passed == [("passed `total / 4.0`, which was 14.5", "15.0"), ("passed `total`, which was 58", "60")]


# A text that grows in a block, made by formats.
GROWING = """\
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static char *text;
static int length;
static void add(const char *format, ...)
{
    va_list list;
    text = realloc(text, length + 40);
    va_start(list, format);
    length += vsnprintf(text + length, 40, format, list); /* WRITTEN */
    va_end(list);
}
int main(int argc, char **argv)
{
    int weight = atoi(argv[1]), fee = 4;
    if (weight > 19) /* FAULT */
        fee = 9; /* FEE */
    add("<bill>");
    add("<fee of=%d>%d</fee>", weight, fee);
    add("</bill>\\n");
    fwrite(text, 1, length, stdout);
    return argc != 2;
}
"""


def test_what_a_format_wrote_into_a_block_is_told_as_text():
    words = ("--fails", "20", "--expect", "<bill><fee of=20>4</fee></bill>\n", "--reference", "switch", "--json")
    steps = whence(subject_folder("chain-growing", growing_c=GROWING), "chain", "growing.c", *words).json["chain"][
        "steps"
    ]
    assert steps[0]["line"] == line_of(GROWING, "FAULT") and steps[-1]["line"] == line_of(GROWING, "WRITTEN")
    assert steps[-1]["text"] == '`vsnprintf` wrote "<fee of=20>9</fee>" to `text[6..23]`'
    assert steps[-1]["reference"] == '"<fee of=20>4</fee>"'
