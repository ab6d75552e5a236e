from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_programs import (
    CALC_C,
    KINDS,
    MAKEFILE,
    OPS_C,
    PRICES,
    STACK_C,
    STACK_H,
    TESTS,
    fault_line,
    kinds,
    line_of,
    prices,
)
from cli_tool import Done, subject_folder, whence, write

from whence.run.cases import TAKE_APART

RIGHT = "2 prices, 1 large\nsum 185\n"
PRICES_CASES = ("--fails", "200 5", "--expect", RIGHT, "--passes", "5 7", "--passes", "1")


def rank_of(done: Done, file: str, line: int) -> int:
    """The worst rank of a line."""
    return next(e["rank_worst"] for e in done.json["ranking"] if (e["file"], e["line"]) == (file, line))


@pytest.fixture(scope="module")
def located() -> Done:
    return whence(prices(), "locate", "prices.c", *PRICES_CASES, "--json")


def test_fault_is_found(located):
    assert located.status == 0
    assert rank_of(located, "prices.c", fault_line(PRICES)) <= 2
    assert fault_line(PRICES) in [at["line"] for at in located.json["slice"]]


def test_what_was_done_is_told(located):
    assert located.json["summary"][0] == "captured 1 module, ran 3 cases (2 passed, 1 failed)"
    assert "recorded the failing case `fails 1`" in located.json["summary"]


def test_symptom_is_the_wrong_value(located):
    symptom = located.json["symptom"]
    assert (symptom["kind"], symptom["line"]) == ("wrong-output", line_of(PRICES, '"sum %d'))
    assert '"sum 165", expected "sum 185"' in symptom["text"]


def test_sentences_have_values(located):
    texts = {e["line"]: e["evidence"]["text"] for e in located.json["ranking"]}
    line = fault_line(PRICES)
    assert f"line {line} gave `price` the value 160, used by " in texts[line]
    assert not any("%" in text.replace("%d", "") or "alloca" in text for text in texts.values())


def test_a_rule_that_repairs_comes_first(located):
    """What changed runs show is told before what the recorded one shows."""
    first = next(e for e in located.json["ranking"] if e["line"] == fault_line(PRICES))
    assert re.match(r".* instead of .*: compiled and run on all 3 cases: all pass", first["evidence"]["text"])
    assert first["evidence"]["rules"] > 0 and located.json["rules"]


def test_formulas_say_which_values_a_repair_needs(located):
    first = next(e for e in located.json["ranking"] if e["line"] == fault_line(PRICES))
    assert "; `price` had to be 180 here, " in first["evidence"]["text"]
    (values,) = [d["values"] for d in located.json["diagnoses"] if d["statements"][0]["line"] == fault_line(PRICES)]
    assert [(v["name"], v["was"], v["right"]) for v in values] == [("price", "160", "180")]


def test_why_the_run_had_to_fail_is_in_the_result(located):
    root = located.json["tree"]["nodes"][0]
    assert root["level"] == 0 and "had to be 185" in root["goal"]
    assert fault_line(PRICES) in {line["line"] for line in root["cause"]}


def test_without_any_time_that_is_told():
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES, "--budget", "0.001s", "--fresh", "--json")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("whence: the time was over before the cases had been run\n  help: more time: --budget")


@pytest.mark.parametrize("share", ["RECORDING", "COMPARING", "REASONING", "SEARCHING"])
def test_without_time_for_a_step_the_rest_is_told(monkeypatch, share):
    monkeypatch.setattr(f"whence.diagnosis.locate_steps.{share}", 0.0)
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES, "--budget", "15", "--fresh", "--json")
    assert done.status == 0 and done.err == ""
    assert rank_of(done, "prices.c", fault_line(PRICES)) > 0


def test_without_altered_runs_the_recorded_one_speaks():
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES, "--json", "--no-alter")
    text = {e["line"]: e["evidence"]["text"] for e in done.json["ranking"]}[fault_line(PRICES)]
    assert f"line {fault_line(PRICES)} gave `price` the value 160, used by " in text
    assert "rules" not in done.json


def test_braces_are_no_statements(located):
    listed = {e["line"] for e in located.json["ranking"]}
    source = PRICES.splitlines()
    assert not [n for n in listed if source[n - 1].strip() in ("{", "}")]


