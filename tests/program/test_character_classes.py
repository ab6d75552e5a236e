from pathlib import Path

from tests.program.test_reader import compile_ir
from whence.program import read_module
from whence.program.character_classes import class_asked_for, class_entries
from whence.program.expression import Expressions

SOURCE = """#include <ctype.h>
int f(const char *s) { return isdigit(s[1]) || !isspace((unsigned char)*s) || s[2]; }"""


def test_macros_of_classes_are_told_as_they_are_written(tmp_path: Path) -> None:
    module = read_module(compile_ir(tmp_path, SOURCE))
    function, expressions = module.functions["f"], Expressions(module)
    shown = [expressions.expression(function, i) for i in function.instructions() if i.opcode == "icmp"]
    assert shown == ["isdigit(s[1]) != 0", "isspace(*s) != 0", r"s[2] != '\0'"]


def test_entries_are_the_loads_of_all_classes_at_once(tmp_path: Path) -> None:
    function = read_module(compile_ir(tmp_path, SOURCE)).functions["f"]
    found = list(class_entries(function))
    assert [(entry.opcode, entry.type) for entry in found] == [("load", "i16")] * 2


def test_other_bits_and_tables_are_none() -> None:
    entry = "(*__ctype_b_loc())[c]"
    assert class_asked_for(entry, "8") == "isalnum(c)"
    assert class_asked_for(entry, "3") is class_asked_for(entry, "x") is class_asked_for("table[c]", "8") is None
