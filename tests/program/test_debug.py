from pathlib import Path

import pytest

from tests.program.test_reader import compile_ir
from whence.program import read_module
from whence.program.debug import CType, DebugInfo

SOURCE = r"""
#include <stdbool.h>
enum color { RED, GREEN = 5, BLUE, DARK = -1 };
typedef struct node {
  int value; struct node *next; char name[8]; union { int i; float f; };
  unsigned low : 3, high : 5; int small : 4; enum color color; int (*call)(int, char *);
} Node;
typedef struct { double x, y; } Point;
static Node pool[4];
int matrix[3][4];
const char *const words[2];
volatile unsigned long flags;
int (*rows)[4];
bool (*table[2])(const Point *, ...);
void *nothing;
int pick(Node *p, Point by_value, int n) {
  static int count;
  int open[n];
  for (int i = 0; i < n; i++) { long i = 2; count += i; open[0] = i; }
  return p->value + open[0] + (int)by_value.x + pool[0].value;
}
"""


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> DebugInfo:
    return DebugInfo(read_module(compile_ir(tmp_path_factory.mktemp("debug"), SOURCE)))


def global_type(info: DebugInfo, name: str) -> CType:
    found = info.globals[name].type
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "spelling", "size"),
    [
        ("pool", "Node [4]", 192),
        ("matrix", "int [3][4]", 48),
        ("words", "const char * const [2]", 16),
        ("flags", "volatile unsigned long", 8),
        ("rows", "int (*)[4]", 8),
        ("table", "bool (*[2])(const Point *, ...)", 16),
        ("nothing", "void *", 8),
    ],
)
def test_spelling_and_size(info: DebugInfo, name: str, spelling: str, size: int) -> None:
    found = global_type(info, name)
    assert (found.spelling, found.size) == (spelling, size)


def test_declarations_read_as_in_c(info: DebugInfo) -> None:
    assert global_type(info, "words").declare("words") == "const char * const words[2]"
    assert global_type(info, "rows").declare("rows") == "int (*rows)[4]"
    assert global_type(info, "table").declare("table") == "bool (*table[2])(const Point *, ...)"


def test_members_offsets_and_bit_fields(info: DebugInfo) -> None:
    element = global_type(info, "pool").element
    assert element is not None
    members = element.plain.members
    assert [m.name for m in members] == [
        "value", "next", "name", "", "low", "high", "small", "color", "call",
    ]  # fmt: skip
    assert [m.offset for m in members][:4] == [0, 64, 128, 192]
    high = members[5]
    assert (high.bits, high.offset - high.storage, high.storage) == (5, 3, members[4].offset)
    assert members[1].type.target is not None
    assert members[1].type.target.plain.members[1].name == "next"  # recursive types are no problem
    assert members[3].type.plain.kind == "union"
    assert members[6].type.signed


def test_enums(info: DebugInfo) -> None:
    element = global_type(info, "pool").element
    assert element is not None
    assert element.plain.members[7].type.enumerators == {0: "RED", 5: "GREEN", 6: "BLUE", -1: "DARK"}


def test_rows_of_an_array(info: DebugInfo) -> None:
    row = global_type(info, "matrix").element
    assert row is not None
    assert (row.spelling, row.size, row.counts) == ("int [4]", 16, (4,))
    assert row.element is not None
    assert row.element.kind == "int"


def test_locals_parameters_and_statics(info: DebugInfo) -> None:
    function = info.module.functions["pick"]
    variables = [v for v in info.variables(function) if not v.artificial]
    assert [(v.name, v.parameter) for v in variables if v.parameter] == [("p", 1), ("by_value", 2), ("n", 3)]
    inner = [v for v in variables if v.name == "i"]
    assert [(v.type.spelling if v.type else "", v.line) for v in inner] == [("int", 19), ("long", 19)]
    assert inner[0].scope != inner[1].scope
    assert inner[0].file.endswith("/a.c")
    assert info.variable_at(function, "%p.addr") == variables[0]
    assert info.variable_at(function, "%retval") is None
    count = info.variable_at(function, "@pick.count")
    assert count is not None
    assert (count.name, count.line) == ("count", 17)
    opened = next(v for v in variables if v.name == "open")
    assert opened.type is not None
    assert (opened.type.spelling, opened.type.counts) == ("int []", (-1,))


def test_function_types_and_tags(info: DebugInfo) -> None:
    found = info.function_type("pick")
    assert found is not None
    assert found.spelling == "int (Node *, Point, int)"
    assert info.function_type("printf") is None
    for tag, kind in (
        ("%struct.node", "struct node"),
        ("%struct.Point", "Point"),
        ("%struct.Point.3", "Point"),
    ):
        tagged = info.tagged(tag)
        assert tagged is not None
        assert tagged.spelling == kind
    assert info.tagged("%struct.other") is None


def test_a_module_without_debug_information(tmp_path: Path) -> None:
    module = read_module("@g = global i32 0\n\ndefine void @f() {\n  ret void\n}\n")
    info = DebugInfo(module)
    assert info.globals == {}
    assert info.variables(module.functions["f"]) == []
    assert info.function_type("f") is None
