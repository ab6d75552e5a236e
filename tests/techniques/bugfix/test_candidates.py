"""Candidate edits: what they may name, and in which order they come."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import Kind, edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.expression_types import ExpressionTypes
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.suspects import Suspects

TEXT = """\
static int declared(int n);
static int first(int n)
{
    int twice = n + n, rest = n;
    rest -= twice;
    return rest;
}
static int declared(int n) { return first(n) + 1; }
static int second(int n) { return declared(n) - 1; }
"""


def edits_on(line: int) -> set[bytes]:
    source = CSource(TEXT.encode())
    return {edited(source, edit).split(b"\n")[line - 1] for _, edit in FileCandidates(source, "a.c").on(line)}


def test_no_function_is_called_before_it_is_declared() -> None:
    assert b"static int declared(int n) { return declared(n) + 1; }" in edits_on(8)
    assert not any(b"second(" in text for text in edits_on(8))
    assert any(b"first(n) - 1" in text for text in edits_on(9))


def test_no_variable_is_used_in_its_own_first_value() -> None:
    found = edits_on(4)
    assert b"    int twice = n - n, rest = n;" in found and b"    int twice = n + n, rest = twice;" in found
    assert not any(b"twice = twice" in text or b"rest = rest" in text for text in found)


def test_edits_come_once_and_the_first_statement_comes_first() -> None:
    source = CSource(TEXT.encode())
    edits = list(Suspects({"a.c": FileCandidates(source, "a.c")}, [("a.c", 5), ("a.c", 6), ("b.c", 1)], {}).edits())
    assert len({(edit.file, edit.parts) for edit in edits}) == len(edits) > 20
    assert edits[0].line == 5 and {edit.line for edit in edits} == {5, 6}


def test_the_nearest_numbers_of_the_same_function_come_first() -> None:
    others = "".join(f"static int f{n}(int n) {{ return n + {n} + {n}; }}\n" for n in range(100, 130))
    many = "".join(f" n += {n};" for n in [*range(50, 60)] * 2)
    source = CSource((others + f"static int mod(int n) {{{many} return n / 36 + n % 30; }}\n").encode())
    (text,) = [text for text in source.text.split(b"\n") if b"mod" in text]
    line = source.text.split(b"\n").index(text) + 1
    found = {edited(source, edit).split(b"\n")[line - 1] for _, edit in FileCandidates(source, "a.c").on(line)}
    assert text.replace(b"% 30", b"% 36") in found


def test_a_pointer_is_assigned_and_stepped_but_not_multiplied() -> None:
    source = CSource(b"static char *end(char *at, int by)\n{\n    at = at + by;\n    by = 2;\n    return at;\n}\n")
    made = {edited(source, edit) for line in (3, 4) for _, edit in FileCandidates(source, "a.c").on(line)}
    signs = (b"+=", b"-=", b"*=", b"|=")
    at, by = (
        {sign for sign in signs if any(b"    %b %b" % (name, sign) in text for text in made)} for name in (b"at", b"by")
    )
    assert at == {b"+=", b"-="} and by == set(signs)


# ---- What a fix can be made of ---------------------------------------------------------------------------------------

QUEUE = """\
#include <string.h>
enum state { FREE, BUSY, GONE };
struct task { const char *name; enum state state; int level; long waited; struct task *next; };
struct queue { struct task *head; int length, limit; };
static struct queue queue;
static int same(const struct task *task, const char *name) { return strcmp(task->name, name) == 0; }
static int length_of(struct task *first) { int n = 0; while (first) { n++; first = first->next; } return n; }
static struct task *find(const char *name, int hash)
{
    struct task *other = queue.head;
    for (struct task *task = queue.head; task; task = task->next)
        if (task->level == hash)
            return task;
    other->waited = 0;
    return other;
}
static void remove_task(struct task *victim, int at, const int *sizes)
{
    int sum = sizes[at], removed = 0;
    if (victim->level > 3)
        removed++;
    queue.head = victim->next;
    sum += sizes[0];
    queue.limit = sum + removed;
}
"""


def made_of(text: str, place: str) -> set[str]:
    """The lines that edits make of the line that holds ``place``, white space left out."""
    source = CSource(text.encode())
    line = text[: text.index(place)].count("\n") + 1
    found = FileCandidates(source, "q.c").on(line)
    texts = [edited(source, edit).decode() for _, edit in found]
    return {"".join(new.split()) for new in texts}


def is_made(text: str, place: str, new: str) -> bool:
    """Whether an edit of its line makes ``new`` of ``place``."""
    return "".join(text.replace(place, new).split()) in made_of(text, place)


@pytest.mark.parametrize(
    ("place", "new"),
    [
        # conditions: constants of the type, another string, members, what other functions check, and their opposites
        ("task->level == hash", "task->level == hash && task->state != GONE"),
        ("task->level == hash", "task->level == hash && strcmp(name, task->name) == 0"),
        ("task->level == hash", "task->level == hash && task->waited > 0"),
        ("victim->level > 3", "victim->level > 3 && victim->next != NULL"),
        ("victim->level > 3", "victim->level > 3 || victim->level == 3"),
        # bounds and early returns
        ("    sum += sizes[0];", "    if (sum < 0) return; sum += sizes[0];"),
        ("    other->waited = 0;", "    if (other == NULL) return NULL; other->waited = 0;"),
        ("    sum += sizes[0];", "    if (sum >= removed) sum = removed - 1; sum += sizes[0];"),
        # statements: with other names, of members, counted down, made less by what is reckoned elsewhere, undone
        ("    queue.head = victim->next;", "    victim->waited = 0; queue.head = victim->next;"),
        ("    queue.head = victim->next;", "    queue.length--; queue.head = victim->next;"),
        ("    sum += sizes[0];", "    removed = sum; sum += sizes[0];"),
        ("    queue.limit = sum + removed;", "    sum -= sizes[0]; queue.limit = sum + removed;"),
        ("if (victim->level > 3)\n        removed++;", "if (victim->level > 3)\n        removed++; else removed = 0;"),
        # terms: of the same type, of an index, a call around one, one more, a choice
        ("sizes[0]", "sizes[at]"),
        ("queue.limit = sum + removed", "queue.limit = sum + removed - at"),
        ("struct task *other = queue.head;", "struct task *other = hash == 0 ? queue.head : NULL;"),
        # the check without its condition, a statement further on
        ("if (victim->level > 3)\n        removed++;", "removed++;"),
    ],
)
def test_an_edit_is_made_of_what_the_program_has(place: str, new: str) -> None:
    assert is_made(QUEUE, place, new)


EXCHANGED = """\
struct box { int width, height; };
static int fit(struct box *outer, struct box *inner, int ways[8][8], int from, int to, char *name)
{
    outer->width -= inner->height;
    ways[from][to + 1] = 2;
    int left = ways[from][0] - 3 * to;
    return left < to && name;
}
"""


@pytest.mark.parametrize(
    ("place", "new", "can_be"),
    [
        ("ways[from][to + 1] = 2", "ways[to + 1][from] = 2", True),
        ("outer->width -= inner->height", "outer->height -= inner->width", True),
        ("ways[from][0] - 3 * to", "ways[to][0] - 3 * from", True),
        ("left < to", "to < left", False),  # the operator is changed
        ("left < to && name", "name < to && left", False),  # of another type
    ],
)
def test_two_things_that_stand_for_each_other_are_exchanged(place: str, new: str, can_be: bool) -> None:
    assert is_made(EXCHANGED, place, new) == can_be


LEAVING = """\
static int put(int *items, int *count, int item)
{
    items[*count] = item;
    ++*count;
    return 0;
}
static int value_of(int kind, int size, int *items, int *count)
{
    int value = 0;
    switch (kind) {
    case 1:
        value = size;
    case 2:
        value = 2 * size;
        break;
    }
    if (put(items, count, value) < 0) {
        value = -value;
    }
    return value;
}
static void print(char *name, int length)
{
    for (int i = 0; i < length; i++)
        name[i] = '.';
    puts(name);
}
"""


@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("value = size;", "value = size; break;"),
        ("value = -value;", "value = -value; return value;"),
        ("    items[*count] = item;", "    if (*count >= 2) return -1; items[*count] = item;"),  # as its caller asks
        ("    puts(name);", "    name[length] = '\\0'; puts(name);"),
    ],
)
def test_a_way_out_or_an_end_of_a_string_that_is_missing_is_put_in(place: str, new: str) -> None:
    text = LEAVING.replace("kind) {", "kind) { /* at most 2 */").replace("return 0;", "return *count > 2 ? 1 : 0;", 1)
    assert is_made(text, place, new)


@pytest.mark.parametrize(("asks", "is_there"), [("!add(1)", True), ("add(1) && n", True), ("add(1) > 4", False)])
def test_what_is_asked_for_0_may_return_it(asks: str, is_there: bool) -> None:
    text = "static int used;\nstatic int add(int n)\n{\n    used += n;\n    return 1;\n}\n"
    text += f"int run(int n)\n{{\n    if ({asks})\n        n++;\n    return n;\n}}\n"
    found = made_of(text, "used += n;")
    assert any("if(n<0)return0;used+=n;" in new for new in found) == is_there


def test_nothing_is_put_behind_what_leaves_and_no_break_where_there_is_nothing_to_leave() -> None:
    assert not any(";break;return" in text or ";break;break" in text for text in made_of(LEAVING, "        break;"))
    assert not any("break" in text.partition("value_of")[0] for text in made_of(LEAVING, "++*count;"))


def test_a_string_is_asked_to_end_where_its_comparison_does() -> None:
    text = "int has(const char *name, const char *key, int n)\n{\n    return strncmp(name, key, n) == 0;\n}\n"
    for string in ("name", "key"):
        assert is_made(text, "== 0", f"== 0 && {string}[n] == '\\0'")


def test_what_a_statement_sets_true_is_set_false_elsewhere() -> None:
    text = "void f(bool *seen, int n)\n{\n    for (int i = 0; i < n; i++)\n        use(i);\n    seen[n] = true;\n}\n"
    assert is_made(text, "        use(i);", "{ seen[n] = false; use(i); }")
    assert not any("seen[n]=true=false" in new for new in made_of(text, "use(i);"))


@pytest.mark.parametrize(
    ("done", "undone"),
    [
        ("*flags |= bit;", "*flags &= ~bit;"),
        ("*flags |= bit | 1;", "*flags &= ~(bit | 1);"),
        ("*flags &= ~bit;", "*flags |= bit;"),
        ("*flags &= ~(bit | 1);", "*flags |= (bit | 1);"),
        ("*flags += bit;", "*flags -= bit;"),
        ("counted++;", "counted--;"),
    ],
)
def test_what_a_statement_does_is_undone_elsewhere(done: str, undone: str) -> None:
    head = "static int counted;\nvoid f(int *flags, int bit, int c)\n"
    text = f"{head}{{\n    if (c == 1)\n        use(c);\n    else\n        {done}\n}}\n"
    assert is_made(text, "        use(c);", f"{{ {undone} use(c); }}")


def test_a_pointer_to_a_function_is_called_only_where_it_is_known() -> None:
    text = "static void each(void (*visit)(int), int n)\n{\n    visit(n);\n    puts(name);\n}\n"
    text += "static int other(int n)\n{\n    n++;\n    return n;\n}\n"
    assert not any(new.count("visit(n)") > 1 for new in made_of(text, "    n++;"))
    assert is_made(text.replace("puts(name)", 'puts("name")'), "    n++;", 'puts("name"); n++;')


def test_a_statement_is_moved_over_others() -> None:
    moved = QUEUE.replace("    queue.head = victim->next;\n", "").replace(
        "removed;\n}", "removed;\n    queue.head = victim->next;\n}"
    )
    assert "".join(moved.split()) in made_of(QUEUE, "    queue.head = victim->next;")


def test_no_term_of_another_type_is_put_in() -> None:
    assert not any("sizes[victim]" in text or "sizes[sizes]" in text for text in made_of(QUEUE, "sum += sizes[0];"))


def test_nothing_is_compared_with_itself_or_assigned_to_itself() -> None:
    text = "static int f(int a, int b, int *c)\n{\n    c[a] = c[b];\n    return c[a] < c[b] && a < b;\n}\n"
    for place in ("c[a] = c[b];", "return"):
        assert not any(
            wrong in new
            for new in made_of(text, place)
            for wrong in ("a<a", "b<b", "c[a]<c[a]", "c[a]=c[a];", "c[b]=c[b];")
        )
    assert is_made(text, "a < b", "a <= b")


def test_numbers_of_some_size_are_tried_around_one() -> None:
    text = "int f(int n)\n{\n    return n + 55;\n}\n"
    assert is_made(text, "55", "35") and is_made(text, "55", "80") and not is_made(text, "55", "29")


def test_a_term_is_left_out_rather_than_made_nothing() -> None:
    text = "int f(int n, int m)\n{\n    return n - m - 1 + 2 * m;\n}\n"
    found = made_of(text, "return")
    assert any("returnn-m+2*m;" in new for new in found)
    assert not any("-0+" in new or "*1;" in new for new in found)
    assert is_made(text, "2 * m", "1 * m")


KEEPING = """\
struct span { short from, to; };
static int most(const short *counts, const struct span *at, int n)
{
    int best = 0, place = -1, last = 0;
    for (int i = 0; i < n; i++) {
        if (counts[i] > best) {
            place = i;
        }
        if (at->to != last)
            place++;
        if (last > size(i))
            place--;
        else
            place = 0;
    }
    return place;
}
"""


@pytest.mark.parametrize(
    ("place", "new", "can_be"),
    [
        ("place = i;", "best = counts[i]; place = i;", True),
        ("place = i;", "place = i; best = counts[i];", True),
        ("place++;", "{ last = at->to; place++; }", True),
        ("place--;", "{ last = size(i); place--; }", False),  # a call may do something
        ("place = 0;", "{ last = at->to; place = 0; }", False),  # which that condition does not ask
    ],
)
def test_what_a_condition_compared_is_kept(place: str, new: str, can_be: bool) -> None:
    assert is_made(KEEPING, place, new) == can_be


ADDING = """\
struct item { int weight; char name[8]; };
int total(const struct item *items, int count, double *mean, char last)
{
    int sum = 0, i;
    for (i = 0; i < count; i++) {
        int weight = items[i].weight;
        *mean = weight;
    }
    return sum;
}
"""


@pytest.mark.parametrize(
    ("new", "can_be"),
    [
        ("*mean = weight; sum += weight;", True),
        ("sum += weight; *mean = weight;", True),
        ("*mean = weight; sum += *mean;", False),  # of another type
        ("*mean = weight; last += last;", False),
    ],
)
def test_a_term_is_added_to_another(new: str, can_be: bool) -> None:
    assert is_made(ADDING, "*mean = weight;", new) == can_be


SIZES = """\
#include <string.h>
#include <stdlib.h>
typedef int matrix[4][4];
struct node { char name[20]; struct node *next; };
void copy(matrix to, const struct node *from)
{
    matrix made;
    memcpy(to, made, sizeof(char *));
    struct node *first = malloc(sizeof(first));
    memcpy(first, from, 4);
}
"""


@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("sizeof(char *)", "sizeof made"),
        ("sizeof(char *)", "sizeof *to"),
        ("sizeof(first)", "sizeof *first"),
        ("from, 4", "from, sizeof *from"),
    ],
)
def test_a_size_is_that_of_what_the_statement_speaks_of(place: str, new: str) -> None:
    assert is_made(SIZES, place, new)


RECKONED = """\
int rest(int all, int used, int most, int *log)
{
    while (used + most < all)
        used += most * 2;
    log[used] = all - used;
    int left = used < all ? used : 0;
    return put(most) + left;
}
int other(int n, int used) { return used % n; }
"""


@pytest.mark.parametrize(
    ("place", "new", "can_be"),
    [
        ("log[used] =", "log[used + most] =", True),
        ("log[used] =", "log[all - used] =", True),
        ("log[used] =", "log[used % n] =", False),  # of which there is no n
        ("? used : 0", "? used + most : 0", True),
        ("put(most)", "put(most * 2)", True),
        ("used % n", "used + most", False),
    ],
)
def test_a_term_becomes_what_is_reckoned_from_it_elsewhere(place: str, new: str, can_be: bool) -> None:
    assert is_made(RECKONED, place, new) == can_be


MEASURED = """\
static int shelves, rooms, floors, readers, clerks, hours, chairs, tables, lamps, doors, today = 1;
struct loan { int due; int fee; };
void print(const struct loan *loan) { if (loan->due < today) loan->fee = loan->due - today; }
void lend(struct loan *loan, int days)
{
    loan->due = days > 0 ? days : 0;
    loan->fee = days;
    int due = days;
    loan->fee += due;
}
"""


@pytest.mark.parametrize(
    ("place", "new", "can_be"),
    [
        ("? days : 0", "? days + today : 0", True),  # what `due` is compared with in `print`
        ("int due = days", "int due = days - today", True),
        ("? days : 0", "? days + doors : 0", False),
        ("fee = days", "fee = days + today", False),
        ("days > 0 ?", "days + today > 0 ?", False),
    ],
)
def test_a_value_becomes_a_sum_with_what_its_variable_is_compared_with(place: str, new: str, can_be: bool) -> None:
    assert is_made(MEASURED, place, new) == can_be


SIBLINGS = """\
struct cell { int value, uses, left; };
int used(const struct cell *c) { return c->left + c->uses + c->value; }
void clear(struct cell *c)
{
    c->value = 0;
    c->uses = 0;
    c->left = 0;
}
void reset(struct cell *c, struct cell *d)
{
    int kept = c->left;
    c->value = 1;
    d->value = 1;
    d->uses = 0;
    c->uses = 1;
}
"""


def test_what_the_text_asks_for_comes_at_the_first_statements_first() -> None:
    files = {"a.c": FileCandidates(CSource(SIBLINGS.encode()), "a.c")}

    def lines(*statements: int) -> list[int]:
        return [edit.line for edit in Suspects(files, [("a.c", line) for line in statements], {}).asked_for()]

    assert lines(13, 12, 14, 15, 13)[:4] == [13, 12, 14, 15]  # where `kept` can be given back
    assert lines(14, 1)[0] == 14 and not lines(5, 6)
    assert lines(13, 12, 14, 15)[4:] == sorted(lines(13, 12, 14, 15)[4:], key=[13, 12, 14, 15].index)


GUARDS = """\
static void count(int n, int *sum)
{
    if (n > 3)
        *sum += n;
    if (n > 5) {
        *sum += 2; /* all of it */
    }
    if (n > 7)
        *sum += 3;
    else
        *sum = 0;
    while (n > 9)
        n--;
}
"""


@pytest.mark.parametrize(("line", "is_guarded"), [(4, False), (6, False), (9, True), (11, True), (13, True)])
def test_all_that_an_if_does_is_not_guarded_but_its_condition_gets_another_part(line: int, is_guarded: bool) -> None:
    file = FileCandidates(CSource(GUARDS.encode()), "a.c")
    assert any(part.kind is Kind.GUARD for _, edit in file.on(line) for part in edit.parts) is is_guarded
    assert is_guarded or any(b" && " in new for _, edit in file.on(line - 1) for _, new in edit.changes)


CALLING = """\
#include <ctype.h>
#define half(n) ((n) / 2)
#define twice(n) ((n) * 2)
#define between(n, a, b) ((n) > (a) && (n) < (b))
int total(int from, int to, const char *format, ...);
int length_of(const char *text);
int width_of(const char *text);
static int read(const char *text)
{
    int n = half(length_of(text));
    while (isdigit(*text))
        text++;
    return total(n, 1, "") + width_of(text);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "can_be"),
    [
        ("isdigit(", "isalnum(", True),
        ("half(", "twice(", True),
        ("half(", "between(", False),  # with another number of parameters
        ("length_of(", "width_of(", True),
        ("width_of(", "total(", False),
        ("half(", "main(", False),
    ],
)
def test_a_call_names_what_other_files_and_macros_have(old: str, new: str, can_be: bool) -> None:
    source = CSource(CALLING.encode())
    texts = {edited(source, e).decode() for n in (10, 11, 13) for _, e in FileCandidates(source, "a.c").on(n)}
    start, end = CALLING[: CALLING.index("static")], CALLING[CALLING.index("static") :]
    assert (start + end.replace(old, new) in texts) is can_be


