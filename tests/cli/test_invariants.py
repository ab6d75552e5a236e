"""``whence invariants``: candidates and ranking, with made inputs and with the user's cases; wrong use."""

from __future__ import annotations

import pytest
from cli_tool import Done, subject_folder, whence
from invariant_runs import line_of

from whence.cli.invariants import CHOICES, KINDS
from whence.techniques.likely_invariants.candidates import NAMES
from whence.techniques.likely_invariants.kinds import ALL
from whence.techniques.likely_invariants.training import Choice

FARES = """\
#include <assert.h>
#include <stdio.h>
static const int price[] = {120, 180, 260, 350, 410};
static int zones(int from, int to)
{
    int stops = to - from; /* FAULT */
    return stops / 5;
}
int main(void)
{
    int from, to, sum = 0;
    while (scanf("%d %d", &from, &to) == 2) {
        int n = zones(from, to);
        assert(n >= 0 && n < 5);
        sum += price[n];
    }
    printf("%d\\n", sum);
    return 0;
}
"""
INPUTS = {"bad_txt": "14 3\n", "one_txt": "2 9\n", "two_txt": "1 20\n3 8\n", "three_txt": "16 18\n0 3\n"}
PASSES = ("--passes", "< one.txt", "--passes", "< two.txt", "--passes", "< three.txt")


def fares(*words: str) -> Done:
    return whence(subject_folder("fares", fares_c=FARES, **INPUTS), "invariants", "fares.c", *words)


def test_names_are_those_of_the_technique():
    assert sorted(KINDS) == sorted(kind.name.lower() for kind in ALL if kind.name)
    assert sorted(CHOICES) == sorted(Choice)


def test_json_of_the_user_s_cases():
    done = fares("--fails", "< bad.txt", *PASSES, "--no-generate", "--json")
    assert done.status == 0
    found = done.json
    part = found["candidates"]
    assert part["training"] and set(part["training"]) == {"passes 1", "passes 2", "passes 3"}
    assert [step["step"] for step in part["steps"]] == list(NAMES.values())
    sizes = [step["sites"] for step in part["steps"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0
    entry = next(entry for entry in part["entries"] if entry["line"] == line_of(FARES, "FAULT"))
    assert (entry["value"], entry["low"], entry["high"]) == ("-11", "2", "19")
    assert "was -11 here; in 3 good runs it stayed within 2 to 19" in entry["text"]
    assert entry["kinds"][0] == "range" and entry["lines"][0]["line"] == entry["line"]
    assert found["ranking"][0]["evidence"]["failing_total"] == 1
    assert found["cases"] == {"passed": 3, "failed": 1, "names_failed": ["fails 1"]}
    assert found["symptom"]["kind"] == "assertion"


def test_one_failing_case_and_no_passing_one():
    done = fares("--fails", "< bad.txt", "--json", "--number", "5")
    part = done.json["candidates"]
    assert len(part["training"]) == 5 and all(" good " in name for name in part["training"])
    assert part["case"].endswith("reduced")
    assert any("inputs made close to it" in line for line in done.json["summary"])
    faulty = next(entry for entry in done.json["ranking"] if entry["line"] == line_of(FARES, "FAULT"))
    assert faulty["rank_worst"] <= 5


def test_paper():
    done = fares("--fails", "< bad.txt", "--json", "--paper")
    part = done.json["candidates"]
    assert part["choice"] == "edits"
    assert {kind for entry in part["entries"] for kind in entry["kinds"]} <= {"range", "crash"}
    steps = [list(NAMES.values()).index(entry["evidence"]["step"]) for entry in done.json["ranking"]]
    assert steps == sorted(steps, reverse=True)


def test_terminal():
    done = fares("--fails", "< bad.txt", *PASSES, "--no-generate")
    assert "learned invariants at" in done.out and "after dependence filtering" in done.out
    assert "`stops` on line 6 was -11 here = in 3 good runs it stayed within 2 to 19" in " ".join(done.out.split())


def test_html(tmp_path):
    page = tmp_path / "page.html"
    fares("--fails", "< bad.txt", *PASSES, "--no-generate", "--html", str(page))
    assert "was -11 here" in page.read_text()


def test_kinds_and_promotion():
    done = fares("--fails", "< bad.txt", *PASSES, "--no-generate", "--json", "--kinds", "branch")
    assert {kind for entry in done.json["candidates"]["entries"] for kind in entry["kinds"]} == {"branch"}
    done = fares("--fails", "< bad.txt", *PASSES, "--no-generate", "--json", "--kinds", "range", "--promote")
    lines = {entry["line"] for entry in done.json["candidates"]["entries"]}
    assert line_of(FARES, "return stops") in lines and line_of(FARES, "FAULT") not in lines


def test_expressions_end_at_memory():
    """With locals as registers the return's expression reaches the line that computed its value."""
    done = fares("--fails", "< bad.txt", *PASSES, "--no-generate", "--json", "--paper", "--promote")
    entry = next(e for e in done.json["candidates"]["entries"] if e["line"] == line_of(FARES, "return stops"))
    assert [line["line"] for line in entry["lines"]] == [line_of(FARES, "return stops"), line_of(FARES, "FAULT")]
    assert line_of(FARES, "FAULT") in {entry["line"] for entry in done.json["ranking"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kinds", "range,magic"), "'magic' is no kind of invariant; there are range, executed"),
        (("--no-generate",), "no good run to compare the failing one with"),
        (("--generate", "--input", "file:none"), "none"),
    ],
)
def test_wrong_use(words, message):
    done = fares("--fails", "< bad.txt", *words)
    assert done.status == 2 and message in done.err


def test_no_failing_case():
    done = fares("--passes", "< one.txt")
    assert done.status == 2 and "no case fails" in done.err


def test_a_wrong_output_without_an_oracle():
    text = '#include <stdio.h>\nint main(void)\n{\n    int n;\n    scanf("%d", &n);\n'
    text += '    printf("%d\\n", n);\n    return 0;\n}\n'
    folder = subject_folder("noracle", p_c=text, one_txt="1\n", two_txt="2\n")
    done = whence(folder, "invariants", "p.c", "--fails", "< one.txt", "--expect", "7\n")
    assert done.status == 2 and "--reference" in done.err
    words = ("--fails", "< one.txt", "--expect", "7\n", "--passes", "< two.txt", "--json")
    done = whence(folder, "invariants", "p.c", *words)
    assert done.status == 0 and any(line.startswith("no inputs were made: ") for line in done.json["summary"])
