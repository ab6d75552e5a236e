from pathlib import Path

import pytest

from tests.program.test_reader import compile_ir
from whence.program import Program, read_module
from whence.program.expression import Expressions, explain

SOURCE = r"""
#include <stdarg.h>
#include <stdbool.h>
enum color { RED, GREEN = 5, BLUE };
typedef struct node {
  int value; struct node *next; char name[8];
  union { int i; float f; struct { short a, b; } s; } u;
  unsigned low : 3, high : 5; int small : 4; enum color color; int (*call)(int, char *);
  struct { int inner; };
} Node;
static Node pool[4]; int matrix[3][4]; const char *names[2]; struct { int only; } single;
double number; bool flag; int total;
int add(int a, int b) { return a + b; }
Node make(int v) { Node n = {v}; return n; }
int paint(enum color c) { return c; }
int work(Node *p, int n, char c, const char *s, Node copy, int arr[], unsigned u, Node **pp, void *v, ...) {
  static int count;
  int open[n]; Node local = *p; int sum = 0;
#line 100
  sum = sum + arr[2 * n];
  p->next->value = matrix[n][1];
  open[n] = pool[n].name[1];
  if (c == 'a' && *s != 0) p->color = BLUE;
  while (p->color == GREEN || !p) count--;
  p->high = 3; p->small = -1; total = p->low;
  p->u.i = 4; p->u.f = 1.5f; p->u.s.b = 2;
  (*pp)->value = -n; pp[1]->next = 0;
  total = n > 3 ? add(sum, n / 2) : ~n;
  flag = !flag;
  p->call(1, "hi\n\x1b");
  total = u > 4000000000u;
  sum += (c >= '0' && c <= '9' && n);
  number = number * 2.5 + n;
  names[1] = s + n;
  single.only = c - '0';
  switch (c) { case 'q': return 2; }
  total = p - pool;
  ((Node *)v)->value = arr[3];
  copy = make(n - 1);
  total = paint(RED) + p->inner;
  va_list ap; va_start(ap, v); total = va_arg(ap, int);
  local.name[2] = 'z';
  total = (int)number << 2 & (n | 1);
  *arr = total % 7; total = *(p->name + 1); total = (*pp + 1)->value;
  total = *(int *)((char *)p + n);
  return sum * (n - 1);
}
"""


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[str]]:
    """For each line the texts of its stores, calls, branches and returns."""
    module = read_module(compile_ir(tmp_path_factory.mktemp("expression"), SOURCE))
    expressions = Expressions(module)
    texts: dict[int, list[str]] = {}
    for instruction in module.functions["work"].instructions():
        if instruction.opcode in ("store", "call", "br", "switch", "ret") and instruction.location:
            text = expressions.expression(module.functions["work"], instruction)
            texts.setdefault(instruction.location.line, []).append(text)
    return texts


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (100, "sum = sum + arr[2 * n]"), (101, "p->next->value = matrix[n][1]"),
        (102, "open[n] = pool[n].name[1]"),
        (103, "c == 'a'"), (103, r"*s != '\0'"), (103, "p->color = BLUE"),
        (104, "p->color == GREEN"), (104, "p->color == GREEN || p == NULL"), (104, "count = count - 1"),
        (105, "p->high = 3"), (105, "p->small = -1"), (105, "total = p->low"),
        (106, "p->u.i = 4"), (106, "p->u.f = 1.5"), (106, "p->u.s.b = 2"),
        (107, "(*pp)->value = -n"), (107, "pp[1]->next = NULL"),
        (108, "n > 3"), (108, "add(sum, n / 2)"), (108, "total = n > 3 ? add(sum, n / 2) : ~n"),
        (109, "flag = !flag"), (110, r'p->call(1, "hi\n\x1b")'), (111, "total = u > 4000000000"),
        (112, "sum = sum + (c >= '0' && c <= '9' && n != 0)"), (113, "number = number * 2.5 + n"),
        (114, "names[1] = s + n"), (115, "single.only = c - '0'"), (116, "switch (c)"), (116, "return 2"),
        (117, "total = p - pool"), (118, "((struct node *)v)->value = arr[3]"), (119, "copy = make(n - 1)"),
        (120, "total = paint(RED) + p->inner"), (121, "total = va_arg(ap)"), (122, "local.name[2] = 'z'"),
        (123, "total = (int)number << 2 & (n | 1)"), (124, "*arr = total % 7"),
        (124, "total = p->name[1]"), (124, "total = (*pp)[1].value"), (125, "total = ((char *)p)[n]"),
        (126, "return sum * (n - 1)"),
    ],
)  # fmt: skip
def test_what_an_instruction_does(explained: dict[int, list[str]], line: int, text: str) -> None:
    assert text in explained[line]


