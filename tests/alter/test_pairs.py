"""An altered run does what a program does in whose source the same change was made by hand.

Each pair is one C text. ``@{before ~> after}@`` marks what is edited by hand; the altered run is of the text with all
the ``before``, and the line of a mark is where its change's site stands.
"""

# ruff: noqa: E501 (a pair is read on one line)
from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from altering import WAYS, altered, change, instances, session, sites_at
from numpy.typing import NDArray
from snippets import Snippet, snippet

from whence.alter.changes import EVERY, Flag, Observed, Op, Verdict, Way
from whence.probe.sites import Operation, Role
from whence.run.cases import Case
from whence.run.outcome import Expected

MARK = re.compile(r"@\{(.*?) ~> (.*?)\}@")
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n#include <stdbool.h>\n"
FLAGS = ("-lm",)


@dataclass(frozen=True)
class Do:
    """A change: ``op`` at the site of a role on a mark's line, whose value in C holds ``text``.

    ``nth`` is the instance, from 0 (None: all of them), ``which`` the site where the line has several such.
    ``variable`` is the C name of VARIABLE's, ``target`` the argument of a call whose value is the address of POKE,
    ``right`` the right operand of EXCHANGE, a comparison.
    """

    op: Op
    role: Role
    text: str | None = None
    value: float = 0
    mark: int = 0
    nth: int | None = None
    which: int = 0
    flags: int = 0
    guard: float = 0
    operation: Operation | int | None = None
    variable: str = ""
    target: str = ""
    right: str = ""
    size: int = 0


@dataclass(frozen=True)
class Pair:
    """Two programs in one text, and what makes a run of the first one a run of the second."""

    name: str
    code: str
    changes: tuple[Do, ...]
    stdin: bytes = b""

    @property
    def before(self) -> Snippet:
        """The program that is altered."""
        return snippet(HEAD + MARK.sub(r"\1", self.code), *FLAGS)

    @property
    def after(self) -> Snippet:
        """The program that was edited by hand."""
        return snippet(HEAD + MARK.sub(r"\2", self.code), *FLAGS)

    @property
    def lines(self) -> list[int]:
        """The lines of the marks."""
        text = HEAD + self.code
        return [text.count("\n", 0, match.start()) + 1 for match in MARK.finditer(text)]

    def records(self, observed: Observed) -> NDArray[np.void]:
        """The changes as CHANGE records."""
        return np.concatenate([self._record(do, observed) for do in self.changes])

    def _record(self, do: Do, observed: Observed) -> NDArray[np.void]:
        subject, site = self.before.subject, self._site(do)
        address = 0
        if do.variable:
            plan, function = subject.alter_plan, int(subject.alter_plan.sites["function"][site])
            first, last = plan.functions[function : function + 2].tolist()
            address = plan.variable_names[first:last].index(do.variable)
        if do.target:
            (pointer,) = sites_at(self.before, self.lines[do.mark], Role.ARGUMENT, do.target)
            address = int(observed.events["value"][observed.events["site"] == pointer][0])
        clock = EVERY if do.nth is None else instances(observed, site)[do.nth]
        fixed = {"clock": clock, "flags": do.flags, "guard": do.guard, "address": address, "size": do.size}
        record = change(subject, site, do.op, do.value, operation=do.operation, **fixed)  # type: ignore[arg-type]
        if do.right:
            (right,) = sites_at(self.before, self.lines[do.mark], Role.COMPARE, do.right)
            record["address"], record["guard"] = right, subject.alter_plan.sites["block"][right]
        return record

    def _site(self, do: Do) -> int:
        found = sites_at(self.before, self.lines[do.mark], do.role, do.text)
        assert len(found) > do.which, f"no site {do.role.name} {do.text!r} on line {self.lines[do.mark]}"
        return found[do.which]


def pair(name: str, code: str, *changes: Do, stdin: bytes = b"") -> Pair:
    """A pair whose code is a whole program, or the body of main where it defines none."""
    if "int main(" not in code:
        code = f"int main(void) {{\n{code}\nreturn 0; }}\n"
    return Pair(name, code, changes, stdin)


LOAD, STORE, BRANCH, SWITCH = Role.LOAD, Role.STORE, Role.BRANCH, Role.SWITCH
ARGUMENT, CALL, RESULT, RETURN = Role.ARGUMENT, Role.CALL, Role.RESULT, Role.RETURN
BINARY, COMPARE = Role.BINARY, Role.COMPARE

