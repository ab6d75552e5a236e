"""Variables of two versions that correspond, by the numbers that passes over traces give them."""

from __future__ import annotations

from snippets import Snippet, snippet

from whence.probe.matched_variables import matched_locals, matched_statics
from whence.probe.pointers import Declarations
from whence.program.correspondence import NONE, correspond

MAIN = """\
#include <stdio.h>
struct pair { int a, b; } shared;
int numbers[4];
static int own = 1;
int part(struct pair p, int *to);
int main(void)
{
    static int times;
    struct pair p = {1, 2};
    int sums[3] = {0};
    for (int i = 0; i < 3; i++) {
        int *at = &sums[i], k[2] = {i, i};
        times += part(p, at) + k[0];
    }
    puts("done");
    return sums[0] + own > 99;
}
"""
PART = (
    'static int own;\nint part(struct pair p, int *to)\n{\n    const char *said[] = {"no", "yes"};\n    own += p.a;\n'
)
PART = "struct pair { int a, b; };\n" + PART + "    return said[p.b > 1][0] + *to;\n}\n"


def told(first: Snippet, second: Snippet) -> dict[str, str | None]:
    """For each variable of the first version its partner: modules are told by number, functions by name."""
    subjects = first.subject, second.subject
    found = correspond(*(subject.program for subject in subjects))
    sides = [Declarations(subject.program, subject.plan, subject.numbering) for subject in subjects]
    statics, locals_ = matched_statics(found, *sides), matched_locals(found, *sides)
    names = [[f"{item.module}:{item.register}" for item in side.statics] for side in sides]
    own = [
        [f"{subject.program.functions[item.function].name}:{item.register}" for item in side.locals]
        for subject, side in zip(subjects, sides, strict=True)
    ]
    pairs = [(mine, names[1][n] if n != NONE else None) for mine, n in zip(names[0], statics.tolist(), strict=True)]
    pairs += [(mine, own[1][n] if n != NONE else None) for mine, n in zip(own[0], locals_.tolist(), strict=True)]
    return dict(pairs)


def test_a_version_that_is_the_same():
    found = told(snippet(MAIN, part=PART), snippet(MAIN, part=PART))
    assert all(mine == theirs for mine, theirs in found.items())
    assert {"0:@own", "1:@own", "0:@main.times", "0:@.str", "main:%sums", "main:%k", "part:%said"} <= found.keys()


def test_more_variables_and_others_of_their_names_and_modules():
    main = MAIN.replace('    puts("done")', '    puts("well");\n    puts("done")').replace(
        "    for (int i", "    {\n        int k[2] = {0, 5};\n        own += k[1];\n    }\n    for (int i"
    )
    other = "int extra(void)\n{\n    static int own;\n    return own++;\n}\n"
    found = told(snippet(MAIN, part=PART), snippet(main, other=other, part=PART.replace("own += p.a", "own -= p.a")))
    assert found["1:@own"] == "2:@own" and found["0:@own"] == "0:@own"
    assert found["0:@.str"] == "0:@.str.1"  # "done"
    assert found["main:%k"] == "main:%k2"  # that of the loop
    assert found["part:%said"] == "part:%said"


def test_another_size_is_another_variable():
    main = MAIN.replace("numbers[4]", "numbers[5]").replace("sums[3]", "sums[4]").replace("int times", "long times")
    found = told(snippet(MAIN, part=PART), snippet(main, part=PART))
    assert [found[name] for name in ("0:@numbers", "main:%sums", "0:@main.times")] == [None, None, None]
    assert found["0:@shared"] == "0:@shared" and found["main:%p"] == "main:%p"
