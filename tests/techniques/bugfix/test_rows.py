"""What a row of like statements lacks: copies about what is left over, where they stand, and what they may change."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates

# A parcel's label is read word by word, checked, and printed line by line.
PARCEL = """\
#include <stdbool.h>
enum reason { FINE, TOO_HEAVY, TOO_LONG, TOO_DEAR };
struct parcel { int weight, length, price; };
static bool number(const char *word, int most, int *to);
static int heaviest(void) { return 20; }
static int longest(void) { return 120; }
static int dearest(void) { return 500; }
static void show(const char *name, int value);
static bool read_parcel(struct parcel *p, char **words)
{
    int weight = 0, length = 0, price = 0;
    if (!number(words[1], 99, &weight) || !number(words[2], 999, &length) || !number(words[3], 9999, &price))
        return false;
    p->weight = weight;
    p->length = length;
    p->price = price;
    return true;
}
static enum reason refusal(int weight, int length, int price)
{
    if (weight > heaviest())
        return TOO_HEAVY;
    if (length > longest())
        return TOO_LONG;
    if (price > dearest())
        return TOO_DEAR;
    return FINE;
}
static void print_parcel(const struct parcel *p)
{
    show("weight", p->weight);
    show("length", p->length);
    show("price", p->price);
}
static int dearer(int weight, int price)
{
    int extra = price / 10;
    if (weight > 5)
        price += extra;
    return price;
}
static int dearest_way(int weight, int price)
{
    int extra = price / 20;
    if (weight > 5)
        price += extra;
    return price - 1;
}
int main(void)
{
    print_parcel(0);
    return refusal(dearer(1, 2), 2, 3) + dearest_way(1, 2) + read_parcel(0, 0);
}
"""


def squeezed(text: str) -> str:
    return "".join(text.split())


def completed(text: str) -> list[str]:
    """The files with what is left over used in each of the ways that are tried."""
    file = FileCandidates(CSource(text.encode()), "p.c", is_alone=True)
    return [squeezed(edited(file.source, edit).decode()) for edit in file.completing]


@pytest.mark.parametrize(
    "missing",
    [
        '    show("length", p->length);\n',  # the same about another member, in its name, too
        " || !number(words[3], 9999, &price)",  # but for its limit
        "    if (length > longest())\n        return TOO_LONG;\n",  # a function, a constant, and a variable at once
        "    if (price > dearest())\n        return TOO_DEAR;\n",
    ],
)
def test_a_row_gets_what_it_lacks(missing: str) -> None:
    assert PARCEL.count(missing) == 1
    right = PARCEL if "9999" not in missing else PARCEL.replace("9999", "999")
    assert squeezed(right) in completed(PARCEL.replace(missing, ""))


def test_what_another_function_does_about_a_name_is_done_here() -> None:
    begin, end = PARCEL.index("static int dearest_way"), PARCEL.index("int main")
    lacking = (
        PARCEL[:begin] + PARCEL[begin:end].replace("    if (weight > 5)\n        price += extra;\n", "") + PARCEL[end:]
    )
    assert squeezed(PARCEL) in completed(lacking)


def test_a_whole_program_lacks_nothing() -> None:
    assert completed(PARCEL) == []


def test_conditions_are_joined_by_either_operator_also_inside_of_others() -> None:
    text = PARCEL.replace(" || !number(words[3], 9999, &price)", "").replace(
        "(!number(words[1]", "(p && (!number(words[1]"
    )
    text = text.replace("&length))", "&length)))")
    found = completed(text)
    assert any("||!number(words[2],999,&length)||!number(words[3],999,&price)))" in one for one in found)
    assert any("(!number(words[2],999,&length)&&!number(words[3],999,&price))" in one for one in found)
