"""Memory checking: each small program's error is the first one found, at its line; its correct twin has none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cli_programs import line_of
from trace_readers import record, subject_of

from bench.memory.programs import PROGRAMS, Program
from whence.probe.allocators import parse_allocators
from whence.subject.memory_check import Checked, Checker, Error, Kind
from whence.subject.memory_words import FoundErrors


def checked(text: str, leaks: bool = False, members: bool = False) -> Checked:
    subject = subject_of(text)
    return Checker(subject, members).check(record(subject).trace, leaks)


def errors(text: str, leaks: bool = False, members: bool = False) -> list[tuple[int, Kind]]:
    found = checked(text, leaks, members)
    return [(place(found, error), error.kind) for error in found.errors]


def place(found: Checked, error: Error) -> int:
    location = found.trace.location(error.event)
    assert location is not None
    return location.line


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_first_error_is_found_at_its_line(program: Program) -> None:
    assert errors(program.text, members=program.in_member)[0] == (program.line, Kind(program.kind))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_correct_twin_has_none(program: Program) -> None:
    assert errors(f"#define RIGHT\n{program.text}", members=True) == []


def test_what_stays_inside_of_a_structure_is_told_where_asked_for() -> None:
    for program in PROGRAMS:
        if program.in_member:
            assert errors(program.text) == []


def told(text: str, members: bool = False) -> list[dict]:
    subject = subject_of(text)
    found = Checker(subject, members).check(record(subject).trace)
    return [FoundErrors(subject, found).json(error) for error in found.errors]


NEIGHBOURS = """\
static int first[4], second[4];
static void put(int *cells, int at, int value) { cells[at] = value; }
int main(void)
{
    put(first, 3, 1);
    put(first, 5, 42);
    put(first, 6, 43);
    return second[0];
}
"""


def test_an_error_tells_object_access_distance_and_what_was_hit() -> None:
    (error,) = told(NEIGHBOURS)
    assert (error["line"], error["count"]) == (2, 2)
    assert (error["object"]["name"], error["object"]["type"], error["object"]["size"]) == ("first", "int [4]", 16)
    assert error["object"]["line"] == 1
    assert error["hit"]["name"] == "second"
    assert error["beyond"] == {"side": "behind", "distance": 4, "bytes": 4}
    assert [call["line"] for call in error["stack"]["first"]] == [2, 6]
    assert {"name": "at", "value": "5"} in error["access"]["values"]
    assert "hits `second`" in error["text"][0]


GONE = """\
#include <stdlib.h>
static void drop(char *block) { free(block); }
int main(void)
{
    char *block = calloc(10, 1);
    if (!block)
        return 1;
    drop(block);
    return block[3] == 77;
}
"""


def test_an_error_tells_where_a_block_was_made_and_given_back() -> None:
    (error,) = told(GONE)
    assert error["kind"] == "use-after-free"
    assert [call["line"] for call in error["object"]["stack"]["first"]] == [5]
    assert [call["line"] for call in error["object"]["gone"]["stack"]["first"]] == [2, 8]


HANDLES = """\
#include <regex.h>
#include <stdio.h>
#include <string.h>
static int lines(const char *name)
{
    FILE *in = fopen(name, "r");
    if (!in)
        return 0;
    int count = 0;
    for (int c; (c = fgetc(in)) != EOF;)
        count += c == '\\n';
    fclose(in);
    return count;
}
int main(void)
{
    regex_t first, second;
    regcomp(&first, "a", REG_NOSUB);
    regcomp(&second, "b", REG_NOSUB);
    regfree(&first);
    memcpy(&first, &second, sizeof first);
    int found = regexec(&first, "ab", 0, NULL, 0);
    regfree(&first);
    regcomp(&first, "c", REG_NOSUB);
    found += regexec(&first, "ab", 0, NULL, 0);
    regfree(&first);
    int known = lines("/etc/passwd") + lines("/etc/passwd") + lines("/etc/passwd");
    FILE *again = freopen("/dev/null", "w", stdout);
    fclose(stdout);
    fflush(stdin);
    return known < 0 || !again || found < 0;
}
"""


def test_handles_that_are_opened_anew_or_written_are_no_errors() -> None:
    """One address is a handle again and again; a handle of the program's own may be another one that it copied."""
    assert errors(HANDLES) == []