def test_values_of_failing_and_passing_runs(located):
    values = located.json["values"][f"prices.c:{line_of(PRICES, 'sum %d')}"]
    assert {"name": "sum", "value": "165"}.items() <= values["failing"][-1].items()
    passing = next(row for row in values["passing"] if row["name"] == "sum")
    assert sorted(passing["values"], key=int) == ["1", "12"] and passing["cases"] == 2


def test_next_commands_can_be_copied(located):
    command = next(c["command"] for c in located.json["next"] if "--at" in c["command"])
    split = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    name, *words = split.stdout.decode().split("\0")[:-1]
    assert name == "whence" and RIGHT in words
    assert whence(prices(), *words, "--json").json["technique"] == "slice"


def test_text_is_plain_when_piped(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES, "-n", "2", "--no-alter")
    assert done.err == "" and "\x1b" not in done.out
    assert f"prices.c:{fault_line(PRICES)}" in done.out and "not shown" in done.out and "next:" in done.out


def test_page_holds_values_of_both_sides(tmp_path):
    page = tmp_path / "new" / "report.html"
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES, "--html", str(page))
    assert done.status == 0 and f"HTML report: {page}" in done.out
    assert "passing runs" in page.read_text() and "--html" not in done.out


def test_failing_case_alone():
    done = whence(prices(), "locate", "prices.c", *PRICES_CASES[:4], "--json")
    assert any("no passing case" in line and "--passes" in line for line in done.json["summary"])
    inside = {at["line"] for at in done.json["slice"]}
    ranking = done.json["ranking"]
    worst_inside = max(e["rank_worst"] for e in ranking if e["line"] in inside)
    assert line_of(PRICES, "large++") not in inside
    assert rank_of(done, "prices.c", line_of(PRICES, "large++")) > worst_inside
    assert rank_of(done, "prices.c", fault_line(PRICES)) <= 6


# ---- Kinds of failures -----------------------------------------------------------------------------------------------

FAILURES = {
    "crash": (["crash five"], ["crash three"], "crash", "found->value", "return NULL"),
    "assertion": (["assert 2"], ["assert 1"], "assertion", "assert(depth", "depth = -depth"),
    "status": (["status 5"], ["status 2"], "wrong-status", "return status", "int status"),
    "timeout": (["loop 3"], ["loop 2"], "timeout", "while (i != 10)", "i += 2"),
    "division": (["divide 0"], ["divide 5"], "crash", "100 / atoi", "100 / atoi"),
    "missing": (["words a -b c", "a\n-b\nc\n"], ["words a b"], "missing-output", "", "argv[i][0] == '-'"),
    "extra": (["words a b", "a\n"], ["words a"], "extra-output", "puts(argv[i])", "i < argc"),
}


LITTLE = ("--trace-limit", "2M", "--budget", "15")  # enough of an endless run


@pytest.mark.parametrize("name", FAILURES)
def test_kinds_of_failures(name):
    (fails, *expect), passes, kind, shows, cause = FAILURES[name]
    words = ["--fails", fails, *(["--expect", expect[0]] if expect else []), "--passes", passes[0]]
    done = whence(kinds(), "locate", "kinds.c", *words, "--passes", "words x", "--timeout", "0.5", *LITTLE, "--json")
    symptom = done.json["symptom"]
    assert symptom["kind"] == kind
    assert not shows or symptom["line"] == line_of(KINDS, shows)
    assert rank_of(done, "kinds.c", line_of(KINDS, cause)) <= 5


def test_endless_run_is_kept_in_part():
    words = ["--fails", "loop 3", "--passes", "loop 2", "--timeout", "0.5", *LITTLE]
    done = whence(kinds(), "locate", "kinds.c", *words, "--no-alter", "--json")
    assert "recorded the failing case `fails 1`, of which the first 2 MiB are kept" in done.json["summary"]


