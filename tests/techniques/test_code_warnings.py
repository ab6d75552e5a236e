"""What is odd about executed statements, what the compiler warns of, say: where it counts, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_tool import subject_folder, whence

from whence.findings import Entry, Statement
from whence.run.cases import Case
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.code_warnings import code_warnings

# Adds words to a list's end, and prints it; `put` takes the list first.
WORDS = """\
#include <stdio.h>
#include <string.h>
struct list { int count; const char *words[8]; };
static int put(struct list *to, const char *word, int length)
{
    int at;                                     /* 6 */
    at = to->count;                             /* 7 */
    to->words[at] = word;
    to->count = at + 1;
    return length;
}
int main(int argc, char **argv)
{
    struct list list = {0};
    int letters = 0;
    for (int i = 1; i < argc; i++)
        if (strlen(argv[i]) > 2)
            letters += put(&list, argv[i], (int)strlen(argv[i])); /* 18 */
    printf("%d %d\\n", list.count, letters);    /* 19 */
    return 0;
}
"""


def subject_of(text: str, name: str) -> Subject:
    folder: Path = subject_folder(name, p_c=text)
    return subject_from_sources([folder / "p.c"], [], [Case("one", ("abc",))], DEFAULT_LIMITS)


def entry_of(line: int, passing: int) -> Entry:
    """A statement that so many of ten passing cases executed."""
    return Entry(Statement("p.c", line), 1.0, 1, 1, {"passing": passing, "passing_total": 10})


def warned(text: str, name: str, lines: Sequence[int] = range(1, 30)) -> dict[int, tuple[float, str]]:
    """How much the compiler's warnings speak for each line, and the words, where those lines were executed."""
    executed = [entry_of(line, 0) for line in lines]
    found = code_warnings(subject_of(text, name), executed, time.monotonic() + 60)
    return {e.statement.line: (e.evidence["warned"], e.evidence["text"]) for e in found.ranking}


def test_right_code_has_no_warnings() -> None:
    assert warned(WORDS, "warned-none") == {}


def test_a_type_that_is_not_meant_is_warned_of() -> None:
    found = warned(WORDS.replace('%d %d\\n", list.count', '%ld %d\\n", list.count'), "warned-type")
    assert found.keys() == {19} and found[19][0] == 1.0
    assert found[19][1].startswith("the compiler warns: format specifies type 'long'")


def test_the_declaration_of_what_has_no_value_has_less() -> None:
    found = warned(WORDS.replace("    at = to->count; ", "    ;               "), "warned-unset")
    assert {line: strength for line, (strength, _) in found.items()} == {8: 1.0, 6: 0.5}
    assert "the compiler warns of p.c:8: variable 'at' is uninitialized when used here" in found[6][1]


def test_code_that_is_never_come_to_is_told_at_the_jump_in_front_of_it() -> None:
    text = WORDS.replace("at = to->count;", "return at = to->count;")
    assert text != WORDS
    found = warned(text, "warned-jump", range(1, 8))
    assert found == {7: (1.0, "the compiler warns on line 8: code will never be executed")}


@pytest.mark.parametrize(("comment", "lines"), [("", {5}), ("/* fall through */", set()), ("/* the next */", {5})])
def test_a_case_that_goes_on_into_the_next_one_is_told_unless_a_comment_says_that_it_is_meant(
    comment: str, lines: set[int]
) -> None:
    text = f"""\
int main(int argc, char **argv)
{{
    switch (argc) {{
    case 1:
        argc += 2;
        {comment}
    case 2:
        argc -= 2;
    }}
    return argc > 9;
}}
"""
    assert warned(text, f"warned-falls-{len(comment)}", (3, 5, 8, 10)).keys() == lines


def test_a_block_that_stands_alone_is_told_at_its_first_statement() -> None:
    text = WORDS.replace("    to->words[at] = word;\n", "    {\n        to->words[at] = word;\n    }\n")
    (line,) = (n for n, one in enumerate(text.split("\n"), 1) if "words[at] = word" in one)
    assert warned(text, "warned-block") == {line: (1.0, "a block stands alone: nothing decides whether it is done")}
    own = text.replace("    {\n        to->", "    {\n        int own = at;\n        (void)own;\n        to->")
    assert warned(own, "warned-block-own") == {}


def test_what_was_not_executed_does_not_count() -> None:
    text = WORDS.replace('%d %d\\n", list.count', '%ld %d\\n", list.count')
    assert warned(text, "warned-elsewhere", range(1, 19)) == {}


def test_a_kind_that_many_lines_have_means_nothing() -> None:
    more = "".join(f'    printf("%ld\\n", {n});\n' for n in range(3))
    assert warned(WORDS.replace("    return 0;\n", f"{more}    return 0;\n"), "warned-often") == {}


@pytest.mark.parametrize(("passing", "strength"), [(0, 1.0), (8, 1.0), (9, 0.0), (10, 0.0)])
def test_what_nearly_all_passing_cases_execute_is_told_and_counts_for_nothing(passing: int, strength: float) -> None:
    text = WORDS.replace('%d %d\\n", list.count', '%ld %d\\n", list.count')
    subject = subject_of(text, "warned-usual")
    (found,) = code_warnings(subject, [entry_of(19, passing)], time.monotonic() + 60).ranking
    assert found.evidence["warned"] == strength and "the compiler warns: format" in found.evidence["text"]


def test_without_time_nothing_is_said() -> None:
    text = WORDS.replace('%d %d\\n", list.count', '%ld %d\\n", list.count')
    assert code_warnings(subject_of(text, "warned-late"), [entry_of(19, 0)], time.monotonic() - 1).ranking == []


@pytest.mark.parametrize("without", ["", "warnings"])
def test_what_the_compiler_warns_of_comes_first_where_nothing_mends(without: str) -> None:
    # A pointer in place of a number: it is compiled, and adds up to what nobody expects.
    text = WORDS.replace(
        "letters += put(&list, argv[i], (int)strlen(argv[i]));", "letters += put(&list, argv[i], argv[i]);"
    )
    words = ["--no-alter", "--no-generate", "--json", "--fails", "abc", "--expect", "1 3\n", "--passes", "a"]
    done = whence(
        subject_folder(f"warned-{without}", p_c=text), "locate", "p.c", *words, "--without", f"races,{without}"
    )
    evidence = {entry["line"]: entry["evidence"] for entry in done.json["ranking"]}
    says = "incompatible pointer to integer conversion" in evidence[18]["text"]
    assert says is not bool(without) and ("warnings" in evidence[18]) is not bool(without)