MOVED = """\
#include <stdio.h>
#include <stdlib.h>
struct step { struct step *next; int number; };
int main(int argc, char **argv)
{
    struct step *steps = malloc(2 * sizeof *steps);
    steps[0] = (struct step){ &steps[1], 1 };
    steps[1] = (struct step){ NULL, 2 };
    struct step *stale = &steps[1];
    char *between = malloc(9000);
    struct step *moved = realloc(steps, 4000 * sizeof *steps);
    moved[0].next += moved - steps;
    int sum = 0;
    for (struct step *one = moved; one; one = one->next)
        sum += one->number;
    if (argc > 1)
        sum += stale->number; // gone
    struct step *back = moved[0].next - 1;
    free(back);
    free(between);
    return sum != 3;
}
"""


def test_a_pointer_that_is_moved_along_with_its_block_is_none_into_the_old_one() -> None:
    """By the distance of the two blocks, as programs do, though C leaves it undefined."""
    assert errors(MOVED) == []
    stale = MOVED.replace("if (argc > 1)", "if (argc)")
    assert errors(stale) == [(line_of(stale, "// gone"), Kind.FREED)]


REOPENED = """\
#include <mntent.h>
#include <stdio.h>
int main(void)
{
    char line[80];
    FILE *in = fopen("/proc/self/mounts", "r");
    if (!in)
        return 2;
    fclose(in);
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    if (!mounts)
        return 2;
    int is_same = mounts == in, is_line = fgets(line, sizeof line, mounts) != NULL;
    endmntent(mounts);
    printf("%d %d\\n", is_same, is_line);
    return 0;
}
"""


def test_a_handle_that_an_unknown_function_opens_is_no_error() -> None:
    """Whence knows nothing of `setmntent`; its stream comes to lie where another one was."""
    assert errors(REOPENED) == []


CLOSED = """\
#include <stdio.h>
static FILE *open_log(void) { return fopen("/dev/null", "w"); }
int main(void)
{
    FILE *log = open_log();
    if (!log)
        return 2;
    fclose(log);
    for (int i = 0; i < 3; i++)
        fputs("late", log);
    return 0;
}
"""


def test_a_handle_tells_where_it_was_opened_and_closed() -> None:
    (error,) = told(CLOSED)
    assert (error["kind"], error["line"], error["count"]) == ("use-after-free", 10, 3)
    assert (error["object"]["kind"], error["object"]["line"]) == ("handle", 2)
    assert [call["line"] for call in error["object"]["gone"]["stack"]["first"]] == [8]
    assert "uses the stream that `fopen` made on " in error["text"][0] and "after it was closed" in error["text"][0]


LEAKS = """\
#include <stdlib.h>
int main(void)
{
    char *kept = malloc(10), *given = malloc(20);
    free(given);
    return kept == NULL;
}
"""


def test_leaks_are_told_where_asked_for() -> None:
    assert errors(LEAKS) == []
    (leak,) = checked(LEAKS, leaks=True).errors
    assert (leak.kind, leak.size) == (Kind.LEAK, 10)