LONG_WAY = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = 0; i < 300000; i++)
        sum += i % 7;
    int wanted = atoi(argv[1]);
    int limit = wanted > 20 ? 12 : wanted;
    printf("%d %ld\\n", limit, sum & 1);
    return 0;
}
"""


def test_of_a_run_that_is_too_long_to_record_the_end_is_looked_at():
    words = ["--fails", "30", "--expect", "30 0", "--passes", "7", "--passes", "20", "--without", "chain"]
    folder = subject_folder("long-way", long_c=LONG_WAY)
    done = whence(folder, "locate", "long.c", *words, "--trace-limit", "1M", "--budget", "15", "--json")
    assert done.json["symptom"]["line"] == line_of(LONG_WAY, "printf")
    assert any("are kept: what came before is not known" in line for line in done.json["summary"])
    assert rank_of(done, "long.c", line_of(LONG_WAY, "wanted > 20")) <= 2


def test_of_a_run_that_there_is_no_time_for_the_end_is_looked_at(monkeypatch):
    monkeypatch.setattr("whence.diagnosis.locate_steps.RECORDING", 1e-6)
    words = ["--fails", "30", "--expect", "30 0", "--passes", "7", "--passes", "20", "--no-alter"]
    done = whence(subject_folder("no-time", long_c=LONG_WAY), "locate", "long.c", *words, "--json")
    assert done.json["symptom"]["line"] == line_of(LONG_WAY, "printf")
    assert any("there was no time for all of it" in line for line in done.json["summary"])
    assert not any("no trace" in line for line in done.json["summary"])
    assert line_of(LONG_WAY, "wanted > 20") in {entry["line"] for entry in done.json["slice"]}


def test_crashing_access_has_no_value():
    done = whence(kinds(), "locate", "kinds.c", "--fails", "crash five", "--passes", "crash three", "--json")
    entry = next(e for e in done.json["ranking"] if e["line"] == line_of(KINDS, "found->value"))
    assert "`found->value`, which was" not in entry["evidence"]["text"]
    slices = next(at for at in done.json["slice"] if at["line"] == entry["line"])
    assert [v["name"] for v in slices["values"]] == ["found"]


def test_shortest_failing_run_is_recorded():
    words = ["--fails", "words a b c d", "--expect", "", "--fails", "words a", "--expect", "", "--passes", "words"]
    words += ["--no-alter"]
    done = whence(kinds(), "locate", "kinds.c", *words, "--json")
    assert "recorded the failing case `fails 2`" in done.json["summary"]
    named = whence(kinds(), "locate", "kinds.c", *words, "--case", "fails 1", "--json")
    assert "recorded the failing case `fails 1`" in named.json["summary"]


def test_each_expect_belongs_to_the_fails_before_it():
    words = ["--fails", "status 7", "--fails", "words a", "--expect", "b", "--fails=status 3", "--passes", "words"]
    done = whence(kinds(), "spectrum", "kinds.c", *words, "--json")
    assert done.json["cases"]["names_failed"] == ["fails 1", "fails 2", "fails 3"]


def test_input_file_and_quotes(tmp_path):
    folder = kinds()
    write(folder / "in put.txt", "axb\n")
    words = ["--fails", "echo < 'in put.txt'", "--expect", "axb", "--passes", "words 'a b' \"c d\""]
    done = whence(folder, "locate", "kinds.c", *words, "--no-alter", "--json")
    assert '"ayb", expected "axb"' in done.json["symptom"]["text"]


def test_expected_text_may_lack_the_final_newline():
    right = whence(kinds(), "locate", "kinds.c", "--fails", "words a", "--expect", "a", "--passes", "words b")
    assert right.status == 2 and "no case fails" in right.err
    words = ["--fails", "words a", "--expect", "ab", "--passes", "words b", "--no-alter", "--json"]
    wrong = whence(kinds(), "locate", "kinds.c", *words)
    assert '"a", expected "ab"' in wrong.json["symptom"]["text"]


@pytest.mark.parametrize("passing", [(), ("--passes", "3")])
def test_expected_text_may_lack_the_final_newline_where_the_program_crashes(passing):
    """Its own run does not tell whether it prints one: a passing case does."""
    text = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rest = 2;
    if (n > 9) /* FAULT */
        rest = 0;
    printf("%d\\n", n / rest);
    return 0;
}
"""
    folder = subject_folder("crash-newline", rest_c=text)
    words = ("chain", "rest.c", "--fails", "10", "--expect", "5", *passing, "--reference", "switch", "--json")
    assert whence(folder, *words).json["chain"]["reference"]["line"] == 6


