import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import ProgramError
from whence.program import Program, read_module
from whence.program.types import alignment_of, alloc_size_of, member_offset, offset_of, size_of

FIRST = """
define i32 @main() {
entry:
  %x = call i32 @shared()
  br label %end

end:                                              ; preds = %entry
  ret i32 %x
}

define internal i32 @own() {
  ret i32 1
}

define weak i32 @shared() {
  ret i32 1
}
"""
SECOND = """
@other = alias i32 (), ptr @own

define internal i32 @own() {
  ret i32 2
}

define i32 @shared() {
  ret i32 2
}
"""


@pytest.fixture
def program() -> Program:
    return Program([read_module(FIRST), read_module(SECOND)])


def test_numbers_follow_the_text(program: Program) -> None:
    assert [(f.id, f.module, f.name) for f in program.functions] == [
        (0, 0, "main"), (1, 0, "own"), (2, 0, "shared"), (3, 1, "own"), (4, 1, "shared"),
    ]  # fmt: skip
    assert (program.block_count, program.instruction_count) == (6, 7)
    assert list(program.block_starts) == [0, 2, 3, 4, 5, 6, 7]


def test_numbers_lead_back(program: Program) -> None:
    expected = [i for ref in program.functions for i in ref.function.instructions()]
    assert [program.instruction(n) for n in range(7)] == expected
    assert [program.block_of_instruction(n) for n in range(7)] == [0, 0, 1, 2, 3, 4, 5]
    assert [program.function_of_instruction(n).id for n in range(7)] == [0, 0, 0, 1, 2, 3, 4]
    assert program.block(1).label == "end"
    for ref in program.functions:
        assert program.function_of_block(ref.first_block) is ref


def test_names_mean_what_the_linker_makes_of_them(program: Program) -> None:
    assert program.resolve(0, "own") == 1
    assert program.resolve(1, "own") == 3
    assert program.resolve(0, "shared") == 4  # the strong definition
    assert program.resolve(0, "other") == 3  # an alias of the second module's static function
    assert program.resolve(0, "printf") is None
    assert program.defined_names == {"main", "shared", "other"}


def test_fingerprint_changes_with_the_program(program: Program) -> None:
    same = Program([read_module(FIRST), read_module(SECOND)])
    assert program.fingerprint() == same.fingerprint() < 1 << 64
    assert program.fingerprint() != Program([read_module(SECOND), read_module(FIRST)]).fingerprint()
    changed = Program([read_module(FIRST), read_module(SECOND.replace("i32 2", "i32 3"))])
    assert program.fingerprint() != changed.fingerprint()


TYPES = read_module("%struct.P = type { i8, i32, [3 x i16], ptr }\n%struct.Q = type <{ i8, %struct.P, x86_fp80 }>\n")


@pytest.mark.parametrize(
    ("text", "store", "alloc", "alignment"),
    [
        ("i1", 1, 1, 1), ("i8", 1, 1, 1), ("i24", 3, 4, 4), ("i37", 5, 8, 8),
        ("i64", 8, 8, 8),
        ("i128", 16, 16, 16), ("i200", 25, 32, 16), ("half", 2, 2, 2), ("float", 4, 4, 4),
        ("double", 8, 8, 8),
        ("x86_fp80", 10, 16, 16), ("fp128", 16, 16, 16), ("ptr", 8, 8, 8), ("ptr addrspace(1)", 8, 8, 8),
        ("void", 0, 0, 1), ("[5 x i32]", 20, 20, 4), ("[3 x x86_fp80]", 48, 48, 16),
        ("[0 x i64]", 0, 0, 8),
        ("<4 x float>", 16, 16, 16), ("<3 x float>", 12, 16, 16), ("<8 x i1>", 1, 1, 1), ("{}", 0, 0, 1),
        ("{ i8, i32 }", 8, 8, 4), ("<{ i8, i32 }>", 5, 5, 1), ("%struct.P", 24, 24, 8),
        ("%struct.Q", 41, 41, 1),
        ("[2 x [3 x { i8, i64 }]]", 96, 96, 8),
    ],
)  # fmt: skip
def test_sizes(text: str, store: int, alloc: int, alignment: int) -> None:
    assert (size_of(text, TYPES), alloc_size_of(text, TYPES)) == (store, alloc)
    assert alignment_of(text, TYPES) == alignment


def test_offsets_of_constant_indices() -> None:
    assert offset_of("%struct.P", ["0", "2"], TYPES) == 8
    assert offset_of("[4 x i32]", ["0", "3"], TYPES) == 12
    assert offset_of("i16", ["-2"], TYPES) == -4
    assert offset_of("[3 x %struct.P]", ["1", "1", "1"], TYPES) == 4 * size_of("%struct.P", TYPES) + 4
    assert offset_of("[4 x i32]", ["0", "%i"], TYPES) is None


def test_member_offsets() -> None:
    assert [member_offset("%struct.P", n, TYPES) for n in range(4)] == [0, 4, 8, 16]
    assert [member_offset("%struct.Q", n, TYPES) for n in range(3)] == [0, 1, 25]
    with pytest.raises(ProgramError, match="not a struct"):
        member_offset("i32", 0, TYPES)


def test_a_type_without_a_size_is_an_error() -> None:
    with pytest.raises(ProgramError, match="label"):
        size_of("label", TYPES)


def types() -> st.SearchStrategy[str]:
    scalars = st.sampled_from(["i1", "i8", "i16", "i32", "i64", "i128", "float", "double", "x86_fp80", "ptr"])
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.tuples(st.integers(0, 4), inner).map(lambda t: f"[{t[0]} x {t[1]}]"),
            st.lists(inner, min_size=1, max_size=4).map(lambda ms: "{ " + ", ".join(ms) + " }"),
            st.lists(inner, min_size=1, max_size=4).map(lambda ms: "<{ " + ", ".join(ms) + " }>"),
        ),
        max_leaves=8,
    )


@given(types())
def test_sizes_are_those_of_llvm(text: str) -> None:
    import llvmlite.binding as llvm

    layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
    module = llvm.parse_assembly(f'target datalayout = "{layout}"\n@g = external global {text}\n')
    type_ = module.get_global_variable("g").global_value_type
    data = llvm.create_target_data(layout)
    assert alloc_size_of(text, TYPES) == data.get_abi_size(type_)
    assert alignment_of(text, TYPES) == data.get_abi_alignment(type_)