KEPT = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; char *name; };
static struct node *first;
static char *made;
static struct node *add(struct node *next, const char *name)
{
    struct node *node = malloc(sizeof *node);   /* 10 */
    node->next = next;
    node->name = strdup(name);                  /* 12 */
    return node;
}
int main(int count, char **words)
{
    first = add(add(NULL, "one"), "two");
    asprintf(&made, "%d", count);               /* 18 */
    char *lost = malloc(30);                    /* 19 */
    char *here = malloc(40);                    /* 20 */
    lost = malloc(50);                          /* 21 */
    first->next = NULL;                         /* and with it the first node and its name */
    if (count > 0)
        exit(here == lost);
    return 0;
}
"""


def test_what_is_lost_and_what_could_still_be_reached() -> None:
    found = checked(KEPT, leaks=True)
    told = {(found.trace.location(found.table[e.object]["declared"]).line, e.size): e.writes for e in found.errors}
    sizes = {line: [bool(kept) for (at, _), kept in told.items() if at == line] for line in (18, 19, 20, 21)}
    assert sizes == {18: [True], 19: [False], 20: [True], 21: [True]}
    nodes = [bool(e.writes) for e in found.errors if e.size in (4, 16)]
    assert sorted(nodes) == [False, False, True, True]


def pooled(text: str) -> list[tuple[int, Kind]]:
    allocators = parse_allocators("pool_take(pool, size) pool_give(pool, pointer)")
    subject = replace(subject_of(text), allocators=allocators)
    found = Checker(subject).check(record(subject).trace)
    assert not found.remarks
    return [(place(found, error), error.kind) for error in found.errors]


POOL = """\
#include <stddef.h>
struct pool { char room[4096]; size_t used; void *free; };
static struct pool pool;
static void *pool_take(struct pool *from, size_t size)
{
    if (from->free) {
        void *taken = from->free;
        from->free = *(void **)taken;
        return taken;
    }
    void *taken = from->room + from->used;
    from->used += (size + 15) & ~15ul;
    return taken;
}
static void pool_give(struct pool *to, void *block)
{
    *(void **)block = to->free;
    to->free = block;
}
int main(void)
{
    char *word = pool_take(&pool, 10), *other = pool_take(&pool, 10);
    word[9] = 'a';
    other[0] = 'b';
    pool_give(&pool, word);
    char *again = pool_take(&pool, 10);
    again[9] = 'c';
    WRONG
    return other[0] != 'b';
}
"""
WRONG_WITH_POOLS = {
    "beyond a block": ("again[10] = 'd';", Kind.BOUNDS),
    "after it was given back": ("pool_give(&pool, other); other[1] = 'd';", Kind.FREED),
    "given back twice": ("pool_give(&pool, other); pool_give(&pool, other); return 0;", Kind.TWICE),
    "from inside": ("pool_give(&pool, other + 1); return 0;", Kind.NO_BLOCK),
}


@pytest.mark.parametrize("wrong, kind", WRONG_WITH_POOLS.values(), ids=WRONG_WITH_POOLS)
def test_blocks_of_the_programs_own_allocator(wrong: str, kind: Kind) -> None:
    assert pooled(POOL.replace("WRONG", wrong))[0] == (28, kind)


def test_an_allocator_that_is_used_right_has_no_error() -> None:
    assert pooled(POOL.replace("WRONG", "")) == []
    assert errors(POOL.replace("WRONG", "again[10] = 'd';")) == []  # one object, unless it is said


RIGHT = {
    "a pointer right behind an array is no access": """\
int main(void) { int a[4] = {1, 2, 3, 4}, sum = 0; for (int *p = a; p != a + 4; p++) sum += *p; return sum != 10; }
""",
    "a structure found from its member": """\
#include <stddef.h>
struct s { int a; int b[3]; };
static int of(int *b) { return ((struct s *)((char *)b - offsetof(struct s, b)))->a; }
int main(void) { struct s s = {5, {1, 2, 3}}; return of(s.b) != 5; }
""",
    "a longjmp leaves frames, whose places are used again": """\
#include <setjmp.h>
static jmp_buf back;
static void deep(int n) { char room[100]; room[0] = (char)n; if (n) deep(n - 1); else longjmp(back, 1); }
static int again(void) { char room[400]; for (int i = 0; i < 400; i++) room[i] = 1; return room[399]; }
int main(void) { if (!setjmp(back)) deep(5); return again() != 1; }
""",
    "bit-fields are set one by one": """\
struct s { unsigned a : 3, b : 5, c : 9; };
static int test(struct s *s) { return s->a == 3 && s->b == 1; }
int main(void) { struct s s; s.a = 3; s.b = 1; return !test(&s); }
""",
    "padding is copied and is nobody's": """\
#include <string.h>
struct s { char a; long b; };
int main(void) { struct s s, t; s.a = 1; s.b = 2; memcpy(&t, &s, sizeof t); return t.a + t.b != 3; }
""",
    "pointers through a sort": """\
#include <stdlib.h>
#include <string.h>
static int order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(void)
{
    char *words[3] = {strdup("c"), strdup("a"), strdup("b")};
    qsort(words, 3, sizeof *words, order);
    int wrong = strcmp(words[0], "a");
    for (int i = 0; i < 3; i++)
        free(words[i]);
    return wrong;
}
""",
    "a structure found from an array in it that was passed on, and its other members": """\
#include <stddef.h>
struct s { int a; char b[6]; int c; };
static int of(char *b)
{
    struct s *s = (struct s *)(b - offsetof(struct s, b));
    return s->a + s->c;
}
int main(void) { struct s s = {5, "other", 2}; return of(s.b) != 7; }
""",
    "an array at the end that stands for more": """\
#include <stdlib.h>
struct s { int n; char text[1]; };
int main(void) { struct s *s = malloc(sizeof *s + 8); s->text[7] = 1; int r = s->text[7]; free(s); return r != 1; }
""",
    "an array at the end that fills up what the alignment leaves": """\