def test_several_sources_and_flags():
    folder = subject_folder(
        "several",
        main_c='#include <stdio.h>\nint twice(int);\nint main(void) { printf("%d\\n", twice(N)); return 0; }\n',
        twice_c="int twice(int n)\n{\n    return n + n + 1;\n}\n",
    )
    words = ["main.c", "twice.c", "--cflags", "-DN=4 -O2 '-DS=\"a b\"'", "--fails", "", "--expect", "8"]
    done = whence(folder, "locate", *words, "--json")
    assert rank_of(done, "twice.c", 3) <= 2
    assert "captured 2 modules, ran 1 case (0 passed, 1 failed)" in done.json["summary"]


# ---- whence.toml -----------------------------------------------------------------------------------------------------


def project(name: str, cases: str) -> Path:
    """A project of several folders, built by make with ``whence-cc``, with a suite of shell scripts."""
    folder = subject_folder(name)
    files = {"lib/stack.h": STACK_H, "lib/stack.c": STACK_C, "src/ops.c": OPS_C, "src/calc.c": CALC_C}
    for path, text in {**files, "Makefile": MAKEFILE}.items():
        write(folder / path, text)
    for test, (arguments, right) in TESTS.items():
        write(folder / f"tests/{test}.sh", f'test "$(../calc {arguments})" = "{right}"\n')
        lines = [f'out=$(./calc {arguments})\n[ "$out" = "{right}" ] && echo "ok 1" || echo "not ok 1"']
        write(folder / f"t/{test}.t", "\n".join(["echo 1..2", *lines, "[ $(./calc 7) = 7 ] && echo ok 2\n"]))
    build = f"make -s CC={Path(sys.executable).parent}/whence-cc"
    write(folder / "whence.toml", f'[program]\npath = "calc"\nbuild = "{build}"\n[cases]\n{cases}')
    return folder


SUITES = {
    "check": 'command = "make -s check TESTS={name}.sh"\nnames = ["add", "sub", "mixed", "negative"]\n',
    "tap": 'command = "sh {name}"\nscripts = "t/*.t"\nverdict = "tap"\n',
    "once": 'command = "sh {name}"\nscripts = "t/*.t"\nverdict = "tap"\ncopy = "once"\n',
}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("name", SUITES)
def test_suite_of_a_project_with_an_archive(name):
    done = whence(project(f"suite-{name}", SUITES[name]), "locate", "--json")
    assert done.json["summary"][0] == "captured 3 modules, ran 4 cases (2 passed, 2 failed)"
    assert rank_of(done, "src/ops.c", fault_line(OPS_C)) == 1
    assert {at["file"] for at in done.json["slice"]} == {"lib/stack.c", "src/ops.c", "src/calc.c"}
    assert done.json["symptom"]["line"] == line_of(CALC_C, "printf")
    assert done.json["symptom"]["text"].startswith("the test failed (")
    assert any("the cases are commands" in line and TAKE_APART in line for line in done.json["summary"])


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_suite_with_a_case_of_the_command_line():
    folder = project("suite-check", SUITES["check"])
    done = whence(folder.parent, "spectrum", "-C", folder.name, "--passes", "1 2 +", "--fails", "2 1 -", "--json")
    assert done.json["cases"] == {"passed": 4, "failed": 2, "names_failed": ["sub", "negative"]}


def test_command_that_does_not_run_the_program():
    folder = project("suite-none", 'command = "echo no such tool >&2; false"\n')
    (folder / "sums").unlink(missing_ok=True)
    done = whence(folder, "locate")
    assert (done.status, "no case ran the instrumented program" in done.err) == (2, True)
    assert "test `command` fails, and says at its end: no such tool" in done.err
    assert "other captured programs" not in done.err
    shutil.copy2(folder / "calc", folder / "sums")
    done = whence(folder, "locate")
    assert "other captured programs here, of which `path` may name one: sums" in done.err


FOLDER_OF_CASES = {"cases/a/args": "1 2", "cases/a/expected": "2 prices, 0 large\nsum 3\n", "cases/b/args": "200 5"}


def test_folder_of_cases():
    folder = prices().with_name("prices-folder")
    files = {"prices.c": PRICES, **FOLDER_OF_CASES, "cases/b/expected": RIGHT}
    files["whence.toml"] = '[program]\nsources = ["prices.c"]\n[cases]\nfolder = "cases"\n'
    for path, text in files.items():
        write(folder / path, text)
    done = whence(folder.parent, "locate", "-C", folder.name, "--no-alter", "--json")
    assert done.json["cases"] == {"passed": 1, "failed": 1, "names_failed": ["b"]}
    assert all("-C prices-folder" in c["command"] for c in done.json["next"])