VALUES = [
    pair(
        "a loaded value is used, and memory keeps its own",
        'int x = 3; int y = @{x ~> 10}@;\nprintf("%d %d\\n", y, x);',
        Do(Op.SET, LOAD, "x", 10),
    ),
    pair(
        "a loaded value is used, and memory is overwritten",
        'int x = 3; int y = @{x ~> (x = 10)}@;\nprintf("%d %d\\n", y, x);',
        Do(Op.SET, LOAD, "x", 10, flags=Flag.MEMORY),
    ),
    pair(
        "one instance of a load, memory overwritten for all later ones",
        """int step = 1, total = 0;
        for (int i = 0; i < 6; i++)
            total += @{step ~> (i == 2 ? (step = 5) : step)}@;
        printf("%d\\n", total);""",
        Do(Op.SET, LOAD, "step", 5, nth=2, flags=Flag.MEMORY),
    ),
    pair(
        "a stored value",
        'int a = 4, b = 5, sum;\nsum = @{a + b ~> 7}@;\nprintf("%d\\n", sum);',
        Do(Op.SET, STORE, "sum", 7),
    ),
    pair(
        "a function's result",
        """static int calls; static int twice(int n) { calls++; return 2 * n; }
        int main(void) { int r = @{twice(4) ~> (twice(4), 5)}@;
        printf("%d %d\\n", r, calls); return 0; }""",
        Do(Op.SET, RESULT, "twice", 5),
    ),
    pair(
        "an argument",
        """static int twice(int n) { printf("twice %d\\n", n); return 2 * n; }
        int main(void) { int n = 4;
        int r = twice(@{n ~> 9}@);
        printf("%d %d\\n", r, n); return 0; }""",
        Do(Op.SET, ARGUMENT, "twice", 9),
    ),
    pair(
        "an argument of a variadic function",
        'int n = 4;\nprintf("%d of %d\\n", n, @{n ~> n + 3}@);\nprintf("%d\\n", n);',
        Do(Op.ADD, ARGUMENT, "argument 3 of printf", 3),
    ),
    pair(
        "what a function returns",
        """static int square(int n) {
        return @{n * n ~> 1}@; }
        int main(void) { printf("%d %d\\n", square(3), square(5)); return 0; }""",
        Do(Op.SET, RETURN, None, 1),
    ),
    pair(
        "what one call of a function with several returns returns",
        """static int sign(int n) { static int calls; calls++; if (n < 0) return -1;
        return @{n > 0 ~> calls == 2 ? 8 : n > 0}@; }
        int main(void) { for (int i = -1; i < 4; i++) printf("%d ", sign(i)); putchar(10); return 0; }""",
        Do(Op.SET, STORE, None, 8, nth=0),
    ),
    pair(
        "an integer, every time",
        'int sum = 0; for (int i = 0; i < 5; i++)\nsum += @{i ~> (i + 10)}@;\nprintf("%d\\n", sum);',
        Do(Op.ADD, LOAD, "i", 10),
    ),
    pair(
        "something negative is added to something negative",
        'long x = -7000000000L;\nlong y = @{x ~> x - 12345678901L}@;\nprintf("%ld\\n", y);',
        Do(Op.ADD, LOAD, "x", -12345678901),
    ),
    pair(
        "a char wraps around",
        """unsigned char c = 250; for (int i = 0; i < 4; i++) {
        c = (unsigned char)(c + 1); unsigned char d = @{c ~> (unsigned char)(c + 3)}@;
        printf("%d %d\\n", c, d); }""",
        Do(Op.ADD, LOAD, "c", 3, which=1),
    ),
    pair(
        "a short, negated",
        'short s = -300;\nshort t = @{s ~> (short)-s}@;\nprintf("%d\\n", t);',
        Do(Op.NEGATE, LOAD, "s"),
    ),
    pair(
        "a double",
        'double x = 1.5; double y = @{x ~> x + -0.25}@;\nprintf("%.17g %.17g\\n", x, y);',
        Do(Op.ADD, LOAD, "x", -0.25),
    ),
    pair(
        "a float",
        'float x = 0.1f; float y = @{x ~> x + 1.0f}@;\nprintf("%.9g\\n", y);',
        Do(Op.ADD, LOAD, "x", 1.0),
    ),
    pair(
        "a double, negated",
        'double x = 0.0; printf("%g\\n", 1 / (\n@{x ~> -x}@));',
        Do(Op.NEGATE, LOAD, "x"),
    ),
    pair(
        "a float becomes another one where it is stored",
        'float x;\nx = @{0.5f ~> -3.25f}@;\nprintf("%g\\n", x * 2);',
        Do(Op.SET, STORE, "x", -3.25),
    ),
    pair(
        "an integer, negated in the last instance only",
        """int s = 0; for (int i = 1; i < 5; i++)
            s = s * 10 + @{i ~> (i == 4 ? -i : i)}@;
        printf("%d\\n", s);""",
        Do(Op.NEGATE, LOAD, "i", nth=3),
    ),
    pair(
        "a truth value is turned round",
        "bool done = false; for (int i = 0; i < 2; i++) { done = !done; bool other =\n@{done ~> !done}@;\n"
        'printf("%d %d\\n", done, other); }',
        Do(Op.NOT, LOAD, "done"),
    ),
    pair(
        "nothing is true, something is not",
        'for (int n = 0; n < 4; n++) {\nint m = @{n ~> !n}@;\nprintf("%d ", m); }',
        Do(Op.NOT, LOAD, "n"),
    ),
    pair(
        "only where it was a certain value",
        'for (int n = 0; n < 6; n++) {\nint m = @{n ~> (n == 3 ? 40 : n)}@;\nprintf("%d ", m); }',
        Do(Op.SET, LOAD, "n", 40, flags=Flag.GUARDED, guard=3),
    ),
    pair(
        "two guarded changes of one site",
        'for (int n = 0; n < 6; n++) {\nint m = @{n ~> (n == 3 ? 4 : n == 4 ? 3 : n)}@;\nprintf("%d ", m); }',
        Do(Op.SET, LOAD, "n", 4, flags=Flag.GUARDED, guard=3),
        Do(Op.SET, LOAD, "n", 3, flags=Flag.GUARDED, guard=4),
    ),
    pair(
        "a guarded result of a library function",
        """const char *words[] = {"pear", "fig", "plum"}; for (int i = 0; i < 3; i++) {
        size_t n = @{strlen(words[i]) ~> (strlen(words[i]) == 4 ? 1 : strlen(words[i]))}@;
        printf("%zu ", n); }""",
        Do(Op.SET, RESULT, "strlen", 1, flags=Flag.GUARDED, guard=4),
    ),
    pair(
        "a pointer becomes null",
        """const char *name = "Ada"; const char *who =
        @{name ~> NULL}@;
        puts(who ? who : "nobody");""",
        Do(Op.SET, LOAD, "name", 0),
    ),
    pair(
        "a pointer moves on",
        """const char *name = "Adam"; const char *who =
        @{name ~> name + 2}@;
        puts(who);""",
        Do(Op.ADD, LOAD, "name", 2),
    ),
]