#include <stdlib.h>
#include <string.h>
struct s { size_t n; unsigned users; char text[2]; };
int main(void)
{
    struct s *s = malloc(sizeof *s + 20);
    memcpy(s->text, "long enough", 12);
    int wrong = strcmp(s->text, "long enough");
    free(s);
    return wrong;
}
""",
    "a structure that is cleared from its first member on": """\
#include <string.h>
struct s { char a[4]; int b; } s;
int main(void) { memset(&s, 1, sizeof s); return s.b != 0x01010101; }
""",
    "arrays in one another, each within its own": """\
struct in { short at[3]; };
struct s { int a; struct in in[2]; int b; } s;
int main(void)
{
    short *at = s.in[1].at;
    struct in *in = s.in;
    for (int i = 0; i < 3; i++)
        at[i] = 1;
    in[1].at[2] = 4;
    return s.in[1].at[2] != 4;
}
""",
    "a flexible array member": """\
#include <stdlib.h>
struct s { int n; char text[]; };
int main(void) { struct s *s = malloc(sizeof *s + 8); s->text[7] = 1; int r = s->text[7]; free(s); return r != 1; }
""",
    "a variable of an outer block in a loop": """\
int main(void)
{
    int *last = 0, sum = 0;
    for (int i = 0; i < 3; i++) { int own = i; last = &own; sum += *last; }
    return sum != 3;
}
""",
    "variadic arguments": """\
#include <stdarg.h>
static int sum(int n, ...)
{
    va_list list;
    int all = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        all += *va_arg(list, int *);
    va_end(list);
    return all;
}
int main(void) { int a = 1, b[2] = {2, 3}; return sum(3, &a, &b[0], &b[1]) != 6; }
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_not_told(text: str) -> None:
    assert errors(text, members=True) == []


BY_MEMBER = """\
#include <stdlib.h>
#include <string.h>
struct inner { char tag[4]; char name[6]; };
struct outer { int id; struct inner inner; char rest[8]; };
static struct outer fixed;
int main(void)
{
    struct outer *made = malloc(sizeof *made);
    strcpy(fixed.inner.name, "seven..");
    strcpy(made->inner.tag, "four");
    free(made);
    made->inner.tag[0] = 'x';
    return 0;
}
"""


def test_an_error_inside_of_a_structure_tells_the_member_and_the_whole() -> None:
    first, second, third = told(BY_MEMBER, members=True)
    assert (
        "behind the end (8 in all) of the member `name` (char [6], 6 bytes) of `fixed` (struct outer"
        in first["text"][0]
    )
    assert "and hits other members of it" in first["text"][0]
    assert (
        "1 byte behind the end (5 in all) of the member `tag` (char [4], 4 bytes) of the block of" in second["text"][0]
    )
    assert (third["kind"], third["object"]["size"]) == ("use-after-free", 24)


GROWN = """\
#include <stdlib.h>
int main(void)
{
    char *last = malloc(1000);
    if (!last || !(last = realloc(last, 1500)))
        return 1;
    last[1499] = 1;
    last[1500] = 2;
    free(last);
    return 0;
}
"""


def test_a_block_that_grew_where_it_was_has_its_new_size() -> None:
    (error,) = told(GROWN)
    assert (error["line"], error["object"]["size"]) == (8, 1500)


def test_every_operation_of_the_runtime_is_known_to_formulas() -> None:
    from whence.formula.effects import Opcode
    from whence.trace.effects import OPERANDS

    assert [int(opcode) for opcode in Opcode] == list(range(1, len(OPERANDS)))