def test_file_of_cases_with_outputs():
    folder = prices().with_name("prices-file")
    files = {"prices.c": PRICES, "cases.txt": "# two cases\n1 2\n200 5\n"}
    files |= {"outputs/t1": "2 prices, 0 large\nsum 3\n", "outputs/t2": RIGHT}
    files["whence.toml"] = '[program]\nsources = "prices.c"\n[cases]\nfile = "cases.txt"\noutputs = "outputs"\n'
    for path, text in files.items():
        write(folder / path, text)
    done = whence(folder, "locate", "--json")
    assert done.json["cases"] == {"passed": 1, "failed": 1, "names_failed": ["2"]}
    assert rank_of(done, "prices.c", fault_line(PRICES)) <= 2


BY_NAME = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *out = fopen(argv[1], "w");
    int count = atoi(argv[2]);
    int shown = count > 5 ? count + 1 : count; /* FAULT */
    BEFORE
    fprintf(out, "begin\\n");
    fprintf(out, "%d\\n", shown);
    fclose(out);
    AFTER
    return 0;
}
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_output_that_is_opened_by_its_name_is_that_of_the_program(name: str) -> None:
    text = BY_NAME.replace("BEFORE", "").replace("AFTER", "")
    folder = subject_folder("by-name", p_c=text)
    words = ("--fails", f"{name} 7", "--expect", "begin\n7\n", "--passes", f"{name} 3", "--json")
    done = whence(folder, "locate", "p.c", *words).json
    assert done["symptom"]["line"] == line_of(text, '"%d')
    assert done["ranking"][0]["line"] == line_of(text, "FAULT")
    assert not [line for line in done["summary"] if "not altered" in line or "from its start" in line]


@pytest.mark.parametrize(("before", "after"), [('puts("top");', ""), ("", 'puts("end");'), ('fputs("a", stderr);', "")])
def test_what_is_written_by_both_names_is_what_the_program_leaves(before: str, after: str) -> None:
    """Each name has a position of its own in a file, so that one may write over the other."""
    text = BY_NAME.replace("BEFORE", before).replace("AFTER", after)
    folder = subject_folder("by-both-names", p_c=text)
    build_and_run = f"{sys.executable} -m ziglang cc p.c -o plain && ./plain /dev/stdout 7 > out"
    subprocess.run(build_and_run, shell=True, cwd=folder, capture_output=True, check=True)
    right = (folder / "out").read_text()
    words = ("--fails", "/dev/stdout 7", "--expect", right.replace("8", "7"), "--passes", "/dev/stdout 3", "--json")
    done = whence(folder, "rules", "p.c", *words).json
    assert line_of(text, "FAULT") in {entry["line"] for entry in done["ranking"]}, right


TURNED = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct box { int left, width, is_turned; };
static void *work(void *box) { return box; }
static void turn(struct box *box, int screen)
{
    box->is_turned = 1;
    box->left = screen - box->left; /* FAULT */
}
int main(int argc, char **argv)
{
    struct box box = {atoi(argv[1]), atoi(argv[2]), 0};
    pthread_t other;
    if (argc > 4) {
        pthread_create(&other, NULL, work, &box);
        pthread_join(other, NULL);
    }
    if (argc > 3)
        turn(&box, atoi(argv[3]));
    printf("%d %d %d\\n", box.left, box.width, box.is_turned);
    return 0;
}
"""


def test_edits_and_a_chain_where_the_failing_runs_start_no_threads():
    failing = ("--fails", "3 10 60", "--expect", "47 10 1", "--fails", "8 5 40", "--expect", "27 5 1")
    passing = ("--passes", "1 2", "--passes", "7 3", "--passes", "0 0")
    options = ("--cflags=-pthread", "--budget", "60", "--json")
    done = whence(subject_folder("turned", turned_c=TURNED), "locate", "turned.c", *failing, *passing, *options)
    assert rank_of(done, "turned.c", line_of(TURNED, "FAULT")) == 1
    mends = [rule for rule in done.json["rules"] if rule.get("confirmed") and rule["f2p"] == 2]
    assert "box->left = screen - box->left - box->width; /* FAULT */" in [rule["after"] for rule in mends]
    assert done.json["chain"]["steps"]