PLACES = [
    pair(
        "another member of the same structure",
        """struct box { char c; int low, high; }; int main(void) { struct box boxes[2] = {{'a', 3, 8}, {'b', 5, 9}};
        for (struct box *b = boxes; b < boxes + 2; b++)
            printf("%d ", @{b->low ~> b->high}@);
        printf("%d\\n", boxes[0].low); return 0; }""",
        Do(Op.MEMBER, LOAD, "b->low", 4),
    ),
    pair(
        "a member that lies before, once",
        """struct box { short low, high; }; int main(void) { struct box b = {-3, 8}; int sum = 0;
        for (int i = 0; i < 3; i++)
            sum = 10 * sum + @{b.high ~> (i == 1 ? b.low : b.high)}@;
        printf("%d\\n", sum); return 0; }""",
        Do(Op.MEMBER, LOAD, "b.high", -2, nth=1),
    ),
    pair(
        "a field of a structure",
        """struct point { char tag; short x; long y; } p = {'a', 3, 4}, *q = &p;
        long s = @{q->x ~> 30}@;
        printf("%ld %d\\n", s + q->y, p.x);""",
        Do(Op.SET, LOAD, "q->x", 30),
    ),
    pair(
        "one element of an array as it is written",
        """int a[5]; for (int i = 0; i < 5; i++)
            a[i] = @{i * i ~> (i == 3 ? 100 : i * i)}@;
        for (int i = 0; i < 5; i++) printf("%d ", a[i]);""",
        Do(Op.SET, STORE, "a[i]", 100, nth=3),
    ),
    pair(
        "an element of an array of doubles, in memory too",
        """double a[3] = {1, 2, 3}, s = 0; for (int r = 0; r < 2; r++) for (int i = 0; i < 3; i++)
            s += @{a[i] ~> (r == 0 && i == 1 ? (a[i] = 20.5) : a[i])}@;
        printf("%g\\n", s);""",
        Do(Op.SET, LOAD, "a[i]", 20.5, nth=1, flags=Flag.MEMORY),
    ),
    pair(
        "a static local",
        """static int next(void) { static int count = 5;
        count = @{count + 1 ~> count + 3}@;
        return count; }
        int main(void) { for (int i = 0; i < 3; i++) printf("%d ", next()); return 0; }""",
        Do(Op.ADD, STORE, "count", 2),
    ),
    pair(
        "a global",
        """int level = 2; static int up(void) {
        return @{level ~> (level = 8)}@ + 1; }
        int main(void) { int a = up(); printf("%d %d\\n", a, level); return 0; }""",
        Do(Op.SET, LOAD, "level", 8, flags=Flag.MEMORY),
    ),
    pair(
        "a bit-field is not written",
        """struct { unsigned low : 3, high : 5; } s = {1, 2};
        @{s.high = 9; ~> ;}@
        s.low = 7; printf("%u %u\\n", s.low, s.high);""",
        Do(Op.KEEP, STORE, "s"),
    ),
    pair(
        "an assignment left out",
        'int x = 1;\n@{x = 5; ~> ;}@\nprintf("%d\\n", x);',
        Do(Op.KEEP, STORE, "x"),
    ),
    pair(
        "an initialiser left out in every round",
        """int seen[3] = {7, 7, 7}; for (int i = 0; i < 3; i++)
            @{seen[i] = i; ~> if (i != 1) seen[i] = i;}@
        printf("%d %d %d\\n", seen[0], seen[1], seen[2]);""",
        Do(Op.KEEP, STORE, "seen[i]", nth=1),
    ),
    pair(
        "an assignment of a double left out where it would be a certain value",
        """double best = 0; double found[] = {1, 4, 2}; for (int i = 0; i < 3; i++)
            @{best = found[i]; ~> if (found[i] != 2) best = found[i];}@
        printf("%g\\n", best);""",
        Do(Op.KEEP, STORE, "best", flags=Flag.GUARDED, guard=2),
    ),
    pair(
        "bytes of memory are overwritten",
        """char word[16] = "cucumber"; for (int i = 0; i < 3; i++) {
        @{puts(word) ~> (i == 1 ? (void)(word[0] = 'S', word[1] = 'h', word[2] = 0) : (void)0, puts(word))}@; }""",
        Do(Op.POKE, ARGUMENT, "puts", 0x006853, nth=1, target="puts", size=3),
    ),
    pair(
        "another local takes a variable's place",
        'int low = 3, high = 9; high += low;\nint x = @{low ~> high}@;\nprintf("%d\\n", x);',
        Do(Op.VARIABLE, LOAD, "low", variable="high"),
    ),
    pair(
        "a parameter takes a local's place",
        """static long f(long a, long b) { long c = a * b;
        return @{c ~> b}@ + 1; }
        int main(void) { printf("%ld %ld\\n", f(2, 30), f(4, 50)); return 0; }""",
        Do(Op.VARIABLE, LOAD, "c", variable="b"),
    ),
    pair(
        "a global takes a constant's place",
        """static int limit = 4; int main(void) { limit += 2; int x;
        x = @{10 ~> limit}@;
        printf("%d\\n", x); return limit != 6; }""",
        Do(Op.VARIABLE, STORE, "x", variable="limit"),
    ),
    pair(
        "another double is passed",
        """static void show(double d) { printf("%g\\n", d); }
        int main(void) { double width = 2.5, height = 4; height *= 2;
        show(@{width ~> height}@); return 0; }""",
        Do(Op.VARIABLE, ARGUMENT, "show", variable="height"),
    ),
]