CALLS = """\
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>
int main(int argc, char **argv)
{
    int ends[2];
    char room[8], fresh[4], *block = malloc(16), *twelve = strdup("twelve bytes");
    wchar_t wide[4], *unended = malloc(8);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    wcscpy(wide, L"ab");
    unended[0] = unended[1] = L'x';
    switch (*argv[1]) {
    case 'r': send(ends[0], twelve, 12, 0); recv(ends[1], room, 12, 0); break;
    case 's': send(ends[0], block, 16, 0); break;
    case 'w': write(ends[0], fresh, 4); break;
    case 'n': wcsncat(wide, L"cdef", 3); break;
    case 'l': return wcslen(unended) == 99;
    case 'a': inet_ntop(AF_INET, "\\177\\0\\0\\1", room, sizeof room + 8); break;
    case 'R': send(ends[0], twelve, 12, 0); recv(ends[1], block, 16, 0); return block[0] != 't';
    case 'N': wcsncat(wide, L"cdef", 1); return wide[2] != L'c';
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("r", Kind.BOUNDS),
        ("s", Kind.UNDEFINED),
        ("w", Kind.UNDEFINED),
        ("n", Kind.BOUNDS),
        ("l", Kind.BOUNDS),
        ("a", Kind.BOUNDS),
        ("R", None),
        ("N", None),
    ],
)
def test_what_goes_through_sockets_and_wide_text_counts(how: str, kind: Kind | None) -> None:
    subject = subject_of(CALLS)
    found = Checker(subject).check(record(subject, how).trace)
    line = next((n for n, text in enumerate(CALLS.splitlines(), 1) if f"case '{how}'" in text))
    assert [(place(found, error), error.kind) for error in found.errors] == ([(line, kind)] if kind else [])


ASSEMBLY = """\
int main(void)
{
    char room[8];
    int at;
    __asm__ volatile("movl $3, %0" : "=m"(at));
    room[at] = 1;
    return room[3] != 1;
}
"""


def test_what_inline_assembly_may_have_written_is_not_undefined() -> None:
    assert errors(ASSEMBLY) == []


BY_VALUE = """\
#include <stdio.h>
struct option { int verbose, level; };
static struct option make(int level) { struct option made; made.level = level; return made; }
int main(void)
{
    struct option one = make(3), kept = one;
    printf("%d\\n", kept.level);
    return kept.level != 3;
}
"""


def test_a_structure_in_a_register_is_not_undefined_for_one_of_its_members() -> None:
    assert errors(BY_VALUE) == []


GIVEN = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
static char at(const char *text, size_t index) { return text[index]; }
int main(int argc, char **argv, char **variables)
{
    char copy[64], *path = getenv("PATH"), *value;
    size_t length = strlen(argv[2]);
    argv[0][0] = argv[0][0];
    switch (*argv[1]) {
    case 'i': return at(argv[2], length + 1) == 99;
    case 'n': return argv[argc + 1] == NULL;
    case 'w': strcpy(argv[2], "longer than that"); break;
    case 'c': memcpy(copy, argv[2], length + 9); break;
    case 'b': return argv[2][-1] == 99;
    case 'v': return variables[-1] == NULL;
    case 'e': return path[strlen(path) + 1] == 99;
    case 'E': return (*environ)[-1] == 99;
    case 'f': free(argv[2]); break;
    case 'R': strcpy(copy, argv[2]); return argv[argc] != NULL || at(argv[2], length) || *variables == *argv;
    case 'o':
        while (getopt(argc, argv, "a:") != -1)
            copy[0] = optarg[strlen(optarg)];
        return argv[optind] == NULL;
    case 'T': memset(argv[0], 'x', strlen(argv[0]) + strlen(argv[1]) + 1); return argv[0][strlen(argv[0]) - 1] != 'x';
    case 'W': strcpy(argv[2], "abc"); value = strtok(argv[2], "b"); return strlen(value) != 1;
    case 'A': while (*++argv) strcpy(copy, *argv); for (; *variables; variables++) copy[0] = **variables; return 0;
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "name", "size"),
    [
        ("i", "argv[2]", 5),
        ("n", "argv", 32),
        ("w", "argv[2]", 5),
        ("c", "argv[2]", 5),
        ("b", "argv[2]", 5),
        ("v", "environ", None),
        ("e", "environ[", None),
        ("E", "environ[0]", None),
        ("f", "argv[2]", 5),
        *((legal, "", None) for legal in ("R", "o", "T", "W", "A")),
    ],
)
def test_what_main_was_given_counts_as_objects(how: str, name: str, size: int | None) -> None:
    subject = subject_of(GIVEN)
    found = Checker(subject).check(record(subject, how, "text").trace)
    words = [FoundErrors(subject, found).json(error) for error in found.errors]
    if not name:
        assert words == []
        return
    (error,) = words
    at = next(n for n, text in enumerate(GIVEN.splitlines(), 1) if f"case '{how}'" in text)
    assert error["line"] == (6 if how == "i" else at)
    assert error["kind"] == ("wrong-free" if how == "f" else "out-of-bounds")
    assert error["object"]["name"].startswith(name) and f"`{error['object']['name']}` (" in error["text"][0]
    assert size is None or error["object"]["size"] == size


PARTS = """\
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <netdb.h>
#include <unistd.h>
#include <wchar.h>
struct padded { char tag; int count; char name[8]; long double exact; unsigned low : 3; };
struct part { struct iovec vector; };
int main(int argc, char **argv)
{
    int ends[2], some[4] = {1, 2, 3, 4};
    char *four = malloc(4), fresh[8], half[8], whole[8] = "whole";
    struct iovec parts[2] = {{four, 4}, {whole, 8}};
    struct msghdr message = {0};
    struct padded one, *two = malloc(2 * sizeof *two);
    wchar_t wide[4];
    struct addrinfo *hosts = NULL, hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    memset(half, 'h', 4);
    message.msg_iov = parts, message.msg_iovlen = 2;
    one.tag = 1, one.exact = 2, one.low = 1, strcpy(one.name, "x");
    send(ends[1], "0123456789ab", 12, 0);
    switch (*argv[1]) {
    case 'r': parts[0].iov_len = 6; readv(ends[0], parts, 2); break;
    case 'm': parts[0].iov_len = 6; recvmsg(ends[0], &message, 0); break;
    case 'w': parts[0] = parts[1]; parts[1].iov_len = 9; writev(ends[0], parts, 2); break;
    case 'u': parts[0].iov_base = fresh; writev(ends[0], parts, 2); break;
    case 'h': write(ends[0], half, 8); break;
    case 'H': parts[1].iov_base = half; parts[0] = parts[1]; sendmsg(ends[0], &message, 0); break;
    case 'p': write(ends[0], &one, sizeof one); break;
    case 'd': one.count = 2; two[0] = one; two[1].tag = 1; write(ends[0], two, 2 * sizeof *two); break;
    case 's': swprintf(wide, 8, L"%s", "narrow"); break;
    case 'a': getaddrinfo("127.0.0.1", NULL, &hints, &hosts); memcpy(&one, hosts->ai_addr, sizeof one); break;
    case 'f': getaddrinfo("127.0.0.1", NULL, &hints, &hosts); freeaddrinfo(hosts); return hosts->ai_family == 99;
    case 'R': readv(ends[0], parts, 2); write(ends[0], four, 4); break;
    case 'M': recvmsg(ends[0], &message, 0); sendmsg(ends[0], &message, 0); break;
    case 'P': one.count = 3; write(ends[0], &one, sizeof one); break;
    case 'F': memset(half + 4, 'f', 4); write(ends[0], half, 8); write(ends[0], half + 2, 6); break;
    case 'L': for (int i = 0; i < 8; i++) fresh[i] = half[i % 4]; write(ends[0], fresh, 8); break;
    case 'S': swprintf(wide, 4, L"%ls", L"abc"); return wcslen(wide) != 3;
    case 'A': getaddrinfo("127.0.0.1", NULL, &hints, &hosts); memcpy(&one, hosts->ai_addr, hosts->ai_addrlen); break;
    }
    return 0;
}
"""
B, U = Kind.BOUNDS, Kind.UNDEFINED


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("r", B, "writes 2 bytes behind the end (6 in all) of the block of 4 bytes"),
        ("m", B, "writes 2 bytes behind the end (6 in all) of the block of 4 bytes"),
        ("w", B, "of `whole` (char [8]"),
        ("u", U, "was never given a value, and is given to `writev`"),
        ("h", U, "4 of 8 bytes, from byte 4 on, of `half` (char [8]"),
        ("H", U, "4 of 8 bytes, from byte 4 on, of `half` (char [8]"),
        ("p", U, "`count` of `one` (struct padded"),
        ("d", U, "`count` of the block of"),
        ("s", B, "of `wide` (wchar_t [4]"),
        ("a", B, "that `getaddrinfo` made"),
        ("f", Kind.FREED, "that `getaddrinfo` made"),
        *((legal, None, "") for legal in "RMPFLSA"),
    ],
)
def test_parts_of_messages_and_buffers_count(how: str, kind: Kind | None, words: str) -> None:
    subject = subject_of(PARTS)
    found = Checker(subject).check(record(subject, how).trace)
    line = next(n for n, text in enumerate(PARTS.splitlines(), 1) if f"case '{how}'" in text)
    assert [(place(found, error), error.kind) for error in found.errors] == ([(line, kind)] if kind else [])
    assert all(words in FoundErrors(subject, found).json(error)["text"][0] for error in found.errors)


RETURNED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct span { char *at; size_t n; };
struct range { int tag; char *end; };
struct both { char *one, *other; };
static char small[4], large[64];
static struct span made(size_t n) { struct span s = {malloc(n), n}; return s; }
static struct span same(struct span s) { return s; }
static struct span again(size_t n) { return same(made(n)); }
static struct range behind(char *at, int n) { struct range r = {n, at}; r.end += n; return r; }
static struct both swapped(struct both b) { struct both c; c.one = b.other; c.other = b.one; return c; }
static struct span copied(const struct span *from) { struct span s; memcpy(&s, from, sizeof s); return s; }
static struct span printed(void)
{
    struct span s;
    s.at = small, s.n = 0;
    FILE *file = open_memstream(&s.at, &s.n);
    fprintf(file, "%040d", 1);
    fclose(file);
    return s;
}
static struct span written(void)
{
    struct span s;
    s.at = small, s.n = 0;
    char *other = large;
    __asm__ volatile("movq %1, (%0)" : : "r"(&s), "r"(other) : "memory");
    return s;
}
int main(int argc, char **argv)
{
    struct span s = made(8), t = again(4);
    struct both b = swapped((struct both){small, large});
    struct span u = copied(&s);
    switch (*argv[1]) {
    case 'm': s.at[s.n] = 1; break;
    case 'a': t.at[t.n] = 1; break;
    case 'b': *behind(small, 4).end = 1; break;
    case 's': b.other[4] = 1; break;
    case 'c': u.at[8] = 1; break;
    case 'f': free(same(u).at); s.at[0] = 1; return 0;
    case 'd': free(s.at); free(same(u).at); return 0;
    case 'R':
        memset(s.at, 1, s.n);
        memset(t.at, 1, t.n);
        *(behind(small, 4).end - 1) = 1;
        b.one[63] = b.other[3] = u.at[7] = 1;
        break;
    case 'P': u = printed(); if (u.at[39] != '1') return 1; free(u.at); break;
    case 'A': written().at[63] = 1; break;
    }
    free(s.at);
    free(t.at);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "kind"),
    [*((wrong, B) for wrong in "mabsc"), ("f", Kind.FREED), ("d", Kind.TWICE), *((legal, None) for legal in "RPA")],
)
def test_pointers_in_structures_that_are_returned_keep_their_objects(how: str, kind: Kind | None) -> None:
    subject = subject_of(RETURNED)
    found = Checker(subject).check(record(subject, how).trace)
    line = next(n for n, text in enumerate(RETURNED.splitlines(), 1) if f"case '{how}'" in text)
    assert [(place(found, error), error.kind) for error in found.errors] == ([(line, kind)] if kind else [])


def test_what_alloca_gave_is_called_that() -> None:
    text = """\