def test_what_the_compiler_adds_is_silent(tmp_path_factory: pytest.TempPathFactory) -> None:
    source = "int f(int n, int) { int a[n]; if (n) return a[0]; return 1; }"
    module = read_module(compile_ir(tmp_path_factory.mktemp("silent"), source))
    function, expressions = module.functions["f"], Expressions(module)
    shown = [expressions.expression(function, i) for i in function.instructions() if i.opcode in ("store", "call")]
    assert [text for text in shown if text] == ["parameter n", "return a[0]", "return 1"]


def test_access_paths_have_types(tmp_path_factory: pytest.TempPathFactory) -> None:
    source = """struct S { int n; union { char c[4]; float f; } u; unsigned a : 3, b : 9; } g, *p;
int main(void) { p->u.f = 2; p->u.c[1] = 'x'; g.b = 4; return g.n; }"""
    module = read_module(compile_ir(tmp_path_factory.mktemp("paths"), source))
    function, expressions = module.functions["main"], Expressions(module)
    stores = [i for i in function.instructions() if i.opcode == "store" and i.operands[1].text != "%retval"]
    paths = [expressions.accessed(function, store) for store in stores]
    described = [(path.text, path.type.spelling if path.type else "", path.bits) for path in paths if path]
    assert described == [
        ("p->u.f", "float", None), ("p->u.c[1]", "char", None), ("g.b", "unsigned int", (3, 9)),
    ]  # fmt: skip
    stored = (0x40000000, 120, 0b100_101)
    shown = [path.show(raw) for path, raw in zip(paths, stored, strict=True) if path]
    assert shown == ["2.0", "'x' (120)", "4"]


def test_other_modules_tell_the_types_of_what_they_define(tmp_path: Path) -> None:
    user = "enum color { RED, BLUE }; extern enum color now; extern int cells[]; int paint(enum color);\n"
    user += "int main(void) { now = 1; return paint(BLUE) + cells[3]; }"
    owner = "enum color { RED, BLUE } now; int cells[4]; int paint(enum color c) { return c; }"
    modules = [read_module(compile_ir(tmp_path, source)) for source in (user, owner)]
    main = modules[0].functions["main"]
    expected = {True: ["now = BLUE", "return paint(BLUE) + cells[3]"], False: ["now = 1", "return paint(1) + cells[3]"]}
    for linked, texts in expected.items():
        explained = explain(Program(modules))[0] if linked else Expressions(modules[0])
        shown = [explained.expression(main, i) for i in main.instructions() if i.opcode in ("store", "ret")]
        assert shown[1:] == texts


def test_phis_in_a_cycle_end() -> None:
    text = """define i32 @f(i32 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop

end:                                              ; preds = %loop
  ret i32 %i
}
"""
    function = (module := read_module(text)).functions["f"]
    assert Expressions(module).expression(function, function.blocks[1].terminator).endswith("+ 1 == n")


def test_long_expressions_are_cut() -> None:
    lines = ["  %x0 = add i32 %n, 1"] + [f"  %x{k} = mul i32 %x{k - 1}, %x{k - 1}" for k in range(1, 40)]
    text = "define i32 @f(i32 %n) {\nentry:\n" + "\n".join(lines) + "\n  ret i32 %x39\n}\n"
    function = (module := read_module(text)).functions["f"]
    assert len(Expressions(module).expression(function, function.blocks[0].terminator)) < 400