WAYS_TO_GO = [
    pair(
        "a condition, always",
        """for (int x = 0; x < 5; x++) {
        if (@{x > 2 ~> !(x > 2)}@) puts("more"); else puts("less"); }""",
        Do(Op.NOT, BRANCH),
    ),
    pair(
        "a condition, once",
        """for (int i = 0; i < 6; i++) {
        if (@{i % 2 ~> (i == 3 ? !(i % 2) : i % 2)}@) printf("odd "); else printf("even "); }""",
        Do(Op.NOT, BRANCH, nth=3),
    ),
    pair(
        "a loop that ends early",
        'int i = 0;\nwhile (@{i < 10 ~> i != 4 && i < 10}@)\ni++;\nprintf("%d\\n", i);',
        Do(Op.SET, BRANCH, None, 0, nth=4),
    ),
    pair(
        "a loop that goes round once more",
        'int i = 0;\ndo i++; while (@{i < 4 ~> i < 5}@);\nprintf("%d\\n", i);',
        Do(Op.SET, BRANCH, None, 1, nth=3),
    ),
    pair(
        "the first part of a conjunction",
        """for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) {
        if (@{a ~> !a}@ && b) puts("both"); else puts("no"); }""",
        Do(Op.NOT, BRANCH, which=0),
    ),
    pair(
        "a conditional expression",
        'for (int n = -2; n < 3; n++) {\nint a = @{n < 0 ~> !(n < 0)}@ ? -n : n;\nprintf("%d ", a); }',
        Do(Op.NOT, BRANCH),
    ),
    pair(
        "a switch goes to another case",
        """for (int n = 0; n < 4; n++) {
        switch (@{n ~> 2}@) { case 0: puts("none"); break; case 2: puts("two"); default: puts("many"); } }""",
        Do(Op.SET, SWITCH, None, 2),
    ),
    pair(
        "a switch goes to its default once",
        """for (int n = 0; n < 3; n++) {
        switch (@{n ~> (n == 1 ? 99 : n)}@) { case 0: puts("none"); break; case 1: puts("one"); break;
        default: puts("many"); } }""",
        Do(Op.SET, SWITCH, None, 99, nth=1),
    ),
    pair(
        "a switch on a character goes astray for one of them",
        """const char *text = "abc"; for (int i = 0; text[i]; i++) {
        switch (@{text[i] ~> (text[i] == 'b' ? 'a' : text[i])}@) { case 'a': putchar('A'); break;
        case 'b': putchar('B'); break; default: putchar('?'); } }""",
        Do(Op.SET, SWITCH, None, ord("a"), flags=Flag.GUARDED, guard=ord("b")),
    ),
    pair(
        "a comparison's outcome, not the branch's",
        'for (int n = 0; n < 3; n++) {\nint is = @{n == 1 ~> !(n == 1)}@;\nprintf("%d ", is); }',
        Do(Op.NOT, COMPARE),
    ),
    pair(
        "where both had to hold one is enough",
        """static int calls; static int odd(int n) { calls++; return n % 2; }
        int main(void) { for (int n = 0; n < 6; n++)
            if (@{n > 3 && odd(n) > 0 ~> n > 3 || odd(n) > 0}@) printf("%d ", n);
        printf("of %d\\n", calls > 0); return 0; }""",
        Do(Op.EXCHANGE, BRANCH, "n > 3", 1, operation=0, right="odd(n) > 0"),
    ),
    pair(
        "where one was enough both have to hold",
        """for (int n = 0; n < 6; n++)
            if (@{n > 3 || n % 2 == 0 ~> n > 3 && n % 2 == 0}@) printf("%d ", n);""",
        Do(Op.EXCHANGE, BRANCH, "n > 3", 0, operation=1, right="n % 2 == 0"),
    ),
]