#include <alloca.h>
int main(int argc, char **argv)
{
    int *values = alloca((argc + 2) * sizeof *values);
    values[argc + 2] = 1;
    return values[argc + 2] != 1;
}
"""
    found = checked(text)
    told = FoundErrors(subject_of(text), found).json(found.errors[0])["text"][0]
    assert "writes 4 bytes behind the end of memory that `alloca` gave to `main`" in told


CHAINED = """\
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *text = malloc(8), *other = malloc(40), *at = text;
    for (int i = 0; i < 30; i++)
        at = stpcpy(at, "x");
    at = strchr(text, 'x') + 5;
    at = memset(at, 'y', 2);
    *at = 'z';
    return other == text;
}
"""


def test_what_a_copy_returns_beyond_the_end_stays_derived_from_the_object() -> None:
    (error,) = told(CHAINED)
    assert (error["line"], error["count"]) == (7, 23)  # also where it came into the next block
    assert error["beyond"] == {"side": "behind", "distance": 0, "bytes": 1}


IN_PLACE_OF_RESULT = """\
#include <stdio.h>
struct range { double start; long size; };
static struct range part(struct range whole, long most)
{
    if (most < whole.size) {
        struct range shorter = whole;
        shorter.size = most;
        return shorter;
    }
    return whole;
}
int main(void)
{
    struct range whole = {1.5, 4};
    printf("%ld %ld\\n", part(whole, 2).size, part(whole, 9).size);
    return 0;
}
"""


def test_a_local_in_the_place_of_the_result_is_written_by_every_return() -> None:
    assert errors(IN_PLACE_OF_RESULT) == []


HANDED_ON = """\
#include <stdio.h>
#include <stdlib.h>
struct item { int weight, count; };
static struct item *make(int weight)
{
    struct item *item = malloc(sizeof *item);   /* MADE */
    item->weight = weight;
    return item;
}
static int twice(int number) { return 2 * number; }
int main(int argc, char **argv)
{
    struct item *item = make(argc), copy = *item;
    int total = twice(copy.weight), all = 1;
    all += twice(HOW); /* READ */
    return printf("%d %d\\n", total, all) < 0;   /* USED */
}
"""


@pytest.mark.parametrize(("how", "name"), [("item->count", "item->count"), ("copy.count", "copy.count")])
def test_an_undefined_value_is_told_by_where_it_was_read_first(how: str, name: str) -> None:
    """Through arithmetic, an argument, a result and a structure's copy; what was given a value is not blamed."""
    text = HANDED_ON.replace("HOW", how)
    (error,) = told(text)
    origin = error["origin"]
    assert (origin["name"], origin["line"]) == (f"`{name}`", line_of(text, "READ"))
    assert error["line"] == line_of(text, "USED")
    made = f"`all` was made from `{name}` on p.c:{origin['line']}"
    assert error["text"][0] == f"{made}, which was never given a value, and is given to `printf`"
    block = origin["object"]
    expected = ("heap", line_of(text, "MADE")) if how == "item->count" else ("stack", line_of(text, "copy ="))
    assert (block["kind"], block["line"]) == expected
    assert told(text.replace(how, "7")) == []


