"""Lines of IR lose what an optimiser may assume, and nothing else."""

from __future__ import annotations

import pytest

from whence.probe.defined import defined, without_promises


def one(line: str, private: frozenset[str] = frozenset()) -> str:
    """The single line that stands for a line."""
    (text,) = defined(line, "%free", private)
    return text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  %a = add nsw i32 %b, 1, !dbg !3", "  %a = add i32 %b, 1, !dbg !3"),
        ("  %a = sub nuw nsw i64 %b, %c", "  %a = sub i64 %b, %c"),
        ("  %a = mul nsw <4 x i32> %b, %c", "  %a = mul <4 x i32> %b, %c"),
        ("  %a = getelementptr inbounds nuw %struct.s, ptr %p, i32 0", "  %a = getelementptr %struct.s, ptr %p, i32 0"),
        ('  %"a b" = trunc nuw i32 %b to i8', '  %"a b" = trunc i32 %b to i8'),
        ("  %a = zext nneg i32 %b to i64", "  %a = zext i32 %b to i64"),
        ("  %a = or disjoint i32 %b, 1", "  %a = or i32 %b, 1"),
        ("  %a = icmp samesign ult i32 %b, 1", "  %a = icmp ult i32 %b, 1"),
        ("  %a = ashr exact i64 %b, 3", "  %a = ashr i64 %b, 3"),
        ("  %a = fadd double %b, %c", "  %a = fadd double %b, %c"),
        ("  br i1 %nsw, label %nuw, label %exact", "  br i1 %nsw, label %nuw, label %exact"),
        ('  %a = call i32 @f(ptr @"add nsw")', '  %a = call i32 @f(ptr @"add nsw")'),
    ],
)
def test_promises_go(line: str, expected: str):
    assert one(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  %a = load i32, ptr %p, align 4", "  %a = load volatile i32, ptr %p, align 4"),
        ("  store ptr %a, ptr %p, align 8, !dbg !2", "  store volatile ptr %a, ptr %p, align 8, !dbg !2"),
        ("  store i32 1, ptr @g, align 4", "  store volatile i32 1, ptr @g, align 4"),
        ("  %a = load volatile i32, ptr %p, align 4", "  %a = load volatile i32, ptr %p, align 4"),
        ("  %a = load atomic i32, ptr %p seq_cst, align 4", "  %a = load atomic i32, ptr %p seq_cst, align 4"),
        ("  %a = load i32, ptr %mine, align 4", "  %a = load i32, ptr %mine, align 4"),
        ("  store i32 %b, ptr %mine, align 4", "  store i32 %b, ptr %mine, align 4"),
        ("  store ptr %mine, ptr %p, align 8", "  store volatile ptr %mine, ptr %p, align 8"),
    ],
)
def test_accesses_that_others_can_observe_are_volatile(line: str, expected: str):
    assert one(line, frozenset({"%mine"})) == expected


def test_a_division_traps_whatever_is_known_of_its_operands():
    lines = list(defined("  %q = sdiv exact i64 %a, 0, !dbg !4", "%free"))
    assert lines == [
        '%free = call i64 asm sideeffect "", "=r,0,~{memory}"(i64 0)',
        "  %q = sdiv i64 %a, %free, !dbg !4",
        'call void asm sideeffect "", "r"(i64 %q)',
    ]


def test_a_shift_and_a_conversion_see_operands_that_nobody_knows():
    assert list(defined("  %s = shl nsw i32 1, %n", "%free")) == [
        '%free = call i32 asm "", "=r,0"(i32 %n)',
        "  %s = shl i32 1, %free",
    ]
    assert one("  %s = shl i32 %a, 3") == "  %s = shl i32 %a, 3"
    lines = list(defined("  %i = fptosi double 1.0e+20 to i32", "%free"))
    assert lines[-1] == "  %i = fptosi double %free to i32"
    assert len(lines) == 4


def test_attribute_groups_do_not_promise_that_address_0_is_invalid():
    line = 'attributes #12 = { noinline "frame-pointer"="all" }'
    assert without_promises(line) == 'attributes #12 = { null_pointer_is_valid noinline "frame-pointer"="all" }'
    assert without_promises('@attributes = global [3 x i8] c"{ #"') == '@attributes = global [3 x i8] c"{ #"'


def test_attribute_groups_do_not_say_what_functions_do_to_memory():
    line = "attributes #0 = { nounwind memory(read, argmem: none) uwtable }"
    assert without_promises(line) == "attributes #0 = { null_pointer_is_valid nounwind uwtable }"
    assert without_promises("attributes #1 = { memory(none) }") == "attributes #1 = { null_pointer_is_valid }"