OPERATORS = [
    pair("plus to minus", 'int a = 7, b = 2;\nprintf("%d\\n", a @{+ ~> -}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.SUB)),
    pair("minus to times", 'int a = -7, b = 2;\nprintf("%d\\n", a @{- ~> *}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.MUL)),
    pair("divided to remainder", 'int a = -7, b = 2;\nprintf("%d\\n", a @{/ ~> %}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.SREM)),
    pair("times to divided", 'int a = -9, b = 2;\nprintf("%d\\n", a @{* ~> /}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.SDIV)),
    pair("remainder to divided, unsigned", 'unsigned long a = -7L, b = 3;\nprintf("%lu\\n", a @{% ~> /}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.UDIV)),
    pair("plus to remainder, unsigned", 'unsigned a = 4000000000u, b = 7;\nprintf("%u\\n", a @{+ ~> %}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.UREM)),
    pair("left to right, signed", 'int a = -64, b = 3;\nprintf("%d\\n", a @{<< ~> >>}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.ASHR)),
    pair("left to right, unsigned", 'unsigned a = 4000000000u, b = 3;\nprintf("%u\\n", a @{<< ~> >>}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.LSHR)),
    pair("right to left", 'long a = -5, b = 40;\nprintf("%ld\\n", a @{>> ~> <<}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.SHL)),
    pair("and to or", 'int a = 12, b = 10;\nprintf("%d\\n", a @{& ~> |}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.OR)),
    pair("or to exclusive or", 'int a = 12, b = 10;\nprintf("%d\\n", a @{| ~> ^}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.XOR)),
    pair("exclusive or to and", 'char a = -12, b = 10;\nprintf("%d\\n", a @{^ ~> &}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.AND)),
    pair("plus to divided, floating point", 'double a = 7, b = 0.3;\nprintf("%.17g\\n", a @{+ ~> /}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.FDIV)),
    pair("times to minus, float", 'float a = 7, b = 0.3f; float c = a @{* ~> -}@ b;\nprintf("%.9g\\n", c);',
         Do(Op.OPERATOR, BINARY, operation=Operation.FSUB)),
    pair("divided to plus, double", 'double a = 7, b = 0.3;\nprintf("%.17g\\n", a @{/ ~> +}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.FADD)),
    pair("minus to times, double", 'double a = 7, b = 0.3;\nprintf("%.17g\\n", a @{- ~> *}@ b);',
         Do(Op.OPERATOR, BINARY, operation=Operation.FMUL)),
    pair("the remainder of doubles", 'double a = -7.5, b = 2;\nprintf("%.17g\\n", @{a / b ~> fmod(a, b)}@);',
         Do(Op.OPERATOR, BINARY, operation=Operation.FREM)),
    pair("less to not more", 'for (int i = 0;\ni @{< ~> <=}@ 3; i++) printf("%d ", i);',
         Do(Op.OPERATOR, COMPARE, operation=Operation.SLE)),
    pair("more to less", 'for (int i = -2; i < 3; i++) {\nint is = i @{> ~> <}@ 0;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.SLT)),
    pair("not less to more", 'for (long i = -2; i < 3; i++) {\nint is = i @{>= ~> >}@ 0;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.SGT)),
    pair("equal to unequal", 'for (char i = -2; i < 3; i++) {\nint is = i @{== ~> !=}@ 0;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.NE)),
    pair("unsigned comparisons", 'unsigned a[] = {0, 5, 4000000000u}; for (int i = 0; i < 3; i++) {\n'
         'int is = a[i] @{< ~> >=}@ 5;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.UGE)),
    pair("more to not more, unsigned", 'unsigned long a[] = {0, 5, -1L}; for (int i = 0; i < 3; i++) {\n'
         'int is = a[i] @{> ~> <=}@ 5;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.ULE)),
    pair("pointers", 'int a[4]; for (int *p = a; p < a + 4; p++) {\nint is = p @{== ~> !=}@ a + 2;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.NE)),
    pair("doubles that may be no number", 'double a[] = {1, 2, NAN}; for (int i = 0; i < 3; i++) {\n'
         'int is = a[i] @{< ~> >=}@ 2;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.OGE)),
    pair("floats, equal to unequal", 'float a[] = {1, 2, NAN}; for (int i = 0; i < 3; i++) {\n'
         'int is = a[i] @{== ~> !=}@ 2;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.UNE)),
    pair("doubles, the negated comparison", 'double a[] = {1, 2, NAN}; for (int i = 0; i < 3; i++) {\n'
         'int is = @{a[i] < 2 ~> !(a[i] < 2)}@;\nprintf("%d ", is); }',
         Do(Op.OPERATOR, COMPARE, operation=Operation.FUGE)),
    pair("another bound", 'for (int i = 0;\ni < @{3 ~> 5}@; i++) printf("%d ", i);', Do(Op.RIGHT_SET, COMPARE, None, 5)),
    pair("a bound one further", 'int n = 3; for (int i = 0;\ni < @{n ~> n + 1}@; i++) printf("%d ", i);',
         Do(Op.RIGHT_ADD, COMPARE, None, 1)),
    pair("the left side of a comparison", 'for (int i = 0; i < 4; i++) {\nint is = @{i ~> i - 1}@ > 1;\nprintf("%d ", is); }',
         Do(Op.LEFT_ADD, COMPARE, None, -1)),
    pair("the left side is fixed", 'for (int i = 0; i < 4; i++) {\nint is = @{i ~> 2}@ > 1;\nprintf("%d ", is); }',
         Do(Op.LEFT_SET, COMPARE, None, 2)),
    pair("another step", 'for (int i = 0; i < 9;\ni @{++ ~> += 2}@) printf("%d ", i);', Do(Op.RIGHT_SET, BINARY, None, 2)),
    pair("another factor, once", 'long s = 1; for (int i = 0; i < 5; i++)\ns = s * @{3 ~> (i == 2 ? 5 : 3)}@;\nprintf("%ld\\n", s);',
         Do(Op.RIGHT_SET, BINARY, None, 5, nth=2)),
    pair("the left operand of a difference", 'int a = 3, b = 10;\nprintf("%d\\n", @{a ~> -1}@ - b);',
         Do(Op.LEFT_SET, BINARY, None, -1)),
    pair("doubles, an operand moved", 'double a = 3, b = 8;\nprintf("%.17g\\n", @{a ~> (a + 0.1)}@ / b);',
         Do(Op.LEFT_ADD, BINARY, None, 0.1)),
    pair("a float operand set", 'float a = 3, b = 8; float c = a * @{b ~> 0.7f}@;\nprintf("%.9g\\n", c);',
         Do(Op.RIGHT_SET, BINARY, None, 0.7)),
    pair("a result of arithmetic", 'int a = 3, b = 8;\nprintf("%d\\n", @{a + b ~> -(a + b)}@);', Do(Op.NEGATE, BINARY)),
    pair("a division by nothing", 'int a = 3, b = 8; puts("before"); fflush(stdout);\nprintf("%d\\n", a / @{b ~> (b - 8)}@);',
         Do(Op.RIGHT_SET, BINARY, None, 0)),
]  # fmt: skip

CALLS = [
    pair(
        "a function without a result is not called",
        """static int n; static void more(int by) { n += by; puts("more"); }
        int main(void) { for (int i = 1; i < 4; i++)
            @{more(i); ~> if (i != 2) more(i);}@
        printf("%d\\n", n); return 0; }""",
        Do(Op.SKIP, CALL, "more", nth=1),
    ),
    pair(
        "a function with an integer result",
        """static int calls; static int next(void) { return ++calls; }
        int main(void) { int s = 0; for (int i = 0; i < 4; i++)
            s = 10 * s + @{next() ~> 7}@;
        printf("%d %d\\n", s, calls); return 0; }""",
        Do(Op.SKIP, CALL, "next", 7),
    ),
    pair(
        "a function with a floating-point result",
        """static double half(double x) { puts("half"); return x / 2; }
        int main(void) { double d =
        @{half(9) ~> 2.75}@;
        printf("%g\\n", d); return 0; }""",
        Do(Op.SKIP, CALL, "half", 2.75),
    ),
    pair(
        "a function with a truth value, in a condition",
        """static bool good(int n) { return n % 2; }
        int main(void) { for (int i = 0; i < 4; i++)
            if (@{good(i) ~> true}@) printf("%d ", i);
        return 0; }""",
        Do(Op.SKIP, CALL, "good", 1),
    ),
    pair(
        "a library function that prints",
        'for (int i = 0; i < 3; i++)\n@{puts("hello"); ~> if (i != 1) puts("hello");}@\nputs("bye");',
        Do(Op.SKIP, CALL, "puts", 1, nth=1),
    ),
    pair(
        "a library function that copies",
        """char a[16] = "old", b[16] = "new";
        @{strcpy(a, b); ~> ;}@
        puts(a);""",
        Do(Op.SKIP, CALL, "strcpy", 0),
    ),
    pair(
        "a variadic library function",
        'int n = 5; printf("a");\n@{printf("%d %s\\n", n, "times"); ~> ;}@\nputs("b");',
        Do(Op.SKIP, CALL, "printf", 0),
    ),
    pair(
        "a variadic function of the program",
        """#include <stdarg.h>
        static int sum(int n, ...) { va_list list; va_start(list, n); int s = 0;
        for (int i = 0; i < n; i++) s += va_arg(list, int); va_end(list); return s; }
        int main(void) { int a = 1;
        int s = @{sum(3, a, 20, 300) ~> 4}@;
        printf("%d\\n", s); return 0; }""",
        Do(Op.SKIP, CALL, "sum", 4),
    ),
    pair(
        "a function by its address",
        """static int more(int n) { return n + 1; } static int less(int n) { return n - 1; }
        int main(void) { int (*steps[])(int) = {more, less, more}; int n = 5; for (int i = 0; i < 3; i++)
            n = @{steps[i](n) ~> (i == 1 ? 50 : steps[i](n))}@;
        printf("%d\\n", n); return 0; }""",
        Do(Op.SKIP, CALL, None, 50, nth=1),
    ),
    pair(
        "the status with which it exits",
        'puts("going");\nexit(@{0 ~> 3}@);',
        Do(Op.SET, ARGUMENT, "exit", 3),
    ),
    pair(
        "what main returns",
        'int main(void) { puts("end");\nreturn @{0 ~> 4}@; }',
        Do(Op.SET, RETURN, None, 4),
    ),
    pair(
        "a callback of the library",
        """static int ascending(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b;
        return @{(x > y) - (x < y) ~> (x < y) - (x > y)}@; }
        int main(void) { int a[] = {4, 1, 3, 2}; qsort(a, 4, sizeof *a, ascending);
        for (int i = 0; i < 4; i++) printf("%d ", a[i]); return 0; }""",
        Do(Op.NEGATE, RETURN),
    ),
    pair(
        "a crash",
        """int x = 1, *p = &x; puts("before"); fflush(stdout);
        *@{p ~> (volatile int *)0}@ = 2;
        puts("after");""",
        Do(Op.SET, LOAD, "p", 0),
    ),
    pair(
        "an abort",
        'int n = 1; puts("before"); fflush(stdout);\nif (@{n == 0 ~> n != 0}@) abort();\nputs("after");',
        Do(Op.NOT, BRANCH),
    ),
]

SEVERAL = [
    pair(
        "every call of a recursion",
        """static int depth(int n) { if (n == 0) return 0;
        return 1 + depth(@{n - 1 ~> (n - 1) / 2}@); }
        int main(void) { printf("%d\\n", depth(40)); return 0; }""",
        *[Do(Op.SET, ARGUMENT, "depth", k, nth=i) for i, k in enumerate((19, 9, 4, 1, 0))],
    ),
    pair(
        "every instance in a recursion with two calls",
        """static int fib(int n) { if (n < 2) return n;
        return fib(n - 1) @{+ ~> -}@ fib(n - 2); }
        int main(void) { for (int i = 0; i < 8; i++) printf("%d ", fib(i)); return 0; }""",
        Do(Op.OPERATOR, BINARY, "fib", operation=Operation.SUB, which=0),
    ),
    pair(
        "three instances of one site",
        """int s = 0; for (int i = 0; i < 10; i++)
            s = s * 3 + @{i ~> (i == 2 ? 100 : i == 5 ? -5 : i == 9 ? 0 : i)}@;
        printf("%d\\n", s);""",
        Do(Op.SET, LOAD, "i", 100, nth=2),
        Do(Op.NEGATE, LOAD, "i", nth=5),
        Do(Op.SET, LOAD, "i", 0, nth=9),
    ),
    pair(
        "one instance, and a rule from then on",
        """int a = 1, s = 0; for (int i = 0; i < 6; i++) {
            a = @{a + 1 ~> (i == 0 ? 50 : a + 1)}@;
            s += @{a ~> (i < 0 ? a : -a)}@; }
        printf("%d\\n", s);""",
        Do(Op.SET, STORE, "a", 50, nth=0),
        Do(Op.NEGATE, LOAD, "a", mark=1),
    ),
    pair(
        "two rules, the later one in the text first in time",
        """static int g; static int inner(int n) {
            return @{n ~> n + 1}@; }
        int main(void) { for (int i = 0; i < 3; i++) { if (i > 0) g += inner(i);
            g += @{i ~> 100 * i}@; } printf("%d\\n", g); return 0; }""",
        Do(Op.ADD, LOAD, "n", 1),
        Do(Op.SET, LOAD, "i", 0, mark=1, nth=0),
        Do(Op.SET, LOAD, "i", 100, mark=1, nth=1),
        Do(Op.SET, LOAD, "i", 200, mark=1, nth=2),
    ),
    pair(
        "in a callee first, then in the block that called it",
        """static int base = 7; static int inner(int n) {
            int m = @{n ~> 30}@;
            return m * 2; }
        int main(void) { int n = 3; int r = inner(n);
            r += @{base ~> 1000}@; printf("%d\\n", r); return 0; }""",
        Do(Op.SET, LOAD, "n", 30, nth=0),
        Do(Op.SET, LOAD, "base", 1000, mark=1, nth=0),
    ),
    pair(
        "in the block of a caller's caller",
        """static int a(int n) {
            return @{n ~> 5}@ + 1; }
        static int b(int n) { int r = a(n);
            return r + @{n ~> 70}@; }
        int main(void) { int r = 0; for (int i = 0; i < 3; i++) { r = 10 * r + b(i);
            r ^= @{i ~> (i == 1 ? 900 : i)}@; } printf("%d\\n", r); return 0; }""",
        Do(Op.SET, LOAD, "n", 5),
        Do(Op.SET, LOAD, "n", 70, mark=1),
        Do(Op.SET, LOAD, "i", 900, mark=2, nth=1),
    ),
    pair(
        "behind a longjmp",
        """#include <setjmp.h>
        static jmp_buf back; static void leave(int how) { longjmp(back, how); }
        int main(void) { volatile int n = 1; int how = setjmp(back); printf("%d\\n", how);
            if (how < 3) leave(how + 1);
            int m = @{n ~> 60}@; printf("%d %d\\n", m, how); return 0; }""",
        Do(Op.SET, LOAD, "n", 60, nth=0),
    ),
    pair(
        "before and behind a longjmp",
        """#include <setjmp.h>
        static jmp_buf back; static int total; static void add(int n) {
            total += @{n ~> n * 10}@; if (total > 25) longjmp(back, 1); }
        int main(void) { if (setjmp(back)) {
            int last = @{total ~> -total}@; printf("%d\\n", last); return 0; }
            for (int i = 1;; i++) add(i); }""",
        *[Do(Op.SET, LOAD, "n", 10 * k, nth=k - 1) for k in (1, 2)],
        Do(Op.NEGATE, LOAD, "total", mark=1),
    ),
    pair(
        "an instance that only the first change leads to",
        """int n = 3; if (@{n > 5 ~> !(n > 5)}@) { int m = n;
            m = @{m + 1 ~> 11}@; printf("big %d\\n", m); } else puts("small");""",
        Do(Op.NOT, BRANCH, nth=0),
        Do(Op.SET, STORE, "m", 11, mark=1),
    ),
    pair(
        "input that is read behind the point",
        """int n, s = 0; while (scanf("%d", &n) == 1)
            s = 2 * s + @{n ~> (n == 20 ? 21 : n)}@;
        printf("%d\\n", s);""",
        Do(Op.ADD, LOAD, "n", 1, nth=1),
        stdin=b"10 20 30 40",
    ),
    pair(
        "a rule and memory: a linked list is cut",
        """struct node { int value; struct node *next; }; int main(void) { struct node *head = NULL;
        for (int i = 0; i < 5; i++) { struct node *n = malloc(sizeof *n); n->value = i; n->next = head; head = n; }
        for (struct node *n = head; n;
            n = @{n->next ~> (n->value == 3 ? (n->next = NULL) : n->next)}@) printf("%d ", n->value);
        int count = 0; for (struct node *n = head; n; n = n->next) count++; printf("%d\\n", count); return 0; }""",
        Do(Op.SET, LOAD, "n->next", 0, nth=1, flags=Flag.MEMORY),
    ),
]

PAIRS = [*VALUES, *PLACES, *WAYS_TO_GO, *OPERATORS, *CALLS, *SEVERAL]


@pytest.mark.parametrize("made", PAIRS, ids=lambda p: p.name.replace(" ", "_"))
def test_an_altered_run_is_that_of_the_edited_program(made: Pair):
    edited = made.after.run(stdin=made.stdin)
    case = Case("case", (), made.stdin, expected=Expected(edited.stdout, None, edited.code))
    with session(made.before, case) as opened:
        records = made.records(opened.observe())
    for way in WAYS:
        results, _ = altered(made.before, case, [records], way)
        (record,), (output,) = results.records, results.outputs or []
        assert (record["way"], record["verdict"]) == (way, Verdict.PASS), (way.name, record, output, edited.stdout)
        assert (output[0], int(record["signal"])) == (edited.stdout, edited.signal), way.name
        assert record["applied"] >= len(made.changes), way.name
    assert made.before.run(stdin=made.stdin).observed != edited.observed, "the edit changes nothing"


def test_no_change_of_the_list_is_left_out():
    done = {do.op for p in PAIRS for do in p.changes}
    roles = {do.role for p in PAIRS for do in p.changes}
    assert done == set(Op) - {Op.READ, Op.READ_VALUE, Op.STOP}, "those change nothing (test_readings)"
    assert roles == set(Role)
    assert len({p.name for p in PAIRS}) == len(PAIRS) >= 45


def test_a_trace_of_an_altered_run_ends_as_the_edited_program_does():
    made = next(p for p in PAIRS if p.name == "three instances of one site")
    case = Case("case", (), expected=Expected(made.after.run().stdout))
    with session(made.before, case, Way.AUTO) as opened:
        recording = opened.trace(made.records(opened.observe()))
    assert recording.outcome.passed