KEPT_UNTIL_RETURN = """\
#include <alloca.h>
#include <stdio.h>
struct node { struct node *next; int value; };
int main(int argc, char **argv)
{
    struct node *list = NULL;
    for (int i = 0; i < 4 * argc; i++) {
        struct node *node = alloca((i + 1) * sizeof *node);
        node->next = list;
        node->value = i;
        list = node;
    }
    int sum = 0;
    for (; list; list = list->next)
        sum += list[AT].value;   /* HERE */
    return sum != 6 * argc;
}
"""


def test_each_block_of_an_alloca_in_a_loop_is_an_object_until_the_function_returns() -> None:
    assert errors(KEPT_UNTIL_RETURN.replace("AT", "0")) == []
    error = told(KEPT_UNTIL_RETURN.replace("AT", "list->value == 1 ? 2 : 0"))[0]
    assert (error["line"], error["kind"], error["count"]) == (line_of(KEPT_UNTIL_RETURN, "HERE"), "out-of-bounds", 1)
    assert error["object"]["size"] == 32


PRINTED_ONTO = """\
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static char line[64] = "abc";
static void put(char *to, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(to, room, format, list); /* LIST */
    va_end(list);
}
int main(void)
{
    put(line + 3, sizeof line - 3, "%s", "def");
    CALL /* HERE */
    return line[0] == 0;
}
"""
ONTO = {
    "at its beginning": ('sprintf(line, "%s,%d", line, 5);', "HERE"),
    "behind other text": ('snprintf(line, sizeof line, "/%.3s", line);', "HERE"),
    "through a list": ('put(line, sizeof line, "%d %s", 1, line + 2);', "LIST"),
    "up to its beginning": ('snprintf(line + 6, 8, "%.6s", line);', None),
    "from where nothing is written": ('snprintf(line, 4, "%s", line + 4);', None),
    "nothing": ('snprintf(line, 0, "%s", line);', None),
}