FOUND = """\
static struct item *look(const char *name) { struct item *item = find(name, 0); return item ? item : NULL; }
static void rename(const char *old, const char *name)
{
    struct item *item;
    if (item != NULL)
        set(item, name);
}
"""


def test_what_a_variable_is_declared_with_elsewhere_is_assigned() -> None:
    source = CSource(FOUND.encode())
    texts = {edited(source, edit).decode() for _, edit in FileCandidates(source, "a.c").on(5)}
    assert FOUND.replace("    if (item", "    item = find(name, 0);\n    if (item") in texts


GRID = """\
struct job { int work, left; };
struct order { int left; bool urgent; };
static int walk(struct job *job, const struct order *order, int work, int pass)
{
    int col_step = 8, row_step = 8, done = 0;
    while (done < work) {
        if (pass & 1) {
            col_step >>= 1;
        } else {
            pass = 0;
        }
        done += col_step * row_step;
    }
    job->left = done;
    return done;
}
"""


@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("            pass = 0;", "            row_step >>= 1;\n            pass = 0;"),  # as is done about its twin
        ("    job->left = done;", "    job->work = work;\n    job->left = done;"),  # a variable of the member's name
        ("    return done;", "    job->left = order->left;\n    return done;"),  # another structure's member
    ],
)
def test_what_is_called_alike_is_treated_alike(place: str, new: str) -> None:
    source = CSource(GRID.encode())
    line = GRID.splitlines().index(place) + 1
    assert GRID.replace(place, new) in {edited(source, e).decode() for _, e in FileCandidates(source, "a.c").on(line)}


def test_what_stands_beside_a_place_is_tried_about_other_members_of_the_type_and_other_variables() -> None:
    text = """\
struct total { long files, dirs; int depth; long size; };
void clear(long *number);
long add(struct total *to, const struct total *of)
{
    long first, second, third;
    clear(&first);
    clear(&second);
    to->files += of->files;
    to->size += of->size;
    return to->depth += first + second + third;
}
"""
    source = CSource(text.encode())
    file = FileCandidates(source, "a.c")
    found = {line: {edit.new_text for _, edit in file.on(line)} for line in (7, 9)}
    assert b"to->dirs += of->dirs;" in found[9] and b"clear(&third);" in found[7]
    types = ExpressionTypes(Scope(source))
    assert [types.alike_members(name) for name in ("files", "depth", "none")] == [["dirs", "size"], [], []]