@pytest.mark.parametrize(("call", "where"), ONTO.values(), ids=ONTO)
def test_text_that_is_printed_onto_itself_overlaps(call: str, where: str | None) -> None:
    text = PRINTED_ONTO.replace("CALL", call)
    assert errors(text) == ([(line_of(text, where), Kind.OVERLAP)] if where else [])


SCANNED = """\
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    struct { char verb[8], path[8]; } row;
    char mark[2];
    int number = 0, place = 0;
    int count = sscanf(" TEXT", FORMAT, row.verb, row.path, &number, &place, mark); /* HERE */
    return count == 77;
}
"""
TAKEN = {
    "cut by the one behind it": ("much-too-long-for-both a", "%s %s", True),
    "behind others": ("GET much-too-long%n", "%s %[^%]", True),
    "within a width": ("GETxyz 1234567", "%3s%7s", False),
    "a set with signs of its own": ("GET a%*n 12", " %[A-Z] %[a%*n] %d%n", False),
    "up to both ends": ("1234567 7654321 5%x", "%s %s %d%%%n%1s", False),
    "by number": ("much-too-long a", "%2$s %1$s", True),
}


@pytest.mark.parametrize(("text", "how", "is_wrong"), TAKEN.values(), ids=TAKEN)
def test_text_that_a_later_conversion_of_the_same_scan_cuts_is_known(text: str, how: str, is_wrong: bool) -> None:
    program = SCANNED.replace("TEXT", text).replace("FORMAT", f'"{how}"')
    assert errors(program)[:1] == ([(line_of(program, "HERE"), Kind.BOUNDS)] if is_wrong else [])
